"""From joint positions to post-impact velocities: the pipeline's numbers, files and failures, on a
small twin.
"""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arm_for_tests import CONFIG, CORRECTIONS, LWR4, PUBLISHED, lwr4, twin_of
from contactid.arm.artefacts.accuracy import (
    accuracy,
    accuracy_points,
    accuracy_table,
    draw_accuracy,
    long_form,
)
from contactid.arm.artefacts.fits import draw_cartesian_fit, fit_tables
from contactid.arm.artefacts.joint_velocities import shown_velocities
from contactid.arm.identify import reconstruction
from contactid.arm.identify.accuracy import (
    CHOSEN_ON,
    HELD_OUT,
    fit_samples,
    noisy,
    sample_rows,
)
from contactid.arm.identify.methods import ADMISSIBLE, METHODS, Window
from contactid.arm.identify.modal_search import polish, search
from contactid.arm.identify.reconstruction import (
    evaluate_experiment,
    map_velocity,
    pre_impact_velocity,
    tip_motion,
)
from contactid.arm.identify.recordings import fit_recordings, joint_rows
from contactid.arm.models.modal_signal import DIFFERENCED, HIGH, LOW, TIED, ModalProblem
from contactid.arm.readers.impacts import ArmRecording, Setting, build_arm_impacts
from contactid.arm.readers.twins import simulate_experiment
from contactid.arm.rigid.printed_table import relative_error
from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.output.tables import write_csv
from contactid.sources.motion import write_dataset

NAME = "set1_v010_a30"
FALL = (0.031, -0.097)  # m/s, its v- as printed
OPTIONS = CONFIG["fit"]
TWIN = twin_of(sets=(1,), velocities=(0.10,), angles_deg=(30,), before=0.15, after=0.2)
TWIN = {**TWIN, "noise": 5e-6, "resolution": 1.5e-5, "seed": 7}
BLOCK = {
    "window": 0.15, "before": 0.06, "motor_inertia": [], "impact": CONFIG["fit"]["impact"],
    "shown": {"velocity": 0.1, "angles_deg": [30]},
    "accuracy": {"experiments": [NAME], "samples": 1, "twins": {"study": {}, "links": {"corrected_links": True}}},
}  # fmt: skip


@pytest.fixture(scope="module")
def robot():
    return lwr4()


@pytest.fixture(scope="module")
def twin(robot):
    return simulate_experiment(Setting(1, 0.10, 30.0), FALL, TWIN, robot)


@pytest.fixture(scope="module")
def evaluated(robot, twin):
    inertia = TWIN["drives"]["motor_inertia"]
    return evaluate_experiment(robot, noisy(twin, TWIN, 1), OPTIONS | {"motor_inertia": inertia})


def test_differences_of_tip_positions_are_jacobian_times_differences_of_joints(robot, twin):
    experiment = twin
    motion = tip_motion(robot, experiment.time, experiment.clean)
    middle = 0.5 * (experiment.clean[1:] + experiment.clean[:-1])
    rates = np.diff(experiment.clean, axis=0) / np.diff(experiment.time)[:, None]
    by_jacobian = np.array(
        [robot.tip_jacobian(q)[[0, 2]] @ v for q, v in zip(middle, rates, strict=True)]
    )
    assert np.abs(motion.velocity - by_jacobian).max() < 1e-7


def test_noise_is_quantised_and_the_same_for_the_same_sample(twin):
    first, again, other = (noisy(twin, TWIN, sample).joint_position for sample in (2, 2, 3))
    steps = first / TWIN["resolution"]
    assert np.abs(steps - np.round(steps)).max() < 1e-6
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_the_pipeline_finds_the_twin_s_truth(twin, evaluated):
    experiment = twin
    assert evaluated.window.impact_time == pytest.approx(experiment.impact_time, abs=1e-3)
    assert evaluated.q == pytest.approx(experiment.q_impact, abs=2e-3)
    assert evaluated.window.pre_velocity == pytest.approx(experiment.tip_velocity_pre, abs=5e-4)
    assert evaluated.map_velocity == pytest.approx(experiment.tip_velocity_post_map, abs=3e-4)
    for method, tolerance in (("paper", 3e-3), ("two_modes", 1e-3), ("admissible", 1e-3)):
        assert evaluated.answers[method].velocity == pytest.approx(
            experiment.tip_velocity_post_map, abs=tolerance
        )


