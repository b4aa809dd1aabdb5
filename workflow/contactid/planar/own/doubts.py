"""What there is to doubt in an answer of throws: refusals with their remedy, warnings and notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtr, chdtrc

from contactid.planar.engine.answer import DEVIATIONS
from contactid.planar.engine.steering import STEERING
from contactid.planar.engine.unknowns import reach_of
from contactid.planar.identify.states import ThrowStates
from contactid.planar.own.body import OwnBody, OwnThrows
from contactid.planar.own.noise import (
    FEWEST_IN_FLIGHT,
    centre_in_flight,
    fall_warnings,
    lowest_gaps,
)
from contactid.planar.simulate.motion import EventMotion
from contactid.planar.simulate.throws import MeasuredThrow
from contactid.sources.explaining import Refuted, refuted_by_misfit

if TYPE_CHECKING:
    from contactid.planar.own.identify import OwnFit, OwnIdentification

MM2 = 1e6  # mm2 in a m2
BOUND = "lower bound of 95 %"
_HOPELESS = 3.0  # factor of the standard errors above which the model is plainly not the body's
_WIDEST = 0.5  # of all J/m that the outline allows: an interval that holds more of it is no answer
_NEAR_BOUND = 0.98  # of the largest friction
WEAK = 0.2  # relative standard error
_FEW_FRAMES = 4  # between first contact and last frame
_SLOPE_OFF = 2.0  # standard deviations of a slope: what is stated is then hardly right
_PUSHES = 1e-4  # m/s: impulses per mass below it are none
_OFF = 4.0  # standard errors of a centre of mass that flights tell, beyond those of a statement
_SUNK = 5.0  # standard deviations of a pose's depth, beyond which noise doesn't sink a body
_MORE = "Record more frames per second or more throws, or correct the noise"
_HINT = ", which is likely to be far larger: check ground, shape, the tracked point, and which frames are used"


def refuse_undetermined(found: OwnIdentification) -> None:
    """No answer where noise and frames can't carry one.

    Either J/m's interval holds most of what the outline alone allows, from a point's 0 to a ring's
    largest radius squared. Or poses are far from the motion and no flight tells their noise: then
    nothing says whether the noise is larger, which the error takes in, or the motion is another,
    which no error does. Or a motion that noise doesn't explain is no minimum either.

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
    elif not (fit.by_impacts or is_settled(fit)):
        problem = (
            "the fit did not converge, and its best motion is refuted by its own misfit (chi-square "
            f"{fit.squares:,.0f}, expected {fit.degrees:,})"
        )
    else:
        return
    few, remedy = _few_frames(found.each), _MORE
    if few:
        problem += f"; {few[0]}"
    elif not _spin_changes(found):
        problem += "; no impact changes the spin"
        remedy = "Throw the body tilted or with spin"
    names, out = ", ".join(found.throws.names), left_out(found.throws)
    misfit = fit.whole_squares / fit.whole_degrees
    raise Refuted(f"{names}: J/m isn't determined: {problem}{out}", remedy, misfit)


def is_settled(fit: OwnFit) -> bool:
    """Whether a motion is a minimum, or one that noise explains."""
    return fit.converged or _is_noise(fit)


def _is_noise(fit: OwnFit) -> bool:
    """Whether noise explains the misfit."""
    return bool(chdtrc(fit.degrees, fit.squares) >= STEERING.plausible_tail)


def left_out(throws: OwnThrows) -> str:
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


def notes_of(found: OwnIdentification) -> list[str]:
    """What is good to know of an answer and no harm to it, a sentence each."""
    fit = found.fit
    notes = [f"Impacts in the identified motion: {sum(states.n_impacts for states in fit.states)}."]
    if fit.incremental:
        notes.append(
            "Law of impact: friction follows the slip during it (the paper's law fits worse)."
        )
    # too small a misfit is no harm to the answer, so it is a note; a few impacts by themselves are
    # fitted exactly by what they have in common, and so say nothing of the noise
    if not fit.by_impacts and chdtr(fit.degrees, fit.squares) < STEERING.plausible_tail:
        notes.append(
            f"Poses are fitted better than the noise lets expect (squared residuals {fit.squares:.4g}, expected "
            f"{fit.degrees}): it is smaller than stated, and standard errors are on the safe side."
        )
    return notes


