"""Tables for a paper: LaTeX with booktabs, from a run's csv files.

A printed table keeps the paper's own rows and columns: in each cell the printed number, below it
ours with a mark for the verdict, and below that how far ours may be off. Every other one has the
columns of its csv file. All are at most 17 cm wide: wide ones aren't declared as typeset, and
``studies.yaml`` says which printed ones are in two halves. Nothing is computed here, so the edit of
a caption or a heading reruns this short job alone.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from contactid.core.atomic import write_text
from contactid.output import verdicts
from contactid.output.comparison import INPUTS, KEY
from contactid.output.escape import tex
from contactid.output.grids import Grid, Heading, grid_of, parts_of, plain
from contactid.output.latex import Line, caption_of, in_math, joined, pretty, table_float
from contactid.output.tables import read_csv

#: The verdicts' marks; a caption says those that its table has.
MARKS = {
    verdicts.REPRODUCED: "r",
    verdicts.PRINT_CONSISTENT: "c",
    verdicts.FITTED: "f",
    verdicts.BETTER: "b",
    verdicts.DIFFERS: "d",
    verdicts.PRINT_INCONSISTENT: "x",
    verdicts.UNINFORMATIVE: "u",
    verdicts.INPUT: "i",
    verdicts.NEEDS_ARCHIVE: "a",
    verdicts.NEVER_PUBLISHED: "n",
    verdicts.UNDEFINED: "v",
    verdicts.NOT_DONE: "o",
}
_NONE = "--"
# of a column's largest number: what is smaller differs between machines
_ROUNDING = 1e-9
# relative: two numbers of six significant digits are the same
_SAME = 1e-5
# characters, from which a column of texts is broken into lines of 6 cm
_LONG = 40
# characters of a heading's line, at least, so that not each of its words has a line of its own
_SHORTEST = 8
# endings of columns' names and the units that they are, the longest first
_UNITS = {
    "_m_s": "m/s",
    "_pct": "%",
    "_deg": "deg",
    "_cm": "cm",
    "_mm": "mm",
    "_ms": "ms",
    "_ns": "N s",
    "_kg": "kg",
    "_m": "m",
    "_s": "s",
    "_j": "J",
}
_SYMBOLS = {"friction_mu": r"$\mu$", "restitution_e_n": r"$e_N$"}


def typeset(
    study: str,
    described: Sequence[Mapping[str, Any]],
    data: Sequence[str],
    checks: str,
    published: str,
    wording: str,
    tables: Sequence[str],
) -> None:
    """Write a study's tex tables.

    Parameters
    ----------
    described : what :func:`contactid.output.artefacts.typesettings` says of each
    data, tables : of each the csv file, and the tex file to write
    checks, published : the study's verdicts, and the numbers that its paper prints
    wording : ``studies.yaml``, which has the printed tables' rows and columns
    """
    about = yaml.safe_load(Path(wording).read_text(encoding="utf-8")).get(study, {})
    words, grids = about.get("words", {}), about.get("grids", {})
    judged = as_printed(read_csv(checks), read_csv(published))
    for description, source, file in zip(described, data, tables, strict=True):
        # ``tab01_...``: the paper's own number
        key, table = description["name"].split("_")[0], read_csv(source)
        if key in grids:
            rows = judged[judged["artefact"] == key]
            text = printed_table(rows, table, grids[key], words, description)
        else:
            text = own_table(table, words, description)
        write_text(file, f"% needs \\usepackage{{booktabs}}\n{text}")


def as_printed(checks: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The printed numbers in order with ours, and those that a table's one row of inputs is for."""
    printed = published.rename(columns={"value": "published"})
    printed = printed[[*KEY, "published", "unit", "tolerance"]]
    ours = checks[[*KEY, "reproduced", "verdict", "origin"]]
    rows = printed.merge(ours, how="left", on=list(KEY))
    verdict_on_inputs = checks[checks["quantity"] == INPUTS].set_index("artefact")["verdict"]
    is_input = rows["verdict"].isna()
    verdict = rows["verdict"].where(~is_input, rows["artefact"].map(verdict_on_inputs))
    used_as_printed = is_input & (verdict == verdicts.INPUT)
    reproduced = rows["reproduced"].where(~used_as_printed, rows["published"])
    return rows.assign(verdict=verdict, reproduced=reproduced)


