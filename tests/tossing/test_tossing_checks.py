"""Which of the tossing paper's numbers are compared, with what they agree, and what is said of the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from contactid.core import rotations
from contactid.output.comparison import (
    COMPUTED,
    DIFFERS,
    INPUT,
    NOT_COMPARABLE,
    PREDICTED,
    PRINT,
    PRINT_CONSISTENT,
    REPRODUCED,
    UNINFORMATIVE,
)
from contactid.output.tables import read_csv, write_csv
from contactid.sources import fourtu_client
from contactid.sources.lockfile import LockedArchive
from contactid.sources.origin import origin
from contactid.sources.registry import Dataset, load_registry
from contactid.tossing.artefacts.predictions import Prediction, no_impact_table
from contactid.tossing.checks import check
from contactid.tossing.claims import BOXES, STATEMENTS, significantly_smaller
from contactid.tossing.configuration import Scheme
from twin_truth import read_truth

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "workflow/resources/published/tossing.csv"
REGISTRY = load_registry(ROOT / "config/datasets.tsv", {})
ARCHIVES = {name: entry.source for name, entry in REGISTRY.items() if (entry.study, entry.kind) == ("tossing", "4tu")}
SCHEMES = {"trajectory": "paper", "velocity": "velocity", "no_restitution": "no_restitution"}
LOCAL = "http://127.0.0.1:18080"
KEY = ["artefact", "quantity", "condition"]
PRINTED = read_csv(PUBLISHED).set_index(KEY)["value"]

Names = Callable[[str, str], str]


def paper_s(box: str, role: str) -> str:
    """As config/4tu.yaml: the impacts of Box007 are those of its trajectories."""
    name = f"iam_{box.lower()}_{role}"
    return name if name in ARCHIVES else name.replace("drops", "trajectories")


def twin_s(box: str, role: str) -> str:
    return f"{box.lower()}_{role}"


def tables(named: Names, boxes: tuple[str, ...] = BOXES, synthetic: bool = False) -> dict[str, pd.DataFrame]:
    """What a run would find whose numbers are the printed ones, but for Box005's friction from trajectories."""
    kinds = {"trajectory": ("paper", "trajectories"), "velocity": ("velocity", "drops")}
    bodies, identified, rest, landed, losses, changes = [], [], [], [], [], []
    for box in boxes:
        sizes = {name: PRINTED["tab01", name, f"object={box}"] for name in ("length_mm", "width_mm", "height_mm")}
        mass = PRINTED["tab01", "mass_kg", f"object={box}"]
        bodies.append({"object": box, **sizes, "mass_kg": mass, "dataset": named(box, "validation")})
        for kind, (scheme, role) in kinds.items():
            of = f"object={box};parameters={kind};simulator=matlab"
            about = {"object": box, "parameters": kind, "simulator": "contactid", "scheme": scheme}
            row = {**about, "identified_on": named(box, role), "restitution_flat_to": 0.6}
            for name in ("friction_mu", "restitution_e_n"):
                value = PRINTED["tab02", name, of] + 0.1 * (
                    name == "friction_mu" and (box, kind) == ("Box005", "trajectory")
                )
                row |= {name: value, f"{name}_low": value - 0.025, f"{name}_high": value + 0.025}
            identified.append(row)
            errors = {name: PRINTED["tab03", name, of] for name in ERRORS}
            about |= {"identified_on": named(box, role), "dataset": named(box, "validation"), "subset": "all"}
            rest.append({**about, **errors, "n_tosses": 50, "n_same_face": 50})
        landed.append({"object": box, "dataset": named(box, "validation"), **dict.fromkeys(ERRORS, 40.0)})
        losses.append(
            {"dataset": named(box, "drops"), "object": box, "scheme": "velocity", "friction_mu_low": 0.2,
             "friction_mu_high": 0.3, "restitution_e_n_low": 0.4, "restitution_e_n_high": 0.5,
             "identification_loss": 0.05, "loss_without_contact": 1.4, "friction_flat_from": 0.6}
        )  # fmt: skip
        for parameter, values in (("friction_mu", (100.0, 50.0, 3.0)), ("restitution_e_n", (4.0, 2.0, 3.0))):
            for quantity, value in zip(("position_mm", "position_pct", "rotation_deg"), values, strict=True):
                changes.append(
                    {"parameter": parameter, "quantity": quantity, "subset": "all", "mean": value, "n_tosses": 50,
                     "dataset": named(box, "validation"), "restitution_insensitive_below": 0.5}
                )  # fmt: skip
    errors = pd.DataFrame(rest)
    printed = errors.assign(scheme="printed", data="synthetic twin" if synthetic or named is twin_s else "4tu")
    none = errors[errors["scheme"] == "paper"].assign(scheme="no_restitution")
    of_paper = [f"object={box};parameters=trajectory;simulator=matlab" for box in boxes]
    none = none.assign(**{name: [PRINTED["tab04", name, of] for of in of_paper] for name in ERRORS})
    moving = {"scheme": "paper", "moving_n": 10, "still_n": 50, "moving_rest_position_error_cm": 8.0}
    ends = [named(box, "validation") for box in boxes] + ["all"] * (len(boxes) > 1)
    drops = [named(box, "drops") for box in boxes]
    mpec = {"form": "disk, e_T free", "restitution_e_t": 0.02, "restitution_e_t_high": 0.03}
    impact = {"kept": True, "sample": 275, "first_post": 1, "last_pre": -1}
    return {
        "tab01_object_properties": pd.DataFrame(bodies),
        "tab02_identified_parameters": pd.DataFrame(identified),
        "tab03_rest_pose_errors": errors,
        "tab04_rest_pose_errors_without_restitution": none,
        "ext_no_impact": pd.DataFrame(landed),
        "ext_printed_parameters": printed,
        "ext_velocity_identification": pd.DataFrame(losses),
        "ext_impact_mpec": pd.DataFrame([{"dataset": name, **mpec} for name in drops]),
        "ext_sensitivity": pd.DataFrame(changes),
        "ext_moving_surface": pd.DataFrame(
            [{"dataset": name, **moving, "still_rest_position_error_cm": 6.0} for name in ends]
        ),
        "impacts": pd.DataFrame([{"dataset": name, **impact} for name in drops]),
    }


