"""How a user's throws are identified: whole throws by the engine, or a polygon's impacts by eq. 31.

Both judge themselves: an answer whose interval holds most of what the outline alone allows, or
whose misfit nothing explains, is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from contactid.output.result import with_error
from contactid.planar.engine.answer import Answer, identify, inverse_of
from contactid.planar.engine.problem import Point, Problem
from contactid.planar.engine.search import Say
from contactid.planar.engine.steering import STEERING, Steering
from contactid.planar.engine.unknowns import (
    HEIGHT,
    MU,
    N_COMMON,
    POINT_X,
    POINT_Y,
    RADIUS,
    RATIO,
    SLOPE,
    TURN,
    Geometry,
    reach_of,
)
from contactid.planar.identify.states import ThrowStates
from contactid.planar.own.body import OwnBody, OwnThrows
from contactid.planar.own.doubts import (
    BOUND,
    MM2,
    WEAK,
    is_settled,
    notes_of,
    other_centre,
    refuse_undetermined,
    refuted,
    warnings_of,
)
from contactid.planar.own.impacts import OwnImpacts, identify_impacts
from contactid.planar.own.searches import (
    by_other_law,
    far_from_motions,
    refitted,
    searched,
    searched_without_wild_poses,
)
from contactid.planar.own.wild import problem_of, without_wild_poses
from contactid.planar.simulate.geometry import Polygon, contacts
from contactid.planar.simulate.throws import MeasuredThrow
from contactid.planar.squares.events import Alignment
from contactid.sources.explaining import FINE

#: Impacts by themselves that can contradict each other and a wrong convention; fewer are fitted by any.
FEWEST_IMPACTS = 3
#: Relative error of a polygon's J/m by impacts, about what whole throws that bounce often would give.
_PRECISE = 0.05


@dataclass(frozen=True)
class OwnFit:
    """The numbers of an answer.

    Attributes
    ----------
    inertia_ratio, inertia_ratio_se : J/m and its standard error, m2
    friction_mu, friction_mu_se : friction; a lower bound without an error where
        ``friction_is_bound``
    corner_radius, corner_radius_se : m
    squares, degrees : squared residuals in units of noise, and degrees of freedom
    alignment : ground, and how the tracked frame lies in the body
    correlation : (:data:`N_COMMON`,) * 2 of the engine's common unknowns, by the cost's curvature
    geometry_errors : (5,) standard errors of turn (rad), centre (2,) (m), slope (rad) and height
        (m)
    states : the identified motion of each name
    converged : whether one more step gains nothing
    whole_squares, whole_degrees : misfit of whole throws, whether or not impacts were taken
    by_impacts : whether impacts were taken by themselves
    incremental : whether friction follows the slip during an impact, in place of the paper's law
    """

    inertia_ratio: float
    inertia_ratio_se: float
    friction_mu: float
    friction_mu_se: float
    friction_is_bound: bool
    corner_radius: float
    corner_radius_se: float
    squares: float
    degrees: int
    alignment: Alignment
    correlation: np.ndarray
    geometry_errors: np.ndarray
    states: tuple[ThrowStates, ...] = field(repr=False)
    converged: bool
    whole_squares: float
    whole_degrees: int
    by_impacts: bool = False
    incremental: bool = False

    @property
    def misfit_per_degree(self) -> float:
        """About 1 where noise is all there is."""
        return self.squares / self.degrees


@dataclass(frozen=True)
class OwnIdentification:
    """An identified body with what to think of it.

    Attributes
    ----------
    body : with the fitted corners and ground
    throws : what it was identified from
    names, measured : of the throws, or of their impacts, and their poses as the body's
    fit : the answer
    notes, warnings : sentences, those about the throws included
    """

    body: OwnBody
    throws: OwnThrows
    names: tuple[str, ...]
    measured: tuple[MeasuredThrow, ...]
    fit: OwnFit
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def each(self) -> list[tuple[str, MeasuredThrow, ThrowStates]]:
        """Name, measured poses and identified motion of each throw."""
        return list(zip(self.names, self.measured, self.fit.states, strict=True))

    @property
    def scale(self) -> float:
        """Factor by which the misfit enlarges the standard errors, at least 1."""
        return max(1.0, float(np.sqrt(self.fit.misfit_per_degree)))

    def lines(self) -> list[str]:
        """The results, for a terminal."""
        fit = self.fit
        lines = [f"J/m = {with_error(MM2 * fit.inertia_ratio, MM2 * fit.inertia_ratio_se, 'mm2')}"]
        if self.body.mass is not None:
            lines[0] += f", J = {self.body.mass * fit.inertia_ratio:.3g} kg m2"
        if fit.by_impacts:
            lines.append(f"mu >= {fit.friction_mu:.3g} in half of the impacts")
        elif fit.friction_is_bound:
            lines.append(f"mu >= {fit.friction_mu:.3g} (no contact slides: only a {BOUND})")
        else:
            lines.append(f"mu = {with_error(fit.friction_mu, fit.friction_mu_se)}")
        if not self.body.radius_given:
            lines.append(
                f"corner radius = {with_error(1e3 * fit.corner_radius, 1e3 * fit.corner_radius_se, 'mm')}"
            )
        return lines


def stated_geometry(body: OwnBody, throws: OwnThrows, steering: Steering = STEERING) -> Geometry:
    """What the description says of the geometry, and how far the truth may be from it."""
    shape, reach = body.shape, reach_of(body.shape)
    if isinstance(shape, Polygon) and not body.radius_given:
        # an unknown radius begins at the prior's mean
        shape = replace(shape, radius=steering.radius_prior * reach)
    centre = body.centre or (0.0, 0.0)
    return Geometry(
        shape=shape,
        ground=throws.throws[0].ground,
        gravity=body.gravity,
        turn=throws.turn if body.turn is None else body.turn,
        # the description gives the centre from the tracked point, the engine the point from the
        # centre
        point=(-centre[0], -centre[1]),
        turn_error=steering.turn_error if body.turn is None else steering.stated_turn_error,
        point_error=steering.point_error * reach
        if body.centre is None
        else steering.stated_point_error,
        radius_error=0.0 if body.radius_given else steering.radius_error * reach,
        slope_error=steering.slope_error,
        height_error=steering.height_error,
    )


def identify_own(
    body: OwnBody,
    throws: OwnThrows,
    say: Say | None = None,
    steering: Steering = STEERING,
    *,
    hasty: bool = False,
) -> OwnIdentification:
    """Identify J/m and mu from all throws jointly, and judge the answer; ``say`` takes a line on
    each step. A ``hasty`` search ends where a throw is far from any motion, also where impacts don't
    tell J/m.

    Raises
    ------
    ContactIdError
        Where the throws don't determine J/m, or neither a motion nor impacts explain them.
    """
    geometry = stated_geometry(body, throws, steering)
    problem = problem_of(geometry, throws, steering)
    impacts = identify_impacts(geometry, throws)
    impacts_tell = _impacts_tell(impacts, WEAK)
    # a polygon's corners hit in orders that only a wider search finds, so its impacts must tell more
    is_polygon = isinstance(geometry.shape, Polygon)
    may_end = hasty or (_impacts_tell(impacts, _PRECISE) if is_polygon else impacts_tell)
    may_end |= other_centre(body, throws, geometry.point_error) is not None
    misfit = far_from_motions(problem, say) if may_end else None
    is_whole, motions = misfit is None, []
    if misfit is None:
        problem, throws, minima = _searched(body, throws, problem, impacts_tell, say)
        geometry, misfit = problem.geometry, problem.misfit(minima[0])
        motions = [problem.motion(minima[0], k) for k in range(len(throws.throws))]
        # far more than noise: no rigid body on a straight ground, so whole throws aren't an answer
        is_whole = misfit[0] <= steering.not_whole * misfit[1]
    if is_whole:
        # where the other law explains the poses as well, intervals reach to its answer
        minima = [*minima, by_other_law(problem, minima[0])[1]]
        answer = identify(problem, minima, noise_stated=throws.sigma_given, say=say)
        fit, names = _of_whole(answer), throws.names
        misfit = fit.squares, fit.degrees
        # a motion that would be refused is no answer either
        is_whole = is_settled(fit) or not impacts_tell
    if is_whole:
        measured = _aligned(answer, fit)
        body = replace(body, shape=answer.shape, ground=fit.alignment.ground)
    else:
        impacts = identify_impacts(geometry, throws)
        # about another centre a body has other levers, which its few impacts don't tell
        is_elsewhere = other_centre(body, throws, geometry.point_error) is not None
        if impacts is None or is_elsewhere:
            raise refuted(body, throws, geometry.point_error, misfit, motions)
        fit = _of_impacts(geometry, impacts, *misfit)
        names, measured = impacts.names, impacts.measured
        if impacts.left_out:
            wild = f"{impacts.left_out} impacts contradict the others, and were left out."
            throws = replace(throws, warnings=(*throws.warnings, wild))
        body = replace(body, shape=impacts.shape)
    draft = OwnIdentification(body, throws, names, measured, fit)
    refuse_undetermined(draft)
    return replace(
        draft,
        notes=(*throws.noise.notes, *throws.notes, *notes_of(draft)),
        warnings=(*throws.warnings, *throws.noise.warnings, *warnings_of(draft)),
    )


def _searched(
    body: OwnBody, throws: OwnThrows, problem: Problem, impacts_tell: bool, say: Say | None
) -> tuple[Problem, OwnThrows, list[Point]]:
    """The problem and the throws without wild poses, and the motions, best first."""
    problem, minima = searched(problem, throws.noise.degrees, say, impacts_tell)
    geometry, steering = problem.geometry, problem.steering
    # a first motion must be there before a pose can be far from it
    kept, wild = without_wild_poses(body, throws, problem, minima[0])
    if not wild:
        return problem, throws, minima
    more = searched_without_wild_poses(problem_of(geometry, kept, steering), minima, say)
    # the best motion of all poses says which of them are wild
    minima = refitted(problem, more)
    throws, wild = without_wild_poses(body, throws, problem, minima[0])
    problem = problem_of(geometry, throws, steering)
    # also where no pose is wild any more: a fit from another one's end may go further
    minima = refitted(problem, minima)
    return problem, replace(throws, warnings=(*throws.warnings, *wild)), minima


def _impacts_tell(impacts: OwnImpacts | None, error: float) -> bool:
    """Whether impacts by themselves tell J/m to this relative error, and by their own misfit agree
    on it.
    """
    if impacts is None or len(impacts.windows) < FEWEST_IMPACTS:
        return False
    fit = impacts.fit
    return fit.ratio_se < error * fit.ratio and fit.misfit**2 <= FINE


def _of_whole(answer: Answer) -> OwnFit:
    common = answer.point.common
    turn, x, y = (float(common[place]) for place in (TURN, POINT_X, POINT_Y))
    alignment = Alignment(answer.ground, turn, np.array([x, y]))
    motions = [answer.problem.motion(answer.point, k) for k in range(len(answer.problem.throws))]
    states = []
    for motion in motions:
        at = contacts(answer.shape, answer.ground, motion.position)
        # (m, n_c) speed after the impulse, with T where the impulse acts
        sliding = (at.tangent[:-1] * motion.velocity[1:, None, :]).sum(axis=-1)
        states.append(
            ThrowStates(
                motion.time, motion.frame, motion.position, motion.velocity, motion.impulse_n, motion.impulse_t,
                at.gap, sliding,
            )
        )  # fmt: skip
    return OwnFit(
        inertia_ratio=float(common[RATIO]),
        inertia_ratio_se=float(answer.errors[RATIO]),
        friction_mu=answer.mu,
        friction_mu_se=float("nan") if answer.friction_is_bound else float(answer.errors[MU]),
        friction_is_bound=answer.friction_is_bound,
        corner_radius=float(common[RADIUS]),
        corner_radius_se=float(answer.errors[RADIUS]),
        squares=answer.squares,
        degrees=answer.degrees,
        alignment=alignment,
        correlation=_correlation(answer),
        geometry_errors=answer.errors[[TURN, POINT_X, POINT_Y, SLOPE, HEIGHT]],
        states=tuple(states),
        converged=answer.converged,
        whole_squares=answer.squares,
        whole_degrees=answer.degrees,
        incremental=answer.problem.geometry.incremental,
    )


def _correlation(answer: Answer) -> np.ndarray:
    problem = answer.problem
    free = np.flatnonzero(problem.table.free[:N_COMMON])
    # the block of the whole inverse: throws' own unknowns are free, not held
    common = inverse_of(problem.system(answer.point, problem.whole))[: len(free), : len(free)]
    spread = np.sqrt(np.diag(common))
    correlation = np.eye(N_COMMON)
    correlation[np.ix_(free, free)] = common / np.outer(spread, spread)
    return correlation


def _of_impacts(
    geometry: Geometry, impacts: OwnImpacts, whole_squares: float, whole_degrees: int
) -> OwnFit:
    fit, n = impacts.fit, len(impacts.windows)
    turn = geometry.turn + fit.geometry.turn
    point = np.array(geometry.point) + fit.geometry.tracked - fit.geometry.centre
    point_error = np.hypot(fit.geometry_se.tracked, fit.geometry_se.centre)
    return OwnFit(
        inertia_ratio=fit.ratio,
        inertia_ratio_se=fit.ratio_se,
        friction_mu=impacts.friction,
        friction_mu_se=float("nan"),
        # eq. 31 knows no friction: the ratio of impulses is the least that an impact needs
        friction_is_bound=True,
        corner_radius=fit.geometry.radius,
        corner_radius_se=fit.geometry_se.radius,
        squares=fit.misfit**2 * n,
        degrees=n,
        alignment=Alignment(geometry.ground, turn, point),
        correlation=np.eye(N_COMMON),  # eq. 31 gives errors alone
        # eq. 31 takes the slope as it is, and each impact has a height of its own: neither has an
        # error
        geometry_errors=np.array([fit.geometry_se.turn, *point_error, np.nan, np.nan]),
        states=tuple(impacts.states()),
        converged=fit.converged,
        whole_squares=whole_squares,
        whole_degrees=whole_degrees,
        by_impacts=True,
    )


def _aligned(answer: Answer, fit: OwnFit) -> tuple[MeasuredThrow, ...]:
    """Poses of the body's centre and axes; frames that weren't measured lie on the identified
    motion.
    """
    aligned = []
    for throw, states in zip(answer.problem.throws, fit.states, strict=True):
        position = fit.alignment.body_position(throw.measured.position)
        # so that its residual is exactly 0, by which a report knows it
        position[~throw.seen] = states.position[states.frame][~throw.seen]
        aligned.append(replace(throw.measured, position=position, ground=answer.ground))
    return tuple(aligned)
