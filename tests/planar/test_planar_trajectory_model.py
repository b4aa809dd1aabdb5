"""The program of eq. 27 says what the contact law says, and its solutions are the bodies the throws
were made with.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contactid.core.complementarity import Continuation, Reformulation
from contactid.planar.identify import starts
from contactid.planar.identify.fit import (
    FitOptions,
    TrajectoryFit,
    _is_limit,
    fit_trajectory,
    scales_of,
)
from contactid.planar.identify.starts import grid_with_impacts
from contactid.planar.identify.states import ThrowStates
from contactid.planar.models import trajectory
from contactid.planar.models.trajectory import (
    Guess,
    GuessedThrow,
    Scales,
    TrajectoryModel,
    build_trajectory_model,
)
from contactid.planar.simulate.bodies import GRAVITY, PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, Shape, contacts
from contactid.planar.simulate.throws import MeasuredThrow

ELLIPSE, RATIO = Ellipse(0.05, 0.025), 756e-6
SQUARE, SQUARE_RATIO = Polygon(((0.03, 0.03), (-0.03, 0.03), (-0.03, -0.03), (0.03, -0.03))), 600e-6
SIGMA = np.array([1e-3, 1e-3, 1e-3])
RATE = 240.0
SLOPE = Ground(0.2, 0.03, 0.006)


def thrown(
    shape: Shape,
    ratio: float,
    law: PlanarLaw,
    q,
    v,
    frames: int,
    ground: Ground = Ground(),  # noqa: B008
) -> MeasuredThrow:
    """Poses without noise at 240 frames/s, simulated at about 10 microseconds."""
    body = PlanarBody(shape, 0.064, 0.064 * ratio)
    run = simulate(body, ground, law, q, v, time_step=1.0 / RATE / 416, steps=416 * frames)
    return MeasuredThrow(np.arange(frames + 1) / RATE, run.position[::416], SIGMA, ground)


ELLIPSE_START = ((0.0, 0.1, -0.785), (3.0, -5.0, 0.0))


@cache
def throw_of(name: str) -> MeasuredThrow:
    q, v = ELLIPSE_START
    match name:
        case "mu 0.3":
            return thrown(ELLIPSE, RATIO, PlanarLaw(0.3, 0.2), q, v, 24)
        case "mu 0.5":
            return thrown(ELLIPSE, RATIO, PlanarLaw(0.5, 0.2), q, v, 36)
        case "slope":
            return thrown(ELLIPSE, RATIO, PlanarLaw(0.3, 0.3), q, (3.0, -4.0, 0.0), 36, SLOPE)
        case "square":
            return thrown(
                SQUARE, SQUARE_RATIO, PlanarLaw(0.3, 0.4), (0, 0.08, 0.5), (1.5, -2, -8), 48
            )
    raise KeyError(name)


def shape_of(name: str) -> Shape:
    return SQUARE if name == "square" else ELLIPSE


@cache
def fit_of(name: str) -> TrajectoryFit:
    return fit_trajectory(shape_of(name), throw_of(name))


def relative(fit: TrajectoryFit, ratio: float = RATIO) -> float:
    return abs(fit.inertia_ratio / ratio - 1.0)


# the equations


def breaches(
    shape: Shape, throw: MeasuredThrow, states: ThrowStates, ratio: float, mu: float, scales: Scales
) -> dict[str, float]:
    """How far states and impulses are from eqs. 16 to 18 and 23, recomputed from q, v and c, in the
    units of a fit.
    """
    q, v, h = states.position, states.velocity, np.diff(states.time)[:, None]
    at = contacts(shape, throw.ground, q[:-1])
    wrench = np.einsum("kj,kji->ki", states.impulse_n, at.normal)
    wrench += np.einsum("kj,kji->ki", states.impulse_t, at.tangent)
    change = wrench / [1.0, 1.0, ratio] - h * [0.0, GRAVITY, 0.0]
    slip = np.einsum("kji,ki->kj", at.tangent, v[1:]) / scales.speed
    c_n, c_t = states.impulse_n / scales.speed, states.impulse_t / scales.speed
    pushes = c_n > 1e-9  # where none does, the cone is a point, and any sliding is in order
    largest = np.maximum(np.abs(np.minimum(np.maximum(slip, 0.0), mu * c_n + c_t)), 0.0)
    largest = np.maximum(largest, np.abs(np.minimum(np.maximum(-slip, 0.0), mu * c_n - c_t)))
    rate = scales.pose / scales.time
    return {
        "eq. 17": float(np.abs((q[1:] - q[:-1] - h * v[1:]) / scales.pose).max()),
        "eq. 16": float(
            np.abs((v[1:] - v[:-1] - change) * [1, 1, ratio / scales.length**2] / rate).max()
        ),
        "penetration": float(np.maximum(-at.gap, 0.0).max()) / scales.length,
        "pull": float(np.maximum(-c_n, 0.0).max()),
        "impulse at a distance": float(np.minimum(c_n, at.gap / scales.length).max()),
        "cone": float(np.maximum(np.abs(c_t) - mu * c_n, 0.0).max()),
        "direction": float(largest[pushes].max(initial=0.0)),
    }


@st.composite
def scenes(draw):
    """A shape, its ground, how far durations may shift and gravity (m/s2), scales, and random
    numbers.
    """
    shape = draw(st.sampled_from([ELLIPSE, SQUARE]))
    ground = Ground(draw(st.floats(-1, 1)), draw(st.floats(-1, 1)), draw(st.floats(-1, 1)))
    options = draw(st.sampled_from([0.0, 0.8])), draw(st.sampled_from([9.81, 1.6]))
    scales = Scales(draw(st.sampled_from([0.05, 1.0])), draw(st.sampled_from([1.0, 4.0])))
    return shape, ground, options, scales, np.random.default_rng(draw(st.integers(0, 10**6)))


def obeyed(
    shape: Shape, ground: Ground, options: tuple[float, float], n_s: int, ratio: float, random
) -> GuessedThrow:
    """Four frames of a body under random impulses, by eqs. 16 and 17 as they stand."""
    n, (time_shift, gravity) = 4 * n_s, options
    near = random.random((n, shape.n_contacts)) < 0.5
    share = np.ones((4, n_s))
    if time_shift > 0.0:
        freed = near.reshape(4, -1).any(axis=1)
        drawn = random.uniform(0.5, 1.5, (4, n_s))
        share[freed] = (drawn * n_s / drawn.sum(axis=1, keepdims=True))[freed]
    impulse_n, impulse_t = near * random.random(near.shape), near * random.normal(size=near.shape)
    q, v = np.zeros((n + 1, 3)), np.zeros((n + 1, 3))
    q[0], v[0] = random.normal(size=3), random.normal(size=3)
    for k, h in enumerate(share.ravel() / RATE / n_s):
        at = contacts(shape, ground, q[k])
        push = impulse_n[k] @ at.normal + impulse_t[k] @ at.tangent
        v[k + 1] = v[k] + push / [1.0, 1.0, ratio] - [0.0, h * gravity, 0.0]
        q[k + 1] = q[k] + h * v[k + 1]
    return GuessedThrow(share.ravel(), q, v, impulse_n, impulse_t, near)


def written(
    scene, n_s: int, error: float = 1.0
) -> tuple[TrajectoryModel, GuessedThrow, MeasuredThrow]:
    """The model at states made with J/m = 5e-4 m2, with that times an error in it."""
    shape, ground, options, scales, random = scene
    states = obeyed(shape, ground, options, n_s, 5e-4, random)
    measured = states.position[::n_s] + SIGMA * random.normal(size=(5, 3))
    throw = MeasuredThrow(np.arange(5) / RATE, measured, SIGMA, ground)
    guess = Guess(5e-4 * error, 0.4, states)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(trajectory, "TIME_SHIFT", options[0])
        changed.setattr(trajectory, "_LARGEST_RATIO", 2.0)
        built = build_trajectory_model(shape, throw, guess, scales, n_s, options[1])
    return built, states, throw


def left_over(built: TrajectoryModel) -> float:
    rules = built.model.throw.rules.values()
    return max(abs(pyo.value(rule.body) - pyo.value(rule.upper)) for rule in rules)


@settings(max_examples=25, deadline=None)
@given(scenes(), st.integers(1, 3))
def test_the_model_is_eqs_16_to_18_and_23_in_its_own_units(scene, n_s):
    shape, ground, _, scales, _ = scene
    built, states, throw = written(scene, n_s)
    scale = 1.0 + max(
        float(np.abs(states.velocity / scales.pose * scales.time).max()), 1.0 / scales.length
    )
    assert left_over(built) < 1e-11 * scale
    at = contacts(shape, ground, states.position[:-1])
    slip = np.einsum("kji,ki->kj", at.tangent, states.velocity[1:]) / scales.speed
    c_n, c_t = states.impulse_n / scales.speed, states.impulse_t / scales.speed
    ahead = np.maximum(slip, 0.0)
    sides = [
        (c_n, at.gap / scales.length),
        (ahead, 0.4 * c_n + c_t),
        (ahead - slip, 0.4 * c_n - c_t),
    ]
    expected = np.stack(
        [np.stack([a[states.near], b[states.near]], axis=-1) for a, b in sides], axis=1
    ).reshape(-1, 2)
    found = np.array([[pyo.value(a), pyo.value(b)] for a, b in built.pairs]).reshape(-1, 2)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)
    residuals = (states.position[::n_s] - throw.position) / SIGMA
    assert pyo.value(built.misfit) == pytest.approx(0.5 * (residuals**2).sum(), rel=1e-9)


@settings(max_examples=15, deadline=None)
@given(scenes(), st.integers(1, 3))
def test_states_of_another_body_leave_eq_16_open(scene, n_s):
    built, states, _ = written(scene, n_s, error=1.1)
    scales = scene[3]
    change = np.abs(np.diff(states.velocity[:, 2])).max() * scales.time * 5e-4 / scales.length**2
    assert left_over(built) == pytest.approx(0.1 * change, rel=1e-6, abs=1e-11)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(0.0, 4.0 / RATE), max_size=6),
    st.integers(1, 5),
    st.sampled_from([0.05, 0.15, 0.3]),
)
@example([0.68 / 3.0 / RATE, 2.9 / 3.0 / RATE], 3, 0.05)  # 2.22 steps lie between them
def test_a_grid_with_impacts_keeps_frames_and_durations_within_bounds(impacts, n_s, least):
    throw = MeasuredThrow(np.arange(5) / RATE, np.zeros((5, 3)), SIGMA)
    times = grid_with_impacts(throw, n_s, np.sort(impacts), least)
    shares = np.diff(times) * RATE * n_s
    assert np.allclose(times[::n_s], throw.time, rtol=0.0, atol=1e-15)
    assert least - 1e-9 <= shares.min() and shares.max() <= 2.0 - least + 1e-9
    if len(impacts) == 1 and n_s > 1:
        place = impacts[0] * RATE % 1.0 * n_s
        if least * n_s <= place <= n_s - least * n_s:
            assert np.abs(times - impacts[0]).min() < 1e-12


# solutions


@pytest.mark.parametrize("name", ["mu 0.3", "slope", "square"])
def test_solutions_obey_the_contact_law(name):
    fit, throw, shape = fit_of(name), throw_of(name), shape_of(name)
    scales = scales_of(shape, throw)
    found = breaches(shape, throw, fit.states, fit.inertia_ratio, fit.friction_mu, scales)
    assert max(found.values()) < 2e-6, found
    assert fit.converged and fit.complementarity < 1e-6
    assert fit.states.impulse_n.max() > 0.5


@pytest.mark.parametrize("name", ["mu 0.3", "slope", "square"])
def test_durations_move_within_frames_and_frames_stay(name):
    states, throw = fit_of(name).states, throw_of(name)
    assert np.allclose(states.time[states.frame], throw.time, rtol=0.0, atol=1e-9)
    n_s = states.frame[1]
    shares = np.diff(states.time) * RATE * n_s
    assert n_s == 2 and shares.min() > 0.0 and np.ptp(shares) > 0.1


def test_impacts_are_found_when_they_happen():
    """Of the simulation behind the throw: the instants at which it pushes hardest."""
    body = PlanarBody(ELLIPSE, 1.0, RATIO)
    q, v = ELLIPSE_START
    run = simulate(body, Ground(), PlanarLaw(0.3, 0.2), q, v, time_step=1e-5, steps=10000)
    instant, size = run.time[np.argmax(run.impulse_n)], run.impulse_n.max()
    states = fit_of("mu 0.3").states
    k = int(np.argmax(states.impulse_n))
    assert abs(states.time[k] - instant) < 1e-4
    assert states.impulse_n[k, 0] == pytest.approx(size, rel=0.01)


@pytest.mark.parametrize(("name", "mu"), [("mu 0.3", 0.3), ("mu 0.5", 0.5), ("slope", 0.3)])
def test_an_ellipse_is_found_from_poses_without_noise(name, mu):
    fit = fit_of(name)
    assert fit.converged and fit.plausible and not fit.friction_is_bound
    assert relative(fit) < 5e-3
    assert abs(fit.friction_mu - mu) < 1.5e-3
    assert fit.misfit < 0.5


def test_a_square_is_found_that_lands_on_two_corners():
    fit = fit_of("square")
    corners = fit.states.impulse_n.max(axis=0) > 0.1
    assert corners.sum() == 2 and fit.states.n_impacts == 2
    assert fit.converged and fit.plausible
    assert relative(fit, SQUARE_RATIO) < 5e-3
    assert abs(fit.friction_mu - 0.3) < 1.5e-3


@pytest.mark.parametrize("reformulation", [Reformulation.SCHOLTES, Reformulation.LIN_FUKUSHIMA])
def test_reformulations_agree_from_the_same_start(reformulation, monkeypatch):
    fit, options = (
        fit_of("mu 0.3"),
        FitOptions(sequences=0, continuations=(Continuation(reformulation),), tries=1),
    )
    # with shorter steps, reformulations that let go of the start lose their way
    monkeypatch.setattr(trajectory, "TIME_SHIFT", 0.9)
    monkeypatch.setattr(starts, "_LEAST_SHARE", 1.5 * (1.0 - 0.9))
    other = fit_trajectory(ELLIPSE, throw_of("mu 0.3"), options)
    assert other.converged and other.solution.settled
    assert other.inertia_ratio == pytest.approx(fit.inertia_ratio, rel=2e-4)
    assert other.friction_mu == pytest.approx(fit.friction_mu, abs=5e-5)
    assert other.misfit == pytest.approx(fit.misfit, abs=1e-3)


def same(other: TrajectoryFit, fit: TrajectoryFit, larger: float = 1.0) -> None:
    assert other.converged
    assert other.inertia_ratio == pytest.approx(fit.inertia_ratio * larger**2, rel=2e-4)
    assert other.friction_mu == pytest.approx(fit.friction_mu, abs=1e-4)


def test_a_mirrored_throw_has_the_same_body():
    throw = throw_of("slope")
    ground = replace(throw.ground, slope=-throw.ground.slope, x0=-throw.ground.x0)
    mirrored = replace(throw, position=throw.position * [-1.0, 1.0, -1.0], ground=ground)
    same(fit_trajectory(ELLIPSE, mirrored), fit_of("slope"))


def test_a_world_twice_as_large_with_twice_the_gravity_has_the_same_numbers():
    """Lengths doubled at the same times: dimensionless, nothing changes."""
    throw = throw_of("mu 0.3")
    units = np.array([2.0, 2.0, 1.0])
    doubled = replace(throw, position=throw.position * units, sigma=throw.sigma * units)
    fit = fit_trajectory(Ellipse(0.1, 0.05), doubled, FitOptions(gravity=2.0 * GRAVITY))
    same(fit, fit_of("mu 0.3"), larger=2.0)
    assert fit.inertia_ratio_se == pytest.approx(4.0 * fit_of("mu 0.3").inertia_ratio_se, rel=0.02)
    assert fit.friction_mu_se == pytest.approx(fit_of("mu 0.3").friction_mu_se, rel=0.02)


def test_without_gravity_a_turned_scene_has_the_same_body():
    body = PlanarBody(ELLIPSE, 1.0, RATIO)
    law = PlanarLaw(0.3, 0.2, gravity=0.0)
    run = simulate(body, Ground(), law, *ELLIPSE_START, time_step=1.0 / RATE / 416, steps=416 * 16)
    q, time, slope = run.position[::416], np.arange(17) / RATE, 0.7
    turn = np.array([[np.cos(slope), -np.sin(slope)], [np.sin(slope), np.cos(slope)]])
    turned = np.column_stack([q[:, :2] @ turn.T, q[:, 2] + slope])
    options = FitOptions(gravity=0.0)
    level = fit_trajectory(ELLIPSE, MeasuredThrow(time, q, SIGMA), options)
    sloping = fit_trajectory(ELLIPSE, MeasuredThrow(time, turned, SIGMA, Ground(slope)), options)
    assert level.converged and sloping.converged and relative(level) < 5e-3
    assert sloping.inertia_ratio == pytest.approx(level.inertia_ratio, rel=2e-4)
    assert sloping.friction_mu == pytest.approx(level.friction_mu, abs=1e-4)


def test_inertia_that_the_frames_leave_open_has_an_error_as_large_as_itself():
    """One frame before the impact at 30 frames/s: any change of spin fits."""
    quick = thrown(ELLIPSE, RATIO, PlanarLaw(0.1, 0.2), *ELLIPSE_START, 56)
    noisy = quick.position[::8] + np.random.default_rng(1).normal(size=(8, 3)) * SIGMA
    fit = fit_trajectory(ELLIPSE, MeasuredThrow(np.arange(8) * 8 / RATE, noisy, SIGMA, Ground()))
    assert fit.converged and fit.inertia_ratio_se > RATIO
    assert fit.friction_mu == pytest.approx(0.1, abs=4 * fit.friction_mu_se)


def test_inertia_at_an_edge_of_what_is_possible_is_told_as_a_limit():
    model = pyo.ConcreteModel()
    model.inertia_ratio = pyo.Var(bounds=(1e-3, 1.0), initialize=0.5)
    at = SimpleNamespace(model=model)
    assert not _is_limit(at)
    for edge in (1e-3, 0.005, 0.995, 1.0):
        model.inertia_ratio.set_value(edge)
        assert _is_limit(at)
    assert not fit_of("mu 0.3").ratio_is_limit
