"""Motions by gap complementarity without a solver, eq. 27 with one weight, and what is measured of
both.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.planar.identify.fit import FitOptions
from contactid.planar.identify.states import ThrowStates
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, PlanarMotion
from contactid.planar.simulate.geometry import Ellipse, Ground
from contactid.planar.simulate.scenes import Scene, scene_of
from contactid.planar.simulate.throws import body_and_ground, measured_throw, noise_of, true_motion
from contactid.planar.sweeps.gap_motion import gap_motion
from contactid.planar.sweeps.measures import centres_apart, separation, strongest
from contactid.planar.sweeps.penalty import fit_with_one_weight, spread_share

ROOT = Path(__file__).parents[2]
BLOCK = yaml.safe_load((ROOT / "config/default.yaml").read_text(encoding="utf-8"))["planar"]
ANGLES, SPEEDS = st.floats(-3.0, 3.0), st.floats(-5.0, 5.0)


def scene(
    theta: float, velocity: tuple[float, float, float], slope: float, mu: float, e_n: float = 0.0
) -> Scene:
    body, law = PlanarBody(Ellipse(1.5, 1.0), 10.0, 2.0), PlanarLaw(mu, e_n)
    return Scene("thrown", body, Ground(slope), (0.0, 2.5, theta), velocity, 1.0, 0.01, (law,))


@given(ANGLES, st.tuples(SPEEDS, SPEEDS, SPEEDS), st.floats(-0.3, 0.3), st.floats(0.0, 1.5))
@settings(max_examples=25, deadline=None)
def test_a_step_obeys_complementarity_and_friction(theta, velocity, slope, mu) -> None:
    thrown = scene(theta, velocity, slope, mu)
    motion = gap_motion(thrown, thrown.laws[0], 0.01)
    c_n, c_t, gap = (values[1:, 0] for values in (motion.impulse_n, motion.impulse_t, motion.gap))
    assert (c_n >= 0.0).all() and (gap > -1e-9).all()
    assert (np.abs(gap[c_n > 0.0]) < 1e-9).all()
    assert (np.abs(c_t) <= mu * c_n + 1e-12).all()
    np.testing.assert_allclose(
        np.diff(motion.position, axis=0), 0.01 * motion.velocity[1:], atol=1e-12
    )


def test_restitution_has_no_part_in_it_and_the_impact_is_inelastic() -> None:
    thrown = scene(0.0, (0.0, -2.0, 0.0), 0.0, 0.5)
    inelastic, elastic = (gap_motion(thrown, PlanarLaw(0.5, e_n), 0.01) for e_n in (0.0, 1.0))
    np.testing.assert_array_equal(inelastic.position, elastic.position)
    assert separation(thrown, inelastic) == pytest.approx(0.0, abs=1e-12)
    bouncing = thrown.run(PlanarLaw(0.5, 0.7))
    assert separation(thrown, bouncing) == pytest.approx(0.7, abs=0.05)  # gravity acts for a step


def test_an_impact_has_two_instants_by_gap_and_one_by_restitution() -> None:
    thrown = scene_of(BLOCK, "drop")
    by_gap, exact = (
        gap_motion(thrown, thrown.laws[0], 0.005),
        thrown.run(thrown.laws[0], time_step=0.005),
    )
    assert (strongest(thrown, by_gap)[:2] > 10.0).all() and strongest(thrown, by_gap)[
        2
    ] == pytest.approx(1.0)
    assert strongest(thrown, exact)[0] > 10.0 and strongest(thrown, exact)[1] == pytest.approx(1.0)


def test_a_motion_without_an_impact_has_no_numbers_of_one() -> None:
    thrown = scene(0.0, (0.0, 0.0, 0.0), 0.0, 0.5)
    flight = thrown.run(thrown.laws[0], duration=0.1)
    assert np.isnan(strongest(thrown, flight)).all() and np.isnan(separation(thrown, flight))
    states = ThrowStates(*np.zeros((2, 1)), *np.zeros((6, 1, 1)))
    assert len(spread_share(states, np.array([]))) == 0


def test_distance_of_motions_is_that_of_their_centres() -> None:
    n = 4
    still = PlanarMotion(
        np.arange(n), np.zeros((n, 3)), *np.zeros((2, n, 3)), np.zeros((n, 1)), np.zeros((n, 1))
    )
    away = PlanarMotion(
        still.time, np.add(still.position, [3.0, 4.0, 9.0]), *(still.velocity,) * 3, still.gap
    )
    assert centres_apart(away, still) == pytest.approx(5.0) and centres_apart(still, still) == 0.0


@given(st.lists(st.floats(0.0, 10.0), min_size=8, max_size=8), st.floats(0.1, 10.0))
def test_the_share_beside_the_strongest_instant_has_no_unit_and_is_zero_of_one_instant(
    impulse, unit
) -> None:
    impacts = np.array([1.0, 5.0])

    def shares(values: np.ndarray) -> np.ndarray:
        none = np.zeros((9, 3))
        states = ThrowStates(
            np.arange(9.0), np.arange(2), none, none, values[:, None], none, none, none
        )
        return spread_share(states, impacts)

    found = shares(np.array(impulse))
    assert ((found >= 0.0) & (found < 1.0) | np.isnan(found)).all()
    np.testing.assert_allclose(shares(unit * np.array(impulse)), found, atol=1e-9)
    np.testing.assert_array_equal(shares(np.eye(8)[1] + 2.0 * np.eye(8)[6]), [0.0, 0.0])
    np.testing.assert_allclose(shares(np.eye(8)[1] + np.eye(8)[2]), [0.5, np.nan])


def test_eq_27_with_one_weight_keeps_its_grid_the_ground_and_a_residual() -> None:
    (body, ground), sigma = body_and_ground(BLOCK), noise_of(BLOCK, "one_mrad")
    motion = true_motion(
        {**BLOCK, "identification": {**BLOCK["identification"], "time_step": 1e-4}}, 0.2
    )
    throw = measured_throw(
        motion, ground, duration=0.05, frames_per_second=240.0, sigma=sigma, seed=1
    )
    fit = fit_with_one_weight(body.shape, throw, FitOptions(), weight=1e3)
    steps = np.diff(fit.states.time)
    assert np.ptp(steps) < 1e-12 and steps[0] < 2.1e-3
    assert fit.residual > 1e-3 and fit.states.gap.min() > -1e-5
    assert spread_share(fit.states, np.array([0.012, 0.0238])).min() > 0.01
