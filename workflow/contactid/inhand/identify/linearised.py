"""A recording's wrench equations, linear about present poses and parameters, with every column that
may be unknown.

Beside the ten parameters and a constant wrench in the body (a sensor's zero, a mounting frame's
preload) there are columns of disturbances that a recording may have and most don't
(:data:`PLACES`):

* *world*: a force that is fixed in the world and isn't sensed, as a cable's;
* *anchor*: where in the body it acts, from the contacts' mean place;
* *spring*: how it changes with the anchor's place in the world, as on a spring: a symmetric 3 by 3
  stiffness;
* *lag*: the forces are late by a time, by which they are shifted before the equations are taken;
* *axes*: accelerations of the positions, times a 3 by 3 matrix M: position and orientation aren't
  told in the same axes, or time or lengths have another unit. The weight doesn't mind.

Which of them are in is decided by :mod:`contactid.inhand.identify.disturbance_models`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from contactid.core.rotations import matrices, skew
from contactid.inhand.identify.kinematics import (
    FOURTH_ORDER,
    REACH,
    BodyMotion,
    body_motion,
    rotation_exp,
    rotation_log,
)
from contactid.inhand.identify.latent_errors import Equations
from contactid.inhand.identify.signal_noise import steady_points
from contactid.inhand.identify.smoothing import WIDER, smoothed_motion
from contactid.inhand.identify.wrench import (
    PARAMETERS,
    WRENCH,
    regressor,
    wrench_covariance,
    wrench_slope,
)
from contactid.inhand.readers.recordings import RecordedSignals

WORLD, ANCHOR, SPRING, LAG, AXES = "world", "anchor", "spring", "lag", "axes"
_REACH = REACH[FOURTH_ORDER]
# keeps a covariance definite where next to no noise is stated
_FLOOR = np.diag(np.repeat([1e-5, 1e-6], 3) ** 2)  # N and N m, least deviations of a wrench
# of the hull's length, by which slow errors of a sensor's torques go with those of its forces
LEVER = 0.25
_BEYOND = 1e3  # times its deviation: a wrench that a shift would have to guess
_MOTION = ("rate", "rate_change", "specific_force")
# entries of a symmetric matrix: xx, yy, zz, xy, xz, yz
_ROWS, _COLUMNS = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
_SLOPES = ("d_rate", "d_rate_change", "d_specific_force")


def _places() -> dict[str, slice]:
    places, start = {}, PARAMETERS + WRENCH
    for name, count in ((WORLD, 3), (ANCHOR, 3), (SPRING, 6), (LAG, 1), (AXES, 9)):
        places[name] = slice(start, start + count)
        start += count
    return places


PLACES = _places()  # of the disturbances' columns, behind parameters and constant wrench
UNKNOWNS = max(place.stop for place in PLACES.values())


@dataclass
class PresentRecording:
    """Averaged signals, stretch after stretch, with poses that follow the answer.

    Attributes
    ----------
    signals : n samples; contact points steadied
    parts : samples of each stretch without a gap
    rotations, positions : (n, 3, 3) and (n, 3), present poses
    lag : s, by which the forces are taken to be late
    pull : (3,) N, force fixed in the world near which its anchor counts
    anchor : (3,) m, where it is taken to act, in B from the contacts' mean place
    """

    signals: RecordedSignals
    parts: list[slice]
    rotations: np.ndarray
    positions: np.ndarray
    lag: float = 0.0
    pull: np.ndarray = field(default_factory=lambda: np.zeros(3))
    anchor: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def about(self) -> np.ndarray:
        """(p,) what is in the equations of those unknowns whose columns are slopes."""
        values = np.zeros(UNKNOWNS)
        values[PLACES[LAG]], values[PLACES[ANCHOR]] = self.lag, self.anchor
        return values

    @property
    def rows(self) -> np.ndarray:
        """(m,) samples that have the neighbours that differences need."""
        # ends of each stretch, not of the joined series: differences don't reach over a gap
        return np.concatenate(
            [np.arange(one.start + _REACH, one.stop - _REACH) for one in self.parts]
        )

    @property
    def stated(self) -> np.ndarray:
        """(6,) stated deviations of a pose's increment."""
        return np.repeat([self.signals.orientation_sd, self.signals.position_sd], 3)

    def pose_errors(self) -> np.ndarray:
        """(n, 6) present poses less measured ones."""
        turned = rotation_log(np.swapaxes(self.signals.rotations, 1, 2) @ self.rotations)
        return np.concatenate([turned, self.positions - self.signals.positions], axis=1)

    def follow(self, errors: np.ndarray) -> None:
        """Move the poses by errors (n, 6), in stated deviations, off their measurements."""
        moved = errors * self.stated
        self.rotations = self.signals.rotations @ rotation_exp(moved[:, :3])
        self.positions = self.signals.positions + moved[:, 3:]

    def pull_anew(self, answer: np.ndarray) -> None:
        """Move a force of the world, and its place by no more than the hull's size from the contacts,
        to where an answer (p,) at the present equations has it.
        """
        reach = np.ptp(self.signals.hull, axis=0)
        self.pull = answer[PLACES[WORLD]]
        self.anchor = np.clip(self.anchor + answer[PLACES[ANCHOR]], -reach, reach)

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Values (m, ...) of each stretch."""
        return np.split(
            values, np.cumsum([one.stop - one.start - 2 * _REACH for one in self.parts])[:-1]
        )


def started(stretches: Sequence[RecordedSignals]) -> tuple[PresentRecording, np.ndarray]:
    """A recording at smoothed poses, and (6 n, 17) equations there: parameters, constant wrench,
    and the sensed wrench.

    Whitened by the stated noise.
    """
    smoothed = [smoothed_motion(one, WIDER) for one in stretches]
    signals = steady_points(_joined(stretches))
    seen = BodyMotion.alone(*_together([motion for _, _, motion in smoothed], _MOTION))
    # sensed is what acts less the unsensed wrench, hence the sign
    constant = np.broadcast_to(-np.eye(WRENCH), (signals.samples, WRENCH, WRENCH))
    rows = np.concatenate([regressor(seen), constant, signals.wrench[..., None]], axis=2)
    ends = np.cumsum([0] + [one.samples for one in stretches])
    recording = PresentRecording(
        signals=signals,
        parts=[slice(*ends[i : i + 2]) for i in range(len(stretches))],
        rotations=matrices(np.concatenate([orientation for _, orientation, _ in smoothed])),
        positions=np.concatenate([position for position, _, _ in smoothed]),
    )
    return recording, np.linalg.solve(_noise_roots(signals), rows).reshape(-1, rows.shape[2])


def _together(motions: Sequence[BodyMotion], names: Sequence[str]) -> list[np.ndarray]:
    return [np.concatenate([getattr(one, name) for one in motions]) for name in names]


def _joined(stretches: Sequence[RecordedSignals]) -> RecordedSignals:
    series = ["time", "rotations", "positions", "forces", "force_sd", "points"]
    # rows of what a sensor hasn't aren't joined
    series += [name for name in ("torques", "blur") if getattr(stretches[0], name) is not None]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in stretches]) for name in series
    }
    return replace(stretches[0], **joined)


def _noise_roots(signals: RecordedSignals) -> np.ndarray:
    """(n, 6, 6) Cholesky factors of the wrenches' stated covariance."""
    return np.linalg.cholesky(wrench_covariance(signals) + _FLOOR)


