"""Figures 1 to 4 and 11 of the tossing paper: what they show, as tables of points, and drawings of
these.

============= ===================================================================================
object, toss  what is shown; ``toss`` is empty where no single toss is shown
part          ``surface`` (corners of the patch), ``face`` of a box (four points each), ``corner``
              (a contact point, in the order of the data), ``path`` (of B's origin), ``origin`` (of
              B at an instant), ``axis`` (of a frame: x, y and z, two points each), ``dimension``
              (its two ends), ``mass`` (where to write it)
item          which one: the instant, the frame, the quantity
sample        of the recording, and ``time_s`` since the release; empty for what doesn't move
x_m, y_m, z_m in C, the surface at z = 0
============= ===================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.colors import LightSource, to_rgb
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
from contactid.tossing.artefacts.playback import faces
from contactid.tossing.prepare.poses import vertex_positions

COLUMNS = ("object", "toss", "part", "item", "sample", "time_s", "x_m", "y_m", "z_m")
_XYZ = ["x_m", "y_m", "z_m"]
_FEWEST_INSTANTS, _MOST_INSTANTS = 4, 7  # in the time lapse
# closer than this (m, rad), two frames can't be drawn apart
_SAME_PLACE, _SAME_DIRECTION = 5e-3, np.radians(1.0)
_YAW_ON_SHELF = np.radians(30.0)  # figure 4: turned, so that three faces are seen from the front
_SHELF_GAP = 0.09  # m between neighbouring boxes' outlines, for the dimensions

INSTEAD_OF_PHOTOGRAPH = "rendered from data in place of a photograph"
INSTEAD_OF_SKETCH = "rendered to scale from data in place of a sketch"
_GRID = 0.1  # m between the lines on the surface
_PLANE, _PLANE_EDGE, _PLANE_LINE = "#eef1f4", "#6b7680", "#d3d9df"
_CARTON, _SHADOW = "#cfcfcf", "#5b6570"
_INSTANTS = {"release": style.RELEASE, "first contact": style.ACCENT, "rest": style.REST}
_ASIDE = 100.0  # degrees from the viewer to the light, so that seen sides differ in brightness
_DARKEST = 0.62  # brightness of sides in the dark
_TALLEST = 4.2  # inches of a figure
_HEAD = 0.50  # inches for the title above and the line about the data below
_CALL_OUT = 0.17, 0.07  # of the picture's height: names of instants over it, every other one higher
_NAMED = 11.0  # points between a name's middle and what it names


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
    tosses, motion = data[name], read_dataset(motions[known.index(name)])
    lapse = shown(example_toss_scene(tosses), data, [name])
    return {
        "figures/fig01_example_toss": lapse,
        "figures/fig11_trajectory": lapse,
        "figures/fig02_frames": shown(frames_scene(tosses, motion), data, [name]),
        "figures/fig03_setup": shown(setup_scene(tosses, motion), data, [name]),
        "figures/fig04_boxes": shown(boxes_scene([data[on] for on in known]), data, known),
    }


def example_toss_scene(prepared: xr.Dataset) -> pd.DataFrame:
    """Figures 1 and 11: the toss of figure 10 at up to seven instants from release to rest."""
    scene = _Scene(prepared)
    chosen = _spread_instants(scene)
    surface = scene.surface(scene.corners[chosen], margin=0.3)
    return _table(scene.object, scene.toss, [surface, *scene.boxes(chosen), scene.path()])


def frames_scene(prepared: xr.Dataset, motion: xr.Dataset) -> pd.DataFrame:
    """Figure 2: the frames M, C and B and the contact points, at an instant of a toss's free
    flight.

    ``motion`` is the canonical dataset that ``prepared`` was made from. Where M and C can't be
    drawn apart, the scene holds one frame named ``C M``.
    """
    scene = _Scene(prepared)
    # in the middle of the flight nothing touches the box
    sample = (scene.release + scene.contact) // 2
    corners, frames = scene.corners[sample], scene.reference_frames(motion)
    under = np.vstack([corners, *(origin for origin, _ in frames.values())])
    frames["B"] = scene.position[sample], rotations.matrices(scene.orientation[sample])
    named = _rows("corner", "B", corners, **scene.moment(sample))
    axes = _axes(frames, length=0.7 * scene.size)
    return _table(
        scene.object,
        scene.toss,
        [scene.surface(under, margin=0.6), scene.box(sample, "B"), named, *axes],
    )


def setup_scene(prepared: xr.Dataset, motion: xr.Dataset) -> pd.DataFrame:
    """Figure 3: surface, frames and one toss from its release to its rest, with dimensions.

    The data don't tell where the conveyor ends, so the surface is the patch under the toss and the
    frames.
    """
    scene = _Scene(prepared)
    frames = scene.reference_frames(motion)
    instants = [scene.release, scene.contact, scene.rest]
    under = [
        scene.corners[instants].reshape(-1, 3),
        *(origin[None] for origin, _ in frames.values()),
    ]
    start, end = scene.position[[scene.release, scene.rest]]
    foot, below_rest = start * [1.0, 1.0, 0.0], end * [1.0, 1.0, 0.0]
    dimensions = [
        _rows("dimension", "height", np.stack([foot, start])),
        _rows("dimension", "travel", np.stack([foot, below_rest])),
    ]
    surface, axes = scene.surface(np.vstack(under), margin=0.6), _axes(frames, 0.6 * scene.size)
    return _table(
        scene.object,
        scene.toss,
        [surface, *axes, *scene.boxes(instants), scene.path(), *dimensions],
    )


def boxes_scene(prepared_list: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Figure 4: every object once, side by side along x on the plane z = 0, z_B upward."""
    tables: dict[str, pd.DataFrame] = {}
    right = 0.0
    for prepared in prepared_list:
        name = object_of(prepared)
        if name not in tables:
            table = _on_shelf(prepared)
            table["x_m"] += right - table["x_m"].min()
            right = table["x_m"].max() + _SHELF_GAP
            tables[name] = table
    return pd.concat(tables.values(), ignore_index=True)


