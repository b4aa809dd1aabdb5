"""Draw identified throws: figures 17, 18, 22 and 23 of the planar paper; nothing is computed here.

Their tables are those of :mod:`contactid.planar.identification_figure_data`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from contactid.output import style

_BODY = LinearSegmentedColormap.from_list("body", [style.REST, style.REST_EDGE])
_GROUND, _QUIET = "#e4e4e4", "#555555"
_CONTACTS = (style.LINE, style.RELEASE, style.ACCENT, style.SIMULATED, style.MEASURED)
_LOOKS: dict[str, dict[str, Any]] = {
    "simulated": {"color": "black", "ls": "--", "lw": 0.8, "zorder": 2},
    "measured": {
        "color": style.MEASURED, "ls": "none", "marker": "o", "ms": 3.0, "mfc": "none", "mew": 0.7, "zorder": 1,
    },
    "identified": {"color": style.LINE, "lw": 1.0, "zorder": 3},
}  # fmt: skip
_NAMES = {
    "simulated": "simulated",
    "measured": "measured, with noise",
    "identified": "identified",
}
_COMPONENTS = {"c_n": "normal $c_n$", "c_t": "tangential $c_t$"}
_SMALL = 0.04  # of the largest impulse: below it, impulses are shown magnified
_NONE = 1e-5  # of the largest impulse: below it, there is none
_BESIDE = 0.01  # of the time shown, left free before and after it
_TALLEST = 3.4  # inches of a panel with equal scales
_AROUND = 0.04  # of a view's longer side, left free around what is shown
_DEEP = 0.05  # of a view's longer side, the least that is shown below the ground
Box = tuple[float, float, float, float]


def draw_identified_trajectories(data: pd.DataFrame, width: float = style.DOUBLE_COLUMN) -> Figure:
    """Figure 17: the centre's path per frame rate, and below it the place where identified and simulated differ most.

    Parameters
    ----------
    data
        As :func:`~contactid.planar.identification_figure_data.identified_trajectories` returns it.
    width
        Inches.
    """
    detail = data[data["kind"] == "detail"]
    paths = data[data["kind"] != "detail"]
    rates = sorted(paths["fps"].unique())
    whole, part = _box(paths, _AROUND / 2.0), _box(detail, 0.0)
    tall, low = (width - 0.7) / _aspect(whole), (width / len(rates) - 0.35) / _aspect(part)
    figure = plt.figure(figsize=(width, len(rates) * (tall + 0.28) + low + 1.15))
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=(len(rates) * (tall + 0.28) + 0.6, low + 0.55))[
        :, 0
    ]
    panels = upper.subplots(len(rates), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    details = lower.subplots(1, len(rates), sharex=True, sharey=True, squeeze=False)[0]
    for rate, axes, close in zip(rates, panels, details, strict=True):
        shown = paths[paths["fps"] == rate]
        for place, view in ((axes, whole), (close, part)):
            _draw_paths(place, shown)
            _frame(place, view)
            enlarged = ", enlarged" if place is close else ""
            place.set_title(f"{rate:g} frames/s{enlarged}", loc="left", pad=3.0)
        axes.set_ylabel("$y$ (mm)")
        corner = part[0], part[2]
        axes.add_patch(Rectangle(corner, part[1] - part[0], part[3] - part[2], fc="none", ec=style.RELEASE, lw=0.8))
        close.set_xlabel("$x$ (mm)")
        close.spines[:].set(visible=True, color=style.RELEASE)
    panels[-1].set_xlabel("$x$ (mm)")
    details[0].set_ylabel("$y$ (mm)")
    handles, names = panels[0].get_legend_handles_labels()
    upper.legend(handles, [_NAMES[name] for name in names], loc="outside upper center", ncols=3)
    return figure


def draw_identified_impulses(data: pd.DataFrame, width: float = style.DOUBLE_COLUMN) -> Figure:
    """Figure 18: identified and simulated contact impulses, N s.

    Parameters
    ----------
    data
        As :func:`~contactid.planar.identification_figure_data.identified_impulses` returns it.
    width
        Inches.
    """
    return _draw_impulses(data, "impulse_ns", "N s", width)


def draw_real_impulses(data: pd.DataFrame, width: float = style.DOUBLE_COLUMN) -> Figure:
    """Figure 23: identified contact impulses per mass, m/s, a colour per contact.

    Parameters
    ----------
    data
        As :func:`~contactid.planar.identification_figure_data.real_impulses` returns it.
    width
        Inches.
    """
    return _draw_impulses(data, "impulse_m_s", "m/s", width)


def draw_real_throw(data: pd.DataFrame, width: float = style.DOUBLE_COLUMN) -> Figure:
    """Figure 22: time lapse of the identified motion (a), measured and identified path of the centre (b), mm.

    Parameters
    ----------
    data
        As :func:`~contactid.planar.identification_figure_data.real_throw` returns it.
    width
        Inches.
    """
    kind = data["kind"]
    views = _box(data[kind != "ground"], _AROUND, data), _box(data[kind.isin(["identified", "measured"])], _AROUND)
    figure, panels = _beside_or_below(views, width)
    _draw_ground(panels[0], data, views[0])
    _draw_lapse(panels[0], data)
    _draw_paths(panels[1], data)
    for letter, title, axes, view in zip("ab", ("identified motion", "centre of mass"), panels, views, strict=True):
        _frame(axes, view)
        axes.set(xlabel="$x$ (mm)", ylabel="$y$ (mm)")
        axes.set_title(f"({letter}) {title}", loc="left")
    handles, names = panels[1].get_legend_handles_labels()
    lapse = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
    residual = f"; residual {data['residual_mm'].iloc[0]:.2g} mm rms"
    _head(
        figure,
        _titled(data.iloc[0]) + residual,
        [lapse["body"], lapse["mark"], *handles],
        ["body, darker later", "its mark", *names],
    )
    return figure


def _draw_impulses(data: pd.DataFrame, column: str, unit: str, width: float) -> Figure:
    """A row per component, and a second column for lasting contacts, whose impulses can't be seen in the first."""
    end = float(data["time_ms"].max())
    views = _enlarged(data, column)
    figure, grid = plt.subplots(
        2, 2 if views else 1, figsize=(width if views else 0.7 * width, 3.7), sharex=True, squeeze=False
    )
    for row, component in enumerate(_COMPONENTS):
        part = data[data["component"] == component]
        for axes in grid[row]:
            _draw_stems(axes, part, column)
            axes.axhline(0.0, color="black", lw=0.5, zorder=1)
            axes.margins(y=0.1)
        grid[row, 0].set_ylabel(f"{_COMPONENTS[component]} ({unit})")
        if views:
            grid[row, 1].set_ylim(views[component])
        for axes in grid[row]:
            axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    if views:
        grid[0, 0].set_title("(a) all impulses", loc="left")
        grid[0, 1].set_title("(b) small impulses, enlarged", loc="left")
    for axes in grid[1]:
        axes.set(xlabel="time since the first frame (ms)", xlim=(-_BESIDE * end, (1.0 + _BESIDE) * end))
    _head(figure, _titled(data.iloc[0]), *_legend_of(*grid[:, 0]))
    return figure


