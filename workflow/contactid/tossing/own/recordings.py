"""A user's own tosses of a box as a canonical dataset: tables of poses, files of tosses, or
datasets.

*Tables* (any that :mod:`contactid.sources.recorded_table` reads, but for HDF5): a row per frame
with time, position of the box's middle and quaternion, ``t,x,y,z,qw,qx,qy,qz`` (s, m, real part
first, from the body to a frame whose z is up), and a column ``toss`` where there are several in one
table. A file of its own is a toss.

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
from contactid.sources.recorded_table import SUFFIXES, RecordedTable, Source, name_of, table_parts
from contactid.tossing.own.files import ARCHIVES, read_motion
from contactid.tossing.readers.contactnets import HALF_WIDTH

QUANTITIES = (
    "time",
    *(f"position_{axis}" for axis in "xyz"),
    *(f"orientation_{axis}" for axis in "wxyz"),
)
TOSS = "toss"
_TABLES = tuple(suffix for suffix in SUFFIXES if suffix not in ARCHIVES)
_SCHEMA = Path(__file__).with_name("box.schema.yaml")
_FEWEST_FRAMES = 12  # a flight, an impact and a rest
_UNEVEN = 0.05  # of the interval between frames; jitter of a clock is less, a lost frame more
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
    if content.get("inertia"):
        body = replace(body, inertia=np.diag(np.array(content["inertia"], dtype=float)))
    return body, stated


def has_tables(tosses: Tosses) -> bool:
    """Whether tosses are poses in tables, which don't say of what body, and no archive."""
    if isinstance(tosses, xr.Dataset):
        return "vertices" not in tosses
    return isinstance(tosses, pd.DataFrame) or bool(_table_files(tosses))


def _table_files(tosses: str | Path | Sequence[str | Path]) -> list[Path]:
    """Files of tables, also those of a folder; none where some are of another kind."""
    files: list[Path] = []
    for path in map(Path, [tosses] if isinstance(tosses, str | Path) else tosses):
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
    first = tosses if isinstance(tosses, Source) else tosses[0]
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
        r.name: s for r, s in zip(recordings, steps, strict=True) if abs(s / step - 1.0) > _UNEVEN
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
    """A toss and its interval between frames, s."""
    missing = [quantity for quantity in QUANTITIES if quantity not in table.places]
    if missing:
        raise ContactIdError(f"no column for {', '.join(missing)}", "Name it: --columns")
    columns = table.values(QUANTITIES)
    time, position, orientation = columns[:, 0], columns[:, 1:4], columns[:, 4:]
    problems = []
    if len(time) < _FEWEST_FRAMES:
        problems.append(f"only {len(time)} frames (at least {_FEWEST_FRAMES} are needed)")
    bad = np.asarray(~np.isfinite(columns).all(axis=1))
    if bad.any():
        problems.append(
            f"no number in {np.count_nonzero(bad)} of {len(bad)} frames (first: {np.argmax(bad)})"
        )
        raise ContactIdError(joined(problems), "Leave it out")
    steps = np.diff(time)
    # the median, as a lost frame doubles a step
    step = float(np.median(steps)) if len(steps) else np.nan
    if (steps < 0.0).any():
        problems.append(f"time goes back (frame {np.argmax(steps < 0.0) + 1}): sort its frames")
    elif not step > 0.0 or np.abs(steps / step - 1.0).max() > _UNEVEN:
        problems.append("frames that aren't evenly spaced in time")
    elif not _SLOWEST <= 1.0 / step <= _FASTEST:
        problems.append(
            f"{1.0 / step:.4g} frames/s, not between {_SLOWEST:g} and {_FASTEST:g}: time is in s "
            "(--units t=ms, if it is in ms)"
        )
    norm = np.linalg.norm(orientation, axis=1)
    if np.abs(norm - 1.0).max() > _NORM:
        problems.append(
            f"quaternions that aren't of unit length (frame {np.argmax(np.abs(norm - 1.0))})"
        )
    if problems:
        raise ContactIdError(joined(problems), "Leave it out")
    return Recording(name, position, rotations.continuous(orientation / norm[:, None])), step
