"""What the identification needs to know of measured planar throws of a polygon (planar paper,
sections 5 and 6.2).

In this order:

1. *Rest.* The last frames of throws that end at rest on a side tell the ground's height and slope,
   how far the tracked axes are turned from the sides, and how far the tracked point is from the
   centre (:func:`align`). Turn and point need throws that came to rest on every side; else they
   stay at zero.
2. *Events.* A frame's second difference, less gravity, is an event where noise can't explain it.
   Near the ground it is a contact; far from it, or faster than a body can move, the camera lost the
   body: a jump (:func:`find_events`).
3. *Flight.* Parabolas in x and y and lines in theta through short stretches without events give the
   noise, and how gravity and speed act on the flight (:mod:`contactid.planar.squares.flight`).

Positions are (n, 3): x, y (m), theta (rad). Frames count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.readers.throws import PlanarThrow, iterate_throws
from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.simulate.geometry import Ground, Polygon, Shape, contacts

MAD = 1.4826  # median absolute deviation to standard deviation
_FEWEST_AT_REST = 6  # throws per side and in all, below which turn, point and slope are not fitted
REST_FRAMES = 10  # last ones, that tell whether and where a throw came to rest
SKIPPED_FRAMES = 2  # at the start of a throw, disturbed by the release
# m, m, rad: largest in the last frames of a throw at rest
REST_MOTION = np.array([5e-4, 5e-4, 0.01])
_SENSITIVITY = 8.0  # an event exceeds the noise of a second difference this many times
_LEAST_ACCELERATION = (20.0, 20.0, 500.0)  # of an event, m/s2 and rad/s2
_NEAR_GROUND = 6e-3  # m: contacts happen below this gap
_FASTEST, _FASTEST_TURN = 6.0, 100.0  # m/s and rad/s: a faster motion from frame to frame is a jump


@dataclass(frozen=True)
class Alignment:
    """The ground, and how the tracked frame lies in the body.

    Attributes
    ----------
    ground : in S
    turn : the tracked theta minus the body's, rad
    point : (2,) tracked point in the body's axes, from the centre, m
    """

    ground: Ground
    turn: float
    point: np.ndarray

    def body_position(self, position: np.ndarray) -> np.ndarray:
        """Position (n, 3) of the body's centre and axes, from that of the tracked point and axes."""
        theta = position[:, 2] - self.turn
        cos, sin = np.cos(theta), np.sin(theta)
        x, y = self.point
        return np.column_stack(
            [position[:, 0] - (x * cos - y * sin), position[:, 1] - (x * sin + y * cos), theta]
        )


class Contact(NamedTuple):
    """The last frame before consecutive frames with contact events, and the first after them."""

    before: int
    after: int


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


def at_rest(throw: PlanarThrow, still: np.ndarray = REST_MOTION) -> bool:
    """Whether the throw's last frames stand still, to within ``still`` (3,), m, m, rad."""
    return bool((np.ptp(throw.position[-REST_FRAMES:], axis=0) < still).all())


def align(data: xr.Dataset, shape: Polygon) -> Alignment:
    """Ground, turn and point from the throws at rest.

    Raises
    ------
    ContactIdError
        Where no throw ends at rest, so that the ground's height is unknown.
    """
    rests = [
        throw.position[-REST_FRAMES:].mean(axis=0)
        for throw in iterate_throws(data)
        if at_rest(throw)
    ]
    if not rests:
        raise ContactIdError(
            f"{data.attrs['source']}: no throw ends at rest, so the ground's height is unknown",
            f"Record until the body stands still for {REST_FRAMES} frames",
        )
    # (n, 3) mean pose of each throw at rest
    poses, corners = np.array(rests), np.array(shape.vertices)
    angles = side_angles(shape)
    side, tilt = lies_on(angles, poses[:, 2])
    # bodies that lie flat on no side are left out
    typical = np.abs(tilt - np.median(tilt)) < max(
        np.radians(2.0), 6.0 * MAD * np.median(np.abs(tilt - np.median(tilt)))
    )
    poses, side, tilt = poses[typical], side[typical], tilt[typical]
    # of one side alone the point's part along the normal looks like the ground's height
    everywhere = np.bincount(side, minlength=len(angles)).min() >= _FEWEST_AT_REST
    # (n_c,) of each side from the centre, and (n, 2) the body's axes' share of the upward normal
    distance = (corners * np.column_stack([np.cos(angles), np.sin(angles)])).sum(axis=1)
    up = -np.column_stack([np.cos(angles), np.sin(angles)])[side]
    height = poses[:, 1] - distance[side]
    # places within 5 cm don't tell a slope
    sloped = len(poses) >= _FEWEST_AT_REST and np.ptp(poses[:, 0]) >= 0.05
    ground, point = _fit_height(height, poses[:, 0], sloped, up if everywhere else None)
    # a body that lies on a slope is tilted by it
    turn = float(np.median(tilt)) - ground.slope if everywhere else 0.0
    return Alignment(ground, turn, point)


def side_angles(shape: Polygon) -> np.ndarray:
    """(n_c,) angles of the sides' outward normals in the body's axes, rad."""
    corners = np.array(shape.vertices)
    sides = np.roll(corners, -1, axis=0) - corners
    return np.arctan2(-sides[:, 0], sides[:, 1])


