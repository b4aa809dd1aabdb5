"""The one search: from a throw's first flight to its whole motion, an impact at a time.

What happens at the first contact hangs on J/m, friction and the impact's restitution, so motions
with many values of these are simulated over the first frames, and the best are fitted. Then the
horizon grows. Each impact that comes into sight has a restitution that nothing told so far, so
values of it are tried for each motion that is left, the best motions are fitted, and those that
differ go on. Nothing is drawn, so there is no luck in what is found.

It begins with a line through the first frames. Where few lie before the first contact, that line
tells the velocity badly, so motions also begin with flights that meet on the ground
(:mod:`contactid.planar.engine.meetings`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtri

from contactid.planar.engine.meetings import Flights
from contactid.planar.engine.problem import Point, Problem
from contactid.planar.engine.steering import Steering
from contactid.planar.engine.unknowns import (
    MU,
    N_COMMON,
    N_STATE,
    POINT_X,
    POINT_Y,
    RADIUS,
    RATIO,
    TURN,
    Geometry,
    reach_of,
)
from contactid.planar.simulate.geometry import Polygon

Say = Callable[[str], None]
"""Takes a line on what begins now."""

_E_N = N_COMMON + N_STATE  # place of the first impact's restitution
# rad/m of the last: the noise's floor of theta by that of a position
_TURNING = np.array([1.0, 1.0, 20.0])


def search(
    problem: Problem, say: Say | None = None, close: Sequence[Sequence[Point]] = ()
) -> list[Point]:
    """Fitted motions of all throws that differ, best first; where noise doesn't explain the best
    one, with those of :func:`search_widely`.

    ``close`` are each throw's motions by :func:`search_closely`, where they are there already.
    """
    alone = []
    for k, points in enumerate(close or search_closely(problem, say)):
        mine = problem.of_throw(k)
        alone.append(
            _search_one_widely(mine, points) if _needs_more(mine, points[0]) else list(points)
        )
    minima = _together(problem, alone, say)
    # one throw has been searched widely then; of several each may follow another body's motion
    if len(problem.throws) == 1 or not _needs_more(problem, minima[0]):
        return minima
    if say:
        say("noise doesn't explain the throws together: the search again, with more motions")
    wide = search_widely(problem, say)
    return _best_distinct(problem, [*minima, *wide], problem.steering.final)


def search_closely(problem: Problem, say: Say | None = None) -> list[list[Point]]:
    """Motions of each throw by itself, best first, with a geometry close to the stated one."""
    alone = []
    for k in range(len(problem.throws)):
        if say and len(problem.throws) > 1:
            say(f"throw {k + 1} of {len(problem.throws)} by itself")
        alone.append(_search_one(problem.of_throw(k)))
    return alone


def search_widely(problem: Problem, say: Say | None = None) -> list[Point]:
    """Motions of all throws by searches that follow more motions: a throw's own may have been
    dropped, as others fitted its beginning better.
    """
    alone = [_search_one_widely(problem.of_throw(k)) for k in range(len(problem.throws))]
    return _together(problem, alone, say)


def _together(problem: Problem, alone: Sequence[list[Point]], say: Say | None) -> list[Point]:
    """Motions of all throws, from those of each by itself: with the common unknowns of each throw's
    best, and of their median, fitted together.
    """
    if len(alone) == 1:
        return alone[0]
    if say:
        say("all throws together")
    steering, floor = problem.steering, _floor(problem)
    # (throws, N_COMMON): what each throw by itself says of the body
    best = np.array([points[0].common for points in alone])
    starts = []
    # one throw alone may have been misled, so the median and each throw's values are tried for all
    for common in (np.median(best, axis=0), *best):
        own = np.array([_nearest(points, common, steering.near_best).own[0] for points in alone])
        starts.append(Point(common, own, problem.cost(Point(common, own), problem.whole, floor)))
    starts.sort(key=lambda point: point.cost)
    # over many bounces the median body's motion goes far off: it follows the poses bit by bit, too
    followed = Point(np.median(best, axis=0), np.array([points[0].own[0] for points in alone]))
    for share in steering.joining:
        horizons = [max(int(share * frames), 2) for frames in problem.whole]
        followed = problem.fit(followed, horizons, floor, steering.growing_iterations)
    fits = []
    for start in (*starts[: steering.final], followed):
        # first with the floor, which smooths the cost, then with the noise alone
        smoothed = problem.fit(start, problem.whole, floor, steering.first_iterations)
        fits.append(problem.fit(smoothed, problem.whole, 0.0, steering.final_iterations))
    return _best_distinct(problem, fits, steering.final)


def _nearest(points: Sequence[Point], common: np.ndarray, near: float) -> Point:
    """The one of a throw's motions whose J/m is nearest, among those that fit about as well as the
    best.
    """
    least = points[0].cost
    good = [point for point in points if point.cost < least + near]
    return min(good, key=lambda point: abs(point.common[RATIO] - common[RATIO]))


def _search_one(problem: Problem) -> list[Point]:
    """One throw, with a geometry close to the stated one."""
    steering, final = problem.steering, problem.steering.final
    close = _close_geometry(problem.geometry, steering)
    grown = _grown(Problem(close, problem.throws, steering))[:final]
    # a line through so few frames tells the velocity badly
    if _flight_frames(problem) < steering.slow_flight:
        grown += _met(Problem(close, problem.throws, steering))[:final]
    return _settled(problem, grown)


def _search_one_widely(problem: Problem, points: Sequence[Point] = ()) -> list[Point]:
    """Motions of one throw, the ``points`` among them, by a search that follows more: first near the
    stated geometry, then with all the room it has.
    """
    steering = problem.steering
    wider = replace(
        steering,
        first=2 * steering.first,
        beam=steering.wide * steering.beam,
        final=2 * steering.final,
    )
    minima = list(points)
    for geometry in (_close_geometry(problem.geometry, steering), problem.geometry):
        grown = _grown(Problem(geometry, problem.throws, wider))[: wider.final]
        minima = _settled(problem, [*minima[: steering.final], *grown])
        if problem.plausible(minima[0]):
            break
    return minima


def _needs_more(problem: Problem, point: Point) -> bool:
    """Whether other starts may lead to a better motion: not where noise explains this one, and not
    where the body isn't as modelled.
    """
    return not problem.plausible(point) and not _is_beyond(problem, point)


def _is_beyond(problem: Problem, point: Point) -> bool:
    """Whether a motion is so far from the poses that other starts won't help: the body isn't as the
    model has it.
    """
    # three residuals a frame
    return point.cost > problem.steering.beyond * 3.0 * sum(problem.whole)


def _close_geometry(geometry: Geometry, steering: Steering) -> Geometry:
    """The stated geometry with less room: far from the answer the poses' misfit would pull it away."""
    return replace(
        geometry,
        turn_error=min(geometry.turn_error, steering.close_turn),
        point_error=min(geometry.point_error, steering.close_point),
        slope_error=min(geometry.slope_error, steering.close_slope),
        height_error=min(geometry.height_error, steering.close_height),
    )


