"""From joint positions to post-impact velocities: the pipeline's numbers, files and failures, on a small twin."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from contactid.arm.identify.optimum import find_optima

from arm_for_tests import CONFIG, LWR4, lwr4, twin_of
from contactid.arm.artefacts.accuracy import (
    accuracy,
    accuracy_table,
    confirmations,
    draw_accuracy,
    optima,
    with_references,
)
from contactid.arm.artefacts.fits import draw_cartesian_fit, fit_tables
from contactid.arm.identify.accuracy import SensorNoise, bending_velocity, fit_samples, known_impact, sample_rows
from contactid.arm.identify.reconstruction import (
    Method,
    evaluate_experiment,
    map_velocity,
    methods_of,
    pre_impact_velocity,
    tip_motion,
)
from contactid.arm.identify.recordings import fit_recordings, relative_error
from contactid.arm.readers.impacts import ArmRecording, Setting, build_arm_impacts
from contactid.arm.readers.twins import simulate_experiment, truth_dataset
from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.sources.motion import write_dataset

PAPER = Method("paper", noise="white")
BEST = Method("curved", modes=2, joint=True, curved=True)
NAME = "set1_v010_a30"
OPTIONS = CONFIG["fit"]
NOISE = SensorNoise(5e-6, 1.5e-5, 7)
BLOCK = {
    "window": 0.15, "before": 0.06, "pre_degree": 1, "motor_inertia": [], "impact": CONFIG["fit"]["impact"],
    "methods": [{"name": "paper", "noise": "white"}, {"name": "curved", "modes": 2, "joint": True, "curved": True}],
    "table_method": "paper", "most_modes": 2, "shown": {"velocity": 0.1, "angles_deg": [30]},
    "accuracy": {"experiments": [NAME], "samples": 2, "starts": 5, "ipopt_starts": 1},
}  # fmt: skip


@pytest.fixture(scope="module")
def robot():
    return lwr4()


@pytest.fixture(scope="module")
def twin(robot):
    options = twin_of(sets=(1,), velocities=(0.10,), angles_deg=(30,), before=0.15, after=0.2)
    experiment = simulate_experiment(Setting(1, 0.10, 30.0), options, robot)
    return experiment, truth_dataset([experiment], options)


@pytest.fixture(scope="module")
def evaluated(robot, twin):
    experiment, truth = twin
    noise = NOISE.change(experiment.clean, NAME, 1)
    recording = ArmRecording(experiment.setting, experiment.time, experiment.clean + noise)
    inertia = list(truth["motor_inertia"].values)
    return evaluate_experiment(robot, recording, (PAPER, BEST), OPTIONS | {"motor_inertia": inertia})


def test_differences_of_tip_positions_are_jacobian_times_differences_of_joints(robot, twin):
    experiment, _ = twin
    motion = tip_motion(robot, experiment.time, experiment.clean)
    middle = 0.5 * (experiment.clean[1:] + experiment.clean[:-1])
    rates = np.diff(experiment.clean, axis=0) / np.diff(experiment.time)[:, None]
    by_jacobian = np.array([robot.tip_jacobian(q)[[0, 2]] @ v for q, v in zip(middle, rates, strict=True)])
    assert np.abs(motion.velocity - by_jacobian).max() < 1e-7


def test_noise_moves_the_tip_linearly(robot, twin):
    experiment, truth = twin
    one = replace(known_impact(robot, truth, NAME), noise=NOISE)
    exact = tip_motion(robot, experiment.time, experiment.clean + NOISE.change(experiment.clean, NAME, 3))
    assert np.abs(one.noisy(3).position - exact.position).max() < 1e-9


def test_noise_is_quantised_and_the_same_for_the_same_sample(twin):
    experiment, _ = twin
    noise = NOISE
    steps = (experiment.clean + noise.change(experiment.clean, NAME, 2)) / 1.5e-5
    assert np.abs(steps - np.round(steps)).max() < 1e-6
    assert np.array_equal(noise.change(experiment.clean, NAME, 2), noise.change(experiment.clean, NAME, 2))
    assert not np.array_equal(noise.change(experiment.clean, NAME, 2), noise.change(experiment.clean, NAME, 3))
    assert not noise.change(experiment.clean, NAME, 0).any()


def test_the_pipeline_finds_the_twin_s_truth(twin, evaluated):
    experiment, _ = twin
    assert evaluated.window.impact_time == pytest.approx(experiment.impact_time, abs=1e-3)
    assert evaluated.q == pytest.approx(experiment.q_impact, abs=2e-3)
    assert evaluated.window.pre_velocity == pytest.approx(experiment.tip_velocity_pre, abs=5e-4)
    assert evaluated.map_velocity == pytest.approx(experiment.tip_velocity_post_map, abs=3e-4)
    for method, tolerance in (("paper", 3e-3), ("curved", 1e-3)):
        found = [fit.post_velocity for fit in evaluated.fits[method]]
        assert found == pytest.approx(experiment.tip_velocity_post_map, abs=tolerance)


def test_the_map_s_prediction_depends_on_v_minus_along_the_normal_alone(robot, evaluated):
    q, velocity = evaluated.q, evaluated.velocity
    assert map_velocity(robot, q, 2.0 * velocity) == pytest.approx(2.0 * map_velocity(robot, q, velocity), abs=1e-12)
    assert evaluated.map_links == pytest.approx(map_velocity(robot, q, velocity), abs=0.0)
    assert abs(evaluated.map_links[1]) < 1e-12


def test_v_minus_is_a_polynomial_s_slope_at_the_impact():
    since = np.linspace(-0.06, -0.001, 60)
    position = np.column_stack([1.0 + 0.2 * since + 3.0 * since**2, -0.1 * since])
    velocity, se = pre_impact_velocity(since, position, 2)
    assert velocity == pytest.approx([0.2, -0.1], abs=1e-10) and (se < 1e-8).all()


def test_bending_is_quadratic_in_speed_and_vanishes_for_stiff_joints(robot, twin):
    experiment, truth = twin
    inertia, stiffness = truth["motor_inertia"].values, truth["stiffness"].values
    q, v = experiment.q_impact, experiment.velocity_pre
    one = bending_velocity(robot, q, v, inertia, stiffness, 1.5)
    assert bending_velocity(robot, q, 2.0 * v, inertia, stiffness, 3.0) == pytest.approx(4.0 * one, rel=1e-4)
    assert np.abs(bending_velocity(robot, q, v, inertia, 1e6 * stiffness, 1.5)).max() < 1e-8
    assert 0.0 < np.abs(one).max() < 1e-3


def test_relative_errors_are_the_paper_s():
    assert relative_error(0.094, 0.096) == pytest.approx(2.0 * 0.002 / 0.190)
    assert relative_error(0.1, 0.2) == relative_error(0.2, 0.1)


def test_bias_and_coverage_are_counted_right():
    names, errors = ["a", "b"], {"a": 1e-3, "b": 3e-3}
    rows = [
        {"experiment": name, "sample": k, "timing": "true" if k == 0 else "detected", "method": "m", "component": "x",
         "v_plus": 0.0 if k == 0 else errors[name] * (1 + (k == 2)), "v_plus_se": 1e-3, "impact_time_error_s": 1e-4}
        for name in names for k in (0, 1, 2)
    ]  # fmt: skip
    twins = [SimpleNamespace(name=name, references={"map": [1e-3, 0.0], "bent": [0.0, 0.0]}) for name in names]
    (row,) = accuracy_table(with_references(pd.DataFrame(rows), twins)).to_dict("records")
    assert row["bias_noise_free_mm_s"] == pytest.approx((1.5 + 4.5) / 2)
    assert row["worst_bias_noise_free_mm_s"] == pytest.approx(4.5)
    assert row["bias_map_mm_s"] == pytest.approx(2.0)
    assert row["coverage_noise_free"] == pytest.approx(0.25)
    assert row["coverage_map"] == pytest.approx(0.5)
    assert row["impact_time_error_ms"] == pytest.approx(0.1)


def test_a_sample_without_an_impact_is_a_row(robot, twin):
    _, truth = twin
    one = replace(known_impact(robot, truth, NAME), noise=SensorNoise(5e-6, 0.0, 7))
    rows = sample_rows(one, (PAPER,), [1], OPTIONS | {"window": 0.5})
    assert len(rows) == 6 and not rows["converged"].any()
    assert rows["reason"].str.contains("recording ends").all()
    table = accuracy_table(with_references(rows.assign(impact_time_error_s=np.nan), [one]))
    assert (table["failed"] == 1).all()


def test_samples_report_what_they_were_made_of(robot, twin):
    _, truth = twin
    one = replace(known_impact(robot, truth, NAME), noise=NOISE)
    rows = sample_rows(one, (BEST,), range(1, 7), OPTIONS)
    table = accuracy_table(with_references(rows, [one]))
    assert set(table["timing"]) == {"true", "detected"} and (table["failed"] == 0).all()
    assert (table["bias_noise_free_mm_s"].abs() < 0.5).all() and (table["sd_mm_s"] < 1.0).all()
    with pytest.raises(ContactIdError, match="no experiment 'set9'"):
        known_impact(robot, truth, "set9")


def test_shares_of_global_optima_are_counted(tmp_path):
    rows = pd.DataFrame(
        {"experiment": "a", "search": "z", "cost": [1.0, 1.5], "reference_cost": [1.0, 1.0], "found": [True, False],
         "random_share": [0.5, 0.1]}
    )  # fmt: skip
    rows.to_csv(tmp_path / "searches.csv", index=False)
    (row,) = optima([str(tmp_path / "searches.csv")]).to_dict("records")
    assert row["share_found"] == 0.5 and row["random_start_share"] == pytest.approx(0.3)
    assert row["largest_excess"] == pytest.approx(0.5)


def test_methods_of_one_name_are_refused():
    with pytest.raises(ContactIdError, match="different names"):
        methods_of([{"name": "a"}, {"name": "a"}])


def test_all_files_are_written_and_an_experiment_without_impact_is_a_row(robot, twin, tmp_path):
    experiment, truth = twin
    noise = NOISE.change(experiment.clean, NAME, 1)
    recordings = [
        ArmRecording(experiment.setting, experiment.time, experiment.clean + noise),
        ArmRecording(Setting(2, 0.10, 90.0), experiment.time, np.repeat(experiment.clean[:1], len(noise), axis=0)),
    ]
    impacts = build_arm_impacts(recordings, source="small twin", licence="CC0", synthetic=True)
    write_dataset(impacts, tmp_path / "arm.nc")
    write_dataset(truth, tmp_path / "truth.nc")
    robot_block = {"name": "lwr4", "probe_length": 0.10}
    written = [str(tmp_path / f"{name}.csv") for name in ("fits", "modes", "curves")]
    fit_recordings(str(tmp_path / "arm.nc"), LWR4, BLOCK, robot_block, *written)
    made = fit_tables(*written, "paper")
    fits = made["tables/ext_fit"].table
    assert list(fits["experiment"]) == [NAME, "set2_v010_a90"]
    assert list(fits["converged"]) == [True, False] and "no impact found" in fits["reason"].iloc[1]
    first = fits.iloc[0]
    assert first["eta_x"] == pytest.approx(abs(first["vx_plus_map"] - first["vx_plus_fit"]), abs=1e-6)
    assert set(made["tables/ext_modes"].table["modes"]) == {1, 2}
    truth_file, noisy, found, confirmed = (str(tmp_path / name) for name in ("truth.nc", "s.csv", "o.csv", "c.csv"))
    fit_samples(truth_file, LWR4, NAME, BLOCK, robot_block, noisy)
    find_optima(truth_file, LWR4, NAME, BLOCK, robot_block, found, confirmed)
    known = accuracy(truth_file, LWR4, robot_block, [noisy])
    assert len(known["tables/ext_fit_accuracy"])
    assert optima([found])["share_found"].eq(1.0).all()
    confirmed_rows = confirmations([confirmed])
    assert (confirmed_rows["relative_excess"] > -1e-6).all()
    assert confirmed_rows[confirmed_rows["start"] == "search"]["relative_excess"].abs().max() < 1e-6
    drawings = (
        (draw_cartesian_fit, made["figures/fig06_cartesian_fit"]),
        (draw_accuracy, known["figures/ext_fit_accuracy"]),
    )
    for draw, data in drawings:
        with style.styled():
            style.save(draw(data), tmp_path / "drawn")
        assert (tmp_path / "drawn.svg").stat().st_size > 1000


def test_a_method_that_no_table_has_is_refused(tmp_path, twin):
    experiment, _ = twin
    recording = ArmRecording(experiment.setting, experiment.time, experiment.clean)
    impacts: xr.Dataset = build_arm_impacts([recording], source="small twin", licence="CC0", synthetic=True)
    write_dataset(impacts, tmp_path / "arm.nc")
    with pytest.raises(ContactIdError, match="table_method 'best'"):
        fit_recordings(tmp_path / "arm.nc", LWR4, BLOCK | {"table_method": "best"},
                       {"name": "lwr4", "probe_length": 0.10}, "", "", "")  # fmt: skip
