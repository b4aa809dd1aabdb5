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
from dataclasses import replace

import numpy as np

from contactid.planar.identify.shooting import first_impact_starts, shoot
from contactid.planar.own.geometry_problem import FLOORS, LARGEST_MU, GeometryFit, GeometryProblem, Known, Piece
from contactid.planar.simulate.geometry import Shape, contacts
from contactid.planar.simulate.throws import MeasuredThrow

_CANDIDATES = 3
_HORIZONS = 6
_DROPPED = 0.35  # share of the starts that go at each extension of the horizon
_FEWEST = 3  # starts that stay
_KICKS, _UNLUCKY = 8, 4  # other starts in all, and in a row that are no better
_NEARLY = 3.0  # misfit per degree of a motion that is about right
_HOPELESS = 4.0  # misfit per residual that no other start will mend
_CLOSE = {"turn": 4e-3, "point": 2e-4, "slope": 3e-3, "height": 4e-4}  # rad, m, rad, m
_FLIGHT = 3  # frames well over the ground, in whose middle a throw is cut
_FEWEST_FRAMES = 7  # of a part
_NEAR = 8e-3  # m: a measured gap below it may be a contact


def fit_geometry(known: Known, throws: Sequence[Piece], seed: int = 1, *, always: bool = False) -> GeometryFit | None:
    """Fit all throws together: first their parts between flights, whose motion is short, then whole ones.

    The geometry is first held close to the description, and let go of where noise then doesn't explain the misfit.
    None where noise is far from explaining even the parts, unless ``always``.
    """
    close = replace(known, **{name: min(getattr(known, name), most) for name, most in _CLOSE.items()})
    parts = [parts_of(known.shape, throw) for throw in throws]
    found: list[GeometryFit] = []
    for problem, kicks in ((GeometryProblem(close), 0), (GeometryProblem(known), _KICKS)):
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
    problem = GeometryProblem(known)
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
    problem: GeometryProblem,
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
    problem: GeometryProblem, throws: Sequence[Piece], common: np.ndarray, own: np.ndarray, kicks: int
) -> GeometryFit:
    """Whole throws from one start, and from some around it: a motion with several impacts has many local minima."""
    lengths, random, unlucky = [len(throw.throw.time) for throw in throws], np.random.default_rng(1), 0
    for floor in FLOORS[1:]:
        common, own, cost = problem.fit(throws, common, own, lengths, floor, 30)
    best, judged = (common, own, cost), problem.judged(throws, common, own)
    for _ in range(kicks):
        if judged.usual or unlucky >= _UNLUCKY:
            break
        common, own = np.clip(best[0] + problem.kick * random.normal(size=8), problem.low, problem.high), best[1]
        for floor, iterations in zip(FLOORS[1:], (8, 20), strict=True):
            common, own, cost = problem.fit(throws, common, own, lengths, floor, iterations)
        unlucky += 1
        if cost < best[2] - 1.0:
            best, judged, unlucky = (common, own, cost), problem.judged(throws, common, own), 0
    return judged


def _grown(problem: GeometryProblem, piece: Piece, common: np.ndarray, own: np.ndarray, frames: int) -> np.ndarray:
    """(1, 9) a throw's own start, from its first frames on."""
    for upto in np.unique(np.round(np.geomspace(frames, len(piece.throw.time), _HORIZONS)).astype(int)):
        common, own, _ = problem.fit([piece], common, own, [int(upto)], FLOORS[1], 10)
    return own


def _fit_parts(problem: GeometryProblem, parts: Sequence[Piece], seed: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Common and own unknowns of all parts, and whether noise is far from explaining them."""
    alone = [_best_alone(problem, part, seed) for part in parts]
    common, own = np.median([one[0] for one in alone], axis=0), np.array([one[1] for one in alone])
    lengths, cost = [len(p.throw.time) for p in parts], alone[0][2]
    if len(parts) > 1:
        for floor in FLOORS:
            common, own, cost = problem.fit(parts, common, own, lengths, floor, 25)
    return common, own, cost > _HOPELESS * 3.0 * sum(lengths)


def _best_alone(problem: GeometryProblem, piece: Piece, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    throw, known = piece.throw, problem.known
    n = len(throw.time)
    first = min(first_horizon(known.shape, throw) + 1, n)
    short = replace(throw, time=throw.time[:first], position=throw.position[:first], sigma=throw.sigma + FLOORS[1])
    low = np.concatenate([np.full(6, -np.inf), [problem.low[0], 0.0, 0.0]])
    high = np.concatenate([np.full(6, np.inf), [problem.high[0], LARGEST_MU, 1.0]])
    impacts = first_impact_starts(known.shape, short, known.gravity, first - 1, low, high)
    if len(impacts) < _FEWEST:
        impacts = np.array([one.parameters for one in shoot(known.shape, short, known.gravity, seed)])
    pool = []
    for parameters in impacts:
        common, own = problem.start(parameters)
        cost = problem.cost([piece], common, own[None], [first], FLOORS[0])
        pool.append((cost, common, own))
    pool.sort(key=lambda one: one[0])
    tried = [(c, o[None], 0.0) for _, common, o in pool[:_CANDIDATES] for c in problem.radii(common)]
    horizons = np.unique(np.round(np.geomspace(first, n, _HORIZONS if n > 3 * first else 2)).astype(int))
    for k, frames in enumerate(horizons):
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