def _floor(problem: Problem) -> np.ndarray:
    """(3,) what is added to the noise on the way, m, m, rad."""
    return problem.steering.floor * _TURNING


def _grown(problem: Problem) -> list[Point]:
    """Motions of a whole throw, from the first contact on, best first."""
    steering, n = problem.steering, problem.throws[0].n_frames
    floor = steering.first_floor * _TURNING
    horizon = _first_horizon(problem)
    rows = _first_rows(problem)
    best = _best_points(rows, problem.costs(0, rows, horizon, floor), problem, steering.seeds)
    # only the grid's best get other restitutions of their first impacts: up to 64 motions each
    rows = np.concatenate([_with_restitutions(problem, _row(point), 0, horizon) for point in best])
    points = _best_points(rows, problem.costs(0, rows, horizon, floor), problem, steering.first)
    points = _fitted(problem, points, horizon, floor, steering.first_iterations)
    while horizon < n:
        before = horizon
        horizon = min(n, horizon + max(steering.least_growth, int(steering.growth * horizon)))
        points = _extended(problem, points, before, horizon)
    return points


def _met(problem: Problem) -> list[Point]:
    """Motions of a whole throw from flights that meet on the ground, best first.

    Most of these starts are wrong, and the right ones are off by much: many go on, and far more
    noise is added.
    """
    steering, throw = problem.steering, problem.throws[0].measured
    n, horizon = len(throw.time), min(len(throw.time), _flight_frames(problem) + steering.met_after)
    flights = Flights(
        problem.geometry.shape,
        throw.ground,
        _weightless(problem),
        throw.frame_interval,
        problem.geometry.gravity,
    )
    starts = flights.starts(_first_horizon(problem))
    if not len(starts):
        return []
    rows = np.repeat(problem.table.mean[None], len(starts), axis=0)
    # starts have q, v, J/m, mu, and e_N, which all impacts share at first
    rows[:, N_COMMON:_E_N] = starts[:, :N_STATE]
    rows[:, RATIO], rows[:, MU] = starts[:, N_STATE], starts[:, N_STATE + 1]
    rows[:, _E_N:] = starts[:, N_STATE + 2 :]
    rows = np.clip(rows, problem.table.low, problem.table.high)
    rough = replace(steering, floor=steering.met_floor, beam=steering.met)
    problem = Problem(problem.geometry, problem.throws, rough)
    floor = steering.met_first_floor * _TURNING
    points = _best_points(rows, problem.costs(0, rows, horizon, floor), problem, 2 * steering.met)
    points = _fitted(problem, points, horizon, floor, steering.first_iterations)
    while horizon < n:
        before = horizon
        horizon = min(n, horizon + max(1, int(steering.growth * horizon)))
        points = _extended(problem, points, before, horizon)
    return points


