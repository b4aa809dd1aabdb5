"""What simulated contact looks like: each measure on motions whose answer follows from mechanics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml

from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, PlanarMotion
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon
from contactid.planar.simulate.motions import simulate_scene
from contactid.planar.simulate.scenes import Scene
from contactid.planar.sweeps.contact_phases import (
    contact_measures,
    penetrations,
    phase_measures,
    restitution_residuals,
    slip_speed,
)
from contactid.planar.sweeps.measured import Measure
from contactid.planar.sweeps.measures import identifiability_measures

ROOT = Path(__file__).parents[2]
BLOCK = yaml.safe_load((ROOT / "config/default.yaml").read_text(encoding="utf-8"))["planar"]
BALL = PlanarBody(Ellipse(1.0, 1.0), 2.0, 1.0)
GRAVITY = 9.81
SQUARE = ((-0.03, -0.03), (0.03, -0.03), (0.03, 0.03), (-0.03, 0.03))


def by_quantity(measures: list[Measure]) -> dict[tuple[str, float], float]:
    return {(one.quantity, one.at): one.value for one in measures}


def ball(name: str, height: float, velocity: tuple[float, float, float], e_n: float) -> Scene:
    """A ball that slides, or falls from a height, with and without friction."""
    laws = tuple(PlanarLaw(mu, e_n) for mu in (0.0, 0.1))
    return Scene(name, BALL, Ground(), (0.0, height, 0.0), velocity, 0.3, 1e-3, laws)


def measured(scene: Scene) -> dict[tuple[str, float], float]:
    motions: xr.Dataset = simulate_scene(scene)
    return by_quantity(list(contact_measures(scene, motions, "friction_mu")))


def test_a_ball_that_slides_loses_its_speed_to_friction_and_nothing_to_impacts() -> None:
    found = measured(ball("slid", 1.0, (3.0, 0.0, 0.0), 0.0))
    assert found["slid_first_slip_m_s", 0.0] == pytest.approx(3.0)
    # friction brakes the contact point by mu g (1 + m r^2 / J), here 3 mu g
    slip = 3.0 - 3.0 * 0.1 * GRAVITY * 0.05
    assert found["slid_first_slip_m_s", 0.1] == pytest.approx(slip, abs=1e-3)
    assert found["slid_lost_elsewhere_pct", 0.1] == pytest.approx(100.0)
    assert np.isnan(found["slid_lost_elsewhere_pct", 0.0])


def test_a_ball_that_falls_touches_nothing_at_first_and_loses_all_in_impacts() -> None:
    found = measured(ball("fell", 1.3, (0.0, 0.0, 0.0), 0.5))
    assert found["fell_first_slip_m_s", 0.1] == 0.0
    assert found["fell_lost_elsewhere_pct", 0.1] == pytest.approx(0.0, abs=0.1)


def test_flight_sliding_and_rolling_are_parted_by_gap_and_slip() -> None:
    flying, sliding, rolling = 3, 2, 1
    n = flying + sliding + rolling
    gap = np.array([0.1] * flying + [0.0] * (sliding + rolling))[:, None]
    velocity = np.zeros((n, 3))
    velocity[flying : flying + sliding, 0] = 1.0
    still = np.tile([0.0, 1.0, 0.0], (n, 1))
    motion = PlanarMotion(0.01 * np.arange(n), still, velocity, 0.0 * gap, 0.0 * gap, gap)
    phases = by_quantity(list(phase_measures(BALL, Ground(), motion, 0.3)))
    assert phases == pytest.approx(
        {("throw_flying_ms", 0.3): 30.0, ("throw_sliding_ms", 0.3): 20.0, ("throw_rolling_ms", 0.3): 10.0}
    )  # fmt: skip


def test_a_ball_that_rolls_has_no_slip() -> None:
    slip = slip_speed(
        BALL, Ground(), np.array([[0.0, 1.0, 0.3]] * 2), [[2.0, 0.0, -2.0], [2.0, 0.0, 1.0]]
    )
    assert slip == pytest.approx([0.0, 3.0])  # fmt: skip


def test_penetration_of_a_drop_is_less_than_the_way_of_one_step() -> None:
    for one in penetrations(BLOCK):
        fastest = {"drop": 15.0, "throw": 25.0}[one.scene]  # m/s: more than contact points reach
        assert -fastest * one.at <= one.value < 0.0


def test_two_points_can_have_their_restitution_and_three_one_in_common() -> None:
    found = by_quantity(list(restitution_residuals(PlanarBody(Polygon(SQUARE), 0.1, 6e-5))))
    assert found["residual_one_restitution", 2] == found["residual_own_restitution", 2] == 0.0
    assert found["residual_one_restitution", 3] == 0.0
    # three demands on a normal velocity and a spin
    assert found["residual_own_restitution", 3] > 0.01


def test_flight_leaves_mass_and_inertia_free_and_contact_their_ratio() -> None:
    found = by_quantity(list(identifiability_measures(BLOCK)))
    assert found.pop(("flight_free_directions", 0.0)) == 2
    assert len(found) == 20 and set(found.values()) == {1}
