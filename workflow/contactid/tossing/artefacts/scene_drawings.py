"""Draw figures 1 to 4 and 11 of the tossing paper from their scenes
(:mod:`contactid.tossing.artefacts.scenes`).

What is seen from where, and how large, is decided here; every point, length and speed comes from
the table. A scene is turned into the view by one matrix and drawn on flat axes: faces that look
away are left out, and boxes follow one another in a stated order. Matplotlib's axes in three
dimensions need the same two steps by hand, show a square window that clips a long scene, and know
no texts that keep a distance.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LightSource, to_rgb
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation

from contactid.output import style
from contactid.tossing.artefacts.scenes import points_of

INSTEAD_OF_PHOTOGRAPH = "rendered from data in place of a photograph"
INSTEAD_OF_SKETCH = "rendered to scale from data in place of a sketch"

_GRID = 0.1  # m between the lines on the surface
_QUIET = "#555555"
_PLANE, _PLANE_EDGE, _PLANE_LINE = "#eef1f4", "#6b7680", "#d3d9df"
_CARTON = "#cfcfcf"
_AXIS_COLOURS = (style.RELEASE, style.ACCENT, style.LINE)
_INSTANTS = {"release": style.RELEASE, "first contact": style.ACCENT, "rest": style.REST}
# degrees between where the viewer and where the light stands, so that seen sides differ in
# brightness
_ASIDE = 100.0
_HEAD = 0.50  # inches for the title above and the line about the data below
_TALLEST = 4.2  # inches of a figure
_CALL_OUT = 0.85  # inches that the name of an instant takes
_NEAREST, _FARTHEST = 3.0, 15.0  # points between a name's edge and what it names
# change of brightness (0 to 765) from pixel to pixel: lines and letters, but no plain areas
_INK = 40.0
_SMALL = 7.0
_ABOVE, _BELOW = np.array([0.0, 1.0]), np.array([0.0, -1.0])


def view(azimuth: float, elevation: float) -> np.ndarray:
    """(3, 3) with the rows right, up and towards the viewer, in C, from a direction about and over
    the xy plane (deg).

    z_C stays upright in the picture.
    """
    (sa, ca), (se, ce) = (
        (np.sin(angle), np.cos(angle)) for angle in np.radians([azimuth, elevation])
    )
    return np.array([[-sa, ca, 0.0], [-ca * se, -sa * se, ce], [ca * ce, sa * ce, se]])


class Picture:
    """A scene on axes whose data coordinates are metres of the view, right and up."""

    def __init__(self, axes: Axes, data: pd.DataFrame, azimuth: float, elevation: float) -> None:
        self.axes: Any = axes  # matplotlib's types know tuples where it takes arrays
        self.data, self.view = data, view(azimuth, elevation)
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
        low, high = border[:, :2].min(axis=0), border[:, :2].max(axis=0)
        self.axes.fill(
            *self.flat(border).T, facecolor=_PLANE, edgecolor=_PLANE_EDGE, lw=0.9, zorder=0.1
        )
        for axis, other in ((0, 1), (1, 0)):
            steps = np.arange(np.ceil(low[axis] / _GRID), np.floor(high[axis] / _GRID) + 1)
            ends = np.zeros((len(steps), 2, 3))
            ends[:, :, axis], ends[:, 0, other], ends[:, 1, other] = (
                _GRID * steps[:, None],
                low[other],
                high[other],
            )
            for end in ends:
                self.line(end, _PLANE_LINE, 0.4, zorder=0.2)
            if numbered:
                near = int(self.view[2, other] > 0.0)
                out = self.view[:2, other] * (2 * near - 1)
                out /= np.linalg.norm(out)
                for step, end in zip(steps, ends[:, near], strict=True):
                    if step % 2 == 0:
                        self.write(
                            self.flat(end),
                            f"{_GRID * step + 0.0:.1f}",
                            _QUIET,
                            shift=9.0 * out,
                            size=6.0,
                        )
                self.write(
                    self.flat(ends[:, near].mean(axis=0)), f"${'xy'[axis]}_C$ (m)", shift=30.0 * out
                )

    def shadow(self, item: str, alpha: float) -> None:
        """What lies straight below a box."""
        self.axes.fill(
            *self.flat(self.points("shadow", item)).T,
            color="#5b6570",
            lw=0,
            alpha=alpha,
            zorder=0.3,
        )

    def box(self, item: str, colour: str, *, alpha: float = 1.0, hidden: bool = False) -> None:
        """A box over those drawn before; ``hidden`` shows its edges at the back dashed."""
        faces = self.points("face", item).reshape(6, 4, 3)
        normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 1])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        for face, normal in zip(faces, normals, strict=True):
            if normal @ self.view[2] > 0.0:
                brightness = 0.62 + 0.38 * max(
                    0.0, float(normal @ self.light)
                )  # no side is darker than that
                shade = tuple(brightness * np.array(to_rgb(colour)))
                self.axes.fill(
                    *self.flat(face).T, fc=(*shade, alpha), ec="black", lw=0.6, joinstyle="round"
                )
            elif hidden:
                self.line(np.vstack([face, face[:1]]), _QUIET, 0.4, ls=(0, (3, 2)), zorder=0.9)

    def mark(self, points: np.ndarray, colour: str, size: float) -> None:
        """Round marks at points (n, 3)."""
        self.axes.plot(*self.flat(points).T, "o", color=colour, mec="black", mew=0.6, ms=size)

    def arrow(self, ends: np.ndarray, colour: str, width: float) -> None:
        """An arrow from the first to the last of two points (2, 3)."""
        tail, tip = self.flat(ends)
        look = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0.0, "shrinkB": 0.0}
        look |= {
            "mutation_scale": 9.0,
            "path_effects": [withStroke(linewidth=width + 1.4, foreground="white")],
        }
        self.axes.plot(*tip, alpha=0.0)  # an annotation alone leaves the limits as they are
        self.axes.annotate("", tip, tail, arrowprops=look)

    def write(
        self, flat: np.ndarray, text: str, colour: str = "black", *,
        shift: np.ndarray | tuple[float, float] = (0.0, 0.0), size: float = _SMALL, turn: float = 0.0,
    ) -> None:  # fmt: skip
        """A text whose middle lies ``shift`` (points) from a place in the picture (2,), ``turn`` in
        degrees.
        """
        self.axes.annotate(
            text, flat, shift, textcoords="offset points", color=colour, fontsize=size, rotation=turn, ha="center",
            va="center_baseline", rotation_mode="anchor", path_effects=[withStroke(linewidth=1.8, foreground="white")],
        )  # fmt: skip

    def dimension(self, ends: np.ndarray, text: str, aside: float) -> None:
        """A length between two places in the picture (2, 2), written ``aside`` (points) to the left
        of their line.
        """
        first, last = ends
        along = (last - first) / np.linalg.norm(last - first)
        left = np.sign(aside) * np.array([-along[1], along[0]])
        moved = abs(aside) * left / 72.0
        there = self.axes.transData + ScaledTranslation(
            moved[0], moved[1], self.axes.figure.dpi_scale_trans
        )
        look = {
            "arrowstyle": "|-|,widthA=0.25,widthB=0.25",
            "lw": 0.6,
            "shrinkA": 0.0,
            "shrinkB": 0.0,
        }
        self.axes.annotate("", last, first, xycoords=there, textcoords=there, arrowprops=look)
        turn = float(np.degrees(np.arctan2(along[1], along[0])))
        turn = (
            turn - 180.0 if turn > 91.0 else turn + 180.0 if turn < -89.0 else turn
        )  # never upside down
        self.write(
            0.5 * (first + last), text, shift=(abs(aside) + 0.5 * _SMALL + 2.5) * left, turn=turn
        )

    def name(
        self, point: np.ndarray, text: str, colour: str = "black", *, prefer: np.ndarray
    ) -> None:
        """A name that finds its own place near a point (3,), preferably in a direction of the
        picture (2,).
        """
        self._names.append(
            (self.flat(point), text, colour, prefer / max(float(np.linalg.norm(prefer)), 1e-12))
        )

    def place_names(self, ink: np.ndarray) -> None:
        """Put each name where it hides least of the page's ``ink``, of (pixels up, pixels to the
        right).
        """
        point = self.axes.figure.dpi / 72.0
        directions = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
        ways = np.stack([np.cos(directions), np.sin(directions)], axis=1)
        for flat, text, colour, wish in self._names:
            self.write(flat, text, colour, size=8.0)
            made, start = self.axes.texts[-1], self.axes.transData.transform(flat)
            size = made.get_window_extent()
            half = 0.5 * np.array([size.width, size.height]) + point
            least = np.inf
            for away in np.linspace(_NEAREST, _FARTHEST, 4):
                for way in ways:
                    shift = way * (np.min(half / np.maximum(np.abs(way), 1e-9)) + away * point)
                    low, high = (
                        np.maximum(start + shift + side * half, 0.0).astype(int) for side in (-1, 1)
                    )
                    under = slice(low[1], high[1]), slice(low[0], high[0])
                    covered = float(ink[under].mean()) if ink[under].size else 1.0
                    cost = (
                        20.0 * covered + 0.1 * away + 1.0 - float(way @ wish)
                    )  # hiding weighs most
                    if cost < least:
                        least, best, taken = cost, shift / point, under
            made.xyann = best
            ink[taken] = True

    def toss(self, faintest: float) -> None:
        """Boxes from the ``faintest`` (opacity) to the last, the path of B's origin, and names of
        the instants.
        """
        instants = self.part("origin").sort_values("sample")
        opacity = dict(
            zip(instants["item"], np.linspace(faintest, 1.0, len(instants)), strict=True)
        )
        for item in opacity:
            self.shadow(item, 0.12)
        for item in sorted(
            opacity, key=lambda item: float(self.points("origin", item)[0] @ self.view[2])
        ):
            self.box(item, _INSTANTS.get(item, _CARTON), alpha=opacity[item])
        self.belt()
        for item, path in self.part("path").groupby("item", sort=False):
            points = points_of(path)
            if item == "carried":
                self.line(points, _QUIET, 1.2, ls=(0, (1, 1.5)))
                self.name(points[len(points) // 2], "carried", _QUIET, prefer=_ABOVE)
            else:
                self.line(
                    points,
                    style.LINE,
                    1.2,
                    path_effects=[withStroke(linewidth=2.6, foreground="white")],
                )
        for item, place in zip(instants["item"], points_of(instants), strict=True):
            self.mark(place[None], _INSTANTS.get(item, "white"), 4.5 if item in _INSTANTS else 2.5)
        self._call_out(instants[~instants["item"].str.startswith("between")])

    def _call_out(self, instants: pd.DataFrame) -> None:
        """Name instants over everything drawn, each with its time and a thin line down to B's
        origin.
        """
        flat = self.flat(points_of(self.data))
        page = self.axes.get_position().size * self.axes.figure.get_size_inches()
        inch = float((np.ptp(flat, axis=0) / page).max())  # m in the picture
        top, last, raised = float(flat[:, 1].max()) + 0.1 * inch, -np.inf, False
        places = self.flat(points_of(instants))
        for k in np.argsort(places[:, 0], kind="stable"):
            (x, y), item, time = places[k], instants["item"].iloc[k], instants["time_s"].iloc[k]
            raised = (
                not raised and x - last < _CALL_OUT * inch
            )  # its neighbour is too near for one row
            last = x
            said = f"{time:+.2f} s".replace("-", "\N{MINUS SIGN}") if time else "0 s"
            self.axes.annotate(
                f"{item}\n{said}", (x, y), (x, top + 0.32 * inch * raised), fontsize=_SMALL, ha="center", va="bottom",
                linespacing=1.1, arrowprops={"arrowstyle": "-", "lw": 0.4, "shrinkA": 1.0, "shrinkB": 0.0},
            )  # fmt: skip

    def belt(self) -> None:
        """The belt's arrow, moved to the side of the surface that is nearest to the viewer."""
        rows = self.part("belt")
        if len(rows):
            border = self.points("surface")
            nearest = border[np.argsort(border @ self.view[2])[-2:]].mean(axis=0)
            ends = points_of(rows) + 0.75 * (nearest - border.mean(axis=0))
            self.arrow(ends, style.RELEASE, 2.0)
            self.name(ends[1], f"belt {_measure(rows)}", style.RELEASE, prefer=_BELOW)

    def frame(self, frame: str) -> None:
        """The axes of a frame, and its letter."""
        letter, axes = frame.split()[0], self.part("axis", frame)
        origin = points_of(axes)[0]
        for k, colour in enumerate(_AXIS_COLOURS):
            ends = points_of(axes[axes["index"] == k])
            self.arrow(ends, colour, 1.4)
            name = rf"$\mathbf{{{'xyz'[k]}}}_{letter}$"
            self.name(ends[1], name, colour, prefer=np.diff(self.flat(ends), axis=0)[0])
        self.mark(origin[None], "white", 3.0)
        name = r"$\,\approx\,$".join(f"${part}$" for part in frame.split())
        self.name(origin, name, prefer=np.array([-1.0, -0.7]))

    def corners(self, item: str, center: np.ndarray) -> None:
        """Contact points with their numbers, preferably on the side away from the body's middle."""
        rows = self.part("corner", item)
        self.mark(points_of(rows), "black", 2.4)
        for number, point in zip(rows["index"], points_of(rows), strict=True):
            self.name(point, rf"$\mathbf{{p}}_{number}$", prefer=self.flat(point - center))


