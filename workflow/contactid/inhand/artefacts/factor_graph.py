"""Figure 3: the factors of a real graph, as the estimator enumerates them, with a place for each.

The graph is that of the method with all factors and the paper's differences, on a recording of five
samples; its three inner samples are those that have a dynamics factor. A sample's contacts share a
circle, with their number beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from contactid.inhand.identify.factor_graph import Factor, FactorGraph
from contactid.inhand.identify.kinematics import PAPER
from contactid.inhand.identify.methods import GRAPH_METHODS
from contactid.inhand.readers.recordings import recorded_signals, true_parameters
from contactid.inhand.readers.sources import SIMULATION
from contactid.inhand.readers.twins import simulate_recording, twin_options
from contactid.output import pen, style

_SAMPLES = 5
_SPACING = 4.0  # of the samples
# offset along the row of a sample, and height; symbol
_UNKNOWN_PLACES = {
    "pose": (0.0, 1.2, "x"),
    "force": (-0.66, 4.1, "f"),
    "contact": (0.66, 4.1, "r"),
    "parameters": (0.0, 7.0, r"\pi"),
}
_MEASURED = "measurement of a pose, a force or a contact point", style.MEASURED
# offset and height; what it is, and its colour
_FACTORS = {
    "pose": (0.0, 0.0, *_MEASURED),
    "force": (-0.66, 5.2, *_MEASURED),
    "contact": (0.66, 5.2, *_MEASURED),
    "dynamics": (0.0, 2.6, "dynamics (eqs. 18, 19)", style.LINE),
    "consistency": (-1.5, 7.0, "physical consistency (eqs. 35 to 37)", style.RELEASE),
    "geodesic": (1.5, 7.0, "geodesic prior (eq. 20)", style.ACCENT),
}
_UNKNOWNS = (
    r"unknown: pose $x$, force $f$ and point $r$ of every contact, inertial parameters $\pi$"
)
_CIRCLE, _SQUARE = 20.0, 7.0  # points


def factor_graph(
    objects: str, twin: Mapping[str, Any], weights: Mapping[str, float]
) -> pd.DataFrame:
    """The data of :func:`factor_graph_points`; blocks ``inhand: twin`` and ``inhand:
    graph: weights``.
    """
    options = twin_options({**twin, "samples": _SAMPLES}, objects)
    recording, truth = simulate_recording(SIMULATION, "noise_level_0", 0, options)
    method, prior = GRAPH_METHODS["constraint_geodesic"], true_parameters(truth)
    graph = FactorGraph(recorded_signals(recording), method, weights, PAPER, prior)
    return factor_graph_points(graph.factors())


def factor_graph_points(factors: Iterable[Factor]) -> pd.DataFrame:
    """The lines of figure 3, from factors to unknowns: ``factor`` and its ``sample``, ``unknown``
    and ``sample_of`` it, ``shared``, the number of what shares the line.

    Samples count from the middle one; what belongs to none of them stands there.
    """
    lines: Counter[tuple[object, ...]] = Counter()
    middle = _SAMPLES // 2
    for factor in factors:
        sample = 0 if factor.sample is None else factor.sample - middle
        for name in factor.unknowns:
            kind, *numbers = name.split("_")
            sample_of = int(numbers[0]) - middle if numbers else 0
            lines[factor.kind, sample, kind, sample_of] += 1
    names = ["factor", "sample", "unknown", "sample_of"]
    return pd.DataFrame([*lines], columns=names).assign(shared=[*lines.values()])


def draw_factor_graph(data: pd.DataFrame) -> Figure:
    """Figure 3: samples with their unknowns (circles) and factors (squares)."""
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, 3.6))
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.05, 0.08)
    circle: dict[str, Any] = {"marker": "o", "ls": "none", "mfc": "white", "mec": "black"}
    axes.plot([], [], ms=6.0, label=_UNKNOWNS, **circle)
    for row in pen.rows_of(data):
        offset, height, label, colour = _FACTORS[row.factor]
        square = _SPACING * row.sample + offset, height
        offset, height, _ = _UNKNOWN_PLACES[row.unknown]
        at = _SPACING * row.sample_of + offset, height
        axes.plot(*zip(square, at, strict=True), color=pen.QUIET, lw=0.7, zorder=1)
        axes.plot(*square, "s", color=colour, ms=_SQUARE, mew=0.0, zorder=3, label=label)
    for row in pen.rows_of(data.drop_duplicates(["unknown", "sample_of"])):
        offset, height, symbol = _UNKNOWN_PLACES[row.unknown]
        at = _SPACING * row.sample_of + offset, height
        axes.plot(*at, ms=_CIRCLE, mew=0.8, zorder=4, **circle)
        if row.unknown != "parameters":
            symbol += f"_{{k{row.sample_of:+d}}}" if row.sample_of else "_k"
        pen.say(axes, at, f"${symbol}$")
        if row.shared > 1:
            side = -1.0 if row.unknown == "force" else 1.0
            shift = 0.75 * side * _CIRCLE, 0.5 * _CIRCLE
            pen.say(axes, at, rf"$\times${row.shared}", shift, fontsize=6)
    # kinds that look alike are named once
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    figure.legend([*named.values()], [*named], loc="outside upper center", ncols=2)
    return figure
