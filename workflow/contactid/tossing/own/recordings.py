"""A user's own tosses of a box as a canonical dataset: tables of poses, files of tosses, or
datasets.

*Tables* (any that :mod:`contactid.sources.recorded_table` reads, but for HDF5): a row per frame
with time, position of the box's middle and quaternion, ``t,x,y,z,qw,qx,qy,qz`` (s, m, real part
first, from the body to a frame whose z is up), and a column ``toss`` where there are several in one
table. A file of its own is a toss. One or two lost frames in a row, missing or empty, are bridged.

*Files*: ContactNets' ``.pt`` tosses and I.AM. archives (:mod:`contactid.tossing.own.files`).

*Box*: a mapping, or a YAML file::

    size: [0.105, 0.105, 0.105]  # m, along the body's axes x, y, z; its origin is the middle
    mass: 0.37                   # kg; friction and restitution don't need it
    inertia: [8e-4, 8e-4, 8e-4]  # kg m2 about x, y, z: where the search begins; by default a uniform box's
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from contactid.core import rotations
from contactid.core.configuration import check, restore_numbers
from contactid.core.errors import ContactIdError
from contactid.core.reading import read_yaml
from contactid.sources.conventions import Convention
from contactid.sources.left_out import joined, nothing_usable
from contactid.sources.motion import (
    BodyProperties,
    MotionStream,
    Recording,
    motion_in_memory,
    uniform_box,
)
from contactid.sources.recorded_table import (
    SUFFIXES,
    RecordedTable,
    Source,
    name_of,
    several,
    table_parts,
)
from contactid.tossing.own.files import ARCHIVES, read_motion
from contactid.tossing.readers.contactnets import HALF_WIDTH
from contactid.tossing.readers.iam_frames import Track, bridge

QUANTITIES = (
    "time",
    *(f"position_{axis}" for axis in "xyz"),
    *(f"orientation_{axis}" for axis in "wxyz"),
)
TOSS = "toss"
_TABLES = tuple(suffix for suffix in SUFFIXES if suffix not in ARCHIVES)
_SCHEMA = Path(__file__).with_name("box.schema.yaml")
_FEWEST_FRAMES = 12  # a flight, an impact and a rest
# of the interval between frames: times in whole ms are off by less, even at 360 frames/s. At 1 m/s and
# 150 frames/s it is a millimetre
_UNEVEN = 0.2
_MOST_FRAMES = 2.0  # times those that were seen
# m within nine frames, beyond a marker's noise; and share of the frames in motion: a log that is
# faster than its camera repeats half or more, and every second of its velocities is zero
_MOVES, _MOST_HELD = 2e-3, 0.4
_SAME_RATE = 0.05  # of the interval; of most tosses
_LEAD = 1.2e4  # kg/m3
_NORM = 0.01  # of a quaternion: digits that a file has left off
# frames/s; others mean another unit of time, or no impact can be seen
_FASTEST, _SLOWEST = 1e4, 20.0

Tosses = Source | Sequence[str | Path]
Box = str | Path | Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class OwnMotion:
    """Tosses as they are written.

    Attributes
    ----------
    motion : a canonical dataset, but for frame and units
    convention : the stated one, without a table's units; these and its columns were applied, as it
        was read
    length : unit of its lengths where none is stated, m
    placed : the file places the surface, too
    """

    motion: xr.Dataset
    convention: Convention
    length: float = 1.0
    placed: bool = False


def read_box(box: Box) -> tuple[BodyProperties | None, bool]:
    """The box, and whether its mass is stated; None where no box is given.

    Raises :class:`ContactIdError` for what is wrong with it.
    """
    if box is None:
        return None, False
    name = "box" if isinstance(box, Mapping) else str(box)
    content = restore_numbers(dict(box) if isinstance(box, Mapping) else read_yaml(box))
    check(content, _SCHEMA, name)
    stated = content.get("mass") is not None
    # friction and restitution are the same for any
    mass = float(content["mass"]) if stated else 1.0
    body = uniform_box(content["size"], mass)
    density = mass / float(np.prod(content["size"]))
    if stated and density > _LEAD:
        raise ContactIdError(
            f"{name}: {mass:g} kg in this size are {density:.3g} kg/m3, denser than lead",
            "Give mass in kg, and size in m",
        )
    if content.get("inertia"):
        moments = np.array(content["inertia"], dtype=float)
        if not stated:
            raise ContactIdError(f"{name}: inertia without a mass", "Give the mass, too, in kg")
        # of the mass along each axis; half of it at either end would have the most
        second = 0.5 * moments.sum() - moments
        most = mass * (0.5 * np.array(content["size"], dtype=float)) ** 2
        if (second <= 0.0).any() or (second > most).any():
            raise ContactIdError(
                f"{name}: no body of this mass and size has the inertia {content['inertia']}",
                "Give [xx, yy, zz] in kg m2 about the middle, or leave it out",
            )
        body = replace(body, inertia=np.diag(moments))
    return body, stated


def has_tables(tosses: Tosses) -> bool:
    """Whether tosses are poses in tables, which don't say of what body, and no archive."""
    if isinstance(tosses, xr.Dataset):
        return "vertices" not in tosses
    return isinstance(tosses, pd.DataFrame) or bool(_table_files(tosses))


