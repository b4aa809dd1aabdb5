"""How well the twin's velocities are reconstructed over noise samples, and whether the search finds the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from contactid.arm.identify.accuracy import CLEAN, DETECTED, KnownImpact, known_impact
from contactid.arm.identify.reconstruction import COMPONENTS
from contactid.arm.rigid.robot import load_robot
from contactid.output import style
from contactid.output.tables import read_csv
from contactid.sources.motion import read_dataset

_TWO_SIDED = 1.959964  # standard deviations that hold 95 % of a normal distribution
_REFERENCES = {
    "map": ("against the impact map", style.RELEASE),
    "bent": ("against the map and the joints' bending", style.SIMULATED),
    "noise_free": ("against the noise-free fit", style.LINE),
}
_TICKS = (-30.0, -10.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 10.0, 30.0)  # mm/s
_ROW = 0.24  # between references of one method


def accuracy(truth: str, links: str, robot: Mapping[str, Any], samples: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Table and figure of all experiments' noise samples, :func:`contactid.arm.identify.accuracy.fit_samples`."""
    rows = pd.concat([read_csv(path) for path in samples], ignore_index=True)
    known, arm = read_dataset(truth), load_robot(links, **robot)
    noisy = with_references(rows, [known_impact(arm, known, name) for name in rows["experiment"].unique()])
    table = accuracy_table(noisy)
    return {"tables/ext_fit_accuracy": table, "figures/ext_fit_accuracy": accuracy_points(noisy, table)}


def with_references(rows: pd.DataFrame, twins: Sequence[KnownImpact]) -> pd.DataFrame:
    """Rows of :func:`contactid.arm.identify.accuracy.sample_rows` with noise, beside the references of the same fit.

    Columns ``map``, ``bent``, ``noise_free``, m/s.
    """
    references = pd.DataFrame(
        [
            {"experiment": twin.name, "component": component, **{r: float(v[k]) for r, v in twin.references.items()}}
            for twin in twins
            for k, component in enumerate(COMPONENTS)
        ]
    )
    clean = rows[rows["sample"] == CLEAN].rename(columns={"v_plus": "noise_free"})
    known = clean[["experiment", "method", "component", "noise_free"]].merge(references, on=["experiment", "component"])
    return rows[rows["sample"] != CLEAN].merge(known, on=["experiment", "method", "component"])


def accuracy_table(noisy: pd.DataFrame) -> pd.DataFrame:
    """Bias, spread and coverage by method, timing and component.

    ``noisy`` are rows of any number of experiments, with references. Gives

    ``method, timing, component, experiments, samples, failed, impact_time_error_ms, impact_time_sd_ms``; ``bias_<r>``
    (mean over the experiments of their mean errors), ``worst_bias_<r>`` (largest of them), ``coverage_<r>`` (share of
    samples whose 95 % interval holds the reference) for each reference r; ``sd`` (root mean square over experiments),
    ``worst_sd`` and ``median_se``, mm/s.
    """
    table = []
    for (method, timing, component), part in noisy.groupby(["method", "timing", "component"], sort=False):
        good = part.dropna(subset=["v_plus"])
        spread = good.groupby("experiment")["v_plus"].std(ddof=1)
        late = 1e3 * good["impact_time_error_s"]
        row = {
            "method": method, "timing": timing, "component": component,
            "experiments": part["experiment"].nunique(), "samples": len(part), "failed": len(part) - len(good),
            "impact_time_error_ms": late.mean(),
            "impact_time_sd_ms": np.sqrt((late.groupby(good["experiment"]).std(ddof=1) ** 2).mean()),
        }  # fmt: skip
        for reference in _REFERENCES:
            error = good["v_plus"] - good[reference]
            bias = 1e3 * error.groupby(good["experiment"]).mean()
            row[f"bias_{reference}_mm_s"] = bias.mean()
            row[f"worst_bias_{reference}_mm_s"] = max(bias, key=abs, default=np.nan)
            row[f"coverage_{reference}"] = float((error.abs() <= _TWO_SIDED * good["v_plus_se"]).mean())
        row["sd_mm_s"] = 1e3 * float(np.sqrt((spread**2).mean()))
        row["worst_sd_mm_s"] = 1e3 * float(spread.max())
        row["median_se_mm_s"] = 1e3 * float(good["v_plus_se"].median())
        table.append(row)
    return pd.DataFrame(table)