@dataclass(frozen=True, eq=False)
class Linearised:
    """Equations at present poses.

    Attributes
    ----------
    equations : whitened
    motion : at the m inner samples
    roots : (m, 6, 6) that they were whitened by
    """

    equations: Equations
    motion: BodyMotion
    roots: np.ndarray


def linearised(recording: PresentRecording, vector: np.ndarray) -> Linearised:
    """Equations at the present poses, for parameters (10,) near which the poses' errors count."""
    rows = recording.rows
    signals, beyond = shifted(recording)
    motions = [
        body_motion(
            signals.time[one],
            recording.rotations[one],
            recording.positions[one],
            signals.gravity,
            FOURTH_ORDER,
        )
        for one in recording.parts
    ]
    motion = _blurred(recording, BodyMotion(*_together(motions, (*_MOTION, *_SLOPES))))
    # the present poses' errors are added back, so that errors count from the measurements
    by_pose, present = wrench_slope(motion, vector), recording.pose_errors()
    # (m, 30): errors of the five poses around each sample
    around = np.concatenate([present[rows - _REACH + i] for i in range(2 * _REACH + 1)], axis=1)
    value = signals.wrench[rows] + np.einsum("kij,kj->ki", by_pose, around)
    own = regressor(motion)
    constant = np.broadcast_to(-np.eye(WRENCH), (len(rows), WRENCH, WRENCH))
    disturbed = _disturbances(recording, signals, motion, own @ vector, vector)
    force = _unsensed_root(signals)
    blocks = (
        value[..., None],
        np.concatenate([own, constant, disturbed], axis=2),
        # in stated deviations, as the levels of noise are factors of these
        by_pose * np.tile(recording.stated, 2 * _REACH + 1),
        np.broadcast_to(force, (len(rows), *force.shape)),
    )
    # forces past the end of a stretch are guessed: their equations stay, without weight
    roots = _noise_roots(signals)[rows] * np.where(beyond[rows], _BEYOND, 1.0)[:, None, None]
    # one solve whitens value, slopes, poses' errors and unsensed forces
    white = np.linalg.solve(roots, np.concatenate(blocks, axis=2))
    value, slope, by_pose, by_force = np.split(
        white, np.cumsum([one.shape[2] for one in blocks])[:-1], axis=2
    )
    equations = Equations(signals.time, rows, value[..., 0], slope, by_pose, by_force)
    return Linearised(equations, motion, roots)


