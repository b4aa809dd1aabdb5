"""The root of a covariance that random states are drawn with, the same on every processor."""

from __future__ import annotations

import numpy as np


def symmetric_root(covariance: np.ndarray) -> np.ndarray:
    """(n, n) the symmetric positive semidefinite matrix whose square is a covariance (n, n), which may be singular.

    Among all roots this one is unique. Eigenvectors alone would do as well, but their signs depend on the kernel that
    BLAS chooses for a processor, and draws with them.
    """
    values, axes = np.linalg.eigh(covariance)
    # Eigenvalues that are zero come out as rounding, some negative; their roots would be a part in 1e8 of the largest.
    rounding = len(values) * np.finfo(float).eps * values[-1]
    deviations = np.sqrt(np.where(values > rounding, values, 0.0))
    return (axes * deviations) @ axes.T
