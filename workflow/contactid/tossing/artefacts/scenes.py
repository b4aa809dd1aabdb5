"""The data behind figures 1 to 4 and 11 of the tossing paper: scenes in the surface frame C, as
tidy tables of points.

The paper shows photographs and a sketch; here the same things are taken from the recorded poses. A
scene has one row per point:

============= ==================================================================================================
column        meaning
============= ==================================================================================================
object, toss  what is shown; ``toss`` is empty where no single toss is shown
part          ``surface`` (corners of the patch), ``face`` of a box, ``corner`` (a contact point),
              ``path`` (of B's origin), ``origin`` (of B at an instant), ``axis`` (of a frame), ``belt`` (an arrow),
              ``dimension`` (its two ends), ``mass`` (where to write it)
item          which one: the instant, the frame, the phase of the path, the quantity
index         face 0 to 5, corner 1 to 8 (the order of the data plus 1), axis 0 to 2
order         of the point within its polygon, line or arrow
sample        of the recording, and ``time_s`` since the release; empty for what doesn't move
x_m, y_m, z_m in C, the surface at z = 0
value, unit   what a dimension, an arrow or a mass stands for
============= ==================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.computing import Shown
from contactid.sources.motion import body_of, iterate_recordings, read_dataset
from contactid.tossing.artefacts.data import Case, by_name, example, example_toss, identified, shown
from contactid.tossing.artefacts.playback import faces
from contactid.tossing.prepare.poses import PlaneCorrection, in_surface_frame, vertex_positions

COLUMNS = (
    "object", "toss", "part", "item", "index", "order", "sample", "time_s", "x_m", "y_m", "z_m", "value", "unit",
)  # fmt: skip
_XYZ = ["x_m", "y_m", "z_m"]
_FEWEST_INSTANTS, _MOST_INSTANTS = 4, 7  # in the time lapse
# closer than this (m, rad), two frames can't be drawn apart
_SAME_PLACE, _SAME_DIRECTION = (5e-3, np.radians(1.0))
_YAW_ON_SHELF = np.radians(30.0)  # figure 4: turned, so that three faces are seen from the front
_SHELF_GAP = 0.09  # m between neighbouring boxes' outlines, for the dimensions
_BELT_SECONDS = 0.3  # the belt's arrow is as long as its way in this time


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
    surface = scene.surface(scene.corners[chosen], margin=0.3 * scene.size)
    boxes = [piece for sample in chosen for piece in scene.box(sample, scene.name_of(sample))]
    return scene.table([*surface, *boxes, *scene.paths()])


def frames_scene(prepared: xr.Dataset, motion: xr.Dataset) -> pd.DataFrame:
    """Figure 2: the frames M, C and B and the contact points, at an instant of a toss's free
    flight.

    ``motion`` is the canonical dataset that ``prepared`` was made from; it knows where C is in M.
    Where M and C can't be drawn apart, the scene holds one frame named ``C M``.
    """
    scene = _Scene(prepared)
    # in the middle of the flight nothing touches the box
    sample = (scene.release + scene.contact) // 2
    corners = scene.corners[sample]
    frames = _reference_frames(prepared, motion, scene.toss)
    floor = np.vstack([corners, *(origin for origin, _ in frames.values())])
    surface = scene.surface(floor, margin=0.6 * scene.size, belt=False)
    places = {"index": np.arange(len(corners)) + 1, "order": 0, **scene.moment(sample)}
    frames["B"] = (scene.position[sample], rotations.matrices(scene.orientation[sample]))
    return scene.table(
        [
            *surface,
            *scene.box(sample, "B"),
            _rows("corner", "B", corners, **places),
            *_axes(frames, length=0.7 * scene.size),
        ]
    )


def setup_scene(prepared: xr.Dataset, motion: xr.Dataset) -> pd.DataFrame:
    """Figure 3: surface, frames and one toss from before its release to its rest, with dimensions
    in m.

    The data don't tell where the conveyor ends, so the surface is the patch that the bodies of all
    usable tosses were over between release and rest, and a margin.
    """
    scene = _Scene(prepared)
    over = [scene.corners[scene.release : scene.rest + 1].reshape(-1, 3)]
    for _, samples in iterate_recordings(prepared):
        if not str(samples["reason"].values):
            used = slice(int(samples["release"]), int(samples["rest"]) + 1)
            poses = samples["position"].values[used], samples["orientation"].values[used]
            over.append(vertex_positions(*poses, scene.vertices).reshape(-1, 3))
    frames = _reference_frames(prepared, motion, scene.toss)
    pieces = scene.surface(np.concatenate(over), margin=0.6 * scene.size)
    longest = float(np.ptp(points_of(pieces[0]), axis=0).max())
    pieces += _axes(frames, length=max(0.6 * scene.size, 0.1 * longest))
    for sample in sorted({0, scene.release, scene.contact, scene.rest}):
        before = sample == 0 < scene.release
        pieces += scene.box(sample, "start" if before else scene.name_of(sample))
    pieces += [scene.path("carried", 0, scene.release)] if scene.release > 0 else []
    return scene.table([*pieces, *scene.paths(), *scene.dimensions()])


def boxes_scene(prepared_list: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Figure 4: every object once, side by side along x on the plane z = 0, z_B upward, with size
    in mm, mass in kg.
    """
    tables: dict[str, pd.DataFrame] = {}
    right = 0.0
    for prepared in prepared_list:
        name = str(prepared.attrs["object"])
        if name not in tables:
            table = _on_shelf(prepared)
            table["x_m"] += right - table["x_m"].min()
            right = table["x_m"].max() + _SHELF_GAP
            tables[name] = table
    return pd.concat(tables.values(), ignore_index=True)


