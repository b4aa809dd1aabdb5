"""Run the readers' own scripts as a rule would: main() within the job wrapper, in a process of its own."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from contactid.run.job import job
from contactid.sources.registry import Dataset

SCRIPTS = Path(__file__).parents[2] / "workflow/scripts"
_HEADROOM = 1 << 29  # bytes beyond this process's own: what a file declares must not be allocated unseen
_PATIENCE = 30.0  # s
READERS = {  # script, name of its output, registry entry
    "iam": ("read_motion", "motion", {"reader": "iam", "object": "Box006", "surface": "ConveyorPart001"}),
    "contactnets": ("read_motion", "motion", {"reader": "contactnets"}),
    "squares": ("read_planar", "data", {"reader": "planar_throws"}),
    "ellipse": ("read_planar", "data", {"reader": "planar_impacts"}),
    "arm": ("arm_read", "data", {"reader": "arm_mat"}),
}


@dataclass(frozen=True)
class Outcome:
    """What is left of a run: exit status, what the terminal showed, the log, and the files it wrote."""

    status: int | None
    terminal: str
    log: str
    files: tuple[str, ...]


def main_of(script: str) -> Callable[..., None]:
    spec = importlib.util.spec_from_file_location(script, SCRIPTS / f"{script}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


MAINS = {script: main_of(script) for script, *_ in READERS.values()}


def run_reader(reader: str, raw: Path, folder: Path) -> Outcome:
    """Read ``raw`` into ``folder / "out"``."""
    script, output, fields = READERS[reader]
    entry = asdict(Dataset(**{"name": "mine", "kind": "github", "source": str(raw), "licence": "CC0-1.0", **fields}))
    out, log, terminal = folder / "out", folder / "reader.log", folder / "terminal.txt"
    out.mkdir()
    terminal.touch()
    arguments = {"entry": entry, "raw": str(raw), output: str(out / "data.nc")}
    process = multiprocessing.get_context("fork").Process(target=_run, args=(script, arguments, log, terminal))
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


def _run(script: str, arguments: dict[str, Any], log: Path, terminal: Path) -> None:
    with terminal.open("w") as file:
        os.dup2(file.fileno(), 2)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))  # not the test runner's
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _HEADROOM, used + _HEADROOM))
    with job(script, {"dataset": "mine"}, log):
        MAINS[script](**arguments)
