"""Figures 20 and 21: drawings to scale in place of the planar paper's two photographs.

What the paper states is drawn as stated: the ellipse, the bar's slope, the orientation and height of release, two
magnets, eight circles, two electromagnets on a wooden platform that a servo motor turns. Every other size is an
assumption, and says so in the column ``given``.

============== ================================================================================================
column         meaning
============== ================================================================================================
panel          1, 2, ... from the left
part           ``area`` and ``line`` (points of an outline or polyline), ``arrow`` (foot, tip), ``length`` (two
               ends of a dimension), ``angle`` (apex, then points of an arc), ``name`` (place of a text, then the
               place that it names)
item           which one; of a length and a name, its text
material       what it's made of or drawn as: ``wood``, ``sheet``, ``metal``, ``magnet``, ``frame``, ``circle``, ...
order          of the point
x_mm, y_mm     place in the panel's own axes, mm
given          ``paper`` or ``assumed``
============== ================================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.planar.artefacts import pen
from contactid.planar.artefacts.time_lapse import polyline
from contactid.planar.simulate.geometry import Ground, outline_at
from contactid.planar.simulate.rig import BAR_SLOPE, FALL, PLYWOOD, RELEASED_AT, release_pose

COLUMNS = ["panel", "part", "item", "material", "order", "x_mm", "y_mm", "given"]
PAPER, ASSUMED = "paper", "assumed"
_MM = 1e3  # per m
_SHEETS = (440.0, 420.0)  # width and height of the sheets, mm
_BAR = (400.0, 20.0)  # length and height of the bar, mm
_MAGNETS_APART, _MAGNET = 35.0, 10.0  # mm between the holes, and across one
_THICK, _SHEET, _LOOSE = 20.0, 4.0, 1.0  # mm of ellipse and bar, of a sheet, and between the two
_LEVEL = 20.0  # mm: where the slope's angle is drawn
_CIRCLE = 6.0  # mm, tracked circles' radius
_PLATFORM, _PLATFORM_THICK = (64.0, 30.0), 8.0  # mm
_ELECTROMAGNET, _ELECTROMAGNET_LONG = 18.0, 16.0  # mm across and along its axis
_SERVO = (40.0, 20.0, 36.0)  # mm: width, height, depth
_CORNERS = 61  # points of a drawn circle
Points = Sequence[Sequence[float]] | np.ndarray
INSTEAD_OF_PHOTOGRAPH = (
    "Drawing in place of the photograph, to scale. Solid outlines: sizes stated in the paper; dashed: assumed."
)
_QUIET = "#666666"
_FILLS = {
    "wood": "#ecd9b4",
    "platform": "#f3e8cf",
    "sheet": "#dcebf5",
    "paper": "#ffffff",
    "frame": "#e6e6e6",
    "metal": "#b9bec4",
    "magnet": "#5a5a5a",
    "circle": "#222222",
}
_SEEN_THROUGH = {"sheet": 0.55, "frame": 0.75, "magnet": 0.7}
_AROUND = np.array([[-16.0, -8.0], [16.0, 8.0]])  # mm left and below, right and above what is shown
_HEAD = 0.45  # inches of the note above


def rig() -> pd.DataFrame:
    """Figure 20: the set-up from the front (1) and from the side, cut (2); the bar's middle is the origin."""
    ground = Ground(BAR_SLOPE)
    q = release_pose(ground)
    return _table([*_from_front(ground, q), *_from_side(q)])


def release() -> pd.DataFrame:
    """Figure 21: the end-effector from the front (1) and from the side (2); the servo's axis is at the origin."""
    return _table([*_gripper_from_front(), *_gripper_from_side()])


