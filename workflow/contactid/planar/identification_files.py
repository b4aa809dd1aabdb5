"""The files of the identification from synthetic throws: cells, shown throws, tables, data of figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.output.tables import read_csv, write_csv, write_tex
from contactid.planar import identification_figure_data as figures
from contactid.planar import rig_figure_data
from contactid.planar.identification_tables import error_table, failed_table, rate_table, reformulation_table
from contactid.planar.identify.cells import compare_reformulation, identify_cells, shown_fits
from contactid.planar.identify.states import read_fits, write_fits
from contactid.planar.names import IDENTIFICATION_CAPTIONS
from contactid.planar.simulate.throws import thrown_body


def with_noise(block: Mapping[str, Any], noise: Mapping[str, Any]) -> dict[str, Any]:
    """The study's block with a reading of the noise."""
    return {**block, "identification": {**block["identification"], "noise": noise}}


def write_cells(
    block: Mapping[str, Any], noise: Mapping[str, Any], friction_mu: float, seeds: Sequence[int], path: str | Path
) -> None:
    """Identify one friction under one reading of the noise at every frame rate, and write a row per seed and rate."""
    table = identify_cells(
        with_noise(block, noise),
        noise=next(iter(noise)),
        friction_mu=friction_mu,
        frames_per_second=block["identification"]["frames_per_second"],
        seeds=seeds,
    )
    write_csv(table, path)


def write_shown(block: Mapping[str, Any], noise: Mapping[str, Any], path: str | Path) -> None:
    """Identify the throws of figures 17 and 18 and write them as netCDF."""
    write_fits(shown_fits(with_noise(block, noise)), path)


def write_reformulation(
    block: Mapping[str, Any], noise: Mapping[str, Any], reformulation: str, path: str | Path
) -> None:
    """Identify the cells that all reformulations are compared on by one of them."""
    write_csv(compare_reformulation(with_noise(block, noise), reformulation), path)


def write_identification_tables(
    block: Mapping[str, Any],
    published: str | Path,
    cells: Sequence[str | Path],
    reformulations: Sequence[str | Path],
    folder: str | Path,
) -> None:
    """Write table 1 and the tables beyond it as csv and tex into ``folder/tables``."""
    body = thrown_body(block)
    truth = 1e6 * body.inertia / body.mass
    rows = pd.concat([read_csv(path) for path in cells], ignore_index=True)
    compared = {str(table["reformulation"].iloc[0]): table for table in map(read_csv, reformulations)}
    errors = error_table(rows, read_csv(published), truth)
    tables = {
        "tab01_inertia_ratio_error": errors,
        "ext_identification_by_rate": rate_table(errors),
        "ext_identification_failed": failed_table(rows),
        "ext_reformulations": reformulation_table(compared, truth),
    }
    for name, table in tables.items():
        write_csv(table, Path(folder) / "tables" / f"{name}.csv")
        write_tex(table, Path(folder) / "tables" / f"{name}.tex", caption=IDENTIFICATION_CAPTIONS[name])


def write_identification_figure_data(fits: str | Path, folder: str | Path) -> None:
    """Write the csv of every figure of the identification into ``folder/figures``."""
    shown = read_fits(fits)
    tables = Path(folder) / "tables"
    errors = read_csv(tables / "tab01_inertia_ratio_error.csv")
    data = {
        "fig17_identified_trajectories": figures.identified_trajectories(shown),
        "fig18_identified_impulses": figures.identified_impulses(shown[-1]),
        "fig19_identified_friction": figures.identified_friction(errors),
        "fig20_rig": rig_figure_data.rig(),
        "fig21_release": rig_figure_data.release(),
        "ext_identification_error": figures.identification_error(errors),
        "ext_reformulations": figures.reformulations(read_csv(tables / "ext_reformulations.csv")),
    }
    for name, table in data.items():
        write_csv(table, Path(folder) / "figures" / f"{name}.csv")
