"""Evidence for the tossing paper's statements: what it is calculated from, and whose recordings it
needs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contactid.output.predicates import Above, Below
from contactid.output.statements import evidence_of, read_statements
from contactid.output.tables import read_csv
from contactid.output.verdicts import NEEDS_ARCHIVE, NOT_DONE
from contactid.sources.origin import Origin
from contactid.sources.registry import load_registry
from contactid.tossing.artefacts import declare
from contactid.tossing.claims import ERRORS, PARAMETERS, Recordings, cost_shapes, of_print, of_run
from contactid.tossing.configuration import BOXES

ROOT = Path(__file__).parents[2]
STATEMENTS = {
    (one.name, one.condition): one
    for one in read_statements(ROOT / "workflow/resources/published/tossing_claims.yaml")
}
ARCHIVES = {
    name: entry.source
    for name, entry in load_registry(ROOT / "config/datasets.tsv", {}).items()
    if (entry.study, entry.kind) == ("tossing", "4tu")
}
OWN, TWIN = Origin(True, "10.4121/1.v1"), Origin(False, "synthetic", ("tab02/*",))
ALL = Recordings(dict.fromkeys(ARCHIVES, OWN), ARCHIVES, {})
SCHEMES = {"trajectory": "paper", "velocity": "velocity", "no_restitution": "no_restitution"}
ROLES = st.lists(st.sampled_from(["trajectories", "validation", "drops"]), min_size=1, unique=True)
SOME = st.lists(st.sampled_from(BOXES), min_size=1, unique=True)

numbers = st.lists(st.floats(-5.0, 5.0), min_size=1, max_size=6)


@given(numbers, st.floats(0.1, 2.0), st.sampled_from([Above, Below]))
def test_a_number_s_other_side_turns_the_answer(
    values: list[float], limit: float, kind: type
) -> None:
    """Where it holds no wrong answer does; where it doesn't, there is one that would."""
    if any(abs(abs(value) - limit) < 1e-6 for value in values):
        return  # on the limit itself rounding decides
    asked = kind(limit)
    wrong = {name: asked.holds(other) for name, other in asked.opposites(values).items()}
    assert not (asked.holds(values) and any(wrong.values()))
    assert asked.holds(values) or wrong["other side of the limit"]


# whose recordings


def needed(roles: list[str], boxes: list[str]) -> list[str]:
    names = [f"iam_{box.lower()}_{role}" for box in boxes for role in roles]
    return [name if name in ARCHIVES else name.replace("drops", "trajectories") for name in names]


@given(ROLES, SOME)
def test_all_of_the_paper_s_recordings_and_no_others_are_enough(
    roles: list[str], boxes: list[str]
) -> None:
    names = needed(roles, boxes)
    assert ALL.lack("it", roles, boxes, ", ".join(names)) is None
    twins = Recordings({**ALL.origins, "twin": TWIN}, ARCHIVES, {})
    lack = twins.lack("it", roles, boxes, ", ".join([*names, "twin"]))
    assert lack is not None and lack.kind == NOT_DONE  # they are at hand, and weren't used alone


@given(ROLES, SOME)
def test_what_lacks_names_every_archive_with_its_doi(roles: list[str], boxes: list[str]) -> None:
    lack = Recordings({"twin": TWIN}, ARCHIVES, {}).lack("errors", roles, boxes, "twin")
    assert lack is not None and lack.kind == NEEDS_ARCHIVE and lack.words.startswith("errors from ")
    assert all(f"{name} {ARCHIVES[name]}" in lack.words for name in needed(roles, boxes))


def test_of_several_boxes_all_are_needed() -> None:
    roles = ["trajectories"]
    assert ALL.lack("it", roles, BOXES, ", ".join(needed(roles, BOXES[:3]))) is not None
    assert (
        ALL.lack("it", roles, BOXES[:1], "iam_box004_validation") is None
    )  # of one box any will do


def test_a_prediction_rests_on_what_its_parameters_were_identified_on() -> None:
    behind = Recordings({}, {}, {"box_validation": "box_trajectories"})
    assert (
        behind.data_of(["box_validation", "box_drops"])
        == "box_trajectories, box_validation, box_drops"
    )


# tables side by side


@pytest.fixture(scope="module")
def printed() -> dict[tuple[str, str, str], float]:
    table = read_csv(ROOT / "workflow/resources/published/tossing.csv")
    return table.set_index(["artefact", "quantity", "condition"])["value"].astype(float).to_dict()


def test_print_and_a_run_that_finds_it_are_the_same_table(printed: dict) -> None:
    of_paper = of_print(printed)
    ours = of_paper[of_paper["simulator"] == "matlab"].reset_index(drop=True)
    tables = {}
    for name, artefact, kinds in (
        ("tab02_identified_parameters", "tab02", ("velocity", "trajectory")),
        ("tab03_rest_pose_errors", "tab03", ("velocity", "trajectory")),
        ("tab04_rest_pose_errors_without_restitution", "tab04", ("no_restitution",)),
    ):
        rows = []
        for kind in kinds:
            part = ours.rename(columns=lambda column, kind=kind: column.removeprefix(f"{kind}_"))
            part = part[["object", *PARAMETERS, *ERRORS, "n_tosses", "n_same_face"]]
            names = {"simulator": "contactid", "scheme": SCHEMES[kind], "subset": "all"}
            on, dataset = (part["object"] + end for end in (f"_{kind}", "_validation"))
            rows.append(part.assign(identified_on=on, dataset=dataset, **names))
        table = pd.concat(rows)
        tables[name] = table if artefact == "tab02" else table.drop(columns=PARAMETERS)
    found = of_run(tables, SCHEMES)
    columns = [
        f"{kind}_{name}" for kind in ("velocity", "trajectory") for name in (*PARAMETERS, *ERRORS)
    ]
    pd.testing.assert_frame_equal(found[columns], ours[columns])
    assert list(found["dataset"]) == [f"{box}_validation" for box in BOXES]
    assert list(found["velocity_identified_on"]) == [f"{box}_velocity" for box in BOXES]


