"""A small camera, and the flat canvas on which is drawn what it sees of the surface frame C.

Matplotlib's own three-dimensional axes sort whole polygons by a single depth and clip to a cube. A picture of a few
convex boxes needs less and is better off with it: faces that look away are left out, boxes are drawn in a stated order,
and all that remains are flat polygons, which stay sharp in every format.

A canvas is placed last, when it knows how far its content reaches, so that one inch is the same length everywhere and
nothing lies outside the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import patheffects, rcParams
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

XYZ = ["x_m", "y_m", "z_m"]
_LIGHT_FROM_ABOVE, _LIGHT_FROM_LEFT, _LIGHT_FROM_BEHIND = 0.80, 0.25, 0.50  # seen from the viewer
_DARKEST = 0.62  # brightness of a face that the light doesn't reach
_POINT = 1.0 / 72.0  # inch
_DIMENSION = 7.0  # points, size of type
_LINE_ROOM = 1.5  # points of type round the content, for the thickness of lines
_SPACING = 2.5  # points of type between the places on a line that labels should leave free
_FARTHEST = 21.0  # points of type between a label's edge and what it names
_TEXT_LAYER = 10_000  # over everything else


@dataclass(frozen=True)
class Camera:
    """A camera that looks at a target with the z axis of C upright in the picture.

    Attributes
    ----------
    azimuth : rad, direction of the camera seen from the target, about z_C from x_C
    elevation : rad, of the camera over the horizontal plane; below pi / 2
    distance : m, from the target; infinite for the orthographic view, in which equal lengths along one direction are
        equal wherever they are
    target : (3,) m in C; the point that appears at the picture's origin at its true scale
    """

    azimuth: float
    elevation: float
    distance: float = np.inf
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def axes(self) -> np.ndarray:
        """(3, 3) with the rows right, up and towards the camera: a right-handed frame, in coordinates of C."""
        (sa, ca), (se, ce) = ((np.sin(angle), np.cos(angle)) for angle in (self.azimuth, self.elevation))
        return np.array([[-sa, ca, 0.0], [-ca * se, -sa * se, ce], [ca * ce, sa * ce, se]])

    def project(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) m in C as picture coordinates (..., 2) in m at the target's distance."""
        seen = (np.asarray(points, dtype=float) - self.target) @ self.axes.T
        return seen[..., :2] / (1.0 - seen[..., 2:] / self.distance)

    def nearness(self, points: np.ndarray) -> np.ndarray:
        """How far (...) points (..., 3) lie towards the camera, in m from the target; draw in rising order."""
        return (np.asarray(points, dtype=float) - self.target) @ self.axes[2]

    def sees(self, faces: np.ndarray) -> np.ndarray:
        """Which of the faces (n, k, 3), corners anticlockwise from outside, show their outer side: (n,) of bool.

        A face is seen where its picture is anticlockwise too, which holds for both kinds of view.
        """
        flat = self.project(faces)
        following = np.roll(flat, -1, axis=1)
        doubled_area = (flat[..., 0] * following[..., 1] - flat[..., 1] * following[..., 0]).sum(axis=1)
        return doubled_area > 0.0


def looking_across(travel: np.ndarray, *, turn: float, elevation: float) -> Camera:
    """An orthographic camera for which a horizontal ``travel`` (2,) runs to the right.

    ``turn`` (rad) moves the camera anticlockwise round the scene, so that the travel also comes nearer.
    """
    heading = float(np.arctan2(travel[1], travel[0]))
    return Camera(heading - 0.5 * np.pi + turn, elevation)


@dataclass(frozen=True)
class _Label:
    """A text that finds its own place near a point in the picture; ``prefer`` (2,) is the direction it would like."""

    flat: np.ndarray
    text: str
    colour: str
    size: float
    prefer: np.ndarray


def points_of(data: pd.DataFrame) -> np.ndarray:
    """Points (n, 3) m of rows of a scene."""
    return data[XYZ].to_numpy(dtype=float)


