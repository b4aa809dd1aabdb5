"""Draw figures 1 to 5, 15 and 16 of the planar paper from their tables (:mod:`contactid.planar.setting_figure_data`).

How long an arrow is drawn and where a label stands is decided here; every place, direction and number is the table's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style

_DARK, _QUIET = "#222222", "#555555"
_BODY, _SOLID = "#dfe9f2", "#e3e3e3"
_THIN, _NORMAL, _BOLD = 0.5, 0.9, 1.4  # line widths, points
_HALO = [patheffects.withStroke(linewidth=2.0, foreground="white")]
_ROUND = 20  # corners of a rim from which on it is a circle
_SLACK = 1e-6  # in the table's units: what is written as zero is zero
Place = Sequence[float] | np.ndarray


def draw_contact_frames(data: pd.DataFrame) -> Figure:
    """Figure 1: frames at the contact points of a body."""
    figure, (axes,) = _page(style.SINGLE_COLUMN, [((-0.012, -0.014), (0.163, 0.133))])
    for j in (1, 2, 3):
        _ground(axes, _line(data, f"ground {j}"), 0.005)
    _fill(axes, _line(data, "outline"))
    _frame_arrows(axes, data, "S", 0.03, r"$x$", r"$y$")
    _dot(axes, _at(data, "O"), r"$\{S\}$", (0, -9))
    _dot(axes, _at(data, "G"), r"$G$", (-7, -5))
    for item, name, shift in (("f_n", r"$f_n^{(2)}$", (-4, -9)), ("f_t", r"$f_t^{(2)}$", (19, -3))):
        _dashed(axes, _foot(data, item), _tip(data, item, 0.034))
        _dashed(axes, _tip(data, item, 0.034), _tip(data, "f_c", 0.034))
        _text(axes, _tip(data, item, 0.034), name, shift, _QUIET)
    _arrow(axes, _foot(data, "f_c"), _tip(data, "f_c", 0.034), style.RELEASE, _BOLD)
    _text(axes, _tip(data, "f_c", 0.034), r"$\mathbf{f}_c^{(2)}$", (-2, 10), style.RELEASE)
    sides = {"n 1": (10, 5), "t 1": (3, -9), "n 2": (-6, -10), "t 2": (11, 4), "n 3": (-9, -5), "t 3": (-11, -4)}
    for item, shift in sides.items():
        kind, number = item.split()
        colour = style.ACCENT if kind == "n" else style.LINE
        _arrow(axes, _foot(data, item), _tip(data, item, 0.021), colour, _BOLD)
        _text(axes, _tip(data, item, 0.021), rf"$\mathbf{{{kind}}}^{{({number})}}$", shift, colour)
    for j in (1, 2, 3):
        out = -_vector(data, f"n {j}")
        _dot(axes, _at(data, f"Q {j}"), rf"$Q^{{({j})}}$", (18, 15) * out)
        _text(axes, _at(data, f"Q {j}"), rf"$\{{S^{{({j})}}\}}$", (40, 27) * out, _QUIET)
    return figure


def draw_contact_states(data: pd.DataFrame) -> Figure:
    """Figure 2: the four states of a contact."""
    box = (-0.070, -0.024), (0.070, 0.087)
    figure, panels = _page(style.DOUBLE_COLUMN, [box] * 4, head=0.5)
    for case, axes in enumerate(panels, start=1):
        part = data[data["panel"] == case]
        impulse, foot = _vector(part, "impulse"), _at(part, "Q")
        pushed, apart = bool(np.hypot(*impulse) > _SLACK), _number(part, "g_n") > _SLACK
        _ground(axes, _line(part, "ground"), 0.006)
        _fill(axes, _line(part, "outline"))
        _arrow(axes, foot, foot + 0.046 * _vector(part, "velocity"), style.LINE, _BOLD)
        if apart:
            _dimension(axes, foot, _at(part, "Q_E"), r"$g_n$", (-9, -1))
        if pushed:
            _arrow(axes, foot, foot + 1.6 * impulse, style.RELEASE, _BOLD)
        _dot(axes, foot, r"$Q$", (-8, 6))
        state = rf"$g_n {_sign(part, 'g_n')} 0$" + ("" if apart else rf"$,\ \dot{{g}}_n {_sign(part, 'gdot')} 0$")
        _heading(axes, f"Case {case}: {'impulse' if pushed else 'no impulse'}", state)
    handles = [panels[0].plot([], [], color=colour, lw=_BOLD)[0] for colour in (style.LINE, style.RELEASE)]
    figure.legend(handles, ["velocity of the contact point", "normal impulse"], loc="outside lower center", ncols=2)
    return figure


def draw_restitution(data: pd.DataFrame) -> Figure:
    """Figure 3: the contact point's normal velocity before and after an impact, and the impulse between."""
    box = (-0.062, -0.042), (0.062, 0.068)
    figure, panels = _page(0.75 * style.DOUBLE_COLUMN, [box] * 3, head=0.45)
    said = (
        ("gdot", "before", style.LINE, 0.066, r"\dot{g}_n", ""),
        ("c_n", "impact", style.RELEASE, 1.1, r"c_n", ""),
        ("gdot+", "after", style.ACCENT, 0.066, r"\dot{g}_n^+", r" = -\varepsilon\,\dot{g}_n"),
    )
    for panel, (axes, (item, when, colour, length, name, law)) in enumerate(zip(panels, said, strict=True), start=1):
        part = data[data["panel"] == panel]
        _ground(axes, _line(part, "ground"), 0.005)
        _fill(axes, _line(part, "outline"))
        _dot(axes, _at(part, "G"), r"$G$", (7, 4))
        _arrow(axes, _foot(part, item), _tip(part, item, length), colour, _BOLD)
        _dot(axes, _at(part, "Q"), r"$Q$", (-8, 6))
        _text(axes, _tip(part, item, length), rf"${name}$", (11, 0), colour)
        unit = _row(part, item, "number")["unit"]
        _heading(axes, when, rf"${name}{law} = {_number(part, item):.3g}$ {unit}")
    _text(panels[1], (0.0, -0.026), rf"$\varepsilon = {_number(data, 'restitution_e_n'):g}$", (0, 0), _DARK)
    return figure


