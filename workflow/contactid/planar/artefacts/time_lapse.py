"""Motions of planar bodies in time lapse: figures 9, 11 and 13, the user's own scenes, and what
animations show.

A scene is a table with the columns ``panel, label, kind, item, time_s, x_m, y_m``. The rows of one
panel, kind and item are a polyline in S, in their order: ``outline`` (one item per instant shown),
``com``, ``reference`` and ``ground``. The ground is straight and goes on beyond its two points;
bodies are on its left.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend

from contactid.output import style
from contactid.planar.simulate.geometry import Ground, outline_at
from contactid.planar.simulate.scenes import Scene, scene_of
from contactid.sources.motion import read_dataset

POINTS = 400  # of a drawn path or curve
_FLIGHT = 0.02  # s without an impulse that separates two impacts
_DETAIL = 0.06  # s of the motion shown before the first and after the second impact of a detail
_BEYOND = 0.6  # of the body's size, by which the drawn ground goes beyond it
SLIDING_SHOWN = (0.3, 0.8)  # range of friction in figure 11; all where none is in it
_BODY = LinearSegmentedColormap.from_list("body", [style.REST, style.REST_EDGE])
_GROUND, _GROUND_EDGE = "#e4e4e4", "#8c8c8c"
_TALLEST, _PAGE = 3.6, 8.0  # inches: of one panel, of all
# inches of a panel's numbers, its label, and of legend and axis names
_BESIDE, _ABOVE, _AROUND = 0.5, 0.34, 0.75
_OPACITY = 1.2  # of all bodies of a panel, should they lie over each other
_BETWEEN = 0.06  # inches around panels, so that labels keep clear of the marks above them
_EVEN = 0.02  # instants are those of whole time steps
_NARROW = 0.8  # of the page's width
_MARGIN = 0.03  # of a panel's longer side, around what is shown
BODY, COM, REFERENCE = "body", "centre of mass", "reference point"


def throw_motion(
    throw_motions: str, block: Mapping[str, Any], outlines: int, frames_per_second: float
) -> dict[str, pd.DataFrame]:
    """Figure 9, the whole motion and its first two impacts, and its animation."""
    scene, motions = _read(throw_motions, block)
    whole = (0, "whole motion", (0.0, float(motions["time"][-1])), outlines)
    detail = (0, "first two impacts", detail_window(motions), max(outlines // 3, 2))
    return {
        "figures/fig09_throw_motion": time_lapse(scene, motions, [whole, detail]),
        "animations/fig09_throw_motion": animation_frames(scene, motions, [0], frames_per_second),
    }


def sliding_motion(
    sliding_motions: str, block: Mapping[str, Any], outlines: int, frames_per_second: float
) -> dict[str, pd.DataFrame]:
    """Figure 11, a panel per friction in :data:`SLIDING_SHOWN`, and its animation."""
    scene, motions = _read(sliding_motions, block)
    mu = motions["friction_mu"].values
    low, high = SLIDING_SHOWN
    # rounding mustn't leave out an end of the range
    runs = np.flatnonzero((mu >= low - 1e-9) & (mu <= high + 1e-9)).tolist() or range(len(mu))
    return _figure_and_animation(
        "fig11_sliding_motion", scene, motions, runs, outlines, frames_per_second
    )


def restitution_motion(
    restitution_motions: str, block: Mapping[str, Any], outlines: int, frames_per_second: float
) -> dict[str, pd.DataFrame]:
    """Figure 13, a panel per restitution, and its animation."""
    scene, motions = _read(restitution_motions, block)
    runs = range(motions.sizes["run"])
    return _figure_and_animation(
        "fig13_restitution_motion", scene, motions, runs, outlines, frames_per_second
    )


def _figure_and_animation(
    name: str,
    scene: Scene,
    motions: xr.Dataset,
    runs: Sequence[int],
    outlines: int,
    frames_per_second: float,
) -> dict[str, pd.DataFrame]:
    return {
        f"figures/{name}": run_panels(scene, motions, runs, outlines),
        f"animations/{name}": animation_frames(scene, motions, runs, frames_per_second),
    }


def own_scenes(
    own_motions: Sequence[str], block: Mapping[str, Any], outlines: int
) -> dict[str, pd.DataFrame]:
    """``ext_scene_<name>`` of every scene that isn't the paper's, a panel per law."""
    read = [_read(file, block) for file in own_motions]
    return {
        f"figures/ext_scene_{scene.name}": run_panels(
            scene, motions, range(motions.sizes["run"]), outlines
        )
        for scene, motions in read
    }


def _read(file: str, block: Mapping[str, Any]) -> tuple[Scene, xr.Dataset]:
    motions = read_dataset(file)
    return scene_of(block, str(motions.attrs["scene"])), motions


def run_panels(
    scene: Scene, motions: xr.Dataset, runs: Sequence[int], outlines: int
) -> pd.DataFrame:
    """A time lapse with a panel per run; panels are small, so they get fewer outlines."""
    span, fewer = (0.0, float(motions["time"][-1])), max(2 * outlines // 3, 2)
    return time_lapse(scene, motions, [(run, law_label(motions, run), span, fewer) for run in runs])


def law_label(motions: xr.Dataset, run: int) -> str:
    """What tells a run from the scene's others, in mathtext; friction and restitution where both
    vary.
    """
    parts = [
        rf"{symbol} = {float(motions[name][run]):g}"
        for symbol, name in ((r"\mu", "friction_mu"), (r"e_N", "restitution_e_n"))
        if len(np.unique(motions[name])) > 1
    ]
    joined = r",\ ".join(parts)
    return f"${joined}$" if parts else ""


def reference_point(scene: Scene, position: np.ndarray) -> np.ndarray:
    """(n, 2) path of the body's point on its first axis (or first corner), for q (n, 3), m."""
    x, y = scene.body.shape.outline()[0]
    c, s = np.cos(position[:, 2]), np.sin(position[:, 2])
    return position[:, :2] + np.column_stack([c * x - s * y, s * x + c * y])


