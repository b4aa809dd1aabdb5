"""Faults that are named where no rigid body explains a recording, and forces in other axes or units."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.core.rotations import as_rotation
from contactid.inhand.own.causes import cause_of_misfit
from contactid.inhand.own.conventions import in_frame
from contactid.inhand.own.estimate import explained_recording
from contactid.inhand.own.files import read_hull, read_noise, read_table
from contactid.sources.conventions import STATED, Convention
from grasp_for_tests import recording
from own_recordings import write_own

WORLD = Convention(frame={"axes": "world"})
FORCES = [f"contact_force_{{contact}}_{axis}" for axis in "xyz"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of four seconds with little white noise, as stated."""
    folder = tmp_path_factory.mktemp("causes")
    write_own(
        recording(400, force_sd=0.02, position_sd=2e-5, orientation_sd=5e-5, point_sd=1e-4), folder
    )
    return folder


@pytest.fixture(scope="module")
def table(folder):
    return read_table(folder / "recording.csv", STATED)


def named(folder, table):
    """The fault and the remedy that a table's misfit would get."""
    hull, noise = read_hull(folder / "hull.csv"), read_noise(folder / "noise.yaml")
    return cause_of_misfit(table, hull, noise, STATED)


def pushed(table, force):
    """A table whose first contact feels a force (n, 3) besides."""
    forces = table.force.copy()
    forces[:, 0] += force
    return replace(table, force=forces)


def along_the_world(table):
    """A table whose forces are along the world's axes."""
    rotations = as_rotation(table.orientation)
    count = table.force.shape[1]
    forces = np.stack([rotations.apply(table.force[:, i]) for i in range(count)], axis=1)
    return replace(table, force=forces)


def test_a_recording_without_a_fault_gets_no_name(folder, table):
    assert named(folder, table) == ("", "")
    # nor one whose misfit is noise alone
    noise = np.random.default_rng(1).normal(0.0, 1.0, (len(table.time), 3))
    assert named(folder, pushed(table, noise)) == ("", "")


def test_a_warming_sensor_is_named_with_its_size(folder, table):
    share = np.linspace(0.0, 1.0, len(table.time))
    warming = 3.0 * (1.0 - np.exp(-4.0 * share)) / (1.0 - np.exp(-4.0))
    fault, _ = named(folder, pushed(table, np.outer(warming, [0.6, 0.0, 0.8])))
    assert "a sensor's zero that drifts by about" in fault
    assert 2.4 < float(fault.split("about ")[1].split(" N")[0]) < 3.6


def test_two_recordings_in_one_table_are_named_with_the_row(folder, table):
    later = np.arange(len(table.time)) >= 170
    joined = pushed(table, np.outer(later, [2.0, 0.0, 0.0]))
    paused = replace(joined, time=table.time + 3.0 * later)
    fault, remedy = named(folder, paused)
    assert fault.startswith("from row 171 on it looks like another recording")
    assert remedy == "Give the two as two files"
    # a pause alone is no fault
    assert named(folder, replace(table, time=paused.time)) == ("", "")


def test_a_seam_near_an_end_leaves_the_other_faults_to_be_asked(folder, table):
    # twenty rows of a sensor of a kilohertz are one row of the fit
    later = np.arange(len(table.time)) >= 20
    time = 0.1 * table.time + 3.0 * later
    assert named(folder, replace(table, time=time)) == ("", "")


def test_forces_behind_a_slow_filter_are_named(folder, table):
    filtered = table.force.copy()
    share = 1.0 - np.exp(-np.diff(table.time, prepend=table.time[0]) / 0.15)
    for row in range(1, len(filtered)):
        change = table.force[row] - filtered[row - 1]
        filtered[row] = filtered[row - 1] + share[row] * change
    fault, _ = named(folder, replace(table, force=filtered))
    assert "a filter delays by about" in fault


def test_angles_of_the_other_kind_are_named(folder, table):
    angles = as_rotation(table.orientation).as_euler("xyz")
    taken = Rotation.from_euler("XYZ", angles).as_quat(scalar_first=True)
    fault, _ = named(folder, replace(table, orientation=taken))
    assert "Euler angles of the other kind (XYZ" in fault


def test_forces_along_the_worlds_axes_are_turned_with_their_deviations(table):
    deviation = np.broadcast_to([0.1, 0.2, 0.4], table.force.shape)
    turned = in_frame(replace(along_the_world(table), force_sd=deviation), WORLD)
    assert np.allclose(turned.force, table.force, atol=1e-12)
    # the variance of a vector is the same along all axes together
    assert np.allclose(np.sum(turned.force_sd**2, axis=2), np.sum(deviation**2, axis=2))


@pytest.mark.parametrize("problem", ["axes=world", "contact_torque=nmm"])
def test_forces_in_other_axes_and_torques_in_another_unit_are_named(folder, table, problem):
    frame = pd.read_csv(folder / "recording.csv")
    if problem == "axes=world":
        written = along_the_world(table).force
        for i, contact in enumerate(table.contacts):
            frame[[name.format(contact=contact) for name in FORCES]] = written[:, i]
    else:
        # one sensor at B's origin feels what all contacts exert
        force = table.force.sum(axis=1)
        torque = np.cross(table.point, table.force).sum(axis=1)
        frame = frame[[name for name in frame if not name.startswith("contact_")]]
        for axis, name in enumerate("xyz"):
            frame[f"contact_force_wrist_{name}"] = force[:, axis]
            frame[f"contact_position_wrist_{name}"] = 0.0
            frame[f"contact_torque_wrist_{name}"] = 1e3 * torque[:, axis]
    with pytest.raises(ContactIdError, match=f"Give --(frame|units) {problem}"):
        explained_recording(frame, folder / "hull.csv", folder / "noise.yaml")


def test_a_finger_that_feels_nothing_and_late_poses_are_named(folder, table):
    """Where no fault in time explains the misfit."""
    noisy = pushed(table, np.random.default_rng(1).normal(0.0, 1.0, (len(table.time), 3)))
    silent = noisy.force.copy()
    silent[:, 1] = 0.0
    assert named(folder, replace(noisy, force=silent)) == (
        f"{table.contacts[1]} feels no force in any row",
        "Check its sensor",
    )
    held = np.arange(len(table.time)) // 2 * 2
    late = replace(noisy, position=table.position[held], orientation=table.orientation[held])
    assert named(folder, late)[0].startswith("50 % of its rows repeat the pose before them")
