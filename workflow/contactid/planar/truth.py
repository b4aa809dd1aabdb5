"""What is known of a simulated throw beside what was measured of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Truth:
    """A simulated throw behind the measured one: time (n,), q (n, 3), impulses per mass summed over contacts (n,)."""

    time: np.ndarray
    position: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray
