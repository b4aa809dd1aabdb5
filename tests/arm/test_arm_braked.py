"""Mechanisms with friction against motions that another integrator made."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from contactid.arm.identify import braked as module
from contactid.arm.identify.braked import braked
from contactid.arm.identify.methods import WIDEST
from contactid.core.errors import ContactIdError

#: Of joints 2, 4 and 6 of the LWR 4+ at an impact: the tip's Jacobian, m, and the links' inertia.
JACOBIAN = np.array([[0.51, -0.505, 0.178], [0.612, -0.212, 0.0]])
MASS = np.array([[2.17, -0.75, 0.07], [-0.75, 0.48, -0.07], [0.07, -0.07, 0.07]])
MOTOR = np.array([0.12, 0.06, 0.012])  # kg m2
SPRING = np.array([1900.0, 900.0, 210.0])  # N m/rad
DAMPING_TIME = 3e-3  # s
BEFORE = np.array([-0.32, -0.45, -0.2])  # rad/s
NOISE = 5e-6  # rad
#: A link table that is wrong by these factors, joint by joint.
WRONG = np.diag([1.0, 1.2, 0.8])


def rigid(velocity: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Eq. 5."""
    blow = np.linalg.solve(inertia, JACOBIAN[1])
    return velocity - blow * (JACOBIAN[1] @ velocity) / (JACOBIAN[1] @ blow)


def recorded(dry: np.ndarray, viscous: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Times, s, and positions of links (0) or motors (1), rad: the tip stays on the table."""
    inverse = np.linalg.inv(MASS)
    blow = inverse @ JACOBIAN[1]
    on_table = inverse - np.outer(blow, blow) / (JACOBIAN[1] @ blow)

    def rates(_: float, state: np.ndarray) -> np.ndarray:
        q, theta, v, w = state.reshape(4, 3)
        torque = SPRING * (q - theta + DAMPING_TIME * (v - w))
        friction = dry * np.tanh(w / 1e-4) + viscous * w
        return np.concatenate([v, w, -on_table @ torque, (torque - friction) / MOTOR])

    since = np.arange(-80, 151) * 1e-3
    start = np.concatenate([np.zeros(6), rigid(BEFORE, MASS), BEFORE])
    behind = since[since >= 0.0]
    solved = solve_ivp(rates, (0.0, behind[-1]), start, "LSODA", behind, rtol=1e-8, atol=1e-10)
    motion = solved.y.reshape(4, 3, -1)[side].T
    approach = np.outer(since[since < 0.0], BEFORE)
    noise = NOISE * np.random.default_rng(3).normal(size=(len(since), 3))
    return since, np.concatenate([approach, motion]) + noise


@pytest.mark.parametrize(
    ("dry", "viscous", "side"),
    [([1.2, 1.0, 0.5], [0.0, 0.0, 0.0], 1), ([0.2, 0.2, 0.1], [2.0, 1.5, 0.8], 0)],
)
def test_v_plus_is_that_of_links_and_motors_without_friction(dry, viscous, side: int) -> None:
    since, position = recorded(np.array(dry), np.array(viscous), side)
    truth = JACOBIAN @ rigid(BEFORE, MASS + np.diag(MOTOR))
    speed = np.linalg.norm(JACOBIAN @ BEFORE)
    answer = braked(JACOBIAN, WRONG @ MASS @ WRONG, since, position, 0.05)
    off, naive = abs(answer.velocity[0] - truth[0]), abs((JACOBIAN @ BEFORE)[0] - truth[0])
    assert off <= 0.07 * speed < 0.2 * naive
    assert off <= 1.96 * answer.se[0] <= 1.001 * WIDEST * speed
    behind = (since > 0.005) & (since < 0.1)
    tip = JACOBIAN @ np.gradient(position, since, axis=0)[behind].T
    drawn = np.array([fit.evaluate(since[behind]) for fit in answer.fits])
    assert np.abs(drawn - tip).max() < 0.1 * speed


def test_a_motion_that_no_friction_explains_has_no_answer() -> None:
    """The joints follow a path of their own after the impact."""
    since, position = recorded(np.array([1.2, 1.0, 0.5]), np.zeros(3), 1)
    behind = np.maximum(since, 0.0)[:, None]
    led = position + 0.02 * np.sin(2.0 * np.pi * np.array([9.0, 14.0, 33.0]) * behind)
    with pytest.raises(ContactIdError, match="v\\+ isn't found: a joint stops 50 ms"):
        braked(JACOBIAN, MASS, since, led, 0.05)


def test_searches_that_have_not_ended_are_no_answer(monkeypatch) -> None:
    monkeypatch.setattr(module, "_EVALUATIONS", 10)  # after which the motion is explained
    since, position = recorded(np.array([1.2, 1.0, 0.5]), np.zeros(3), 1)
    with pytest.raises(ContactIdError, match="0 mechanisms with friction both explain"):
        braked(JACOBIAN, MASS, since, position, 0.05)
