"""A measured toss and its prediction as a picture that moves (SVG): ``make pictures``.

The toss is the median one, by the loss of eq. 18, of the real tosses of the ContactNets cube that
the first stored split leaves for the test. It is predicted with what the others say: the split's
stored friction and restitution, and the body calibrated on them. Browsers play the file, GitHub
too, with no script in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.output import pen
from contactid.tossing.artefacts.playback import shown_tosses
from contactid.tossing.identify.body import calibrate
from contactid.tossing.own.files import read_motion
from contactid.tossing.own.usable import EVENTS
from contactid.tossing.predict.prediction import predict
from contactid.tossing.prepare.preprocess import TEST, preprocess
from contactid.tossing.prepare.tosses import Variant, set_up
from contactid.tossing.simulate.box import ContactParameters

ROOT = Path(__file__).parents[1]
SPLITS = ROOT / "workflow/resources/stored/tossing_splits/table.csv"
# of the tosses identify, as in the stored splits
SHARE = 0.7
LAW = "incremental"
VARIANT = Variant("toss", "flight_fit", 16, LAW, "newton", refine=True, calibrated=True)

# px: the picture, and the curve of errors below the scene
_WIDTH, _HEIGHT, _CURVE = 720, 400, 70
# px
_MARGIN = 14
# times slower than real, so that impacts are seen; s at the end
_SLOWER, _PAUSE = 5.0, 1.5
# degrees: as the report's player looks across the way
_ASIDE, _ELEVATION = 18.0, 22.0
# mm between the lines on the ground
_GRID = 100.0
_INK, _QUIET, _GROUND, _LINES = "#1c1c1c", "#555555", "#eef1f4", "#d3d9df"
# the report's player's
_MEASURED, _PREDICTED = "#0072b2", "#c04a00"
# of a still picture
_INSTANTS = 5
#: Faces are lighter or darker by where they look, so that a turn of the box is seen.
_DARKEST = 0.45


def median_toss(data: Path) -> dict[str, Any]:
    """The toss of median loss with its prediction, as the report's player takes it.

    ``data`` is ContactNets' folder.
    """
    stored = pd.read_csv(SPLITS)
    split = stored[(stored["law"] == LAW) & (stored["draw"] == 0)].iloc[0]
    prepared = preprocess(
        read_motion([str(data)], ()),
        share=SHARE,
        seed=int(split["seed"]),
        exclude_tumbling=False,
        require_usable=True,
        events=EVENTS,
    )
    problem = set_up(calibrate(prepared).apply(prepared), VARIANT, TEST)
    parameters = ContactParameters(float(split["friction_mu"]), float(split["restitution_e_n"]))
    predicted = predict(problem, parameters).astype({"toss": str})
    return next(
        toss for toss in shown_tosses(problem, parameters, predicted) if toss["rank"] == "median"
    )


def moving_picture(toss: Mapping[str, Any], *, still: bool = False) -> str:
    """SVG of a toss of :func:`contactid.tossing.artefacts.playback.shown_tosses`.

    ``still`` shows some instants at once, for print and for readers who want no motion.
    """
    scene = _Scene(toss)
    size = {"width": str(_WIDTH), "height": str(_HEIGHT), "viewBox": f"0 0 {_WIDTH} {_HEIGHT}"}
    svg = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size})
    svg.set("font-family", "system-ui, sans-serif")
    ET.SubElement(svg, "title").text = "A measured toss of a cube and its prediction"
    _shape(svg, "rect", width=_WIDTH, height=_HEIGHT, rx=6, fill="#ffffff")
    scene.draw_ground(svg)
    for frame in scene.instants() if still else [None]:
        scene.draw_box(svg, "measured", frame)
        scene.draw_box(svg, "predicted", frame)
    scene.draw_errors(svg, still)
    _write(svg, _MARGIN, 24, "measured", _MEASURED, 16)
    _write(svg, _MARGIN + 92, 24, "predicted from the release on", _PREDICTED, 16)
    return ET.tostring(svg, encoding="unicode") + "\n"


class _Scene:
    """A toss in the picture's pixels, and the instants of its film."""

    def __init__(self, toss: Mapping[str, Any]) -> None:
        self.toss = toss
        self.time = np.array(toss["time_ms"])
        self.corners = {kind: _corners(toss, kind) for kind in ("measured", "predicted")}
        way = np.subtract(toss["measured"][-1][:2], toss["measured"][0][:2])
        ahead = float(np.degrees(np.arctan2(way[1], way[0])))
        self.view = pen.view(ahead - 90.0 + _ASIDE, _ELEVATION)
        both = np.concatenate([*self.corners.values()]).reshape(-1, 3)
        self.floor = _floor(both)
        flat = np.concatenate([both, self.floor]) @ self.view[:2].T
        room = np.array([_WIDTH, _HEIGHT - _CURVE - 32.0]) - 2.0 * _MARGIN
        low, high = flat.min(axis=0), flat.max(axis=0)
        self.scale = float(np.min(room / (high - low)))
        middle = np.array([_WIDTH / 2.0, 32.0 + _MARGIN + room[1] / 2.0])
        self.shift = middle - self.scale * np.array([1.0, -1.0]) * (low + high) / 2.0

    def flat(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3), mm in C, in pixels (..., 2)."""
        return self.scale * np.array([1.0, -1.0]) * (points @ self.view[:2].T) + self.shift

    def instants(self) -> np.ndarray:
        """Frames that are equally far from each other along the measured way."""
        steps = np.linalg.norm(np.diff(np.array(self.toss["measured"])[:, :3], axis=0), axis=1)
        way = np.concatenate([[0.0], np.cumsum(steps)])
        return np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], _INSTANTS)))

    def draw_ground(self, svg: ET.Element) -> None:
        """The surface with a line every 100 mm."""
        _shape(svg, "polygon", points=_points(self.flat(self.floor)), fill=_GROUND, stroke=_LINES)
        low, high = self.floor.min(axis=0), self.floor.max(axis=0)
        for axis in (0, 1):
            for place in np.arange(low[axis] + _GRID, high[axis] - 1.0, _GRID):
                ends = np.array([low, high])
                ends[:, axis] = place
                _shape(svg, "polyline", points=_points(self.flat(ends)), stroke=_LINES)

    def draw_box(self, svg: ET.Element, kind: str, frame: int | None) -> None:
        """A box's faces, of an instant or, where there is none, as a film."""
        corners = self.corners[kind]
        for number, face in enumerate(self.toss["faces"]):
            outline = corners[:, face]
            normal = np.cross(outline[:, 1] - outline[:, 0], outline[:, 2] - outline[:, 1])
            seen = normal @ self.view[2] > 0.0
            look = _look(kind, number)
            if frame is not None:
                if seen[frame]:
                    _shape(svg, "polygon", points=_points(self.flat(outline[frame])), **look)
            elif seen.any():
                polygon = _shape(svg, "polygon", points=_points(self.flat(outline[0])), **look)
                self._play(polygon, "points", [_points(one) for one in self.flat(outline)])
                hidden = ["visible" if one else "hidden" for one in seen]
                self._play(polygon, "visibility", hidden, calcMode="discrete")

    def draw_errors(self, svg: ET.Element, still: bool) -> None:
        """The error of position against time, with a dot at the present."""
        errors = np.array(self.toss["position_error_mm"])
        side = float(np.ptp(self.toss["vertices"], axis=0).max())
        across = _MARGIN + (_WIDTH - 2 * _MARGIN) * self.time / self.time[-1]
        base, tall = _HEIGHT - 12.0, _CURVE - 30.0
        up = base - tall * errors / errors.max()
        places = np.column_stack([across, up])
        told = f"error of position: up to {errors.max():.0f} mm, of a cube {side:.0f} mm wide"
        _write(svg, _MARGIN, _HEIGHT - _CURVE, told, _QUIET, 14)
        seconds = f"{self.time[-1] / 1e3:.1f} s"
        slower = "" if still else f", played {_SLOWER:.0f} times slower"
        _write(svg, _WIDTH - _MARGIN, _HEIGHT - _CURVE, seconds + slower, _QUIET, 14, "end")
        _shape(svg, "polyline", points=_points(places), stroke=_INK, **{"stroke-width": 1.5})
        if not still:
            dot = _shape(svg, "circle", r=5, cx=f"{across[0]:.1f}", cy=f"{up[0]:.1f}", fill=_INK)
            self._play(dot, "cx", [f"{x:.1f}" for x in across])
            self._play(dot, "cy", [f"{y:.1f}" for y in up])

    def _play(self, shape: ET.Element, name: str, values: Sequence[str], **more: str) -> None:
        """Let a shape's attribute take these values, one a frame, and hold the last; for ever."""
        running = self.time / 1e3 * _SLOWER
        whole = running[-1] + _PAUSE
        times = ";".join(f"{time:.4f}".rstrip("0") for time in [*running / whole, 1.0])
        ET.SubElement(
            shape,
            "animate",
            {
                "attributeName": name,
                "dur": f"{whole:.2f}s",
                "repeatCount": "indefinite",
                "keyTimes": times,
                "values": ";".join([*values, values[-1]]),
                **more,
            },
        )