def draw_friction_cones(data: pd.DataFrame) -> Figure:
    """Figure 4: friction cone, pyramid and planar cone."""
    box = (-1.3, -0.6), (1.3, 1.5)
    figure, panels = _page(style.DOUBLE_COLUMN, [box] * 3, head=0.2)
    sides = int(((data["panel"] == 2) & data["item"].str.startswith("d_")).sum())
    names = "cone", f"pyramid, $p = {sides}$", "planar contact"
    for panel, axes in enumerate(panels, start=1):
        part = data[data["panel"] == panel]
        if panel == 3:
            _ground(axes, np.array([[-1.25, 0.0], [1.25, 0.0]]), 0.08)
            _half_angle(axes, float(_row(part, "friction_mu", "number")["x"]))
        else:
            corners = 0.95 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
            axes.fill(*_flat(corners).T, facecolor=_SOLID, lw=0)
        _cone(axes, part)
        for item in part[part["part"] == "arrow"]["item"]:
            colour = {"n": style.ACCENT, "f_c": style.RELEASE}.get(item, style.LINE)
            tip = _pictured(part[part["item"] == item])[0] * (1.35 if item == "n" else 1.0)
            _arrow(axes, (0.0, 0.0), tip, colour, _BOLD)
            shift = (0.0, 10.0) if panel == 3 else _aside(tip)
            _text(axes, tip, _direction(item), {"n": (11, 0), "f_c": (-8, 4)}.get(item, shift), colour)
        _dot(axes, (0.0, 0.0), "$Q^{(j)}$", (3, -12))
        _text(axes, (0.0, -0.58), f"({'abc'[panel - 1]}) {names[panel - 1]}", (0, 0), _DARK, size=8)
    return figure


