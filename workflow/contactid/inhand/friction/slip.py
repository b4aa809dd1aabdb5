"""The coefficient of friction from a fingertip's force just before it slips (section III-A of the
in-hand paper).

*From one force at the edge of the friction cone* (eqs. 1 to 5). A force f that presses on a surface
with unit normal n (into the object) has the normal part f_n = f . n and the tangential part f_t =
|f - f_n n|. Coulomb's law holds the contact while f_t <= mu f_n (eq. 1), so at the instant before
slip f_t = mu f_n (eq. 2), and with phi the angle between f and n (eq. 3)

    cos phi = (f / |f|) . n                                          (eq. 4)
    mu = tan phi = sqrt(1 - cos^2 phi) / cos phi                     (eq. 5)

The printed equations lost their symbols; these follow from the text around them. Eq. 5 is computed
as ``|f x n| / (f . n)``, the same number without the loss of digits near phi = 0.

*The first slip* is one of three things in the course of the contact point along the tangential
force:

* it **jumps** while the tangential force falls. A jump alone is a soft tip's creep, a fall alone is
  the finger letting go. Both are differences of means over five samples, in units of their noise;
* it **travels** further beyond its course than a soft tip's skin can creep, whatever the force
  does: where kinetic friction equals static friction the force never falls. The course is a line
  through all samples so far, so that a sensor's steady drift isn't travel. The slip is dated by the
  largest fall of the force since the skin left its course, and by its being seen where the force
  doesn't fall: while it slides at the friction cone's edge, a later date gives the same
  coefficient, and a quarter of a second may be averaged;
* it travels beyond its course at all while **both forces fall** in proportion. A skin creeps where
  its share of the cone grows, and the share doesn't grow then. So slides of a stiff finger are
  seen, too, which are short.

Noise is taken from the median absolute first difference of the signal itself, or of its means, so
no sensor data sheet is needed. Friction is the median of eq. 5 over the last sticking samples.
Their ratio of tangential to normal force grows while the finger is unloaded, so the median is a
little low: by the growth over half the samples.

The *lower bound* is a ratio that held: the largest low quantile over a quarter of a second (at 100
Hz), less what an error of the force model's direction may add. That error is the same in all
samples of a trial, so no quantile sees it; it has to be stated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.errors import ContactIdError

_CREEP = 2e-3  # m beyond its course that a soft tip's skin doesn't creep
_CREEP_AT_EDGE = 2e-4  # m, where both forces fall: what the skin still creeps by its lag
_CREEP_NOISE = 6.0  # the same in standard deviations of the contact point's means over _SMOOTHED
_SMOOTHED = (
    25  # samples of the mean whose travel is judged, and of the quantile that the lower bound is
)
_SHORTEST = 100  # samples of the line that the travel is judged by
# samples whose median is the estimate, and of the means that a jump or fall is the difference of
_STICKING = 5
_GUARD = 1  # samples before the onset that are left out, since the onset is known to a sample or so
_STEP_ERRORS = (
    4.0  # least jump and fall, in standard errors of a difference of means over _STICKING
)
_DATING_ERRORS = 3.0  # least fall that dates a slip that the contact point shows
_FALL_SHARE = 0.05  # least fall, as a share of the tangential force
_HELD_QUANTILE = 0.1  # of the ratios in a window
_BOUND_ERRORS = 2.0  # standard deviations of the direction's error that the lower bound allows for
DIRECTION_SD = np.deg2rad(1.0)  # rad, of a force model that is calibrated at the place of contact
_EDGE = 100  # samples of the window that both forces are compared over
_UNLOADED = 0.05  # least fall of the normal force in it, as a share
# least fall of the tangential force, in falls of the normal one: 0 where it's held, 1 of a slide
_PROPORTION = 0.5
_RESOLUTION = 1e-5  # m, of the contact point; noise below it isn't believed
UNSEEN = "the finger lets go, or is so stiff that its slide isn't seen"
_MAD_TO_SD = 1.4826  # of a normal distribution
# sqrt(pi / 2), of normal errors
_MEDIAN_TO_MEAN_SE = 1.2533


def unit_normal(normal: np.ndarray) -> np.ndarray:
    """Normals (..., 3) scaled to length 1.

    Raises
    ------
    ContactIdError
        Where a normal is zero or not finite.
    """
    normal = np.asarray(normal, dtype=float)
    length = np.linalg.norm(normal, axis=-1, keepdims=True)
    if not (np.isfinite(length).all() and (length > 0.0).all()):
        raise ContactIdError(
            "a surface normal is zero or not finite", "Give a direction into the object"
        )
    return normal / length


def friction_coefficient(force: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Eq. 5: tan of the angle between forces and surface normals.

    Parameters
    ----------
    force : (..., 3), N, of the finger on the object
    normal : (..., 3), of the surface, into the object; any length

    Returns
    -------
    numpy.ndarray
        Coefficients (...), dimensionless; nan where a force does not press on the surface (f . n <=
        0).
    """
    force, normal = np.asarray(force, dtype=float), unit_normal(normal)
    # |f x n| keeps its digits near phi = 0, where cos phi is flat
    pressing = np.sum(force * normal, axis=-1)
    tangential = np.linalg.norm(np.cross(force, normal), axis=-1)
    positive = pressing > 0.0
    return np.where(positive, tangential / np.where(positive, pressing, 1.0), np.nan)