def _corners(toss: Mapping[str, Any], kind: str) -> np.ndarray:
    """Corners (frames, corners, 3) of a box, mm in C."""
    poses = np.array(toss[kind])
    turn = rotations.as_rotation(poses[:, 3:]).as_matrix()
    vertices = np.array(toss["vertices"])
    return np.einsum("nij,kj->nki", turn, vertices) + poses[:, None, :3]


def _floor(points: np.ndarray) -> np.ndarray:
    """Corners (4, 3) of the shown ground: whole squares of the grid below all points."""
    low = np.floor(points[:, :2].min(axis=0) / _GRID) * _GRID
    high = np.ceil(points[:, :2].max(axis=0) / _GRID) * _GRID
    corners = [low, (high[0], low[1]), high, (low[0], high[1])]
    return np.array([[x, y, 0.0] for x, y in corners])


def _look(kind: str, number: int) -> dict[str, Any]:
    """A measured box is filled, each face in a shade of its own; a predicted one is an outline."""
    if kind == "predicted":
        return {"fill": "none", "stroke": _PREDICTED, "stroke-width": 2.5}
    shade = _DARKEST + (1.0 - _DARKEST) * number / 5.0
    return {"fill": _MEASURED, "fill-opacity": f"{shade:.2f}", "stroke": "#ffffff"}


def _points(flat: np.ndarray) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in flat)


def _shape(parent: ET.Element, name: str, **attributes: Any) -> ET.Element:
    if name == "polyline":
        attributes["fill"] = "none"
    if "stroke" in attributes:
        attributes = {"stroke-linejoin": "round", **attributes}
    return ET.SubElement(parent, name, {key: str(value) for key, value in attributes.items()})


def _write(
    svg: ET.Element, x: float, y: float, text: str, colour: str, size: int, anchor: str = "start"
) -> None:
    place = {"x": str(x), "y": str(y), "fill": colour, "font-size": str(size)}
    ET.SubElement(svg, "text", {**place, "text-anchor": anchor}).text = text