def _first_horizon(problem: Problem) -> int:
    """Frames up to some after the first flight."""
    throw, steering = problem.throws[0].measured, problem.steering
    after = max(steering.fewest_after, int(steering.after_contact / throw.frame_interval))
    return min(len(throw.time), _flight_frames(problem) + after)


def _flight_frames(problem: Problem) -> int:
    """First frames that noise lets lie on one flight, at least 2."""
    throw, seen = problem.throws[0].measured, problem.throws[0].seen
    time, poses = throw.time - throw.time[0], _weightless(problem)
    frames = 2
    for n in range(3, len(time) + 1):
        rows = np.flatnonzero(seen[:n])
        # two poses lie on a line whatever happened between them
        if len(rows) < 3:
            continue
        line = np.polynomial.polynomial.polyfit(time[rows], poses[rows], 1)
        departure = (poses[rows] - line[0] - time[rows, None] * line[1]) / throw.sigma
        # 3 coordinates, each with a line's 2 coefficients: 3 (n - 2) degrees of freedom
        if (departure**2).sum() > chdtri(3 * (len(rows) - 2), problem.steering.flight_tail):
            break
        frames = n
    return frames


def _body_poses(problem: Problem) -> np.ndarray:
    """(n, 3) poses of the first throw's body, were tracked point and axes as stated."""
    position, mean = problem.throws[0].measured.position, problem.table.mean
    theta = position[:, 2] - mean[TURN]
    # the tracked point's place in the body, turned into the throws' frame, is taken off
    cos, sin = np.cos(theta), np.sin(theta)
    x, y = mean[POINT_X], mean[POINT_Y]
    return np.column_stack(
        [position[:, 0] - (x * cos - y * sin), position[:, 1] - (x * sin + y * cos), theta]
    )


