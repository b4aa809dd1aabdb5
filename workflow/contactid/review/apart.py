"""How far two versions of a file are apart, number by number.

Two numbers a and b are ``|a - b| / max(|a|, |b|)`` apart, and not at all where ``|a - b|`` is at
most their floor: what rounding alone makes of a number, by the column, key or variable that it
stands in (:data:`FLOORS`). Words are the same or not. What no two runs can have in common is left
out, by name (:mod:`contactid.review.one_run`).
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
import pandas as pd
import xarray as xr

from contactid.review import pictures
from contactid.review.contents import MOST_READ
from contactid.review.one_run import OF_ONE_CRATE, OF_ONE_RUN, ONCE, TIMES, is_time

# what is said of a file that was made again
IDENTICAL, AGREES, UNDETERMINED, DIFFERS = "identical", "agrees", "undetermined", "differs"
#: Of the largest number beside it, or of one in its unit: double precision is 2e-16, and a sum of
#: thousands of numbers that cancel loses three digits of it. Kernels of OpenBLAS move zeros by up
#: to 1e-14 of their column's largest. In the default run no column of true quantities is below
#: 1e-6, and a column of numbers below 1e-12 holds rounding alone.
ROUNDING = 1e-12
#: Floors of what a solve leaves over or at zero, in the column's unit, by a part of its name:
#: solves end at IPOPT's tolerance (contactid.core.solve), and anywhere below it. And floors of
#: drawings: what nobody sees.
FLOORS = (
    (re.compile(r"residual|complementarity|infeasibility|closure|impulse"), 1e-8),
    (re.compile(rf"^{pictures.COORDINATES}$"), 1e-3),  # points, of a page of 250 to 500
    (re.compile(rf"^{pictures.PIXELS}$"), 8.0),  # levels of 255
)
#: A table with one of these columns has several quantities below each other; each has a largest
#: number of its own.
_QUANTITIES = ("study", "artefact", "quantity", "parameter", "unit")
#: How much further than this machine's own results by several kernels are from each other a number
#: may be that these don't agree on: three results say little of how far a fourth one is.
_SPREAD = 10.0
# bytes by which a small file may be larger than four times ours: one that is larger still is no
# version of ours, and isn't worth the memory that parsing it takes
_PIECE = 1 << 16
# columns that a line names
_NAMED = 5
_ONCE = re.compile(b"%b.*?%b" % tuple(mark.encode() for mark in ONCE), re.DOTALL)
_PART = re.compile(rb'<script type="application/octet-stream" id="part-([^"]*)">([^<]*)</script>')
_SEPARATORS = {"tex": " & ", "md": " | "}
_READ = frozenset(("csv", "html", "json", "md", "nc", "tex", *pictures.KINDS))


@dataclass(frozen=True)
class Column:
    """How far a column, a key's values or a variable are apart.

    Attributes
    ----------
    numbers : how many were compared
    largest : largest relative difference; infinite where something else than a number differs
    where : of that difference
    spread : largest relative difference among what was made again in several ways; 0 if it was made
        once
    """

    numbers: int
    largest: float
    where: str = ""
    spread: float = 0.0

    def is_undetermined(self, tolerance: float) -> bool:
        """Whether this machine is about as far from itself on these numbers as from the others."""
        return self.spread > tolerance and self.largest <= _SPREAD * self.spread


@dataclass(frozen=True)
class Difference:
    """What came of comparing one file.

    Attributes
    ----------
    columns : of what was compared
    identical : the files agree byte by byte
    """

    columns: tuple[Column, ...] = ()
    identical: bool = False

    @property
    def numbers(self) -> int:
        """How many were compared."""
        return sum(column.numbers for column in self.columns)

    @property
    def largest(self) -> float:
        """Largest relative difference; infinite where something else than a number differs."""
        return max((column.largest for column in self.columns), default=0.0)

    @property
    def where(self) -> str:
        """Where that difference is."""
        if not self.columns:
            return ""
        return max(self.columns, key=lambda column: column.largest).where

    def verdict(self, tolerance: float) -> str:
        """``identical``, ``agrees`` (within the tolerance), ``undetermined`` or ``differs``."""
        if self.identical:
            return IDENTICAL
        # not "above": a distance that is no number is far
        far = [column for column in self.columns if not column.largest <= tolerance]
        if not far:
            return AGREES
        undetermined = all(column.is_undetermined(tolerance) for column in far)
        return UNDETERMINED if undetermined else DIFFERS


def other_than(where: str) -> Difference:
    """That something else than a number differs."""
    return Difference((Column(0, np.inf, where),))


def compare(name: str, published: bytes, *again: bytes) -> Difference:
    """Compare a published file of that name with what was made again, once or in several ways.

    A number is as far from the published one as that of the ways which is nearest. What is neither
    a table, text, JSON, netCDF nor a picture is the same or not.
    """
    suffix = name.rpartition(".")[2]
    # a table is read all the same: how many numbers it has is told, and in how many ways they agree
    if published in again and (suffix in pictures.KINDS or suffix not in _READ):
        return Difference(identical=True)
    if suffix not in _READ or len(published) > 4 * len(again[0]) + _PIECE:
        return other_than(f"{len(published)} bytes became {len(again[0])}")
    # what libraries raise of files that somebody may have tampered with
    try:
        old, *versions = [_parts(name, content, again[0]) for content in (published, *again)]
    except (ValueError, OSError, EOFError, KeyError, RuntimeError, TypeError) as error:
        return other_than(f"not readable ({error})")
    alike = [version for version in versions if list(version) == list(old)]
    if not alike:
        names = sorted(set(old) ^ set(versions[0]))[:_NAMED]
        return other_than(f"other columns: {', '.join(names) or 'another order'}")
    quantities = _quantities(old) if suffix == "csv" else None
    columns = []
    for key, values in old.items():
        # a wall time, also as a part of a JSON file's path
        if TIMES.isdisjoint(key.split(".")):
            values_again = [version[key] for version in alike]
            columns.append(_column(key, values, values_again, quantities))
    return Difference(tuple(columns), published in again)


def _parts(name: str, content: bytes, ours: bytes) -> dict[str, np.ndarray]:
    """A file's values by column, key or variable, in its order; pictures no larger than ours."""
    match name.rpartition(".")[2]:
        case "svg" | "pdf" as kind:
            return _gathered(pictures.strokes(content, kind))
        case "png" | "gif":
            return pictures.pixels(content, ours)
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
    gathered: dict[str, list[Any]] = {}
    for key, value in pairs:
        gathered.setdefault(key, []).append(value)
    return {key: np.array(values, dtype=object) for key, values in gathered.items()}


