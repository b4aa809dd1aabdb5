"""Table II: our predictions beside the printed ones, what is corrected and why, and what the checks
say.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arm_for_tests import CONFIG, CORRECTIONS, LWR4, lwr4
from arm_for_tests import PUBLISHED as PUBLISHED_FILE
from contactid.arm.artefacts.arm_pose import arm_figure, draw_arm
from contactid.arm.artefacts.impact_laws import impact_laws, law_table, solve_laws
from contactid.arm.artefacts.impact_table import FITTED, OURS, impact_table, table_ii, twin_columns
from contactid.arm.artefacts.postures import posture_table, postures
from contactid.arm.rigid.postures import (
    ratio_at,
    stated_posture,
    tilt_of_ratio,
    upright_posture,
    upright_postures,
)
from contactid.arm.rigid.printed_table import (
    CELLS,
    LABELS,
    copied_rows,
    corrected_table,
    printed_statistics,
    printed_table,
    sliding_errors,
)
from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.output.tables import read_csv

PUBLISHED = read_csv(PUBLISHED_FILE)
PRINTED = printed_table(PUBLISHED)
ROBOT = lwr4()
UPRIGHT = upright_postures(ROBOT)
BLOCK = CONFIG["robot"]


def recordings() -> pd.DataFrame:
    """Fits of 17 recordings, of the rows that aren't copies; their labels say nothing, their fits
    are the rows'.
    """
    rows = PRINTED[~copied_rows(PRINTED)].reset_index(drop=True)
    fits = rows.reindex(columns=list(FITTED)).fillna(0.0)
    return fits.assign(set=rows["dataset"], nominal_velocity_m_s=np.nan, nominal_angle_deg=np.nan)


TABLE = impact_table(ROBOT, PUBLISHED, recordings().iloc[:0], UPRIGHT)


def block_of(rule: str) -> pd.DataFrame:
    return TABLE[TABLE["posture_rule"] == rule].reset_index(drop=True)


@pytest.mark.parametrize(("rule", "limit"), [("per_angle", 6.5e-3), ("per_set_and_angle", 4.5e-3)])
def test_the_printed_predictions_are_met(rule: str, limit: float) -> None:
    rows = block_of(rule)
    assert len(rows) == 18
    assert (rows[OURS] - rows["vx_plus_map"]).abs().max() <= limit
    assert rows["vz_plus_map_ours"].abs().max() == 0.0  # computed by eq. 5, to 12 digits


def test_the_printed_columns_come_first_and_are_as_printed() -> None:
    assert list(TABLE.columns[:13]) == [
        "dataset", "velocity_m_s", "angle_deg", "vz_minus", "vz_plus_map", "vz_plus_fit", "eta_z", "vx_minus",
        "vx_plus_map", "vx_plus_fit", "eta_x", "vx_plus_map_ours", "posture_rule",
    ]  # fmt: skip
    for rule in ("per_angle", "per_set_and_angle"):
        pd.testing.assert_frame_equal(block_of(rule)[[*LABELS, *CELLS]], PRINTED)


def test_predictions_depend_on_the_pre_impact_velocity_and_r_alone() -> None:
    for _, rows in block_of("per_set_and_angle").groupby(["dataset", "angle_deg"]):
        r = (rows[OURS] - rows["vx_minus"]) / rows["vz_minus"].abs()
        assert r.max() - r.min() < 1e-9


def test_printed_means_are_recomputed() -> None:
    absolute, relative = printed_statistics(PRINTED)
    assert absolute == pytest.approx(7.94, abs=5e-3) and relative == pytest.approx(7.29, abs=5e-3)
    assert sliding_errors(np.array([0.3]), np.array([0.1])) == pytest.approx((200.0, 100.0))


def test_corrections_name_their_cells_and_reasons() -> None:
    corrected = pd.concat([PRINTED[list(LABELS)], corrected_table(PRINTED)], axis=1)

    def row(dataset: int, speed: float, angle: int) -> pd.Series:
        same = (corrected[list(LABELS)] == [dataset, speed, angle]).all(axis=1)
        return corrected[same].iloc[0]

    copy = row(1, 0.15, 30)
    assert (
        copy[[f"{name}_corrected" for name in CELLS]].isna().all()
        and "a copy" in copy["correction_reason"]
    )
    original = row(1, 0.2, 30)
    assert original["vx_plus_fit_corrected"] == 0.181
    rounded = row(1, 0.1, 90)
    assert (
        rounded["eta_x_corrected"] == 0.005
        and "eta_x: printed 0.006" in rounded["correction_reason"]
    )
    assert "v- (unchanged)" in row(1, 0.1, 60)["correction_reason"]
    assert "v- (unchanged)" in row(2, 0.1, 30)["correction_reason"]
    exchanged = corrected[corrected["angle_deg"] != corrected["angle_deg_corrected"]]
    assert set(exchanged["dataset"]) == {1} and set(exchanged["angle_deg"]) == {30, 60}
    assert exchanged["correction_reason"].str.contains("exchanged").all()
    # nothing changes without a reason
    changed = (corrected["angle_deg"] != corrected["angle_deg_corrected"]) | ~np.isclose(
        corrected[[f"{name}_corrected" for name in CELLS]], PRINTED[list(CELLS)]
    ).all(axis=1)
    assert (corrected.loc[changed, "correction_reason"] != "").all()
    assert (corrected["correction_reason"] != "").sum() == 8


def test_a_table_without_contradictions_is_left_alone() -> None:
    sound = PRINTED[PRINTED["dataset"] == 2].reset_index(drop=True)
    corrected = corrected_table(sound)
    assert (corrected["correction_reason"] == "").all() and not copied_rows(sound).any()
    np.testing.assert_array_equal(corrected["angle_deg_corrected"], sound["angle_deg"])


def test_recordings_stand_beside_the_row_whose_motion_they_have() -> None:
    fits = recordings().sample(frac=1.0, random_state=3).reset_index(drop=True)
    fits["vx_minus"] += np.random.default_rng(1).uniform(-4e-3, 4e-3, len(fits))
    table = impact_table(ROBOT, PUBLISHED, fits, UPRIGHT)
    # the copy has its original's
    np.testing.assert_allclose(table["twin_vx_plus_fit"], table["vx_plus_fit"])
    assert (table["twin_recordings"] == 1).all() and table["twin_spread_vx_plus_fit"].isna().all()
    assert (
        TABLE[[f"twin_{name}" for name in FITTED]].isna().all(axis=None)
        and (TABLE["twin_recordings"] == 0).all()
    )
    far = impact_table(ROBOT, PUBLISHED, fits.assign(vz_minus=fits["vz_minus"] - 0.011), UPRIGHT)
    assert (far["twin_recordings"] == 0).all()


def test_repetitions_give_their_median_and_spread() -> None:
    again = [
        recordings().assign(vx_plus_fit=lambda one, by=by: one["vx_plus_fit"] + by)
        for by in (0.0, 0.002, 0.006)
    ]
    table = impact_table(ROBOT, PUBLISHED, pd.concat(again), UPRIGHT)
    assert (table["twin_recordings"] == 3).all()
    np.testing.assert_allclose(table["twin_vx_plus_fit"], table["vx_plus_fit"] + 0.002)
    np.testing.assert_allclose(table["twin_spread_vx_plus_fit"], 0.003)


def test_a_motion_that_two_sets_share_belongs_to_none_unless_the_set_is_told() -> None:
    shared = PRINTED[
        PRINTED.duplicated(["vx_minus", "vz_minus"], keep=False) & ~copied_rows(PRINTED)
    ]
    shared = shared[shared.groupby(["vx_minus", "vz_minus"])["dataset"].transform("nunique") == 2]
    assert len(shared) == 2
    untold = twin_columns(PRINTED, recordings().assign(set=0))
    assert (untold.loc[shared.index, "twin_recordings"] == 0).all()
    assert (untold["twin_recordings"].drop(shared.index) == 1).mean() > 0.8
    assert (twin_columns(PRINTED, recordings())["twin_recordings"] == 1).all()


def test_an_incomplete_published_table_says_so() -> None:
    with pytest.raises(ContactIdError, match="lacks eta_x"):
        printed_table(PUBLISHED[PUBLISHED["quantity"] != "eta_x"])


def test_postures_are_reported_for_both_inertias_and_none_is_dropped() -> None:
    table = posture_table({"described": ROBOT, "corrected": lwr4(corrections=CORRECTIONS)}, PRINTED)
    assert len(table) == 2 * (3 + 3 + 6)
    described = table[(table["inertia"] == "described") & (table["posture_rule"] != "stated")]
    assert described["found"].all()
    np.testing.assert_allclose(described["ratio"], described["ratio_fitted"], atol=3e-4)
    missing = table[~table["found"]]
    assert set(missing["inertia"]) == {"corrected"} and set(missing["direction_deg"]) == {53}
    assert (missing["ratio_fitted"] > missing["largest_ratio"]).all()


def test_a_tenth_of_a_degree_of_tilt_meets_the_flattest_rows_with_a_plausible_wrist() -> None:
    robot, near = lwr4(corrections=CORRECTIONS), stated_posture(53)
    asked = 0.70
    tilt = tilt_of_ratio(robot, 53, asked)
    assert tilt == pytest.approx(0.10, abs=0.01)
    x, _, z = robot.tip_position(near)
    q = upright_posture(robot, x, z, near, np.deg2rad(tilt))
    assert ratio_at(robot, q) == pytest.approx(asked, abs=1e-9)
    # the same tip, the probe not upright
    np.testing.assert_allclose(robot.tip_position(q), [x, 0.0, z], atol=1e-6)
    probe = robot.tip_orientation(q)[:, 2]
    assert np.rad2deg(np.arctan2(probe[0], -probe[2])) == pytest.approx(tilt, abs=1e-4)


def test_other_laws_reduce_to_the_printed_one_and_friction_slows_the_tip() -> None:
    table = law_table(ROBOT, PRINTED, friction_mu=[0.0, 0.1, 0.6], restitution_e_n=[0.0], facets=8)
    assert len(table) == 54 and table["converged"].all() and (table["energy_lost_j"] > 0.0).all()
    free, some, much = (
        table[table["friction_mu"] == mu].reset_index(drop=True) for mu in (0.0, 0.1, 0.6)
    )
    np.testing.assert_allclose(free["vx_plus"], block_of("per_angle")[OURS], atol=1e-9)
    assert (some["vx_plus"] < free["vx_plus"]).all()
    assert (much["state"] == "sticking").all() and much["vx_plus"].abs().max() < 1e-9
    assert (much["sticking_mu"] < 0.6).all()


def test_the_artefacts_are_made_from_files_and_the_figure_is_drawn(tmp_path: Path) -> None:
    fits = tmp_path / "methods.csv"
    recordings().assign(method="paper").to_csv(fits, index=False)
    tables = table_ii(LWR4, BLOCK, PUBLISHED_FILE, str(fits))
    assert len(tables["tables/tab02_impact_map"]) == 36
    made = postures(LWR4, CORRECTIONS, BLOCK, PUBLISHED_FILE)
    assert set(made["tables/ext_postures"]["inertia"]) == {"described", "corrected"}
    laws = {"friction_mu": [0.2], "restitution_e_n": [0.0], "facets": 4}
    solve_laws(LWR4, BLOCK, laws, PUBLISHED_FILE, str(tmp_path / "laws.csv"))
    assert len(impact_laws(str(tmp_path / "laws.csv"))) == 18
    figure = arm_figure(LWR4, BLOCK)
    with style.styled():
        style.save(draw_arm(figure), tmp_path / "fig01_arm")
    for extension in ("pdf", "png", "svg"):
        assert (tmp_path / f"fig01_arm.{extension}").stat().st_size > 10_000
    at = figure[(figure["pose"] == "impact") & (figure["label"] == "tip")].iloc[0]
    assert (at["x_m"], at["z_m"]) == pytest.approx((0.5537, -0.2), abs=1e-4)
    after = figure[(figure["pose"] == "sliding") & (figure["kind"] == "velocity")].iloc[0]
    assert after["x_m"] == pytest.approx(0.2 * 0.505, abs=2e-4) and after["z_m"] == 0.0
