"""A user's own body and throws, ready for identification: description read, throws cut at rest,
noise estimated.

The description is a small YAML file; lengths are in m, angles in rad, everything as in the throws'
own frame (y up)::

    shape: {ellipse: {a: 0.05, b: 0.025}}      # or {polygon: [[x, y], ...], corner_radius: 0.002}, see below
    mass: 0.0364                               # kg, optional: then J is told besides J/m
    ground: {slope: 0.0, start: [0, 0]}        # optional: angle, and a point of the ground; else it is found
    noise: {position: 0.001, orientation: 0.001}     # optional: standard deviations of x, y and of theta
    gravity: 9.81                              # optional, m/s2 along -y
    centre: [0.0, 0.0]                         # optional: centre of mass in the body's axes, from the tracked point
    turn: 0.0                                  # optional: theta as tracked less that of the body's axes

A polygon is counter-clockwise about the centre of mass. Its points are where the sides would meet:
``corner_radius`` (optional, else it is found) rounds each corner by an arc that touches both sides.
A few tenths of a millimetre matter. What the description says of the ground, and that the tracked
point is the centre of mass, is where the fit of the geometry begins
(:mod:`contactid.planar.engine`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from contactid.core.configuration import check, restore_numbers
from contactid.core.errors import ContactIdError
from contactid.core.reading import read_yaml
from contactid.planar.engine.unknowns import reach_of
from contactid.planar.own.noise import Noise, frames_of, lowest_gaps, noise_of, stretches
from contactid.planar.own.outliers import without_outliers
from contactid.planar.readers.csv_throws import ThrowSource, read_own_throw
from contactid.planar.readers.throws import PlanarThrow
from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, Shape, contacts
from contactid.planar.simulate.throws import MeasuredThrow
from contactid.planar.squares.events import (
    REST_FRAMES,
    REST_MOTION,
    at_rest,
    event_size,
    lies_on,
    rest_frame,
    second_difference_noise,
    side_angles,
)
from contactid.sources.conventions import STATED, Convention

# m, of a body's largest radius; beyond them millimetres were taken for metres
_LARGEST, _SMALLEST = 10.0, 1e-4
_HEAVIEST = 2e4  # kg/m3: denser than lead, were the body as thick as it is wide
_MISPLACED = 5e-3  # m between the ground and the lowest point that a throw comes to
_STAYS = 1e-3  # m from one frame to the next: what falls on is faster
_STEEPEST, _LEVEL = 0.35, 0.01  # rad: a ground that is found is no steeper, and level below it
_MOST_TURNED = 0.35  # rad: axes that are turned farther belong to another description
# frames/s: of a faster camera one frame of every few is used. Frames within some milliseconds have
# much of their noise in common, and each costs as much as any other.
_ENOUGH = 239.0
_KEPT_AT_REST = 3  # frames kept of the rest
_WRONG_GRAVITY = 0.05  # relative
_SCHEMA = Path(__file__).with_name("body.schema.yaml")


@dataclass(frozen=True)
class OwnBody:
    """What a description says.

    Attributes
    ----------
    shape : about the centre of mass
    ground : in the throws' frame; level through the origin where none is given
    sigma : (3,) noise of x, y, theta, m, m, rad; None: to be estimated
    mass : kg, or None
    gravity : m/s2, along -y
    radius_given, ground_given : whether the description says them; else they are found
    centre : (2,) centre of mass in the body's axes, from the tracked point, m; None: near it
    turn : of the tracked axes against the body's, rad; None: little
    """

    shape: Shape
    ground: Ground
    sigma: np.ndarray | None
    mass: float | None
    gravity: float
    radius_given: bool = True
    ground_given: bool = True
    centre: tuple[float, float] | None = None
    turn: float | None = None


@dataclass(frozen=True)
class OwnThrows:
    """Throws of one body with what was found out about them.

    Attributes
    ----------
    names : of their files
    throws : as tracked, cut where the body has come to rest; even times from 0
    seen : which of their frames were measured
    turn : of the tracked axes as the body at rest tells, rad; 0 where it doesn't
    noise : of the poses
    sigma_given : whether the description says it
    frames_in_flight : of flights long enough to tell the noise
    notes, warnings : sentences for the report, those on the noise not among them
    """

    names: tuple[str, ...]
    throws: tuple[MeasuredThrow, ...]
    seen: tuple[np.ndarray, ...]
    turn: float
    noise: Noise
    sigma_given: bool
    frames_in_flight: int
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def sigma(self) -> np.ndarray:
        """(3,) noise, m, m, rad."""
        return self.noise.sigma

    def seen_only(self, body: OwnBody, seen: Sequence[np.ndarray]) -> OwnThrows:
        """The same with fewer frames ``seen``, whose flights tell a noise that isn't stated anew."""
        ground = self.throws[0].ground
        fewer = replace(self, seen=tuple(seen))
        try:
            noise = noise_of(replace(body, ground=ground), fewer.poses(self.throws))
        except ContactIdError:  # too few are left to tell it: that of all frames isn't too small
            noise = self.noise
        throws = tuple(replace(throw, sigma=noise.sigma) for throw in self.throws)
        return replace(fewer, throws=throws, noise=noise)

    def poses(self, throws: Sequence[MeasuredThrow]) -> list[PlanarThrow]:
        """Poses of these or of otherwise aligned ``throws``, with what is lost."""
        return [
            PlanarThrow(name, throw.time, throw.position, ~seen)
            for name, throw, seen in zip(self.names, throws, self.seen, strict=True)
        ]