def draw_example_toss(data: pd.DataFrame, numbered: bool = False) -> Figure:
    """Figure 1: a toss in time lapse, from beside; figure 11 (``numbered``): from elsewhere, with
    coordinates.
    """
    path = points_of(data[data["part"] == "path"])
    travel = path[-1, :2] - path[0, :2]
    across = float(np.degrees(np.arctan2(travel[1], travel[0]))) - 90.0
    figure, axes = plt.subplots(
        figsize=((0.8 if numbered else 1.0) * style.DOUBLE_COLUMN, _TALLEST)
    )
    picture = Picture(axes, data, across + (40.0 if numbered else 14.0), 24.0)
    picture.surface(numbered=numbered)
    picture.toss(faintest=0.45)
    return _finish(figure, picture, f"{_toss(data)}\n{INSTEAD_OF_PHOTOGRAPH}; grid {_GRID} m")


def draw_frames(data: pd.DataFrame) -> Figure:
    """Figure 2: frames and contact points."""
    figure, axes = plt.subplots(figsize=(0.7 * style.DOUBLE_COLUMN, _TALLEST))
    picture = Picture(axes, data, -62.0, 22.0)
    picture.surface()
    picture.shadow("B", 0.16)
    picture.box("B", _CARTON, alpha=0.65, hidden=True)
    frames = [str(item) for item in dict.fromkeys(picture.part("axis")["item"])]
    origins = {name: picture.points("axis", name)[0] for name in frames}
    surface = next(name for name in frames if "C" in name)
    vectors = [
        (surface, "B", r"${}^C\mathbf{o}_B$"),
        *[("M", surface, r"${}^M\mathbf{o}_C$")] * ("M" in frames),
    ]
    for start, end, name in vectors:
        ends = np.stack([origins[start], origins[end]])
        picture.line(ends, _QUIET, 0.8, ls=(0, (4, 2)))
        picture.name(ends.mean(axis=0), name, _QUIET, prefer=np.array([0.3, 1.0]))
    for name in frames:
        picture.frame(name)
    picture.corners("B", origins["B"])
    return _finish(figure, picture, f"{_toss(data)}\n{INSTEAD_OF_SKETCH}; grid {_GRID} m")


