"""Admissible models: what is exact for them, what they refuse, and the line of impulses."""

from __future__ import annotations

import numpy as np
import pytest

from arm_for_tests import lwr4
from contactid.arm.identify import methods
from contactid.arm.identify.methods import (
    METHODS,
    Window,
    admissible,
    agreement,
    without_normal_velocity,
)
from contactid.arm.identify.reconstruction import joint_rates
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import stated_posture
from contactid.core.errors import ContactIdError

DT = 1e-3
TIME = (np.arange(150) + 0.5) * DT
BEFORE = np.array([0.1, -0.15])  # m/s
AFTER = np.array([0.19, 0.0])
NORMAL_IS_Z = np.array([0.0, 1.0])
POLE = complex(-35.0, 2.0 * np.pi * 20.0)  # 1/s


def averaged(pole: complex) -> np.ndarray:
    """(n,) a mode's means over the sampling intervals."""
    half = 0.5 * DT * pole
    return np.exp(pole * TIME) * np.sinh(half) / half


def window(velocity: np.ndarray) -> Window:
    return Window(TIME, velocity, BEFORE, np.zeros(2), 0.0, 0.0, np.eye(2))


def swinging(after: np.ndarray, slope: float, pole: complex = POLE) -> np.ndarray:
    """(n, 2) a line from ``after`` and a mode that begins at v-."""
    rigid = after + np.outer(TIME, [slope, 0.0])
    return rigid + np.outer(averaged(pole), BEFORE - after).real


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_exact_on_one_mode_over_a_line(method: str) -> None:
    answer = METHODS[method](window(swinging(AFTER, -0.1)))
    np.testing.assert_allclose(answer.velocity, AFTER, atol=2e-4 if method == "paper" else 1e-6)


def test_a_line_that_slows_down_may_have_slowed_down_before_and_one_that_speeds_up_not() -> None:
    """As fast as fitted, or faster by what the slope takes in 30 ms beyond what the posture's change
    does, a twentieth of the approach speed: the interval has both.
    """
    braked, sped_up = (admissible(window(swinging(AFTER, slope))) for slope in (-1.0, 1.0))
    half = 1.96 * braked.se[0]
    assert braked.velocity[0] - half < AFTER[0] < braked.velocity[0]
    by_friction = 0.03 - 0.05 * np.linalg.norm(BEFORE)
    assert braked.velocity[0] < AFTER[0] + by_friction < braked.velocity[0] + half
    assert sped_up.velocity[0] == pytest.approx(AFTER[0], abs=1e-6)
    assert braked.velocity[1] == pytest.approx(0.0, abs=1e-6)


def test_impulses_of_any_size_lie_on_one_line_whose_end_is_eq_5() -> None:
    """Eq. 3 with restitution: the point without normal velocity is that of e = 0."""
    robot, q = lwr4(), stated_posture(70)
    mass, jacobian = robot.mass_matrix(q), robot.tip_jacobian(q)
    before = np.linalg.pinv(jacobian[[0, 2]]) @ BEFORE
    inelastic = (jacobian @ impact_map(mass, jacobian[2], before))[[0, 2]]
    for restitution in (-0.1, 0.05, 0.3):
        longer = before + (1.0 + restitution) * (impact_map(mass, jacobian[2], before) - before)
        bounced = (jacobian @ longer)[[0, 2]]
        found = without_normal_velocity(BEFORE, bounced, NORMAL_IS_Z)
        np.testing.assert_allclose(found, inelastic, atol=1e-12)
        np.testing.assert_allclose(
            without_normal_velocity(before, longer, jacobian[2]),
            impact_map(mass, jacobian[2], before),
            atol=1e-12,
        )
    with pytest.raises(ContactIdError, match="more than half"):
        without_normal_velocity(BEFORE, np.array([0.1, -0.1]), NORMAL_IS_Z)


def test_a_tip_that_lifts_off_is_told_from_the_impact() -> None:
    bounced = AFTER + 0.2 * (AFTER - BEFORE)
    answer = admissible(window(swinging(bounced, -0.1)))
    assert answer.velocity[0] == pytest.approx(AFTER[0], abs=1e-6)
    assert answer.velocity[1] == pytest.approx(bounced[1], abs=1e-6)


