"""Impact of an articulated body with friction, restitution and several contacts at once, as a
complementarity problem.

The impact equation is eq. 3 of the arm paper with friction, ``M (q+ - q-) = J^T Lambda``; the
velocities of the contact points are ``w+ = w- + W Lambda`` with ``w = J q`` and ``W = J M^-1 J^T``.
For every contact, with normal row N and tangential rows T:

* Newton's restitution: ``0 <= Lambda_N`` perp ``w_N+ + e w_N- >= 0``, so a contact may open by
  itself;
* Coulomb's friction, the disk replaced by a polygon of unit directions ``d_j`` (Stewart and
  Trinkle): ``Lambda_T = sum d_j b_j``, ``0 <= b_j`` perp ``d_j . w_T+ + s >= 0``, ``0 <= s`` perp
  ``mu Lambda_N - sum b_j >= 0``.

The polygon lies within the disk and reaches it at its corners, the first of which is the first
tangential direction; with n directions it lacks up to ``1 - cos(pi / n)`` of the limit in between.
With a single tangential row there are two directions, and the law is exact.

Impulses are multiples of the largest one that a contact by itself would need, velocities of the
largest closing velocity, ``b`` of mu times the impulses: all pairs are of the order of one, and no
mu is left in the last one. The pairs are linear, ``0 <= z`` perp ``A z + q >= 0``, and Lemke's
pivots (Cottle, Pang and Stone, *The Linear Complementarity Problem*, 4.4) end at a solution to
rounding.

Without restitution the problem always has a solution, and the pivots reach it. With restitution and
steep friction (mu of 1) at several contacts that depend on each other it may have none, or one that
isn't found; such an impact is reported as not converged.

Restitution by Newton's law together with friction may raise the kinetic energy; without restitution
it can't.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.arm.rigid.impact_map import SMALLEST_MOBILITY, mobility
from contactid.core.errors import ContactIdError

OPEN, STICKING, SLIDING = "open", "sticking", "sliding"
_AT_REST = 1e-9  # of the closing velocity, below which a contact's point doesn't slide
_LEAST_SPEED = 1e-12  # m/s, below which nothing closes
_TOLERANCE = 1e-9  # complementarity residual up to which an impact counts as converged
_PIVOT = 1e-11  # below it an entry of the scaled tableau is rounding, and no pivot
_MOST_PIVOTS = 1000
_COVERS = 20  # tried; steep friction and restitution at several contacts need some
_SEED = 1  # of all but the first


@dataclass(frozen=True)
class Contacts:
    """Where the body touches.

    Attributes
    ----------
    normal : (m, n) rows of the gaps' rates, m
    tangent : (m, k, n) rows of the velocities along the surface, k = 0, 1 or 2, m
    """

    normal: np.ndarray
    tangent: np.ndarray

    @classmethod
    def of_tip(cls, jacobian: np.ndarray) -> Contacts:
        """One contact of a tip with Jacobian (3, n) on a horizontal plane; the tangential axes are
        x and y.
        """
        return cls(jacobian[2:3], jacobian[None, :2])


@dataclass(frozen=True)
class ImpactLaw:
    """The contact's law.

    Attributes
    ----------
    friction_mu : Coulomb's coefficient, at least 0
    restitution_e_n : Newton's coefficient, 0 to 1
    facets : directions of the polygon that stands for the friction disk; even
    """

    friction_mu: float = 0.0
    restitution_e_n: float = 0.0
    facets: int = 8


@dataclass(frozen=True)
class ImpactSolution:
    """What follows from an impact.

    Attributes
    ----------
    velocity : (n,) q+, rad/s
    impulse_n, impulse_t : (m,) and (m, k) N s
    states : per contact ``open``, ``sticking`` or ``sliding``
    energy_lost : J
    converged : the residual is within the tolerance
    residual : largest ``|min(a, b)|`` of the scaled pairs
    pivots : until the solution
    """

    velocity: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray
    states: tuple[str, ...]
    energy_lost: float
    converged: bool
    residual: float
    pivots: int


def solve_impact(
    mass: np.ndarray, contacts: Contacts, velocity: np.ndarray, law: ImpactLaw
) -> ImpactSolution:
    """Velocity and impulses right after an impact with contacts that are all closed.

    ``mass`` M (n, n) is positive definite, ``velocity`` q- (n,) in rad/s.

    Raises
    ------
    ContactIdError
        For a posture where a contact's normal can't be moved.
    """
    normal, tangent = contacts.normal, contacts.tangent
    # all normals first, then the tangents contact by contact
    rows = np.vstack([normal, tangent.reshape(-1, len(mass))])
    w = mobility(mass, rows)
    before = rows @ velocity
    m = len(normal)
    if not np.diag(w)[:m].min() >= SMALLEST_MOBILITY:
        raise ContactIdError(
            "singular posture: an impulse along a contact's normal hardly moves it",
            "Choose a posture with bent joints",
        )
    speed = float(np.max(-before[:m], initial=0.0))
    if speed <= _LEAST_SPEED:  # no contact closes
        nothing = np.zeros((m, tangent.shape[1]))
        return ImpactSolution(velocity.copy(), np.zeros(m), nothing, (OPEN,) * m, 0.0, True, 0.0, 0)
    # the largest impulse that one contact by itself would need
    unit = (1.0 + law.restitution_e_n) * float(np.max(-before[:m] / np.diag(w)[:m]))
    # tangential impulses by facets: none without friction
    d = (
        directions(tangent.shape[1], law.facets)
        if law.friction_mu
        else np.empty((0, tangent.shape[1]))
    )
    facets = np.kron(np.eye(m), d)
    # one impulse of each normal and facet
    pushes = np.zeros((len(rows), m + len(facets)))
    pushes[:m, :m] = np.eye(m)
    pushes[m:, m:] = law.friction_mu * facets.T
    slips = np.kron(np.eye(m), np.ones((len(d), 1)))
    # rates of the normals and along the facets, by the impulses
    along = np.block(
        [[np.eye(m), np.zeros((m, len(rows) - m))], [np.zeros((len(facets), m)), facets]]
    )
    matrix = np.block(
        [
            [unit / speed * along @ w @ pushes, np.vstack([np.zeros((m, m)), slips])],
            # slip only with the whole friction spent; mu is in the facets' unit
            [np.eye(m), -slips.T, np.zeros((m, m))],
        ]
    )
    rates = along @ before / speed
    # Newton: 0 <= Lambda_N perp w_N+ + e w_N- >= 0
    rates[:m] *= 1.0 + law.restitution_e_n
    offset = np.concatenate([rates, np.zeros(m)])
    draw = np.random.default_rng(_SEED)
    residual, pivots, cover = np.inf, 0, np.ones(len(offset))
    # from another side where pivots end on a ray
    for _ in range(_COVERS):
        solution, more = lemke(matrix, offset, cover)
        residual = float(np.abs(np.minimum(solution, matrix @ solution + offset)).max())
        pivots += more
        if residual <= _TOLERANCE:
            break
        cover = draw.uniform(0.1, 1.0, len(offset))
    impulses = unit * pushes @ solution[: pushes.shape[1]]
    impulse_n, impulse_t = impulses[:m], impulses[m:].reshape(m, -1)
    # M (q+ - q-) = J^T Lambda
    change = np.linalg.solve(mass, rows.T @ impulses)
    after = velocity + change
    return ImpactSolution(
        velocity=after,
        impulse_n=impulse_n,
        impulse_t=impulse_t,
        states=_states(impulse_n, tangent @ after, unit, speed),
        # T- - T+ = -dq^T M (q- + dq / 2)
        energy_lost=-float(change @ mass @ (velocity + 0.5 * change)),
        converged=residual <= _TOLERANCE,
        residual=residual,
        pivots=pivots,
    )


def lemke(matrix: np.ndarray, offset: np.ndarray, cover: np.ndarray) -> tuple[np.ndarray, int]:
    """z (n,) with ``0 <= z`` perp ``A z + q >= 0`` by Lemke's pivots, and their number.

    ``matrix`` A (n, n), ``offset`` q (n,), ``cover`` (n,) positive, of the artificial variable.
    Where the pivots end on a ray, z isn't a solution. Ties are broken lexicographically, so that no
    basis comes twice.
    """
    n = len(offset)
    if offset.min() >= 0.0:
        return np.zeros(n), 0
    # columns: w, z, the artificial variable, q; rows w - A z - cover z0 = q
    columns = np.column_stack([np.eye(n), -matrix, -cover, offset])
    tableau, basis = columns.copy(), np.arange(n)
    artificial = entering = 2 * n
    row = int(np.argmin(offset / cover))
    pivots = 0
    while pivots < _MOST_PIVOTS:
        pivots += 1
        tableau[row] /= tableau[row, entering]
        others = np.arange(n) != row
        tableau[others] -= np.outer(tableau[others, entering], tableau[row])
        leaving, basis[row] = int(basis[row]), entering
        if leaving == artificial:
            break
        # the other one of the pair
        entering = (leaving + n) % (2 * n)
        able = np.flatnonzero(tableau[:, entering] > _PIVOT)
        if not len(able):
            break
        # q first, then the inverse basis, which stands where w's columns were
        ratios = tableau[able][:, [-1, *range(n)]] / tableau[able, entering][:, None]
        row = int(able[np.lexsort(ratios.T[::-1])[0]])
    # anew from the first columns: pivots gather rounding
    values = np.zeros(2 * n + 1)
    values[basis] = np.linalg.solve(columns[:, basis], offset)
    return np.maximum(values[n : 2 * n], 0.0), pivots


def directions(k: int, facets: int) -> np.ndarray:
    """(j, k) unit directions of the polygon in k tangential axes; the first is the first axis."""
    # on a line two directions are the whole disk
    if k < 2:
        return np.array([[1.0], [-1.0]])[:, :k]
    angles = 2.0 * np.pi * np.arange(facets) / facets
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _states(
    impulse_n: np.ndarray, sliding: np.ndarray, unit: float, speed: float
) -> tuple[str, ...]:
    # without tangential rows nothing holds a contact, so it counts as sliding
    speeds = np.linalg.norm(sliding, axis=1) if sliding.shape[1] else np.full(len(sliding), np.inf)
    return tuple(
        OPEN if push <= _AT_REST * unit else STICKING if slip <= _AT_REST * speed else SLIDING
        for push, slip in zip(impulse_n, speeds, strict=True)
    )