class Cell(NamedTuple):
    """A cell of a printed table, in plain text; two numbers in it are a mean and its deviation.

    Attributes
    ----------
    printed, ours : numbers, rounded alike; none of ours where the run has none
    verdicts : those of its numbers, each once
    ends : how far each of ours may be off: two ends, or one number either way
    """

    printed: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    ends: tuple[tuple[str, ...], ...] = ()


class PrintedPart(NamedTuple):
    """A printed table, or the half of one that fits on a page.

    Attributes
    ----------
    grid : its headings; its rows' cells are those below, filled in
    cells : row by row
    caption : its sentences
    verdicts : those that its cells have, in the order of :data:`MARKS`
    """

    grid: Grid
    cells: tuple[tuple[Cell, ...], ...]
    caption: tuple[str, ...]
    verdicts: tuple[str, ...]


def printed_table(
    rows: pd.DataFrame,
    table: pd.DataFrame,
    spec: Mapping[str, Any],
    words: Mapping[str, str],
    described: Mapping[str, Any],
) -> str:
    """LaTeX of :func:`printed_parts`: two floats where a table is in two halves."""
    floats: list[str] = []
    for part in printed_parts(rows, table, spec, words, described):
        is_second = bool(floats)
        marks = []
        for verdict in part.verdicts:
            mark = rf"$^{{\mathrm{{{MARKS[verdict]}}}}}$"
            marks.append(f"{mark}~{plain(verdict)}")
        caption = "Continued." if is_second else caption_of(part.caption)
        caption = f"{caption} Marks: {', '.join(marks)}."
        alignments, heads, blocks = _grid_lines(part)
        floats.append(table_float(alignments, heads, blocks, caption, again=is_second))
    return "".join(floats)


def printed_parts(
    rows: pd.DataFrame,
    table: pd.DataFrame,
    spec: Mapping[str, Any],
    words: Mapping[str, str],
    described: Mapping[str, Any],
) -> list[PrintedPart]:
    """A table in the paper's rows and columns, in two halves where ``spec`` names a key for it.

    Parameters
    ----------
    rows : of :func:`as_printed`
    table : the run's own, which says how far ours may be off where ``described`` names its columns
    """
    spread = described["spread"]
    ends = [_ends(row, table, spread) if spread else () for row in rows.to_dict("records")]
    rows = rows.assign(ends=pd.Series(ends, index=rows.index, dtype=object), printed="", ours="")
    parts = []
    # a half is set as a table of its own, with its own headings, notes and marks
    for half in _halves(rows, spec.get("halves")):
        grid, _ = grid_of(spec, words, half.itertuples(index=False, name="Check"))
        if grid is None:
            continue
        cells = [cells_in_row for _, cells_in_row in grid.rows]
        checks = [check for cells_in_row in cells for cell in cells_in_row for check in cell]
        sentences = [described["caption"], "In each cell the printed number, ours below it"]
        if any(check.ends for check in checks):
            sentences.append(f"In brackets: {spread['words']}")
        sentences += [grid.note, _origins(checks)]
        present = {check.verdict for check in checks}
        part = PrintedPart(
            grid=grid,
            cells=tuple(tuple(map(_cell, cells_in_row)) for cells_in_row in cells),
            caption=tuple(filter(None, sentences)),
            verdicts=tuple(verdict for verdict in MARKS if verdict in present),
        )
        parts.append(part)
    return parts


def _halves(rows: pd.DataFrame, key: str | None) -> list[pd.DataFrame]:
    """The rows by the first and the second half of the values that a key of the condition has."""
    if key is None:
        return [rows]
    values = rows["condition"].map(lambda condition: parts_of(condition).get(key))
    distinct = values.dropna().unique()
    # of an odd number, the first half has one more
    middle = (len(distinct) + 1) // 2
    in_first = values.isin(distinct[:middle])
    return [rows[in_first], rows[~in_first]]


