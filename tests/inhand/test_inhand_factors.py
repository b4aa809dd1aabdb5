"""Factors of the graph: equal to independent formulas, with derivatives equal to differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.inertia import (
    InertialParameters,
    PrincipalForm,
    geodesic_distance,
    hull_halfspaces,
)
from contactid.inhand.identify.factors import (
    PrincipalChart,
    VectorChart,
    consistency_residual,
    dynamics_residual,
    dynamics_slopes,
    geodesic_residual,
    pose_residual,
)
from contactid.inhand.identify.kinematics import (
    REACH,
    SCHEMES,
    BodyMotion,
    body_motion,
    rotation_exp,
)
from contactid.inhand.identify.wrench import regressor
from contactid.inhand.readers.recordings import recorded_signals
from contactid.inhand.simulate.grasp_motion import random_motion
from contactid.inhand.simulate.grasped_object import required_wrench, specific_force
from grasp_for_tests import BODY, SLOW, recording

CUBE = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
STEP = 1e-6


def differences(function, count, step=STEP):
    """Derivatives of a function of an increment (count,), last axis, by central differences."""
    columns = [
        (function(step * unit) - function(-step * unit)) / (2.0 * step) for unit in np.eye(count)
    ]
    return np.stack(columns, axis=-1)


def exact_motion():
    path = random_motion(SLOW, np.random.default_rng(3)).evaluate(np.linspace(0.6, 2.0, 9))
    none = np.zeros((9, 3, 0))
    return path, BodyMotion(
        path.angular_velocity, path.angular_acceleration, specific_force(path), none, none, none
    )


def test_regressor_times_parameters_is_the_wrench_of_newton_and_euler():
    path, motion = exact_motion()
    assert regressor(motion) @ BODY.vector == pytest.approx(required_wrench(BODY, path), abs=1e-12)


def test_dynamics_of_exact_forces_vanish():
    path, motion = exact_motion()
    wrench = required_wrench(BODY, path)
    points = np.random.default_rng(0).normal(size=(9, 1, 3))
    torques = wrench[:, None, 3:] - np.cross(points, wrench[:, None, :3])
    acting = np.stack([wrench[:, None, :3], points, torques], axis=1)
    residual = dynamics_residual(motion, acting, BODY.vector)
    assert residual == pytest.approx(np.zeros((9, 6)), abs=1e-12)


@pytest.mark.parametrize("wrist", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_slopes_of_the_dynamics(scheme, wrist):
    signals = recorded_signals(recording(5, 0.03, wrist=wrist))
    inner = slice(REACH[scheme], 5 - REACH[scheme])
    acting = np.stack(
        [signals.forces, signals.points, *([signals.torques] if wrist else [])], axis=1
    )

    def residual(poses=None, local=None, vector=None):
        turned, shifted, moved = signals.rotations, signals.positions, acting
        if poses is not None:
            turned = turned @ rotation_exp(poses.reshape(5, 6)[:, :3])
            shifted = shifted + poses.reshape(5, 6)[:, 3:]
        if local is not None:
            moved = acting + local.reshape(acting[0].shape)
        motion = body_motion(signals.time, turned, shifted, 9.81, scheme)
        return dynamics_residual(
            motion, moved[inner], BODY.vector + (0.0 if vector is None else vector)
        )

    motion = body_motion(signals.time, signals.rotations, signals.positions, 9.81, scheme)
    by_pose, by_local, by_vector = dynamics_slopes(motion, acting[inner], BODY.vector)
    numeric = differences(lambda step: residual(poses=step), 30)
    for row in range(len(by_pose)):
        full = np.zeros((6, 30))
        full[:, 6 * row : 6 * row + by_pose.shape[2]] = by_pose[row]
        assert numeric[row] == pytest.approx(full, abs=1e-4, rel=1e-6)
    numeric = differences(lambda step: residual(local=step), by_local.shape[2])
    assert by_local == pytest.approx(numeric, abs=1e-7)
    assert by_vector == pytest.approx(differences(lambda step: residual(vector=step), 10), abs=1e-7)


def test_slope_of_the_pose_factor():
    random = np.random.default_rng(0)
    measured, shift = rotation_exp(random.normal(size=(4, 3))), random.normal(size=(4, 3))
    rotations, positions = measured @ rotation_exp(0.5 * random.normal(size=(4, 3))), shift + 0.1

    def residual(step):
        return pose_residual(
            rotations @ rotation_exp(step[:3]), positions + step[3:], measured, shift
        )[0]

    assert pose_residual(rotations, positions, measured, shift)[1] == pytest.approx(
        differences(residual, 6), abs=1e-8
    )


@pytest.mark.parametrize("chart", [VectorChart(BODY.vector), PrincipalChart(BODY.principal_form)])
def test_charts_start_where_they_are_told_and_have_exact_slopes(chart):
    assert chart.vector == pytest.approx(BODY.vector, rel=1e-12)
    assert chart.slope == pytest.approx(
        differences(lambda step: chart.plus(step).vector, 10), abs=1e-8
    )


def test_the_principal_chart_keeps_a_rotation():
    form = PrincipalChart(BODY.principal_form)
    for _ in range(20):
        form = form.plus(np.full(10, 0.1))
    rotation = form.form.rotation
    assert rotation @ rotation.T == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("mass", "center", "moments", "violated"),
    [
        (1.0, (0.0, 0.0, 0.0), (0.1, 0.2, 0.3), ()),
        (-0.5, (0.0, 0.0, 0.0), (0.1, 0.2, 0.3), (0,)),
        (1.0, (0.0, 0.0, 0.0), (0.1, -0.2, 0.3), (2,)),
        (1.0, (0.15, 0.0, -0.2), (0.1, 0.2, 0.3), (4, 5)),
    ],
)
def test_the_consistency_factor_acts_on_violation_only(mass, center, moments, violated):
    faces = hull_halfspaces(CUBE)
    chart = PrincipalChart(PrincipalForm(mass, np.array(center), np.array(moments), np.eye(3)))
    residual, slope = consistency_residual(chart.form, *faces)
    assert np.count_nonzero(residual) == len(violated)
    assert set(np.flatnonzero(residual[:4])) == {entry for entry in violated if entry < 4}
    assert np.all(slope[residual == 0.0] == 0.0)
    numeric = differences(lambda step: consistency_residual(chart.plus(step).form, *faces)[0], 10)
    assert slope == pytest.approx(numeric, abs=1e-8)


def test_distances_outside_the_hull_are_in_metres():
    form = PrincipalForm(1.0, np.array([0.15, 0.0, -0.3]), np.ones(3), np.eye(3))
    residual, _ = consistency_residual(form, *hull_halfspaces(CUBE))
    assert sorted(residual[residual > 0.0]) == pytest.approx([0.05, 0.2])


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_the_geodesic_factor_is_the_geodesic_distance(seed):
    random = np.random.default_rng(seed)
    first, second = (body_of(random) for _ in range(2))
    residual, _ = geodesic_residual(first.vector, second)
    assert np.linalg.norm(residual) == pytest.approx(
        geodesic_distance(first, second), rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize("seed", range(3))
def test_slope_of_the_geodesic_factor(seed):
    random = np.random.default_rng(seed)
    here, prior = body_of(random), body_of(random)
    if seed == 0:
        prior = here  # all eigenvalues equal: divided differences become derivatives
    residual, slope = geodesic_residual(here.vector, prior)
    numeric = differences(lambda step: geodesic_residual(here.vector + step, prior)[0], 10, 1e-5)
    assert slope == pytest.approx(numeric, abs=1e-6 * np.abs(slope).max())
    assert residual.shape == (10,)


def test_the_geodesic_factor_goes_on_where_no_body_is():
    outside = BODY.vector.copy()
    outside[4:7] -= 2.0 * BODY.principal_form.second_moments.sum()
    residual, slope = geodesic_residual(outside, BODY)
    numeric = differences(lambda step: geodesic_residual(outside + step, BODY)[0], 10, 1e-9)
    assert np.isinf(geodesic_distance(InertialParameters.from_vector(outside), BODY))
    assert np.all(np.isfinite(residual)) and np.linalg.norm(residual) > 10.0
    assert slope == pytest.approx(numeric, abs=1e-4 * np.abs(slope).max())


def body_of(random):
    rotation = rotation_exp(random.normal(size=3))
    moments = random.uniform(0.5, 2.0, 3)
    return PrincipalForm(
        random.uniform(0.5, 2.0), random.normal(size=3), moments, rotation
    ).parameters()