def draw_normal_gap(data: pd.DataFrame) -> Figure:
    """Figure 5: definition of the normal gap."""
    figure, (axes,) = _page(0.72 * style.DOUBLE_COLUMN, [((-0.016, -0.014), (0.219, 0.167))])
    _ground(axes, _line(data, "ground"), 0.005)
    _fill(axes, _line(data, "outline"))
    for item, length in (("alpha", 0.062), ("theta", 0.066)):
        _dashed(axes, _at(data, item, "angle"), _at(data, item, "angle") + length * _vector(data, item, "angle"))
    _frame_arrows(axes, data, "S", 0.035, r"$x$", r"$y$")
    _frame_arrows(axes, data, "S_p", 0.035, "", r"$y_p$")
    _text(axes, _tip(data, "x S_p", 0.035), r"$x_p$", (-5, -15), _DARK)
    _frame_arrows(axes, data, "S_l", 0.066, r"$x_l$", r"$y_l$")
    for item, radius, name, shift, named in (
        ("alpha", 0.052, r"$\alpha$", (8, 0), 0.5),
        ("theta", 0.058, r"$\theta$", (8, 1), 0.5),
        ("beta*", 0.021, r"$\beta^*$", (-8, 2), 0.75),
        ("beta", 0.010, r"$\beta$", (-7, 0), 0.5),
    ):
        _angle(axes, data, item, radius, name, shift, named)
    for star, dash, name, shift in (("*", "-", r"\beta^*", (-13, 7)), ("", "--", r"\beta", (-13, -5))):
        rho = _line(data, f"rho{star}")
        axes.plot(*rho.T, color=style.RELEASE, lw=_NORMAL, ls=dash)
        _text(axes, 0.35 * rho[0] + 0.65 * rho[1], rf"$\rho({name})$", shift, style.RELEASE)
    _dimension(axes, _at(data, "Q*"), _at(data, "Q_E*"), r"$g_n = l(\beta^*)$", (25, 0), colour=style.LINE)
    _dimension(axes, _at(data, "Q"), _at(data, "Q_E"), r"$l(\beta)$", (13, 0), colour=_QUIET)
    for item, name, shift in (
        ("O", r"$O\ \{S\}$", (0, -9)),
        ("P_0", r"$P_0\ \{S_p\}$", (-22, 0)),
        ("G", r"$G\ \{S_l\}$", (24, -8)),
        ("Q*", r"$Q$", (-8, -5)),
        ("Q_E*", r"$Q_E$", (-3, -17)),
    ):
        _dot(axes, _at(data, item), name, shift)
    return figure


