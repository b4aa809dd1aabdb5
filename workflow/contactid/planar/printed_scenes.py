"""What the planar paper prints of its scenes, and which of a run's tables are of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from contactid.planar.sweeps.measured import IDENTIFICATION
from contactid.planar.table1 import INERTIA, MASS, SEMI_AXES

Tables = Mapping[str, pd.DataFrame]

_ELLIPSE = {"semi_axes": [1.5, 1.0], "mass": 10, "inertia": 2}
_PLYWOOD = {"semi_axes": list(SEMI_AXES), "mass": MASS, "inertia": INERTIA}


def _scene(position: list[float], velocity: list[float], **others: Any) -> dict[str, Any]:
    return {"body": _ELLIPSE, "position": position, "velocity": velocity, **others}


#: The body, its start, and restitution where it is one value (sections 4 and 6.1).
SCENES: dict[str, dict[str, Any]] = {
    "drop": _scene([0, 10, 0], [0, 0, 0], restitution_e_n=[0]),
    "throw": _scene([0, 5, 0], [10, -3, -8], restitution_e_n=[0]),
    "sliding": _scene([0, 1, 0], [15, 0, 0], restitution_e_n=[0]),
    "restitution": _scene([0, 5, 0], [10, -3, -8]),
    IDENTIFICATION: {
        "body": _PLYWOOD,
        "position": [0, 0.1, -0.785],
        "velocity": [3, -5, 0],
        "restitution_e_n": 0.2,
    },
}
GRAVITY = 9.81  # m/s2
#: Stands for table 1's stored noise samples among the run's tables.
SAMPLES = "planar_table1"
_ORDERS, _FEWEST_STEPS = "ext_impulse_convergence", 8  # time steps, for an order of convergence
_OF_SCENES = {_ORDERS: {"drop", "throw"}, "ext_liftoff": {"sliding"}}


def as_printed(tables: Tables, block: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """The tables of scenes as printed; ``measures`` by scene, as ``measures_<scene>``.

    Parameters
    ----------
    tables : by name; those that no scene of section 4 is behind are of the identified throw
    block : the study's block of the configuration
    """
    scenes = {scene for scene in SCENES if _is_printed(block, scene)}
    measures = tables["measures"]
    kept = {f"measures_{scene}": measures[measures["scene"] == scene] for scene in sorted(scenes)}
    for name, table in tables.items():
        departs = not _OF_SCENES.get(name, {IDENTIFICATION}) <= scenes
        few = name == _ORDERS and table["time_steps"].min() < _FEWEST_STEPS
        if name != "measures" and not (departs or few):
            kept[name] = table
    return kept


def _is_printed(block: Mapping[str, Any], scene: str) -> bool:
    """Whether a scene or the identified throw is as printed, on level ground."""
    thrown = block[IDENTIFICATION] if scene == IDENTIFICATION else block["scenes"].get(scene)
    if thrown is None or block["gravity"] != GRAVITY:
        return False
    ours = {**thrown, "body": dict(block["bodies"][thrown["body"]])}
    level = thrown["ground"]["slope"] == 0 and thrown["ground"]["start"] == [0, 0]
    same = all(ours[key] == value for key, value in SCENES[scene].items())
    return bool(level and same and thrown.get("restitution_e_t", 0) == 0)
