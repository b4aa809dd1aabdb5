"""Drawings of objects: figure 1, one held at four fingertips, and figure 4, all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from contactid.core import rotations
from contactid.inhand.artefacts.contact_forces import FINGER_COLOURS, held_object
from contactid.inhand.readers.objects import SIMULATED, InHandObject, Part, load_objects
from contactid.inhand.simulate.grasped_object import GRAVITY
from contactid.output import style

_VIEW = np.deg2rad([-52.0, 24.0])  # of the drawings: turn about the vertical, then tilt
_FORCE_SCALE = 0.02  # m in the drawing per N
_FRAME = 0.035  # m, length of a drawn axis
_EDGES = tuple((i, j) for i in range(8) for j in range(i + 1, 8) if bin(i ^ j).count("1") == 1)
_DARK, _QUIET, _LIGHT = "#222222", "#777777", "#c9c9c9"
_MATERIALS = {"printed": _DARK, "wood": "#a8622b", "solid": _DARK}
_AXES_COLOURS = {"x": "#c23b22", "y": "#3a8f3a", "z": "#2a5db0"}
_MARGIN = 0.06  # of a drawing's extent
_LABEL_ROOM = 0.015  # m of figure 1's drawing, beside its arrows


def projected(points: np.ndarray) -> np.ndarray:
    """(..., 2) m: points (..., 3) seen along a slanting direction, without perspective; the second
    axis points up.
    """
    return np.asarray(points) @ _screen()


def _screen() -> np.ndarray:
    """(3, 2): the drawing's directions to the right and up, unit vectors of the space drawn."""
    turn, tilt = _VIEW
    right = np.array([np.cos(turn), -np.sin(turn), 0.0])
    up = np.array([np.sin(turn) * np.sin(tilt), np.cos(turn) * np.sin(tilt), np.cos(tilt)])
    return np.stack([right, up], axis=1)


def nearness(points: np.ndarray) -> np.ndarray:
    """(...,) m: how near points (..., 3) are to the onlooker, from the origin on."""
    turn, tilt = _VIEW
    return np.asarray(points) @ np.array(
        [-np.sin(turn) * np.cos(tilt), -np.cos(turn) * np.cos(tilt), np.sin(tilt)]
    )


def object_in_hand(objects: str, twin: Mapping[str, Any], shown: Mapping[str, Any]) -> pd.DataFrame:
    """Figure 1: ``kind, label, x0, y0, x1, y1, value`` in m of the drawing; ``value`` is a force in
    N.

    Kinds: ``edge`` and ``hidden`` (label: material), ``force``, ``gravity``, ``world`` and ``body``
    (axes), ``com``, ``offset`` (from W to B), ``contact``.
    """
    held, index = held_object(objects, twin, shown)
    turn = rotations.matrices(held.trajectory.orientation[index])
    origin = held.trajectory.position[index]

    def world(points: np.ndarray) -> np.ndarray:
        return np.asarray(points) @ turn.T + origin

    rows = [row for part in held.body.parts for row in _part_edges(part, world)]
    for name, place, force in zip(
        held.contact_names, held.contact_positions, held.force[index], strict=True
    ):
        at = world(place)
        rows.append(
            _line(
                "force", name, at - _FORCE_SCALE * (turn @ force), at, float(np.linalg.norm(force))
            )
        )
        rows.append(_line("contact", name, at, at))
    center = world(held.body.parameters.center_of_mass)
    weight = held.body.parameters.mass * GRAVITY
    rows.append(_line("com", "", center, center))
    rows.append(_line("gravity", "", center, center - [0.0, 0.0, _FORCE_SCALE * weight], weight))
    corner = _lower_left(world(held.body.hull_vertices))
    rows += [_line("world", "xyz"[k], corner, corner + _FRAME * np.eye(3)[k]) for k in range(3)]
    rows += [_line("body", "xyz"[k], origin, origin + _FRAME * turn[:, k]) for k in range(3)]
    rows.append(_line("offset", "", corner, origin))
    return pd.DataFrame(rows)


def _lower_left(points: np.ndarray) -> np.ndarray:
    """(3,) m: a place that is drawn below and to the left of points (v, 3), where W has room."""
    low = projected(points).min(axis=0) + np.array([0.0, 0.25 * _FRAME])
    return low @ _screen().T