def detail_window(motions: xr.Dataset) -> tuple[float, float]:
    """From just before the first run's first impact to just after its second, s; impacts begin
    after a flight.
    """
    time = motions["time"].values
    hit = time[motions["impulse_n"].values[0].sum(axis=-1) > 0.0]
    if not len(hit):
        return 0.0, float(time[-1])
    # the first push is the begin of an impact, whatever came before
    begins = hit[np.diff(hit, prepend=-np.inf) > _FLIGHT]
    return max(float(begins[0]) - _DETAIL, 0.0), min(
        float(begins[:2][-1]) + _DETAIL, float(time[-1])
    )


def time_lapse(
    scene: Scene, motions: xr.Dataset, panels: Sequence[tuple[int, str, tuple[float, float], int]]
) -> pd.DataFrame:
    """A scene's table; a panel is a run, a label, a span (s) and a number of outlines, at even
    times.
    """
    parts: list[pd.DataFrame] = []
    time, beyond = motions["time"].values, _BEYOND * float(np.ptp(scene.body.shape.outline()[:, 0]))
    for panel, (run, label, (begin, end), outlines) in enumerate(panels):
        inside = np.flatnonzero((time >= begin - 1e-12) & (time <= end + 1e-12))
        position = motions["position"].values[run]
        shown, path = evenly(inside, outlines), evenly(inside, POINTS)
        bodies = [outline_at(scene.body.shape, position[k]) for k in shown]
        lines = [
            ("outline", item, time[k], body)
            for item, (k, body) in enumerate(zip(shown, bodies, strict=True))
        ]
        ground = ground_below(scene.ground, np.concatenate(bodies), beyond)
        lines += [
            ("com", 0, time[path], position[path, :2]),
            ("reference", 0, time[path], reference_point(scene, position[path])),
            ("ground", 0, time[inside[0]], ground),
        ]
        parts += [
            polyline(points, panel=panel, label=label, kind=kind, item=item, time_s=moments)
            for kind, item, moments, points in lines
        ]
    return pd.concat(parts, ignore_index=True)


def evenly(places: np.ndarray, most: int) -> np.ndarray:
    """At most so many of ascending places in a table, evenly, the first and the last among them."""
    return places[np.unique(np.linspace(0, len(places) - 1, most).round().astype(int))]


def polyline(points: np.ndarray, unit: str = "m", **columns: Any) -> pd.DataFrame:
    """A row per point (n, 2), below the columns that say what they are."""
    return pd.DataFrame({**columns, f"x_{unit}": points[:, 0], f"y_{unit}": points[:, 1]})


def animation_frames(
    scene: Scene, motions: xr.Dataset, runs: Sequence[int], frames_per_second: float
) -> pd.DataFrame:
    """A time lapse with a panel per run, and an outline for each picture of an animation."""
    end = float(motions["time"][-1])
    pictures = max(2, round(end * frames_per_second) + 1)
    return time_lapse(
        scene, motions, [(run, law_label(motions, run), (0.0, end), pictures) for run in runs]
    )


