"""Draw figures 1 to 4 and 11 of the tossing paper from their scenes
(:mod:`contactid.tossing.artefacts.scenes`).

What is seen from where, and how large, is decided here; every point, length and speed comes from
the table. A scene is turned into the view by one matrix and drawn on flat axes: faces that look
away are left out, and boxes follow one another in a stated order. Matplotlib's axes in three
dimensions need the same two steps by hand, show a square window that clips a long scene, and know
no texts that keep a distance.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LightSource, to_rgb
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

from contactid.output import pen, style
from contactid.output.pen import QUIET
from contactid.tossing.artefacts.scenes import points_of

INSTEAD_OF_PHOTOGRAPH = "rendered from data in place of a photograph"
INSTEAD_OF_SKETCH = "rendered to scale from data in place of a sketch"

_GRID = 0.1  # m between the lines on the surface
_PLANE, _PLANE_EDGE, _PLANE_LINE = "#eef1f4", "#6b7680", "#d3d9df"
_CARTON, _SHADOW = "#cfcfcf", "#5b6570"
_INSTANTS = {"release": style.RELEASE, "first contact": style.ACCENT, "rest": style.REST}
# degrees between where the viewer and where the light stands, so that seen sides differ in
# brightness
_ASIDE = 100.0
_DARKEST = 0.62  # brightness of sides in the dark
_HEAD = 0.50  # inches for the title above and the line about the data below
_TALLEST = 4.2  # inches of a figure
_CALL_OUT = 0.85  # inches that the name of an instant takes
_NEAREST, _FARTHEST = 3.0, 15.0  # points between a name's edge and what it names
# change of brightness (0 to 765) from pixel to pixel: lines and letters, but no plain areas
_INK = 40.0
_DASHED = (0, (4, 2))


class Picture:
    """A scene on axes whose data coordinates are metres of the view, right and up."""

    def __init__(self, axes: Axes, data: pd.DataFrame, azimuth: float, elevation: float) -> None:
        self.axes: Any = axes  # matplotlib's types know tuples where it takes arrays
        self.data, self.view = data, pen.view(azimuth, elevation)
        self.light = LightSource(azimuth + _ASIDE, 50.0).direction
        self._names: list[tuple[np.ndarray, str, str, np.ndarray]] = []
        axes.set_aspect("equal")
        axes.margins(0.005)
        axes.set_axis_off()

    def flat(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) in C as seen (..., 2)."""
        return np.asarray(points) @ self.view[:2].T

    def part(self, part: str, item: str | None = None) -> pd.DataFrame:
        """Rows of one part of the scene, or of one item of it."""
        chosen = self.data["part"] == part
        return self.data[chosen if item is None else chosen & (self.data["item"] == item)]

    def points(self, part: str, item: str | None = None) -> np.ndarray:
        """Points (n, 3) of :meth:`part`."""
        return points_of(self.part(part, item))

    def line(self, points: np.ndarray, colour: str, width: float, **more: Any) -> None:
        """A line through points (n, 3)."""
        self.axes.plot(*self.flat(points).T, color=colour, lw=width, **more)

    def surface(self, *, numbered: bool = False) -> None:
        """The surface with its grid; ``numbered`` writes coordinates (m) along the two nearer
        edges.
        """
        border = self.points("surface")
        edge = {"facecolor": _PLANE, "edgecolor": _PLANE_EDGE, "lw": 0.9}
        self.axes.fill(*self.flat(border).T, zorder=0.1, **edge)
        low, high = border.min(axis=0), border.max(axis=0)
        for axis, other in ((0, 1), (1, 0)):
            steps = np.arange(np.ceil(low[axis] / _GRID), np.floor(high[axis] / _GRID) + 1)
            for step in steps:
                ends = np.array([low, high])
                ends[:, axis] = _GRID * step
                self.line(ends, _PLANE_LINE, 0.4, zorder=0.2)
            if numbered:
                self._coordinates(axis, other, steps[steps % 2 == 0], low, high)

    def _coordinates(
        self, axis: int, other: int, steps: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> None:
        """Numbers and the name of an axis along the nearer edge."""
        nearer = self.view[2, other] > 0.0
        at = (high if nearer else low).copy()
        out = self.view[:2, other] * (1.0 if nearer else -1.0)
        out /= np.linalg.norm(out)
        for step in steps:
            at[axis] = _GRID * step
            text = f"{at[axis] + 0.0:.1f}"
            pen.say(self.axes, self.flat(at), text, 9.0 * out, QUIET, fontsize=6.0)
        at[axis] = 0.5 * (low[axis] + high[axis])
        pen.say(self.axes, self.flat(at), f"${'xy'[axis]}_C$ (m)", 30.0 * out, "black")

    def shadow(self, item: str, alpha: float) -> None:
        """What lies straight below a box."""
        corners = self.points("face", item)
        outline = corners[ConvexHull(corners[:, :2]).vertices] * [1.0, 1.0, 0.0]
        self.axes.fill(*self.flat(outline).T, color=_SHADOW, lw=0, alpha=alpha, zorder=0.3)

    def box(self, item: str, colour: str, *, alpha: float = 1.0, hidden: bool = False) -> None:
        """A box over those drawn before; ``hidden`` shows its edges at the back dashed."""
        faces = self.points("face", item).reshape(6, 4, 3)
        # faces are anticlockwise from outside, so these point outwards
        normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 1])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        edge = {"ec": "black", "lw": 0.6, "joinstyle": "round"}
        for face, normal in zip(faces, normals, strict=True):
            lit = max(0.0, float(normal @ self.light))
            shade = np.array(to_rgb(colour)) * (_DARKEST + (1.0 - _DARKEST) * lit)
            if normal @ self.view[2] > 0.0:
                self.axes.fill(*self.flat(face).T, fc=(*shade, alpha), **edge)
            elif hidden:
                self.line(np.vstack([face, face[:1]]), QUIET, 0.4, ls=(0, (3, 2)), zorder=0.9)

    def mark(self, points: np.ndarray, colour: str, size: float) -> None:
        """Round marks at points (n, 3)."""
        self.axes.plot(*self.flat(points).T, "o", color=colour, mec="black", mew=0.6, ms=size)

    def arrow(self, ends: np.ndarray, colour: str, width: float) -> None:
        """An arrow from the first to the last of two points (2, 3)."""
        tail, tip = self.flat(ends)
        self.axes.plot(*tip, alpha=0.0)  # an annotation alone leaves the limits as they are
        lifted = {"mutation_scale": 9.0, "path_effects": pen.halo(width + 1.4)}
        pen.arrow(self.axes, tail, tip, colour, width, **lifted)

    def dimension(self, ends: np.ndarray, text: str, aside: float) -> None:
        """A length between two points (2, 3), written ``aside`` (points) to the left of their line,
        which runs to the right or upward in the picture.
        """
        flat = self.flat(ends)
        pen.dimension(self.axes, flat[np.argsort(flat @ [1.0, 0.1])], text, aside)

    def name(self, point: np.ndarray, text: str, colour: str, prefer: Any) -> None:
        """A name that finds its own place near a point (3,), preferably in a direction of the
        picture (2,).
        """
        wish = np.asarray(prefer) / max(float(np.linalg.norm(prefer)), 1e-12)
        self._names.append((self.flat(point), text, colour, wish))

    def place_names(self, ink: np.ndarray) -> None:
        """Put each name where it hides least of the page's ``ink``, of (pixels up, pixels to the
        right).
        """
        point = self.axes.figure.dpi / 72.0
        around = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
        directions = np.column_stack([np.cos(around), np.sin(around)])
        distances = np.linspace(_NEAREST, _FARTHEST, 4)
        for flat, text, colour, wish in self._names:
            pen.say(self.axes, flat, text, colour=colour, fontsize=8.0)
            label, start = self.axes.texts[-1], self.axes.transData.transform(flat)
            # half of the name's own size, and a point of room
            half = 0.5 * label.get_window_extent().size + point
            least = np.inf
            for distance, direction in product(distances, directions):
                # from the middle of the name to its edge, and on to what it names
                to_edge = np.min(half / np.maximum(np.abs(direction), 1e-9))
                shift = direction * (to_edge + distance * point)
                low, high = np.maximum(start + shift + np.outer([-1, 1], half), 0.0).astype(int)
                under = slice(low[1], high[1]), slice(low[0], high[0])
                # off the page
                covered = float(ink[under].mean()) if ink[under].size else 1.0
                # hiding weighs most
                cost = 20.0 * covered + 0.1 * distance + 1.0 - float(direction @ wish)
                if cost < least:
                    least, best, taken = cost, shift / point, under
            label.xyann = best
            # later names keep off this one
            ink[taken] = True

    def toss(self, faintest: float) -> None:
        """Boxes from the ``faintest`` (opacity) to the last, the path of B's origin, and names of
        the instants.
        """
        instants = self.part("origin").sort_values("sample")
        instants = instants.assign(opacity=np.linspace(faintest, 1.0, len(instants)))
        # the farthest box first, so that nearer ones cover it
        nearness = points_of(instants) @ self.view[2]
        for item in instants["item"]:
            self.shadow(item, 0.12)
        for _, row in instants.iloc[np.argsort(nearness)].iterrows():
            self.box(row["item"], _INSTANTS.get(row["item"], _CARTON), alpha=row["opacity"])
        self.belt()
        for item, path in self.part("path").groupby("item", sort=False):
            points = points_of(path)
            if item == "carried":
                self.line(points, QUIET, 1.2, ls=(0, (1, 1.5)))
                self.name(points[len(points) // 2], "carried", QUIET, (0.0, 1.0))
            else:
                self.line(points, style.LINE, 1.2, path_effects=pen.halo(2.6))
        for item, place in zip(instants["item"], points_of(instants), strict=True):
            self.mark(place[None], _INSTANTS.get(item, "white"), 4.5 if item in _INSTANTS else 2.5)
        self._call_out(instants[~instants["item"].str.startswith("between")])

    def _call_out(self, instants: pd.DataFrame) -> None:
        """Name instants over everything drawn, each with its time and a thin line down to B's
        origin.
        """
        flat, places = self.flat(points_of(self.data)), self.flat(points_of(instants))
        page = self.axes.get_position().size * self.axes.figure.get_size_inches()
        inch = float((np.ptp(flat, axis=0) / page).max())  # m in the picture
        last, raised = -np.inf, False
        for k in np.argsort(places[:, 0], kind="stable"):
            (x, y), item, time = places[k], instants["item"].iloc[k], instants["time_s"].iloc[k]
            # its neighbour is too near for one row
            raised = not raised and x - last < _CALL_OUT * inch
            last = x
            top = float(flat[:, 1].max()) + (0.42 if raised else 0.1) * inch
            said = f"{time:+.2f} s".replace("-", "\N{MINUS SIGN}") if time else "0 s"
            pen.point_out(self.axes, (x, y), f"{item}\n{said}", (x, top), va="bottom")

    def belt(self) -> None:
        """The belt's arrow, moved to the side of the surface that is nearest to the viewer."""
        rows = self.part("belt")
        if len(rows):
            border = self.points("surface")
            nearest = border[np.argsort(border @ self.view[2])[-2:]].mean(axis=0)
            ends = points_of(rows) + 0.75 * (nearest - border.mean(axis=0))
            self.arrow(ends, style.RELEASE, 2.0)
            self.name(ends[1], f"belt {_measure(rows)}", style.RELEASE, (0.0, -1.0))

    def frames(self) -> dict[str, np.ndarray]:
        """The axes and letters of all frames, and their origins (3,) by name."""
        origins = {}
        for frame, axes in self.part("axis").groupby("item", sort=False):
            letters = str(frame).split()
            directions = zip("xyz", pen.AXIS_COLOURS, axes.groupby("index"), strict=True)
            for axis, colour, (_, ends) in directions:
                points = points_of(ends)
                self.arrow(points, colour, 1.4)
                name = rf"$\mathbf{{{axis}}}_{letters[0]}$"
                self.name(points[1], name, colour, np.diff(self.flat(points), axis=0)[0])
            origins[str(frame)] = points[0]
            self.mark(points[:1], "white", 3.0)
            name = r"$\,\approx\,$".join(f"${letter}$" for letter in letters)
            self.name(points[0], name, "black", (-1.0, -0.7))
        return origins


def draw_example_toss(data: pd.DataFrame, numbered: bool = False) -> Figure:
    """Figure 1: a toss in time lapse, from beside; figure 11 (``numbered``): from elsewhere, with
    coordinates.
    """
    path = points_of(data[data["part"] == "path"])
    x, y, _ = path[-1] - path[0]
    across = float(np.degrees(np.arctan2(y, x))) - 90.0
    width = (0.8 if numbered else 1.0) * style.DOUBLE_COLUMN
    picture = _picture(data, width, across + (40.0 if numbered else 14.0), 24.0)
    picture.surface(numbered=numbered)
    picture.toss(faintest=0.45)
    return _finish(picture, INSTEAD_OF_PHOTOGRAPH)


def draw_frames(data: pd.DataFrame) -> Figure:
    """Figure 2: frames and contact points."""
    picture = _picture(data, 0.7 * style.DOUBLE_COLUMN, -62.0, 22.0)
    picture.surface()
    picture.shadow("B", 0.16)
    picture.box("B", _CARTON, alpha=0.65, hidden=True)
    origins = picture.frames()
    surface = next(name for name in origins if "C" in name)
    vectors = [(surface, "B", r"${}^C\mathbf{o}_B$"), ("M", surface, r"${}^M\mathbf{o}_C$")]
    for start, end, name in vectors:
        if start in origins:
            ends = np.stack([origins[start], origins[end]])
            picture.line(ends, QUIET, 0.8, ls=_DASHED)
            picture.name(ends.mean(axis=0), name, QUIET, (0.3, 1.0))
    corners = picture.part("corner", "B")
    picture.mark(points_of(corners), "black", 2.4)
    for number, point in zip(corners["index"], points_of(corners), strict=True):
        outward = picture.flat(point - origins["B"])
        picture.name(point, rf"$\mathbf{{p}}_{number}$", "black", outward)
    return _finish(picture, INSTEAD_OF_SKETCH)


def draw_setup(data: pd.DataFrame) -> Figure:
    """Figure 3: surface, frames and one toss in overview."""
    picture = _picture(data, style.DOUBLE_COLUMN, -68.0, 30.0)
    picture.surface()
    border = picture.points("surface")
    for side, what in ((border[:2], "surface shown: "), (border[1:3], "")):
        length = float(np.linalg.norm(side[1] - side[0]))
        picture.dimension(side, f"{what}{length:.2f} m", -8.0)
    picture.toss(faintest=0.9)
    for item, what, aside in (("travel", "travel ", -34.0), ("height", "", 46.0)):
        rows = picture.part("dimension", item)
        picture.dimension(points_of(rows), f"{what}{_measure(rows)}", aside)
    picture.frames()
    return _finish(picture, INSTEAD_OF_PHOTOGRAPH)


def draw_boxes(data: pd.DataFrame) -> Figure:
    """Figure 4: the objects to one scale."""
    names = [str(name) for name in dict.fromkeys(data["object"])]
    width = max(style.SINGLE_COLUMN, style.DOUBLE_COLUMN * min(1.0, len(names) / 4.0))
    picture = _picture(data, width, -90.0, 24.0, height=2.4)
    foot = float(picture.flat(points_of(data))[:, 1].min())
    for letter, name in zip("abcdefghijklmnopqrstuvwxyz", names, strict=False):
        picture.data = data[data["object"] == name]
        picture.shadow(name, 0.18)
        picture.box(name, _CARTON)
        for item in ("length", "width", "height"):
            side = picture.part("dimension", item)
            picture.dimension(points_of(side), f"{side['value'].iloc[0]:.4g}", -7.0)
        mass = picture.part("mass")
        below = picture.flat(points_of(mass))[0, 0], foot
        called = f"({letter}) {name}" if len(names) > 1 else name
        pen.say(picture.axes, below, called, (0.0, -20.0), "black", fontsize=8.0)
        weighs = f"{mass['value'].iloc[0]:.4g} {mass['unit'].iloc[0]}"
        pen.say(picture.axes, below, weighs, (0.0, -30.0), "black")
    return _finish(picture, INSTEAD_OF_PHOTOGRAPH, "Sizes in mm")


def _picture(
    data: pd.DataFrame, width: float, azimuth: float, elevation: float, height: float = _TALLEST
) -> Picture:
    _, axes = plt.subplots(figsize=(width, height))
    return Picture(axes, data, azimuth, elevation)


def _finish(picture: Picture, instead: str, shown: str = "") -> Figure:
    """Place the names, write the title, and cut the page to the height that the scene needs."""
    figure, first = picture.axes.figure, picture.data.iloc[0]
    grid = "" if shown else f"; grid {_GRID} m"
    shown = shown or f"{first['object']}, toss {first['toss']}"
    figure.suptitle(f"{shown}\n{instead}{grid}", x=0.01, ha="left", fontsize=pen.SMALL)
    figure.canvas.draw()
    page = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3].astype(float).sum(axis=2)
    picture.place_names(np.hypot(*np.gradient(page)) > _INK)
    needed = picture.axes.get_tightbbox().height / figure.dpi + _HEAD
    figure.set_figheight(min(figure.get_figheight(), needed))
    return figure


def _measure(rows: pd.DataFrame) -> str:
    return f"{rows['value'].iloc[0]:.2f} {rows['unit'].iloc[0]}"
