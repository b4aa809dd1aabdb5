"""Figures 1 to 4 and 11 of the tossing paper: what they show, as tables of points, and drawings of
these.

============= ===================================================================================
object, toss  what is shown; ``toss`` is empty where no single toss is shown
part          ``box`` (its corners, as :func:`contactid.output.pen.box` counts them), ``path`` (of
              B's origin), ``origin`` (of B at an instant), ``axis`` (of a frame: x, y and z, two
              points each)
item          which one: the instant, the frame, the box's mass
number        of a corner, in the order of the data, from 1
time_s        since the release; empty for what doesn't move
x_m, y_m, z_m in C, the surface at z = 0
============= ===================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

from contactid.core import rotations
from contactid.output import pen, style
from contactid.output.computing import Shown
from contactid.output.pen import QUIET
from contactid.sources.motion import body_of, iterate_recordings, read_dataset
from contactid.tossing.artefacts.data import (
    Case,
    by_name,
    example,
    example_toss,
    identified,
    object_of,
    shown,
)
from contactid.tossing.prepare.poses import vertex_positions

COLUMNS = ("object", "toss", "part", "item", "number", "time_s", "x_m", "y_m", "z_m")
_XYZ = ["x_m", "y_m", "z_m"]
_INSTANTS_SHOWN = 7  # in the time lapse, without the first contact: more would hide the box
# closer than this (m, rad), two frames can't be drawn apart
_SAME_PLACE, _SAME_DIRECTION = 5e-3, np.radians(1.0)
_AXIS = 0.7  # of the box's size, length of a frame's axes
_YAW_ON_SHELF = np.radians(30.0)  # figure 4: turned, so that three faces are seen from the front
_SHELF_GAP = 0.06  # m between neighbouring boxes' outlines, for their sizes

_GRID = 0.1  # m between the lines on the surface
_AROUND = 0.1  # m of surface around what stands on it
_PLANE, _PLANE_EDGE, _PLANE_LINE = "#eef1f4", "#6b7680", "#d3d9df"
_CARTON, _SHADOW = "#cfcfcf", "#5b6570"
_INSTANTS = {"release": style.RELEASE, "first contact": style.ACCENT, "rest": style.REST}
# m above what is drawn: names of instants, every other one higher than its neighbours
_CALL_OUT = 0.12, 0.04
_OVER = 0.22  # m over a toss, for these names
_HEAD = 0.35  # inches for the title above and the line about the data below


def points_of(data: pd.DataFrame) -> np.ndarray:
    """Points (n, 3) m of rows of a scene."""
    return data[_XYZ].to_numpy(dtype=float)


def scene_figures(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    motions: Sequence[str],
    figures: Mapping[str, Any],
) -> dict[str, Shown]:
    """Figures 1 to 4 and 11 of a run; ``motions`` are the canonical form of the datasets that are
    identified on.
    """
    data, known = by_name(prepared, datasets), identified(cases)
    name = example(data, cases, figures["object"])
    motion = read_dataset(motions[known.index(name)])
    toss = shown(toss_scene(data[name], motion), data, [name])
    of_toss = ("fig01_example_toss", "fig02_frames", "fig03_setup", "fig11_trajectory")
    boxes = shown(boxes_scene([data[on] for on in known]), data, known)
    return {f"figures/{figure}": toss for figure in of_toss} | {"figures/fig04_boxes": boxes}


def toss_scene(prepared: xr.Dataset, motion: xr.Dataset) -> pd.DataFrame:
    """Figures 1, 2, 3 and 11: the toss of figure 10 at up to seven instants from release to rest,
    and the frames M and C, and B at the release.

    ``motion`` is the canonical dataset that ``prepared`` was made from. Where M and C can't be
    drawn apart, the scene holds one frame.
    """
    toss = example_toss(prepared)
    position, orientation = toss["position"].values, toss["orientation"].values
    vertices, name = body_of(prepared).vertices, str(toss["recording"].values)
    corners, order = vertex_positions(position, orientation, vertices), _box_order(vertices)
    size = float(np.ptp(vertices, axis=0).max())
    named = {int(toss[event]): event for event in ("release", "contact", "rest")}
    release, contact, rest = named
    time = (np.arange(len(position)) - release) / float(prepared.attrs["sample_frequency"])
    named[contact] = "first contact"
    flown = slice(release, rest + 1)
    pieces = [_rows("path", "B", position[flown], time_s=time[flown])]
    for sample in _spread_instants(position, release, contact, rest):
        item, at = named.get(sample, f"between {sample}"), time[sample]
        pieces.append(_rows("box", item, corners[sample][order], number=order + 1, time_s=at))
        pieces.append(_rows("origin", item, position[[sample]], time_s=at))
    recorded = dict(iterate_recordings(motion))[name]
    frames = _reference_frames(toss, recorded)
    frames["B"] = position[release], rotations.matrices(orientation[release])
    for frame, (origin, directions) in frames.items():
        for direction in directions.T:
            ends = np.stack([origin, origin + _AXIS * size * direction])
            pieces.append(_rows("axis", frame, ends))
    return _table(object_of(prepared), name, pieces)


def boxes_scene(prepared_list: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Figure 4: every object once, side by side along x on the plane z = 0, z_B upward."""
    turn = rotations.matrices(rotations.exp(np.array([0.0, 0.0, _YAW_ON_SHELF])))
    tables, right = [], 0.0
    for name, body in {object_of(one): body_of(one) for one in prepared_list}.items():
        order = _box_order(body.vertices)
        corners = body.vertices[order] @ turn.T
        corners += [right - corners[:, 0].min(), 0.0, -corners[:, 2].min()]
        right = corners[:, 0].max() + _SHELF_GAP
        rows = _rows("box", f"{body.mass:.4g} kg", corners, number=order + 1)
        tables.append(_table(name, "", [rows]))
    return pd.concat(tables, ignore_index=True)