def test_joints_have_the_velocities_of_eq_5_and_the_tip_s_are_theirs(robot, twin, evaluated):
    recording = noisy(twin, TWIN, 1)
    block = OPTIONS | {"motor_inertia": TWIN["drives"]["motor_inertia"]}
    rows = pd.DataFrame(joint_rows(robot, recording, evaluated, block))
    plane = rows[rows["in_plane"]]
    assert list(plane["joint"]) == [2, 4, 6]
    assert (
        (plane["off_pct"] < 1.0).all()
        and rows["held"].all()
        and rows["tip_off_m_s"].abs().max() < 1e-3
    )
    last = plane.iloc[-1]
    assert abs(last["map_links"] / last["map"] - 1.0) > 0.03, (
        "the links alone would turn joint 6 faster"
    )
    still = replace(recording, joint_position=0.0 * recording.joint_position + twin.clean[0])
    refused = pd.DataFrame(joint_rows(robot, still, evaluated, block))
    assert (
        refused["after"].isna().all() and refused["reason"].str.contains("v\\+ isn't found").all()
    )


def test_the_map_s_prediction_depends_on_v_minus_along_the_normal_alone(robot, evaluated):
    q, velocity = evaluated.q, evaluated.velocity
    assert map_velocity(robot, q, 2.0 * velocity) == pytest.approx(
        2.0 * map_velocity(robot, q, velocity), abs=1e-12
    )
    assert evaluated.map_links == pytest.approx(map_velocity(robot, q, velocity), abs=0.0)
    assert abs(evaluated.map_links[1]) < 1e-12


def test_v_minus_is_a_line_s_slope_and_its_error_what_noise_makes_of_it():
    since = np.linspace(-0.06, -0.001, 60)
    line = np.column_stack([1.0 + 0.2 * since, -0.1 * since])
    velocity, se = pre_impact_velocity(since, line)
    assert velocity == pytest.approx([0.2, -0.1], abs=1e-10) and (se < 1e-8).all()
    noisy = line[:, :1] + np.random.default_rng(1).normal(0.0, 1e-5, (60, 400))
    velocities, errors = pre_impact_velocity(since, noisy)
    assert velocities.std() == pytest.approx(errors.mean(), rel=0.15)


@pytest.mark.parametrize("flies", [False, True])
def test_a_mechanism_answers_where_modes_disagree_and_the_tip_stays(
    monkeypatch, robot, twin, evaluated, flies
):
    def disagree(window):
        raise ContactIdError("modes disagree")

    by_mechanism = evaluated.answers["paper"]
    monkeypatch.setattr(reconstruction, "METHODS", {**METHODS, ADMISSIBLE: disagree})
    monkeypatch.setattr(reconstruction, "braked", lambda *_: by_mechanism)
    monkeypatch.setattr(Window, "flies", flies)
    found = evaluate_experiment(robot, noisy(twin, TWIN, 1), OPTIONS, (ADMISSIBLE,))
    if flies:
        assert "disagree" in str(found.failures[ADMISSIBLE])
    else:
        assert found.answers[ADMISSIBLE] is by_mechanism


def test_relative_errors_are_the_paper_s():
    assert relative_error(0.094, 0.096) == pytest.approx(2.0 * 0.002 / 0.190)
    assert relative_error(0.1, 0.2) == relative_error(0.2, 0.1)
    assert np.isnan(relative_error(0.0, 0.0))


def sampled(twin: str, experiment: str, errors: list[float]) -> pd.DataFrame:
    """Rows of noise samples whose errors along x are given, mm/s; across the table there is none."""
    known = {
        "experiment": experiment,
        "method": "m",
        "late_ms": 0.1,
        "reason": "",
        "se_x": 1.0,
        "se_z": 1.0,
    }
    known |= {"described_x": 0.0, "described_z": 0.0, "links_x": -2.0, "links_z": 0.0}
    return pd.DataFrame(
        [
            known | {"twin": twin, "sample": k, "error_x": e, "error_z": 0.0}
            for k, e in enumerate(errors, 1)
        ]
    )


def test_errors_and_coverage_are_counted_right_and_other_twins_together():
    parts = [
        sampled("study", "a", [1.0, 2.0]),
        sampled("seed", "a", [3.0, 5.0]),
        sampled("motors", "a", [-1.0]),
    ]
    samples = long_form(pd.concat(parts))
    table = accuracy_table(samples).set_index(["twin", "component"])
    assert set(table.index.get_level_values("twin")) == {CHOSEN_ON, "seed", "motors", HELD_OUT}
    held = table.loc[HELD_OUT, "x"]
    assert (held["recordings"], held["samples"], held["failed"]) == (2, 3, 0)
    assert held["mean_error"] == pytest.approx(7.0 / 3.0) and held[
        "mean_abs_error"
    ] == pytest.approx(3.0)
    assert held["largest_error"] == 5.0 and held["coverage"] == pytest.approx(1.0 / 3.0)
    assert (
        held["mean_abs_from_links"] == pytest.approx((5.0 + 7.0 + 1.0) / 3.0)
        and held["links_off"] == 2.0
    )
    assert table.loc[CHOSEN_ON, "x"]["sd"] == pytest.approx(np.sqrt(0.5))
    assert (table.xs("z", level="component")["largest_error"] == 0.0).all()
    points = accuracy_points(samples).set_index(["method", "component", "twin"])
    assert points.loc["map of links alone", "x", HELD_OUT]["q50"] == -2.0


def test_a_sample_without_an_impact_is_a_row(robot, twin):
    rows = pd.DataFrame(sample_rows(robot, twin, 1, TWIN, OPTIONS | {"window": 0.5}))
    assert (
        list(rows["method"]) == list(METHODS)
        and rows["reason"].str.contains("recording ends").all()
    )
    assert (accuracy_table(long_form(rows.assign(twin="seed")))["failed"] == 1).all()


def test_errors_of_samples_are_small_and_count_from_the_truth(robot, twin):
    samples = (sample_rows(robot, twin, sample, TWIN, OPTIONS) for sample in range(1, 4))
    rows = pd.DataFrame([row for of_sample in samples for row in of_sample])
    rows = rows[rows["method"] == ADMISSIBLE]
    assert (rows["reason"] == "").all()
    assert rows["error_x"].abs().max() < 1.0
    alone = 1e3 * (twin.tip_velocity_post_links - twin.tip_velocity_post_map)
    assert rows["links_x"].to_numpy() == pytest.approx(alone[0], abs=1e-4)
    assert rows["described_x"].abs().max() < 1e-4


def test_the_search_finds_what_random_starts_find_in_a_twin_s_recording(evaluated):
    """Of z with two modes, one of them weak: most random starts end elsewhere."""
    window = evaluated.window
    problem = ModalProblem(
        window.time,
        window.velocity[:, 1:] - window.pre_velocity[1:],
        TIED,
        DIFFERENCED,
        window.step,
    )
    random = np.random.default_rng(3)
    decay = -np.exp(random.uniform(np.log(-HIGH[0]), np.log(-LOW[0]), (20, 2)))
    tried = polish(problem, decay + 1j * random.uniform(LOW[1], HIGH[1], (20, 2))).costs
    assert search(problem, 2).costs[0] <= tried[0] * (1.0 + 1e-6) and tried[-1] > tried[0] * (
        1.0 + 1e-6
    )


