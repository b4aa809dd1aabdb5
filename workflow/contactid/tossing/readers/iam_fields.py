"""The fields of a recording of an I.AM. archive: tolerant look-up by name, each cast and checked.

A look-up that fails adds a sentence to ``problems`` and gives None, so that a recording's problems
are all reported at once instead of one per run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from contactid.core.errors import ContactIdError
from contactid.core.reading import require_plain
from contactid.sources.hdf5_files import outside, size_problem, stored_values
from contactid.sources.left_out import reason_of

# all seen from h5py on damaged files
_DAMAGE = (OSError, RuntimeError, KeyError, ValueError, TypeError, OverflowError)
_STEP_TOLERANCE = 0.5  # relative to the sample period; a dropped frame doubles the step
# groups whose members a message names: one of them may be what is meant
_OF_BODIES = ("OBJECT", "POSTPROCESSING")
_LARGEST_ATTRIBUTE = 1 << 16  # bytes; larger ones are damaged, or meant to exhaust memory


@contextmanager
def open_archive(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file for reading; whatever is wrong with it becomes one plain line.

    What lies in it is looked at by :func:`entered`.
    """
    require_plain(path, None)
    try:
        with path.open("rb") as stream:
            start = stream.read(512)
    except OSError as error:
        raise ContactIdError(
            f"{path}: cannot be read ({error.strerror})", "Check the path and its permissions"
        ) from None
    if not start:
        raise ContactIdError(f"{path}: the file is empty", "Fetch it again")
    if start[:2] == b"PK":
        raise ContactIdError(
            f"{path}: a zip file, not an HDF5 file", "Unpack it and give the folder"
        )
    if start.lstrip()[:1] == b"<":
        raise ContactIdError(
            f"{path}: a web page, not an HDF5 file", "The download failed: fetch it again"
        )
    try:
        archive = h5py.File(path, "r")
    except (OSError, RuntimeError, ValueError) as error:
        kind = "truncated" if "truncated" in str(error) else "not a readable HDF5 file"
        raise ContactIdError(
            f"{path}: {kind}", "The download may be incomplete: fetch it again"
        ) from None
    try:
        with archive:
            yield archive
    except _DAMAGE as error:
        # Damage below the superblock shows only when a link, an attribute or a chunk is followed.
        raise ContactIdError(
            f"{path}: damaged ({reason_of(error)})",
            "The download may be incomplete: fetch it again",
        ) from None


def entered(archive: h5py.File, name: str) -> h5py.Group | None:
    """A group at an archive's top, of which nothing lies in other files; None where there is none.

    Raises :class:`ContactIdError` where something does: what such a file holds isn't in its
    checksum.
    """
    problem = outside(archive, only=name)
    if problem:
        raise ContactIdError(f"{archive.filename}: {problem}", "Give one file with all of it")
    found = archive.get(name)
    return found if isinstance(found, h5py.Group) else None


@contextmanager
def damage_noted(problems: list[str]) -> Iterator[None]:
    """Turn what the HDF5 library raises for damage within one recording into one of its problems."""
    try:
        yield
    except _DAMAGE as error:
        problems.append(f"damaged ({reason_of(error)})")


def attribute(node: h5py.Group | h5py.Dataset, name: str) -> Any:
    """An attribute's value or None; a space counts as an underscore and case is ignored."""
    wanted = _normal(name)
    for key in node.attrs:
        if _normal(key) == wanted:
            if node.attrs.get_id(key).get_storage_size() > _LARGEST_ATTRIBUTE:
                raise ValueError(f"attribute {key} is too large")
            return node.attrs[key]
    return None


def text_of(value: object) -> str:
    """An attribute's text, whether it was stored as text, bytes or an array of one of them; ""
    where there is none.
    """
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[0] if value.size else None
    if value is None or isinstance(value, h5py.Empty):
        return ""
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)


def child(parent: h5py.Group, path: str, problems: list[str], kind: type) -> Any:
    """Follow ``path`` below ``parent``; each name may carry a prefix. None, and a problem, where it
    isn't there.
    """
    node: Any = parent
    for name in path.split("/"):
        if not isinstance(node, h5py.Group):
            problems.append(f"{_place(node)} is not a group")
            return None
        # the exact name goes before names that end so
        matches = [name] if name in node else [key for key in node if key.endswith(name)]
        found = node.get(matches[0]) if len(matches) == 1 else None
        if found is None:  # not there, ambiguous, or a link that leads nowhere
            what = (
                f"more than one name ends in {name}" if len(matches) > 1 else f"{name} is missing"
            )
            bodies = (
                f" (there: {', '.join(sorted(node)) or 'nothing'})"
                if _place(node).endswith(_OF_BODIES)
                else ""
            )
            problems.append(f"{what} in {_place(node)}{bodies}")
            return None
        node = found
    if not isinstance(node, kind):
        problems.append(
            f"{path} in {_place(parent)} is not a {'group' if kind is h5py.Group else 'dataset'}"
        )
        return None
    return node


