"""The factor graph: elimination equals the dense problem, its minimum is the minimum, and exact
data give the truth.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from contactid.core.errors import ContactIdError
from contactid.core.inertia import consistency
from contactid.inhand.identify.elimination import (
    Step,
    local_step,
    parameter_covariance,
    reduce_graph,
    solve_step,
)
from contactid.inhand.identify.factor_graph import PARAMETERS_NAME, FactorGraph
from contactid.inhand.identify.kinematics import CENTRAL, FOURTH_ORDER, PAPER, REACH, SCHEMES
from contactid.inhand.identify.levenberg_marquardt import estimate_with_graph, minimise, plain_start
from contactid.inhand.identify.methods import GRAPH_METHODS
from contactid.inhand.readers.recordings import recorded_signals
from grasp_for_tests import BODY, HULL, recording

WEIGHTS = {
    "orientation": 1e-3, "position": 1e-3, "contact_position": 1e-3, "least_force": 1e-2, "contact_torque": 1e-3,
    "dynamics_force": 1e-2, "dynamics_torque": 1e-3, "mass": 1e-3, "second_moment": 1e-5, "center_of_mass": 1e-3,
    "geodesic": 1.0,
}  # fmt: skip
LIMITS = {"max_iterations": 200, "relative_decrease": 1e-5, "absolute_decrease": 1e-10}
BLOCK = {"weights": WEIGHTS, "scheme": FOURTH_ORDER, "iterations": LIMITS}
NOISE = {"force_sd": 0.05, "position_sd": 3e-4, "orientation_sd": 1e-3, "point_sd": 1e-3}


def small_graph(
    method="constraint_geodesic", scheme=CENTRAL, samples=8, step=0.04, *, wrist=True, **noise
):
    signals = recorded_signals(recording(samples, step, wrist=wrist, **noise))
    return FactorGraph(signals, GRAPH_METHODS[method], WEIGHTS, scheme, BODY)


def unknowns(graph):
    kinds = 2 if graph.signals.torques is None else 3
    return graph.signals.samples * (6 + 3 * kinds * graph.signals.contacts) + 10


def moved(graph, state, increment):
    """The state an increment of all unknowns away."""
    count = graph.signals.samples
    poses, local, own = np.split(increment, [6 * count, unknowns(graph) - 10])
    state = graph.moved(state, Step(poses.reshape(count, 6), own, 0.0, np.zeros((10, 10))))
    return graph.with_local(state, local.reshape(count, -1))


def as_increment(linear, reduced, step):
    """All unknowns' increments of a step, what acts at the samples by the linear model."""
    inner, around = len(linear.by_pose), linear.by_pose.shape[2] // 6
    stencil = np.concatenate([step.poses[j : j + inner] for j in range(around)], axis=1)
    dynamics = linear.at.dynamics + np.einsum("kij,kj->ki", linear.by_pose, stencil)
    local = local_step(linear, reduced, dynamics + linear.by_parameters @ step.parameters)
    return np.concatenate([step.poses.ravel(), local.ravel(), step.parameters])


def residuals(graph, state):
    """All residuals of a state, whitened; half their squared norm is the cost."""
    at = graph.evaluate(state).residuals
    deviation = np.repeat([WEIGHTS["dynamics_force"], WEIGHTS["dynamics_torque"]], 3)
    local = np.sqrt(graph.local_precision) * at.local
    return np.concatenate(
        [at.pose.ravel(), local.ravel(), (at.dynamics / deviation).ravel(), at.own]
    )


def dense_rows(graph, state, step=1e-6):
    def at(increment):
        return residuals(graph, moved(graph, state, increment))

    units = step * np.eye(unknowns(graph))
    return np.stack([(at(unit) - at(-unit)) / (2.0 * step) for unit in units], axis=1)


