"""Gather a run's files of the planar study into its tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.output.tables import read_csv, write_csv, write_tex
from contactid.planar import results
from contactid.planar.names import CAPTIONS
from contactid.sources.motion import read_dataset


def write_tables(folder: str | Path, *, block: Mapping[str, Any]) -> None:
    """Write every table of :data:`CAPTIONS` as csv and tex.

    Parameters
    ----------
    folder
        The study's results.
    block
        The study's block of the configuration.
    """
    folder = Path(folder)
    motions = {name: read_dataset(folder / "simulations" / f"{name}.nc") for name in block["scenes"]}
    names = block["peaks"]["scenes"]
    peaks = {name: read_csv(folder / "sweeps" / f"{name}.peaks.csv") for name in names}
    errors = {name: read_csv(folder / "sweeps" / f"{name}.convergence.csv") for name in names}
    tables: dict[str, pd.DataFrame] = {
        "ext_energy": results.energy_table(motions),
        "ext_tangential_impulses": results.tangential_table(motions["restitution"]),
        "ext_impulse_convergence": results.convergence_table(peaks, errors),
        "ext_impact_times": results.impact_time_table(peaks, block["peaks"]["shown"]),
        "ext_liftoff": read_csv(folder / "sweeps" / "liftoff.csv"),
        "ext_nlp_step": read_csv(folder / "sweeps" / "nlp_step.csv"),
    }
    for name, table in tables.items():
        write_csv(table, folder / "tables" / f"{name}.csv")
        write_tex(table, folder / "tables" / f"{name}.tex", caption=CAPTIONS[name])
