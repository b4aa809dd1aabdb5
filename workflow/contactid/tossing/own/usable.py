"""Which recordings a run would use as tosses, by the preparation that every run does, and what
print says of a box.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.output.tables import read_csv
from contactid.sources.motion import (
    MotionStream,
    iterate_recordings,
    read_dataset,
    some_recordings,
    write_motion,
)
from contactid.tossing.prepare.events import FALL_TOLERANCE, IN_MOTION, REST_SPEED, find_rest
from contactid.tossing.prepare.poses import in_surface_frame, vertex_positions
from contactid.tossing.prepare.preprocess import RELEASED, preprocess

EVENTS = {"rule": "data_driven", "rest_speed": REST_SPEED, "fall_tolerance": FALL_TOLERANCE}
# s and frames at a recording's end over which a body at rest goes nowhere: twice as long as
# its speeds are fitted over, so that noise of 1 mm and 240 frames/s makes them 1 cm/s
_STRETCH, _FEWEST_FRAMES = 0.1, 8
_LIMITS = REST_SPEED * 1.2 ** np.arange(16)  # m/s, of speeds at rest
_ODD = 3.0  # times the middle recording's limit: a camera that jumps says nothing of the others
# of a box's length: heights at rest are off by no more than that, of a box with bent sides, too
_SAME_HEIGHT = 0.05
_FEWEST_TOSSES = 4  # of which a median says how most fall or lie
# frames of a straight line on either side of a corner's turn; m/s: slower ones roll; corners
_SIDE, _FALLS, _FEWEST_TOUCHES = 3, 0.2, 4
# of the shortest side: a corner that is lower than the next one by less may not touch alone
_STANDS_OUT = 0.05
# s, share of the longest side, and shares of all sides and of one alone: priors' standard deviations.
# A wrong size is mostly one of all sides, and few heights then leave wide errors, not a false size
_SPRINGS, _MIDDLE, _SIDES, _SIDE_ALONE = 2e-3, 0.05, 0.3, 0.05
_LEAST_SPREAD = 2e-4  # m, of heights: a good camera's
_MODEL = 0.01  # of a side: springs that don't sink in proportion to the speed
# of a side, and of the longest one: what is off by less moves friction by less than its interval
_OFF_SIZE, _OFF_MIDDLE = 0.03, 0.02
_SURELY, _CLEARLY = 2.0, 3.0  # standard errors; of the largest of six numbers
_REWEIGHTED = 15  # times; shares then stand still to a thousandth
# m/s2: places of a body whose centre is a centimetre off, turning with 10 rad/s, fall by 1 otherwise
_FALL = 2.0
# degrees that the fall, or a resting face, is off the stated vertical: cameras are levelled to less,
# and the surface is fitted to bodies at rest
_OFF_UPRIGHT = 1.0
_FEWEST_FLYING = 4  # frames: three make a parabola, which a fourth is off
# rad, of a body that lies, with a camera's noise; and of a slope, how far faces may lean otherwise
_STILL, _ALIKE = 0.05, 0.25

_PUBLISHED = Path(__file__).parents[3] / "resources/published/tossing.csv"
_TABLE_I = ("length_mm", "width_mm", "height_mm", "mass_kg")


def events_of(motion: xr.Dataset) -> Mapping[str, Any]:
    """``EVENTS`` of tosses (a canonical dataset), whose limit of speed at rest is what noise makes
    of a body at rest.

    Speeds are fitted over a twentieth of a second. Noise of 0.3 mm and 240 frames/s makes them up
    to 3 cm/s, and a filter or steps of 1 mm make them other than white noise would. So the limit is
    the least by which bodies rest that go nowhere over a longer stretch, where a line's slope tells
    it from motion.
    """
    step, least = 1.0 / float(motion.attrs["sample_frequency"]), []
    vertices = motion["vertices"].values
    frames = max(round(_STRETCH / step), _FEWEST_FRAMES)
    for _, samples in iterate_recordings(motion):
        frame = samples["surface_position"].values, samples["surface_orientation"].values
        poses = in_surface_frame(samples["position"].values, samples["orientation"].values, *frame)
        belt, count = samples["surface_velocity"].values, len(poses[0])
        # twice as long, or it may have come to rest within the stretch
        if count > 2 * frames and not _moves_on(*poses, vertices, belt, step, count - 2 * frames):
            for limit in _LIMITS:
                rest = find_rest(*poses, vertices, step, belt, limit)
                if 0 <= rest <= count - frames:
                    least.append(limit)
                    break
    if not least:
        return EVENTS
    return {**EVENTS, "rest_speed": float(min(max(least), _ODD * np.median(least)))}


def _moves_on(
    position: np.ndarray,
    orientation: np.ndarray,
    vertices: np.ndarray,
    belt: np.ndarray,
    step: float,
    first: int,
) -> bool:
    """Whether a body surely moves faster than at rest from a frame to the last one: by the slopes
    of straight lines through its origin and corners, with their errors.
    """
    points = vertex_positions(position, orientation, np.vstack([np.zeros(3), vertices]))[first:]
    count = len(points)
    time = step * (np.arange(count) - 0.5 * (count - 1))
    about = points - points.mean(axis=0) - time[:, None, None] * belt
    slope = np.einsum("n,npk->pk", time, about) / (time @ time)
    left = about - time[:, None, None] * slope
    # a filtered camera's errors are alike from frame to frame, which a line takes for slope
    alike = (left[1:] * left[:-1]).sum(axis=0) / np.maximum((left**2).sum(axis=0), 1e-30)
    wider = (1.0 + np.clip(alike, 0.0, 0.9)) / (1.0 - np.clip(alike, 0.0, 0.9))
    variance = wider * (left**2).sum(axis=0) / max(count - 2, 1) / (time @ time)
    # a corner may be twice as fast, as in find_rest
    speed, error = np.linalg.norm(slope, axis=1), np.sqrt(variance.sum(axis=1))
    return bool((speed - _SURELY * error > REST_SPEED * np.r_[1.0, [2.0] * len(vertices)]).any())


def sloped(motion: xr.Dataset) -> xr.Dataset:
    """Tosses (a canonical dataset) with the surface along the faces that they come to rest on, by
    orientations at rest alone; attribute ``slope_degrees`` says by how much it slopes.

    Files that place the surface are left as they are.
    """
    if _places_surface(motion):
        return motion
    frames = max(round(_STRETCH * float(motion.attrs["sample_frequency"])), _FEWEST_FRAMES)
    normals = []
    for _, samples in iterate_recordings(motion):
        turned = samples["orientation"].values[-frames:]
        mean = rotations.karcher_mean(turned)
        # a body that still turns lies on nothing
        if rotations.angle_between(turned, mean).max() < _STILL:
            axes = rotations.matrices(mean)
            up = int(np.abs(axes[2]).argmax())
            normals.append(np.sign(axes[2, up]) * axes[:, up])
    level = np.array([0.0, 0.0, 1.0])
    slope, degrees = _smallest_turn(level, level)
    if len(normals) >= _FEWEST_TOSSES:
        middle = np.median(normals, axis=0)
        leaning, lean = _smallest_turn(level, middle)
        scatter = float(np.degrees(np.median(np.linalg.norm(normals - middle, axis=1))))
        # faces that lean every way are of other quaternions, or of soft ground
        if lean > _OFF_UPRIGHT and scatter < max(_OFF_UPRIGHT, _ALIKE * lean):
            slope, degrees = leaning, lean
    surface = np.tile(rotations.as_quaternions(slope), (motion.sizes["recording"], 1))
    placed = motion["surface_orientation"].copy(data=surface)
    return motion.assign(surface_orientation=placed).assign_attrs(slope_degrees=degrees)


def _places_surface(motion: xr.Dataset) -> bool:
    """Whether the file says where the surface is, and not :func:`sloped`."""
    aslant = motion["surface_orientation"].values[:, 1:].any()
    return "surfaces" in motion.attrs or bool(aslant and "slope_degrees" not in motion.attrs)


def levelled(motion: xr.Dataset) -> xr.Dataset:
    """Tosses (a canonical dataset) with the vertical as bodies fall, and the surface's frame as
    they lie (:func:`sloped`).

    A frame whose up is off is turned; attribute ``up_off_degrees`` says by how much. Files that
    place the surface are left as they are.
    """
    motion = sloped(motion)
    if _places_surface(motion):
        return motion
    step, events = 1.0 / float(motion.attrs["sample_frequency"]), events_of(motion)
    about: dict[str, Any] = {"share": 1.0, "seed": 0, "require_usable": False}
    first = preprocess(motion, exclude_tumbling=False, events=events, **about)
    ends = first["release"].values, first["contact"].values
    flights = [
        samples["position"].values[release:contact]
        for (_, samples), release, contact in zip(iterate_recordings(motion), *ends, strict=True)
        if release >= 0 and contact - release >= _FEWEST_FLYING
    ]
    if len(flights) < _FEWEST_TOSSES:
        return motion
    falls = np.array([fall_of(path, step)[:3] for path in flights])
    middle = np.median(falls, axis=0)
    # a median's error is 1.25 times a mean's, and 1.48 takes a median deviation to a standard one
    spread = 1.4826 * np.median(np.abs(falls - middle), axis=0)
    error = np.degrees(1.25 * np.linalg.norm(spread) / np.sqrt(len(falls)) / np.linalg.norm(middle))
    turn, off = _smallest_turn(middle, np.array([0.0, 0.0, -1.0]))
    if off <= _OFF_UPRIGHT + _SURELY * error:
        return motion
    turned = turn * rotations.as_rotation(motion["orientation"].values)
    motion = motion.assign(
        position=motion["position"].copy(data=turn.apply(motion["position"].values)),
        orientation=motion["orientation"].copy(data=rotations.as_quaternions(turned)),
    )
    # the surface that was placed along the faces turns with them
    return sloped(motion).assign_attrs(up_off_degrees=off)


def _smallest_turn(one: np.ndarray, other: np.ndarray) -> tuple[rotations.Rotation, float]:
    """The rotation that takes one direction (3,) to another, and its angle in degrees."""
    axis = np.cross(one, other)
    size = float(np.linalg.norm(axis))
    angle = float(np.arctan2(size, one @ other))
    vector = angle * axis / size if size > 0.0 else np.zeros(3)
    return rotations.Rotation.from_rotvec(vector), float(np.degrees(angle))


def prepared_own(motion: xr.Dataset, *, share: float, require_usable: bool) -> xr.Dataset:
    """Tosses prepared with :func:`levelled` and :func:`events_of`; parameters as of
    :func:`preprocess`.
    """
    meant = levelled(motion)
    settings: dict[str, Any] = {"share": share, "require_usable": require_usable}
    events = events_of(meant)
    return without_moving_tosses(
        preprocess(meant, seed=0, exclude_tumbling=False, events=events, **settings)
    )


def without_moving_tosses(prepared: xr.Dataset) -> xr.Dataset:
    """Prepared tosses without those that surely move on after what a noisy camera calls rest, or
    that don't fall as most do in what is taken for their flight.
    """
    reason = prepared["reason"].values.astype(object)
    step, vertices = 1.0 / float(prepared.attrs["sample_frequency"]), prepared["vertices"].values
    frames = max(round(_STRETCH / step), _FEWEST_FRAMES)
    falls: dict[int, np.ndarray] = {}  # acceleration (3,) and its error, by recording
    for index, (_, samples) in enumerate(iterate_recordings(prepared)):
        if reason[index]:
            continue
        poses = samples["position"].values, samples["orientation"].values
        # what seems to rest may still slow down before; a toss that ends in motion has no rest
        first = max(int(samples["rest"]), len(poses[0]) - frames)
        rests, belt = str(samples["split"].values) != RELEASED, samples["surface_velocity"].values
        if rests and _moves_on(*poses, vertices, belt, step, first):
            reason[index] = IN_MOTION
        flight = poses[0][int(samples["release"]) : int(samples["contact"])]
        if len(flight) >= _FEWEST_FRAMES:
            falls[index] = fall_of(flight, step)
    if len(falls) >= _FEWEST_TOSSES:
        most = np.median([fall[:3] for fall in falls.values()], axis=0)
        for index, fall in falls.items():
            if np.linalg.norm(fall[:3] - most) > _FALL + _SURELY * fall[3]:
                reason[index] = "its flight isn't a fall as others': a filter may hide an impact"
    return prepared.assign(reason=prepared["reason"].copy(data=reason))


def fall_of(path: np.ndarray, step: float) -> np.ndarray:
    """Acceleration (3,) m/s2 of a path (n, 3) m of four frames or more, and its error."""
    time = step * (np.arange(len(path)) - 0.5 * (len(path) - 1))
    design = np.polynomial.polynomial.polyvander(time, 2)
    fitted, *_ = np.linalg.lstsq(design, path, rcond=None)
    variance = ((path - design @ fitted) ** 2).sum() / (len(path) - 3)
    # an acceleration is twice the bend
    return np.append(
        2.0 * fitted[2], 2.0 * np.sqrt(np.linalg.inv(design.T @ design)[2, 2] * variance)
    )


def on_one_surface(prepared: xr.Dataset) -> xr.Dataset:
    """Prepared tosses, without those that rest at another height than most.

    They are of another box, on another face than a wrong size lets it be, or on another surface.
    """
    reason = prepared["reason"].values.astype(object)
    usable, vertices = np.flatnonzero(reason == ""), prepared["vertices"].values
    if not len(usable):
        return prepared
    rest = prepared.isel(recording=usable)
    corners = vertex_positions(
        rest["rest_position"].values, rest["rest_orientation"].values, vertices
    )
    # of the face that it lies on
    heights = np.sort(corners[..., 2], axis=1)[:, :4].mean(axis=1)
    for index, off in zip(usable, heights - np.median(heights), strict=True):
        if abs(off) > _SAME_HEIGHT * float(np.ptp(vertices, axis=0).max()):
            way = "above" if off > 0.0 else "below"
            reason[index] = (
                f"rests {1e3 * abs(off):.0f} mm {way} most others: another box, size or surface"
            )
    return prepared.assign(reason=prepared["reason"].copy(data=reason))


@dataclass(frozen=True)
class Corners:
    """Where a box's corners are, by heights at rest and of corners that turn round.

    Attributes
    ----------
    shorter, shorter_se : (3,) share of each stated side by which it is shorter, and standard error
    middle, middle_se : (3,) m in B, of the box's middle from the tracked point, and standard error
    sides : (3,) m, as stated
    """

    shorter: np.ndarray
    shorter_se: np.ndarray
    middle: np.ndarray
    middle_se: np.ndarray
    sides: np.ndarray

    def doubt(self) -> str:
        """Sides and middle in a sentence, where one of them surely isn't as stated."""
        size_off = np.abs(self.shorter) - _CLEARLY * self.shorter_se > _OFF_SIZE
        middle_off = (
            np.abs(self.middle) - _CLEARLY * self.middle_se > _OFF_MIDDLE * self.sides.max()
        )
        named = (("size", size_off), ("tracked point", middle_off))
        causes = [name for name, off in named if off.any()]
        cut, error = self.shorter * self.sides, self.shorter_se * self.sides
        # corners rounded with a radius touch as those of a box whose sides are two radii shorter
        radius = 0.5 * float(np.average(cut, weights=error**-2.0))
        alike = radius > 0.0 and (np.abs(cut - 2.0 * radius) < _SURELY * error).all()
        if not causes:
            return ""
        rounded = f", or corners are rounded with {1e3 * radius:.0f} mm, which matters little"
        return (
            f"The {' and '.join(causes)} isn't as stated{rounded if size_off.any() and alike else ''}: "
            f"heights at rest and of corners that turn round ask for sides of {_mm(self.sides - cut)} +- "
            f"{_mm(error)} mm instead of {_mm(self.sides)}, and for a middle at {_mm(self.middle)} +- "
            f"{_mm(self.middle_se)} mm from the tracked point. A wrong one moves friction and restitution"
        )


