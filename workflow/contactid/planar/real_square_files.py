"""The files of the identification from throws of a real square: tables, and the throws of figures 22 and 23."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from contactid.atomic import write_text
from contactid.datasets.motion import read_dataset
from contactid.errors import ContactIdError
from contactid.planar.fit_files import write_fits
from contactid.planar.real_square_reasons import ReasonOptions, squares_reasons, squares_summary
from contactid.planar.real_squares import (
    SquareOptions,
    SquareWindows,
    identify_window,
    left_out_table,
    shown_throws,
    square_windows,
    with_pooled,
)
from contactid.tables import read_csv, write_csv, write_tex

CAPTIONS = {
    "ext_real_squares": "Beyond the paper: J/m and friction from each throw of a real square, last row from several",
    "ext_real_squares_left_out": "Beyond the paper: throws of a real square without a usable first impact",
    "ext_real_squares_reasons": "Beyond the paper: experiments on why J/m of the real square isn't the uniform one's",
}


def part_of(usable: SquareWindows, part: int, parts: int) -> list[str]:
    """Names of every ``parts``-th usable throw, from number ``part`` (from 0): a cluster's share of the work.

    Raises
    ------
    ContactIdError
        Where there is no such part.
    """
    if not 0 <= part < parts:
        raise ContactIdError(f"part {part} of {parts} of the throws", "Count parts from 0")
    return [window.name for window in usable.windows[part::parts]]


def write_square_part(
    data: str | Path, path: str | Path, *, part: int = 0, parts: int = 1, options: SquareOptions | None = None
) -> None:
    """Identify a share of the usable throws of a canonical netCDF file by themselves; a csv row each."""
    usable = square_windows(read_dataset(data), options)
    table, _ = identify_window(usable, part_of(usable, part, parts), options)
    write_csv(table, path)


def write_squares(
    data: str | Path,
    tables: str | Path,
    fits: str | Path,
    *,
    parts: Sequence[str | Path] = (),
    twin: str | Path | None = None,
    most: int | None = None,
    shown: int = 3,
    options: SquareOptions | None = None,
    reasons: ReasonOptions | None = None,
) -> None:
    """Write all tables as csv and tex, their summary, and the shown throws.

    Parameters
    ----------
    data
        Canonical netCDF file of the throws.
    tables
        Folder of ``ext_real_squares``, ``ext_real_squares_left_out`` and ``ext_real_squares_reasons`` (csv and tex),
        and of ``ext_real_squares.md``.
    fits
        netCDF file of the shown throws.
    parts
        What :func:`write_square_part` wrote; without, everything is identified here.
    twin
        Canonical netCDF file of the synthetic twin, the control.
    most
        Usable throws that are identified, spread evenly; None: all. Not with ``parts``.
    shown
        Number of throws to show.
    options, reasons
        As throws are identified, and the experiments' size.
    """
    dataset = read_dataset(data)
    usable = square_windows(dataset, options)
    if most is not None and not parts:
        usable = replace(usable, windows=usable.windows[:: max(1, -(-len(usable.windows) // most))])
    if parts:
        throws = pd.concat([read_csv(path) for path in parts], ignore_index=True)
    else:
        throws, _ = identify_window(usable, [window.name for window in usable.windows], options)
    table = with_pooled(usable, throws, options)
    _, found = identify_window(usable, shown_throws(table, shown), options)
    write_fits(list(found.values()), fits)
    control = None if twin is None else read_dataset(twin)
    experiments = squares_reasons(dataset, usable, table, twin=control, options=options, reasons=reasons)
    results = {
        "ext_real_squares": table,
        "ext_real_squares_left_out": left_out_table(usable),
        "ext_real_squares_reasons": experiments,
    }
    for name, result in results.items():
        write_csv(result, Path(tables) / f"{name}.csv")
        write_tex(result, Path(tables) / f"{name}.tex", caption=CAPTIONS[name])
    write_text(Path(tables) / "ext_real_squares.md", squares_summary(table, experiments))
