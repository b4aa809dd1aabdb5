"""Figures 1 to 4 and 11 of the tossing paper: what they show, as tables of points, and drawings of
these.

============= ===================================================================================
object, toss  what is shown; ``toss`` is empty where no single toss is shown
part          ``box`` (its corners, as :func:`contactid.output.pen.box` counts them), ``path`` (of
              B's origin), ``origin`` (of B at an instant), ``axis`` (of a frame: x, y and z, two
              points each)
item          which one: the instant, the frame, the box's mass
number        of a corner, in the order of the data, from 1
time_s        since the release, of an origin
x_m, y_m, z_m in C, the surface at z = 0; figure 4's in B
============= ===================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

_XYZ = ["x_m", "y_m", "z_m"]
# closer than this (m, rad), two frames can't be drawn apart
_SAME_PLACE, _SAME_DIRECTION = 5e-3, np.radians(1.0)
_AXIS = 0.8  # of the box's size, length of a frame's axes

_GRID = 0.1  # m between the lines on the surface
_AROUND = 0.1  # m of surface around what stands on it
_PLANE, _PLANE_EDGE, _PLANE_LINE = "#eef1f4", "#6b7680", "#d3d9df"
_CARTON, _SHADOW = "#cfcfcf", "#5b6570"
_INSTANTS = {"release": style.RELEASE, "first contact": style.ACCENT, "rest": style.REST}
_OVER = 0.22  # m over a toss, for the names of instants
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
    """Figures 1, 2, 3 and 11: the toss of figure 10 at up to six instants from release to rest,
    and the frames M and C, and B at the second of these, where figure 2 shows the box.

    ``motion`` is the canonical dataset that ``prepared`` was made from. Where M and C can't be
    drawn apart, the scene holds one frame.
    """
    toss = example_toss(prepared)
    position, orientation = toss["position"].values, toss["orientation"].values
    vertices, name = body_of(prepared).vertices, str(toss["recording"].values)
    corners, order = vertex_positions(position, orientation, vertices), _box_order(vertices)
    size = float(np.ptp(vertices, axis=0).max())
    release, contact, rest = (int(toss[event]) for event in ("release", "contact", "rest"))
    named = {release: "release", contact: "first contact", rest: "rest"}
    pieces = [_rows("path", "B", position[release : rest + 1])]
    # evenly over the flight and after it, so that none but the first contact is close to it
    instants = np.r_[np.linspace(release, contact, 3), np.linspace(contact, rest, 4)]
    samples = np.unique(instants.astype(int))
    for sample in samples:
        item = named.get(sample, f"between {sample}")
        time = (sample - release) / float(prepared.attrs["sample_frequency"])
        pieces.append(_rows("box", item, corners[sample][order], number=order + 1))
        pieces.append(_rows("origin", item, position[[sample]], time_s=time))
    recorded = dict(iterate_recordings(motion))[name]
    frames = _reference_frames(toss, recorded)
    frames["B"] = position[samples[1]], rotations.matrices(orientation[samples[1]])
    for frame, (origin, directions) in frames.items():
        for direction in directions.T:
            ends = np.stack([origin, origin + _AXIS * size * direction])
            pieces.append(_rows("axis", frame, ends))
    return pd.concat(pieces, ignore_index=True).assign(object=object_of(prepared), toss=name)


def boxes_scene(prepared_list: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Figure 4: every object once, in B."""
    tables = []
    for name, body in {object_of(one): body_of(one) for one in prepared_list}.items():
        corners = body.vertices[_box_order(body.vertices)]
        tables.append(_rows("box", f"{body.mass:.4g} kg", corners, object=name))
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


def _box_order(vertices: np.ndarray) -> np.ndarray:
    """The order (8,) in which :func:`contactid.output.pen.box` counts corners (8, 3) in B."""
    return np.lexsort(np.sign(vertices - vertices.mean(axis=0)).T[::-1])