def _from_front(ground: Ground, q: np.ndarray) -> list[pd.DataFrame]:
    """Sheets, bar, ellipse at release and on the bar, robot behind, and the tracked circles."""
    width, height = _SHEETS
    low = -0.30 * height
    sheet = _rectangle(-0.5 * width, low, 0.5 * width, low + height)
    t, n = ground.tangent, ground.normal
    half, deep = 0.5 * _BAR[0] * t, _BAR[1] * n
    bar = np.array([-half, half, half - deep, -half - deep, -half])
    centre, level = _MM * q[:2], (_LEVEL, _height_at(_LEVEL))
    landing = q - [0.0, FALL, 0.0]
    top = low + height
    x = float(centre[0]) - 62.0  # beside the ellipse
    fall = [[x, centre[1]], [x, _MM * landing[1]]]
    corners = [*(sheet[:4] + 15.0 * np.sign(np.mean(sheet[:4], axis=0) - sheet[:4]))]
    circles = corners + [along * t - 0.5 * _BAR[1] * n for along in (-180.0, 180.0)]
    rails = [_rectangle(x - 9.0, low - 25.0, x + 9.0, top + 12.0) for x in (-245.0, 245.0)]
    return [
        _part(1, "area", "beam", "frame", _rectangle(-255.0, centre[1] - 9.0, 255.0, centre[1] + 9.0), ASSUMED),
        *_numbered(1, "rail", "frame", rails, ASSUMED),
        _part(1, "area", "carriage", "frame", _rectangle(*(centre - 30.0), *(centre + 30.0)), ASSUMED),
        _part(1, "area", "sheets", "sheet", sheet, ASSUMED),
        _part(1, "area", "bar", "wood", bar, ASSUMED),
        _part(1, "line", "at first contact", "ghost", _MM * outline_at(PLYWOOD, landing), PAPER),
        _part(1, "area", "ellipse", "wood", _MM * outline_at(PLYWOOD, q), PAPER),
        # the magnets are tracked as circles, too
        *_numbered(1, "magnet", "circle", [_disc(place, 0.5 * _MAGNET) for place in _magnets(q)], ASSUMED),
        *_numbered(1, "circle", "circle", [_disc(place, _CIRCLE) for place in circles], PAPER),
        _part(1, "line", "level", "quiet", [level, (level[0] + 115.0, level[1])], PAPER),
        _part(1, "angle", f"slope \N{MINUS SIGN}{-BAR_SLOPE:g} rad", "quiet", _arc(level, 95.0, 0.0, BAR_SLOPE), PAPER),
        _part(1, "length", f"about {_MM * FALL:.0f} mm", "quiet", fall, PAPER),
        _part(1, "arrow", "horizontal", "motion", [(120.0, centre[1]), (185.0, centre[1])], PAPER),
        _part(1, "arrow", "vertical", "motion", [(-245.0, centre[1] - 60.0), (-245.0, centre[1] - 125.0)], PAPER),
        _part(1, "name", "planar robot, behind", "", [(95.0, top + 25.0), (150.0, centre[1] + 9.0)], PAPER),
        _part(1, "name", "two PMMA sheets", "", [(110.0, 60.0), (110.0, 60.0)], PAPER),
        _part(1, "name", "at first contact", "", [(30.0, 95.0), (centre[0] + 36.0, _MM * landing[1] + 28.0)], PAPER),
        _part(1, "name", "wooden bar", "", [(-110.0, -60.0), (-70.0, _height_at(-70.0) - 16.0)], PAPER),
        _part(1, "name", "tracked circle (8)", "", [(140.0, low - 22.0), (205.0, low + 12.0)], PAPER),
        _part(1, "name", "ellipse, 0.5 rad", "", [(-150.0, top + 25.0), (centre[0] - 12.0, centre[1] + 18.0)], PAPER),
    ]


