"""The springs that :mod:`compliant_box` tosses a box on, against laws that any simulator keeps."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from compliant_box import Body, Contact, tossed

SIZE = np.array([0.12, 0.10, 0.06])
BODY = Body(0.4, SIZE, np.zeros(3), 0.4 / 12.0 * ((SIZE**2).sum() - SIZE**2))
DOWN = np.array([0.0, 0.0, -9.81])


def flat(height, velocity):
    return np.array([0.0, 0.0, 0.03 + height]), np.eye(3), np.array(velocity), np.zeros(3)


@pytest.mark.parametrize("e_n", [0.2, 0.5])
def test_a_flat_fall_rebounds_with_its_restitution(e_n):
    rate = 2000.0
    place, _ = tossed(BODY, Contact(0.3, e_n), flat(0.2, [0.0, 0.0, 0.0]), DOWN, rate, 600, 0)
    height = place[:, 2] - 0.03
    touched = int(np.argmax(height < 0.0))
    rebound = height[touched + 10 : touched + 300].max()
    # gravity acts during the impact, too: a hundredth of the speed
    assert np.sqrt(rebound / 0.2) == pytest.approx(e_n, abs=0.015)


def test_a_box_slides_as_far_as_coulomb_lets_it():
    place, _ = tossed(BODY, Contact(0.3, 0.3), flat(0.0, [1.0, 0.0, 0.0]), DOWN, 100.0, 60, 0)
    assert place[-1, 0] == pytest.approx(1.0 / (2.0 * 0.3 * 9.81), rel=5e-3)


def test_friction_holds_on_a_slope_that_it_can_hold_on():
    slope = np.arctan(0.25)
    gravity = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    for mu, moves in ((0.3, False), (0.2, True)):
        place, _ = tossed(BODY, Contact(mu, 0.3), flat(0.0, [0.0] * 3), gravity, 100.0, 50, 0)
        assert (abs(place[-1, 0]) > 0.01) == moves


def test_an_eccentric_box_flies_on_its_parabola_and_keeps_its_spin():
    body = Body(0.4, SIZE, np.array([0.004, -0.003, 0.005]), BODY.moments)
    turn = Rotation.from_rotvec([0.3, -0.5, 0.2]).as_matrix()
    spin = np.array([5.0, -3.0, 4.0])
    start = np.array([0.0, 0.0, 2.0]), turn, np.array([0.5, 0.2, 0.1]), spin
    place, turned = tossed(body, Contact(0.3, 0.3), start, DOWN, 100.0, 40, 0)
    time = np.arange(40)[:, None] / 100.0
    center = place + turned @ body.center
    assert np.abs(center - (start[0] + time * start[2] + 0.5 * time**2 * DOWN)).max() < 1e-4
    # the spin follows from the last frames, half a frame from each other
    last = Rotation.from_matrix(turned[-1] @ turned[-2].T).as_rotvec() * 100.0
    middle = turned[-2] @ Rotation.from_rotvec(0.005 * (turned[-2].T @ last)).as_matrix()
    momentum = middle @ (body.moments * (middle.T @ last))
    assert np.allclose(momentum, turn @ (body.moments * (turn.T @ spin)), rtol=1e-3, atol=1e-6)


def test_rounded_corners_turn_a_box_later():
    """On its edge a rounded box stands lower, by what is missing of the corner."""
    turn = Rotation.from_euler("y", 45.0, degrees=True).as_matrix()
    lowest = []
    for radius in (0.0, 0.004):
        start = np.array([0.0, 0.0, 0.12]), turn, np.zeros(3), np.zeros(3)
        place, _ = tossed(BODY, Contact(0.3, 0.3, radius), start, DOWN, 5000.0, 800, 0)
        bend = np.diff(place[:, 2], 2) * 5000.0**2
        lowest.append(place[int(np.argmax(bend > 0.0)), 2])
    assert lowest[0] - lowest[1] == pytest.approx((np.sqrt(2.0) - 1.0) * 0.004, abs=4e-4)
