"""The schemes of the study: which there are, what they are called, and which configurations are
refused.
"""

from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from contactid.core.errors import ContactIdError
from contactid.tossing.configuration import (
    IMPACT_MPEC,
    NO_RESTITUTION,
    TRAJECTORY,
    VELOCITY,
    cases,
    predictions_of,
    schemes_of,
    velocity_cases,
)

CONFIGURATIONS = Path(__file__).parents[2] / "config"


def trajectory_variant(name, calibrated=False):
    return {"name": name, "calibrated": calibrated, "substeps": 1}


def velocity_variant(name, predict_with, *, calibrated=False, mpec=False):
    return {"name": name, "calibrated": calibrated, "predict_with": predict_with, "mpec": mpec}


BLOCK = {
    "identify_on": ["a", "b"],
    "predict_on": ["c", "d"],
    "variants": [
        trajectory_variant("paper"),
        trajectory_variant("refined"),
        trajectory_variant("better", True),
    ],
    "velocity": {
        "identify_on": ["drops_a", "drops_b"],
        "variants": [
            velocity_variant("velocity", "paper"),
            velocity_variant("velocity_refined", "better", calibrated=True, mpec=True),
        ],
    },
}


def changed(**blocks):
    """The block with some entries replaced; a dictionary is merged into the one that is there."""
    block = deepcopy(BLOCK)
    for name, value in blocks.items():
        block[name] = {**block[name], **value} if isinstance(value, dict) else value
    return block


def refusal(block):
    with pytest.raises(ContactIdError) as error:
        schemes_of(block)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_every_variant_and_what_follows_from_it_is_a_scheme():
    found = schemes_of(BLOCK)
    assert [(scheme.name, scheme.kind) for scheme in found.values()] == [
        ("paper", TRAJECTORY),
        ("refined", TRAJECTORY),
        ("better", TRAJECTORY),
        ("no_restitution", NO_RESTITUTION),
        ("velocity", VELOCITY),
        ("velocity_refined", VELOCITY),
        ("velocity_refined_mpec", IMPACT_MPEC),
    ]
    assert all(name == scheme.name for name, scheme in found.items())


def test_a_scheme_says_where_its_parameters_come_from_and_how_it_is_stepped():
    found = schemes_of(BLOCK)
    origin = {
        name: (scheme.parameters, scheme.fit, scheme.stepping["name"])
        for name, scheme in found.items()
    }
    assert origin == {
        "paper": ("trajectory", "paper", "paper"),
        "refined": ("trajectory", "refined", "refined"),
        "better": ("trajectory", "better", "better"),
        "no_restitution": ("trajectory", "paper", "paper"),
        "velocity": ("velocity", "velocity", "paper"),
        "velocity_refined": ("velocity", "velocity_refined", "better"),
        "velocity_refined_mpec": ("velocity", "velocity_refined_mpec", "better"),
    }
    calibrated = {name for name, scheme in found.items() if scheme.calibrated}
    assert calibrated == {"better", "velocity_refined", "velocity_refined_mpec"}


def test_the_papers_schemes_are_the_first_variants_and_the_one_without_restitution():
    assert [name for name, scheme in schemes_of(BLOCK).items() if scheme.paper] == [
        "paper",
        "no_restitution",
        "velocity",
    ]


def test_without_impacts_there_is_no_velocity_scheme():
    block = changed(velocity={"identify_on": []})
    assert {scheme.parameters for scheme in schemes_of(block).values()} == {"trajectory"}
    assert velocity_cases(block) == []
    # a variant that isn't used isn't looked at either
    assert schemes_of(
        changed(velocity={"identify_on": [], "variants": [velocity_variant("v", "nowhere")]})
    )


# refusals


def test_two_schemes_of_one_name_are_refused():
    twice = changed(velocity={"variants": [velocity_variant("paper", "paper")]})
    assert "two schemes are called paper" in refusal(twice)
    taken = changed(
        variants=[trajectory_variant("paper"), trajectory_variant("no_restitution")],
        velocity={"identify_on": []},
    )
    assert "two schemes are called no_restitution" in refusal(taken)
    mpec = changed(variants=[*BLOCK["variants"], trajectory_variant("velocity_refined_mpec")])
    assert "two schemes are called velocity_refined_mpec" in refusal(mpec)


def test_stepping_like_an_unknown_variant_is_refused():
    said = refusal(changed(velocity={"variants": [velocity_variant("v", "refind")]}))
    assert "tossing.velocity.variants: refind is none" in said and "paper, refined, better" in said


@pytest.mark.parametrize("calibrated, predict_with", [(True, "paper"), (False, "better")])
def test_stepping_with_another_body_is_refused(calibrated, predict_with):
    variant = velocity_variant("v", predict_with, calibrated=calibrated)
    assert f"v and {predict_with} differ in calibrated" in refusal(
        changed(velocity={"variants": [variant]})
    )


# predictions


def test_predictions_pair_each_scheme_with_its_own_data():
    found = predictions_of(BLOCK)
    assert len(found) == len(set(found)) == 2 * len(schemes_of(BLOCK))
    for on, dataset, name in found:
        ons = ("drops_a", "drops_b") if name.startswith("velocity") else ("a", "b")
        assert (on, dataset) in zip(ons, ("c", "d"), strict=True)


def test_one_list_of_length_one_goes_with_every_entry_of_the_other():
    block = changed(identify_on=["a"], velocity={"identify_on": ["drops"]})
    assert velocity_cases(block) == [("drops", "c"), ("drops", "d")]
    assert ("a", "d", "paper") in predictions_of(block) and (
        "drops",
        "d",
        "velocity",
    ) in predictions_of(block)


@pytest.mark.parametrize("name", ["default", "public"])
def test_the_configurations_that_come_along_are_accepted(name):
    block = yaml.safe_load((CONFIGURATIONS / "default.yaml").read_text(encoding="utf-8"))["tossing"]
    block |= yaml.safe_load((CONFIGURATIONS / f"{name}.yaml").read_text(encoding="utf-8"))[
        "tossing"
    ]
    found, predictions = schemes_of(block), predictions_of(block)
    trajectory = sum(scheme.parameters == "trajectory" for scheme in found.values())
    assert len(predictions) == trajectory * len(cases(block)) + (len(found) - trajectory) * len(
        velocity_cases(block)
    )
    assert {name for *_, name in predictions} <= set(found)
