"""What a recording tells of an object, and which motion to record next.

*Told* is what the data alone know well: mass, coordinates of the centre of mass, moments about the
body's axes, and sums and differences of two moments where these are known better than each.

*Next* is another recording of the same object by the same sensors: as much again of the same
motion, twice the turn, or swings about the body's axes. Swings are no faster than the recorded
motion (95 % of its moments), in turning and in angular acceleration, and turn no further from its
mean orientation. What such a recording would say is the estimator's own information of a simulated
motion (:class:`.joint.FittedRecording`), at the noise levels and with the disturbances that the
present recording shows, with a zero of its own. It is added to the present one. Best is the same
motion or the swings with the least expected geodesic distance (eq. 20) from the truth (A-optimal in
the metric of that distance: Atkinson, Donev, Tobias, *Optimum Experimental Designs*, 2007).

*Two errors* are predicted. The stated error is that of the data, as an estimate states it. The
expected error is that of the answer, which knows the object's hull, too: of the information with
the prior's curvature added (:class:`Prior`), and of levels of the poses' noise that are estimates.
Both leave calibration out, which no motion mends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import logm

from contactid.core import rotations
from contactid.core.inertia import InertialParameters, moved_to, pseudo_inertia
from contactid.inhand.identify.drift import Drift
from contactid.inhand.identify.joint import (
    Evidence,
    FittedRecording,
    summed,
)
from contactid.inhand.identify.kinematics import rotation_exp, rotation_log
from contactid.inhand.identify.likeliest_body import PRIOR_WEIGHT
from contactid.inhand.identify.likelihood import (
    RecordingFit,
    told_covariance,
    told_errors,
    told_parameters,
)
from contactid.inhand.identify.linearised import PresentRecording
from contactid.inhand.identify.smoothing import WIDER, smoothed_motion
from contactid.inhand.identify.wrench import PARAMETERS
from contactid.inhand.readers.recordings import RecordedSignals
from contactid.inhand.simulate.swing import LEAST_SWINGS, Swing

NAMES = (
    "mass", "center_x", "center_y", "center_z", "inertia_xx", "inertia_yy", "inertia_zz",
    "inertia_xy", "inertia_xz", "inertia_yz",
)  # fmt: skip
#: Columns of the table that a page has room for.
SHOWN = ("motion", "seconds", "expected_distance", *(f"expected_{name}" for name in NAMES[:7]))
PRESENT, SAME = "as recorded", "the same motion"
TWICE, ANYWHERE = "twice the turn", "slow tilts of 90 degrees"
_USUAL = (
    0.95  # share of the moments of a recording that are as fast as its fastest swing, or slower
)
_STILL = 0.05  # rad/s; from a slower recording nothing is known of how it may be moved
_FURTHEST = 0.5 * np.pi  # rad, from the mean orientation; beyond it twice the turn means nothing
_TOLD = 0.1  # relative error up to which a mass or moment counts as told
_TOLD_CENTER = 0.02  # of the hull's length, the same of the centre's coordinates
_QUICK, _SLOW = 2.0, 2.0  # by which quick shakes and slow tilts are faster and slower than turns
ALL = [0, 1, 2]
AXES = {"x": [0], "y": [1], "z": [2], "x, y and z in turn": ALL}
_MOMENTS = slice(4, 7)  # of told parameters
_PAIRS = ((0, 1), (0, 2), (1, 2))  # of axes, in the order of products of inertia
# relative error of the levels that a recording shows of its poses' noise: twins' scatter by 0.04 to
# 0.35, half of them by less than 0.2
_LEVELS_OFF = 0.15
_CENTER, _SHAPE = 3, 6  # directions in which bodies of one mass differ: the centre's, and others
_ENOUGH = 10.0  # s of swings that are simulated: unsensed forces go together over one at most
_BETTER = 0.5  # of the better one's error of two moments, at which their sum or difference is named


@dataclass(frozen=True, eq=False)
class Limits:
    """How a recording was moved.

    Attributes
    ----------
    rate, change : rad/s and rad/s2, of turning
    about : (3,) rad/s, root mean square of turning about each of the body's axes
    angle : rad, from the mean orientation
    seconds : of all its stretches
    middle : (4,) quaternion of the mean orientation
    """

    rate: float
    change: float
    about: np.ndarray
    angle: float
    seconds: float
    middle: np.ndarray

    @property
    def period(self) -> float:
        """S, of swings that reach both the largest rate and the largest angular acceleration."""
        return 2.0 * np.pi * self.rate / self.change

    @property
    def more(self) -> float:
        """S, of every motion that is looked at: as long as the recording, or for a few swings."""
        return max(self.seconds, len(ALL) * LEAST_SWINGS * self.period)


@dataclass(frozen=True, eq=False)
class Advice:
    """What is told, and what another recording would bring.

    Attributes
    ----------
    table : a row per motion, the present recording first: ``motion``, ``seconds``,
        ``expected_distance`` (eq. 20, root of the mean square), and ``expected_<name>`` and
        ``stated_<name>``, standard errors of :data:`NAMES` in kg, m and kg m2
    sentences : on what is told, what isn't, and what to record next
    advised : the motion of the table that brings most; empty where the recording hardly moves
    best : its swings, where it is swings
    """

    table: pd.DataFrame
    sentences: tuple[str, ...]
    advised: str
    best: Swing | None


def advise(
    limits: Limits,
    fit: RecordingFit,
    present: FittedRecording,
    evidence: Evidence,
) -> Advice:
    """What a recording that was moved within limits tells, and what to record next, of its estimate.

    ``present`` are its equations at that answer, and ``evidence`` what they say. The unsensed wrench
    drifts as far in the next recording.
    """
    recording, drift = present.recording, present.drift
    seconds = limits.more
    # every motion that is compared lasts equally long
    longer = seconds / limits.seconds
    others: dict[str, list[Evidence]] = {PRESENT: [], SAME: [evidence.times(longer)]}
    # so that twice the angle is half a turn at most
    if limits.angle <= _FURTHEST:
        others[TWICE] = [_evidence(_turned_twice(recording, limits), fit, drift).times(longer)]
    swings = swings_within(limits, recording)
    for motion, swing in swings.items():
        # what a few swings tell, more of the same tell again
        few = _brief(swing)
        times = swing.seconds / few.seconds
        # a walk goes as far as the root of its time
        walked = replace(
            drift, force=drift.force / np.sqrt(times), torque=drift.torque / np.sqrt(times)
        )
        others[motion] = [_evidence(swung(recording, few), fit, walked).times(times)]
    prior, rows = Prior.near(fit.body, fit.uniform), []
    alone = summed([evidence])
    pull = prior.pull(alone.information)
    for motion, more in others.items():
        duration = swings[motion].seconds if motion in swings else seconds * len(more)
        row = {"motion": motion, "seconds": duration}
        rows.append(row | _predicted([evidence, *more], fit.body, prior, pull))
    table = pd.DataFrame(rows).set_index("motion", drop=False)
    # of what hardly moves nothing more is asked; tilts and turns beyond what was recorded are shown,
    # and not advised
    within = [SAME, *(motion for motion in swings if motion != ANYWHERE)] if swings else []
    best = min(within, key=lambda motion: table["expected_distance"][motion], default="")
    sentences = [told_sentence(fit.body, alone.covariance, recording.signals.hull)]
    if best:
        sentences.append(_next_sentence(table, best, swings.get(best), fit.body))
    return Advice(table.reset_index(drop=True), tuple(sentences), best, swings.get(best))


def told_sentence(body: InertialParameters, covariance: np.ndarray, hull: np.ndarray) -> str:
    """What the data alone tell, and what they don't, of a body with a covariance (10, 10).

    Moments are those about the body's axes through the centre of mass; products of inertia are in
    the table.
    """
    values = told_parameters(body.vector)
    covariance = told_covariance(covariance, body.vector)
    errors = np.sqrt(np.diag(covariance))
    shares = errors[_MOMENTS] / values[_MOMENTS]
    words = [
        f"mass to {_percent(errors[0] / values[0])}",
        *(
            f"c_{axis} to {1e3 * error:.2g} mm"
            for axis, error in zip("xyz", errors[1:4], strict=True)
        ),
        *(f"I_{2 * axis} to {_percent(share)}" for axis, share in zip("xyz", shares, strict=True)),
    ]
    told = well_told(values, errors, hull)[: len(words)]
    certain = [one for one, is_told in zip(words, told, strict=True) if is_told]
    uncertain = [one for one, is_told in zip(words, told, strict=True) if not is_told]
    certain += _pairs(values[_MOMENTS], covariance[_MOMENTS, _MOMENTS])
    sentence = f"Told by the data alone, calibration apart: {', '.join(certain) or 'nothing'}."
    return f"{sentence} Hardly or not: {', '.join(uncertain)}." if uncertain else sentence


def well_told(values: np.ndarray, errors: np.ndarray, hull: np.ndarray) -> np.ndarray:
    """(16,) whether errors of :func:`.likelihood.told_parameters` are small: beside the mass, the
    hull's length, the moment itself, or a product's two moments.
    """
    enough = np.empty(len(values))
    enough[0] = _TOLD * values[0]
    enough[1:4] = _TOLD_CENTER * float(np.ptp(hull, axis=0).max())
    for start in (_MOMENTS.start, len(NAMES)):
        moments = values[start : start + 3]
        products = [moments[one] * moments[other] for one, other in _PAIRS]
        enough[start : start + 3] = _TOLD * moments
        enough[start + 3 : start + 6] = _TOLD * np.sqrt(products)
    return errors <= enough


def _pairs(moments: np.ndarray, covariance: np.ndarray) -> list[str]:
    """Sums and differences of two of three moments that are told where one of the two isn't."""
    errors, words = np.sqrt(np.diag(covariance)), []
    for one, other in _PAIRS:
        both = [one, other]
        total = moments[both].sum()
        # each is told, so no combination need be named
        if np.all(errors[both] <= _TOLD * moments[both]):
            continue
        for sign, name in ((1.0, "+"), (-1.0, "-")):
            combined = np.array([1.0, sign])
            # sd of the sum or difference, with the covariance of both
            error = float(np.sqrt(combined @ covariance[np.ix_(both, both)] @ combined))
            # worth a word only if it is known clearly better than either
            if error <= min(_TOLD * total, _BETTER * errors[both].min()):
                axes = f"I_{2 * 'xyz'[one]} {name} I_{2 * 'xyz'[other]}"
                words.append(f"{axes} to {_percent(error / total)} of the sum")
    return words


