"""Mechanisms with friction against motions that another integrator made."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from arm_for_tests import lwr4
from contactid.arm.identify import braked as module
from contactid.arm.identify.braked import braked
from contactid.arm.identify.methods import WIDEST
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import stated_posture
from contactid.core.errors import ContactIdError

ROBOT = lwr4()
ROBOT.model.gravity.linear[:] = 0.0
POSTURE = stated_posture(70)
PLANE = [1, 3, 5]  # joints 2, 4 and 6; the others are locked
JACOBIAN = ROBOT.tip_jacobian(POSTURE)[[0, 2]]
MOTOR = np.array([0.12, 0.06, 0.012])  # kg m2
SPRING = np.array([1900.0, 900.0, 210.0])  # N m/rad
DAMPING_TIME = 3e-3  # s
BEFORE = np.array([-0.32, -0.45, -0.2])  # rad/s
LAG = np.array([0.004, -0.006, 0.005])  # rad/s, of the motors
PRESSING = 3.0  # N, with which the tip stays on the table
NOISE = 5e-6  # rad
#: A link table that is wrong by these factors, joint by joint.
WRONG = np.diag([1.0, 1.0, 1.0, 1.2, 1.0, 0.8, 1.0])
TABLE = SimpleNamespace(
    tip_jacobian=ROBOT.tip_jacobian, mass_matrix=lambda q: WRONG @ ROBOT.mass_matrix(q) @ WRONG
)


def whole(of_plane: np.ndarray) -> np.ndarray:
    """(7,) of values of the joints in the plane, the others zero."""
    values = np.zeros(7)
    values[PLANE] = of_plane
    return values


def mass(q: np.ndarray) -> np.ndarray:
    return ROBOT.mass_matrix(q)[np.ix_(PLANE, PLANE)]


def recorded(dry: np.ndarray, viscous: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Times, s, and positions of links (0) or motors (1), rad; the posture turns as it does."""

    def push(q: np.ndarray, v: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, float]:
        """The links' acceleration, and the table's force."""
        lever = ROBOT.tip_jacobian(q)[2, PLANE]
        free = np.linalg.solve(mass(q), torque - ROBOT.bias_torque(q, whole(v))[PLANE])
        blow = np.linalg.solve(mass(q), lever)
        # no normal acceleration of the tip
        force = -(lever @ free + ROBOT.tip_drift(q, whole(v))[2]) / (lever @ blow)
        return free + force * blow, force

    def rates(_: float, state: np.ndarray) -> np.ndarray:
        turned, wound, v, w = state.reshape(4, 3)
        q = POSTURE + whole(turned)
        torque = SPRING * (turned - wound + DAMPING_TIME * (v - w))
        friction = dry * np.tanh(w / 1e-4) + viscous * w
        pressed = PRESSING * ROBOT.tip_jacobian(q)[2, PLANE]
        acceleration, force = push(q, v, -torque)
        assert force > 0.0, "the table would pull"
        return np.concatenate([v, w, acceleration, (torque - friction - pressed) / MOTOR])

    since = np.arange(-80, 151) * 1e-3
    after = impact_map(mass(POSTURE), JACOBIAN[1, PLANE], BEFORE)
    behind = since[since >= 0.0]
    start = np.concatenate([np.zeros(6), after, BEFORE + LAG])
    solved = solve_ivp(rates, (0.0, behind[-1]), start, "LSODA", behind, rtol=1e-8, atol=1e-10)
    motion = solved.y.reshape(4, 3, -1)[side].T
    approach = np.outer(since[since < 0.0], BEFORE + LAG * side)
    noise = NOISE * np.random.default_rng(3).normal(size=(len(since), 3))
    position = np.tile(POSTURE, (len(since), 1))
    position[:, PLANE] += np.concatenate([approach, motion]) + noise
    return since, position


@pytest.mark.parametrize(
    ("dry", "viscous", "side"),
    [([1.2, 1.0, 0.5], [0.0, 0.0, 0.0], 1), ([0.2, 0.2, 0.1], [2.0, 1.5, 0.8], 0)],
)
def test_v_plus_is_that_of_links_and_motors_without_friction(dry, viscous, side: int) -> None:
    since, position = recorded(np.array(dry), np.array(viscous), side)
    rigid = impact_map(mass(POSTURE) + np.diag(MOTOR), JACOBIAN[1, PLANE], BEFORE)
    before, truth = JACOBIAN[:, PLANE] @ BEFORE, JACOBIAN[:, PLANE] @ rigid
    speed = np.linalg.norm(before)
    answer = braked(TABLE, since, position)
    off, naive = abs(answer.velocity[0] - truth[0]), abs(before[0] - truth[0])
    assert off <= 0.02 * speed < 0.1 * naive
    assert off <= 1.96 * answer.se[0] <= 1.001 * WIDEST * speed
    behind = (since > 0.005) & (since < 0.1)
    tip = JACOBIAN @ np.gradient(position, since, axis=0)[behind].T
    drawn = np.array([fit.evaluate(since[behind]) for fit in answer.fits])
    assert np.abs(drawn - tip).max() < 0.1 * speed
    # nothing is drawn, and no residual stated, of what wasn't fitted
    beyond = module._WINDOWS[-1] + 0.02
    assert all(np.isnan(fit.evaluate(beyond)) for fit in answer.fits)


def test_a_motion_that_no_friction_explains_has_no_answer(monkeypatch) -> None:
    """The joints follow a path of their own after the impact."""
    monkeypatch.setattr(module, "_GROWING", module._WINDOWS[:1])
    since, position = recorded(np.array([1.2, 1.0, 0.5]), np.zeros(3), 1)
    behind = np.maximum(since, 0.0)[:, None]
    position[:, PLANE] += 0.02 * np.sin(2.0 * np.pi * np.array([9.0, 14.0, 33.0]) * behind)
    with pytest.raises(ContactIdError, match="0 mechanisms with friction explain"):
        braked(TABLE, since, position)


def test_searches_that_have_not_ended_are_no_answer(monkeypatch) -> None:
    monkeypatch.setattr(module, "_GROWING", module._WINDOWS[:1])
    monkeypatch.setattr(module, "_EVALUATIONS", 10)  # after which the motion is explained
    since, position = recorded(np.array([1.2, 1.0, 0.5]), np.zeros(3), 1)
    with pytest.raises(ContactIdError, match="0 mechanisms with friction explain"):
        braked(TABLE, since, position)
