"""The least-squares problem of planar throws: residuals, slopes and steps.

A motion from event to event (:mod:`contactid.planar.simulate.motion`) of every throw is held
against its *tracked* poses: the body's pose, seen from a point off its centre of mass and from axes
that are turned. Body, tracked frame and ground are common to all throws; a start and a restitution
of each impact are a throw's own. Restitution is no part of the paper's model (eq. 27): an impact's
is free here as its impulse is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from contactid.planar.engine.steering import STEERING, Steering
from contactid.planar.engine.unknowns import (
    HEIGHT,
    MU,
    N_COMMON,
    N_STATE,
    POINT_X,
    POINT_Y,
    RADIUS,
    RATIO,
    SLOPE,
    TURN,
    Geometry,
    Table,
    unknowns_of,
)
from contactid.planar.simulate.motion import (
    N_RESTITUTIONS,
    EventMotion,
    event_motion,
    outline_of,
    tracked_residuals,
)
from contactid.planar.simulate.throws import MeasuredThrow

_TINY = 1e-9  # added to the normal matrix: an unknown that moves nothing stays


@dataclass(frozen=True)
class Throw:
    """Tracked poses of a throw, and which of its frames (n,) were measured."""

    measured: MeasuredThrow
    seen: np.ndarray

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.measured.time)


@dataclass(frozen=True)
class Point:
    """Values of all unknowns.

    Attributes
    ----------
    common : (:data:`N_COMMON`,)
    own : (throws, :data:`N_OWN`)
    cost : squared residuals in units of noise, large ones limited, and squared departures from
        priors
    """

    common: np.ndarray
    own: np.ndarray
    cost: float = np.inf


@dataclass(frozen=True)
class System:
    """Normal equations at a point.

    Attributes
    ----------
    matrix : (m, m) of the active unknowns: the free common ones, then each throw's
    gradient : (m,)
    active : (throws, :data:`N_UNKNOWNS`) which unknowns of each throw are active
    pulls : (throws, free common) each throw's part of the gradient, with its own unknowns
        eliminated
    """

    matrix: np.ndarray
    gradient: np.ndarray
    active: np.ndarray
    pulls: np.ndarray


class Problem:
    """Throws of one body, and the numbers that steer its fit; a ``held`` common unknown stays where
    it is.

    Horizons are the numbers of frames of each throw that count. ``floor`` (3,) m, m, rad is added
    to the noise, which smooths the cost far from its minimum.
    """

    def __init__(
        self,
        geometry: Geometry,
        throws: Sequence[Throw],
        steering: Steering = STEERING,
        held: int | None = None,
    ) -> None:
        self.geometry, self.throws, self.steering = geometry, list(throws), steering
        self.table = Table(unknowns_of(geometry, steering), held)
        ground = geometry.ground
        self.outline = outline_of(geometry.shape, (ground.x0, ground.y0), geometry.incremental)

    def of_throw(self, number: int) -> Problem:
        """The problem of one of its throws."""
        return Problem(self.geometry, [self.throws[number]], self.steering)

    def holding(self, unknown: int) -> Problem:
        """The problem in which a common unknown stays where it is; its prior still counts."""
        return Problem(self.geometry, self.throws, self.steering, unknown)

    @property
    def whole(self) -> list[int]:
        """The throws' lengths as horizons."""
        return [throw.n_frames for throw in self.throws]

    def residuals(
        self,
        k: int,
        rows: np.ndarray,
        horizon: int,
        floor: np.ndarray | float = 0.0,
        *,
        limited: bool = True,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Residuals (n, 3 horizon) of throw k with unknowns ``rows`` (n, N_UNKNOWNS), in units of
        its noise.

        The second array (n, N_RESTITUTIONS) has the times of its impacts, s. Where ``limited``,
        large residuals grow with their logarithm.
        """
        throw, steering = self.throws[k], self.steering
        measured = throw.measured
        # while the floor is added a coarser step of lasting contact is enough
        smoothed = bool(np.any(np.asarray(floor) > 0.0))
        # frames without a measured pose get no weight
        weight = throw.seen[:horizon, None] / (measured.sigma + floor)
        return tracked_residuals(
            self.outline,
            _parameters(rows),
            np.ascontiguousarray(rows[:, [TURN, POINT_X, POINT_Y]]),
            self.geometry.gravity,
            measured.frame_interval,
            steering.lasting_step_of_search if smoothed else steering.lasting_step,
            np.ascontiguousarray(measured.position[:horizon]),
            weight,
            steering.large_residual if limited else 0.0,
        )

    def impacts(self, k: int, row: np.ndarray, horizon: int) -> np.ndarray:
        """(N_RESTITUTIONS,) times of the impacts of throw k, s; infinite where there are fewer."""
        return self.residuals(k, row[None], horizon)[1][0]

    def costs(
        self, k: int, rows: np.ndarray, horizon: int, floor: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """(n,) costs of throw k alone."""
        residuals = self.residuals(k, rows, horizon, floor)[0]
        # (n, N_UNKNOWNS) departures in units of the priors' spreads
        prior = (rows - self.table.mean) * self.table.precision
        return (residuals**2).sum(axis=1) + (prior**2).sum(axis=1)

    def cost(self, point: Point, horizons: Sequence[int], floor: np.ndarray | float = 0.0) -> float:
        """Of all throws."""
        table = self.table
        total = float(
            (((point.common - table.mean[:N_COMMON]) * table.precision[:N_COMMON]) ** 2).sum()
        )
        own_prior = (point.own - table.mean[N_COMMON:]) * table.precision[N_COMMON:]
        total += float((own_prior**2).sum())
        for k, horizon in enumerate(horizons):
            row = np.concatenate([point.common, point.own[k]])[None]
            total += float((self.residuals(k, row, horizon, floor)[0] ** 2).sum())
        return total

    def slopes(
        self,
        k: int,
        row: np.ndarray,
        horizon: int,
        floor: np.ndarray | float = 0.0,
        difference: float | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Limited residuals (3 horizon,) of throw k, their slopes (3 horizon, active), and the
        active unknowns.

        An impact's restitution is active where the impact happens within the horizon. The
        ``difference`` is in units of the unknowns' scales; wide ones are taken to both sides.
        """
        table, small = self.table, self.steering.difference
        difference = difference or small
        here, impacts = self.residuals(k, row[None], horizon, floor)
        # an impact after the horizon moves no residual: its restitution would be a zero column
        end = (horizon - 1) * self.throws[k].measured.frame_interval
        active = table.free.copy()
        active[N_COMMON + N_STATE :] &= impacts[0] < end
        step = np.diag(difference * table.scale)[active]
        beside = np.clip(row + step, table.low, table.high)
        # wide differences span a kink of the cost, so they are central: either side counts
        if difference > small:
            opposite = np.clip(row - step, table.low, table.high)
        else:
            # at an upper bound the step is taken downwards instead
            at_bound = (beside == row).all(axis=1)
            beside[at_bound] = row - step[at_bound]
            opposite = row[None]
        rows = np.concatenate([beside, opposite])
        moved = self.residuals(k, rows, horizon, floor)[0]
        change = moved[: len(step)] - moved[len(step) :]
        # steps as clipped, not as wanted
        width = (beside - opposite)[:, active].diagonal()
        return here[0], (change / width[:, None]).T, active

    def system(
        self,
        point: Point,
        horizons: Sequence[int],
        floor: np.ndarray | float = 0.0,
        difference: float | None = None,
    ) -> System:
        """The normal equations of all throws."""
        table = self.table
        parts = [
            self.slopes(k, np.concatenate([point.common, point.own[k]]), horizon, floor, difference)
            for k, horizon in enumerate(horizons)
        ]
        active = np.array([part[2] for part in parts])
        free = np.flatnonzero(table.free[:N_COMMON])
        sizes = active[:, N_COMMON:].sum(axis=1)
        # common unknowns first, then a block for each throw; throws couple through the former
        starts = len(free) + np.concatenate([[0], np.cumsum(sizes)])
        matrix, gradient = np.zeros((starts[-1], starts[-1])), np.zeros(starts[-1])
        common = slice(0, len(free))
        # priors of common unknowns count once, not once a throw
        matrix[common, common] = np.diag(table.precision[free] ** 2)
        gradient[common] = table.precision[free] ** 2 * (point.common - table.mean[:N_COMMON])[free]
        pulls = np.zeros((len(parts), len(free)))
        for k, (residual, slopes, mine) in enumerate(parts):
            by_common, by_own = slopes[:, common], slopes[:, len(free) :]
            precision = table.precision[N_COMMON:][mine[N_COMMON:]]
            departure = (point.own[k] - table.mean[N_COMMON:])[mine[N_COMMON:]]
            rows = slice(starts[k], starts[k + 1])
            square = by_own.T @ by_own + np.diag(precision**2)
            across = by_common.T @ by_own
            own_gradient = by_own.T @ residual + precision**2 * departure
            matrix[common, common] += by_common.T @ by_common
            matrix[rows, rows] = square
            matrix[common, rows], matrix[rows, common] = across, across.T
            gradient[common] += by_common.T @ residual
            gradient[rows] = own_gradient
            # gradient of common unknowns with the throw's own ones eliminated (Schur complement)
            pulls[k] = (
                by_common.T @ residual
                - across @ np.linalg.lstsq(square, own_gradient, rcond=None)[0]
            )
        return System(matrix, gradient, active, pulls)

    def fit(
        self,
        point: Point,
        horizons: Sequence[int],
        floor: np.ndarray | float = 0.0,
        iterations: int = 20,
    ) -> Point:
        """Levenberg and Marquardt's steps from a point, within the bounds."""
        steering = self.steering
        # where a contact is at the edge of sliding the cost has a kink, along whose bottom no
        # narrow slope leads
        widths = (steering.difference, steering.wide_difference)
        point = replace(point, cost=self.cost(point, horizons, floor))
        damping, width = steering.damping, 0
        # narrow slopes until they gain nothing, then wide ones, then the end
        for _ in range(iterations):
            system = self.system(point, horizons, floor, widths[width])
            better, damping = self._better(point, system, damping, horizons, floor)
            if better is not None and point.cost - better.cost >= steering.converged:
                damping = max(damping / steering.damped, steering.least_damping)
            else:
                width += 1
                damping = steering.damping
            point = better or point
            if width == len(widths):
                break
        return point

    def followed(self, point: Point, unknown: int, value: float) -> Point:
        """The point with a common unknown elsewhere, and all others moved as the normal equations
        say they follow.
        """
        system = self.system(point, self.whole, 0.0, self.steering.wide_difference)
        moved = int(self.table.free[:unknown].sum())
        rest = np.arange(len(system.gradient)) != moved
        # hardly damped: only an unknown that moves nothing must stay where it is
        damped = system.matrix + np.diag(
            self.steering.least_damping * np.diag(system.matrix) + _TINY
        )
        move = np.empty(len(rest))
        move[moved] = 1.0
        # least cost to second order with one unknown held elsewhere
        move[rest] = -np.linalg.solve(damped[np.ix_(rest, rest)], damped[rest, moved])
        return self._moved(point, system, move * (value - point.common[unknown]))

    def _better(
        self,
        point: Point,
        system: System,
        damping: float,
        horizons: Sequence[int],
        floor: np.ndarray | float,
    ) -> tuple[Point | None, float]:
        """The first cheaper point of steps that are damped more and more, and its damping."""
        # Marquardt's scaling: damping in proportion to the diagonal doesn't hang on units
        diagonal = np.diag(system.matrix)
        for _ in range(self.steering.tries):
            damped = system.matrix + np.diag(damping * diagonal + _TINY)
            trial = self._moved(point, system, -np.linalg.solve(damped, system.gradient))
            cost = self.cost(trial, horizons, floor)
            if cost < point.cost:
                return replace(trial, cost=cost), damping
            damping *= self.steering.damped
        return None, damping

    def misfit(self, point: Point) -> tuple[float, int]:
        """Squared residuals in units of their noise, and their degrees of freedom, at least 1."""
        squares, seen, active = 0.0, 0, int(self.table.free[:N_COMMON].sum())
        for k, throw in enumerate(self.throws):
            row = np.concatenate([point.common, point.own[k]])
            # chi-square counts residuals as they are, not limited ones
            residual, impacts = self.residuals(k, row[None], throw.n_frames, limited=False)
            squares += float((residual**2).sum())
            seen += 3 * int(throw.seen.sum())
            # an impact that happens has a free restitution
            active += N_STATE + int(np.isfinite(impacts[0]).sum())
        return squares, max(seen - active, 1)

    def plausible(self, point: Point) -> bool:
        """Whether noise explains the misfit, or noise and impacts that last, where friction follows
        the slip.
        """
        squares, degrees = self.misfit(point)
        scale = self.steering.lasting_impact if self.geometry.incremental else 1.0
        return squares <= scale * float(chdtri(degrees, self.steering.plausible_tail))

    def _moved(self, point: Point, system: System, move: np.ndarray) -> Point:
        """The point after a move of its active unknowns, within their bounds."""
        table = self.table
        free = table.free[:N_COMMON]
        common, own = point.common.copy(), point.own.copy()
        common[free] += move[: free.sum()]
        own[system.active[:, N_COMMON:]] += move[free.sum() :]
        common = np.clip(common, table.low[:N_COMMON], table.high[:N_COMMON])
        own = np.clip(own, table.low[N_COMMON:], table.high[N_COMMON:])
        return Point(common, own)

    def motion(self, point: Point, k: int) -> EventMotion:
        """The whole motion of throw k: the body's poses, not the tracked ones."""
        row = np.concatenate([point.common, point.own[k]])
        throw = self.throws[k].measured
        return event_motion(
            self.outline,
            _parameters(row[None])[0],
            self.geometry.gravity,
            throw.frame_interval,
            throw.n_frames,
            self.steering.lasting_step,
        )


def _parameters(rows: np.ndarray) -> np.ndarray:
    """(n, N_PARAMETERS) of motions, in the order of :mod:`contactid.planar.simulate.motion`."""
    state, restitutions = rows[:, N_COMMON : N_COMMON + N_STATE], rows[:, -N_RESTITUTIONS:]
    body = rows[:, [RATIO, MU, RADIUS, SLOPE, HEIGHT]]
    return np.concatenate([state, body, restitutions], axis=1)