def _next_sentence(
    table: pd.DataFrame, best: str, swing: Swing | None, body: InertialParameters
) -> str:
    """What to record next, and what it is expected to bring."""
    distance = table["expected_distance"]
    if distance[best] >= distance[PRESENT]:
        return (
            "No other recording as quick and as wide as this one is expected to bring the answer nearer, for the "
            "poses' noise goes on: turn the object further or faster, or track it better."
        )
    how = f"{best} again ({table['seconds'][best]:.2g} s)"
    if swing is not None:
        how = (
            f"{best}: {swing.swings} swings of {np.degrees(swing.angle):.0f} degrees to either side in "
            f"{swing.period:.2g} s each ({swing.seconds:.2g} s)"
        )
    moments = np.diag(body.inertia_at_center)
    scales = {"mass": (100.0 / body.mass, "%")} | dict.fromkeys(NAMES[1:4], (1000.0, "mm"))
    scales |= {name: (100.0 / one, "%") for name, one in zip(NAMES[4:7], moments, strict=True)}
    brought = ", ".join(
        f"{name} {scale * table[f'expected_{name}'][PRESENT]:.2g} -> "
        f"{scale * table[f'expected_{name}'][best]:.2g} {unit}"
        for name, (scale, unit) in scales.items()
    )
    return f"Next, record {how}. Expected errors, with what the hull tells: {brought}."


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 1.0 else "100 % or more"


