"""The coefficient of friction from a fingertip's force just before it slips (section III-A of the in-hand paper).

*From one force at the edge of the friction cone* (eqs. 1 to 5). A force f that presses on a surface with unit normal n
(into the object) has the normal part f_n = f . n and the tangential part f_t = |f - f_n n|. Coulomb's law holds the
contact while f_t <= mu f_n (eq. 1), so at the instant before slip f_t = mu f_n (eq. 2), and with phi the angle between
f and n (eq. 3)

    cos phi = (f / |f|) . n                                          (eq. 4)
    mu = tan phi = sqrt(1 - cos^2 phi) / cos phi                     (eq. 5)

The printed equations lost their symbols; these follow from the text around them. Eq. 5 is computed as
``|f x n| / (f . n)``, the same number without the loss of digits near phi = 0.

*The first slip* in force and contact-point signals is two things at once: the contact point runs away from the course
of the last samples, and the tangential force falls. The first alone is a soft tip's creep, the second alone is the
finger letting go.

* Course: a line through the contact point's last samples is extrapolated; the differences to it, in units of their
  standard deviation, are summed up where they exceed an allowance (one-sided CUSUM, Page 1954). Creep changes slowly
  and stays close to the line.
* Fall: between the last sample at which that sum was zero and the alarm, the tangential force's means over five
  samples before and after are compared. The largest fall dates the onset; if it is within the noise, or a small share
  of the force, the alarm was creep, and the search goes on.
* Noise: from the median absolute first difference of the signal itself, so no sensor data sheet is needed.
* Friction: eq. 5 for each of the last sticking samples, their median, and its standard error. Their ratio of
  tangential to normal force grows while the finger is unloaded, so the median is a little low: by the growth over half
  the samples.

Without a slip the largest ratio that held is a lower bound, and is called that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.errors import ContactIdError

_COURSE = 25  # samples that the line of the contact point is fitted to
_GAP = 3  # samples between that line and the judged sample, so that a slow start of slip can't bend the line
_ALLOWANCE = 1.5  # differences below it, in standard deviations, don't add up
_THRESHOLD = 10.0  # of the CUSUM, in standard deviations
_STICKING = 5  # samples whose median is the estimate
_GUARD = 1  # samples before the onset that are left out, since the onset is known to a sample or so
_DROP_ERRORS = 4.0  # least fall of the tangential force, in standard errors of a difference of means over _STICKING
_DROP_SHARE = 0.05  # least fall, as a share of the tangential force
_RESOLUTION = 1e-5  # m, of the contact point; noise below it isn't believed
_MAD_TO_SD = 1.4826  # of a normal distribution
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
        raise ContactIdError("a surface normal is zero or not finite", "Give a direction into the object")
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
        Coefficients (...), dimensionless; nan where a force does not press on the surface (f . n <= 0).
    """
    force, normal = np.asarray(force, dtype=float), unit_normal(normal)
    pressing = np.sum(force * normal, axis=-1)
    tangential = np.linalg.norm(np.cross(force, normal), axis=-1)
    positive = pressing > 0.0
    return np.where(positive, tangential / np.where(positive, pressing, 1.0), np.nan)


def friction_standard_error(force: np.ndarray, normal: np.ndarray, force_sd: float) -> np.ndarray:
    """First-order standard error of eq. 5 for white noise of ``force_sd`` (N) on every component of a force (..., 3).

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
    lower_bound : largest ratio of tangential to normal force that held (median over five samples)
    onset : first sample of the slip; -1 without one
    message : what happened, in words
    """

    slipped: bool
    friction: float
    standard_error: float
    lower_bound: float
    onset: int
    message: str


def noise_sd(signal: np.ndarray) -> float:
    """Standard deviation of a slow signal's white noise, robust against jumps, from its first differences (n,)."""
    return float(_MAD_TO_SD * np.median(np.abs(np.diff(signal))) / np.sqrt(2.0))


def course_innovations(signal: np.ndarray) -> np.ndarray:
    """Differences (n,) between a signal and the line through its earlier samples; zero while there are too few.

    Scaled so that white noise of standard deviation 1 gives differences of standard deviation 1.
    """
    width, lead = _COURSE, _GAP + 1
    steps = np.arange(width) - (width - 1) / 2.0
    ahead = (width - 1) / 2.0 + lead
    weights = 1.0 / width + ahead * steps / np.sum(steps**2)  # of the line's value at the judged sample
    judged = np.zeros(len(signal))
    if len(signal) >= width + lead:
        predicted = np.convolve(signal, weights[::-1], mode="valid")[: len(signal) - width - lead + 1]
        judged[width + lead - 1 :] = signal[width + lead - 1 :] - predicted
    return judged / np.sqrt(1.0 + np.sum(weights**2))


