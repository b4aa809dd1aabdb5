"""The simulation behind a fit of own throws, against ordinary differential equations of lasting contact."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from contactid.planar.own.motion import COARSE, tracked_motions
from contactid.planar.simulate.geometry import Ellipse, Ground
from contactid.planar.simulate.kernel import outline_of

A, B, RATIO, GRAVITY, TILT, INTERVAL, FRAMES = 0.05, 0.025, 9e-4, 9.81, 0.5, 1e-3, 300


@pytest.mark.parametrize(("mu", "rolls"), [(0.0, False), (10.0, True)])
def test_an_ellipse_rocks_as_its_lagrangian_says(mu, rolls):
    """Its centre is h(theta) over the ground, h'(theta) beside the contact: T = (J/m + rolls h^2 + h'^2) w^2 / 2."""

    def height(theta):
        h = np.hypot(A * np.sin(theta), B * np.cos(theta))
        slope = (A**2 - B**2) * np.sin(theta) * np.cos(theta) / h
        return h, slope, ((A**2 - B**2) * np.cos(2.0 * theta) - slope**2) / h

    def rates(_, state):
        theta, omega = state
        h, slope, bend = height(theta)
        inertia, by_theta = RATIO + rolls * h**2 + slope**2, 2.0 * slope * (rolls * h + bend)
        return omega, -(0.5 * by_theta * omega**2 + GRAVITY * slope) / inertia

    times = INTERVAL * np.arange(FRAMES + 1)
    expected = solve_ivp(rates, (0.0, times[-1]), (TILT, 0.0), t_eval=times, rtol=1e-11, atol=1e-12).y[0]
    start = np.array([[0.0, height(TILT)[0], TILT, 0.0, 0.0, 0.0, RATIO, mu, 0.0]])
    found = tracked_motions(outline_of(Ellipse(A, B), Ground()), start, GRAVITY, INTERVAL, FRAMES, COARSE)[0]
    assert expected.min() < -0.9 * TILT  # it has rocked over
    np.testing.assert_allclose(found[:, 2], expected, atol=2e-5)
    np.testing.assert_allclose(found[:, 1], height(expected)[0], atol=1e-6)
    if not rolls:
        np.testing.assert_allclose(found[:, 0], 0.0, atol=1e-12)


def test_half_the_step_is_a_quarter_of_the_error():
    start = np.array([[0.0, np.hypot(A * np.sin(TILT), B * np.cos(TILT)), TILT, 1.0, 0.0, 0.0, RATIO, 0.2, 0.0]])
    outline = outline_of(Ellipse(A, B), Ground())  # slides on it, and stops sliding
    coarse, middle, exact = (
        tracked_motions(outline, start, GRAVITY, 4e-3, 40, (1e-3, step))[0] for step in (4e-4, 2e-4, 1e-6)
    )
    assert 1e-7 < np.abs(middle - exact).max() < 0.35 * np.abs(coarse - exact).max()
