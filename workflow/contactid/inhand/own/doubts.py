"""What not to trust in an estimate of an object in hand: sentences, the weightiest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import ConvexHull
from scipy.special import chdtrc

from contactid.inhand.identify.advice import NAMES, Limits
from contactid.inhand.identify.disturbance_models import PENALTY, Model
from contactid.inhand.identify.latent_errors import COMING
from contactid.inhand.identify.likelihood import INTERVAL, RecordingFit
from contactid.inhand.identify.linearised import AXES, LAG, PLACES, SPRING, WORLD
from contactid.inhand.identify.methods import PRIOR
from contactid.inhand.own.prepare import OwnRecording, turning

if TYPE_CHECKING:
    from contactid.inhand.own.estimate import OwnEstimate

_UNLIKELY = 1e-3  # probability of a misfit below which the stated noise doesn't explain it
_EXCESS = 1.1  # of a misfit: in long recordings a smaller one is unlikely, too, and harmless
_OFF = 1.5  # factor of a stated deviation from which on a warning names it
_WEAK = 0.1  # relative standard error of the mass
_WEAK_CENTER = 0.05  # of the hull's length
_STILL = 0.05  # rad/s
_SPANNED = 0.01  # of the hull's length; contacts nearer to one line are on it
_TURNED = 0.35  # rad, below which weight and a constant force are hardly told apart
_DENSITIES = (5.0, 2.3e4)  # kg/m3 over the hull: below foam's in a box, and above any metal's
_UNSENSED = 3.0  # standard errors from which on a warning names a constant force
_OF_WEIGHT = 0.1  # and its least share of the weight
_COMING = 0.05  # of the weight, the same of forces that come and go
# of the data's logarithm of likelihood, from which on a warning names a drift: twins whose zero
# stays gained so much in 1 of 100 at most
DRIFTS = 3.0
# of the same, from which on the data speak against a disturbance: very strong evidence (Kass,
# Raftery, J. Am. Stat. Assoc. 90, 1995)
_AGAINST = 5.0
_EDGE = 0.02  # of the hull's length
_LEVEL = 0.3  # rise of a force over its level part, up to which it may be a weight's that leans
_DISTURBED = {
    WORLD: "a force fixed in the world",
    SPRING: "its change with the place",
    LAG: "a lag of the forces",
    AXES: "accelerations of the positions",
}


def doubts(found: OwnEstimate) -> tuple[str, ...]:
    """Sentences on an answer that may be wrong, then on one that is weak, then on its parts."""
    fit, recording = found.fit, found.recording
    weak_motion = [] if recording.still else _weak_motion(found.motion_limits, recording)
    return (
        *_too_noisy(fit),
        *_impossible(fit, recording.hull),
        *recording.warnings,
        *_a_cable_instead(found),
        *_misfit(fit),
        *weak_motion,
        *_weak_answer(fit, recording.hull),
        *_unsensed(fit, recording.stretches[0].gravity),
        *_drift(found),
        *_stated_noise(fit),
        *_by_prior(found),
    )


def limits(found: OwnEstimate) -> tuple[str, ...]:
    """Sentences on what no recording tells, or no motion like this one."""
    recording = found.recording
    share = recording.unsensed_share
    counted = f"the interval counts up to {100 * share:.2g} %" if share else "none is counted"
    return (
        "A common factor of all forces is another mass at every motion: standard errors count "
        f"{100 * recording.gain_sd:.2g} % for the sensors' calibration (force_gain_sd).",
        f"So is a share of the load that bypasses the sensors, and {counted} (unsensed_share).",
        "The object is taken to be rigid: a liquid or a loose part of some percent of its mass passes for something "
        "else (a lag of the forces), and moves the answer by about as much.",
        # beside a drift, which may be a cable's, it is a warning
        *([] if _drift(found) else _slow_beside_a_cable(found)),
    )


def _pulled(fit: RecordingFit) -> Model | None:
    """The likeliest model with a force fixed in the world; none where it is the answer's own."""
    if WORLD in fit.models[0].names:
        return None
    return next((one for one in fit.models if WORLD in one.names), None)


def _a_cable_instead(found: OwnEstimate) -> list[str]:
    """That a cable explains the data about as well, and makes another mass of them."""
    fit, pulled = found.fit, _pulled(found.fit)
    if pulled is None:
        return []
    mass, alone = pulled.mass
    # without what each disturbance has to bring to be taken
    penalties = PENALTY * (len(pulled.names) - len(fit.models[0].names))
    against = fit.models[0].log_likelihood - pulled.log_likelihood - penalties
    both = float(np.hypot(alone, fit.fit_errors[0]))
    if against > _AGAINST or abs(mass - fit.body.mass) <= INTERVAL * both:
        return []
    low, high = found.interval_under(pulled)
    return [
        "A force fixed in the world, as of a cable, explains the data about as well: with one, the mass is within "
        f"{max(low, 0.0):.2g} to {high:.2g} kg."
    ]


