"""What an arm's encoders make of joint positions: noise, and steps."""

from __future__ import annotations

import numpy as np


def reported(clean: np.ndarray, noise: float, resolution: float, random: np.random.Generator) -> np.ndarray:
    """Joint positions of any shape, rad, as they are reported.

    Parameters
    ----------
    clean
        Any shape, rad.
    noise
        Standard deviation of white noise, rad.
    resolution
        Steps that positions are rounded to, rad; 0 leaves them unrounded.
    random
        Source of the noise.
    """
    noisy = clean + noise * random.normal(size=clean.shape)
    return resolution * np.round(noisy / resolution) if resolution > 0.0 else noisy
