"""Run parts of the tests, and close with a table: what was run, what was left out, and why.

``python tools/parts.py ci`` is ``.ci/run``'s selection, short slices two at a time, ``nightly`` is
the rest (``make nightly``), and names run those alone, whole, one after the other. With
``REQUIRE=all`` in the environment a part that is left out, or a test that is skipped, is a failure.
Where ``GITHUB_STEP_SUMMARY`` names a file, as on GitHub, the table is on the job's page, too.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).parents[1]
PYTEST = "{python} -m pytest -n0 "
_LINE = re.compile(r"\d+ (?:passed|failed|error|skipped|deselected)\b.* in [\d.]+s")
_SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] \S+: (.*)")


def _data() -> str:
    folder = Path(os.environ.get("DATA_MIRROR") or ROOT / "../shared/data")
    return "" if folder.is_dir() else "no public data (DATA_MIRROR names their folder)"


def _server() -> str:
    folder = Path(os.environ.get("FOURTU_SERVER") or ROOT / "../shared/tools/4tu-server")
    if (folder / "server.sh").is_file():
        return ""
    return "no tool that starts a 4TU server (FOURTU_SERVER names its folder)"


def _slurm() -> str:
    tool = Path(os.environ.get("SLURM_TOOL") or ROOT / "../shared/tools/slurm/start-slurm.sh")
    return "" if tool.is_file() else "no tool that starts a Slurm (SLURM_TOOL names it)"


def _browser() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    return "" if found else "no Chromium (CHROMIUM names one)"


def _ipopt() -> str:
    if shutil.which("ipopt"):
        return ""
    return "no ipopt on PATH (it is in envs/environment.yaml, from conda-forge)"


def builder() -> str:
    """The program that builds containers here; '' where none is, or none that works."""
    # docker and podman may be there without a daemon
    for words in (("docker", "info"), ("podman", "info"), ("apptainer", "--version")):
        is_there = shutil.which(words[0]) is not None
        if is_there and subprocess.run(words, capture_output=True).returncode == 0:
            return words[0]
    return ""


def _builder() -> str:
    return "" if builder() else "no docker, podman or apptainer that works here"


def _anything() -> str:
    return ""


@dataclass(frozen=True)
class Part:
    """What a part holds, its command, why it can't be run here ('' if it can), and its slice in
    ``.ci/run``.
    """

    holds: str
    command: str
    lacks: Callable[[], str] = _anything
    slice: str = ""


PARTS = {
    "public": Part("real public data", "make test-public", _data, "short"),
    "server": Part(
        "downloads from a real 4TU server",
        "make test-server",
        _server,
        "asked_for or newest or had_is_said",
    ),
    "robustness": Part(
        "kills, full disks, two runs, cores and hash seeds",
        "make test-robustness",
        slice="missing or file_where or read_only",
    ),
    "lineage": Part(
        "every dataset moved, and what follows from it made again", "make test-lineage"
    ),
    "bundle": Part(
        "bundles, attacks on them, RO-Crate",
        "make test-bundle",
        slice="not made_again and not hostile",
    ),
    "package": Part(
        "wheel and source archive in a new environment", "make test-package", slice="not identify"
    ),
    "container": Part("the containers' recipes", "make test-container", _builder),
    # `make test` begins with it, and finds its answers kept; without them it would keep one core waiting
    "lint": Part("formatting, lint, types", "make lint"),
    "test": Part("all that needs none of these", "make test"),
    "docs": Part("the documentation's site, built strictly, with its notebooks", "make docs"),
    "report": Part("the report in a browser", "make test-report", _browser, "questions"),
    "slurm": Part("runs through a real Slurm", "make test-slurm", _slurm),
    "peers": Part(
        "other simulators",
        f"make peers && {PYTEST} tests/tossing/test_peers.py tests/arm/test_impacts_of_mujoco.py",
    ),
    "ipopt": Part(
        "an ipopt executable beside CasADi's", f"{PYTEST} tests/core/test_solve.py", _ipopt
    ),
    "processor": Part("another processor's arithmetic, emulated", "make other-processor"),
    "fuzz": Part(
        "new random files for every reader",
        f"FUZZ_SECONDS=10 {PYTEST} --hypothesis-profile=search tests/sources/test_reader_fuzz.py",
    ),
}
# the longest first, so that none of them is last beside nothing
_SLICES = ("package", "bundle", "lint", "public", "server", "robustness", "container")
CI = (*_SLICES, "test", "report", "docs")
#: Takes all cores by itself: nothing runs beside it.
WIDE = "test"
# slices: each keeps one core busy, now and then two
_AT_ONCE = 2
_SHOWING = Lock()


@dataclass(frozen=True)
class Ran:
    """How a part ended: why it was left out or '', exit status, pytest's last line, reasons and
    numbers of skips.
    """

    left_out: str = ""
    status: int = 0
    line: str = ""
    skipped: tuple[tuple[str, int], ...] = ()
    minutes: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return not (self.left_out or self.skipped)

    @property
    def result(self) -> str:
        """One cell of the table."""
        if self.left_out:
            return f"left out: {self.left_out}"
        ended = f"FAILED ({self.status}) {self.line}" if self.status else self.line or "done"
        skips = [f"{number} left out: {reason}" for reason, number in self.skipped]
        return "; ".join([ended, *skips])


def run(command: str, options: str = "", *, at_end: bool = False, **environment: str) -> Ran:
    """Run a part's command, show what it prints, ``at_end`` all of it at once, and keep what the
    table needs.
    """
    begin, line, skipped = time.monotonic(), "", dict[str, int]()
    waiting = [f"\n{command}\n"]
    addopts = " ".join(filter(None, (os.environ.get("PYTEST_ADDOPTS"), "-rs", options)))
    with subprocess.Popen(
        command.replace("{python}", sys.executable),
        shell=True,
        cwd=ROOT,
        env=os.environ | {"PYTEST_ADDOPTS": addopts} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for text in process.stdout or ():
            if at_end:
                waiting.append(text)
            else:
                print(text, end="", flush=True)
            if summary := _LINE.search(text):
                line = summary[0]
            if skips := _SKIPPED.match(text):
                skipped[skips[2]] = skipped.get(skips[2], 0) + int(skips[1])
    if at_end:
        with _SHOWING:
            print("".join(waiting), end="", flush=True)
    return Ran(
        "", process.returncode, line, tuple(skipped.items()), (time.monotonic() - begin) / 60
    )


def run_parts(names: Sequence[str], *, sliced: bool, kept: Path) -> dict[str, Ran]:
    """Run them in order, slices two at a time: each keeps one core busy, now and then two.

    The report in a browser is that of the tests' own run, where they were among them.
    """

    def run_part(name: str) -> Ran:
        part, options, environment = PARTS[name], "", {}
        if sliced and part.slice:
            options = f"-k '{part.slice}'"
        if name == "test":
            options = f"--basetemp={kept / 'tests'}"
        elif name == "report" and (
            pages := sorted(kept.glob("tests/**/repository*/results/test/report.html"))
        ):
            environment = {"PAGE": str(pages[0])}
        lacks = part.lacks()
        if lacks:
            return Ran(left_out=lacks)
        beside_another = sliced and name != WIDE
        return run(part.command, options, at_end=beside_another, **environment)

    ran = dict[str, Ran]()
    with ThreadPoolExecutor(_AT_ONCE if sliced else 1) as pool:
        for _, group in groupby(names, lambda name: name == WIDE):
            together = tuple(group)
            ran |= dict(zip(together, pool.map(run_part, together), strict=True))
    return ran


def table(ran: dict[str, Ran], sliced: bool) -> str:
    """What was run, and what was left out and why."""
    rows = [["part", "holds", "minutes", "result"]]
    for name, ended in ran.items():
        short = " (a short slice)" if sliced and PARTS[name].slice else ""
        rows.append([name, PARTS[name].holds + short, f"{ended.minutes:.1f}", ended.result])
    for name, part in PARTS.items():
        if name not in ran:
            rows.append([name, part.holds, "", "not asked for"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    return "\n".join([lines[0], re.sub(r"[^|]", "-", lines[0]), *lines[1:]])


def main(arguments: list[str]) -> int:
    """Run ``ci``, ``nightly`` or the parts of these names; the status is that of the worst."""
    sliced = arguments == ["ci"]
    names = tuple(arguments)
    if sliced:
        names = CI
    elif arguments == ["nightly"]:
        names = tuple(PARTS)
    if unknown := sorted(set(names) - set(PARTS)):
        print(f"ERROR no part {unknown[0]!r}. Parts are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as kept:
        ran = run_parts(names, sliced=sliced, kept=Path(kept))
    closing = table(ran, sliced)
    print("", closing, "", sep="\n")
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as page:
            page.write(f"{closing}\n\n")
    if os.environ.get("REQUIRE") == "all" and (
        missing := [name for name, ended in ran.items() if not ended.complete]
    ):
        print(
            f"ERROR REQUIRE=all, and something was left out of {', '.join(missing)}",
            file=sys.stderr,
        )
        return 1
    if "test" in ran:
        print(ran["test"].line)
    return int(any(ended.status for ended in ran.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
