"""Recorded arm impacts: the reader takes every layout it promises, and says what is wrong with all
others.
"""

import io
import json
import zipfile

import h5py
import numpy as np
import pytest
import scipy.io

from contactid.arm.readers.impacts import (
    ArmRecording,
    Setting,
    arm_recording,
    build_arm_impacts,
    iterate_arm_recordings,
)
from contactid.arm.readers.labels import label_of
from contactid.arm.readers.mat import read_arm_mat
from contactid.core.errors import ContactIdError
from contactid.sources.matlab_files import described, read_variables
from contactid.sources.motion import read_dataset, write_dataset
from small_files import NAME, POSITION, TIME, N, save, save_v73


def read(path):
    return read_arm_mat(path, licence="none")


def one_line_error(path):
    with pytest.raises(ContactIdError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def recording(setting=None, n=N):
    return ArmRecording(setting or Setting(1, 0.1, 30.0), TIME[:n], POSITION[:n])


@pytest.mark.parametrize(
    "variables",
    [
        {"q": POSITION, "time": TIME},
        {"q": POSITION.T, "t": TIME},
        {"q_meas": np.rad2deg(POSITION), "time": TIME},
        {"Joint_Position": POSITION, "time": 1e3 * TIME},
        {"q": POSITION},
        {
            "measured": {
                "angles": POSITION,
                "uhr": 5.0 + TIME[:, None],
                "speed": POSITION[:, :3],
                "load": 0.0 * TIME,
            }
        },
        {"data": {"q": POSITION, "time": TIME + 7.0, "tau": POSITION}},
    ],
    ids=["plain", "joints first", "degrees", "milliseconds", "no time", "other names", "structure"],
)
def test_layouts_of_variables_give_the_same(tmp_path, variables):
    save(tmp_path, **variables)
    impacts = read(tmp_path)
    np.testing.assert_allclose(impacts["joint_position"].values[0], POSITION, atol=1e-12)
    np.testing.assert_allclose(impacts["time"].values[0], TIME, atol=1e-12)


@pytest.mark.parametrize("name", ["q", "run/q"])
def test_both_formats_give_the_same(tmp_path, name):
    save_v73(tmp_path / "new" / NAME, **{name: POSITION, name.replace("q", "time"): TIME[:, None]})
    save(tmp_path / "old")
    new, old = read(tmp_path / "new"), read(tmp_path / "old")
    np.testing.assert_allclose(
        new["joint_position"].values, old["joint_position"].values, atol=1e-15
    )
    np.testing.assert_allclose(new["time"].values, old["time"].values, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        (NAME, "set1_v010_a30"),
        ("data/Set 2/v0.15_60deg.mat", "set2_v015_a60"),
        ("dataset1/vel_20_angle_90.mat", "set1_v020_a90"),
        ("Set2/impact-0p10mps-30deg.mat", "set2_v010_a30"),
    ],
)
def test_paths_tell_the_experiment(tmp_path, name, setting):
    save(tmp_path, name)
    assert list(read(tmp_path)["experiment"].values) == [setting]


def test_several_recordings_in_one_file(tmp_path):
    save(
        tmp_path,
        "impacts.mat",
        set1_v010_a30={"q": POSITION},
        set2_v020_a90={"q": POSITION + 0.1},
        time=TIME,
    )
    impacts = read(tmp_path)
    assert list(impacts["experiment"].values) == ["set1_v010_a30", "set2_v020_a90"]
    np.testing.assert_allclose(
        impacts["joint_position"].values[1] - impacts["joint_position"].values[0], 0.1
    )


def test_a_zip_file_and_a_single_file_read_as_the_folder(tmp_path):
    path = save(tmp_path / "folder" / "set1", "v010_a30.mat")
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(path, "set1/v010_a30.mat")
    assert read(archive).equals(read(tmp_path / "folder"))
    (tmp_path / "fetched").mkdir()
    archive.rename(tmp_path / "fetched" / "all.zip")
    assert read(tmp_path / "fetched").equals(read(tmp_path / "folder"))
    archive = tmp_path / "fetched" / "all.zip"
    assert read(save(tmp_path)).equals(read(archive))


