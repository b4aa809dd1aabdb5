"""Verdicts of the arm study: what is predicted from print, whose recordings count, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arm_for_tests import CONFIG, LWR4, lwr4
from arm_for_tests import PUBLISHED as PUBLISHED_FILE
from contactid.arm.artefacts.damping_sweep import simulate_sweep
from contactid.arm.artefacts.impact_table import FITTED, impact_table
from contactid.arm.artefacts.left_out import DESCRIBED, RANDOM_ARMS, arms, left_out_table
from contactid.arm.artefacts.two_mass import motions, parameters
from contactid.arm.checks import check, reproduced_numbers
from contactid.arm.rigid.postures import UprightPostures, nearest_posture, ratio_at, upright_postures
from contactid.arm.rigid.printed_table import LABELS, corrected_table, printed_table
from contactid.output.comparison import agrees, compare
from contactid.output.tables import read_csv
from contactid.sources import fourtu_client
from contactid.sources.lockfile import LockedArchive
from contactid.sources.origin import Origin, origin
from contactid.sources.registry import Dataset

PUBLISHED = read_csv(PUBLISHED_FILE)
PRINTED = printed_table(PUBLISHED)
ROBOT = lwr4()
UPRIGHT = upright_postures(ROBOT)
ARMS = arms(ROBOT, CONFIG["robot"])
LEFT_OUT = left_out_table(ARMS, PRINTED, UPRIGHT)
LOCAL = "http://127.0.0.1:18080"
TWIN = Origin(False, "synthetic")
OWN = origin(Dataset("lab", "own", "arm_mat", "recordings", study="arm"), None, synthetic=False)
MODELS = CONFIG["models"] | {"sweep": {"duration": 0.4, "d_rob": [60.0, 80.0], "d_env": [1e9]}}
COPY = "dataset=1;velocity_m_s=0.15;angle_deg=30"
ORIGINAL = "dataset=1;velocity_m_s=0.2;angle_deg=30"


def recordings() -> pd.DataFrame:
    """Fits of 18 recordings that give what is printed for their labels."""
    labels = PRINTED[list(LABELS)].assign(angle_deg=corrected_table(PRINTED)["angle_deg_corrected"])
    labels.columns = ["set", "nominal_velocity_m_s", "nominal_angle_deg"]
    values = PRINTED.reindex(columns=list(FITTED)).fillna(0.0)
    return pd.concat([labels, values], axis=1).assign(frequency_hz=20.0)


def joint_velocities(change: list[float]) -> pd.DataFrame:
    """Figure 2 with steps of the joints' velocities, rad/s, at 0.5 s."""
    time = np.arange(0.4, 0.6, 1e-3) + 5e-4
    parts = [
        pd.DataFrame({"joint": k + 1, "time_s": time, "velocity_rad_s": np.where(time > 0.5, step, 0.0)})
        for k, step in enumerate(change)
    ]
    return pd.concat(parts, ignore_index=True).assign(impact_time_s=0.5)


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> dict[str, pd.DataFrame]:
    """What the checks read, of a small sweep and of recordings that are as printed."""
    folder = tmp_path_factory.mktemp("sweep")
    files = [str(folder / f"{name}.csv") for name in ("events", "damping", "decomposition")]
    simulate_sweep(MODELS, *files)
    events, sweep, fig05 = (read_csv(file) for file in files)
    return {
        "tab01_parameters": parameters(MODELS, PUBLISHED_FILE),
        "tab02_impact_map": impact_table(ROBOT, PUBLISHED, recordings(), UPRIGHT),
        "ext_left_out": LEFT_OUT,
        "ext_fit": recordings(),
        "ext_events": events.drop(columns="run"),
        "ext_damping_sweep": sweep.drop(columns=["run", "setting"]),
        "fig02_joint_velocities": joint_velocities([0.01, 0.4, 0.05, 0.12, 0.01, -0.3, 0.02]),
        "fig04_two_mass": motions(MODELS),
        "fig05_decomposition": fig05,
    }


def judged(tables: dict[str, pd.DataFrame], whose: Origin, data: str = "arm_twin", **changed: Any) -> pd.DataFrame:
    numbers = reproduced_numbers(tables | changed, PUBLISHED, pd.read_csv(LWR4), data, whose, 0.15)
    printed = set(zip(PUBLISHED["artefact"], PUBLISHED["quantity"], PUBLISHED["condition"], strict=True))
    assert set(numbers) <= printed
    return compare("arm", PUBLISHED, numbers, {})