def draw_fitted_trajectory(data: pd.DataFrame) -> Figure:
    """Figure 15: captured postures and the trajectory that fits them best."""
    outlines, postures = (data[data["part"] == part] for part in ("outline", "posture"))
    left, right, top = outlines["x_m"].min() - 0.02, outlines["x_m"].max() + 0.02, outlines["y_m"].max() + 0.01
    figure, (axes,) = _page(style.DOUBLE_COLUMN, [((left, -0.015), (right, top))], head=0.35)
    _ground(axes, np.array([[left, 0.0], [right, 0.0]]), 0.008)
    looks = (
        ("fitted", style.LINE, "-", 1.4, r"best-fit trajectory $\mathbf{q}^k$"),
        ("captured", style.RELEASE, "--", 3.6, r"captured postures $\mathbf{q}_\mathrm{m}^i$"),
    )
    for kind, colour, dash, size, name in looks:
        for _, outline in outlines[outlines["kind"] == kind].groupby("index"):
            axes.plot(outline["x_m"], outline["y_m"], color=colour, lw=0.7, ls=dash)
        centers = postures[postures["kind"] == kind]
        joined = "-" if kind == "fitted" else "none"
        axes.plot(centers["x_m"], centers["y_m"], "o", color=colour, ms=size, lw=_THIN, ls=joined)
        axes.plot([], [], "o", color=colour, ms=size, lw=0.7, ls=dash, label=name)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def draw_time_instants(data: pd.DataFrame) -> Figure:
    """Figure 16: captured and inserted instants."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 1.35))
    time = 1e3 * data["time_s"].to_numpy()
    captured = (data["kind"] == "captured").to_numpy()
    marks, parts = time[captured], int(data["index"][captured].iloc[1])
    step = 1e3 * float(data["step_s"].iloc[0])
    axes.set(xlim=(-0.8 * step, time[-1] + 1.2 * step), ylim=(-1.3, 1.6))
    axes.set_axis_off()
    _arrow(axes, (-0.6 * step, 0.0), (time[-1] + 0.9 * step, 0.0), _DARK)
    _text(axes, (time[-1] + 0.9 * step, 0.0), "$t$", (4, -8), _DARK)
    axes.vlines(time[~captured], -0.14, 0.14, color=style.LINE, lw=_NORMAL)
    axes.vlines(marks, -0.3, 0.3, color=style.RELEASE, lw=_BOLD)
    for place, name in zip(marks, ("i", "i+1", "i+2"), strict=True):
        _text(axes, (place, 0.3), rf"$t^{{{name}}}$", (1, 8), style.RELEASE)
    for k in range(parts + 1):
        name = "k" if k == 0 else "k+n_s" if k == parts else f"k+{k}"
        _text(axes, (time[k], -0.3), rf"$t^{{{name}}}$", (1, -7), style.LINE)
    _span(axes, marks[0], marks[1], 1.1, rf"$\Delta t = {marks[1]:.3g}$ ms")
    _span(axes, marks[1], marks[2], 1.1, rf"$n_s = {parts}$ sub-intervals")
    _span(axes, time[parts + 2], time[parts + 3], -0.45, rf"$h = \Delta t / n_s = {step:.3g}$ ms")
    return figure


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig01_contact_frames": draw_contact_frames,
    "fig02_contact_states": draw_contact_states,
    "fig03_restitution": draw_restitution,
    "fig04_friction_cones": draw_friction_cones,
    "fig05_normal_gap": draw_normal_gap,
    "fig15_fitted_trajectory": draw_fitted_trajectory,
    "fig16_time_instants": draw_time_instants,
}


def _page(width: float, boxes: list[tuple[Place, Place]], head: float = 0.05) -> tuple[Figure, list[Axes]]:
    """Panels side by side, of equal scales, with the views ((x, y), (x, y)); ``width`` and ``head`` in inches."""
    low, high = (np.array([box[end] for box in boxes], dtype=float) for end in (0, 1))
    size = high - low
    figure, panels = plt.subplots(
        1, len(boxes), figsize=(width, width * float(size[:, 1].max() / size[:, 0].sum()) + head), squeeze=False
    )
    for axes, start, end in zip(panels[0], low, high, strict=True):
        axes.set(xlim=(start[0], end[0]), ylim=(start[1], end[1]), aspect="equal")
        axes.set_axis_off()
    return figure, list(panels[0])


def _row(data: pd.DataFrame, item: str, part: str) -> pd.Series:
    return data[(data["item"] == item) & (data["part"] == part)].iloc[0]


def _line(data: pd.DataFrame, item: str) -> np.ndarray:
    return data[(data["item"] == item) & (data["part"] == "line")][["x_m", "y_m"]].to_numpy(dtype=float)


def _at(data: pd.DataFrame, item: str, part: str = "point") -> np.ndarray:
    return _row(data, item, part)[["x_m", "y_m"]].to_numpy(dtype=float)


def _foot(data: pd.DataFrame, item: str) -> np.ndarray:
    return _at(data, item, "arrow")


def _vector(data: pd.DataFrame, item: str, part: str = "arrow") -> np.ndarray:
    return _row(data, item, part)[["vector_x", "vector_y"]].to_numpy(dtype=float)


def _tip(data: pd.DataFrame, item: str, length: float) -> np.ndarray:
    """End of an arrow drawn ``length`` m long per unit."""
    return _foot(data, item) + length * _vector(data, item)


def _number(data: pd.DataFrame, item: str) -> float:
    return float(_row(data, item, "number")["value"])


def _sign(data: pd.DataFrame, item: str) -> str:
    value = _number(data, item)
    return "=" if abs(value) <= _SLACK else ">" if value > 0.0 else "<"


def _fill(axes: Axes, outline: np.ndarray) -> None:
    axes.fill(*outline.T, facecolor=_BODY, edgecolor=_DARK, lw=_NORMAL)


def _ground(axes: Axes, line: np.ndarray, depth: float) -> None:
    """The ground's surface, and its solid side to the right of the line's direction."""
    along = (line[-1] - line[0]) / np.linalg.norm(line[-1] - line[0])
    inward = depth * np.array([along[1], -along[0]])
    axes.fill(*np.vstack([line, line[::-1] + inward]).T, facecolor=_SOLID, lw=0)
    axes.plot(*line.T, color=_DARK, lw=_NORMAL)


def _arrow(axes: Axes, foot: Place, tip: Place, colour: str, width: float = _NORMAL, heads: str = "-|>") -> None:
    look = {"arrowstyle": heads, "color": colour, "lw": width, "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0}
    axes.annotate(
        "",
        xy=tuple(tip),
        xytext=tuple(foot),
        arrowprops={**look, "joinstyle": "miter"},
        zorder=4,
        annotation_clip=False,
    )


def _heading(axes: Axes, first: str, second: str) -> None:
    """Two centred lines over a panel, on the same base lines in every panel."""
    for text, rise in ((first, 15), (second, 4)):
        axes.annotate(text, (0.5, 1.0), (0, rise), "axes fraction", "offset points", ha="center", annotation_clip=False)


def _text(axes: Axes, at: Place, text: str, shift: Place, colour: str, size: float = 7, **more: Any) -> None:
    """A text centred ``shift`` points of type from a place."""
    axes.annotate(
        text, tuple(at), tuple(shift), textcoords="offset points", ha="center", va="center", color=colour,
        fontsize=size, path_effects=_HALO, zorder=6, annotation_clip=False, **more,
    )  # fmt: skip


def _dot(axes: Axes, at: Place, text: str, shift: Place, colour: str = _DARK) -> None:
    axes.plot(*at, "o", color=colour, ms=2.6, zorder=5)
    _text(axes, at, text, shift, colour)


def _dashed(axes: Axes, start: Place, end: Place, colour: str = _QUIET) -> None:
    axes.plot(*np.array([start, end]).T, color=colour, lw=_THIN, ls="--", zorder=3)


def _dimension(axes: Axes, start: Place, end: Place, text: str, shift: Place, colour: str = _DARK) -> None:
    _arrow(axes, start, end, colour, _THIN, "<|-|>")
    _text(axes, 0.5 * (np.asarray(start) + np.asarray(end)), text, shift, colour)


def _frame_arrows(axes: Axes, data: pd.DataFrame, frame: str, length: float, *names: str) -> None:
    for axis, name in zip("xy", names, strict=True):
        item = f"{axis} {frame}"
        _arrow(axes, _foot(data, item), _tip(data, item, length), _DARK)
        _text(axes, _tip(data, item, length), name, 7.0 * _vector(data, item), _DARK)


def _angle(
    axes: Axes, data: pd.DataFrame, item: str, radius: float, name: str, shift: Place, named: float = 0.5
) -> None:
    """An arc from the side an angle is measured from, with a head at its end; named at a fraction of its way."""
    row = _row(data, item, "angle")
    apex, side = _at(data, item, "angle"), _vector(data, item, "angle")
    turned = np.arctan2(side[1], side[0]) + np.linspace(0.0, float(row["value"]), 60)
    arc = apex + radius * np.column_stack([np.cos(turned), np.sin(turned)])
    axes.plot(*arc[:-5].T, color=_QUIET, lw=_THIN)
    _arrow(axes, arc[-6], arc[-1], _QUIET, _THIN)
    _text(axes, arc[int(named * len(arc))], name, shift, _DARK)


def _flat(points: np.ndarray) -> np.ndarray:
    """Picture of points (..., 3), seen from a little above."""
    x, away = _turned(points)
    elevation = np.radians(20.0)
    return np.stack([x, np.sin(elevation) * away + np.cos(elevation) * points[..., 2]], axis=-1)


def _turned(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (...) to the right and away from the viewer."""
    azimuth = np.radians(25.0)
    x, y = points[..., 0], points[..., 1]
    return np.cos(azimuth) * x - np.sin(azimuth) * y, np.sin(azimuth) * x + np.cos(azimuth) * y


