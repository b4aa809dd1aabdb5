"""The parts of an I.AM. archive: tolerant look-up by name, and each field cast and checked.

A look-up that fails adds a sentence to ``problems`` and gives None, so that a recording's problems are all reported at
once instead of one per run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from contactid.errors import ContactIdError

_RIGIDITY_TOLERANCE = 1e-2  # on the entries of R^T R - I; float32 rounding is near 1e-7, a wrong axis near 1
_STEP_TOLERANCE = 0.5  # relative to the sample period; a dropped frame doubles the step
_LEAST_FRAMES = 3  # central differences need neighbours on both sides


@contextmanager
def open_archive(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file for reading; whatever is wrong with it becomes one plain line."""
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
        raise ContactIdError(f"{path}: a zip file, not an HDF5 file", "Unpack it and give the folder")
    if start.lstrip()[:1] == b"<":
        raise ContactIdError(f"{path}: a web page, not an HDF5 file", "The download failed: fetch it again")
    try:
        archive = h5py.File(path, "r")
    except (OSError, RuntimeError, ValueError) as error:
        kind = "truncated" if "truncated" in str(error) else "not a readable HDF5 file"
        raise ContactIdError(f"{path}: {kind}", "The download may be incomplete: fetch it again") from None
    try:
        with archive:
            yield archive
    except ContactIdError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        # Damage below the superblock shows only when a link, an attribute or a chunk is followed.
        reason = " ".join(str(error).split())
        raise ContactIdError(f"{path}: damaged ({reason})", "The download may be incomplete: fetch it again") from None


def attribute(node: h5py.Group | h5py.Dataset, name: str) -> Any:
    """An attribute's value or None; a space counts as an underscore and case is ignored."""
    wanted = _normal(name)
    for key in node.attrs:
        if _normal(key) == wanted:
            return node.attrs[key]
    return None


def text_of(value: object) -> str:
    """An attribute's text, whether it was stored as text, bytes or an array of one of them; "" where there is none."""
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[0] if value.size else None
    if value is None or isinstance(value, h5py.Empty):
        return ""
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)


def child(parent: h5py.Group, path: str, problems: list[str], kind: type) -> Any:
    """Follow ``path`` below ``parent``; each name may carry a prefix. None, and a problem, where it isn't there."""
    node: Any = parent
    for name in path.split("/"):
        if not isinstance(node, h5py.Group):
            problems.append(f"{_place(node)} is not a group")
            return None
        matches = [name] if name in node else [key for key in node if key.endswith(name)]
        found = node.get(matches[0]) if len(matches) == 1 else None
        if found is None:  # not there, ambiguous, or a link that leads nowhere
            what = f"more than one name ends in {name}" if len(matches) > 1 else f"{name} is missing"
            problems.append(f"{what} in {_place(node)}")
            return None
        node = found
    if not isinstance(node, kind):
        problems.append(f"{path} in {_place(parent)} is not a {'group' if kind is h5py.Group else 'dataset'}")
        return None
    return node


def numbers(group: h5py.Group, name: str, problems: list[str], shape: Sequence[int | None] | None) -> np.ndarray | None:
    """A dataset as finite floats of the given shape (None in a place: any length; None altogether: any shape)."""
    dataset = child(group, name, problems, h5py.Dataset)
    if dataset is None:
        return None
    where = f"{name} in {_place(group)}"
    if dataset.dtype.kind not in "fiub":
        problems.append(f"{where} doesn't hold numbers")
        return None
    if shape is not None and (
        len(dataset.shape) != len(shape)
        or any(wanted not in (None, size) for wanted, size in zip(shape, dataset.shape, strict=True))
    ):
        wanted_shape = ", ".join("n" if size is None else str(size) for size in shape)
        problems.append(f"{where} has shape {dataset.shape} instead of ({wanted_shape})")
        return None
    try:
        values = np.asarray(dataset[()], dtype=float)
    except (OSError, RuntimeError):
        problems.append(f"{where} can't be decoded")
        return None
    if not np.isfinite(values).all():
        problems.append(f"{where} has a NaN")
        return None
    return values


