"""The authors' exchange files come back as they were written, and damaged ones are one-line errors."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agx_results import read_states, run_of, write_results
from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.peers import agx
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate

SEEDS = st.integers(0, 2**32 - 1)


def random_states(seed: int, n: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    states = random.normal(size=(n, 13)) * 10.0 ** random.integers(-8, 4)
    states[:, 3:7] = rotations.exp(random.uniform(-1.8, 1.8, (n, 3)))
    return states


def assert_same(read: np.ndarray, written: np.ndarray) -> None:
    others = [0, 1, 2, *range(7, 13)]
    assert np.array_equal(read[:, others], written[:, others]), "numbers come back bit for bit"
    assert rotations.angle_between(read[:, 3:7], written[:, 3:7]).max() < 1e-7


def runs(seed: int = 0, n_states: int = 4, n_sets: int = 3) -> list[list[agx.AgxRun]]:
    random = np.random.default_rng(seed)
    sets = [ContactParameters(*random.uniform(0, 1, 3)) for _ in range(n_sets)]
    return [
        [agx.AgxRun(values, random_states(seed + 10 * state + index, 5 + state)) for index, values in enumerate(sets)]
        for state in range(n_states)
    ]


# AGX's input


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 6))
def test_states_come_back(tmp_path_factory, seed, n):
    path = tmp_path_factory.mktemp("agx") / "states.csv"
    states = random_states(seed, n)
    agx.write_states(path, states)
    assert_same(read_states(path), states)


def test_the_pose_is_written_column_by_column(tmp_path):
    quarter = rotations.exp(np.array([0.0, 0.0, np.pi / 2]))  # x to y: H(2, 1) = 1
    agx.write_states(tmp_path / "s.csv", np.array([[1.0, 2.0, 3.0, *quarter, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]]))
    header, row = (tmp_path / "s.csv").read_text().splitlines()
    assert header == "t11,t12,t13,t14,t21,t22,t23,t24,t31,t32,t33,t34,t41,t42,t43,t44,vx,vy,vz,avx,avy,avz"
    cells = dict(zip(header.split(","), map(float, row.split(",")), strict=True))
    assert cells["t12"] == pytest.approx(1.0) and cells["t21"] == pytest.approx(-1.0)
    assert [cells[name] for name in ("t41", "t42", "t43", "t44", "t14")] == [1.0, 2.0, 3.0, 1.0, 0.0]
    assert [cells[name] for name in ("vx", "vy", "vz", "avx", "avy", "avz")] == [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]


def damaged(text: str, row: int, column: int, value: str) -> str:
    lines = [line.split(",") for line in text.splitlines()]
    lines[row][column] = value
    return "\n".join(",".join(line) for line in lines)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: damaged(text, 2, 0, "1.5"), "row 1 .from 0. is no rotation"),
        (lambda text: damaged(text, 1, 15, "0.0"), "row 0 .from 0. is no rotation"),
    ],
)
def test_a_damaged_pose_is_one_line_that_names_it(tmp_path, damage, message):
    path = tmp_path / "states.csv"
    agx.write_states(path, random_states(1, 2))
    path.write_text(damage(path.read_text()))
    with pytest.raises(ContactIdError, match=message) as caught:
        read_states(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_mirrored_or_transposed_pose_is_refused(tmp_path):
    agx.write_states(tmp_path / "s.csv", np.array([[1.0, 2.0, 3.0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]]))
    text = (tmp_path / "s.csv").read_text()
    (tmp_path / "mirrored.csv").write_text(damaged(text, 1, 0, "-1.0"))
    header, row = text.splitlines()
    cells = np.array(row.split(","), dtype=float)
    cells[:16] = cells[:16].reshape(4, 4).T.ravel()
    (tmp_path / "transposed.csv").write_text(header + "\n" + ",".join(map(str, cells)))
    for name in ("mirrored", "transposed"):
        with pytest.raises(ContactIdError, match="no rotation and translation"):
            read_states(tmp_path / f"{name}.csv")


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(ContactIdError, match=r"none\.h5"):
        agx.read_results(tmp_path / "none.h5")


def test_nothing_that_is_not_finite_is_written(tmp_path):
    states = random_states(0, 3)
    states[1, 0] = np.nan
    with pytest.raises(ContactIdError, match="not finite"):
        agx.write_states(tmp_path / "s.csv", states)
    with pytest.raises(ContactIdError, match="not finite"):
        write_results(tmp_path / "r.h5", [[agx.AgxRun(ContactParameters(0.1, 0.1), states)]])
    assert not list(tmp_path.iterdir()), "nor half a file left"


# AGX's results


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.integers(1, 5), st.integers(1, 4))
def test_results_come_back(tmp_path_factory, seed, n_states, n_sets):
    path = tmp_path_factory.mktemp("agx") / "results.h5"
    written = runs(seed, n_states, n_sets)
    write_results(path, written)
    read = agx.read_results(path)
    assert [[run.parameters for run in of_state] for of_state in read] == [
        [run.parameters for run in of_state] for of_state in written
    ]
    for state, of_state in enumerate(written):
        for one, other in zip(read[state], of_state, strict=True):
            assert_same(one.states, other.states)


def test_simulations_are_sorted_as_numbers(tmp_path):
    written = runs(n_states=4, n_sets=3)  # 12 simulations: as text, 10 would come before 2
    write_results(tmp_path / "r.h5", written)
    read = agx.read_results(tmp_path / "r.h5")
    assert [len(of_state[0].states) for of_state in read] == [5, 6, 7, 8]


def test_other_attributes_before_and_other_kinds_of_text_are_read(tmp_path):
    write_results(tmp_path / "r.h5", runs(n_states=1, n_sets=3))
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        text = "rolling_friction=0.9,mass=2,friction=0.5,normal_restitution=1e-1,tangential_restitution=0"
        file["box/0"].attrs["configuration_data_names"] = text
        file["box/1"].attrs["configuration_data_names"] = np.bytes_(text.replace("0.5", "0.25"))
        file["box/2"].attrs["configuration_data_names"] = np.array([text.replace("0.5", "0.75")], dtype=object)
    read = agx.read_results(tmp_path / "r.h5")[0]
    assert [run.parameters.friction_mu for run in read] == [0.5, 0.25, 0.75]
    assert read[0].parameters == ContactParameters(0.5, 0.1, 0.0)


def change(name: str, edit):
    def apply(file: h5py.File) -> None:
        values, attributes = file[name][()], dict(file[name].attrs)
        del file[name]
        file[name] = edit(values)
        file[name].attrs.update(attributes)

    return apply


def with_nan(values: np.ndarray) -> np.ndarray:
    values[2, 3] = np.nan
    return values


def attribute(name: str, text: str):
    return lambda file: file[name].attrs.__setitem__("configuration_data_names", text)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file.__delitem__("box"), "no simulations under /box"),
        (lambda file: file.move("box/3", "box/last"), "/box/last is not numbered"),
        (lambda file: file.__delitem__("box/5"), "no simulation between 4 and 6"),
        (lambda file: file.__delitem__("box/11"), "not the same 3 parameter sets"),
        (change("box/4", lambda values: values[:, :21]), "/box/4 is not a table of 22 columns"),
        (change("box/4", lambda values: values[:0]), "/box/4 is not a table of 22 columns"),
        (change("box/4", with_nan), "/box/4 holds a NaN"),
        (change("box/4", lambda values: 2.0 * values), "/box/4: the pose of row 0"),
        (lambda file: file["box/7"].attrs.__delitem__("configuration_data_names"), "/box/7: its attribute"),
        (attribute("box/7", "friction=0.5,normal_restitution=0.1"), "no number for tangential_restitution"),
        (attribute("box/7", "friction=e,normal_restitution=0,tangential_restitution=0"), "no number for friction"),
        (attribute("box/7", "friction=1,normal_restitution=2,tangential_restitution=0"), "must lie in"),
        (attribute("box/7", "friction=1,normal_restitution=0,tangential_restitution=0"), "not the same 3"),
    ],
)
def test_damaged_results_are_one_line_that_names_the_file(tmp_path, damage, message):
    path = tmp_path / "results.h5"
    write_results(path, runs())
    with h5py.File(path, "r+") as file:
        damage(file)
    with pytest.raises(ContactIdError, match=message) as caught:
        agx.read_results(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_is_no_hdf5_is_one_line(tmp_path):
    (tmp_path / "r.h5").write_text("friction")
    with pytest.raises(ContactIdError, match=r"r\.h5: can't be read as HDF5"):
        agx.read_results(tmp_path / "r.h5")


def test_states_with_different_parameters_are_not_written(tmp_path):
    mixed = runs(n_states=2)
    mixed[1] = mixed[1][::-1]
    with pytest.raises(ContactIdError, match="state 1 has other parameters"):
        write_results(tmp_path / "r.h5", mixed)
    with pytest.raises(ContactIdError, match="no simulation to write"):
        write_results(tmp_path / "r.h5", [])


def test_our_own_motion_goes_to_users_of_agx(tmp_path):
    corners = 0.05 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    body = BodyProperties(corners, 0.4, np.eye(3) * 7e-4)
    start = State(np.array([0, 0, 0.2]), np.array([1.0, 0, 0, 0]), np.array([1.0, 0, 0]), np.array([0, 3.0, 0]))
    law = ContactParameters(0.3, 0.1)
    motion = simulate(body, start, law, SteppingOptions(1 / 360), 120)
    write_results(tmp_path / "r.h5", [[run_of(law, motion)]])
    ((read,),) = agx.read_results(tmp_path / "r.h5")
    assert read.parameters == law
    assert np.array_equal(read.states[:, :3], motion.position)
    assert np.array_equal(read.states[:, 7:], np.hstack([motion.linear_velocity, motion.angular_velocity]))