def _on_shelf(prepared: xr.Dataset) -> pd.DataFrame:
    """One object of figure 4, its lower face at z = 0."""
    body, name = body_of(prepared), object_of(prepared)
    low, high = body.vertices.min(axis=0), body.vertices.max(axis=0)
    middle = 0.5 * (low + high)
    rotation = rotations.matrices(rotations.exp(np.array([0.0, 0.0, _YAW_ON_SHELF])))

    def placed(points: np.ndarray) -> np.ndarray:
        return (points - middle) @ rotation.T + [0.0, 0.0, middle[2] - low[2]]

    pieces = [_faces(name, placed(body.vertices), body.vertices)]
    # the lower edges in front, and the upright one to the right of them
    front = np.array([low, low, [high[0], low[1], low[2]]])
    for axis, item in enumerate(("length", "width", "height")):
        ends = np.stack([front[axis], front[axis]])
        ends[1, axis] = high[axis]
        pieces.append(_rows("dimension", item, placed(ends)))
    below = placed(np.array([[middle[0], middle[1], low[2]]]))
    pieces.append(_rows("mass", f"{body.mass:.4g} kg", below))
    return _table(name, "", pieces)


class _Scene:
    """One toss of a prepared dataset, in pieces that a figure may show."""

    def __init__(self, prepared: xr.Dataset) -> None:
        samples = example_toss(prepared)
        self.object, self.toss = object_of(prepared), str(samples["recording"].values)
        self.time_step = 1.0 / float(prepared.attrs["sample_frequency"])
        self.vertices = body_of(prepared).vertices
        self.size = float(np.ptp(self.vertices, axis=0).max())
        self.position, self.orientation = samples["position"].values, samples["orientation"].values
        self.release, self.contact, self.rest = (
            int(samples[name]) for name in ("release", "contact", "rest")
        )
        self.corners = vertex_positions(self.position, self.orientation, self.vertices)

    def moment(self, samples: int | np.ndarray) -> dict[str, Any]:
        return {"sample": samples, "time_s": (samples - self.release) * self.time_step}

    def surface(self, points: np.ndarray, margin: float) -> pd.DataFrame:
        """The patch under points (..., 3), with a margin (in sizes of the box)."""
        flat, around = points.reshape(-1, 3)[:, :2], margin * self.size
        (left, near), (right, far) = flat.min(axis=0) - around, flat.max(axis=0) + around
        corners = [(left, near, 0.0), (right, near, 0.0), (right, far, 0.0), (left, far, 0.0)]
        return _rows("surface", "patch", np.array(corners))

    def box(self, sample: int, item: str) -> pd.DataFrame:
        return _faces(item, self.corners[sample], self.vertices, **self.moment(sample))

    def boxes(self, samples: Sequence[int]) -> list[pd.DataFrame]:
        """Boxes and their origins at samples."""
        named = {self.release: "release", self.contact: "first contact", self.rest: "rest"}
        pieces = []
        for sample in samples:
            item = named.get(sample, f"between {sample}")
            origin = self.position[sample][None]
            pieces += [self.box(sample, item), _rows("origin", item, origin, **self.moment(sample))]
        return pieces

    def path(self) -> pd.DataFrame:
        """Of B's origin, from release to rest."""
        samples = np.arange(self.release, self.rest + 1)
        return _rows("path", "B", self.position[samples], **self.moment(samples))

    def reference_frames(self, motion: xr.Dataset) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Origin (3,) m and axes (3, 3) in C of the frames C and M, by name."""
        recorded = dict(iterate_recordings(motion))[self.toss]
        # one pose in both frames says where they are to each other
        in_c = rotations.as_rotation(self.orientation[0])
        turn = in_c * rotations.as_rotation(recorded["orientation"].values[0]).inv()
        origin = self.position[0] - turn.apply(recorded["position"].values[0])
        if np.linalg.norm(origin) < _SAME_PLACE and turn.magnitude() < _SAME_DIRECTION:
            return {"C M": (np.zeros(3), np.eye(3))}
        return {"C": (np.zeros(3), np.eye(3)), "M": (origin, turn.as_matrix())}


def _spread_instants(scene: _Scene) -> list[int]:
    """Samples spread evenly over the way from release to rest; the one nearest to the first contact
    is moved there.

    There are at most seven, and fewer where the box would hide itself.
    """
    flown = scene.position[scene.release : scene.rest + 1]
    # (n,) m along the path
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(flown, axis=0), axis=1))])
    count = int(np.clip(round(way[-1] / (0.9 * scene.size)) + 1, _FEWEST_INSTANTS, _MOST_INSTANTS))
    chosen = np.minimum(np.searchsorted(way, np.linspace(0.0, way[-1], count)), len(way) - 1)
    # rest itself, even where the last samples add no way
    chosen[-1] = len(way) - 1
    contact = scene.contact - scene.release
    chosen[1 + int(np.argmin(np.abs(way[chosen[1:-1]] - way[contact])))] = contact
    return sorted({scene.release + int(sample) for sample in chosen})


def _axes(frames: Mapping[str, tuple[np.ndarray, np.ndarray]], length: float) -> list[pd.DataFrame]:
    """The axes of frames, as lines of a length (m) from their origins (3,) along columns (3, 3)."""
    return [
        _rows("axis", frame, np.stack([origin, origin + length * direction]))
        for frame, (origin, directions) in frames.items()
        for direction in directions.T
    ]


def _faces(item: str, corners: np.ndarray, vertices: np.ndarray, **moment: Any) -> pd.DataFrame:
    """The faces of a box with these vertices in B whose corners are there."""
    points = np.concatenate([corners[side] for side in faces(vertices)])
    return _rows("face", item, points, **moment)


def _rows(part: str, item: str, points: np.ndarray, **moment: Any) -> pd.DataFrame:
    return pd.DataFrame(points, columns=_XYZ).assign(part=part, item=item, **moment)


def _table(name: str, toss: str, pieces: Sequence[pd.DataFrame]) -> pd.DataFrame:
    rows = pd.concat(pieces, ignore_index=True).assign(object=name, toss=toss)
    return rows.reindex(columns=list(COLUMNS)).astype({"sample": "Int64"})


# The drawings


class Picture:
    """A scene on axes whose data coordinates are metres of the view, right and up."""

    def __init__(self, data: pd.DataFrame, width: float, azimuth: float, elevation: float) -> None:
        axes: Any = plt.subplots(figsize=(width, _TALLEST))[1]
        self.axes = axes  # matplotlib's types know tuples where it takes arrays
        self.data, self.view = data, pen.view(azimuth, elevation)
        self.light = LightSource(azimuth + _ASIDE, 50.0).direction
        axes.set_aspect("equal")
        axes.margins(0.005)
        axes.set_axis_off()

    def flat(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) in C as seen (..., 2)."""
        return np.asarray(points) @ self.view[:2].T

    def part(self, part: str, item: str = "") -> pd.DataFrame:
        """Rows of one part of the scene, or of one item of it."""
        rows = self.data[self.data["part"] == part]
        return rows[rows["item"] == item] if item else rows

    def points(self, part: str, item: str = "") -> np.ndarray:
        """Points (n, 3) of :meth:`part`."""
        return points_of(self.part(part, item))

    def line(self, points: np.ndarray, colour: str, width: float, **more: Any) -> None:
        """A line through points (n, 3)."""
        self.axes.plot(*self.flat(points).T, color=colour, lw=width, **more)

    def surface(self, *, numbered: bool = False) -> None:
        """The surface with its grid; ``numbered`` writes coordinates (m) along its nearer edges."""
        border = self.points("surface")
        edge = {"facecolor": _PLANE, "edgecolor": _PLANE_EDGE, "lw": 0.9}
        self.axes.fill(*self.flat(border).T, zorder=0.1, **edge)
        low, high = border.min(axis=0), border.max(axis=0)
        for axis, other in ((0, 1), (1, 0)):
            first, last = np.ceil(low[axis] / _GRID), np.floor(high[axis] / _GRID)
            # the end of the grid's lines at the nearer edge, and the way out of the surface there
            near = int(self.view[2, other] > 0.0)
            out = self.view[:2, other] * (1.0 if near else -1.0)
            out /= np.linalg.norm(out)
            ends = np.array([low, high])
            for step in np.arange(first, last + 1):
                ends[:, axis] = _GRID * step
                self.line(ends, _PLANE_LINE, 0.4, zorder=0.2)
                if numbered and step % 2 == 0:
                    at = self.flat(ends[near])
                    pen.say(self.axes, at, f"{_GRID * step:.1f}", 9.0 * out, QUIET, fontsize=6.0)
            ends[:, axis] = border.mean(axis=0)[axis]
            if numbered:
                name = f"${'xy'[axis]}_C$ (m)"
                pen.say(self.axes, self.flat(ends[near]), name, 30.0 * out, "black")

    def shadow(self, item: str) -> None:
        """What lies straight below a box."""
        corners = self.points("face", item)
        outline = corners[ConvexHull(corners[:, :2]).vertices] * [1.0, 1.0, 0.0]
        self.axes.fill(*self.flat(outline).T, color=_SHADOW, lw=0, alpha=0.14, zorder=0.3)

    def box(self, item: str, colour: str, *, alpha: float = 1.0) -> None:
        """A box over those drawn before."""
        faces = self.points("face", item).reshape(6, 4, 3)
        # faces are anticlockwise from outside, so these point outwards
        normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 1])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        edge = {"ec": "black", "lw": 0.6, "joinstyle": "round"}
        for face, normal in zip(faces, normals, strict=True):
            if normal @ self.view[2] > 0.0:
                lit = max(0.0, float(normal @ self.light))
                shade = np.array(to_rgb(colour)) * (_DARKEST + (1.0 - _DARKEST) * lit)
                self.axes.fill(*self.flat(face).T, fc=(*shade, alpha), **edge)

    def mark(self, points: np.ndarray, colour: str, size: float) -> None:
        """Round marks at points (n, 3)."""
        self.axes.plot(*self.flat(points).T, "o", color=colour, mec="black", mew=0.6, ms=size)

    def arrow(self, ends: np.ndarray, colour: str, width: float, name: str) -> None:
        """An arrow from the first to the last of two points (2, 3), and its name beyond its tip."""
        tail, tip = self.flat(ends)
        self.axes.plot(*tip, alpha=0.0)  # an annotation alone leaves the limits as they are
        lifted = {"mutation_scale": 9.0, "path_effects": pen.halo(width + 1.4)}
        pen.arrow(self.axes, tail, tip, colour, width, **lifted)
        self.name(ends[1], name, colour, tip - tail)

    def dimension(self, item: str, text: str, aside: float, unit: float = 1.0) -> None:
        """A length in a unit (m), as ``text`` has it, written ``aside`` (points) to the left of its line,
        which runs to the right or upward in the picture.
        """
        ends = self.points("dimension", item)
        length = float(np.linalg.norm(ends[1] - ends[0])) / unit
        flat = self.flat(ends)
        ordered = flat[np.argsort(flat @ [1.0, 0.1])]
        pen.dimension(self.axes, ordered, text.format(length), aside)

    def name(self, point: np.ndarray, text: str, colour: str, towards: Any) -> None:
        """A name beside a point (3,), in a direction of the picture (2,)."""
        shift = _NAMED * np.asarray(towards) / max(float(np.linalg.norm(towards)), 1e-12)
        pen.say(self.axes, self.flat(point), text, shift, colour, fontsize=8.0)

    def toss(self) -> None:
        """Boxes, the earlier the fainter, the path of B's origin, and names of the instants."""
        instants = self.part("origin").sort_values("sample")
        opacity = np.linspace(0.45, 1.0, len(instants))
        # the farthest box first, so that nearer ones cover it
        nearness = points_of(instants) @ self.view[2]
        for item in instants["item"]:
            self.shadow(item)
        for k in np.argsort(nearness):
            item = instants["item"].iloc[k]
            self.box(item, _INSTANTS.get(item, _CARTON), alpha=opacity[k])
        self.line(self.points("path"), style.LINE, 1.2, path_effects=pen.halo(2.6))
        for item, place in zip(instants["item"], points_of(instants), strict=True):
            self.mark(place[None], _INSTANTS.get(item, "white"), 4.5 if item in _INSTANTS else 2.5)
        # instants are named over everything drawn, with a thin line down to B's origin
        named = instants[~instants["item"].str.startswith("between")]
        flat, heights = self.flat(points_of(named)), self.flat(points_of(self.data))[:, 1]
        for k, place in enumerate(np.argsort(flat[:, 0], kind="stable")):
            # neighbours would write over each other in one row
            top = heights.max() + _CALL_OUT[k % 2] * np.ptp(heights)
            said = f"{named['item'].iloc[place]}\n{named['time_s'].iloc[place]:.2f} s"
            pen.point_out(self.axes, flat[place], said, (flat[place, 0], top), va="bottom")

    def frames(self) -> dict[str, np.ndarray]:
        """The axes and letters of all frames, and their origins (3,) by name."""
        origins = {}
        for frame, axes in self.part("axis").groupby("item", sort=False):
            letters = str(frame).split()
            ends = points_of(axes).reshape(3, 2, 3)
            for letter, colour, line in zip("xyz", pen.AXIS_COLOURS, ends, strict=True):
                self.arrow(line, colour, 1.4, rf"$\mathbf{{{letter}}}_{letters[0]}$")
            origins[str(frame)] = ends[0, 0]
            self.mark(ends[0, :1], "white", 3.0)
            name = r"$\,\approx\,$".join(f"${letter}$" for letter in letters)
            self.name(ends[0, 0], name, "black", (-1.0, -0.7))
        return origins


