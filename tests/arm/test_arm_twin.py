"""The twin of the recorded arm impacts is what it says it is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import least_squares

from arm_for_tests import CONFIG, LWR4, PUBLISHED, lwr4, twin_of
from contactid.arm.artefacts.joint_velocities import joint_velocities, shown_velocities
from contactid.arm.readers.impacts import Setting, build_arm_impacts
from contactid.arm.readers.mat import read_arm_mat
from contactid.arm.readers.twins import (
    record,
    reported,
    simulate_experiment,
    twin_falls,
    write_arm_twin,
)
from contactid.arm.rigid.printed_table import printed_table
from contactid.core.errors import ContactIdError
from contactid.sources.motion import write_dataset

ROBOT = lwr4()
OPTIONS = twin_of(before=0.15, after=0.2)
PRINTED = printed_table(pd.read_csv(PUBLISHED))
STRAIGHT = Setting(1, 0.2, 90.0), (0.0, -0.185)
SLANTED = Setting(2, 0.1, 30.0), (0.061, -0.085)


@pytest.fixture(scope="module", params=[STRAIGHT, SLANTED], ids=lambda fall: fall[0].name)
def experiment(request):
    return simulate_experiment(*request.param, OPTIONS, ROBOT)


def tip_velocity(experiment):
    """Mid-sample times since the impact (s) and the reported tip's x and z velocities (m/s),
    without noise.
    """
    tips = np.array([ROBOT.tip_position(q)[[0, 2]] for q in experiment.clean])
    middle = 0.5 * (experiment.time[1:] + experiment.time[:-1]) - experiment.impact_time
    return middle, np.diff(tips, axis=0) / np.diff(experiment.time)[:, None]


def affine_part(time, velocity):
    """Poles (decay 1/s, frequency Hz) and constants (2,) at time 0 of two modes shared by x and z."""

    def basis(parameters):
        waves = [
            np.exp(decay * time) * wave(rate * time)
            for decay, rate in parameters.reshape(2, 2)
            for wave in (np.cos, np.sin)
        ]
        return np.column_stack([np.ones_like(time), time, *waves])

    def residuals(parameters):
        columns = basis(parameters)
        return (
            1e3 * (velocity - columns @ np.linalg.lstsq(columns, velocity, rcond=None)[0]).ravel()
        )

    start = np.array([-35.0, 125.0, -45.0, 145.0])
    found = least_squares(residuals, start, x_scale=np.abs(start)).x
    constants = np.linalg.lstsq(basis(found), velocity, rcond=None)[0][0]
    return found.reshape(2, 2) / [1.0, 2.0 * np.pi], constants


def test_tip_comes_down_as_its_row_of_table_2_prints_it(experiment):
    v_x, v_z = experiment.tip_velocity_pre
    falls = {setting.name: fall for setting, fall in twin_falls(OPTIONS, PRINTED)}
    np.testing.assert_allclose([v_x, v_z], falls[experiment.setting.name], atol=1e-9)
    time, velocity = tip_velocity(experiment)
    before = time < -1e-3
    np.testing.assert_allclose(velocity[before], np.tile([v_x, v_z], (before.sum(), 1)), atol=2e-4)


def test_impact_is_between_two_samples_where_the_links_touch_the_table(experiment):
    samples = experiment.time[[149, 150]]
    assert samples[0] < experiment.impact_time < samples[1]
    assert ROBOT.tip_position(experiment.q_impact)[2] == pytest.approx(-0.20, abs=1e-12)


def test_map_of_links_and_motors_is_the_affine_response(experiment):
    time, velocity = tip_velocity(experiment)
    after = (time > 0.0) & (time < 0.15)
    poles, constants = affine_part(time[after], velocity[after])
    assert experiment.tip_velocity_post_map[1] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(constants, experiment.tip_velocity_post_map, atol=1e-3)
    assert ((poles[:, 0] > -60.0) & (poles[:, 0] < -25.0)).all()
    assert ((np.abs(poles[:, 1]) > 18.0) & (np.abs(poles[:, 1]) < 25.0)).all()


def test_oscillation_is_gone_after_a_hundred_milliseconds(experiment):
    time, velocity = tip_velocity(experiment)
    early, late = (time > 0.0) & (time < 0.05), (time > 0.1) & (time < 0.15)
    line = np.polynomial.Polynomial.fit(time[late], velocity[late, 1], 1)
    assert np.ptp(velocity[late, 1] - line(time[late])) < 0.03 * np.ptp(velocity[early, 1])


def test_noise_is_small_and_steps_are_the_encoders(experiment):
    recording = record(experiment, OPTIONS)
    steps = recording.joint_position / OPTIONS["resolution"]
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
    error = recording.joint_position - experiment.clean
    assert error.std() == pytest.approx(
        np.hypot(OPTIONS["noise"], OPTIONS["resolution"] / np.sqrt(12.0)), rel=0.1
    )
    again = record(experiment, OPTIONS)
    other = record(experiment, twin_of(before=0.15, after=0.2, seed=2))
    np.testing.assert_array_equal(again.joint_position, recording.joint_position)
    assert (other.joint_position != recording.joint_position).any()
    exact = reported(experiment.clean, 0.0, 0.0, np.random.default_rng(1))
    np.testing.assert_array_equal(exact, experiment.clean)


def test_every_row_is_an_experiment_with_its_own_stream():
    falls = twin_falls(twin_of(), PRINTED)
    assert len({setting.name for setting, _ in falls}) == len(falls) == len(PRINTED)
    short = twin_of(before=0.1, after=0.1)
    one = simulate_experiment(*STRAIGHT, short, ROBOT)
    setting, fall = STRAIGHT
    repeated = simulate_experiment(replace(setting, set_number=2), fall, short, ROBOT)
    assert np.abs(repeated.q_impact - one.q_impact).max() > 1e-4
    with pytest.raises(ContactIdError, match="no row of Table II"):
        twin_falls(twin_of(velocities=[0.12]), PRINTED)


def test_archive_is_read_back_and_written_alike_twice(tmp_path):
    block = CONFIG["twin"] | {
        "sets": [1],
        "velocities": [0.2],
        "angles_deg": [60, 90],
        "before": 0.1,
        "after": 0.1,
    }
    for folder in ("raw", "again"):
        write_arm_twin(LWR4, PUBLISHED, block, CONFIG["robot"], tmp_path / folder)
    for file in sorted((tmp_path / "raw").iterdir()):
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()
    assert "not measured" in (tmp_path / "raw/README.md").read_text()
    impacts = read_arm_mat(tmp_path / "raw", licence="CC0-1.0")
    assert list(impacts["experiment"].values) == ["set1_v020_a60", "set1_v020_a90"]
    np.testing.assert_allclose(
        impacts["time"].values, np.tile(1e-3 * np.arange(200), (2, 1)), atol=1e-12
    )
    experiments = [simulate_experiment(*fall, block, ROBOT) for fall in twin_falls(block, PRINTED)]
    clean = np.array([one.clean for one in experiments])
    difference = np.abs(impacts["joint_position"].values - clean)
    assert difference.max() < 0.5 * block["resolution"] + 6.0 * block["noise"]


def test_figure_2_shows_velocities_around_the_impact(tmp_path):
    experiment = simulate_experiment(*STRAIGHT, OPTIONS, ROBOT)
    impacts = build_arm_impacts(
        [record(experiment, OPTIONS)], source="twin", licence="CC0-1.0", synthetic=True
    )
    table = joint_velocities(impacts, "set1_v020_a90", experiment.impact_time)
    assert table.groupby("joint").size().to_dict() == dict.fromkeys(range(1, 8), len(table) // 7)
    second = table[table["joint"] == 2]
    before = second["velocity_rad_s"][second["time_s"] < experiment.impact_time - 1e-3]
    assert before.tail(20).mean() == pytest.approx(experiment.velocity_pre[1], rel=0.02)
    assert "synthetic" in table["source"].iloc[0]
    write_dataset(impacts, tmp_path / "arm.nc")
    (tmp_path / "fits.csv").write_text(
        "experiment,impact_time_s,vx_minus,vz_minus\nset1_v020_a90,0.15,0,-0.2\n"
    )
    assert len(shown_velocities(tmp_path / "arm.nc", tmp_path / "fits.csv")) == len(table)
