"""Friction above which the sliding ellipse leaves the ground (section 4.3), by bisection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.planar.simulate.bodies import PlanarLaw
from contactid.planar.simulate.scenes import Scene, scene_of

_SCAN = 0.02  # steps of the scan that brackets the threshold


def lifts_off(scene: Scene, law: PlanarLaw, friction_mu: float, duration: float, clearance: float) -> bool:
    """Whether the gap exceeds ``clearance`` (m) within ``duration`` (s)."""
    motion = scene.run(law._replace(friction_mu=friction_mu), duration=duration)
    return bool(motion.gap.min(axis=1).max() > clearance)


def liftoff_threshold(
    scene: Scene, law: PlanarLaw, *, duration: float, clearance: float, tolerance: float = 1e-4, largest: float = 2.0
) -> tuple[float, bool]:
    """Least friction at which the body lifts off, and whether it does at all larger ones of a scan.

    Raises
    ------
    ContactIdError
        Where it lifts off without friction, or at no friction up to ``largest``.
    """
    scan = np.arange(0.0, largest + _SCAN / 2.0, _SCAN)
    lifted = np.array([lifts_off(scene, law, float(mu), duration, clearance) for mu in scan])
    if not lifted.any() or lifted[0]:
        raise ContactIdError(
            f"scene {scene.name}: the body lifts off {'without friction' if lifted[0] else 'at no friction'}",
            "Look for the threshold in a scene that starts sliding",
        )
    first = int(np.argmax(lifted))
    low, high = float(scan[first - 1]), float(scan[first])
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if lifts_off(scene, law, middle, duration, clearance) else (middle, high)
    return 0.5 * (low + high), bool(lifted[first:].all())


def liftoff_table(scene: Scene, durations: list[float], clearances: list[float]) -> pd.DataFrame:
    """Thresholds by how long one waits and what counts as leaving the ground.

    Returns
    -------
    ``duration_s, clearance_mm, friction_mu, monotone``
    """
    rows = []
    for duration in durations:
        for clearance in clearances:
            mu, monotone = liftoff_threshold(scene, scene.laws[0], duration=duration, clearance=clearance)
            rows.append((duration, 1e3 * clearance, mu, monotone))
    return pd.DataFrame(rows, columns=["duration_s", "clearance_mm", "friction_mu", "monotone"])


def write_liftoff(block: Mapping[str, Any], options: Mapping[str, Any], table: str) -> None:
    """Write the thresholds of the sliding scene; ``options`` are ``planar.liftoff`` of the configuration."""
    write_csv(liftoff_table(scene_of(block, "sliding"), options["durations"], options["clearances"]), table)