def read_own_body(described: str | Path | Mapping[str, Any]) -> OwnBody:
    """A body by its description, a file or what would be in it; this module's text shows one.

    Raises
    ------
    ContactIdError
        For a missing file, an unknown or missing key, a value that isn't as described, and units
        that can't be SI.
    """
    if isinstance(described, Mapping):
        name, content = "body", dict(described)
    elif isinstance(described, str | Path):
        name = str(described)
        content = read_yaml(described, "Correct it, or start from the example")
    else:
        problem = f"a body that is a {type(described).__name__}"
        raise ContactIdError(problem, "Give a YAML file or a mapping")
    content = restore_numbers(content)
    check(content, _SCHEMA, name)
    try:
        return _body_of(content)
    except ContactIdError as error:
        raise ContactIdError(f"{name}: {error.problem}", error.remedy) from None


def _body_of(content: Mapping[str, Any]) -> OwnBody:
    shape = _shape(content["shape"])
    radius = reach_of(shape)
    if not _SMALLEST <= radius <= _LARGEST:
        raise ContactIdError(
            f"the shape reaches {radius:g} m from its centre", "Give lengths in metres"
        )
    mass, noise = content.get("mass"), content.get("noise")
    # grammes given as kilogrammes are a thousand times too heavy
    if mass is not None and mass > _HEAVIEST * (2.0 * radius) ** 3:
        raise ContactIdError(
            f"mass is {mass:g} kg for a body that reaches {radius:g} m", "Give it in kg"
        )
    if noise and noise["position"] > radius:
        raise ContactIdError(
            f"noise.position is {noise['position']:g} m, more than the body's size",
            "Give it in metres",
        )
    sigma = (
        np.array([noise["position"], noise["position"], noise["orientation"]], dtype=float)
        if noise
        else None
    )
    centre = content.get("centre")
    ground = {"slope": 0.0, "start": [0.0, 0.0]} | (content.get("ground") or {})
    return OwnBody(
        shape,
        Ground(float(ground["slope"]), *map(float, ground["start"])),
        sigma,
        None if mass is None else float(mass),
        float(content.get("gravity", GRAVITY)),
        radius_given="ellipse" in content["shape"] or "corner_radius" in content["shape"],
        ground_given=bool(content.get("ground")),
        centre=None if centre is None else (float(centre[0]), float(centre[1])),
        turn=None if content.get("turn") is None else float(content["turn"]),
    )


def _shape(content: Mapping[str, Any]) -> Shape:
    if ("ellipse" in content) == ("polygon" in content):
        raise ContactIdError("shape is not one of ellipse and polygon", "Give one of them")
    if "ellipse" in content:
        if "corner_radius" in content:
            raise ContactIdError("shape.corner_radius: an ellipse has no corners", "Leave it out")
        return Ellipse(float(content["ellipse"]["a"]), float(content["ellipse"]["b"]))
    corners = tuple((float(x), float(y)) for x, y in content["polygon"])
    return Polygon(corners, float(content.get("corner_radius", 0.0)))


