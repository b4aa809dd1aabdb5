"""Steps solved as optimisation problems against the exact step, hand-made truths, and root finding
by contact mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from contactid.core.errors import ContactIdError
from contactid.core.solve import SolverOptions
from contactid.planar.models import step as step_module
from contactid.planar.models.step import (
    StepSolution,
    build_irc_step,
    closed_contacts,
    solve_irc_step,
)
from contactid.planar.simulate.bodies import GRAVITY, PlanarBody, PlanarLaw, PlanarMotion, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, contacts
from contactid.planar.simulate.kernel import CLOSING
from contactid.planar.simulate.scenes import Scene
from contactid.planar.sweeps.gap_motion import gap_motion
from contactid.planar.sweeps.peaks import first_impact
from contactid.planar.sweeps.stepping import simulate_irc_nlp

BODY = PlanarBody(Ellipse(1.5, 1.0), 10.0, 2.0)
LEVEL = Ground()
THROW = ([0.0, 5.0, 0.0], [10.0, -3.0, -8.0])
SQUARE = PlanarBody(Polygon(((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))), 3.0, 2.0)
unit = st.floats(-1.0, 1.0)


def ellipse_on_ground(
    numbers: list[float], lift: float = 0.0
) -> tuple[PlanarBody, Ground, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """An ellipse that approaches a sloping ground, ``lift`` m above it: body, ground, q, v, N, T."""
    a, b, ratio, slope, theta, slide, fall, spin = numbers
    shape = Ellipse(1.0 + 0.5 * a, 1.0 + 0.5 * b)
    body = PlanarBody(shape, 2.0, 2.0 * shape.uniform_inertia_ratio * (1.0 + 0.5 * ratio))
    ground = Ground(0.6 * slope, 0.3, -0.2)
    q = np.array([0.0, 0.0, 3.0 * theta])
    q[:2] += (lift - contacts(shape, ground, q).gap[0]) * ground.normal
    at = contacts(shape, ground, q)
    n, t = at.normal[0], at.tangent[0]
    v = np.array([*(3.0 * slide * ground.tangent), 3.0 * spin])
    v[:2] -= (float(n @ v) + 1.05 + fall) * ground.normal  # closes with 0.05 to 2.05 m/s
    return body, ground, q, v, n, t


def wedges(body: PlanarBody, law: PlanarLaw, n: np.ndarray, t: np.ndarray) -> bool:
    """Whether friction can hold a sliding contact fast, where a step may have several solutions."""
    inverse = 1.0 / body.mass_matrix
    return law.friction_mu * abs(n @ (inverse * t)) > 0.95 * float(n @ (inverse * n))


def n_failed(solutions: Sequence[StepSolution]) -> int:
    """Steps that didn't converge."""
    return sum(not solution.converged for solution in solutions)


@pytest.mark.parametrize(
    ("friction_mu", "time_step", "duration"), [(0.2, 5e-3, 1.5), (0.5, 5e-3, 1.5)]
)
def test_the_throw_of_figure_9_by_eq_20_is_the_exact_motion(
    friction_mu: float, time_step: float, duration: float
) -> None:
    law, steps = PlanarLaw(friction_mu, 0.0), round(duration / time_step)
    exact = simulate(BODY, LEVEL, law, *THROW, time_step=time_step, steps=steps)
    motion, solutions = simulate_irc_nlp(BODY, LEVEL, law, *THROW, time_step=time_step, steps=steps)
    assert n_failed(solutions) == 0 and (exact.impulse_n > 0.0).sum() > 3
    assert np.abs(motion.position - exact.position).max() < 1e-9
    assert np.abs(motion.velocity - exact.velocity).max() < 1e-8
    assert np.abs(motion.impulse_n - exact.impulse_n).max() < 1e-7
    assert np.abs(motion.impulse_t - exact.impulse_t).max() < 1e-7
    assert np.array_equal(motion.time, exact.time)
    assert max(solution.residual for solution in solutions) < 1e-9
    assert first_impact(motion)[0] == np.argmax(exact.impulse_n[:, 0] > 0.0)


def test_steps_without_contact_are_solved_to_the_closed_form() -> None:
    law = PlanarLaw(0.5, 0.3)
    start = ([0.0, 1.05, 0.2], [1.0, 3.0, -1.0])
    motion, solutions = simulate_irc_nlp(BODY, LEVEL, law, *start, time_step=5e-3, steps=40)
    exact = simulate(BODY, LEVEL, law, *start, time_step=5e-3, steps=40)
    assert len(solutions) == 40 and n_failed(solutions) == 0
    assert np.abs(motion.position - exact.position).max() < 1e-9
    assert not motion.impulse_n.any() and first_impact(motion)[0] == -1


