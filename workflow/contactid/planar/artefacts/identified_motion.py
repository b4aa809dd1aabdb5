"""Figures 17 and 22: measured, identified and simulated paths of thrown bodies.

Places are in mm of the fixed frame S, times in ms since the throw's first frame. Every row of a
table that shows one throw repeats which it is and what was identified from it: ``label, fps,
inertia_ratio_mm2, inertia_ratio_se_mm2, friction_mu, friction_is_bound``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.output.escape import mathtext
from contactid.output.stored import read_stored
from contactid.planar.artefacts.time_lapse import (
    View,
    draw_ground,
    draw_outlines,
    evenly,
    ground_below,
    polyline,
    view_of,
)
from contactid.planar.identify.states import StoredFit, read_fits
from contactid.planar.simulate.geometry import outline_at

MM, MS = 1e3, 1e3  # per m, per s
MM2 = 1e6  # per m2
_POINTS = 800  # of a simulated path
_BAND = {"q25": 0.25, "median": 0.5, "q75": 0.75}  # quantiles over noise samples
_LOOKS: dict[str, dict[str, Any]] = {
    "simulated": {"color": "black", "ls": "--", "lw": 0.8, "zorder": 2},
    "measured": {
        "color": style.MEASURED, "ls": "none", "marker": "o", "ms": 3.0, "mfc": "none", "mew": 0.7, "zorder": 1,
    },
    "identified": {"color": style.LINE, "lw": 1.0, "zorder": 3},
}  # fmt: skip
_TALLEST = 3.4  # inches of a panel with equal scales
_OPACITY = 0.08


def shown_paths(shown_fits: str, path_samples: Sequence[str]) -> pd.DataFrame:
    """Figure 17, of a file of identified throws, and the stored distances of other noise samples'
    paths.
    """
    distances, _ = read_stored(path_samples)
    return identified_trajectories(read_fits(shown_fits), distances)


def twin_throw(twin_fits: str) -> pd.DataFrame:
    """Figure 22, of the twin on the paper's rig."""
    return real_throw(read_fits(twin_fits)[0])


def square_throw(square_fits: str) -> pd.DataFrame:
    """``ext_square_throw``, of the first throw of a file."""
    first = read_fits(square_fits)[0]
    return real_throw(first).assign(source=f"{first.label.split(',')[0]}, identified")


def identified_trajectories(fits: Sequence[StoredFit], distances: pd.DataFrame) -> pd.DataFrame:
    """Figure 17: paths of the centre of mass, one throw seen at several frame rates.

    Parameters
    ----------
    distances : ``fps, seed, time_ms, distance_mm`` of several noise samples

    Returns
    -------
    ``fps, kind, time_ms, x_mm, y_mm, distance_mm``: the rows of one ``fps`` and ``kind``
    (``simulated``, ``measured``, ``identified``) are a path, without a distance; those of
    ``median``, ``q25`` and ``q75`` are the samples' distances between identified and simulated
    centre, without a place.

    Raises
    ------
    ContactIdError
        Without a fit.
    """
    if not fits:
        raise ContactIdError("there is no identified throw to draw", "Give one per frame rate")
    ordered = sorted(fits, key=lambda fit: fit.frames_per_second)
    parts = [path for fit in ordered for path in _paths(fit)]
    rates = [fit.frames_per_second for fit in fits]
    by_time = distances[distances["fps"].isin(rates)].groupby(["fps", "time_ms"])["distance_mm"]
    for kind, quantile in _BAND.items():
        parts.append(by_time.quantile(quantile).reset_index().assign(kind=kind))
    return pd.concat(parts, ignore_index=True)


def _paths(fit: StoredFit) -> list[pd.DataFrame]:
    """The paths of one frame rate, in the order in which they're drawn."""
    throw, states, truth = fit.throw, fit.states, fit.truth
    paths = {
        "measured": (throw.time, throw.position),
        "identified": (states.time, states.position),
    }
    if truth is not None:
        inside = np.flatnonzero(
            (truth.time >= throw.time[0]) & (truth.time <= throw.time[-1] + 1e-9)
        )
        # a simulation has far more instants than a drawing needs
        shown = evenly(inside, _POINTS)
        paths = {"simulated": (truth.time[shown], truth.position[shown]), **paths}
    return [
        polyline(
            MM * q[:, :2],
            "mm",
            fps=fit.frames_per_second,
            kind=kind,
            time_ms=MS * (time - throw.time[0]),
        )
        for kind, (time, q) in paths.items()
    ]