def read_own_throws_of(
    body: OwnBody, sources: Sequence[str | ThrowSource], convention: Convention = STATED
) -> OwnThrows:
    """Read throws of a body, cut them at rest, and give them their noise.

    Raises
    ------
    ContactIdError
        Two files of one name, what the reader of throws refuses, poses that no body has, no throw
        that gets near the ground, y that points down, and throws too short in flight to tell a
        noise that isn't given.
    """
    read = [read_own_throw(source, convention=convention) for source in sources]
    names = tuple(throw.name for throw in read)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ContactIdError(f"two throws have the name {twice}", "Rename a file, or name it once")
    reach = reach_of(body.shape)
    # before anything else: ground, noise and rest are told by what is left
    read, outliers = without_outliers(read, body.sigma, reach)
    slowest = min(throw.sample_frequency for throw in read)
    every = max(1, int(slowest / _ENOUGH))
    if every > 1:
        read = [_one_of(every, throw) for throw in read]
    if not body.ground_given:
        body = replace(body, ground=_found_ground(body, read))
    # with the ground that is found, where none is given
    warnings = [*outliers, *_height_warnings(body, read), *_gravity_warning(body, read)]
    noise = noise_of(body, read)
    sigma = noise.sigma
    notes, cut, seen = [note for throw in read for note in throw.notes], [], []
    for throw in read:
        end = _moving_frames(throw, sigma)
        if end < len(throw.time):
            notes.append(
                f"{throw.name}: the last {len(throw.time) - end} of {len(throw.time)} frames, at rest, are cut."
            )
        # the first of two neighbours that are both measured
        begin = int(np.argmax(throw.seen[:-1] & throw.seen[1:]))
        if begin > 0:
            notes.append(
                f"{throw.name}: a search begins with two frames that follow each other: frames and times count from "
                f"frame {begin}, and those before it are cut."
            )
        time, kept = throw.time[begin:end] - throw.time[begin], throw.position[begin:end]
        cut.append(MeasuredThrow(time, kept, sigma, body.ground))
        seen.append(throw.seen[begin:end])
    return OwnThrows(
        names=names,
        throws=tuple(cut),
        seen=tuple(seen),
        turn=_turn_at_rest(body, read, sigma),
        noise=noise,
        sigma_given=body.sigma is not None,
        frames_in_flight=frames_of(stretches(body, read)),
        notes=tuple(notes),
        warnings=tuple(warnings),
    )


def _one_of(every: int, throw: PlanarThrow) -> PlanarThrow:
    """The throw with one frame of so many."""
    note = f"{throw.name}: one of every {every} frames is used; frames count from these."
    return replace(
        throw,
        time=throw.time[::every],
        position=throw.position[::every],
        lost=~throw.seen[::every],
        notes=(*throw.notes, note),
    )


def _found_ground(body: OwnBody, throws: Sequence[PlanarThrow]) -> Ground:
    """A line under all throws, through the places where impacts throw the body up."""
    level, places = Ground(), []
    for throw in throws:
        at = contacts(body.shape, level, throw.position)
        lowest = at.gap.argmin(axis=1)
        frames = np.arange(len(lowest))
        # (n,) height over y = 0 and x of the lowest contact point
        height, along = at.gap[frames, lowest], at.point[frames, lowest, 0]
        for k in _pushed_frames(throw):
            around = slice(max(k - 1, 0), k + 2)  # the impact is between two of these
            deepest = around.start + int(height[around].argmin())
            places.append((along[deepest], height[deepest]))
    if not places:
        return _under_the_deepest(body, throws)
    x, y = np.array(places).T
    deepest = int(y.argmin())
    reach = reach_of(body.shape)
    # places close together tell a slope badly
    far = np.flatnonzero(np.abs(x - x[deepest]) > 2.0 * reach)
    slope = 0.0
    if len(far):
        rise = y[far] - y[deepest]
        # a line under all places: the flattest rise from the deepest one
        other = far[(rise / np.abs(x[far] - x[deepest])).argmin()]
        slope = float(np.arctan((y[other] - y[deepest]) / (x[other] - x[deepest])))
    # flatter ones count as level, steeper ones as no ground
    if not _LEVEL <= abs(slope) <= _STEEPEST:
        slope = 0.0
    # so near to y = 0 the stated default is as good: the fit has the height as an unknown
    if slope == 0.0 and abs(y[deepest]) <= _MISPLACED:
        return level
    return Ground(slope, float(x[deepest]), float(y[deepest]))


def _under_the_deepest(body: OwnBody, throws: Sequence[PlanarThrow]) -> Ground:
    """Level through the lowest place of all throws, where a body stays or goes up again."""
    lowest = min((lowest_gaps(body, throw) for throw in throws), key=lambda gap: float(gap.min()))
    frame, height = int(lowest.argmin()), float(lowest.min())
    # the record may end before the body is down: then its last place isn't the ground
    falls_on = frame == len(lowest) - 1 and lowest[-2] - lowest[-1] > _STAYS
    if frame == 0 or falls_on or abs(height) <= _MISPLACED:
        return Ground()
    return Ground(0.0, 0.0, body.ground.y0 + height)


