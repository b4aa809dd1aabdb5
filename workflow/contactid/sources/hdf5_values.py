"""Values of HDF5 datasets, read only where the file can hold what the dataset declares.

A damaged or hostile file may declare an array of terabytes. Its declared size is compared with the bytes that the file
stores for it before anything is allocated: contiguous data are as large as their values, and deflate, the only filter
of any size in such files, never expands by more than 1032.
"""

from __future__ import annotations

import math

import h5py
import numpy as np

_LARGEST_EXPANSION = 1032
_SMALL = 1 << 20  # bytes; an array this small does no harm, whatever it claims
_LARGEST = 1 << 32  # bytes of one dataset or chunk; HDF5's own limit of a chunk


def size_problem(dataset: h5py.Dataset) -> str | None:
    """What is wrong with the dataset's declared size, or None; begins with a verb."""
    declared = math.prod(dataset.shape or ()) * dataset.dtype.itemsize
    chunk = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    if max(declared, chunk) <= _SMALL:
        return None
    stored = min(dataset.id.get_storage_size(), dataset.file.id.get_filesize())
    holds = stored * (_LARGEST_EXPANSION if dataset.chunks else 1)
    if declared > holds:
        return f"declares {declared:.3g} bytes, but the file stores {stored:.3g} bytes of it"
    if max(declared, chunk) > _LARGEST:
        return f"has {max(declared, chunk):.3g} bytes, more than the {_LARGEST:.3g} that are read at once"
    return None


def stored_values(dataset: h5py.Dataset, problems: list[str], where: str) -> np.ndarray | None:
    """The dataset's values as they are stored; None, and a problem about ``where``, where they can't be had."""
    too_much = size_problem(dataset)
    if too_much:
        problems.append(f"{where} {too_much}")
        return None
    try:
        return np.asarray(dataset[()])
    except (OSError, RuntimeError, TypeError, ValueError):
        problems.append(f"{where} can't be decoded")
        return None
