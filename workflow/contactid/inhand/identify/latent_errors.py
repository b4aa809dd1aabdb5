"""Errors that are correlated in time, as unknowns beside the parameters: the covariance is never
formed.

A recording's wrench equations, each whitened by the stated noise, are ``w = X theta + J e + G u +
noise``. Here e are the errors of the poses, J their slopes, which reach two samples to either side;
u are forces that aren't sensed, and G their wrench. e is white noise and a first-order process; u
is a sum of first-order processes. A first-order process has a bidiagonal root, also across a gap,
so the precision of all unknown errors is a band over the samples, and everything below costs as
much per sample in a long recording as in a short one.

With the errors integrated out, the covariance of w is ``S = s_0 C + sum_i s_i K_i``
(:data:`LEVELS`). By Woodbury's identity, ``S^-1 = (1 - J A^-1 J^T / s_0) / s_0`` in whitened units,
A the precision of e and u given w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.inhand.identify.chain import BlockTridiagonal
from contactid.inhand.identify.kinematics import POSE

SHORT = 0.1  # s, over which errors of the poses are correlated
UNSENSED = (0.1, 1.0)  # s, the same of unsensed forces
LEVELS = (
    "forces and contact points", "positions, white", "orientations, white", "positions, over 0.1 s",
    "orientations, over 0.1 s", *(f"unsensed forces, over {span:g} s" for span in UNSENSED),
)  # fmt: skip
POSES = (1, 2, 3, 4)  # levels of the poses
COMING = tuple(range(5, len(LEVELS)))  # levels of unsensed forces that come and go, in N2
_AXES = np.array(
    [1, 1, 1, 0, 0, 0]
)  # of a pose's increment: an orientation's level comes after a position's
_GROUP = 4  # samples in a block; equations reach as far
_SPAN = 5  # samples that an equation reaches


@dataclass
class Equations:
    """Wrench equations of m inner samples out of n, whitened by the stated noise.

    Attributes
    ----------
    time : (n,) s
    rows : (m,) sample of each equation
    value : (m, 6)
    slope : (m, 6, p) by the parameters
    by_pose : (m, 6, 30) by the errors of the five poses around, in stated deviations
    by_force : (m, 6, r) by unsensed forces of unit size
    """

    time: np.ndarray
    rows: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    by_pose: np.ndarray
    by_force: np.ndarray


class LatentErrors:
    """Everything about the errors at given levels."""

    def __init__(self, equations: Equations, levels: np.ndarray) -> None:
        self._equations, self.levels = equations, levels
        rank = equations.by_force.shape[2]
        self._size = 2 * POSE + rank * len(UNSENSED)
        self._error, self._slow = slice(0, POSE), slice(POSE, 2 * POSE)
        starts = 2 * POSE + rank * np.arange(len(UNSENSED))
        self._forces = [slice(start, start + rank) for start in starts]
        self._samples = len(equations.time)
        # rounded up to whole blocks
        padded = -(-self._samples // _GROUP) * _GROUP
        band = np.zeros(
            (padded, _SPAN, self._size, self._size)
        )  # band[k, o] is the block of samples k + o and k
        # samples that only fill the last block: unit precision, tied to nothing
        band[self._samples :, 0] = np.eye(self._size)
        self._add_priors(band[: self._samples])
        self._add_data(band)
        self._chain = BlockTridiagonal(*_blocks(band))
        self._project()

    def _pose_levels(self) -> tuple[np.ndarray, np.ndarray]:
        """(6,) levels of white and of correlated errors of a pose's coordinates."""
        levels = self.levels
        return levels[[1 + axis for axis in _AXES]], levels[[3 + axis for axis in _AXES]]

    def _processes(self) -> list[tuple[slice, np.ndarray | float, float]]:
        """Place, level and span (s) of every first-order process."""
        forces = zip(self._forces, self.levels[list(COMING)], UNSENSED, strict=True)
        return [(self._slow, self._pose_levels()[1], SHORT), *forces]

    def _add_priors(self, band: np.ndarray) -> None:
        """Add the errors' own precision."""
        white, _ = self._pose_levels()
        error, slow = np.arange(POSE), np.arange(POSE, 2 * POSE)
        # (e - slow)^2 / white: e is its correlated part plus white noise
        for first, second, sign in (
            (error, error, 1),
            (slow, slow, 1),
            (error, slow, -1),
            (slow, error, -1),
        ):
            band[:, 0, first, second] += sign / white
        for place, level, span in self._processes():
            kept, fresh = self._decay(span)
            own, along = (
                np.arange(place.start, place.stop),
                np.broadcast_to(level, place.stop - place.start),
            )
            # (u_k - kept u_k-1)^2 / fresh: diagonal, its neighbour's share, and the tie of both
            band[:, 0, own, own] += 1.0 / (fresh[:, None] * along)
            band[:-1, 0, own, own] += kept[1:, None] ** 2 / (fresh[1:, None] * along)
            band[:-1, 1, own, own] -= kept[1:, None] / (fresh[1:, None] * along)

    def _decay(self, span: float) -> tuple[np.ndarray, np.ndarray]:
        """(n,) share that a process keeps from the sample before, and the variance that is fresh,
        for unit variance.
        """
        # infinitely long before the first sample: the process starts from its stationary state
        step = np.diff(self._equations.time, prepend=-np.inf)
        # expm1 keeps the digits where steps are short beside the span
        return np.exp(-step / span), -np.expm1(-2.0 * step / span)

    def _add_data(self, band: np.ndarray) -> None:
        equations, rank = self._equations, self._equations.by_force.shape[2]
        rows, middle = equations.rows, _SPAN // 2
        both = np.concatenate([equations.by_pose, equations.by_force], axis=2)
        # (m, 30 + r, 30 + r) information of the errors that an equation touches
        square = np.swapaxes(both, 1, 2) @ both / self.levels[0]
        forces = slice(POSE * _SPAN, POSE * _SPAN + rank)
        poses = [slice(POSE * i, POSE * i + POSE) for i in range(_SPAN)]
        for i in range(_SPAN):
            start = rows - middle + i
            # lower blocks only: pose j is the later one
            for j in range(i, _SPAN):
                band[start, j - i, self._error, self._error] += square[:, poses[j], poses[i]]
            for place in self._forces:
                # a force acts at the middle sample, and which of the two comes later says whose
                # block it is
                if i >= middle:
                    band[rows, i - middle, self._error, place] += square[:, poses[i], forces]
                if i <= middle:
                    band[start, middle - i, place, self._error] += square[:, forces, poses[i]]
        # fast and slow forces have the same slope, so every pair is tied alike
        for one in self._forces:
            for other in self._forces:
                band[rows, 0, one, other] += square[:, forces, forces]

    def _project(self) -> None:
        """Least squares of the errors on value and slopes, and what is left of the squares."""
        equations = self._equations
        # value and slopes at once, (m, 6, 1 + p): one solve serves them all
        columns = np.concatenate([equations.value[..., None], equations.slope], axis=2)
        right = self._transposed(columns)
        # (n, d, 1 + p): likeliest errors for the value and for each column
        self._response = self._solved(right) / self.levels[0]
        # Woodbury: columns^T S^-1 columns without S
        flat, error = columns.reshape(-1, columns.shape[2]), right.reshape(-1, columns.shape[2])
        self._gram = (flat.T @ flat - error.T @ self._response.reshape(error.shape)) / self.levels[
            0
        ]

    def _transposed(self, columns: np.ndarray) -> np.ndarray:
        """(n, d, c): by the errors' slopes transposed, of columns (m, 6, c)."""
        equations = self._equations
        out = np.zeros((self._samples, self._size, columns.shape[2]))
        by_pose = np.swapaxes(equations.by_pose, 1, 2) @ columns
        for i in range(_SPAN):
            out[equations.rows - _SPAN // 2 + i, self._error] += by_pose[
                :, POSE * i : POSE * i + POSE
            ]
        by_force = np.swapaxes(equations.by_force, 1, 2) @ columns
        for place in self._forces:
            out[equations.rows, place] += by_force
        return out

    def _solved(self, right: np.ndarray) -> np.ndarray:
        padding = -self._samples % _GROUP
        padded = np.concatenate([right, np.zeros((padding, *right.shape[1:]))])
        solution = self._chain.solve(padded.reshape(-1, _GROUP * self._size, right.shape[2]))
        return solution.reshape(-1, self._size, right.shape[2])[: self._samples]

    @property
    def information(self) -> np.ndarray:
        """(p, p) of the parameters."""
        return self._gram[1:, 1:]

    @property
    def score(self) -> np.ndarray:
        """(p,): the information times the least-squares answer."""
        return self._gram[1:, 0]

    def misfit(self, answer: np.ndarray) -> float:
        """Squared residuals by their covariance, of an answer (p,)."""
        whole = np.append(1.0, -answer)
        return float(whole @ self._gram @ whole)

    def errors(self, answer: np.ndarray) -> np.ndarray:
        """(n, d) likeliest errors for an answer (p,)."""
        return self._response @ np.append(1.0, -answer)

    def pose_errors(self, answer: np.ndarray) -> np.ndarray:
        """(n, 6) likeliest errors of the poses, in stated deviations."""
        return self.errors(answer)[:, self._error]

    def draw_pose_errors(self, count: int, random: np.random.Generator) -> np.ndarray:
        """(n, 6, count) samples of what is left of the poses' errors, in stated deviations."""
        shape = (-(-self._samples // _GROUP), _GROUP * self._size, count)
        drawn = self._chain.draw(random.standard_normal(shape))
        return drawn.reshape(-1, self._size, count)[: self._samples, self._error]

    def inner(self, columns: np.ndarray) -> np.ndarray:
        """(c, c): columns (m, 6, c) times S^-1 times themselves."""
        return self._products(columns, self._transposed(columns))

    def _products(self, columns: np.ndarray, right: np.ndarray) -> np.ndarray:
        """(c, c) the same, of columns that the errors' slopes were put on, too (n, d, c)."""
        flat, error = columns.reshape(-1, columns.shape[2]), right.reshape(-1, columns.shape[2])
        solved = self._solved(right).reshape(error.shape)
        return (flat.T @ flat - error.T @ solved / self.levels[0]) / self.levels[0]

    def shown_and_expected(
        self, answer: np.ndarray, covariance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(k,) what the residuals show of every kernel, and what they should: ``r^T S^-1 K S^-1 r``
        and ``tr(P K)``.

        Of an answer (p,) with covariance (p, p); P is ``S^-1`` with the parameters projected out.
        """
        levels, equations = self.levels, self._equations
        errors, blocks = self.errors(answer), self._chain.inverse_blocks()
        # a root of the answer's covariance spreads it over the errors: (n, d, p)
        values, vectors = np.linalg.eigh(covariance)
        free = self._response[:, :, 1:] @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        own, other, before = self._variances(blocks, free)
        shown, expected = np.zeros(len(levels)), np.zeros(len(levels))
        white, _ = self._pose_levels()
        # white part is e less its correlated part: what is seen of it, and how well it is known
        square = ((errors[:, self._error] - errors[:, self._slow]) ** 2).sum(axis=0)
        spread = (own[:, self._error] + own[:, self._slow] - 2.0 * other).sum(axis=0)
        np.add.at(shown, 1 + _AXES, square / white**2)
        # samples less what the posterior variance takes: degrees of freedom of this level
        np.add.at(expected, 1 + _AXES, (self._samples - spread / white) / white)
        for number, (place, level, span) in enumerate(self._processes()):
            kept, fresh = (values[:, None] for values in self._decay(span))
            moved = errors[:, place].copy()
            # innovations of the process, whose variances are fresh times the level
            moved[1:] -= kept[1:] * errors[:-1, place]
            square = (moved**2 / fresh).sum(axis=0)
            spread = own[:, place].copy()
            # posterior variance of an innovation, from those of neighbours and their covariance
            spread[1:] += kept[1:] ** 2 * own[:-1, place] - 2.0 * kept[1:] * before[:, place]
            spread = (spread / fresh).sum(axis=0)
            # the first process is the poses', with a level for positions and one for orientations
            places = 3 + _AXES if number == 0 else np.full(len(square), COMING[number - 1])
            np.add.at(shown, places, square / level**2)
            np.add.at(expected, places, (self._samples - spread / level) / level)
        whole = np.append(1.0, -answer)
        columns = np.concatenate([equations.value[..., None], equations.slope], axis=2)
        noise = columns @ whole - self._fitted(errors)
        shown[0] = (noise**2).sum() / levels[0] ** 2
        # tr(P S) is values less parameters: what no other kernel takes is the forces'
        count = equations.value.size - len(answer)
        expected[0] = (count - levels[1:] @ expected[1:]) / levels[0]
        # rounding may bring what is expected below zero
        return shown, np.maximum(expected, 1e-12)

    def _fitted(self, errors: np.ndarray) -> np.ndarray:
        """(m, 6) whitened wrench of errors (n, d)."""
        equations = self._equations
        total = np.einsum(
            "kij,kj->ki",
            equations.by_force,
            sum(errors[equations.rows, place] for place in self._forces),
        )
        for i in range(_SPAN):
            around = errors[equations.rows - _SPAN // 2 + i, self._error]
            total += np.einsum(
                "kij,kj->ki", equations.by_pose[:, :, POSE * i : POSE * i + POSE], around
            )
        return total

    def _variances(
        self, blocks: tuple[np.ndarray, np.ndarray], free: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every error (n, d), of it with the sample before (n - 1, d), and of e with its
        correlated part (n, 6).
        """
        on, under = blocks
        count, size, n = len(on), self._size, self._samples
        on, under = (one.reshape(-1, _GROUP, size, _GROUP, size) for one in (on, under))
        each = np.arange(_GROUP)
        # advanced indices on both sides move to the front
        inside = on[:, each, :, each, :]  # (4, b, d, d)
        inside = np.moveaxis(inside, 0, 1).reshape(count * _GROUP, size, size)
        error, slow = np.arange(POSE), np.arange(POSE, 2 * POSE)
        own = np.diagonal(inside, axis1=1, axis2=2)[:n] + (free**2).sum(axis=2)
        other = inside[:n, error, slow] + (free[:, error] * free[:, slow]).sum(axis=2)
        before = np.empty((count * _GROUP - 1, size))
        for i in range(_GROUP - 1):
            # neighbours within a block; the last of a block and the first of the next lie in the
            # block below
            before[i::_GROUP] = np.diagonal(on[:, i + 1, :, i, :], axis1=1, axis2=2)
        before[_GROUP - 1 :: _GROUP] = np.diagonal(under[:, 0, :, -1, :], axis1=1, axis2=2)
        before = before[: n - 1] + (free[1:] * free[:-1]).sum(axis=2)
        return own, other, before


def _blocks(band: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Blocks of a block-tridiagonal matrix, of the band of its samples' blocks."""
    samples, _, size, _ = band.shape
    grouped = band.reshape(-1, _GROUP, _SPAN, size, size)
    on = np.zeros((samples // _GROUP, _GROUP, size, _GROUP, size))
    below = np.zeros_like(on)
    for column in range(_GROUP):
        for offset in range(_SPAN):
            row = column + offset
            if row < _GROUP:
                on[:, row, :, column] = grouped[:, column, offset]
                on[:, column, :, row] = np.swapaxes(grouped[:, column, offset], 1, 2)
            else:
                below[:, row - _GROUP, :, column] = grouped[:, column, offset]
    whole = (samples // _GROUP, _GROUP * size, _GROUP * size)
    return on.reshape(whole), below.reshape(whole)[:-1]
