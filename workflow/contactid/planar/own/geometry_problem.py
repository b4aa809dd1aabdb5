"""The fit of the geometry as a least-squares problem: what is unknown, residuals, slopes, steps and errors.

:mod:`contactid.planar.own.geometry` says what it is for, and searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from contactid.planar.identify.shooting import E_N, MU, RATIO
from contactid.planar.identify.starts import StepBody, simulated_throw
from contactid.planar.models.trajectory import Guess, sub_steps_of
from contactid.planar.own.motion import COARSE, FINE, tracked_motions
from contactid.planar.simulate.events import event_motion
from contactid.planar.simulate.geometry import Ground, Polygon, Shape
from contactid.planar.simulate.kernel import Outline, outline_of
from contactid.planar.simulate.throws import MeasuredThrow
from contactid.planar.squares.events import Alignment

COMMON = ("inertia_ratio", "friction_mu", "turn", "point_x", "point_y", "corner_radius", "slope", "height")
_TURN, _POINT, _RADIUS, _SLOPE, _HEIGHT = 2, slice(3, 5), 5, 6, 7
_OWN = 9  # q (3), v (3), e_N, how much lower the ground is, mu
_LOWER, _OWN_MU = 7, 8
_SIMULATED = (0, 1, 2, 3, 4, 5, RATIO, MU, E_N)
LARGEST_MU = 1.5
_SMALLEST_RATIO = 0.1  # of J/m, by the uniform body's
# Means and standard deviations of normal priors, so wide that they only steer what the poses leave open: friction of
# dry bodies is mostly between 0.1 and 1, restitution anywhere between 0 and 1.
_RATIO_SPREAD = 0.7  # of J/m about the uniform body's, by that
_MU_MEAN, _MU_SPREAD = 0.4, 0.7  # of friction, 1
_E_N_MEAN, _E_N_SPREAD = 0.3, 0.5  # of restitution, 1
_GUESSED = 1e-4  # s, time step of the motion that eq. 27 starts from
LONGEST_STEP = 2.1e-3  # s, of the grid that the motion is handed on
_CAP = 12.0  # residuals grow with their logarithm above that many standard deviations
_AWAY = 1e6
FLOORS = (np.array([1e-3, 1e-3, 2e-2]), np.array([3e-4, 3e-4, 6e-3]), np.zeros(3))
"""Added to the noise, from far away to the end."""
_SETTLED = 0.05  # of the cost, that an iteration must gain
_ROUGH, _EXACT = 0.5, 0.05  # of the unknowns' steps, by which slopes are taken first; no way is longer than the one
_MOVED = 0.5  # how far slopes' moves change the residuals, in units of noise, all together
_JUMPS = 9.0  # ratio of squared changes of residuals above which one side has jumped
_INTERVAL = 1.96  # standard deviations of an interval that holds the truth 95 times of 100
_LEAST_CURVATURE = 1e-2  # of the normal matrix, by the steps: what isn't told at all is drawn within ten of them
_RADII = (0.01, 0.07, 0.14)  # of the outline's reach: corners from sharp to well rounded, to start from
_PLAUSIBLE = 0.95  # quantile of chi-square up to which a misfit is noise, and no other starts are tried


@dataclass(frozen=True)
class Piece:
    """Tracked poses of a throw or of a part of it.

    Attributes
    ----------
    throw : its even frames
    seen : (n,) which of them were measured
    apart : whether it has its own friction and its own height of the ground
    """

    throw: MeasuredThrow
    seen: np.ndarray
    apart: bool = False


@dataclass(frozen=True)
class Known:
    """Prior means and standard deviations of the geometry; a deviation of 0 fixes it.

    Attributes
    ----------
    shape : its ``radius`` is the corners' mean one
    ground : mean
    axes : mean turn of the tracked axes, rad
    turn, point, radius, slope, height : standard deviations, rad, m, m, rad, m
    lower : of an impact's own height, m
    gravity : m/s2
    """

    shape: Shape
    ground: Ground
    axes: float
    turn: float
    point: float
    radius: float
    slope: float
    height: float
    lower: float
    gravity: float


@dataclass(frozen=True)
class GeometryFit:
    """Ground, tracked frame and corners with the J/m that belongs to them.

    Attributes
    ----------
    shape, alignment : found
    common : (8,) :data:`COMMON`
    covariance : (8, 8) of them, from curvature and priors; scaled by the misfit
    robust : (8, 8) the same from how single pieces pull (a sandwich); zeros with fewer than three
    own : (n, 9) each piece's
    misfit : half the sum of squared residuals in units of their noise, without priors
    degrees : residuals less unknowns, at least 1
    throws : poses of the body's centre of mass and axes, a throw for each piece, over its own ground; frames that
        weren't measured lie on the fitted motion
    apart : whether the pieces are impacts of their own
    guess : the motion as a start of eq. 27
    """

    shape: Shape
    alignment: Alignment
    common: np.ndarray
    covariance: np.ndarray
    robust: np.ndarray
    own: np.ndarray
    misfit: float
    degrees: int
    throws: tuple[MeasuredThrow, ...]
    apart: bool
    guess: Guess

    @property
    def fixed(self) -> np.ndarray:
        """(2, 2) covariance of J/m and mu, were the geometry known."""
        some = np.flatnonzero(np.diag(self.covariance) > 0.0)
        precision = np.linalg.inv(self.covariance[np.ix_(some, some)])
        return np.linalg.inv(precision[:2, :2])

    @property
    def plausible(self) -> bool:
        """Whether noise explains the misfit."""
        return 2.0 * self.misfit <= float(chi2.ppf(_PLAUSIBLE, self.degrees))

    @property
    def misfit_per_degree(self) -> float:
        """About 1 where noise is all there is."""
        return 2.0 * self.misfit / self.degrees


class System(NamedTuple):
    """Normal equations of a step.

    Attributes
    ----------
    matrix : (n, n) normal matrix of common (8) and each piece's own (9) unknowns, in their units
    gradient : (n,)
    pulls : (8,) of every piece: its part of the common gradient with its own unknowns eliminated
    ways : (17, m) of every piece: moves, in units, that all change its residuals by little; the next slopes' ways
    """

    matrix: np.ndarray
    gradient: np.ndarray
    pulls: list[np.ndarray]
    ways: list[np.ndarray]


def sandwich(pulls: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """(k, k) covariance of k unknowns from how n pieces pull, whatever the noise within a piece is.

    The cluster-robust estimate of Liang and Zeger (1986); with the factor n / (n - 1) it is unbiased for a mean.

    Parameters
    ----------
    pulls : (n, k) gradient of each piece's half squared residuals at the fit
    inverse : (k, k) of the normal matrix
    """
    n = len(pulls)
    moved = pulls @ inverse
    return moved.T @ moved * n / (n - 1)


class GeometryProblem:
    """Residuals and steps of the fit; unknowns are common (8,) and own (n, 9)."""

    def __init__(self, known: Known) -> None:
        self.known = known
        shape = known.shape
        ratio = shape.uniform_inertia_ratio
        self.reach = float(np.linalg.norm(shape.outline(), axis=1).max())
        radius = shape.radius if isinstance(shape, Polygon) else 0.0
        self.mean = np.array([ratio, _MU_MEAN, known.axes, 0.0, 0.0, radius, known.ground.slope, 0.0])
        self.spread = np.array(
            [
                _RATIO_SPREAD * ratio, _MU_SPREAD, known.turn, known.point, known.point, known.radius, known.slope,
                known.height,
            ]
        )  # fmt: skip
        self.own_mean = np.array([*[0.0] * 6, _E_N_MEAN, 0.0, _MU_MEAN])
        self.own_spread = np.array([*[np.inf] * 6, _E_N_SPREAD, known.lower, _MU_SPREAD])
        self.unit = np.array([0.03 * ratio, 0.015, 2e-3, 2e-4, 2e-4, 3e-4, 2e-3, 3e-4])
        self.own_unit = np.array([3e-4, 3e-4, 3e-3, 0.03, 0.03, 0.5, 0.015, 3e-4, 0.015])
        most_round, self.inward = 0.0, None
        if isinstance(shape, Polygon):
            self.corners = corners = np.array(shape.vertices)
            self.inward = corners - replace(shape, radius=1e-4 * self.reach).centres
            self.inward /= 1e-4 * self.reach
            sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
            most_round = max(0.4 * float(sides.min()), radius)
        largest = 0.999 * self.reach**2
        self.low = np.array([_SMALLEST_RATIO * ratio, 0.0, -0.8, *[-self.reach] * 2, 0.0, -1.4, -np.inf])
        self.high = np.array([largest, LARGEST_MU, 0.8, *[self.reach] * 2, most_round, 1.4, np.inf])
        self.free = self.spread > 0.0

    def start(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Common and own unknowns of a motion (9,) as the simulation takes it."""
        common = self.mean.copy()
        common[:2] = parameters[RATIO], parameters[MU]
        return common, np.array([*parameters[:6], parameters[E_N], 0.0, parameters[MU]])

    def radii(self, common: np.ndarray) -> list[np.ndarray]:
        """The start with several radii of the corners, where the radius isn't given."""
        if not self.free[_RADIUS]:
            return [common]
        changed = [common.copy() for _ in _RADII]
        for one, share in zip(changed, _RADII, strict=True):
            one[_RADIUS] = min(share * self.reach, self.high[_RADIUS])
        return changed

    def shape(self, common: np.ndarray) -> Shape:
        """With the corners' radius that is tried."""
        shape = self.known.shape
        return replace(shape, radius=float(common[_RADIUS])) if isinstance(shape, Polygon) else shape

    def ground(self, common: np.ndarray, lower: float = 0.0, base: Ground | None = None) -> Ground:
        """Of the common geometry, lowered along its normal; of a piece that is apart, over its own ``base``."""
        ground, lift = base or self.known.ground, common[_HEIGHT] - lower
        slope = float(common[_SLOPE])
        return Ground(slope, ground.x0 - lift * float(np.sin(slope)), ground.y0 + lift * float(np.cos(slope)))

    def _outline(self, piece: Piece, common: np.ndarray, lower: float) -> Outline:
        """As :func:`outline_of`, without the checks of a shape."""
        ground = self.ground(common, lower, piece.throw.ground if piece.apart else None)
        if self.inward is None:
            return outline_of(self.known.shape, ground)
        corners = self.corners - common[_RADIUS] * self.inward
        return Outline(0.0, 0.0, corners, float(common[_RADIUS]), ground.slope, ground.x0, ground.y0, 1.0, 1.0)

    def _poses(self, piece: Piece, common: np.ndarray, sets: np.ndarray, lower: float, frames: int, steps: Any) -> Any:
        outline, interval = self._outline(piece, common, lower), piece.throw.frame_interval
        return tracked_motions(outline, sets, self.known.gravity, interval, frames - 1, steps)

    def guess(
        self, pieces: Sequence[Piece], throws: Sequence[MeasuredThrow], common: Any, own: Any, step: float
    ) -> Guess:
        """The fitted motions as a start of eq. 27 with that longest step, s."""
        guessed, shape = [], self.shape(common)
        for piece, throw, mine in zip(pieces, throws, own, strict=True):
            sets = self._sets(piece, common, mine)
            outline = self._outline(piece, common, mine[_LOWER])
            motion = event_motion(outline, sets, self.known.gravity, throw.frame_interval, throw.n_frames, _GUESSED)
            body = StepBody(float(sets[RATIO]), float(sets[MU]), self.known.gravity)
            guessed.append(simulated_throw(shape, throw, sub_steps_of(throw, step), motion, body))
        mu = np.median([self._sets(piece, common, mine)[MU] for piece, mine in zip(pieces, own, strict=True)])
        return Guess(float(common[0]), float(mu), tuple(guessed))

    @staticmethod
    def _tracked(q: np.ndarray, common: np.ndarray) -> np.ndarray:
        cos, sin = np.cos(q[..., 2]), np.sin(q[..., 2])
        x, y = common[_POINT]
        return q + np.stack([x * cos - y * sin, x * sin + y * cos, np.full(q.shape[:-1], common[_TURN])], axis=-1)

    def _capped(self, piece: Piece, poses: np.ndarray, frames: int, floor: np.ndarray) -> np.ndarray:
        """(..., 3 frames) residuals, in units of noise, large ones capped."""
        with np.errstate(over="ignore", invalid="ignore"):
            apart = (poses - piece.throw.position[:frames]) / (piece.throw.sigma + floor)
            capped = _CAP * np.arcsinh(np.nan_to_num(apart, nan=_AWAY, posinf=_AWAY, neginf=-_AWAY) / _CAP)
        capped[..., ~piece.seen[:frames], :] = 0.0
        return capped.reshape(*poses.shape[:-2], 3 * frames)

    def _sets(self, piece: Piece, common: np.ndarray, own: np.ndarray) -> np.ndarray:
        mu = own[_OWN_MU] if piece.apart else common[1]
        return np.array([*own[:6], common[0], mu, own[6]])

    def residuals(self, piece: Piece, common: np.ndarray, own: np.ndarray, frames: int, floor: Any) -> np.ndarray:
        """(3 frames,) of one piece."""
        return self._at(piece, common, own, frames, floor, COARSE if floor.any() else FINE)

    def _at(self, piece: Piece, common: np.ndarray, own: np.ndarray, frames: int, floor: Any, steps: Any) -> np.ndarray:
        sets = self._sets(piece, common, own)
        poses = self._poses(piece, common, sets[None], own[_LOWER], frames, steps)[0]
        return self._capped(piece, self._tracked(poses, common), frames, floor)

    def slopes(
        self, piece: Piece, common: np.ndarray, own: np.ndarray, frames: int, floor: np.ndarray, ways: np.ndarray
    ) -> np.ndarray:
        """(3 frames, 17) slopes of the residuals by common and own unknowns in their units, from moves by ``ways``.

        The cost has a long valley, far narrower than the units: moves by one unknown at a time leave it and meet jumps
        beside it. So columns of ``ways`` (17, m) are moves that each change the residuals by little. Each is tried
        forwards and backwards; where one side is beyond a bound, or jumps (the corners meet the ground in another
        order), the other side counts alone.
        """
        here, moved = self._at(piece, common, own, frames, floor, COARSE), []
        for way in ways.T:
            sides = []
            for sign in (1.0, -1.0):
                there, mine = common + sign * self.unit * way[:8], own + sign * self.own_unit * way[8:]
                if self._within(there, mine):
                    sides.append(sign * (self._at(piece, there, mine, frames, floor, COARSE) - here))
            sizes = [float(side @ side) for side in sides]
            if not sides:
                moved.append(np.zeros(3 * frames))
            elif max(sizes) > _JUMPS * min(sizes):
                moved.append(sides[int(np.argmin(sizes))])
            else:
                moved.append(np.mean(sides, axis=0))
        return np.array(moved).T @ np.linalg.pinv(ways)

    def _within(self, common: np.ndarray, own: np.ndarray) -> bool:
        inside = ((common >= self.low) & (common <= self.high)).all()
        return bool(inside and 0.0 <= own[6] <= 1.0 and 0.0 <= own[_OWN_MU] <= LARGEST_MU)

    def _told(self, piece: Piece) -> np.ndarray:
        """(17,) which unknowns move a piece."""
        common, own = self.free.copy(), np.arange(_OWN) < (_OWN if piece.apart else _LOWER)
        common[1] &= not piece.apart
        return np.concatenate([common, own])

    def prior(self, common: np.ndarray) -> np.ndarray:
        """(8,) standardised departures."""
        return np.where(self.free, (common - self.mean) / np.where(self.free, self.spread, 1.0), 0.0)

    def own_prior(self, piece: Piece, own: np.ndarray) -> np.ndarray:
        """(9,) standardised departures of e_N and, of a piece that is apart, of the lower ground and its friction."""
        departures = (own - self.own_mean) / self.own_spread
        return departures if piece.apart else np.where(np.arange(_OWN) < _LOWER, departures, 0.0)

    def cost(self, pieces: Any, common: np.ndarray, own: np.ndarray, frames: Sequence[int], floor: np.ndarray) -> float:
        """Squared residuals over so many frames of each piece, and squared departures from what is known."""
        total = float((self.prior(common) ** 2).sum())
        for piece, mine, upto in zip(pieces, own, frames, strict=True):
            total += float((self.residuals(piece, common, mine, upto, floor) ** 2).sum())
            total += float((self.own_prior(piece, mine) ** 2).sum())
        return total

    def system(
        self,
        pieces: Sequence[Piece],
        common: np.ndarray,
        own: np.ndarray,
        frames: Sequence[int],
        floor: np.ndarray,
        ways: Sequence[np.ndarray] | None = None,
    ) -> System:
        """The normal equations, with slopes along ``ways``: by default by each unknown, then along what these tell."""
        if ways is None:
            share = _ROUGH if floor.any() else _EXACT
            ways = [share * np.eye(8 + _OWN)[:, self._told(piece)] for piece in pieces]
            if not floor.any():
                ways = self.system(pieces, common, own, frames, floor, ways).ways
        n = 8 + _OWN * len(pieces)
        matrix, gradient = np.zeros((n, n)), np.zeros(n)
        scale = np.where(self.free, self.unit / np.where(self.free, self.spread, 1.0), 0.0)
        matrix[range(8), range(8)] = scale**2 + 1e-12
        gradient[:8] = scale * self.prior(common)
        own_scale = self.own_unit / self.own_spread
        pulls, next_ways = [], []
        for k, (piece, mine, upto, along) in enumerate(zip(pieces, own, frames, ways, strict=True)):
            at = self.residuals(piece, common, mine, upto, floor)
            slopes = self.slopes(piece, common, mine, upto, floor, along)
            by_common, by_own = slopes[:, :8], slopes[:, 8:]
            part = slice(8 + _OWN * k, 8 + _OWN * (k + 1))
            square = by_own.T @ by_own + np.diag(own_scale**2 + 1e-12)
            across = by_common.T @ by_own
            matrix[:8, :8] += by_common.T @ by_common
            matrix[part, part] = square
            matrix[:8, part], matrix[part, :8] = across, across.T
            own_gradient = by_own.T @ at + own_scale * self.own_prior(piece, mine)
            gradient[:8] += by_common.T @ at
            gradient[part] = own_gradient
            pulls.append(by_common.T @ at - across @ np.linalg.solve(square, own_gradient))
            told = self._told(piece)
            values, vectors = np.linalg.eigh(slopes[:, told].T @ slopes[:, told])
            way = np.zeros((8 + _OWN, int(told.sum())))
            way[told] = vectors / np.sqrt(np.maximum(values, 0.0) / _MOVED**2 + 1.0 / _ROUGH**2)
            next_ways.append(way)
        return System(matrix, gradient, pulls, next_ways)

    def fit(
        self,
        pieces: Sequence[Piece],
        common: np.ndarray,
        own: np.ndarray,
        frames: Sequence[int],
        floor: np.ndarray,
        iterations: int,
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Levenberg-Marquardt; returns common, own and the cost."""
        cost, damping, ways = self.cost(pieces, common, own, frames, floor), 1e-2, None
        for _ in range(iterations):
            system = self.system(pieces, common, own, frames, floor, ways)
            matrix, gradient, ways = system.matrix, system.gradient, system.ways
            better = None
            for _ in range(5):
                move = -np.linalg.solve(matrix + damping * np.diag(np.diag(matrix) + 1e-9), gradient)
                next_common, next_own = self._moved(common, own, move)
                there = self.cost(pieces, next_common, next_own, frames, floor)
                if there < cost:
                    better = next_common, next_own
                    break
                damping *= 5.0
            if better is None:
                break
            (common, own), gain, cost = better, cost - there, there
            damping = max(damping / 5.0, 1e-6)
            if gain < _SETTLED:
                break
        return common, own, cost

    def drawn(
        self,
        pieces: Sequence[Piece],
        common: np.ndarray,
        own: np.ndarray,
        frames: Sequence[int],
        floor: np.ndarray,
        random: np.random.Generator,
        number: int,
        widths: Sequence[float],
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Common and own unknowns drawn from the covariance of all together, by ``widths`` in turn as wide."""
        matrix = self.system(pieces, common, own, frames, floor).matrix
        values, vectors = np.linalg.eigh(matrix)
        root = vectors / np.sqrt(np.maximum(values, _LEAST_CURVATURE))
        told = np.concatenate([self.free, *(self._told(piece)[8:] for piece in pieces)])
        found = []
        for k in range(number):
            move = told * (widths[k % len(widths)] * root @ random.normal(size=len(matrix)))
            found.append(self._moved(common, own, move))
        return found

    def _moved(self, common: np.ndarray, own: np.ndarray, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The unknowns after a move in their units, within their bounds."""
        common = np.clip(common + self.unit * move[:8] * self.free, self.low, self.high)
        own = own + self.own_unit * move[8:].reshape(own.shape)
        own[:, 6] = np.clip(own[:, 6], 0.0, 1.0)
        own[:, _OWN_MU] = np.clip(own[:, _OWN_MU], 0.0, LARGEST_MU)
        return common, own

    def judged(
        self,
        pieces: Sequence[Piece],
        common: np.ndarray,
        own: np.ndarray,
        others: Sequence[tuple[float, np.ndarray]] = (),
    ) -> GeometryFit:
        """The answer with its errors; they reach to other motions (cost, common unknowns) that fit about as well."""
        frames = [len(piece.throw.time) for piece in pieces]
        system = self.system(pieces, common, own, frames, FLOORS[2])
        matrix, pulls = system.matrix, system.pulls
        misfit = 0.0
        for piece, mine, upto in zip(pieces, own, frames, strict=True):
            capped = self.residuals(piece, common, mine, upto, FLOORS[2])
            misfit += 0.5 * float((_CAP * np.sinh(capped / _CAP)) @ (_CAP * np.sinh(capped / _CAP)))
        seen = 3 * sum(int(piece.seen.sum()) for piece in pieces)
        unknowns = sum(9 if piece.apart else 7 for piece in pieces) + int(self.free.sum())
        degrees = max(seen - unknowns, 1)
        excess = max(1.0, 2.0 * misfit / degrees)
        inverse = np.linalg.inv(matrix)[:8, :8] * np.outer(self.unit, self.unit)
        covariance = excess * inverse
        least = min([self.cost(pieces, common, own, frames, FLOORS[2]), *(cost for cost, _ in others)])
        as_well = [there - common for cost, there in others if cost <= least + _INTERVAL**2 * excess]
        reached = np.abs(as_well).max(axis=0, initial=0.0) / _INTERVAL if as_well else np.zeros(8)
        covariance += np.diag(np.maximum(reached**2 - np.diag(covariance), 0.0))
        robust = np.zeros((8, 8))
        if len(pieces) >= 3:
            robust = sandwich(np.array(pulls) / self.unit, inverse)
        covariance[~self.free], covariance[:, ~self.free] = 0.0, 0.0
        alignment = Alignment(self.ground(common), float(common[_TURN]), common[_POINT].copy(), 0.0)
        throws = tuple(self._aligned(piece, common, mine, alignment) for piece, mine in zip(pieces, own, strict=True))
        apart = any(piece.apart for piece in pieces)
        return GeometryFit(
            self.shape(common), alignment, common, covariance, robust, own, misfit, degrees, throws, apart,
            self.guess(pieces, throws, common, own, LONGEST_STEP),
        )  # fmt: skip

    def _aligned(self, piece: Piece, common: np.ndarray, own: np.ndarray, alignment: Alignment) -> MeasuredThrow:
        """The body's poses in a piece, over its own ground."""
        throw, sets = piece.throw, self._sets(piece, common, own)
        position = alignment.body_position(throw.position)
        fitted = self._poses(piece, common, sets[None], own[_LOWER], len(throw.time), FINE)[0]
        position[~piece.seen] = fitted[~piece.seen]
        return replace(
            throw, position=position, ground=self.ground(common, own[_LOWER], throw.ground if piece.apart else None)
        )