def _evidence(recording: PresentRecording, fit: RecordingFit, drift: Drift) -> Evidence:
    """Of a simulated recording, whose poses are exact."""
    evidence = FittedRecording(recording, fit, fit.models[0].names, drift).evidence(fit.body.vector)
    information = evidence.model.information.copy()
    # recorded poses will show their noise as information, and so much is taken off of all evidence
    information[:PARAMETERS, :PARAMETERS] += evidence.noise
    return replace(evidence, models=(replace(evidence.model, information=information),))


@dataclass(frozen=True, eq=False)
class Prior:
    """What the estimate takes for likely beforehand, near a body: :data:`.likeliest_body.PRIOR_WEIGHT`
    times half the squared geodesic distance (eq. 20) to the uniform body, whatever the mass.

    Attributes
    ----------
    information : (10, 10) its curvature; the mass's logarithm has a deviation of one
    slope : (10,)
    wide, wide_slope : the same of the distribution that the object is from, which is wider where
        the body is further from the uniform one than expected: in its centre, or in its shape
        about it
    """

    information: np.ndarray
    slope: np.ndarray
    wide: np.ndarray
    wide_slope: np.ndarray

    @classmethod
    def near(cls, body: InertialParameters, uniform: InertialParameters) -> Prior:
        """With ``M_i = P^-1 dP / dtheta_i`` and ``L = log(P_0^-1 P)``, of trace zero: curvature ``1/4
        tr(M_i M_j)`` less its part along the mass, ``1/16 tr(M_i) tr(M_j)``, and slope ``1/4 tr(L
        M_i)``, times the weight. The curvature is the metric's: right to second order in the
        distance.
        """
        # P^-1 dP/dtheta_i, (10, 4, 4)
        relative = _relative_slopes(body)
        along_mass = 0.25 * np.trace(relative, axis1=1, axis2=2)
        # d log m = dm / m, deviation one: the mass within a factor of e
        unit = np.eye(PARAMETERS)[0] / body.mass
        by_mass = np.outer(unit, unit)
        curvature = PRIOR_WEIGHT * (distance_metric(body) - np.outer(along_mass, along_mass))
        before, now = pseudo_inertia(uniform.vector), pseudo_inertia(body.vector)
        log = np.real(logm(np.linalg.solve(before, now)))
        # trace zero: without the mass, which scales all of P
        log -= 0.25 * np.trace(log) * np.eye(len(log))
        slope = 0.25 * PRIOR_WEIGHT * np.einsum("ij,aji->a", log, relative)
        squared = 0.25 * PRIOR_WEIGHT * float(np.trace(log @ log))
        # in the metric a move of the centre is orthogonal to every change of the tensor about it
        by_center, moved = _center_moved(body)
        along, stiff = by_center.T @ slope, by_center.T @ curvature @ by_center
        # squared distances over their expectations: each direction's is one
        squared_center = float(along @ np.linalg.solve(stiff, along))
        of_center = max(1.0, squared_center / _CENTER)
        of_shape = max(1.0, (squared - squared_center) / _SHAPE)
        center, along_center = moved.T @ stiff @ moved, moved.T @ along
        return cls(
            information=curvature + by_mass,
            slope=slope,
            wide=by_mass + center / of_center + (curvature - center) / of_shape,
            wide_slope=along_center / of_center + (slope - along_center) / of_shape,
        )

    def pull(self, information: np.ndarray) -> np.ndarray:
        """(10, 10) mean square of its slope at the truth, of an information (10, 10) that knows it.

        The truth is about the answer under the wide prior, which is a step from the present one.
        """
        spread = np.linalg.inv(information + self.wide)
        at_truth = self.slope + self.information @ spread @ (self.slope - self.wide_slope)
        return np.outer(at_truth, at_truth) + self.information @ spread @ self.information