def cusum_alarms(scores: np.ndarray, allowance: float, threshold: float) -> list[tuple[int, int]]:
    """Pairs (onset, alarm) of a one-sided CUSUM over scores (n,), which starts anew after each alarm."""
    total, onset, alarms = 0.0, 0, []
    for k, score in enumerate(scores):
        total = max(0.0, total + score - allowance)
        if total == 0.0:
            onset = k + 1
        elif total > threshold:
            alarms.append((onset, k))
            total, onset = 0.0, k + 1
    return alarms


def detect_slip(force: np.ndarray, contact_point: np.ndarray, normal: np.ndarray) -> tuple[int, str]:
    """Onset of the first slip, or -1, and what was seen, in words.

    Parameters
    ----------
    force, contact_point : (n, 3), N and m, in the object's frame
    normal : (3,), of the undeformed surface, into the object
    """
    sliding = _tangential_direction(force, normal)
    if sliding is None:
        return -1, "no tangential force, so nothing could slip"
    position, tangential = contact_point @ sliding, force @ sliding
    scores = course_innovations(position) / max(noise_sd(position), _RESOLUTION)
    alarms = cusum_alarms(scores, _ALLOWANCE, _THRESHOLD)
    for start, alarm in alarms:
        onset = _force_fall(tangential, start, alarm)
        if onset >= 0:
            return onset, "slip: the contact point ran away and the tangential force fell"
    return -1, "the contact point moved, but the tangential force did not fall: creep" if alarms else "no slip"


def _force_fall(tangential: np.ndarray, start: int, alarm: int) -> int:
    """Sample in [start - gap, alarm + 1] before which the tangential force falls most, or -1 where it hardly falls."""
    width = _STICKING
    candidates = np.arange(max(width, start - _GAP), min(len(tangential) - width, alarm + 1) + 1)
    if not len(candidates):
        return -1
    sums = np.concatenate([[0.0], np.cumsum(tangential)])
    before = (sums[candidates] - sums[candidates - width]) / width
    falls = before - (sums[candidates + width] - sums[candidates]) / width
    best = int(np.argmax(falls))
    least = max(_DROP_ERRORS * noise_sd(tangential) * np.sqrt(2.0 / width), _DROP_SHARE * abs(before[best]))
    return int(candidates[best]) if falls[best] > least else -1


def estimate_friction(force: np.ndarray, contact_point: np.ndarray, normal: np.ndarray) -> SlipEstimate:
    """Friction from one trial in which a finger is unloaded until it slips (section III-A of the in-hand paper).

    Parameters
    ----------
    force : (n, 3), N, of the finger on the object, in the object's frame
    contact_point : (n, 3), m, in the object's frame
    normal : (3,), of the undeformed surface at the contact, into the object

    Raises
    ------
    ContactIdError
        Where the signals don't fit together, hold a number that isn't finite, or are too short.
    """
    _check(force, contact_point)
    normal = unit_normal(normal)
    onset, message = detect_slip(force, contact_point, normal)
    end = onset - _GUARD if onset >= 0 else len(force)
    ratios = friction_coefficient(force[:end], normal)
    bound = _held(ratios)
    if onset < 0:
        return SlipEstimate(False, np.nan, np.nan, bound, -1, f"{message}: lower bound only")
    last = slice(max(0, end - _STICKING), end)
    pressing = np.isfinite(ratios[last])
    if not pressing.any():
        return SlipEstimate(False, np.nan, np.nan, bound, onset, "the finger did not press before it moved")
    kept = force[last][pressing]
    sd = np.mean([noise_sd(force[:end, axis]) for axis in range(3)])
    error = friction_standard_error(np.mean(kept, axis=0), normal, float(sd)) * _MEDIAN_TO_MEAN_SE / np.sqrt(len(kept))
    return SlipEstimate(True, float(np.median(ratios[last][pressing])), float(error), bound, onset, message)


def _tangential_direction(force: np.ndarray, normal: np.ndarray) -> np.ndarray | None:
    tangential = np.median(force - (force @ normal)[:, None] * normal, axis=0)
    length = np.linalg.norm(tangential)
    return tangential / length if length > 0.0 else None


def _held(ratios: np.ndarray) -> float:
    """Largest median of five samples in a row; nan where the finger never pressed that long."""
    if len(ratios) < _STICKING:
        return float("nan")
    windows = np.lib.stride_tricks.sliding_window_view(ratios, _STICKING)
    pressing = np.isfinite(windows).all(axis=1)
    return float(np.median(windows[pressing], axis=1).max()) if pressing.any() else float("nan")


def _check(force: np.ndarray, contact_point: np.ndarray) -> None:
    if force.ndim != 2 or force.shape[1] != 3 or force.shape != contact_point.shape:
        raise ContactIdError(
            f"a slip trial has forces {force.shape} and contact points {contact_point.shape}",
            "Both have to be (samples, 3)",
        )
    least = _COURSE + _GAP + _STICKING + _GUARD
    if len(force) < least:
        raise ContactIdError(f"a slip trial has {len(force)} samples", f"It needs at least {least}")
    if not (np.isfinite(force).all() and np.isfinite(contact_point).all()):
        raise ContactIdError("a slip trial holds a number that is not finite", "Leave broken samples out")
