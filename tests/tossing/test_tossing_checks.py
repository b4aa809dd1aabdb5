"""Which of the tossing paper's numbers and statements are compared, with what they agree, and what
the others lack.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contactid.output.comparison import agrees, tried_answers
from contactid.output.verdicts import (
    COMPUTED,
    DIFFERS,
    INPUT,
    LACKS,
    MOVES,
    NEEDS_ARCHIVE,
    NEVER_PUBLISHED,
    NOT_DONE,
    PREDICTED,
    PRINT,
    PRINT_CONSISTENT,
    PRINT_INCONSISTENT,
    REPRODUCED,
    UNINFORMATIVE,
)
from contactid.sources import fourtu_client
from contactid.sources.origin import origin
from contactid.tossing.configuration import BOXES
from printed_tables import (
    ARCHIVES,
    LOCAL,
    PRINTED,
    REGISTRY,
    ROLES,
    TWINS,
    judged,
    of_twins,
    paper_s,
    tables,
    twin_s,
)
from twin_truth import read_truth


@pytest.fixture
def of_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """As with config/4tu.yaml and a lock that was resolved at the archive's own server."""
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    return judged(tmp_path, tables(paper_s), {name: REGISTRY[name] for name in ARCHIVES})


def ours(checks: pd.DataFrame) -> pd.DataFrame:
    """Rows that are made from data."""
    return checks[(checks["data"] != "")]


def statements(checks: pd.DataFrame) -> pd.DataFrame:
    """Rows without a number of their own."""
    return checks[checks["unit"] == "holds"]


def test_with_the_paper_s_recordings_every_row_made_from_them_is_judged(
    of_paper: pd.DataFrame,
) -> None:
    waiting = of_paper[of_paper["verdict"].isin(LACKS)]
    assert (waiting["data"] == "").all() and set(waiting["verdict"]) == {NEVER_PUBLISHED, NOT_DONE}
    told = waiting["note"].str.contains(
        "Algoryx Dynamics|without its carton|tosses that tumble|friction follows the slip"
    )
    assert told.all(), waiting[~told]
    judged_of = ours(of_paper).groupby("artefact").size()
    assert judged_of.to_dict() == {
        "tab01": 16, "tab02": 16, "tab03": 45, "tab04": 17, "fig05": 1, "fig06": 1, "fig08": 1, "fig09": 6, "fig12": 3,
        "fig14": 8, "text": 20,
    }  # fmt: skip


def test_a_row_names_its_data_and_where_they_come_from(of_paper: pd.DataFrame) -> None:
    row = of_paper.loc[
        "tab03", "position_error_mean_cm", "object=Box006;parameters=trajectory;simulator=matlab"
    ]
    assert (
        row["data"] == "iam_box006_trajectories, iam_box006_validation"
        and row["basis"] == "computed"
    )
    assert (
        "10.4121/21387510.v1, resolved at 127.0.0.1 on 2026-01-02" in row["note"]
        and row["origin"] == "archive"
    )
    assert (
        row["wrong_answers"] == "zero=0;half=3.35;twice=13.4;no impact=40"
        and row["verdict"] == REPRODUCED
    )
    row = of_paper.loc["tab02", "friction_mu", "object=Box007;parameters=velocity;simulator=matlab"]
    assert row["data"] == "iam_box007_trajectories"
    row = of_paper.loc["tab03", "moving_over_still_position_error", ""]
    assert set(row["data"].split(", ")) == {paper_s(box, role) for box in BOXES for role in ROLES}


def test_some_of_the_judged_agree_some_differ_and_some_show_nothing(of_paper: pd.DataFrame) -> None:
    verdicts = of_paper["verdict"]
    parameters = "object={};parameters=trajectory;simulator=matlab".format
    assert verdicts["tab02", "friction_mu", parameters("Box006")] == REPRODUCED
    assert verdicts["tab02", "friction_mu", parameters("Box005")] == DIFFERS
    # 0.05 and 0.025 are half a step of the grid apart
    assert verdicts["tab02", "restitution_e_n", parameters("Box004")] == UNINFORMATIVE
    assert verdicts["tab01", "mass_kg", "object=Box004"] == REPRODUCED
    assert verdicts["text", "travelled_m", "section=IV-B"] == REPRODUCED
    # a step of the grid above zero is within a step of it
    assert verdicts["text", "restitution_e_t", "section=IV"] == REPRODUCED
    expected = {
        ("tab03", "moving_over_still_position_error"): REPRODUCED,
        ("tab03", "errors_significantly_smaller"): DIFFERS,
        (
            "tab03",
            "trajectory_parameters_better",
        ): UNINFORMATIVE,  # by 5.7 % in rotation, and 5 % are asked for
        ("text", "parameters_differ_by_criterion"): REPRODUCED,
        ("fig09", "cost_near_zero_at_optimum"): REPRODUCED,
        ("fig09", "threshold_gave_the_best_results"): REPRODUCED,
        ("fig12", "costs_of_boxes_have_similar_shapes"): REPRODUCED,
        ("text", "sticking_impacts_have_larger_errors"): REPRODUCED,
        ("tab04", "similar_without_restitution"): DIFFERS,  # as Table IV does
        (
            "text",
            "rest_pose_insensitive_below_a_threshold",
        ): UNINFORMATIVE,  # it is, without any impact, too
        ("text", "recordings_are_public"): REPRODUCED,
    }
    assert {what: verdicts[(*what, "")] for what in expected} == expected


