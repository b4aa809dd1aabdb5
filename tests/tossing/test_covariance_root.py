"""The root that release states are drawn with is the unique one, whatever signs eigenvectors have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.tossing.simulate.batch import symmetric_root

PACKAGE = Path(__file__).parents[2] / "workflow"
DRAWN = """
import numpy as np
from contactid.tossing.simulate.batch import symmetric_root
factor = np.random.default_rng(3).normal(size=(12, 7))
print(*np.round(np.arange(12.0) @ symmetric_root(factor @ factor.T), 9))
"""


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6))
def test_it_is_symmetric_positive_and_its_square_is_the_covariance(
    size: int, rank: int, seed: int
) -> None:
    factor = np.random.default_rng(seed).normal(size=(size, min(rank, size)))
    covariance = factor @ factor.T
    root = symmetric_root(covariance)
    np.testing.assert_allclose(root, root.T, atol=1e-12 * np.abs(root).max())
    np.testing.assert_allclose(root @ root, covariance, atol=1e-9 * np.abs(covariance).max())
    assert np.linalg.eigvalsh(root)[0] > -1e-6 * np.abs(root).max()


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="kernels are named for OpenBLAS on Linux"
)
def test_draws_are_the_same_by_another_processor_s_kernels() -> None:
    shown = set()
    for kernel in ("Nehalem", "Haswell"):
        settings = os.environ | {"OPENBLAS_CORETYPE": kernel, "PYTHONPATH": str(PACKAGE)}
        ended = subprocess.run(
            [sys.executable, "-c", DRAWN], env=settings, capture_output=True, text=True, check=True
        )
        shown.add(ended.stdout.replace("-0.0 ", "0.0 "))
    assert len(shown) == 1
