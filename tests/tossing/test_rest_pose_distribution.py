"""Predictive distributions: densities that integrate to 1, scores that are uniform where
predictions are right.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest
from test_sensitivity import SPEED, sliding_problem

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.tossing.identify.trajectories import bootstrap_draws
from contactid.tossing.predict.rest_pose_cloud import (
    FACES,
    Cloud,
    FlatPoses,
    parameter_draws,
    simulate_clouds,
)
from contactid.tossing.predict.rest_pose_distribution import (
    CONFORMAL,
    MODEL_ERROR,
    RELEASE,
    Kernel,
    Scores,
    conformal_quantile,
    coverage_table,
    density,
    draw_poses,
    fit_kernel,
    score,
    score_tosses,
    smoothing_kernel,
)
from contactid.tossing.prepare.flight import fit_flight
from contactid.tossing.simulate.box import (
    GRAVITY,
    ContactParameters,
    State,
    SteppingOptions,
    simulate,
)
from tosses_for_tests import box

TRUE_KERNEL = Kernel(0.02, 0.008, 0.15, 6.0, 0.08, 0.1)


def cloud(random, n=60, kernel=TRUE_KERNEL, name="toss") -> Cloud:
    """A cloud on one or two faces, with a measured pose drawn from its predictive distribution."""
    angle, center = random.uniform(-np.pi, np.pi), random.normal(size=3)
    faces = random.choice(random.choice(FACES, 2, replace=False), n, p=[0.9, 0.1])
    samples = FlatPoses(faces, center + random.normal(size=(n, 3)) * [0.01, 0.01, 0.05])
    made = Cloud(name, np.array([np.cos(angle), np.sin(angle)]), samples, FlatPoses(faces[:1], samples.pose[:1]),
                 FlatPoses(faces[:1], samples.pose[:1]))  # fmt: skip
    return Cloud(name, made.heading, samples, made.central, draw_poses(made, kernel, 1, random))


def clouds(count, seed, **options):
    random = np.random.default_rng(seed)
    return [cloud(random, name=f"toss{k}", **options) for k in range(count)]


def score_of(one, kernel, n, random):
    return score(one, kernel, draw_poses(one, kernel, n, random))


# what is uncertain of the release


def flight(body, rng, noise, n=25):
    start = State(np.array([0.0, 0, 5]), rotations.exp(np.array([0.3, -0.2, 0.5])), np.array([1.0, 0.2, -0.5]),
                  np.array([3.0, -4, 2]))  # fmt: skip
    run = simulate(body, start, ContactParameters(0.0, 0.0), SteppingOptions(0.01, substeps=4), n)
    turn = rotations.as_rotation(rotations.exp(5 * noise * rng.normal(size=(n, 3))))
    noisy = rotations.as_quaternions(turn * rotations.as_rotation(run.orientation))
    return start, run.position + noise * rng.normal(size=(n, 3)), rotations.continuous(noisy)


def test_flight_covariance_predicts_the_scatter_of_fits():
    body, rng = box(), np.random.default_rng(0)
    gravity = np.array([0.0, 0.0, -GRAVITY])
    errors, covariances = [], []
    for _ in range(150):
        start, position, orientation = flight(body, rng, 2e-4)
        fit = fit_flight(body, position, orientation, 0.01, gravity)
        turn = (
            rotations.as_rotation(fit.state.orientation)
            * rotations.as_rotation(start.orientation).inv()
        )
        apart = [fit.state.position - start.position, turn.as_rotvec(),
                 fit.state.linear_velocity - start.linear_velocity,
                 fit.state.angular_velocity - start.angular_velocity]  # fmt: skip
        errors.append(np.concatenate(apart))
        covariances.append(fit.covariance)
    ratio = np.var(errors, axis=0) / np.mean([np.diag(c) for c in covariances], axis=0)
    # residuals that correlate by chance make the covariance a little too wide, never too narrow
    assert (ratio > 0.5).all() and (ratio < 1.3).all()
    moving = np.corrcoef(np.array(errors)[:, 0], np.array(errors)[:, 6])[0, 1]
    predicted = covariances[0][0, 6] / np.sqrt(covariances[0][0, 0] * covariances[0][6, 6])
    assert moving == pytest.approx(predicted, abs=0.15) and predicted < -0.5


def test_lasting_noise_widens_the_covariance():
    rng = np.random.default_rng(5)
    _, position, orientation = flight(box(), rng, 0.0, n=60)
    white = 2e-4 * rng.normal(size=(64, 3))
    lasting = (
        sum(white[k : k + 60] for k in range(4)) / 2.0
    )  # the same variance, neighbours correlate by 0.75
    gravity = np.array([0.0, 0.0, -GRAVITY])
    once, long = (
        fit_flight(box(), position + noise, orientation, 0.01, gravity).covariance[6, 6]
        for noise in (white[:60], lasting)
    )
    assert 3.0 < long / once < 12.0


# parameters


def swept(best_mu):
    """Losses whose minimum for toss k is at best_mu[k] and e_N = 0.2."""
    mu, e_n = np.linspace(0.1, 0.5, 9), np.linspace(0.0, 1.0, 6)
    loss = (mu[None, :, None] - np.array(best_mu)[:, None, None]) ** 2 + (
        e_n[None, None, :] - 0.2
    ) ** 2
    dims = ("toss", "friction_mu", "restitution_e_n")
    return xr.DataArray(loss, dims=dims, coords={"friction_mu": mu, "restitution_e_n": e_n})


def test_bootstrap_draws_are_optima_of_resampled_tosses():
    draws = bootstrap_draws(swept([0.2, 0.3, 0.4]), 500, 1)
    assert set(np.round(np.unique(draws[:, 0]), 10)) <= set(np.round(np.linspace(0.1, 0.5, 9), 10))
    assert np.allclose(draws[:, 1], 0.2)
    assert draws[:, 0].mean() == pytest.approx(0.3, abs=0.01)
    assert np.allclose(bootstrap_draws(swept([0.3]), 20, 1)[:, 0], 0.3), "one toss, one answer"


def test_parameter_draws_fill_the_grid_s_cells():
    draws = parameter_draws(swept([0.1]), 2000, 1)
    assert draws[:, 0].min() == 0.1 and 0.12 < draws[:, 0].max() <= 0.125, (
        "half a cell, the other half clipped"
    )
    assert draws[:, 1].min() >= 0.1 and draws[:, 1].max() <= 0.3
    assert np.array_equal(draws, parameter_draws(swept([0.1]), 2000, 1))


def test_clouds_of_a_sliding_box_follow_the_closed_form():
    problem, draws = sliding_problem(1), np.array([[0.35, 0.0], [0.4, 0.1], [0.45, 0.2]])
    (one,) = simulate_clouds(problem, ContactParameters(0.4, 0.2), draws, np.zeros((1, 12, 12)), 0)
    expected = SPEED**2 / (2 * draws[:, 0] * GRAVITY)
    assert np.allclose(one.samples.pose[:, 0], expected, rtol=3e-3)
    assert np.allclose(one.heading, [1.0, 0.0]) and (one.samples.face == 3).all()
    spread = np.zeros((1, 12, 12))
    spread[0, 6, 6] = 0.01**2
    (wide,) = simulate_clouds(
        problem, ContactParameters(0.4, 0.2), np.full((400, 2), [0.4, 0.0]), spread, 0
    )
    assert wide.samples.pose[:, 0].std() == pytest.approx(2 * 0.01 / SPEED * expected[1], rel=0.1)
    with pytest.raises(ValueError, match="longer"):
        simulate_clouds(problem, ContactParameters(0.4, 0.2), draws, np.zeros((2, 12, 12)), 0)


# poses and densities


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(FACES)), st.floats(-3.1, 3.1))
def test_face_and_yaw_are_the_orientation_of_a_flat_box(face, yaw):
    flat = FlatPoses(np.array([face]), np.array([[0.1, 0.2, yaw]]))
    matrix = flat.matrices()[0]
    assert np.allclose(matrix @ matrix.T, np.eye(3)) and np.linalg.det(matrix) == pytest.approx(1.0)
    again = FlatPoses.of(np.array([[0.1, 0.2, 0.3]]), rotations.from_matrices(matrix[None]))
    assert again.face[0] == face and np.allclose(again.pose, flat.pose)


def test_turning_the_box_turns_its_yaw():
    start = rotations.as_rotation(rotations.exp(np.array([[1.6, 0.02, -0.01]])))
    turned = rotations.Rotation.from_rotvec([0.0, 0.0, 0.7]) * start
    one, two = (
        FlatPoses.of(np.zeros((1, 3)), rotations.as_quaternions(each)) for each in (start, turned)
    )
    assert one.face[0] == two.face[0]
    assert np.mod(two.pose[0, 2] - one.pose[0, 2], 2 * np.pi) == pytest.approx(0.7)


def test_density_integrates_to_one_over_all_faces():
    made = cloud(np.random.default_rng(4), n=10)
    x, yaw = np.linspace(-1.0, 1.0, 61), np.linspace(-np.pi, np.pi, 46)[:-1]
    grid = np.stack(np.meshgrid(x, x, yaw, indexing="ij"), axis=-1).reshape(-1, 3)
    center = made.samples.pose.mean(axis=0)
    cell = (x[1] - x[0]) ** 2 * (yaw[1] - yaw[0])
    kernel = Kernel(0.06, 0.05, 0.2, 8.0, 0.3, 0.1)
    total = 0.0
    for face in FACES:
        for part in np.array_split(grid, 40):
            total += (
                density(made, kernel, FlatPoses(np.full(len(part), face), part + center)).sum()
                * cell
            )
    assert total == pytest.approx(1.0, abs=0.01)


def test_density_and_draws_belong_together():
    """The mean of 1 / density over draws inside a region is the region's size; here the whole of a
    known box.
    """
    made, random = cloud(np.random.default_rng(4), n=20), np.random.default_rng(1)
    kernel = Kernel(0.02, 0.01, 0.1, 8.0, 0.3, 0.1)
    drawn = draw_poses(made, kernel, 40_000, random)
    center = made.samples.pose.mean(axis=0)
    inside = (np.abs(drawn.pose[:, :2] - center[:2]) < 0.05).all(axis=1)
    values = density(made, kernel, FlatPoses(drawn.face[inside], drawn.pose[inside]))
    assert (1.0 / values).sum() / 40_000 == pytest.approx(6 * 0.1**2 * 2 * np.pi, rel=0.1)


# scores and coverage


def test_scores_of_right_predictions_are_uniform():
    random = np.random.default_rng(2)
    values = [score_of(each, TRUE_KERNEL, 300, random) for each in clouds(150, 8)]
    assert kstest(values, "uniform").pvalue > 0.01


def test_scores_of_predictions_without_the_model_s_error_are_overconfident():
    random = np.random.default_rng(2)
    values = [score_of(each, smoothing_kernel(each), 200, random) for each in clouds(80, 8)]
    assert np.mean(np.array(values) <= 0.9) < 0.7


def test_another_face_than_any_simulated_one_is_outside_of_every_region_without_model_error():
    made = clouds(1, 3)[0]
    unseen = np.setdiff1d(FACES, made.samples.face)[:1]
    lost = Cloud(
        "lost", made.heading, made.samples, made.central, FlatPoses(unseen, made.samples.pose[:1])
    )
    random = np.random.default_rng(0)
    assert score_of(lost, smoothing_kernel(lost), 100, random) == 1.0
    assert score_of(lost, TRUE_KERNEL, 400, random) < 1.0, "a lost toss is possible"


def test_smoothing_kernel_is_never_narrower_than_the_measurement():
    same = FlatPoses(np.full(50, 3), np.tile([0.1, 0.2, 3.1], (50, 1)))
    one = FlatPoses(same.face[:1], same.pose[:1])
    kernel = smoothing_kernel(
        Cloud("a", np.array([1.0, 0.0]), same, one, one), np.array([1e-3, 1e-3, 1e-2])
    )
    assert np.allclose(kernel.scales, [1e-3, 1e-3, 1e-2])


def test_fit_finds_the_kernel_that_made_the_measurements():
    kernel = fit_kernel(clouds(250, 5, n=40), 0.1)
    assert kernel.along == pytest.approx(TRUE_KERNEL.along, rel=0.25)
    assert kernel.across == pytest.approx(TRUE_KERNEL.across, rel=0.25)
    assert kernel.yaw == pytest.approx(TRUE_KERNEL.yaw, rel=0.25)
    assert kernel.lost == pytest.approx(TRUE_KERNEL.lost, abs=0.05)
    with pytest.raises(ContactIdError, match="too few"):
        fit_kernel(clouds(4, 5), 0.1)


@pytest.mark.parametrize("n", [9, 19, 100])
def test_conformal_quantile_covers_at_least_the_stated_share(n):
    """Exchangeable scores: of n + 1 of them the new one is equally likely at every rank."""
    ranks = np.arange(n + 1) / n
    for probability in (0.5, 0.8, 0.9, 0.95):
        covered = np.mean(
            [
                new <= conformal_quantile(np.delete(ranks, k), probability)
                for k, new in enumerate(ranks)
            ]
        )
        assert (
            probability
            <= covered
            <= max(probability + 1.0 / (n + 1), 1.0 if n < 19 else 0.0) + 1e-12
        )


def test_coverage_counts_by_hand():
    table = pd.DataFrame({RELEASE: [0.95, 0.85, 0.1, 1.0],
                          MODEL_ERROR: [0.49, 0.7, 0.1, 0.93]})  # fmt: skip
    scores = Scores(table, TRUE_KERNEL, np.linspace(0.05, 0.95, 19), np.array([]))
    found = coverage_table({"a": scores, "b": scores}).set_index(
        ["object", "level", "nominal_pct"]
    )["covered"]
    assert found[("a", RELEASE, 90.0)] == 2
    assert found[("a", MODEL_ERROR, 90.0)] == 3 and found[("a", MODEL_ERROR, 95.0)] == 4
    assert found[("a", CONFORMAL, 50.0)] == 2, "the 10th of 19 scores is 0.5"


def test_the_whole_chain_covers_held_out_tosses():
    test = clouds(120, 12, n=40)
    scores = score_tosses(clouds(100, 11, n=40), test, 0.1, n=200, folds=3)
    covered = coverage_table({"a": scores}).set_index(["level", "nominal_pct"])["covered_pct"]
    for level in (MODEL_ERROR, CONFORMAL):
        assert 82.0 <= covered[(level, 90.0)] <= 98.0
    assert covered[(RELEASE, 90.0)] < 70.0
