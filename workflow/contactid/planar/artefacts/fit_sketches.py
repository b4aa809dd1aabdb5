"""Figures 15 and 16: what a fit looks for, and the instants captured and inserted, as tables of
:mod:`contactid.output.sketch`.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.output import pen, sketch, style
from contactid.output.sketch import Look
from contactid.planar.artefacts.contact_sketches import SMALL_ELLIPSE, ellipse_body, posture
from contactid.planar.simulate.bodies import PlanarLaw, simulate
from contactid.planar.simulate.geometry import Ground, outline_at

STEP = 2e-3  # s, of figure 15's motion
_EVERY, _COUNT = 25, 9  # steps between captured postures, and their number
_SCATTER = np.array([0.005, 0.005, 0.12])  # of captured postures, m, m, rad
_LOOKS = {
    **sketch.LOOKS,
    "fitted": Look(style.LINE, 0.7),
    "captured": Look(style.RELEASE, 0.7, "--"),
}
_MARKS = {"fitted": 1.4, "captured": 3.6}  # points
_NAMES = {
    "fitted": r"best-fit trajectory $\mathbf{q}^k$",
    "captured": r"captured postures $\mathbf{q}_\mathrm{m}^i$",
}


def fitted_trajectory(seed: int = 15) -> pd.DataFrame:
    """Figure 15: postures captured with noise, and the smooth motion that a fit looks for, in m.

    The motion is a simulated bounce of the small ellipse; every 25th state with Gaussian noise, far
    more than a camera's so that it can be seen, stands for a captured posture. Items are ``fitted
    k`` and ``captured k`` with the step k; a point's value is its posture's angle.

    Deviation: the curve is the motion itself and not the outcome of a fit; the figure is
    qualitative in the paper too.
    """
    ground, body, law = Ground(), ellipse_body(SMALL_ELLIPSE), PlanarLaw(0.3, 0.7)
    start = posture(SMALL_ELLIPSE, ground, 0.6, 0.12), (2.3, 0.0, -3.0)
    steps = _EVERY * (_COUNT - 1)
    fitted = simulate(body, ground, law, *start, time_step=STEP, steps=steps).position
    noise = np.random.default_rng(seed).standard_normal((_COUNT, 3))
    captured = fitted[::_EVERY] + _SCATTER * noise
    instants = range(0, steps + 1, _EVERY)
    postures = [("fitted", k, q) for k, q in enumerate(fitted)]
    postures += [("captured", k, q) for k, q in zip(instants, captured, strict=True)]
    rows = []
    for kind, k, q in postures:
        said = {"look": kind, "scale": _MARKS[kind], "value": q[2], "unit": "rad"}
        rows += sketch.line(f"{kind} {k}", [q[:2]], "point", **said)
        if k % _EVERY == 0:
            rows += sketch.line(f"{kind} {k}", outline_at(SMALL_ELLIPSE, q), look=kind)
    places = [row["x"] for row in rows]
    level = [(min(places) - 0.02, 0.0), (max(places) + 0.02, 0.0)]
    return sketch.table(sketch.line("ground", level, "ground", scale=0.008) + rows)


def draw_fitted_trajectory(data: pd.DataFrame) -> Figure:
    """Figure 15: captured postures and the trajectory that fits them best."""
    box = (data["x"].min(), -0.015), (data["x"].max(), data["y"].max() + 0.01)
    figure, (axes,) = pen.page(style.DOUBLE_COLUMN, [box], head=0.35)
    sketch.draw(axes, data, _LOOKS)
    for kind, name in _NAMES.items():
        look = {"color": _LOOKS[kind].colour, "ls": _LOOKS[kind].dash, "ms": _MARKS[kind]}
        axes.plot([], [], marker="o", lw=0.7, label=name, **look)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def time_instants() -> pd.DataFrame:
    """Figure 16: captured instants at 240 frames/s and those inserted for steps of at most 1 ms
    (section 5.1), x in ms.

    Items are ``captured k`` and ``inserted k``, k = n_s i + j; the step is ``h = Delta t / n_s``,
    n_s the least number of sub-intervals with steps no longer than wanted.
    """
    interval, longest = 1e3 / 240.0, 1.0
    parts = int(np.ceil(interval / longest))
    step = interval / parts
    end = 2 * interval + 0.9 * step
    rows = sketch.arrow(
        "time", (-0.6 * step, 0.0), (end + 0.6 * step, 0.0), "plain", 1.0, "$t$", (4, -8)
    )
    for k in range(2 * parts + 1):
        kind, look, half = "inserted", "thin blue", 0.14
        if k % parts == 0:
            kind, look, half = "captured", "red", 0.3
        rows += sketch.line(f"{kind} {k}", [(k * step, -half), (k * step, half)], look=look)
    for place, name in enumerate(("i", "i+1", "i+2")):
        at = place * interval, 0.3
        rows += sketch.point(f"t_{name}", at, f"$t^{{{name}}}$", (1, 8), "red")
    names = ["k", *(f"k+{k}" for k in range(1, parts)), "k+n_s"]
    for k, name in enumerate(names):
        rows += sketch.point(f"t_{name}", (k * step, -0.3), f"$t^{{{name}}}$", (1, -7), "thin blue")
    inner = (parts + 2) * step
    for first, last, height, text, shift in (
        (0.0, interval, 1.1, rf"$\Delta t = {interval:.3g}$ ms", 7),
        (interval, 2 * interval, 1.1, rf"$n_s = {parts}$ sub-intervals", 7),
        (inner, inner + step, -0.45, rf"$h = \Delta t / n_s = {step:.3g}$ ms", -8),
    ):
        rows += sketch.length(text, [(first, height), (last, height)], text, (0, shift))
    return sketch.table(rows)


def draw_time_instants(data: pd.DataFrame) -> Figure:
    """Figure 16: captured and inserted instants."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 1.35))
    axes.set(xlim=(data["x"].min() - 0.2, data["x"].max() + 1.0), ylim=(-1.3, 1.6))
    axes.set_axis_off()
    sketch.draw(axes, data)
    return figure
