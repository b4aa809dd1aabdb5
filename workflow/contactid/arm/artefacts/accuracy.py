"""How well velocities after the impact are reconstructed on twins: on the one that methods were
chosen on, and others.

From the stored noise samples (``resources/stored/arm_accuracy``,
:mod:`contactid.arm.identify.accuracy`).
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from contactid.arm.identify.accuracy import CHOSEN_ON, HELD_OUT
from contactid.arm.identify.methods import NORMAL
from contactid.arm.identify.reconstruction import COMPONENTS
from contactid.output import style
from contactid.output.stored import read_stored

_GROUPS = {
    CHOSEN_ON: ("the twin that methods were chosen on", style.MEASURED),
    HELD_OUT: ("twins of another seed, other drives, other links", style.RELEASE),
}
_MAP = "map of links alone"
_TICKS = (-30.0, -5.0, -1.0, 0.0, 1.0, 5.0, 30.0)  # mm/s
_QUANTILES = {"q025": 0.025, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q975": 0.975}
_ROW = 0.16  # of a group, off the middle of its method
_COMPONENT_MARKS = {"x": "o", "z": "s"}
_LEVEL = 95  # %, that intervals are to hold


def accuracy(stored_accuracy: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Table and figure ``ext_fit_accuracy``, from the stored table and its provenance."""
    samples = long_form(read_stored(stored_accuracy)[0])
    return {
        "tables/ext_fit_accuracy": accuracy_table(samples),
        "figures/ext_fit_accuracy": accuracy_points(samples),
    }


def long_form(samples: pd.DataFrame) -> pd.DataFrame:
    """A row per component of rows of :func:`contactid.arm.identify.accuracy.sample_rows`; those of
    the twins that no method was chosen on stand there again, as one twin ``held_out``.
    """
    names = [str(name).removesuffix("_x") for name in samples if str(name).endswith("_x")]
    table = pd.wide_to_long(
        samples.assign(row=range(len(samples))), names, "row", "component", "_", "[xz]"
    ).reset_index()
    table["recording"] = table["twin"] + " " + table["experiment"]
    return pd.concat(
        [table, table[table["twin"] != CHOSEN_ON].assign(twin=HELD_OUT)], ignore_index=True
    )


def accuracy_table(samples: pd.DataFrame) -> pd.DataFrame:
    """Errors by twin, method and component of :func:`long_form`, in mm/s.

    ``twin, method, component, recordings, samples, failed``; ``late_ms, late_sd_ms`` of the impact
    time; ``mean_error``, ``mean_abs_error`` and ``largest_error`` (in size) of the fit;
    ``mean_abs_from_links``: of the fit from the map of the links alone, as in the paper's own
    comparison; ``links_off`` and ``described_off``: mean size of these maps' own errors; ``sd``
    (root mean square over recordings) and ``median_se``; ``coverage``: share of 95 % intervals that
    hold the truth.
    """
    table = []
    for (twin, method, component), part in samples.groupby(
        ["twin", "method", "component"], sort=False
    ):
        good = part.dropna(subset=["error"])
        error, by_recording = good["error"], good.groupby("recording")
        within = NORMAL * good["se"]
        row = {
            "twin": twin, "method": method, "component": component,
            "recordings": part["recording"].nunique(), "samples": len(part),
            "failed": len(part) - len(good), "late_ms": good["late_ms"].mean(),
            "late_sd_ms": np.sqrt((by_recording["late_ms"].std() ** 2).mean()),
            "mean_error": error.mean(), "mean_abs_error": error.abs().mean(), "largest_error": error.abs().max(),
        }  # fmt: skip
        # fit less the map, both counted from the truth
        row |= {"mean_abs_from_links": (error - good["links"]).abs().mean()}
        row |= {f"{r}_off": part[r].abs().mean() for r in ("described", "links")}
        row |= {
            "sd": np.sqrt((by_recording["error"].std() ** 2).mean()),
            "median_se": good["se"].median(),
        }
        row |= {"coverage": (error.abs() <= within).mean()}
        table.append(row)
    return pd.DataFrame(table)


