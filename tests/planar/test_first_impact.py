"""Starts from flights that meet: exact where two do, finite anywhere."""

from __future__ import annotations

import numpy as np
import pytest

from contactid.planar.engine.meetings import Flights
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground

SHAPE, RATIO, GRAVITY = Ellipse(0.05, 0.025), 756e-6, 9.81


def starts_of(rate: int, poses: np.ndarray, last: int) -> np.ndarray:
    """Starts of a throw with poses (n, 3)."""
    time = np.arange(len(poses)) / rate
    weightless = poses + 0.5 * GRAVITY * time[:, None] ** 2 * [0.0, 1.0, 0.0]
    return Flights(SHAPE, Ground(), weightless, 1.0 / rate, GRAVITY).starts(last)


def poses_of(rate: int, mu: float, noise: float = 0.0, seed: int = 0) -> np.ndarray:
    body, every = PlanarBody(SHAPE, 0.064, 0.064 * RATIO), 120_000 // rate
    frames = int(0.1 * rate)
    motion = simulate(
        body, Ground(), PlanarLaw(mu, 0.2), (0.0, 0.1, -0.785), (3.0, -5.0, 0.0),
        time_step=1.0 / rate / every, steps=every * frames,
    )  # fmt: skip
    poses = motion.position[::every]
    return poses + noise * np.random.default_rng(seed).normal(size=poses.shape)


@pytest.mark.parametrize("rate", [60, 120, 240])
@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_one_of_the_starts_is_the_throw_itself(rate, mu):
    """Some start has the velocity and J/m, also where a second impact comes before the third frame
    (60, mu = 0.2).
    """
    starts = starts_of(rate, poses_of(rate, mu), 5)
    off = np.abs(starts[:, 3:7] - [3.0, -5.0, 0.0, RATIO]) / [0.1, 0.1, 2.0, 0.05 * RATIO]
    good = starts[off.max(axis=1) < 1.0]
    assert len(good)
    if rate > 60:  # one impact tells e_N, and mu where it slides
        assert np.abs(good[:, 8] - 0.2).min() < 0.05
        assert mu > 0.2 or np.abs(good[:, 7] - mu).min() < 0.02


def test_starts_of_noisy_poses_are_finite():
    starts = starts_of(120, poses_of(120, 0.3, noise=2e-3, seed=3), 8)
    assert len(starts) and np.isfinite(starts).all()


def test_a_flight_without_an_impact_gives_no_start():
    time = np.arange(12) / 240.0
    fall = np.column_stack([2.0 * time, 1.0 - 0.5 * GRAVITY * time**2, 3.0 * time])
    assert len(starts_of(240, fall, 8)) == 0