def lies_on(angles: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which side faces down, and the tilt from lying flat on it, rad in [-pi, pi)."""
    # 0 where a side's outward normal points down, at -pi / 2
    tilts = (theta[:, None] + angles + 1.5 * np.pi) % (2.0 * np.pi) - np.pi
    side = np.abs(tilts).argmin(axis=1)
    return side, tilts[np.arange(len(theta)), side]


def _fit_height(
    height: np.ndarray, x: np.ndarray, sloped: bool, up: np.ndarray | None
) -> tuple[Ground, np.ndarray]:
    """Least squares ``height = y0 + (x - x0) tan(slope) + up . point``, once more without outliers."""
    x0 = float(x.mean())
    columns = [np.ones(len(x))]
    if sloped:
        columns.append(x - x0)
    if up is not None:
        columns += [up[:, 0], up[:, 1]]
    design = np.column_stack(columns)
    keep = np.ones(len(x), dtype=bool)
    for _ in range(3):
        found = np.linalg.lstsq(design[keep], height[keep], rcond=None)[0]
        left = height - design @ found
        # by the median, which outliers don't enlarge; not below rounding
        keep = np.abs(left) <= 5.0 * MAD * np.median(np.abs(left - np.median(left))) + 1e-9
    ground = Ground(float(np.arctan(found[1])) if sloped else 0.0, x0, float(found[0]))
    return ground, found[-2:] if up is not None else np.zeros(2)


def second_difference_noise(positions: Sequence[np.ndarray]) -> np.ndarray:
    """(3,) noise of one pose if it is white, from the median second difference: contacts are too
    few to matter.
    """
    differences = np.concatenate([np.diff(position, 2, axis=0) for position in positions])
    return (
        # a second difference of white noise has the variance 1 + 4 + 1 = 6
        MAD * np.median(np.abs(differences - np.median(differences, axis=0)), axis=0) / np.sqrt(6.0)
    )


def find_events(data: xr.Dataset, shape: Polygon, alignment: Alignment) -> list[ThrowEvents]:
    """Contacts, jumps and rest of every throw."""
    throws, interval = list(iterate_throws(data)), 1.0 / data.attrs["sample_frequency"]
    size = event_size(second_difference_noise([throw.position for throw in throws]), interval)
    return [throw_events(throw, shape, alignment, size) for throw in throws]


def event_size(noise: np.ndarray, interval: float) -> np.ndarray:
    """(3,) least acceleration of an event, m/s2 and rad/s2, from the noise (3,) of poses
    ``interval`` (s) apart.
    """
    return np.maximum(_LEAST_ACCELERATION, _SENSITIVITY * np.sqrt(6.0) * noise / interval**2)


def throw_events(
    throw: PlanarThrow, shape: Shape, alignment: Alignment, size: np.ndarray
) -> ThrowEvents:
    """Of one throw; ``size`` (3,) is the least acceleration of an event."""
    interval = 1.0 / throw.sample_frequency
    position = alignment.body_position(throw.position)
    gap = contacts(shape, alignment.ground, position).gap
    acceleration = np.zeros_like(position)
    # (n, 3) m/s2 and rad/s2, none at either end
    acceleration[1:-1] = np.diff(throw.position, 2, axis=0) / interval**2
    # at rest the ground takes gravity's place: either is no event
    acceleration[:, 1] += np.clip(-acceleration[:, 1], 0.0, GRAVITY)
    event = (np.abs(acceleration) > size).any(axis=1)
    event[:SKIPPED_FRAMES] = False
    # an impact between two frames is lower than both: neighbours count, too
    low = np.minimum.reduce(
        [gap.min(axis=1), np.roll(gap.min(axis=1), 1), np.roll(gap.min(axis=1), -1)]
    )
    step = np.abs(np.diff(throw.position, axis=0)) / interval
    # frames before a step that no body makes
    lost = np.flatnonzero(
        (np.hypot(step[:, 0], step[:, 1]) > _FASTEST) | (step[:, 2] > _FASTEST_TURN)
    )
    far = np.flatnonzero(event & (low > _NEAR_GROUND))
    jumps = tuple(sorted({int(k) for k in (*lost, *far)}))
    found = contacts_of(np.flatnonzero(event & (low <= _NEAR_GROUND)))
    return ThrowEvents(throw.name, position, gap, tuple(found), jumps, rest_frame(throw))


def contacts_of(frames: np.ndarray) -> list[Contact]:
    """One for each run of consecutive frames: an impact between two is seen in the second
    differences at both.
    """
    runs = np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1) if len(frames) else []
    ends = [(int(run[0]), int(run[-1])) for run in runs]
    return [
        Contact(first, last) if last > first else Contact(first - 1, last + 1)
        for first, last in ends
    ]


def rest_frame(throw: PlanarThrow, still: np.ndarray = REST_MOTION) -> int | None:
    """The first frame of the final rest; None where the body moves on."""
    if not at_rest(throw, still):
        return None
    final = throw.position[-REST_FRAMES:].mean(axis=0)
    # the last frame that is off the final pose ends the motion
    moving = np.flatnonzero((np.abs(throw.position - final) > still).any(axis=1))
    return int(moving[-1]) + 1 if len(moving) else 0