def _ends(
    row: Mapping[Any, Any], table: pd.DataFrame, spread: Mapping[str, Any]
) -> tuple[float, ...]:
    """How far ours may be off: two ends, or one number either way; none where no table says it.

    Of the table's rows with the number's keys it is the first with our value, as both files have
    six digits.
    """
    quantity = row["quantity"]
    value_column = spread["value"].format(quantity=quantity)
    end_columns = [name.format(quantity=quantity) for name in spread["ends"]]
    column_of_key = spread["keys"]
    condition = parts_of(row["condition"])
    has_columns = {value_column, *end_columns} <= set(table)
    if not has_columns or not condition.keys() >= set(column_of_key):
        return ()
    ours = row["reproduced"]
    same = (table[value_column] - ours).abs() <= _SAME * abs(ours)
    for key, column in column_of_key.items():
        same &= table[column].map(_as_condition) == condition[key]
    matching = table.loc[same, end_columns].dropna()
    return tuple(matching.iloc[0]) if len(matching) else ()


def _as_condition(cell: Any) -> str:
    """A cell as conditions have it: 0.5, and 1 for 1.0."""
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _cell(checks: Sequence[Any]) -> Cell:
    if not checks:
        return Cell()
    ours, ends = zip(*map(_ours, checks), strict=True)
    return Cell(
        printed=tuple(check.printed for check in checks),
        ours=() if "-" in ours else ours,
        verdicts=tuple(dict.fromkeys(check.verdict for check in checks)),
        ends=tuple(filter(None, ends)),
    )


def _ours(check: Any) -> tuple[str, tuple[str, ...]]:
    """Our number and how far it may be off: to the printed digits, and to one more where the error
    allows it. An error that these digits don't show isn't written.
    """
    if not check.ends or check.ours == "-":
        return check.ours, ()
    if len(check.ends) == 1:
        error = check.ends[0]
    else:
        low, high = check.ends
        error = 0.5 * (high - low)
    printed_digits = len(check.printed.partition(".")[2])
    digits = max(printed_digits, min(error_digits(error), printed_digits + 1))
    if error < 0.5 / 10.0**digits:
        return check.ours, ()
    ours = _fixed(check.reproduced, digits)
    return ours, tuple(_fixed(end, digits) for end in check.ends)


def _fixed(value: float, digits: int) -> str:
    # adding zero leaves no "-0"
    rounded = round(value, digits) + 0.0
    return f"{rounded:.{digits}f}"


def error_digits(error: float) -> int:
    """Digits after the point that an error allows: two significant ones of it up to 35, then one.

    >>> [error_digits(error) for error in (0.025, 0.04, 1.3, 142.0, 0.0)]
    [3, 2, 1, 0, 0]
    """
    if not 0.0 < error < math.inf:
        return 0
    exponent = math.floor(math.log10(error))
    # the Particle Data Group's rule
    second_digit = 1 if error / 10.0**exponent < 3.55 else 0
    return max(0, second_digit - exponent)


def _origins(checks: Sequence[Any]) -> str:
    """What our numbers are made from."""
    # not a number: this run has none of ours
    present = {check.origin for check in checks if not math.isnan(check.reproduced)}
    if not present & verdicts.ORIGINS.keys():
        return ""
    kinds = [words for kind, words in verdicts.ORIGINS.items() if kind in present]
    return f"Ours from {'; '.join(kind.removeprefix('no data: ') for kind in kinds)}"


def own_table(table: pd.DataFrame, words: Mapping[str, str], described: Mapping[str, Any]) -> str:
    """A table with a csv's columns; what it comes from, in its column ``data``, ends the caption."""
    alignments, heads, columns = [], [], []
    for name in table.columns.drop("data", errors="ignore"):
        column = table[name]
        cells = _own_cells(column, words)
        columns.append(cells)
        longest = max(map(len, cells), default=0)
        # numbers of one column stand below each other by their last digits
        side = "r" if pd.api.types.is_numeric_dtype(column) else "l"
        alignments.append(side if longest <= _LONG else "p{6cm}")
        # a heading is broken, so that it makes its column no wider than the cells do
        width = max(_SHORTEST, min(longest, _LONG))
        lines = textwrap.wrap(heading_of(str(name)), width, break_long_words=False)
        stacked = r" \\ ".join(lines)
        heads.append(Heading(rf"\shortstack[{side}]{{{stacked}}}", 1))
    sentences = [described["caption"]]
    if "data" in table:
        data = "; ".join(dict.fromkeys(table["data"]))
        if data:
            sentences.append(f"Data: {tex(data)}")
    rows = list(zip(*columns, strict=True))
    return table_float(alignments, [heads], [rows], caption_of(sentences))