def _rows(part: str, item: str, points: np.ndarray, **more: Any) -> pd.DataFrame:
    return pd.DataFrame(points, columns=_XYZ).assign(part=part, item=item, **more)


# The drawings


class _Picture:
    """A scene over its surface, on axes whose data coordinates are metres of a view (3, 3), right
    and up.
    """

    def __init__(self, data: pd.DataFrame, view: np.ndarray, over: float = 0.02) -> None:
        """A page with the surface under a scene, and so much room (m) over it."""
        self.data, self.view, points = data, view, points_of(data)
        left, near, _ = points.min(axis=0) - _AROUND
        right, far, _ = points.max(axis=0) + _AROUND
        corners = [(left, near, 0.0), (right, near, 0.0), (right, far, 0.0), (left, far, 0.0)]
        border = np.array(corners)
        seen = self.flat(np.vstack([points, border]))
        box = seen.min(axis=0) - 0.08, seen.max(axis=0) + np.array([0.08, over])
        self.figure, (self.axes,) = pen.page(style.DOUBLE_COLUMN, [box], _HEAD)
        name, toss = data[["object", "toss"]].iloc[0]
        self.axes.set_title(f"{name}, toss {toss}", loc="left", fontsize=pen.SMALL)
        pen.area(self.axes, self.flat(border), _PLANE, ec=_PLANE_EDGE, zorder=0.1)
        for axis, other in ((0, 1), (1, 0)):
            low, high = border[[0, 2], axis] / _GRID
            for step in range(int(np.ceil(low)), int(high) + 1):
                # from the farther edge to the nearer one, where it is named
                ends = border[[0, 2] if view[2, other] > 0.0 else [2, 0]]
                ends[:, axis] = _GRID * step
                start, end = self.flat(ends)
                self.axes.plot(*zip(start, end, strict=True), color=_PLANE_LINE, lw=0.4, zorder=0.2)
                name = f"{_GRID * step:.1f}" if step else f"${'xy'[axis]}_C$ = 0 m"
                outward = 8.0 * (end - start) / np.linalg.norm(end - start)
                pen.say(self.axes, end, name, outward, QUIET, fontsize=6.0)

    def flat(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) in C as seen (..., 2)."""
        return points @ self.view[:2].T

    def points(self, part: str, item: str) -> np.ndarray:
        """Points (n, 3) of one item of a part of the scene."""
        return points_of(self.data[(self.data["part"] == part) & (self.data["item"] == item)])

    def box(self, item: str) -> None:
        """A box over those drawn before, and its shadow: what lies straight below it."""
        corners = self.points("box", item)
        below = corners[ConvexHull(corners[:, :2]).vertices] * [1.0, 1.0, 0.0]
        pen.area(self.axes, self.flat(below), _SHADOW, lw=0, alpha=0.14, zorder=0.3)
        pen.box(self.axes, corners, self.view, _INSTANTS.get(item, _CARTON), 0.5)

    def toss(self) -> None:
        """Boxes, the path of B's origin, and names of the instants."""
        instants = self.data[self.data["part"] == "origin"]
        places = points_of(instants)
        # the farthest box first, so that nearer ones cover it
        for item in instants["item"].iloc[np.argsort(places @ self.view[2])]:
            self.box(item)
        self.axes.plot(*self.flat(self.points("path", "B")).T, color=style.LINE)
        top = self.flat(points_of(self.data))[:, 1].max()
        for row, (x, y) in zip(pen.rows_of(instants), self.flat(places), strict=True):
            self.axes.plot(x, y, "o", color="white", mec="black", mew=0.6, ms=3.0)
            if row.item in _INSTANTS:
                # the middle one lower than its neighbours
                above = x, top + (0.04 if row.item == "first contact" else 0.12)
                said = f"{row.item}\n{row.time_s:.2f} s"
                pen.point_out(self.axes, (x, y), said, above, va="bottom")

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
            pen.point(self.axes, ends[0, 0], f"${frame}$", (-9, -6))
        return origins


