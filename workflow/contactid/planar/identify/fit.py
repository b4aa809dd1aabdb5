"""Identify J/m, friction, states and impulses from a measured throw: starts, continuation, settled
solution, intervals.

The way is the same for every throw, with nothing to tune. A start is a simulated motion that was
fitted to the poses (:mod:`contactid.planar.engine.search`). First its own sequence of contacts is
taken: one side of every pair is exactly zero, and what remains is an ordinary least-squares problem
with a covariance, in which sides are exchanged while the misfit falls
(:mod:`contactid.core.pair_sides`). Where no start's sequence explains the poses, a penalty with a
growing weight finds another one, which is settled in the same way. An answer counts when
complementarity holds and the poses are fitted as well as their noise lets expect; else the next
start is tried, and the best answer is taken.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]
from scipy.stats import chi2

from contactid.core.complementarity import (
    Continuation,
    MpecSolution,
    Reformulation,
    attach,
    settled_sides,
    solve_mpec,
)
from contactid.core.errors import ContactIdError
from contactid.core.pair_sides import ACCEPTABLE, PairSides, pair_residual
from contactid.core.solve import Solution, SolverOptions
from contactid.planar.engine.problem import Problem, Throw
from contactid.planar.engine.search import search
from contactid.planar.engine.unknowns import MU, N_STATE, RATIO, Geometry
from contactid.planar.identify.standard_errors import standard_errors
from contactid.planar.identify.starts import StepBody, interpolated_throw, simulated_throw
from contactid.planar.identify.states import NUMBERS, StoredFit, ThrowStates
from contactid.planar.models.trajectory import (
    Guess,
    Scales,
    TrajectoryModel,
    build_trajectory_model,
    sub_steps_of,
)
from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.simulate.geometry import Shape, contacts
from contactid.planar.simulate.throws import MeasuredThrow

_PLAUSIBLE = 0.999  # quantile of chi-square up to which a misfit is noise
_USUAL = 2.5  # standard deviations of chi-square above its expectation
_EDGE = 0.01  # share of J/m's possible range that counts as its edge
_EXACT = 1e-6  # residual of pairs that hold, dimensionless
_SLIDING = 0.02  # of the scale speed: contacts that move slower, on the impulses' average, roll
_SOLVER = SolverOptions(tolerance=1e-5, max_iterations=180).warm(1e-3, 1e-4)
# of J/m by the uniform body's, mu and e_N: motions that differ by less lead to one answer
_SAME = 0.01
# tries after which a rolling body's answer with a usual misfit does; twice as many, and any
# plausible one does
_ENOUGH = 3
_SURE = 50.0  # of a logarithm of likelihoods: beyond it one of two is certain
_EXCHANGES = 6  # improvements of a start's own sequence of contacts, at most
RECOMMENDED = tuple(
    Continuation(Reformulation.L1_PENALTY, stages, tolerance=1e-6, extensions=2)
    for stages in ((1e4, 1e6, 1e7), (1e3, 1e5, 1e7), (1e2, 1e4, 1e6, 1e7), (1e5, 1e7))
)
"""From staying close to the start to letting go of it: each may end in another sequence of
contacts.
"""
CONTACT_SEQUENCE = "contact_sequence"
"""The name of taking a start's own sequence of contacts."""


@dataclass(frozen=True)
class FitOptions:
    """How to identify.

    Attributes
    ----------
    gravity : m/s2
    longest_step : h-bar of section 5.1, s
    sequences : starts whose own sequence of contacts is taken, at most
    continuations : reformulation and its stages; every start goes through them in turn
    tries : continuations from starts, at most
    """

    gravity: float = GRAVITY
    longest_step: float = 2.1e-3
    sequences: int = 4
    continuations: tuple[Continuation, ...] = RECOMMENDED
    tries: int = 6


