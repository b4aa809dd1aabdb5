"""Read data as the rule does: within the job wrapper, in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from contactid.run.job import job
from contactid.sources.motion import read_data
from contactid.sources.registry import READERS, Dataset

_HEADROOM = (
    1 << 29
)  # bytes beyond this process's own: what a file declares must not be allocated unseen
_PATIENCE = 30.0  # s
ENTRIES = {  # fields of a registry entry for each reader
    "iam": {"reader": "iam", "object": "Box006", "surface": "ConveyorPart001"},
    "contactnets": {"reader": "contactnets"},
    "author_plots": {"reader": "author_plots"},
    "squares": {"reader": "planar_throws"},
    "ellipse": {"reader": "planar_impacts"},
    "arm": {"reader": "arm_mat"},
}


@dataclass(frozen=True)
class Outcome:
    """What is left of a run: exit status, what the terminal showed, the log, and the files it
    wrote.
    """

    status: int | None
    terminal: str
    log: str
    files: tuple[str, ...]


def entry(reader: str, raw: Path, **changes: str) -> Dataset:
    fields = {
        "name": "mine",
        "kind": "github",
        "source": str(raw),
        "licence": "CC0-1.0",
        **ENTRIES[reader],
    }
    return Dataset(**{**fields, **changes})


def read(dataset: Dataset, raw: Path, data: Path) -> None:
    """As the rule read_data does."""
    read_data(READERS[dataset.reader].read, asdict(dataset), str(raw), str(data))


def run_reader(reader: str, raw: Path, folder: Path) -> Outcome:
    """Read ``raw`` into ``folder / "out"``."""
    out, log, terminal = folder / "out", folder / "reader.log", folder / "terminal.txt"
    out.mkdir()
    terminal.touch()
    process = multiprocessing.get_context("fork").Process(
        target=_run, args=(entry(reader, raw), raw, out / "data.nc", log, terminal)
    )
    process.start()
    process.join(_PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()
    return Outcome(
        process.exitcode,
        terminal.read_text(),
        log.read_text() if log.exists() else "",
        tuple(sorted(file.name for file in out.iterdir())),
    )


def _run(dataset: Dataset, raw: Path, data: Path, log: Path, terminal: Path) -> None:
    with terminal.open("w") as file:
        os.dup2(file.fileno(), 2)
    sys.stdout, sys.stderr = (
        os.fdopen(number, "w", closefd=False) for number in (1, 2)
    )  # not the test runner's
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _HEADROOM, used + _HEADROOM))
    with job("read_data", {"dataset": "mine"}, log):
        read(dataset, raw, data)
