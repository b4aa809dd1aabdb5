"""Errors as unknowns of a chain: everything against the same problem with its covariance written
out.
"""

import numpy as np
import pytest

from contactid.inhand.identify.latent_errors import LEVELS, SHORT, Equations, LatentErrors
from dense_errors import kernels, slopes

SAMPLES, PARAMETERS, RANK = 11, 3, 2
LEVEL = np.array([0.7, 1.3, 0.4, 0.9, 1.6, 0.3, 2.1])


def equations(seed: int = 0) -> Equations:
    """Two stretches with a gap; equations that reach two samples to either side."""
    random = np.random.default_rng(seed)
    time = np.cumsum(random.uniform(0.02, 0.08, SAMPLES))
    time[6:] += 0.5
    rows = np.array([2, 3, 8])
    return Equations(
        time=time,
        rows=rows,
        value=random.normal(size=(len(rows), 6)),
        slope=random.normal(size=(len(rows), 6, PARAMETERS)),
        by_pose=random.normal(size=(len(rows), 6, 30)),
        by_force=random.normal(size=(len(rows), 6, RANK)),
    )


def test_levels_are_named():
    assert len(LEVEL) == len(LEVELS) == len(kernels(equations()))


def test_information_and_score_are_those_of_the_whole_covariance():
    one = equations()
    covariance = np.tensordot(LEVEL, kernels(one), 1)
    errors, slope, value = (
        LatentErrors(one, LEVEL),
        one.slope.reshape(-1, PARAMETERS),
        one.value.ravel(),
    )
    assert errors.information == pytest.approx(slope.T @ np.linalg.solve(covariance, slope))
    assert errors.score == pytest.approx(slope.T @ np.linalg.solve(covariance, value))
    answer = np.array([0.3, -1.0, 0.5])
    residual = value - slope @ answer
    assert errors.misfit(answer) == pytest.approx(residual @ np.linalg.solve(covariance, residual))
    columns = np.random.default_rng(1).normal(size=(len(one.rows), 6, 4))
    flat = columns.reshape(-1, 4)
    assert errors.inner(columns) == pytest.approx(flat.T @ np.linalg.solve(covariance, flat))


def test_likeliest_errors_of_the_poses_are_regressed_on_the_residuals():
    one, answer = equations(), np.array([0.3, -1.0, 0.5])
    covariance = np.tensordot(LEVEL, kernels(one), 1)
    residual = one.value.ravel() - one.slope.reshape(-1, PARAMETERS) @ answer
    weighted = np.linalg.solve(covariance, residual).reshape(-1, 6)
    by_pose = (weighted.ravel() @ slopes(one)).reshape(SAMPLES, 6)
    axes = np.array([1, 1, 1, 0, 0, 0])
    lag = np.abs(one.time[:, None] - one.time)
    expected = LEVEL[1 + axes] * by_pose + LEVEL[3 + axes] * (np.exp(-lag / SHORT) @ by_pose)
    assert LatentErrors(one, LEVEL).pose_errors(answer) == pytest.approx(expected)


def test_shown_less_expected_is_the_slope_of_the_restricted_likelihood():
    """So a level stays where it is the likeliest, fitted parameters counted."""
    one, every = equations(), kernels(equations())
    slope, value = one.slope.reshape(-1, PARAMETERS), one.value.ravel()
    errors = LatentErrors(one, LEVEL)
    covariance = np.linalg.inv(errors.information)
    shown, expected = errors.shown_and_expected(covariance @ errors.score, covariance)
    inverse = np.linalg.inv(np.tensordot(LEVEL, every, 1))
    projected = inverse - inverse @ slope @ covariance @ slope.T @ inverse
    assert shown == pytest.approx(
        [value @ projected @ kernel @ projected @ value for kernel in every]
    )
    assert expected == pytest.approx([np.vdot(projected, kernel) for kernel in every])


def test_drawn_errors_have_the_variance_that_the_data_leave():
    one = equations()
    errors = LatentErrors(one, LEVEL)
    drawn = errors.draw_pose_errors(4000, np.random.default_rng(0))
    axes = np.array([1, 1, 1, 0, 0, 0])
    before = LEVEL[1 + axes] + LEVEL[3 + axes]
    after = drawn.var(axis=2)
    assert np.all(after < 1.1 * before)
    assert after[0] == pytest.approx(before, rel=0.5) and after[3].sum() < 0.8 * before.sum()