def _on_shelf(prepared: xr.Dataset) -> pd.DataFrame:
    """One object of figure 4, its lower face at z = 0."""
    body, name = body_of(prepared), str(prepared.attrs["object"])
    low, high = body.vertices.min(axis=0), body.vertices.max(axis=0)
    middle = 0.5 * (low + high)
    rotation = rotations.matrices(rotations.exp(np.array([0.0, 0.0, _YAW_ON_SHELF])))

    def placed(points: np.ndarray) -> np.ndarray:
        return (points - middle) @ rotation.T + [0.0, 0.0, middle[2] - low[2]]

    pieces = _faces(name, placed(body.vertices), body.vertices)
    # the lower edges in front, and the upright one to the right of them
    front = np.array([low, low, [high[0], low[1], low[2]]])
    for axis, item in enumerate(("length", "width", "height")):
        ends = np.stack([front[axis], front[axis]])
        ends[1, axis] = high[axis]
        size = 1e3 * (high[axis] - low[axis])
        pieces.append(_rows("dimension", item, placed(ends), value=size, unit="mm"))
    below = placed(np.array([[middle[0], middle[1], low[2]]]))
    pieces.append(_rows("mass", name, below, value=body.mass, unit="kg"))
    return _finish(pieces, name, "")


class _Scene:
    """One toss of a prepared dataset, in pieces that a figure may show."""

    def __init__(self, prepared: xr.Dataset) -> None:
        samples = example_toss(prepared)
        self.object, self.toss = str(prepared.attrs["object"]), str(samples["recording"].values)
        self.time_step = 1.0 / float(prepared.attrs["sample_frequency"])
        self.vertices = body_of(prepared).vertices
        self.size = float(np.ptp(self.vertices, axis=0).max())
        self.position, self.orientation = samples["position"].values, samples["orientation"].values
        self.release, self.contact, self.rest = (
            int(samples[name]) for name in ("release", "contact", "rest")
        )
        self.surface_velocity = samples["surface_velocity"].values.astype(float)
        self.corners = vertex_positions(self.position, self.orientation, self.vertices)

    def table(self, pieces: Sequence[pd.DataFrame]) -> pd.DataFrame:
        return _finish(pieces, self.object, self.toss)

    def name_of(self, sample: int) -> str:
        named = {self.release: "release", self.contact: "first contact", self.rest: "rest"}
        return named.get(sample, f"between {sample}")

    def moment(self, samples: int | np.ndarray) -> dict[str, Any]:
        return {"sample": samples, "time_s": (samples - self.release) * self.time_step}

    def surface(self, points: np.ndarray, margin: float, belt: bool = True) -> list[pd.DataFrame]:
        """The patch under points (..., 3) and a margin (m), and the way of the belt's material in
        0.3 s about its middle, unless it stands still.
        """
        flat = points.reshape(-1, 3)[:, :2]
        (left, near), (right, far) = flat.min(axis=0) - margin, flat.max(axis=0) + margin
        corners = [(left, near, 0.0), (right, near, 0.0), (right, far, 0.0), (left, far, 0.0)]
        pieces = [_rows("surface", "patch", np.array(corners))]
        speed = float(np.linalg.norm(self.surface_velocity))
        if belt and speed > 0.0:
            way = _BELT_SECONDS * self.surface_velocity
            ends = np.mean(corners, axis=0) + np.outer([-0.5, 0.5], way)
            pieces.append(_rows("belt", "belt", ends, value=speed, unit="m/s"))
        return pieces

    def box(self, sample: int, item: str) -> list[pd.DataFrame]:
        moment = self.moment(sample)
        pieces = _faces(item, self.corners[sample], self.vertices, **moment)
        return [*pieces, _rows("origin", item, self.position[sample][None], **moment)]

    def path(self, item: str, first: int, last: int) -> pd.DataFrame:
        samples = np.arange(first, last + 1)
        return _rows("path", item, self.position[samples], **self.moment(samples))

    def paths(self) -> list[pd.DataFrame]:
        return [
            self.path("flight", self.release, self.contact),
            self.path("contact", self.contact, self.rest),
        ]

    def dimensions(self) -> list[pd.DataFrame]:
        """Height of B at release, and its way over the surface from release to rest."""
        start, end = self.position[[self.release, self.rest]]
        foot, below_rest = start * [1.0, 1.0, 0.0], end * [1.0, 1.0, 0.0]
        return [
            _rows(
                "dimension", item, np.stack([foot, to]), value=np.linalg.norm(to - foot), unit="m"
            )
            for item, to in (("height", start), ("travel", below_rest))
        ]


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