def _mm(lengths: np.ndarray) -> str:
    return f"({', '.join(f'{1e3 * length:.1f}' for length in lengths)})"


def corners_of(prepared: xr.Dataset) -> Corners | None:
    """Where corners are, by prepared tosses; None where too few heights tell it.

    A face that lies and a corner that turns round are at the surface's height. Both heights are as
    the stated box has them but for the surface's own, for what soft corners sink by (in proportion
    to the speed), for the middle, and for the sides: least absolute deviations fit all of them.
    """
    vertices, rows = prepared["vertices"].values, []
    sides = np.ptp(vertices, axis=0)
    # one that ends in motion lies nowhere
    lying = np.isfinite(prepared["rest_orientation"].values).all(axis=1)
    used = lying & (prepared["reason"].values == "")
    for _, samples in iterate_recordings(some_recordings(prepared, used)):
        upward = rotations.matrices(samples["rest_orientation"].values)[2]
        face = vertices[np.argsort(vertices @ upward)[:4]].mean(axis=0)
        height = float(samples["rest_position"][2]) + face @ upward
        rows.append([-height, 1.0, 0.0, *upward, *(-face * upward)])
        rows += _turning_corners(samples, vertices, float(prepared.attrs["sample_frequency"]))
    prior = np.diag(np.r_[1.0, _SPRINGS, [_MIDDLE * sides.max()] * 3, [_SIDE_ALONE] * 3] ** 2)
    prior[5:, 5:] += _SIDES**2
    precision = np.linalg.inv(prior)
    table = np.array(rows)
    if np.count_nonzero(table[:, 2] if rows else 0) < _FEWEST_TOUCHES:
        return None
    depth, design = table[:, 0], table[:, 1:]
    weights, spread = np.ones(len(depth)), _LEAST_SPREAD
    # least absolute deviations, by reweighting: a corner's neighbour may have touched first
    for _ in range(_REWEIGHTED):
        weighted = design * (weights / spread)[:, None]
        normal = weighted.T @ weighted + precision
        fitted = np.linalg.solve(normal, weighted.T @ (depth * weights / spread))
        off = np.abs(depth - design @ fitted)
        # 1.48 takes a median deviation to a standard one
        few = np.sqrt(len(depth) / max(len(depth) - len(precision), 1))
        spread = max(1.4826 * few * float(np.median(off)), _LEAST_SPREAD)
        weights = 1.0 / np.sqrt(np.maximum(off / spread, 1.0))
    errors = np.sqrt(np.diag(np.linalg.inv(normal)))
    off_middle = np.hypot(errors[2:5], 0.5 * _MODEL * sides.max())
    return Corners(fitted[5:], np.hypot(errors[5:], _MODEL), fitted[2:5], off_middle, sides)


