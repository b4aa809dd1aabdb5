"""Identify J/m, mu and e_N of a planar body from measured velocities before and after impacts, as an MPEC.

Unknown are the impulses ``c_n, c_t`` per mass of every impact and, for all impacts together, ``J/m``, ``mu`` and
``e_N``; the latter may depend on a known quantity, such as the place on the ground, as ``e_N = B e`` with given
weights B whose rows sum to 1. Subject to, with ``M = diag(1, 1, J/m)`` (eqs. 5, 18 and 19 of the planar paper; gravity
does nothing at an instant):

* ``v^+ = v^- + M^-1 (N c_n + T c_t)``;
* ``N . v^+ = -e_N N . v^-`` with ``c_n >= 0``: a contact that approaches is closed;
* ``s perp mu c_n + c_t`` and ``s - u_t perp mu c_n - c_t`` with ``u_t = T . v^+``; s is the sliding speed along t.

What is minimised is the sum of ``sqrt(eps^2 + |v^+ - v_m^+|^2)``, omega times a given length: of norms, not squares, so
that a few badly tracked impacts count little. Velocities before impacts are taken as measured.

Everything is dimensionless: velocities and impulses by the median approach speed, lengths by that length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.errors import ContactIdError
from contactid.core.reformulations import Pair

SMOOTHING = 0.02  # m/s, eps: what velocities at an impact are uncertain by
LARGEST_MU = 2.0
_LARGEST_RATIO = 10.0  # in units of the length squared


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
            raise ContactIdError(f"impact {away[0]} doesn't approach the ground", "Leave out impacts that separate")

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
        arrays = {name: getattr(self, name)[chosen] for name in self.__dataclass_fields__ if name != "length"}
        return replace(self, **arrays)

    def mirrored(self) -> PlanarImpacts:
        """The same with v_x reversed and the rows left: a body of the other handedness."""
        turn = np.array([-1.0, 1.0, 1.0])
        return replace(self, before=self.before * turn, after=self.after * turn)

    def delassus(self, ratio: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(w_nn, w_nt, w_tt) of every impact for a J/m in m2, each (n,), dimensionless."""
        inverse = np.array([1.0, 1.0, 1.0 / ratio])
        n, t = self.normal, self.tangent
        return (n * n) @ inverse, (n * t) @ inverse, (t * t) @ inverse

    def pushed(self, ratio: float, impulses: np.ndarray) -> np.ndarray:
        """(n, 3) v^+ for impulses per mass (n, 2) in m/s."""
        wrench = self.normal * impulses[:, :1] + self.tangent * impulses[:, 1:]
        return self.before + wrench / [1.0, 1.0, ratio]

    def errors(self, predicted: np.ndarray) -> np.ndarray:
        """(n,) m/s, norms of predicted (n, 3) less measured v^+ with omega times the length."""
        return np.linalg.norm((predicted - self.after) * [1.0, 1.0, self.length], axis=1)


def step_impulses(impacts: PlanarImpacts, ratio: float, mu: float, e_n: float | np.ndarray) -> np.ndarray:
    """(n, 2) impulses per mass (c_n, c_t), m/s: the exact step law of :mod:`contactid.planar.simulate.kernel`.

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
    sticks = (c_n >= 0.0) & (np.abs(c_t) <= mu * c_n)
    side = np.where(c_t > 0.0, 1.0, -1.0)
    edge = b_n / np.where(sticks, 1.0, w_nn + side * mu * w_nt)
    return np.column_stack([np.where(sticks, c_n, edge), np.where(sticks, c_t, side * mu * edge)])


def incremental_impulses(impacts: PlanarImpacts, ratio: float, mu: float, e_n: float | np.ndarray) -> np.ndarray:
    """(n, 2) impulses per mass by Routh's construction, m/s, with Poisson's restitution.

    The sliding velocity is linear in c_n until it stops at ``c_1``; from there on friction keeps it at rest where the
    cone allows, else opposes the motion into which the coupling drives it.

    Parameters
    ----------
    ratio : J/m, m2
    e_n : scalar or (n,), impulse of restitution over that of compression
    """
    w_nn, w_nt, w_tt = impacts.delassus(ratio)
    u_n, u_t = impacts.approach, impacts.slip
    first = -mu * np.sign(u_t)
    braking = -np.sign(u_t) * (w_nt + first * w_tt)
    stops = braking > 0.0
    c_1 = np.where(stops, np.abs(u_t) / np.where(stops, braking, 1.0), np.inf)
    c_1 = np.where(u_t == 0.0, 0.0, c_1)
    second = np.clip(-w_nt / w_tt, -mu, mu)
    rise_1, rise_2 = w_nn + first * w_nt, w_nn + second * w_nt
    alone = np.where(rise_1 > 0.0, -u_n / np.where(rise_1 > 0.0, rise_1, 1.0), np.inf)
    early = np.where(np.isfinite(c_1), c_1, 0.0)
    compression = np.where(alone <= c_1, alone, early - (u_n + rise_1 * early) / rise_2)
    c_n = (1.0 + e_n) * compression
    before = np.minimum(c_n, c_1)
    return np.column_stack([c_n, first * before + second * (c_n - before)])


def place_weights(place: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """(n, p) shares of the knots (p,) at places (n,), m: linear between knots, constant beyond."""
    return np.column_stack([np.interp(place, knots, share) for share in np.eye(len(knots))])


@dataclass(frozen=True)
class ImpactModel:
    """A built model with its pairs, still to be reformulated.

    Attributes
    ----------
    model : Pyomo's; ``ratio`` (by the length squared), ``mu``, ``e_n[k]``, and by impact ``c_n, c_t, slip, spin``
    pairs : complementarity pairs, dimensionless
    impacts : the impacts
    weights : (n, p) B
    speed : unit, m/s
    """

    model: pyo.ConcreteModel
    pairs: list[Pair]
    impacts: PlanarImpacts
    weights: np.ndarray
    speed: float

    @property
    def parameters(self) -> tuple[float, float, np.ndarray]:
        """(J/m in m2, mu, e_N (p,)) at the model's present point."""
        e_n = np.array([self.model.e_n[k].value for k in range(self.weights.shape[1])])
        return self.model.ratio.value * self.impacts.length**2, self.model.mu.value, e_n

    def impulses(self) -> np.ndarray:
        """(n, 2) impulses per mass at the model's present point, m/s."""
        n = range(len(self.impacts))
        return self.speed * np.array([[self.model.c_n[i].value, self.model.c_t[i].value] for i in n])

    def start_at(self, ratio: float, mu: float, e_n: np.ndarray) -> None:
        """Set every variable to a feasible point: the exact law's answer at given parameters (J/m in m2)."""
        model, impacts = self.model, self.impacts
        impulses = step_impulses(impacts, ratio, mu, self.weights @ e_n)
        after = impacts.pushed(ratio, impulses)
        model.ratio.set_value(ratio / impacts.length**2, skip_validation=True)
        model.mu.set_value(mu, skip_validation=True)
        for k, value in enumerate(e_n):
            model.e_n[k].set_value(float(value), skip_validation=True)
        slip = np.maximum(np.einsum("ij,ij->i", impacts.tangent, after), 0.0)
        for i in range(len(impacts)):
            model.c_n[i].set_value(impulses[i, 0] / self.speed, skip_validation=True)
            model.c_t[i].set_value(impulses[i, 1] / self.speed, skip_validation=True)
            model.spin[i].set_value(after[i, 2] * impacts.length / self.speed, skip_validation=True)
            model.slip[i].set_value(slip[i] / self.speed, skip_validation=True)


