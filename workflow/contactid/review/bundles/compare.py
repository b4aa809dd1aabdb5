"""How far a recomputed file is from the one in a bundle, number by number.

Two numbers a and b are ``|a - b| / max(|a|, |b|, 1e-12 m)`` apart, where m is the largest magnitude among the
published numbers beside them (of a csv's column, a JSON file's key, a netCDF variable): residuals of rounding count by
what they are small against. Wall times differ in every run and aren't compared; they are known by name.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.review.same_results import TIMES

COMPARED = {".csv", ".json", ".nc"}
IDENTICAL, AGREES, DIFFERS = "identical", "agrees", "differs"
_FLOOR = 1e-12


@dataclass(frozen=True)
class Difference:
    """What came of comparing one file.

    Attributes
    ----------
    numbers : how many were compared
    largest : largest relative difference; infinite where something else than a number differs
    where : of that difference
    identical : the files agree byte by byte
    """

    numbers: int
    largest: float
    where: str = ""
    identical: bool = False

    def verdict(self, tolerance: float) -> str:
        """``identical``, ``agrees`` (within the tolerance) or ``differs``."""
        return IDENTICAL if self.identical else AGREES if self.largest <= tolerance else DIFFERS


def compare(name: str, published: bytes, again: bytes) -> Difference:
    """Compare two versions of a csv, JSON or netCDF file of that name."""
    suffix = name[name.rfind(".") :]
    try:
        old, new = dict(_parts(suffix, published)), dict(_parts(suffix, again))
    except (ValueError, OSError, KeyError) as error:
        return Difference(0, np.inf, f"not readable ({error})")
    if list(old) != list(new):
        return Difference(0, np.inf, f"other columns: {', '.join(sorted(set(old) ^ set(new))) or 'in another order'}")
    found = [_apart(key, old[key], new[key]) for key in old if not is_timed(key)]
    worst = max(found, key=lambda part: part.largest, default=Difference(0, 0.0))
    numbers = sum(part.numbers for part in found)
    return Difference(numbers, worst.largest, worst.where, published == again)


def is_timed(key: str) -> bool:
    """Whether a column, a key or a variable holds a wall time."""
    return any(part in TIMES for part in key.split("."))


def _parts(suffix: str, content: bytes) -> Iterator[tuple[str, np.ndarray]]:
    if suffix == ".csv":
        # as text first: what isn't a number has to be the same letter by letter
        table = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
        for column in table.columns:
            yield str(column), table[column].to_numpy(dtype=object)
    elif suffix == ".json":
        found: dict[str, list[Any]] = {}
        for key, value in _leaves(json.loads(content), ""):
            found.setdefault(key, []).append(value)
        for key, values in found.items():
            yield key, np.array(values, dtype=object)
    else:
        with xr.open_dataset(io.BytesIO(content), engine="h5netcdf", decode_times=False) as data:
            for name, variable in data.variables.items():
                yield str(name), np.asarray(variable.to_numpy())


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key in value:
            yield from _leaves(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, path)
    else:
        yield path, value


def _apart(key: str, old: np.ndarray, new: np.ndarray) -> Difference:
    if old.shape != new.shape:
        return Difference(0, np.inf, f"{key}: {old.shape} became {new.shape}")
    a, b = _numbers(old), _numbers(new)
    other = np.isnan(a) | np.isnan(b)  # words, empty cells, NaN: equal or not
    unequal = other & (old.astype(str) != new.astype(str))
    if unequal.any():
        return Difference(0, np.inf, f"{key}: {old[unequal][0]!s} became {new[unequal][0]!s}")
    equal = other | (a == b)
    with np.errstate(invalid="ignore"):
        finite = np.abs(a[np.isfinite(a)])
        scale = np.maximum(np.maximum(np.abs(a), np.abs(b)), _FLOOR * (finite.max() if finite.size else 0.0))
        apart = np.where(equal, 0.0, np.abs(a - b) / np.where(equal, 1.0, scale))
    apart = np.where(np.isnan(apart), np.inf, apart)  # one of two infinities
    counted = int((~other).sum())
    if not counted:
        return Difference(0, 0.0)
    worst = np.unravel_index(int(np.argmax(apart)), apart.shape)
    return Difference(counted, float(apart[worst]), f"{key}: {old[worst]} became {new[worst]}" if apart[worst] else "")


def _numbers(values: np.ndarray) -> np.ndarray:
    if np.issubdtype(values.dtype, np.number):
        return values.astype(float)
    flat = [_number(value) for value in values.ravel()]
    return np.array(flat, dtype=float).reshape(values.shape)


def _number(value: Any) -> float:
    if value is None or isinstance(value, bool):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
