"""Simulated motions obey eq. 28 exactly and lose their null vector to noise; eq. 31 with it and
without.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.planar.artefacts import step_equations
from contactid.planar.identify.contact_equations import (
    ContactSteps,
    RatioEquations,
    contact_steps,
    dynamic_matrix,
    ratio_equations,
    spectrum,
    total_least_squares,
)
from contactid.planar.simulate.bodies import GRAVITY, PlanarBody, PlanarLaw, PlanarMotion, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, contacts
from planar_measured import (
    difference_covariance,
    motion_steps,
    ratio_detail,
    ratios_by_step,
    residual_variance,
)

LEVEL = Ground()
RATIO = 756e-6  # m2, the plywood ellipse's
BODY = PlanarBody(Ellipse(0.05, 0.025), 0.064, 0.064 * RATIO)
SIDE = 0.03  # m, half of it
SQUARE = PlanarBody(
    Polygon(((SIDE, SIDE), (-SIDE, SIDE), (-SIDE, -SIDE), (SIDE, -SIDE))), 0.3, 0.3 * 600e-6
)
DISK = PlanarBody(Ellipse(0.04, 0.04), 0.1, 0.1 * 700e-6)
THROW = ((0.0, 0.1, -0.785), (3.0, -5.0, 0.0))
STORED = Path(__file__).parents[2] / "workflow/resources/stored/planar_table1/provenance.json"
SETTINGS = json.loads(STORED.read_text(encoding="utf-8"))["settings"]
NOISE = np.diag([0.05**2, 0.05**2, 2.0**2])  # of a change: m/s, m/s, rad/s


def run(
    body: PlanarBody, law: PlanarLaw, q, v, ground: Ground = LEVEL, steps: int = 300
) -> PlanarMotion:
    return simulate(body, ground, law, q, v, time_step=1e-3, steps=steps)


def thrown(mu: float, steps: int = 300) -> ContactSteps:
    motion = run(BODY, PlanarLaw(mu, 0.2), *THROW, steps=steps)
    return motion_steps(BODY.shape, LEVEL, motion, GRAVITY)


def noisy(steps: ContactSteps, covariance: np.ndarray, seed: int) -> ContactSteps:
    errors = np.random.default_rng(seed).multivariate_normal(np.zeros(3), covariance, len(steps))
    return replace(steps, change=steps.change + errors)


def between(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


@st.composite
def motions(draw):
    """A body that starts just over a sloped ground and falls onto it."""
    body, ground = (
        draw(st.sampled_from([BODY, SQUARE])),
        Ground(draw(between(-0.6, 0.6)), 0.1, -0.2),
    )
    law = PlanarLaw(draw(between(0, 1.5)), draw(between(0, 1)))
    q = np.array([0.0, 0.0, draw(between(-4, 4))])
    q[:2] += (1e-3 - contacts(body.shape, ground, q).gap.min()) * ground.normal
    v = draw(st.tuples(between(-3, 3), between(-5, 0), between(-20, 20)))
    return body, ground, law, tuple(q.tolist()), v


# the linear form, eqs. 28 to 30


def rank_lack(found):
    """1: J/m is determined; 2: J is free; 0: no rigid body's motion."""
    return found.nullity - found.split


def true_unknowns(body: PlanarBody, motion: PlanarMotion) -> np.ndarray:
    """(m, J, impulses of closed contacts) of a simulated motion, from its own impulses."""
    values = [np.array([body.mass, body.inertia])]
    for k in range(len(motion.time) - 1):
        closed = motion.gap[k] <= 0.0
        if motion.impulse_n[k + 1].any():
            values += [motion.impulse_n[k + 1, closed], motion.impulse_t[k + 1, closed]]
    return np.concatenate(values)