def _columns(content: bytes) -> dict[str, np.ndarray]:
    # as text first: what isn't a number has to be the same letter by letter
    table = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
    # a long table: some rows are times
    if "quantity" in table and "value" in table:
        timed = [is_time("value", row) for row in table.to_dict("records")]
        table.loc[timed, "value"] = ""
    return {str(column): table[column].to_numpy(dtype=object) for column in table.columns}


def _without_the_run(name: str, content: Any) -> Any:
    """Provenance and RO-Crate without what tells of one run; the crate's entities by their names."""
    match name.rpartition("/")[2]:
        case "provenance.json":
            return {key: value for key, value in content.items() if key not in OF_ONE_RUN}
        case "ro-crate-metadata.json":
            entities = {}
            for entity in content["@graph"]:
                shared = {key: entity[key] for key in entity if key not in OF_ONE_CRATE}
                entities[entity["@id"]] = shared
            return entities
    return content


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from _leaves(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        # without it, [[1], [2, 3]] and [[1, 2], [3]] were the same
        yield f"{path}[]", f"{len(value)} items"
        for inner in value:
            yield from _leaves(inner, path)
    else:
        yield path, value


def _variables(content: bytes) -> dict[str, np.ndarray]:
    _refuse_links(content)
    values = {}
    leaves: list[tuple[str, Any]] = []
    # as stored: decoded times and fill values would hide what differs
    with xr.open_dataset(io.BytesIO(content), engine="h5netcdf", decode_cf=False) as data:
        for key, value in data.attrs.items():
            leaves += _leaves(_attribute(value), f"attribute {key}")
        for name, variable in data.variables.items():
            values[str(name)] = np.asarray(variable.to_numpy())
            for key, value in variable.attrs.items():
                leaves += _leaves(_attribute(value), f"attribute {name}.{key}")
    return values | _gathered(leaves)


def _column(
    key: str, old: np.ndarray, versions: Sequence[np.ndarray], quantities: np.ndarray | None
) -> Column:
    """How far a column's published values are from those that were made again."""
    shaped = [new for new in versions if new.shape == old.shape]
    if not shaped:
        return Column(0, np.inf, f"{key}: {old.shape} became {versions[0].shape}")
    first, *others = shaped
    numbers = _numbers(old)
    n_numbers = int((~np.isnan(numbers)).sum())
    floor = _floor(key, numbers, quantities)
    spread = 0.0
    for new in others:
        spread = max(spread, float(_distance(first, new, floor).max(initial=0.0)))
    # of the ways that it was made again, the one whose number is nearest
    nearest = np.min([_distance(old, new, floor) for new in shaped], axis=0)
    if not nearest.max(initial=0.0) > 0.0:
        return Column(n_numbers, 0.0, spread=spread)
    worst = np.unravel_index(int(np.argmax(nearest)), nearest.shape)
    where = f"{key}: {old[worst]!s} became {first[worst]!s}"
    return Column(n_numbers, float(nearest[worst]), where, spread)


def _attribute(value: Any) -> Any:
    """An attribute's numbers, also those in a JSON text."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return np.asarray(value).tolist()


def _refuse_links(content: bytes) -> None:
    """Refuse a published netCDF file that leads to others, or claims more numbers than fit."""

    def visit(_: object, entry: object) -> None:
        if isinstance(entry, h5py.Dataset):
            if entry.is_virtual or entry.external:
                raise ValueError("data outside the file")
            # no size where it has no values at all
            if entry.size and entry.size * entry.dtype.itemsize > MOST_READ:
                raise ValueError("more data than fits")

    with h5py.File(io.BytesIO(content)) as file:
        for name in file:
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                raise ValueError("links to other data")
        file.visititems(visit)


def _cells(text: str, separator: str) -> Iterator[tuple[str, str]]:
    """A text's lines, and tables' cells by their headings, without times and spaces that align."""
    heading: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip("|\\ ") for cell in line.split(separator)]
        if len(cells) == 1:
            # anything but a rule ends a table
            if line.strip() != "\\hline":
                heading = []
            yield "text", line
            continue
        # a row keeps its place among the lines
        yield "text", ""
        heading = heading or [cell.replace("\\", "") for cell in cells]
        for number, (name, cell) in enumerate(zip(heading, cells, strict=False), 1):
            if name not in TIMES:
                # dashes alone are a rule, as long as the column is wide
                yield f"{number} {name}", cell.strip("-")


def _page(content: bytes) -> Iterator[tuple[str, str]]:
    """A page's lines and those of its compressed parts, without what is one run's own."""
    text = _ONCE.sub(b"", content)
    parts = {"page": _PART.sub(b"", text)}
    for name, part in _PART.findall(text):
        parts[f"part {name.decode()}"] = gzip.decompress(base64.b64decode(part))
    for name, part in parts.items():
        for line in _ONCE.sub(b"", part).decode().splitlines():
            yield name, line


def _quantities(columns: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """The number of each row's quantity, in a table that has several below each other."""
    key_columns = [columns[name] for name in _QUANTITIES if name in columns]
    if not key_columns:
        return None
    labels = ["\0".join(row) for row in zip(*key_columns, strict=True)]
    return np.unique(labels, return_inverse=True)[1]


def _floor(key: str, published: np.ndarray, quantities: np.ndarray | None) -> np.ndarray:
    """What rounding alone makes of each number."""
    floor_by_name = next((floor for name, floor in FLOORS if name.search(key)), 0.0)
    # of a column's largest number: sums that cancel leave a share of what was added
    sizes = np.where(np.isfinite(published), np.abs(published), 0.0)
    if quantities is not None and quantities.shape == published.shape:
        largest_of_each = np.zeros(quantities.max(initial=0) + 1)
        np.maximum.at(largest_of_each, quantities, sizes)
        largest = largest_of_each[quantities]
    else:
        largest = np.full(published.shape, sizes.max(initial=0.0))
    return np.maximum(floor_by_name, ROUNDING * np.maximum(largest, 1.0))


def _distance(old: np.ndarray, new: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """How far values are from the others, relative; infinite for other words or one infinity."""
    a, b = _numbers(old), _numbers(new)
    # inf - inf
    with np.errstate(invalid="ignore"):
        difference = np.abs(a - b)
        is_equal = (a == b) | (difference <= floor)
        larger = np.maximum(np.abs(a), np.abs(b))
        # one in place of two zeros, which are equal
        relative = difference / np.where(is_equal, 1.0, larger)
    distance = np.where(is_equal, 0.0, relative)
    # one of two is infinite, or both are, with other signs
    distance = np.where(np.isnan(distance), np.inf, distance)
    # words, empty cells, NaN: equal or not
    is_word = np.isnan(a) | np.isnan(b)
    pairs = zip(old[is_word], new[is_word], strict=True)
    distance[is_word] = [0.0 if str(before) == str(now) else np.inf for before, now in pairs]
    return distance


def _numbers(values: np.ndarray) -> np.ndarray:
    if np.issubdtype(values.dtype, np.number):
        return values.astype(float)
    flat = [_number(value) for value in values.ravel()]
    return np.array(flat, dtype=float).reshape(values.shape)


def _number(value: Any) -> float:
    # a truth value is a word: one that changed is no rounding
    if value is None or isinstance(value, bool):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