def _enlarged(data: pd.DataFrame, column: str) -> dict[str, tuple[float, float]]:
    """Limits by component that show the instants at which normal impulses are small; empty where none is."""
    sizes = data[column].abs()
    normal = data["component"] == "c_n"
    top = float(sizes[normal].max())
    small = data[normal & (sizes > _NONE * top) & (sizes < _SMALL * top)]
    if small.empty:
        return {}
    keys = ["kind", "contact", "time_ms"]
    same = data.merge(small[keys].drop_duplicates(), on=keys)
    same["size"] = same[column].abs()
    high = 1.4 * same.groupby(["kind", "component", "time_ms"])["size"].sum().groupby("component").max()
    beside = max(float(high["c_t"]), 0.1 * float(high["c_n"]))
    return {"c_n": (-0.08 * float(high["c_n"]), float(high["c_n"])), "c_t": (-beside, beside)}


def _draw_stems(axes: Axes, part: pd.DataFrame, column: str) -> None:
    """Identified impulses stand on each other where several contacts push at once; simulated ones are hollow."""
    several = part["contact"].nunique() > 1
    known = "identified" if (part["kind"] == "simulated").any() else ""
    pushing = part[(part[column].abs() > _NONE * float(part[column].abs().max()))]
    simulated = pushing[pushing["kind"] == "simulated"]
    if len(simulated):
        axes.vlines(simulated["time_ms"], 0.0, simulated[column], color="black", ls="--", lw=0.8, zorder=4)
        axes.plot(simulated["time_ms"], simulated[column], "o", color="black", mfc="none", ms=4.5, mew=0.8, zorder=4)
        axes.plot([], [], "o", color="black", mfc="none", ms=4.5, mew=0.8, ls="--", lw=0.8, label="simulated")
    below: dict[tuple[float, bool], float] = {}
    identified = pushing[pushing["kind"] == "identified"]
    for contact in sorted(identified["contact"].unique()):
        one = identified[identified["contact"] == contact]
        colour = _CONTACTS[int(contact) % len(_CONTACTS)]
        keys = [(time, value > 0.0) for time, value in zip(one["time_ms"], one[column], strict=True)]
        feet = np.array([below.get(key, 0.0) for key in keys])
        tops = feet + one[column].to_numpy()
        below.update(zip(keys, tops, strict=True))
        axes.vlines(one["time_ms"], feet, tops, color=colour, lw=1.2, zorder=3)
        label = ", ".join(filter(None, [known, f"contact {int(contact) + 1}" if several else ""]))
        axes.plot(one["time_ms"], tops, "o", color=colour, ms=2.6, mew=0.0, zorder=3)
        axes.plot([], [], "o", color=colour, ms=2.6, mew=0.0, ls="-", lw=1.2, label=label or None)


