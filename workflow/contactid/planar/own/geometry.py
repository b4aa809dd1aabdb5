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
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from contactid.planar.identify.shooting import RATIO, first_impact_starts, shoot
from contactid.planar.own.geometry_problem import FLOORS, LARGEST_MU, GeometryFit, GeometryProblem, Known, Piece
from contactid.planar.simulate.geometry import Shape, contacts
from contactid.planar.simulate.throws import MeasuredThrow

_CANDIDATES = (1, 3)  # close to the description, and away from it
_RATIOS = (0.35, 0.6, 0.85, 1.1)  # of the uniform body's J/m, to start from beside what the first impact tells
_ONE_SIDED = 1.645  # standard deviations of a bound that holds 95 times of 100
_LESS, _FRICTIONLESS = 0.98, 1e-3  # factor of mu from one fit to the next, and mu that is none
_HORIZONS = 6
_DROPPED = 0.35  # share of the starts that go at each extension of the horizon
_FEWEST = 3  # starts that stay
_ROUNDS, _UNLUCKY = 10, 2  # of other starts in all, and in a row that bring nothing new
_DRAWN, _KEPT, _FOLLOWED = 60, 3, 3  # motions drawn at a time, and those that are fitted
_NARROW, _WIDTHS = (1.0, 2.0), (1.0, 3.0, 8.0)  # standard deviations by which they are drawn
_HOPELESS = 4.0  # misfit per residual that no other start will mend
_CLOSE = {"turn": 4e-3, "point": 2e-4, "slope": 3e-3, "height": 4e-4}  # rad, m, rad, m
_FLIGHT = 3  # frames well over the ground, in whose middle a throw is cut
_FEWEST_FRAMES = 7  # of a part
_NEAR = 8e-3  # m: a measured gap below it may be a contact

Minimum = tuple[float, np.ndarray, np.ndarray]
"""Cost, common (8,) and own (n, 9) unknowns of a fitted motion."""
Say = Callable[[str], None]
"""Takes a line on what begins now."""


def silent(line: str) -> None:
    """Say nothing."""


def fit_geometry(
    known: Known, throws: Sequence[Piece], *, always: bool = False, say: Say = silent
) -> GeometryFit | None:
    """Fit all throws together: first their parts between flights, whose motion is short, then whole ones.

    Starts hold the geometry close to the description; others let go of it, where noise doesn't explain what those find.
    None where noise is far from explaining even the parts, unless ``always``.
    """
    close = replace(known, **{name: min(getattr(known, name), most) for name, most in _CLOSE.items()})
    parts, wide = [parts_of(known.shape, throw) for throw in throws], GeometryProblem(known)
    found: GeometryFit | None = None
    starts: list[Minimum] = []
    for problem, candidates in zip((GeometryProblem(close), wide), _CANDIDATES, strict=True):
        common, own, hopeless = _fit_parts(problem, [part for one in parts for part in one], candidates, say)
        if hopeless and not (always and problem is wide):
            continue
        starts += _grown(problem, throws, parts, common, own, say)
        found = _refined(wide, throws, starts, say)
        if found.plausible:
            break
    return found


def fit_impacts(known: Known, pieces: Sequence[Piece], say: Say) -> GeometryFit:
    """Fit impacts by themselves (:class:`Piece` with ``apart``) with one J/m and geometry."""
    problem = GeometryProblem(known)
    common, own, _ = _fit_parts(problem, pieces, _CANDIDATES[1], say)
    return problem.judged(pieces, common, own)


def least_friction(known: Known, throws: Sequence[Piece], found: GeometryFit) -> float:
    """Lower bound of mu (1), of 95 %, from whole throws: the largest mu, in steps, with which no motion fits as well.

    Parameters
    ----------
    found : of the same throws, by :func:`fit_geometry`
    """
    problem, lengths = GeometryProblem(known), [len(throw.throw.time) for throw in throws]
    problem.free[1] = False
    common, own = found.common.copy(), found.own
    cost = problem.cost(throws, common, own, lengths, FLOORS[2])
    limit = cost + _ONE_SIDED**2 * max(1.0, found.misfit_per_degree)
    while cost <= limit and common[1] > _FRICTIONLESS:
        common[1] *= _LESS
        common, own, cost = problem.fit(throws, common, own, lengths, FLOORS[2], 15)
    return float(common[1])


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


def _grown(
    problem: GeometryProblem,
    throws: Sequence[Piece],
    parts: Sequence[Sequence[Piece]],
    common: np.ndarray,
    own: np.ndarray,
    say: Say,
) -> list[Minimum]:
    """Whole throws from the parts they begin with, some more frames at a time.

    What the frames so far leave open is drawn, the next frames choose, and some of the best go on: later impacts hang
    on what earlier ones tell least.
    """
    random, floor = np.random.default_rng(1), FLOORS[1]
    firsts, ends = [len(one[0].throw.time) for one in parts], [len(throw.throw.time) for throw in throws]
    own = own[np.cumsum([0, *(len(one) for one in parts)])[:-1]]
    kept, so_far = [(0.0, common, own)], firsts
    for share in np.linspace(0.0, 1.0, _HORIZONS)[1:] if firsts != ends else [1.0]:
        upto = [round(n * (end / n) ** share) for n, end in zip(firsts, ends, strict=True)]
        say(f"the first {sum(upto)} of {sum(ends)} frames")
        tried = [
            one
            for _, common, own in kept
            for one in [(common, own), *problem.drawn(throws, common, own, so_far, floor, random, _DRAWN, _NARROW)]
        ]
        kept = _best_of(problem, throws, tried, upto, floor, _KEPT, 8)
        so_far = upto
    return kept