def _blurred(recording: PresentRecording, motion: BodyMotion) -> BodyMotion:
    """Motion whose specific force, which is next to constant in the world, is the mean over what a
    sample averages.
    """
    if recording.signals.blur is None:
        return motion
    blur = recording.signals.blur[recording.rows]
    return replace(
        motion,
        specific_force=np.einsum("kij,kj->ki", blur, motion.specific_force),
        d_specific_force=blur @ motion.d_specific_force,
    )


def shifted(recording: PresentRecording) -> tuple[RecordedSignals, np.ndarray]:
    """Signals with forces as they are a lag later, and (n,) whether that lies beyond a stretch."""
    signals, lag = recording.signals, recording.lag
    beyond = np.zeros(signals.samples, dtype=bool)
    if not lag:
        return signals, beyond
    moved: dict[str, Any] = {
        name: getattr(signals, name).copy()
        for name in ("forces", "torques")
        if getattr(signals, name) is not None
    }
    for part in recording.parts:
        time = signals.time[part]
        # a late force belongs to an earlier motion: read it a lag later, within the stretch
        wanted = np.clip(time + lag, time[0], time[-1])
        beyond[part] = wanted != time + lag
        for name, values in moved.items():
            values[part] = CubicSpline(time, getattr(signals, name)[part])(wanted)
    return replace(signals, **moved), beyond


def _disturbances(
    recording: PresentRecording,
    signals: RecordedSignals,
    motion: BodyMotion,
    wrench: np.ndarray,
    vector: np.ndarray,
) -> np.ndarray:
    """(m, 6, q) columns of :data:`PLACES`; of the wrench (m, 6) that the parameters (10,) ask for."""
    rows = recording.rows
    # (m, 3, 3) world to body
    to_body = signals.to_body(recording.rotations)[rows]
    points = signals.points[rows]
    # force and torque about the origin; unsensed, hence negative as the constant wrench
    anchor = points.mean(axis=1) + recording.anchor
    world = -np.concatenate([to_body, skew(anchor) @ to_body], axis=1)
    # another anchor is another torque: of -p x u by p
    by_anchor = skew(to_body @ recording.pull)
    anchored = np.concatenate([np.zeros_like(by_anchor), by_anchor], axis=1)
    # what the anchor moves in the world, about its mean place
    to_world = np.swapaxes(to_body, 1, 2)
    places = recording.positions[rows] + np.einsum("kij,kj->ki", to_world, anchor)
    moved = places - places.mean(axis=0)
    # (m, 3, 6) the force by every entry of a stiffness, which pulls back
    stretched = np.zeros((len(rows), 3, len(_ROWS)))
    entries = np.arange(len(_ROWS))
    stretched[:, _ROWS, entries] = -moved[:, _COLUMNS]
    stretched[:, _COLUMNS, entries] = -moved[:, _ROWS]
    sprung = world @ stretched
    time = recording.split(signals.time[rows])
    # differences within each stretch
    changes = [
        np.gradient(one, t, axis=0) for one, t in zip(recording.split(wrench), time, strict=True)
    ]
    # forces late by dt read f - f' dt
    late = -np.concatenate(changes)[..., None]
    # of the origin in B: specific force plus gravity turned into B
    acceleration = motion.specific_force + to_body @ np.array([0.0, 0.0, -signals.gravity])
    in_world = np.einsum("kji,kj->ki", to_body, acceleration)
    # R^T (M a), (m, 3, 9): M's nine entries row by row
    turned = (to_body[:, :, :, None] * in_world[:, None, None, :]).reshape(len(rows), 3, 9)
    # what another acceleration adds: m a to the force, m c x a to the torque
    accelerated = np.concatenate([vector[0] * turned, skew(vector[1:4]) @ turned], axis=1)
    return np.concatenate([world, anchored, sprung, late, accelerated], axis=2)


def _unsensed_root(signals: RecordedSignals) -> np.ndarray:
    """(6, r) wrench of independent forces of unit size at the contacts; a sensor's torques err like
    its forces.
    """
    # one place per contact: G is the same at all samples
    points = signals.points.mean(axis=0)
    each = np.concatenate([np.broadcast_to(np.eye(3), (len(points), 3, 3)), skew(points)], axis=1)
    # mean over contacts: the level is the variance of the whole force, however many they are
    covariance = np.einsum("kij,klj->il", each, each) / len(points)
    if signals.torques is not None:
        lever = LEVER * float(np.ptp(signals.hull, axis=0).max())
        covariance[3:, 3:] += lever**2 * np.eye(3)
    values, vectors = np.linalg.eigh(covariance)
    # two contacts exert no torque about their line: that direction has no force
    kept = values > 1e-12 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])
