"""The ContactNets reader on files made here: units, frames, and every kind of damage."""

import json

import numpy as np
import pytest

from contactid.core.errors import ContactIdError
from contactid.sources.motion import body_of, iterate_recordings
from contactid.tossing.readers.contactnets import HALF_WIDTH
from motion_in_memory import read_contactnets
from small_files import folder_of, toss


def test_positions_become_metres_and_the_body_is_the_published_one(tmp_path):
    motion = read_contactnets(folder_of(tmp_path, {"10": toss(), "2": toss(20)}), licence="BSD")
    names = [name for name, _ in iterate_recordings(motion)]
    assert names == ["2", "10"]
    _, samples = next(iterate_recordings(motion))
    assert samples["position"].values[-1] == pytest.approx([3 * HALF_WIDTH, 0, HALF_WIDTH])
    assert np.allclose(samples["orientation"].values, toss(20)[:, 3:7])
    body = body_of(motion)
    assert body.length == pytest.approx(0.1048) and body.mass == 0.37
    assert body.inertia[0, 0] == pytest.approx(8.1e-4, rel=1e-3)
    assert (
        motion.attrs["sample_frequency"] == pytest.approx(148.0) and not motion.attrs["synthetic"]
    )


def test_a_folder_of_bare_files_will_do(tmp_path):
    folder_of(tmp_path, {"0": toss()})
    assert read_contactnets(tmp_path / "tosses_processed", licence="BSD").sizes["recording"] == 1


def damaged(kind):
    table = toss()
    if kind == "nan":
        table[3, 1] = np.nan
    elif kind == "quaternion":
        table[:, 3:7] *= 1.1
    elif kind == "millimetres":
        table[:, :3] *= 52.4
    elif kind == "short":
        table = table[:3]
    return table


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("nan", "NaN in 1 of 30 frames (first: frame 3)"),
        ("quaternion", "unit length"),
        ("millimetres", "not in half-widths"),
        ("short", "only 3 frames"),
    ],
)
def test_an_unusable_toss_is_listed_with_its_reason(tmp_path, kind, reason):
    motion = read_contactnets(folder_of(tmp_path, {"0": toss(), "1": damaged(kind)}), licence="BSD")
    assert list(motion["recording"].values) == ["0"]
    assert reason in json.loads(motion.attrs["left_out"])["1"]


def test_nothing_usable_is_an_error(tmp_path):
    with pytest.raises(ContactIdError, match=r"none of the 1 tosses is usable; 0: NaN in 1 of 30"):
        read_contactnets(folder_of(tmp_path, {"0": damaged("nan")}), licence="BSD")


def test_missing_folder_and_damaged_file(tmp_path):
    with pytest.raises(ContactIdError, match="no ContactNets tosses there"):
        read_contactnets(tmp_path / "nowhere", licence="BSD")
    folder_of(tmp_path, {"0": toss()})
    file = tmp_path / "tosses_processed/0.pt"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(
        ContactIdError, match=r"0: not a readable PyTorch tensor file .the file ends early"
    ):
        read_contactnets(tmp_path, licence="BSD")


def test_wrong_shape_and_bad_experiment(tmp_path):
    folder_of(tmp_path, {"0": toss()[:, :13]})
    with pytest.raises(ContactIdError, match=r"shape \(1, 30, 13\) instead of"):
        read_contactnets(tmp_path, licence="BSD")
    folder_of(tmp_path, {"0": toss()})
    (tmp_path / "params_processed").mkdir()
    (tmp_path / "params_processed/experiment.json").write_text(
        '{"dt": -1, "mass": 1, "inertia": 1}'
    )
    with pytest.raises(ContactIdError, match="dt is -1, not between"):
        read_contactnets(tmp_path, licence="BSD")
