"""The constrained estimation: recovery, guarantees, and agreement with other formulations."""

from dataclasses import replace

import numpy as np
import pytest

from contactid.core.inertia import consistency, geodesic_distance
from contactid.core.rotations import as_rotation, matrices
from contactid.core.solve import solve
from contactid.inhand.identify import ipopt, ipopt_start
from contactid.inhand.identify.ipopt import estimates_with_ipopt
from contactid.inhand.identify.ipopt_start import linear_start, measured_motion, projected, smoothed_motion
from contactid.inhand.identify.kinematics import CENTRAL, body_motion
from contactid.inhand.identify.wrench import regressor
from contactid.inhand.models.inertia import Start, build_inertia_model
from contactid.inhand.models.parameters import LOG_CHOLESKY, PRINCIPAL, VECTOR, BodyRules, ParameterUnits
from grasp_for_tests import BODY, HULL, IPOPT, by_ipopt, recording

FREE, CONSTRAINED, PRIOR = "no_constraint_no_geodesic", "constraint_no_geodesic", "constraint_geodesic"
NOISY = {"force_sd": 0.05, "position_sd": 2e-4, "orientation_sd": 1e-3, "point_sd": 5e-4}


def solved(data, scheme, parametrisation=VECTOR):
    """The program of a recording, solved, with its objective."""
    motion = measured_motion(data, IPOPT["residual"])
    position, orientation, seen = smoothed_motion(motion)
    body = projected(linear_start(seen, motion), 0.3, HULL)
    start, rules = Start(position, orientation, body), BodyRules(parametrisation)
    built = build_inertia_model(motion, start, ParameterUnits(body.mass, 0.2), rules, IPOPT | {"scheme": scheme})
    solution = solve(built.model, replace(ipopt._SOLVER, max_iterations=200))
    assert solution.converged
    return built, solution.objective


def wrench_errors(motion, position, orientation, vector):
    """(m, 6) whitened errors of the measured wrench at the samples that have both neighbours, for given poses."""
    derived = body_motion(motion.time, matrices(orientation), position, motion.gravity, CENTRAL)
    left = motion.wrench[1:-1] - regressor(derived) @ vector
    return np.linalg.solve(motion.factors[1:-1], left[..., None])[..., 0]


def pose_errors(motion, position, orientation):
    """(n, 6) whitened corrections of the measured orientations and positions."""
    turned = (as_rotation(motion.orientation).inv() * as_rotation(orientation)).as_rotvec()
    return np.hstack([turned / motion.orientation_sd, (position - motion.position) / motion.position_sd])


@pytest.mark.parametrize(("method", "form"), [(FREE, LOG_CHOLESKY), (CONSTRAINED, PRINCIPAL), (PRIOR, LOG_CHOLESKY)])
def test_exact_data_give_the_body_back(method, form):
    found = by_ipopt(recording(50), method, parametrisation=form, hull_weight=0.0)  # the hull's prior moves it, rightly
    assert found.converged and found.method == method and found.solver == "ipopt"
    assert found.parameters.mass == pytest.approx(BODY.mass, rel=1e-6)
    assert found.parameters.center_of_mass == pytest.approx(BODY.center_of_mass, abs=1e-6)
    assert found.parameters.inertia == pytest.approx(BODY.inertia, rel=1e-3, abs=1e-6)


def test_a_wrist_sensor_is_one_contact_with_torque():
    found = by_ipopt(recording(50, wrist=True), FREE)
    assert found.converged
    assert found.parameters.vector == pytest.approx(BODY.vector, rel=1e-3, abs=1e-6)


def test_a_broken_contact_is_part_of_the_data():
    found = by_ipopt(recording(90, broken=True), FREE)
    assert found.parameters.vector == pytest.approx(BODY.vector, rel=1e-3, abs=1e-6)


def test_compact_differences_are_of_higher_order():
    central, compact = (
        by_ipopt(recording(50, 0.02), FREE, scheme=scheme).parameters for scheme in ("central", "compact")
    )
    assert geodesic_distance(compact, BODY) < 0.05 * geodesic_distance(central, BODY)


def test_the_objective_is_what_an_independent_evaluation_gives():
    data = recording(40, **NOISY)
    built, objective = solved(data, "central")
    poses = built.position, built.orientation
    wrench, pose = wrench_errors(built.motion, *poses, built.vector), pose_errors(built.motion, *poses)
    assert objective == pytest.approx(0.5 * np.sum(wrench**2) + 0.5 * np.sum(pose**2), rel=1e-3)


def test_known_poses_make_it_weighted_linear_least_squares(monkeypatch):
    monkeypatch.setattr(ipopt_start, "POSITION_FLOOR", 1e-7)
    monkeypatch.setattr(ipopt_start, "ORIENTATION_FLOOR", 1e-7)
    data = recording(40, force_sd=0.1, point_sd=1e-3)
    data.attrs.update(position_sd=1e-7, orientation_sd=1e-7)
    built, _ = solved(data, "central")
    motion = body_motion(
        data["time"].values, matrices(data["object_orientation"].values), data["object_position"].values, 9.81, CENTRAL
    )
    white = np.linalg.inv(built.motion.factors[1:-1])
    rows, right = (white @ regressor(motion)).reshape(-1, 10), (white @ built.motion.wrench[1:-1, :, None]).ravel()
    expected = np.linalg.lstsq(rows, right, rcond=None)[0]
    assert built.vector == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_both_parametrisations_have_one_optimum():
    (first, one), (second, other) = (solved(recording(40, **NOISY), "compact", f) for f in (LOG_CHOLESKY, PRINCIPAL))
    assert one == pytest.approx(other, rel=1e-6)
    assert first.vector == pytest.approx(second.vector, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("form", [LOG_CHOLESKY, PRINCIPAL])
def test_where_the_data_want_an_unphysical_body_the_constraint_holds(form):
    data = recording(40, force_sd=0.5, position_sd=1e-3, orientation_sd=5e-3, point_sd=2e-3, noise_seed=3)
    free, held = estimates_with_ipopt(data, [FREE, CONSTRAINED], BODY, IPOPT | {"parametrisation": form})
    assert not consistency(free.parameters, HULL).consistent
    assert held.converged and consistency(held.parameters, HULL).consistent
    assert held.objective > free.objective


def test_a_free_optimum_that_is_possible_serves_for_the_constrained_method():
    data = recording(40, **NOISY)
    shared = estimates_with_ipopt(data, [CONSTRAINED, FREE], BODY, IPOPT)[0]
    alone = by_ipopt(data, CONSTRAINED)
    assert shared.objective == pytest.approx(alone.objective, rel=1e-7)
    assert shared.parameters.vector == pytest.approx(alone.parameters.vector, rel=1e-4, abs=1e-7)