def _line(
    kind: str, label: str, start: np.ndarray, end: np.ndarray, value: float = np.nan
) -> dict[str, Any]:
    (x0, y0), (x1, y1) = projected(start), projected(end)
    return {"kind": kind, "label": label, "x0": x0, "y0": y0, "x1": x1, "y1": y1, "value": value}


def _part_edges(part: Part, placed: Any) -> list[dict[str, Any]]:
    """A part's twelve edges; those at its farthest corner are hidden."""
    corners = placed(part.vertices)
    farthest = int(np.argmin(nearness(corners)))
    return [
        _line("hidden" if farthest in (i, j) else "edge", part.material, corners[i], corners[j])
        for i, j in _EDGES
    ]


def all_objects(objects: str, surfaces: str) -> pd.DataFrame:
    """Figure 4: ``panel, kind, label, x0, y0, x1, y1, value`` in m of the drawing, a panel per
    object.

    Kinds: ``edge``, ``hidden`` (label: material), ``com``, ``contact``, ``body`` (axes), ``mass``
    (value, kg); and, in a panel of its own, ``friction``: objects and regions of the friction
    experiments (value: coefficient).
    """
    known = load_objects(objects)
    rows = [
        {"panel": name, **row}
        for name in [*(name for name in known if name != SIMULATED), SIMULATED]
        for row in _object_rows(known[name])
    ]
    for entry in pd.read_csv(surfaces).to_dict("records"):
        label = f"{entry['object']}/{entry['region']}"
        rows.append(
            {"panel": "friction", "kind": "friction", "label": label, "value": entry["friction_mu"]}
        )
    return pd.DataFrame(rows)


def _object_rows(body: InHandObject) -> list[dict[str, Any]]:
    rows = [row for part in body.parts for row in _part_edges(part, np.asarray)]
    center = body.parameters.center_of_mass
    rows += [
        _line("com", "", center, center),
        _line("mass", "", center, center, body.parameters.mass),
    ]
    rows += [
        _line("contact", name, at, at)
        for name, at in zip(body.contact_names, body.contact_positions, strict=True)
    ]
    size = float(np.ptp(body.hull_vertices, axis=0).max())
    rows += [_line("body", "xyz"[k], np.zeros(3), 0.25 * size * np.eye(3)[k]) for k in range(3)]
    return rows


def _lines(data: pd.DataFrame, *kinds: str) -> list[Any]:
    """The rows of some kinds, each from (x0, y0) to (x1, y1)."""
    return list(data[data["kind"].isin(kinds)].itertuples())