def ground_below(ground: Ground, points: np.ndarray, margin: float = 0.0) -> np.ndarray:
    """(2, 2) ends of the ground's part under points (n, 2) and a margin beyond, m."""
    along = (points - ground.origin) @ ground.tangent
    return ground.origin + np.outer([along.min() - margin, along.max() + margin], ground.tangent)


@dataclass(frozen=True)
class View:
    """What a panel shows of the plane, m."""

    x: tuple[float, float]
    y: tuple[float, float]

    @property
    def aspect(self) -> float:
        """Width over height."""
        return (self.x[1] - self.x[0]) / (self.y[1] - self.y[0])


def draw_scene(data: pd.DataFrame, *, columns: int | None = None, shared: bool = True) -> Figure:
    """Time lapse of any scene, a panel per motion, as :func:`scene_panels` takes it."""
    figure, panels = scene_panels(data, columns=columns, shared=shared)
    for panel, axes in panels.items():
        _draw_motion(axes, data[data["panel"] == panel])
    name_lines(figure, panels[0], {BODY: f"{BODY}{_interval(data)}, darker later"})
    return figure


def scene_panels(
    data: pd.DataFrame, *, columns: int | None = None, shared: bool = True
) -> tuple[Figure, dict[int, Axes]]:
    """Axes by panel, of equal aspect with limits, labels and ground, and their figure.

    Parameters
    ----------
    columns
        Panels beside each other, on a narrower page; as few as fit a whole one where it isn't
        given.
    shared
        Whether all panels show the same part of the plane.
    """
    width = style.DOUBLE_COLUMN if columns is None else _NARROW * style.DOUBLE_COLUMN
    names = [int(panel) for panel in dict.fromkeys(data["panel"])]
    letters = string.ascii_lowercase if 1 < len(names) <= len(string.ascii_lowercase) else ""
    views = {panel: view_of(data if shared else data[data["panel"] == panel]) for panel in names}
    aspects = [view.aspect for view in views.values()]
    columns = columns or _fewest_columns(len(names), min(aspects), width)
    rows = -(-len(names) // columns)
    heights = _row_heights(list(views.values()), columns, width / columns - _BESIDE)
    widest = max(aspect * heights[k // columns] for k, aspect in enumerate(aspects))
    used = float(np.clip(columns * (widest + _BESIDE), style.SINGLE_COLUMN, width))
    # panels of their own scales have numbers on every axis
    between = _BETWEEN if shared else 2.0 * _BETWEEN
    figure, grid = plt.subplots(
        rows,
        columns,
        sharex=shared,
        sharey=shared,
        squeeze=False,
        height_ratios=heights,
        layout=ConstrainedLayoutEngine(compress=True, h_pad=between),
        figsize=(used, sum(heights) + rows * _ABOVE + _AROUND),
    )
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    panels: dict[int, Axes] = dict(zip(names, grid.flat, strict=False))
    for place, (panel, axes) in enumerate(panels.items()):
        _frame(axes, data[data["panel"] == panel], views[panel], letters[place : place + 1])
        if place % columns == 0:
            axes.set_ylabel("$y$ (m)")
        if place + columns >= len(names):
            axes.set_xlabel("$x$ (m)")
            axes.tick_params(labelbottom=True)
    return figure, panels


def name_lines(figure: Figure, axes: Axes, names: Mapping[str, str] | None = None) -> Legend:
    """One legend over all panels for the labelled artists of ``axes``; ``names`` replaces some of
    their labels.
    """
    handles, labels = axes.get_legend_handles_labels()
    shown = [(names or {}).get(label, label) for label in labels]
    columns = len(handles) if figure.get_figwidth() > 1.25 * style.SINGLE_COLUMN else 2
    return figure.legend(
        handles, shown, loc="outside upper center", ncols=columns, columnspacing=1.5
    )


def _draw_motion(axes: Axes, data: pd.DataFrame) -> None:
    """Outlines that darken with time, both paths, and the reference point on every outline."""
    outlines = data[data["kind"] == "outline"].groupby("item")
    places = [outline[["x_m", "y_m"]] for _, outline in outlines]
    draw_outlines(axes, places, min(0.10, _OPACITY / len(places)))
    com, reference = (data[data["kind"] == kind] for kind in ("com", "reference"))
    axes.plot(com["x_m"], com["y_m"], color=style.LINE, lw=1.2, zorder=3, label=COM)
    red: dict[str, Any] = {"color": style.RELEASE}
    path = reference["x_m"], reference["y_m"]
    axes.plot(*path, "--", lw=0.8, zorder=4, label=REFERENCE, **red)
    instants = outlines["time_s"].first()
    x, y = (np.interp(instants, reference["time_s"], reference[name]) for name in ("x_m", "y_m"))
    axes.plot(x, y, "o", ms=2.0, mew=0.0, zorder=5, **red)


def draw_outlines(axes: Axes, outlines: Sequence[pd.DataFrame], opacity: float) -> None:
    """Outlines (x, y) that darken with time; the one in the middle has a label."""
    shades = _BODY(np.linspace(0.0, 1.0, max(len(outlines), 2)))
    for place, (outline, shade) in enumerate(zip(outlines, shades, strict=False)):
        x, y = outline.to_numpy().T
        axes.fill(x, y, facecolor=(*shade[:3], opacity), edgecolor="none", zorder=1)
        label = BODY if place == len(outlines) // 2 else None
        axes.plot(x, y, color=shade, lw=0.8, zorder=2, label=label)


def _interval(data: pd.DataFrame) -> str:
    """ " every 0.10 s" where all panels show instants at one and the same interval."""
    first = data[data["kind"] == "outline"].groupby(["panel", "item"])["time_s"].first()
    steps = first.groupby("panel").diff().dropna().to_numpy()
    if len(steps) == 0 or np.ptp(steps) > _EVEN * steps.max():
        return ""
    return f" every {steps.mean():.2g} s"


def _frame(axes: Axes, data: pd.DataFrame, view: View, letter: str) -> None:
    """Limits, letter, label and ground of one panel."""
    axes.set(xlim=view.x, ylim=view.y, aspect="equal")
    label = data["label"].iloc[0]
    # a csv has no other empty text in a column of nothing else
    named = "" if pd.isna(label) else str(label)
    axes.set_title(" ".join(part for part in (letter and f"({letter})", named) if part), loc="left")
    axes.locator_params(nbins=6, axis="y", steps=[1, 2, 5, 10])
    draw_ground(axes, data, hatch="//////")


def draw_ground(axes: Axes, data: pd.DataFrame, unit: str = "m", **look: Any) -> None:
    """The scene's ground across the whole view, and what lies below it."""
    x = np.array(axes.get_xlim())
    y = _above_ground(data, unit)(x)
    bottom = min(axes.get_ylim()[0], *y)
    axes.fill(
        [*x, *x[::-1]], [*y, bottom, bottom], fc=_GROUND, ec=_GROUND_EDGE, lw=0.0, zorder=0, **look
    )
    axes.plot(x, y, color="black", lw=0.8, zorder=0.5)


def _above_ground(data: pd.DataFrame, unit: str) -> np.polynomial.Polynomial:
    """Height of the ground by the place along x."""
    (x, other_x), (y, other_y) = (
        data.loc[data["kind"] == "ground", [f"x_{unit}", f"y_{unit}"]].to_numpy()[:2].T
    )
    slope = (other_y - y) / (other_x - x)
    return np.polynomial.Polynomial([y - slope * x, slope])


def view_of(data: pd.DataFrame, unit: str = "m") -> View:
    """The smallest view of what moves, and of the ground nearest to it where there is one, with a
    margin.
    """
    places = [f"x_{unit}", f"y_{unit}"]
    moving = data.loc[data["kind"] != "ground", places].to_numpy(dtype=float)
    feet = moving[:0]
    if (data["kind"] == "ground").any():
        line = _above_ground(data, unit)
        slope = line.coef[1]
        # foot of the perpendicular: d / (1 + s^2) times (s, -1), d being the distance along y
        depth = (moving[:, 1] - line(moving[:, 0])) / (1.0 + slope**2)
        feet = moving + np.outer(depth, [slope, -1.0])
    shown = np.vstack([moving, feet])
    margin = _MARGIN * float(np.ptp(shown, axis=0).max())
    (left, bottom), (right, top) = shown.min(axis=0) - margin, shown.max(axis=0) + margin
    return View((float(left), float(right)), (float(bottom), float(top)))


def _fewest_columns(panels: int, aspect: float, width: float) -> int:
    """The least number of columns that keeps panels of one aspect on a page."""
    for columns in range(1, panels):
        rows = -(-panels // columns)
        height = min((width / columns - _BESIDE) / aspect, _TALLEST)
        if rows * (height + _ABOVE) + _AROUND <= _PAGE:
            return columns
    return panels


def _row_heights(views: list[View], columns: int, width: float) -> list[float]:
    """Inches of each row on one page, panels being at most ``width`` inches wide."""
    rows = [views[start : start + columns] for start in range(0, len(views), columns)]
    tallest = min(_TALLEST, (_PAGE - _AROUND) / len(rows) - _ABOVE)
    return [min(tallest, *(width / view.aspect for view in row)) for row in rows]