def test_every_reproduced_row_refuses_its_wrong_answers_and_stays_where_its_threshold_moves(
    of_paper: pd.DataFrame,
) -> None:
    reproduced = of_paper[of_paper["verdict"] == REPRODUCED]
    assert len(reproduced) > 100
    for row in reproduced.to_dict("records"):
        tried = tried_answers(row["wrong_answers"])
        assert len(tried) >= 2, row
        if row["unit"] == "holds":
            assert not any(tried.values()) and all(tried_answers(row["moved"]).values()), row
            continue
        for move in MOVES:
            limit = move * row["tolerance"]
            assert agrees(row["reproduced"], row["published"], limit), row
            assert not any(agrees(value, row["published"], limit) for value in tried.values()), row


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
        tmp_path, tables(paper_s), {name: REGISTRY[name] for name in ARCHIVES}, base, synthetic
    )
    assert about_the_boxes_waits(checks)
    row = checks.loc[
        "tab03", "position_error_mean_cm", "object=Box006;parameters=velocity;simulator=matlab"
    ]
    assert row["note"].startswith(
        "position_error_mean_cm of Box006 (Table III) from iam_box006_drops 10.4121/21024007, "
        "iam_box006_validation 10.4121/21399657; "
    )


def about_the_boxes_waits(checks: pd.DataFrame) -> bool:
    """Whether nothing that is about the paper's boxes is judged by other data; methods and models
    are.
    """
    found = ours(checks)
    compared = found[found["verdict"] != NEEDS_ARCHIVE]
    return set(compared.index.get_level_values("quantity")) == {
        "central_differences_change_no_parameter", "central_differences_smooth_an_impact",
        "costs_differ_where_boxes_tumble",
    }  # fmt: skip


def test_twins_and_one_s_own_recordings_are_not_the_paper_s(tmp_path: Path) -> None:
    assert about_the_boxes_waits(of_twins(tmp_path))
    own = {name: replace(REGISTRY[name], kind="own") for name in TWINS}
    checks = judged(tmp_path, tables(twin_s), own)
    assert about_the_boxes_waits(checks)
    assert "recordings of your own" in checks.loc["text", "restitution_e_t", "section=IV"]["note"]


def test_what_a_twin_shows_of_the_boxes_is_told_and_not_judged(tmp_path: Path) -> None:
    """With the archives the same numbers are verdicts."""
    rows = statements(of_twins(tmp_path)).query("data != ''")
    assert rows["reproduced"].notna().all() and (rows["cases"] != "").all()
    # what no run computed before: grids, shapes, sticking impacts
    for what in (("fig09", "smaller_steps_change_nothing"), ("fig12", "costs_of_boxes_have_similar_shapes"),
                 ("text", "sticking_impacts_have_larger_errors")):  # fmt: skip
        assert rows.loc[(*what, ""), "verdict"] == NEEDS_ARCHIVE


def test_a_method_that_fails_on_twins_is_told(tmp_path: Path) -> None:
    found = tables(twin_s)
    choices = found["ext_velocity_choices"]
    found["ext_velocity_choices"] = choices.assign(restitution_e_n=choices["restitution_e_n"] + 0.2)
    found["ext_tumbling_costs"]["restitution_pct"] = 30.0
    verdicts = of_twins(tmp_path, found)["verdict"]
    assert verdicts["text", "central_differences_change_no_parameter", ""] == DIFFERS
    assert verdicts["fig12", "costs_differ_where_boxes_tumble", ""] == DIFFERS