@pytest.mark.parametrize("wrist", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_step_solves_the_dense_normal_equations(scheme, wrist):
    graph = small_graph(scheme=scheme, wrist=wrist, samples=7, **NOISE)
    state = graph.start(BODY)
    rows, right = dense_rows(graph, state), residuals(graph, state)
    linear = graph.linearize(graph.evaluate(state))
    reduced = reduce_graph(linear)
    step = solve_step(linear, reduced, 0.0)
    scale = 1.0 / np.linalg.norm(rows, axis=0)
    dense = scale * np.linalg.lstsq(rows * scale, -right, rcond=None)[0]
    assert as_increment(linear, reduced, step) / scale == pytest.approx(
        dense / scale, rel=1e-3, abs=1e-4 * np.abs(dense / scale).max()
    )
    decrease = 0.5 * (right @ right - np.sum((right + rows @ dense) ** 2))
    assert step.expected_decrease == pytest.approx(decrease, rel=1e-5)
    information = np.linalg.inv(scale[:, None] * (rows.T @ rows) * scale) * np.outer(scale, scale)
    assert parameter_covariance(step.parameter_curvature) == pytest.approx(
        information[-10:, -10:], rel=1e-3
    )


def test_the_cost_is_half_the_squared_residuals():
    graph = small_graph(**NOISE)
    state = graph.start(plain_start(graph.signals))
    assert graph.evaluate(state).cost == pytest.approx(
        0.5 * np.sum(residuals(graph, state) ** 2), rel=1e-12
    )


def test_the_minimum_is_that_of_a_general_solver():
    graph = small_graph("constraint_no_geodesic", samples=10, step=0.08, **NOISE)
    start = graph.start(BODY)
    ours = minimise(graph, start, LIMITS | {"relative_decrease": 1e-12})
    scale = 1.0 / np.linalg.norm(dense_rows(graph, start), axis=0)

    def at(scaled):
        return moved(graph, start, scaled * scale)

    theirs = least_squares(
        lambda scaled: residuals(graph, at(scaled)), np.zeros(unknowns(graph)), method="lm"
    )
    assert ours.converged
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-7)
    assert ours.state.chart.vector == pytest.approx(at(theirs.x).chart.vector, rel=1e-4, abs=1e-6)


def test_factors_tie_what_the_derivatives_say():
    graph = small_graph(samples=6)
    rows, count, size = dense_rows(graph, graph.start(BODY)), 6, 9
    names = [f"pose_{k}" for k in range(count) for _ in range(6)]
    names += [
        f"{kind}_{k}_0"
        for k in range(count)
        for kind in ("force", "contact", "torque")
        for _ in range(3)
    ]
    names += [PARAMETERS_NAME] * 10
    tied = [
        {name for name, entry in zip(names, row, strict=True) if abs(entry) > 1e-7} for row in rows
    ]
    listed = list(graph.factors())
    start = count * (6 + size)
    for number, factor in enumerate(factor for factor in listed if factor.kind == "dynamics"):
        assert set().union(*tied[start + 6 * number : start + 6 * number + 6]) == set(
            factor.unknowns
        )
    measured = [
        factor for factor in listed if factor.kind in ("pose", "force", "contact", "torque")
    ]
    assert {name for factor in measured for name in factor.unknowns} == set(names) - {
        PARAMETERS_NAME
    }
    assert all(len(factor.unknowns) == 1 for factor in measured)
    assert {factor.kind for factor in listed if factor.sample is None} == {
        "consistency",
        "geodesic",
    }


@pytest.mark.parametrize("scheme", [CENTRAL, FOURTH_ORDER])
def test_what_a_step_stores_grows_by_the_same_for_every_sample(scheme):
    stored = []
    for samples in (10, 20, 40):
        graph = small_graph(scheme=scheme, samples=samples)
        reduced = reduce_graph(graph.linearize(graph.evaluate(graph.start(BODY))))
        stored.append(reduced.band.size + reduced.border.size + reduced.corner.size)
    width = 6 * (2 * REACH[scheme] + 1)
    assert stored[1] - stored[0] == 10 * 6 * (width + 10)
    assert stored[2] - stored[1] == 20 * 6 * (width + 10)


def errors(body):
    return (
        abs(body.mass / BODY.mass - 1.0),
        np.abs(body.center_of_mass - BODY.center_of_mass).max(),
        np.abs(body.inertia - BODY.inertia).max() / np.abs(BODY.inertia).max(),
    )


@pytest.mark.parametrize("wrist", [False, True])
@pytest.mark.parametrize("method", GRAPH_METHODS)
def test_exact_data_give_the_truth(method, wrist):
    found = estimate_with_graph(recording(150, 0.01, wrist=wrist), method, BODY, BLOCK)
    mass, center, inertia = errors(found.parameters)
    assert found.converged, found.message
    assert mass < 1e-5 and center < 1e-6 and inertia < 1e-4


