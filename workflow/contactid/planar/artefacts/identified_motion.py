"""Figures 17 and 22: measured, identified and simulated paths of thrown bodies.

Places are in mm of the fixed frame S, times in ms since the throw's first frame. Every row of a table that shows one
throw repeats which it is and what was identified from it: ``label, fps, inertia_ratio_mm2, inertia_ratio_se_mm2,
friction_mu, friction_is_bound``.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from contactid.planar.artefacts.time_lapse import View, draw_outlines, evenly, ground_below, polyline
from contactid.planar.identify.states import StoredFit, read_fits
from contactid.planar.simulate.geometry import outline_at

MM, MS = 1e3, 1e3  # per m, per s
MM2 = 1e6  # per m2
_POINTS = 800  # of a simulated path
_BAND = {"q25": 0.25, "median": 0.5, "q75": 0.75}  # quantiles over noise samples
_GROUND = "#e4e4e4"
_LOOKS: dict[str, dict[str, Any]] = {
    "simulated": {"color": "black", "ls": "--", "lw": 0.8, "zorder": 2},
    "measured": {
        "color": style.MEASURED, "ls": "none", "marker": "o", "ms": 3.0, "mfc": "none", "mew": 0.7, "zorder": 1,
    },
    "identified": {"color": style.LINE, "lw": 1.0, "zorder": 3},
}  # fmt: skip
_TALLEST = 3.4  # inches of a panel with equal scales
_AROUND = 0.04  # of a view's longer side, left free around what is shown
_DEEP = 0.05  # of a view's longer side, the least that is shown below the ground
_OPACITY = 0.08


def shown_paths(shown_fits: str, path_samples: Sequence[str]) -> pd.DataFrame:
    """Figure 17, of a file of identified throws, and the stored distances of other noise samples' paths."""
    distances, _ = read_stored(path_samples)
    return identified_trajectories(read_fits(shown_fits), distances)


def twin_throw(twin_fits: str) -> pd.DataFrame:
    """Figure 22, of the twin on the paper's rig."""
    return real_throw(read_fits(twin_fits)[0])


def square_throw(square_fits: str) -> pd.DataFrame:
    """``ext_square_throw``, of the first throw of a file."""
    first = read_fits(square_fits)[0]
    return real_throw(first).assign(source=source_of(first))


def source_of(fit: StoredFit) -> str:
    """What a figure of a measured throw says that it was made from."""
    return f"{fit.label.split(',')[0]}, identified"


def identified_trajectories(fits: Sequence[StoredFit], distances: pd.DataFrame) -> pd.DataFrame:
    """Figure 17: paths of the centre of mass, one throw seen at several frame rates.

    Parameters
    ----------
    distances : ``fps, seed, time_ms, distance_mm`` of several noise samples

    Returns
    -------
    ``fps, kind, time_ms, x_mm, y_mm, distance_mm``: the rows of one ``fps`` and ``kind`` (``simulated``, ``measured``,
    ``identified``) are a path, without a distance; those of ``median``, ``q25`` and ``q75`` are the samples' distances
    between identified and simulated centre, without a place.

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
        inside = np.flatnonzero((truth.time >= throw.time[0]) & (truth.time <= throw.time[-1] + 1e-9))
        shown = evenly(inside, _POINTS)
        paths = {"simulated": (truth.time[shown], truth.position[shown]), **paths}
    return [
        polyline(MM * q[:, :2], "mm", fps=fit.frames_per_second, kind=kind, time_ms=MS * (time - throw.time[0]))
        for kind, (time, q) in paths.items()
    ]


def draw_identified_trajectories(data: pd.DataFrame) -> Figure:
    """Figure 17: the centre's path per frame rate, and below how far it is from the simulated one over time.

    ``data`` is what :func:`identified_trajectories` returns.
    """
    paths, bands = data[data["distance_mm"].isna()], data[data["distance_mm"].notna()]
    rates = sorted(paths["fps"].unique())
    view = _view(paths, _AROUND / 2.0)
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
    """Median and quartiles over noise samples of how far identified and simulated centre are from each other."""
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
    ``kind, item, time_ms, x_mm, y_mm, residual_mm`` and what was identified: the rows of one kind and item are
    a polyline. Kinds are ``outline``, ``mark`` (a corner or end of each outline), ``identified``, ``measured`` and
    ``ground``. ``residual_mm`` is the root mean square distance of measured from identified centres.
    """
    states, throw = fit.states, fit.throw
    shown = evenly(np.arange(len(states.time)), outlines)
    bodies = [outline_at(fit.shape, states.position[k]) for k in shown]
    since = MS * (states.time - throw.time[0])
    rows = [("outline", item, since[k], body) for item, (k, body) in enumerate(zip(shown, bodies, strict=True))]
    rows += [("mark", item, time, body[:1]) for _, item, time, body in rows]
    rows += [
        ("identified", 0, since, states.position[:, :2]),
        ("measured", 0, MS * (throw.time - throw.time[0]), throw.position[:, :2]),
        ("ground", 0, 0.0, ground_below(throw.ground, np.concatenate(bodies))),
    ]
    away = throw.position[:, :2] - states.position[states.frame, :2]
    residual = MM * float(np.sqrt((away**2).sum(axis=1).mean()))
    parts = [polyline(MM * xy, "mm", kind=kind, item=item, time_ms=time) for kind, item, time, xy in rows]
    return with_result(pd.concat(parts, ignore_index=True).assign(residual_mm=residual), fit)


