"""How far two versions of a file are apart, number by number.

Two numbers a and b are ``|a - b| / max(|a|, |b|, 1e-12 m)`` apart, where m is the largest magnitude among the first
version's numbers beside them (of a table's column, a JSON file's key, a netCDF variable): residuals of rounding count
by what they are small against. Words are the same or not. What no two runs can have in common is left out, by name
(:mod:`contactid.review.one_run`).
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
import pandas as pd
import xarray as xr

from contactid.review.contents import MOST_READ
from contactid.review.one_run import OF_ONE_CRATE, OF_ONE_RUN, ONCE, TIMES, is_time

# what is said of a file that was made again
IDENTICAL, AGREES, DIFFERS = "identical", "agrees", "differs"
_FLOOR = 1e-12
_PIECE = 1 << 16
_NAMED = 5  # columns
_ONCE = re.compile(b"%b.*?%b" % tuple(mark.encode() for mark in ONCE), re.DOTALL)
_PART = re.compile(rb'<script type="application/octet-stream" id="part-([^"]*)">([^<]*)</script>')
_SEPARATORS = {"tex": " & ", "md": " | "}
_READ = frozenset(("csv", "html", "json", "md", "nc", "tex"))


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
    """Compare two versions of a file of that name; what isn't a table, text, JSON or netCDF is the same or not."""
    if name.rpartition(".")[2] not in _READ:
        same = published == again
        return Difference(0, 0.0 if same else np.inf, "" if same else _sizes(published, again), same)
    if len(published) > 4 * len(again) + _PIECE:
        return Difference(0, np.inf, _sizes(published, again))
    try:
        old, new = _parts(name, published), _parts(name, again)
    except (ValueError, OSError, EOFError, KeyError, RuntimeError, TypeError) as error:
        return Difference(0, np.inf, f"not readable ({error})")
    if list(old) != list(new):
        return Difference(
            0, np.inf, f"other columns: {', '.join(sorted(set(old) ^ set(new))[:_NAMED]) or 'another order'}"
        )
    found = [_apart(key, old[key], new[key]) for key in old if not _is_timed(key)]
    worst = max(found, key=lambda part: part.largest, default=Difference(0, 0.0))
    numbers = sum(part.numbers for part in found)
    return Difference(numbers, worst.largest, worst.where, published == again)


def _sizes(published: bytes, again: bytes) -> str:
    return f"{len(published)} bytes became {len(again)}"


def _is_timed(key: str) -> bool:
    """Whether a column, a key or a variable holds a wall time."""
    return any(part in TIMES for part in key.split("."))


def _parts(name: str, content: bytes) -> dict[str, np.ndarray]:
    """A file's values by column, key or variable, in its order."""
    match name.rpartition(".")[2]:
        case "csv":
            return _columns(content)
        case "json":
            return _gathered(_leaves(_without_the_run(name, json.loads(content)), ""))
        case "nc":
            return _variables(content)
        case "tex" | "md" as kind:
            return _gathered(_cells(content.decode(), _SEPARATORS[kind]))
        case _:
            return _gathered(_page(content))


def _gathered(pairs: Iterable[tuple[str, Any]]) -> dict[str, np.ndarray]:
    found: dict[str, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: np.array(values, dtype=object) for key, values in found.items()}


def _columns(content: bytes) -> dict[str, np.ndarray]:
    # as text first: what isn't a number has to be the same letter by letter
    table = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
    if "quantity" in table and "value" in table:
        table.loc[[is_time("value", row) for row in table.to_dict("records")], "value"] = ""
    return {str(column): table[column].to_numpy(dtype=object) for column in table.columns}


def _without_the_run(name: str, content: Any) -> Any:
    """Provenance and RO-Crate without what tells of one run; the crate's entities by their names."""
    match name.rpartition("/")[2]:
        case "provenance.json":
            return {key: value for key, value in content.items() if key not in OF_ONE_RUN}
        case "ro-crate-metadata.json":
            return {
                entity["@id"]: {key: value for key, value in entity.items() if key not in OF_ONE_CRATE}
                for entity in content["@graph"]
            }
    return content


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from _leaves(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        yield f"{path}[]", f"{len(value)} items"
        for inner in value:
            yield from _leaves(inner, path)
    else:
        yield path, value


def _variables(content: bytes) -> dict[str, np.ndarray]:
    _refuse_links(content)
    with xr.open_dataset(io.BytesIO(content), engine="h5netcdf", decode_cf=False) as data:
        values = {str(name): np.asarray(variable.to_numpy()) for name, variable in data.variables.items()}
        attributes = {"": data.attrs, **{f"{name}.": variable.attrs for name, variable in data.variables.items()}}
    told = ((f"{owner}{key}", value) for owner, found in attributes.items() for key, value in found.items())
    return values | _gathered(leaf for key, value in told for leaf in _leaves(_attribute(value), f"attribute {key}"))


def _attribute(value: Any) -> Any:
    """An attribute's numbers, also those in a JSON text."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return np.asarray(value).tolist()


def _refuse_links(content: bytes) -> None:
    """A published netCDF file may neither lead to other files nor claim more numbers than one that is written whole."""

    def visit(_: object, found: object) -> None:
        if isinstance(found, h5py.Dataset):
            if found.is_virtual or found.external:
                raise ValueError("data outside the file")
            if found.size and found.size * found.dtype.itemsize > MOST_READ:
                raise ValueError("more data than fits")

    with h5py.File(io.BytesIO(content)) as file:
        if any(not isinstance(file.get(name, getlink=True), h5py.HardLink) for name in file):
            raise ValueError("links to other data")
        file.visititems(visit)


def _cells(text: str, separator: str) -> Iterator[tuple[str, str]]:
    """A text's lines, and its tables' cells by their headings, without times and without spaces that align them."""
    heading: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip("|\\ ") for cell in line.split(separator)]
        if len(cells) == 1:
            if line.strip() != "\\hline":
                heading = []
            yield "text", line
            continue
        yield "text", ""
        heading = heading or [cell.replace("\\", "") for cell in cells]
        for number, (name, cell) in enumerate(zip(heading, cells, strict=False), 1):
            if name not in TIMES:
                yield f"{number} {name}", cell.strip("-")


def _page(content: bytes) -> Iterator[tuple[str, str]]:
    """A page's lines and those of its compressed parts, without what is one run's own."""
    text = _ONCE.sub(b"", content)
    parts = {f"part {name.decode()}": gzip.decompress(base64.b64decode(part)) for name, part in _PART.findall(text)}
    for name, part in {"page": _PART.sub(b"", text), **parts}.items():
        yield from ((name, line) for line in _ONCE.sub(b"", part).decode().splitlines())


def _apart(key: str, old: np.ndarray, new: np.ndarray) -> Difference:
    if old.shape != new.shape:
        return Difference(0, np.inf, f"{key}: {old.shape} became {new.shape}")
    a, b = _numbers(old), _numbers(new)
    other = np.isnan(a) | np.isnan(b)  # words, empty cells, NaN: equal or not
    for was, now in zip(old[other], new[other], strict=True):
        if str(was) != str(now):
            return Difference(0, np.inf, f"{key}: {was!s} became {now!s}")
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
    except (TypeError, ValueError, OverflowError):
        return float("nan")
