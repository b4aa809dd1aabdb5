"""Figure 3's data: the factors of a real graph, as the estimator enumerates them, with a place for each.

The graph is that of the method with all factors and the paper's differences, on a recording of five samples; its three
inner samples are those that have a dynamics factor. A sample's contacts share a circle, with their number beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from contactid.core.inertia import InertialParameters
from contactid.inhand.factor_graph import PARAMETERS_NAME, Factor, FactorGraph, FactorWeights, build_graph
from contactid.inhand.kinematics import PAPER
from contactid.inhand.methods import graph_method
from contactid.inhand.names import SIMULATION
from contactid.inhand.readers.twin_options import TwinOptions
from contactid.inhand.readers.twins import simulate_recording
from contactid.inhand.recording_arrays import recorded_signals
from contactid.output.tables import write_csv

VARIABLE, FACTOR, EDGE = "variable", "factor", "edge"
_SAMPLES = 5
_SPACING = 4.0  # of the samples
# offset along the row of a sample, and height
_PLACES = {
    "pose": (0.0, 1.2), "force": (-0.66, 4.1), "contact": (0.66, 4.1), PARAMETERS_NAME: (0.0, 7.0),
}  # fmt: skip
_FACTOR_PLACES = {
    "pose": (0.0, 0.0), "dynamics": (0.0, 2.6), "force": (-0.66, 5.2), "contact": (0.66, 5.2),
    "consistency": (-1.5, 7.0), "geodesic": (1.5, 7.0),
}  # fmt: skip
_SOURCE = "drawn from the estimator's factors: a graph of five samples with four contacts; contactid inhand"


def example_graph(weights: FactorWeights) -> FactorGraph:
    """The graph that is drawn."""
    recording, truth = simulate_recording(SIMULATION, "noise_level_0", 0, TwinOptions(samples=_SAMPLES))
    prior = InertialParameters.from_vector(np.array(truth.attrs["vector"]))
    method = graph_method("constraint_geodesic")
    hull = recording["hull"].values
    return build_graph(recorded_signals(recording), method, weights, PAPER, hull_vertices=hull, prior=prior)


def factor_graph_points(factors: Iterable[Factor]) -> pd.DataFrame:
    """Circles, squares and lines of figure 3.

    ``element`` (``variable``, ``factor`` or ``edge``), ``kind``, ``sample`` (-1 for the parameters), ``count`` (of what
    shares the place), ``inner`` (whether the sample has a dynamics factor), ``x``, ``y``, ``x_end``, ``y_end``,
    ``source``.
    """
    listed = list(factors)
    inner = {factor.sample for factor in listed if factor.kind == "dynamics"}
    middle = float(np.mean([sample for sample in inner if sample is not None]))
    rows: dict[tuple[object, ...], int] = {}
    for name in dict.fromkeys(unknown for factor in listed for unknown in factor.unknowns):
        kind, sample = _kind_and_sample(name)
        _count(rows, (VARIABLE, kind, sample, *_place(_PLACES, kind, sample, middle), np.nan, np.nan))
    for factor in listed:
        sample = -1 if factor.sample is None else factor.sample
        place = _place(_FACTOR_PLACES, factor.kind, sample, middle)
        _count(rows, (FACTOR, factor.kind, sample, *place, np.nan, np.nan))
        for name in factor.unknowns:
            kind, of = _kind_and_sample(name)
            _count(rows, (EDGE, factor.kind, sample, *place, *_place(_PLACES, kind, of, middle)))
    names = ["element", "kind", "sample", "x", "y", "x_end", "y_end"]
    table = pd.DataFrame([*rows], columns=names).assign(count=[*rows.values()], source=_SOURCE)
    return table.assign(inner=table["sample"].isin([-1, *inner]))


def write_factor_graph(path: str | Path, weights: FactorWeights) -> None:
    """Write figure 3's data."""
    write_csv(factor_graph_points(example_graph(weights).factors()), path)


def _kind_and_sample(name: str) -> tuple[str, int]:
    """Of an unknown's name; -1 for the parameters, which belong to no sample."""
    kind, *numbers = name.split("_")
    return kind, int(numbers[0]) if numbers else -1


def _place(places: dict[str, tuple[float, float]], kind: str, sample: int, middle: float) -> tuple[float, float]:
    offset, height = places[kind]
    return _SPACING * (middle if sample < 0 else sample) + offset, height


def _count(rows: dict[tuple[object, ...], int], row: tuple[object, ...]) -> None:
    rows[row] = rows.get(row, 0) + 1