@dataclass(frozen=True)
class TrajectoryFit:
    """An identified body.

    Attributes
    ----------
    inertia_ratio, friction_mu : J/m (m2) and mu
    inertia_ratio_se, friction_mu_se : their standard errors, see :func:`combined_errors`; NaN where
        nothing settled, infinite for J/m where it is at a limit
    ratio_is_limit : J/m ended at the edge of what the outline makes possible, so the throw doesn't
        determine it
    friction_is_bound : nothing slides, so mu is only the largest ratio of impulses, the least that
        explains the motion
    misfit : half the sum of squared residuals in units of their noise
    residuals : their number
    complementarity : largest residual of the pairs, dimensionless, recomputed
    converged : the last solve converged and complementarity holds
    states : of the throw, and its impulses
    start_ratio : J/m (m2) of the accepted try's start
    method : :data:`CONTACT_SEQUENCE`, or the reformulation of the accepted try
    solution : of the accepted try
    accepted : number of the accepted try, from 0
    tries : how many there were
    seconds, build_seconds : wall time in all, and of building the accepted model
    """

    inertia_ratio: float
    friction_mu: float
    inertia_ratio_se: float
    friction_mu_se: float
    ratio_is_limit: bool
    friction_is_bound: bool
    misfit: float
    residuals: int
    complementarity: float
    converged: bool
    states: ThrowStates
    start_ratio: float
    method: str
    solution: MpecSolution = field(repr=False)
    accepted: int = 0
    tries: int = 1
    seconds: float = 0.0
    build_seconds: float = 0.0

    @property
    def degrees(self) -> int:
        """Residuals less states, J/m, mu and an impulse per impact; at least 1."""
        return max(self.residuals - 6 - 2 - self.states.n_impacts, 1)

    @property
    def plausible(self) -> bool:
        """Whether the misfit is one that noise explains."""
        return 2.0 * self.misfit <= float(chi2.ppf(_PLAUSIBLE, self.degrees))

    @property
    def misfit_per_degree(self) -> float:
        """Squared residuals in units of their noise, per degree of freedom: about 1 where noise is
        all there is.
        """
        return 2.0 * self.misfit / self.degrees

    @property
    def solved_roughly(self) -> bool:
        """Whether the answer met 100 times the solver's tolerance alone: where its steps drown in
        rounding.
        """
        return self.solution.last.status == ACCEPTABLE

    @property
    def iterations(self) -> int:
        """Of the accepted try's kept solves; attempts that failed are in ``seconds`` alone."""
        return self.solution.iterations


def scales_of(shape: Shape, throw: MeasuredThrow) -> Scales:
    """The outline's largest radius, and the largest speed of the throw."""
    # m/s, of the centre from frame to frame
    speed = (
        np.linalg.norm(np.diff(throw.position[:, :2], axis=0), axis=1).max() / throw.frame_interval
    )
    return Scales(float(np.linalg.norm(shape.outline(), axis=1).max()), max(float(speed), 1e-3))


def fit_trajectory(
    shape: Shape, throw: MeasuredThrow, options: FitOptions | None = None
) -> TrajectoryFit:
    """Identify J/m and mu of a body from a throw.

    Raises
    ------
    ContactIdError
        With options that leave nothing to try.
    """
    options = options or FitOptions()
    begin = time.perf_counter()
    fits: list[TrajectoryFit] = []
    best: TrajectoryFit | None = None
    guesses: list[Guess] = []
    # starts are made as they are needed, and tries end once one answer will do
    for guess, continuation in _ways(_starts(shape, throw, options), options):
        guesses.append(guess)
        fit = _fit_from(shape, throw, guess, options, continuation)
        if best is None or _rank(fit) < _rank(best):
            best = replace(fit, accepted=len(fits))
        fits.append(fit)
        if _is_enough(best, len(fits)):
            break
    if best is None:
        raise ContactIdError("no way to identify is left", "Allow a sequence or a continuation")
    return _with_errors(best, fits, guesses, begin)


def fit_from_motion(
    shape: Shape, throw: MeasuredThrow, guess: Guess, options: FitOptions | None = None
) -> TrajectoryFit:
    """Follow the contact sequence of a motion that is known already: one solve, no search."""
    begin = time.perf_counter()
    fit = _fit_from(shape, throw, guess, options or FitOptions(), None)
    return _with_errors(fit, [fit], (), begin)


