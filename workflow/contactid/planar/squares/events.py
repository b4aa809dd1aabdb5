"""What the identification needs to know of measured planar throws (planar paper, sections 5 and 6.2).

In this order:

1. *Rest.* The last frames of throws that end at rest on a side (or on an ellipse's flat side) tell the ground's height
   and slope, how far the tracked axes are turned from the sides, and how far the tracked point is from the centre
   (:func:`align`). Turn and point need a polygon that came to rest on every side; else they stay at zero.
2. *Events.* A frame's second difference, less gravity, is an event where noise can't explain it. Near the ground it
   is a contact; far from it, or faster than a body can move, the camera lost the body: a jump (:func:`find_events`).
3. *Flight.* Parabolas in x and y and lines in theta through short stretches without events give the noise, and how
   gravity and speed act on the flight (:mod:`contactid.planar.squares.flight`).

Positions are (n, 3): x, y (m), theta (rad). Frames count from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.readers.throws import PlanarThrow, iterate_throws, shape_of
from contactid.planar.simulate.geometry import Ground, Polygon, Shape, contacts

MAD = 1.4826  # median absolute deviation to standard deviation


@dataclass(frozen=True)
class ThrowOptions:
    """How throws are looked at.

    Attributes
    ----------
    gravity : m/s2
    slope : the ground's, rad, where it is known; None: fitted
    rest_frames : last frames that tell whether and where a throw came to rest
    rest_travel, rest_turn : largest motion in them, m and rad
    fewest_at_rest : throws per side and in all, below which turn, point and slope are not fitted
    sensitivity : an event exceeds the noise of a second difference this many times
    least_acceleration : smallest event, (3,), m/s2 and rad/s2
    near_ground : contacts happen below this gap, m
    touching : a corner touches below this gap, m
    fastest : a frame-to-frame motion above it is a jump, (2,), m/s and rad/s
    skipped_frames : at the start of a throw, disturbed by the release
    """

    gravity: float = 9.81
    slope: float | None = None
    rest_frames: int = 10
    rest_travel: float = 5e-4
    rest_turn: float = 0.01
    fewest_at_rest: int = 10
    sensitivity: float = 8.0
    least_acceleration: tuple[float, float, float] = (20.0, 20.0, 500.0)
    near_ground: float = 6e-3
    touching: float = 2e-3
    fastest: tuple[float, float] = (6.0, 100.0)
    skipped_frames: int = 2


@dataclass(frozen=True)
class Alignment:
    """The ground, and how the tracked frame lies in the body.

    Attributes
    ----------
    ground : in S
    turn : the tracked theta minus the body's, rad
    point : (2,) tracked point in the body's axes, from the centre, m
    throws : throws at rest that were used
    gap_scatter, turn_scatter : standard deviations of what the alignment leaves, m and rad
    """

    ground: Ground
    turn: float
    point: np.ndarray
    throws: int
    gap_scatter: float
    turn_scatter: float

    def body_position(self, position: np.ndarray) -> np.ndarray:
        """Position (n, 3) of the body's centre and axes, from that of the tracked point and axes."""
        theta = position[:, 2] - self.turn
        cos, sin = np.cos(theta), np.sin(theta)
        x, y = self.point
        return np.column_stack([position[:, 0] - (x * cos - y * sin), position[:, 1] - (x * sin + y * cos), theta])


@dataclass(frozen=True)
class Contact:
    """Consecutive frames with contact events: from the last frame before to the first after; the corners that touch."""

    before: int
    after: int
    corners: tuple[int, ...]


@dataclass(frozen=True)
class ThrowEvents:
    """What happens in one throw.

    Attributes
    ----------
    name : the throw's
    position : (n, 3) of the body's centre and axes
    gap : (n, n_c) of its potential contacts, m
    contacts : in time order
    jumps : frames at which the camera lost the body
    rest : first frame of the final rest, or None where it moves on
    """

    name: str
    position: np.ndarray
    gap: np.ndarray
    contacts: tuple[Contact, ...]
    jumps: tuple[int, ...]
    rest: int | None