@settings(max_examples=60, deadline=None)
@given(motions())
def test_the_true_inertia_and_impulses_are_a_null_vector(case):
    body, ground, law, q, v = case
    motion = run(body, law, q, v, ground, steps=100)
    steps, w = motion_steps(body.shape, ground, motion, GRAVITY), true_unknowns(body, motion)
    matrix = dynamic_matrix(steps)[0]
    assert matrix.shape == (3 * len(steps), len(w))
    assert matrix @ w == pytest.approx(np.zeros(len(matrix)), abs=1e-11 * np.abs(w).max())
    scaled, units = dynamic_matrix(steps, scaled=True)
    assert scaled @ (w / units) == pytest.approx(
        np.zeros(len(matrix)), abs=1e-11 * np.abs(w / units).max()
    )
    if len(steps):
        found = spectrum(steps)
        assert rank_lack(found) in (1, 2) and found.smallest < 1e-12


@pytest.mark.parametrize("mu", np.arange(0.1, 0.95, 0.1))
def test_a_single_contact_lacks_one_rank_and_its_null_vector_is_the_paper_s(mu):
    motion, steps = run(BODY, PlanarLaw(mu, 0.2), *THROW), thrown(mu)
    found = spectrum(steps)
    assert len(steps) > 1 and steps.single.all() and (found.nullity, found.split) == (1, 0)
    assert found.smallest < 1e-14 and found.margin > 1e-3
    assert found.per_mass == pytest.approx(
        true_unknowns(BODY, motion) / BODY.mass, rel=1e-9, abs=1e-12
    )
    assert found.per_mass[:2] == pytest.approx([1.0, RATIO], rel=1e-10)


def test_gravity_adds_to_the_velocity_change():
    motion = run(BODY, PlanarLaw(0.3, 0.2), *THROW)
    for gravity, low, high in [(GRAVITY, 0.0, 1e-14), (-GRAVITY, 1e-4, 1.0), (0.0, 1e-4, 1.0)]:
        arrays = (motion.position[:-1], motion.velocity[:-1], motion.velocity[1:])
        mask = motion.impulse_n[1:] > 0.0
        steps = contact_steps(
            BODY.shape, LEVEL, *arrays, time_step=1e-3, gravity=gravity, closed=mask
        )
        assert low <= spectrum(steps).smallest <= high


def test_noise_removes_the_null_vector_in_proportion_to_it():
    steps = thrown(0.4)
    errors = np.random.default_rng(1).normal(size=steps.change.shape) * [1.0, 1.0, 40.0]
    least = [
        spectrum(replace(steps, change=steps.change + s * errors)).smallest
        for s in (1e-6, 1e-5, 1e-4)
    ]
    assert np.array(least[1:]) / least[:-1] == pytest.approx(10.0, rel=0.02)
    assert rank_lack(spectrum(replace(steps, change=steps.change + 1e-4 * errors))) == 0


def test_a_single_step_keeps_a_null_vector_under_any_noise():
    steps = noisy(thrown(0.4, steps=30), NOISE, 2)
    assert len(steps) == 1
    found, (ratio, _) = spectrum(steps), ratios_by_step(ratio_equations(steps))
    assert rank_lack(found) == 1 and found.singular[-1] == 0.0
    assert (
        found.per_mass[1] == pytest.approx(ratio[0], rel=1e-9)
        and abs(ratio[0] / RATIO - 1.0) > 1e-4
    )


# eqs. 31 and 32


@settings(max_examples=60, deadline=None)
@given(motions())
def test_every_single_contact_step_obeys_the_moment_about_its_contact(case):
    body, ground, law, q, v = case
    motion = run(body, law, q, v, ground, steps=100)
    steps, ratio = motion_steps(body.shape, ground, motion, GRAVITY), body.inertia / body.mass
    equations = ratio_equations(steps)
    unit = steps.length * np.abs(steps.change).max(initial=0.0)
    assert equations.moment == pytest.approx(ratio * equations.spin, abs=1e-11 * unit)


