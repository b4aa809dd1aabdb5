"""The impact law, its likelihood, and the MPEC that agrees with both; friction and restitution come
back.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from contactid.core import rotations
from contactid.core.complementarity import Continuation, Reformulation, attach, solve_mpec
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.tossing.identify.impact_mpec import identify_from_impacts
from contactid.tossing.impacts.impact import impact_geometry
from contactid.tossing.impacts.law import impact_table
from contactid.tossing.models.impact_likelihood import likelihood, minimise
from contactid.tossing.models.impact_uncertainty import friction_evidence, uncertainty
from contactid.tossing.models.impacts import ImpactModelOptions, build_impact_model
from impacts_for_tests import box, impacts, law_residual, predict_post_twist

BODY = box()
MANY = impact_table(BODY, impacts(0, 300, 0.3, 0.3, noise=0.0))

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


def test_impacts_are_each_alone_one_after_the_other() -> None:
    few, mu, e_n = (
        impacts(1, 3, 0.3, 0.3, noise=0.0),
        np.linspace(0.0, 1.0, 4),
        np.linspace(1.0, 0.0, 4),
    )
    alone = [
        impact_table(BODY, [few[1]]).predict(*one, 0.1)[0] for one in zip(mu, e_n, strict=True)
    ]
    assert np.allclose(predict_post_twist(BODY, few[1], mu, e_n, 0.1), alone, atol=1e-14)
    together = impact_table(BODY, few).predict(0.3, 0.3)
    assert np.allclose(together[2], impact_table(BODY, few[2:]).predict(0.3, 0.3)[0], atol=1e-14)


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
    assert np.allclose(
        spin_change + body.mass * np.cross(offset - arm, center_change), 0.0, atol=1e-12
    )
    assert np.allclose(geometry.delassus, geometry.delassus.T, atol=1e-12)


def test_the_likelihoods_gradient_and_curvature_are_its_own_slopes() -> None:
    problem = likelihood(impact_table(BODY, impacts(4, 40, 0.3, 0.3)))
    at, step = np.array([0.31, 0.33, 0.05]), 1e-6
    gradient = problem.scores(tuple(at), (0, 1, 2)).sum(axis=0)
    curvature = problem.curvatures(tuple(at), (0, 1, 2)).sum(axis=0)
    for k in range(3):
        ahead, behind = at + step * np.eye(3)[k], at - step * np.eye(3)[k]
        slope = (problem.objective(*ahead) - problem.objective(*behind)) / (2.0 * step)
        assert gradient[k] == pytest.approx(slope, rel=1e-4)
    wide = 3e-3
    for k in range(3):
        ahead, behind = (
            problem.objective(*(at + sign * wide * np.eye(3)[k])) for sign in (1.0, -1.0)
        )
        bent = (ahead + behind - 2.0 * problem.objective(*at)) / wide**2
        assert curvature[k, k] == pytest.approx(bent, rel=0.2)
    assert (np.linalg.eigvalsh(curvature) > 0.0).all()


@pytest.mark.parametrize("reformulation", list(Reformulation))
@pytest.mark.parametrize("start", [(0.05, 0.1), (1.0, 0.8)])
def test_every_reformulation_finds_the_exact_laws_minimum(
    reformulation: Reformulation, start: tuple[float, float]
) -> None:
    table = impact_table(BODY, impacts(5, 16, 0.3, 0.3))
    problem = likelihood(table)
    exact = minimise(problem)
    built = build_impact_model(table)
    built.start_at(*start)
    found = solve_mpec(attach(built.model, built.pairs, reformulation), Continuation(reformulation))
    assert found.converged
    assert np.allclose(built.parameters, exact, atol=1e-4)
    assert found.objective == pytest.approx(problem.objective(*exact), rel=1e-6)
    velocities = [[built.model.approach[i, k].value for k in range(3)] for i in range(len(table))]
    approach = np.array(velocities) * built.speed_scale[:, None]
    residual = law_residual(table.delassus, approach, built.impulses(), *built.parameters)
    assert residual.max() < 1e-6


def test_parameters_come_back_with_honest_intervals(tmp_path: Path) -> None:
    fit = identify_from_impacts(
        BODY, impacts(7, 30, 0.3, 0.4, 0.2), ImpactModelOptions(free_e_t=True)
    )
    assert fit["converged"] and fit["friction_identified"]
    mu, e_n, e_t = found(fit)
    assert abs(mu - 0.3) < 0.02 and abs(e_n - 0.4) < 0.02 and abs(e_t - 0.2) < 0.05
    truth = {"friction_mu": 0.3, "restitution_e_n": 0.4, "restitution_e_t": 0.2}
    for name, (low, high) in fit["intervals"].items():
        assert low <= truth[name] <= high and high - low < 0.1
    write_fit(tmp_path / "fit.json", fit)
    read = json.loads((tmp_path / "fit.json").read_text())
    assert read["converged"] and read["residuals"]["complementarity"] < 1e-6
    assert read["multi_start"]["agreeing"] == read["multi_start"]["starts"]


@pytest.mark.parametrize(("share", "holds"), [(1.0, True), (0.5, False)])
def test_intervals_cover_the_truth_as_often_as_they_say(share: float, holds: bool) -> None:
    """100 draws whose tosses have an error in common; intervals of half the width would be caught."""
    truth, draws = (0.3, 0.3, 0.0), 100
    covered = np.zeros(2)
    for seed in range(draws):
        random = np.random.default_rng(seed)
        made = impacts(1000 + seed, 40, *truth[:2])
        drift = 1.5 * np.repeat(random.normal(size=(20, 6)), 2, axis=0) * np.repeat([0.02, 0.1], 3)
        made = [
            replace(one, post_twist=one.post_twist + off)
            for one, off in zip(made, drift, strict=True)
        ]
        problem = likelihood(impact_table(BODY, made))
        at = minimise(problem, truth)
        spread = uncertainty(problem, at)
        covered += np.abs(np.array(at[:2]) - truth[:2]) <= share * spread.reach
    least = binom.ppf(0.005, draws, 0.95)
    assert (covered.min() >= least) == holds
    assert covered.min() < draws  # intervals that never miss say nothing


@settings(max_examples=20, deadline=None)
@given(st.floats(0.0, 0.02))
def test_what_gravity_does_within_an_impact_widens_as_much_as_it_moves(size: float) -> None:
    """To first order: the answer where every impact lasts is as far off as its own term says."""
    made, down = impacts(21, 60, 0.3, 0.3, noise=0.2), np.array([0.0, 0.0, -size, 0.0, 0.0, 0.0])
    plain = likelihood(impact_table(BODY, made))
    lasting = [
        replace(one, pre_twist=one.pre_twist - down, post_twist=one.post_twist + down)
        for one in made
    ]
    at, moved = (
        minimise(plain, (0.3, 0.3, 0.0)),
        minimise(likelihood(impact_table(BODY, lasting)), (0.3, 0.3, 0.0)),
    )
    added = uncertainty(plain, at, lasting=down[:3]).covariance - uncertainty(plain, at).covariance
    shift = np.array(moved[:2]) - at[:2]
    assert np.sqrt(np.diag(added)) == pytest.approx(np.abs(shift), rel=0.25, abs=3e-4)


def test_a_law_that_impacts_refute_is_said() -> None:
    """Impacts of another law and impacts of this one with as much noise as a fit's residuals would
    take for it.
    """
    random = np.random.default_rng(3)
    made = impacts(22, 60, 0.3, 0.3)
    assert identify_from_impacts(BODY, made)["law_fits"]
    off = random.normal(size=(60, 6)) * np.repeat([0.2, 1.0], 3)
    other = [
        replace(one, post_twist=one.post_twist + error)
        for one, error in zip(made, off, strict=True)
    ]
    options = ImpactModelOptions(model_error=(0.2, 1.0))  # which explains them all
    fit = identify_from_impacts(BODY, other, options)
    assert (
        not fit["law_fits"] and fit["noise_chi_square"] > 10.0 and fit["reduced_chi_square"] < 1.5
    )


def test_where_every_impact_sticks_friction_is_only_bounded() -> None:
    """A few impacts may slide in the fit, because that explains their noise; the likelihood ratio
    isn't taken in.
    """
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
    evidence = friction_evidence(problem, best)
    assert evidence.identified and evidence.lower_bound < best[0] < evidence.lower_bound + 0.05


def test_a_restitution_of_zero_stays_in_its_range() -> None:
    fit = identify_from_impacts(BODY, impacts(12, 20, 0.3, 0.0))
    low, high = fit["intervals"]["restitution_e_n"]
    assert fit["converged"] and low == 0.0 and 0.0 < high < 0.05 and found(fit)[1] >= 0.0


def test_misuse_is_one_line() -> None:
    with pytest.raises(ContactIdError, match="no impact"):
        identify_from_impacts(BODY, [])
