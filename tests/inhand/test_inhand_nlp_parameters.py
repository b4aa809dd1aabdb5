"""Parametrisations of the ten parameters in a Pyomo model, and the columns of unmodelled wrenches."""

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, PrincipalForm, consistency, geodesic_distance
from contactid.inhand.identify.ipopt_start import projected
from contactid.inhand.identify.wrench import bias_columns
from contactid.inhand.models.parameters import (
    LOG_CHOLESKY,
    PRINCIPAL,
    BodyRules,
    ParameterUnits,
    add_parameters,
)
from contactid.inhand.readers.recordings import recorded_signals
from grasp_for_tests import BODY, IPOPT, recording

UNITS = ParameterUnits(0.5, 0.1)
HULL = 0.3 * np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
seeds = st.integers(0, 2**32 - 1)


def some_body(seed):
    random = np.random.default_rng(seed)
    mass = np.exp(random.normal(0.0, 0.7))
    moments = mass * 0.01 * np.exp(random.normal(0.0, 1.0, 3))
    rotation = Rotation.random(random_state=seed % 2**31).as_matrix()
    return PrincipalForm(mass, random.normal(0.0, 0.1, 3), moments, rotation).parameters()


def built(body, rules):
    model = pyo.ConcreteModel()
    add_parameters(model, body, UNITS, rules)
    return model


def violation(model):
    """Largest at the variables' initial values."""
    worst = 0.0
    for rule in model.component_data_objects(pyo.Constraint):
        value = pyo.value(rule.body)
        low, high = pyo.value(rule.lower), pyo.value(rule.upper)
        worst = max(worst, 0.0 if low is None else low - value, 0.0 if high is None else value - high)
    return worst


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from([LOG_CHOLESKY, PRINCIPAL]))
def test_every_body_satisfies_its_parametrisation(seed, form):
    assert violation(built(some_body(seed), BodyRules(form))) < 1e-10


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_any_values_of_the_factor_are_a_possible_body(seed):
    model, random = built(BODY, BodyRules(LOG_CHOLESKY)), np.random.default_rng(seed)
    low = np.tril(random.normal(size=(4, 4)))
    low[np.diag_indices(4)] = np.abs(low[np.diag_indices(4)]) + 0.05
    for place, variable in model.cholesky.items():
        variable.value = low[place]
    p = low @ low.T
    second = p[1:, 1:]
    entries = np.trace(second) * np.eye(3) - second
    vector = np.concatenate([[p[0, 0]], p[0, 1:], entries[np.diag_indices(3)], entries[[0, 0, 1], [1, 2, 2]]])
    for variable, value in zip(model.theta.values(), vector, strict=True):
        variable.value = value
    equations = [rule for rule in model.component_data_objects(pyo.Constraint) if rule.equality]
    assert max(abs(pyo.value(rule.body) - pyo.value(rule.lower)) for rule in equations) < 1e-10
    assert consistency(InertialParameters.from_vector(vector * UNITS.vector)).consistent


@settings(max_examples=20, deadline=None)
@given(seeds, seeds)
def test_the_geodesic_term_is_the_squared_distance(first, second):
    one, other = some_body(first), some_body(second)
    distance = geodesic_distance(one, other)
    if distance > 2.5:  # where the series is no longer exact to six digits
        return
    model = built(one, BodyRules(LOG_CHOLESKY, prior=other))
    assert pyo.value(model.squared_geodesic) == pytest.approx(distance**2, rel=1e-6, abs=1e-12)
    assert violation(model) < 1e-4 * max(1.0, *(abs(v.value) for v in model.theta.values()))


@settings(max_examples=20, deadline=None)
@given(seeds, st.floats(0.1, 10.0))
def test_a_prior_without_mass_is_as_far_as_the_nearest_of_its_multiples(seed, multiple):
    one, other = some_body(seed), some_body(seed + 1)
    if geodesic_distance(one, other) > 2.0:
        return
    several = InertialParameters.from_vector(multiple * other.vector)
    rules = [BodyRules(prior=prior, prior_has_mass=False) for prior in (other, several)]
    first, same = (pyo.value(built(one, rule).squared_geodesic) for rule in rules)
    assert first == pytest.approx(same, abs=1e-9)
    distances = [
        geodesic_distance(one, InertialParameters.from_vector(np.exp(s) * other.vector))
        for s in np.linspace(-6.0, 6.0, 241)
    ]
    assert np.sqrt(first) <= min(distances) + 1e-9
    assert np.sqrt(first) == pytest.approx(min(distances), abs=1e-3 + 0.025**2 / max(2.0 * min(distances), 1e-6))


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_projections_are_possible_bodies(seed):
    vector = np.random.default_rng(seed).normal(size=10)
    body = projected(InertialParameters.from_vector(vector), 0.5, HULL)
    assert consistency(body, HULL).consistent


def test_a_prior_must_be_a_body():
    with pytest.raises(ContactIdError, match="prior"):
        built(BODY, BodyRules(prior=InertialParameters.from_vector(-BODY.vector)))


@settings(max_examples=20, deadline=None)
@given(st.floats(0.05, 5.0))
def test_a_drifting_wrench_holds_the_constant_one(interval):
    drifting = IPOPT["residual"] | {"kinds": ["drifting"], "knot_interval": interval}
    columns, deviations = bias_columns(recorded_signals(recording(30)), "simulation", drifting)
    assert np.all(np.isinf(deviations[:6])) and np.all(np.isfinite(deviations[6:]))
    knots = columns[:, :, 6:].reshape(30, 6, -1, 6)
    assert knots.sum(axis=2) == pytest.approx(np.broadcast_to(np.eye(6), (30, 6, 6)))
