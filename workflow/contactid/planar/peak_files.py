"""Write the tables of :mod:`contactid.planar.peaks` for one scene."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from contactid.output.tables import write_csv
from contactid.planar.peaks import convergence, peak_sweep
from contactid.planar.scenes import scene_of

_LONGEST_CONVERGING = 5e-3  # s: above it, an impact takes a large part of the flight
_ORDERS = 8  # time steps that the order of convergence is fitted to


def write_peaks(
    block: Mapping[str, Any], name: str, options: Mapping[str, Any], *, peaks: str, impulses: str, errors: str
) -> None:
    """Sweep the time step for the first law of a scene and write the three tables.

    Parameters
    ----------
    block
        Configuration of the scene.
    options
        ``planar.peaks`` of the configuration.
    peaks, impulses, errors
        Files to write.
    """
    scene = scene_of(block, name)
    time_steps = np.geomspace(options["shortest"], options["longest"], options["number"])
    swept, around = peak_sweep(scene, scene.laws[0], [float(h) for h in time_steps], options["shown"])
    longest = min(options["longest"], _LONGEST_CONVERGING)
    fitted = np.geomspace(min(options["shortest"], 0.1 * longest), longest, _ORDERS)
    write_csv(swept, peaks)
    write_csv(around, impulses)
    write_csv(convergence(scene, scene.laws[0], [float(h) for h in fitted]), errors)
