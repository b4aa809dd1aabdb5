"""The files of the identification from throws of a real square: tables, and the throws of figures 22 and 23."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import xarray as xr

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv, write_csv, write_tex
from contactid.planar import identification_figure_data as figures
from contactid.planar.identify.states import read_fits, write_fits
from contactid.planar.names import SQUARE_CAPTIONS
from contactid.planar.squares.identification import (
    POOLED,
    SquareOptions,
    SquareWindows,
    identify_window,
    left_out_table,
    shown_throws,
    square_windows,
    with_pooled,
)
from contactid.planar.squares.reasons import squares_reasons, squares_summary
from contactid.sources.motion import read_dataset

SYNTHETIC, PUBLIC = "synthetic throws of a square", "public throws of a square"
_FEWEST_SHARE = 4  # throws that must lie on each side, as a share of a small set


def options_for(data: xr.Dataset) -> SquareOptions:
    """Options with as many throws at rest on each side as a small set can have."""
    plain = SquareOptions()
    fewest = min(plain.throw.fewest_at_rest, data.sizes["throw"] // _FEWEST_SHARE)
    return replace(plain, throw=replace(plain.throw, fewest_at_rest=fewest))


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


def write_square_part(data: str | Path, path: str | Path, *, part: int = 0, parts: int = 1) -> None:
    """Identify a share of the usable throws of a canonical netCDF file by themselves; a csv row each."""
    dataset = read_dataset(data)
    options = options_for(dataset)
    usable = square_windows(dataset, options)
    table, _ = identify_window(usable, part_of(usable, part, parts), options)
    write_csv(table, path)


def write_squares(
    data: str | Path, parts: Sequence[str | Path], tables: str | Path, fits: str | Path, *, shown: int = 3
) -> None:
    """Write the throws' table with the pooled row, those left out, and the shown throws.

    Parameters
    ----------
    data
        Canonical netCDF file of the throws.
    parts
        What :func:`write_square_part` wrote.
    tables
        Folder of ``ext_real_squares`` and ``ext_real_squares_left_out`` (csv and tex).
    fits
        netCDF file of the shown throws.
    shown
        Number of throws to show.
    """
    dataset = read_dataset(data)
    options = options_for(dataset)
    usable = square_windows(dataset, options)
    throws = pd.concat([read_csv(path) for path in parts], ignore_index=True)
    table = with_pooled(usable, throws, options)
    _, found = identify_window(usable, shown_throws(table, shown), options)
    named = SYNTHETIC if dataset.attrs["synthetic"] else PUBLIC
    write_fits([replace(fit, label=f"{named}, {fit.label}") for fit in found.values()], fits)
    _write({"ext_real_squares": table, "ext_real_squares_left_out": left_out_table(usable)}, tables)


def write_square_reasons(data: str | Path, squares: str | Path, twin: str | Path, tables: str | Path) -> None:
    """Experiments on why J/m of the real square isn't the uniform one's: ``ext_real_squares_reasons`` and its words.

    Parameters
    ----------
    data, twin
        Canonical netCDF files of the throws and of the synthetic ones that are the control.
    squares
        ``ext_real_squares`` of the throws.
    tables
        Folder of the table (csv and tex) and of ``ext_real_squares_reasons.md``.
    """
    dataset, table = read_dataset(data), read_csv(squares)
    options = options_for(dataset)
    experiments = squares_reasons(
        dataset, square_windows(dataset, options), table, twin=read_dataset(twin), options=options
    )
    _write({"ext_real_squares_reasons": experiments}, tables)
    write_text(Path(tables) / "ext_real_squares_reasons.md", squares_summary(table, experiments))


def write_square_figure_data(fits: str | Path, squares: str | Path, folder: str | Path) -> None:
    """The csv of figures 22 and 23 and of the throws' J/m; only throws that count are shown."""
    shown, table = read_fits(fits), read_csv(squares)
    counted = table[(table["throw"] == POOLED) | (table["counted"].astype(str) == "True")]
    data = {
        "fig22_real_throw": figures.real_throw(shown[0], outlines=6),
        "fig23_real_impulses": figures.real_impulses(shown[0]),
        "ext_real_squares": figures.real_squares(counted),
    }
    named = shown[0].label.split(",")[0]
    for name, content in data.items():
        content["source"] = f"{named}, identified by contactid planar"
        write_csv(content, Path(folder) / f"{name}.csv")


def _write(tables: Mapping[str, pd.DataFrame], folder: str | Path) -> None:
    for name, table in tables.items():
        write_csv(table, Path(folder) / f"{name}.csv")
        write_tex(table, Path(folder) / f"{name}.tex", caption=SQUARE_CAPTIONS[name])