def build_impact_model(impacts: PlanarImpacts, weights: np.ndarray, ratio: float | None) -> ImpactModel:
    """Write the model, which :meth:`ImpactModel.start_at` starts and :mod:`contactid.core.complementarity` solves.

    Parameters
    ----------
    weights : B, (n, p), for a restitution that varies; rows sum to 1
    ratio : J/m where it is known, m2; otherwise it is identified
    """
    n, speed = range(len(impacts)), float(np.median(-impacts.approach))
    model = pyo.ConcreteModel(name="planar impacts")
    model.ratio = pyo.Var(bounds=(1e-2, _LARGEST_RATIO), initialize=1.0)
    if ratio is not None:
        model.ratio.fix(ratio / impacts.length**2)
    model.mu = pyo.Var(bounds=(0.0, LARGEST_MU), initialize=0.3)
    model.e_n = pyo.Var(range(weights.shape[1]), bounds=(0.0, 1.0), initialize=0.5)
    model.c_n = pyo.Var(n, bounds=(0.0, None), initialize=0.0)
    model.c_t = pyo.Var(n, initialize=0.0)
    model.slip = pyo.Var(n, bounds=(0.0, None), initialize=0.0)
    model.spin = pyo.Var(n, initialize=0.0)
    built = ImpactModel(model, [], impacts, weights, speed)
    _add_law(built, SMOOTHING / speed)
    return built


def _add_law(built: ImpactModel, eps: float) -> None:
    """Constraints, pairs and objective of all impacts."""
    model, impacts = built.model, built.impacts
    unit = np.array([1.0, 1.0, impacts.length])
    before, after = impacts.before * unit / built.speed, impacts.after * unit / built.speed
    normal, tangent = impacts.normal / unit, impacts.tangent / unit
    approach = impacts.approach / built.speed
    model.rules = pyo.ConstraintList()
    norms = []
    for i in range(len(impacts)):
        c_n, c_t, slip = model.c_n[i], model.c_t[i], model.slip[i]
        gained = [float(normal[i, k]) * c_n + float(tangent[i, k]) * c_t for k in range(3)]
        model.rules.add(model.ratio * (model.spin[i] - float(before[i, 2])) == gained[2])
        v = [float(before[i, 0]) + gained[0], float(before[i, 1]) + gained[1], model.spin[i]]
        e_n = pyo.quicksum(float(w) * model.e_n[k] for k, w in enumerate(built.weights[i]) if w > 0.0)
        model.rules.add(_dot(normal[i], v) == -float(approach[i]) * e_n)
        built.pairs.append((slip, model.mu * c_n + c_t))
        built.pairs.append((slip - _dot(tangent[i], v), model.mu * c_n - c_t))
        norms.append(pyo.sqrt(eps**2 + sum((v[k] - float(after[i, k])) ** 2 for k in range(3))))
    model.misfit = pyo.Objective(expr=pyo.quicksum(norms))


def _dot(row: np.ndarray, v: Sequence[Any]) -> Any:
    return pyo.quicksum(float(a) * b for a, b in zip(row, v, strict=True) if a != 0.0)


def smoothed_mean(errors: np.ndarray) -> float:
    """Mean of ``sqrt(eps^2 + error^2)``, m/s."""
    return float(np.sqrt(SMOOTHING**2 + errors**2).mean())


def impulse_ratios(impacts: PlanarImpacts) -> np.ndarray:
    """(n,) measured c_t / c_n, from the changes of (v_x, v_y) alone: no J/m is needed."""
    change = (impacts.after - impacts.before)[:, :2]
    along = np.einsum("ij,ij->i", impacts.tangent[:, :2], change)
    pushed = np.einsum("ij,ij->i", impacts.normal[:, :2], change)
    return along / np.where(pushed != 0.0, pushed, np.inf)
