"""Figures 15 and 16: what a fit looks for, and the instants captured and inserted."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.planar.artefacts import pen, sketch
from contactid.planar.simulate.bodies import PlanarLaw, simulate
from contactid.planar.simulate.geometry import Ground, outline_at

POSTURE_COLUMNS = ("kind", "part", "index", "order", "time_s", "x_m", "y_m", "theta_rad")
INSTANT_COLUMNS = ("kind", "index", "after_previous_capture", "time_s", "step_s")


def fitted_trajectory(seed: int = 15) -> pd.DataFrame:
    """Figure 15: postures captured with noise, and the smooth motion that a fit looks for.

    The motion is a simulated bounce of the small ellipse; every 25th state with Gaussian noise, far
    more than a camera's so that it can be seen, stands for a captured posture. One row per posture
    or point of an outline (``part``); ``index`` is k of the motion and i of the captured postures,
    ``order`` that of an outline's points.

    Deviation: the curve is the motion itself and not the outcome of a fit; the figure is
    qualitative in the paper too.
    """
    h, every, count = 2e-3, 25, 9
    ground = Ground()
    body, law = sketch.ellipse_body(sketch.SMALL_ELLIPSE), PlanarLaw(0.3, 0.7)
    q0 = sketch.posture(sketch.SMALL_ELLIPSE, ground, 0.6, 0.12)
    motion = simulate(
        body, ground, law, q0, (2.3, 0.0, -3.0), time_step=h, steps=every * (count - 1)
    )
    scatter = np.array([0.005, 0.005, 0.12])  # m, m, rad
    captured = motion.position[::every] + scatter * np.random.default_rng(seed).standard_normal(
        (count, 3)
    )
    rows: list[tuple[Any, ...]] = []
    for kind, postures, times, outlined in (
        ("fitted", motion.position, motion.time, every),
        ("captured", captured, motion.time[::every], 1),
    ):
        for k, (q, time) in enumerate(zip(postures, times, strict=True)):
            rows.append((kind, "posture", k, 0, time, *q))
            if k % outlined == 0:
                points = outline_at(sketch.SMALL_ELLIPSE, q)
                rows += [
                    (kind, "outline", k, order, time, *point, q[2])
                    for order, point in enumerate(points)
                ]
    return pd.DataFrame(rows, columns=list(POSTURE_COLUMNS))


def draw_fitted_trajectory(data: pd.DataFrame) -> Figure:
    """Figure 15: captured postures and the trajectory that fits them best."""
    outlines, postures = (data[data["part"] == part] for part in ("outline", "posture"))
    left, right, top = (
        outlines["x_m"].min() - 0.02,
        outlines["x_m"].max() + 0.02,
        outlines["y_m"].max() + 0.01,
    )
    figure, (axes,) = pen.page(style.DOUBLE_COLUMN, [((left, -0.015), (right, top))], head=0.35)
    pen.ground(axes, np.array([[left, 0.0], [right, 0.0]]), 0.008)
    looks = (
        ("fitted", style.LINE, "-", 1.4, r"best-fit trajectory $\mathbf{q}^k$"),
        ("captured", style.RELEASE, "--", 3.6, r"captured postures $\mathbf{q}_\mathrm{m}^i$"),
    )
    for kind, colour, dash, size, name in looks:
        for _, outline in outlines[outlines["kind"] == kind].groupby("index"):
            axes.plot(outline["x_m"], outline["y_m"], color=colour, lw=0.7, ls=dash)
        centers = postures[postures["kind"] == kind]
        joined = "-" if kind == "fitted" else "none"
        axes.plot(
            centers["x_m"], centers["y_m"], "o", color=colour, ms=size, lw=pen.THIN, ls=joined
        )
        axes.plot([], [], "o", color=colour, ms=size, lw=0.7, ls=dash, label=name)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def time_instants() -> pd.DataFrame:
    """Figure 16: captured instants at 240 frames/s and those inserted for steps of at most 1 ms
    (section 5.1).

    ``index`` is k = n_s i + ``after_previous_capture``; ``step_s`` is ``h = Delta t / n_s``, n_s
    the least number of sub-intervals with steps no longer than wanted.
    """
    interval, longest = 1.0 / 240.0, 1e-3
    parts = int(np.ceil(interval / longest))
    step = interval / parts
    rows = []
    for k in range(2 * parts + 1):
        kind = "captured" if k % parts == 0 else "inserted"
        rows.append((kind, k, k % parts, k * step, step))
    return pd.DataFrame(rows, columns=list(INSTANT_COLUMNS))


def draw_time_instants(data: pd.DataFrame) -> Figure:
    """Figure 16: captured and inserted instants."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 1.35))
    time = 1e3 * data["time_s"].to_numpy()
    captured = (data["kind"] == "captured").to_numpy()
    marks, parts = time[captured], int(data["index"][captured].iloc[1])
    step = 1e3 * float(data["step_s"].iloc[0])
    axes.set(xlim=(-0.8 * step, time[-1] + 1.2 * step), ylim=(-1.3, 1.6))
    axes.set_axis_off()
    pen.arrow(axes, (-0.6 * step, 0.0), (time[-1] + 0.9 * step, 0.0), pen.DARK)
    pen.say(axes, (time[-1] + 0.9 * step, 0.0), "$t$", (4, -8), pen.DARK)
    axes.vlines(time[~captured], -0.14, 0.14, color=style.LINE, lw=pen.NORMAL)
    axes.vlines(marks, -0.3, 0.3, color=style.RELEASE, lw=pen.BOLD)
    for place, name in zip(marks, ("i", "i+1", "i+2"), strict=True):
        pen.say(axes, (place, 0.3), rf"$t^{{{name}}}$", (1, 8), style.RELEASE)
    for k in range(parts + 1):
        name = "k" if k == 0 else "k+n_s" if k == parts else f"k+{k}"
        pen.say(axes, (time[k], -0.3), rf"$t^{{{name}}}$", (1, -7), style.LINE)
    _span(axes, marks[0], marks[1], 1.1, rf"$\Delta t = {marks[1]:.3g}$ ms")
    _span(axes, marks[1], marks[2], 1.1, rf"$n_s = {parts}$ sub-intervals")
    _span(axes, time[parts + 2], time[parts + 3], -0.45, rf"$h = \Delta t / n_s = {step:.3g}$ ms")
    return figure


def _span(axes: Axes, start: float, end: float, height: float, text: str) -> None:
    """A dimension between two instants, named above or, below the line of time, beneath."""
    pen.arrow(axes, (start, height), (end, height), pen.QUIET, pen.THIN, "<|-|>")
    pen.say(axes, (0.5 * (start + end), height), text, (0, 7 if height > 0.0 else -8), pen.DARK)