ERRORS = ("position_error_mean_cm", "position_error_std_cm", "rotation_error_mean_deg", "rotation_error_std_deg")


def judged(
    folder: Path,
    found: dict[str, pd.DataFrame],
    datasets: dict[str, Dataset],
    base: str = LOCAL,
    synthetic: bool = False,
) -> pd.DataFrame:
    """The verdicts on tables, by files: of datasets that were locked at ``base``."""
    cards = []
    for name, entry in datasets.items():
        locked = LockedArchive(entry.source, "4tu", f"{entry.source}.v1", base=base, locked_on="2026-01-02")
        told = origin(entry, locked if entry.kind == "4tu" else None, synthetic)._asdict()
        cards.append(folder / f"{name}.json")
        cards[-1].write_text(json.dumps({"name": name, **told}))
    for name, table in found.items():
        write_csv(table, folder / f"{name}.csv")
    files = [str(folder / f"{name}.csv") for name in found]
    check(str(PUBLISHED), files, list(found), [str(card) for card in cards], ARCHIVES, SCHEMES, str(folder / "checks"))
    return read_csv(folder / "checks").set_index(KEY)


@pytest.fixture
def of_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """As with config/4tu.yaml and a lock that was resolved at the archive's own server."""
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    return judged(tmp_path, tables(paper_s), {name: REGISTRY[name] for name in ARCHIVES})


def ours(checks: pd.DataFrame) -> pd.DataFrame:
    """Rows that are made from data."""
    return checks[(checks["data"] != "")]


def test_with_the_paper_s_recordings_every_row_made_from_them_is_judged(of_paper: pd.DataFrame) -> None:
    waiting = of_paper[of_paper["verdict"] == NOT_COMPARABLE]
    assert not (ours(of_paper)["verdict"] == NOT_COMPARABLE).any() and (waiting["data"] == "").all()
    told = waiting["note"].str.contains("Algoryx Dynamics|which no run computes|of synthetic twins")
    assert told.all(), waiting[~told]
    judged_of = ours(of_paper).groupby("artefact").size()
    assert judged_of.to_dict() == {
        "tab01": 16, "tab02": 16, "tab03": 45, "tab04": 18, "fig06": 1, "fig09": 3, "fig12": 1, "fig14": 8, "text": 6,
    }  # fmt: skip