def test_tosses_that_tumble_are_judged_where_there_are_some(tmp_path: Path) -> None:
    what = "text", "tumbling_tosses_are_predicted_worse", ""
    assert of_twins(tmp_path).loc[what, "verdict"] == NOT_DONE
    found = tables(twin_s)
    motion = found["ext_recorded_motion"].assign(rest_position_error_cm=1.0)
    motion["tumbled"] = motion["toss"].isin(["3", "4"])
    motion.loc[motion["tumbled"], "rest_position_error_cm"] = 9.0
    assert (
        of_twins(tmp_path, found | {"ext_recorded_motion": motion}).loc[what, "verdict"]
        == REPRODUCED
    )
    motion["rest_position_error_cm"] = 1.0
    assert (
        of_twins(tmp_path, found | {"ext_recorded_motion": motion}).loc[what, "verdict"] == DIFFERS
    )


def test_a_law_that_follows_the_slip_is_judged_where_a_run_predicts_by_both(tmp_path: Path) -> None:
    what = "tab03", "detailed_law_lowers_rest_pose_errors", ""
    assert of_twins(tmp_path).loc[what, "verdict"] == NOT_DONE
    found = tables(twin_s)
    rest = found["tab03_rest_pose_errors"]
    newton = rest[rest["scheme"] == "paper"].assign(scheme="calibrated", subset="all")
    for error, verdict in ((0.8, REPRODUCED), (0.96, DIFFERS), (1.2, DIFFERS)):
        errors = newton[["position_error_mean_cm", "rotation_error_mean_deg"]] * error
        detailed = newton.assign(scheme="incremental", **errors)
        found["tab03_rest_pose_errors"] = pd.concat([rest, newton, detailed])
        assert of_twins(tmp_path, found).loc[what, "verdict"] == verdict


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
    checks = ours(of_twins(tmp_path)).reset_index()
    truths = {name: read_truth(REGISTRY[name].source).parameters for name in TWINS}
    for row in checks[checks["basis"].isin([COMPUTED, PREDICTED])].to_dict("records"):
        behind = [truths[name] for name in row["data"].split(", ")]
        parameter = row["quantity"].removeprefix("velocity_").removesuffix("_in_text")
        assert not any(hasattr(truth, parameter) for truth in behind), row
        assert row["artefact"] not in ("tab01", "tab02"), row
    assert set(checks.loc[checks["artefact"].isin(["tab01", "tab02"]), "basis"]) == {INPUT}
    assert (checks["basis"] == INPUT).sum() == 16 + 16 + 3  # and e_T, mu and e_N in the text
    # by what a twin was made with nothing is judged
    assert set(checks.loc[checks["basis"] == INPUT, "verdict"]) == {NEEDS_ARCHIVE}


def test_what_is_said_of_all_boxes_needs_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    datasets = {name: REGISTRY[name] for name in ARCHIVES if "box006" in name}
    checks = judged(tmp_path, tables(paper_s, ("Box006",)), datasets)
    assert (
        checks.loc["tab02", "friction_mu", "object=Box006;parameters=trajectory;simulator=matlab"][
            "verdict"
        ]
        == REPRODUCED
    )
    row = checks.loc["tab03", "least_position_error_cm", "section=V;parameters=trajectory"]
    assert (
        row["verdict"] == NEEDS_ARCHIVE and "iam_box004_validation 10.4121/c.6278310" in row["note"]
    )
    assert checks.loc["tab03", "moving_over_still_position_error", ""]["verdict"] == NEEDS_ARCHIVE


def test_of_two_datasets_of_one_box_the_paper_s_own_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    of_paper, others = tables(paper_s), tables(twin_s)
    others["tab02_identified_parameters"]["friction_mu"] = 0.9
    for first, second in ((of_paper, others), (others, of_paper)):
        both = {name: pd.concat([first[name], second[name]], ignore_index=True) for name in first}
        checks = judged(tmp_path, both, {name: REGISTRY[name] for name in (*ARCHIVES, *TWINS)})
        row = checks.loc[
            "tab02", "friction_mu", "object=Box006;parameters=trajectory;simulator=matlab"
        ]
        assert (row["reproduced"], row["data"]) == (0.4, "iam_box006_trajectories")


def test_no_reason_serves_two_tables_and_each_names_what_is_missing(tmp_path: Path) -> None:
    found = tables(twin_s)
    found["impacts"]["sample"] = 100
    found["ext_velocity_identification"]["friction_flat_from"] = np.nan
    waiting = of_twins(tmp_path, found).reset_index()
    waiting = waiting[waiting["verdict"].isin(LACKS)]
    reasons = waiting["note"].str.split(";").str[0]
    assert waiting.groupby(reasons)["artefact"].nunique().max() == 1
    named = reasons.str.contains("10.4121/")
    assert (named == (waiting["verdict"] == NEEDS_ARCHIVE)).all()
    assert (
        reasons[~named]
        .str.contains(
            "Algoryx Dynamics|without its carton|tosses that tumble|friction follows the slip"
        )
        .all()
    )


