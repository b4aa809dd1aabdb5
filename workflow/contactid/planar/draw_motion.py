"""Draw motions of planar bodies as time lapses (figures 9, 11 and 13 of the planar paper); nothing is computed here.

A scene is a table with the columns ``panel, label, kind, item, time_s, x_m, y_m``. The rows of one panel, kind and item
are a polyline in S, in their order: ``outline`` (one item per instant shown), ``com``, ``reference`` and ``ground``.
The ground is straight and goes on beyond its two points; bodies are on its left.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend

from contactid.output import style

_BODY = LinearSegmentedColormap.from_list("body", [style.REST, style.REST_EDGE])
_GROUND, _GROUND_EDGE = "#e4e4e4", "#8c8c8c"
_TALLEST, _PAGE = 3.6, 8.0  # inches: of one panel, of all
_BESIDE, _ABOVE, _AROUND = 0.5, 0.34, 0.75  # inches of a panel's numbers, its label, and of legend and axis names
_OPACITY = 1.2  # of all bodies of a panel, should they lie over each other
_BETWEEN = 0.06  # inches around panels, so that labels keep clear of the marks above them
_EVEN = 0.02  # instants are those of whole time steps
_MARGIN = 0.03  # of a panel's longer side, around what is shown
BODY, COM, REFERENCE = "body", "centre of mass", "reference point"


@dataclass(frozen=True)
class View:
    """What a panel shows of the plane, m."""

    x: tuple[float, float]
    y: tuple[float, float]

    @property
    def aspect(self) -> float:
        """Width over height."""
        return (self.x[1] - self.x[0]) / (self.y[1] - self.y[0])


def draw_throw(data: pd.DataFrame) -> Figure:
    """Figure 9: a thrown ellipse (a) and its first two impacts (b), each to its own scale."""
    return draw_scene(data, columns=1, width=0.8 * style.DOUBLE_COLUMN, shared=False)


def draw_sliding(data: pd.DataFrame) -> Figure:
    """Figure 11: motions from a sliding start, a row per friction coefficient."""
    return draw_scene(data, columns=1, width=0.8 * style.DOUBLE_COLUMN)


def draw_scene(
    data: pd.DataFrame, *, columns: int | None = None, width: float = style.DOUBLE_COLUMN, shared: bool = True
) -> Figure:
    """Time lapse of any scene, a panel per motion.

    Parameters
    ----------
    data
        The scene, as this module describes it.
    columns
        Panels beside each other; as few as fit a page where it isn't given.
    width
        Inches at most.
    shared
        Whether all panels show the same part of the plane.
    """
    figure, panels = scene_panels(data, columns=columns, width=width, shared=shared)
    for panel, axes in panels.items():
        _draw_motion(axes, data[data["panel"] == panel])
    first = next(iter(panels.values()))
    name_lines(figure, first, {BODY: f"{BODY}{_interval(data)}, darker later"})
    return figure


def scene_panels(
    data: pd.DataFrame,
    *,
    columns: int | None = None,
    width: float = style.DOUBLE_COLUMN,
    shared: bool = True,
    above: float = 0.0,
) -> tuple[Figure, dict[int, Axes]]:
    """Axes by panel, of equal aspect with limits, labels and ground, and their figure, ``above`` inches higher.

    The other parameters are those of :func:`draw_scene`.
    """
    names = [int(panel) for panel in dict.fromkeys(data["panel"])]
    letters = string.ascii_lowercase if 1 < len(names) <= len(string.ascii_lowercase) else ""
    views = {panel: _view(data if shared else data[data["panel"] == panel]) for panel in names}
    columns = columns or _fewest_columns(len(names), min(view.aspect for view in views.values()), width)
    rows = -(-len(names) // columns)
    heights = _row_heights(list(views.values()), columns, width / columns - _BESIDE)
    used = columns * (max(view.aspect * heights[k // columns] for k, view in enumerate(views.values())) + _BESIDE)
    figure, grid = plt.subplots(
        rows, columns, sharex=shared, sharey=shared, squeeze=False, height_ratios=heights,
        layout=ConstrainedLayoutEngine(compress=True, h_pad=_BETWEEN if shared else 2.0 * _BETWEEN),
        figsize=(float(np.clip(used, style.SINGLE_COLUMN, width)), sum(heights) + rows * _ABOVE + _AROUND + above),
    )  # fmt: skip
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
    """One legend over all panels for the labelled artists of ``axes``; ``names`` replaces some of their labels."""
    handles, labels = axes.get_legend_handles_labels()
    shown = [(names or {}).get(label, label) for label in labels]
    columns = len(handles) if figure.get_figwidth() > 1.25 * style.SINGLE_COLUMN else 2
    return figure.legend(handles, shown, loc="outside upper center", ncols=columns, columnspacing=1.5)


def _draw_motion(axes: Axes, data: pd.DataFrame) -> None:
    """Outlines that darken with time, both paths, and the reference point on every outline."""
    outlines = [part for _, part in data[data["kind"] == "outline"].groupby("item")]
    shades = _BODY(np.linspace(0.0, 1.0, max(len(outlines), 2)))
    for place, (outline, shade) in enumerate(zip(outlines, shades, strict=False)):
        axes.fill(
            outline["x_m"],
            outline["y_m"],
            facecolor=(*shade[:3], min(0.10, _OPACITY / len(outlines))),
            edgecolor="none",
            zorder=1,
        )
        label = BODY if place == len(outlines) // 2 else None
        axes.plot(outline["x_m"], outline["y_m"], color=shade, lw=0.8, zorder=2, label=label)
    com, reference = (data[data["kind"] == kind] for kind in ("com", "reference"))
    axes.plot(com["x_m"], com["y_m"], color=style.LINE, lw=1.2, zorder=3, label=COM)
    axes.plot(reference["x_m"], reference["y_m"], "--", color=style.RELEASE, lw=0.8, zorder=4, label=REFERENCE)
    instants = [float(outline["time_s"].iloc[0]) for outline in outlines]
    if len(reference):
        x, y = (np.interp(instants, reference["time_s"], reference[name]) for name in ("x_m", "y_m"))
        axes.plot(x, y, "o", color=style.RELEASE, ms=2.0, mew=0.0, zorder=5)


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
    named = "" if pd.isna(label) else str(label)  # a csv has no other empty text in a column of nothing else
    axes.set_title(" ".join(part for part in (letter and f"({letter})", named) if part), loc="left")
    axes.locator_params(nbins=6, axis="y", steps=[1, 2, 5, 10])
    for origin, tangent in _grounds(data):
        reach = 2.0 * (np.ptp(view.x) + np.ptp(view.y) + np.abs(origin - [view.x[0], view.y[0]]).sum())
        ends = origin + np.outer([-reach, reach], tangent)
        below = ends[::-1] - reach * _normal(tangent)
        axes.fill(*np.vstack([ends, below]).T, fc=_GROUND, ec=_GROUND_EDGE, hatch="//////", lw=0.0, zorder=0)
        axes.plot(*ends.T, color="black", lw=0.8, zorder=0.5)


def _grounds(data: pd.DataFrame) -> list[tuple[np.ndarray, np.ndarray]]:
    """A point (2,) and the unit tangent (2,) of each ground."""
    lines = []
    for _, ground in data[data["kind"] == "ground"].groupby(["panel", "item"]):
        points = ground[["x_m", "y_m"]].to_numpy()
        along = points[-1] - points[0]
        lines.append((points[0], along / np.linalg.norm(along)))
    return lines


def _normal(tangent: np.ndarray) -> np.ndarray:
    """(2,) unit vector out of the ground."""
    return np.array([-tangent[1], tangent[0]])


def _view(data: pd.DataFrame) -> View:
    """The smallest view of a motion and of the ground nearest to it, with a margin."""
    moving = data.loc[data["kind"] != "ground", ["x_m", "y_m"]].to_numpy()
    feet = [
        moving - np.outer((moving - origin) @ _normal(tangent), _normal(tangent)) for origin, tangent in _grounds(data)
    ]
    shown = np.vstack([moving, *feet])
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


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig09_throw_motion": draw_throw,
    "fig11_sliding_motion": draw_sliding,
    "fig13_restitution_motion": draw_scene,
}