def at_rest(throw: PlanarThrow, options: ThrowOptions) -> bool:
    """Whether the throw's last frames stand still."""
    extent = np.ptp(throw.position[-options.rest_frames :], axis=0)
    return bool(extent[:2].max() < options.rest_travel and extent[2] < options.rest_turn)


def rest_poses(throws: Iterable[PlanarThrow], options: ThrowOptions) -> np.ndarray:
    """(n, 3) mean of the last frames of every throw that ends at rest."""
    poses = [throw.position[-options.rest_frames :].mean(axis=0) for throw in throws if at_rest(throw, options)]
    return np.array(poses).reshape(-1, 3)


def align(data: xr.Dataset, options: ThrowOptions) -> Alignment:
    """Ground, turn and point from the throws at rest.

    Raises
    ------
    ContactIdError
        Where no throw ends at rest, so that the ground's height is unknown.
    """
    shape = shape_of(data)
    poses = rest_poses(iterate_throws(data), options)
    if not len(poses):
        raise ContactIdError(
            f"{data.attrs['source']}: no throw ends at rest, so the ground's height is unknown",
            f"Record until the body stands still for {options.rest_frames} frames",
        )
    if isinstance(shape, Polygon):
        return _align_polygon(shape, poses, options)
    return _align_by_gap(shape, poses, options)


def _side_angles(shape: Polygon) -> np.ndarray:
    """(n_c,) directions of the sides' outward normals in the body's axes, rad."""
    corners = np.array(shape.vertices)
    sides = np.roll(corners, -1, axis=0) - corners
    return np.arctan2(-sides[:, 0], sides[:, 1])