def _table_files(tosses: str | Path | Sequence[str | Path]) -> list[Path]:
    """Files of tables, also those of a folder; none where some are of another kind."""
    files: list[Path] = []
    for path in map(Path, several(tosses)):
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        files += [file for file in inside if file == path or file.suffix.lower() in _TABLES]
    return files if all(file.suffix.lower() in _TABLES for file in files) else []


def read_own(
    tosses: Tosses,
    box: BodyProperties | None,
    convention: Convention,
    object_name: str = "",
    surface: str = "",
    known: Collection[str] = (),
) -> OwnMotion:
    """Tosses as they are written; :mod:`contactid.tossing.own.conventions` says what that means.

    ``object_name``, ``surface`` and ``known`` are of archives, as
    :func:`contactid.tossing.own.files.read_motion` takes them.

    Raises
    ------
    ContactIdError
        Where nothing can be read or used, or tables come without a box.
    """
    if has_tables(tosses):
        return _from_tables(tosses, box, convention)
    if isinstance(tosses, xr.Dataset):
        return OwnMotion(tosses if box is None else _with_body(tosses, box), convention)
    assert not isinstance(tosses, pd.DataFrame)  # which is a table
    paths = [Path(path) for path in ([tosses] if isinstance(tosses, str | Path) else tosses)]
    motion = read_motion(paths, known, object_name, surface)
    placed = bool(motion.attrs["placed"])
    length = 1.0 if placed else HALF_WIDTH
    return OwnMotion(motion if box is None else _with_body(motion, box), convention, length, placed)


def _with_body(motion: xr.Dataset, box: BodyProperties) -> xr.Dataset:
    values = {
        "vertices": box.vertices,
        "mass": box.mass,
        "inertia": box.inertia,
        "center_of_mass": box.center_of_mass,
    }
    return motion.assign({name: motion[name].copy(data=value) for name, value in values.items()})


def _tables(tosses: Tosses) -> Iterator[tuple[str, pd.DataFrame]]:
    """Name and rows of every toss."""
    if isinstance(tosses, pd.DataFrame | xr.Dataset):
        yield from table_parts(tosses, TOSS)
        return
    for file in _table_files(tosses):
        for name, rows in table_parts(file, TOSS):
            yield (file.stem if name == TOSS else name), rows


def _from_tables(tosses: Tosses, box: BodyProperties | None, convention: Convention) -> OwnMotion:
    first = several(tosses)[0]
    source = name_of(first)
    if box is None:
        raise ContactIdError(
            f"{source}: a table of poses doesn't say how large the box is",
            "Give it: --box box.yaml",
        )
    recordings, steps, left_out = [], [], {}
    for name, rows in _tables(tosses):
        try:
            recording, step = _recording(name, RecordedTable.read(rows, convention))
            recordings.append(recording)
            steps.append(step)
        except ContactIdError as error:
            left_out[name] = error.problem
    if not recordings:
        raise nothing_usable(
            Path(source), "tosses", left_out, "Correct them; docs/own.md has the columns"
        )
    # the rate of most tosses; those of another rate are left out
    step = float(np.median(steps))
    others = {
        r.name: s
        for r, s in zip(recordings, steps, strict=True)
        if abs(s / step - 1.0) > _SAME_RATE
    }
    left_out |= {
        name: f"{1.0 / one:.4g} frames/s, where most have {1.0 / step:.4g}"
        for name, one in others.items()
    }
    kept = [recording for recording in recordings if recording.name not in others]
    stream = MotionStream(box, "the box", 1.0 / step, source, "", False, iter(kept))
    motion = motion_in_memory(stream).assign_attrs(left_out=json.dumps(left_out))
    # a table's columns and units were applied as it was read; the frame is still to be, and a
    # refusal says its columns anew
    return OwnMotion(motion, replace(convention, units={}))