def _with_errors(
    best: TrajectoryFit, fits: Sequence[TrajectoryFit], guesses: Sequence[Guess], begin: float
) -> TrajectoryFit:
    ratio_se, mu_se = combined_errors(best, fits, guesses)
    return replace(
        best,
        # at a limit the misfit is flat, so no error means anything; a bound of mu has none
        inertia_ratio_se=np.inf if best.ratio_is_limit else ratio_se,
        friction_mu_se=np.nan if best.friction_is_bound else mu_se,
        tries=len(fits),
        seconds=time.perf_counter() - begin,
    )


def combined_errors(
    best: TrajectoryFit, fits: Sequence[TrajectoryFit], guesses: Sequence[Guess] = ()
) -> tuple[float, float]:
    """Standard errors of J/m (m2) and mu of the best answer, with what other settled answers and
    the starts say.

    A standard error from the reduced Hessian holds for one sequence of contacts. Where another
    sequence explains the poses about as well, the truth may be there: each answer counts with its
    likelihood relative to the best, and its distance from the best adds to the variance. So does
    each start's: where two corners hit at nearly the same instant, J/m depends on a sequence that
    no grid resolves, and the simulated motion that the poses were fitted by may be nearer to the
    truth. Where the misfit exceeds its expectation, errors grow by its root.
    """
    settled = [
        fit
        for fit in fits
        if fit.solution.settled and fit.converged and np.isfinite(fit.inertia_ratio_se)
    ]
    if not settled:
        return float("nan"), float("nan")
    # a misfit below its expectation doesn't make errors smaller
    excess = max(1.0, best.misfit_per_degree)
    # relative likelihoods: a misfit is half the squared residuals, in units of the excess
    weights = np.exp(-np.array([max(fit.misfit - best.misfit, 0.0) for fit in settled]) / excess)
    weights /= weights.sum()
    between = 0.0  # variance between the answer and its starts
    for guess in guesses:
        # likelihood of the start by that of start and answer together; clipped, or exp overflows
        share = 1.0 / (1.0 + np.exp(np.clip((guess.misfit - best.misfit) / excess, -_SURE, _SURE)))
        departure = guess.inertia_ratio - best.inertia_ratio
        between = max(between, float(share) * departure**2)
    # variance of a mixture about the best answer: each one's own and its squared distance
    ratio = between + sum(
        w * (fit.inertia_ratio_se**2 * excess + (fit.inertia_ratio - best.inertia_ratio) ** 2)
        for w, fit in zip(weights, settled, strict=True)
    )
    slip = [
        (w, fit)
        for w, fit in zip(weights, settled, strict=True)
        if w > 0.0 and np.isfinite(fit.friction_mu_se)
    ]
    whole = sum(w for w, _ in slip)
    mu = sum(
        w * (fit.friction_mu_se**2 * excess + (fit.friction_mu - best.friction_mu) ** 2)
        for w, fit in slip
    )
    return float(np.sqrt(ratio)), float(np.sqrt(mu / whole)) if slip else float("nan")


def _is_enough(best: TrajectoryFit, tries: int) -> bool:
    """Whether another try would hardly change the answer or its standard error.

    A wrong sequence of contacts that slide shows in the misfit, so the first whose misfit is usual
    will do. Several sequences explain the poses of a body that rolls, and each counts in the
    standard error, so some are tried. A larger misfit will do after twice as many.
    """
    if not (best.solution.settled and best.converged):
        return False
    # chi-square of n degrees has the standard deviation sqrt(2 n): of its mean that is sqrt(2 / n)
    excess = (best.misfit_per_degree - 1.0) / np.sqrt(2.0 / best.degrees)
    if best.friction_is_bound and excess <= 1.0:
        return tries >= _ENOUGH
    if not best.friction_is_bound and excess <= _USUAL:
        return True
    return tries >= 2 * _ENOUGH and best.plausible


