"""The sandwich covariance on linear problems, where what it stands for can be computed exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.tossing.models.impact_uncertainty import sandwich


@dataclass(frozen=True)
class Table:
    """Which toss each row is of."""

    toss: np.ndarray

    def __len__(self) -> int:
        return len(self.toss)


@dataclass(frozen=True)
class Linear:
    """A likelihood whose parameters p (k,) are those of least squares, F = |y - A p|^2 / 2."""

    design: np.ndarray
    measured: np.ndarray
    table: Table

    def estimate(self, kept: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The parameters by some of the rows."""
        return np.linalg.lstsq(self.design[kept], self.measured[kept])[0]

    def curvatures(self, at, free) -> np.ndarray:
        """(rows, k, k) share of each row in the Hessian."""
        return self.design[:, :, None] * self.design[:, None, :]

    def scores(self, at, free) -> np.ndarray:
        """(rows, k) derivatives of each row's cost."""
        residuals = self.measured - self.design @ at[:2]
        return -self.design * residuals[:, None]


def covariance(problem: Linear, at: np.ndarray) -> np.ndarray:
    """The sandwich at given parameters."""
    _, toss = np.unique(problem.table.toss, return_inverse=True)
    shares, scores = np.zeros((toss.max() + 1, 2, 2)), np.zeros((toss.max() + 1, 2))
    np.add.at(shares, toss, problem.curvatures(at, (0, 1)))
    np.add.at(scores, toss, problem.scores(at, (0, 1)))
    return sandwich(shares, scores, np.linalg.inv(shares.sum(axis=0)))


def drawn(sizes: list[int], seed: int) -> Linear:
    """Tosses of so many rows each."""
    random = np.random.default_rng(seed)
    toss = np.repeat(np.arange(len(sizes)), sizes)
    return Linear(random.normal(size=(len(toss), 2)), random.normal(size=len(toss)), Table(toss))


@given(st.lists(st.integers(1, 5), min_size=4, max_size=12), st.integers(0, 10**6))
def test_the_sandwich_is_the_jackknife_over_tosses(sizes: list[int], seed: int) -> None:
    problem = drawn(sizes, seed)
    toss = problem.table.toss
    best = problem.estimate()
    pulls = np.array([problem.estimate(toss != one) - best for one in range(len(sizes))])
    m = len(sizes)
    jackknife = (m - 1) / m * pulls.T @ pulls
    np.testing.assert_allclose(covariance(problem, best), jackknife, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("m", [3, 5, 20])
def test_of_a_mean_it_is_the_unbiased_variance(m: int) -> None:
    """Two means of m tosses, each measured once a toss: s^2 / m, with m - 1 in s^2."""
    random = np.random.default_rng(m)
    toss = np.tile(np.arange(m), 2)
    design = np.repeat(np.eye(2), m, axis=0)
    problem = Linear(design, random.normal(size=2 * m), Table(toss))
    first, second = problem.measured.reshape(2, m)
    variances = np.diag(covariance(problem, problem.estimate()))
    np.testing.assert_allclose(variances, [first.var(ddof=1) / m, second.var(ddof=1) / m])