def _first_rows(problem: Problem) -> np.ndarray:
    """(n, N_UNKNOWNS) unknowns to start from."""
    table, shape, steering = problem.table, problem.geometry.shape, problem.steering
    rows = []
    for state in _first_states(problem):
        row = table.mean.copy()
        row[N_COMMON:_E_N] = state
        rows.append(row)
    states = np.array(rows)
    grid = np.array(
        list(itertools.product(steering.ratios, steering.frictions, steering.restitutions))
    )
    # (states * grid, N_UNKNOWNS): every state with every J/m, mu and e_N
    every = np.repeat(states, len(grid), axis=0)
    every[:, RATIO] = shape.uniform_inertia_ratio * np.tile(grid[:, 0], len(states))
    every[:, MU] = np.tile(grid[:, 1], len(states))
    every[:, _E_N] = np.tile(grid[:, 2], len(states))
    if isinstance(shape, Polygon) and table.free[RADIUS]:
        # a radius that is not stated shifts where a corner touches, so it is tried, too
        radii = reach_of(shape) * np.array(steering.radii)
        every = np.repeat(every, len(radii), axis=0)
        every[:, RADIUS] = np.tile(radii, len(every) // len(radii))
    return np.clip(every, table.low, table.high)


def _first_states(problem: Problem) -> list[np.ndarray]:
    """States (6,) at the first frame: lines through the frames of the first flight, and through one
    or two fewer.
    """
    throw, seen = problem.throws[0].measured, problem.throws[0].seen
    time, poses = throw.time - throw.time[0], _weightless(problem)
    frames = _flight_frames(problem)
    states = []
    # noise may hide that the last of these frames lie after the impact
    for n in sorted({max(frames - fewer, 2) for fewer in range(3)}):
        rows = np.flatnonzero(seen[:n])
        if len(rows) >= 2:
            # q and v at the first frame: constant and slope of each coordinate
            states.append(np.polynomial.polynomial.polyfit(time[rows], poses[rows], 1).ravel())
    return states


def _weightless(problem: Problem) -> np.ndarray:
    """(n, 3) poses of the first throw's body less what gravity adds since the first frame: flight
    is a line in them.
    """
    throw = problem.throws[0].measured
    # g t^2 / 2, m
    fallen = 0.5 * problem.geometry.gravity * (throw.time - throw.time[0]) ** 2
    return _body_poses(problem) + fallen[:, None] * np.array([0.0, 1.0, 0.0])


def _best_points(rows: np.ndarray, costs: np.ndarray, problem: Problem, number: int) -> list[Point]:
    """The cheapest rows that differ, as points."""
    kept: list[Point] = []
    for k in np.argsort(costs):
        point = Point(rows[k, :N_COMMON].copy(), rows[k, None, N_COMMON:].copy(), float(costs[k]))
        if not any(_alike(problem, point, other) for other in kept):
            kept.append(point)
        if len(kept) == number:
            break
    return kept


def _fitted(
    problem: Problem, points: Sequence[Point], horizon: int, floor: np.ndarray, iterations: int
) -> list[Point]:
    fits = [problem.fit(point, [horizon], floor, iterations) for point in points]
    return _best_distinct(problem, fits, problem.steering.beam)


def _extended(problem: Problem, points: Sequence[Point], before: int, horizon: int) -> list[Point]:
    """Motions over a longer horizon: what the former one left open is varied, and the impacts that
    come into sight.
    """
    steering, floor = problem.steering, _floor(problem)
    candidates = []
    for point in points:
        row = _row(point)
        # the motion itself, its neighbours along what was open, and other restitutions
        candidates += [row[None], _varied(problem, point, before, floor, steering.widths)]
        # from some frames before the old horizon on: an impact just before it hardly showed
        candidates.append(_with_restitutions(problem, row, before - steering.quiet_frames, horizon))
    every = np.concatenate(candidates)
    costs = problem.costs(0, every, horizon, floor)
    # twice as many are fitted as go on
    best = _best_points(every, costs, problem, 2 * steering.beam)
    return _fitted(problem, best, horizon, floor, steering.growing_iterations)


def _with_restitutions(problem: Problem, row: np.ndarray, begin: float, end: int) -> np.ndarray:
    """(n, N_UNKNOWNS) a row with other restitutions of the first impacts between two frames, in
    every combination.

    Corners hit one shortly after the other, and what the first does decides where the next one
    hits.
    """
    interval = problem.throws[0].measured.frame_interval
    impacts = problem.impacts(0, row, end)
    new = np.flatnonzero((impacts >= begin * interval) & (impacts < (end - 1) * interval))
    new = new[: problem.steering.together]
    if not len(new):
        return row[None]
    # every combination for k impacts, (4^k, k) on the usual grid
    values = np.array(list(itertools.product(problem.steering.restitutions, repeat=len(new))))
    rows = np.repeat(row[None], len(values), axis=0)
    rows[:, _E_N + new] = values
    return rows


def _row(point: Point) -> np.ndarray:
    """(N_UNKNOWNS,) of a point of one throw."""
    return np.concatenate([point.common, point.own[0]])


def _varied(
    problem: Problem, point: Point, horizon: int, floor: np.ndarray | float, widths: Sequence[float]
) -> np.ndarray:
    """(n, N_UNKNOWNS) points to both sides of a fitted one, along the directions that the poses
    leave open most.
    """
    table, steering = problem.table, problem.steering
    system = problem.system(point, [horizon], floor)
    # the matrix has only unknowns that are free, and impacts within the horizon
    active = np.concatenate([table.free[:N_COMMON], system.active[0, N_COMMON:]])
    scale = table.scale[active]
    # in units of the scales; eigenvalues rise, so the first directions are the most open ones
    values, vectors = np.linalg.eigh(system.matrix * np.outer(scale, scale))
    curvature = np.maximum(values[: steering.directions], steering.least_curvature)
    # along each, one standard deviation as the curvature tells it
    open_most = vectors[:, : steering.directions] / np.sqrt(curvature)
    moves = [
        sign * width * move for move in open_most.T for width in widths for sign in (-1.0, 1.0)
    ]
    rows = np.repeat(_row(point)[None], len(moves), axis=0)
    rows[:, active] += scale * np.array(moves)
    return np.clip(rows, table.low, table.high)


def _settled(problem: Problem, points: Sequence[Point]) -> list[Point]:
    """Fitted whole motions, and others beside the best until these bring nothing new: the cost has
    many minima.
    """
    steering, whole, floor = problem.steering, problem.whole, _floor(problem)
    minima = [problem.fit(point, whole, 0.0, steering.final_iterations) for point in points]
    while True:  # each round but the last lowers the best cost by a certain amount
        best = min(minima, key=lambda point: point.cost)
        if _is_beyond(problem, best):
            break
        rows = [_varied(problem, best, whole[0], 0.0, steering.final_widths)]
        impacts = problem.impacts(0, _row(best), whole[0])
        frames = impacts[np.isfinite(impacts)] / problem.throws[0].measured.frame_interval
        # each impact, and those just after it, with other restitutions
        rows += [_with_restitutions(problem, _row(best), frame, whole[0]) for frame in frames]
        every = np.concatenate(rows)
        tried = _best_points(
            every, problem.costs(0, every, whole[0], floor), problem, steering.final
        )
        smoothed = [
            problem.fit(point, whole, floor, steering.growing_iterations) for point in tried
        ]
        fits = [problem.fit(point, whole, 0.0, steering.final_iterations) for point in smoothed]
        minima += fits
        if min(point.cost for point in fits) > best.cost - steering.new:
            break
    return _best_distinct(problem, minima, 2 * steering.final)


def _best_distinct(problem: Problem, points: Sequence[Point], number: int) -> list[Point]:
    """The cheapest points that differ, best first."""
    kept: list[Point] = []
    for point in sorted(points, key=lambda point: point.cost):
        if not any(_alike(problem, point, other) for other in kept):
            kept.append(point)
    return kept[:number]


def _alike(problem: Problem, one: Point, other: Point) -> bool:
    """Whether two points differ by little in all that decides what happens at the contacts."""
    scale, steering = problem.table.scale, problem.steering
    same_common = np.abs(one.common - other.common) < steering.alike * scale[:N_COMMON]
    same_impacts = np.abs(one.own - other.own)[:, N_STATE:] < steering.alike_restitution
    return bool(same_common.all() and same_impacts.all())
