"""What sweeps over the time step and friction show: figures 6 to 8 and 10, and the tables beside
them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.tables import read_csv

_CONVERGED_FROM = 1e-3  # s: IGC's peaks are judged at and below this time step
IRC, IGC = "IRC", "IGC"  # impulse-restitution and impulse-gap complementarity
_MODELS = {"IRC": (style.LINE, "o", 2.5), "IGC": (style.RELEASE, "s", 3.0)}
_STEPS = ((style.LINE, "o"), (style.RELEASE, "s"), (style.ACCENT, "^"), (style.SIMULATED, "D"))
_NAMED = 0.02  # of the largest impulse: weight carried in one step is smaller, and isn't spelt out
_MOST_NAMED = 3


def swept_figures(
    drop_peaks: str, drop_impulses: str, throw_peaks: str, throw_impulses: str
) -> dict[str, pd.DataFrame]:
    """Figures 6 and 7, the dropped ellipse, 8 and 10, the thrown one."""
    shown = ["time_step_ms", "model", "peak_impulse_ns", "limit_ns"]
    return {
        "figures/fig06_drop_peaks": read_csv(drop_peaks)[shown],
        "figures/fig07_drop_impulses": read_csv(drop_impulses),
        "figures/fig08_throw_peaks": read_csv(throw_peaks)[shown],
        "figures/fig10_throw_impulses": read_csv(throw_impulses),
    }


def impulse_tables(
    peaks: Sequence[str], errors: Sequence[str], peak_scenes: Sequence[str], shown: Sequence[float]
) -> dict[str, pd.DataFrame]:
    """``ext_impulse_convergence`` and ``ext_impact_times``; ``shown`` are time steps, s."""
    found = dict(zip(peak_scenes, map(read_csv, peaks), strict=True))
    errors_found = dict(zip(peak_scenes, map(read_csv, errors), strict=True))
    return {
        "tables/ext_impulse_convergence": convergence_table(found, errors_found),
        "tables/ext_impact_times": impact_time_table(found, shown),
    }


def swept_tables(liftoff: str, nlp_step: str) -> dict[str, pd.DataFrame]:
    """``ext_liftoff`` and ``ext_nlp_step``, as :mod:`contactid.planar.sweeps` found them."""
    return {"tables/ext_liftoff": read_csv(liftoff), "tables/ext_nlp_step": read_csv(nlp_step)}


def convergence_table(
    peaks: Mapping[str, pd.DataFrame], errors: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Order of convergence, error at customary time steps, and spread of the peaks, per scene and
    model.

    The order of the IRC is that of the error over many neighbouring time steps; the IGC's is fitted
    to single ones. ``split`` is the share of the first impact's impulse that is left to its second
    instant.
    """
    rows = []
    for (scene, table), model in itertools.product(peaks.items(), (IRC, IGC)):
        part = table[table["model"] == model].sort_values("time_step_ms")
        limit = float(part["limit_ns"].iloc[0])
        tried = (
            part.assign(error_rms_ns=(part["peak_impulse_ns"] - limit).abs())
            if model == IGC
            else errors[scene]
        )
        order, spread = order_of(tried["time_step_ms"].to_numpy(), tried["error_rms_ns"].to_numpy())
        # 1 ms itself among them, but for rounding
        fine = part[part["time_step_ms"] <= 1e3 * _CONVERGED_FROM * (1.0 + 1e-9)]
        relative = 100.0 * (fine["peak_impulse_ns"] / limit - 1.0)
        rows.append(
            {
                "scene": scene,
                "model": model,
                "limit_ns": limit,
                "time_steps": len(part),
                "shortest_ms": part["time_step_ms"].iloc[0],
                "longest_ms": part["time_step_ms"].iloc[-1],
                "order": order,
                "order_se": spread,
                "error_pct_up_to_1_ms_median": relative.abs().median(),
                "error_pct_up_to_1_ms_largest": relative.abs().max(),
                "peak_least_ns": part["peak_impulse_ns"].min(),
                "peak_largest_ns": part["peak_impulse_ns"].max(),
                "split_median": float(
                    (1.0 - part["peak_impulse_ns"] / part["total_impulse_ns"]).median()
                ),
            }
        )
    return pd.DataFrame(rows)