def _from_side(q: np.ndarray) -> list[pd.DataFrame]:
    """The same cut by a vertical plane through the ellipse; x is the distance from the ellipse's middle."""
    low, top = -0.30 * _SHEETS[1], 0.70 * _SHEETS[1]
    inner = 0.5 * _THICK + _LOOSE
    outer = inner + _SHEET
    y = float(_MM * q[1])
    half = float(np.ptp(_MM * outline_at(PLYWOOD, q)[:, 1])) / 2.0
    bar = _height_at(float(_MM * q[0]))
    back = outer + 1.5
    return [
        _part(2, "area", "front sheet", "sheet", _rectangle(-outer, low, -inner, top), ASSUMED),
        _part(2, "area", "back sheet", "sheet", _rectangle(inner, low, outer, top), ASSUMED),
        _part(2, "area", "paper", "paper", _rectangle(outer, low, back, top), ASSUMED),
        _part(2, "area", "bar", "wood", _rectangle(-0.5 * _THICK, bar - _BAR[1], 0.5 * _THICK, bar), ASSUMED),
        _part(2, "area", "ellipse", "wood", _rectangle(-0.5 * _THICK, y - half, 0.5 * _THICK, y + half), ASSUMED),
        _part(2, "area", "electromagnets", "metal",
              _rectangle(back, y - 9.0, back + _ELECTROMAGNET_LONG, y + 9.0), ASSUMED),
        _part(2, "area", "servo", "frame", _rectangle(back + 24.0, y - 20.0, back + 60.0, y + 20.0), ASSUMED),
        _part(2, "area", "platform", "wood", _rectangle(back + 16.0, y - 32.0, back + 24.0, y + 32.0), ASSUMED),
        _part(2, "name", "end-effector\n(fig. 21)", "", [(58.0, y - 70.0), (back + 42.0, y - 20.0)], PAPER),
        _part(2, "name", "two sheets", "", [(-60.0, 135.0), (-inner - 2.0, 110.0)], PAPER),
        _part(2, "name", "white paper", "", [(66.0, 60.0), (back, 35.0)], PAPER),
        _part(2, "name", "bar", "", [(-50.0, bar - 40.0), (0.0, bar - 10.0)], PAPER),
        _part(2, "name", "ellipse", "", [(-60.0, y + 50.0), (0.0, y + 20.0)], PAPER),
        _part(2, "name", "camera on\nthis side", "", [(-58.0, 20.0), (-58.0, 20.0)], PAPER),
    ]  # fmt: skip


def _gripper_from_front() -> list[pd.DataFrame]:
    """Platform, electromagnets at the magnets' places, the held ellipse's outline and the angle."""
    q, turn = np.array([0.0, 0.0, RELEASED_AT]), _turned(RELEASED_AT)
    wide, tall = _PLATFORM
    platform = _rectangle(-0.5 * wide, -0.5 * tall, 0.5 * wide, 0.5 * tall) @ turn.T
    electromagnets = [_disc(place, 0.5 * _ELECTROMAGNET) for place in _magnets(q)]
    ends = np.array([[-0.050, 0.0], [0.050, 0.0]]) * _MM @ turn.T - 33.0 * turn[:, 1]
    return [
        _part(1, "area", "ellipse", "wood", _MM * outline_at(PLYWOOD, q), PAPER),
        _part(1, "area", "platform", "platform", platform, ASSUMED),
        *_numbered(1, "electromagnet", "metal", electromagnets, ASSUMED),
        *_numbered(1, "magnet", "magnet", [_disc(place, 0.5 * _MAGNET) for place in _magnets(q)], ASSUMED),
        _part(1, "area", "shaft", "frame", _disc((0.0, 0.0), 3.0), ASSUMED),
        _part(1, "line", "level", "quiet", [(0.0, 0.0), (72.0, 0.0)], PAPER),
        _part(1, "line", "axis", "quiet", np.array([[0.0, 0.0], [72.0, 0.0]]) @ turn.T, PAPER),
        _part(1, "angle", f"{RELEASED_AT:g} rad", "motion", _arc((0.0, 0.0), 66.0, 0.0, RELEASED_AT), PAPER),
        _part(1, "length", f"{2.0 * _MM * PLYWOOD.a:.0f} mm", "quiet", ends, PAPER),
        _part(1, "name", "wooden platform", "", [(-52.0, 30.0), (-22.0, 2.0)], PAPER),
        _part(1, "name", "electromagnet,\nmagnet behind it", "", [(2.0, 50.0), (15.5, 14.0)], PAPER),
        _part(1, "name", "ellipse", "", [(-58.0, -36.0), (-40.0, -20.0)], PAPER),
    ]


