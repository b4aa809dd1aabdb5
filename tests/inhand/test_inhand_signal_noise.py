"""Noise of poses and contact points by themselves: known sizes come back, and what really moves
stays.
"""

from dataclasses import replace

import numpy as np
import pytest

from contactid.inhand.identify.signal_noise import pose_levels, steady_points
from contactid.inhand.readers.noise import first_order
from contactid.inhand.readers.recordings import recorded_signals
from grasp_for_tests import recording

WHITE = {"position_sd": 5e-4, "orientation_sd": 2e-3}


@pytest.mark.parametrize("stated", [1.0, 0.5])
def test_white_noise_of_the_poses_comes_back_whatever_is_stated(stated):
    data = recording(150, 0.02, **WHITE)
    data.attrs.update({name: stated * value for name, value in WHITE.items()})
    position, orientation, *correlated = pose_levels([recorded_signals(data)])
    assert [position, orientation] == pytest.approx([stated**-2] * 2, rel=0.25)
    assert max(correlated) < 0.2 / stated**2


def test_jitter_is_told_from_white_noise():
    data = recording(150, 0.02, seed=1, **WHITE)
    jitter = first_order(np.random.default_rng(0).normal(size=(150, 3)), 5.0)
    data["object_position"] = data["object_position"] + 2e-3 * jitter
    white, _, correlated, _ = pose_levels([recorded_signals(data)])
    assert 0.5 < white < 2.0 and correlated == pytest.approx(16.0, rel=0.6)


def test_points_that_stay_are_averaged_and_those_that_wander_are_followed():
    signals = recorded_signals(recording(100, 0.02, point_sd=1e-3))
    exact = recorded_signals(recording(100, 0.02)).points
    steady = steady_points(signals)
    assert np.std(steady.points - exact) < 0.2 * np.std(signals.points - exact)
    assert 0.05e-3 < steady.point_sd < 0.3e-3
    walk = 2e-3 * np.cumsum(np.random.default_rng(0).normal(size=exact.shape), axis=0)
    wandering = replace(signals, points=signals.points + walk)
    assert np.std(steady_points(wandering).points - exact - walk) < np.std(signals.points - exact)


def test_a_contact_without_force_has_no_say():
    signals = recorded_signals(recording(100, 0.02, point_sd=1e-3, broken=True))
    lost = replace(signals, points=signals.points.copy())
    lost.points[60:80, 0] = 10.0
    one, other = steady_points(signals), steady_points(lost)
    touching = np.any(signals.forces != 0.0, axis=2)
    assert one.points[touching] == pytest.approx(other.points[touching])
    assert one.point_sd == pytest.approx(other.point_sd)
