"""The impact law of a single corner (eqs. 7 to 11, tossing paper), and impacts of one body stacked
for it.

With ``gamma`` the velocity of the corner relative to the surface's material and ``G`` the Delassus
matrix,

    xi = gamma^+ + diag(e_T, e_T, e_N) gamma^-,   gamma^+ = gamma^- + G P,   v^+ = v^- + response P,

the impulse ``P = (T_x, T_y, N)`` obeys ``0 <= N``, ``xi_N >= 0``, ``N xi_N = 0``, ``|T| <= mu N``,
and ``xi_T`` vanishes inside the friction disk and opposes ``T`` on its rim. One contact has one
solution, which the simulator's kernel finds exactly. Gravity does nothing at an instant.

Energy: ``e_T = e_N <= 1`` never adds any (the power of P with ``gamma^+ + e gamma^-`` is not
positive). With ``e_T = 0`` and ``e_N > 0`` friction can turn the tangential motion around through
the coupling in G while restitution follows the normal speed alone, and then energy can grow:
Newton's restitution with friction has that well-known flaw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np

from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.impacts.impact import Impact, impact_geometry
from contactid.tossing.simulate.contact_kernel import (
    BLOCK,
    COLUMNS,
    INVERSE,
    OPTIONS,
    solve_contact,
)

Values = float | np.ndarray


@dataclass(frozen=True)
class ImpactTable:
    """n impacts of one body, stacked; everything in C, twists hybrid (``B[C]``)."""

    toss: np.ndarray  # (n,) names of the recordings
    jacobian: np.ndarray  # (n, 3, 6) velocity of the corner per twist of B's origin
    response: np.ndarray  # (n, 6, 3) change of that twist per impulse at the corner
    delassus: np.ndarray  # (n, 3, 3) 1/kg
    # pre_twist, post_twist: (n, 6) measured
    pre_twist: np.ndarray
    post_twist: np.ndarray
    # pre_covariance, post_covariance: (n, 6, 6) of the measured twists
    pre_covariance: np.ndarray
    post_covariance: np.ndarray
    surface_velocity: np.ndarray  # (n, 3) m/s

    def __len__(self) -> int:
        return len(self.toss)

    @cached_property
    def approach(self) -> np.ndarray:
        """(n, 3) measured corner velocity before the impact, relative to the surface."""
        return self.relative(self.pre_twist)

    @cached_property
    def _inverse_delassus(self) -> np.ndarray:
        return np.linalg.inv(self.delassus)

    def relative(self, twist: np.ndarray) -> np.ndarray:
        """(n, 3) corner velocities relative to the surface's material for twists (n, 6)."""
        return np.einsum("nij,nj->ni", self.jacobian, twist) - self.surface_velocity

    def post_covariance_with(self, linear: float, angular: float) -> np.ndarray:
        """(n, 6, 6) covariance of the post-impact twists plus a model error of given deviations
        (m/s and rad/s).
        """
        return self.post_covariance + np.diag(np.repeat([linear**2, angular**2], 3))

    def impulses(self, mu: Values, e_n: Values, e_t: Values = 0.0) -> np.ndarray:
        """(n, 3) exact impulses in N s; parameters are scalars or (n,)."""
        n = len(self)
        restitution = np.column_stack([np.broadcast_to(value, (n,)) for value in (e_t, e_t, e_n)])
        return _impulses(
            np.ascontiguousarray(self.delassus, dtype=float),
            self._inverse_delassus,
            # xi of eqs. 8 and 9 without an impulse, both velocities being gamma^-
            (1.0 + restitution) * self.approach,
            np.ascontiguousarray(np.broadcast_to(mu, (n,)), dtype=float),
        )

    def predict(self, mu: Values, e_n: Values, e_t: Values = 0.0) -> np.ndarray:
        """(n, 6) twists after the impacts."""
        return self.pre_twist + np.einsum("nij,nj->ni", self.response, self.impulses(mu, e_n, e_t))


def impact_table(body: BodyProperties, impacts: Sequence[Impact]) -> ImpactTable:
    """Stack impacts and their geometry.

    Raises :class:`ContactIdError` where there is none.
    """
    if not impacts:
        raise ContactIdError(
            "there is no impact to identify from",
            "Relax the selection's thresholds, or take more data",
        )
    geometry = [impact_geometry(body, impact) for impact in impacts]
    measured = ("pre_twist", "post_twist", "pre_covariance", "post_covariance", "surface_velocity")
    return ImpactTable(
        toss=np.array([impact.toss for impact in impacts], dtype=object),
        **{
            name: np.stack([getattr(item, name) for item in geometry])
            for name in ("jacobian", "response", "delassus")
        },
        **{
            name: np.stack([np.asarray(getattr(item, name), dtype=float) for item in impacts])
            for name in measured
        },
    )


@numba.njit(**OPTIONS)
def _impulses(blocks, inverses, offsets, mus):
    """Impulses for offsets ``(1 + e) gamma^-``: what xi would be without an impulse."""
    # one row of the simulator's table of contacts, filled for each impact
    row = np.zeros((1, COLUMNS))
    impulses = np.empty((len(mus), 3))
    for i in range(len(mus)):
        for k in range(9):
            row[0, BLOCK + k] = blocks[i, k // 3, k % 3]
            row[0, INVERSE + k] = inverses[i, k // 3, k % 3]
        b0, b1, b2 = offsets[i]
        # the search for a direction begins at the slip before the impact
        impulses[i] = solve_contact(row, 0, b0, b1, b2, mus[i], b0, b1)
    return impulses
