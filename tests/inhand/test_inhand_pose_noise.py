"""What the poses' noise adds to the information: against the sum over all matrices, and laws of
what is left.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from contactid.inhand.identify import pose_noise
from contactid.inhand.identify.latent_errors import LatentErrors
from contactid.inhand.identify.linearised import linearised, started
from contactid.inhand.identify.pose_noise import noise_information, without_noise
from contactid.inhand.identify.wrench import PARAMETERS, wrench_slope
from contactid.inhand.readers.recordings import recorded_signals
from dense_errors import kernels, pose_kernels, slopes
from grasp_for_tests import BODY, recording

seeds = st.integers(0, 2**32 - 1)


def positive(random: np.random.Generator, size: int) -> np.ndarray:
    factor = random.normal(size=(size, 2 * size))
    return factor @ factor.T


def test_it_is_the_information_of_what_is_left_of_the_poses_errors(monkeypatch):
    monkeypatch.setattr(pose_noise, "_DRAWS", 400)
    noisy = recording(15, 0.02, force_sd=0.05, position_sd=1e-3, orientation_sd=3e-3)
    present_recording, _ = started([recorded_signals(noisy)])
    present, levels = (
        linearised(present_recording, BODY.vector),
        np.array([1.0, 1.0, 1.0, 0.5, 0.5, 0.01, 0.02]),
    )
    equations = present.equations
    slope, weights = slopes(equations), np.linalg.inv(np.tensordot(levels, kernels(equations), 1))
    prior = np.tensordot(levels[1:5], np.array(pose_kernels(equations)), 1)
    uncertain = prior - prior @ slope.T @ weights @ slope @ prior
    stated = np.tile(present_recording.stated, 5)
    units = [
        np.linalg.solve(present.roots, wrench_slope(present.motion, unit) * stated)
        for unit in np.eye(PARAMETERS)
    ]
    each = [slopes(replace(equations, by_pose=unit)) for unit in units]
    expected = np.array(
        [[np.trace(weights @ one @ uncertain @ other.T) for other in each] for one in each]
    )
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    noise = noise_information(present, present_recording.stated, LatentErrors(equations, levels))
    assert noise / scale == pytest.approx(expected / scale, abs=0.15)


@settings(max_examples=20, deadline=None)
@given(seeds, st.floats(0.0, 0.9))
def test_poses_without_noise_leave_all_information_and_others_the_rest_of_it(seed, share):
    random = np.random.default_rng(seed)
    information = positive(random, PARAMETERS)
    left, covariance = without_noise(information, share * information)
    assert left == pytest.approx((1.0 - share) * information, rel=1e-6, abs=1e-6)
    assert covariance @ information == pytest.approx(
        np.eye(PARAMETERS) / (1.0 - share) ** 2, rel=1e-5, abs=1e-5
    )


def test_where_all_of_it_is_noise_little_is_left_and_errors_are_finite():
    information = positive(np.random.default_rng(1), PARAMETERS + 6)
    noise = np.zeros_like(information)
    noise[:PARAMETERS, :PARAMETERS] = 2.0 * information[:PARAMETERS, :PARAMETERS]
    left, covariance = without_noise(information, noise)
    assert (np.linalg.eigvalsh(left) > 0.0).all() and np.isfinite(covariance).all()
    assert (
        np.diag(covariance)[:PARAMETERS] > 4.0 * np.diag(np.linalg.inv(information))[:PARAMETERS]
    ).all()


@settings(max_examples=20, deadline=None)
@given(seeds, st.floats(0.0, 3.0))
def test_a_twentieth_of_the_information_is_left_in_every_direction_whatever_passes_for_noise(
    seed, size
):
    """So no standard error is more than twenty times that of a fit to exact poses."""
    random = np.random.default_rng(seed)
    information = positive(random, PARAMETERS)
    noise = (
        size * information @ np.linalg.inv(information + positive(random, PARAMETERS)) @ information
    )
    left, covariance = without_noise(information, 0.5 * (noise + noise.T))
    shares = eigh(left, information, eigvals_only=True)
    assert shares[0] >= 0.05 - 1e-9 and shares[-1] <= 1.0 + 1e-9
    wider = eigh(covariance, np.linalg.inv(information), eigvals_only=True)
    assert wider[0] >= 1.0 - 1e-6 and wider[-1] <= 20.0**2 * (1.0 + 1e-6)


@pytest.mark.parametrize("off", [-0.04, 0.0, 0.04])
def test_where_all_of_it_is_noise_some_percent_of_error_of_the_noise_change_no_standard_error(off):
    """The noise is itself estimated from the recording: A - N is then as well a little above
    nothing as below it.
    """
    information = positive(np.random.default_rng(2), PARAMETERS)
    exact, stated = (
        without_noise(information, share * information)[1] for share in (1.0, 1.0 + off)
    )
    assert np.sqrt(np.diag(stated)) == pytest.approx(np.sqrt(np.diag(exact)), rel=1e-6)
