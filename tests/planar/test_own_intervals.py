"""Search and errors of own throws: starts over J/m, a bound of friction, steps along the narrow valley of the cost."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from contactid.planar.own.body import read_own_body, read_own_throws_of
from contactid.planar.own.geometry import fit_geometry
from contactid.planar.own.geometry_problem import FLOORS, GeometryProblem, Known, Piece, sandwich
from contactid.planar.own.report import FOUND_RADIUS, identify_own
from contactid.planar.own.solve import known_geometry
from contactid.planar.simulate.geometry import Ground, Polygon
from contactid.planar.simulate.throws import MeasuredThrow
from own_throws import TABLE, write_case
from rounded_twins import CORNERS, GRAVITY, drawn_twin

RATE, SIGMA = 250.0, np.array([1e-4, 1e-4, 1e-3])


@pytest.fixture(scope="module")
def case():
    """A problem, its piece, and the common and own unknowns of the truth."""
    twin = drawn_twin(202)
    q = twin.poses(0.35, RATE)
    q += np.random.default_rng(202).normal(size=q.shape) * SIGMA
    piece = Piece(MeasuredThrow(np.arange(len(q)) / RATE, q, SIGMA, Ground()), np.ones(len(q), dtype=bool))
    known = Known(
        Polygon(CORNERS, 2.5e-3), Ground(), axes=0.0, turn=0.02, point=1.3e-3, radius=3.4e-3, slope=0.02,
        height=3e-3, lower=2e-3, gravity=GRAVITY,
    )  # fmt: skip
    common = np.array([twin.ratio, twin.mu, 0.0, 0.0, 0.0, twin.radius, 0.0, 0.0])
    return GeometryProblem(known), piece, common, np.array([[*twin.start, twin.e_n, 0.0, twin.mu]])


def test_slopes_tell_how_far_residuals_move_in_every_direction_that_is_told(case):
    problem, piece, common, own = case
    n = len(piece.throw.time)
    system = problem.system([piece], common, own, [n], FLOORS[2])
    ways = system.ways[0]
    slopes = problem.slopes(piece, common, own[0], n, FLOORS[2], ways)
    base = problem.residuals(piece, common, own[0], n, FLOORS[2])
    for way in ways.T:
        moved = slopes @ way
        assert 0.0 < np.linalg.norm(moved) < 0.6  # of the noise, in all residuals together
        there = [
            problem.residuals(
                piece, common + sign * problem.unit * way[:8], own[0] + sign * problem.own_unit * way[8:], n, FLOORS[2]
            )
            for sign in (1.0, -1.0)
        ]
        # on one side the corners may meet the ground in another order
        assert min(np.linalg.norm(r - base - s * moved) for r, s in zip(there, (1.0, -1.0), strict=True)) < 0.25


@pytest.mark.parametrize("apart", [False, True])
def test_without_a_frame_the_normal_matrix_is_half_the_curvature_of_the_priors_cost(case, apart):
    problem, piece, common, own = case
    unseen = [replace(piece, seen=np.zeros(len(piece.seen), dtype=bool), apart=apart)] * 2
    frames, own = [8, 8], np.concatenate([own, own + 0.01])
    told = np.concatenate([problem._told(unseen[0])[:8], *(problem._told(one)[8:] for one in unseen)])

    def cost(move):
        """Of the priors alone: whatever is moved, no residual is there."""
        there = common + problem.unit * move[:8]
        mine = own + problem.own_unit * move[8:].reshape(own.shape)
        return problem.cost(unseen, there, mine, frames, FLOORS[1])

    system = problem.system(unseen, common, own, frames, FLOORS[1])
    n, here = len(told), cost(np.zeros(len(told)))
    moves = np.eye(n)
    for i in np.flatnonzero(told):
        ahead, behind = cost(moves[i]), cost(-moves[i])
        assert system.gradient[i] == pytest.approx(0.25 * (ahead - behind), abs=1e-9), i
        for j in np.flatnonzero(told):
            both = cost(moves[i] + moves[j]) - cost(moves[i]) - cost(moves[j]) + here
            assert system.matrix[i, j] == pytest.approx(0.5 * both, abs=1e-9), (i, j)


def test_the_robust_covariance_of_a_mean_is_the_unbiased_estimate():
    """n clusters of which each has one value and unit weight: the normal matrix of their mean is n."""
    values = np.random.default_rng(5).normal(size=(4, 3)) * [1.0, 3.0, 0.2]
    pulls = values.mean(axis=0) - values
    assert np.allclose(sandwich(pulls, np.eye(3) / 4.0), np.cov(values.T, ddof=1) / 4.0, rtol=1e-12)


def test_a_fit_that_starts_down_the_valley_comes_back_to_the_truth(case):
    problem, piece, truth, own = case
    n = len(piece.throw.time)
    at_truth = problem.cost([piece], truth, own, [n], FLOORS[2])
    matrix = problem.system([piece], truth, own, [n], FLOORS[2]).matrix
    free = np.flatnonzero(np.concatenate([problem.free, np.arange(9) < 7]))
    along = np.linalg.inv(matrix[np.ix_(free, free)])[:, 0]
    move = np.zeros(17)
    move[free] = 4.0 * along / np.sqrt(along[0])  # four standard errors of J/m, all else as it follows
    common, mine = problem._moved(truth, own, move)
    assert common[0] > 1.01 * truth[0]
    common, mine, cost = problem.fit([piece], common, mine, [n], FLOORS[2], 40)
    assert cost < at_truth
    found = problem.judged([piece], common, mine)
    errors = np.sqrt(np.diag(found.covariance))
    assert (np.abs(common - truth)[problem.free] < 3.5 * errors[problem.free]).all()


@pytest.mark.parametrize("seed", [107, 129])
def test_a_motion_is_found_whose_first_impact_tells_another_ratio(seed, tmp_path):
    files, described, truth = write_case(tmp_path, "rectangle", seed)
    body = read_own_body(described)
    throws = read_own_throws_of(body, files)
    pieces = [Piece(throw, seen) for throw, seen in zip(throws.throws, throws.seen, strict=True)]
    found = fit_geometry(known_geometry(body, throws), pieces)
    assert found is not None and found.plausible
    assert found.common[0] == pytest.approx(truth.ratio, rel=0.1)


def test_where_nothing_slides_the_bound_of_friction_is_what_smaller_ones_refute(tmp_path):
    files, described, truth = write_case(tmp_path, "ellipse", 199)
    body = read_own_body(described)
    found = identify_own(body, read_own_throws_of(body, files))
    assert found.fit.friction_is_bound and "lower bound of 95 %" in found.lines()[1]
    assert 0.7 * truth.mu < found.fit.friction_mu < truth.mu  # the motion's largest ratio of impulses is .71


def test_the_warning_about_the_radius_says_how_often_its_interval_held():
    held = pd.read_csv(TABLE)["radius_held"].dropna().astype(bool)
    words = {7: "seven", 8: "eight", 9: "nine"}
    assert f"in {words[round(10.0 * held.mean())]} of ten" in FOUND_RADIUS
