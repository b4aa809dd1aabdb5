"""Inertial parameters of a grasped object from its motion and its contacts' wrench: one nonlinear program (figure 3).

Unknown are the pose at every sample, with it the body's rates and accelerations, and the ten inertial parameters;
forces and contact points are eliminated (:mod:`contactid.inhand.identify.wrench`). What is minimised is half the sum of
squares of all errors in units of their standard deviations: of positions, orientations, and of the six components of
the wrench that Newton and Euler's equations (eqs. 8 and 9) leave. Weights are the recording's own. Nothing is
differentiated before the fit: the wrench ties the poses to each other, so the noise of second differences is smoothed
by the dynamics.

With ``y = s + R_m^T (p'' - g)``, s the specific force in B, all constraints but the body's own are linear or
bilinear:

* pose at sample k: ``p = p_m + sigma d`` and ``R = R_m Cay(rho)``, rho the Gibbs vector (tangent of half the angle
  along the axis) of the correction to the measured orientation R_m. ``s = Cay(rho)^T R_m^T (p'' - g)`` is exactly ``2
  s - y + rho x y = 0``;
* central differences, errors of second order in dt: p'' is the second difference D, and ``w +- dt/2 w'`` is the mean
  rate ``log(R_k^T R_k+1) / dt`` of the step after or before a sample;
* compact differences, fourth order, for even steps: ``D_k = (p''_k-1 + 10 p''_k + p''_k+1) / 12`` (Numerov), the same
  weights for w', and the mean rates are ``w_k + dt/12 (w'_k+1 - w'_k-1) +- dt/2 (w'_k-1 + 10 w'_k + w'_k+1) / 12``
  plus the Magnus expansion's ``dt^2/12 w x w'``, taken from the start. They cost a few more linear terms;
* the logarithm: ``f h = v``, h the mean rate of a step, v the vector part of the relative quaternion, ``v = D_v + D_0
  (rho' - rho) - rho x D_v + D_v x rho' - D_0 rho x rho'``, D the measured one. Left out are terms of ``|rho|^2
  |D_v|``, a share ``|rho| |D_v|`` of the noise in v; f, the ratio of the half angle's sine to the rate, is that of
  the start: its share of an error in the start's rate is the square of half the step's angle;
* Newton and Euler: ``L z + Y(s, w, w') theta - Z beta = W_m``, L L^T the covariance of the wrench, z its whitened
  error, and beta the coefficients of unmodelled wrenches with columns Z (:mod:`contactid.inhand.identify.wrench`), if
  any.

``w x c`` and ``I w`` are unknowns of their own: products of two unknowns keep the derivatives short, and the number
of iterations small, whatever the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters
from contactid.core.rotations import as_quaternions, as_rotation
from contactid.inhand.models.parameters import BodyRules, ParameterUnits, add_parameters

COMPACT = "compact"  # of the schemes of differences; the other is central
_NEXT = ((1, 2), (2, 0), (0, 1))
_SHORTEST = 6  # samples
_EVEN = 1e-3  # relative; steps that differ by less are even


@dataclass(frozen=True)
class MeasuredMotion:
    """What was measured at n samples.

    Attributes
    ----------
    time : (n,) s
    position : (n, 3) m, world
    orientation : (n, 4) unit quaternions, body to world
    position_sd : m
    orientation_sd : rad
    wrench : (n, 6) sum of all contacts' in B about B's origin, force in N, then torque in N m
    covariance : (n, 6, 6) of the wrench
    gravity : m/s2, along -z of the world
    bias_columns : (n, 6, b) Z: unmodelled wrenches are ``Z beta``
    bias_sd : (b,) standard deviations of beta beforehand; infinite where nothing is known
    """

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    position_sd: float
    orientation_sd: float
    wrench: np.ndarray
    covariance: np.ndarray
    gravity: float
    bias_columns: np.ndarray
    bias_sd: np.ndarray

    @cached_property
    def factors(self) -> np.ndarray:
        """(n, 6, 6) lower triangular L with ``L L^T`` the covariance of the wrench."""
        return np.linalg.cholesky(self.covariance)


@dataclass(frozen=True)
class Start:
    """Where to start: poses (n, 3) m and (n, 4), and a body; beta starts at 0."""

    position: np.ndarray
    orientation: np.ndarray
    body: InertialParameters


@dataclass(frozen=True)
class InertiaModel:
    """A built program and how to read it."""

    model: pyo.ConcreteModel
    units: ParameterUnits
    motion: MeasuredMotion
    theta: list[Any]

    @property
    def vector(self) -> np.ndarray:
        """(10,) parameters at the model's present point, SI."""
        return np.array([float(variable.value) for variable in self.theta]) * self.units.vector

    @property
    def position(self) -> np.ndarray:
        """(n, 3) m."""
        return self.motion.position + self.motion.position_sd * _values(self.model.shift)

    @property
    def orientation(self) -> np.ndarray:
        """(n, 4) unit quaternions."""
        gibbs = 0.5 * self.motion.orientation_sd * _values(self.model.turned)
        correction = as_rotation(np.hstack([np.ones((len(gibbs), 1)), gibbs]))
        return as_quaternions(as_rotation(self.motion.orientation) * correction)


