"""Planar throws and impacts: small files made here through the real readers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.planar.readers.csv_throws import read_own_throw, read_square_throws, read_throws
from contactid.planar.readers.impacts import MODELS, SEMI_AXES, read_ellipse_impacts
from contactid.planar.readers.throws import PlanarThrow, build_throws, iterate_throws, shape_of
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from contactid.sources.motion import read_data, read_dataset, write_dataset
from contactid.sources.registry import READERS, load_registry
from planar_measured import impulse_moments, prediction_errors
from small_files import impact_files, own_file, square_file, turning
from throws_for_tests import RATE, RATIO, SQUARE, read_own_throws

CONFIG = Path(__file__).parents[2] / "config"

# readers


def test_square_files_become_throws_in_the_order_of_their_numbers(tmp_path):
    position = turning()[1]
    for number in (10, 2):
        square_file(tmp_path / f"traj_{number}.csv", position + np.array([number, 0, 0]))
    data = read_square_throws(tmp_path, licence="none")
    throws = list(iterate_throws(data))
    assert [throw.name for throw in throws] == ["traj_2", "traj_10"]
    assert np.allclose(throws[1].position, position + np.array([10, 0, 0]), rtol=0, atol=1e-15)
    assert data.attrs["sample_frequency"] == pytest.approx(RATE) and not data.attrs["synthetic"]
    assert shape_of(data) == SQUARE
    assert float(data["inertia_ratio"]) == pytest.approx(6e-4)
    assert data["theta"].attrs["units"] == "rad" and data["inertia_ratio"].attrs["units"] == "m2"


@given(spin=st.floats(-140.0, 140.0), start=st.floats(-3.0, 3.0))
@settings(max_examples=30)
def test_theta_is_continuous_whatever_turn_the_file_is_in(tmp_path_factory, spin, start):
    path = tmp_path_factory.mktemp("own") / "a.csv"
    time = np.arange(20) / RATE
    theta = start + spin * time
    wrapped = np.angle(np.exp(1j * theta))
    own_file(path, time + 7.0, np.column_stack([time, time, wrapped]))
    throw = read_own_throw(path)
    assert throw.time[0] == 0.0 and throw.sample_frequency == pytest.approx(RATE)
    assert np.allclose(np.diff(throw.position[:, 2]), spin / RATE, atol=1e-9)


def test_own_files_may_order_their_columns_and_add_others(tmp_path):
    time, position = turning()
    own_file(
        tmp_path / "b.csv",
        position[:, 2],
        np.column_stack([position[:, :2], time, time]),
        "theta, x,y,t,note",
    )
    throw = read_own_throw(tmp_path / "b.csv")
    assert np.allclose(throw.position, position) and np.allclose(throw.time, time)


def test_own_files_may_end_in_empty_lines(tmp_path):
    time, position = turning()
    own_file(tmp_path / "a.csv", time, position)
    with (tmp_path / "a.csv").open("a", encoding="utf-8") as file:
        file.write("\n,,,\n")
    assert np.allclose(read_own_throw(tmp_path / "a.csv").position, position)


def test_throws_survive_the_disk(tmp_path):
    time, position = turning()
    own_file(tmp_path / "a.csv", time, position)
    own_file(tmp_path / "b.csv", time[:-5], position[:-5])
    data = read_own_throws(tmp_path, Ellipse(0.05, 0.025), inertia_ratio=756e-6)
    write_dataset(data, tmp_path / "throws.nc")
    again = read_dataset(tmp_path / "throws.nc")
    xr.testing.assert_equal(again, data)
    assert {name: again[name].attrs for name in again} == {name: data[name].attrs for name in data}
    assert [len(throw.time) for throw in iterate_throws(again)] == [30, 25]
    assert shape_of(again) == Ellipse(0.05, 0.025)
    assert again.attrs == data.attrs


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("uneven", r"not evenly spaced \(row \d+ is .* ms from an even time"),
        ("backwards", "t goes back from row 11 to row 12"),
        ("each twice", "30 of 60 rows repeat the pose before: give each pose once"),
        ("long gap", "frames are missing, up to 20 in a row: cut the throw at the gap"),
        ("millimetres", "give x and y in metres"),
        ("fast", "speeds of 100.*give x and y in metres"),
        ("milliseconds", "give t in seconds"),
        ("degrees", "give theta in radians"),
        ("wrapped degrees", r"jumps by 35\d.*give theta in radians"),
        ("header", r"no column t .*say which they are: --columns"),
        ("twice", "columns y and y are the same"),
        ("missing", "No such file"),
    ],
)
def test_a_bad_own_file_is_named_with_a_remedy(tmp_path, kind, message):
    time, position = turning()
    if kind == "uneven":
        time[11:] += 0.5 / RATE
    elif kind == "each twice":
        time, position = np.arange(60) / (2.0 * RATE), np.repeat(position, 2, axis=0)
    elif kind == "long gap":
        time[11:] += 20.0 / RATE
    elif kind == "backwards":
        time[11] = time[9]
    elif kind == "millimetres":
        position[:, :2] *= 1e3
    elif kind == "fast":
        position[:, :2] *= 100.0
    elif kind == "milliseconds":
        time = 1e3 * time
    elif kind == "degrees":
        position[:, 2] *= 180.0 / np.pi
    elif kind == "wrapped degrees":
        position[:, 2] = (350.0 + 2.0 * np.arange(len(time))) % 360.0
    headers = {"header": "frame,x,y,theta", "twice": "t,x,y,theta,y"}
    if kind != "missing":
        columns = np.column_stack([position, time]) if kind == "twice" else position
        own_file(tmp_path / "mine.csv", time, columns, headers.get(kind, "t,x,y,theta"))
    with pytest.raises(ContactIdError, match=r"mine\.csv.*" + message):
        read_own_throw(tmp_path / "mine.csv")


@pytest.mark.parametrize("kind", ["gap", "nan", "repeated", "jitter", "unix", "semicolons"])
def test_frames_that_are_missing_or_late_are_bridged_with_a_note(tmp_path, kind):
    time, position = turning()
    path, lost = tmp_path / "mine.csv", np.zeros(len(time), dtype=bool)
    stamps, poses = time.copy(), position.copy()
    if kind == "gap":
        lost[[5, 9, 10]] = True
        stamps, poses = time[~lost], position[~lost]
    elif kind == "nan":
        lost[5] = True
        poses[5, 1] = np.nan
    elif kind == "repeated":
        lost[5] = True
        poses[5] = poses[4]
    elif kind == "jitter":
        stamps = time + 1e-4 * np.sin(37.0 * np.arange(len(time)))
        poses = np.column_stack([np.interp(stamps, time, position[:, i]) for i in range(3)])
    elif kind == "unix":
        stamps = time + 1.7e9
    own_file(path, stamps, poses, "t,x,y,theta")
    if kind == "semicolons":
        path.write_text(
            "\ufeff" + path.read_text().replace(",", ";").replace("theta", " Theta"),
            encoding="utf-8",
        )
    throw = read_own_throw(path)
    assert (
        len(throw.time) == len(time)
        and np.flatnonzero(~throw.seen).tolist() == np.flatnonzero(lost).tolist()
    )
    assert np.allclose(throw.time, time - time[0], rtol=0.0, atol=2e-5)
    close = 2e-3 if kind == "jitter" else 1e-5 if kind == "unix" else 1e-8
    inner = throw.seen & (np.arange(len(time)) > 0) & (np.arange(len(time)) < len(time) - 1)
    assert np.abs(throw.position - position)[inner].max() < close
    assert bool(throw.notes) == (kind in ("gap", "nan", "repeated", "jitter"))


def test_a_scattered_clock_of_a_long_throw_is_even(tmp_path):
    """Its median step is off by a third of a percent: more than half a frame over 300."""
    time, position = turning(300)
    late = np.where(np.arange(300) % 2, 0.05, -0.05) / RATE
    late[::30] = -late[::30] - 0.005 / RATE
    stamps = time + late + np.where(np.arange(300) % 3, 0.0, 0.04) / RATE
    poses = np.column_stack([np.interp(stamps, time, position[:, i]) for i in range(3)])
    own_file(tmp_path / "mine.csv", stamps, poses, "t,x,y,theta")
    step = np.median(np.diff(stamps))
    assert abs(step * RATE - 1.0) * 300 > 0.5
    throw = read_own_throw(tmp_path / "mine.csv")
    assert len(throw.time) == 300 and throw.seen.all()
    assert throw.time[1] == pytest.approx(1.0 / RATE, rel=1e-3)


def test_a_users_throws_are_read_as_the_registry_names_them(tmp_path):
    time, position = turning()
    own_file(tmp_path / "a.csv", time, position, "t,x,y,theta")
    outline = [list(corner) for corner in SQUARE.vertices]
    data = read_throws(tmp_path, licence="mine", name="shed", outline=outline)
    assert (
        shape_of(data) == SQUARE and data.attrs["object"] == "shed" and not data.attrs["synthetic"]
    )
    table = "\n".join(",".join(map(repr, map(float, row))) for row in position)
    (tmp_path / "a.csv").write_text("x,y,theta\n" + table)
    ellipse = read_throws(
        tmp_path, licence="mine", name="shed", semi_axes=[0.03, 0.02], frame_rate=RATE
    )
    assert ellipse.attrs["sample_frequency"] == pytest.approx(RATE) and "semi_axes" in ellipse
    with pytest.raises(ContactIdError, match=r"datasets\.shed has outline and semi_axes"):
        read_throws(tmp_path, licence="mine", name="shed", outline=outline, semi_axes=[0.03, 0.02])
    with pytest.raises(ContactIdError, match="of your own body give outline or semi_axes"):
        read_throws(tmp_path, licence="mine", name="shed")


def test_nothing_there_and_mixed_rates(tmp_path):
    with pytest.raises(ContactIdError, match="no throws there"):
        read_square_throws(tmp_path, licence="none")
    with pytest.raises(ContactIdError, match="no usable throw of own"):
        read_own_throws(tmp_path, SQUARE)
    time, position = turning()
    own_file(tmp_path / "a.csv", time, position)
    own_file(tmp_path / "b.csv", 2.0 * time, position)
    with pytest.raises(ContactIdError, match="b has 125 frames/s, a has 250"):
        read_own_throws(tmp_path, SQUARE)


def test_a_pose_that_is_not_finite_makes_no_throw():
    throw = PlanarThrow("7", np.arange(9) / RATE, np.full((9, 3), np.nan))
    with pytest.raises(ContactIdError, match="demo: throw 7 has a NaN"):
        build_throws(
            [throw], SQUARE, object_name="own", source="demo", licence="CC0-1.0", synthetic=False
        )


# impacts


def test_impacts_are_right_handed_and_obey_eq_31(tmp_path):
    q, before, after, _ = impact_files(tmp_path)
    impacts = read_ellipse_impacts(tmp_path, licence="none")
    assert np.allclose(impacts["before"], q) and np.allclose(impacts["after"], q)
    assert np.allclose(impacts["velocity_before"], before) and np.allclose(
        impacts["velocity_after"], after
    )
    at = contacts(Ellipse(*SEMI_AXES), Ground(), impacts["before"].values)
    assert np.allclose(at.normal[:, 0], impacts["normal"]) and np.allclose(
        at.tangent[:, 0], impacts["tangent"]
    )
    moment, turn = impulse_moments(impacts)
    assert np.allclose(moment, RATIO * turn, rtol=1e-12, atol=1e-15)


def test_an_impact_that_cannot_be_is_left_out_alone(tmp_path):
    q, *_, data = impact_files(tmp_path)
    data["states_i"][3, 3] = np.nan
    data["states_f"][3, 4] = 1e9
    data["n"][5] = data["d"][5]
    scipy.io.savemat(tmp_path / "data_ellipse.mat", {"data": data})
    impacts = read_ellipse_impacts(tmp_path, licence="none")
    assert np.allclose(impacts["before"], np.delete(q, [3, 5], axis=0))
    reasons = json.loads(impacts.attrs["left_out"])
    assert list(reasons) == ["3", "5"]
    assert (
        reasons["3"]
        == "states_i has a value that is not finite; states_f is beyond what can be in m, rad and s"
    )
    assert "row n doesn't point along (0.0, 1.0)" in reasons["5"]


def test_each_model_keeps_its_own_predictions(tmp_path):
    impact_files(tmp_path)
    impacts = read_ellipse_impacts(tmp_path, licence="none")
    assert tuple(impacts["model"].values) == MODELS
    errors = prediction_errors(impacts, impacts["predicted"].values)
    k = np.arange(6.0)
    assert np.allclose(errors[:, :3], k[:, None])
    assert np.allclose(errors[:, 3], k * np.sqrt(2.0 + 0.0192**2))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing", r"v_models.mat: cannot be read \(No such file"),
        ("damaged", "data_ellipse.mat: truncated or damaged as a MATLAB file"),
        ("other", r"data_ellipse.mat: no table states_i, states_f, n, d \(it holds other 1x1"),
        ("lacks", r"data_ellipse.mat: no table d \(it holds data.states_i 40x6"),
        ("columns", r"data_ellipse.mat: n has shape \(40, 2\) instead of"),
        ("nan", "none of the 40 impacts is usable; 0: states_i has a value that is not finite"),
        ("numbers", "different numbers of impacts: 40 in states_i.*39 in v_models"),
    ],
)
def test_bad_impact_files_are_named(tmp_path, kind, message):
    data = impact_files(tmp_path)[3]
    states, models = tmp_path / "data_ellipse.mat", tmp_path / "v_models.mat"
    if kind == "missing":
        models.unlink()
    elif kind == "damaged":
        states.write_bytes(states.read_bytes()[:200])
    elif kind == "other":
        scipy.io.savemat(states, {"other": 1.0})
    elif kind == "numbers":
        scipy.io.savemat(models, {"v_models": np.zeros((39, 18))})
    else:
        if kind == "lacks":
            del data["d"]
        elif kind == "columns":
            data["n"] = data["n"][:, :2]
        else:
            data["states_i"][:, 3] = np.nan
        scipy.io.savemat(states, {"data": data})
    with pytest.raises(ContactIdError, match=message) as error:
        read_ellipse_impacts(tmp_path, licence="none")
    assert "\n" not in str(error.value)


# registry


def test_the_registry_s_readers_are_found(tmp_path):
    _, position = turning()
    square_file(tmp_path / "traj_1.csv", position)
    impact_files(tmp_path)
    registry = load_registry(CONFIG / "datasets.tsv", {})
    for name, dimension in (
        ("planar_square", "throw"),
        ("planar_ellipse", "impact"),
        ("planar_square_twin", "throw"),
    ):
        dataset = registry[name]
        read_data(
            READERS[dataset.reader].read, vars(dataset), str(tmp_path), str(tmp_path / f"{name}.nc")
        )
        data = read_dataset(tmp_path / f"{name}.nc")
        assert (data.attrs["dataset"], data.attrs["licence"]) == (
            name,
            dataset.licence,
        ) and dimension in data.sizes
        assert (
            data.attrs["synthetic"] == dataset.synthetic
            and data.attrs["citation"] == dataset.citation
        )