def _recording(name: str, table: RecordedTable) -> tuple[Recording, float]:
    """A toss and its interval between frames, s; short gaps are bridged."""
    missing = [quantity for quantity in QUANTITIES if quantity not in table.places]
    if missing:
        raise ContactIdError(f"no column for {', '.join(missing)}", "Name it: --columns")
    columns = table.values(QUANTITIES)
    # a frame in which the body wasn't seen has a time alone
    seen = columns[np.isfinite(columns).all(axis=1)]
    problems = []
    if len(seen) < _FEWEST_FRAMES:
        problems.append(
            f"a pose in {len(seen)} of {len(columns)} frames (at least {_FEWEST_FRAMES} are needed)"
        )
    if np.isnan(columns[:, 0]).any():
        problems.append(f"no time in frame {np.argmax(np.isnan(columns[:, 0]))}")
    if problems:
        raise ContactIdError(joined(problems), "Leave it out")
    frames, step = _frames_of(seen[:, 0], problems)
    held, moving = _held(seen)
    if held.sum() > _MOST_HELD * moving.sum():
        problems.append(
            f"{held.sum()} of {moving.sum()} frames in motion repeat the pose before: give "
            "each pose once"
        )
    norm = np.linalg.norm(seen[:, 4:], axis=1)
    if np.abs(norm - 1.0).max() > _NORM:
        problems.append(
            f"quaternions that aren't of unit length (frame {np.argmax(np.abs(norm - 1.0))})"
        )
    twice = np.flatnonzero(np.diff(frames) == 0)
    if len(twice) and np.ptp([seen[twice, 1:], seen[twice + 1, 1:]], axis=0).max() > 0.0:
        problems.append(f"two poses at one time ({seen[twice[0], 0]:g} s): of two bodies?")
    if problems:
        raise ContactIdError(joined(problems), "Leave it out")
    return _bridged(name, frames, seen), step


def _held(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) later poses equal to the one before while the body moves, and (n,) frames in motion."""
    step = np.diff(rows, axis=0, prepend=np.nan)
    same = (step[:, 0] > 0.0) & (step[:, 1:] == 0.0).all(axis=1)
    place = rows[:, 1:4]
    spread = maximum_filter1d(place, 9, axis=0) - minimum_filter1d(place, 9, axis=0)
    # at rest a pose repeats itself rightly
    moving = np.linalg.norm(spread, axis=1) > _MOVES
    return same & moving, moving


def _frames_of(time: np.ndarray, problems: list[str]) -> tuple[np.ndarray, float]:
    """Number of each row's frame (n,), and the interval between frames, s; adds to the problems."""
    steps = np.diff(time)
    if (steps < 0.0).any():
        problems.append(f"time goes back (frame {np.argmax(steps < 0.0) + 1}): sort its frames")
        return np.arange(len(time)), np.nan
    # the median, as a lost frame doubles a step, and a row that is there twice has none
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else np.inf
    if not _SLOWEST <= 1.0 / step <= _FASTEST:
        problems.append(
            f"{1.0 / step:.4g} frames/s, not between {_SLOWEST:g} and {_FASTEST:g}: time is in s "
            "(--units t=ms, if it is in ms)"
        )
        return np.arange(len(time)), step
    # from row to row first: a few rows don't tell the interval to a part of a frame in a thousand
    frames = np.concatenate([[0.0], np.cumsum(np.round(steps / step))])
    since = time - time[0]
    step, start = np.polyfit(frames, since, 1)
    off = np.abs(since - start - step * frames) / step
    if frames[-1] + 1.0 > _MOST_FRAMES * len(frames):
        problems.append(f"{len(frames)} of {frames[-1] + 1.0:.0f} frames")
    elif off.max() > _UNEVEN:
        problems.append(
            f"frames that aren't evenly spaced in time (frame {np.argmax(off)}, by {off.max():.2g} "
            "of their interval)"
        )
    return frames.astype(int), float(step)


def _bridged(name: str, frames: np.ndarray, poses: np.ndarray) -> Recording:
    """A toss with a pose in every frame; ``poses`` (n, 8) are of those that were seen."""
    frames = frames - frames[0]
    orientation = poses[:, 4:] / np.linalg.norm(poses[:, 4:], axis=1, keepdims=True)
    count = int(frames[-1]) + 1
    flaw = np.ones(count, dtype=int)
    flaw[frames] = 0
    track = Track(np.zeros((count, 3)), np.zeros((count, 4)), flaw, flaw > 0)
    track.position[frames] = poses[:, 1:4]
    track.orientation[frames] = rotations.continuous(orientation)
    bridge(track)
    if track.lost.any():
        first = int(np.argmax(track.lost))
        raise ContactIdError(
            f"{np.count_nonzero(track.lost)} of {count} frames are lost in gaps that are too long "
            f"to bridge (first: {first})",
            "Leave it out",
        )
    return Recording(name, track.position, track.orientation)