def _rank(fit: TrajectoryFit) -> tuple[bool, float]:
    """Order of answers: those that obey the contact law exactly first, then by misfit."""
    good = fit.converged and fit.solution.settled
    # what isn't settled has no misfit to compare: it violates the contact law
    return not good, fit.misfit if good else fit.complementarity


def _ways(
    starts: Iterator[Guess], options: FitOptions
) -> Iterator[tuple[Guess, Continuation | None]]:
    """What to try: the starts' own sequences, then continuations; starts are made when needed."""
    made: list[Guess] = []
    for guess in itertools.islice(starts, options.sequences):
        made.append(guess)
        # bare measurements know no sequence
        if guess.throw.mode is not None:
            yield guess, None
    # continuations begin with the starts that are made already, and make others as they are needed
    every = itertools.chain(made, starts)
    yield from itertools.islice(
        ((guess, way) for guess in every for way in options.continuations), options.tries
    )


def _starts(shape: Shape, throw: MeasuredThrow, options: FitOptions) -> Iterator[Guess]:
    """Fitted motions, best first, and the bare measurements."""
    yield from motion_guesses(shape, throw, options)
    n_s = sub_steps_of(throw, options.longest_step)
    # the last resort: a uniform body, and no motion at all
    yield Guess(shape.uniform_inertia_ratio, 0.3, interpolated_throw(shape, throw, n_s))


def motion_guesses(shape: Shape, throw: MeasuredThrow, options: FitOptions) -> Iterator[Guess]:
    """Starts from fitted motions of the engine, best first: body and ground are as stated, every
    frame counts.
    """
    n_s = sub_steps_of(throw, options.longest_step)
    every_frame = np.ones(len(throw.time), dtype=bool)
    # no errors of geometry: body and ground are as stated
    problem = Problem(Geometry(shape, throw.ground, options.gravity), [Throw(throw, every_frame)])
    tried: list[np.ndarray] = []
    for point in search(problem):
        ratio, mu = float(point.common[RATIO]), float(point.common[MU])
        # the first impact's restitution tells motions of one J/m and mu apart
        signature = np.array([ratio / shape.uniform_inertia_ratio, mu, point.own[0, N_STATE]])
        if any(np.allclose(signature, other, rtol=_SAME, atol=_SAME) for other in tried):
            continue  # another one again, but for a restitution of an impact that hardly shows
        tried.append(signature)
        body = StepBody(ratio, mu, options.gravity)
        guess = simulated_throw(shape, throw, n_s, problem.motion(point, 0), body)
        yield Guess(ratio, mu, guess, 0.5 * problem.misfit(point)[0])


def _fit_from(
    shape: Shape,
    throw: MeasuredThrow,
    guess: Guess,
    options: FitOptions,
    continuation: Continuation | None,
) -> TrajectoryFit:
    """Build and solve from one start, by a continuation or, without one, for its own sequence."""
    begin = time.perf_counter()
    scales, n_s = scales_of(shape, throw), sub_steps_of(throw, options.longest_step)
    built = build_trajectory_model(shape, throw, guess, scales, n_s, options.gravity)
    build_seconds = time.perf_counter() - begin
    if continuation is None:
        solution, errors = _follow_sequence(built)
    else:
        solution, errors = _follow_continuation(built, continuation)
    states = read_states(built, shape, throw)
    # where nothing slides mu has no influence but as a bound of what the contacts need
    bound = states.mean_sliding < _SLIDING * scales.speed
    return TrajectoryFit(
        inertia_ratio=built.inertia_ratio,
        friction_mu=states.largest_ratio if bound else built.friction_mu,
        inertia_ratio_se=errors[0],
        ratio_is_limit=_is_limit(built),
        friction_mu_se=np.nan if bound else errors[1],
        friction_is_bound=bound,
        misfit=float(pyo.value(built.misfit)),
        residuals=throw.position.size,
        complementarity=solution.residual,
        converged=solution.converged,
        states=states,
        start_ratio=guess.inertia_ratio,
        method=CONTACT_SEQUENCE if continuation is None else continuation.reformulation.value,
        solution=solution,
        build_seconds=build_seconds,
    )