class Canvas:
    """Axes without ticks on which a camera's view is drawn.

    Parameters
    ----------
    figure
        To draw on; where is said by :meth:`place`.
    camera
        Its picture coordinates become the axes' data coordinates.
    scale
        Inches of the page per metre of the scene.
    """

    def __init__(self, figure: Figure, camera: Camera, scale: float) -> None:
        self.axes, self.camera, self.scale = figure.add_axes((0.0, 0.0, 1.0, 1.0)), camera, scale
        self._drawn: list[tuple[np.ndarray, np.ndarray]] = []  # picture points (n, 2), and shifts in points of type
        self._busy: list[tuple[np.ndarray, np.ndarray]] = []  # the same, for points that labels should leave free
        self._labels: list[_Label] = []
        self._layer = 0
        self.axes.set_axis_off()

    def flat(self, points: np.ndarray) -> np.ndarray:
        """Picture coordinates of points, remembered as content that must be in view."""
        flat = self.camera.project(points)
        self._reserve(flat)
        return flat

    def polygon(
        self, points: np.ndarray, colour: Any, *, edge: Any = "none", width: float = 0.5, alpha: float = 1.0
    ) -> None:
        """Fill a polygon (n, 3)."""
        self.axes.fill(
            *self.flat(points).T, facecolor=colour, edgecolor=edge, lw=width, alpha=alpha, zorder=self._next(),
            joinstyle="round",
        )  # fmt: skip

    def box(self, faces: np.ndarray, colour: str, *, alpha: float = 1.0) -> None:
        """The visible ones of a box's faces (6, 4, 3), each as bright as the light falls on it."""
        for face in faces[self.camera.sees(faces)]:
            normal = np.cross(face[1] - face[0], face[2] - face[0])
            lit = max(0.0, float(_light(self.camera) @ normal) / float(np.linalg.norm(normal)))
            shade = np.array(to_rgb(colour)) * (_DARKEST + (1.0 - _DARKEST) * lit)
            self.polygon(face, tuple(shade), edge="black", width=0.6, alpha=alpha)

    def line(self, points: np.ndarray, colour: str, width: float = 1.0, *, halo: bool = False, **style: Any) -> None:
        """A line through points (n, 3); a ``halo`` keeps it legible on dark ground."""
        effects = _halo(width + 1.4) if halo else None
        self.axes.plot(*self.flat(points).T, color=colour, lw=width, path_effects=effects, zorder=self._next(), **style)

    def marker(self, point: np.ndarray, colour: str, size: float = 4.0) -> None:
        """A round mark at a point (3,)."""
        x, y = flat = self.flat(point)
        self._ring(flat, 0.5 * size + 1.0)
        self.axes.plot(x, y, "o", color=colour, mec="black", mew=0.6, ms=size, zorder=self._next())

    def arrow(self, start: np.ndarray, end: np.ndarray, colour: str, width: float) -> None:
        """An arrow with a halo between two points (3,)."""
        tail, tip = self.flat(start), self.flat(end)
        self._avoid_line(np.stack([tail, tip]))
        self._ring(tip, 3.0)
        style = {"arrowstyle": "-|>,head_width=0.18,head_length=0.36", "color": colour, "lw": width}
        style |= {"shrinkA": 0.0, "shrinkB": 0.0, "mutation_scale": 10.0}
        made = self.axes.annotate("", (tip[0], tip[1]), (tail[0], tail[1]), arrowprops=style, zorder=self._next())
        if made.arrow_patch is not None:
            made.arrow_patch.set_path_effects(_halo(width + 1.4))

    def note(self, flat: np.ndarray, text: str, colour: str = "black", *, shift: tuple[float, float] = (0.0, 0.0),
             size: float = 8.0, turn: float = 0.0) -> None:  # fmt: skip
        """A text whose middle lies ``shift`` (points of type) from picture coordinates (2,), ``turn`` in degrees."""
        made = self.axes.annotate(
            text, (flat[0], flat[1]), shift, textcoords="offset points", color=colour, fontsize=size, rotation=turn,
            zorder=_TEXT_LAYER, rotation_mode="anchor", ha="center", va="center_baseline",
        )  # fmt: skip
        made.set_path_effects(_halo(1.8))
        half = 0.5 * self._measure(text, size)
        turned = np.radians(turn)
        along = np.array([[np.cos(turned), np.sin(turned)], [-np.sin(turned), np.cos(turned)]])
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half @ along
        self._reserve(flat, corners + shift)
        cells = np.stack(np.meshgrid(np.linspace(-1.0, 1.0, 12), np.linspace(-1.0, 1.0, 4)), axis=-1).reshape(-1, 2)
        self._busy.append((np.broadcast_to(flat, cells.shape), cells * half @ along + shift))

    def label(
        self, point: np.ndarray, text: str, colour: str = "black", *, prefer: np.ndarray, size: float = 8.0
    ) -> None:
        """A text near a point (3,), placed by :meth:`place_labels` where it hides least."""
        flat = self.flat(point)
        self._ring(flat, 3.0)
        self._labels.append(_Label(flat, text, colour, size, np.asarray(prefer, dtype=float)))

    def place_labels(self) -> None:
        """Place the labels asked for, each in turn where it covers the fewest lines, points and other texts."""
        for label in self._labels:
            half = 0.5 * self._measure(label.text, label.size) + 2.0
            busy = np.concatenate([(points - label.flat) / self._per_point + shift for points, shift in self._busy])
            busy = busy[np.abs(busy).max(axis=1) < 2.0 * half.max() + _FARTHEST]
            wish = label.prefer / max(float(np.linalg.norm(label.prefer)), 1e-12)
            best, least = np.zeros(2), np.inf
            for away in np.linspace(3.0, _FARTHEST, 5):
                for angle in np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False):
                    way = np.array([np.cos(angle), np.sin(angle)])
                    place = way * (np.min(half / np.maximum(np.abs(way), 1e-9)) + away)
                    covered = (np.abs(busy - place) < half).all(axis=1).sum()
                    cost = 2.0 * covered + 0.8 * away + 1.5 * (1.0 - float(way @ wish))
                    if cost < least:
                        best, least = place, cost
            self.note(label.flat, label.text, label.colour, shift=(best[0], best[1]), size=label.size)
        self._labels.clear()

    def avoid(self, points: np.ndarray) -> None:
        """Keep labels off the lines through points (n, 3)."""
        self._avoid_line(self.camera.project(points))

    def dimension(self, ends: np.ndarray, text: str, aside: float) -> None:
        """A dimension between two points (2, 3), moved ``aside`` (points of type) to the left of their line."""
        first, last = self.camera.project(ends)
        along = (last - first) / np.linalg.norm(last - first)
        left = np.array([-along[1], along[0]])
        per_point = self._per_point
        gap = np.sign(aside) * 2.0 * per_point * left
        moved = np.stack([first, last]) + aside * per_point * left
        for end, shifted in zip((first, last), moved, strict=True):
            self.axes.plot(*np.stack([end + gap, shifted + gap]).T, color="black", lw=0.4, zorder=self._next())
        arrow = {"arrowstyle": "<|-|>,head_width=0.12,head_length=0.3", "color": "black", "lw": 0.6}
        arrow |= {"shrinkA": 0.0, "shrinkB": 0.0, "mutation_scale": 8.0}
        self.axes.annotate("", tuple(moved[1]), tuple(moved[0]), arrowprops=arrow, zorder=self._next())
        self._reserve(moved)
        self._avoid_line(moved)
        turn = float(np.degrees(np.arctan2(along[1], along[0])))
        turn = turn - 180.0 if turn > 91.0 else turn + 180.0 if turn < -89.0 else turn
        off = np.sign(aside) * (0.5 * _DIMENSION + 2.5) * left
        self.note(moved.mean(axis=0), text, shift=(off[0], off[1]), size=_DIMENSION, turn=turn)

    def leader(self, flat: np.ndarray) -> None:
        """A thin line between picture coordinates (2, 2), from a label to what it names."""
        self._avoid_line(flat)
        self.axes.plot(*flat.T, color="black", lw=0.4, zorder=self._next())
        self._reserve(flat)

    def highest(self) -> float:
        """Picture height of the topmost content so far."""
        return float(self._extent()[1][1])

    def lowest(self) -> float:
        """Picture height of the lowest content so far."""
        return float(self._extent()[0][1])

    def size(self) -> np.ndarray:
        """Width and height (2,) in inches of the content, texts included."""
        low, high = self._extent()
        return (high - low) * self.scale

    def place(self, left: float, bottom: float, page: tuple[float, float]) -> None:
        """Put the content's lower left corner at a place (inches) of a figure as large as the ``page`` (inches)."""
        low, high = self._extent()
        self.axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        size = self.size()
        self.axes.set_position((left / page[0], bottom / page[1], size[0] / page[0], size[1] / page[1]))

    def _extent(self) -> tuple[np.ndarray, np.ndarray]:
        drawn = np.concatenate([flat + shift * self._per_point for flat, shift in self._drawn])
        room = _LINE_ROOM * self._per_point
        return drawn.min(axis=0) - room, drawn.max(axis=0) + room

    def _reserve(self, flat: np.ndarray, shift: np.ndarray | None = None) -> None:
        """Keep picture points (n, 2), moved by points of type, in view."""
        points = np.atleast_2d(flat)
        self._drawn.append((points, np.zeros(points.shape) if shift is None else shift))

    def _ring(self, flat: np.ndarray, radius: float) -> None:
        """Keep labels off a disc, with a radius in points of type, round a picture point (2,)."""
        angles = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
        ring = radius * np.column_stack([np.cos(angles), np.sin(angles)])
        self._busy.append((np.broadcast_to(flat, ring.shape), ring))

    def _avoid_line(self, flat: np.ndarray) -> None:
        """Keep labels off the pieces of a line through picture points (n, 2)."""
        for start, end in pairwise(flat):
            steps = 2 + int(np.linalg.norm(end - start) / (_SPACING * self._per_point))
            shares = np.linspace(0.0, 1.0, steps)[:, None]
            points = (1.0 - shares) * start + shares * end
            self._busy.append((points, np.zeros(points.shape)))

    @property
    def _per_point(self) -> float:
        """Metres of the picture per point of type."""
        return _POINT / self.scale

    def _measure(self, text: str, size: float) -> np.ndarray:
        """Width and height (2,) of a text in points of type."""
        properties = FontProperties(family=rcParams["font.family"], size=size)
        outline = TextPath((0.0, 0.0), text, prop=properties).get_extents()
        return np.array([outline.width, outline.height])

    def _next(self) -> int:
        self._layer += 1
        return self._layer


def _halo(width: float) -> list[patheffects.AbstractPathEffect]:
    return [patheffects.withStroke(linewidth=width, foreground="white")]


def _light(camera: Camera) -> np.ndarray:
    right, towards = camera.axes[0], np.array([np.cos(camera.azimuth), np.sin(camera.azimuth), 0.0])
    up = np.array([0.0, 0.0, 1.0])
    direction = _LIGHT_FROM_ABOVE * up - _LIGHT_FROM_LEFT * right + _LIGHT_FROM_BEHIND * towards
    return direction / np.linalg.norm(direction)