def test_a_list_beside_the_files_overrules_their_names(tmp_path):
    save(tmp_path, "a.mat", angles=POSITION, clock=TIME, q=0.0 * POSITION)
    save(tmp_path, "b.mat", first={"q": POSITION}, second={"q": POSITION + 0.1})
    rows = [
        "File, position,time",
        "a.mat,angles,clock",
        "b.mat:second,,",
    ]
    (tmp_path / "recordings.csv").write_text("\n".join([*rows, "c.mat,,"]) + "\n")
    impacts = read(tmp_path)
    assert list(impacts["experiment"].values) == ["a", "first", "second"]
    np.testing.assert_allclose(impacts["joint_position"].values[0], POSITION)
    assert "not there" in json.loads(impacts.attrs["left_out"])["c.mat"]
    (tmp_path / "recordings.csv").write_text("file;position\na.mat;angles\n")
    np.testing.assert_allclose(read(tmp_path)["joint_position"].values[0], POSITION)
    (tmp_path / "recordings.csv").write_text("name,time\na.mat,t\n")
    assert "no column file" in one_line_error(tmp_path)


def with_gap():
    time = TIME.copy()
    time[60:] += 0.004
    return time


def with_nan():
    position = POSITION.copy()
    position[5:9] = np.nan
    return position


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        (
            {"torque": POSITION, "speed": POSITION},
            ["no joint positions", "expected a variable named q", "torque 120x7 float64"],
        ),
        ({"q": POSITION[:, :6]}, ["q has shape (120, 6) instead of (n, 7)"]),
        ({"q": with_nan(), "time": TIME}, ["NaN in 4 samples, the first at sample 5"]),
        ({"q": POSITION, "time": TIME[::-1].copy()}, ["time does not increase at sample 1"]),
        (
            {"q": POSITION, "time": with_gap()},
            ["1 time steps are not 1 ms, the first beyond mending 5 ms at sample 60"],
        ),
        ({"q": POSITION, "time": 50.0 * TIME}, ["time steps of 50 ms, if they are in s"]),
        ({"q": POSITION, "time": TIME[:-1]}, ["time has 119 values for 120 samples"]),
        ({"q": POSITION[:20]}, ["20 samples where at least 50 are needed"]),
        ({"q": POSITION - 1.0}, ["joint_1 goes from -2.501", "beyond its limits -2.094"]),
        (
            {"q": with_nan() - 1.0, "time": with_gap()},
            ["NaN in 4", "dropped samples", "joint_1 goes from"],
        ),
    ],
    ids=[
        "no positions",
        "six joints",
        "nan",
        "backwards",
        "dropped",
        "rate",
        "lengths",
        "short",
        "limits",
        "all",
    ],
)
def test_every_problem_of_a_recording_is_said_and_the_others_are_read(tmp_path, variables, said):
    save(tmp_path, **variables)
    alone = one_line_error(tmp_path)
    assert all(part in alone for part in [NAME, *said]), alone
    save(tmp_path, "set2_v020_a90.mat")
    impacts = read(tmp_path)
    assert list(impacts["experiment"].values) == ["set2_v020_a90"]
    reason = json.loads(impacts.attrs["left_out"])[NAME]
    assert all(part in reason for part in said), reason