def heading_of(column: str) -> str:
    r"""A column's name in words, with its unit.

    >>> [heading_of(name) for name in ("mass_error_pct", "n_tosses", "friction_mu")]
    ['mass error (\\%)', 'tosses', '$\\mu$']
    """
    if column in _SYMBOLS:
        return _SYMBOLS[column]
    ending = next((ending for ending in _UNITS if column.endswith(ending)), "")
    name = plain(column.removesuffix(ending).removeprefix("n_"))
    return tex(f"{name} ({_UNITS[ending]})" if ending else name)


def _own_cells(column: pd.Series, words: Mapping[str, str]) -> list[str]:
    if pd.api.types.is_bool_dtype(column):
        return ["yes" if value else "no" for value in column]
    if not pd.api.types.is_numeric_dtype(column):
        return [pretty(_worded(text, words)) for text in map(str, column)]
    least = _ROUNDING * column.abs().replace(math.inf, 0.0).max()
    whole = bool((column.dropna() % 1.0 == 0.0).all())
    cells = []
    for value in column:
        is_absent = math.isnan(value)
        cells.append(_NONE if is_absent else f"${_own_number(value, least, whole)}$")
    return cells


def _worded(text: str, words: Mapping[str, str]) -> str:
    """A text in the words that ``studies.yaml`` has for it."""
    wording = words.get(text, "{}")
    # words with a place for a value are those of a condition's key
    return plain(text) if "{}" in wording else wording


def _own_number(value: float, least: float, whole: bool) -> str:
    """A number without an error, to three significant digits; what is below ``least`` is none.

    >>> [_own_number(value, 1e-9, False) for value in (0.38199, 73.0, 1234.5, 1.5e-7, 1.5e-13)]
    ['0.382', '73.0', '1230', '1.50 \\\\times 10^{-7}', '0']
    """
    if abs(value) < least or value == 0.0:
        return "0"
    if whole:
        return f"{value:.0f}"
    text = f"{value:#.3g}".rstrip(".")
    # three digits of these would be written with an exponent, which takes more room than zeros
    return f"{float(text):.0f}" if 1e3 <= abs(value) < 1e6 else in_math(text)


def _grid_lines(part: PrintedPart) -> tuple[list[str], list[list[Heading]], list[list[Line]]]:
    """A printed table's columns, lines of headings, and blocks of lines."""
    grid = part.grid
    blocks: list[list[Line]] = []
    for (headings, _), cells in zip(grid.rows, part.cells, strict=True):
        labels = [pretty(head.text) if head else "" for head in headings]
        blocks.append(_block(labels, cells))
    levels = []
    for level in grid.heads:
        levels.append([Heading("", 1)] * len(grid.corner))
        for text, span in level:
            levels[-1].append(Heading(pretty(text), span))
    # what the rows' headings tell stands beside the lowest of the columns'
    levels[-1][: len(grid.corner)] = [Heading(pretty(text), 1) for text in grid.corner]
    _, first_cells = grid.rows[0]
    alignments = ["l"] * len(grid.corner) + ["r"] * len(first_cells)
    return alignments, levels, blocks


def _block(labels: Sequence[str], cells: Sequence[Cell]) -> list[Line]:
    """A printed row's lines: the printed numbers, ours, and where one has them the ends."""
    blank = [""] * len(labels)
    printed, ours, ends = zip(*map(_cell_lines, cells), strict=True)
    lines: list[Line] = [[*labels, *printed], [*blank[1:], r"\textit{ours}", *ours]]
    if any(ends):
        lines.append([*blank, *ends])
    return lines


def _cell_lines(cell: Cell) -> tuple[str, str, str]:
    """Printed, ours with its marks, and how far ours may be off."""
    if not cell.printed:
        return _NONE, "", ""
    printed = f"${joined(cell.printed)}$"
    ours = f"${joined(cell.ours)}$" if cell.ours else _NONE
    marks = ",".join(MARKS[verdict] for verdict in cell.verdicts)
    marked = rf"{ours}$^{{\mathrm{{{marks}}}}}$"
    return printed, marked, "".join(map(_bracketed, cell.ends))


def _bracketed(ends: Sequence[str]) -> str:
    return f"[${', '.join(ends)}$]" if len(ends) > 1 else rf"[$\pm {ends[0]}$]"
