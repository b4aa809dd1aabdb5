"""A Gaussian whose precision matrix is block-tridiagonal: solved, drawn from and inverted where it
matters.

Blocks are eliminated one after the other (``A = L L^T`` by blocks), so every cost is linear in
their number. Entries of the inverse are those of the diagonal blocks and of the ones beside them,
by the backward recursion of a smoother (Takahashi, Fagan, Chen 1973; Rauch, Tung, Striebel 1965).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtrtri


class BlockTridiagonal:
    """A factored positive definite matrix of b blocks of q rows.

    Parameters
    ----------
    diagonal
        (b, q, q) blocks.
    below
        (b - 1, q, q) blocks of a block row and the column block before it.

    Raises
    ------
    numpy.linalg.LinAlgError
        Where it isn't positive definite.
    """

    def __init__(self, diagonal: np.ndarray, below: np.ndarray) -> None:
        blocks, size = diagonal.shape[:2]
        self._inverse_roots = np.empty_like(diagonal)
        # few unknowns of a block have to do with the block before: rows of the others stay zero
        self._tied = np.flatnonzero(below.any(axis=(0, 2)))
        self._below = np.empty((blocks - 1, len(self._tied), size))
        tied, left = np.ix_(self._tied, self._tied), diagonal[0]
        for j in range(blocks):
            # L_jj^-1: later every product is with it
            inverse, _ = dtrtri(np.linalg.cholesky(left), lower=1)
            self._inverse_roots[j] = inverse
            if j < blocks - 1:
                self._below[j] = below[j, self._tied] @ inverse.T
                left = diagonal[j + 1].copy()
                left[tied] -= self._below[j] @ self._below[j].T

    def solve(self, right: np.ndarray) -> np.ndarray:
        """(b, q, c) solution for right-hand sides (b, q, c)."""
        return self._backward(self._forward(right))

    def draw(self, white: np.ndarray) -> np.ndarray:
        """(b, q, c) samples whose precision is the matrix, of standard normal numbers (b, q, c)."""
        return self._backward(white)

    def _forward(self, right: np.ndarray) -> np.ndarray:
        solution = np.empty_like(right)
        solution[0] = self._inverse_roots[0] @ right[0]
        for j in range(1, len(right)):
            left = right[j].copy()
            left[self._tied] -= self._below[j - 1] @ solution[j - 1]
            solution[j] = self._inverse_roots[j] @ left
        return solution

    def _backward(self, right: np.ndarray) -> np.ndarray:
        solution = np.empty_like(right)
        solution[-1] = self._inverse_roots[-1].T @ right[-1]
        for j in range(len(right) - 2, -1, -1):
            left = right[j] - self._below[j].T @ solution[j + 1, self._tied]
            solution[j] = self._inverse_roots[j].T @ left
        return solution

    def inverse_blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """Blocks of the inverse: those on its diagonal (b, q, q), and below it (b - 1, q, q)."""
        on = np.empty_like(self._inverse_roots)
        under = np.empty_like(on[:-1])
        on[-1] = self._inverse_roots[-1].T @ self._inverse_roots[-1]
        for j in range(len(on) - 2, -1, -1):
            # L_j+1,j L_jj^-1
            gain = self._below[j] @ self._inverse_roots[j]
            under[j] = -on[j + 1][:, self._tied] @ gain
            # backward: what later blocks know of this one comes on top of its own
            on[j] = (
                self._inverse_roots[j].T @ self._inverse_roots[j] - gain.T @ under[j, self._tied]
            )
        return on, under
