"""Tracked poses of an I.AM. archive, frame by frame: which were measured, which are bridged, which
are lost.

A pose in the archive is a 4 by 4 matrix, in the canonical form 7 numbers. Going through the frames
in blocks keeps what is in memory near the archive's own array, instead of several float64 copies of
it.

A frame in which a body wasn't seen isn't always a NaN. The authors' import writes a pose without
translation (Rx(90) Ry(90) after its change of axes), and frames may be *held*: the last pose again.
Such frames look like poses. They are found by what they are (no translation, exactly the pose
before while the body moves), and by what no body does (a step of more than 10 m/s).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import h5py
import numpy as np

from contactid.core import rotations
from contactid.sources.hdf5_files import size_problem, stored_values
from contactid.tossing.readers.iam_fields import child

LEAST_FRAMES = 3  # central differences need neighbours on both sides
_MOST_FRAMES = 1_000_000  # 46 minutes at 360 Hz
LONGEST_BRIDGE = 2  # frames in a row; more of them hide an impact
KINDS = (
    "measured",
    "NaN",
    "placeholder pose",
    "pose held",
    "step that no body makes",
)
_NAN, _PLACEHOLDER, _HELD, _STEP = range(1, 5)
# on the entries of R^T R - I; float32 rounding is near 1e-7, a wrong axis near 1
_RIGIDITY_TOLERANCE = 1e-2
_LARGEST_PLAUSIBLE_POSITION = 100.0  # m; motion capture volumes are smaller, millimetres are larger
_BLOCK = 8192  # frames, a megabyte of float64 matrices
_LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])
_ORIGIN = 1e-9  # m; a tracked body is never so near to the origin, a pose without translation is
# m; a turn is weighed by the way of a point so far from the origin, as far as a box's corner
_REACH = 0.15
# m per frame and m: a pose held while the body moves less does no harm
_STILL, _STILL_IN_ALL = 1e-4, 2e-3
_FASTEST = 10.0  # m/s of a point of the body; a drop from a metre ends with 4.4 m/s
# frames on either side of a gap that say what was in it, and how near they must be
_SIDE, _SIDE_WITHIN = 3, 6
_KINK = 1e-3  # m between what both sides say; more is an impact within the gap
_CROOKED = 3e-4  # m off a straight line: an impact among the frames of that side


@dataclass(frozen=True, eq=False)
class Track:
    """Poses of one body in M over n frames."""

    # position, orientation: (n, 3) m of the body's origin, (n, 4) unit quaternions of R_MB; lost
    # frames hold what lies between their neighbours
    position: np.ndarray
    orientation: np.ndarray
    # (n,) what is wrong with each frame as it was stored, an index of :data:`KINDS`
    flaw: np.ndarray
    lost: np.ndarray  # (n,) frames that can't be used: flawed ones, but for those that were bridged

    @property
    def measured(self) -> np.ndarray:
        """Frames (n,) without a flaw."""
        return self.flaw == 0

    def counts(self, frames: slice = slice(None)) -> dict[str, int]:
        """How many of these frames have which flaw; without those that nothing has."""
        found = Counter(self.flaw[frames].tolist())
        return {kind: found[index] for index, kind in enumerate(KINDS) if index and found[index]}


def read_track(
    group: h5py.Group,
    name: str,
    problems: list[str],
    time_step: float | None,
    n_frames: int | None = None,
) -> Track | None:
    """Poses of a tracked body from its dataset ``transforms`` (4, 4, N); None, and all problems,
    where they are bad.

    Parameters
    ----------
    group, name : of the body
    problems : to add to
    time_step : s between frames; None where it isn't known, then no step is too long
    n_frames : how many frames to look at, and at least needed; None takes all
    """
    matrices = _stored_matrices(group, name, problems, n_frames)
    if matrices is None:
        return None
    flaws = _flaws(matrices)
    found = _flaw_sentences(matrices, flaws)
    if found:
        problems.extend(f"{name}: {sentence}" for sentence in found)
        return None
    track = _as_track(matrices, flaws.unseen)
    _find_held(track)
    if time_step is not None:
        _find_steps(track, _FASTEST * time_step)
    bridge(track)
    return track


class _Flaws(NamedTuple):
    """Frames (n,) by what is wrong with their matrices."""

    unseen: np.ndarray
    deformed: np.ndarray
    reflected: np.ndarray


def _stored_matrices(
    group: h5py.Group, name: str, problems: list[str], n_frames: int | None
) -> np.ndarray | None:
    at_least = n_frames or LEAST_FRAMES
    dataset = child(group, "transforms", problems, h5py.Dataset)
    if dataset is None:
        return None
    shape: tuple[int, ...] = dataset.shape or ()
    if len(shape) != 3 or tuple(shape[:2]) != (4, 4):
        frames_first = len(shape) == 3 and shape[1:] == (4, 4)
        hint = ", so its axes are swapped" if frames_first else ""
        problems.append(f"{name}: transforms have shape {shape} instead of (4, 4, N){hint}")
        return None
    if dataset.dtype.kind not in "fiu":
        problems.append(f"{name}: transforms don't hold numbers but {dataset.dtype}")
        return None
    # a plane needs as many frames as the box has, which may be fewer than are stored
    if shape[2] < at_least:
        problems.append(f"{name}: {shape[2]} frames where at least {at_least} are needed")
        return None
    if (n_frames or shape[2]) > _MOST_FRAMES and not size_problem(dataset):
        problems.append(f"{name}: {shape[2]} frames where at most {_MOST_FRAMES} are read")
        return None
    return stored_values(dataset, problems, f"{name}: transforms", n_frames)


def _blocks(n_frames: int) -> Iterator[slice]:
    for begin in range(0, n_frames, _BLOCK):
        yield slice(begin, min(begin + _BLOCK, n_frames))


def _flaws(matrices: np.ndarray) -> _Flaws:
    n_frames = matrices.shape[2]
    flaws = _Flaws(*(np.zeros(n_frames, dtype=bool) for _ in range(3)))
    for block in _blocks(n_frames):
        poses = np.moveaxis(matrices[:, :, block].astype(float), 2, 0)
        seen = np.isfinite(poses).all(axis=(1, 2))
        turns = np.where(seen[:, None, None], poses, np.eye(4))[:, :3, :3]
        with np.errstate(over="ignore", invalid="ignore"):
            gram = np.einsum("kji,kjl->kil", turns, turns) - np.eye(3)
            # R^T R is the identity
            # False where the product overflowed
            rigid = np.abs(gram).max(axis=(1, 2)) <= _RIGIDITY_TOLERANCE
            framed = np.abs(poses[:, 3] - _LAST_ROW).max(axis=1) <= _RIGIDITY_TOLERANCE
            reflected = rigid & (np.linalg.det(turns) < 0.0)
        flaws.unseen[block] = ~seen
        flaws.reflected[block] = seen & reflected
        flaws.deformed[block] = seen & ~(rigid & framed)
    return flaws


def _flaw_sentences(matrices: np.ndarray, flaws: _Flaws) -> list[str]:
    sentences = []
    n_frames = len(flaws.unseen)
    if flaws.unseen.all():
        sentences.append(f"NaN in {n_frames} of {n_frames} frames")
    for bad, what in (
        (flaws.deformed, "are no rigid motion"),
        (flaws.reflected, "are reflections, not rotations"),
    ):
        if bad.any():
            sentences.append(
                f"{np.count_nonzero(bad)} of {n_frames} frames {what} (first: frame {np.argmax(bad)})"
            )
    if flaws.deformed.any() and _transposed(matrices):
        sentences[-1] += "; the translation is in the last row, so the matrices are transposed"
    good = matrices[:3, 3, ~flaws.unseen]
    farthest = float(np.abs(good).max()) if good.size else 0.0
    if farthest > _LARGEST_PLAUSIBLE_POSITION:
        sentences.append(f"positions reach {farthest:.3g} m, so they may be in millimetres")
    return sentences


def _transposed(matrices: np.ndarray) -> bool:
    """Whether every last row holds something while every last column is that of no translation."""
    column_empty = not np.any(matrices[:3, 3])
    return (
        column_empty
        and bool(np.any(matrices[3, :3]))
        and bool(np.all(np.isfinite(matrices[3, :3])))
    )


def _as_track(matrices: np.ndarray, unseen: np.ndarray) -> Track:
    """Positions and quaternions; NaN and placeholder poses take their neighbours' orientation."""
    n_frames = len(unseen)
    flaw = np.where(unseen, _NAN, 0)
    # the pose that the authors' import writes for a body that wasn't seen
    nowhere = ~unseen & (np.abs(matrices[:3, 3]).max(axis=0, initial=0.0, where=~unseen) <= _ORIGIN)
    if not (nowhere | unseen).all():  # a body that stays at the origin defines it
        flaw[nowhere] = _PLACEHOLDER
    used = flaw == 0
    position, orientation = np.zeros((n_frames, 3)), np.zeros((n_frames, 4))
    last = None
    for block in _blocks(n_frames):
        poses = np.moveaxis(matrices[:, :, block][:, :, used[block]].astype(float), 2, 0)
        if not len(poses):
            continue
        turned = rotations.from_matrices(poses[:, :3, :3])
        if last is not None and np.dot(last, turned[0]) < 0.0:
            turned *= -1.0  # q and -q are one orientation: continue the previous block
        last = turned[-1]
        position[block][used[block]], orientation[block][used[block]] = poses[:, :3, 3], turned
    track = Track(position, orientation, flaw, ~used)
    _interpolate(track, ~used)
    return track


