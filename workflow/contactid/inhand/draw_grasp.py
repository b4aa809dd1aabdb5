"""Draw figures 1, 2, 4 and 9 of the in-hand paper from their data files; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Ellipse, Polygon

from contactid.output import style

_DARK, _QUIET, _LIGHT = "#222222", "#777777", "#c9c9c9"
_MATERIALS = {"printed": _DARK, "wood": "#a8622b", "solid": _DARK}
_FINGERS = {"index": style.LINE, "middle": style.ACCENT, "ring": style.SIMULATED, "thumb": style.RELEASE}
_AXES_COLOURS = {"x": "#c23b22", "y": "#3a8f3a", "z": "#2a5db0"}
_COMPONENT_LABELS = {"x": r"$f_x$", "y": r"$f_y$", "z": r"$f_z$"}
_MARGIN = 0.06  # of a drawing's extent
_LABEL_ROOM = 0.015  # m of figure 1's drawing, beside its arrows


class _Line(NamedTuple):
    """A row of figures 1 and 4: from (x0, y0) to (x1, y1), in m of the drawing."""

    kind: str
    label: str
    x0: float
    y0: float
    x1: float
    y1: float
    value: float


def _lines(data: pd.DataFrame, *kinds: str) -> list[_Line]:
    rows = data[data["kind"].isin(kinds)]
    return [_Line(*row) for row in rows[list(_Line._fields)].itertuples(index=False, name=None)]


def draw_held_object(data: pd.DataFrame) -> Figure:
    """Figure 1: an object at four fingertips, with the forces on it and the frames W and B."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 3.1))
    _edges(axes, data)
    for row in _lines(data, "force"):
        colour = _FINGERS.get(row.label, _QUIET)
        _arrow(axes, row, colour, 1.6)
        axes.add_patch(Circle((row.x1, row.y1), 0.0035, fc=colour, ec="white", lw=0.5, zorder=6))
        away = np.array([row.x0 - row.x1, row.y0 - row.y1])
        at = np.array([row.x0, row.y0]) + 0.016 * away / np.linalg.norm(away)
        box = {"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.8}
        axes.text(
            at[0],
            at[1],
            f"{row.label}\n{row.value:.1f} N",
            color=colour,
            fontsize=6.5,
            ha="center",
            va="center",
            bbox=box,
            zorder=6,
        )
    (gravity,) = _lines(data, "gravity")
    _arrow(axes, gravity, _QUIET, 1.6)
    axes.text(
        gravity.x0 + 0.004, (gravity.y0 + gravity.y1) / 2, rf"$m g$, {gravity.value:.1f} N", color=_QUIET, fontsize=6.5,
        va="center",
    )  # fmt: skip
    _center(axes, data)
    for frame, name, shift in (("world", "$W$", (-0.008, -0.008)), ("body", "$B$", (-0.010, 0.008))):
        axes_of_frame = _lines(data, frame)
        for row in axes_of_frame:
            _arrow(axes, row, _AXES_COLOURS[row.label], 1.1)
        origin = axes_of_frame[0]
        axes.text(origin.x0 + shift[0], origin.y0 + shift[1], name, ha="center", va="center")
    (offset,) = _lines(data, "offset")
    axes.plot([offset.x0, offset.x1], [offset.y0, offset.y1], color=_QUIET, lw=0.6, ls=(0, (4, 3)), zorder=1)
    along = np.array([0.75 * offset.x0 + 0.25 * offset.x1, 0.75 * offset.y0 + 0.25 * offset.y1])
    axes.text(along[0], along[1], "  $p, R$", color=_QUIET, ha="left", va="center")
    _finish(axes, data)
    low, high = axes.get_xlim()
    axes.set_xlim(low - _LABEL_ROOM, high + _LABEL_ROOM)
    return figure


def draw_contact(data: pd.DataFrame) -> Figure:
    """Figure 2: a fingertip's force split at its friction cone, and all fingertips' forces over a recording."""
    figure, (sketch, plane) = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN, 2.9), width_ratios=(0.8, 1.0))
    shown = data[data["shown"].astype(bool)].iloc[0]
    _sketch(sketch, float(shown["normal_n"]), float(shown["tangential_n"]), float(shown["friction"]))
    for finger, rows in data.groupby("finger", sort=False):
        plane.plot(
            rows["normal_n"], rows["tangential_n"], lw=0.8, color=_FINGERS.get(str(finger), _QUIET), label=finger
        )
    largest = float(data["normal_n"].max()) * 1.06
    cone = np.array([0.0, largest])
    plane.plot(cone, shown["friction"] * cone, color=_DARK, lw=1.0, ls="--")
    plane.annotate(
        rf"slip: $|f_t| = \mu f_n$, $\mu = {shown['friction']:g}$",
        (0.62 * largest, 0.62 * largest * shown["friction"]),
        xytext=(-6, 2), textcoords="offset points", ha="right", va="bottom", fontsize=7,
    )  # fmt: skip
    plane.plot(shown["normal_n"], shown["tangential_n"], "o", ms=4.0, color=_DARK, mfc="white", zorder=5)
    plane.set(
        xlabel=r"normal force $f_n$ (N)", ylabel=r"tangential force $|f_t|$ (N)",
        xlim=(0.0, largest), ylim=(0.0, largest * shown["friction"] * 0.8),
    )  # fmt: skip
    plane.legend(loc=(0.44, 0.06), title="a recording in hand", title_fontsize=7)
    return figure


