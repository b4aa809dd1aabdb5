"""What the identification refuses, what it says where throws tell nothing, and where it starts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from contactid.core.errors import ContactIdError
from contactid.planar.identify.fit import (
    FitOptions,
    TrajectoryFit,
    combined_errors,
    fit_trajectory,
    motion_guesses,
    scales_of,
)
from contactid.planar.identify.starts import StepBody, interpolated_throw, simulated_throw
from contactid.planar.models.trajectory import ContactMode, Guess
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from contactid.planar.simulate.motion import N_RESTITUTIONS, event_motion, outline_of
from contactid.planar.simulate.throws import MeasuredThrow

SHAPE, INERTIA_RATIO = Ellipse(0.05, 0.025), 756e-6
SIGMA = np.array([1e-3, 1e-3, 1e-3])
Q, V = (0.0, 0.1, -0.785), (3.0, -5.0, 0.0)


@cache
def simulated(rate: int, frames: int, q=Q, v=V) -> np.ndarray:
    every = 100_000 // rate
    body = PlanarBody(SHAPE, 0.064, 0.064 * INERTIA_RATIO)
    step = 1.0 / rate / every
    return simulate(
        body, Ground(), PlanarLaw(0.3, 0.2), q, v, time_step=step, steps=every * frames
    ).position[::every]


def noisy(rate: int, frames: int, seed: int, q=Q, v=V) -> MeasuredThrow:
    noise = SIGMA * np.random.default_rng(seed).normal(size=(frames + 1, 3))
    return MeasuredThrow(np.arange(frames + 1) / rate, simulated(rate, frames, q, v) + noise, SIGMA)


def good(n: int = 8) -> dict[str, np.ndarray]:
    return {
        "time": np.arange(n) / 240.0,
        "position": np.tile([0.0, 1.0, 0.0], (n, 1)),
        "sigma": SIGMA,
    }


def with_value(array: np.ndarray, index, value: float) -> np.ndarray:
    changed = array.astype(float)
    changed[index] = value
    return changed


BAD = {
    "a pose isn't finite": ({"position": with_value(good()["position"], (3, 1), np.nan)}, "finite"),
    "a pose is infinite": ({"position": with_value(good()["position"], (0, 2), np.inf)}, "finite"),
    "a time isn't finite": ({"time": with_value(good()["time"], 7, np.nan)}, "finite"),
    "too few poses": ({"time": good(4)["time"], "position": good(4)["position"]}, "5 or more"),
    "no poses": ({"time": np.zeros(0), "position": np.zeros((0, 3))}, "5 or more"),
    "times and poses differ": ({"time": good(7)["time"]}, "poses"),
    "poses without an angle": ({"position": good()["position"][:, :2]}, "x, y, theta"),
    "a frame was dropped": (
        {"time": with_value(good()["time"], slice(5, None), np.arange(6, 9) / 240.0)},
        "evenly",
    ),
    "time stands still": ({"time": np.zeros(8)}, "evenly"),
    "time runs backwards": ({"time": good()["time"][::-1]}, "evenly"),
    "noise of zero": ({"sigma": np.array([1e-3, 0.0, 1e-3])}, "positive"),
    "negative noise": ({"sigma": -SIGMA}, "positive"),
    "noise that isn't finite": ({"sigma": np.array([1e-3, 1e-3, np.nan])}, "positive"),
    "one noise for all": ({"sigma": np.array([1e-3])}, "three"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_throw_is_refused_in_a_line(name):
    change, words = BAD[name]
    with pytest.raises(ContactIdError, match=words) as caught:
        MeasuredThrow(**{**good(), **change})
    assert "\n" not in str(caught.value)


def test_a_good_throw_is_taken():
    throw = MeasuredThrow(**good())
    assert throw.n_frames == 7 and throw.frame_interval == pytest.approx(1.0 / 240.0)
    jittered = good()["time"] + 1e-5 * np.array(
        [0, 1, 0, -1, 0, 1, 0, 0]
    )  # a clock that isn't perfect
    assert MeasuredThrow(**{**good(), "time": jittered}).n_frames == 7


@cache
def flight() -> tuple[MeasuredThrow, TrajectoryFit]:
    throw = noisy(240, 24, 1, q=(0.0, 1.0, 0.3), v=(1.0, 0.0, 5.0))
    return throw, fit_trajectory(SHAPE, throw)


def test_a_flight_is_fitted_and_nothing_is_claimed_of_the_body():
    throw, fit = flight()
    assert contacts(SHAPE, throw.ground, throw.position).gap.min() > 0.5
    assert fit.converged and fit.plausible and fit.complementarity == 0.0
    assert fit.friction_is_bound and np.isnan(fit.friction_mu_se)
    assert fit.friction_mu < 1e-3  # the least that explains the motion
    assert np.isnan(fit.inertia_ratio_se) or fit.inertia_ratio_se > 100.0 * fit.inertia_ratio
    states = fit.states
    assert states.n_impacts == 0 and states.mean_sliding == 0.0 and not states.impulse_n.any()


def test_a_flight_is_fitted_by_the_ballistic_motion_of_least_squares():
    throw, fit = flight()
    t = (throw.time - throw.time[0])[:, None]
    fall = -0.5 * 9.81 * t**2 * [0.0, 1.0, 0.0]
    line = np.column_stack([np.ones(len(t)), t])
    best = line @ np.linalg.lstsq(line, throw.position - fall, rcond=None)[0] + fall
    states = fit.states
    assert np.allclose(states.position[states.frame], best, rtol=0.0, atol=1e-5)
    assert 2.0 * fit.misfit == pytest.approx(
        (((best - throw.position) / throw.sigma) ** 2).sum(), rel=1e-3
    )


# starts


@pytest.mark.parametrize("rate", [240, 120, 60])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_starts_are_motions_within_noise(rate, seed):
    throw = noisy(rate, rate // 8, seed)
    found = list(motion_guesses(SHAPE, throw, FitOptions()))
    expected = 0.5 * throw.position.size
    assert found[0].misfit < expected + 3.0 * np.sqrt(expected)
    if rate > 60:  # seven frames of two impacts leave J/m open
        assert found[0].inertia_ratio == pytest.approx(INERTIA_RATIO, rel=0.1)
        assert found[0].friction_mu == pytest.approx(0.3, abs=0.04)


def test_nothing_of_a_start_is_drawn():
    throw = noisy(240, 24, 4)
    first, again = (next(motion_guesses(SHAPE, throw, FitOptions())) for _ in range(2))
    assert first.misfit == again.misfit and first.inertia_ratio == again.inertia_ratio
    assert np.array_equal(first.throw.impulse_n, again.throw.impulse_n)


def test_a_simulated_start_has_the_motion_s_impulses_at_its_impacts():
    throw = noisy(240, 24, 1)
    parameters = np.array(
        [*Q, *V, INERTIA_RATIO, 0.3, 0.0, 0.0, 0.0, *np.full(N_RESTITUTIONS, 0.2)]
    )
    motion = event_motion(
        outline_of(SHAPE, (0.0, 0.0)), parameters, 9.81, throw.frame_interval, len(throw.time)
    )
    start = simulated_throw(SHAPE, throw, 2, motion, StepBody(INERTIA_RATIO, 0.3, 9.81))
    assert start.impulse_n.sum() == pytest.approx(motion.impulse_n.sum(), rel=1e-12)
    assert start.impulse_t.sum() == pytest.approx(motion.impulse_t.sum(), rel=0.02)
    assert (np.abs(start.impulse_t) <= 0.3 * start.impulse_n * (1.0 + 1e-12)).all()
    assert np.array_equal(start.mode == ContactMode.OPEN, start.impulse_n == 0.0)
    assert start.near[start.impulse_n > 0.0].all() and not start.near.all()
    times = np.concatenate([[0.0], np.cumsum(start.share)]) * throw.frame_interval / 2
    hardest, place = int(np.argmax(motion.impulse_n)), int(np.argmax(start.impulse_n))
    assert times[place] == pytest.approx(motion.time[hardest], abs=1e-5)
    assert np.allclose(start.share.reshape(-1, 2).sum(axis=1), 2.0, rtol=0.0, atol=1e-9)
    assert np.allclose(
        np.diff(start.position, axis=0), np.diff(times)[:, None] * start.velocity[1:], atol=1e-12
    )


def test_a_bare_start_may_push_wherever_noise_and_speed_allow():
    throw = noisy(240, 24, 1)
    start = interpolated_throw(SHAPE, throw, 2)
    assert np.allclose(start.position[::2], throw.position, rtol=0.0, atol=1e-12)
    assert not start.impulse_n.any() and (start.share == 1.0).all()
    gap = contacts(SHAPE, throw.ground, simulated(240, 24)[:-1]).gap
    assert start.near[::2][gap < 1e-3].all() and not start.near.all()


# what is said of an answer


def answer(misfit: float, ratio: float = 7e-4, mu: float = 0.3, **more) -> TrajectoryFit:
    """A settled answer with standard errors of 1e-5 m2 and 0.01."""
    _, fit = flight()
    base = {
        "inertia_ratio": ratio,
        "friction_mu": mu,
        "inertia_ratio_se": 1e-5,
        "friction_mu_se": 0.01,
    }
    return replace(fit, **{**base, "misfit": misfit, "friction_is_bound": False, **more})


def test_one_answer_has_its_own_standard_errors():
    best = answer(1.0)
    assert combined_errors(best, [best]) == pytest.approx((1e-5, 0.01))


def test_a_misfit_above_its_expectation_enlarges_standard_errors():
    best = answer(2.0 * flight()[1].degrees)  # four times what is expected
    assert combined_errors(best, [best]) == pytest.approx((2e-5, 0.02))


def test_another_answer_as_good_counts_with_its_distance_and_a_bad_one_not():
    best = answer(1.0)
    rival, hopeless = answer(1.0, ratio=8e-4, mu=0.34), answer(500.0, ratio=2e-4, mu=1.0)
    both = np.sqrt(1e-5**2 + 0.5 * 1e-4**2), np.sqrt(0.01**2 + 0.5 * 0.04**2)
    assert combined_errors(best, [best, rival]) == pytest.approx(both)
    assert combined_errors(best, [best, hopeless]) == pytest.approx((1e-5, 0.01))


def test_a_start_that_fits_as_well_elsewhere_widens_the_error_and_one_that_fits_worse_does_not():
    best = answer(1.0)
    near, far = (Guess(best.inertia_ratio + away, 0.2, None, best.misfit) for away in (0.0, 3e-4))
    assert combined_errors(best, [best], [near]) == pytest.approx(combined_errors(best, [best]))
    assert combined_errors(best, [best], [far])[0] == pytest.approx(3e-4 / 2**0.5, rel=0.01)
    worse, none = replace(far, misfit=best.misfit + 60.0), replace(far, misfit=np.inf)
    for start in (worse, none):
        assert combined_errors(best, [best], [start]) == pytest.approx(
            combined_errors(best, [best])
        )


def test_without_an_answer_that_settled_there_are_no_standard_errors():
    lost = answer(1.0, converged=False)
    assert np.isnan(combined_errors(lost, [lost])).all()
    assert np.isnan(combined_errors(answer(1.0), [answer(1.0, inertia_ratio_se=np.nan)])).all()


def test_an_answer_too_far_from_the_poses_is_not_plausible():
    """The same poses with a tenth of their noise: nothing comes as close as that."""
    throw = noisy(240, 24, 2)
    fit = fit_trajectory(SHAPE, replace(throw, sigma=0.1 * SIGMA), FitOptions(tries=1))
    assert not fit.plausible and fit.misfit > 10.0 * fit.residuals


def test_scales_are_the_outline_s_radius_and_the_throw_s_speed():
    moving = good()
    moving["position"] = moving["position"] + np.arange(8)[:, None] * [0.03, 0.04, 0.3]
    scales = scales_of(SHAPE, MeasuredThrow(**moving))
    assert scales.length == pytest.approx(0.05) and scales.speed == pytest.approx(0.05 * 240.0)
    assert scales_of(SHAPE, MeasuredThrow(**good())).speed > 0.0