def test_finite_differences_cost_what_their_order_says():
    def inertia_error(scheme):
        block = BLOCK | {"scheme": scheme}
        return errors(
            estimate_with_graph(recording(150, 0.02), "baseline_fg", BODY, block).parameters
        )[2]

    paper, central, fourth = (inertia_error(scheme) for scheme in (PAPER, CENTRAL, FOURTH_ORDER))
    assert paper > 3.0 * central > 30.0 * fourth


def test_without_constraints_both_charts_have_the_same_minimum():
    data, block = (
        recording(150, 0.01, **NOISE),
        BLOCK | {"iterations": LIMITS | {"relative_decrease": 1e-10}},
    )
    free, principal = (
        estimate_with_graph(data, method, BODY, block)
        for method in ("baseline_fg", "no_constraint_no_geodesic")
    )
    assert principal.objective == pytest.approx(free.objective, rel=1e-8)
    assert principal.parameters.vector == pytest.approx(free.parameters.vector, rel=1e-3, abs=1e-5)


def test_standard_errors_are_the_scatter_of_estimates():
    block = BLOCK | {
        "weights": WEIGHTS | {"position": 3e-4, "dynamics_force": 1e-4, "dynamics_torque": 1e-5}
    }
    runs = [
        estimate_with_graph(
            recording(80, 0.02, seed=7, noise_seed=seed, **NOISE), "baseline_fg", BODY, block
        )
        for seed in range(40)
    ]
    scatter = np.std([run.parameters.vector for run in runs], axis=0, ddof=1)
    stated = np.mean([run.standard_errors for run in runs], axis=0)
    assert scatter / stated == pytest.approx(np.ones(10), abs=0.45)
    assert np.mean(scatter / stated) == pytest.approx(1.0, abs=0.2)


def test_the_constraint_draws_towards_physical_bodies_without_guaranteeing_one():
    flat = recording(
        120, 0.01, force_sd=0.4, position_sd=1e-3, orientation_sd=5e-3, point_sd=3e-3, seed=4
    )
    free, held = (
        estimate_with_graph(flat, method, BODY, BLOCK).parameters
        for method in ("no_constraint_no_geodesic", "constraint_no_geodesic")
    )
    assert not consistency(free, HULL).consistent
    least = [form.principal_form.second_moments.min() for form in (free, held)]
    assert least[0] < least[1]
    assert least[1] > -5.0 * WEIGHTS["second_moment"]


def test_a_strong_prior_wins_and_a_weak_one_does_not():
    data, wrong = (
        recording(120, 0.01, **NOISE),
        replace(BODY, mass=1.5 * BODY.mass, inertia=1.5 * BODY.inertia),
    )
    masses = []
    for spread in (1e-6, 1e3):
        block = BLOCK | {"weights": WEIGHTS | {"geodesic": spread}}
        masses.append(
            estimate_with_graph(data, "constraint_geodesic", wrong, block).parameters.mass
        )
    assert masses[0] == pytest.approx(wrong.mass, rel=1e-3)
    assert masses[1] == pytest.approx(BODY.mass, rel=1e-2)


def test_a_broken_contact_stays_in_the_graph():
    data = recording(150, 0.01, broken=True)
    found = estimate_with_graph(data, "constraint_no_geodesic", BODY, BLOCK)
    assert np.all(data["contact_force"].values[60:80, 0] == 0.0)
    assert errors(found.parameters)[0] < 1e-5


@pytest.mark.parametrize("what", ["zero forces", "still"])
def test_garbage_is_told_apart_from_an_estimate(what):
    data = recording(120, 0.01, still=what == "still", **NOISE)
    if what == "zero forces":
        data["contact_force"][:] = 0.0
    found = estimate_with_graph(data, "baseline_fg", BODY, BLOCK)
    assert not found.converged
    assert "identified" in found.message
    assert np.all(np.isnan(found.standard_errors))


def test_a_short_recording_is_named():
    with pytest.raises(ContactIdError, match="4 samples"):
        estimate_with_graph(recording(4), "baseline_fg", BODY, BLOCK)