def _interpolate(track: Track, frames: np.ndarray) -> None:
    """Put what lies between their neighbours into frames (n,)."""
    if not frames.any() or frames.all():
        return
    n = np.arange(len(frames))
    for values in (track.position, track.orientation):
        for column in values.T:
            column[frames] = np.interp(n[frames], n[~frames], column[~frames])
    track.orientation[frames] /= np.linalg.norm(track.orientation[frames], axis=1, keepdims=True)


def _points(track: Track) -> np.ndarray:
    """The origin and two points of the body (n, 9), m: their ways tell of shifts and turns alike."""
    matrices = rotations.matrices(track.orientation)
    return np.concatenate(
        [track.position, *(track.position + _REACH * matrices[:, :, k] for k in (0, 2))], axis=1
    )


def _way(points: np.ndarray, first: int, last: int) -> float:
    """The longest way (m) of the three points from one frame to another."""
    return float(np.linalg.norm((points[last] - points[first]).reshape(3, 3), axis=1).max())


def runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """First and last index of each run of true values (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return [(int(begin), int(end) - 1) for begin, end in edges.reshape(-1, 2)]


def _find_held(track: Track) -> None:
    """Mark repeated poses while the body moves: where it goes on from, and where to, are too far
    apart.
    """
    same = np.zeros(len(track.flaw), dtype=bool)
    same[1:] = (track.position[1:] == track.position[:-1]).all(axis=1)
    same[1:] &= np.abs(track.orientation[1:] - track.orientation[:-1]).max(axis=1) < 1e-12
    same &= track.measured & np.concatenate([[False], track.measured[:-1]])
    if not same.any():
        return
    points = _points(track)
    n_frames = len(same)
    for begin, end in runs(same):
        # from the pose that is held to the first one after it
        first, last = begin - 1, end + 1
        if last >= n_frames:  # held to the end: how it moved before
            first, last = max(first - _SIDE, 0), first
        if first == last:
            continue
        way = _way(points, first, last)
        if way > _STILL * (last - first) or (way > _STILL_IN_ALL and end + 1 < n_frames):
            track.flaw[begin : end + 1] = _HELD


def _find_steps(track: Track, longest: float) -> None:
    """Mark what can't be reached from the longest stretch without a step of more than ``longest``
    (m per frame).
    """
    measured = np.flatnonzero(track.measured)
    if len(measured) < 2:
        return
    points = _points(track)
    ways = np.linalg.norm(np.diff(points[measured], axis=0).reshape(-1, 3, 3), axis=2).max(axis=1)
    # a gap of several frames may hold as many steps
    breaks = np.flatnonzero(ways > longest * np.diff(measured))
    if not len(breaks):
        return
    # the longest stretch is taken for the body; what lies before and after must be reachable from
    # it
    parts = np.split(measured, breaks + 1)
    longest_part = int(np.argmax([len(part) for part in parts]))
    for order, near, far in (
        (parts[longest_part + 1 :], -1, 0),
        (parts[:longest_part][::-1], 0, -1),
    ):
        here = parts[longest_part][near]
        for part in order:
            if _way(points, here, part[far]) > longest * abs(int(part[far]) - int(here)):
                track.flaw[part] = _STEP
            else:
                here = part[near]


def bridge(track: Track) -> None:
    """Fill gaps of one or two flawed frames from both sides; a longer one stays lost."""
    flawed = ~track.measured
    track.lost[:] = flawed
    if not flawed.any():
        return
    _interpolate(track, flawed)
    for begin, end in runs(flawed):
        left = [
            k for k in range(begin - 1, max(begin - 1 - _SIDE_WITHIN, -1), -1) if not flawed[k]
        ][:_SIDE][::-1]
        right = [
            k for k in range(end + 1, min(end + 1 + _SIDE_WITHIN, len(flawed))) if not flawed[k]
        ][:_SIDE]
        if end - begin < LONGEST_BRIDGE and min(len(left), len(right)) >= 2:
            _fill(track, np.arange(begin, end + 1), np.array(left), np.array(right))
            track.lost[begin : end + 1] = False


def _fill(track: Track, gap: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Poses in a gap from the frames on its left and right.

    Where both sides' straight lines agree, a cubic through both is taken. Where they don't, the
    body was hit within the gap: each frame is then on its own side of the instant at which the
    lines are nearest to each other.
    """
    # turns are counted from the last good frame, so that their rotation vectors are small
    base = rotations.as_rotation(track.orientation[left[-1]])

    def motion(frames: np.ndarray) -> np.ndarray:
        turns = (base.inv() * rotations.as_rotation(track.orientation[frames])).as_rotvec()
        return np.concatenate([track.position[frames], _REACH * turns], axis=1)

    def line(frames: np.ndarray) -> tuple[np.ndarray, float]:
        values = motion(frames)
        fitted = np.polynomial.polynomial.polyfit(frames - gap[0], values, 1)
        off = values - np.polynomial.polynomial.polyval(frames - gap[0], fitted).T
        return fitted, float(np.abs(off).max())

    (before, crooked_before), (after, crooked_after) = line(left), line(right)
    # twenty instants per frame, from the last good frame to the next one
    times = np.linspace(-1.0, len(gap), 20 * (len(gap) + 1) + 1)
    # m between both sides' lines at each of them
    apart = np.linalg.norm(np.polynomial.polynomial.polyval(times, before - after), axis=0)
    inner = np.polynomial.polynomial.polyval((gap - gap[0]).astype(float), before - after)
    if np.linalg.norm(inner, axis=0).max() < _KINK:
        both = np.concatenate([left, right])
        cubic = np.polynomial.polynomial.polyfit(both - gap[0], motion(both), min(3, len(both) - 1))
        values = np.polynomial.polynomial.polyval((gap - gap[0]).astype(float), cubic).T
    else:
        # the lines meet where the body was hit
        instant = times[int(np.argmin(apart))]
        # a side that isn't straight holds the impact itself, so the whole gap lies on the other
        # side
        if crooked_before > max(_CROOKED, 4.0 * crooked_after):
            instant = -1.0
        elif crooked_after > max(_CROOKED, 4.0 * crooked_before):
            instant = float(len(gap))
        sides = [before if k < instant else after for k in gap - gap[0]]
        values = np.stack(
            [
                np.polynomial.polynomial.polyval(float(k), side)
                for k, side in zip(gap - gap[0], sides, strict=True)
            ]
        )
    turned = rotations.as_quaternions(
        base * rotations.as_rotation(rotations.exp(values[:, 3:] / _REACH))
    )
    # q and -q are one orientation
    same_side = np.sign(turned @ track.orientation[left[-1]])
    track.position[gap], track.orientation[gap] = values[:, :3], turned * same_side[:, None]