def _turning_corners(
    samples: xr.Dataset, vertices: np.ndarray, rate: float
) -> Iterator[list[float]]:
    """Of every corner that turns round by itself: depth (m) under z = 0, 1, its speed downwards
    (m/s), and what depth a middle (3 numbers) and shorter sides (3) make.
    """
    upward = rotations.matrices(samples["orientation"].values)[:, 2]
    heights = samples["position"].values[:, 2:] + upward @ vertices.T
    lowest, next_one = np.sort(heights, axis=1)[:, :2].T
    by_itself = next_one - lowest > _STANDS_OUT * float(np.ptp(vertices, axis=0).min())
    first, last = max(int(samples["contact"]) - 2, _SIDE + 1), len(heights) - _SIDE - 1
    for frame in range(first, min(int(samples["rest"]), last)):
        if not by_itself[frame] or lowest[frame] > lowest[frame - 2 : frame + 3].min():
            continue
        corner = int(heights[frame].argmin())
        # the contact's own frame and the ones beside may be on either side of the impact
        before = np.polyfit(range(_SIDE), heights[frame - 1 - _SIDE : frame - 1, corner], 1)
        after = np.polyfit(range(_SIDE), heights[frame + 1 : frame + 1 + _SIDE, corner], 1)
        if after[0] <= before[0] or -before[0] * rate < _FALLS:
            continue
        # in frames from the first one before
        meeting = (before[1] - after[1] + (_SIDE + 2) * after[0]) / (after[0] - before[0])
        if _SIDE - 1 <= meeting <= _SIDE + 2:
            depth, up = -float(np.polyval(before, meeting)), upward[frame]
            yield [depth, 1.0, -before[0] * rate, *up, *(-vertices[corner] * up)]


