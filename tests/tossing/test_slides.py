"""How hard the surface holds slides back: an exact law, and what it says of a friction that is too
small.
"""

from dataclasses import replace

import numpy as np
import pytest

from contactid.tossing.own.predict import problem_of
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.toss import slides
from contactid.tossing.toss.slides import (
    _slow_less_fast,
    _steepest,
    friction_fall,
    slide_friction,
    steepness,
)
from tosses_for_tests import RATE, TRUTH, box, motion, prepare_tosses, recordings


@pytest.fixture(scope="module")
def problem():
    """Of tosses by the other law of impact."""
    made = recordings(box(), 8, seed=3, noise=1e-4)
    return problem_of(prepare_tosses(motion(made, box())), "incremental", IDENTIFICATION)


def test_a_constant_push_has_its_slope_where_it_bears_what_counts(problem):
    time = np.arange(60)[:, None] / RATE
    gravity = np.array(problem.options.gravity)
    still = np.tile([1.0, 0.0, 0.0, 0.0], (60, 1))
    for weights, slope in ((2.0, 0.3), (1.0, np.nan), (4.0, np.nan)):
        push = -weights * gravity[2] * np.array([0.24, -0.18, 1.0])
        path = 0.5 * time**2 * (push + gravity)
        assert _steepest(problem, path, still) == pytest.approx(slope, nan_ok=True)


def test_right_friction_holds_slides_back_as_they_are(problem):
    excess, error = steepness(problem, TRUTH)
    assert abs(excess) < 0.05 and error < 0.05
    said = slide_friction(problem, TRUTH)
    assert said.interval[0] < TRUTH.friction_mu < said.interval[1] and not said.doubt


@pytest.mark.parametrize("share", [0.6, 1.6])
def test_another_friction_is_doubted_with_the_one_that_slides_ask_for(problem, share):
    said = slide_friction(problem, replace(TRUTH, friction_mu=share * TRUTH.friction_mu))
    assert said.refutes and said.interval[0] < said.value < said.interval[1]
    assert said.value == pytest.approx(TRUTH.friction_mu, rel=0.1)
    assert f"a friction of {said.value:.2f}" in said.doubt
    beyond = said.value / (share * TRUTH.friction_mu)
    assert np.prod(said.interval) == pytest.approx(beyond * said.value**2)


def test_few_slides_doubt_nothing(problem):
    assert np.isnan(steepness(replace(problem, tosses=problem.tosses[:4]), TRUTH)[0])


def test_a_friction_that_falls_with_speed_is_told_and_one_number_is_not(problem, monkeypatch):
    step = problem.options.time_step
    slow, fast = 0.3, 0.2
    speed = [0.9]
    while speed[-1] > 0.02:
        friction = fast if speed[-1] > 0.38 else slow
        speed.append(speed[-1] - friction * 9.81 * step)
    path = np.zeros((len(speed), 3))
    path[:, 0] = step * np.cumsum(speed)
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(speed), 1))
    assert _slow_less_fast(problem, path, still) == pytest.approx(slow - fast, abs=0.01)
    assert friction_fall(problem, TRUTH) == (0.0, [])
    monkeypatch.setattr(slides, "slow_less_fast", lambda *given: (slow - fast, 0.02))
    reach, said = friction_fall(problem, TRUTH)
    assert reach == pytest.approx(slow - fast + 0.04) and "0.10 +- 0.02" in said[0]