def _legend_of(*panels: Axes) -> tuple[list[Any], list[str]]:
    """Each name once, of all panels."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    return list(found.values()), list(found)


def _draw_paths(axes: Axes, data: pd.DataFrame) -> None:
    """Paths of the centre of mass, of the kinds that there are."""
    for kind, look in _LOOKS.items():
        path = data[data["kind"] == kind]
        if len(path):
            axes.plot(path["x_mm"], path["y_mm"], label=kind, **look)


def _draw_lapse(axes: Axes, data: pd.DataFrame) -> None:
    """Outlines that darken with time, a mark on each, and the identified path."""
    outlines = [part for _, part in data[data["kind"] == "outline"].groupby("item")]
    shades = _BODY(np.linspace(0.0, 1.0, max(len(outlines), 2)))
    for place, (outline, shade) in enumerate(zip(outlines, shades, strict=False)):
        label = "body" if place == len(outlines) // 2 else None
        axes.plot(outline["x_mm"], outline["y_mm"], color=shade, lw=0.8, zorder=2, label=label)
        axes.fill(outline["x_mm"], outline["y_mm"], fc=(*shade[:3], 0.08), ec="none", zorder=1)
    marks = data[data["kind"] == "mark"]
    axes.plot(marks["x_mm"], marks["y_mm"], "o", color=style.RELEASE, ms=2.4, mew=0.0, zorder=4, label="mark")
    path = data[data["kind"] == "identified"]
    axes.plot(path["x_mm"], path["y_mm"], **_LOOKS["identified"])


def _draw_ground(axes: Axes, data: pd.DataFrame, view: Box) -> None:
    """The ground across the whole view."""
    ends = data.loc[data["kind"] == "ground", ["x_mm", "y_mm"]].to_numpy()
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    reach = 2.0 * (view[1] - view[0] + view[3] - view[2])
    line = np.array([ends[0] - reach * along, ends[1] + reach * along])
    below = line[::-1] + reach * np.array([along[1], -along[0]])
    axes.fill(*np.vstack([line, below]).T, fc=_GROUND, lw=0.0, zorder=0)
    axes.plot(*line.T, color="black", lw=0.8, zorder=0.5)


def _titled(row: pd.Series) -> str:
    """Which throw it is, and what was identified, as a line."""
    spread, label = row["inertia_ratio_se_mm2"], str(row["label"])
    rate = "" if "frames/s" in label else f", {row['fps']:g} frames/s"
    ratio = f"$J/m$ = {row['inertia_ratio_mm2']:.0f}" + (f" ± {spread:.0f}" if np.isfinite(spread) else "") + " mm²"
    sign = r"\geq" if row["friction_is_bound"] else "="
    return rf"{label}{rate}: {ratio}, $\mu {sign} {row['friction_mu']:.2f}$"


def _head(figure: Figure, title: str, handles: Sequence[Any], names: Sequence[str]) -> None:
    """A title over the figure, and below it a legend where there's something to name."""
    if len(handles):
        figure.legend(handles, names, loc="outside upper center", ncols=min(len(handles), 4), title=title)
    else:
        figure.suptitle(title, fontsize=8)


def _box(data: pd.DataFrame, margin: float, whole: pd.DataFrame | None = None) -> Box:
    """Limits (left, right, bottom, top) of the points with a margin; and of the ground's, where ``whole`` has one."""
    points = data[["x_mm", "y_mm"]].to_numpy(dtype=float)
    low, high = points.min(axis=0), points.max(axis=0)
    edge = margin * float((high - low).max())
    if whole is not None:
        ground = whole.loc[whole["kind"] == "ground", "y_mm"]
        low[1] = min(low[1], float(ground.min()) + edge - _DEEP * float((high - low).max()))
    (left, bottom), (right, top) = low - edge, high + edge
    return float(left), float(right), float(bottom), float(top)


def _aspect(box: Box) -> float:
    return (box[1] - box[0]) / (box[3] - box[2])


def _frame(axes: Axes, view: Box) -> None:
    axes.set(xlim=view[:2], ylim=view[2:], aspect="equal")
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10], min_n_ticks=2))


def _beside_or_below(views: Sequence[Box], width: float) -> tuple[Figure, list[Axes]]:
    """Two panels to their own scales, beside each other unless both are wide."""
    aspects = [_aspect(view) for view in views]
    if min(aspects) > 2.0:
        heights = [(width - 0.6) / aspect for aspect in aspects]
        figure, panels = plt.subplots(2, 1, figsize=(width, sum(heights) + 1.7), height_ratios=heights)
    else:
        height = min((width - 1.4) / sum(aspects), _TALLEST)
        figure, panels = plt.subplots(1, 2, figsize=(width, height + 1.2), width_ratios=aspects)
    return figure, list(panels)


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig17_identified_trajectories": draw_identified_trajectories,
    "fig18_identified_impulses": draw_identified_impulses,
    "fig22_real_throw": draw_real_throw,
    "fig23_real_impulses": draw_real_impulses,
}