def accuracy_points(samples: pd.DataFrame) -> pd.DataFrame:
    """Quantiles of the errors (mm/s) by method, component and group of twins, with their intervals'
    coverage.

    ``method, component, twin, q025, q25, q50, q75, q975, coverage, samples``. The last method is no
    fit: the map of the links alone, whose coverage is NaN.
    """
    samples = samples[samples["twin"].isin(_GROUPS)].dropna(subset=["error"])
    # the map is the same beside every method
    first = samples[samples["method"] == samples["method"].iloc[0]]
    alone = first.assign(method=_MAP, error=first["links"], se=np.nan)
    points = []
    for (method, component, twin), part in pd.concat([samples, alone]).groupby(
        ["method", "component", "twin"], sort=False
    ):
        covered = (part["error"].abs() <= NORMAL * part["se"]).mean()
        points.append(
            {
                "method": method, "component": component, "twin": twin,
                **{name: part["error"].quantile(q) for name, q in _QUANTILES.items()},
                "coverage": np.nan if method == _MAP else covered, "samples": len(part),
            }
        )  # fmt: skip
    return pd.DataFrame(points)


def draw_accuracy(data: pd.DataFrame) -> Figure:
    """Errors of the velocity by method, medians, quartiles and 95 % ranges; in a panel of its own
    the coverage.
    """
    methods = list(dict.fromkeys(data["method"]))
    figure, panels = plt.subplots(
        1, 3, figsize=(style.DOUBLE_COLUMN, 0.36 * len(methods) + 1.3), sharey=True, squeeze=False,
        width_ratios=[1.0, 1.0, 0.6],
    )  # fmt: skip
    for axes, component in zip(panels[0], COMPONENTS[::-1], strict=False):
        _draw_errors(axes, data[data["component"] == component], methods)
        axes.set_xlabel(rf"error of $v_{component}^+$ (mm/s)")
    _draw_coverage(panels[0][2], data, methods)
    panels[0][0].set_yticks(range(len(methods)), [method.replace("_", " ") for method in methods])
    panels[0][0].set_ylim(len(methods) - 0.5, -0.5)
    handles = [
        Line2D([], [], color=colour, marker="o", ms=3.0, lw=2.0, label=_GROUPS[twin][0])
        for twin, _, colour in _shown_groups(data)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _shown_groups(data: pd.DataFrame) -> list[tuple[str, float, str]]:
    """The groups of twins that there are: name, place beside the middle of a method's row, colour."""
    names = [twin for twin in _GROUPS if twin in set(data["twin"])]
    places = (-_ROW, _ROW) if len(names) > 1 else (0.0,)
    return [(twin, place, _GROUPS[twin][1]) for twin, place in zip(names, places, strict=True)]


def _draw_errors(axes: Axes, data: pd.DataFrame, methods: list[str]) -> None:
    for twin, offset, colour in _shown_groups(data):
        part = data[data["twin"] == twin]
        rows = part["method"].map(methods.index) + offset
        axes.hlines(rows, part["q025"], part["q975"], color=colour, lw=0.7)
        axes.hlines(rows, part["q25"], part["q75"], color=colour, lw=2.4)
        axes.plot(part["q50"], rows, "o", color=colour, ms=2.6)
    axes.axvline(0.0, color="black", lw=0.5, zorder=0)
    axes.set_xscale("symlog", linthresh=1.0, linscale=1.6)
    axes.xaxis.set_major_locator(FixedLocator(_TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.02)


def _draw_coverage(axes: Axes, data: pd.DataFrame, methods: list[str]) -> None:
    """Share of 95 % intervals that hold the truth, a mark by component."""
    for twin, offset, colour in _shown_groups(data):
        for component, mark in _COMPONENT_MARKS.items():
            part = data[(data["twin"] == twin) & (data["component"] == component)].dropna(
                subset=["coverage"]
            )
            rows = part["method"].map(methods.index) + offset
            axes.plot(100.0 * part["coverage"], rows, mark, color=colour, ms=4.0, mfc="none")
    axes.axvline(_LEVEL, color="black", lw=0.5, zorder=0)
    marks = [Line2D([], [], color="black", ls="", marker=mark, ms=4.0, mfc="none", label=rf"$v_{component}^+$")
             for component, mark in _COMPONENT_MARKS.items()]  # fmt: skip
    axes.legend(handles=marks, loc="lower left", handlelength=0.8)
    axes.set(xlim=(0.0, 105.0), xlabel="coverage (%)")
