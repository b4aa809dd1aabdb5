"""The impact law, its likelihood, and the MPEC that agrees with both; friction and restitution come back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize as search

from contactid.core import rotations
from contactid.core.complementarity import Continuation, Reformulation, attach, solve_mpec
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.tossing.identify.impact_mpec import identify_from_impacts
from contactid.tossing.impacts.impact import WEIGHTS, impact_geometry
from contactid.tossing.impacts.law import impact_table, law_residual
from contactid.tossing.models.impact_likelihood import likelihood
from contactid.tossing.models.impact_uncertainty import friction_evidence, interval, uncertainty
from contactid.tossing.models.impacts import Friction, ImpactModelOptions, Objective, build_impact_model
from impacts_for_tests import box, impacts, minimise, predict_post_twist

BODY = box()
MANY = impact_table(BODY, impacts(0, 300, 0.3, 0.3, noise=0.0))
EQ_17 = ImpactModelOptions(objective=Objective.MEAN_NORM, estimate_pre_twist=False)

coefficients = st.floats(0.0, 1.0)


def found(fit: dict[str, Any]) -> tuple[float, float, float]:
    """mu, e_N and e_T of a record."""
    return tuple(fit["parameters"].values())


@settings(max_examples=60, deadline=None)
@given(st.floats(0.0, 2.0), coefficients, coefficients)
def test_the_law_holds_and_momentum_balances(mu: float, e_n: float, e_t: float) -> None:
    impulses = MANY.impulses(mu, e_n, e_t)
    assert law_residual(MANY.delassus, MANY.approach, impulses, mu, e_n, e_t).max() < 1e-9
    change = MANY.predict(mu, e_n, e_t) - MANY.pre_twist
    # the box's centre is its frame's origin: impulse is mass times change of velocity
    assert np.allclose(BODY.mass * change[:, :3], impulses, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.0, 2.0), coefficients)
def test_equal_restitution_never_adds_energy(mu: float, e: float) -> None:
    assert _energy_gain(mu, e, e).max() <= 1e-12
    assert _energy_gain(mu, 0.0, 0.0).max() <= 1e-12


def test_normal_restitution_alone_can_add_energy() -> None:
    """Newton's law with friction: the statement above doesn't hold for e_T = 0 and a large e_N."""
    assert _energy_gain(0.6, 1.0, 0.0).max() > 0.01


def _energy_gain(mu: float, e_n: float, e_t: float) -> np.ndarray:
    impulses = MANY.impulses(mu, e_n, e_t)
    after = MANY.relative(MANY.predict(mu, e_n, e_t))
    return 0.5 * np.einsum("ni,ni->n", impulses, after + MANY.approach)


def test_repeated_impacts_are_each_alone_one_after_the_other() -> None:
    few, mu, e_n = impacts(1, 3, 0.3, 0.3, noise=0.0), np.linspace(0.0, 1.0, 4), np.linspace(1.0, 0.0, 4)
    many = impact_table(BODY, few).repeated(4).predict(np.tile(mu, 3), np.tile(e_n, 3), 0.1)
    alone = [impact_table(BODY, [impact]).predict(*one, 0.1)[0] for impact in few for one in zip(mu, e_n, strict=True)]
    assert np.allclose(many, alone, atol=1e-14)
    assert np.allclose(predict_post_twist(BODY, few[1], mu[:, None], e_n[None], 0.1)[2, 2], alone[6], atol=1e-14)


def test_a_moving_surface_is_a_moving_frame() -> None:
    impact = impacts(2, 1, 0.3, 0.3, noise=0.0)[0]
    drift = np.array([0.4, -0.3, 0.0])
    shift = np.concatenate([drift, np.zeros(3)])
    moving = replace(impact, pre_twist=impact.pre_twist + shift, surface_velocity=drift)
    expected = predict_post_twist(BODY, impact, 0.3, 0.4) + shift
    assert np.allclose(predict_post_twist(BODY, moving, 0.3, 0.4), expected, atol=1e-12)


def test_an_off_centre_mass_keeps_its_angular_momentum_about_the_corner() -> None:
    body = replace(BODY, center_of_mass=np.array([0.01, -0.02, 0.015]))
    impact = impacts(3, 1, 0.3, 0.3, noise=0.0)[0]
    geometry = impact_geometry(body, impact)
    change = predict_post_twist(body, impact, 0.3, 0.5) - impact.pre_twist
    turn = rotations.matrices(impact.orientation)
    offset, arm = turn @ body.center_of_mass, turn @ body.vertices[impact.vertex]
    center_change = change[:3] + np.cross(change[3:], offset)
    spin_change = turn @ body.inertia @ turn.T @ change[3:]
    # an impulse at the corner has no moment about it
    assert np.allclose(spin_change + body.mass * np.cross(offset - arm, center_change), 0.0, atol=1e-12)
    assert np.allclose(geometry.delassus, geometry.delassus.T, atol=1e-12)


def test_the_likelihoods_gradient_and_latent_motion() -> None:
    problem = likelihood(impact_table(BODY, impacts(4, 40, 0.3, 0.3)))
    mu, e_n, e_t, step = 0.31, 0.33, 0.05, 1e-6
    fit = problem.fit(mu, e_n, e_t)
    gradient = problem.scores(fit, mu, e_n, e_t, (0, 1, 2)).sum(axis=0)
    for k in range(3):
        ahead, behind = np.array([mu, e_n, e_t]), np.array([mu, e_n, e_t])
        ahead[k] += step
        behind[k] -= step
        slope = (problem.objective(*ahead) - problem.objective(*behind)) / (2.0 * step)
        assert gradient[k] == pytest.approx(slope, rel=1e-4)
    before = problem.pre_twists(fit, e_n, e_t)
    table = problem.table
    assert np.allclose(table.impulses(mu, e_n, e_t, before), fit.unknowns[:, :3], atol=1e-8)
    errors = (before - table.pre_twist, table.post_twist - replace(table, pre_twist=before).predict(mu, e_n, e_t))
    squares = [np.einsum("ni,nij,nj->n", e, np.linalg.inv(table.pre_covariance), e) for e in errors]
    assert np.allclose(0.5 * sum(squares), fit.cost, rtol=1e-8)


@pytest.mark.parametrize("reformulation", list(Reformulation))
@pytest.mark.parametrize("start", [(0.05, 0.1), (1.0, 0.8)])
def test_every_reformulation_finds_the_exact_laws_minimum(
    reformulation: Reformulation, start: tuple[float, float]
) -> None:
    table = impact_table(BODY, impacts(5, 16, 0.3, 0.3))
    exact = minimise(likelihood(table))
    built = build_impact_model(table)
    built.start_at(*start)
    found = solve_mpec(attach(built.model, built.pairs, reformulation), Continuation(reformulation))
    assert found.converged
    assert np.allclose(built.parameters, (exact.mu, exact.e_n, 0.0), atol=1e-4)
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)
    assert (
        law_residual(table.delassus, table.relative(built.pre_twists()), built.impulses(), *built.parameters).max()
        < 1e-6
    )


def test_eq_17_has_its_optimum_where_a_grid_has_it() -> None:
    table = impact_table(BODY, impacts(6, 20, 0.35, 0.2))

    def loss(point: np.ndarray) -> float:
        error = (table.post_twist - table.predict(point[0], point[1])) * WEIGHTS
        return float(np.sqrt(EQ_17.smoothing**2 + (error**2).sum(axis=1)).mean())

    grid = [(mu, e_n) for mu in np.arange(0.0, 1.0, 0.02) for e_n in np.arange(0.0, 1.0, 0.05)]
    best = np.array(min(grid, key=lambda point: loss(np.array(point))))
    polished = search(loss, best, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-11})
    fit = identify_from_impacts(BODY, impacts(6, 20, 0.35, 0.2), EQ_17)
    assert fit["converged"] and fit["multi_start"]["agreeing"] == fit["multi_start"]["starts"]
    assert np.allclose(found(fit)[:2], polished.x, atol=1e-4)
    assert fit["objective"] == pytest.approx(fit["exact_objective"], rel=1e-6)
    assert fit["intervals"]["friction_mu"][0] <= 0.35 <= fit["intervals"]["friction_mu"][1]


def test_parameters_come_back_with_honest_intervals(tmp_path: Path) -> None:
    fit = identify_from_impacts(BODY, impacts(7, 30, 0.3, 0.4, 0.2), ImpactModelOptions(free_e_t=True))
    assert fit["converged"] and fit["friction_identified"]
    mu, e_n, e_t = found(fit)
    assert abs(mu - 0.3) < 0.02 and abs(e_n - 0.4) < 0.02 and abs(e_t - 0.2) < 0.05
    truth = {"friction_mu": 0.3, "restitution_e_n": 0.4, "restitution_e_t": 0.2}
    for name, (low, high) in fit["intervals"].items():
        assert low <= truth[name] <= high and high - low < 0.1
    write_fit(tmp_path / "fit.json", fit)
    read = json.loads((tmp_path / "fit.json").read_text())
    assert read["converged"] and read["residuals"]["impact_law"] < 1e-6
    assert read["multi_start"]["agreeing"] == read["multi_start"]["starts"]


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """80 draws; the minimum is searched for near the truth."""
    truth = np.array([0.3, 0.3])
    covered, draws = np.zeros(2), 80
    for seed in range(draws):
        problem = likelihood(impact_table(BODY, impacts(1000 + seed, 24, *truth)))
        found = search(
            lambda p, problem=problem: problem.objective(float(p[0]), float(p[1])),
            truth,
            method="Nelder-Mead",
            options={
                "initial_simplex": truth + 0.01 * np.array([[0, 0], [1, 0], [0, 1]]),
                "xatol": 1e-5,
                "fatol": 1e-6,
            },
        ).x
        spread = uncertainty(problem, *found)
        for k, error in enumerate(np.sqrt(np.diag(spread.information))):
            low, high = interval(found[k], error, 2.0 * spread.effective[k])
            covered[k] += low <= truth[k] <= high
    assert covered.min() >= 0.88 * draws
    assert covered.min() < draws  # intervals that never miss say nothing


def test_where_every_impact_sticks_friction_is_only_bounded() -> None:
    """A few impacts may slide in the fit, because that explains their noise; the likelihood ratio isn't taken in."""
    fit = identify_from_impacts(BODY, impacts(8, 20, 1.8, 0.2, slide=0.2))
    assert not fit["friction_identified"] and fit["data"]["n_sliding"] <= 4
    assert 0.2 < fit["mu_lower_bound"] < 1.8
    assert fit["intervals"]["friction_mu"] == [fit["mu_lower_bound"], None]
    assert abs(found(fit)[1] - 0.2) < 0.02