def _follow_sequence(built: TrajectoryModel) -> tuple[MpecSolution, tuple[float, float]]:
    """The program in which the guess's sequence of contacts is given, and standard errors of J/m
    (m2) and mu.
    """
    assert built.held is not None
    sides = PairSides(built.model, built.pairs)
    first = sides.solve(built.held, _SOLVER)
    further: list[Solution] = []
    if first.converged:
        _, further = sides.exchange(built.held, first, _SOLVER.warm(), _EXCHANGES)
    errors = standard_errors(built, sides) if first.converged else (np.nan, np.nan)
    sides.release()
    # recomputed once the sides are free again, not taken from the solver
    residual = pair_residual(built.pairs)
    solution = MpecSolution(
        stages=(first, *further),
        parameters=(float("nan"),) * (1 + len(further)),
        residual=residual,
        objective=float(pyo.value(built.model.misfit)),
        converged=first.converged and residual <= _EXACT,
        settled=first.converged,
    )
    return solution, errors


def _follow_continuation(
    built: TrajectoryModel, continuation: Continuation
) -> tuple[MpecSolution, tuple[float, float]]:
    """A reformulation driven to its limit, and standard errors of J/m (m2) and mu where it settled."""
    pairs = attach(built.model, built.pairs, continuation.reformulation)
    solution = solve_mpec(pairs, continuation, _SOLVER)
    if not solution.settled:
        return solution, (np.nan, np.nan)
    with settled_sides(pairs) as (sides, _):
        return solution, standard_errors(built, sides)


def _is_limit(built: TrajectoryModel) -> bool:
    """Whether J/m is at an edge of its range, where the misfit is flat and no standard error means
    anything.
    """
    low, high = built.model.inertia_ratio.bounds
    edge = _EDGE * (high - low)
    return not low + edge <= pyo.value(built.model.inertia_ratio) <= high - edge


def read_states(built: TrajectoryModel, shape: Shape, throw: MeasuredThrow) -> ThrowStates:
    """States and impulses at the model's present point, SI units."""
    block, n_s, scales = built.model.throw, built.n_s, built.scales
    n = n_s * throw.n_frames
    q = np.array([[pyo.value(block.q[k, i]) for i in range(3)] for k in range(n + 1)]) * scales.pose
    v = (
        np.array([[pyo.value(block.v[k, i]) for i in range(3)] for k in range(n + 1)])
        * scales.pose
        / scales.time
    )
    impulses = np.zeros((2, n, shape.n_contacts))
    for k, c in block.c_n:
        impulses[:, k, c] = pyo.value(block.c_n[k, c]), pyo.value(block.c_t[k, c])
    # frames without a contact in reach keep even steps: their shares aren't variables
    shares = np.array([pyo.value(block.share[k]) if k in block.share else 1.0 for k in range(n)])
    time = throw.time[0] + np.concatenate([[0.0], np.cumsum(shares)]) * throw.frame_interval / n_s
    at = contacts(shape, throw.ground, q)
    return ThrowStates(
        time=time,
        frame=n_s * np.arange(throw.n_frames + 1),
        position=q,
        velocity=v,
        impulse_n=impulses[0] * scales.speed,
        impulse_t=impulses[1] * scales.speed,
        gap=at.gap,
        sliding=(at.tangent[:-1] * v[1:, None, :]).sum(axis=-1),
    )


def stored(
    label: str, shape: Shape, throw: MeasuredThrow, fit: TrajectoryFit, **truth: Any
) -> StoredFit:
    """The one throw of a fit, ready for a file; ``truth`` are its truth and mass."""
    numbers = {name: getattr(fit, name) for name in (*NUMBERS, "friction_is_bound")}
    return StoredFit(
        label, 1.0 / throw.frame_interval, shape, throw, fit.states, **numbers, **truth
    )