def _lies_on(angles: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which side faces down, and the tilt from lying flat on it, rad in [-pi, pi)."""
    tilts = (theta[:, None] + angles + 1.5 * np.pi) % (2.0 * np.pi) - np.pi
    side = np.abs(tilts).argmin(axis=1)
    return side, tilts[np.arange(len(theta)), side]


def _slope_known(x: np.ndarray, options: ThrowOptions) -> bool:
    return options.slope is not None or len(x) < options.fewest_at_rest or np.ptp(x) < 0.05


def _align_polygon(shape: Polygon, poses: np.ndarray, options: ThrowOptions) -> Alignment:
    angles = _side_angles(shape)
    side, tilt = _lies_on(angles, poses[:, 2])
    typical = np.abs(tilt - np.median(tilt)) < max(
        np.radians(2.0), 6.0 * MAD * np.median(np.abs(tilt - np.median(tilt)))
    )
    poses, side, tilt = poses[typical], side[typical], tilt[typical]
    everywhere = np.bincount(side, minlength=len(angles)).min() >= options.fewest_at_rest
    corners = np.array(shape.vertices)
    distance = (corners * np.column_stack([np.cos(angles), np.sin(angles)])).sum(axis=1)
    up = -np.column_stack([np.cos(angles), np.sin(angles)])[side]
    height = poses[:, 1] - distance[side]
    fitted = _fit_height(height, poses[:, 0], up if everywhere else None, options)
    ground, point, scatter = fitted
    turn = float(np.median(tilt)) - ground.slope if everywhere else 0.0
    return Alignment(ground, turn, point, len(poses), scatter, float(np.std(tilt)))


def _align_by_gap(shape: Shape, poses: np.ndarray, options: ThrowOptions) -> Alignment:
    level = contacts(shape, Ground(options.slope or 0.0), poses).gap.min(axis=1)
    ground, point, scatter = _fit_height(level, poses[:, 0], None, options)
    return Alignment(ground, 0.0, point, len(poses), scatter, 0.0)


def _fit_height(
    height: np.ndarray, x: np.ndarray, up: np.ndarray | None, options: ThrowOptions
) -> tuple[Ground, np.ndarray, float]:
    """Least squares ``height = y0 + (x - x0) tan(slope) + up . point``, once more without outliers."""
    x0 = float(x.mean())
    columns = [np.ones(len(x))]
    known = _slope_known(x, options)
    slope = options.slope or 0.0
    if known:
        height = height - np.tan(slope) * (x - x0)
    else:
        columns.append(x - x0)
    if up is not None:
        columns += [up[:, 0], up[:, 1]]
    design = np.column_stack(columns)
    keep = np.ones(len(x), dtype=bool)
    for _ in range(3):
        found = np.linalg.lstsq(design[keep], height[keep], rcond=None)[0]
        left = height - design @ found
        keep = np.abs(left) <= 5.0 * MAD * np.median(np.abs(left - np.median(left))) + 1e-9
    ground = Ground(slope if known else float(np.arctan(found[1])), x0, float(found[0]))
    point = found[-2:] if up is not None else np.zeros(2)
    return ground, point, float(np.std(left[keep]))


def second_difference_noise(positions: Sequence[np.ndarray]) -> np.ndarray:
    """(3,) noise of one pose if it is white, from the median second difference: contacts are too few to matter."""
    differences = np.concatenate([np.diff(position, 2, axis=0) for position in positions])
    return MAD * np.median(np.abs(differences - np.median(differences, axis=0)), axis=0) / np.sqrt(6.0)


def _event_size(noise: np.ndarray, interval: float, options: ThrowOptions) -> np.ndarray:
    return np.maximum(options.least_acceleration, options.sensitivity * np.sqrt(6.0) * noise / interval**2)


def find_events(data: xr.Dataset, alignment: Alignment, options: ThrowOptions) -> list[ThrowEvents]:
    """Contacts, jumps and rest of every throw."""
    throws, shape = list(iterate_throws(data)), shape_of(data)
    size = _event_size(
        second_difference_noise([throw.position for throw in throws]), 1.0 / data.attrs["sample_frequency"], options
    )
    return [throw_events(throw, shape, alignment, size, options) for throw in throws]


def throw_events(
    throw: PlanarThrow, shape: Shape, alignment: Alignment, size: np.ndarray, options: ThrowOptions
) -> ThrowEvents:
    """Contacts, jumps and rest of one throw; ``size`` (3,) is the least acceleration of an event."""
    interval = 1.0 / throw.sample_frequency
    position = alignment.body_position(throw.position)
    gap = contacts(shape, alignment.ground, position).gap
    acceleration = np.zeros_like(position)
    acceleration[1:-1] = np.diff(throw.position, 2, axis=0) / interval**2
    # at rest the ground takes gravity's place: either is no event
    acceleration[:, 1] += np.clip(-acceleration[:, 1], 0.0, options.gravity)
    event = (np.abs(acceleration) > size).any(axis=1)
    event[: options.skipped_frames] = False
    low = np.minimum.reduce([gap.min(axis=1), np.roll(gap.min(axis=1), 1), np.roll(gap.min(axis=1), -1)])
    step = np.abs(np.diff(throw.position, axis=0)) / interval
    lost = np.flatnonzero((np.hypot(step[:, 0], step[:, 1]) > options.fastest[0]) | (step[:, 2] > options.fastest[1]))
    far = np.flatnonzero(event & (low > options.near_ground))
    jumps = tuple(sorted({int(k) for k in (*lost, *far)}))
    found = _group_contacts(np.flatnonzero(event & (low <= options.near_ground)), gap, options)
    return ThrowEvents(throw.name, position, gap, found, jumps, _rest_frame(throw, options))


def _group_contacts(frames: np.ndarray, gap: np.ndarray, options: ThrowOptions) -> tuple[Contact, ...]:
    """An impact between two frames is seen in the second differences at both."""
    groups = np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1) if len(frames) else []
    found = []
    for group in groups:
        first, last = int(group[0]), int(group[-1])
        lowest = gap[max(first - 1, 0) : last + 2].min(axis=0)
        touches = np.flatnonzero(lowest <= max(options.touching, lowest.min()))
        before, after = (first, last) if last > first else (first - 1, last + 1)
        found.append(Contact(before, after, tuple(int(j) for j in touches)))
    return tuple(found)


def _rest_frame(throw: PlanarThrow, options: ThrowOptions) -> int | None:
    if not at_rest(throw, options):
        return None
    final = throw.position[-options.rest_frames :].mean(axis=0)
    away = np.abs(throw.position - final) > [options.rest_travel, options.rest_travel, options.rest_turn]
    moving = np.flatnonzero(away.any(axis=1))
    return int(moving[-1]) + 1 if len(moving) else 0