def test_a_plateau_that_the_paper_s_own_data_lack_is_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    found = tables(paper_s)
    found["ext_velocity_identification"]["friction_flat_from"] = np.nan
    found["impacts"]["sample"] = 100
    checks = judged(tmp_path, found, {name: REGISTRY[name] for name in ARCHIVES})
    row = checks.loc["fig09", "friction_insensitive_above", "section=IV-A;object=Box006"]
    assert row["verdict"] == DIFFERS and "if there is such a friction" in row["note"]
    row = checks.loc["fig06", "impact_duration_samples", "section=IV-A;figure=6"]
    assert row["verdict"] == NOT_DONE and "isn't to be had of iam_box006_drops" in row["note"]


@pytest.mark.parametrize("left_out", ["impacts", "mpec"])
def test_a_part_that_a_run_leaves_out_is_told_and_nothing_fails(
    tmp_path: Path, left_out: str
) -> None:
    found = tables(twin_s)
    parts = {
        "impacts": ["ext_velocity", "ext_example", "ext_impact", "impacts"],
        "mpec": ["ext_impact"],
    }[left_out]
    some = {name: table for name, table in found.items() if not name.startswith(tuple(parts))}
    checks = of_twins(tmp_path, some)
    assert checks.loc["text", "restitution_e_t", "section=IV"]["verdict"] == NEEDS_ARCHIVE
    row = checks.loc["fig09", "cost_near_zero_at_optimum", ""]
    assert (row["verdict"] == NOT_DONE) == (left_out == "impacts")


# the paper against itself


def test_print_alone_says_where_the_paper_contradicts_itself(of_paper: pd.DataFrame) -> None:
    from_print = of_paper[of_paper["basis"] == PRINT]
    assert (from_print["data"] == "").all() and set(from_print["verdict"]) == {
        PRINT_CONSISTENT, PRINT_INCONSISTENT, UNINFORMATIVE, NEVER_PUBLISHED,
    }  # fmt: skip
    assert (
        from_print.loc[pd.IndexSlice["tab01", [f"inertia_{k}{k}_kg_mm2" for k in "xyz"]], "verdict"]
        == PRINT_CONSISTENT
    ).all()
    # a carton's mass isn't its filling's
    density = from_print.xs("density_kg_m3", level="quantity")
    assert density["reproduced"].round().tolist() == [169, 185, 115, 442] and set(
        density["verdict"]
    ) == {NEVER_PUBLISHED}
    text = "section=IV-A;object=Box006;simulator={};from=printed_table".format
    for name, printed, table in (("friction_mu", 0.3, 0.25), ("restitution_e_n", 0.45, 0.4)):
        row = from_print.loc["text", f"velocity_{name}_in_text", text("matlab")]
        assert (row["published"], row["reproduced"], row["verdict"]) == (
            printed,
            table,
            PRINT_INCONSISTENT,
        )
        assert (
            from_print.loc["text", f"velocity_{name}_in_text", text("algoryx")]["verdict"]
            == PRINT_CONSISTENT
        )


@pytest.mark.parametrize(
    ("artefact", "name", "cases", "verdict", "told"),
    [
        (
            "tab03",
            "errors_significantly_smaller",
            "2 of 4",
            PRINT_INCONSISTENT,
            "24.8, 0.603, 31.9, 0.849",
        ),
        (
            "tab03",
            "trajectory_parameters_better",
            "4 of 4",
            UNINFORMATIVE,
            "0.057",
        ),  # it hangs on 5 %
        ("tab03", "same_order_for_both_criteria", "4 of 4", PRINT_CONSISTENT, "0.0961"),
        ("fig13", "velocity_parameters_poor", "2 of 2", PRINT_CONSISTENT, "21.5, 30.3"),
        (
            "tab04",
            "similar_without_restitution",
            "11 of 16",
            PRINT_INCONSISTENT,
            "0.631",
        ),  # rotation of Box007
        ("text", "accurate_without_restitution", "13 of 16", PRINT_INCONSISTENT, "1.39"),
        ("text", "parameters_differ_by_criterion", "8 of 8", PRINT_CONSISTENT, "0.15"),
        (
            "text",
            "relative_rest_orientation_is_a_rotation",
            "0 of 1",
            PRINT_INCONSISTENT,
            "at 0.3 rad",
        ),
    ],
)
def test_statements_of_print(
    of_paper: pd.DataFrame, artefact: str, name: str, cases: str, verdict: str, told: str
) -> None:
    row = of_paper.loc[artefact, name, "from=print"]
    assert (row["cases"], row["verdict"]) == (cases, verdict) and told in row["note"]