def test_without_noise_the_least_friction_that_explains_sticking_is_given() -> None:
    made = impacts(8, 10, 1.8, 0.2, slide=0.2, noise=0.0)
    fit = identify_from_impacts(BODY, made)
    impulses = impact_table(BODY, made).impulses(1.8, 0.2)
    steepest = float((np.linalg.norm(impulses[:, :2], axis=1) / impulses[:, 2]).max())
    assert fit["data"]["n_sliding"] == 0 and not fit["friction_identified"]
    assert found(fit)[0] == pytest.approx(steepest, abs=1e-4)
    assert 0.0 < fit["mu_lower_bound"] <= steepest


def test_sliding_impacts_identify_friction() -> None:
    problem = likelihood(impact_table(BODY, impacts(9, 20, 0.2, 0.3)))
    best = minimise(problem)
    evidence = friction_evidence(problem, best.mu, best.e_n)
    assert evidence.identified and evidence.lower_bound < best.mu < evidence.lower_bound + 0.05


def test_a_restitution_of_zero_stays_in_its_range() -> None:
    fit = identify_from_impacts(BODY, impacts(12, 20, 0.3, 0.0))
    low, high = fit["intervals"]["restitution_e_n"]
    assert fit["converged"] and low == 0.0 and 0.0 < high < 0.05 and found(fit)[1] >= 0.0


def test_the_polyhedron_approaches_the_disk() -> None:
    table = impact_table(BODY, impacts(10, 10, 0.3, 0.3, noise=0.0))
    wrong = []
    for facets in (4, 16):
        built = build_impact_model(table, ImpactModelOptions(friction=Friction.POLYHEDRON, facets=facets))
        built.start_at(0.5, 0.5)
        found = solve_mpec(attach(built.model, built.pairs, Reformulation.L1_PENALTY), Continuation())
        assert found.converged
        wrong.append(abs(built.parameters[0] - 0.3))
    assert wrong[1] < 0.25 * wrong[0] and wrong[1] < 0.02


def test_misuse_is_one_line() -> None:
    with pytest.raises(ContactIdError, match="no impact"):
        identify_from_impacts(BODY, [])
    with pytest.raises(ContactIdError, match="norms"):
        ImpactModelOptions(objective=Objective.MEAN_NORM)