def _pictured(rows: pd.DataFrame) -> np.ndarray:
    """Picture (n, 2) of rows of figure 4, the planar contact's from the front."""
    points = rows[["x", "y", "z"]].to_numpy(dtype=float)
    return points[:, [0, 2]] if (rows["panel"] == 3).all() else _flat(points)


def _cone(axes: Axes, data: pd.DataFrame) -> None:
    """A cone, pyramid or triangle from Q up to its rim; edges behind its outer side are dotted."""
    rows = data[data["part"] == "rim"]
    points, rim = rows[["x", "y", "z"]].to_numpy(dtype=float), _pictured(rows)
    sides = np.arctan2(rim[:, 0], rim[:, 1])
    outer = [int(np.argmin(sides)), int(np.argmax(sides))]
    axes.fill(*np.vstack([[0.0, 0.0], rim[outer]]).T, facecolor=_BODY, edgecolor=_DARK, lw=_NORMAL)
    if len(rim) > 2:
        axes.fill(*rim.T, facecolor="#f3f7fa", edgecolor=_DARK, lw=_NORMAL)
    if 2 < len(rim) < _ROUND:
        for point, corner in zip(points[:-1], rim[:-1], strict=True):
            dash = "-" if _turned(point)[1] < 0.0 else ":"
            axes.plot(*np.array([(0.0, 0.0), corner]).T, color=_DARK, lw=_THIN, ls=dash)
    elif len(rim) >= _ROUND:
        _dashed(axes, _flat(points[0] * [0.0, 0.0, 1.0]), rim[0])
        _text(axes, rim[0], r"$\mu f_n$", (13, 0), _DARK)