def draw_held_object(data: pd.DataFrame) -> Figure:
    """Figure 1: an object at four fingertips, with the forces on it and the frames W and B."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 3.1))
    _draw_edges(axes, data)
    for row in _lines(data, "force"):
        colour = FINGER_COLOURS.get(row.label, _QUIET)
        _arrow(axes, row, colour, 1.6)
        axes.add_patch(Circle((row.x1, row.y1), 0.0035, fc=colour, ec="white", lw=0.5, zorder=6))
        away = np.array([row.x0 - row.x1, row.y0 - row.y1])
        at = np.array([row.x0, row.y0]) + 0.016 * away / np.linalg.norm(away)
        box = {"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.8}
        look: dict[str, Any] = {
            "color": colour,
            "fontsize": 6.5,
            "ha": "center",
            "va": "center",
            "bbox": box,
        }
        axes.text(at[0], at[1], f"{row.label}\n{row.value:.1f} N", zorder=6, **look)
    (gravity,) = _lines(data, "gravity")
    _arrow(axes, gravity, _QUIET, 1.6)
    axes.text(
        gravity.x0 + 0.004, (gravity.y0 + gravity.y1) / 2, rf"$m g$, {gravity.value:.1f} N", color=_QUIET, fontsize=6.5,
        va="center",
    )  # fmt: skip
    _draw_center(axes, data)
    for frame, name, shift in (
        ("world", "$W$", (-0.008, -0.008)),
        ("body", "$B$", (-0.010, 0.008)),
    ):
        axes_of_frame = _lines(data, frame)
        for row in axes_of_frame:
            _arrow(axes, row, _AXES_COLOURS[row.label], 1.1)
        origin = axes_of_frame[0]
        axes.text(origin.x0 + shift[0], origin.y0 + shift[1], name, ha="center", va="center")
    (offset,) = _lines(data, "offset")
    axes.plot(
        [offset.x0, offset.x1],
        [offset.y0, offset.y1],
        color=_QUIET,
        lw=0.6,
        ls=(0, (4, 3)),
        zorder=1,
    )
    along = np.array([0.75 * offset.x0 + 0.25 * offset.x1, 0.75 * offset.y0 + 0.25 * offset.y1])
    axes.text(along[0], along[1], "  $p, R$", color=_QUIET, ha="left", va="center")
    _finish(axes, data)
    low, high = axes.get_xlim()
    axes.set_xlim(low - _LABEL_ROOM, high + _LABEL_ROOM)
    return figure


def draw_objects(data: pd.DataFrame) -> Figure:
    """Figure 4: boxes to one scale, the simulated object to its own, and the friction experiments'
    objects.
    """
    names = [name for name in dict.fromkeys(data["panel"]) if name != "friction"]
    figure, panels = plt.subplots(
        2, 4, figsize=(style.DOUBLE_COLUMN, 3.3), width_ratios=(1.0, 1.0, 1.0, 1.15)
    )
    spots = [panels[0][0], panels[0][1], panels[0][2], panels[1][0], panels[1][1], panels[1][2]]
    boxes = data[data["panel"].isin(names[:-1])]
    for axes, name in zip(spots, names, strict=True):
        rows = data[data["panel"] == name]
        _draw_edges(axes, rows)
        for row in _lines(rows, "body"):
            _arrow(axes, row, _AXES_COLOURS[row.label], 0.9)
        contacts = rows[rows["kind"] == "contact"]
        axes.plot(contacts["x0"], contacts["y0"], "o", ms=3.0, color=style.LINE, mew=0.0, zorder=6)
        _draw_center(axes, rows)
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
        Line2D(
            [], [], color=_DARK, marker="o", mfc="white", ls="none", ms=5.0, label="centre of mass"
        ),
        Line2D([], [], color=style.LINE, marker="o", ls="none", ms=3.0, label="contact point"),
        *(
            Line2D([], [], color=colour, lw=1.2, label=f"${axis}_B$")
            for axis, colour in _AXES_COLOURS.items()
        ),
    ]
    axes.legend(handles=handles, loc="center left", fontsize=6.5, borderaxespad=0.0)


def _friction_list(axes: Axes, rows: pd.DataFrame) -> None:
    axes.text(
        0.0,
        1.0,
        r"friction objects, $\mu$ (chosen)",
        fontsize=7,
        va="top",
        transform=axes.transAxes,
    )
    for number, row in enumerate(rows.itertuples(), start=1):
        name, _, region = str(row.label).partition("/")
        text = name.replace("_", " ") + ("" if region == "all" else f" ({region})")
        height = 1.0 - 0.095 * (number + 0.3)
        axes.text(0.0, height, text, fontsize=6, va="top", transform=axes.transAxes)
        axes.text(
            1.0,
            height,
            f"{row.value:.2f}",
            fontsize=6,
            va="top",
            ha="right",
            transform=axes.transAxes,
        )


def _draw_edges(axes: Axes, data: pd.DataFrame) -> None:
    for row in _lines(data, "edge", "hidden"):
        hidden = row.kind == "hidden"
        colour = _MATERIALS[row.label]
        axes.plot(
            [row.x0, row.x1], [row.y0, row.y1], color=_LIGHT if hidden and colour == _DARK else colour,
            lw=0.5 if hidden else 0.9, ls=":" if hidden else "-", zorder=2 if hidden else 3,
        )  # fmt: skip


def _draw_center(axes: Axes, data: pd.DataFrame) -> None:
    (row,) = _lines(data, "com")
    axes.plot(row.x0, row.y0, "o", ms=5.5, mfc="white", mec=_DARK, mew=0.8, zorder=7)
    axes.plot(row.x0, row.y0, "+", ms=5.5, mec=_DARK, mew=0.6, zorder=8)


def _arrow(axes: Axes, row: Any, colour: str, width: float) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "lw": width, "mutation_scale": 6 + 2 * width}
    look |= {"shrinkA": 0, "shrinkB": 0}
    axes.annotate(
        "",
        xy=(row.x1, row.y1),
        xytext=(row.x0, row.y0),
        arrowprops=look,
        zorder=5,
        annotation_clip=False,
    )


def _finish(axes: Axes, extent: pd.DataFrame) -> None:
    """Equal axes without lines, wide enough for the rows of ``extent``."""
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
        start + length / 2,
        level + 0.02 * (high - low),
        f"{1e3 * length:g} mm",
        fontsize=6,
        ha="center",
        va="bottom",
    )