def test_every_printed_number_gets_a_verdict(tables) -> None:
    checks = judged(tables, TWIN)
    assert len(checks) == len(PUBLISHED)
    table_ii = checks[checks["artefact"] == "tab02"].groupby("quantity")["verdict"].agg(set)
    assert table_ii["eta_x"] == table_ii["eta_z"] == {"print_consistent"}
    assert table_ii["vz_plus_map"] == {"uninformative"}
    predicted = checks[checks["quantity"] == "vx_plus_map"].set_index("condition")
    assert set(predicted["basis"]) == {"predicted"} and set(predicted["verdict"]) == {"uninformative", "differs"}
    apart = predicted.index[predicted["verdict"] == "differs"]
    assert list(apart) == [
        f"dataset={dataset};velocity_m_s={speed};angle_deg=90"
        for dataset, speed in ((1, 0.1), (2, 0.1), (2, 0.15), (2, 0.2))
    ]
    assert (checks.loc[checks["artefact"] == "links", "verdict"] == "input").all()
    ratio = checks[checks["quantity"] == "one_ratio_within_rounding"].set_index("condition")["verdict"]
    assert set(ratio.index[ratio == "differs"]) == {
        "dataset=1;direction_deg=90", "dataset=1;direction_deg=53", "dataset=2;direction_deg=90",
    }  # fmt: skip
    statements = checks[(checks["unit"] == "holds") & (checks["verdict"] == "reproduced")]
    assert len(statements) >= 15 and (statements["rejects"] == "counterexample").all()
    assert set(checks.loc[checks["repeats"] != "", "condition"]) == {COPY}
    assert set(checks.loc[checks["condition"] == COPY, "repeats"]) == {ORIGINAL}


def test_what_cannot_be_compared_names_what_is_missing_of_its_own_table(tables) -> None:
    checks = judged(tables, TWIN)
    lacking = checks[checks["verdict"] == "not_comparable"]
    first = lacking["note"].str.partition(";")[0]
    assert first.str.contains("arm_icra2021, 10.4121/14192429", regex=False).all()
    assert (lacking.groupby(first)["artefact"].nunique() == 1).all()
    assert lacking["note"].str.contains("this run reads arm_twin: synthetic").all()


def test_a_small_sweep_leaves_statements_out_and_says_so(tables) -> None:
    sweep, events = tables["ext_damping_sweep"], tables["ext_events"]
    few = judged(tables, TWIN, ext_damping_sweep=sweep[sweep["d_rob"] == 60.0],
                 ext_events=events[events["setting"] == "table_1"])  # fmt: skip
    lost = few[few["quantity"].isin(["no_bouncing", "closer_to_b", "convergence_to_rigid_ms", "similar_fits"])]
    assert (lost["verdict"] == "not_comparable").all() and lost["note"].str.contains("isn't computed by this run").all()


def test_recordings_of_ones_own_are_never_judged_as_the_paper_s(tables) -> None:
    checks = judged(tables, OWN, "lab")
    measured = checks[checks["data"] == "lab"]
    assert len(measured) >= 80 and (measured["verdict"] == "not_comparable").all()
    assert measured["note"].str.contains("this run reads lab: recordings of your own").all()


