"""Eq. 31 over the impacts of measured throws, many or a single one's, with the geometry in common.

Eq. 31 knows no contact law: an impact's moment about the centre of mass is J/m times the change of
spin. Friction and restitution may be every impact's own. What it needs is the lever, which depends
on what all impacts of a body share: the corners' radius, the turn of the tracked axes, the centre
of mass in the outline, and a *lag*. Where a body sinks in and turns on before the ground pushes
hardest, the lever is that of another angle, by the spin before times the lag.

Each is known with an error, from 0 (held) to far beyond what is possible (free). Residuals are
counted in what a misplaced contact point would leave (its distance times the impulse) beside the
poses' noise. Second contacts and wild poses leave more, so the loss is Cauchy's. On one throw alone
(three impacts at a radius and a centre that are stated)::

    windows = every_window(event, prepared)
    geometry, error = LeverGeometry(radius=0.005), LeverGeometry(radius=0.0003, turn=0.002, centre=(2e-4, 2e-4))
    fit = fit_impacts(impacts_of(prepared, windows), geometry, error, scatter=TYPICAL_SCATTER)
    print(fit.ratio, fit.ratio_se)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from contactid.planar.simulate.geometry import Ellipse, ellipse_arm
from contactid.planar.squares.events import MAD
from contactid.planar.squares.windows import PreparedThrows, SquareWindow, every_window

# m, standard deviation of contact points about the outline: .34 mm pooled over the real square's
# impacts, and so much more that 95 % intervals of its single throws hold the pooled value in 94 %,
# wild impacts among them.
TYPICAL_SCATTER = 4.5e-4
# scale of Cauchy's loss by the residuals' for 95 % efficiency with normal ones (Holland 1977)
_EFFICIENT = 2.385
_ROUNDS = 40  # of reweighting, at most
_SETTLED = 1e-3  # of the differences, a step that ends them
_DRAWS = 100  # of the bootstrap over throws
_MANY = 20  # impacts, of which a few wild ones don't count as a misfit
_FEWEST = 8  # throws of a bootstrap; with fewer the curvature at the fit tells the errors
_MM, _MM2 = 1e3, 1e6
# unknowns are in mm2, mm, mrad, mm, mm, ms, mm, mm
_UNITS = np.array([_MM2, _MM, 1e3, _MM, _MM, 1e3, _MM, _MM])
_STEPS = np.array([1.0, 0.01, 0.1, 0.01, 0.01, 0.01, 0.01, 0.01])  # of their differences


@dataclass(frozen=True)
class LeverGeometry:
    """What levers depend on beside the measured poses, or the standard errors of that.

    Attributes
    ----------
    radius : of the rounded corners, m
    turn : the axes that poses are given in minus the body's, rad
    centre : (2,) centre of mass in the body's axes, from the outline's middle, m
    lag : how much later than the flights' meeting the lever is taken, s
    tracked : (2,) point that poses are given of, from the outline's middle, m
    """

    radius: float = 0.0
    turn: float = 0.0
    centre: tuple[float, float] = (0.0, 0.0)
    lag: float = 0.0
    tracked: tuple[float, float] = (0.0, 0.0)

    def numbers(self) -> np.ndarray:
        """(7,) in mm, mrad, mm, mm, ms, mm, mm."""
        return (
            np.array([self.radius, self.turn, *self.centre, self.lag, *self.tracked]) * _UNITS[1:]
        )


# Errors that leave an unknown free, where impacts tell it: far beyond what a body and its tracking
# may be off by. No wider, as a body that turned about its corner would have no lever, and would fit
# with J/m = 0 whatever happens.
FREE = LeverGeometry(radius=0.01, turn=0.05, centre=(0.003, 0.003))
LAGGED = replace(FREE, lag=0.003)


@dataclass(frozen=True)
class Impacts:
    """What eq. 31 needs of n impacts, in axes along and across the ground.

    Attributes
    ----------
    throw : (n,) names
    corner, inward : (n, 2) of the touching corner, were it sharp, and how its circle's centre moves
        with the radius, m
    theta : (n,) rad
    push : (n, 2) change of the velocity of the point that poses are given of, m/s
    spin : (n,) change of omega, rad/s
    before : (n, 3) velocity before, m/s and rad/s
    noise : (n, 3) standard errors of push and spin by the poses' noise, m/s and rad/s
    aside : (n,) how far contact points lie off across the impulse, m: of synthetic impacts
    """

    throw: np.ndarray
    corner: np.ndarray
    inward: np.ndarray
    theta: np.ndarray
    push: np.ndarray
    spin: np.ndarray
    before: np.ndarray
    noise: np.ndarray
    aside: np.ndarray

    def __len__(self) -> int:
        """Number of impacts."""
        return len(self.spin)

    def of(self, rows: np.ndarray) -> Impacts:
        """Some of them, by number or by (n,) flags."""
        return type(self)(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def contact(self, phi: np.ndarray, radius: float) -> np.ndarray:
        """(n, 2) m, contact points from the outline's middle, with the body turned by phi (n,)."""
        return _turned(self.corner + radius * self.inward, phi) - [0.0, radius]

    def levers(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Contact points from the centre of mass (n, 2), mm, and pushes of the centre (n, 2), m/s.

        ``z`` (8,) is J/m (mm2) and the numbers of a :class:`LeverGeometry`.
        """
        # (n,) angle of the body's axes at the lever's instant, which lags by the spin before
        phi = self.theta - z[2] / _UNITS[2] + self.before[:, 2] * z[5] / _UNITS[5]
        # (n, 2) m, the centre of mass from the outline's middle, and from the tracked point
        to_mass = _turned(np.tile(z[3:5] / _MM, (len(self), 1)), phi)
        x, y = _turned(np.tile((z[3:5] - z[6:8]) / _MM, (len(self), 1)), phi).T
        # the centre's change of velocity is the tracked point's and spin x the way between them
        push = self.push + self.spin[:, None] * np.column_stack([-y, x])
        return _MM * (self.contact(phi, z[1] / _MM) - to_mass), push

    def moment(self, z: np.ndarray) -> np.ndarray:
        """(n,) per mass, mm2/s."""
        arm, push = self.levers(z)
        return _MM * (
            arm[:, 0] * push[:, 1] - arm[:, 1] * push[:, 0]
        ) + _MM2 * self.aside * np.hypot(*push.T)

    def variances(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) of what eq. 31 leaves, mm4/s2: with contact points off by 1 mm, and by the poses'
        noise.
        """
        arm, push = self.levers(z)
        # of the moment and of J/m times the spin, taken as independent, and the lever as exact
        by_poses = ((_MM * self.noise[:, :2] * arm[:, ::-1]) ** 2).sum(axis=1) + (
            z[0] * self.noise[:, 2]
        ) ** 2
        return _MM2 * (push**2).sum(axis=1), by_poses + 1e-12

    def left(self, z: np.ndarray) -> np.ndarray:
        """(n,) of eq. 31, mm2/s."""
        return self.moment(z) - z[0] * self.spin


@dataclass(frozen=True)
class EllipseImpacts(Impacts):
    """Impacts of an ellipse: ``corner`` holds the semi-axes (m) in every row, and a radius is added
    to both.
    """

    def contact(self, phi: np.ndarray, radius: float) -> np.ndarray:
        """(n, 2) m, from the centre."""
        a, b = (self.corner + radius).T
        return np.column_stack(ellipse_arm(np.sin(phi), np.cos(phi), a, b))


@dataclass(frozen=True)
class ImpactFit:
    """J/m of a body by eq. 31.

    Attributes
    ----------
    ratio, ratio_se : J/m and its standard error, m2
    geometry, geometry_se : common to all impacts, and standard errors
    scatter : how far contact points lie off, standard deviation, m
    misfit : robust size of the residuals by their standard deviations
    left : (n,) residuals, m2/s
    residual : median size of residuals by that of the moments
    converged : whether the reweighting came to an end
    """

    ratio: float
    ratio_se: float
    geometry: LeverGeometry
    geometry_se: LeverGeometry
    scatter: float
    misfit: float
    left: np.ndarray
    residual: float
    converged: bool

    @property
    def numbers(self) -> np.ndarray:
        """(8,) J/m and geometry as :class:`Impacts` take them."""
        return np.concatenate([[_MM2 * self.ratio], self.geometry.numbers()])


def every_impact(prepared: PreparedThrows) -> list[SquareWindow]:
    """All impacts of all throws that are of a single corner between two flights."""
    return [window for event in prepared.events for window in every_window(event, prepared)]


def impacts_of(prepared: PreparedThrows, windows: Sequence[SquareWindow]) -> Impacts:
    """What eq. 31 needs of windows, one impact each."""
    shape, slope = prepared.shape, prepared.ground.slope
    kind, corner, inward = Impacts, np.zeros((len(windows), 2)), np.zeros((len(windows), 2))
    if isinstance(shape, Ellipse):
        kind, corner = EllipseImpacts, np.tile([shape.a, shape.b], (len(windows), 1))
    else:
        touching, sharp = [window.corner for window in windows], replace(shape, radius=0.0)
        corner = sharp.centres[touching]
        # how centres move is linear in the radius, so 1 mm tells it
        inward = _MM * (replace(sharp, radius=1.0 / _MM).centres - sharp.centres)[touching]
    before = np.array([window.met.before for window in windows]).reshape(-1, 3)
    change = np.array([window.met.after for window in windows]).reshape(-1, 3) - before
    # from the throws' axes to those along and across the ground
    level = np.full(len(change), -slope)
    return kind(
        throw=np.array([window.name for window in windows]),
        corner=corner,
        inward=inward,
        theta=np.array([window.met.position[2] for window in windows]) - slope,
        push=_turned(change[:, :2], level),
        spin=change[:, 2],
        before=np.column_stack([_turned(before[:, :2], level), before[:, 2]]),
        noise=np.array([window.met.error for window in windows]).reshape(-1, 3),
        aside=np.zeros(len(change)),
    )


def fit_impacts(
    impacts: Impacts,
    geometry: LeverGeometry,
    error: LeverGeometry,
    *,
    start: float = 500e-6,
    scatter: float | None = None,
    draws: int = _DRAWS,
) -> ImpactFit:
    """J/m by eq. 31, and the geometry as far as it isn't held.

    Parameters
    ----------
    impacts
        Of one throw or of many. With one impact J/m is only as good as the geometry and ``scatter``
        are.
    geometry, error
        What is known of the geometry beforehand, and its standard errors: 0 holds, :data:`FREE`
        leaves free.
    start
        J/m to begin with, m2.
    scatter
        Of contact points, m; None: as large as residuals need it, which takes many impacts.
    draws
        Of the bootstrap over throws, where there are enough of them.
    """
    prior = np.array(
        # J/m has no prior: start is only where steps begin
        [np.concatenate([[_MM2 * start], geometry.numbers()]), [np.inf, *error.numbers()]]
    )
    z, spread, width, converged = _settle(
        impacts, prior, None if scatter is None else _MM * scatter
    )
    left = impacts.left(z)
    by_place, by_poses = impacts.variances(z)
    # (n,) residuals by their standard deviations
    sized = np.abs(left) / np.sqrt(by_place * width**2 + by_poses)
    misfit = (
        MAD * float(np.median(sized)) if len(sized) >= _MANY else float(np.sqrt(np.mean(sized**2)))
    )
    names = np.unique(impacts.throw)
    if len(names) >= _FEWEST and draws:
        random, drawn = np.random.default_rng(1), []
        # throws are drawn whole, with all their impacts
        rows_of = [np.flatnonzero(impacts.throw == name) for name in names]
        near = np.array([z, prior[1]])
        # each draw begins at the fit, but its geometry is pulled to what was known before
        near[0, 1:] = prior[0, 1:]
        for _ in range(draws):
            rows = np.concatenate([rows_of[i] for i in random.integers(0, len(names), len(names))])
            drawn.append(_settle(impacts.of(rows), near, width, z)[0])
        spread = np.std(drawn, axis=0)
    elif scatter is not None:
        # a stated scatter may be too small for these impacts
        spread = spread * max(1.0, misfit)
    found, errors = z / _UNITS, spread / _UNITS
    return ImpactFit(
        float(found[0]), float(errors[0]), _geometry(found), _geometry(errors),
        width / _MM, misfit, left / _MM2, float(np.median(np.abs(left)) / np.median(np.abs(impacts.moment(z)))),
        converged,
    )  # fmt: skip


def _geometry(z: np.ndarray) -> LeverGeometry:
    radius, turn, *centre, lag, x, y = map(float, z[1:])
    return LeverGeometry(radius, turn, (centre[0], centre[1]), lag, (x, y))


def _settle(
    impacts: Impacts, prior: np.ndarray, scatter: float | None, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """Unknowns (8,), their standard errors by the curvature, the scatter (mm), and whether the
    steps have ended.

    Cauchy's loss by reweighting.

    ``prior`` (2, 8) has means and standard deviations.
    """
    z = (prior[0] if start is None else start).copy()
    free = np.flatnonzero(prior[1] > 0.0)
    information = np.diag(1.0 / prior[1, free] ** 2)
    for turn in range(_ROUNDS):
        left, (by_place, by_poses) = impacts.left(z), impacts.variances(z)
        # anew in each round, as residuals shrink
        width = _scatter(left, by_place, by_poses) if scatter is None else scatter
        # held for the slopes: a J/m that enlarges it is no better answer
        deviation = np.sqrt(by_place * width**2 + by_poses)
        left = left / deviation
        slopes = [
            (impacts.left(z + _STEPS[k] * np.eye(len(z))[k]) / deviation - left) / _STEPS[k]
            for k in free
        ]
        slope = np.column_stack(slopes)
        weight = 1.0 / (1.0 + (left / _EFFICIENT) ** 2) ** (
            0.5 if turn < 5 else 1.0
        )  # convex at first
        # Gauss and Newton's step with priors
        curvature = slope.T @ (weight[:, None] * slope) + information
        pull = slope.T @ (weight * left) + information @ (z[free] - prior[0, free])
        step = np.linalg.solve(curvature, pull)
        z[free] -= step
        converged = turn >= 5 and bool((np.abs(step) < _SETTLED * _STEPS[free]).all())
        if converged:
            break
    spread = np.zeros(len(z))
    spread[free] = np.sqrt(np.diag(np.linalg.inv(curvature)))
    return z, spread, width, converged


def _scatter(left: np.ndarray, by_place: np.ndarray, by_poses: np.ndarray) -> float:
    """Distance of contact points, mm, with which the median residual is that of a normal
    distribution; 0 at least.
    """
    # bisection: the median falls with the distance, to 20 mm / 2^30
    low, high = 0.0, 20.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        too_small = MAD * np.median(np.abs(left) / np.sqrt(by_place * middle**2 + by_poses)) > 1.0
        low, high = (middle, high) if too_small else (low, middle)
    return high


def _turned(vectors: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """(n, 2) vectors, each turned by its angle, rad."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.column_stack(
        [cos * vectors[:, 0] - sin * vectors[:, 1], sin * vectors[:, 0] + cos * vectors[:, 1]]
    )
