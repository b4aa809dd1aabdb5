"""A wrong configuration is refused with the key, the reason and the way out."""

import copy
from pathlib import Path

import pytest
import yaml

from contactid.core.configuration import check_configuration, read_schema, restore_numbers
from contactid.core.errors import ContactIdError
from contactid.planar.simulate.scenes import check_scenes, scene_of
from contactid.planar.simulate.throws import check_identification
from contactid.sources.registry import load_registry, pick
from contactid.tossing.configuration import cases, check_tossing

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
DEFAULT = yaml.safe_load((ROOT / "config/default.yaml").read_text())


def merged(overlay):
    config = copy.deepcopy(DEFAULT)

    def merge(into, other):
        for key, value in other.items():
            if isinstance(value, dict) and isinstance(into.get(key), dict):
                merge(into[key], value)
            else:
                into[key] = value

    merge(config, overlay)
    return config


def check(config):
    check_configuration(config, SCHEMA)
    check_tossing(config["tossing"])


@pytest.mark.parametrize("name", ["default", "public", "test"])
def test_shipped_configurations_are_valid(name):
    config = merged(yaml.safe_load((ROOT / f"config/{name}.yaml").read_text()))
    check(config)
    registry = load_registry(ROOT / "config/datasets.tsv", config["datasets"])
    for pair in cases(config["tossing"]):
        for dataset in pair:
            assert pick(registry, dataset)


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ({"runn": "x"}, "unknown key runn. Did you mean run."),
        ({"tossing": {"gird": {}}}, "unknown key tossing.gird. Did you mean grid."),
        (
            {"tossing": {"split": {"identification_share": 1.2}}},
            "identification_share is 1.2, but must be less than 1",
        ),
        (
            {"tossing": {"grid": {"restitution_e_n": {"stop": 1.5}}}},
            "restitution_e_n.stop is 1.5, but must be at most 1",
        ),
        (
            {"tossing": {"grid": {"friction_mu": {"start": -0.1}}}},
            "friction_mu.start is -0.1, but must be at least 0",
        ),
        (
            {"tossing": {"grid": {"friction_mu": {"start": 2.0}}}},
            "tossing.grid.friction_mu stops before it starts",
        ),
        ({"tossing": {"identify_on": []}}, "tossing.identify_on is [], but must not be empty"),
        (
            {"tossing": {"identify_on": ["a", "b"], "predict_on": ["a", "b", "c"]}},
            "has 2 entries, tossing.predict_on 3",
        ),
        ({"tossing": {"benchmark": {"refined": 2}}}, "fewer evaluations than it has starts"),
        (
            {"tossing": {"sensitivity": {"reach": 0.01, "step": 0.02}}},
            "tossing.sensitivity.step is above reach",
        ),
        ({"tossing": {"events": {"rule": "by_hand"}}}, "must be one of data_driven, authors"),
        (
            {"planar": {"scenes": {"throw": {"time_step": 0}}}},
            "planar.scenes.throw.time_step is 0, but must be greater than 0",
        ),
        (
            {"planar": {"scenes": {"throw": {"restitution_e_n": [0.5, 1.2]}}}},
            "planar.scenes.throw.restitution_e_n.1 is 1.2, but must be at most 1",
        ),
        (
            {"planar": {"scenes": {"throw": {"friction_mu": [-0.1]}}}},
            "planar.scenes.throw.friction_mu.0 is -0.1, but must be at least 0",
        ),
        (
            {"planar": {"scenes": {"throw": {"friction_mu": [float("nan")]}}}},
            "is nan, but must be of type number",
        ),
        (
            {"planar": {"identification": {"noise": {"one_mrad": {"position": 0}}}}},
            "planar.identification.noise.one_mrad.position is 0, but must be greater than 0",
        ),
        (
            {"planar": {"identification": {"seed_number": 3}}},
            "unknown key planar.identification.seed_number",
        ),
        ({"planar": {"real": {"squares": "no such"}}}, "planar.real.squares is 'no such'"),
        (
            {"planar": {"scenes": {"throw": {"slope": 0.1}}}},
            "unknown key planar.scenes.throw.slope",
        ),
        (
            {"planar": {"bodies": {"ellipse": {"mass": 0}}}},
            "planar.bodies.ellipse.mass is 0, but must be greater than 0",
        ),
        ({"planar": {"bodies": {"ellipse": {"semi_axes": [1.0]}}}}, "must have at least 2 entries"),
        ({"offline": "yes"}, "offline is 'yes', but must be of type boolean"),
        ({"run": "../elsewhere"}, "must be a name of letters, digits and underscores"),
    ],
)
def test_a_wrong_key_or_value_is_named(overlay, message):
    with pytest.raises(ContactIdError) as error:
        check(merged(overlay))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ({"studies": "planar"}, "studies is 'planar', but must be of type array"),
        (
            {"studies": ["tosing"]},
            "studies.0 is 'tosing', but must be one of .*Did you mean tossing",
        ),
        ({"tossing": {"split": {"seed": "0,05"}}}, "seed is '0,05', .*decimal point"),
        (
            {"tossing": {"split": yaml.safe_load("{test_share: 0,05}")}},
            "unknown key tossing.split.5. .*decimal point",
        ),
    ],
)
def test_a_slip_is_met_with_what_was_meant(overlay, message):
    with pytest.raises(ContactIdError, match=message):
        check(merged(overlay))


