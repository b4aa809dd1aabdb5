"""Impacts of a planar body with one contact each, and two laws of what an impact does.

Impulses ``c_n, c_t`` are per mass, with ``M = diag(1, 1, J/m)``: ``v^+ = v^- + M^-1 (N c_n + T
c_t)`` (eq. 5 of the planar paper; gravity does nothing at an instant). Errors are norms with omega
times a given length. Their means are of ``sqrt(eps^2 + |v^+ - v_m^+|^2)``, not of squares, so that
a few badly tracked impacts count little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from contactid.core.errors import ContactIdError

SMOOTHING = 0.02  # m/s, eps: what velocities at an impact are uncertain by


@dataclass(frozen=True)
class PlanarImpacts:
    """n impacts of one body with one contact each; the ground's normal and tangent are fixed.

    Attributes
    ----------
    before, after : (n, 3) measured velocities (v_x, v_y, omega), m/s, m/s, rad/s
    normal, tangent : (n, 3) rows of N and T at the impacts, 1, 1, m
    place : (n,) where the contact points are on the ground, m
    length : makes omega comparable with speeds, m; the radius of gyration where it is known
    """

    before: np.ndarray
    after: np.ndarray
    normal: np.ndarray
    tangent: np.ndarray
    place: np.ndarray
    length: float

    def __post_init__(self) -> None:
        away = np.flatnonzero(self.approach >= 0.0)
        if len(away):
            raise ContactIdError(
                f"impact {away[0]} doesn't approach the ground", "Leave out impacts that separate"
            )

    def __len__(self) -> int:
        return len(self.place)

    @property
    def approach(self) -> np.ndarray:
        """(n,) N . v^-, m/s, negative."""
        return np.einsum("ij,ij->i", self.normal, self.before)

    @property
    def slip(self) -> np.ndarray:
        """(n,) T . v^-, m/s."""
        return np.einsum("ij,ij->i", self.tangent, self.before)

    @property
    def restitution(self) -> np.ndarray:
        """(n,) apparent ``-u_n^+ / u_n^-``."""
        return -np.einsum("ij,ij->i", self.normal, self.after) / self.approach

    def part(self, chosen: np.ndarray) -> PlanarImpacts:
        """The impacts of an index or mask."""
        arrays = {
            name: getattr(self, name)[chosen]
            for name in self.__dataclass_fields__
            if name != "length"
        }
        return replace(self, **arrays)

    def mirrored(self) -> PlanarImpacts:
        """The same with v_x reversed and the rows left: a body of the other handedness."""
        # v_x changes sign, theta's sense stays: the other handedness
        turn = np.array([-1.0, 1.0, 1.0])
        return replace(self, before=self.before * turn, after=self.after * turn)

    def delassus(self, ratio: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(w_nn, w_nt, w_tt) of every impact for a J/m in m2, each (n,), dimensionless."""
        inverse = np.array([1.0, 1.0, 1.0 / ratio])
        n, t = self.normal, self.tangent
        return (n * n) @ inverse, (n * t) @ inverse, (t * t) @ inverse

    def pushed(self, ratio: float, impulses: np.ndarray) -> np.ndarray:
        """(n, 3) v^+ for impulses per mass (n, 2) in m/s."""
        # v^+ = v^- + M^-1 (N c_n + T c_t)
        wrench = self.normal * impulses[:, :1] + self.tangent * impulses[:, 1:]
        return self.before + wrench / [1.0, 1.0, ratio]

    def errors(self, predicted: np.ndarray) -> np.ndarray:
        """(n,) m/s, norms of predicted (n, 3) less measured v^+ with omega times the length."""
        return np.linalg.norm((predicted - self.after) * [1.0, 1.0, self.length], axis=1)