def _slow_beside_a_cable(found: OwnEstimate) -> list[str]:
    """That a cable isn't told from weight, where accelerations alone hardly tell the mass."""
    fit, pulled = found.fit, _pulled(found.fit)
    # accelerations that don't fit tell nothing
    if pulled is None or AXES in fit.models[0].names or _a_cable_instead(found):
        return []
    error = pulled.mass[1]
    if error <= _WEAK * fit.body.mass:
        return []
    return [
        "In so slow a motion a force fixed in the world, as of a cable, isn't told from weight, and none is counted: "
        f"with one, accelerations alone tell the mass, to +- {error:.2g} kg."
    ]


def words(model: Model) -> str:
    """A model of what disturbs, in words."""
    return "a constant wrench in the body" + "".join(
        f" and {_DISTURBED[name]}" for name in model.names
    )


def _too_noisy(fit: RecordingFit) -> list[str]:
    if fit.pose_share <= 1.0:
        return []
    return [
        f"The poses' noise puts {fit.pose_share:.2g} times as much into the accelerations as the motion: move the "
        "object more strongly. The mass is then likely to be too small, by more than its standard error."
    ]


def _impossible(fit: RecordingFit, hull: np.ndarray) -> list[str]:
    warnings = []
    solid = ConvexHull(hull)
    density = fit.body.mass / float(solid.volume)
    if not _DENSITIES[0] <= density <= _DENSITIES[1]:
        warnings.append(
            f"{fit.body.mass:.3g} kg in this hull are {density:.3g} kg/m3: check the units of forces, positions, hull."
        )
    normals, offsets = solid.equations[:, :3], solid.equations[:, 3]
    # distances to the faces, inwards
    room = -(normals @ fit.body.center_of_mass + offsets)
    if room.min() < _EDGE * np.ptp(hull, axis=0).max():
        warnings.append(
            "The centre of mass is at the hull's edge: the hull, its frame or the forces may be wrong."
        )
    return warnings


def _misfit(fit: RecordingFit) -> list[str]:
    squares = fit.misfit * fit.degrees
    # by size and by chance: in long recordings a tiny excess is unlikely, too
    if fit.misfit <= _EXCESS or chdtrc(fit.degrees, squares) >= _UNLIKELY:
        return []
    return [
        f"The stated noise doesn't explain the residuals (chi2 {squares:.4g}, expected {fit.degrees}). "
        "Standard errors are by the noise that the recording shows."
    ]


def _weak_motion(limits: Limits, recording: OwnRecording) -> list[str]:
    warnings = []
    still = [axis for axis, rate in zip("xyz", limits.about, strict=True) if rate < _STILL]
    if still:
        warnings.append(
            f"Weak excitation: the object hardly turns about its {' and '.join(still)} (less than 0.05 rad/s above the "
            "noise)."
        )
    angle = turning(recording)
    if angle < _TURNED:
        warnings.append(
            f"Weak excitation: the object turns by {np.degrees(angle):.0f} degrees at most, so its weight is hardly "
            "told from a constant force that isn't sensed."
        )
    return warnings + _free_torque(recording)


def _free_torque(recording: OwnRecording) -> list[str]:
    """Contacts on one line, with no sensor of a torque about it."""
    places = np.concatenate([one.points for one in recording.stretches]).mean(axis=0)
    # singular values of the contacts about their middle: two are needed to span a plane
    spread = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    spanned = np.count_nonzero(spread > _SPANNED * np.ptp(recording.hull, axis=0).max())
    if spanned >= 2 or recording.stretches[0].torques is not None:
        return []
    about = "about its only contact" if len(places) == 1 else "about the line through its contacts"
    return [
        f"No torque {about} is measured, and none is assumed to act: a real fingertip exerts one."
    ]


def _weak_answer(fit: RecordingFit, hull: np.ndarray) -> list[str]:
    warnings = []
    # without calibration, which no better recording mends
    share = fit.fit_errors[0] / fit.body.mass
    if share > _WEAK:
        warnings.append(f"The mass is known to {100.0 * share:.0f} % only.")
    center, size = float(fit.fit_errors[1:4].max()), float(np.ptp(hull, axis=0).max())
    if center > _WEAK_CENTER * size:
        warnings.append(f"The centre of mass is known to {1e3 * center:.0f} mm only.")
    return warnings