@settings(max_examples=60, deadline=None)
@given(
    numbers=st.lists(unit, min_size=8, max_size=8),
    law=st.tuples(st.just(0.0) | st.floats(1e-3, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
)
def test_one_step_of_eq_20_is_the_exact_step(
    numbers: list[float], law: tuple[float, float, float]
) -> None:
    body, ground, q, v, n, t = ellipse_on_ground(numbers, lift=-1e-10)
    given_law = PlanarLaw(*law)
    assume(not wedges(body, given_law, n, t))
    exact = simulate(body, ground, given_law, q, v, time_step=2e-3, steps=1)
    at = contacts(body.shape, ground, q)
    found = solve_irc_step(build_irc_step(body, ground, given_law, 2e-3), q, v, at)
    assert found.converged
    assert found.velocity == pytest.approx(exact.velocity[1], abs=1e-7)
    assert found.position == pytest.approx(exact.position[1], abs=1e-9)
    assert found.impulse_n == pytest.approx(exact.impulse_n[1], abs=1e-6)
    assert found.impulse_t == pytest.approx(exact.impulse_t[1], abs=1e-6)


def leave_unsettled(patch: pytest.MonkeyPatch) -> None:
    """Take the solution of eq. 20 with its first weight as it is."""
    patch.setattr(step_module, "settle", lambda pairs, options: None)
    patch.setattr(step_module, "_WEIGHTS", step_module._WEIGHTS[:1])


def test_eq_20_alone_comes_near_and_settling_makes_it_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law, q, v = PlanarLaw(0.2, 0.4), np.array([0.0, 1.0, 0.0]), np.array([3.0, -2.0, 1.0])
    at = contacts(BODY.shape, LEVEL, q)
    step = build_irc_step(BODY, LEVEL, law, 1e-3)
    with monkeypatch.context() as unsettled:
        leave_unsettled(unsettled)
        alone = solve_irc_step(step, q, v, at)
    settled = solve_irc_step(step, q, v, at)
    assert 1e-10 < alone.residual < 1e-3 and alone.residual == alone.unsettled_residual
    assert settled.unsettled_residual == pytest.approx(alone.residual)
    assert settled.residual < 1e-12 and settled.converged
    assert np.abs(alone.velocity - settled.velocity).max() < 1e-2
    assert settled.iterations > alone.iterations
    # slides: the impulse is on the cone's edge, and the normal velocity is reversed
    assert settled.impulse_n[0] == pytest.approx(10.0 * (1.4 * 2.0 + 1e-3 * GRAVITY))
    assert settled.impulse_t[0] == pytest.approx(-0.2 * settled.impulse_n[0])


def test_a_closed_contact_is_what_the_compiled_step_takes_for_one() -> None:
    at = contacts(
        BODY.shape,
        LEVEL,
        [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0 + 1e-12, 0.0], [0.0, 0.9, 0.0]],
    )
    rise = np.array([0.5 * CLOSING, 2.0 * CLOSING, -1.0, 0.0])
    v = np.column_stack([np.zeros(4), rise, np.zeros(4)])
    assert closed_contacts(at, v)[:, 0].tolist() == [True, False, False, True]


def test_solves_that_fail_are_counted_and_the_motion_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leave_unsettled(monkeypatch)
    monkeypatch.setattr(step_module, "_SOLVER", SolverOptions(max_iterations=2))
    start = ([0.0, 1.0, 0.0], [3.0, -1.0, 0.0])
    motion, solutions = simulate_irc_nlp(
        BODY, LEVEL, PlanarLaw(0.3, 0.0), *start, time_step=1e-3, steps=3
    )
    assert len(solutions) == n_failed(solutions) == 3
    assert len(motion.time) == 4 and np.isfinite(motion.position).all()
    assert all(solution.residual > step_module.TOLERANCE for solution in solutions)


def test_two_corners_that_land_together_share_the_impulse() -> None:
    motion, solutions = simulate_irc_nlp(
        SQUARE,
        LEVEL,
        PlanarLaw(0.4, 0.5),
        [0.0, 1.0, 0.0],
        [0.0, -2.0, 0.0],
        time_step=1e-3,
        steps=1,
    )
    assert n_failed(solutions) == 0
    assert motion.impulse_n[1].sum() == pytest.approx(3.0 * (1.5 * 2.0 + 1e-3 * GRAVITY), rel=1e-9)
    assert motion.velocity[1] == pytest.approx([0.0, 1.0, 0.0], abs=1e-8)


def test_prescribed_velocities_that_need_a_pulling_contact_have_no_solution() -> None:
    tall = PlanarBody(Polygon(((0.1, 1.0), (-0.1, 1.0), (-0.1, -1.0), (0.1, -1.0))), 1.0, 0.4)
    # the right corner closes fast; its impulse alone turns the block so that the left one would
    # leave the ground less slowly than the equality wants
    rate = np.array([0.0, -1.0, -9.0])
    at = contacts(tall.shape, LEVEL, [0.0, 1.0, 0.0])
    speeds = (at.normal @ rate)[2:]
    assert (speeds < 0.0).all()
    inverse = 1.0 / tall.mass_matrix
    delassus = at.normal[2:] @ (inverse[:, None] * at.normal[2:].T)
    needed = np.linalg.solve(delassus, -speeds)
    assert needed.min() < 0.0
    _, solutions = simulate_irc_nlp(
        tall, LEVEL, PlanarLaw(0.0, 0.0), [0.0, 1.0, 0.0], rate, time_step=1e-4, steps=1
    )
    assert n_failed(solutions) == 1


def drop_before_contact(time_step: float) -> tuple[int, float, float]:
    """Of the drop from 10 m: steps until the next free one would enter the ground, the gap and the
    speed there.
    """
    k, gap, fall = 0, 9.0, 0.0
    while gap - time_step * (fall + time_step * GRAVITY) >= 0.0:
        fall += time_step * GRAVITY
        gap -= time_step * fall
        k += 1
    return k, gap, fall


def by_gap(
    law: PlanarLaw, position: Sequence[float], velocity: Sequence[float], h: float, steps: int
) -> PlanarMotion:
    scene = Scene("thrown", BODY, LEVEL, tuple(position), tuple(velocity), steps * h, h, (law,))
    return gap_motion(scene, law, h)


@pytest.mark.parametrize("time_step", [1e-3, 2e-3, 5e-3, 0.0137, 0.02])
def test_impulse_gap_complementarity_splits_the_drop_s_impulse_as_computed_by_hand(
    time_step: float,
) -> None:
    """The first impulse leaves the speed g_k / h that just closes the gap, the second one takes it
    away.

    ``c_1 = m (v + g h) - m g_k / h`` and ``c_2 = m g_k / h + m g h``, with speed v and gap g_k
    before; then ``m g h``.
    """
    k, gap, fall = drop_before_contact(time_step)
    motion = by_gap(PlanarLaw(0.5, 0.0), (0.0, 10.0, 0.0), (0.0, 0.0, 0.0), time_step, k + 21)
    first = first_impact(motion)[0]
    assert first == k + 1
    weight = 10.0 * GRAVITY * time_step
    impulse = motion.impulse_n[first:, 0]
    assert impulse[0] == pytest.approx(10.0 * fall + weight - 10.0 * gap / time_step, rel=1e-6)
    assert impulse[1] == pytest.approx(10.0 * gap / time_step + weight, rel=1e-6)
    assert impulse[2:] == pytest.approx(np.full(19, weight), rel=1e-5)
    assert np.abs(motion.gap[first:]).max() < 1e-10
    assert np.abs(motion.position[:, [0, 2]]).max() < 1e-9


@pytest.mark.parametrize("time_step", [1e-3, 5e-3, 0.02])
@pytest.mark.parametrize("friction_mu", [0.2, 0.5])
def test_impulse_gap_complementarity_keeps_its_laws_in_the_throw(
    friction_mu: float, time_step: float
) -> None:
    motion = by_gap(PlanarLaw(friction_mu, 0.0), *THROW, time_step, round(1.0 / time_step))
    c_n, c_t = motion.impulse_n, motion.impulse_t
    assert motion.gap.min() > -1e-10 and (c_n > 0.0).any()
    assert (c_n > -1e-9).all() and (c_n * motion.gap).max() < 1e-8
    assert (np.abs(c_t) <= friction_mu * c_n + 1e-7).all()
    at = contacts(BODY.shape, LEVEL, motion.position[:-1])
    slip = np.einsum("kji,ki->kj", at.tangent, motion.velocity[1:])
    inside = np.abs(c_t[1:]) < friction_mu * c_n[1:] - 1e-6
    assert np.abs(slip[inside & (c_n[1:] > 0.0)]).max(initial=0.0) < 1e-7  # sticks within the cone
    assert (slip * c_t[1:] < 1e-6).all()  # opposes sliding on its edge
    momentum = BODY.mass_matrix * np.diff(motion.velocity, axis=0)
    momentum[:, 1] += 10.0 * GRAVITY * time_step
    wrench = c_n[1:, :, None] * at.normal + c_t[1:, :, None] * at.tangent
    assert np.abs(momentum - wrench.sum(axis=1)).max() < 1e-7


def solutions_by_mode(
    body: PlanarBody, ground: Ground, law: PlanarLaw, q: np.ndarray, v: np.ndarray, h: float
) -> Iterator[tuple[float, float]]:
    """All (c_n, c_t) that close the gap in stick or on an edge of the cone, by bracketing and root
    finding.
    """
    at = contacts(body.shape, ground, q)
    n, t = at.normal[0], at.tangent[0]
    inverse = 1.0 / body.mass_matrix
    free = v - [0.0, h * law.gravity, 0.0]
    w_tt, w_nt, mu = float(t @ (inverse * t)), float(n @ (inverse * t)), law.friction_mu

    def velocity(c_n: float, c_t: float) -> np.ndarray:
        return free + inverse * (n * c_n + t * c_t)

    modes: list[tuple[Callable[[float], float], Callable[[float, float, float], bool]]] = [
        (
            lambda c: -(float(t @ free) + w_nt * c) / w_tt,
            lambda c, c_t, u: abs(c_t) <= mu * c + 1e-10,
        ),
        (lambda c: -mu * c, lambda c, c_t, u: u >= -1e-10),
        (lambda c: mu * c, lambda c, c_t, u: u <= 1e-10),
    ]
    for tangential, holds in modes:

        def gap(c: float, along: Callable[[float], float] = tangential) -> float:
            return float(contacts(body.shape, ground, q + h * velocity(c, along(c))).gap[0])

        tried = np.linspace(0.0, 60.0, 241)
        values = [gap(c) for c in tried]
        for low, high, at_low, at_high in zip(tried, tried[1:], values, values[1:], strict=False):
            if at_low * at_high < 0.0:
                c = float(brentq(gap, low, high, xtol=1e-13))
                if holds(c, tangential(c), float(t @ velocity(c, tangential(c)))):
                    yield c, tangential(c)


@settings(max_examples=40, deadline=None)
@given(
    numbers=st.lists(unit, min_size=8, max_size=8),
    friction_mu=st.just(0.0) | st.floats(1e-3, 0.8),
    time_step=st.sampled_from([5e-4, 2e-3, 1e-2]),
    part=st.floats(0.0, 0.9),
)
def test_an_impulse_gap_step_is_a_root_of_its_contact_mode(
    numbers: list[float], friction_mu: float, time_step: float, part: float
) -> None:
    closing = 1.05 + numbers[6]
    body, ground, q, v, n, t = ellipse_on_ground(numbers, lift=part * closing * time_step)
    law = PlanarLaw(friction_mu, 0.0)
    assume(not wedges(body, law, n, t))
    assume(
        contacts(body.shape, ground, q + time_step * (v - [0.0, time_step * GRAVITY, 0.0])).gap[0]
        < -1e-7
    )
    scene = Scene(
        "step", body, ground, tuple(q.tolist()), tuple(v.tolist()), time_step, time_step, (law,)
    )
    found = gap_motion(scene, law, time_step)
    roots = np.array(list(solutions_by_mode(body, ground, law, q, v, time_step)))
    impulse = np.array([found.impulse_n[1, 0], found.impulse_t[1, 0]])
    assert len(roots) and np.abs(roots - impulse).max(axis=1).min() < 1e-6 * (1.0 + impulse[0])


def test_impossible_requests_are_refused() -> None:
    law = PlanarLaw(0.3, 0.0)
    for start, time_step, steps, says in (
        (([0.0, 0.5, 0.0], [0.0, 0.0, 0.0]), 1e-3, 5, "inside the ground"),
        (([0.0, 5.0], [0.0, 0.0, 0.0]), 1e-3, 5, "six finite numbers"),
        (THROW, 0.0, 5, "time step"),
        (THROW, 1e-3, 0, "number of steps"),
    ):
        with pytest.raises(ContactIdError, match=says):
            simulate_irc_nlp(BODY, LEVEL, law, *start, time_step=time_step, steps=steps)