def step_impulses(
    impacts: PlanarImpacts, ratio: float, mu: float, e_n: float | np.ndarray
) -> np.ndarray:
    """(n, 2) impulses per mass (c_n, c_t), m/s: the exact step law of
    :mod:`contactid.planar.simulate.kernel`.

    Parameters
    ----------
    ratio : J/m, m2
    e_n : scalar or (n,)
    """
    w_nn, w_nt, w_tt = impacts.delassus(ratio)
    b_n, b_t = -(1.0 + e_n) * impacts.approach, -impacts.slip
    determinant = w_nn * w_tt - w_nt * w_nt
    c_n = (w_tt * b_n - w_nt * b_t) / determinant
    c_t = (w_nn * b_t - w_nt * b_n) / determinant
    # else the cone's edge on the side of stick's c_t, as in the compiled kernel
    sticks = (c_n >= 0.0) & (np.abs(c_t) <= mu * c_n)
    side = np.where(c_t > 0.0, 1.0, -1.0)
    # where it sticks the edge isn't used, and its divisor may be 0
    edge = b_n / np.where(sticks, 1.0, w_nn + side * mu * w_nt)
    return np.column_stack([np.where(sticks, c_n, edge), np.where(sticks, c_t, side * mu * edge)])


def incremental_impulses(
    impacts: PlanarImpacts, ratio: float, mu: float, e_n: float | np.ndarray
) -> np.ndarray:
    """(n, 2) impulses per mass by Routh's construction, m/s, with Poisson's restitution.

    The sliding velocity is linear in c_n until it stops at ``c_1``; from there on friction keeps it
    at rest where the cone allows, else opposes the motion into which the coupling drives it.

    Parameters
    ----------
    ratio : J/m, m2
    e_n : scalar or (n,), impulse of restitution over that of compression
    """
    w_nn, w_nt, w_tt = impacts.delassus(ratio)
    u_n, u_t = impacts.approach, impacts.slip
    # c_t per c_n while it slides as it came
    first = -mu * np.sign(u_t)
    # by how much |u_t| falls per c_n
    braking = -np.sign(u_t) * (w_nt + first * w_tt)
    stops = braking > 0.0
    c_1 = np.where(stops, np.abs(u_t) / np.where(stops, braking, 1.0), np.inf)
    # without initial slip the second phase begins at once
    c_1 = np.where(u_t == 0.0, 0.0, c_1)
    # -w_nt / w_tt keeps u_t at 0; beyond the cone it slides the other way at the cone's edge
    second = np.clip(-w_nt / w_tt, -mu, mu)
    # by how much u_n rises per c_n, before and after the slip stops
    rise_1, rise_2 = w_nn + first * w_nt, w_nn + second * w_nt
    # c_n at the greatest compression (u_n = 0), did it slide on to there
    alone = np.where(rise_1 > 0.0, -u_n / np.where(rise_1 > 0.0, rise_1, 1.0), np.inf)
    early = np.where(np.isfinite(c_1), c_1, 0.0)
    compression = np.where(alone <= c_1, alone, early - (u_n + rise_1 * early) / rise_2)
    # Poisson's: restitution's impulse is e times that of compression
    c_n = (1.0 + e_n) * compression
    # the part of c_n in which it slides as it came
    before = np.minimum(c_n, c_1)
    return np.column_stack([c_n, first * before + second * (c_n - before)])


def place_weights(place: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """(n, p) shares of the knots (p,) at places (n,), m: linear between knots, constant beyond."""
    return np.column_stack([np.interp(place, knots, share) for share in np.eye(len(knots))])


def smoothed_mean(errors: np.ndarray) -> float:
    """Mean of ``sqrt(eps^2 + error^2)``, m/s."""
    return float(np.sqrt(SMOOTHING**2 + errors**2).mean())


def impulse_ratios(impacts: PlanarImpacts) -> np.ndarray:
    """(n,) measured c_t / c_n, from the changes of (v_x, v_y) alone: no J/m is needed."""
    change = (impacts.after - impacts.before)[:, :2]
    along = np.einsum("ij,ij->i", impacts.tangent[:, :2], change)
    pushed = np.einsum("ij,ij->i", impacts.normal[:, :2], change)
    return along / np.where(pushed != 0.0, pushed, np.inf)