def _pushed_frames(throw: PlanarThrow) -> np.ndarray:
    """Frames at which something pushes the body upwards by more than gravity and noise explain."""
    interval = 1.0 / throw.sample_frequency
    # the same rule by which the study's squares have contact events
    size = event_size(second_difference_noise([throw.position]), interval)[1]
    return np.flatnonzero(np.diff(throw.position[:, 1], 2) / interval**2 > size) + 1


def _turn_at_rest(body: OwnBody, throws: Sequence[PlanarThrow], sigma: np.ndarray) -> float:
    """How far the tracked axes are turned, by bodies that lie on a side; 0 within the noise."""
    if not isinstance(body.shape, Polygon):
        return 0.0
    rests = [
        throw.position[-REST_FRAMES:].mean(axis=0)
        for throw in throws
        if at_rest(throw, _still(sigma))
    ]
    if not rests:
        return 0.0
    _, tilt = lies_on(side_angles(body.shape), np.array(rests)[:, 2])
    turn = float(np.median(tilt)) - body.ground.slope
    # six standard errors of a mean over the last frames; a larger turn belongs to another
    # description
    return turn if 6.0 * sigma[2] / np.sqrt(REST_FRAMES) < abs(turn) < _MOST_TURNED else 0.0


def _height_warnings(body: OwnBody, throws: Sequence[PlanarThrow]) -> list[str]:
    """Throws that come near the ground, but not quite to it; others are refused."""
    found = []
    for throw in throws:
        gap = lowest_gaps(body, throw)
        # between two frames the body may come lower by as much as it goes from frame to frame
        lowest, reach = float(gap.min()), float(np.abs(np.diff(gap)).max()) + _MISPLACED
        if lowest > reach:
            raise ContactIdError(
                f"{throw.name}: the body never comes closer than {lowest:.3g} m to the ground",
                "Give a point of the ground as ground.start, or check y and theta (of images --frame "
                "up=-y,theta=clockwise)",
            )
        if gap.max() < -_MISPLACED:
            raise ContactIdError(
                f"{throw.name}: the body is always below the ground, by {-gap.max():.3g} m or more",
                "Give a point of the ground as ground.start; y must point up",
            )
        if abs(lowest) > _MISPLACED:
            place = "above" if lowest > 0.0 else "below"
            found.append(
                f"{throw.name}: the lowest measured point is {1e3 * abs(lowest):.1f} mm {place} the ground: is the "
                "description's ground.start right? An error there is one of all contacts."
            )
    return found


def _gravity_warning(body: OwnBody, throws: Sequence[PlanarThrow]) -> list[str]:
    """Whether y accelerates in flight as it should: not in wrong units, or with y downwards."""
    values, weights = [], []
    for stretch, interval in stretches(body, throws):
        time = np.arange(len(stretch)) * interval
        values.append(2.0 * np.polyfit(time, stretch[:, 1], 2)[0])
        # a parabola's curvature over time T from n frames has a variance as 1 / (T^4 n)
        weights.append((len(stretch) * interval) ** 4 * len(stretch))
    # one flight has no scatter to judge by
    if len(values) < 2:
        return []
    mean = float(np.average(values, weights=weights))
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    # without gravity (a level table) five per cent of it would be nothing
    tolerance = max(4.0 * error, _WRONG_GRAVITY * max(body.gravity, 1.0))
    if abs(mean + body.gravity) <= tolerance:
        return []
    # the right size with the wrong sign: y points down; flights that leave it open by more tell no sign
    if abs(mean - body.gravity) <= min(tolerance, 0.5 * body.gravity):
        raise ContactIdError(
            f"{throws[0].name}: y accelerates by {mean:.3g} m/s2 in flight",
            "Give y upwards: change the sign of y and theta",
        )
    return [
        f"In flight y accelerates by {mean:.3g} +- {error:.2g} m/s2 instead of {-body.gravity:.3g}: check the units of "
        "t and y, and gravity; the model knows no drag."
    ]


def _still(sigma: np.ndarray) -> np.ndarray:
    """(3,) how far a body at rest may seem to move, m, m, rad."""
    return np.maximum(REST_MOTION, 6.0 * sigma)


def _moving_frames(throw: PlanarThrow, sigma: np.ndarray) -> int:
    """Number of frames up to a few after the body has come to rest; all where it hasn't."""
    rest = rest_frame(throw, _still(sigma))
    return (
        len(throw.time) if rest is None or rest == 0 else min(rest + _KEPT_AT_REST, len(throw.time))
    )