def friction_standard_error(force: np.ndarray, normal: np.ndarray, force_sd: float) -> np.ndarray:
    """First-order standard error of eq. 5 for white noise of ``force_sd`` (N) on every component of
    a force (..., 3).

    With d mu / d f_t = 1 / f_n and d mu / d f_n = -mu / f_n: sd sqrt(1 + mu^2) / f_n.
    """
    mu = friction_coefficient(force, normal)
    pressing = np.sum(np.asarray(force, dtype=float) * unit_normal(normal), axis=-1)
    return force_sd * np.sqrt(1.0 + mu**2) / np.where(np.isnan(mu), 1.0, pressing)


@dataclass(frozen=True)
class SlipEstimate:
    """Friction from one trial.

    Attributes
    ----------
    slipped : whether a slip was found
    friction : median of the last sticking samples; nan without a slip
    standard_error : from the force noise, first order; nan without a slip
    lower_bound : largest ratio of tangential to normal force that held, see the module
    normal_force : median over the same samples, N; nan without a slip
    onset : first sample of the slip, of one that no fall dates the first that is sure to slide; -1
        without one
    message : what happened, in words
    """

    slipped: bool
    friction: float
    standard_error: float
    lower_bound: float
    normal_force: float
    onset: int
    message: str


def noise_sd(signal: np.ndarray) -> float:
    """Standard deviation of a slow signal's white noise, robust against jumps, from its first
    differences (n,).
    """
    # a difference of two samples has twice the variance
    return float(_MAD_TO_SD * np.median(np.abs(np.diff(signal))) / np.sqrt(2.0))


def travel(position: np.ndarray) -> np.ndarray:
    """How far (n,) the mean of the last samples lies beyond the line through all before them; 0
    where they are few.

    ``position`` (n,) in m.
    """
    count, time = len(position), np.arange(len(position))
    # running sums, so that every line through the first k samples costs one step
    sums = [
        np.concatenate([[0.0], np.cumsum(x)]) for x in (position, time, time**2, time * position)
    ]
    # samples that the judged mean ends before
    ends = np.arange(_SHORTEST + _SMOOTHED, count + 1)
    x, t, tt, tx = (total[ends - _SMOOTHED] / (ends - _SMOOTHED) for total in sums)
    # least squares through all samples before the mean: cov(t, x) / var(t)
    slope = (tx - t * x) / (tt - t**2)
    mean = (sums[0][ends] - sums[0][ends - _SMOOTHED]) / _SMOOTHED
    beyond = np.zeros(count)
    # line's value at the middle of the judged samples
    beyond[ends - 1] = mean - (x + slope * (ends - 0.5 * (_SMOOTHED + 1) - t))
    return beyond


def steps(signal: np.ndarray, gap: int) -> np.ndarray:
    """At each sample (n,), the mean over the five from ``gap`` later on less that over the five
    before; 0 at ends.
    """
    width, sums = _STICKING, np.concatenate([[0.0], np.cumsum(signal)])
    k = np.arange(width, len(signal) - width - gap + 1)
    found = np.zeros(len(signal))
    found[k] = (sums[k + gap + width] - sums[k + gap] - sums[k] + sums[k - width]) / width
    return found