@pytest.mark.parametrize("mu", np.arange(0.1, 0.95, 0.1))
def test_every_step_of_the_throw_gives_the_true_ratio(mu):
    equations = ratio_equations(thrown(mu))
    ratios, _ = ratios_by_step(equations)
    turning = np.abs(equations.spin) > 1e-6
    assert turning.any()
    assert ratios[turning] == pytest.approx(RATIO, rel=1e-7)
    assert total_least_squares(equations) == pytest.approx(RATIO, rel=1e-7)
    assert ratio_detail(equations).plain == pytest.approx(RATIO, rel=1e-10)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_standard_error_of_a_step_is_that_of_repeated_noise(sign):
    steps = thrown(0.4, steps=30)
    deviation = np.array([0.005, 0.02, 0.5])
    correlated = np.outer(deviation, deviation) * [
        [1.0, 0.3, 0.1],
        [0.3, 1.0, sign * 0.9],
        [0.1, sign * 0.9, 1.0],
    ]
    many = replace(
        steps,
        **{
            n: np.repeat(getattr(steps, n), 20000, axis=0)
            for n in ("position", "after", "closed", "normal", "tangent")
        },
        change=np.random.default_rng(3).multivariate_normal(steps.change[0], correlated, 20000),
    )
    error = ratios_by_step(ratio_equations(steps, correlated))[1]
    assert np.std(ratios_by_step(ratio_equations(many))[0]) == pytest.approx(error[0], rel=0.03)


@pytest.fixture(scope="module")
def repeated():
    """Fits of one motion under 200 noise samples with their details, and its noise-free equations."""
    steps = thrown(0.4)
    equations = [ratio_equations(noisy(steps, NOISE, seed), NOISE) for seed in range(200)]
    return [(total_least_squares(item), ratio_detail(item)) for item in equations], ratio_equations(
        steps, NOISE
    )


def test_plain_least_squares_is_low_and_total_least_squares_is_not(repeated):
    fits, clean = repeated
    plain, total = np.array([[detail.plain, total] for total, detail in fits]).T
    weight = 1.0 / clean.covariance[:, 0, 0]
    kept = weight @ clean.spin**2 / (weight @ (clean.spin**2 + clean.covariance[:, 1, 1]))
    assert kept < 0.97, "the noise must matter"
    standard_error = total.std() / np.sqrt(len(total))
    assert plain.mean() == pytest.approx(RATIO * kept, abs=4 * standard_error)
    assert total.mean() == pytest.approx(RATIO, abs=4 * standard_error)
    assert abs(plain.mean() - RATIO) > 10 * standard_error
    assert np.mean([detail.bias for _, detail in fits]) == pytest.approx(kept - 1.0, rel=0.1)


def test_standard_errors_are_calibrated(repeated):
    fits, clean = repeated
    pulls = np.array([(total - RATIO) / detail.deviation for total, detail in fits])
    assert pulls.std() == pytest.approx(1.0, abs=0.15)
    exact = ratio_detail(clean)
    assert exact.information == pytest.approx(
        np.sum(clean.spin**2 / residual_variance(clean, RATIO)), rel=1e-6
    )
    assert exact.deviation == pytest.approx(exact.information**-0.5)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), between(1e-3, 1e3), between(0.01, 100.0), between(-0.9, 0.9))
def test_with_equal_noise_total_least_squares_is_the_least_singular_direction(
    seed, scale, noise_ratio, correlation
):
    rng = np.random.default_rng(seed)
    spin, slope = scale * rng.normal(size=12), noise_ratio * rng.normal()
    pairs = np.column_stack([slope * spin, spin]) + 0.1 * scale * rng.normal(size=(12, 2)) * [
        noise_ratio,
        1.0,
    ]
    covariance = np.array(
        [[noise_ratio**2, correlation * noise_ratio], [correlation * noise_ratio, 1.0]]
    )
    whitener = np.linalg.inv(np.linalg.cholesky(covariance))
    normal = np.linalg.svd(pairs @ whitener.T)[2][-1] @ whitener
    total = total_least_squares(
        RatioEquations(pairs[:, 0], pairs[:, 1], np.broadcast_to(covariance, (12, 2, 2)))
    )
    assert total == pytest.approx(-normal[1] / normal[0], rel=1e-5, abs=1e-6 * noise_ratio)


