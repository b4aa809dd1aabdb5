"""The files of the speed comparison and of the cost of finite differences, on the study's twins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core.inertia import InertialParameters
from contactid.inhand.differences import difference_rows
from contactid.inhand.readers.twin_options import TwinOptions, noise_free, twin_options
from contactid.inhand.readers.twins import simulate_recording
from contactid.inhand.speed import speed_points, speed_rows, with_lines
from contactid.output.tables import write_csv, write_tex

_SPEED = "Time of an estimate against the number of samples."
_DIFFERENCES = "Errors of noise-free estimates by scheme of finite differences and time step."


def write_speed(folder: str | Path, *, study: Mapping[str, Any]) -> None:
    """Write ``tables/ext_speed.csv`` and ``.tex`` and ``figures/ext_speed.csv`` of the block ``inhand: speed``."""
    block, twins = study["speed"], twin_options(study["twin"])

    def record(count: int) -> tuple[xr.Dataset, InertialParameters]:
        return _recording(block, replace(twins, samples=count))

    rows = speed_rows(record, block["samples"], block["repeats"], block["method"], block["solvers"], study)
    table = with_lines(rows)
    write_csv(table, Path(folder) / "tables/ext_speed.csv")
    write_tex(table, Path(folder) / "tables/ext_speed.tex", caption=_SPEED)
    label = f"synthetic data: twin {block['source']}, {block['object']}; process CPU time of this run; contactid inhand"
    write_csv(speed_points(table, label), Path(folder) / "figures/ext_speed.csv")


def write_differences(table: str | Path, *, study: Mapping[str, Any]) -> None:
    """Write ``ext_differences.csv`` and ``.tex`` of the block ``inhand: differences``."""
    block, quiet = study["differences"], noise_free(twin_options(study["twin"]))

    def record(step: float) -> tuple[xr.Dataset, InertialParameters]:
        count = round(block["duration"] / step) + 1
        return _recording(block, replace(quiet, samples=count, time_step=step))

    rows = difference_rows(record, block["time_steps"], block["methods"], study)
    write_csv(rows, table)
    write_tex(rows, Path(table).with_suffix(".tex"), caption=_DIFFERENCES)


def _recording(block: Mapping[str, Any], twins: TwinOptions) -> tuple[xr.Dataset, InertialParameters]:
    recording, truth = simulate_recording(block["source"], block["object"], block["seed"], twins)
    return recording, InertialParameters.from_vector(np.array(truth.attrs["vector"]))
