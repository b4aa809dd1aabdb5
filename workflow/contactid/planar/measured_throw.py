"""A throw as the identification takes it: poses at evenly spaced instants, their noise, and the ground below."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.geometry import Ground

_UNEVEN = 0.01  # largest relative spread of the intervals
_FEWEST = 5


@dataclass(frozen=True)
class MeasuredThrow:
    """Measured poses of one throw.

    Attributes
    ----------
    time : (n_m,) s, evenly spaced
    position : (n_m, 3) q = (x, y, theta), m and rad, theta continuous
    sigma : (3,) standard deviations of the measurement noise, m, m, rad
    ground : what the body is thrown over
    """

    time: np.ndarray
    position: np.ndarray
    sigma: np.ndarray
    ground: Ground = field(default_factory=Ground)

    def __post_init__(self) -> None:
        n = len(self.time)
        if self.position.shape != (n, 3) or n < _FEWEST:
            raise ContactIdError(
                f"a throw has {n} times and poses {self.position.shape}", f"Give {_FEWEST} or more poses x, y, theta"
            )
        if not (np.isfinite(self.time).all() and np.isfinite(self.position).all()):
            raise ContactIdError("a throw has poses that aren't finite", "Leave those frames out, or cut the throw")
        step = np.diff(self.time)
        if not (step > 0.0).all() or np.ptp(step) > _UNEVEN * step.mean():
            raise ContactIdError("a throw's times aren't evenly spaced", "Resample it, or cut it at the gap")
        if np.shape(self.sigma) != (3,) or not (np.isfinite(self.sigma).all() and (self.sigma > 0.0).all()):
            raise ContactIdError(f"a throw's noise is {self.sigma}", "Give three positive standard deviations")

    @property
    def frame_interval(self) -> float:
        """Time between frames, s."""
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)

    @property
    def n_frames(self) -> int:
        """Number of intervals between frames."""
        return len(self.time) - 1