def _reference_frames(
    toss: xr.Dataset, recorded: xr.Dataset
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Origin (3,) m and axes (3, 3) in C of the frames C and M, by name."""
    # one pose in both frames says where they are to each other
    in_c = rotations.as_rotation(toss["orientation"].values[0])
    turn = in_c * rotations.as_rotation(recorded["orientation"].values[0]).inv()
    origin = toss["position"].values[0] - turn.apply(recorded["position"].values[0])
    if np.linalg.norm(origin) < _SAME_PLACE and turn.magnitude() < _SAME_DIRECTION:
        return {r"C \approx M": (np.zeros(3), np.eye(3))}
    return {"C": (np.zeros(3), np.eye(3)), "M": (origin, turn.as_matrix())}


def _spread_instants(position: np.ndarray, release: int, contact: int, rest: int) -> list[int]:
    """These samples, and others spread evenly over the way from release to rest."""
    steps = np.linalg.norm(np.diff(position[release : rest + 1], axis=0), axis=1)
    way = np.cumsum(steps)
    between = 1 + np.searchsorted(way, np.linspace(0.0, way[-1], _INSTANTS_SHOWN)[1:-1])
    return sorted({release, contact, rest, *(release + between).tolist()})


def _box_order(vertices: np.ndarray) -> np.ndarray:
    """The order (8,) in which :func:`contactid.output.pen.box` counts corners (8, 3) in B."""
    return np.lexsort(np.sign(vertices - vertices.mean(axis=0)).T[::-1])


def _rows(part: str, item: str, points: np.ndarray, **more: Any) -> pd.DataFrame:
    return pd.DataFrame(points, columns=_XYZ).assign(part=part, item=item, **more)


def _table(name: str, toss: str, pieces: Sequence[pd.DataFrame]) -> pd.DataFrame:
    rows = pd.concat(pieces, ignore_index=True).assign(object=name, toss=toss)
    return rows.reindex(columns=list(COLUMNS)).astype({"number": "Int64"})


# The drawings


@dataclass
class _Picture:
    """A scene on axes whose data coordinates are metres of the view (3, 3), right and up."""

    axes: Any
    data: pd.DataFrame
    view: np.ndarray

    def flat(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) in C as seen (..., 2)."""
        return points @ self.view[:2].T

    def points(self, part: str, item: str = "") -> np.ndarray:
        """Points (n, 3) of one part of the scene, or of one item of it."""
        rows = self.data[self.data["part"] == part]
        return points_of(rows[rows["item"] == item] if item else rows)

    def surface(self, border: np.ndarray, *, numbered: bool) -> None:
        """The surface with its grid; ``numbered`` writes coordinates (m) below its nearer edges."""
        pen.area(self.axes, self.flat(border), _PLANE, ec=_PLANE_EDGE, zorder=0.1)
        for axis, other in ((0, 1), (1, 0)):
            low, high = border[[0, 2], axis]
            near = 1 if self.view[2, other] > 0.0 else 0
            for step in range(int(np.ceil(low / _GRID)), int(high // _GRID) + 1):
                ends = border[[0, 2]]
                ends[:, axis] = _GRID * step
                flat = self.flat(ends)
                self.axes.plot(*flat.T, color=_PLANE_LINE, lw=0.4, zorder=0.2)
                if numbered and step % 2 == 0:
                    name = f"{_GRID * step:.1f}" if step else f"${'xy'[axis]}_C$ = 0 m"
                    pen.say(self.axes, flat[near], name, (0, -8), QUIET, fontsize=6.0)

    def box(self, item: str, colour: str, alpha: float = 1.0) -> None:
        """A box over those drawn before, and its shadow: what lies straight below it."""
        corners = self.points("box", item)
        below = corners[ConvexHull(corners[:, :2]).vertices] * [1.0, 1.0, 0.0]
        pen.area(self.axes, self.flat(below), _SHADOW, lw=0, alpha=0.14, zorder=0.3)
        pen.box(self.axes, corners, self.view, colour, alpha)

    def toss(self) -> None:
        """Boxes, the earlier the fainter, the path of B's origin, and names of the instants."""
        instants = self.data[self.data["part"] == "origin"]
        places, items = points_of(instants), instants["item"].to_numpy()
        opacity = np.linspace(0.45, 1.0, len(instants))
        # the farthest box first, so that nearer ones cover it
        for k in np.argsort(places @ self.view[2]):
            self.box(items[k], _INSTANTS.get(items[k], _CARTON), opacity[k])
        self.axes.plot(*self.flat(self.points("path")).T, color=style.LINE)
        top = self.flat(self.points("box"))[:, 1].max()
        for item, time, (x, y) in zip(items, instants["time_s"], self.flat(places), strict=True):
            colour, size = _INSTANTS.get(item, "white"), 4.5 if item in _INSTANTS else 2.5
            self.axes.plot(x, y, "o", color=colour, mec="black", mew=0.6, ms=size)
            if item in _INSTANTS:
                above = x, top + _CALL_OUT[item == "first contact"]
                pen.point_out(self.axes, (x, y), f"{item}\n{time:.2f} s", above, va="bottom")

    def frames(self) -> dict[str, np.ndarray]:
        """The axes and letters of all frames, and their origins (3,) by name."""
        origins = {}
        axes = self.data[self.data["part"] == "axis"]
        for frame, rows in axes.groupby("item", sort=False):
            origins[str(frame)] = points_of(rows)[0]
            # (3, 2, 2): axis, origin and tip
            ends = self.flat(points_of(rows).reshape(3, 2, 3))
            names = [rf"$\mathbf{{{axis}}}_{str(frame)[0]}$" for axis in "xyz"]
            pen.frame(self.axes, ends[0, 0], ends[:, 1] - ends[:, 0], names)
            pen.point(self.axes, ends[0, 0], f"${frame}$", (-9, -6), size=3.0)
        return origins


def _picture(
    data: pd.DataFrame,
    width: float,
    view: np.ndarray,
    over: float = 0.06,
    *,
    numbered: bool = False,
) -> _Picture:
    """A page (inches) with the surface under a scene, and so much room (m) over it."""
    points = points_of(data)
    left, near, _ = points.min(axis=0) - _AROUND
    right, far, _ = points.max(axis=0) + _AROUND
    corners = [(left, near, 0.0), (right, near, 0.0), (right, far, 0.0), (left, far, 0.0)]
    border = np.array(corners)
    seen = np.vstack([points, border]) @ view[:2].T
    room = 0.08 if numbered else 0.02
    box = seen.min(axis=0) - room, seen.max(axis=0) + np.array([room, over])
    _, (axes,) = pen.page(width, [box], _HEAD)
    name, toss = data[["object", "toss"]].iloc[0]
    axes.set_title(f"{name}, toss {toss}; grid {_GRID} m", loc="left", fontsize=pen.SMALL)
    picture = _Picture(axes, data, view)
    picture.surface(border, numbered=numbered)
    return picture


def draw_example_toss(data: pd.DataFrame, numbered: bool = False) -> Figure:
    """Figure 1: a toss in time lapse, from beside; figure 11 (``numbered``): from elsewhere, with
    coordinates.
    """
    data = data[data["part"] != "axis"]
    path = points_of(data[data["part"] == "path"])
    x, y, _ = path[-1] - path[0]
    across = float(np.degrees(np.arctan2(y, x))) - 90.0
    view = pen.view(across + (40.0 if numbered else 14.0), 24.0)
    width = (0.8 if numbered else 1.0) * style.DOUBLE_COLUMN
    picture = _picture(data, width, view, over=_OVER, numbered=numbered)
    picture.toss()
    return picture.axes.figure


def draw_setup(data: pd.DataFrame) -> Figure:
    """Figure 3: surface, frames and one toss in overview.

    The data don't tell where the conveyor ends, so the surface is the patch under what is shown.
    """
    of_b = (data["part"] == "axis") & (data["item"] == "B")
    data = data[~data["item"].str.startswith("between") & ~of_b]
    picture = _picture(data, style.DOUBLE_COLUMN, pen.view(-68.0, 30.0), over=_OVER)
    picture.toss()
    start, end = picture.points("path")[[0, -1]]
    foot, below_rest = start * [1.0, 1.0, 0.0], end * [1.0, 1.0, 0.0]
    for name, far, shift in (("travel", below_rest, (30, -20)), ("height", start, (-38, -12))):
        said = f"{name} {np.linalg.norm(far - foot):.2f} m"
        pen.length(picture.axes, picture.flat(foot), picture.flat(far), said, shift)
    picture.frames()
    return picture.axes.figure


def draw_frames(data: pd.DataFrame) -> Figure:
    """Figure 2: the frames M (motion capture), C (surface) and B, and contact points."""
    data = data[(data["part"] == "axis") | (data["part"] == "box") & (data["item"] == "release")]
    picture = _picture(data, 0.7 * style.DOUBLE_COLUMN, pen.view(-62.0, 22.0))
    picture.box("release", _CARTON, 0.65)
    origins = picture.frames()
    surface = next(iter(origins))
    vectors = [(surface, "B", r"${}^C\mathbf{o}_B$"), ("M", surface, r"${}^M\mathbf{o}_C$")]
    for start, end, name in vectors:
        if start in origins:
            ends = picture.flat(np.stack([origins[start], origins[end]]))
            pen.dashed(picture.axes, ends)
            pen.say(picture.axes, ends.mean(axis=0), name, (-6, -9), QUIET)
    numbers = data.loc[data["part"] == "box", "number"]
    for number, corner in zip(numbers, picture.points("box"), strict=True):
        outward = picture.flat(corner - origins["B"])
        shift = 11.0 * outward / np.linalg.norm(outward)
        pen.point(picture.axes, picture.flat(corner), rf"$\mathbf{{p}}_{number:.0f}$", shift)
    return picture.axes.figure


def draw_boxes(data: pd.DataFrame) -> Figure:
    """Figure 4: the objects to one scale, sizes in mm."""
    view, names = pen.view(-90.0, 24.0), list(dict.fromkeys(data["object"]))
    width = style.DOUBLE_COLUMN * np.clip(len(names) / 4.0, 0.5, 1.0)
    flat = points_of(data) @ view[:2].T
    low, high = flat.min(axis=0) - [0.05, 0.11], flat.max(axis=0) + np.array([0.05, 0.02])
    figure, (axes,) = pen.page(width, [(low, high)], _HEAD)
    axes.set_title("Sizes in mm", loc="left", fontsize=pen.SMALL)
    for name, rows in data.groupby("object", sort=False):
        corners = points_of(rows)
        pen.box(axes, corners, view, _CARTON)
        # the lower edges in front, and the upright one to the right of them
        for start, end, shift in ((0, 4, (6, -8)), (0, 2, (-9, -5)), (4, 5, (11, 0))):
            length = 1e3 * np.linalg.norm(corners[end] - corners[start])
            middle = 0.5 * (corners[start] + corners[end]) @ view[:2].T
            pen.say(axes, middle, f"{length:.4g}", shift)
        below = corners[:, 0].mean(), low[1]
        pen.say(axes, below, f"{name}\n{rows['item'].iloc[0]}", (0.0, 12.0))
    return figure
