"""What a description doesn't know: ground, tracked frame and corners' radius, fitted together with the motion.

A simulated motion (:mod:`contactid.planar.simulate.events`) of every throw is held against its *tracked* poses: the
body's pose, seen from a point off its centre of mass and from axes that are turned. J/m, turn, point, corners' radius
and ground are common to all throws; a start, velocities and one restitution are each throw's own. Each unknown of the
geometry has a normal prior about what the description says, so throws that don't tell it leave it there, and what
isn't known of it widens the error of J/m.

An *impact's own piece* of a throw (:class:`Piece` with ``apart``) has its own friction, and its ground may be lower
than the others': a real impact takes about a millisecond, in which a body falls on for a millimetre or two.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import chi2

from contactid.planar.identify.shooting import E_N, MU, RATIO, first_impact_starts, shoot
from contactid.planar.identify.starts import StepBody, simulated_throw
from contactid.planar.models.trajectory import Guess, sub_steps_of
from contactid.planar.simulate.events import event_motion, frames_of_motions
from contactid.planar.simulate.geometry import Ground, Polygon, Shape, contacts
from contactid.planar.simulate.kernel import Outline, outline_of
from contactid.planar.simulate.throws import MeasuredThrow
from contactid.planar.squares.events import Alignment

COMMON = ("inertia_ratio", "friction_mu", "turn", "point_x", "point_y", "corner_radius", "slope", "height")
_TURN, _POINT, _RADIUS, _SLOPE, _HEIGHT = 2, slice(3, 5), 5, 6, 7
_OWN = 9  # q (3), v (3), e_N, how much lower the ground is, mu
_LOWER, _OWN_MU = 7, 8
_SIMULATED = (0, 1, 2, 3, 4, 5, RATIO, MU, E_N)
_LARGEST_MU = 1.5
_SMALLEST_RATIO = 0.1  # of J/m, by the uniform body's
_COARSE, _FINE = 1e-3, 2.5e-4  # s, time steps of the simulation
LONGEST_STEP = 2.1e-3  # s, of the grid that the motion is handed on
_CAP = 12.0  # residuals grow with their logarithm above that many standard deviations
_AWAY = 1e6
_FLOORS = (np.array([1e-3, 1e-3, 2e-2]), np.array([3e-4, 3e-4, 6e-3]), np.zeros(3))
"""Added to the noise, from far away to the end."""
_CANDIDATES = 3
_RADII = (0.01, 0.07, 0.14)  # of the outline's reach: corners from sharp to well rounded, to start from
_HORIZONS = 6
_DROPPED = 0.35  # share of the starts that go at each extension of the horizon
_FEWEST = 3  # starts that stay
_KICKS, _UNLUCKY = 8, 4  # other starts in all, and in a row that are no better
_NEARLY = 3.0  # misfit per degree of a motion that is about right
_USUAL = 0.95  # quantile of chi-square beyond which other starts are tried
_PLAUSIBLE = 0.999  # quantile of chi-square up to which a misfit is noise
_HOPELESS = 4.0  # misfit per residual that no other start will mend
_CLOSE = {"turn": 4e-3, "point": 2e-4, "slope": 3e-3, "height": 4e-4}  # rad, m, rad, m
_FLIGHT = 3  # frames well over the ground, in whose middle a throw is cut
_FEWEST_FRAMES = 7  # of a part
_NEAR = 8e-3  # m: a measured gap below it may be a contact


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
    def usual(self) -> bool:
        """Whether the misfit is what noise mostly leaves."""
        return 2.0 * self.misfit <= float(chi2.ppf(_USUAL, self.degrees))

    @property
    def misfit_per_degree(self) -> float:
        """About 1 where noise is all there is."""
        return 2.0 * self.misfit / self.degrees


def fit_geometry(known: Known, throws: Sequence[Piece], seed: int = 1, *, always: bool = False) -> GeometryFit | None:
    """Fit all throws together: first their parts between flights, whose motion is short, then whole ones.

    The geometry is first held close to the description, and let go of where noise then doesn't explain the misfit.
    None where noise is far from explaining even the parts, unless ``always``.
    """
    close = replace(known, **{name: min(getattr(known, name), most) for name, most in _CLOSE.items()})
    parts = [parts_of(known.shape, throw) for throw in throws]
    found: list[GeometryFit] = []
    for problem, kicks in ((_Problem(close), 0), (_Problem(known), _KICKS)):
        if found and found[-1].misfit_per_degree < _NEARLY:  # the same motion, with the geometry let go of
            found.append(_refined(problem, throws, found[-1].common, found[-1].own, kicks))
            break
        common, own, hopeless = _fit_parts(problem, [part for one in parts for part in one], seed)
        if hopeless and not (always and problem.known is known):
            continue
        found.append(_fit_whole(problem, throws, parts, common, own, kicks))
        if found[-1].usual:
            break
    return min(found, key=lambda one: one.misfit, default=None)


def fit_impacts(known: Known, pieces: Sequence[Piece], seed: int = 1) -> GeometryFit:
    """Fit impacts by themselves (:class:`Piece` with ``apart``) with one J/m and geometry."""
    problem = _Problem(known)
    common, own, _ = _fit_parts(problem, pieces, seed)
    return problem.judged(pieces, common, own)


def parts_of(shape: Shape, piece: Piece) -> list[Piece]:
    """A throw cut in the middle of its flights; the throw itself where nothing can be cut."""
    throw, n = piece.throw, len(piece.throw.time)
    gap = contacts(shape, throw.ground, throw.position).gap.min(axis=1)
    noise = float(np.hypot(throw.sigma[1], np.linalg.norm(shape.outline(), axis=1).max() * throw.sigma[2]))
    low = gap < _NEAR + 2.0 * noise
    edges = np.flatnonzero(np.diff(np.concatenate([[1], low.astype(int), [1]])) != 0)
    cuts = [0]
    for start, end in edges.reshape(-1, 2):
        if start > 0 and end < n and end - start >= _FLIGHT:
            middle = (int(start) + int(end)) // 2
            if middle - cuts[-1] >= _FEWEST_FRAMES:
                cuts.append(middle)
    if n - cuts[-1] < _FEWEST_FRAMES and len(cuts) > 1:
        cuts.pop()
    cuts.append(n)
    return [_part(piece, slice(a, b)) for a, b in itertools.pairwise(cuts)]


def _part(piece: Piece, rows: slice) -> Piece:
    throw = piece.throw
    return replace(
        piece, throw=replace(throw, time=throw.time[rows], position=throw.position[rows]), seen=piece.seen[rows]
    )


def _fit_whole(
    problem: _Problem,
    throws: Sequence[Piece],
    parts: Sequence[Sequence[Piece]],
    common: np.ndarray,
    own: np.ndarray,
    kicks: int,
) -> GeometryFit:
    first = np.cumsum([0, *(len(one) for one in parts)])[:-1]
    own = own[first]
    for k, throw in enumerate(throws):
        own[k : k + 1] = _grown(problem, throw, common, own[k : k + 1], len(parts[k][0].throw.time))
    return _refined(problem, throws, common, own, kicks)


def _refined(
    problem: _Problem, throws: Sequence[Piece], common: np.ndarray, own: np.ndarray, kicks: int
) -> GeometryFit:
    """Whole throws from one start, and from some around it: a motion with several impacts has many local minima."""
    lengths, random, unlucky = [len(throw.throw.time) for throw in throws], np.random.default_rng(1), 0
    for floor in _FLOORS[1:]:
        common, own, cost = problem.fit(throws, common, own, lengths, floor, 30)
    best, judged = (common, own, cost), problem.judged(throws, common, own)
    for _ in range(kicks):
        if judged.usual or unlucky >= _UNLUCKY:
            break
        common, own = np.clip(best[0] + problem.kick * random.normal(size=8), problem.low, problem.high), best[1]
        for floor, iterations in zip(_FLOORS[1:], (8, 20), strict=True):
            common, own, cost = problem.fit(throws, common, own, lengths, floor, iterations)
        unlucky += 1
        if cost < best[2] - 1.0:
            best, judged, unlucky = (common, own, cost), problem.judged(throws, common, own), 0
    return judged


def _grown(problem: _Problem, piece: Piece, common: np.ndarray, own: np.ndarray, frames: int) -> np.ndarray:
    """(1, 9) a throw's own start, from its first frames on."""
    for upto in np.unique(np.round(np.geomspace(frames, len(piece.throw.time), _HORIZONS)).astype(int)):
        common, own, _ = problem.fit([piece], common, own, [int(upto)], _FLOORS[1], 10)
    return own