def warnings_of(found: OwnIdentification) -> list[str]:
    """What not to trust in an answer, and why, a sentence each."""
    fit, warnings = found.fit, []
    if not fit.converged:
        warnings.append("The identification did not converge: don't use these numbers.")
    if not (fit.by_impacts or _is_noise(fit)):
        warnings.append(
            f"Poses are fitted worse than their noise explains (squared residuals {fit.squares:.4g}, expected "
            f"{fit.degrees}): the body departs from the model (its outline's size, first of all) or the noise is "
            f"larger. Standard errors are enlarged {found.scale:.2g} times, "
            f"and don't cover a systematic error{_HINT if found.scale > _HOPELESS else ''}."
        )
        # of a motion that fits, gravity is where it is taken to be
        poses = found.throws.poses(found.measured)
        warnings += fall_warnings(found.body, poses, found.throws.sigma)
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
            f"No contact slides: mu is only bounded, mu >= {fit.friction_mu:.3g} ({BOUND})."
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
    if relative > WEAK:
        warnings.append(f"J/m is known to {100.0 * relative:.0f} % only.")
    return [*warnings, *(f"{text}." for text in _few_frames(found.each))]


def other_centre(body: OwnBody, throws: OwnThrows, stated_error: float) -> np.ndarray | None:
    """The centre of mass (2,) from the tracked point, in its axes, m, where flights put it surely
    elsewhere than it is taken to be.
    """
    centre, error = centre_in_flight(body, throws.poses(throws.throws), throws.sigma)
    off = float(np.linalg.norm(centre - (body.centre or (0.0, 0.0))))
    # one outside of the body is no centre
    return centre if _OFF * error + stated_error < off < reach_of(body.shape) else None


def refuted(
    body: OwnBody,
    throws: OwnThrows,
    point_error: float,
    misfit: tuple[float, int],
    motions: Sequence[EventMotion],
) -> Refuted:
    """No answer, as neither a motion nor impacts explain the throws, with what they lack.

    ``misfit`` has squared residuals and degrees of freedom, ``motions`` are each throw's, if any.
    """
    plain = refuted_by_misfit(", ".join(throws.names), *misfit, left_out(throws))
    few = _few_frames(zip(throws.names, throws.throws, motions, strict=False))
    if few:
        return Refuted(f"{plain.problem}; {few[0]}", _MORE, plain.misfit)
    poses, reach = throws.poses(throws.throws), reach_of(body.shape)
    centre = other_centre(body, throws, point_error)
    if centre is not None:
        x, y = np.round(centre, 4)
        off = 1e3 * float(np.linalg.norm(centre - (body.centre or (0.0, 0.0))))
        return Refuted(
            f"{plain.problem}; in flight the tracked point goes round a centre of mass that is {off:.2g} mm "
            "from where it is taken to be",
            f"Give centre: [{x:g}, {y:g}], and a shape that isn't about it as a polygon that is",
            plain.misfit,
        )
    noise = float(np.hypot(throws.sigma[1], reach * throws.sigma[2]))
    lowest = [lowest_gaps(body, throw)[throw.seen] for throw in poses]
    depth = -min(float(gaps.min()) for gaps in lowest)
    if depth > _SUNK * noise:
        return Refuted(
            f"{plain.problem}; the body sinks by up to {1e3 * depth:.2g} mm into a ground that gives way",
            "Throw it onto a harder one, or correct shape and ground if they are off by that",
            plain.misfit,
        )
    return Refuted(
        f"{plain.problem}; friction may not be one number (it may fall with the slip's speed), and no impact lies "
        "between two flights, which would tell J/m whatever the friction",
        "Throw it so that it bounces off single corners, or correct shape, ground or noise",
        plain.misfit,
    )


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