def test_two_variants_of_one_name_are_refused():
    config = merged({})
    config["tossing"]["variants"] *= 2
    with pytest.raises(ContactIdError, match="same name"):
        check(config)


def test_every_key_of_the_schema_is_described_or_obvious():
    schema = read_schema(SCHEMA)

    def closed(node, path):
        if node.get("type") == "object" and "properties" in node:
            assert node.get("additionalProperties") is False, f"{path} is open"
            for key, child in node["properties"].items():
                closed(child, f"{path}.{key}")
        if "items" in node:
            closed(node["items"], f"{path}[]")

    closed(schema, "config")


def test_numbers_given_as_text_are_restored():
    block = {
        "split": {"share": "0.7", "seed": "3"},
        "flag": "true",
        "names": ["a", "1e-3"],
        "text": "box 3",
    }
    assert restore_numbers(block) == {
        "split": {"share": 0.7, "seed": 3}, "flag": True, "names": ["a", 1e-3], "text": "box 3",
    }  # fmt: skip


def test_cases_pair_up_and_broadcast():
    assert cases({"identify_on": ["a", "b"], "predict_on": ["c", "d"]}) == [("a", "c"), ("b", "d")]
    assert cases({"identify_on": ["a"], "predict_on": ["c", "d"]}) == [("a", "c"), ("a", "d")]


def test_unknown_dataset_suggests_the_nearest():
    registry = load_registry(ROOT / "config/datasets.tsv", {})
    with pytest.raises(
        ContactIdError, match=r"unknown dataset contactnet\. Did you mean contactnets"
    ):
        pick(registry, "contactnet")


def test_own_datasets_must_exist_and_not_shadow(tmp_path):
    with pytest.raises(ContactIdError, match=r"datasets.mine.path: .* does not exist"):
        load_registry(
            ROOT / "config/datasets.tsv",
            {"mine": {"reader": "contactnets", "path": str(tmp_path / "no")}},
        )
    with pytest.raises(ContactIdError, match="Rename yours"):
        load_registry(
            ROOT / "config/datasets.tsv",
            {"contactnets": {"reader": "contactnets", "path": str(tmp_path)}},
        )
    own = load_registry(
        ROOT / "config/datasets.tsv", {"mine": {"reader": "contactnets", "path": str(tmp_path)}}
    )
    assert own["mine"].kind == "own" and not own["mine"].synthetic


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        (
            {"scenes": {"drop": {"position": [0.0, 0.9, 0.0]}}},
            "planar.scenes.drop.position: the body starts 0.1 m inside the ground. Raise it by 0.1 m",
        ),
        (
            {"scenes": {"drop": {"body": "elipse"}}},
            "planar.scenes.drop.body is 'elipse', which is no body. Use one of ellipse",
        ),
        (
            {"scenes": {"drop": {"duration": 1e-4}}},
            "planar.scenes.drop.duration is 0.0001 s, shorter than its time_step",
        ),
        (
            {"bodies": {"ellipse": {"vertices": [[0, 0], [1, 0], [0, 1]]}}},
            "planar.bodies.ellipse needs either semi_axes",
        ),
        (
            {"bodies": {"square": {"vertices": [[0, 0], [0, 1], [1, 0]]}}},
            "planar.bodies.square: a polygon's vertices are not",
        ),
    ],
)
def test_a_scene_that_cannot_be_simulated_is_named(overlay, message):
    block = merged({"planar": overlay})["planar"]
    with pytest.raises(ContactIdError) as error:
        check_scenes(block)
    assert f"configuration: {message}" in str(error.value)


def test_scenes_simulate_every_law():
    block = merged(
        {
            "planar": {
                "scenes": {"drop": {"friction_mu": [0.1, 0.2], "restitution_e_n": [0.0, 0.5, 1.0]}}
            }
        }
    )["planar"]
    scene = scene_of(block, "drop")
    assert [(law.friction_mu, law.restitution_e_n) for law in scene.laws] == [
        (0.1, 0.0), (0.1, 0.5), (0.1, 1.0), (0.2, 0.0), (0.2, 0.5), (0.2, 1.0)
    ]  # fmt: skip
    assert len(scene.run(scene.laws[0]).time) == 1601


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ({"body": "ball"}, "planar.identification.body is 'ball', which is no body. Use one of"),
        ({"body": "square"}, "planar.identification.body has corners"),
        (
            {"position": [0.0, 0.01, 0.0]},
            "planar.identification.position: the body starts 0.015 m inside the ground",
        ),
        (
            {"frames_per_second": [240, 10]},
            "planar.identification.frames_per_second: 10 gives too few",
        ),
    ],
)
def test_a_throw_that_cannot_be_identified_is_named(overlay, message):
    block = merged({"planar": {"identification": overlay}})["planar"]
    with pytest.raises(ContactIdError) as error:
        check_identification(block)
    assert f"configuration: {message}" in str(error.value)