def _half_angle(axes: Axes, friction_mu: float) -> None:
    """The angle between the normal and the planar cone's side."""
    turned = 0.5 * np.pi + np.linspace(0.0, np.arctan(friction_mu), 30)
    arc = 0.5 * np.column_stack([np.cos(turned), np.sin(turned)])
    axes.plot(*arc.T, color=_QUIET, lw=_THIN, zorder=4)
    _text(axes, arc[15], r"$\arctan\mu$", (-38, 9), _DARK)


def _aside(tip: np.ndarray) -> tuple[float, float]:
    """Points of type by which a name stands beyond an arrow's tip."""
    along = tip / np.hypot(*tip)
    return float(9.0 * along[0]), float(8.0 * along[1])


def _span(axes: Axes, start: float, end: float, height: float, text: str) -> None:
    """A dimension between two instants, named above or, below the line of time, beneath."""
    _arrow(axes, (start, height), (end, height), _QUIET, _THIN, "<|-|>")
    _text(axes, (0.5 * (start + end), height), text, (0, 7 if height > 0.0 else -8), _DARK)


def _direction(item: str) -> str:
    return {"n": r"$\mathbf{n}^{(j)}$", "f_c": r"$\mathbf{f}_c^{(j)}$"}.get(item, rf"$\vec{{d}}_{{{item[2:]}}}$")