def test_the_paper_s_own_recordings_are_judged(tables, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Dataset("arm_icra2021", "4tu", "arm_mat", "10.4121/14192429", study="arm")
    locked = LockedArchive("4tu_14192429", "4tu", "10.4121/14192429.v1", base=LOCAL, locked_on="2026-01-02")
    assert (judged(tables, origin(real, locked, False), real.name)["data"] == real.name).any()
    assert not origin(real, locked, False).of_the_paper
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    whose = origin(real, locked, synthetic=False)
    checks = judged(tables, whose, real.name)
    cells = checks[checks["quantity"].isin(["vx_minus", "vz_minus", "vx_plus_fit", "vz_plus_fit"])]
    assert len(cells) == 72 and cells["wrong_answers"].str.contains("mean_of_others=").all()
    assert set(cells["verdict"]) == {"reproduced", "uninformative"}
    refused = cells["wrong_answers"].str.count("=") == cells["rejects"].str.count(";") + 1
    assert ((cells["verdict"] == "reproduced") == refused).all() and refused.mean() > 0.8
    wrong = tables["tab02_impact_map"].assign(twin_vx_plus_fit=0.5)
    checks = judged(tables, whose, real.name, tab02_impact_map=wrong)
    assert set(checks.loc[checks["quantity"] == "vx_plus_fit", "verdict"]) == {"differs"}
    predicted = checks[checks["quantity"] == "vx_plus_map"]  # at the measured posture, not from the row's neighbours
    assert set(predicted["data"]) == {real.name} and predicted["note"].str.contains("measured posture").all()
    assert set(checks.loc[checks["quantity"] == "eta_x", "data"]) == {real.name}
    joints = checks[checks["quantity"] == "only_joints_2_4_6"].iloc[0]
    assert (joints["verdict"], joints["data"]) == ("reproduced", real.name)
    turning = joint_velocities([0.01, 0.4, 0.07, 0.12, 0.01, -0.3, 0.02])
    checks = judged(tables, whose, real.name, fig02_joint_velocities=turning)
    assert checks.loc[checks["quantity"] == "only_joints_2_4_6", "verdict"].item() == "differs"


def test_the_checks_are_written_from_files_and_a_card(tables, tmp_path: Path) -> None:
    files = []
    for name, table in tables.items():
        files.append(str(tmp_path / f"{name}.csv"))
        table.to_csv(files[-1], index=False)
    card = tmp_path / "card.json"
    card.write_text(json.dumps({"name": "lab", **OWN._asdict()}))
    check(PUBLISHED_FILE, LWR4, str(card), files, list(tables), 0.15, str(tmp_path / "checks.csv"))
    assert (read_csv(tmp_path / "checks.csv")["verdict"] == "print_consistent").sum() == 45


@pytest.mark.parametrize("row", [0, 4, 7, 17])
def test_a_row_is_predicted_without_its_own_number(row: int) -> None:
    changed = PRINTED.copy()
    changed.loc[row, "vx_plus_map"] += 0.02
    robots = {DESCRIBED: ROBOT}
    before, after = (left_out_table(robots, table, UPRIGHT) for table in (PRINTED, changed))
    same = (before[list(LABELS)] == PRINTED.loc[row, list(LABELS)].to_numpy()).all(axis=1)
    assert before.loc[same, "vx_plus_map_ours"].item() == after.loc[same, "vx_plus_map_ours"].item()
    group = (before["dataset"] == PRINTED.loc[row, "dataset"]) & (
        before["direction_deg"] == before.loc[same, "direction_deg"].item()
    )
    moved = (before["vx_plus_map_ours"] - after["vx_plus_map_ours"]).abs() > 1e-4
    assert (moved == (group & ~same)).all()


def test_exact_rows_are_predicted_within_their_rounding() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        exact = PRINTED.copy()
        for name in ("vx_minus", "vz_minus"):
            exact[name] += rng.uniform(-5e-4, 5e-4, len(exact))
        exact["vx_plus_map"] = exact["vx_minus"] + 0.6 * exact["vz_minus"].abs()
        found = left_out_table({DESCRIBED: ROBOT}, exact.round(3), UPRIGHT)
        off = (found["vx_plus_map_ours"] - found["vx_plus_map"]).abs()
        assert len(found) == 18 and (off <= found["rounding_m_s"]).all()


def test_arms_of_random_inertia_obey_the_law_and_most_predict_the_same() -> None:
    assert LEFT_OUT["robot"].nunique() == RANDOM_ARMS + 1 and len(LEFT_OUT) == 18 * (RANDOM_ARMS + 1)
    assert LEFT_OUT["vz_plus_map_ours"].abs().max() == 0.0  # by eq. 5, to 12 digits
    law = LEFT_OUT[list(LABELS)].merge(PRINTED, on=list(LABELS))
    predicted = law["vx_minus"] + LEFT_OUT["ratio"] * law["vz_minus"].abs()
    np.testing.assert_allclose(LEFT_OUT["vx_plus_map_ours"], predicted, atol=1e-9)
    wide = LEFT_OUT.pivot_table(index=list(LABELS), columns="robot", values="vx_plus_map_ours")
    like_ours = wide.drop(columns=DESCRIBED).sub(wide[DESCRIBED], axis=0).abs() < 5e-5
    assert like_ours.any(axis=1).all() and not like_ours.all(axis=None)
    for arm in (arm for name, arm in ARMS.items() if name != DESCRIBED):
        q = UPRIGHT.joint_position[0]
        assert np.linalg.eigvalsh(arm.mass_matrix(q)).min() > 0.0
        assert not np.allclose(arm.mass_matrix(q), ROBOT.mass_matrix(q), rtol=0.1)
        np.testing.assert_array_equal(arm.tip_jacobian(q), ROBOT.tip_jacobian(q))


def test_a_posture_of_a_ratio_is_found_or_else_the_nearest() -> None:
    q = nearest_posture(UPRIGHT, 0.6)
    assert ratio_at(ROBOT, q) == pytest.approx(0.6, abs=2e-4)
    np.testing.assert_array_equal(nearest_posture(UPRIGHT, 5.0), UPRIGHT.joint_position[UPRIGHT.largest])
    two = UprightPostures(np.array([0.0, 1.0]), np.array([[0.0], [4.0]]), np.array([1.0, 2.0]))
    assert [nearest_posture(two, ratio)[0] for ratio in (0.0, 1.0, 1.25, 2.0, 9.0)] == [0.0, 0.0, 1.0, 4.0, 4.0]


def test_no_tolerance_is_larger_than_that_of_a_posture_fitted_to_the_row_itself() -> None:
    described = LEFT_OUT[LEFT_OUT["robot"] == DESCRIBED].merge(PRINTED, on=list(LABELS))
    fall = described["vz_minus"].abs()
    for k, row in described.iterrows():
        group = described[
            (described["dataset"] == row["dataset"]) & (described["direction_deg"] == row["direction_deg"])
        ].drop_duplicates(["vx_minus", "vz_minus"])
        size = group["vz_minus"].abs()
        ratio = (size @ (group["vx_plus_map_y"] - group["vx_minus"])) / (size @ size)
        fitted = 5e-4 * (2.0 + ratio) * (1.0 + fall[k] * size.sum() / (size @ size))
        assert agrees(row["rounding_m_s"], 0.0, fitted)
