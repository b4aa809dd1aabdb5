"""Cost against problem size of the four heavy stages, measured here: part of ``make bench``.

Each size is solved several times, and what counts is the process's own CPU time, children included:
other processes can slow that down a little, but not as much as they stretch wall time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from bench_reading import write_large
from contactid.core.errors import ContactIdError
from contactid.inhand.identify.ours import our_estimate
from contactid.inhand.readers.twins import simulate_recording, twin_options
from contactid.output import style
from contactid.output.own_report import cpu_seconds
from contactid.planar.identify.cells import identify_cells
from contactid.sources.motion import write_motion
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.prepare.tosses import Variant, load_problem
from contactid.tossing.readers.iam_archive import stream_iam_archive
from contactid.tossing.simulate.sweep import sweep

SWEEP, PLANAR, INHAND, READING = (
    "tossing sweep",
    "planar identification",
    "in-hand estimation",
    "archive reading",
)
SIZES: Mapping[str, Sequence[float]] = {
    SWEEP: (5, 10, 20, 40),  # grid points of friction, and as many of restitution
    PLANAR: (30.0, 60.0, 120.0, 240.0),  # frames/s
    INHAND: (50, 100, 200, 400),  # samples
    READING: (4.0, 8.0, 16.0, 32.0),  # MB
}
_FRICTION = 0.3
_OBJECTS = Path(__file__).resolve().parents[1] / "workflow/resources/inhand/objects.yaml"
# of one recording
_ARCHIVE_FRAMES = 1_000


@dataclass(frozen=True)
class Task:
    """One stage at one size: ``solve`` is what is timed, for repeats numbered from 0."""

    stage: str
    size: float
    unit: str
    solve: Callable[[int], Any]


def measure(tasks: Iterator[Task], repeats: int) -> pd.DataFrame:
    """A row per task: median, least and largest CPU time over the repeats, after one that isn't
    counted per stage.
    """
    rows, warm = [], set()
    for task in tasks:
        # compiles what is compiled, imports what is imported late
        if task.stage not in warm:
            task.solve(0)
            warm.add(task.stage)
        seconds = []
        for repeat in range(repeats):
            begin = cpu_seconds()
            task.solve(repeat)
            seconds.append(cpu_seconds() - begin)
        rows.append(
            {
                "stage": task.stage,
                "size": task.size,
                "unit": task.unit,
                "repeats": repeats,
                "cpu_seconds_median": float(np.median(seconds)),
                "cpu_seconds_least": min(seconds),
                "cpu_seconds_largest": max(seconds),
            }
        )
        print(
            f"{task.stage}, {task.size:g} {task.unit}: {np.median(seconds):.3g} s of CPU time",
            flush=True,
        )
    return with_slopes(pd.DataFrame(rows))


def with_slopes(rows: pd.DataFrame) -> pd.DataFrame:
    """Add each stage's straight line through the logarithms of median time and size: ``slope`` and
    ``at_one`` (s).
    """
    slopes = {}
    for stage, part in rows.groupby("stage", sort=False):
        # what takes less than the clock's step has a logarithm all the same
        seconds = part["cpu_seconds_median"].clip(lower=1e-6)
        slope, level = np.polyfit(np.log(part["size"]), np.log(seconds), 1)
        slopes[stage] = (float(slope), float(np.exp(level)))
    return rows.assign(
        slope=[slopes[stage][0] for stage in rows["stage"]],
        at_one=[slopes[stage][1] for stage in rows["stage"]],
    )


def sweep_tasks(
    prepared: str | Path, variant: Mapping[str, Any], points: Sequence[int]
) -> Iterator[Task]:
    """Grids of several sizes over the same tosses; a size is the number of simulated tosses.

    Raises :class:`ContactIdError` where the run has no prepared tosses.
    """
    if not Path(prepared).is_file():
        raise ContactIdError(f"{prepared} does not exist", "make bench needs a finished run: make")
    problem = load_problem(prepared, None, Variant.from_config(variant), IDENTIFICATION)
    for count in points:
        axis = np.linspace(0.0, 1.0, count)
        mu, e_n = (values.ravel() for values in np.meshgrid(axis, axis, indexing="ij"))

        def solve(_: int, mu: np.ndarray = mu, e_n: np.ndarray = e_n) -> Any:
            return sweep(problem.body, problem.measured, mu, e_n, problem.options)

        yield Task(SWEEP, mu.size * len(problem.measured), "grid points x tosses", solve)


def planar_tasks(block: Mapping[str, Any], rates: Sequence[float]) -> Iterator[Task]:
    """The paper's throw at several frame rates; every repeat has noise of its own."""
    for rate in rates:

        def solve(repeat: int, rate: float = rate) -> Any:
            return identify_cells(block, _FRICTION, [rate], [repeat + 1])

        yield Task(PLANAR, rate, "frames/s", solve)