def _sketch(axes: Axes, normal: float, tangential: float, friction: float) -> None:
    """A fingertip on a surface that it presses downwards; forces on the object, to one scale."""
    length = np.hypot(normal, tangential)
    n, t = normal / length, tangential / length
    axes.add_patch(Polygon([(-1.3, 0.0), (1.3, 0.0), (1.3, -1.35), (-1.3, -1.35)], fc="#eef1f4", ec="none", zorder=0))
    axes.plot([-1.3, 1.3], [0.0, 0.0], color=_DARK, lw=1.0)
    axes.add_patch(Ellipse((0.0, 0.55), 0.8, 1.1, fc="#dfe9f2", ec=_DARK, lw=0.9, zorder=1))
    reach = 1.2
    axes.add_patch(
        Polygon(
            [(0.0, 0.0), (-friction * reach, -reach), (friction * reach, -reach)],
            fc=style.ACCENT, alpha=0.16, ec="none", zorder=1,
        )
    )  # fmt: skip
    for side in (-1.0, 1.0):
        axes.plot([0.0, side * friction * reach], [0.0, -reach], color=style.ACCENT, lw=0.9, ls="--", zorder=2)
    look = {"arrowstyle": "-|>", "lw": 1.5, "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
    slip = t / friction
    axes.annotate("", xy=(t, -slip), xytext=(0.0, 0.0), arrowprops={**look, "color": _QUIET, "ls": "--"}, zorder=3)
    axes.annotate(
        "slip, once $f_n$\nis lowered\nto here", (t, -slip), xytext=(0.72, -0.3), fontsize=6.5, color=_QUIET, ha="left",
        va="center", arrowprops={"arrowstyle": "-", "color": _QUIET, "lw": 0.5},
    )  # fmt: skip
    for end, colour in (((0.0, -n), style.LINE), ((t, 0.0), style.SIMULATED), ((t, -n), style.RELEASE)):
        axes.annotate("", xy=end, xytext=(0.0, 0.0), arrowprops={**look, "color": colour}, zorder=4)
    axes.plot([0.0, t, t], [-n, -n, 0.0], color=_QUIET, lw=0.6, ls=":", zorder=3)
    axes.text(-0.05, -0.62 * n, r"$f_n$" + f"\n{normal:.1f} N", color=style.LINE, ha="right", va="center", fontsize=7)
    axes.text(
        max(t, 0.33) + 0.06,
        0.04,
        rf"$f_t$, {tangential:.1f} N",
        color=style.SIMULATED,
        ha="left",
        va="bottom",
        fontsize=7,
    )
    axes.text(t + 0.04, -n, "$f$", color=style.RELEASE, ha="left", va="top")
    axes.text(-1.27, -1.3, "object", fontsize=7, color=_QUIET, va="bottom")
    axes.text(0.0, 0.62, "fingertip", fontsize=7, color=_DARK, ha="center")
    axes.text(
        friction * reach + 0.03, -reach, r"friction cone, $\arctan\,\mu$", fontsize=6.5, color=style.ACCENT, ha="right",
        va="top",
    )  # fmt: skip
    axes.set(xlim=(-1.35, 1.35), ylim=(-1.42, 1.15), aspect="equal")
    axes.set_axis_off()


def draw_objects(data: pd.DataFrame) -> Figure:
    """Figure 4: boxes to one scale, the simulated object to its own, and the friction experiments' objects."""
    names = [name for name in dict.fromkeys(data["panel"]) if name != "friction"]
    figure, panels = plt.subplots(2, 4, figsize=(style.DOUBLE_COLUMN, 3.3), width_ratios=(1.0, 1.0, 1.0, 1.15))
    spots = [panels[0][0], panels[0][1], panels[0][2], panels[1][0], panels[1][1], panels[1][2]]
    boxes = data[data["panel"].isin(names[:-1])]
    for axes, name in zip(spots, names, strict=True):
        rows = data[data["panel"] == name]
        _edges(axes, rows)
        for row in _lines(rows, "body"):
            _arrow(axes, row, _AXES_COLOURS[row.label], 0.9)
        contacts = rows[rows["kind"] == "contact"]
        axes.plot(contacts["x0"], contacts["y0"], "o", ms=3.0, color=style.LINE, mew=0.0, zorder=6)
        _center(axes, rows)
        mass = rows[rows["kind"] == "mass"]["value"].iloc[0]
        axes.set_title(f"{str(name).replace('_', ' ')}, {mass:g} kg", fontsize=7, pad=2.0)
        _finish(axes, boxes if name in names[:-1] else rows)
        _scale_bar(axes, 0.05 if name in names[:-1] else 0.2)
    legend, listing = panels[0][3], panels[1][3]
    for axes in (legend, listing):
        axes.set_axis_off()
    _object_legend(legend)
    _friction_list(listing, data[data["panel"] == "friction"])
    return figure


def _object_legend(axes: Axes) -> None:
    handles = [
        Line2D([], [], color=_MATERIALS["printed"], lw=0.9, label="outline"),
        Line2D([], [], color=_MATERIALS["wood"], lw=0.9, label="wooden block inside"),
        Line2D([], [], color=_DARK, marker="o", mfc="white", ls="none", ms=5.0, label="centre of mass"),
        Line2D([], [], color=style.LINE, marker="o", ls="none", ms=3.0, label="contact point"),
        *(Line2D([], [], color=colour, lw=1.2, label=f"${axis}_B$") for axis, colour in _AXES_COLOURS.items()),
    ]
    axes.legend(handles=handles, loc="center left", fontsize=6.5, borderaxespad=0.0)


def _friction_list(axes: Axes, rows: pd.DataFrame) -> None:
    axes.text(0.0, 1.0, r"friction objects, $\mu$ (chosen)", fontsize=7, va="top", transform=axes.transAxes)
    for number, row in enumerate(rows.itertuples(), start=1):
        name, _, region = str(row.label).partition("/")
        text = name.replace("_", " ") + ("" if region == "all" else f" ({region})")
        height = 1.0 - 0.095 * (number + 0.3)
        axes.text(0.0, height, text, fontsize=6, va="top", transform=axes.transAxes)
        axes.text(1.0, height, f"{row.value:.2f}", fontsize=6, va="top", ha="right", transform=axes.transAxes)


def draw_force_scale(data: pd.DataFrame) -> Figure:
    """Figure 9: the force at the wrist and at one fingertip for the same motion, to the same scale per newton."""
    sensors = list(dict.fromkeys(data["sensor"]))
    figure, panels = plt.subplots(3, len(sensors), figsize=(style.DOUBLE_COLUMN, 3.9), sharex=True, squeeze=False)
    for column, sensor in enumerate(sensors):
        for axes, component in zip(panels[:, column], _COMPONENT_LABELS, strict=True):
            rows = data[(data["sensor"] == sensor) & (data["component"] == component)]
            axes.plot(rows["t_s"], rows["reported_n"], color=style.MEASURED, lw=0.7)
            axes.plot(rows["t_s"], rows["true_n"], color=style.LINE, lw=1.2)
            axes.axhline(rows["squeeze_n"].iloc[0], color=style.RELEASE, lw=0.9, ls="--")
        title = "force-torque sensor at the wrist" if sensor == "wrist" else f"fingertip in hand: {sensor}"
        panels[0][column].set_title(title, loc="left")
        panels[-1][column].set_xlabel("time (s)")
    for row, (axes_row, label) in enumerate(zip(panels, _COMPONENT_LABELS.values(), strict=True)):
        axes_row[0].set_ylabel(f"{label} (N)")
        _same_span(axes_row, data[data["component"] == "xyz"[row]], sensors)
    handles: list[Any] = [
        Line2D([], [], color=style.LINE, lw=1.2, label="force on the object"),
        Line2D([], [], color=style.MEASURED, lw=0.9, label="as reported"),
        Line2D([], [], color=style.RELEASE, lw=0.9, ls="--", label="squeeze of the grip"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _same_span(panels: np.ndarray, rows: pd.DataFrame, sensors: list[str]) -> None:
    """Let panels show the same number of newtons, each around its own middle."""
    bounds = []
    for sensor in sensors:
        one = rows[rows["sensor"] == sensor]
        values = pd.concat([one["reported_n"], one["true_n"], one["squeeze_n"]])
        bounds.append((float(values.min()), float(values.max())))
    half = 0.55 * max(high - low for low, high in bounds)
    for axes, (low, high) in zip(panels, bounds, strict=True):
        axes.set_ylim((low + high) / 2 - half, (low + high) / 2 + half)


def _edges(axes: Axes, data: pd.DataFrame) -> None:
    for row in _lines(data, "edge", "hidden"):
        hidden = row.kind == "hidden"
        colour = _MATERIALS[row.label]
        axes.plot(
            [row.x0, row.x1], [row.y0, row.y1], color=_LIGHT if hidden and colour == _DARK else colour,
            lw=0.5 if hidden else 0.9, ls=":" if hidden else "-", zorder=2 if hidden else 3,
        )  # fmt: skip


def _center(axes: Axes, data: pd.DataFrame) -> None:
    (row,) = _lines(data, "com")
    axes.plot(row.x0, row.y0, "o", ms=5.5, mfc="white", mec=_DARK, mew=0.8, zorder=7)
    axes.plot(row.x0, row.y0, "+", ms=5.5, mec=_DARK, mew=0.6, zorder=8)


def _arrow(axes: Axes, row: _Line, colour: str, width: float) -> None:
    look = {
        "arrowstyle": "-|>",
        "color": colour,
        "lw": width,
        "mutation_scale": 6 + 2 * width,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", xy=(row.x1, row.y1), xytext=(row.x0, row.y0), arrowprops=look, zorder=5, annotation_clip=False)


def _finish(axes: Axes, extent: pd.DataFrame | None = None) -> None:
    """Equal axes without lines, wide enough for everything drawn, or for the rows of ``extent``."""
    if extent is not None:
        xs, ys = pd.concat([extent["x0"], extent["x1"]]), pd.concat([extent["y0"], extent["y1"]])
        pad = _MARGIN * max(float(np.ptp(xs)), float(np.ptp(ys)))
        axes.set(xlim=(xs.min() - pad, xs.max() + pad), ylim=(ys.min() - 3.0 * pad, ys.max() + pad))
    axes.set_aspect("equal")
    axes.set_axis_off()


def _scale_bar(axes: Axes, length: float) -> None:
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    start, level = right - length - 0.04 * (right - left), low + 0.05 * (high - low)
    axes.plot([start, start + length], [level, level], color=_DARK, lw=1.4, solid_capstyle="butt")
    axes.text(
        start + length / 2, level + 0.02 * (high - low), f"{1e3 * length:g} mm", fontsize=6, ha="center", va="bottom"
    )


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig01_inhand": draw_held_object,
    "fig02_contact": draw_contact,
    "fig04_objects": draw_objects,
    "fig09_force_scale": draw_force_scale,
}
