"""Recordings go through files unchanged, and everything wrong with one is said at once."""

import numpy as np
import pandas as pd
import pytest
import yaml

from contactid.core.errors import ContactIdError
from contactid.inhand.readers.objects import load_objects, object_of
from contactid.inhand.readers.recordings import (
    read_recording,
    recording_from_csv,
    recording_problems,
    validate_recording,
    write_recording,
)
from contactid.inhand.readers.sources import recording_names
from contactid.inhand.readers.twins import simulate_recording, twin_options, write_twins
from contactid.sources.motion import read_dataset
from twins_for_tests import OBJECTS, OBJECTS_FILE, STUDY, twins

OPTIONS = twins(samples=40)


@pytest.fixture(params=[("wrist_ft", "box_1"), ("in_hand_kinematic", "box_4")], ids=lambda one: one[0])
def recording(request):
    return simulate_recording(*request.param, 1, OPTIONS)[0]


def as_table(recording):
    """The csv form that the module describes, written independently of the reader."""
    table = pd.DataFrame({"time": recording["time"].values})
    for name, parts in (("object_position", "xyz"), ("object_orientation", "wxyz")):
        for k, part in enumerate(parts):
            table[f"{name}_{part}"] = recording[name].values[:, k]
    for name in ("contact_force", "contact_position", "contact_force_sd", "contact_torque"):
        if name not in recording:
            continue
        for i, contact in enumerate(recording["contact"].values):
            for k, axis in enumerate("xyz"):
                table[f"{name}_{contact}_{axis}"] = recording[name].values[:, i, k]
    return table


def test_netcdf_keeps_everything(recording, tmp_path):
    path = tmp_path / "one.nc"
    write_recording(recording, path)
    back = read_recording(path)
    assert back.equals(recording)
    assert dict(back.attrs) == recording.attrs


def test_csv_gives_the_same_recording(recording, tmp_path):
    path = tmp_path / "own.csv"
    as_table(recording).to_csv(path, index=False, float_format="%.17g")
    back = recording_from_csv(path, recording.attrs, recording["hull"].values)
    assert back.equals(recording) and back.attrs == recording.attrs


def test_still_objects_and_zero_forces_are_well_formed(recording):
    recording["contact_force"][:] = 0.0
    recording["object_position"][:] = 1.0
    assert recording_problems(recording) == []


def test_all_problems_are_said_at_once(recording):
    recording["time"][7] = recording["time"][6]
    recording["object_orientation"][3] *= 1.1
    recording["contact_force"][5, 0, 1] = np.nan
    recording["contact_force_sd"][2] = 0.0
    recording["object_position"].attrs["units"] = "mm"
    recording.attrs["orientation_sd"] = -1.0
    del recording.attrs["position_sd"], recording.attrs["object"]
    with pytest.raises(ContactIdError) as error:
        validate_recording(recording.drop_vars("contact_position"), "one.nc")
    text = str(error.value)
    for part in (
        "one.nc: contact_position is missing",
        "time doesn't increase at sample 7",
        "object_orientation isn't of unit length in 1 samples, first at 3",
        "contact_force isn't a number in 1 samples, first at 5",
        "contact_force_sd isn't positive",
        "object_position is in 'mm' instead of 'm'",
        "attribute position_sd is missing",
        "attribute object is missing",
        "attribute orientation_sd is -1, where it must be positive",
    ):
        assert part in text
    assert "\n" not in text


def test_wrong_shapes_are_said(recording):
    turned = recording.assign(contact_force=recording["contact_force"].transpose("contact", "sample", "axis"))
    assert any("dimensions (contact, sample, axis)" in problem for problem in recording_problems(turned))
    flat = recording.isel(axis=[0, 1])
    assert "axis has length 2 instead of 3" in recording_problems(flat)
    short = recording.isel(sample=[0, 1])
    assert any("at least 3" in problem for problem in recording_problems(short))
    assert "no contact" in recording_problems(recording.isel(contact=[]))