def test_a_row_names_its_data_and_where_they_come_from(of_paper: pd.DataFrame) -> None:
    row = of_paper.loc["tab03", "position_error_mean_cm", "object=Box006;parameters=trajectory;simulator=matlab"]
    assert row["data"] == "iam_box006_trajectories, iam_box006_validation" and row["basis"] == "computed"
    assert "10.4121/21387510.v1, resolved at 127.0.0.1 on 2026-01-02" in row["note"]
    assert row["wrong_answers"] == "zero=0;half=3.35;twice=13.4;no impact=40" and row["verdict"] == REPRODUCED
    row = of_paper.loc["tab02", "friction_mu", "object=Box007;parameters=velocity;simulator=matlab"]
    assert row["data"] == "iam_box007_trajectories"


def test_some_of_the_judged_agree_some_differ_and_some_show_nothing(of_paper: pd.DataFrame) -> None:
    verdicts = of_paper["verdict"]
    parameters = "object={};parameters=trajectory;simulator=matlab".format
    assert verdicts["tab02", "friction_mu", parameters("Box006")] == REPRODUCED
    assert verdicts["tab02", "friction_mu", parameters("Box005")] == DIFFERS
    # 0.05 and 0.025 are half a step of the grid apart
    assert verdicts["tab02", "restitution_e_n", parameters("Box004")] == UNINFORMATIVE
    assert verdicts["tab01", "mass_kg", "object=Box004"] == REPRODUCED
    # without any impact e_N doesn't matter either
    row = of_paper.loc["tab04", "error_without_over_with_restitution", "section=VI;error=position"]
    assert row["verdict"] == UNINFORMATIVE and row["rejects"] == "zero;half;twice"
    assert verdicts["tab03", "moving_over_still_position_error", "section=V;surface=moving"] == REPRODUCED
    assert verdicts["text", "restitution_e_t", "section=IV"] == REPRODUCED
    better = "section=V;error={};simulator=matlab".format
    assert verdicts["tab03", "trajectory_parameters_better", better("position")] == REPRODUCED
    assert verdicts["tab03", "trajectory_parameters_better", better("rotation")] == DIFFERS


@pytest.mark.parametrize(
    ("base", "synthetic", "patched"),
    [("https://elsewhere.org", False, True), (LOCAL, True, True), (LOCAL, False, False)],
)
def test_other_hosts_and_synthetic_files_are_not_the_paper_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, synthetic: bool, patched: bool
) -> None:
    if patched:
        monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    checks = judged(
        tmp_path, tables(paper_s, synthetic=synthetic), {name: REGISTRY[name] for name in ARCHIVES}, base, synthetic
    )
    assert not_compared(checks, synthetic)
    row = checks.loc["tab03", "position_error_mean_cm", "object=Box006;parameters=velocity;simulator=matlab"]
    assert row["note"].startswith(
        "position_error_mean_cm of Box006 (Table III) from iam_box006_drops 10.4121/21024007, "
        "iam_box006_validation 10.4121/21399657; "
    )


def not_compared(checks: pd.DataFrame, synthetic: bool) -> bool:
    """Whether no number made from data is judged; statements on the model are, on twins."""
    compared = ours(checks)[ours(checks)["verdict"] != NOT_COMPARABLE]
    return set(compared.index.get_level_values("quantity")) == (
        {
            "trajectory_parameters_better_on_twins", "rest_position_sensitive_to_friction_and_orientation_not",
            "rest_pose_insensitive_to_restitution", "rest_pose_insensitive_below_a_threshold",
        } if synthetic else set()
    )  # fmt: skip


