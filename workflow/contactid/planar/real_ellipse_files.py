"""The files of the real ellipse impacts: tables and the data of their figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contactid.output.tables import write_csv, write_tex
from contactid.planar.identify.impact_laws import ellipse_tables
from contactid.planar.names import REAL_ELLIPSE_CAPTIONS
from contactid.sources.motion import read_dataset


def write_ellipse(data: str | Path, seeds: Sequence[int], folder: str | Path) -> None:
    """Identify and predict measured impacts, and write every table of ``REAL_ELLIPSE_CAPTIONS`` and the figure's csv.

    Parameters
    ----------
    data
        Canonical netCDF of :mod:`contactid.planar.readers.impacts`.
    seeds
        One random half for training each.
    folder
        The study's results.
    """
    tables = ellipse_tables(read_dataset(data), seeds)
    impacts = tables.pop("ext_real_ellipse_impacts")
    for name, caption in REAL_ELLIPSE_CAPTIONS.items():
        write_csv(tables[name], Path(folder) / "tables" / f"{name}.csv")
        write_tex(tables[name], Path(folder) / "tables" / f"{name}.tex", caption=caption)
    write_csv(impacts, Path(folder) / "figures" / "ext_real_ellipse.csv")