def inhand_tasks(study: Mapping[str, Any], samples: Sequence[int]) -> Iterator[Task]:
    """Our estimate of recordings of several lengths; every repeat has noise of its own."""
    block, twins = study["speed"], twin_options(study["twin"], _OBJECTS)
    for count in samples:

        def solve(repeat: int, count: int = count) -> Any:
            twin = {**twins, "samples": count}
            recording, *_ = simulate_recording(block["source"], block["object"], repeat, twin)
            return our_estimate(recording)

        yield Task(INHAND, count, "samples", solve)


def reading_tasks(folder: str, megabytes: Sequence[float]) -> Iterator[Task]:
    """Archives of several sizes, from the file to the canonical form; each is deleted after its
    turn.
    """
    for size in megabytes:
        archive, motion = f"{folder}/{size:g}.h5", f"{folder}/{size:g}.nc"
        write_large(archive, _ARCHIVE_FRAMES, 1e6 * size)

        def solve(_: int, archive: str = archive, motion: str = motion) -> Any:
            write_motion(
                stream_iam_archive(
                    archive, object="Box006", surface="ConveyorPart001", licence="CC0-1.0"
                ),
                motion,
            )

        yield Task(READING, Path(archive).stat().st_size / 1e6, "MB", solve)
        Path(archive).unlink()
        Path(motion).unlink(missing_ok=True)


def cost_rows(
    prepared: str | Path,
    configuration: Mapping[str, Any],
    repeats: int,
    sizes: Mapping[str, Sequence[float]],
) -> pd.DataFrame:
    """Measure the four stages.

    Parameters
    ----------
    prepared : prepared tosses of a run
    configuration : the run's configuration
    sizes : by stage; see :data:`SIZES`
    """
    variant = configuration["tossing"]["variants"][0]

    def tasks(folder: str) -> Iterator[Task]:
        yield from sweep_tasks(prepared, variant, [int(count) for count in sizes[SWEEP]])
        yield from planar_tasks(configuration["planar"], sizes[PLANAR])
        yield from inhand_tasks(configuration["inhand"], [int(count) for count in sizes[INHAND]])
        yield from reading_tasks(folder, sizes[READING])

    with tempfile.TemporaryDirectory() as folder:
        return measure(tasks(folder), repeats)


def draw_cost(rows: pd.DataFrame, stem: str | Path, label: str) -> None:
    """A panel per stage: median CPU time, its spread over repeats, and the line with its slope;
    logarithmic axes.
    """
    with style.styled():
        figure, panels = plt.subplots(2, 2, figsize=(style.DOUBLE_COLUMN, 4.6))
        for panel, (stage, part) in zip(
            panels.ravel(), rows.groupby("stage", sort=False), strict=True
        ):
            size, median = part["size"].to_numpy(), part["cpu_seconds_median"].to_numpy()
            spread = [median - part["cpu_seconds_least"], part["cpu_seconds_largest"] - median]
            slope, level = float(part["slope"].iloc[0]), float(part["at_one"].iloc[0])
            panel.plot(size, level * size**slope, color=style.LINE, linestyle="--", linewidth=0.8)
            panel.errorbar(
                size, median, yerr=spread, fmt="o", color=style.RELEASE, markersize=3.5, capsize=2.5
            )
            panel.set(xscale="log", yscale="log", ylabel="CPU time (s)")
            panel.set_title(str(stage), loc="left")
            panel.set_title(
                f"slope {slope:.2f}".replace("-", "\N{MINUS SIGN}"), loc="right", color=style.LINE
            )
            panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            panel.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            panel.yaxis.set_minor_formatter(NullFormatter())
            panel.set_xlabel(str(part["unit"].iloc[0]))
            # three digits of a large number would be written with an exponent
            names = [f"{value:.3g}" if value < 1000 else f"{value:,.0f}" for value in size]
            panel.set_xticks(size, names)
            panel.set_xticks([], minor=True)
            panel.grid(True, which="major", linewidth=0.3, color="#dddddd")
        style.label_data(figure, label)
        style.save(figure, stem)
        plt.close(figure)
