"""A printed table's numbers in the paper's rows and columns, printed and ours rounded alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

_QUANTITY = "quantity"
# what needs no heading of its own in a table's corner: its rows speak for themselves
_WITHOUT_HEADING = (_QUANTITY, "parameters", "simulator")
# numbers from here on are written with an exponent
_LONG = 1e5


class Heading(NamedTuple):
    """A heading's text, and how many rows or columns it is over."""

    text: str
    span: int


@dataclass(frozen=True)
class Grid:
    """A table as it is printed.

    Attributes
    ----------
    corner : what the headings of rows tell, one for each of their levels
    heads : the headings of columns, level by level
    rows : of each row its headings, None where the one above still counts, and its cells: the
        numbers in them
    note : units, for instance
    """

    corner: tuple[str, ...]
    heads: tuple[tuple[Heading, ...], ...]
    rows: tuple[tuple[tuple[Heading | None, ...], tuple[tuple[Any, ...], ...]], ...]
    note: str = ""


def grid_of(
    spec: Mapping[str, Any], words: Mapping[str, str], checks: Iterable[Any]
) -> tuple[Grid | None, list[Any]]:
    """The grid that ``studies.yaml`` specifies, filled with rows of the checks, and the rows
    without a place in it.
    """
    row_keys, column_keys = spec["rows"], spec["columns"]
    quantities = spec["quantities"]
    names: Mapping[str, str] = {**words, **quantities}
    sizes = spec.get("sizes", {})
    heads = spec.get("heads", {})
    # by the headings of row and column, then by quantity
    cells: dict[tuple[Any, Any], dict[str, Any]] = {}
    others = []
    for check in checks:
        conditions = {**parts_of(check.condition), _QUANTITY: check.quantity}
        has_place = conditions.keys() >= {*row_keys, *column_keys}
        if check.quantity not in quantities or not has_place:
            others.append(check)
            continue
        row = _named(row_keys, conditions, names)
        column = _named(column_keys, conditions, names)
        cell = cells.setdefault((row, column), {})
        # the same number from elsewhere
        if check.quantity in cell:
            others.append(check)
            continue
        rounded = rounded_alike(check, sizes.get(check.unit, 1.0))
        cell[check.quantity] = check._replace(**rounded)
    if not cells:
        return None, others
    # a place is as the paper has it: in the order in which its numbers come
    rows = _together([row for row, _ in cells])
    columns = _together([column for _, column in cells])
    filled = []
    for k, row in enumerate(rows):
        numbers_in_row = []
        for column in columns:
            cell = cells.get((row, column), {})
            numbers_in_row.append(tuple(cell.values()))
        filled.append((_headings(rows, k), tuple(numbers_in_row)))
    grid = Grid(
        corner=tuple(_corner(key, heads) for key in row_keys),
        heads=_column_heads(columns, column_keys, heads),
        rows=tuple(filled),
        note=spec.get("note", ""),
    )
    return grid, others


def _named(
    keys: Sequence[str], conditions: Mapping[str, str], names: Mapping[str, str]
) -> tuple[str, ...]:
    """The headings of a number's row or column, level by level."""
    return tuple(names.get(conditions[key], plain(conditions[key])) for key in keys)


def _corner(key: str, heads: Mapping[str, str]) -> str:
    """What stands over a level of the rows' headings."""
    if key in heads:
        return heads[key]
    return "" if key in _WITHOUT_HEADING else plain(key)


def _column_heads(
    columns: Sequence[tuple[str, ...]], keys: Sequence[str], heads: Mapping[str, str]
) -> tuple[tuple[Heading, ...], ...]:
    """The headings of columns, level by level; those side by side that are the same are one."""
    # a table whose rows alone have conditions
    if not keys:
        return ((Heading("printed and ours", 1),),)
    levels = []
    for level, key in enumerate(keys):
        starts = [column[: level + 1] for column in columns]
        level_heads = []
        for start, members in groupby(starts):
            text = start[-1]
            if key in heads:
                text = f"{heads[key]} {text}"
            n_columns = len(list(members))
            level_heads.append(Heading(text, n_columns))
        levels.append(tuple(level_heads))
    return tuple(levels)


def parts_of(condition: str) -> dict[str, str]:
    """``object=Box004;parameters=velocity`` by its keys."""
    return dict(part.split("=", 1) for part in condition.split(";") if "=" in part)


def _together(keys: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Keys, each once, in the order of the first that begins as they do, level by level."""
    ranks: dict[tuple[str, ...], int] = {}
    for key in keys:
        for start in _starts(key):
            ranks.setdefault(start, len(ranks))

    def rank(key: tuple[str, ...]) -> list[int]:
        return [ranks[start] for start in _starts(key)]

    return sorted(set(keys), key=rank)


def _starts(key: tuple[str, ...]) -> list[tuple[str, ...]]:
    """A key's first level, its first two, and so on to all of it."""
    return [key[: level + 1] for level in range(len(key))]


def _headings(rows: Sequence[tuple[str, ...]], k: int) -> tuple[Heading | None, ...]:
    """Of each level row k's heading, and for how many rows; None where an earlier row has it."""
    headings: list[Heading | None] = []
    for level, start in enumerate(_starts(rows[k])):
        starts_of_rows = [row[: level + 1] for row in rows]
        if k and starts_of_rows[k - 1] == start:
            headings.append(None)
        else:
            headings.append(Heading(start[-1], starts_of_rows.count(start)))
    return tuple(headings)


def rounded_alike(check: Any, size: float = 1.0) -> dict[str, str]:
    """``printed`` and ``ours`` to the printed digits, in units of ``size``; "-" for none."""
    digits = digits_of(check.published / size, check.tolerance / size)
    return {
        "printed": _text(check.published / size, digits),
        "ours": _text(check.reproduced / size, digits),
    }


def digits_of(published: float, tolerance: float) -> int:
    """Digits after the point: those printed, or those that half a unit as tolerance tells.

    >>> [digits_of(86.5, 0.05), digits_of(1.3, 0.0005), digits_of(133.0, 0.5), digits_of(5.0, 0.0)]
    [1, 3, 0, 0]
    """
    # nine digits hide what division by a size added to the printed ones
    written = f"{published:.9g}"
    own = len(written.partition(".")[2]) if "e" not in written else 0
    # 1e-9: the logarithm of 0.1 may come out a little below -1
    digits = math.ceil(-math.log10(2.0 * tolerance) - 1e-9) if tolerance > 0.0 else 0
    return max(own, digits, 0)


def _text(value: float, digits: int) -> str:
    if math.isnan(value):
        return "-"
    if abs(value) >= _LONG:
        return f"{value:.4g}"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0.0 else text


def plain(name: str) -> str:
    """``not_comparable`` as ``not comparable``."""
    return name.replace("_", " ")
