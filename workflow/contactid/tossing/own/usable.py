"""Which recordings a run would use as tosses, by the preparation that every run does, and what
print says of a box.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
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
_SIDE, _FEWEST_HEIGHTS = 3, 4  # frames of a straight line on either side of an impact; tosses
# of the box's size: noise lifts what counts as the lowest corner. Sharp boxes sink by .05 at most,
# the real cube by .12, whose corners are round
_LIFTED, _SUNK = 0.01, 0.13
_SURELY = 2.0  # standard errors
_REWEIGHTED = 10  # times; shares then stand still to a thousandth
# of the height of the middle at rest: a corner that stands out less tells noise
_STANDS_OUT = 0.2
# m/s2: places of a body whose centre is a centimetre off, turning with 10 rad/s, fall by 1 otherwise
_FALL = 2.0
# degrees that the fall, or a resting face, is off the stated vertical: cameras are levelled to less,
# and the surface is fitted to bodies at rest
_OFF_UPRIGHT = 1.0

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


def levelled(motion: xr.Dataset) -> xr.Dataset:
    """Tosses (a canonical dataset) with the vertical as bodies fall, and the surface's frame as
    they lie.

    A frame whose up is off is turned; attribute ``up_off_degrees`` says by how much. A surface that
    slopes is placed so, for a plane is fitted to heights that are near each other. Files that place
    the surface are left as they are.
    """
    upright = np.array([1.0, 0.0, 0.0, 0.0])
    if "surfaces" in motion.attrs or (motion["surface_orientation"].values != upright).any():
        return motion
    falls, normals = [], []
    step, events = 1.0 / float(motion.attrs["sample_frequency"]), events_of(motion)
    about: dict[str, Any] = {"share": 1.0, "seed": 0, "require_usable": False}
    first = preprocess(motion, exclude_tumbling=False, events=events, **about)
    for index, (_, samples) in enumerate(iterate_recordings(motion)):
        release, contact, rest = (
            int(first[name][index]) for name in ("release", "contact", "rest")
        )
        if release >= 0:
            falls.append(fall_of(samples["position"].values[release:contact], step)[:3])
            turned = rotations.karcher_mean(samples["orientation"].values[rest:])
            axes = rotations.matrices(turned)
            up = int(np.abs(axes[2]).argmax())
            normals.append(np.sign(axes[2, up]) * axes[:, up])
    if len(falls) < _FEWEST_HEIGHTS:
        return motion
    middle = np.median(falls, axis=0)
    # a median's error is 1.25 times a mean's, and 1.48 takes a median deviation to a standard one
    spread = 1.4826 * np.median(np.abs(np.array(falls) - middle), axis=0)
    error = np.degrees(1.25 * np.linalg.norm(spread) / np.sqrt(len(falls)) / np.linalg.norm(middle))
    down = np.array([0.0, 0.0, -1.0])
    turn, off = _smallest_turn(middle, down)
    if off > _OFF_UPRIGHT + _SURELY * error:
        turned = rotations.as_quaternions(
            turn * rotations.as_rotation(motion["orientation"].values)
        )
        motion = motion.assign(
            position=motion["position"].copy(data=turn.apply(motion["position"].values)),
            orientation=motion["orientation"].copy(data=turned),
        ).assign_attrs(up_off_degrees=off)
        normals = [*turn.apply(normals)]
    slope, aslant = _smallest_turn(-down, np.median(normals, axis=0))
    if aslant > _OFF_UPRIGHT:
        placed = np.tile(rotations.as_quaternions(slope), (motion.sizes["recording"], 1))
        motion = motion.assign(surface_orientation=motion["surface_orientation"].copy(data=placed))
    return motion


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
    return told_by_motion(
        preprocess(meant, seed=0, exclude_tumbling=False, events=events, **settings)
    )


def told_by_motion(prepared: xr.Dataset) -> xr.Dataset:
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
    if len(falls) >= _FEWEST_HEIGHTS:
        most = np.median([fall[:3] for fall in falls.values()], axis=0)
        for index, fall in falls.items():
            if np.linalg.norm(fall[:3] - most) > _FALL + _SURELY * fall[3]:
                reason[index] = "its flight isn't a fall as others': a filter may hide an impact"
    return prepared.assign(reason=prepared["reason"].copy(data=reason))


def fall_of(path: np.ndarray, step: float) -> np.ndarray:
    """Acceleration (3,) m/s2 of a path (n, 3) m, and its error."""
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


def shrinkage(prepared: xr.Dataset) -> tuple[float, float]:
    """Share of the stated size that a box is smaller by, as its corners turn round in tosses' first
    impacts, and its standard error; NaN of fewer than four.

    At rest the middle is where the stated size puts it. A corner that stands out of the face that
    the box rests on turns round under the surface where the box is smaller, in proportion. Corners
    rounded with a radius do so by about that radius over half of an edge. Soft ones, and ground that
    gives way, do so in proportion to the speed, which is fitted beside. A corner can't turn round
    over the surface: a share below 0 is of a larger box.
    """
    vertices, turns = prepared["vertices"].values, []
    half = 0.5 * np.ptp(vertices, axis=0)
    # one that ends in motion lies nowhere
    lying = np.isfinite(prepared["rest_orientation"].values).all(axis=1)
    used = lying & (prepared["reason"].values == "")
    resting = np.abs(rotations.matrices(prepared["rest_orientation"].values[used])[:, 2])
    # the surface is fitted to the middles of all tosses
    lies = float((resting @ half).mean()) if used.any() else np.nan
    for _, samples in iterate_recordings(some_recordings(prepared, used)):
        contact = int(samples["contact"])
        turned = samples["orientation"].values
        corners = vertex_positions(samples["position"].values, turned, vertices)[..., 2]
        if not _SIDE < contact < len(corners) - _SIDE:
            continue
        stands_out = float(np.abs(rotations.matrices(turned[contact])[2]) @ half) - lies
        corner = int(corners[contact - 1 : contact + 2].min(axis=0).argmin())
        # the contact's own frame and the one before may be on either side of the impact
        frames = np.arange(_SIDE)
        before = np.polyfit(frames, corners[contact - 1 - _SIDE : contact - 1, corner], 1)
        after = np.polyfit(frames, corners[contact + 1 : contact + 1 + _SIDE, corner], 1)
        bend = after[0] - before[0]
        # in frames from the first one before
        meeting = (before[1] - after[1] + (_SIDE + 2) * after[0]) / bend if bend > 0.0 else np.nan
        if _SIDE - 1 <= meeting <= _SIDE + 2 and stands_out > _STANDS_OUT * lies:
            # m, m per frame and m
            turns.append([stands_out, -before[0], -float(np.polyval(before, meeting))])
    if len(turns) < _FEWEST_HEIGHTS:
        return np.nan, np.nan
    design, depth = np.array(turns)[:, :2], np.array(turns)[:, 2]
    # least absolute deviations, by reweighting: a corner's neighbour may have touched first
    weights = np.ones(len(depth))
    for _ in range(_REWEIGHTED):
        weighted = design * weights[:, None]
        fitted, *_ = np.linalg.lstsq(weighted, depth * weights, rcond=None)
        off = np.abs(depth - design @ fitted)
        # 1.48 takes a median deviation to a standard one
        spread = 1.4826 * float(np.median(off)) + 1e-9
        weights = 1.0 / np.sqrt(np.maximum(off / spread, 1.0))
    error = spread * np.sqrt(np.linalg.pinv(weighted.T @ weighted)[0, 0])
    return float(fitted[0]), float(error)


def recording_warnings(prepared: xr.Dataset, *, size_doubted: bool = False) -> list[str]:
    """Whether the frame's up is off (:func:`levelled`), and whether a box is of another size than
    stated (:func:`shrinkage`), unless that is doubted already.
    """
    off = float(prepared.attrs.get("up_off_degrees", 0.0))
    warnings = []
    if off > 0.0:
        warnings.append(
            f"Up is {off:.1f} degrees off the way the box falls: the data are turned so"
        )
    share, error = (np.nan, np.nan) if size_doubted else shrinkage(prepared)
    sides = 1e3 * (1.0 - share) * np.ptp(prepared["vertices"].values, axis=0)
    said = (
        f"than stated, by some {100.0 * abs(share):.0f} +- {100.0 * error:.0f} % "
        f"({' x '.join(f'{side:.0f}' for side in sides)} mm), and friction is off with it"
    )
    if share + _SURELY * error < -_LIFTED:
        warnings.append(f"Corners turn round over the surface: the box is larger {said}")
    if share - _SURELY * error > _SUNK:
        warnings.append(
            f"Corners turn round under the surface: the box is smaller {said}, or its corners are "
            "rounded by as much of half an edge"
        )
    return warnings


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
