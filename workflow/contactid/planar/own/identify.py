"""How a user's throws are identified: whole throws by the engine, or a polygon's impacts by eq. 31.

Both judge themselves: an answer whose interval holds most of what the outline alone allows, or
whose misfit nothing explains, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import chdtr, chdtrc

from contactid.output.result import with_error
from contactid.planar.engine.answer import DEVIATIONS, Answer, identify, inverse_of
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
from contactid.planar.own.averaged import fitted_to_averages
from contactid.planar.own.body import OwnBody, OwnThrows
from contactid.planar.own.impacts import OwnImpacts, identify_impacts
from contactid.planar.own.noise import FEWEST_IN_FLIGHT, tilt_warning
from contactid.planar.own.searches import (
    refitted,
    searched,
    searched_finer,
    searched_without_wild_poses,
)
from contactid.planar.own.wild import problem_of, without_wild_poses
from contactid.planar.readers.throws import PlanarThrow
from contactid.planar.simulate.geometry import Polygon, contacts
from contactid.planar.simulate.motion import EventMotion
from contactid.planar.simulate.throws import MeasuredThrow
from contactid.planar.squares.events import Alignment
from contactid.sources.conventions import Refuted, refuted_by_misfit

_HOPELESS = 3.0  # factor of the standard errors above which the model is plainly not the body's
_WIDEST = 0.5  # of all J/m that the outline allows: an interval that holds more of it is no answer
_NEAR_BOUND = 0.98  # of the largest friction
_WEAK = 0.2  # relative standard error
_FEW_FRAMES = 4  # between first contact and last frame
_SLOPE_OFF = 2.0  # standard deviations of a slope: what is stated is then hardly right
_PUSHES = 1e-4  # m/s: impulses per mass below it are none
_MORE = "Record more frames per second or more throws, or correct the noise"
_BOUND = "lower bound of 95 %"
_HINT = ", which is likely to be far larger: check ground, shape, the tracked point, and which frames are used"
MM2 = 1e6  # mm2 in a m2


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
    by_impacts : whether impacts were taken by themselves
    whole_squares, whole_degrees : of whole throws, if impacts were
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
    by_impacts: bool = False
    incremental: bool = False
    whole_squares: float = 0.0
    whole_degrees: int = 0

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
    def whole(self) -> tuple[float, int]:
        """Squared residuals of whole throws and their degrees of freedom, whether or not impacts
        were taken.
        """
        fit = self.fit
        return (
            (fit.whole_squares, fit.whole_degrees) if fit.by_impacts else (fit.squares, fit.degrees)
        )

    @property
    def whole_misfit(self) -> float:
        """Per degree."""
        squares, degrees = self.whole
        return squares / degrees

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
            lines.append(f"mu >= {fit.friction_mu:.3g} (no contact slides: only a {_BOUND})")
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
    body: OwnBody, throws: OwnThrows, say: Say | None = None, steering: Steering = STEERING
) -> OwnIdentification:
    """Identify J/m and mu from all throws jointly, and judge the answer; ``say`` takes a line on
    each step.

    Raises
    ------
    ContactIdError
        Where the throws don't determine J/m, or neither a motion nor impacts explain them.
    """
    geometry = stated_geometry(body, throws, steering)
    problem = problem_of(geometry, throws, steering)
    problem, minima = searched(problem, say)
    geometry = problem.geometry
    # a first motion must be there before a pose can be far from it
    kept, wild = without_wild_poses(body, throws, problem, minima[0])
    if wild:
        more = searched_without_wild_poses(problem_of(geometry, kept, steering), minima, say)
        # the best motion of all poses says which of them are wild
        minima = refitted(problem, more)
        throws, wild = without_wild_poses(body, throws, problem, minima[0])
        problem = problem_of(geometry, throws, steering)
        # also where no pose is wild any more: a fit from another one's end may go further
        minima = refitted(problem, minima)
        throws = replace(throws, warnings=(*throws.warnings, *wild))
    squares, degrees = problem.misfit(minima[0])
    # far more than noise: no rigid body on a straight ground, so whole throws aren't an answer
    if squares > steering.not_whole * degrees:
        impacts = identify_impacts(geometry, throws)
        if impacts is None:
            raise _refuted(throws, problem, minima[0])
        fit, names, measured = _of_impacts(geometry, impacts), impacts.names, impacts.measured
        fit = replace(fit, whole_squares=squares, whole_degrees=degrees)
        body = replace(body, shape=impacts.shape)
    else:
        # only where whole throws are the answer: a finer grid doesn't make a real body rigid
        minima = searched_finer(problem, minima, say)
        problem, throws, minima = fitted_to_averages(problem, throws, minima, say)
        # what averages leave has told their noise
        noise_told = throws.sigma_given or throws.together > 1
        answer = identify(problem, minima, noise_stated=noise_told, say=say)
        fit, names = _of_whole(answer), throws.names
        measured = _aligned(answer, fit)
        body = replace(body, shape=answer.shape, ground=fit.alignment.ground)
    draft = OwnIdentification(body, throws, names, measured, fit)
    refuse_undetermined(draft)
    return replace(
        draft,
        notes=(*throws.noise.notes, *throws.notes, *_notes(draft)),
        warnings=(*throws.warnings, *throws.noise.warnings, *_warnings(draft)),
    )


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


def _of_impacts(geometry: Geometry, impacts: OwnImpacts) -> OwnFit:
    fit, n = impacts.fit, len(impacts.windows)
    turn = geometry.turn + fit.geometry.turn
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
        alignment=Alignment(geometry.ground, turn, np.array(geometry.point) - fit.geometry.centre),
        correlation=np.eye(N_COMMON),  # eq. 31 gives errors alone
        # eq. 31 takes the slope as it is, and each impact has a height of its own: neither has an
        # error
        geometry_errors=np.array([fit.geometry_se.turn, *fit.geometry_se.centre, np.nan, np.nan]),
        states=tuple(impacts.states()),
        converged=fit.converged,
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


def refuse_undetermined(found: OwnIdentification) -> None:
    """No answer where noise and frames can't carry one.

    Either J/m's interval holds most of what the outline alone allows, from a point's 0 to a ring's
    largest radius squared. Or poses are far from the motion and no flight tells their noise: then
    nothing says whether the noise is larger, which the error takes in, or the motion is another,
    which no error does.

    Raises
    ------
    ContactIdError
        With the reason, as far as frames or impacts tell it.
    """
    fit, largest = found.fit, reach_of(found.body.shape) ** 2
    # of 95 %, as far as the outline allows it
    ends = fit.inertia_ratio + DEVIATIONS * fit.inertia_ratio_se * np.array([-1.0, 1.0])
    low, high = np.clip(ends, 0.0, largest)
    # written so that an error that is no number is refused, too
    if not high - low <= _WIDEST * largest:
        allowed = f"a body of this outline can have anything from 0 to {MM2 * largest:.4g}"
        problem = f"its interval of 95 % is {MM2 * low:.4g} to {MM2 * high:.4g} mm2, and {allowed}"
    elif found.scale > _HOPELESS and found.throws.frames_in_flight < FEWEST_IN_FLIGHT:
        problem = (
            f"poses are {found.scale:.2g} times as far from the best motion as noise explains, and no flight is long "
            "enough to tell whether the noise is larger or the motion another"
        )
    else:
        return
    few, remedy = _few_frames(found.each), _MORE
    if few:
        problem += f"; {few[0]}"
    elif not _spin_changes(found):
        problem += "; no impact changes the spin"
        remedy = "Throw the body tilted or with spin"
    names, out = ", ".join(found.throws.names), _left_out(found.throws)
    raise Refuted(f"{names}: J/m isn't determined: {problem}{out}", remedy, found.whole_misfit)


def _left_out(throws: OwnThrows) -> str:
    """What a refusal has to say of poses that were left out: they may be why."""
    out = [text.removesuffix(".") for text in throws.warnings if text.endswith("left out.")]
    return "".join(f"; {text}" for text in out)


def _spin_changes(found: OwnIdentification) -> bool:
    """Whether an impulse changes the spin by more than the noise of two slopes over a few frames."""
    for throw, states in zip(found.measured, found.fit.states, strict=True):
        pushes = (states.impulse_n > _PUSHES).any(axis=1)
        change = np.abs(np.diff(states.velocity[:, 2]))[pushes]
        if (change > 3.0 * throw.sigma[2] / throw.frame_interval).any():
            return True
    return False


def _notes(found: OwnIdentification) -> list[str]:
    fit = found.fit
    notes = [f"Impacts in the identified motion: {sum(states.n_impacts for states in fit.states)}."]
    if fit.incremental:
        notes.append(
            "Law of impact: friction follows the slip during it (the paper's law fits worse)."
        )
    # too small a misfit is no harm to the answer, so it is a note; a few impacts by themselves are
    # fitted exactly by what they have in common, and so say nothing of the noise
    whole_noise = not fit.by_impacts and found.throws.together == 1
    if whole_noise and chdtr(fit.degrees, fit.squares) < STEERING.plausible_tail:
        notes.append(
            f"Poses are fitted better than the noise lets expect (squared residuals {fit.squares:.4g}, expected "
            f"{fit.degrees}): it is smaller than stated, and standard errors are on the safe side."
        )
    return notes


def _warnings(found: OwnIdentification) -> list[str]:
    fit, warnings = found.fit, []
    if not fit.converged:
        warnings.append("The identification did not converge: don't use these numbers.")
    if not fit.by_impacts and chdtrc(fit.degrees, fit.squares) < STEERING.plausible_tail:
        warnings.append(
            f"Poses are fitted worse than their noise explains (squared residuals {fit.squares:.4g}, expected "
            f"{fit.degrees}): the body departs from the model or the noise is larger. Standard errors are enlarged "
            f"{found.scale:.2g} times, and don't cover a systematic error{_HINT if found.scale > _HOPELESS else ''}."
        )
        # of a motion that fits, gravity is where it is taken to be
        poses = [
            PlanarThrow(name, throw.time, throw.position, ~seen)
            for name, throw, seen in zip(
                found.names, found.measured, found.throws.seen, strict=True
            )
        ]
        warnings += tilt_warning(found.body, poses, found.throws.sigma)
    slope = fit.alignment.ground.slope
    off = slope - found.throws.throws[0].ground.slope
    if abs(off) > _SLOPE_OFF * STEERING.slope_error:
        warnings.append(
            f"The ground slopes by {slope:.2g} rad in the identified motion, by {off:.2g} more than stated or level: "
            "if so, give ground: {slope: ..., start: ...}, which the search then takes for likely."
        )
    if not any(states.n_impacts for states in fit.states):
        warnings.append("No contact: the motion says nothing about J/m and friction.")
    elif not _spin_changes(found):
        warnings.append("No impact changes the spin by more than the noise: J/m hangs on little.")
    if fit.friction_is_bound and not fit.by_impacts:
        warnings.append(
            f"No contact slides: mu is only bounded, mu >= {fit.friction_mu:.3g} ({_BOUND})."
        )
    elif fit.friction_mu > _NEAR_BOUND * STEERING.largest_friction:
        warnings.append(
            f"mu is at the largest value that is looked at, {STEERING.largest_friction:g}."
        )
    if fit.by_impacts:
        warnings.append(
            f"No rigid body on a straight ground explains whole throws, so {len(found.names)} impacts were taken "
            "by themselves (eq. 31): J/m is that of a real body's impacts, which may differ from its mass "
            "distribution's by more than the error."
        )
    relative = fit.inertia_ratio_se / fit.inertia_ratio
    if relative > _WEAK:
        warnings.append(f"J/m is known to {100.0 * relative:.0f} % only.")
    return [*warnings, *(f"{text}." for text in _few_frames(found.each))]


def _refuted(throws: OwnThrows, problem: Problem, point: Point) -> Refuted:
    """No answer, as neither a motion nor impacts explain the throws, with what they lack."""
    refuted = refuted_by_misfit(", ".join(throws.names), *problem.misfit(point), _left_out(throws))
    motions = [problem.motion(point, k) for k in range(len(throws.throws))]
    few = _few_frames(zip(throws.names, throws.throws, motions, strict=True))
    return Refuted(f"{refuted.problem}; {few[0]}", _MORE, refuted.misfit) if few else refuted


def _few_frames(
    each: Iterable[tuple[str, MeasuredThrow, ThrowStates | EventMotion]],
) -> list[str]:
    """Throws (name, poses, motion) with few frames on either side of their first contact, or without
    one, fewest first.
    """
    few: list[tuple[int, str]] = []
    for name, throw, motion in each:
        pushes = np.flatnonzero((motion.impulse_n > _PUSHES).any(axis=1))
        if not len(pushes):
            few.append(
                (0, f"{name}: the identified motion has no contact, so the throw says nothing")
            )
            continue
        # frames up to the first impulse, which belongs to the step that begins there
        until_contact = motion.time[pushes[0]] - motion.time[0]
        before = int((throw.time - throw.time[0] <= until_contact).sum())
        after = len(throw.time) - before
        side, frames = ("before", before) if before <= after else ("after", after)
        if frames < _FEW_FRAMES:
            few.append(
                (
                    frames,
                    f"{name}: only {frames} frame{'s' * (frames != 1)} {side} the first contact",
                )
            )
    return [text for _, text in sorted(few, key=lambda one: one[0])]