def _reference_frames(
    prepared: xr.Dataset, motion: xr.Dataset, toss: str
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Origin (3,) m and axes (3, 3) in C of the frames C and M, by name."""
    if toss not in motion["recording"].values.astype(str):
        raise ContactIdError(
            f"{motion.attrs['source']} has no recording {toss}",
            "Give the motion that the tosses were made from",
        )
    known = motion.isel(
        recording=int(np.flatnonzero(motion["recording"].values.astype(str) == toss)[0])
    )
    slope = np.array([prepared.attrs["plane_slope_x"], prepared.attrs["plane_slope_y"]])
    plane = PlaneCorrection(prepared.attrs["plane_height"], slope, 0.0, 0)
    of_surface = known["surface_position"].values, known["surface_orientation"].values
    # the pose of M in C, corrected as the tosses were
    origin, quaternion = plane.apply(
        *in_surface_frame(np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), *of_surface)
    )
    angle = float(rotations.angle_between(quaternion[0], np.array([1.0, 0, 0, 0])))
    if np.linalg.norm(origin) < _SAME_PLACE and angle < _SAME_DIRECTION:
        return {"C M": (np.zeros(3), np.eye(3))}
    return {"C": (np.zeros(3), np.eye(3)), "M": (origin[0], rotations.matrices(quaternion[0]))}


def _axes(frames: Mapping[str, tuple[np.ndarray, np.ndarray]], length: float) -> list[pd.DataFrame]:
    """The three axes of frames, as lines of a length (m) from their origins (3,); the directions
    (3, 3) have them as columns.
    """
    return [
        _rows("axis", frame, np.stack([origin, origin + length * directions[:, k]]), index=k)
        for frame, (origin, directions) in frames.items()
        for k in range(3)
    ]


def _faces(item: str, corners: np.ndarray, vertices: np.ndarray, **more: Any) -> list[pd.DataFrame]:
    """The faces of a box with these vertices in B whose corners are there."""
    sides = enumerate(faces(vertices))
    return [_rows("face", item, corners[side], index=k, **more) for k, side in sides]


def _rows(part: str, item: str, points: np.ndarray, **more: Any) -> pd.DataFrame:
    same = {"part": part, "item": item, "index": 0, "order": np.arange(len(points)), "unit": ""}
    return pd.DataFrame(points, columns=_XYZ).assign(**{**same, **more})


def _finish(pieces: Sequence[pd.DataFrame], name: str, toss: str) -> pd.DataFrame:
    table = pd.concat(pieces, ignore_index=True).assign(object=name, toss=toss)
    table = table.reindex(columns=list(COLUMNS))
    return table.assign(sample=table["sample"].astype("Int64"))