def draw_example_toss(data: pd.DataFrame, numbered: bool = False) -> Figure:
    """Figure 1: a toss in time lapse, from beside; figure 11 (``numbered``): from elsewhere, with
    coordinates.
    """
    path = points_of(data[data["part"] == "path"])
    x, y, _ = path[-1] - path[0]
    across = float(np.degrees(np.arctan2(y, x))) - 90.0
    width = (0.8 if numbered else 1.0) * style.DOUBLE_COLUMN
    picture = Picture(data, width, across + (40.0 if numbered else 14.0), 24.0)
    picture.surface(numbered=numbered)
    picture.toss()
    return _finish(picture, INSTEAD_OF_PHOTOGRAPH)


def draw_frames(data: pd.DataFrame) -> Figure:
    """Figure 2: frames and contact points."""
    picture = Picture(data, 0.7 * style.DOUBLE_COLUMN, -62.0, 22.0)
    picture.surface()
    picture.shadow("B")
    picture.box("B", _CARTON, alpha=0.65)
    origins = picture.frames()
    surface = next(name for name in origins if "C" in name)
    vectors = [(surface, "B", r"${}^C\mathbf{o}_B$"), ("M", surface, r"${}^M\mathbf{o}_C$")]
    for start, end, name in vectors:
        if start in origins:
            ends = np.stack([origins[start], origins[end]])
            picture.line(ends, QUIET, 0.8, ls=(0, (4, 2)))
            picture.name(ends.mean(axis=0), name, QUIET, (-0.6, -1.0))
    corners = picture.points("corner")
    picture.mark(corners, "black", 2.4)
    for number, point in enumerate(corners, 1):
        outward = picture.flat(point - origins["B"])
        picture.name(point, rf"$\mathbf{{p}}_{number}$", "black", outward)
    return _finish(picture, INSTEAD_OF_SKETCH)