def test_on_twins_the_headline_is_arithmetic_on_print(tmp_path: Path) -> None:
    """Twins are made with the better parameters, so that they hold shows that Tables II and III agree, no more."""
    names = [twin_s(box, role) for box in BOXES for role in ("trajectories", "validation", "drops")]
    datasets = {name: REGISTRY[name] for name in names}
    what = "tab03", "trajectory_parameters_better_on_twins", "section=V;error=position;simulator=matlab"
    row = judged(tmp_path, tables(twin_s), datasets).loc[what]
    assert (row["verdict"], row["basis"], row["rejects"]) == (PRINT_CONSISTENT, PRINT, "counterexample;no impact")
    found = tables(twin_s)
    found["ext_printed_parameters"]["position_error_mean_cm"] = 10.0
    assert judged(tmp_path, found, datasets).loc[what]["verdict"] == DIFFERS


def test_twins_and_one_s_own_recordings_are_not_the_paper_s(tmp_path: Path) -> None:
    names = [twin_s(box, role) for box in BOXES for role in ("trajectories", "validation", "drops")]
    assert not_compared(judged(tmp_path, tables(twin_s), {name: REGISTRY[name] for name in names}), True)
    own = {name: replace(REGISTRY[name], kind="own") for name in names}
    checks = judged(tmp_path, tables(twin_s), own)
    assert not_compared(checks, False)
    assert "recordings of your own" in checks.loc["text", "restitution_e_t", "section=IV"]["note"]


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("role", ["trajectories", "validation", "drops"])
def test_the_registry_names_the_printed_numbers_that_a_twin_s_truth_is(box: str, role: str) -> None:
    dataset = REGISTRY[twin_s(box, role)]
    truth = read_truth(dataset.source)
    behind = origin(dataset, None, synthetic=True)
    kinds = set()
    for kind in ("trajectory", "velocity"):
        condition = f"object={box};parameters={kind};simulator=matlab"
        values = [PRINTED["tab02", name, condition] for name in ("friction_mu", "restitution_e_n")]
        if values == [truth.parameters.friction_mu, truth.parameters.restitution_e_n]:
            kinds.add(kind)
        assert behind.rests_on("tab02", "friction_mu", condition) is (kind in kinds)
    assert len(kinds) == 1
    assert behind.rests_on("tab01", "mass_kg", f"object={box}")
    assert not behind.rests_on("tab03", "n_tosses", f"object={box}")


def test_no_number_is_said_to_be_found_without_what_its_twin_was_made_with(tmp_path: Path) -> None:
    names = [twin_s(box, role) for box in BOXES for role in ("trajectories", "validation", "drops")]
    datasets = {name: REGISTRY[name] for name in names}
    checks = ours(judged(tmp_path, tables(twin_s), datasets)).reset_index()
    truths = {name: read_truth(entry.source).parameters for name, entry in datasets.items()}
    for row in checks[checks["basis"].isin([COMPUTED, PREDICTED])].to_dict("records"):
        behind = [truths[name] for name in row["data"].split(", ")]
        parameter = row["quantity"].removeprefix("velocity_").removesuffix("_in_text")
        assert not any(hasattr(truth, parameter) for truth in behind), row
        assert row["artefact"] not in ("tab01", "tab02"), row
    assert set(checks.loc[checks["artefact"].isin(["tab01", "tab02"]), "basis"]) == {INPUT}
    assert (checks["basis"] == INPUT).sum() == 16 + 16 + 4  # and e_T, mu, e_N and their disagreement in the text


def test_what_is_said_of_all_boxes_needs_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    datasets = {name: REGISTRY[name] for name in ARCHIVES}
    checks = judged(tmp_path, tables(paper_s, ("Box006",)), datasets)
    assert (
        checks.loc["tab02", "friction_mu", "object=Box006;parameters=trajectory;simulator=matlab"]["verdict"]
        == REPRODUCED
    )
    row = checks.loc["tab03", "least_position_error_cm", "section=V;parameters=trajectory"]
    assert row["verdict"] == NOT_COMPARABLE and "iam_box004_validation 10.4121/c.6278310" in row["note"]


