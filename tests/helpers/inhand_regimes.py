"""Where the paper's free estimate is no body's: ``python tests/helpers/inhand_regimes.py`` writes
workflow/resources/inhand_regimes.csv, with sources as arguments these alone.

Every setting is tried on ten twins of every source, and said as what it multiplies the configured
sizes by. The constraint isn't tried, so that nothing is chosen by what it does. A setting has power
where most free estimates are no body's, and clearly so, while mass and centre of mass stay sane
(:func:`has_power`). The regime of a source is the first such setting of :data:`TRIED`, whose order
goes away from the study's own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.inertia import parallel_axis
from contactid.inhand.identify.active_constraint import scaled_twin
from contactid.inhand.identify.cost import with_filter
from contactid.inhand.identify.levenberg_marquardt import estimate_with_graph
from contactid.inhand.identify.methods import FREE
from contactid.inhand.readers.recordings import true_parameters
from contactid.inhand.readers.sources import IN_HAND, OBJECTS, SOURCES
from contactid.inhand.readers.twins import simulate_recording, twin_options
from twins_for_tests import OBJECTS_FILE, ROOT, STUDY

TABLE = ROOT / "workflow/resources/inhand_regimes.csv"
SEEDS = (400, 401)
MOTIONS = (1.0, 0.3, 0.1, 0.03)
#: What isn't sensed loses most of the mass in hand, so sane masses need a grasp without it.
NOTHING_UNSENSED = {"residual": 0.0}
OTHER_NOISE = ({"force": 3.0}, {"pose": 0.1}, {"pose": 3.0}, {"pose": 0.3})
#: Beside the factors: rate, differences, filter and weights, each alone.
OTHERS: tuple[dict[str, Any], ...] = (
    {"time_step": 0.005}, {"time_step": 0.02}, {"scheme": "fourth_order"}, {"filter": 1},
    {"dynamics": 0.1}, {"dynamics": 10.0}, {"tracking": 0.1}, {"tracking": 10.0},
)  # fmt: skip
TRIED: tuple[dict[str, Any], ...] = (
    *({"motion": motion} for motion in MOTIONS),
    *({"motion": motion, **NOTHING_UNSENSED} for motion in MOTIONS),
    *({"motion": motion, **NOTHING_UNSENSED, **noise} for noise, motion in product(OTHER_NOISE, MOTIONS)),
    *({"motion": 0.3, **NOTHING_UNSENSED, **other} for other in OTHERS),
    *({"motion": 0.01, **NOTHING_UNSENSED, "force": force} for force in (1.0, 3.0, 10.0)),
)  # fmt: skip
GRAPH_WEIGHTS = {
    "dynamics": ("dynamics_force", "dynamics_torque"),
    "tracking": ("orientation", "position", "contact_position"),
}
COLUMNS = (
    "motion", "residual", "force", "pose", "time_step", "scheme", "filter", "dynamics", "tracking",
)  # fmt: skip


def has_power(row: Mapping[str, Any]) -> bool:
    """Most free estimates are no body's, by a tenth of the truth's largest second moment, and the
    mass is within 5 %, the centre within a tenth of the hull's longest side.
    """
    impossible = row["impossible"] > 0.5 * row["twins"] and row["least_moment"] < -0.1
    return bool(impossible and row["mass_error_pct"] < 5.0 and row["center_error_share"] < 0.1)


def moments(body: Any) -> np.ndarray:
    """Second moments (3,) about the centre of mass, kg m2, smallest first."""
    about_center = body.inertia - parallel_axis(body.mass, body.center_of_mass)
    return np.linalg.eigvalsh(0.5 * np.trace(about_center) * np.eye(3) - about_center)


def tried(source: str, setting: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the table."""
    factors = {
        name: setting[name] for name in ("motion", "residual", "force", "pose") if name in setting
    }
    twin = scaled_twin(STUDY["twin"], source, factors)
    twin["time_step"] = setting.get("time_step", twin["time_step"])
    options = twin_options(twin, OBJECTS_FILE)
    weights = dict(STUDY["graph"]["weights"])
    for group, names in GRAPH_WEIGHTS.items():
        weights |= {name: setting.get(group, 1.0) * weights[name] for name in names}
    graph = {**STUDY["graph"], "weights": weights, "scheme": setting.get("scheme", "paper")}
    found = []
    for name, seed in product(OBJECTS[source], SEEDS):
        recording, simulated = simulate_recording(source, name, seed, options)
        if "filter" in setting:
            recording = with_filter(recording, STUDY["baseline"])
        found.append(_judged(recording, true_parameters(simulated), graph))
    rows = pd.DataFrame(found)
    medians = rows.median()
    return {
        "source": source,
        **{name: setting.get(name) for name in COLUMNS},
        "twins": len(rows),
        "answered": int(rows["least_moment"].notna().sum()),
        "impossible": int((rows["least_moment"] < 0.0).sum()),
        **{name: medians[name] for name in rows},
    }


def _judged(recording: Any, truth: Any, graph: Mapping[str, Any]) -> dict[str, float]:
    length = float(np.ptp(recording["hull"].values, axis=0).max())
    largest = moments(truth)[-1]
    free = estimate_with_graph(recording, FREE, truth, graph).parameters
    # no answer: the motion is too small for the tracker's noise
    if not np.isfinite(free.vector).all():
        return dict.fromkeys(("least_moment", "mass_error_pct", "center_error_share"), np.nan)
    return {
        "least_moment": moments(free)[0] / largest,
        "mass_error_pct": 100.0 * abs(free.mass / truth.mass - 1.0),
        "center_error_share": float(np.linalg.norm(free.center_of_mass - truth.center_of_mass))
        / length,
    }


def settings_of(source: str) -> list[dict[str, Any]]:
    """Those that differ for it: only in hand something isn't sensed."""
    if source in IN_HAND:
        return list(TRIED)
    sensed = [{name: value for name, value in one.items() if name != "residual"} for one in TRIED]
    return [one for i, one in enumerate(sensed) if one not in sensed[:i]]


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(SOURCES)
    rows = pd.DataFrame([tried(source, one) for source in chosen for one in settings_of(source)])
    rows["has_power"] = [has_power(row) for row in rows.to_dict("records")]
    if TABLE.exists():
        kept = pd.read_csv(TABLE)
        rows = pd.concat([kept[~kept["source"].isin(chosen)], rows])
    rows = pd.concat([rows[rows["source"] == source] for source in SOURCES])
    rows.to_csv(TABLE, index=False, float_format="%.4g", lineterminator="\n")