def draw_setup(data: pd.DataFrame) -> Figure:
    """Figure 3: surface, frames and one toss in overview."""
    picture = Picture(data, style.DOUBLE_COLUMN, -68.0, 30.0)
    picture.surface()
    picture.toss()
    picture.dimension("travel", "travel {:.2f} m", -34.0)
    picture.dimension("height", "height {:.2f} m", 46.0)
    picture.frames()
    return _finish(picture, INSTEAD_OF_PHOTOGRAPH)


def draw_boxes(data: pd.DataFrame) -> Figure:
    """Figure 4: the objects to one scale."""
    names = [str(name) for name in dict.fromkeys(data["object"])]
    width = max(style.SINGLE_COLUMN, style.DOUBLE_COLUMN * min(1.0, len(names) / 4.0))
    picture = Picture(data, width, -90.0, 24.0)
    foot = float(picture.flat(points_of(data))[:, 1].min())
    for name in names:
        picture.data = data[data["object"] == name]
        picture.shadow(name)
        picture.box(name, _CARTON)
        for item in ("length", "width", "height"):
            picture.dimension(item, "{:.4g}", -7.0, unit=1e-3)
        mass = picture.part("mass")
        below = picture.flat(points_of(mass))[0, 0], foot
        pen.say(picture.axes, below, name, (0.0, -20.0), "black", fontsize=8.0)
        pen.say(picture.axes, below, mass["item"].iloc[0], (0.0, -30.0), "black")
    return _finish(picture, INSTEAD_OF_PHOTOGRAPH, "Sizes in mm")


def _finish(picture: Picture, instead: str, shown: str = "") -> Figure:
    """Write the title, and cut the page to the height that the scene needs."""
    figure, first = picture.axes.figure, picture.data.iloc[0]
    shown = shown or f"{first['object']}, toss {first['toss']}; grid {_GRID} m"
    figure.suptitle(f"{shown}\n{instead}", x=0.01, ha="left", fontsize=pen.SMALL)
    figure.canvas.draw()
    needed = picture.axes.get_tightbbox().height / figure.dpi + _HEAD
    figure.set_figheight(min(figure.get_figheight(), needed))
    return figure