def draw_identified_trajectories(data: pd.DataFrame) -> Figure:
    """Figure 17: the centre's path per frame rate, and below how far it is from the simulated one
    over time.

    ``data`` is what :func:`identified_trajectories` returns.
    """
    paths, bands = data[data["distance_mm"].isna()], data[data["distance_mm"].notna()]
    rates = sorted(paths["fps"].unique())
    view = view_of(paths, "mm")
    tall = (style.DOUBLE_COLUMN - 0.7) / view.aspect + 0.28
    figure = plt.figure(figsize=(style.DOUBLE_COLUMN, len(rates) * tall + 2.6))
    heights = len(rates) * tall + 0.6, 2.0
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
    panels = upper.subplots(len(rates), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    distances = lower.subplots(1, len(rates), sharex=True, sharey=True, squeeze=False)[0]
    for rate, axes, below in zip(rates, panels, distances, strict=True):
        _draw_paths(axes, paths[paths["fps"] == rate])
        _frame(axes, view)
        axes.set_title(f"{rate:g} frames/s", loc="left", pad=3.0)
        axes.set_ylabel("$y$ (mm)")
        _draw_distance(below, bands[bands["fps"] == rate])
        below.set_title(f"{rate:g} frames/s, samples", loc="left", pad=3.0)
        below.set_xlabel("time (ms)")
    panels[-1].set_xlabel("$x$ (mm)")
    distances[0].set_ylabel("distance (mm)")
    handles, names = panels[0].get_legend_handles_labels()
    named = ["measured, with noise" if name == "measured" else name for name in names]
    upper.legend(handles, named, loc="outside upper center", ncols=3)
    return figure


def _draw_distance(axes: Axes, data: pd.DataFrame) -> None:
    """Median and quartiles over noise samples of how far identified and simulated centre are from
    each other.
    """
    wide = data.pivot_table(index="time_ms", columns="kind", values="distance_mm")
    if wide.empty:
        return
    axes.fill_between(wide.index, wide["q25"], wide["q75"], color=style.LINE, alpha=0.25, lw=0.0)
    axes.plot(wide.index, wide["median"], color=style.LINE, lw=1.0)
    axes.set_ylim(bottom=0.0)


def real_throw(fit: StoredFit, outlines: int = 6) -> pd.DataFrame:
    """Figure 22: identified outlines at about even times, path, ground, and measured places.

    Returns
    -------
    ``kind, item, time_ms, x_mm, y_mm, residual_mm`` and what was identified: the rows of one kind
    and item are a polyline. Kinds are ``outline``, ``mark`` (a corner or end of each outline),
    ``identified``, ``measured`` and ``ground``. ``residual_mm`` is the root mean square distance of
    measured from identified centres.
    """
    states, throw = fit.states, fit.throw
    shown = evenly(np.arange(len(states.time)), outlines)
    bodies = [outline_at(fit.shape, states.position[k]) for k in shown]
    since = MS * (states.time - throw.time[0])
    rows = [
        ("outline", item, since[k], body)
        for item, (k, body) in enumerate(zip(shown, bodies, strict=True))
    ]
    rows += [("mark", item, time, body[:1]) for _, item, time, body in rows]
    rows += [
        ("identified", 0, since, states.position[:, :2]),
        ("measured", 0, MS * (throw.time - throw.time[0]), throw.position[:, :2]),
        ("ground", 0, 0.0, ground_below(throw.ground, np.concatenate(bodies))),
    ]
    # (frames, 2) m
    away = throw.position[:, :2] - states.position[states.frame, :2]
    residual = MM * float(np.sqrt((away**2).sum(axis=1).mean()))
    parts = [
        polyline(MM * xy, "mm", kind=kind, item=item, time_ms=time) for kind, item, time, xy in rows
    ]
    return with_result(pd.concat(parts, ignore_index=True).assign(residual_mm=residual), fit)


def draw_real_throw(data: pd.DataFrame) -> Figure:
    """Figure 22: time lapse of the identified motion (a), measured and identified path of the
    centre (b), mm.

    ``data`` is what :func:`real_throw` returns.
    """
    centres = data[data["kind"].isin(["identified", "measured"])]
    views = view_of(data, "mm"), view_of(centres, "mm")
    aspects = [view.aspect for view in views]
    height = min((style.DOUBLE_COLUMN - 1.4) / sum(aspects), _TALLEST)
    figure, panels = plt.subplots(
        1, 2, figsize=(style.DOUBLE_COLUMN, height + 1.2), width_ratios=aspects
    )
    for axes, view, title in zip(
        panels, views, ("(a) identified motion", "(b) centre of mass"), strict=True
    ):
        _frame(axes, view)
        axes.set(xlabel="$x$ (mm)", ylabel="$y$ (mm)")
        axes.set_title(title, loc="left")
    draw_ground(panels[0], data, "mm")
    _draw_lapse(panels[0], data)
    _draw_paths(panels[1], data)
    # nobody measured a synthetic throw; its frames are frames all the same
    words = {"body": "body, darker later", "mark": "its mark", "measured": "frames"}
    residual = f"; residual {data['residual_mm'].iloc[0]:.2g} mm rms"
    head(figure, titled(data.iloc[0]) + residual, *panels, words=words)
    return figure


def with_result(table: pd.DataFrame, fit: StoredFit) -> pd.DataFrame:
    """The same with what was identified in every row."""
    return table.assign(
        label=fit.label,
        fps=fit.frames_per_second,
        inertia_ratio_mm2=MM2 * fit.inertia_ratio,
        inertia_ratio_se_mm2=MM2 * fit.inertia_ratio_se,
        friction_mu=fit.friction_mu,
        friction_is_bound=bool(fit.friction_is_bound),
    )


def titled(row: pd.Series) -> str:
    """Which throw it is, and what was identified, as a line."""
    spread, label = row["inertia_ratio_se_mm2"], mathtext(row["label"])
    rate = "" if "frames/s" in label else f", {row['fps']:g} frames/s"
    ratio = (
        f"$J/m$ = {row['inertia_ratio_mm2']:.0f}"
        + (f" ± {spread:.0f}" if np.isfinite(spread) else "")
        + " mm²"
    )
    sign = r"\geq" if row["friction_is_bound"] else "="
    return rf"{label}{rate}: {ratio}, $\mu {sign} {row['friction_mu']:.2f}$"


def head(figure: Figure, title: str, *panels: Axes, words: Mapping[str, str] | None = None) -> None:
    """A title over the figure, and below it a legend of what panels name, each name once; ``words``
    replaces some.
    """
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if handles:
        names = [(words or {}).get(name, name) for name in handles]
        columns = min(len(handles), 4)
        figure.legend(
            [*handles.values()], names, loc="outside upper center", ncols=columns, title=title
        )
    else:
        figure.suptitle(title, fontsize=8)


def _draw_paths(axes: Axes, data: pd.DataFrame) -> None:
    """Paths of the centre of mass, of the kinds that there are."""
    for kind, look in _LOOKS.items():
        path = data[data["kind"] == kind]
        if len(path):
            axes.plot(path["x_mm"], path["y_mm"], label=kind, **look)


def _draw_lapse(axes: Axes, data: pd.DataFrame) -> None:
    """Outlines that darken with time, a mark on each, and the identified path."""
    outlines = data[data["kind"] == "outline"].groupby("item")[["x_mm", "y_mm"]]
    draw_outlines(axes, [outline for _, outline in outlines], _OPACITY)
    marks = data[data["kind"] == "mark"]
    look: dict[str, Any] = {"color": style.RELEASE, "ms": 2.4, "mew": 0.0, "zorder": 4}
    axes.plot(marks["x_mm"], marks["y_mm"], "o", label="mark", **look)
    path = data[data["kind"] == "identified"]
    axes.plot(path["x_mm"], path["y_mm"], **_LOOKS["identified"])


def _frame(axes: Axes, view: View) -> None:
    axes.set(xlim=view.x, ylim=view.y, aspect="equal")
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10], min_n_ticks=2))
