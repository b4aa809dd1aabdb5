"""Impacts are found and timed from positions alone; recordings without one are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_for_tests import CONFIG
from contactid.arm.identify.impact_time import _Problem, detect_impact, link_jump
from contactid.core.errors import ContactIdError

OPTIONS = CONFIG["fit"]["impact"]
TIME = np.arange(800) * 1e-3
POLES = np.array([-35.0 + 130.0j, -45.0 + 150.0j])
MODES = np.array(
    [[0.02 * np.exp(1.2j), -0.11 * np.exp(0.2j)], [-0.15 * np.exp(0.3j), 0.02 * np.exp(1.0j)]]
)
POST = np.array([0.12, -0.002])


def recording(moment, noise=6e-6, seed=0, scale=1.0, time=TIME):
    """(n, 2) positions x and z of an impact at a moment, white noise added."""
    since = np.maximum(time - moment, 0.0)
    integral = (np.exp(np.outer(since, POLES)) - 1.0) / POLES
    after = POST * since[:, None] - 0.1 * since[:, None] ** 2 / 2.0 + (integral @ MODES.T).real
    before = (POST + MODES.real.sum(axis=1)) * np.minimum(time - moment, 0.0)[:, None]
    return scale * (before + after) + np.random.default_rng(seed).normal(0.0, noise, (len(time), 2))


def test_the_impact_is_timed_within_its_standard_error():
    random = np.random.default_rng(1)
    errors, ses = [], []
    for seed in range(12):
        moment = 0.4 + random.uniform(0.0, 1e-3)
        found = detect_impact(TIME, recording(moment, seed=seed), OPTIONS)
        errors.append(found.time - moment)
        ses.append(found.time_se)
    assert np.abs(errors).max() < 1e-3
    assert np.std(errors) == pytest.approx(np.median(ses), rel=0.5)
    assert np.mean(np.abs(errors) < 1.96 * np.array(ses)) >= 0.8


@settings(max_examples=10, deadline=None)
@given(moment=st.floats(0.1, 0.6), scale=st.floats(0.4, 2.0))
def test_clean_recordings_are_timed_exactly(moment, scale):
    found = detect_impact(TIME, recording(moment, noise=0.0, scale=scale), OPTIONS)
    assert found.time == pytest.approx(moment, abs=1e-6)


def test_a_recording_that_begins_late_is_timed_by_the_approach_that_it_has():
    found = detect_impact(TIME, recording(0.0304, noise=0.0), OPTIONS)
    assert found.time == pytest.approx(0.0304, abs=1e-6)


def test_quantised_positions_are_timed_within_a_millisecond():
    steps = 1e-5
    found = detect_impact(TIME, steps * np.round(recording(0.4004, seed=3) / steps), OPTIONS)
    assert abs(found.time - 0.4004) < 1e-3


def test_the_height_alone_is_enough_to_find_an_impact():
    found = detect_impact(TIME, recording(0.4004, seed=3)[:, 1:], OPTIONS | {"modes": 1})
    assert abs(found.time - 0.4004) < 5e-3


def test_slopes_of_the_search_are_derivatives_of_its_cost():
    problem = _Problem(TIME[340:551], recording(0.4003)[340:551], 0.4)
    point = np.array([0.4, -30.0, 120.0, -50.0, 160.0])
    slopes = problem.slopes(point).T @ problem.rest(point)
    for k in range(5):
        step = np.zeros(5)
        step[k] = 1e-4 * max(1.0, abs(point[k]))
        high, low = ((problem.rest(p) ** 2).sum() / 2.0 for p in (point + step, point - step))
        assert slopes[k] == pytest.approx((high - low) / (2.0 * step[k]), rel=1e-3, abs=1e-12)


def still(time):
    return np.random.default_rng(4).normal(0.0, 6e-6, (len(time), 2))


@pytest.mark.parametrize(
    ("time", "position", "said"),
    [
        (TIME, still(TIME), "no impact found"),
        (TIME, still(TIME) - 0.1 * TIME[:, None], "no impact found"),
        (TIME, still(TIME) + 0.03 * np.cos(5.0 * TIME)[:, None], "no impact found"),
        (TIME, -recording(0.4), "no impact found"),
        (TIME[:40], recording(0.4)[:40], "too few"),
        (TIME[:450], recording(0.4)[:450], "recording ends 0.0.* Record 0.15 s after it"),
        (
            TIME,
            recording(0.012),
            "recording begins 1. ms before the impact. Begin it 0.06 s before",
        ),
        (np.delete(TIME, 300), np.delete(recording(0.4), 300, axis=0), "missing or uneven"),
    ],
)
def test_recordings_without_an_impact_are_refused_in_one_line(time, position, said):
    with pytest.raises(ContactIdError, match=said) as caught:
        detect_impact(time, position, OPTIONS, name="set1_v010_a30")
    assert str(caught.value).startswith("set1_v010_a30") and "\n" not in str(caught.value)


@pytest.mark.parametrize("kept", [0.3, 0.0, -0.5])
def test_a_link_s_jump_is_timed_to_a_sample_and_a_motor_s_bend_is_none(kept: float):
    """``kept``: of the rate of fall, at once; a motor behind its spring swings at 20 Hz."""
    since = TIME - 0.4003
    noise = np.random.default_rng(2).normal(0.0, 1e-5, len(TIME))
    jumps = -0.15 * np.where(since < 0.0, since, kept * since) + noise
    assert link_jump(TIME, jumps, 0.385) == pytest.approx(0.4003, abs=1.5e-3)
    found = detect_impact(TIME, np.column_stack([0.1 * TIME, jumps]), OPTIONS)
    assert found.time == pytest.approx(0.4003, abs=1.5e-3)
    swing = 2.0 * np.pi * 20.0  # rad/s
    bends = -0.15 * np.where(since < 0.0, since, np.sin(swing * since) / swing) + noise
    assert link_jump(TIME, bends, 0.4) is None
