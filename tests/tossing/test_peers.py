"""Laws that every simulator obeys behind the common interface, and the interface itself.

The other simulators are tested where their environments exist: ``.venv-<name>`` beside the
checkout, or what ``CONTACTID_<NAME>_PYTHON`` names.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.tossing.peers import search
from contactid.tossing.peers import simulator as principal
from contactid.tossing.peers.catalogue import PEERS, parameters_of
from contactid.tossing.peers.exchange import (
    TRAJECTORY,
    Answer,
    Problem,
    Request,
    measured,
    trajectory_errors,
)
from contactid.tossing.peers.sessions import PeerSession, peer_python, read_answer
from contactid.tossing.predict.benchmark import identify_by_sysid
from peer_problems import FRICTION, HALF, LOPSIDED, MASS, RATE, TURNED, problem, start

# stiff and damped, so that a cube laid down sinks by micrometres and doesn't bounce
PARAMETERS = {
    "mujoco": {"friction": FRICTION, "timeconst": 0.004, "dampratio": 1.0},
    "drake": {"mu_dynamic": FRICTION, "point_contact_stiffness": 5e4, "relaxation_time": 0.01},
    "pybullet": {"lateralFriction": FRICTION, "contactStiffness": 5e4, "contactDamping": 200.0},
}


def session(simulator: str, what: Problem):
    try:
        peer_python(simulator)
    except ContactIdError:
        pytest.skip(f"{simulator} has no environment here")
    return search.open_session(simulator, what)


def motion(simulator: str, what: Problem, **changed) -> tuple[np.ndarray, np.ndarray]:
    with session(simulator, what) as opened:
        answer = search.evaluate(opened, {**PARAMETERS[simulator], **changed}, 4, TRAJECTORY)
    assert not answer.failed.any(), answer.message
    return answer.position[0], answer.orientation[0]


# laws of motion, alike for every simulator


@pytest.mark.parametrize("simulator", PEERS)
def test_a_flight_is_an_exact_parabola_and_keeps_its_angular_momentum(simulator):
    what = problem(
        start([0.1, 0.2, 3.0], [1.0, -2.0, 0.5], [3.0, -6.0, 5.0], TURNED),
        inertia=LOPSIDED,
        center=(0.005, -3e-3, 8e-3),
    )
    position, orientation = motion(simulator, what)
    matrices = rotations.matrices(orientation)
    offset = matrices @ what.center_of_mass
    time = np.arange(len(position))[:, None] / RATE
    velocity = what.starts[0, 7:10] + np.cross(what.starts[0, 10:], offset[0])
    expected = what.starts[0, :3] + offset[0] + velocity * time + 0.5 * time**2 * what.gravity
    assert np.abs(position + offset - expected).max() < 1e-10
    turn = rotations.log(rotations.as_quaternions(
        rotations.as_rotation(orientation[2:]) * rotations.as_rotation(orientation[:-2]).inv()
    ))  # fmt: skip
    middle = matrices[1:-1]
    momentum = np.einsum("nij,jk,nlk,nl->ni", middle, LOPSIDED, middle, turn * RATE / 2.0)
    exact = matrices[0] @ LOPSIDED @ matrices[0].T @ what.starts[0, 10:]
    assert np.linalg.norm(momentum - exact, axis=1).max() < 5e-3 * np.linalg.norm(exact)


@pytest.mark.parametrize("simulator", PEERS)
def test_a_box_laid_down_stays_where_it_is(simulator):
    position, orientation = motion(simulator, problem(start([0.0, 0.0, HALF - 1e-9]), n=240))
    assert np.abs(position - position[0]).max() < 2e-4
    assert rotations.angle_between(orientation, orientation[:1]).max() < 1e-3
    assert np.abs(position[-1] - position[-60]).max() < 2e-5, "it has settled"


@pytest.mark.parametrize("simulator", PEERS)
@pytest.mark.parametrize("friction", [0.1, FRICTION])
def test_a_sliding_box_is_slowed_by_mu_g(simulator, friction):
    speed = 1.5
    name = parameters_of(simulator)[0].name
    what = problem(start([0.0, 0.0, HALF - 1e-9], [speed, 0.0, 0.0]), n=61)
    position, _ = motion(simulator, what, **{name: friction})
    time = 60 / RATE
    assert speed * time - position[-1, 0] == pytest.approx(
        0.5 * friction * 9.81 * time**2, rel=0.04
    )


@pytest.mark.parametrize("simulator", PEERS)
def test_a_box_is_carried_along_by_a_belt(simulator):
    belt = (0.3, -0.2, 0.0)
    position, _ = motion(simulator, problem(start([0.0, 0.0, HALF - 1e-9]), n=121, belt=belt))
    friction_time = np.linalg.norm(belt) / (FRICTION * 9.81)
    assert (position[-1] - position[-25]) * RATE / 24 == pytest.approx(belt, abs=2e-3)
    slip = 0.5 * friction_time * np.array(belt)
    assert position[-1] - position[0] == pytest.approx(np.array(belt) * 120 / RATE - slip, abs=2e-3)


@pytest.mark.parametrize("simulator", PEERS)
def test_a_dropped_box_does_not_gain_energy(simulator):
    what = problem(
        start([0.0, 0.0, 0.2], [0.5, 0.0, 0.0], [4.0, -3.0, 2.0], TURNED),
        n=240,
        inertia=LOPSIDED,
        center=(0, 0, 5e-3),
    )
    position, orientation = motion(simulator, what)
    matrices = rotations.matrices(orientation)
    height = position + matrices @ what.center_of_mass
    linear = (height[2:] - height[:-2]) * RATE / 2.0
    turn = rotations.log(rotations.as_quaternions(
        rotations.as_rotation(orientation[2:]) * rotations.as_rotation(orientation[:-2]).inv()
    ))  # fmt: skip
    spin = np.einsum("nji,nj->ni", matrices[1:-1], turn) * RATE / 2.0
    energy = 0.5 * MASS * (linear**2).sum(axis=1) + 0.5 * np.einsum(
        "ni,ij,nj->n", spin, LOPSIDED, spin
    )
    energy += MASS * 9.81 * height[1:-1, 2]
    # central differences straddle impacts, and a compliant contact gives back what it took within
    # some samples
    assert (energy[8:] - np.minimum.accumulate(energy)[:-8]).max() < 0.05 * energy[0]
    assert energy[-1] == pytest.approx(MASS * 9.81 * height[-1, 2], rel=1e-3), "at rest"
    assert energy[-1] < 0.5 * energy[0]


@pytest.mark.parametrize("simulator", PEERS)
def test_tosses_do_not_depend_on_one_another(simulator):
    first = start([0.0, 0.0, 0.12], [0.5, 0.0, -1.0], [4.0, -3.0, 2.0], TURNED)
    second = start([0.3, 0.0, 0.1], [0.0, 0.4, -1.0], [-4.0, 3.0, 1.0])
    both, _ = motion(simulator, problem(first, second))
    turned, _ = motion(simulator, problem(second, first))
    assert np.array_equal(both[:60], turned[60:])
    assert np.array_equal(both[60:], turned[:60])


@pytest.mark.parametrize("simulator", PEERS)
def test_errors_alone_are_those_of_the_poses(simulator):
    what = problem(
        start([0.0, 0.0, 0.1], [0.4, 0.0, -0.5], [3.0, 1.0, 0.0]), start([0.0, 0.0, 0.3])
    )
    with session(simulator, what) as opened:
        few = search.evaluate(opened, PARAMETERS[simulator], 2)
        all_of_it = search.evaluate(opened, PARAMETERS[simulator], 2, TRAJECTORY)
    assert few.position.shape == (0, 120, 3)
    assert all_of_it.loss == pytest.approx(few.loss, abs=1e-9)
    for toss in range(2):
        part = what.samples(toss)
        errors = trajectory_errors(
            what, toss, all_of_it.position[0, part], all_of_it.orientation[0, part]
        )
        assert few.loss[0, toss] == pytest.approx(sum(errors), abs=1e-9)
    assert few.steps == 2 * 2 * 59


@pytest.mark.parametrize("simulator", PEERS)
def test_a_simulator_refuses_what_it_cannot_take(simulator):
    with session(simulator, problem(start([0, 0, 1.0]), n=3)) as opened:
        with pytest.raises(ContactIdError, match=r"parameters stickiness.*It takes"):
            opened.ask(Request(np.array(["stickiness"]), np.array([[1.0]]), 1))
        assert not search.evaluate(opened, PARAMETERS[simulator], 1).failed.any(), (
            "the session goes on"
        )
    upward = problem(start([0, 0, 1.0]), n=3, belt=(0, 0, 0.1))
    with (
        session(simulator, upward) as opened,
        pytest.raises(ContactIdError, match="its own normal"),
    ):
        search.evaluate(opened, PARAMETERS[simulator], 1)


def test_a_diverged_motion_is_a_failure_with_its_reason():
    what = problem(start([0.0, 0.0, 1.0], [np.inf, 0.0, 0.0]), start([0.0, 0.0, 0.5]), n=5)
    with session("mujoco", what) as opened:
        answer = search.evaluate(opened, PARAMETERS["mujoco"], 4, "errors")
    assert answer.failed.tolist() == [[True, False]]
    assert answer.message[0].startswith("toss0: ")
    assert np.isnan(answer.loss[0, 0])


# the principal frame


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_principal_frame_is_the_same_body(seed):
    random = np.random.default_rng(seed)
    factor = random.normal(size=(3, 3))
    inertia = factor @ factor.T + np.eye(3)
    what = replace(
        problem(start([0, 0, 1.0])), inertia=inertia, center_of_mass=random.normal(size=3) * 0.01
    )
    body = principal.principal_body(what)
    axes = rotations.matrices(body.axes)
    assert axes @ np.diag(body.moments) @ axes.T == pytest.approx(inertia, rel=1e-9)
    assert body.vertices @ axes.T + body.center == pytest.approx(what.vertices, abs=1e-12)
    corner = np.abs(
        rotations.matrices(body.box_orientation).T @ (body.vertices - body.box_position).T
    )
    assert corner == pytest.approx(np.tile(body.half_extents[:, None], 8), abs=1e-12)
    states = np.concatenate([random.normal(size=(5, 13))], axis=0)
    states[:, 3:7] /= np.linalg.norm(states[:, 3:7], axis=1, keepdims=True)
    position, orientation = body.poses_of_b(*np.split(body.starts(states)[:, :7], [3], axis=1))
    assert position == pytest.approx(states[:, :3], abs=1e-12)
    assert rotations.angle_between(orientation, states[:, 3:7]).max() < 1e-7


def test_a_diagonal_tensor_keeps_its_axes():
    body = principal.principal_body(
        replace(problem(start([0, 0, 1.0])), inertia=np.diag([3e-3, 1e-3, 2e-3]))
    )
    assert body.moments.tolist() == [3e-3, 1e-3, 2e-3]
    assert body.axes.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_a_body_that_is_no_box_is_refused():
    what = problem(start([0, 0, 1.0]))
    with pytest.raises(ContactIdError, match="not a box"):
        principal.principal_body(replace(what, vertices=what.vertices[:7]))
    with pytest.raises(ContactIdError, match="not positive"):
        principal.principal_body(replace(what, inertia=np.diag([1e-3, -1e-3, 1e-3])))


# files and processes


def test_files_come_back_as_they_were_written(tmp_path):
    what = problem(start([0, 0, 1.0]), start([0, 0, 2.0]), n=7).take(np.array([1]))
    what.save(tmp_path / "p.npz")
    again = Problem.load(tmp_path / "p.npz")
    assert again.names.tolist() == ["toss1"] and again.rows.tolist() == [0, 7]
    assert again.starts.tolist() == [start([0, 0, 2.0]).tolist()]
    assert isinstance(again.mass, float)
    request = Request(np.array(["a", "b"]), np.array([[1.0, 2.0]]), 4, TRAJECTORY)
    request.save(tmp_path / "r.npz")
    read = Request.load(tmp_path / "r.npz")
    assert (read.substeps, read.want, read.parameters(0)) == (4, TRAJECTORY, {"a": 1.0, "b": 2.0})


def own_answer(what: Problem, request: Request) -> Answer:
    return measured(
        what, request, "x", [(what.position, what.orientation, "", 0.0)] * len(request.values)
    )


def test_an_answer_of_other_tosses_or_none_at_all_is_an_error(tmp_path):
    what = problem(start([0, 0, 1.0]), start([0, 0, 2.0]), n=7)
    request = Request(np.array(["a"]), np.array([[1.0]]), 2)
    own_answer(what, request).save(tmp_path / "a.npz")
    assert (read_answer("x", tmp_path / "a.npz", what, request).loss == 0.0).all()
    with pytest.raises(ContactIdError, match="make peers"):
        read_answer("x", tmp_path / "a.npz", what.take(np.array([0])), request)
    with pytest.raises(ContactIdError, match="no readable answer"):
        read_answer("x", tmp_path / "none.npz", what, request)
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(ContactIdError, match="no readable answer"):
        read_answer("x", tmp_path / "a.npz", what, request)


def test_a_missing_environment_names_the_remedy(monkeypatch):
    monkeypatch.setenv("CONTACTID_DRAKE_PYTHON", "nowhere/python")
    with pytest.raises(
        ContactIdError, match=r"nowhere/python.*make peers or set CONTACTID_DRAKE_PYTHON"
    ):
        peer_python("drake")
    with pytest.raises(ContactIdError, match="unknown simulator 'gazebo'"):
        peer_python("gazebo")


def test_a_python_without_the_simulator_is_one_line():
    # the main environment holds none of the other simulators
    opening = PeerSession("pybullet", problem(start([0, 0, 1.0]), n=3), python=sys.executable)
    with (
        pytest.raises(
            ContactIdError, match=r"pybullet did not start \(ModuleNotFoundError.*make peers"
        ),
        opening,
    ):
        pass


def test_a_crash_and_a_silence_are_one_line(tmp_path):
    def stand_in(body: str) -> Path:
        path = tmp_path / f"python{len(list(tmp_path.iterdir()))}"
        path.write_text(f"#!/bin/sh\necho ready\n{body}\n")
        path.chmod(0o755)
        return path

    request = Request(np.array(["friction"]), np.array([[1.0]]), 1)
    crashing = stand_in("read line; echo the reason >&2; exit 3")
    with (
        PeerSession("mujoco", problem(start([0, 0, 1.0])), crashing) as opened,
        pytest.raises(ContactIdError, match="the reason"),
    ):
        opened.ask(request)
    silent = stand_in("exec sleep 60")
    with (
        PeerSession("mujoco", problem(start([0, 0, 1.0])), silent, timeout=0.5) as opened,
        pytest.raises(ContactIdError, match="silent"),
    ):
        opened.ask(request)
    lying = stand_in("read line; echo done; read line")
    with (
        PeerSession("mujoco", problem(start([0, 0, 1.0])), lying) as opened,
        pytest.raises(ContactIdError, match="no readable answer"),
    ):
        opened.ask(request)


def test_mujocos_own_identification_keeps_its_budget_and_comes_nearer():
    """On tosses of MuJoCo itself; by its own cost, that of the catalogue's start being the first
    that it tries.
    """
    tosses = [
        start([0, 0, 0.15], [0.8, 0.2 * k, -0.5], [3.0 - k, 2.0, 1.0], TURNED) for k in range(4)
    ]
    position, orientation = motion("mujoco", problem(*tosses), friction=0.2)
    measured_by_it = replace(problem(*tosses), position=position, orientation=orientation)
    found = identify_by_sysid(measured_by_it, 400, 4)
    assert found["step"] in (0.02, np.sqrt(np.finfo(float).eps)) and 0 < found["simulated"] <= 400
    assert (
        abs(found["parameters"]["friction"] - 0.2)
        < 0.05
        < abs(parameters_of("mujoco")[0].start - 0.2)
    )