def test_csv_problems_are_said(recording, tmp_path):
    table, path = as_table(recording), tmp_path / "own.csv"
    table.drop(columns=["object_position_y", "time"]).to_csv(path, index=False)
    with pytest.raises(ContactIdError, match="columns time, object_position_y are missing"):
        recording_from_csv(path, recording.attrs)
    table["object_position_y"] = "a word"
    table.to_csv(path, index=False)
    with pytest.raises(ContactIdError, match="object_position isn't a number"):
        recording_from_csv(path, recording.attrs)
    table[["time"]].to_csv(path, index=False)
    with pytest.raises(ContactIdError, match="missing"):
        recording_from_csv(path, recording.attrs)
    with pytest.raises(ContactIdError, match="not a readable csv"):
        recording_from_csv(tmp_path / "none.csv", {})


def test_attributes_of_a_csv_have_defaults_but_no_noise_of_its_own(recording, tmp_path):
    path = tmp_path / "own.csv"
    as_table(recording).to_csv(path, index=False, float_format="%.17g")
    with pytest.raises(ContactIdError, match=r"position_sd is missing.*orientation_sd is missing"):
        recording_from_csv(path, {})


def test_every_recording_and_its_truth_are_written(tmp_path):
    names = recording_names([3])
    files = [[str(tmp_path / f"{prefix}{name}.nc") for name in names] for prefix in ("", "truth_")]
    write_twins(OBJECTS_FILE, STUDY["twin"] | {"samples": 30}, [3], *files)
    assert {path.stem for path in tmp_path.iterdir()} == {*names, *(f"truth_{name}" for name in names)}
    again, truth = simulate_recording("wrist_ft", "box_2", 3, twins(samples=30))
    assert read_recording(tmp_path / "wrist_ft_box_2_3.nc").equals(again)
    stored = read_dataset(tmp_path / "truth_wrist_ft_box_2_3.nc")
    assert stored.equals(truth)
    np.testing.assert_array_equal(stored.attrs["vector"], object_of(OBJECTS, "box_2").parameters.vector)


def test_a_configuration_block_gives_its_options():
    pose = {"white": [1e-3, 2e-3], "jitter": [0.0, 0.0], "jitter_time": 0.2, "drift": [1e-3, 0.0], "drift_time": 2.0}
    source = {
        "motion": {"displacement": 0.1, "turn": 0.5, "frequencies": [0.4, 1.0], "ramp": 0.3},
        "grip": {"least_force": 1.0, "safety": 1.1},
        "pose": pose,
        "force": {"floor": 0.1, "relative": 0.02, "torque": 1e-3, "contact": 1e-3},
        "residual": {
            "preload_share": 0.1, "load_share": 0.2, "spread": 0.0, "transient_force": 0.0, "transient_rate": 0.0,
            "transient_time": 0.1,
        },
    }  # fmt: skip
    block = {
        "samples": 50, "time_step": 0.005, "seed": 7, "force_levels": [0.0, 0.1, 0.2, 0.3, 0.4],
        "sources": dict.fromkeys(("simulation", "wrist_ft", "in_hand_vision", "in_hand_kinematic"), source),
        "breaks": {"object": "box_4", "contact": "ring", "count": 2, "length": 0.1, "blend": 0.02},
        "least": {"force": 1e-3, "torque": 1e-4, "position": 1e-5, "orientation": 1e-5, "contact": 1e-5},
    }  # fmt: skip
    options = twin_options(block, OBJECTS_FILE)
    assert options.samples == 50 and options.breaks.count == 2 and options.force_levels[4] == 0.4
    wrist = options.source("wrist_ft")
    assert wrist.motion.frequencies == [0.4, 1.0] and wrist.pose.white == [1e-3, 2e-3]
    assert wrist.force.relative == 0.02 and wrist.residual.load_share == 0.2 and wrist.grip.safety == 1.1


def test_a_broken_list_of_objects_is_said(tmp_path):
    path = tmp_path / "objects.yaml"
    path.write_text(yaml.safe_dump({"box_0": {"mass": 1.0, "inertia": [1, 2]}}))
    with pytest.raises(ContactIdError, match="box_0"):
        load_objects(path)
    path.write_text("box_0: [")
    with pytest.raises(ContactIdError, match="no readable list"):
        load_objects(path)
