"""Finite differences of poses: exp and log are inverse, derivatives exact, and schemes have their
order.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from contactid.core.rotations import skew
from contactid.inhand.identify.kinematics import (
    CENTRAL,
    FOURTH_ORDER,
    PAPER,
    REACH,
    SCHEMES,
    body_motion,
    inverse_jacobian,
    rotation_exp,
    rotation_log,
)
from contactid.inhand.simulate.grasp_motion import random_motion
from contactid.inhand.simulate.grasped_object import specific_force

SIZES = (1e-9, 1e-4, 1e-2, 1.0)
twists = arrays(float, 6, elements=st.floats(-1.5, 1.5, allow_subnormal=False))
QUANTITIES = ("rate", "rate_change", "specific_force")


def pose_log(rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Twists (..., 6) of relative poses: rotation vector, then the linear part (eqs. 12 and 13
    times dt).
    """
    phi = rotation_log(rotations)
    linear = np.einsum("...ij,...j->...i", inverse_jacobian(phi), positions)
    return np.concatenate([phi, linear], axis=-1)


def pose_exp(twists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Relative poses (rotations, positions) of twists (..., 6); the inverse of :func:`pose_log`."""
    phi, linear = twists[..., :3], twists[..., 3:]
    return rotation_exp(phi), np.linalg.solve(inverse_jacobian(phi), linear[..., None])[..., 0]


def poses(count, seed=0, turn=0.3):
    random = np.random.default_rng(seed)
    rotations = rotation_exp(np.cumsum(turn * random.normal(size=(count, 3)), axis=0))
    return np.cumsum(random.uniform(0.05, 0.1, count)), rotations, random.normal(size=(count, 3))


@settings(deadline=None)
@given(twists, st.sampled_from(SIZES))
def test_log_is_the_inverse_of_exp(twist, size):
    rotation, position = pose_exp(size * twist)
    assert pose_log(rotation, position) == pytest.approx(size * twist, abs=1e-14 + 1e-9 * size)


@settings(deadline=None)
@given(twists, st.sampled_from(SIZES))
def test_exp_is_the_matrix_exponential(twist, size):
    generator = np.zeros((4, 4))
    generator[:3, :3], generator[:3, 3] = skew(size * twist[:3]), size * twist[3:]
    rotation, position = pose_exp(size * twist)
    assert rotation == pytest.approx(expm(generator)[:3, :3], abs=1e-13)
    assert position == pytest.approx(expm(generator)[:3, 3], abs=1e-12)


@settings(deadline=None)
@given(twists, st.sampled_from(SIZES))
def test_rotations_agree_with_scipy(twist, size):
    phi = size * twist[:3]
    assert rotation_exp(phi) == pytest.approx(Rotation.from_rotvec(phi).as_matrix(), abs=1e-14)
    assert rotation_log(rotation_exp(phi)) == pytest.approx(phi, abs=1e-14, rel=1e-9)


@pytest.mark.parametrize("size", SIZES)
def test_inverse_jacobian_moves_the_logarithm(size):
    phi = size * np.array([0.5, -0.7, 0.4])
    step = 1e-7
    moved = [
        rotation_log(rotation_exp(sign * step * np.eye(3)) @ rotation_exp(phi))
        for sign in (1.0, -1.0)
    ]
    assert inverse_jacobian(phi) == pytest.approx((moved[0] - moved[1]).T / (2.0 * step), abs=1e-8)


@pytest.mark.parametrize("turn", [0.3, 1e-3])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_derivatives_are_exact(scheme, turn):
    time, rotations, positions = poses(6, turn=turn)
    exact, reach, step = body_motion(time, rotations, positions, 9.81, scheme), REACH[scheme], 1e-6
    for sample in range(6):
        for entry in range(6):
            moved = []
            for sign in (1.0, -1.0):
                increment = sign * step * np.eye(6)[entry]
                turned, shifted = rotations.copy(), positions.copy()
                turned[sample] = turned[sample] @ rotation_exp(increment[:3])
                shifted[sample] += increment[3:]
                moved.append(body_motion(time, turned, shifted, 9.81, scheme))
            for name in QUANTITIES:
                numeric = (getattr(moved[0], name) - getattr(moved[1], name)) / (2.0 * step)
                slope = getattr(exact, f"d_{name}")
                for row in range(6 - 2 * reach):
                    place = sample - row
                    analytic = slope[row, :, 6 * place + entry] if 0 <= place <= 2 * reach else 0.0
                    assert numeric[row] == pytest.approx(analytic, abs=1e-6, rel=1e-6), (
                        name,
                        row,
                        sample,
                        entry,
                    )


def errors(scheme, step):
    limits = {"displacement": 0.2, "turn": 0.9, "frequencies": (0.5, 0.9), "ramp": 0.5}
    path = random_motion(limits, np.random.default_rng(1)).evaluate(
        1.0 + step * np.arange(round(1.0 / step))
    )
    rotations = Rotation.from_quat(path.orientation, scalar_first=True).as_matrix()
    motion = body_motion(path.time, rotations, path.position, 9.81, scheme)
    inner = slice(REACH[scheme], len(path.time) - REACH[scheme])
    exact = (path.angular_velocity, path.angular_acceleration, specific_force(path))
    return np.array(
        [
            np.abs(getattr(motion, name) - truth[inner]).max()
            for name, truth in zip(QUANTITIES, exact, strict=True)
        ]
    )


@pytest.mark.parametrize(
    ("scheme", "orders"),
    [(PAPER, (1.0, 2.0, 1.0)), (CENTRAL, (2.0, 2.0, 2.0)), (FOURTH_ORDER, (4.0, 4.0, 4.0))],
)
def test_schemes_converge_with_their_order(scheme, orders):
    measured = np.log2(errors(scheme, 0.02) / errors(scheme, 0.01))
    assert measured == pytest.approx(np.array(orders), abs=0.15)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_steady_screw_has_a_constant_rate_at_any_steps(scheme):
    twist = np.array([0.4, -0.3, 0.8, 0.1, 0.2, -0.3])
    time = np.array([0.0, 0.05, 0.12, 0.15, 0.25, 0.31])
    rotations, positions = pose_exp(time[:, None] * twist)
    motion = body_motion(time, rotations, positions, 0.0, scheme)
    assert motion.rate == pytest.approx(np.tile(twist[:3], (len(motion.rate), 1)), abs=1e-12)
    assert motion.rate_change == pytest.approx(np.zeros_like(motion.rate), abs=1e-10)
