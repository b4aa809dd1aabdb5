"""Twenty thrown squares with rounded corners, each by itself (make test-public, minutes; it needs
no data).
"""

import numpy as np
import pytest

from contactid.planar.identify.fit import fit_trajectory
from contactid.planar.simulate.geometry import Ground, Polygon
from contactid.planar.simulate.throws import MeasuredThrow
from rounded_twins import CORNERS, drawn_twin

RATE, SIGMA, UNSEEN = 250.0, np.array([1e-4, 1e-4, 1e-3]), range(100, 120)


@pytest.mark.public
def test_rounded_twins_are_found_to_one_percent_and_intervals_hold():
    errors, scores = [], []
    for seed in UNSEEN:
        twin = drawn_twin(seed)
        q = twin.poses(0.2, RATE)
        q += np.random.default_rng([seed, 0, 3]).normal(size=q.shape) * SIGMA
        throw = MeasuredThrow(np.arange(len(q)) / RATE, q, SIGMA, Ground())
        fit = fit_trajectory(Polygon(CORNERS, twin.radius), throw)
        errors.append(fit.inertia_ratio / twin.ratio - 1.0)
        scores.append((fit.inertia_ratio - twin.ratio) / fit.inertia_ratio_se)
        assert np.isfinite(scores[-1])  # an infinite error holds everything
    assert abs(np.median(errors)) < 0.01
    assert np.mean(np.abs(scores) < 1.96) >= 0.9
