"""Recordings go through files unchanged, and everything wrong with one is said at once."""

import json

import numpy as np
import pytest
import yaml

from contactid.core.errors import ContactIdError
from contactid.inhand.readers.objects import load_objects, object_of
from contactid.inhand.readers.recordings import (
    read_recording,
    recording_problems,
    validate_recording,
    write_recording,
)
from contactid.inhand.readers.sources import recording_names
from contactid.inhand.readers.twins import simulate_recording, write_twins
from contactid.sources.card import headline
from contactid.sources.motion import read_dataset
from twins_for_tests import OBJECTS, OBJECTS_FILE, STUDY, twins

OPTIONS = twins(samples=40)


@pytest.fixture(
    params=[("wrist_ft", "box_1"), ("in_hand_kinematic", "box_4")], ids=lambda one: one[0]
)
def recording(request):
    return simulate_recording(*request.param, 1, OPTIONS)[0]


def test_netcdf_keeps_everything(recording, tmp_path):
    path = tmp_path / "one.nc"
    write_recording(recording, path)
    back = read_recording(path)
    assert back.equals(recording)
    assert dict(back.attrs) == recording.attrs


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
    turned = recording.assign(
        contact_force=recording["contact_force"].transpose("contact", "sample", "axis")
    )
    assert any(
        "dimensions (contact, sample, axis)" in problem for problem in recording_problems(turned)
    )
    flat = recording.isel(axis=[0, 1])
    assert "axis has length 2 instead of 3" in recording_problems(flat)
    short = recording.isel(sample=[0, 1])
    assert any("at least 5" in problem for problem in recording_problems(short))
    assert "no contact" in recording_problems(recording.isel(contact=[]))


def test_every_recording_and_its_truth_are_written(tmp_path):
    names = recording_names([3])
    files = [[str(tmp_path / f"{prefix}{name}.nc") for name in names] for prefix in ("", "truth_")]
    write_twins(
        OBJECTS_FILE, STUDY["twin"] | {"samples": 30}, [3], *files, card=tmp_path / "card.json"
    )
    assert {path.stem for path in tmp_path.iterdir()} == {
        *names,
        *(f"truth_{name}" for name in names),
        "card",
    }
    card = json.loads((tmp_path / "card.json").read_text())
    assert (card["recordings"], card["samples"], card["synthetic"]) == (
        len(names),
        30 * len(names),
        True,
    )
    assert headline(card).startswith(f"{len(names)} recordings, {30 * len(names)} samples, ")
    assert card["gaps"] == 0 and 0.0 < card["noise"]["contact_force_n"] < 1.0
    again, truth = simulate_recording("wrist_ft", "box_2", 3, twins(samples=30))
    assert read_recording(tmp_path / "wrist_ft_box_2_3.nc").equals(again)
    stored = read_dataset(tmp_path / "truth_wrist_ft_box_2_3.nc")
    assert stored.equals(truth)
    np.testing.assert_array_equal(
        stored.attrs["vector"], object_of(OBJECTS, "box_2").parameters.vector
    )


def test_a_broken_list_of_objects_is_said(tmp_path):
    path = tmp_path / "objects.yaml"
    path.write_text(yaml.safe_dump({"box_0": {"mass": 1.0, "inertia": [1, 2]}}))
    with pytest.raises(ContactIdError, match="box_0"):
        load_objects(path)
    path.write_text("box_0: [")
    with pytest.raises(ContactIdError, match="no readable list"):
        load_objects(path)