def both_fall(tangential: np.ndarray, pressing: np.ndarray) -> np.ndarray:
    """At each sample (n,), whether both forces (n,), N, fell in proportion over the last second (at
    100 Hz).
    """
    found = np.zeros(len(pressing), dtype=bool)
    if len(pressing) < _EDGE:
        return found
    sums = [np.concatenate([[0.0], np.cumsum(force)]) for force in (tangential, pressing)]
    # logarithms follow, so a force that vanishes is kept off zero
    means = np.maximum(
        [(one[_SMOOTHED:] - one[:-_SMOOTHED]) / _SMOOTHED for one in sums], np.finfo(float).tiny
    )
    # means at the end and at the start of each window
    late, early = means[:, _EDGE - _SMOOTHED :], means[:, : _SMOOTHED - _EDGE]
    fell, unloaded = np.log(early / late)
    # of log(early / late), first order
    error = _STEP_ERRORS * np.sqrt(2.0 / _SMOOTHED) * noise_sd(tangential) / late[0]
    # the normal force falls by a share, and the tangential one with it beyond noise
    found[_EDGE - 1 :] = (unloaded > _UNLOADED) & (fell > np.maximum(_PROPORTION * unloaded, error))
    return found


def detect_slip(
    force: np.ndarray, contact_point: np.ndarray, normal: np.ndarray
) -> tuple[int, int, str]:
    """Onset of the first slip, or -1; how many samples before it are at the cone's edge; what was
    seen, in words.

    Parameters
    ----------
    force, contact_point : (n, 3), N and m, in the object's frame
    normal : (3,), of the undeformed surface, into the object
    """
    # the skin creeps and slides along the tangential force
    sliding = _tangential_direction(force, normal)
    if sliding is None:
        return -1, 0, "no tangential force, so nothing could slip"
    position, tangential = contact_point @ sliding, force @ sliding
    error = np.sqrt(2.0 / _STICKING)
    falls, noise = -steps(tangential, 0), error * noise_sd(tangential)
    # beyond noise, and by a share of the force itself
    fell = falls > np.maximum(_STEP_ERRORS * noise, _FALL_SHARE * np.abs(tangential))
    # past the fall's own five samples
    jumped = steps(position, _STICKING) > _STEP_ERRORS * error * max(
        noise_sd(position), _RESOLUTION
    )
    # first sample only: later slips aren't asked
    jumps = np.flatnonzero(fell & jumped)[:1]

    beyond, blocks = (
        travel(position),
        position[: len(position) // _SMOOTHED * _SMOOTHED].reshape(-1, _SMOOTHED),
    )
    at_edge, seen = (
        both_fall(tangential, force @ normal),
        _CREEP_NOISE * noise_sd(blocks.mean(axis=1)),
    )
    # a skin creeps only where the ratio of the forces grows: at the edge less travel is a slide
    away = np.flatnonzero(beyond > np.maximum(np.where(at_edge, _CREEP_AT_EDGE, _CREEP), seen))[:1]
    if len(jumps) and (not len(away) or jumps[0] <= away[0]):
        # the largest fall within the jump dates it
        onset = int(jumps[0]) + int(np.argmax(falls[jumps[0] : jumps[0] + _STICKING]))
        return onset, _STICKING, "slip: the contact point jumped and the tangential force fell"
    if not len(away):
        moved = "the contact point moved, but the tangential force did not fall: creep"
        short = ", but the trial is too short for a slow one to be seen" * (
            len(position) < _SHORTEST + _SMOOTHED
        )
        least = 1e3 * max(_CREEP_AT_EDGE, seen)
        unseen = f", though both forces fell: {UNSEEN}, below {least:.1g} mm" * bool(at_edge.any())
        return -1, 0, (moved if jumped.any() else "no slip") + unseen + short

    # last sample on the course, and the first one off it
    on_course, last = np.flatnonzero(beyond[: away[0]] <= 0.0)[-1], int(away[0])
    far = beyond[last] > _CREEP
    message = "slip: the contact point " + (
        "ran away" if far else "moved on while both forces fell"
    )
    # the mean that left the course began so many samples earlier
    first = max(0, int(on_course) - _SMOOTHED)
    largest = first + int(np.argmax(falls[first:last]))
    # no fall: kinetic friction equals static, and the whole slide is at the edge
    if falls[largest] < _DATING_ERRORS * noise:
        return last, _SMOOTHED, message
    # of many falls the largest has high noise before it, so the samples that tell of it aren't
    # those of the estimate
    return max(largest - _STICKING, 0), _STICKING, message


def estimate_friction(
    force: np.ndarray,
    contact_point: np.ndarray,
    normal: np.ndarray,
    direction_sd: float = DIRECTION_SD,
) -> SlipEstimate:
    """Friction from one trial in which a finger is unloaded until it slips (section III-A of the
    in-hand paper).

    Parameters
    ----------
    force : (n, 3), N, of the finger on the object, in the object's frame
    contact_point : (n, 3), m, in the object's frame
    normal : (3,), of the undeformed surface at the contact, into the object
    direction_sd : rad, standard deviation of the force model's error of direction about each axis;
        the bound needs it

    Raises
    ------
    ContactIdError
        Where the signals don't fit together, hold a number that isn't finite, or are too short.
    """
    _check(force, contact_point)
    normal = unit_normal(normal)
    onset, width, message = detect_slip(force, contact_point, normal)
    # without a slip all samples held
    end = onset - _GUARD if onset >= 0 else len(force)
    ratios = friction_coefficient(force[:end], normal)
    bound = _held(ratios, direction_sd)
    if onset < 0:
        return SlipEstimate(
            False, np.nan, np.nan, bound, np.nan, -1, f"{message}: lower bound only"
        )
    last = slice(max(0, end - width), end)
    pressing = np.isfinite(ratios[last])
    if not pressing.any():
        return SlipEstimate(
            False, np.nan, np.nan, bound, np.nan, onset, "the finger did not press before it moved"
        )
    kept = force[last][pressing]
    sd = np.mean([noise_sd(force[:end, axis]) for axis in range(3)])
    error = (
        friction_standard_error(np.mean(kept, axis=0), normal, float(sd))
        * _MEDIAN_TO_MEAN_SE
        / np.sqrt(len(kept))
    )
    friction, load = float(np.median(ratios[last][pressing])), float(np.median(kept @ normal))
    return SlipEstimate(True, friction, float(error), bound, load, onset, message)


def _tangential_direction(force: np.ndarray, normal: np.ndarray) -> np.ndarray | None:
    # median over samples: a jump or a spike doesn't turn it
    tangential = np.median(force - (force @ normal)[:, None] * normal, axis=0)
    length = np.linalg.norm(tangential)
    return tangential / length if length > 0.0 else None


def _held(ratios: np.ndarray, direction_sd: float) -> float:
    """Largest low quantile of a window, less the direction's error; nan where the finger never
    pressed that long.
    """
    if len(ratios) < _SMOOTHED:
        return float("nan")
    windows = np.lib.stride_tricks.sliding_window_view(ratios, _SMOOTHED)
    windows = windows[np.isfinite(windows).all(axis=1)]
    if not len(windows):
        return float("nan")
    # a decile that held for a whole window; the largest of all windows
    held = np.quantile(windows, _HELD_QUANTILE, axis=1).max()
    # the direction's error turns the angle, whose tangent is the bound
    return float(max(0.0, np.tan(np.arctan(held) - _BOUND_ERRORS * direction_sd)))


def _check(force: np.ndarray, contact_point: np.ndarray) -> None:
    if force.ndim != 2 or force.shape[1] != 3 or force.shape != contact_point.shape:
        raise ContactIdError(
            f"a slip trial has forces {force.shape} and contact points {contact_point.shape}",
            "Both have to be (samples, 3)",
        )
    least = 2 * _SMOOTHED
    if len(force) < least:
        raise ContactIdError(f"a slip trial has {len(force)} samples", f"It needs at least {least}")
    if not (np.isfinite(force).all() and np.isfinite(contact_point).all()):
        raise ContactIdError(
            "a slip trial holds a number that is not finite", "Leave broken samples out"
        )