def draw_real_throw(data: pd.DataFrame) -> Figure:
    """Figure 22: time lapse of the identified motion (a), measured and identified path of the centre (b), mm.

    ``data`` is what :func:`real_throw` returns.
    """
    kind = data["kind"]
    views = _view(data[kind != "ground"], _AROUND, data), _view(data[kind.isin(["identified", "measured"])], _AROUND)
    figure, panels = _beside_or_below(views, style.DOUBLE_COLUMN)
    _draw_ground(panels[0], data, views[0])
    _draw_lapse(panels[0], data)
    _draw_paths(panels[1], data)
    for letter, title, axes, view in zip("ab", ("identified motion", "centre of mass"), panels, views, strict=True):
        _frame(axes, view)
        axes.set(xlabel="$x$ (mm)", ylabel="$y$ (mm)")
        axes.set_title(f"({letter}) {title}", loc="left")
    handles, names = panels[1].get_legend_handles_labels()
    # nobody measured a synthetic throw; its frames are frames all the same
    names = ["frames" if name == "measured" else name for name in names]
    lapse = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
    residual = f"; residual {data['residual_mm'].iloc[0]:.2g} mm rms"
    head(
        figure,
        titled(data.iloc[0]) + residual,
        [lapse["body"], lapse["mark"], *handles],
        ["body, darker later", "its mark", *names],
    )
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
    ratio = f"$J/m$ = {row['inertia_ratio_mm2']:.0f}" + (f" ± {spread:.0f}" if np.isfinite(spread) else "") + " mm²"
    sign = r"\geq" if row["friction_is_bound"] else "="
    return rf"{label}{rate}: {ratio}, $\mu {sign} {row['friction_mu']:.2f}$"


def head(figure: Figure, title: str, handles: Sequence[Any], names: Sequence[str]) -> None:
    """A title over the figure, and below it a legend where there's something to name."""
    if len(handles):
        figure.legend(handles, names, loc="outside upper center", ncols=min(len(handles), 4), title=title)
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
    axes.plot(marks["x_mm"], marks["y_mm"], "o", color=style.RELEASE, ms=2.4, mew=0.0, zorder=4, label="mark")
    path = data[data["kind"] == "identified"]
    axes.plot(path["x_mm"], path["y_mm"], **_LOOKS["identified"])


def _draw_ground(axes: Axes, data: pd.DataFrame, view: View) -> None:
    """The ground across the whole view."""
    ends = data.loc[data["kind"] == "ground", ["x_mm", "y_mm"]].to_numpy()
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    reach = 2.0 * (view.x[1] - view.x[0] + view.y[1] - view.y[0])
    line = np.array([ends[0] - reach * along, ends[1] + reach * along])
    below = line[::-1] + reach * np.array([along[1], -along[0]])
    axes.fill(*np.vstack([line, below]).T, fc=_GROUND, lw=0.0, zorder=0)
    axes.plot(*line.T, color="black", lw=0.8, zorder=0.5)


def _view(data: pd.DataFrame, margin: float, whole: pd.DataFrame | None = None) -> View:
    """What holds the points with a margin; and the ground's, where ``whole`` has one."""
    points = data[["x_mm", "y_mm"]].to_numpy(dtype=float)
    low, high = points.min(axis=0), points.max(axis=0)
    edge = margin * float((high - low).max())
    if whole is not None:
        ground = whole.loc[whole["kind"] == "ground", "y_mm"]
        low[1] = min(low[1], float(ground.min()) + edge - _DEEP * float((high - low).max()))
    (left, bottom), (right, top) = low - edge, high + edge
    return View((float(left), float(right)), (float(bottom), float(top)))


def _frame(axes: Axes, view: View) -> None:
    axes.set(xlim=view.x, ylim=view.y, aspect="equal")
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10], min_n_ticks=2))


def _beside_or_below(views: Sequence[View], width: float) -> tuple[Figure, list[Axes]]:
    """Two panels to their own scales, beside each other unless both are wide."""
    aspects = [view.aspect for view in views]
    if min(aspects) > 2.0:
        heights = [(width - 0.6) / aspect for aspect in aspects]
        figure, panels = plt.subplots(2, 1, figsize=(width, sum(heights) + 1.7), height_ratios=heights)
    else:
        height = min((width - 1.4) / sum(aspects), _TALLEST)
        figure, panels = plt.subplots(1, 2, figsize=(width, height + 1.2), width_ratios=aspects)
    return figure, list(panels)