def _gripper_from_side() -> list[pd.DataFrame]:
    """From the ellipse to the servo, level for clarity; x is the distance from the ellipse's middle."""
    face = 0.5 * _THICK + _LOOSE + _SHEET + 1.5
    platform, servo = face + _ELECTROMAGNET_LONG, face + _ELECTROMAGNET_LONG + _PLATFORM_THICK
    half = 0.5 * _MAGNETS_APART
    rows = [
        _part(2, "area", "ellipse", "wood", _rectangle(-0.5 * _THICK, -50.0, 0.5 * _THICK, 50.0), ASSUMED),
        _part(2, "area", "sheet", "sheet", _rectangle(0.5 * _THICK + _LOOSE, -60.0, face - 1.5, 60.0), ASSUMED),
        _part(2, "area", "platform", "platform",
              _rectangle(platform, -0.5 * _PLATFORM[0], servo, 0.5 * _PLATFORM[0]), ASSUMED),
        _part(2, "area", "shaft", "metal", _rectangle(servo, -3.0, servo + 8.0, 3.0), ASSUMED),
        _part(2, "area", "servo", "frame",
              _rectangle(servo + 8.0, -0.5 * _SERVO[1], servo + 8.0 + _SERVO[2], 0.5 * _SERVO[1]), ASSUMED),
    ]  # fmt: skip
    for k, y in enumerate((-half, half)):
        magnet = _rectangle(-0.5 * _THICK, y - 0.5 * _MAGNET, 0.5 * _THICK, y + 0.5 * _MAGNET)
        coil = _rectangle(face, y - 0.5 * _ELECTROMAGNET, platform, y + 0.5 * _ELECTROMAGNET)
        rows += [_part(2, "area", f"magnet {k}", "magnet", magnet, ASSUMED)]
        rows += [_part(2, "area", f"electromagnet {k}", "metal", coil, ASSUMED)]
    return [
        *rows,
        _part(2, "name", "servo motor", "", [(74.0, 32.0), (servo + 26.0, 8.0)], PAPER),
        _part(2, "name", "electromagnets", "", [(44.0, 54.0), (face + 8.0, half + 6.0)], PAPER),
        _part(2, "name", "PMMA sheet", "", [(42.0, -62.0), (13.0, -54.0)], PAPER),
        _part(2, "name", "wooden platform", "", [(70.0, -40.0), (platform + 4.0, -28.0)], PAPER),
        _part(2, "name", "magnets", "", [(-36.0, -2.0), (-4.0, -half)], PAPER),
        _part(2, "name", "ellipse", "", [(-36.0, 44.0), (-4.0, 40.0)], PAPER),
    ]


def _magnets(q: np.ndarray) -> np.ndarray:
    """(2, 2) places of the ellipse's magnets, mm."""
    return _MM * q[:2] + np.array([[-0.5 * _MAGNETS_APART, 0.0], [0.5 * _MAGNETS_APART, 0.0]]) @ _turned(q[2]).T


def _height_at(x: float) -> float:
    """Of the bar's upper side, mm."""
    return float(np.tan(BAR_SLOPE)) * x


