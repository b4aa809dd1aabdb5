"""Seconds, memory and throughput of a run's stages, from its benchmark files, and peers timed in
the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.inhand.identify.methods import FACTOR_GRAPH, LIKELIHOOD
from contactid.output.tables import read_csv
from contactid.run.records import read_benchmarks

STUDIES = ("tossing", "planar", "arm", "inhand")
COLUMNS = (
    "study", "stage", "jobs", "seconds", "cpu_seconds", "peak_MB", "throughput", "unit", "ours_seconds", "peer",
    "peer_seconds", "peer_over_ours", "note",
)  # fmt: skip
# stages that belong to no study
_SHARED = "all"


@dataclass(frozen=True)
class Items:
    """What a stage works through: files below the run's folder, and how many items one of them
    holds.
    """

    files: str
    unit: str
    count: Callable[[Path], float]


def _rows(file: Path) -> float:
    return len(pd.read_csv(file))


def _grid(file: Path) -> float:
    """Tosses by grid points of the coarse sweep, which every variant has; sweeps over impacts hold
    no tosses.
    """
    if file.stem.endswith(".finest"):
        return 0.0
    with xr.open_dataset(file, engine="h5netcdf") as sweep:
        n_points = sweep.sizes["friction_mu"] * sweep.sizes["restitution_e_n"]
        return sweep.sizes.get("toss", 0) * n_points


_ITEMS: Mapping[str, Items] = {
    "tossing_identify_1": Items("tossing/sweeps/*.nc", "simulated tosses per CPU second", _grid),
    "tossing_preprocess": Items("data/*/tosses.csv", "tosses per CPU second", _rows),
    "planar_identify": Items("planar/identification/*.mu*.csv", "throws per CPU minute", _rows),
    "planar_squares": Items("planar/sweeps/squares.csv", "impacts per CPU minute", _rows),
    "arm_fit_samples": Items("arm/fits/samples_*.csv", "fits per CPU minute", _rows),
    "inhand_estimate": Items("inhand/fits/*.csv", "estimates per CPU minute", _rows),
}


def stage_rows(run: str | Path) -> pd.DataFrame:
    """A row per stage (rule) of a run: wall and CPU seconds of all its jobs, and the largest job's
    memory.

    Raises :class:`ContactIdError` where the run has no benchmark files.
    """
    root = Path(run)
    rows = []
    for stage, part in read_benchmarks(root).groupby("rule"):
        cpu = float(part["cpu_seconds"].sum())
        wall = float(part["seconds"].sum())
        # a job too short to be measured has no time at all
        throughput, unit = 60.0 * len(part) / max(wall, 1e-9), "jobs per minute"
        items = _ITEMS.get(str(stage))
        if items is not None and cpu > 0.0:
            n_done = sum(items.count(file) for file in root.glob(items.files))
            per = 60.0 if "minute" in items.unit else 1.0
            throughput, unit = per * n_done / cpu, items.unit
        study = str(stage).partition("_")[0]
        rows.append(
            {
                "study": study if study in STUDIES else _SHARED,
                "stage": stage,
                "jobs": len(part),
                "seconds": wall,
                "cpu_seconds": cpu,
                "peak_MB": float(part["memory_mb"].max()),
                "throughput": throughput,
                "unit": unit,
            }
        )
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    order = {study: number for number, study in enumerate((*STUDIES, _SHARED))}
    keyed = table.assign(order=table["study"].map(order)).sort_values(
        ["order", "seconds"], ascending=[True, False]
    )
    return keyed.drop(columns="order").reset_index(drop=True)


def peer_rows(run: str | Path) -> pd.DataFrame:
    """Peers that the run itself timed beside ours: a row per peer, or one with the reason why there
    is none.
    """
    tables = {
        ("planar", "one time step"): ("planar/tables/ext_nlp_step.csv", _nlp_step),
        ("planar", "identification of one throw"): (
            "planar/tables/ext_reformulations.csv",
            _reformulations,
        ),
        ("inhand", "one estimate"): ("inhand/tables/ext_speed.csv", _estimate),
    }
    rows: list[dict[str, Any]] = []
    for (study, stage), (file, read) in tables.items():
        path = Path(run) / file
        if not path.is_file():
            rows.append(missing_peer(study, stage, f"the run has no {file}"))
            continue
        timed = read(read_csv(path))
        rows += [peer_row(study, stage, *peer) for peer in timed]
        if not timed:
            reason = "no two solvers converged on the same problem"
            rows.append(missing_peer(study, stage, reason))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def peer_row(
    study: str, stage: str, ours: float, peer: str, theirs: float, note: str
) -> dict[str, Any]:
    """Ours against a peer on the same problem, s."""
    return {
        "study": study,
        "stage": stage,
        "ours_seconds": ours,
        "peer": peer,
        "peer_seconds": theirs,
        "peer_over_ours": theirs / ours,
        "note": note,
    }


def missing_peer(study: str, stage: str, reason: str) -> dict[str, Any]:
    """The row of a comparison that couldn't be made."""
    return {"study": study, "stage": stage, "note": f"no peer: {reason}"}


def _nlp_step(table: pd.DataFrame) -> list[tuple[float, str, float, str]]:
    row = table.iloc[0]
    step = f"h = {row['time_step_ms']:g} ms"
    note = f"exact step against the paper's nonlinear program on IPOPT, {step}"
    ours, theirs = float(row["seconds_per_step_exact"]), float(row["seconds_per_step_nlp"])
    return [(ours, "nonlinear program", theirs, note)]


def _reformulations(table: pd.DataFrame) -> list[tuple[float, str, float, str]]:
    first = table.iloc[0]
    # of the same throws from the same start
    is_alike = (table["throws"] == first["throws"]) & (table["start"] == first["start"])
    ours = float(first["seconds_median"])
    peers = []
    for row in table[is_alike].to_dict("records")[1:]:
        converged = f"{int(row['n_converged'])} of {int(row['n'])} converged"
        note = f"against {first['reformulation']}; {converged}"
        peers.append((ours, row["reformulation"], float(row["seconds_median"]), note))
    return peers


def _estimate(table: pd.DataFrame) -> list[tuple[float, str, float, str]]:
    good = table[table["converged"].astype(bool)]
    seconds = good.pivot_table(index="samples", columns="solver", values="seconds")
    if not {LIKELIHOOD, FACTOR_GRAPH} <= set(seconds.columns):
        return []
    both = seconds[[LIKELIHOOD, FACTOR_GRAPH]].dropna()
    if both.empty:
        return []
    samples = int(np.max(both.index.to_numpy()))
    row = both.to_dict("index")[samples]
    note = f"our estimate by likelihood against the paper's factor graph, {samples} samples"
    return [(float(row[LIKELIHOOD]), "factor graph", float(row[FACTOR_GRAPH]), note)]
