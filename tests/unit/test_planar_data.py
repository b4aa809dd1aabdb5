"""Planar throws and impacts: small files made here through the real readers."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.datasets.fetch import fetch, read_checksums
from contactid.datasets.motion import read_dataset, write_dataset
from contactid.datasets.planar_impacts import (
    MODELS,
    SEMI_AXES,
    impulse_moments,
    prediction_errors,
    read_ellipse_impacts,
)
from contactid.datasets.planar_readers import read_planar
from contactid.datasets.planar_throws import (
    iterate_throws,
    read_own_throw,
    read_own_throws,
    read_square_throws,
    shape_of,
    validate_throws,
)
from contactid.datasets.readers import read_motion
from contactid.datasets.registry import Dataset, load_registry
from contactid.errors import ContactIdError
from contactid.simulate.planar_geometry import Ellipse, Ground, contacts
from throws_for_tests import RATE, RATIO, SQUARE

CONFIG = Path(__file__).parents[2] / "config"

# readers


def square_file(path, position, rate=RATE, header="x,z,th,vx,vz,vth"):
    velocity = np.vstack([np.zeros(3), np.diff(position, axis=0) * rate])
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(np.column_stack([position, velocity]).tolist())


def own_file(path, time, position, header="t,x,y,theta"):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(np.column_stack([time, position]).tolist())


def turning(n=30):
    time = np.arange(n) / RATE
    return time, np.column_stack([0.1 * time, 0.2 - time, 20.0 * time])


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
    own_file(tmp_path / "b.csv", position[:, 2], np.column_stack([position[:, :2], time, time]), "theta, x,y,t,note")
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
    validate_throws(again)
    assert [len(throw.time) for throw in iterate_throws(again)] == [30, 25]
    assert shape_of(again) == Ellipse(0.05, 0.025)
    assert again.attrs == data.attrs


def bad_square(path, kind):
    position = turning()[1]
    if kind == "rate":
        square_file(path, position, rate=100.0)
    else:
        square_file(path, position, header="x,y,th,vx,vz,vth" if kind == "column" else "x,z,th,vx,vz,vth")
    lines = path.read_text().splitlines()
    if kind == "empty":
        lines = []
    elif kind == "short":
        lines = lines[:5]
    elif kind in ("nan", "words", "cut"):
        lines[4] = {"nan": "0,nan,0,0,0,0", "words": "0,0,lost,0,0,0", "cut": "0,0"}[kind]
    path.write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("column", r"no column z \(its header is x, y, th, vx, vz, vth\).*must name x, z, th"),
        ("empty", "an empty file"),
        ("short", "only 4 frames"),
        ("nan", "row 4, column z is 'nan'.*Cut or repair"),
        ("words", "row 4, column th is 'lost'"),
        ("cut", "row 4, column th is 'empty'"),
        ("rate", "velocities that are not the differences"),
    ],
)
def test_a_bad_square_file_is_named_with_a_remedy(tmp_path, kind, message):
    bad_square(tmp_path / "traj_7.csv", kind)
    with pytest.raises(ContactIdError, match=r"traj_7\.csv.*" + message):
        read_square_throws(tmp_path, licence="none")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("uneven", r"not evenly spaced \(rows 11 and 12 are"),
        ("backwards", "not evenly spaced"),
        ("millimetres", "Give x and y in metres"),
        ("fast", "speeds of 100.*Give x and y in metres"),
        ("milliseconds", "Give t in seconds"),
        ("degrees", "Give theta in radians"),
        ("wrapped degrees", r"jumps by 35\d.*Give theta in radians"),
        ("header", "no column t .*with commas between them"),
        ("twice", "column y is there twice"),
        ("missing", "no such file"),
    ],
)
def test_a_bad_own_file_is_named_with_a_remedy(tmp_path, kind, message):
    time, position = turning()
    if kind == "uneven":
        time[11:] += 1.0 / RATE
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
    headers = {"header": "time,x,y,theta", "twice": "t,x,y,theta,y"}
    if kind != "missing":
        columns = np.column_stack([position, time]) if kind == "twice" else position
        own_file(tmp_path / "mine.csv", time, columns, headers.get(kind, "t,x,y,theta"))
    with pytest.raises(ContactIdError, match=r"mine\.csv.*" + message):
        read_own_throw(tmp_path / "mine.csv")


def test_nothing_there_and_mixed_rates(tmp_path):
    with pytest.raises(ContactIdError, match="no throws there"):
        read_square_throws(tmp_path, licence="none")
    with pytest.raises(ContactIdError, match=r"no \*\.csv there"):
        read_own_throws(tmp_path, SQUARE)
    time, position = turning()
    own_file(tmp_path / "a.csv", time, position)
    own_file(tmp_path / "b.csv", 2.0 * time, position)
    with pytest.raises(ContactIdError, match="b has 125 frames/s, a has 250"):
        read_own_throws(tmp_path, SQUARE)


# impacts


def impact_files(folder, n=40, seed=5):
    """Frictional impacts of an ellipse with J/m = RATIO, written as the public files are: x reversed, y doubled."""
    random = np.random.default_rng(seed)
    q = np.column_stack([random.uniform(0, 1, n), np.zeros(n), random.uniform(-3, 3, n)])
    at = contacts(Ellipse(*SEMI_AXES), Ground(), q)
    q[:, 1] = -at.gap[:, 0]
    before = random.uniform([-1, -3, -9], [1, -2, 9], (n, 3))
    impulse_n = random.uniform(2, 4, (n, 1))
    impulse_t = impulse_n * random.uniform(-0.3, 0.3, (n, 1))
    normal, tangent = at.normal[:, 0], at.tangent[:, 0]
    after = before + (impulse_n * normal + impulse_t * tangent) / [1.0, 1.0, RATIO]
    place, flip = np.array([-1.0, 2.0, 1.0]), np.array([-1.0, 1.0, 1.0])
    turned = q * place + [0, 0, 2 * np.pi]
    data = {
        "states_i": np.hstack([q * place, before * flip]),
        "states_f": np.hstack([turned, after * flip]),
        "n": normal,
        "d": tangent,
    }
    scipy.io.savemat(folder / "data_ellipse.mat", {"data": data})
    scipy.io.savemat(folder / "v_models.mat", {"v_models": np.tile(after * flip, 6) + np.repeat(np.arange(6.0), 3)})
    return q, before, after, data


def test_impacts_are_right_handed_and_obey_eq_31(tmp_path):
    q, before, after, _ = impact_files(tmp_path)
    impacts = read_ellipse_impacts(tmp_path, licence="none")
    assert np.allclose(impacts["before"], q) and np.allclose(impacts["after"], q)
    assert np.allclose(impacts["velocity_before"], before) and np.allclose(impacts["velocity_after"], after)
    at = contacts(Ellipse(*SEMI_AXES), Ground(), impacts["before"].values)
    assert np.allclose(at.normal[:, 0], impacts["normal"]) and np.allclose(at.tangent[:, 0], impacts["tangent"])
    moment, turn = impulse_moments(impacts)
    assert np.allclose(moment, RATIO * turn, rtol=1e-12, atol=1e-15)


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
        ("missing", "v_models.mat: the file is missing"),
        ("damaged", "data_ellipse.mat: not a readable MATLAB file"),
        ("other", "data_ellipse.mat: no variable data"),
        ("lacks", "data_ellipse.mat: data lacks one of"),
        ("columns", "data_ellipse.mat: n is no table of 3 columns"),
        ("nan", "data_ellipse.mat: states_i has a value that is not finite"),
        ("numbers", "v_models.mat: 39 predictions of 40 impacts"),
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
            data["states_i"][3, 3] = np.nan
        scipy.io.savemat(states, {"data": data})
    with pytest.raises(ContactIdError, match=message) as error:
        read_ellipse_impacts(tmp_path, licence="none")
    assert "\n" not in str(error.value)


# registry and mirror


def test_the_registry_s_readers_are_found(tmp_path):
    time, position = turning()
    square_file(tmp_path / "traj_1.csv", position)
    impact_files(tmp_path)
    registry = load_registry(CONFIG / "datasets.tsv", {})
    for name, dimension in (("planar_square", "throw"), ("planar_ellipse", "impact")):
        data = read_planar(registry[name], tmp_path)
        assert data.attrs["dataset"] == name and data.attrs["licence"] == "none stated" and dimension in data.sizes
        write_dataset(data, tmp_path / f"{name}.nc")
        assert read_dataset(tmp_path / f"{name}.nc").attrs == data.attrs
    own_file(tmp_path / "mine.csv", time, position)
    mine = Dataset("mine", "own", "planar_throws", "mine.csv")
    assert shape_of(read_planar(mine, tmp_path / "mine.csv", shape=SQUARE)) == SQUARE
    with pytest.raises(ContactIdError, match=r"the body thrown in mine is unknown.*semi_axes or vertices"):
        read_planar(mine, tmp_path / "mine.csv")
    with pytest.raises(ContactIdError, match=r"mine has the reader contactnets.*Known are planar_throws and"):
        read_planar(Dataset("mine", "own", "contactnets", "mine.csv"), tmp_path)
    with pytest.raises(ContactIdError, match=r"mine has the reader planar_throws.*Known are contactnets and iam"):
        read_motion(mine, tmp_path / "mine.csv")


@pytest.mark.parametrize(("name", "files"), [("planar_square", 400), ("planar_ellipse", 5)])
def test_planar_datasets_are_pinned_and_verified(name, files):
    entry = load_registry(CONFIG / "datasets.tsv", {})[name]
    assert entry.kind == "github" and entry.version in entry.source and entry.source.endswith(".tar.gz")
    sums = read_checksums(CONFIG / "checksums" / f"{name}.sha256")
    assert len(sums) == files and all(len(digest) == 64 for digest in sums.values())


def test_a_mirror_may_write_dashes(tmp_path):
    (tmp_path / "mirror/two-words").mkdir(parents=True)
    (tmp_path / "mirror/two-words/a.csv").write_bytes(b"1")
    (tmp_path / "two_words.sha256").write_text(f"{hashlib.sha256(b'1').hexdigest()}  a.csv\n")
    entry = Dataset("two_words", "github", "planar_throws", "https://example.invalid/a.tar.gz")
    fetch(entry, tmp_path / "out", mirrors=[str(tmp_path / "mirror")], offline=True, checksums=tmp_path)
    assert (tmp_path / "out/a.csv").read_bytes() == b"1"
