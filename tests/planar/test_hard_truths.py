"""Throws with hard truths: impacts have the restitution drawn for them, a ground that gives way
loses what it must.
"""

from pathlib import Path

import numpy as np
import pytest
import yaml

from contactid.core.configuration import restore_numbers
from contactid.planar.identify.one_restitution import one_restitution_ratio
from contactid.planar.simulate import hard_truths
from contactid.planar.simulate.geometry import contacts
from contactid.planar.simulate.hard_truths import (
    TRUTHS,
    compliant_motion,
    differing_motion,
    hard_throw,
)
from contactid.planar.simulate.throws import body_and_ground

DEFAULT = yaml.safe_load((Path(__file__).parents[2] / "config/default.yaml").read_text())
PLANAR = restore_numbers(DEFAULT["planar"])
SHORT = {**PLANAR, "identification": {**PLANAR["identification"], "duration": 0.03}}
MU = 0.3


def normal_speeds(motion):
    """u_n before and after the step to every state, m/s, by N at the state before."""
    body, ground = body_and_ground(PLANAR)
    normal = contacts(body.shape, ground, motion.position[:-1]).normal[:, 0]
    return (normal * motion.velocity[:-1]).sum(axis=1), (normal * motion.velocity[1:]).sum(axis=1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_impact_has_the_restitution_that_is_drawn_for_it(seed):
    motion = differing_motion(PLANAR, MU, seed)
    assert np.allclose(np.diff(motion.time), 1e-5) and motion.time[-1] == pytest.approx(0.25001)
    pushes = motion.impulse_n[1:, 0] > 0.0
    steps = np.flatnonzero(pushes & ~np.concatenate([[False], pushes[:-1]]))
    before, after = normal_speeds(motion)
    hard = [k for k in steps if before[k] < -0.1][:2]
    drawn = 0.6 * np.random.default_rng(seed).random(2)
    assert len(hard) == 2 and -after[hard] / before[hard] == pytest.approx(drawn, abs=1e-9)


def test_a_ground_that_gives_way_pushes_for_about_a_millisecond_and_takes_energy():
    motion, (body, _) = compliant_motion(SHORT, MU), body_and_ground(SHORT)
    pushes = np.flatnonzero(motion.impulse_n[:, 0] > 0.0)
    assert (np.diff(pushes) == 1).all() and 0.5e-3 < 1e-5 * len(pushes) < 2e-3
    assert (
        np.abs(motion.impulse_t) <= MU * motion.impulse_n + 1e-15
    ).all() and motion.gap.min() > -2e-3
    energy = (
        0.5 * motion.velocity**2 @ body.mass_matrix
        + body.mass * SHORT["gravity"] * motion.position[:, 1]
    )
    assert energy[-1] < 0.9 * energy[0]


def test_without_losses_it_gives_all_energy_back(monkeypatch):
    monkeypatch.setattr(hard_truths, "_DAMPING", 0.0)
    motion, (body, _) = compliant_motion(SHORT, 0.0), body_and_ground(SHORT)
    energy = (
        0.5 * motion.velocity**2 @ body.mass_matrix
        + body.mass * SHORT["gravity"] * motion.position[:, 1]
    )
    assert motion.impulse_n[-1, 0] == 0.0 < motion.impulse_n.max()
    assert energy[-1] == pytest.approx(energy[0], rel=1e-3)


def test_of_one_seed_wrong_statements_of_the_noise_change_the_statement_alone():
    plain, half, double = (hard_throw(PLANAR, TRUTHS[k], 3)[1] for k in (0, -2, -1))
    assert np.array_equal(plain.position, half.position) and np.array_equal(
        plain.position, double.position
    )
    assert np.allclose(2.0 * half.sigma, plain.sigma) and np.allclose(
        double.sigma, 2.0 * plain.sigma
    )


def test_another_body_is_the_one_that_its_throw_is_of():
    body, throw = hard_throw(PLANAR, "other_body", 1)
    assert body.inertia / body.mass == pytest.approx(4e-4)
    assert np.abs(throw.position - hard_throw(PLANAR, "as_table_1", 1)[1].position).max() > 0.1


@pytest.mark.parametrize(
    ("truth", "seed", "least", "most"),
    [("as_table_1", 1, 0.0, 0.5), ("differing_restitution", 3, 10.0, 100.0)],
)
def test_one_restitution_for_all_impacts_is_enough_only_where_there_is_one(
    truth, seed, least, most
):
    body, throw = hard_throw(PLANAR, truth, seed)
    ratio = body.inertia / body.mass
    error_pct = 100.0 * (one_restitution_ratio(body.shape, throw, PLANAR["gravity"]) / ratio - 1.0)
    assert least <= abs(error_pct) <= most