def _fit_parts(problem: _Problem, parts: Sequence[Piece], seed: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Common and own unknowns of all parts, and whether noise is far from explaining them."""
    alone = [_best_alone(problem, part, seed) for part in parts]
    common, own = np.median([one[0] for one in alone], axis=0), np.array([one[1] for one in alone])
    lengths, cost = [len(p.throw.time) for p in parts], alone[0][2]
    if len(parts) > 1:
        for floor in _FLOORS:
            common, own, cost = problem.fit(parts, common, own, lengths, floor, 25)
    return common, own, cost > _HOPELESS * 3.0 * sum(lengths)


def _best_alone(problem: _Problem, piece: Piece, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    throw, known = piece.throw, problem.known
    n = len(throw.time)
    first = min(first_horizon(known.shape, throw) + 1, n)
    short = replace(throw, time=throw.time[:first], position=throw.position[:first], sigma=throw.sigma + _FLOORS[1])
    low = np.concatenate([np.full(6, -np.inf), [problem.low[0], 0.0, 0.0]])
    high = np.concatenate([np.full(6, np.inf), [problem.high[0], _LARGEST_MU, 1.0]])
    impacts = first_impact_starts(known.shape, short, known.gravity, first - 1, low, high)
    if len(impacts) < _FEWEST:
        impacts = np.array([one.parameters for one in shoot(known.shape, short, known.gravity, seed)])
    pool = []
    for parameters in impacts:
        common, own = problem.start(parameters)
        cost = problem.cost([piece], common, own[None], [first], _FLOORS[0])
        pool.append((cost, common, own))
    pool.sort(key=lambda one: one[0])
    tried = [(c, o[None], 0.0) for _, common, o in pool[:_CANDIDATES] for c in problem.radii(common)]
    horizons = np.unique(np.round(np.geomspace(first, n, _HORIZONS if n > 3 * first else 2)).astype(int))
    for k, frames in enumerate(horizons):
        tried = [problem.fit([piece], c, o, [int(frames)], _FLOORS[min(k, 1)], 10) for c, o, _ in tried]
        tried.sort(key=lambda one: one[2])
        tried = tried[: max(_FEWEST, int(len(tried) * (1.0 - _DROPPED)))]
    found = [problem.fit([piece], c, o, [n], _FLOORS[2], 30) for c, o, _ in tried]
    best = min(found, key=lambda one: one[2])
    return best[0], best[1][0], best[2]


def first_horizon(shape: Shape, throw: MeasuredThrow) -> int:
    """Frames up to some after the first that is close to the ground."""
    near = contacts(shape, throw.ground, throw.position).gap.min(axis=1) < _NEAR
    first = int(np.argmax(near)) if near.any() else throw.n_frames
    return min(throw.n_frames, max(first, 1) + max(5, int(0.03 / throw.frame_interval)))


class _Problem:
    """Residuals and steps of the fit; unknowns are common (8,) and own (n, 9)."""

    def __init__(self, known: Known) -> None:
        self.known = known
        shape = known.shape
        ratio = shape.uniform_inertia_ratio
        self.reach = float(np.linalg.norm(shape.outline(), axis=1).max())
        radius = shape.radius if isinstance(shape, Polygon) else 0.0
        self.mean = np.array([ratio, 0.4, known.axes, 0.0, 0.0, radius, known.ground.slope, 0.0])
        self.spread = np.array(
            [0.7 * ratio, 0.7, known.turn, known.point, known.point, known.radius, known.slope, known.height]
        )
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
        self.high = np.array([largest, _LARGEST_MU, 0.8, *[self.reach] * 2, most_round, 1.4, np.inf])
        self.free = self.spread > 0.0

    def start(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Common and own unknowns of a motion (9,) as the simulation takes it."""
        common = self.mean.copy()
        common[:2] = parameters[RATIO], parameters[MU]
        return common, np.array([*parameters[:6], parameters[E_N], 0.0, parameters[MU]])

    @property
    def kick(self) -> np.ndarray:
        """(8,) standard deviations of changes that other starts have."""
        return self.free * np.minimum(np.array([3.0, 2.0, 4.0, 3.0, 3.0, 3.0, 1.0, 1.0]) * self.unit, self.spread)

    def radii(self, common: np.ndarray) -> list[np.ndarray]:
        """The start with several radii of the corners, where the radius isn't given."""
        if not self.free[_RADIUS]:
            return [common]
        changed = [common.copy() for _ in _RADII]
        for one, share in zip(changed, _RADII, strict=True):
            one[_RADIUS] = min(share * self.reach, self.high[_RADIUS])
        return changed

    def shape(self, common: np.ndarray) -> Shape:
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

    def _poses(self, piece: Piece, common: np.ndarray, sets: np.ndarray, lower: float, frames: int, step: float) -> Any:
        outline, interval = self._outline(piece, common, lower), piece.throw.frame_interval
        return frames_of_motions(outline, sets, self.known.gravity, interval, frames - 1, step)

    def guess(
        self, pieces: Sequence[Piece], throws: Sequence[MeasuredThrow], common: Any, own: Any, step: float
    ) -> Guess:
        """The fitted motions as a start of eq. 27 with that longest step, s."""
        guessed, shape = [], self.shape(common)
        for piece, throw, mine in zip(pieces, throws, own, strict=True):
            sets = self._sets(piece, common, mine)
            outline = self._outline(piece, common, mine[_LOWER])
            motion = event_motion(outline, sets, self.known.gravity, throw.frame_interval, throw.n_frames, _FINE)
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
        sets = self._sets(piece, common, own)
        poses = self._poses(piece, common, sets[None], own[_LOWER], frames, self._step(floor))[0]
        return self._capped(piece, self._tracked(poses, common), frames, floor)

    @staticmethod
    def _step(floor: np.ndarray) -> float:
        return _COARSE if floor.any() else _FINE

    def slopes(
        self, piece: Piece, common: np.ndarray, own: np.ndarray, frames: int, floor: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of the residuals by common (m, 8) and own (m, 9) unknowns, in units of their steps: central differences."""
        step, sets = self._step(floor), self._sets(piece, common, own)
        units = np.array([*self.own_unit[:6], self.unit[0], self.unit[1], self.own_unit[6]])
        changes = np.diag(units)
        both = np.concatenate([sets + changes, sets - changes])
        both[:, RATIO] = np.clip(both[:, RATIO], self.low[0], self.high[0])
        both[:, MU] = np.maximum(both[:, MU], 0.0)
        both[:, E_N] = np.clip(both[:, E_N], 0.0, 1.0)
        poses = self._poses(piece, common, both, own[_LOWER], frames, step)
        around = self._capped(piece, self._tracked(poses, common), frames, floor)
        moved = 0.5 * (around[:9] - around[9:]).T
        by_common, by_own = np.zeros((3 * frames, 8)), np.zeros((3 * frames, _OWN))
        by_own[:, :6], by_own[:, 6] = moved[:, :6], moved[:, E_N]
        by_common[:, 0] = moved[:, RATIO]
        if piece.apart:
            by_own[:, _OWN_MU] = moved[:, MU]
        else:
            by_common[:, 1] = moved[:, MU]
        base = self._poses(piece, common, sets[None], own[_LOWER], frames, step)[0]
        for i in range(2, 8):
            if not self.free[i] and not (i == _HEIGHT and piece.apart):
                continue
            ends = []
            for sign in (1.0, -1.0):
                other = common.copy()
                other[i] = np.clip(common[i] + sign * self.unit[i], self.low[i], self.high[i])
                moves = i >= _RADIUS
                poses = self._poses(piece, other, sets[None], own[_LOWER], frames, step)[0] if moves else base
                ends.append(self._capped(piece, self._tracked(poses, other), frames, floor))
            column = 0.5 * (ends[0] - ends[1])
            by_common[:, i] = column
            if i == _HEIGHT and piece.apart:
                by_own[:, _LOWER] = -column * self.own_unit[_LOWER] / self.unit[_HEIGHT]
        by_common[:, ~self.free] = 0.0
        return by_common, by_own

    def prior(self, common: np.ndarray) -> np.ndarray:
        """(8,) standardised departures."""
        return np.where(self.free, (common - self.mean) / np.where(self.free, self.spread, 1.0), 0.0)

    def own_prior(self, piece: Piece, own: np.ndarray) -> np.ndarray:
        """(9,) of e_N, the lower ground and the own friction."""
        departures = np.zeros(_OWN)
        departures[6] = (own[6] - 0.3) / 0.5
        if piece.apart:
            departures[_LOWER] = own[_LOWER] / self.known.lower
            departures[_OWN_MU] = (own[_OWN_MU] - 0.4) / 0.7
        return departures

    def cost(self, pieces: Any, common: np.ndarray, own: np.ndarray, frames: Sequence[int], floor: np.ndarray) -> float:
        total = float((self.prior(common) ** 2).sum())
        for piece, mine, upto in zip(pieces, own, frames, strict=True):
            total += float((self.residuals(piece, common, mine, upto, floor) ** 2).sum())
            total += float((self.own_prior(piece, mine) ** 2).sum())
        return total

    def system(
        self, pieces: Sequence[Piece], common: np.ndarray, own: np.ndarray, frames: Sequence[int], floor: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Normal matrix, gradient, and every piece's part of the common gradient with its own unknowns eliminated."""
        n = 8 + _OWN * len(pieces)
        matrix, gradient = np.zeros((n, n)), np.zeros(n)
        scale = np.where(self.free, self.unit / np.where(self.free, self.spread, 1.0), 0.0)
        matrix[range(8), range(8)] = scale**2 + 1e-12
        gradient[:8] = scale * self.prior(common)
        pulls = []
        for k, (piece, mine, upto) in enumerate(zip(pieces, own, frames, strict=True)):
            at = self.residuals(piece, common, mine, upto, floor)
            by_common, by_own = self.slopes(piece, common, mine, upto, floor)
            part = slice(8 + _OWN * k, 8 + _OWN * (k + 1))
            mild = np.zeros(_OWN)
            mild[6] = self.own_unit[6] / 0.5
            mild[_LOWER], mild[_OWN_MU] = self.own_unit[_LOWER] / self.known.lower, self.own_unit[_OWN_MU] / 0.7
            square = by_own.T @ by_own + np.diag(mild**2 + 1e-12)
            across = by_common.T @ by_own
            matrix[:8, :8] += by_common.T @ by_common
            matrix[part, part] = square
            matrix[:8, part], matrix[part, :8] = across, across.T
            own_gradient = by_own.T @ at + mild * self.own_prior(piece, mine)
            gradient[:8] += by_common.T @ at
            gradient[part] = own_gradient
            pulls.append(by_common.T @ at - across @ np.linalg.solve(square, own_gradient))
        return matrix, gradient, pulls

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
        cost, damping = self.cost(pieces, common, own, frames, floor), 1e-2
        for _ in range(iterations):
            matrix, gradient, _ = self.system(pieces, common, own, frames, floor)
            better = None
            for _ in range(5):
                move = -np.linalg.solve(matrix + damping * np.diag(np.diag(matrix) + 1e-9), gradient)
                next_common = np.clip(common + self.unit * move[:8] * self.free, self.low, self.high)
                next_own = own + self.own_unit * move[8:].reshape(own.shape)
                next_own[:, 6] = np.clip(next_own[:, 6], 0.0, 1.0)
                next_own[:, _OWN_MU] = np.clip(next_own[:, _OWN_MU], 0.0, _LARGEST_MU)
                there = self.cost(pieces, next_common, next_own, frames, floor)
                if there < cost:
                    better = next_common, next_own
                    break
                damping *= 5.0
            if better is None:
                break
            (common, own), gain, cost = better, cost - there, there
            damping = max(damping / 5.0, 1e-6)
            if gain < 1e-2:
                break
        return common, own, cost

    def judged(self, pieces: Sequence[Piece], common: np.ndarray, own: np.ndarray) -> GeometryFit:
        """The answer with its errors."""
        frames = [len(piece.throw.time) for piece in pieces]
        matrix, _, pulls = self.system(pieces, common, own, frames, _FLOORS[2])
        misfit = 0.0
        for piece, mine, upto in zip(pieces, own, frames, strict=True):
            capped = self.residuals(piece, common, mine, upto, _FLOORS[2])
            misfit += 0.5 * float((_CAP * np.sinh(capped / _CAP)) @ (_CAP * np.sinh(capped / _CAP)))
        seen = 3 * sum(int(piece.seen.sum()) for piece in pieces)
        unknowns = sum(9 if piece.apart else 7 for piece in pieces) + int(self.free.sum())
        degrees = max(seen - unknowns, 1)
        excess = max(1.0, 2.0 * misfit / degrees)
        inverse = np.linalg.inv(matrix)[:8, :8] * np.outer(self.unit, self.unit)
        covariance = excess * inverse
        robust = np.zeros((8, 8))
        if len(pieces) >= 3:
            moved = np.array(pulls) / self.unit @ inverse
            robust = moved.T @ moved * len(pieces) / (len(pieces) - 1)
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
        fitted = self._poses(piece, common, sets[None], own[_LOWER], len(throw.time), _FINE)[0]
        position[~piece.seen] = fitted[~piece.seen]
        return replace(
            throw, position=position, ground=self.ground(common, own[_LOWER], throw.ground if piece.apart else None)
        )
