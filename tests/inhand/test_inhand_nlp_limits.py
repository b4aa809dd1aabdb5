"""The constrained estimation: its errors, what unmodelled forces do to it, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, geodesic_distance
from contactid.core.rotations import matrices
from contactid.core.solve import SolverOptions
from contactid.inhand.identify.information import pose_information
from contactid.inhand.identify.ipopt import (
    IpoptOptions,
    estimate_with_ipopt,
    ipopt_options,
    measured_motion,
    standard_errors,
)
from contactid.inhand.identify.ipopt_start import NoiseFloors, measured_wrench
from contactid.inhand.identify.kinematics import FOURTH_ORDER, body_motion, skew
from contactid.inhand.identify.methods import ObjectKnowledge
from contactid.inhand.identify.wrench import ResidualBias
from contactid.inhand.models.inertia import ModelRules, Start, build_inertia_model
from contactid.inhand.models.parameters import ParameterUnits
from grasp_for_tests import BODY, recording

FREE, CONSTRAINED, PRIOR = "no_constraint_no_geodesic", "constraint_no_geodesic", "constraint_geodesic"
HULL = 0.2 * np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
KNOWN = ObjectKnowledge(HULL, BODY)
NOISY = {"force_sd": 0.05, "position_sd": 2e-4, "orientation_sd": 1e-3, "point_sd": 5e-4}
BLOCK = {
    "parametrisation": "log_cholesky", "least_share": 0.25, "bounded_moments": True, "geodesic_weight": 1.0,
    "scheme": "compact", "robust_width": None, "max_iterations": 200,
    "residual": {"sources": ["in_hand_vision"], "kinds": ["constant"], "knot_interval": 1.0, "drift_sd": 0.1},
}  # fmt: skip


def test_a_strong_prior_wins():
    prior = InertialParameters.from_vector(1.3 * BODY.vector)
    data = recording(40, **NOISY)
    options = IpoptOptions(knowledge=ObjectKnowledge(HULL, prior), geodesic_weight=1e9)
    assert geodesic_distance(estimate_with_ipopt(data, PRIOR, options).parameters, prior) < 1e-3


def test_standard_errors_agree_with_those_of_the_sampled_covariance():
    data = recording(40, **NOISY)
    motion = measured_motion(data, IpoptOptions())
    errors, _ = standard_errors(motion, motion.position, motion.orientation, BODY.vector)
    derived = body_motion(motion.time, matrices(motion.orientation), motion.position, 9.81, FOURTH_ORDER)
    other = pose_information(
        derived, motion.wrench.covariance[2:-2], BODY.vector, motion.orientation_sd, motion.position_sd
    )
    assert errors == pytest.approx(other.standard_errors, rel=1e-4)


def test_standard_errors_hold_the_truth():
    pulls = []
    for seed in range(6):
        found = estimate_with_ipopt(recording(80, noise_seed=seed, **NOISY), FREE)
        pulls.append((found.parameters.vector - BODY.vector) / found.standard_errors)
    # 60 numbers, correlated within a run
    assert 0.6 < np.sqrt(np.mean(np.square(pulls))) < 1.5


def test_eliminated_forces_and_points_are_at_their_best():
    data = recording(6, force_sd=0.05, point_sd=1e-3)
    wrench, k = measured_wrench(data, NoiseFloors(force=0.0, torque=0.0)), 3
    forces, points = data["contact_force"].values[k], data["contact_position"].values[k]
    wanted = wrench.value[k] + np.array([0.05, -0.02, 0.04, 0.003, 0.005, -0.004])

    def balance(errors):
        f, r = forces + 0.05 * errors[:12].reshape(4, 3), points + 1e-3 * errors[12:].reshape(4, 3)
        return np.concatenate([f.sum(0), np.einsum("cij,cj->i", skew(r), f)]) - wanted

    best = minimize(
        lambda e: 0.5 * e @ e, np.zeros(24), jac=lambda e: e, constraints={"type": "eq", "fun": balance}, tol=1e-12
    )
    white = np.linalg.solve(wrench.factors[k], wanted - wrench.value[k])
    assert 0.5 * white @ white == pytest.approx(best.fun, rel=0.02)


def test_a_force_that_stays_in_the_body_frame_is_told_apart():
    data = recording(80, force_sd=0.02)
    data["contact_force"] = data["contact_force"] - np.array([0.5, -1.0, 2.0]) * np.array([1.0, 0.2, 0.7, 0.1])[:, None]
    plain = estimate_with_ipopt(data, FREE)
    aware = estimate_with_ipopt(data, FREE, IpoptOptions(residual=ResidualBias(("constant",))))
    assert abs(plain.parameters.mass - BODY.mass) > 0.2 * BODY.mass
    assert aware.parameters.mass == pytest.approx(BODY.mass, abs=4.0 * aware.standard_errors[0])
    assert aware.standard_errors[0] < 0.05 * BODY.mass


def test_a_gain_common_to_all_forces_is_another_body():
    data = recording(40, **NOISY)
    scaled = data.copy()
    for name in ("contact_force", "contact_force_sd"):
        scaled[name] = 0.5 * data[name]
    one, half = estimate_with_ipopt(data, FREE), estimate_with_ipopt(scaled, FREE)
    assert half.parameters.vector == pytest.approx(0.5 * one.parameters.vector, rel=1e-4, abs=1e-7)
    assert half.objective == pytest.approx(one.objective, rel=1e-5)


def test_far_off_forces_count_less_by_robust_weights():
    data = recording(90, **NOISY)
    data["contact_force"].values[40:44, 0] += 3.0
    plain = estimate_with_ipopt(data, FREE)
    robust = estimate_with_ipopt(data, FREE, IpoptOptions(robust_width=3.0))
    assert robust.converged
    assert geodesic_distance(robust.parameters, BODY) < 0.7 * geodesic_distance(plain.parameters, BODY)


def test_the_program_grows_linearly():
    data, sizes = recording(40, **NOISY), []
    for count in (20, 30, 40):
        part = data.isel(sample=slice(count))
        motion = measured_motion(part, IpoptOptions())
        start = Start(motion.position, motion.orientation, BODY)
        model = build_inertia_model(motion, start, ParameterUnits(1.0, 0.1), ModelRules()).model
        sizes.append((model.nvariables(), model.nconstraints()))
    assert np.array_equal(np.subtract(sizes[2], sizes[1]), np.subtract(sizes[1], sizes[0]))


def test_what_cannot_be_identified_is_said():
    nothing = recording(40, **NOISY)
    nothing["contact_force"].values[:] = 0.0
    still = recording(40, still=True, **NOISY)
    alone = recording(40, **NOISY).isel(contact=[0])
    for data in (nothing, still, alone):
        found = estimate_with_ipopt(data, FREE)
        assert not found.converged
        assert "identif" in found.message
    assert "all contact forces are zero" in estimate_with_ipopt(nothing, CONSTRAINED).message


def test_a_missing_solver_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ContactIdError, match="no ipopt executable"):
        estimate_with_ipopt(recording(30), FREE, IpoptOptions(solver=SolverOptions(route="executable")))


def test_wrong_requests_are_refused():
    data = recording(30)
    with pytest.raises(ContactIdError, match="no method 'baseline'"):
        estimate_with_ipopt(data, "baseline")
    with pytest.raises(ContactIdError, match="needs a prior"):
        estimate_with_ipopt(data, PRIOR)
    with pytest.raises(ContactIdError, match="unknown parametrisation"):
        estimate_with_ipopt(data, CONSTRAINED, IpoptOptions(parametrisation="euler"))
    with pytest.raises(ContactIdError, match="no differences are called"):
        estimate_with_ipopt(data, FREE, IpoptOptions(scheme="forward"))


def test_the_configuration_block_becomes_options():
    options = ipopt_options(BLOCK, KNOWN)
    assert options == replace(
        IpoptOptions(), knowledge=KNOWN, residual=ResidualBias(("constant",)), residual_sources=("in_hand_vision",)
    )
    assert measured_motion(recording(30), options).bias_columns.shape[2] == 0
