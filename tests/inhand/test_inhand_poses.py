"""Still poses without a time: mass and centre from weight alone, a sensor's zero beside."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.core.inertia import moved_to
from contactid.inhand.identify.advice import NAMES
from contactid.inhand.own.estimate import estimate_own
from contactid.inhand.own.poses import fit_poses
from contactid.inhand.own.prepare import read_own_recording
from contactid.inhand.own.result import result_of
from contactid.inhand.readers.recordings import RecordedSignals
from grasp_for_tests import BODY, HULL, standardised

ZERO = np.array([1.0, -2.0, 17.0, 0.1, 0.3, -0.2])  # N and N m


def poses(count=12, turn=2.0, force_sd=0.05, torque_sd=5e-3, seed=0):
    """BODY held still at a wrist sensor in random poses, that are turned by at most ``turn`` rad."""
    random = np.random.default_rng(seed)
    rotations = Rotation.from_rotvec(turn * random.uniform(-0.6, 0.6, (count, 3))).as_matrix()
    force = (
        9.81 * BODY.mass * rotations[:, 2] + ZERO[:3] + force_sd * random.normal(size=(count, 3))
    )
    torque = np.cross(BODY.center_of_mass, 9.81 * BODY.mass * rotations[:, 2]) + ZERO[3:]
    torque += torque_sd * random.normal(size=(count, 3))
    return RecordedSignals(
        time=np.arange(float(count)), rotations=rotations, positions=np.zeros((count, 3)), forces=force[:, None],
        force_sd=np.full((count, 1, 3), force_sd), points=np.zeros((count, 1, 3)), torques=torque[:, None],
        gravity=9.81, position_sd=1e-3, orientation_sd=1e-3, point_sd=1e-4, torque_sd=torque_sd, hull=HULL,
    )  # fmt: skip


def test_exact_poses_give_mass_center_and_zero_back():
    signals = poses(force_sd=1e-9, torque_sd=1e-9)
    fit = fit_poses(signals, 0.0)
    assert fit.body.mass == pytest.approx(BODY.mass, rel=1e-6)
    assert fit.body.center_of_mass == pytest.approx(BODY.center_of_mass, abs=1e-6)
    assert -fit.wrench == pytest.approx(ZERO, abs=1e-5)
    assert not fit.by_data[4:].any()


def test_intervals_hold_and_count_the_calibration():
    fits = [fit_poses(poses(seed=seed), 0.0) for seed in range(40)]
    off = np.array(
        [
            [fit.body.mass - BODY.mass, *(fit.body.center_of_mass - BODY.center_of_mass)]
            for fit in fits
        ]
    )
    errors = np.array([fit.errors[:4] for fit in fits])
    assert np.mean(np.abs(off) < 1.96 * errors) == pytest.approx(0.95, abs=0.06)
    calibrated = fit_poses(poses(), 0.05)
    assert calibrated.errors[0] > 0.05 * BODY.mass > 5.0 * calibrated.fit_errors[0]


def test_poses_that_hardly_turn_are_refused():
    with pytest.raises(ContactIdError, match="poses without a time"):
        fit_poses(poses(turn=0.1), 0.0)


def test_a_moved_body_keeps_its_tensor():
    moved = moved_to(BODY, np.array([0.1, 0.0, -0.05]))
    assert moved.inertia_at_center == pytest.approx(BODY.inertia_at_center)
    assert moved.center_of_mass == pytest.approx([0.1, 0.0, -0.05])


def test_a_table_without_a_time_is_taken_for_poses_and_says_so(tmp_path):
    signals = poses()
    columns = {f"object_position_{axis}": 0.0 for axis in "xyz"}
    quaternions = Rotation.from_matrix(signals.rotations).as_quat(scalar_first=True).T
    columns |= {
        f"object_orientation_{axis}": values
        for axis, values in zip("wxyz", quaternions, strict=True)
    }
    for kind, values in (
        ("force", signals.forces),
        ("torque", signals.torques),
        ("position", signals.points),
    ):
        columns |= {f"contact_{kind}_wrist_{axis}": values[:, 0, i] for i, axis in enumerate("xyz")}
    pd.DataFrame(columns).to_csv(tmp_path / "poses.csv", index=False)
    pd.DataFrame(HULL, columns=list("xyz")).to_csv(tmp_path / "hull.csv", index=False)
    noise = (
        "position_sd: 1.0e-3\norientation_sd: 1.0e-3\ncontact_position_sd: 1.0e-4\nforce_sd: 0.05\n"
    )
    (tmp_path / "noise.yaml").write_text(
        noise + "force_relative_sd: 0.0\ncontact_torque_sd: 5.0e-3\n"
    )
    found = estimate_own(
        read_own_recording(*(tmp_path / name for name in ("poses.csv", "hull.csv", "noise.yaml")))
    )
    assert any("held still" in warning for warning in found.warnings)
    assert found.fit.body.mass == pytest.approx(BODY.mass, rel=0.03)
    assert [name for name in NAMES[1:] if found.told_by[name] == "data"] == [
        "center_x", "center_y", "center_z"
    ]  # fmt: skip
    answer = result_of(found)
    assert list(answer.covariance) == ["mass", "center_x", "center_y", "center_z"]
    assert np.sqrt(np.diag(answer.covariance)) == pytest.approx(
        answer.params["error"][:4], rel=1e-5
    )
    assert standardised(answer.residuals) == pytest.approx(1.0, abs=0.25)
    assert answer.plot("Residuals").axes