def test_all_files_are_written_and_an_experiment_without_impact_is_a_row(robot, twin, tmp_path):
    recording = noisy(twin, TWIN, 1)
    still = 0.0 * recording.joint_position + twin.clean[0]
    recordings = [recording, ArmRecording(Setting(2, 0.10, 90.0), twin.time, still)]
    impacts = build_arm_impacts(recordings, source="small twin", licence="CC0", synthetic=True)
    write_dataset(impacts, tmp_path / "arm.nc")
    robot_block = {"name": "lwr4", "probe_length": 0.10}
    written = [str(tmp_path / f"{name}.csv") for name in ("fits", "curves", "joints")]
    fit_recordings(str(tmp_path / "arm.nc"), LWR4, BLOCK, robot_block, *written)
    made = fit_tables(*written)
    fits = made["tables/ext_fit"]
    assert list(fits["experiment"]) == [NAME, "set2_v010_a90"]
    assert list(fits["converged"]) == [True, False] and "no impact found" in fits["reason"].iloc[1]
    first = fits.iloc[0]
    assert first["eta_x"] == pytest.approx(
        abs(first["vx_plus_map"] - first["vx_plus_fit"]), abs=1e-6
    )
    samples = [str(tmp_path / f"{name}.csv") for name in ("study", "links")]
    for name, file in zip(("study", "links"), samples, strict=True):
        fit_samples(LWR4, CORRECTIONS, PUBLISHED, name, TWIN, BLOCK, robot_block, file)
    rows = pd.concat([pd.read_csv(file) for file in samples])
    # the impact map keeps the described links, so it is off where the twin has others
    off = rows["described_x"].abs().groupby(rows["twin"]).max()
    assert off["study"] < 1e-4 and off["links"] > 0.1
    with pytest.raises(ContactIdError, match="no experiment 'set9'"):
        other = BLOCK | {"accuracy": BLOCK["accuracy"] | {"experiments": ["set9"]}}
        fit_samples(LWR4, CORRECTIONS, PUBLISHED, "study", TWIN, other, robot_block, samples[0])
    table, record = tmp_path / "table.csv", tmp_path / "provenance.json"
    write_csv(rows, table)
    record.write_text(json.dumps({"table_sha256": hashlib.sha256(table.read_bytes()).hexdigest()}))
    known = accuracy([str(table), str(record)])
    assert set(known["tables/ext_fit_accuracy"]["twin"]) == {"study", "links", HELD_OUT}
    drawings = (
        (draw_cartesian_fit, made["figures/fig06_cartesian_fit"]),
        (draw_accuracy, known["figures/ext_fit_accuracy"]),
    )
    for draw, data in drawings:
        with style.styled():
            style.save(draw(data), tmp_path / "drawn")
        assert (tmp_path / "drawn.svg").stat().st_size > 1000


def test_recordings_without_labels_in_a_turned_plane_fill_every_file(twin, tmp_path):
    """Figures show what is nearest, and a plane turned about joint 1 gives the same numbers."""
    experiment = twin
    untold, turn = Setting(0, np.nan, np.nan), np.deg2rad(30.0) * np.eye(7)[0]
    joints = noisy(twin, TWIN, 1).joint_position
    recordings = [ArmRecording(untold, experiment.time, joints, "first", ("resampled",)),
                  ArmRecording(untold, experiment.time, joints + turn, "turned")]  # fmt: skip
    impacts = build_arm_impacts(recordings, source="lab", licence="none", synthetic=False)
    write_dataset(impacts, tmp_path / "arm.nc")
    files = [str(tmp_path / f"{name}.csv") for name in ("fits", "curves", "joints")]
    block = BLOCK | {"shown": {"velocity": 0.2, "angles_deg": [30, 60, 90]}}
    fit_recordings(
        str(tmp_path / "arm.nc"), LWR4, block, {"name": "lwr4", "probe_length": 0.10}, *files
    )
    fits, curves = pd.read_csv(files[0]), pd.read_csv(files[1])
    best = fits[fits["method"] == "admissible"].set_index("experiment")
    assert best["direction_deg"].to_dict() == pytest.approx(
        {"first": 0.0, "turned": 30.0}, abs=0.05
    )
    assert best["remarks"]["first"] == "resampled"
    for name in ("vx_minus", "vz_minus", "vx_plus_fit", "vz_plus_fit", "vx_plus_map"):
        assert best[name]["turned"] == pytest.approx(best[name]["first"], abs=2e-5)
    assert (
        set(curves["experiment"]) == {"first", "turned"}
        and curves["speed_m_s"].round(2).eq(0.1).all()
    )
    shown = shown_velocities(str(tmp_path / "arm.nc"), files[0])
    assert set(shown["experiment"]) <= {"first", "turned"} and shown["impact_time_s"].notna().all()