def test_of_two_datasets_of_one_box_the_paper_s_own_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    of_paper, of_twins = tables(paper_s), tables(twin_s)
    names = [*ARCHIVES, *(twin_s(box, role) for box in BOXES for role in ("trajectories", "validation", "drops"))]
    of_twins["tab02_identified_parameters"]["friction_mu"] = 0.9
    for first, second in ((of_paper, of_twins), (of_twins, of_paper)):
        both = {name: pd.concat([first[name], second[name]], ignore_index=True) for name in first}
        checks = judged(tmp_path, both, {name: REGISTRY[name] for name in names})
        row = checks.loc["tab02", "friction_mu", "object=Box006;parameters=trajectory;simulator=matlab"]
        assert (row["reproduced"], row["data"]) == (0.4, "iam_box006_trajectories")


def test_no_reason_serves_two_tables_and_each_names_what_is_missing(tmp_path: Path) -> None:
    names = [twin_s(box, role) for box in BOXES for role in ("trajectories", "validation", "drops")]
    found = tables(twin_s)
    found["impacts"]["sample"] = 100
    found["ext_velocity_identification"]["friction_flat_from"] = np.nan
    checks = judged(tmp_path, found, {name: REGISTRY[name] for name in names}).reset_index()
    waiting = checks[checks["verdict"] == NOT_COMPARABLE]
    reasons = waiting["note"].str.split(";").str[0]
    assert waiting.groupby(reasons)["artefact"].nunique().max() == 1
    assert reasons.str.contains("10.4121/|Algoryx Dynamics|which no run computes|of synthetic twins").all()
    note = checks.set_index("quantity").loc["friction_insensitive_above", "note"]
    assert "the grid has no friction from which on the mean loss stays within 1 %" in note


def test_a_plateau_that_the_paper_s_own_data_lack_is_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    found = tables(paper_s)
    found["ext_velocity_identification"]["friction_flat_from"] = np.nan
    found["impacts"]["sample"] = 100
    checks = judged(tmp_path, found, {name: REGISTRY[name] for name in ARCHIVES})
    assert checks.loc["fig09", "friction_insensitive_above", "section=IV-A;object=Box006"]["verdict"] == DIFFERS
    row = checks.loc["fig06", "impact_duration_samples", "section=IV-A;figure=6"]
    assert row["verdict"] == NOT_COMPARABLE and "an impact at sample 275 of iam_box006_drops" in row["note"]


# the paper against itself


def test_print_alone_says_where_the_paper_contradicts_itself(of_paper: pd.DataFrame) -> None:
    from_print = of_paper[of_paper["basis"] == PRINT]
    assert set(from_print["verdict"]) == {PRINT_CONSISTENT, DIFFERS} and (from_print["data"] == "").all()
    assert (
        from_print.loc[pd.IndexSlice["tab01", [f"inertia_{k}{k}_kg_mm2" for k in "xyz"]], "verdict"] == PRINT_CONSISTENT
    ).all()
    density = from_print.xs("density_kg_m3", level="quantity")
    assert density["reproduced"].round().tolist() == [169, 185, 115, 442] and (density["verdict"] == DIFFERS).all()
    ratios = from_print.xs("error_without_over_with_restitution", level="quantity").droplevel("artefact")
    apart = ratios[ratios["verdict"] == DIFFERS]["reproduced"]
    rotation = "section=VI;object=Box007;error=rotation;simulator={};from=printed_table".format
    assert len(ratios) == 16 and len(apart) == 5
    assert (round(apart[rotation("matlab")], 2), round(apart[rotation("algoryx")], 2)) == (1.63, 1.45)
    text = "section=IV-A;object=Box006;simulator={};from=printed_table".format
    for name, printed, table in (("friction_mu", 0.3, 0.25), ("restitution_e_n", 0.45, 0.4)):
        row = from_print.loc["text", f"velocity_{name}_in_text", text("matlab")]
        assert (row["published"], row["reproduced"], row["verdict"]) == (printed, table, DIFFERS)
        row = from_print.loc["text", f"velocity_{name}_in_text", text("algoryx")]
        assert row["verdict"] == PRINT_CONSISTENT
    better = from_print.xs("trajectory_parameters_better", level="quantity")["verdict"].droplevel("artefact")
    assert [better[name] for name in sorted(better.index)] == [PRINT_CONSISTENT] * 2 + [DIFFERS] * 2  # rotation
    assert (
        from_print.loc["text", "relative_rest_orientation_is_a_rotation", "section=V;equation=20"]["verdict"] == DIFFERS
    )


