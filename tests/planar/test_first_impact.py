"""Starts from the first impact: exact where two flights meet, and bounded anywhere."""

from __future__ import annotations

import numpy as np
import pytest

from contactid.planar.identify.shooting import first_impact_starts
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground
from contactid.planar.simulate.throws import MeasuredThrow

SHAPE, RATIO, GRAVITY = Ellipse(0.05, 0.025), 756e-6, 9.81
SIGMA = np.full(3, 1e-4)
LOW = np.array([-np.inf] * 6 + [1e-5, 0.0, 0.0])
HIGH = np.array([np.inf] * 6 + [2.4e-3, 1.5, 1.0])


def throw_of(rate: int, mu: float, noise: float = 0.0, seed: int = 0) -> MeasuredThrow:
    body, every = PlanarBody(SHAPE, 0.064, 0.064 * RATIO), 120_000 // rate
    frames = int(0.1 * rate)
    motion = simulate(
        body, Ground(), PlanarLaw(mu, 0.2), (0.0, 0.1, -0.785), (3.0, -5.0, 0.0),
        time_step=1.0 / rate / every, steps=every * frames,
    )  # fmt: skip
    poses = motion.position[::every]
    poses = poses + noise * np.random.default_rng(seed).normal(size=poses.shape)
    return MeasuredThrow(np.arange(frames + 1) / rate, poses, SIGMA)


@pytest.mark.parametrize("rate", [60, 120, 240])
@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_one_of_the_starts_is_the_throw_itself(rate, mu):
    """Some start has the velocity and J/m, also where a second impact comes before the third frame
    (60, mu = 0.2).
    """
    starts = first_impact_starts(SHAPE, throw_of(rate, mu), GRAVITY, 5, LOW, HIGH)
    off = np.abs(starts[:, 3:7] - [3.0, -5.0, 0.0, RATIO]) / [0.1, 0.1, 2.0, 0.05 * RATIO]
    good = starts[off.max(axis=1) < 1.0]
    assert len(good)
    if rate > 60:  # one impact tells e_N, and mu where it slides
        assert np.abs(good[:, 8] - 0.2).min() < 0.05
        assert mu > 0.2 or np.abs(good[:, 7] - mu).min() < 0.02


def test_starts_keep_to_the_bounds_and_are_finite():
    starts = first_impact_starts(
        SHAPE, throw_of(120, 0.3, noise=2e-3, seed=3), GRAVITY, 8, LOW, HIGH
    )
    assert len(starts) and np.isfinite(starts).all()
    assert (starts >= LOW).all() and (starts <= HIGH).all()


def test_a_flight_without_an_impact_gives_no_start():
    time = np.arange(12) / 240.0
    fall = np.column_stack([2.0 * time, 1.0 - 0.5 * GRAVITY * time**2, 3.0 * time])
    assert (
        len(first_impact_starts(SHAPE, MeasuredThrow(time, fall, SIGMA), GRAVITY, 8, LOW, HIGH))
        == 0
    )
