"""The constrained estimation: its errors, what unmodelled forces do to it, and what it refuses."""

import numpy as np
import pytest
from scipy.optimize import minimize

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, geodesic_distance
from contactid.core.rotations import matrices, skew
from contactid.core.solve import SolverOptions
from contactid.inhand.identify import ipopt, ipopt_start
from contactid.inhand.identify.information import pose_information
from contactid.inhand.identify.ipopt import standard_errors
from contactid.inhand.identify.ipopt_start import measured_motion
from contactid.inhand.identify.kinematics import FOURTH_ORDER, body_motion
from contactid.inhand.models.inertia import Start, build_inertia_model
from contactid.inhand.models.parameters import BodyRules, ParameterUnits
from grasp_for_tests import BODY, IPOPT, by_ipopt, recording

FREE, CONSTRAINED, PRIOR = "no_constraint_no_geodesic", "constraint_no_geodesic", "constraint_geodesic"
NOISY = {"force_sd": 0.05, "position_sd": 2e-4, "orientation_sd": 1e-3, "point_sd": 5e-4}


def test_a_strong_prior_wins():
    prior = InertialParameters.from_vector(1.3 * BODY.vector)
    data = recording(40, **NOISY)
    assert geodesic_distance(by_ipopt(data, PRIOR, prior, geodesic_weight=1e9).parameters, prior) < 1e-3


def test_standard_errors_agree_with_those_of_the_sampled_covariance():
    data = recording(40, **NOISY)
    motion = measured_motion(data, IPOPT["residual"])
    errors = standard_errors(motion, motion.position, motion.orientation, BODY.vector)
    derived = body_motion(motion.time, matrices(motion.orientation), motion.position, 9.81, FOURTH_ORDER)
    other = pose_information(derived, motion.covariance[2:-2], BODY.vector, motion.orientation_sd, motion.position_sd)
    assert errors == pytest.approx(other.standard_errors, rel=1e-4)


def test_standard_errors_hold_the_truth():
    pulls = []
    for seed in range(6):
        found = by_ipopt(recording(80, noise_seed=seed, **NOISY), FREE)
        pulls.append((found.parameters.vector - BODY.vector) / found.standard_errors)
    # 60 numbers, correlated within a run
    assert 0.6 < np.sqrt(np.mean(np.square(pulls))) < 1.5


def test_eliminated_forces_and_points_are_at_their_best(monkeypatch):
    monkeypatch.setattr(ipopt_start, "FORCE_FLOOR", 0.0)
    monkeypatch.setattr(ipopt_start, "TORQUE_FLOOR", 0.0)
    data = recording(6, force_sd=0.05, point_sd=1e-3)
    motion, k = measured_motion(data, IPOPT["residual"]), 3
    forces, points = data["contact_force"].values[k], data["contact_position"].values[k]
    wanted = motion.wrench[k] + np.array([0.05, -0.02, 0.04, 0.003, 0.005, -0.004])

    def balance(errors):
        f, r = forces + 0.05 * errors[:12].reshape(4, 3), points + 1e-3 * errors[12:].reshape(4, 3)
        return np.concatenate([f.sum(0), np.einsum("cij,cj->i", skew(r), f)]) - wanted

    best = minimize(
        lambda e: 0.5 * e @ e, np.zeros(24), jac=lambda e: e, constraints={"type": "eq", "fun": balance}, tol=1e-12
    )
    white = np.linalg.solve(motion.factors[k], wanted - motion.wrench[k])
    assert 0.5 * white @ white == pytest.approx(best.fun, rel=0.02)


def test_a_force_that_stays_in_the_body_frame_is_told_apart():
    data = recording(80, force_sd=0.02)
    data["contact_force"] = data["contact_force"] - np.array([0.5, -1.0, 2.0]) * np.array([1.0, 0.2, 0.7, 0.1])[:, None]
    plain = by_ipopt(data, FREE)
    aware = by_ipopt(data, FREE, residual=IPOPT["residual"] | {"kinds": ["constant"]})
    assert abs(plain.parameters.mass - BODY.mass) > 0.2 * BODY.mass
    assert aware.parameters.mass == pytest.approx(BODY.mass, abs=4.0 * aware.standard_errors[0])
    assert aware.standard_errors[0] < 0.05 * BODY.mass


def test_a_gain_common_to_all_forces_is_another_body():
    data = recording(40, **NOISY)
    scaled = data.copy()
    for name in ("contact_force", "contact_force_sd"):
        scaled[name] = 0.5 * data[name]
    one, half = by_ipopt(data, FREE), by_ipopt(scaled, FREE)
    assert half.parameters.vector == pytest.approx(0.5 * one.parameters.vector, rel=1e-4, abs=1e-7)
    assert half.objective == pytest.approx(one.objective, rel=1e-5)


def test_far_off_forces_count_less_by_robust_weights():
    data = recording(90, **NOISY)
    data["contact_force"].values[40:44, 0] += 3.0
    plain = by_ipopt(data, FREE)
    robust = by_ipopt(data, FREE, robust_width=3.0)
    assert robust.converged
    assert geodesic_distance(robust.parameters, BODY) < 0.7 * geodesic_distance(plain.parameters, BODY)


def test_the_program_grows_linearly():
    data, sizes = recording(40, **NOISY), []
    for count in (20, 30, 40):
        part = data.isel(sample=slice(count))
        motion = measured_motion(part, IPOPT["residual"])
        start = Start(motion.position, motion.orientation, BODY)
        model = build_inertia_model(motion, start, ParameterUnits(1.0, 0.1), BodyRules(), IPOPT).model
        sizes.append((model.nvariables(), model.nconstraints()))
    assert np.array_equal(np.subtract(sizes[2], sizes[1]), np.subtract(sizes[1], sizes[0]))


def test_what_cannot_be_identified_is_said():
    nothing = recording(40, **NOISY)
    nothing["contact_force"].values[:] = 0.0
    still = recording(40, still=True, **NOISY)
    alone = recording(40, **NOISY).isel(contact=[0])
    for data in (nothing, still, alone):
        found = by_ipopt(data, FREE)
        assert not found.converged
        assert "identif" in found.message
    assert "all contact forces are zero" in by_ipopt(nothing, CONSTRAINED).message


def test_a_missing_solver_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(ipopt, "_SOLVER", SolverOptions(route="executable"))
    with pytest.raises(ContactIdError, match="no ipopt executable"):
        by_ipopt(recording(30), FREE)


def test_an_unmodelled_wrench_is_estimated_for_the_named_sources_alone():
    kinds = {"kinds": ["constant"]}
    sizes = [
        measured_motion(recording(30), IPOPT["residual"] | kinds | {"sources": sources}).bias_columns.shape[2]
        for sources in (["in_hand_vision"], ["in_hand_vision", "simulation"])
    ]
    assert sizes == [0, 6]