def transforms(
    group: h5py.Group, name: str, problems: list[str], *, skip_unseen: bool = False, at_least: int = _LEAST_FRAMES
) -> np.ndarray | None:
    """Poses ``(N, 4, 4)`` of a tracked body from its dataset ``transforms`` (4, 4, N).

    With ``skip_unseen`` frames with a NaN are passed over, which serves for a plane that doesn't move; only the first
    ``at_least`` frames are taken then.
    """
    dataset = child(group, "transforms", problems, h5py.Dataset)
    if dataset is None:
        return None
    if dataset.ndim != 3 or dataset.shape[:2] != (4, 4) or dataset.dtype.kind not in "fiu":
        problems.append(f"{name}: transforms have shape {dataset.shape} instead of (4, 4, N)")
        return None
    if dataset.shape[2] < at_least:
        problems.append(f"{name}: {dataset.shape[2]} frames where at least {at_least} are needed")
        return None
    try:
        poses = np.moveaxis(np.asarray(dataset[()], dtype=float), 2, 0)
    except (OSError, RuntimeError):
        problems.append(f"{name}: transforms can't be decoded")
        return None
    if skip_unseen:
        poses = poses[:at_least]
    seen = np.isfinite(poses).all(axis=(1, 2))
    if skip_unseen and seen.any():
        poses = poses[seen]
    elif not seen.all():
        problems.append(f"{name}: NaN in {np.count_nonzero(~seen)} of {len(seen)} frames")
        return None
    turns = poses[:, :3, :3]
    deviation = np.maximum(
        np.abs(np.einsum("kji,kjl->kil", turns, turns) - np.eye(3)).max(axis=(1, 2)),
        np.abs(poses[:, 3] - [0.0, 0.0, 0.0, 1.0]).max(axis=1),
    )
    bad = (deviation > _RIGIDITY_TOLERANCE) | (np.linalg.det(turns) <= 0)
    if bad.any():
        problems.append(f"{name}: {np.count_nonzero(bad)} frames are no rigid motion (first: frame {np.argmax(bad)})")
        return None
    return poses


def sample_frequency_of(datalog: h5py.Dataset, problems: list[str]) -> float | None:
    """The sample frequency in Hz: attribute ``sample_frequency`` of the table or of the group that holds it."""
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
        problems.append(f"sample_frequency is {text_of(value)!r}, not a positive number")
        return None
    return frequency


def time_problems(datalog: h5py.Dataset, n_frames: int, frequency: float) -> list[str]:
    """What is wrong with the column ``Time(s)`` over the box's frames, as sentences."""
    columns = [name for name in datalog.dtype.names or () if name.replace(" ", "").lower() == "time(s)"]
    if not columns:
        return ["datalog has no column Time(s)"]
    try:
        time = np.asarray(datalog[columns[0]], dtype=float).reshape(-1)
    except (OSError, RuntimeError, ValueError, TypeError):
        return ["Time(s) can't be decoded"]
    if len(time) < n_frames:
        return [f"Time(s) has {len(time)} entries for {n_frames} frames"]
    time = time[:n_frames]
    if not np.isfinite(time).all():
        return ["Time(s) has a NaN"]
    steps = np.diff(time)
    if (steps <= 0).any():
        return [f"Time(s) doesn't increase after frame {np.argmax(steps <= 0)}"]
    uneven = np.abs(steps * frequency - 1.0) > _STEP_TOLERANCE
    if uneven.any():
        return [
            f"{np.count_nonzero(uneven)} time steps are more than {_STEP_TOLERANCE:.0%} off 1/{frequency:g} s, as where"
            f" frames were dropped (first after frame {np.argmax(uneven)})"
        ]
    return []


def _normal(name: str) -> str:
    return name.strip().replace(" ", "_").lower()


def _place(node: h5py.Group | h5py.Dataset) -> str:
    """Where a node lies within its recording."""
    return "/".join(node.name.strip("/").split("/")[1:]) or "the recording"
