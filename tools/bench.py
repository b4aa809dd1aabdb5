"""One table of what a run's stages cost, side by side with peers, and a figure of cost against
size: ``make bench``.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bench_simulator
from bench_cost import INHAND, PLANAR, READING, SIZES, SWEEP, cost_rows, draw_cost
from bench_stages import COLUMNS, missing_peer, peer_row, peer_rows, stage_rows
from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.summary import text_table
from contactid.output.tables import write_csv

SMALL: Mapping[str, Sequence[float]] = {
    SWEEP: (2, 3), PLANAR: (30.0, 60.0), INHAND: (30, 40), READING: (1.0, 2.0),
}  # fmt: skip


def simulator_row(mirror: str, mujoco_python: str) -> dict[str, Any]:
    """The box simulator against MuJoCo on the same tosses, or why there is no comparison."""
    study, stage = "tossing", "simulator, grid over the same tosses"
    if not bench_simulator.tosses_there(mirror):
        return missing_peer(study, stage, "it needs the ContactNets tosses; set DATA_MIRROR")
    if not Path(mujoco_python).is_file():
        return missing_peer(
            study, stage, "MuJoCo's environment isn't there; make peers installs it"
        )
    train, everything = bench_simulator.problems(mirror)
    row = bench_simulator.speed_rows(train, everything, mujoco_python)[1]
    return peer_row(study, stage, row["contactid_s"], "MuJoCo", row["mujoco_s"], row["quantity"])


def markdown(table: pd.DataFrame, cost: pd.DataFrame, label: str) -> str:
    """The stages, the peers and the slopes as text."""
    # a comparison with a peer has no jobs
    stages, peers = table[table["jobs"].notna()], table[table["jobs"].isna()]
    stage_lines = []
    for row in stages.to_dict("records"):
        costs = [_short(row[name]) for name in ("seconds", "cpu_seconds", "peak_MB")]
        throughput = f"{_short(row['throughput'])} {row['unit']}"
        jobs = f"{row['jobs']:.0f}"
        stage_lines.append([row["study"], row["stage"], jobs, *costs, throughput])
    peer_lines = []
    for row in peers.to_dict("records"):
        theirs = ""
        if not pd.isna(row["peer"]):
            theirs = f"{row['peer']}: {_short(row['peer_seconds'])}"
        ours, ratio = _short(row["ours_seconds"]), _short(row["peer_over_ours"])
        peer_lines.append([row["study"], row["stage"], ours, theirs, ratio, row["note"]])
    cost_lines = []
    for stage, part in cost.groupby("stage", sort=False):
        # the smallest size comes first
        first, *_, last = part.to_dict("records")
        sizes = f"{first['size']:g} to {last['size']:g} {first['unit']}"
        least, most = (_short(row["cpu_seconds_median"]) for row in (first, last))
        cost_lines.append([str(stage), sizes, f"{least} to {most}", f"{first['slope']:.2f}"])
    return "\n\n".join(
        [
            "# Benchmarks",
            label,
            "## Stages of the run",
            text_table(
                ["study", "stage", "jobs", "wall s", "CPU s", "peak MB", "throughput"], stage_lines
            ),
            "## Beside a peer on the same problem, in the same run",
            text_table(
                ["study", "what", "ours (s)", "peer (s)", "peer / ours", "note"], peer_lines
            ),
            "## Cost against size (figures/ext_cost)",
            text_table(["stage", "sizes", "CPU s, median", "slope"], cost_lines),
        ]
    )


def _short(value: float) -> str:
    return "" if value is None or not np.isfinite(value) else f"{value:.3g}"


@told_plainly()
def main(run: str, output: str, mirror: str, mujoco_python: str, repeats: int, small: bool) -> None:
    """Read the run's files, measure peers and sizes, write the table and the figure, and print the
    table.
    """
    stages = stage_rows(run)
    record = Path(run) / "provenance.json"
    if not record.is_file():
        raise ContactIdError(f"{record} does not exist", "Finish the run first: make")
    configuration = json.loads(record.read_text(encoding="utf-8"))["configuration"]
    simulator = pd.DataFrame([simulator_row(mirror, mujoco_python)], columns=list(COLUMNS))
    parts = [part.dropna(axis=1, how="all") for part in (stages, simulator, peer_rows(run))]
    table = pd.concat(parts, ignore_index=True).reindex(columns=list(COLUMNS))
    prepared = Path(run) / "data" / configuration["tossing"]["identify_on"][-1] / "tosses.nc"
    cost = cost_rows(prepared, configuration, repeats, SMALL if small else SIZES)
    machine = f"{platform.processor() or platform.machine()}, {platform.system()}"
    label = f"run {Path(run).name}; sizes measured on {machine}, CPU time of {repeats} repeats; synthetic data"
    folder = Path(output)
    write_csv(table, folder / "bench.csv")
    write_csv(cost, folder / "figures/ext_cost.csv")
    draw_cost(cost, folder / "figures/ext_cost", label)
    text = markdown(table, cost, label)
    write_text(folder / "bench.md", text + "\n")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--run", default="results/default", help="folder of a finished run")
    parser.add_argument(
        "--output", default="results/bench", help="folder of the table and the figure"
    )
    parser.add_argument("--mirror", default="", help="folder that holds contactnets/")
    parser.add_argument(
        "--mujoco-python", default="", help="Python of the environment that MuJoCo is in"
    )
    parser.add_argument("--repeats", type=int, default=3, help="of every size")
    parser.add_argument(
        "--small",
        action="store_true",
        help="two small sizes per stage: whether it works, in seconds",
    )
    main(**vars(parser.parse_args()))