def standard_errors(velocity: tuple[float, ...], trajectory: tuple[float, ...]) -> float:
    """What the ledger's statement calculates of position errors: mean, standard deviation and
    number of tosses.
    """
    row = {}
    for kind, (mean, deviation, count) in (("velocity", velocity), ("trajectory", trajectory)):
        row |= {f"{kind}_position_error_mean_cm": mean, f"{kind}_position_error_std_cm": deviation}
        row |= {f"{kind}_n_tosses": count}
    (expression,) = STATEMENTS["velocity_parameters_poor", "from=print"].settings["calculation"][
        "numbers"
    ]
    return float(pd.DataFrame([row]).eval(expression, engine="python"))


@given(st.floats(1.0, 30.0), st.floats(1.0, 30.0), st.floats(0.5, 9.0), st.integers(2, 60))
def test_standard_errors_are_those_of_a_difference_of_means(
    one: float, other: float, spread: float, n: int
) -> None:
    found = standard_errors((one, spread, n), (other, spread, n))
    assert found == pytest.approx((one - other) / np.sqrt(2.0 * spread**2 / n))
    assert standard_errors((other, spread, n), (one, spread, n)) == pytest.approx(-found)


@pytest.mark.parametrize("angle", [0.3, 1.0, -2.0])
def test_a_rotation_s_rows_are_orthogonal_and_the_printed_matrix_s_are_not(
    printed: dict, angle: float
) -> None:
    statement = STATEMENTS["relative_rest_orientation_is_a_rotation", "from=print"]
    (expression,) = statement.settings["calculation"]["numbers"]
    cosine, sine = np.cos(angle), np.sin(angle)
    turned = [
        expression.replace("0.3", str(angle)),
        expression.replace("+ sin", "- sin"),
    ]  # with -sin in the first row
    orthogonal = [bool(pd.DataFrame({"row": [0]}).eval(one, engine="python")) for one in turned]
    assert orthogonal == [
        np.allclose(np.array([[cosine, sine], [sine, cosine]]) @ [cosine, sine], [1.0, 0.0]),
        True,
    ]
    named = {"printed": printed, "recordings": ALL, "schemes": SCHEMES}
    assert list(evidence_of(statement, {}, named).given) == [False]


# the ledger


def test_every_statement_reads_tables_that_there_are_and_says_what_its_numbers_are() -> None:
    block = yaml.safe_load((ROOT / "config/default.yaml").read_text(encoding="utf-8"))["tossing"]
    known = {one.name for one in declare(block | {"author_plots": "author_plots"})} | {"impacts"}
    for one in STATEMENTS.values():
        assert set(one.tables) <= known, one.name
        if one.evidence.endswith(":numbers_of"):
            calculation = one.settings["calculation"]
            assert calculation["words"] and (one.tables or one.settings["source"] == "print"), (
                one.name
            )
            lacking = [
                name for name in ("recorded", "absent") if name in {**one.settings, **calculation}
            ]
            assert len(lacking) == (one.condition != "from=print"), one.name


def test_costs_are_alike_if_one_is_the_other_s_multiple() -> None:
    mu, e_n = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5), indexing="ij")
    loss = (mu - 0.4) ** 2 + 0.1 * e_n

    def of(*losses: np.ndarray) -> list[float]:
        rows = [
            pd.DataFrame(
                {
                    "friction_mu": mu.ravel(),
                    "restitution_e_n": e_n.ravel(),
                    "mean_loss": one.ravel(),
                }
            )
            for one in losses
        ]
        names = needed(["trajectories"], BOXES)
        table = pd.concat(
            [row.assign(dataset=name) for row, name in zip(rows, names, strict=False)]
        )
        found = cost_shapes({"fig12_trajectory_costs": table}, ALL)
        assert len(found.given) == len(found.naive["exchanged"])
        return [*found.given, *found.naive["exchanged"]]

    assert of(loss, 3.0 * loss + 1.0) == pytest.approx(
        [0.0, 1.0 - np.corrcoef(loss.ravel(), loss.T.ravel())[0, 1]]
    )
    assert of(loss, loss.T)[0] > 0.5 and of(loss, loss.T)[1] == pytest.approx(0.0)


def test_numbers_of_rows_that_a_run_does_not_have_are_missing() -> None:
    statement = STATEMENTS["costs_differ_where_boxes_tumble", ""]
    named = {"printed": {}, "recordings": Recordings({"cube": OWN}, {}, {}), "schemes": SCHEMES}
    rows = [
        {"dataset": "cube", "object": "Cube", "thrown": kind, "restitution_pct": value}
        for kind, value in (("recorded", 8.0), ("spinning", 30.0))
    ]
    table = pd.DataFrame(rows)
    found = evidence_of(statement, {"ext_tumbling_costs": table}, named)
    assert (
        found.lack is not None
        and found.lack.kind == NOT_DONE
        and "boxes that turn over" in found.lack.words
    )
    found = evidence_of(statement, {"ext_tumbling_costs": table.assign(object="Box006")}, named)
    assert found.lack is None and found.given.tolist() == [pytest.approx(8.0 / 30.0)]
    assert found.naive == {"no spin": [1.0]} and "0.267" in found.note