def _center_moved(body: InertialParameters) -> tuple[np.ndarray, np.ndarray]:
    """(10, 3) change of the parameters by the centre of mass, mass and tensor about it as they are,
    and (3, 10) of the centre by the parameters.
    """
    center = body.center_of_mass
    up, down = (
        np.column_stack([moved_to(body, center + step).vector for step in sign * np.eye(3)])
        for sign in (1.0, -1.0)
    )
    moved = np.hstack([-center[:, None], np.eye(3), np.zeros((3, 6))]) / body.mass
    # quadratic in the centre, so central differences with a step of 1 are exact
    return 0.5 * (up - down), moved


def _predicted(
    every: Sequence[Evidence], body: InertialParameters, prior: Prior, pull: np.ndarray
) -> dict[str, float]:
    """A row of the table, of evidence that is added up and the prior's pull (10, 10)."""
    total, vector = summed(every), body.vector
    # gain of the posterior, then what noise and the prior's pull leave after it
    answer = np.linalg.inv(total.information + prior.information)
    by_noise = total.information @ total.covariance @ total.information
    # what is taken off for the poses' noise is off by a share of it, the same in all recordings
    by_levels = _LEVELS_OFF * sum(one.noise for one in every) @ vector
    expected = answer @ (by_noise + np.outer(by_levels, by_levels) + pull) @ answer
    # root of the mean of d^2 = e^T M e
    distance = float(np.sqrt(np.vdot(distance_metric(body), expected)))
    return {"expected_distance": distance} | {
        f"{kind}_{name}": error
        for kind, covariance in (("expected", expected), ("stated", total.covariance))
        for name, error in zip(NAMES, told_errors(covariance, vector), strict=False)
    }


def distance_metric(body: InertialParameters) -> np.ndarray:
    """(10, 10) of the squared geodesic distance (eq. 20) between a body and one near it.

    ``1/4 tr(M_i M_j)`` with ``M_i = P^-1 dP / dtheta_i``.
    """
    relative = _relative_slopes(body)
    return 0.25 * np.einsum("aij,bji->ab", relative, relative)


def _relative_slopes(body: InertialParameters) -> np.ndarray:
    """(10, 4, 4) of the pseudo-inertia matrix by the parameters, times its inverse."""
    slopes = np.array([pseudo_inertia(one) for one in np.eye(PARAMETERS)])
    return np.linalg.solve(pseudo_inertia(body.vector), slopes)