def numbers(
    group: h5py.Group, name: str, problems: list[str], shape: Sequence[int | None] | None
) -> np.ndarray | None:
    """A dataset as finite floats of the given shape (None in a place: any length; None altogether:
    any shape).
    """
    dataset = child(group, name, problems, h5py.Dataset)
    if dataset is None:
        return None
    where = f"{name} in {_place(group)}"
    if dataset.dtype.kind not in "fiub":
        problems.append(f"{where} doesn't hold numbers")
        return None
    found = dataset.shape or ()
    if shape is not None and (
        len(found) != len(shape)
        or any(wanted not in (None, size) for wanted, size in zip(shape, found, strict=True))
    ):
        wanted_shape = ", ".join("n" if size is None else str(size) for size in shape)
        problems.append(f"{where} has shape {found} instead of ({wanted_shape})")
        return None
    stored = stored_values(dataset, problems, where)
    if stored is None:
        return None
    values = stored.astype(float)
    if not np.isfinite(values).all():
        problems.append(f"{where} has a NaN")
        return None
    return values


def sample_frequency_of(datalog: h5py.Dataset, problems: list[str]) -> float | None:
    """The sample frequency in Hz: attribute ``sample_frequency`` of the table or of the group that
    holds it.
    """
    value = attribute(datalog, "sample_frequency")
    if value is None:
        value = attribute(datalog.parent, "sample_frequency")
    if value is None:
        problems.append("sample_frequency is missing")
        return None
    try:
        frequency = float(text_of(value))
    except ValueError:
        frequency = float("nan")
    if not 0 < frequency < float("inf"):
        problems.append(f"sample_frequency is {text_of(value)[:40]!r}, not a positive number")
        return None
    return frequency


def bytes_of_column(datalog: h5py.Dataset) -> int:
    """What one column of the table takes in memory."""
    return 8 * math.prod(datalog.shape or ())


def time_columns(datalog: h5py.Dataset) -> list[str]:
    """Names of the columns ``Time(s)`` of the table; the sample frequency serves where there is
    none.
    """
    return [
        name for name in datalog.dtype.names or () if name.replace(" ", "").lower() == "time(s)"
    ]


def time_problems(datalog: h5py.Dataset, n_frames: int, frequency: float) -> list[str]:
    """Everything that is wrong with the column ``Time(s)`` over the box's frames, as sentences."""
    columns = time_columns(datalog)
    if not columns:
        return []
    if datalog.dtype[columns[0]].kind not in "fiu":
        return ["Time(s) doesn't hold numbers"]
    too_much = size_problem(datalog, bytes_of_column(datalog))
    if too_much:
        return [f"datalog {too_much}"]
    try:
        time = np.asarray(datalog[columns[0]], dtype=float).reshape(-1)
    except (OSError, RuntimeError, ValueError, TypeError):
        return ["Time(s) can't be decoded"]
    return _uneven_time(time, n_frames, frequency)


def fewer_times(datalog: h5py.Dataset, node: h5py.Group) -> str:
    """The sentence on a table with fewer times than a body has frames, before either is read; else
    empty.
    """
    transforms = next(
        (found for key in node if key.endswith("transforms") and (found := node.get(key))), None
    )
    shape: tuple[int, ...] = getattr(transforms, "shape", None) or ()
    rows = (datalog.shape or (0,))[0]
    if time_columns(datalog) and len(shape) == 3 and rows < shape[2]:
        return f"Time(s) has {rows} entries for {shape[2]} frames"
    return ""


def _uneven_time(time: np.ndarray, n_frames: int, frequency: float) -> list[str]:
    problems = []
    time = time[:n_frames]
    missing = ~np.isfinite(time)
    if missing.any():
        problems.append(
            f"Time(s) has a NaN in {np.count_nonzero(missing)} entries (first: {np.argmax(missing)})"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(time)
        # named by themselves: they are no dropped frames
        backward = steps <= 0
        uneven = ~backward & (np.abs(steps * frequency - 1.0) > _STEP_TOLERANCE)
    if backward.any():
        problems.append(
            f"Time(s) doesn't increase after frame {np.argmax(backward)} ({np.count_nonzero(backward)} such steps)"
        )
    if uneven.any():
        problems.append(
            f"{np.count_nonzero(uneven)} time steps are more than {_STEP_TOLERANCE:.0%} off 1/{frequency:g} s, as where"
            f" frames were dropped (first after frame {np.argmax(uneven)})"
        )
        if np.isclose(np.median(steps) * frequency, 1e3, rtol=_STEP_TOLERANCE):
            problems[-1] += ", so they may be in milliseconds"
    return problems


def _normal(name: str) -> str:
    return name.strip().replace(" ", "_").lower()


def _place(node: h5py.Group | h5py.Dataset) -> str:
    """Where a node lies within its recording."""
    return "/".join(node.name.strip("/").split("/")[1:]) or "the recording"
