"""Friction above which the sliding ellipse leaves the ground (section 4.3), by bisection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.planar.simulate.scenes import Scene, scene_of

_SCAN, _LARGEST = 0.02, 2.0  # steps of the scan that brackets the threshold, and its end
_TOLERANCE = 1e-4


def liftoff_threshold(scene: Scene, duration: float, clearance: float) -> tuple[float, bool]:
    """Least friction at which the gap exceeds a clearance (m) within a time (s), and whether it
    does at larger ones.

    The scene's first law tells the rest. Larger ones are those of a scan up to a friction of 2.

    Raises
    ------
    ContactIdError
        Where it lifts off without friction, or at no friction of the scan.
    """

    def lifts_off(friction_mu: float) -> bool:
        motion = scene.run(scene.laws[0]._replace(friction_mu=friction_mu), duration=duration)
        return bool(motion.gap.min(axis=1).max() > clearance)

    scan = np.arange(0.0, _LARGEST + _SCAN / 2.0, _SCAN)
    lifted = np.array([lifts_off(float(mu)) for mu in scan])
    if not lifted.any() or lifted[0]:
        raise ContactIdError(
            f"scene {scene.name}: the body lifts off {'without friction' if lifted[0] else 'at no friction'}",
            "Look for the threshold in a scene that starts sliding",
        )
    # the first of the scan: lift-off need not be monotone in friction
    first = int(np.argmax(lifted))
    low, high = float(scan[first - 1]), float(scan[first])
    while high - low > _TOLERANCE:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if lifts_off(middle) else (middle, high)
    return 0.5 * (low + high), bool(lifted[first:].all())


def write_liftoff(block: Mapping[str, Any], options: Mapping[str, Any], table: str) -> None:
    """Write the sliding scene's thresholds by how long one waits and what counts as leaving the
    ground.

    ``options`` are ``planar.liftoff`` of the configuration.
    """
    scene = scene_of(block, "sliding")
    rows = [
        (duration, 1e3 * clearance, *liftoff_threshold(scene, duration, clearance))
        for duration in options["durations"]
        for clearance in options["clearances"]
    ]
    columns = ["duration_s", "clearance_mm", "friction_mu", "monotone"]
    write_csv(pd.DataFrame(rows, columns=columns), table)