def build_inertia_model(
    motion: MeasuredMotion, start: Start, units: ParameterUnits, body: BodyRules, block: Mapping[str, Any]
) -> InertiaModel:
    """Write the program; its size and the time to build it are linear in the number of samples.

    Parameters
    ----------
    body
        Rules for the ten parameters.
    block
        ``inhand: ipopt`` of the configuration. Uneven steps always take central differences. Where ``robust_width`` a
        isn't None, a wrench's squared error ``|z|^2`` counts as ``2 a^2 (sqrt(1 + |z|^2 / a^2) - 1)``, which grows like
        ``|z|`` beyond a (pseudo-Huber).
    """
    if len(motion.time) < _SHORTEST:
        raise ContactIdError(f"a recording has {len(motion.time)} samples", f"Give at least {_SHORTEST}")
    writer = _Writer(motion, start, units, body, block)
    writer.write()
    return InertiaModel(writer.model, units, motion, writer.theta)


class _Writer:
    """Writes variables and constraints; ``None`` stands at samples where a quantity doesn't exist."""

    def __init__(
        self, motion: MeasuredMotion, start: Start, units: ParameterUnits, body: BodyRules, block: Mapping[str, Any]
    ) -> None:
        self.motion, self.start, self.units, self.body, self.block = motion, start, units, body, block
        self.model = pyo.ConcreteModel(name="in-hand inertia")
        self.n = len(motion.time)
        self.step = np.diff(motion.time)
        self.tilt = 0.5 * motion.orientation_sd  # unit of Gibbs vectors
        self.frames = as_rotation(motion.orientation).as_matrix()
        self.factors = motion.factors
        self.theta: list[Any] = []
        even = np.ptp(self.step) < _EVEN * self.step.mean()
        self.compact = block["scheme"] == COMPACT and bool(even)

    def write(self) -> None:
        """Everything."""
        guess = self._guess()
        model, inner = self.model, range(1, self.n - 1)
        self.theta = add_parameters(model, self.start.body, self.units, self.body)
        names = ("shift", "turned", "s", "y", "w", "growth", "lever", "spin", "z", "pull")
        v = {name: self._variables(name, guess[name]) for name in names}
        model.bias = pyo.Var(range(len(self.motion.bias_sd)), initialize=0.0)
        model.rules = pyo.ConstraintList()
        add = model.rules.add
        for rule in (*self._accelerations(v), *self._rates(v, guess)):
            add(rule)
        for k in inner:
            for rule in (*self._tilted(v, k), *self._lifted(v, k), *self._balance(v, k)):
                add(rule)
        model.cost = pyo.Objective(expr=self._cost(v))

    def _variables(self, name: str, values: np.ndarray) -> list[Any]:
        """A row of variables per sample; inner samples only where there are two rows fewer."""
        count, width = values.shape
        flat = values.ravel().tolist()
        self.model.add_component(name, pyo.Var(range(count * width), initialize=dict(enumerate(flat))))
        every = list(self.model.component(name).values())
        rows: list[Any] = [every[width * k : width * (k + 1)] for k in range(count)]
        return rows if count == self.n else [None, *rows, None]

    def _guess(self) -> dict[str, np.ndarray]:
        """Values of all unknowns that satisfy the constraints, from the start's poses and body."""
        motion, start = self.motion, self.start
        measured, poses = as_rotation(motion.orientation), as_rotation(start.orientation)
        correction = (measured.inv() * poses).as_quat(scalar_first=True)
        gibbs = correction[:, 1:] / correction[:, :1]
        steps = (poses[:-1].inv() * poses[1:]).as_rotvec()
        h = steps / self.step[:, None]
        before, after = self.step[:-1, None], self.step[1:, None]
        w, growth = (after * h[:-1] + before * h[1:]) / (before + after), 2.0 * (h[1:] - h[:-1]) / (before + after)
        pull = self._specific(start.position)
        s = poses[1:-1].inv().apply(pull)
        x = measured[1:-1].inv().apply(pull)
        body, length = start.body, self.units.length
        first = body.mass * body.center_of_mass
        lever, spin = np.cross(w, first), w @ body.inertia
        force = body.mass * s + np.cross(growth, first) + np.cross(w, lever)
        torque = growth @ body.inertia + np.cross(w, spin) + np.cross(first, s)
        asked = np.hstack([force, torque])
        z = np.linalg.solve(self.factors[1:-1], (motion.wrench[1:-1] - asked)[..., None])[..., 0]
        unit = self.units.vector
        return {
            "shift": (start.position - motion.position) / motion.position_sd,
            "turned": gibbs / self.tilt,
            "s": s / length,
            "y": (s + x) / length,
            "w": w,
            "growth": growth,
            "lever": lever / unit[1],
            "spin": spin / unit[4],
            "z": z,
            "pull": pull / length,
            "h": h,
        }

    def _specific(self, position: np.ndarray) -> np.ndarray:
        """(n - 2, 3) p'' - g in the world, m/s2, by second differences."""
        slopes = np.diff(position, axis=0) / self.step[:, None]
        mean = 0.5 * (self.step[1:] + self.step[:-1])
        return np.diff(slopes, axis=0) / mean[:, None] + np.array([0.0, 0.0, self.motion.gravity])

    def _around(self, k: int) -> list[tuple[int, float, float]]:
        """Inner samples j with their weights in the mean of an acceleration around k, and in its change, times dt."""
        if not self.compact:
            return [(k, 1.0, 0.0)]
        if 1 < k < self.n - 2:
            return [(k - 1, 1 / 12, -1 / 12), (k, 10 / 12, 0.0), (k + 1, 1 / 12, 1 / 12)]
        inward = 1 if k == 1 else -1  # what is missing beyond the ends is extrapolated from three samples
        change = np.array([-3.0, 4.0, -1.0]) * inward / 12
        return [(k + inward * i, m / 12, float(change[i])) for i, m in enumerate((13.0, -2.0, 1.0))]

    def _accelerations(self, v: dict[str, list[Any]]) -> Iterable[Any]:
        """``a = p''`` less the measured one and ``y - s = R_m^T (p'' - g)``; compact differences take means of a."""
        unit, length = self.motion.position_sd, self.units.length
        measured = self._specific(self.motion.position) / length
        for k in range(1, self.n - 1):
            before, after = self.step[k - 1], self.step[k]
            total, around = before + after, self._around(k)
            weights = np.array([2.0 / (total * before), -2.0 / (before * after), 2.0 / (total * after)]) * unit / length
            row = [*weights.tolist(), *(-mean for _, mean, _ in around)]
            for i in range(3):
                poses = [v["shift"][j][i] for j in (k - 1, k, k + 1)]
                yield _linear(row, [*poses, *(v["pull"][j][i] for j, _, _ in around)]) == -float(measured[k - 1, i])
            for i, axis in enumerate(self.frames[k].T.tolist()):
                yield _linear([*axis, 1.0, -1.0], [*v["pull"][k], v["s"][k][i], v["y"][k][i]]) == 0.0

    def _tilted(self, v: dict[str, list[Any]], k: int) -> Iterable[Any]:
        """``2 s - y + rho x y = 0``."""
        s, y, rho = v["s"][k], v["y"][k], v["turned"][k]
        for i, (a, b) in enumerate(_NEXT):
            yield 2.0 * s[i] - y[i] + self.tilt * (rho[a] * y[b] - rho[b] * y[a]) == 0.0

    def _mean_rate(self, v: dict[str, list[Any]], k: int, after: bool) -> list[tuple[list[float], list[Any]]]:
        """By axis, coefficients and variables of the mean rate of the step after or before k, in rad/s."""
        step = float(self.step[k] if after else self.step[k - 1])
        half = 0.5 * step if after else -0.5 * step
        terms = [(j, step * change + half * mean) for j, mean, change in self._around(k)]
        return [
            ([1.0, *(weight for _, weight in terms)], [v["w"][k][i], *(v["growth"][j][i] for j, _ in terms)])
            for i in range(3)
        ]

    def _rates(self, v: dict[str, list[Any]], guess: dict[str, np.ndarray]) -> Iterable[Any]:
        """The logarithm of every step, and that both of its ends agree on its mean rate."""
        relative, scale_of_rate, known = self._relative_rotations(guess)
        for k in range(self.n - 1):
            mean = self._mean_rate(v, k, True) if k > 0 else self._mean_rate(v, 1, False)
            if 0 < k < self.n - 2:
                for one, other in zip(mean, self._mean_rate(v, k + 1, False), strict=True):
                    yield _linear([*one[0], *(-c for c in other[0])], [*one[1], *other[1]]) == 0.0
            d0, dv = float(relative[k, 0]), relative[k, 1:].tolist()
            rho, later = v["turned"][k], v["turned"][k + 1]
            cross, f = 1.0 / d0, float(scale_of_rate[k]) / (d0 * self.tilt)
            for i, (a, b) in enumerate(_NEXT):
                # D_0 (rho' - rho) and D_v x (rho + rho'), the latter by components
                linear = _linear(
                    [*(f * c for c in mean[i][0]), 1.0, -1.0, *([-dv[a] * cross, dv[b] * cross] * 2)],
                    [*mean[i][1], rho[i], later[i], rho[b], rho[a], later[b], later[a]],
                )
                constant = dv[i] / (d0 * self.tilt) - f * float(known[k, i])
                yield linear + self.tilt * (rho[a] * later[b] - rho[b] * later[a]) == constant

    def _relative_rotations(self, guess: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Per step the measured relative quaternion (n - 1, 4), f (n - 1,), and what the Magnus expansion adds to the
        mean rate (n - 1, 3)."""
        measured = as_rotation(self.motion.orientation)
        relative = (measured[:-1].inv() * measured[1:]).as_quat(scalar_first=True)
        relative *= np.where(relative[:, :1] < 0.0, -1.0, 1.0)
        stretch = np.sqrt(1.0 + self.tilt**2 * np.square(guess["turned"]).sum(axis=1))  # of unnormalised quaternions
        half_angle = 0.5 * self.step * np.linalg.norm(guess["h"], axis=1)
        f = 0.5 * self.step * np.sinc(half_angle / np.pi) * stretch[:-1] * stretch[1:]
        known = np.zeros((self.n - 1, 3))
        if self.compact:
            change = np.diff(guess["w"], axis=0) / self.step[1:-1, None]
            known[1:-1] = self.step[1:-1, None] ** 2 / 12.0 * np.cross(guess["w"][1:], change)
            known[0], known[-1] = known[1], known[-2]
        return relative, f, known

    def _lifted(self, v: dict[str, list[Any]], k: int) -> Iterable[Any]:
        """``w x m c`` and ``I w`` as unknowns."""
        w, theta = v["w"][k], self.theta
        first, inertia = theta[1:4], _tensor(theta)
        for i, (a, b) in enumerate(_NEXT):
            yield w[a] * first[b] - w[b] * first[a] - v["lever"][k][i] == 0.0
            yield inertia[i][0] * w[0] + inertia[i][1] * w[1] + inertia[i][2] * w[2] - v["spin"][k][i] == 0.0

    def _balance(self, v: dict[str, list[Any]], k: int) -> Iterable[Any]:
        """Newton and Euler's equations with the wrench's error and the unmodelled wrench."""
        theta, motion, length = self.theta, self.motion, self.units.length
        first, inertia = theta[1:4], _tensor(theta)
        w, growth, s, lever, spin = v["w"][k], v["growth"][k], v["s"][k], v["lever"][k], v["spin"][k]
        scale = 1.0 / (self.units.mass * length * np.repeat([1.0, length], 3))
        factor = (self.factors[k] * scale[:, None]).tolist()
        columns = (-motion.bias_columns[k] * scale[:, None]).tolist() if len(self.model.bias) else [[]] * 6
        value = (motion.wrench[k] * scale).tolist()
        bias = list(self.model.bias.values())
        for i, (a, b) in enumerate(_NEXT):
            error = _linear([*factor[i][: i + 1], *columns[i]], [*v["z"][k][: i + 1], *bias])
            force = theta[0] * s[i] + growth[a] * first[b] - growth[b] * first[a] + w[a] * lever[b] - w[b] * lever[a]
            yield force + error == value[i]
        for i, (a, b) in enumerate(_NEXT):
            error = _linear([*factor[3 + i][: 4 + i], *columns[3 + i]], [*v["z"][k][: 4 + i], *bias])
            turning = inertia[i][0] * growth[0] + inertia[i][1] * growth[1] + inertia[i][2] * growth[2]
            torque = turning + w[a] * spin[b] - w[b] * spin[a] + first[a] * s[b] - first[b] * s[a]
            yield torque + error == value[3 + i]

    def _cost(self, v: dict[str, list[Any]]) -> Any:
        squares = [variable**2 for name in ("shift", "turned") for row in v[name] for variable in row]
        cost = 0.5 * pyo.quicksum(squares)
        wrench = [pyo.quicksum(variable**2 for variable in row) for row in v["z"][1:-1]]
        if self.block["robust_width"] is None:
            cost += 0.5 * pyo.quicksum(wrench)
        else:
            a = float(self.block["robust_width"]) ** 2
            cost += a * pyo.quicksum(pyo.sqrt(1.0 + square * (1.0 / a)) - 1.0 for square in wrench)
        sd = self.motion.bias_sd
        cost += 0.5 * pyo.quicksum((b / float(sd[i])) ** 2 for i, b in self.model.bias.items() if np.isfinite(sd[i]))
        if self.body.prior is not None:
            cost += 0.5 * self.body.prior_weight * self.model.squared_geodesic
        return cost


def _linear(coefficients: Sequence[float], variables: Sequence[Any]) -> Any:
    return pyo.quicksum(c * variable for c, variable in zip(coefficients, variables, strict=True))


def _tensor(theta: list[Any]) -> list[list[Any]]:
    xx, yy, zz, xy, xz, yz = theta[4:]
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _values(variable: pyo.Var) -> np.ndarray:
    return np.array([float(one.value) for one in variable.values()]).reshape(-1, 3)