def draw_example_toss(data: pd.DataFrame, aside: float) -> Figure:
    """Figures 1 and 11: a toss in time lapse, so far (deg) from beside."""
    data = data[data["part"] != "axis"]
    path = points_of(data[data["part"] == "path"])
    x, y, _ = path[-1] - path[0]
    view = pen.view(float(np.degrees(np.arctan2(y, x))) - 90.0 + aside, 24.0)
    picture = _Picture(data, view, _OVER)
    picture.toss()
    return picture.figure


def draw_setup(data: pd.DataFrame) -> Figure:
    """Figure 3: surface, frames and one toss in overview.

    The data don't tell where the conveyor ends, so the surface is the patch under what is shown.
    """
    of_b = (data["part"] == "axis") & (data["item"] == "B")
    data = data[~data["item"].str.startswith("between") & ~of_b]
    picture = _Picture(data, pen.view(-68.0, 30.0), _OVER)
    picture.toss()
    start, end = picture.points("path", "B")[[0, -1]]
    foot, below_rest = start * [1.0, 1.0, 0.0], end * [1.0, 1.0, 0.0]
    for name, far, shift in (("travel", below_rest, (30, -20)), ("height", start, (-38, -12))):
        said = f"{name} {np.linalg.norm(far - foot):.2f} m"
        pen.length(picture.axes, picture.flat(foot), picture.flat(far), said, shift)
    picture.frames()
    return picture.figure


def draw_frames(data: pd.DataFrame) -> Figure:
    """Figure 2: the frames M (motion capture), C (surface) and B, and contact points."""
    # in flight: at the release the box is far from C, and at the contact it hides C
    flying = data.loc[data["part"] == "origin", "item"].iloc[1]
    data = data[(data["part"] == "axis") | (data["part"] == "box") & (data["item"] == flying)]
    picture = _Picture(data, pen.view(-78.0, 28.0))
    picture.box(flying)
    origins = picture.frames()
    surface = next(iter(origins))
    vectors = [(surface, "B", r"${}^C\mathbf{o}_B$"), ("M", surface, r"${}^M\mathbf{o}_C$")]
    for start, end, name in vectors:
        if start in origins:
            ends = picture.flat(np.stack([origins[start], origins[end]]))
            pen.dashed(picture.axes, ends)
            pen.say(picture.axes, ends.mean(axis=0), name, (11, -5), QUIET)
    for number, corner in zip(data["number"].dropna(), picture.points("box", flying), strict=True):
        outward = picture.flat(corner - origins["B"])
        shift = 11.0 * outward / np.linalg.norm(outward)
        pen.point(picture.axes, picture.flat(corner), rf"$\mathbf{{p}}_{number:.0f}$", shift)
    return picture.figure


def draw_boxes(data: pd.DataFrame) -> Figure:
    """Figure 4: the objects to one scale, sizes in mm."""
    view, boxes = pen.view(-60.0, 24.0), [*data.groupby("object", sort=False)]
    width = style.DOUBLE_COLUMN * np.clip(len(boxes) / 4.0, 0.5, 1.0)
    flat = points_of(data) @ view[:2].T
    shown = flat.min(axis=0) - [0.01, 0.04], flat.max(axis=0) + np.array([0.09, 0.0])
    figure, panels = pen.page(width, [shown] * len(boxes), 0.5)
    for axes, (name, rows) in zip(panels, boxes, strict=True):
        corners = points_of(rows)
        pen.box(axes, corners, view, _CARTON, 1.0)
        # the lower edges in front, and the upright one to the right of them
        for start, end, shift in ((0, 4, (-12, -7)), (4, 6, (15, -7)), (6, 7, (19, 0))):
            length = 1e3 * np.linalg.norm(corners[end] - corners[start])
            middle = 0.5 * (corners[start] + corners[end]) @ view[:2].T
            pen.say(axes, middle, f"{length:.4g} mm", shift)
        axes.set_title(f"{name}\n{rows['item'].iloc[0]}")
    return figure