def test_names_that_tell_little_and_repetitions_are_read(tmp_path):
    save(tmp_path, "measurement.mat")
    save(tmp_path, "v02_90deg_set1.mat")
    save(tmp_path, "set1_v900_a30.mat")
    save(tmp_path)
    save(tmp_path / "again", NAME)
    impacts = read(tmp_path)
    assert list(impacts["experiment"].values) == [
        "set1_v010_a30", "set1_v010_a30_2", "v02_90deg_set1", "measurement", "set1_v900_a30",
    ]  # fmt: skip
    assert list(impacts["set"].values) == [1, 1, 1, 0, 0]
    np.testing.assert_array_equal(impacts["nominal_angle_deg"], [30.0, 30.0, 90.0, np.nan, np.nan])
    np.testing.assert_array_equal(impacts["nominal_velocity"], [0.1, 0.1, np.nan, np.nan, np.nan])
    assert impacts.attrs["left_out"] == "{}"
    for name, velocity in (
        ("v01_a30", 0.1),
        ("v0.2", 0.2),
        ("v015", 0.15),
        ("v20", 0.2),
        ("20cms", 0.2),
    ):
        assert label_of(f"{name}.mat").velocity == velocity


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"<!DOCTYPE html><html></html>", "a web page"),
        (b"not a MATLAB file at all" * 40, "not readable"),
        ("half", "truncated or damaged"),
        ("half of 7.3", "as a MATLAB file"),
    ],
)
def test_damaged_files_give_one_clear_line(tmp_path, content, said):
    whole = save(tmp_path).read_bytes()
    if content == "half of 7.3":
        save_v73(tmp_path / NAME, q=POSITION, time=TIME)
        whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(whole[: len(whole) // 2] if isinstance(content, str) else content)
    assert said in one_line_error(tmp_path)


def test_missing_and_empty_places_give_one_clear_line(tmp_path):
    assert "no such file or folder" in one_line_error(tmp_path / "nowhere")
    assert "no .mat file" in one_line_error(tmp_path)
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    assert "not a readable zip" in one_line_error(tmp_path / "broken.zip")


def test_variables_are_listed_flat_with_matlab_shapes():
    stream = io.BytesIO()
    cells = np.empty(2, dtype=object)
    cells[:] = [np.zeros((2, 3)), "text"]
    scipy.io.savemat(
        stream, {"run": {"deep": {"q": np.zeros((4, 7))}}, "cells": cells, "note": "text"}
    )
    found = read_variables(stream.getvalue())
    assert {name: value.shape for name, value in found.items()} == {
        "run.deep.q": (4, 7),
        "cells{1}": (2, 3),
    }
    assert described(found) == "run.deep.q 4x7 float64, cells{1} 2x3 float64"
    assert described({}) == "no numbers"


def test_references_of_version_7_3_are_followed(tmp_path):
    """MATLAB keeps cells and arrays of structures as references into a hidden group."""
    path = tmp_path / "impacts.mat"
    save_v73(path, time=TIME[:, None])
    with h5py.File(path, "r+") as file:
        kept = [
            file.create_dataset(f"#refs#/{number}", data=POSITION.T + 0.1 * number)
            for number in range(2)
        ]
        references = np.array([[one.ref for one in kept]], dtype=h5py.ref_dtype)
        file.create_dataset("cells", data=references)
        file.create_dataset("runs/q", data=references)
    found = read_variables(path.read_bytes())
    assert set(found) == {"time", "cells{1}", "cells{2}", "runs{1}.q", "runs{2}.q"}
    np.testing.assert_array_equal(found["runs{2}.q"], POSITION + 0.1)
    (tmp_path / "recordings.csv").write_text("file\nimpacts.mat:runs{1}\nimpacts.mat:runs{2}\n")
    assert list(read(tmp_path)["experiment"].values) == ["runs{1}", "runs{2}"]


def test_canonical_form_keeps_recordings_of_different_length(tmp_path):
    first, second = recording(n=100), recording(Setting(2, 0.2, 90.0))
    impacts = build_arm_impacts([second, first], source="test", licence="none", synthetic=True)
    write_dataset(impacts, tmp_path / "arm.nc")
    back = read_dataset(tmp_path / "arm.nc")
    assert [one.setting.name for one in iterate_arm_recordings(back)] == [
        "set1_v010_a30",
        "set2_v020_a90",
    ]
    for one in (first, second):
        np.testing.assert_array_equal(
            arm_recording(back, one.setting.name).joint_position, one.joint_position
        )
    assert arm_recording(back, "set1_v010_a30").setting == first.setting