# statements


TRUE = {
    "parameters_differ_by_criterion": [(0.6, 0.4, 0.45, 0.05), (0.45, 0.35, 0.45, 0.1)],
    "same_order_for_both_criteria": [(9.9, 10.1), (12.7, 10.9)],
    "moving_over_still_position_error": [(8.0, 6.0)],
    "trajectory_parameters_better": [(33.8, 8.0, 50, 6.7, 3.9, 50)],
    "trajectory_parameters_better_on_twins": [(33.8, 8.0, 50, 6.7, 3.9, 50)],
    "velocity_parameters_poor": [(33.8, 8.0, 50, 6.7, 3.9, 50)],
    "accurate_without_restitution": {"errors": (4.3, 10.1), "largest": 10.5},
    "cost_shows_an_optimum": [(0.25, 0.35), (0.4, 0.5)],
    "cost_near_zero_at_optimum": (0.1, 1.4),
    "rest_position_sensitive_to_friction_and_orientation_not": {"position": 0.5, "orientation": 0.05},
    "rest_pose_insensitive_to_restitution": {"by friction": 0.5, "position": 0.02, "orientation": 0.05},
    "rest_pose_insensitive_below_a_threshold": (0.6, 0.3),
    "relative_rest_orientation_is_a_rotation": rotations.matrices(rotations.exp(np.array([0.0, 0.0, 0.3]))),
}


@pytest.mark.parametrize("quantity", STATEMENTS)
def test_a_statement_holds_for_what_it_says_and_not_for_its_counterexample(quantity: str) -> None:
    holds, counterexample = STATEMENTS[quantity]
    assert holds(TRUE[quantity]) is True and holds(counterexample) is False
    assert quantity in PRINTED.index.get_level_values("quantity")


def test_a_smaller_mean_is_significant_with_enough_tosses_alone() -> None:
    assert significantly_smaller([(7.0, 3.0, 50, 5.0, 3.0, 50)])
    assert not significantly_smaller([(7.0, 3.0, 5, 5.0, 3.0, 5)])
    assert not significantly_smaller([(5.0, 3.0, 50, 7.0, 3.0, 50)])


# no impact


def test_without_an_impact_a_toss_ends_where_it_first_touches() -> None:
    turn = rotations.exp(np.array([[0.0, 0.0, 0.2], [0.0, 0.0, 0.2], [0.0, 0.0, 0.0]]))
    motion = xr.Dataset(
        {
            "position": (("sample", "xyz"), [[0.0, 0.0, 0.3], [0.3, 0.4, 0.1], [0.6, 0.8, 0.1]]),
            "orientation": (("sample", "wxyz"), turn),
            "row_size": ("recording", [3]),
            "contact": ("recording", [1]),
            "rest_position": (("recording", "xyz"), [[0.6, 0.8, 0.1]]),
            "rest_orientation": (("recording", "wxyz"), turn[2:]),
        },
        coords={"recording": ["toss0"]},
    )
    scheme = Scheme("paper", "trajectory", "trajectory", "paper", {}, True)
    tosses = pd.DataFrame({"toss": ["toss0"], "moving": [False]})
    found = Prediction("box_validation", "box_trajectories", scheme, "Box", "synthetic twin", {}, tosses)
    row = no_impact_table([found, found], {"box_validation": motion}).to_dict("records")
    assert len(row) == 1 and (row[0]["object"], row[0]["dataset"], row[0]["n_tosses"]) == ("Box", "box_validation", 1)
    assert row[0]["position_error_mean_cm"] == pytest.approx(50.0)
    assert row[0]["rotation_error_mean_deg"] == pytest.approx(np.degrees(0.2))
    still = replace(found, table=tosses.assign(moving=True))
    assert no_impact_table([still], {"box_validation": motion}).empty
