"""A printed table's numbers in the paper's own rows and columns, and printed and found numbers
rounded alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

_QUANTITY = "quantity"
_LONG = 1e5  # numbers from here on are written with an exponent


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
    axes = (spec["rows"], spec["columns"])
    names: Mapping[str, str] = {**words, **spec["quantities"]}
    orders: tuple[dict[Any, int], ...] = ({}, {})
    cells: dict[tuple[Any, Any], dict[str, Any]] = {}
    others = []
    for check in checks:
        conditions = {**parts_of(check.condition), _QUANTITY: check.quantity}
        if (
            check.quantity not in spec["quantities"]
            or not {*axes[0], *axes[1]} <= conditions.keys()
        ):
            others.append(check)
            continue
        row, column = (
            tuple(names.get(conditions[key], plain(conditions[key])) for key in axis)
            for axis in axes
        )
        cell = cells.setdefault((row, column), {})
        if check.quantity in cell:  # the same number from elsewhere
            others.append(check)
            continue
        cell[check.quantity] = check._replace(
            **rounded_alike(check, spec.get("sizes", {}).get(check.unit, 1.0))
        )
        for order, key in zip(orders, (row, column), strict=True):
            order.setdefault(key, len(order))
    if not cells:
        return None, others
    rows, columns = (_together(list(order)) for order in orders)
    heads = spec.get("heads", {})
    return Grid(
        corner=tuple(
            heads.get(key, "" if key in (_QUANTITY, "parameters", "simulator") else plain(key))
            for key in axes[0]
        ),
        heads=tuple(
            tuple(
                Heading(f"{heads[axis]} {text}" if axis in heads else text, len(list(members)))
                for (*_, text), members in groupby(columns, key=lambda column: column[: level + 1])
            )
            for level, axis in enumerate(axes[1])
        )
        or ((Heading("printed and ours", 1),),),
        rows=tuple(
            (
                _headings(rows, k),
                tuple(tuple(cells.get((row, column), {}).values()) for column in columns),
            )
            for k, row in enumerate(rows)
        ),
        note=spec.get("note", ""),
    ), others


def parts_of(condition: str) -> dict[str, str]:
    """``object=Box004;parameters=velocity`` by its keys."""
    return dict(part.split("=", 1) for part in condition.split(";") if "=" in part)


def _together(keys: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Keys in the order of the first that begins as they do, level by level."""
    starts = {key[: level + 1]: 0 for key in keys for level in range(len(key))}
    first = {start: k for k, start in enumerate(starts)}
    return sorted(keys, key=lambda key: [first[key[: level + 1]] for level in range(len(key))])


def _headings(rows: Sequence[tuple[str, ...]], k: int) -> tuple[Heading | None, ...]:
    """Of each level the heading of row k and how many rows it is for; None where an earlier row has
    it.
    """
    headings: list[Heading | None] = []
    for level, text in enumerate(rows[k]):
        start = rows[k][: level + 1]
        if k and rows[k - 1][: level + 1] == start:
            headings.append(None)
        else:
            headings.append(Heading(text, sum(row[: level + 1] == start for row in rows)))
    return tuple(headings)


def rounded_alike(check: Any, size: float = 1.0) -> dict[str, str]:
    """``printed`` and ``ours`` to the printed digits, in units of ``size``; "-" where there is none
    of ours.
    """
    digits = digits_of(check.published / size, check.tolerance / size)
    return {
        "printed": _text(check.published / size, digits),
        "ours": _text(check.reproduced / size, digits),
    }


def digits_of(published: float, tolerance: float) -> int:
    """Digits after the point: the printed number's, and those that its tolerance, half a unit of
    the last, tells.

    >>> [digits_of(86.5, 0.05), digits_of(1.3, 0.0005), digits_of(133.0, 0.5), digits_of(5.0, 0.0)]
    [1, 3, 0, 0]
    """
    written = f"{published:.9g}"
    own = len(written.partition(".")[2]) if "e" not in written else 0
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