def accuracy_points(noisy: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Quantiles of the errors by method and component at the detected impact time, with the intervals' coverage.

    ``method, component, reference, q025, q25, q50, q75, q975`` (mm/s) ``, coverage``; references ``map`` and
    ``noise_free``.
    """
    noisy = noisy[noisy["timing"] == DETECTED].dropna(subset=["v_plus"])
    detected = table[table["timing"] == DETECTED].to_dict("records")
    covered = {(row["method"], row["component"]): row for row in detected}
    points = []
    for (method, component), part in noisy.groupby(["method", "component"], sort=False):
        for reference in _REFERENCES:
            quantiles = 1e3 * (part["v_plus"] - part[reference]).quantile([0.025, 0.25, 0.5, 0.75, 0.975]).to_numpy()
            points.append(
                {
                    "method": method, "component": component, "reference": reference,
                    **dict(zip(("q025", "q25", "q50", "q75", "q975"), quantiles, strict=True)),
                    "coverage": covered[method, component][f"coverage_{reference}"],
                    "samples": len(part),
                }
            )  # fmt: skip
    return pd.DataFrame(points)


def optima(searches: Sequence[str]) -> pd.DataFrame:
    """``ext_optimum``, from :func:`contactid.arm.identify.optimum.find_optima`.

    ``search, experiments, samples, found, share_found, random_start_share, largest_excess`` (of cost, relative).
    """
    rows = pd.concat([read_csv(path) for path in searches])
    table = rows.assign(excess=rows["cost"] / rows["reference_cost"] - 1.0).groupby("search", sort=False)
    return table.agg(
        experiments=("experiment", "nunique"),
        samples=("found", "size"),
        found=("found", "sum"),
        share_found=("found", "mean"),
        random_start_share=("random_share", "mean"),
        largest_excess=("excess", "max"),
    ).reset_index()


def confirmations(confirmations: Sequence[str]) -> pd.DataFrame:
    """``ext_fit_confirmation``, from :func:`contactid.arm.identify.optimum.find_optima`."""
    return pd.concat([read_csv(path) for path in confirmations])


def draw_accuracy(data: pd.DataFrame) -> Figure:
    """Errors of the reconstructed velocity by method: medians, quartiles and 95 % ranges, coverage written beside."""
    methods = list(dict.fromkeys(data["method"]))
    figure, panels = plt.subplots(
        1, 2, figsize=(style.DOUBLE_COLUMN, 0.42 * len(methods) + 1.3), sharey=True, squeeze=False
    )
    for axes, component in zip(panels[0], COMPONENTS[::-1], strict=True):
        part = data[data["component"] == component]
        for place, method in enumerate(methods):
            _draw_method(axes, part[part["method"] == method], float(place))
        axes.axvline(0.0, color="black", lw=0.5, zorder=0)
        axes.set_xscale("symlog", linthresh=1.0, linscale=1.6)
        axes.xaxis.set_major_locator(FixedLocator(_TICKS))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")
        axes.annotate("coverage", (1.0, 1.0), xycoords="axes fraction", fontsize=5.5, ha="left", va="bottom")
        axes.set(xlabel=rf"error of $v_{component}^+$ (mm/s)")
        axes.margins(x=0.02)
    panels[0][0].set_yticks(range(len(methods)), [method.replace("_", " ") for method in methods])
    panels[0][0].invert_yaxis()
    handles = [
        Line2D([], [], color=colour, marker="o", ms=3.0, lw=2.0, label=label) for label, colour in _REFERENCES.values()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw_method(axes: Axes, part: pd.DataFrame, place: float) -> None:
    for offset, (reference, (_, colour)) in zip((-_ROW, 0.0, _ROW), _REFERENCES.items(), strict=True):
        one = part[part["reference"] == reference]
        if one.empty:
            continue
        q025, q25, q50, q75, q975, coverage = one[["q025", "q25", "q50", "q75", "q975", "coverage"]].iloc[0]
        axes.plot([q025, q975], [place + offset] * 2, color=colour, lw=0.7)
        axes.plot([q25, q75], [place + offset] * 2, color=colour, lw=2.4)
        axes.plot([q50], [place + offset], "o", color=colour, ms=2.6)
        axes.annotate(
            f"{100.0 * coverage:.0f} %", (1.0, place + offset), xycoords=("axes fraction", "data"), fontsize=5.5,
            color=colour, ha="left", va="center", xytext=(2.0, 0.0), textcoords="offset points",
        )  # fmt: skip
