"""The engine of own throws: slopes, normal equations, the way back along the valley, profiles and
errors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from contactid.planar.engine.answer import DEVIATIONS, identify, sandwich
from contactid.planar.engine.problem import Point, Problem, Throw
from contactid.planar.engine.profile import profile
from contactid.planar.engine.steering import STEERING
from contactid.planar.engine.unknowns import (
    HEIGHT,
    MU,
    N_COMMON,
    N_STATE,
    POINT_X,
    RATIO,
    SLOPE,
    TURN,
    Geometry,
)
from contactid.planar.own.body import read_own_body, read_own_throws_of
from contactid.planar.own.identify import stated_geometry
from contactid.planar.own.result import FOUND_RADIUS
from contactid.planar.simulate.geometry import Ground, Polygon
from contactid.planar.simulate.motion import N_RESTITUTIONS
from contactid.planar.simulate.throws import MeasuredThrow
from own_throws import TABLE, write_case
from rounded_twins import CORNERS, GRAVITY, drawn_twin

RATE, SIGMA = 250.0, np.array([1e-4, 1e-4, 1e-3])
ERRORS = {
    "turn_error": 0.02,
    "point_error": 1.3e-3,
    "radius_error": 3.4e-3,
    "slope_error": 0.02,
    "height_error": 3e-3,
}


@pytest.fixture(scope="module")
def case():
    """A problem of one throw, and the truth."""
    twin = drawn_twin(202)
    q = twin.poses(0.35, RATE)
    q += np.random.default_rng(202).normal(size=q.shape) * SIGMA
    throw = Throw(
        MeasuredThrow(np.arange(len(q)) / RATE, q, SIGMA, Ground()), np.ones(len(q), dtype=bool)
    )
    geometry = Geometry(Polygon(CORNERS, 2.5e-3), Ground(), GRAVITY, **ERRORS)
    common = np.array([twin.ratio, twin.mu, 0.0, 0.0, 0.0, twin.radius, 0.0, 0.0])
    own = np.array([[*twin.start, *[twin.e_n] * N_RESTITUTIONS]])
    return Problem(geometry, [throw]), Point(common, own)


def unseen(problem, throws=1):
    """The problem with throws of which no frame was measured: the priors are all there is."""
    throw = problem.throws[0]
    return Problem(
        problem.geometry, [replace(throw, seen=np.zeros(throw.n_frames, dtype=bool))] * throws
    )


def row_of(point):
    return np.concatenate([point.common, point.own[0]])


# slopes and normal equations


def test_slopes_are_those_of_wide_differences_of_the_residuals(case):
    problem, truth = case
    row, n = row_of(truth), 40  # frames: two impacts
    here, slopes, active = problem.slopes(0, row, n)
    np.testing.assert_array_equal(here, problem.residuals(0, row[None], n)[0][0])
    assert (
        active[: N_COMMON + N_STATE].all()
        and 1 <= active[N_COMMON + N_STATE :].sum() < N_RESTITUTIONS
    )
    for slope, unknown in zip(slopes.T, np.flatnonzero(active), strict=True):
        step = 30.0 * STEERING.difference * problem.table.scale[unknown]
        ahead, behind = row.copy(), row.copy()
        ahead[unknown] += step
        behind[unknown] -= step
        moved = problem.residuals(0, np.array([ahead, behind]), n)[0]
        wide = (moved[0] - moved[1]) / (2.0 * step)
        assert np.linalg.norm(slope - wide) < 0.02 * np.linalg.norm(wide), unknown
    late = ~active
    late[:N_COMMON] = False
    for unknown in np.flatnonzero(late):  # an impact that lies beyond the frames changes nothing
        ahead = row.copy()
        ahead[unknown] = 0.9 - row[unknown]
        np.testing.assert_array_equal(problem.residuals(0, ahead[None], n)[0][0], here)


def test_the_gradient_is_half_the_slope_of_the_cost(case):
    problem, truth = case
    horizon = [40]
    system = problem.system(truth, horizon)
    size = len(system.gradient)
    scale = problem.table.scale[system.active[0]]
    for i in range(size):
        move = np.zeros(size)
        move[i] = 3e-3 * scale[i]
        change = [
            problem.cost(problem._moved(truth, system, sign * move), horizon)
            for sign in (1.0, -1.0)
        ]
        half = 0.25 * (change[0] - change[1]) / move[i]
        spread = np.sqrt(system.matrix[i, i])
        assert abs(system.gradient[i] - half) < 0.02 * (spread + abs(half)), i


def test_without_a_frame_the_normal_matrix_is_half_the_curvature_of_the_priors_cost(case):
    problem, truth = case
    problem = unseen(problem, 2)
    point = Point(truth.common * 1.01 + 1e-4, np.concatenate([truth.own, truth.own + 0.01]))
    horizons = problem.whole
    system = problem.system(point, horizons)
    scale = np.concatenate(
        [
            problem.table.scale[:N_COMMON],
            *(problem.table.scale[a][N_COMMON:] for a in system.active),
        ]
    )
    n = len(system.gradient)
    moves = np.eye(n) * scale

    def cost(move):
        return problem.cost(problem._moved(point, system, move), horizons)

    here = cost(np.zeros(n))
    assert system.matrix.shape == (n, n) and np.diag(system.matrix)[:N_COMMON].all()
    for i in range(n):
        ahead, behind = cost(moves[i]), cost(-moves[i])
        assert system.gradient[i] * scale[i] == pytest.approx(0.25 * (ahead - behind), abs=1e-9), i
        for j in range(i, n):
            both = cost(moves[i] + moves[j]) - cost(moves[i]) - cost(moves[j]) + here
            assert system.matrix[i, j] * scale[i] * scale[j] == pytest.approx(
                0.5 * both, abs=1e-9
            ), (i, j)
            assert system.matrix[i, j] == system.matrix[j, i]


def test_the_robust_covariance_of_a_mean_is_the_unbiased_estimate():
    """n clusters of which each has one value and unit weight: the normal matrix of their mean is n."""
    values = np.random.default_rng(5).normal(size=(4, 3)) * [1.0, 3.0, 0.2]
    pulls = values.mean(axis=0) - values
    assert np.allclose(sandwich(pulls, np.eye(3) / 4.0), np.cov(values.T, ddof=1) / 4.0, rtol=1e-12)


def test_pulls_of_the_throws_balance_at_a_fit_and_are_the_gradient_without_own_unknowns(case):
    problem, truth = case
    twice = Problem(problem.geometry, problem.throws * 2)
    start = Point(truth.common, np.concatenate([truth.own, truth.own]))
    system = twice.system(start, twice.whole)
    free = system.pulls.shape[1]
    np.testing.assert_allclose(system.pulls[0], system.pulls[1])
    own = np.arange(free, len(system.gradient))
    inner = system.matrix[np.ix_(own, own)]
    reduced = system.gradient[:free] - system.matrix[:free, free:] @ np.linalg.solve(
        inner, system.gradient[free:]
    )
    table = twice.table
    prior = (table.precision**2 * (row_of(truth) - table.mean))[:N_COMMON]
    size = np.sqrt(np.diag(system.matrix)[:free])
    np.testing.assert_allclose(system.pulls.sum(axis=0) / size, (reduced - prior) / size, atol=1e-6)


# the way back


def test_an_answer_that_starts_down_the_valley_comes_back_to_the_truth(case):
    """The fit alone ends on the valley's floor; the profile's walk goes along it, to within its own
    errors.
    """
    problem, truth = case
    at_truth = problem.cost(truth, problem.whole)
    start = problem.followed(truth, RATIO, 1.06 * truth.common[RATIO])
    assert problem.cost(start, problem.whole) > at_truth + 100.0
    found = identify(problem, [problem.fit(start, problem.whole)])
    assert found.point.cost < at_truth
    assert (np.abs(found.point.common - truth.common) < 3.0 * found.errors).all()
    assert found.errors[RATIO] < 0.1 * truth.common[RATIO]


def test_a_held_unknown_stays_and_the_others_follow_it(case):
    problem, truth = case
    best = problem.fit(truth, problem.whole)
    value = 1.01 * best.common[RATIO]
    followed = problem.followed(best, RATIO, value)
    assert followed.common[RATIO] == pytest.approx(value, rel=1e-12)
    alone = replace(best, common=np.where(np.arange(N_COMMON) == RATIO, value, best.common))
    assert problem.cost(followed, problem.whole) < problem.cost(alone, problem.whole)
    held = problem.holding(RATIO).fit(followed, problem.whole)
    assert held.common[RATIO] == followed.common[RATIO]
    assert best.cost - 0.5 <= held.cost <= problem.cost(followed, problem.whole)


# profiles


@pytest.mark.parametrize("unknown", [TURN, POINT_X, SLOPE, HEIGHT])
def test_a_parabolas_profile_ends_at_1_96_spreads(case, unknown):
    problem, truth = case
    blind = unseen(problem)
    spread = 1.0 / blind.table.precision[unknown]
    mean = blind.table.mean[unknown]
    best = blind.fit(Point(blind.table.mean[:N_COMMON].copy(), truth.own), blind.whole)
    found, again = profile(blind, best, unknown, DEVIATIONS**2)
    assert again.common[unknown] == pytest.approx(mean, abs=0.05 * spread)
    assert found.low == pytest.approx(mean - 1.96 * spread, abs=0.03 * spread)
    assert found.high == pytest.approx(mean + 1.96 * spread, abs=0.03 * spread)
    assert not found.low_open and not found.high_open
    inside = [point.common[unknown] for point in found.points]
    assert inside == sorted(inside) and found.low <= inside[0] < inside[-1] <= found.high


def test_an_end_at_a_bound_is_open(case):
    problem, truth = case
    blind = unseen(problem)  # mu's prior is .4 +- .7, from 0 to 1.5
    best = blind.fit(Point(blind.table.mean[:N_COMMON].copy(), truth.own), blind.whole)
    found, _ = profile(blind, best, MU, DEVIATIONS**2)
    assert (found.low, found.high, found.low_open, found.high_open) == (
        0.0,
        STEERING.largest_friction,
        True,
        True,
    )
    found, _ = profile(blind, best, MU, 1.0)
    assert (
        found.low_open is True
        and found.high_open is False
        and found.high == pytest.approx(1.1, abs=0.03)
    )


# whole answers


def problem_of(folder, kind, seed):
    files, described, truth = write_case(folder, kind, seed)
    body = read_own_body(described)
    throws = read_own_throws_of(body, files)
    pieces = [Throw(throw, seen) for throw, seen in zip(throws.throws, throws.seen, strict=True)]
    return Problem(stated_geometry(body, throws), pieces), throws, truth


@pytest.mark.parametrize(
    ("kind", "seed"),
    [("ellipse", 130), ("stated radius", 131), ("ellipse", 132)],
)
def test_the_searchs_breadth_hardly_changes_the_error(tmp_path, kind, seed):
    problem, throws, truth = problem_of(tmp_path, kind, seed)
    wider = Problem(problem.geometry, problem.throws, replace(STEERING, first=28, beam=10, final=5))
    usual, wide = (identify(one, noise_stated=throws.sigma_given) for one in (problem, wider))
    assert abs(usual.point.common[RATIO] - truth.ratio) < 3.0 * usual.errors[RATIO]
    assert wide.errors[RATIO] == pytest.approx(usual.errors[RATIO], rel=0.15)
    assert abs(wide.point.common[RATIO] - usual.point.common[RATIO]) < 0.3 * usual.errors[RATIO]


@pytest.mark.parametrize("seed", [107, 129])
def test_a_motion_is_found_whose_first_impact_tells_another_ratio(seed, tmp_path):
    problem, throws, truth = problem_of(tmp_path, "rectangle", seed)
    found = identify(problem, noise_stated=throws.sigma_given)
    assert problem.plausible(found.point)
    assert found.point.common[RATIO] == pytest.approx(truth.ratio, rel=0.1)


def test_the_warning_about_the_radius_says_how_often_its_interval_held():
    held = pd.read_csv(TABLE)["radius_held"].dropna().astype(bool)
    assert f"in {round(100.0 * held.mean())} of 100" in FOUND_RADIUS