@pytest.mark.parametrize("why", ["slow vibration", "braked", "stops"])
def test_where_nothing_tells_the_motion_from_the_vibration_there_is_no_answer(why: str) -> None:
    if why == "slow vibration":
        velocity = swinging(AFTER, -0.3, complex(-20.0, 2.0 * np.pi * 4.0))
    elif why == "braked":
        velocity = swinging(AFTER, -2.0)
    else:  # by dry friction, 70 ms after the impact
        velocity = swinging(AFTER, -AFTER[0] / 0.07)
        velocity[TIME > 0.07] = 0.0
    with pytest.raises(ContactIdError, match="v\\+ isn't found"):
        admissible(window(velocity))


@pytest.mark.parametrize("shorter", [None, ContactIdError("short")])
def test_shorter_windows_are_asked_where_longer_ones_disagree(monkeypatch, shorter) -> None:
    found = agreement(window(swinging(AFTER, -0.1)), NORMAL_IS_Z, 1)
    outcomes = iter([ContactIdError("long"), shorter or found])

    def next_outcome(*_):
        if isinstance(outcome := next(outcomes), ContactIdError):
            raise outcome
        return outcome

    monkeypatch.setattr(methods, "_agreement", next_outcome)
    if shorter is None:
        assert agreement(window(swinging(AFTER, -0.1)), NORMAL_IS_Z, 1) is found
        return
    # the whole window's reason
    with pytest.raises(ContactIdError, match="long"):
        agreement(window(swinging(AFTER, -0.1)), NORMAL_IS_Z, 1)


@pytest.mark.parametrize(
    ("rise", "pole", "slope", "said"),
    [(0.1, POLE, -8.0, "comes off the table"), (0.0, 130j, -20.0, "doesn't decay")],
)
def test_a_refusal_names_a_tip_that_flies_and_one_that_chatters(rise, pole, slope, said) -> None:
    velocity = swinging(AFTER, -0.1, pole) + np.outer(np.minimum(TIME, 0.05), [slope, 0.0])
    velocity[:, 1] += rise
    with pytest.raises(ContactIdError, match=said):
        admissible(window(velocity))


@pytest.mark.parametrize(("rate_behind", "stops"), [(1.0, False), (0.0, True), (-0.3, True)])
def test_only_a_joint_that_moves_the_tip_stops(rate_behind: float, stops: bool) -> None:
    """It moves at 1 rad/s for 60 ms, and then goes on, rests or turns back, while it vibrates."""
    since = np.arange(151) * DT
    rigid = np.minimum(since, 0.06) + rate_behind * np.maximum(since - 0.06, 0.0)
    vibration = 1e-3 * np.sin(2.0 * np.pi * 20.0 * since)
    joints = np.column_stack([rigid + vibration, np.zeros_like(since)])
    rates = joint_rates(since, joints, np.array([0.5, 0.5]), 0.15)
    assert (rates <= 0.0).any() == stops
    # it hardly moves the tip
    assert not joint_rates(since, 0.01 * joints, np.array([0.5, 0.5]), 0.15).size


def test_the_interval_is_as_wide_as_models_differ() -> None:
    """A second mode that one mode doesn't have widens it, and the truth stays inside."""
    second = np.outer(averaged(complex(-20.0, 2.0 * np.pi * 26.0)), [-0.1, 0.05]).real
    alone, both = (admissible(window(swinging(AFTER, -0.3) + extra)) for extra in (0.0, second))
    assert (both.se > 1.2 * alone.se).any()
    assert (np.abs(both.velocity - AFTER) <= 1.96 * both.se).all()


def test_a_tip_that_is_held_back_was_faster_than_the_whole_window_shows() -> None:
    """A controller that goes on takes half of the change back, at 15 1/s."""
    held = 0.5 * (AFTER - BEFORE)[0] * np.expm1(-15.0 * TIME)
    motion = window(swinging(AFTER, 0.0) + np.outer(held, [1.0, 0.0]))
    answer, whole = admissible(motion), METHODS["two_modes"](motion)
    off = abs(answer.velocity[0] - AFTER[0])
    assert off < 0.5 * abs(whole.velocity[0] - AFTER[0])
    assert off < 1.96 * answer.se[0]
