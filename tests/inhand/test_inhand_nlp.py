"""The constrained estimation: recovery, guarantees, and agreement with other formulations."""

import numpy as np
import pytest

from contactid.core.inertia import consistency, geodesic_distance
from contactid.core.rotations import as_rotation, matrices
from contactid.core.solve import solve
from contactid.inhand.identify.ipopt import IpoptOptions, estimate_with_ipopt, estimates_with_ipopt, measured_motion
from contactid.inhand.identify.ipopt_start import NoiseFloors, linear_start, measured_wrench, projected, smoothed_motion
from contactid.inhand.identify.kinematics import CENTRAL, body_motion
from contactid.inhand.identify.methods import ObjectKnowledge
from contactid.inhand.identify.wrench import regressor
from contactid.inhand.models.inertia import ModelRules, Start, build_inertia_model
from contactid.inhand.models.parameters import LOG_CHOLESKY, PRINCIPAL, VECTOR, BodyRules, ParameterUnits
from grasp_for_tests import BODY, recording

FREE, CONSTRAINED, PRIOR = "no_constraint_no_geodesic", "constraint_no_geodesic", "constraint_geodesic"
HULL = 0.2 * np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
KNOWN = ObjectKnowledge(HULL, BODY)
NOISY = {"force_sd": 0.05, "position_sd": 2e-4, "orientation_sd": 1e-3, "point_sd": 5e-4}


def solved(data, scheme, parametrisation=VECTOR, **options):
    """The program of a recording, solved, with its objective."""
    options = IpoptOptions(scheme=scheme, **options)
    motion, guess = measured_motion(data, options), smoothed_motion(data)
    body = projected(linear_start(guess, motion.wrench), 0.3, None)
    start = Start(guess.position, guess.orientation, body)
    rules = ModelRules(BodyRules(parametrisation), scheme)
    built = build_inertia_model(motion, start, ParameterUnits(body.mass, 0.2), rules)
    solution = solve(built.model, options.solver)
    assert solution.converged
    return built, solution.objective


def wrench_errors(motion, position, orientation, vector):
    """(m, 6) whitened errors of the measured wrench at the samples that have both neighbours, for given poses."""
    derived = body_motion(motion.time, matrices(orientation), position, motion.gravity, CENTRAL)
    left = motion.wrench.value[1:-1] - regressor(derived) @ vector
    return np.linalg.solve(motion.wrench.factors[1:-1], left[..., None])[..., 0]


def pose_errors(motion, position, orientation):
    """(n, 6) whitened corrections of the measured orientations and positions."""
    turned = (as_rotation(motion.orientation).inv() * as_rotation(orientation)).as_rotvec()
    return np.hstack([turned / motion.orientation_sd, (position - motion.position) / motion.position_sd])


@pytest.mark.parametrize(("method", "form"), [(FREE, LOG_CHOLESKY), (CONSTRAINED, PRINCIPAL), (PRIOR, LOG_CHOLESKY)])
def test_exact_data_give_the_body_back(method, form):
    found = estimate_with_ipopt(recording(50), method, IpoptOptions(knowledge=KNOWN, parametrisation=form))
    assert found.converged and found.method == method and found.solver == "ipopt"
    assert found.parameters.mass == pytest.approx(BODY.mass, rel=1e-6)
    assert found.parameters.center_of_mass == pytest.approx(BODY.center_of_mass, abs=1e-6)
    assert found.parameters.inertia == pytest.approx(BODY.inertia, rel=1e-3, abs=1e-6)


def test_a_wrist_sensor_is_one_contact_with_torque():
    found = estimate_with_ipopt(recording(50, wrist=True), FREE)
    assert found.converged
    assert found.parameters.vector == pytest.approx(BODY.vector, rel=1e-3, abs=1e-6)


def test_a_broken_contact_is_part_of_the_data():
    found = estimate_with_ipopt(recording(90, broken=True), FREE)
    assert found.parameters.vector == pytest.approx(BODY.vector, rel=1e-3, abs=1e-6)


def test_compact_differences_are_of_higher_order():
    central, compact = (
        estimate_with_ipopt(recording(50, 0.02), FREE, IpoptOptions(scheme=scheme)).parameters
        for scheme in ("central", "compact")
    )
    assert geodesic_distance(compact, BODY) < 0.05 * geodesic_distance(central, BODY)


def test_the_objective_is_what_an_independent_evaluation_gives():
    data = recording(40, **NOISY)
    built, objective = solved(data, "central")
    poses = built.position, built.orientation
    wrench, pose = wrench_errors(built.motion, *poses, built.vector), pose_errors(built.motion, *poses)
    assert objective == pytest.approx(0.5 * np.sum(wrench**2) + 0.5 * np.sum(pose**2), rel=1e-3)


def test_known_poses_make_it_weighted_linear_least_squares():
    data = recording(40, force_sd=0.1, point_sd=1e-3)
    data.attrs.update(position_sd=1e-7, orientation_sd=1e-7)
    built, _ = solved(data, "central", floors=NoiseFloors(1e-7, 1e-7))
    motion = body_motion(
        data["time"].values, matrices(data["object_orientation"].values), data["object_position"].values, 9.81, CENTRAL
    )
    wrench = measured_wrench(data)
    white = np.linalg.inv(wrench.factors[1:-1])
    rows, right = (white @ regressor(motion)).reshape(-1, 10), (white @ wrench.value[1:-1, :, None]).ravel()
    expected = np.linalg.lstsq(rows, right, rcond=None)[0]
    assert built.vector == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_both_parametrisations_have_one_optimum():
    (first, one), (second, other) = (solved(recording(40, **NOISY), "compact", f) for f in (LOG_CHOLESKY, PRINCIPAL))
    assert one == pytest.approx(other, rel=1e-6)
    assert first.vector == pytest.approx(second.vector, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("form", [LOG_CHOLESKY, PRINCIPAL])
def test_where_the_data_want_an_unphysical_body_the_constraint_holds(form):
    data = recording(40, force_sd=0.5, position_sd=1e-3, orientation_sd=5e-3, point_sd=2e-3, noise_seed=3)
    free, held = estimates_with_ipopt(data, [FREE, CONSTRAINED], IpoptOptions(knowledge=KNOWN, parametrisation=form))
    assert not consistency(free.parameters, HULL).consistent
    assert held.converged and consistency(held.parameters, HULL).consistent
    assert held.objective > free.objective


def test_a_free_optimum_that_is_possible_serves_for_the_constrained_method():
    data = recording(40, **NOISY)
    options = IpoptOptions(knowledge=KNOWN)
    shared = estimates_with_ipopt(data, [CONSTRAINED, FREE], options)[0]
    alone = estimate_with_ipopt(data, CONSTRAINED, options)
    assert shared.objective == pytest.approx(alone.objective, rel=1e-7)
    assert shared.parameters.vector == pytest.approx(alone.parameters.vector, rel=1e-4, abs=1e-7)