def _stated_noise(fit: RecordingFit) -> list[str]:
    """Deviations that the recording shows to be others than those stated."""
    sizes = np.sqrt(fit.levels)
    shown = {
        "contact_force_sd or contact_position_sd": sizes[0],
        "position_sd": float(np.hypot(sizes[1], 0.6 * sizes[3])),
        "orientation_sd": float(np.hypot(sizes[2], 0.6 * sizes[4])),
    }
    return [
        f"{name}: the recording shows {factor:.2g} times what is stated."
        for name, factor in shown.items()
        if not 1.0 / _OFF <= factor <= _OFF
    ]


def _unsensed(fit: RecordingFit, gravity: float) -> list[str]:
    """Forces that aren't sensed: constant ones, those taken out, and those that come and go."""
    weight = fit.body.mass * gravity
    # first three of the wrench: its force
    force, error = (float(np.linalg.norm(one[:3])) for one in (fit.wrench, fit.wrench_errors))
    warnings = []
    # both: told from nothing, and large enough to matter
    if weight and force > _UNSENSED * error and force > _OF_WEIGHT * weight:
        warnings.append(
            f"A force of {force:.2g} N that isn't sensed is constant in the body ({100.0 * force / weight:.0f} % of "
            "the weight): a sensor's zero, or what holds the object besides. It is taken out; one that varies with "
            "the load can't be."
        )
    sentences = _disturbances(fit, gravity)
    warnings += [sentences[name] for name in _DISTURBED if name in fit.models[0].names]
    # variances of both spans add up
    slow = float(np.sqrt(fit.levels[list(COMING)].sum()))
    # without gravity the mass stands for the weight
    if slow > _COMING * max(weight, fit.body.mass):
        warnings.append(
            f"Forces of about {slow:.2g} N come and go that aren't sensed; they widen the standard errors."
        )
    return warnings


def _drift(found: OwnEstimate) -> list[str]:
    if found.at_answer is None or found.at_answer.drift.gain < DRIFTS:
        return []
    drift, steady = found.at_answer.drift, found.at_answer.steady
    error, without = (float(one.fit_errors[0]) for one in (found.fit, steady))
    return [
        f"What isn't sensed drifts by about {drift.force:.2g} N and {drift.torque:.2g} N m over the recording, as a "
        "sensor's zero, a cable or the hand's own pose may, so its parts contradict each other. The answer and its "
        f"errors count it: the mass's, calibration apart, is {error:.2g} kg. As if nothing drifted it would be "
        f"{steady.body.mass:.4g} +- {without:.2g} kg.",
        *_slow_beside_a_cable(found),
    ]


def _leaning(fit: RecordingFit, gravity: float) -> str:
    """That a vertical which is off would show the same, where the force is level."""
    along, upwards = np.split(fit.answer[PLACES[WORLD]], [2])
    size = float(np.linalg.norm(along))
    if not gravity or abs(upwards[0]) > _LEVEL * size:
        return ""
    tilt = np.degrees(np.arcsin(min(size / (fit.body.mass * gravity), 1.0)))
    return f", or of a vertical that is off by {tilt:.2g} degrees"


def _disturbances(fit: RecordingFit, gravity: float) -> dict[str, str]:
    """A sentence on each disturbance that may have been taken out."""
    force, late = np.linalg.norm(fit.answer[PLACES[WORLD]]), 1e3 * fit.answer[PLACES[LAG]][0]
    return {
        WORLD: f"A force of {force:.2g} N that isn't sensed is fixed in the world, as of a cable"
        f"{_leaning(fit, gravity)}. It is taken out; the mass is then told by accelerations alone.",
        SPRING: "It changes with the object's place, as of a cable on a spring or a hose that bends.",
        LAG: f"The forces are {abs(late):.0f} ms {'late' if late > 0.0 else 'early'}; they are shifted to the poses.",
        AXES: "Accelerations of the positions don't fit the forces: position and orientation aren't told in the same "
        "axes, time or lengths have another unit, or the object shakes in its mount. The mass is told by the weight.",
    }


def _by_prior(found: OwnEstimate) -> list[str]:
    names = [name for name in NAMES[1:] if found.told_by[name] == PRIOR]
    if not names:
        return []
    return [
        f"The data hardly tell {', '.join(names)}, and move them by less than a standard error from a uniform body "
        "in the hull: take them for that body's."
    ]