def _best_of(
    problem: GeometryProblem,
    throws: Sequence[Piece],
    tried: Sequence[tuple[np.ndarray, np.ndarray]],
    frames: Sequence[int],
    floor: np.ndarray,
    number: int,
    iterations: int,
) -> list[Minimum]:
    """Cost, common and own unknowns of the best of many motions, fitted; best first."""
    costs = [problem.cost(throws, *one, frames, floor) for one in tried]
    best = [tried[k] for k in np.argsort(costs)[:number]]
    found = [problem.fit(throws, common, own, frames, floor, iterations) for common, own in best]
    return sorted(((cost, common, own) for common, own, cost in found), key=lambda one: one[0])


def _refined(problem: GeometryProblem, throws: Sequence[Piece], starts: Sequence[Minimum], say: Say) -> GeometryFit:
    """Whole throws from some starts, and from others around the best: a motion of several impacts has many minima.

    Motions are drawn by what the throws leave open of all unknowns together; the best of them are fitted, until some
    rounds bring nothing new. Other minima count in the errors by their likelihood.
    """
    lengths, random, unlucky = [len(throw.throw.time) for throw in throws], np.random.default_rng(1), 0
    minima = _best_of(problem, throws, [one[1:] for one in starts], lengths, FLOORS[2], _KEPT, 20)
    for number in range(_ROUNDS):
        if unlucky >= _UNLUCKY:
            break
        say(f"other motions, round {number + 1} of at most {_ROUNDS}")
        cost, common, own = min(minima, key=lambda one: one[0])
        drawn = problem.drawn(throws, common, own, lengths, FLOORS[2], random, _DRAWN, _WIDTHS)
        minima += _best_of(problem, throws, drawn, lengths, FLOORS[2], _FOLLOWED, 15)
        unlucky = 0 if min(one[0] for one in minima) < cost - 1.0 else unlucky + 1
    cost, common, own = min(minima, key=lambda one: one[0])
    common, own, _ = problem.fit(throws, common, own, lengths, FLOORS[2], 15)
    return problem.judged(throws, common, own, [(one[0], one[1]) for one in minima])


def _fit_parts(
    problem: GeometryProblem, parts: Sequence[Piece], candidates: int, say: Say
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Common and own unknowns of all parts, and whether noise is far from explaining them."""
    alone = []
    for number, part in enumerate(parts):
        tell = partial(say, f"part {number + 1} of {len(parts)} by itself")
        alone.append(_best_alone(problem, part, candidates, tell))
    common, own = np.median([one[0] for one in alone], axis=0), np.array([one[1] for one in alone])
    lengths, cost = [len(p.throw.time) for p in parts], alone[0][2]
    if len(parts) > 1:
        for floor in FLOORS:
            common, own, cost = problem.fit(parts, common, own, lengths, floor, 25)
    return common, own, cost > _HOPELESS * 3.0 * sum(lengths)


def _best_alone(
    problem: GeometryProblem, piece: Piece, candidates: int, tell: Callable[[], None]
) -> tuple[np.ndarray, np.ndarray, float]:
    throw, known = piece.throw, problem.known
    n = len(throw.time)
    first = min(first_horizon(known.shape, throw) + 1, n)
    short = replace(throw, time=throw.time[:first], position=throw.position[:first], sigma=throw.sigma + FLOORS[1])
    low = np.concatenate([np.full(6, -np.inf), [problem.low[0], 0.0, 0.0]])
    high = np.concatenate([np.full(6, np.inf), [problem.high[0], LARGEST_MU, 1.0]])
    impacts = first_impact_starts(known.shape, short, known.gravity, first - 1, low, high)
    if len(impacts) < _FEWEST:
        impacts = np.array([one.parameters for one in shoot(known.shape, short, known.gravity)])
    tried = []
    for ratio in (impacts[:, RATIO], *(share * problem.mean[0] for share in _RATIOS)):
        impacts[:, RATIO] = ratio
        starts = [problem.start(parameters) for parameters in impacts]
        costs = [problem.cost([piece], common, own[None], [first], FLOORS[0]) for common, own in starts]
        for k in np.argsort(costs)[:candidates]:
            tried += [(one, starts[k][1][None], 0.0) for one in problem.radii(starts[k][0])]
    horizons = np.unique(np.round(np.geomspace(first, n, _HORIZONS if n > 3 * first else 2)).astype(int))
    for k, frames in enumerate(horizons):
        tell()
        tried = [problem.fit([piece], c, o, [int(frames)], FLOORS[min(k, 1)], 10) for c, o, _ in tried]
        tried.sort(key=lambda one: one[2])
        tried = tried[: max(_FEWEST, int(len(tried) * (1.0 - _DROPPED)))]
    found = [problem.fit([piece], c, o, [n], FLOORS[2], 30) for c, o, _ in tried]
    best = min(found, key=lambda one: one[2])
    return best[0], best[1][0], best[2]


def first_horizon(shape: Shape, throw: MeasuredThrow) -> int:
    """Frames up to some after the first that is close to the ground."""
    near = contacts(shape, throw.ground, throw.position).gap.min(axis=1) < _NEAR
    first = int(np.argmax(near)) if near.any() else throw.n_frames
    return min(throw.n_frames, max(first, 1) + max(5, int(0.03 / throw.frame_interval)))