def _turned(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _rectangle(left: float, low: float, right: float, top: float) -> np.ndarray:
    """(5, 2) closed outline."""
    return np.array([[left, low], [right, low], [right, top], [left, top], [left, low]])


def _disc(centre: Sequence[float] | np.ndarray, radius: float) -> np.ndarray:
    """(n, 2) closed outline."""
    angle = np.linspace(0.0, 2.0 * np.pi, _CORNERS)
    return np.asarray(centre) + radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _arc(apex: Sequence[float], radius: float, start: float, end: float) -> np.ndarray:
    """(1 + n, 2) apex, and points from one angle to another."""
    angle = np.linspace(start, end, _CORNERS)
    return np.vstack([apex, np.asarray(apex) + radius * np.column_stack([np.cos(angle), np.sin(angle)])])


def _part(panel: int, part: str, item: str, material: str, points: Points, given: str) -> pd.DataFrame:
    """The rows of one item."""
    xy, said = np.asarray(points, dtype=float), {"panel": panel, "part": part, "item": item, "material": material}
    return polyline(xy, "mm", **said, order=range(len(xy)), given=given)


def _numbered(panel: int, item: str, material: str, outlines: Sequence[Points], given: str) -> list[pd.DataFrame]:
    """Areas of the same kind."""
    return [_part(panel, "area", f"{item} {k}", material, points, given) for k, points in enumerate(outlines)]


def _table(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)[COLUMNS]


def draw_rig(data: pd.DataFrame) -> Figure:
    """Figure 20: the set-up from the front (a) and from the side (b)."""
    return _draw_views(data, ("(a) from the front", "(b) from the side, cut"))


def draw_release(data: pd.DataFrame) -> Figure:
    """Figure 21: the end-effector from the front (a) and from the side (b)."""
    titles = "(a) along the servo's axis, seen through", "(b) from the side; inverting the field lets go"
    return _draw_views(data, titles)


def _draw_views(data: pd.DataFrame, titles: Sequence[str]) -> Figure:
    """Panels beside each other, of one scale."""
    parts, width = [part for _, part in data.groupby("panel")], style.DOUBLE_COLUMN
    boxes = [part[["x_mm", "y_mm"]].agg(["min", "max"]).to_numpy() + _AROUND for part in parts]
    wide = [float(box[1, 0] - box[0, 0]) for box in boxes]
    low, top = min(box[0, 1] for box in boxes), max(box[1, 1] for box in boxes)
    height = (width - 0.2) * (top - low) / sum(wide) + _HEAD + 0.15
    figure, panels = plt.subplots(1, len(parts), figsize=(width, height), width_ratios=wide, squeeze=False)
    for axes, part, box, title in zip(panels[0], parts, boxes, titles, strict=True):
        axes.set(xlim=box[:, 0], ylim=(low, top), aspect="equal")
        axes.set_axis_off()
        axes.set_title(title, loc="left")
        for place, (_, item) in enumerate(part.groupby(["part", "item"], sort=False)):
            _draw_item(axes, item, 1.0 + 0.01 * place)
    figure.suptitle(INSTEAD_OF_PHOTOGRAPH, fontsize=7, color=_QUIET)
    return figure


def _draw_item(axes: Axes, item: pd.DataFrame, order: float) -> None:
    """One area, line, arrow, length, angle or name; later ones lie over earlier ones."""
    first = item.iloc[0]
    points = item[["x_mm", "y_mm"]].to_numpy(dtype=float)
    if first["part"] == "area":
        _draw_area(axes, points, first["material"], first["given"] == "paper", order)
    elif first["part"] == "line":
        ghost = first["material"] == "ghost"
        axes.plot(*points.T, color=style.LINE if ghost else _QUIET, lw=0.9 if ghost else 0.5, zorder=order)
    elif first["part"] == "angle":
        axes.plot(*points[1:-3].T, color=_QUIET, lw=0.7, zorder=order)
        pen.arrow(axes, points[-4], points[-1], _QUIET, 0.7, joins="round")
        pen.say(axes, points[len(points) // 2], first["item"], (4, 0), pen.DARK, ha="left")
    elif first["part"] == "length":
        pen.arrow(axes, points[0], points[1], _QUIET, 0.7, "<|-|>", joins="round")
        box = {"fc": "white", "ec": "none", "pad": 1.0}
        pen.say(axes, points.mean(axis=0), first["item"], (0, 0), pen.DARK, bbox=box)
    elif first["part"] == "arrow":
        pen.arrow(axes, points[0], points[1], style.RELEASE, 1.1, "<|-|>", joins="round")
    else:
        _name(axes, points[0], points[-1], first["item"])


def _draw_area(axes: Axes, points: np.ndarray, material: str, stated: bool, order: float) -> None:
    """A filled outline, dashed where its size is assumed; circles are too small for dashes."""
    axes.fill(*points.T, fc=_FILLS[material], ec="none", alpha=_SEEN_THROUGH.get(material, 1.0), zorder=order)
    if material != "circle":
        axes.plot(*points.T, color=pen.DARK, lw=0.7, ls="-" if stated else (0, (4.0, 2.0)), zorder=order)


def _name(axes: Axes, place: np.ndarray, named: np.ndarray, text: str) -> None:
    """A text, and a thin line from it to what it names."""
    look = {"arrowstyle": "-", "color": _QUIET, "lw": 0.5, "shrinkA": 1.0, "shrinkB": 0.0}
    pointing = None if np.allclose(place, named) else look
    axes.annotate(
        text, xy=tuple(named), xytext=tuple(place), arrowprops=pointing, ha="center", va="center", fontsize=7,
        color=pen.DARK, path_effects=pen.HALO, zorder=6,
    )  # fmt: skip
