"""Tracked poses of an I.AM. archive: checked and turned into positions and quaternions, a block of frames at a time.

A pose in the archive is a 4 by 4 matrix, in the canonical form 7 numbers. Going through the frames in blocks keeps
what is in memory near the archive's own array, instead of several float64 copies of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import h5py
import numpy as np

from contactid.core import rotations
from contactid.sources.array_files import stored_values
from contactid.tossing.readers.iam_fields import child

LEAST_FRAMES = 3  # central differences need neighbours on both sides
_RIGIDITY_TOLERANCE = 1e-2  # on the entries of R^T R - I; float32 rounding is near 1e-7, a wrong axis near 1
_LARGEST_PLAUSIBLE_POSITION = 100.0  # m; motion capture volumes are smaller, millimetres are larger
_BLOCK = 8192  # frames, a megabyte of float64 matrices
_LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Poses:
    """``position`` (n, 3) m of the body's origin in M, ``orientation`` (n, 4) unit quaternions of R_MB."""

    position: np.ndarray
    orientation: np.ndarray


@dataclass(frozen=True, eq=False)
class _Flaws:
    """Frames (n,) that can't be used, by what is wrong with them."""

    unseen: np.ndarray
    deformed: np.ndarray
    reflected: np.ndarray


def read_poses(
    group: h5py.Group, name: str, problems: list[str], *, skip_unseen: bool = False, at_least: int = LEAST_FRAMES
) -> Poses | None:
    """Poses of a tracked body from its dataset ``transforms`` (4, 4, N); None, and all problems, where they are bad.

    With ``skip_unseen`` frames with a NaN are passed over, which serves for a plane that doesn't move; only the first
    ``at_least`` frames are taken then.
    """
    matrices = _stored_matrices(group, name, problems, at_least)
    if matrices is None:
        return None
    if skip_unseen:
        matrices = matrices[:, :, :at_least]
    flaws = _flaws(matrices)
    found = _flaw_sentences(matrices, flaws, skip_unseen)
    if found:
        problems.extend(f"{name}: {sentence}" for sentence in found)
        return None
    return _as_poses(matrices, ~flaws.unseen)


def _stored_matrices(group: h5py.Group, name: str, problems: list[str], at_least: int) -> np.ndarray | None:
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
    if shape[2] < at_least:
        problems.append(f"{name}: {shape[2]} frames where at least {at_least} are needed")
        return None
    return stored_values(dataset, problems, f"{name}: transforms")


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
            rigid = np.abs(gram).max(axis=(1, 2)) <= _RIGIDITY_TOLERANCE  # False where the product overflowed
            framed = np.abs(poses[:, 3] - _LAST_ROW).max(axis=1) <= _RIGIDITY_TOLERANCE
            reflected = rigid & (np.linalg.det(turns) < 0.0)
        flaws.unseen[block] = ~seen
        flaws.reflected[block] = seen & reflected
        flaws.deformed[block] = seen & ~(rigid & framed)
    return flaws


def _flaw_sentences(matrices: np.ndarray, flaws: _Flaws, skip_unseen: bool) -> list[str]:
    sentences = []
    n_frames = len(flaws.unseen)
    if flaws.unseen.all() or (flaws.unseen.any() and not skip_unseen):
        sentences.append(
            f"NaN in {np.count_nonzero(flaws.unseen)} of {n_frames} frames (first: frame {np.argmax(flaws.unseen)})"
        )
    for bad, what in ((flaws.deformed, "are no rigid motion"), (flaws.reflected, "are reflections, not rotations")):
        if bad.any():
            sentences.append(f"{np.count_nonzero(bad)} of {n_frames} frames {what} (first: frame {np.argmax(bad)})")
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
    return column_empty and bool(np.any(matrices[3, :3])) and bool(np.all(np.isfinite(matrices[3, :3])))


def _as_poses(matrices: np.ndarray, used: np.ndarray) -> Poses:
    n_used = int(np.count_nonzero(used))
    position, orientation = np.empty((n_used, 3)), np.empty((n_used, 4))
    end = 0
    for block in _blocks(len(used)):
        poses = np.moveaxis(matrices[:, :, block][:, :, used[block]].astype(float), 2, 0)
        begin, end = end, end + len(poses)
        position[begin:end] = poses[:, :3, 3]
        if len(poses):
            orientation[begin:end] = rotations.from_matrices(poses[:, :3, :3])
        if begin and np.dot(orientation[begin - 1], orientation[begin]) < 0.0:
            orientation[begin:end] *= -1.0  # q and -q are one orientation: continue the previous block
    return Poses(position, orientation)
