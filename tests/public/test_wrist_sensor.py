"""Real recordings of wrist sensors: the same mass from all rows, at 50/s and at 6.7/s, and as by a
linear fit.

From https://github.com/elenamck/inertial_parameter_application at commit 04d51df, which states no
licence: the files are read from the folder that DATA_MIRROR names and not passed on. The mass isn't
known, so a linear fit of weight and zero is what estimates are held against. Still poses:
leledeyuan00/Gravity-Compensation-F-T-sensor at 139efe1, likewise.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from contactid.inhand.own.estimate import estimate_own
from contactid.inhand.own.prepare import read_own_recording, turning

MIRROR = Path(os.environ.get("DATA_MIRROR") or "../shared/data")
FOLDER, STILL = MIRROR / "panda-wrist-ft", MIRROR / "static-wrist-ft/datas"
pytestmark = [
    pytest.mark.public,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="no recordings of a Panda (set DATA_MIRROR)"),
]
NAMES = ("14-23-21", "11-32-28")
COLUMNS = [
    "time",
    *(f"object_position_{axis}" for axis in "xyz"),
    *(f"object_orientation_{axis}" for axis in "wxyz"),
]
COLUMNS += [
    f"contact_{kind}_wrist_{axis}" for kind in ("force", "torque", "position") for axis in "xyz"
]
NOISE = """position_sd: 0.0005
orientation_sd: 0.002
contact_position_sd: 0.0005
force_sd: 0.2
force_relative_sd: 0.0
force_gain_sd: 0.01
contact_torque_sd: 0.015
"""


def rows_of(name):
    """(n, 19); rows that lack numbers are left out."""
    lines = (FOLDER / f"data_file_03-15-19_{name}.txt").read_text().splitlines()[1:]
    return np.array([line.split() for line in lines if len(line.split()) == 19], dtype=float)


def linear_fit(vertical, force):
    """Turn of the sensor against the quaternion (3, 3), and mass (kg), of unit verticals and forces
    (n, 3) in its axes.

    Force on the payload is weight times the vertical, turned by a constant, and a zero.
    """
    columns = np.column_stack([vertical, np.ones(len(vertical))])
    slope = np.linalg.lstsq(columns, force, rcond=None)[0][:3].T
    left, _, right = np.linalg.svd(slope)
    turn = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
    turned = vertical @ turn.T
    moved, sensed = turned - turned.mean(axis=0), force - force.mean(axis=0)
    return turn, float(np.vdot(moved, sensed) / np.vdot(moved, moved)) / 9.81


def write(name, every, folder):
    """A recording in the body frame of the sensor, its zero as in the file; returns the linear
    fit's mass, kg.
    """
    rows = rows_of(name)
    rotations = Rotation.from_quat(rows[:, 6:10], scalar_first=True)
    wrench = -rows[:, 13:]  # the file's acts on the sensor
    turn, mass = linear_fit(rotations.as_matrix()[::20, 2], wrench[::20, :3])
    orientation = (rotations * Rotation.from_matrix(turn.T)).as_quat(scalar_first=True)
    time = np.arange(len(rows)) / 1000.0
    table = np.column_stack([time, rows[:, :3], orientation, wrench, np.zeros((len(rows), 3))])
    pd.DataFrame(table, columns=COLUMNS)[::every].to_csv(folder / "recording.csv", index=False)
    corners = [[x, y, z] for x in (-0.06, 0.06) for y in (-0.06, 0.06) for z in (0.0, 0.22)]
    pd.DataFrame(corners, columns=list("xyz")).to_csv(folder / "hull.csv", index=False)
    (folder / "noise.yaml").write_text(NOISE)
    return mass


@pytest.mark.parametrize("name", NAMES)
def test_short_all_rows_and_few_give_the_mass_of_a_linear_fit(name, tmp_path):
    masses = []
    for every in (1, 20, 150):
        linear = write(name, every, tmp_path)
        recording = read_own_recording(
            *(tmp_path / file for file in ("recording.csv", "hull.csv", "noise.yaml"))
        )
        found = estimate_own(recording)
        assert found.fit.errors[0] < 0.03 * found.fit.body.mass
        assert np.degrees(turning(recording)) > 50.0
        assert not any(
            "degrees at most" in warning or "upwards" in warning for warning in found.warnings
        )
        masses.append(found.fit.body.mass)
    assert masses == pytest.approx([linear] * 3, rel=0.03)
    assert max(masses) / min(masses) < 1.03


@pytest.mark.skipif(not STILL.is_dir(), reason="no still poses (set DATA_MIRROR)")
def test_short_a_hundred_still_poses_give_one_mass_in_ten_folds(tmp_path):
    pose, wrench = (
        np.loadtxt(STILL / f"recorded_messages_{kind}_100.txt", delimiter=",")
        for kind in ("pose", "wrench")
    )
    to_body = Rotation.from_quat(
        pose[:, 3:7]
    ).inv()  # the wrench is in axes of the base, and acts on the sensor
    force, torque = -to_body.apply(wrench[:, :3]), -to_body.apply(wrench[:, 3:])
    table = pd.DataFrame(
        np.column_stack([pose[:, :3], pose[:, [6, 3, 4, 5]], force, torque, 0.0 * force])
    )
    table.columns = COLUMNS[1:]
    corners = [[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.15, 0.25)]
    pd.DataFrame(corners, columns=list("xyz")).to_csv(tmp_path / "hull.csv", index=False)
    (tmp_path / "noise.yaml").write_text(NOISE)
    masses, heights = [], []
    for fold in range(10):
        table[np.arange(len(table)) % 10 != fold].to_csv(tmp_path / "poses.csv", index=False)
        files = (tmp_path / name for name in ("poses.csv", "hull.csv", "noise.yaml"))
        fit = estimate_own(read_own_recording(*files)).fit
        masses.append(fit.body.mass)
        heights.append(fit.body.center_of_mass[2])
    assert masses == pytest.approx([1.2385] * 10, abs=3e-3)
    assert np.ptp(heights) < 3e-4