def test_differenced_poses_have_six_times_their_variance():
    h, pose = 1 / 240, np.diag([1e-6, 4e-6, 9e-6])
    q = np.random.default_rng(5).normal(size=(100000, 3, 3)) * np.sqrt(np.diag(pose))
    change = (q[:, 2] - 2.0 * q[:, 1] + q[:, 0]) / h
    assert np.diag(difference_covariance(pose, h)) == pytest.approx(change.var(axis=0), rel=0.02)


# two corners


def test_two_corners_leave_the_ratio_free_and_one_split_a_step():
    motion = run(SQUARE, PlanarLaw(0.3, 0.2), (0.0, 0.08, 0.0), (1.0, -1.0, 0.0), steps=150)
    steps = motion_steps(SQUARE.shape, LEVEL, motion, GRAVITY)
    assert len(steps) > 1 and (steps.closed.sum(axis=1) == 2).all()
    found = spectrum(steps)
    assert found.split == len(steps) and rank_lack(found) == 2 and np.isnan(found.per_mass).all()


def test_corners_one_at_a_time_determine_the_ratio_in_spite_of_splits():
    motion = run(SQUARE, PlanarLaw(0.3, 0.2), (0.0, 0.15, 0.3), (1.0, -1.0, 0.0), steps=400)
    steps = motion_steps(SQUARE.shape, LEVEL, motion, GRAVITY)
    found = spectrum(steps)
    assert found.split == int((~steps.single).sum()) > 0 and rank_lack(found) == 1
    assert found.per_mass[1] == pytest.approx(600e-6, rel=1e-9)
    assert total_least_squares(ratio_equations(steps)) == pytest.approx(600e-6, rel=1e-7)


@pytest.mark.parametrize(("mu", "slope"), [(0.8, 0.3), (0.25, 0.0)])
def test_a_disk_that_rolls_or_slides_shows_its_inertia(mu, slope):
    ground = Ground(slope)
    q, v = np.array([*(0.04 - 1e-10) * ground.normal, 0.0]), (0.0 if slope else 5.0, 0.0, 0.0)
    motion = run(DISK, PlanarLaw(mu, 0.0), q, v, ground, steps=100)
    equations = ratio_equations(motion_steps(DISK.shape, ground, motion, GRAVITY))
    assert total_least_squares(equations) == pytest.approx(700e-6, rel=1e-7)


def test_a_flat_drop_says_nothing():
    motion = run(BODY, PlanarLaw(0.3, 0.2), (0.0, 0.1, 0.0), (0.0, 0.0, 0.0))
    equations = ratio_equations(motion_steps(BODY.shape, LEVEL, motion, GRAVITY))
    assert len(equations.spin) and np.isnan(total_least_squares(equations))


# section 5.2 as a table


def test_noise_takes_the_null_vector_and_biases_least_squares_alone(monkeypatch):
    monkeypatch.setattr(step_equations, "_NOISES", (0.0, 0.01, 0.6))
    table = step_equations.equation_table(SETTINGS)
    ratios = table.pivot(index="noise_m_s", columns="estimate", values="ratio_median_mm2")
    assert ratios.loc[0.0].to_numpy() == pytest.approx(756.25, rel=1e-6)
    assert ratios.loc[0.6, "least_squares"] < 0.5 * 756.25
    assert ratios.loc[0.6, "total_least_squares"] == pytest.approx(756.25, rel=0.35)
    singular = table.drop_duplicates("noise_m_s").set_index("noise_m_s")
    assert (
        singular.loc[0.0, "smallest_singular"]
        < 1e-14
        < 1e-3
        < singular.loc[0.01, "smallest_singular"]
    )
    assert singular["margin"].min() > 0.1
    assert table["differenced_noise_m_s"].to_numpy() == pytest.approx(6.0**0.5 * 1e-3 * 240.0)


# errors


def test_a_state_that_is_not_finite_is_refused():
    q, closed = np.array([[0.0, 0.0, 0.0]]), np.ones((1, 1), dtype=bool)
    with pytest.raises(ContactIdError, match="isn't finite"):
        contact_steps(
            BODY.shape, LEVEL, q, q * np.nan, q, time_step=1e-3, gravity=GRAVITY, closed=closed
        )