def recording_warnings(prepared: xr.Dataset, *, size_doubted: bool = False) -> list[str]:
    """Whether the frame's up is off or the surface slopes (:func:`levelled`), and whether a box is
    of another size than stated (:func:`corners_of`), unless that is doubted already.
    """
    warnings = []
    if "up_off_degrees" in prepared.attrs:
        off = prepared.attrs["up_off_degrees"]
        warnings.append(
            f"Up is {off:.1f} degrees off the way the box falls: the data are turned so"
        )
    slope = float(prepared.attrs.get("slope_degrees", 0.0))
    if slope > 0.0:
        warnings.append(
            f"The surface slopes by {slope:.1f} degrees, as boxes at rest lie: it is placed so"
        )
    corners = None if size_doubted else corners_of(prepared)
    return [*warnings, *filter(None, [corners.doubt() if corners else ""])]


def printed_box(name: str) -> list[float] | None:
    """Table I's length, width and height (mm) and mass (kg); None for another box, or without the
    repository.
    """
    if not _PUBLISHED.is_file():
        return None
    table = read_csv(_PUBLISHED).set_index(["artefact", "quantity", "condition"])["value"]
    keys = [("tab01", quantity, f"object={name}") for quantity in _TABLE_I]
    return [float(table[key]) for key in keys] if keys[0] in table else None


def prepare_all(stream: MotionStream) -> xr.Dataset:
    """Every recording that a reader gives, prepared as by a run: ``reason`` says why one can't be
    used as a toss.

    Those that tumble have none: the configuration chooses whether they are used.

    Raises :class:`ContactIdError` for what the reader finds wrong
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "motion.nc"
        # what a reader has left out is known when all is read
        write_motion(stream, file)
        motion = read_dataset(file)
    # all recordings tell where the surface is; the seed would choose some of them
    return preprocess(
        motion, share=1.0, seed=0, exclude_tumbling=False, require_usable=False, events=EVENTS
    )