def limits_of(stretches: Sequence[RecordedSignals]) -> Limits:
    """How a recording was moved, of its smoothed poses."""
    smoothed = [smoothed_motion(one, WIDER) for one in stretches]
    turned = rotations.as_rotation(np.concatenate([orientation for _, orientation, _ in smoothed]))
    middle = turned.mean()
    rate, change = (
        np.concatenate([getattr(motion, name) for _, _, motion in smoothed])
        for name in ("rate", "rate_change")
    )
    return Limits(
        rate=float(np.quantile(np.linalg.norm(rate, axis=1), _USUAL)),
        change=float(np.quantile(np.linalg.norm(change, axis=1), _USUAL)),
        about=np.sqrt(np.mean(rate**2, axis=0)),
        angle=float((middle.inv() * turned).magnitude().max()),
        seconds=sum(float(np.ptp(one.time)) for one in stretches),
        middle=rotations.as_quaternions(middle),
    )


def swings_within(limits: Limits, recording: PresentRecording) -> dict[str, Swing]:
    """Swings about the contacts' middle by what they are called, as fast and as far as the limits
    allow.

    None where the recording hardly moves, so that nothing is known of how it may be moved.
    """
    if limits.rate < _STILL:
        return {}
    pivot = recording.signals.points.mean(axis=(0, 1))

    def swing(axes: list[int], period: float, furthest: float = limits.angle) -> Swing:
        # whole swings about each axis that fill the time
        count = max(LEAST_SWINGS, round(limits.more / (len(axes) * period)))
        unit = Swing(np.eye(3)[axes], 1.0, period, count, limits.middle, pivot)
        rate, change = unit.peaks()
        # rate and angular acceleration are linear in the angle, so the tightest limit decides
        angle = min(limits.rate / rate, limits.change / change, furthest)
        return replace(unit, angle=angle)

    found: dict[str, Swing] = {}
    for words, period in (("turns", limits.period), ("quick shakes", limits.period / _QUICK)):
        found |= {f"{words} about {about}": swing(axes, period) for about, axes in AXES.items()}
    found["slow tilts"] = swing(ALL, _SLOW * limits.period)
    # a swing of this angle in this period has about the recorded rate
    slow = max(_SLOW * limits.period, 2.0 * np.pi * _FURTHEST / limits.rate)
    found[ANYWHERE] = swing(ALL, slow, _FURTHEST)
    return found


def _brief(swing: Swing) -> Swing:
    """The fewest swings that last :data:`_ENOUGH`."""
    each = swing.seconds / swing.swings
    return replace(swing, swings=min(swing.swings, max(LEAST_SWINGS, ceil(_ENOUGH / each))))


def swung(recording: PresentRecording, swing: Swing) -> PresentRecording:
    """A recording of swings as the present one's sensors would see it, at its rows' distance."""
    step = float(np.median(np.diff(recording.signals.time[recording.parts[0]])))
    time = np.arange(0.0, swing.seconds, step)
    motion = swing.evaluate(time)
    parts = [slice(0, len(time))]
    return _simulated(
        recording, time, rotations.matrices(motion.orientation), motion.position, parts
    )


def _turned_twice(recording: PresentRecording, limits: Limits) -> PresentRecording:
    """The same poses, turned twice as far from the mean orientation about the contacts' middle."""
    pivot, middle = recording.signals.points.mean(axis=(0, 1)), rotations.matrices(limits.middle)
    turned = middle @ rotation_exp(2.0 * rotation_log(middle.T @ recording.rotations))
    # the pivot stays where it was: p' + R' c = p + R c
    position = recording.positions + (recording.rotations - turned) @ pivot
    return _simulated(recording, recording.signals.time, turned, position, recording.parts)


def _simulated(
    recording: PresentRecording, time: np.ndarray, turned: np.ndarray, position: np.ndarray, parts: list[slice],
) -> PresentRecording:  # fmt: skip
    """A recording of exact poses; forces, points and their noise are the present one's on average.

    What a recording would tell asks for no more of the forces.
    """
    signals = recording.signals

    def mean(values: np.ndarray | None) -> np.ndarray | None:
        if values is None:
            return None
        return np.broadcast_to(values.mean(axis=0), (len(time), *values.shape[1:]))

    series = ("forces", "force_sd", "points", "torques")
    usual: dict[str, Any] = {name: mean(getattr(signals, name)) for name in series}
    # poses without noise: the information is that of the true motion
    exact = replace(signals, time=time, rotations=turned, positions=position, blur=None, **usual)
    return PresentRecording(exact, parts, turned, position)