def impact_time_table(peaks: Mapping[str, pd.DataFrame], shown: Sequence[float]) -> pd.DataFrame:
    """Impact times of figures 7 and 10, by the IRC."""
    rows = []
    for scene, table in peaks.items():
        part = table[(table["model"] == IRC)]
        for h in shown:
            near = part.iloc[(part["time_step_ms"] - 1e3 * h).abs().argmin()]
            if abs(near["time_step_ms"] - 1e3 * h) < 1e-6 * h:
                rows.append((scene, 1e3 * h, near["impact_time_ms"], near["peak_impulse_ns"]))
    return pd.DataFrame(
        rows, columns=["scene", "time_step_ms", "impact_time_ms", "peak_impulse_ns"]
    )


def order_of(time_steps: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """Slope of log error over log time step, with its standard error: the order of convergence."""
    x, y = np.log(time_steps), np.log(errors)
    # a line through the means has the slope x . y / x . x
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    left = y - y.mean() - slope * x
    return slope, float(np.sqrt(left @ left / max(len(x) - 2, 1) / (x @ x)))


def draw_peaks(data: pd.DataFrame, *, limit: str) -> Figure:
    """Figures 6 and 8: peak of the normal impulse against the time step; ``limit`` names the line
    it should tend to.
    """
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.5))
    value = float(data["limit_ns"].iloc[0])
    axes.axhline(value, color="black", ls="--", lw=0.7, zorder=1, label=f"{limit}, {value:.1f} N s")
    for model, (colour, marker, size) in _MODELS.items():
        part = data[data["model"] == model].sort_values("time_step_ms")
        missing = int(part["peak_impulse_ns"].isna().sum())
        label = model + (f" ({missing} of {len(part)} not solved)" if missing else "")
        axes.plot(
            part["time_step_ms"], part["peak_impulse_ns"], color=colour, marker=marker, ms=size, lw=0.8, label=label,
            zorder=3 if model == "IRC" else 2,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=r"time step $h$ (ms)", ylabel=r"largest impulse $c_n$ (N s)")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles[1:] + handles[:1], labels[1:] + labels[:1], loc="outside upper center", ncols=2
    )
    return figure


def draw_impulses(data: pd.DataFrame) -> Figure:
    """Figures 7 and 10: normal impulses around the first impact, IRC (a) and IGC (b), for several
    time steps.
    """
    figure, panels = plt.subplots(
        1, 2, figsize=(style.DOUBLE_COLUMN * 0.85, 2.4), sharex=True, sharey=True
    )
    top = float(data["impulse_ns"].max())
    for letter, model, axes in zip("ab", _MODELS, panels, strict=True):
        part = data[data["model"] == model]
        for place, (_, run) in enumerate(part.groupby("time_step_ms")):
            _stems(axes, run, place, _NAMED * top)
        axes.axhline(0.0, color="black", lw=0.5, zorder=1)
        axes.set(xlabel="time since release (ms)", ylim=(-0.04 * top, 1.65 * top))
        axes.set_title(f"({letter}) {model}", loc="left")
        axes.legend(loc="upper left", handlelength=1.0)
    panels[0].set_ylabel(r"impulse $c_n$ (N s)")
    return figure


def _stems(axes: Axes, run: pd.DataFrame, place: int, named: float) -> None:
    """Impulses at their instants; coarser steps get larger markers, so that coinciding ones stay
    visible.
    """
    colour, marker = _STEPS[place % len(_STEPS)]
    pushing = run[run["impulse_ns"] > named]
    axes.vlines(
        pushing["time_ms"], 0.0, pushing["impulse_ns"], color=colour, lw=0.9, zorder=3 - 0.1 * place
    )
    axes.plot(
        pushing["time_ms"], pushing["impulse_ns"], marker, color=colour, mfc=colour if place == 0 else "none",
        ms=3.0 + 2.0 * place, mew=0.9, zorder=3 - 0.1 * place, label=_spelt_out(run, pushing),
    )  # fmt: skip
    small = run[run["impulse_ns"] <= named]
    at, impulse = small["time_ms"], small["impulse_ns"]
    axes.plot(at, impulse, marker, color=colour, ms=2.0, mew=0.0, zorder=3 - 0.1 * place)


def _spelt_out(run: pd.DataFrame, pushing: pd.DataFrame) -> str:
    """The time step and the impulses that stop the body, in the order of time."""
    values = [f"{value:.1f}" for value in pushing["impulse_ns"]]
    shown = " + ".join(values[:_MOST_NAMED]) + (" + ..." if len(values) > _MOST_NAMED else "")
    return f"$h$ = {run['time_step_ms'].iloc[0]:g} ms: {shown or '0'} N s"