def draw_setup(data: pd.DataFrame) -> Figure:
    """Figure 3: surface, frames and one toss in overview."""
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, _TALLEST))
    picture = Picture(axes, data, -68.0, 30.0)
    picture.surface()
    border = picture.points("surface")
    for side, what in (([0, 1], "surface shown: "), ([1, 2], "")):
        length = float(np.linalg.norm(np.diff(border[side], axis=0)))
        picture.dimension(picture.flat(border[side]), f"{what}{length:.2f} m", -8.0)
    picture.toss(faintest=0.9)
    for item, what, aside in (("travel", "travel ", -34.0), ("height", "", 46.0)):
        rows = picture.part("dimension", item)
        ends = picture.flat(points_of(rows))
        order = np.argsort(ends @ [1.0, 0.1])  # from left to right, else upward
        picture.dimension(ends[order], f"{what}{_measure(rows)}", aside)
    for name in dict.fromkeys(picture.part("axis")["item"]):
        picture.frame(str(name))
    return _finish(figure, picture, f"{_toss(data)}\n{INSTEAD_OF_PHOTOGRAPH}; grid {_GRID} m")


def draw_boxes(data: pd.DataFrame) -> Figure:
    """Figure 4: the objects to one scale."""
    names = [str(name) for name in dict.fromkeys(data["object"])]
    width = max(style.SINGLE_COLUMN, style.DOUBLE_COLUMN * min(1.0, len(names) / 4.0))
    figure, axes = plt.subplots(figsize=(width, 2.4))
    picture = Picture(axes, data, -90.0, 24.0)
    foot = float(picture.flat(points_of(data))[:, 1].min())
    for letter, name in zip("abcdefghijklmnopqrstuvwxyz", names, strict=False):
        picture.data = data[data["object"] == name]
        picture.shadow(name, 0.18)
        picture.box(name, _CARTON)
        for item in ("length", "width", "height"):
            side = picture.part("dimension", item)
            picture.dimension(picture.flat(points_of(side)), f"{side['value'].iloc[0]:.4g}", -7.0)
        mass = picture.part("mass")
        below = np.array([picture.flat(points_of(mass))[0, 0], foot])
        picture.write(
            below, f"({letter}) {name}" if len(names) > 1 else name, shift=(0.0, -20.0), size=8.0
        )
        picture.write(
            below, f"{mass['value'].iloc[0]:.4g} {mass['unit'].iloc[0]}", shift=(0.0, -30.0)
        )
    return _finish(figure, picture, f"Sizes in mm\n{INSTEAD_OF_PHOTOGRAPH}")


def _finish(figure: Figure, picture: Picture, title: str) -> Figure:
    """Place the names, write the title, and cut the page to the height that the scene needs."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=_SMALL)
    canvas: Any = figure.canvas
    canvas.draw()
    page = np.asarray(canvas.buffer_rgba())[::-1, :, :3].astype(float).sum(axis=2)
    picture.place_names(np.hypot(*np.gradient(page)) > _INK)
    needed = picture.axes.get_tightbbox().height / figure.dpi + _HEAD
    figure.set_figheight(min(figure.get_figheight(), needed))
    return figure


def _toss(data: pd.DataFrame) -> str:
    return f"{data['object'].iloc[0]}, toss {data['toss'].iloc[0]}"


def _measure(rows: pd.DataFrame) -> str:
    return f"{rows['value'].iloc[0]:.2f} {rows['unit'].iloc[0]}"
