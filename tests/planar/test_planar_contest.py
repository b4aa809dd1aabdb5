"""A contest of reformulations is fair: all begin where the start is, and from the answer nobody
leaves it.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contactid.core.complementarity import Reformulation
from contactid.core.reformulations import parameter_allowing
from contactid.planar.identify.cells import fit_options
from contactid.planar.identify.contest import (
    FITTED_MOTION,
    MEASURED_POSES,
    METHODS,
    OTHER_INERTIA,
    attempt,
    continuation_from,
    first_residual,
    starts_of,
    write_reformulations,
)
from contactid.planar.identify.fit import CONTACT_SEQUENCE
from contactid.planar.identify.starts import contact_modes
from contactid.planar.models.trajectory import Guess, sub_steps_of
from contactid.planar.simulate.throws import body_and_ground, measured_throw, noise_of, true_motion

STORED = Path(__file__).parents[2] / "workflow/resources/stored/planar_table1/provenance.json"
SETTINGS = json.loads(STORED.read_text(encoding="utf-8"))["settings"]
BODY, GROUND = body_and_ground(SETTINGS)
OPTIONS = fit_options(SETTINGS)
RIVALS = [method for method in METHODS if method != CONTACT_SEQUENCE]


@pytest.fixture(scope="module")
def throw():
    """A throw that isn't in the stored contest."""
    sigma = noise_of(SETTINGS, "one_mrad")
    return measured_throw(
        true_motion(SETTINGS, 0.2),
        GROUND,
        duration=0.25,
        frames_per_second=240.0,
        sigma=sigma,
        seed=101,
    )


@pytest.fixture(scope="module")
def starts(throw):
    return starts_of(BODY.shape, throw, OPTIONS)


@pytest.fixture(scope="module")
def answer(throw, starts):
    """The contact sequence's answer, as a start."""
    fit = attempt(BODY.shape, throw, starts[FITTED_MOTION], CONTACT_SEQUENCE, OPTIONS).fit
    assert fit.converged and fit.plausible
    states = fit.states
    even = throw.frame_interval / sub_steps_of(throw, OPTIONS.longest_step)
    found = replace(
        starts[FITTED_MOTION].throw,
        share=np.diff(states.time) / even,
        position=states.position,
        velocity=states.velocity,
        impulse_n=states.impulse_n,
        impulse_t=states.impulse_t,
        mode=contact_modes(states.impulse_n, states.impulse_t, fit.friction_mu),
    )
    return fit, Guess(fit.inertia_ratio, fit.friction_mu, found)


@pytest.mark.parametrize("method", RIVALS)
def test_a_rival_that_starts_at_the_answer_stays_there(method, throw, answer):
    fit, guess = answer
    again = attempt(BODY.shape, throw, guess, method, OPTIONS)
    assert again.success and again.fit.inertia_ratio == pytest.approx(fit.inertia_ratio, rel=2e-3)
    assert again.fit.misfit == pytest.approx(fit.misfit, abs=0.5)


def test_an_attempt_repeats_though_its_start_is_rounded(throw, starts):
    """A first stage that lets go of the start wanders, and rounding decides where it ends."""
    start = starts[FITTED_MOTION]
    rounded = replace(start, inertia_ratio=start.inertia_ratio * (1.0 + 1e-13))
    first, again = (
        attempt(BODY.shape, throw, guess, "fischer_burmeister", OPTIONS)
        for guess in (start, rounded)
    )
    assert first.success and again.fit.inertia_ratio == pytest.approx(
        first.fit.inertia_ratio, rel=1e-6
    )


def test_the_first_stage_is_the_starts_mean_residual_and_never_nothing():
    assert first_residual([(1.0, -3e-3), (0.0, 2.0), (1e-3, 5.0), (2.0, 2.0)]) == pytest.approx(
        0.501, rel=1e-3
    )
    assert first_residual([(1.0, 0.0), (0.0, 2.0)]) == 1e-4


@pytest.mark.parametrize("method", list(Reformulation))
def test_every_method_begins_by_the_same_rule(method):
    continuation = continuation_from(method, 0.01)
    assert continuation.parameters == (parameter_allowing(method, 0.01),)
    assert (continuation.settle, continuation.extensions) == (True, 1)


def test_bad_starts_differ_from_the_good_one_as_stated(starts):
    good, other, poses = (starts[name] for name in (FITTED_MOTION, OTHER_INERTIA, MEASURED_POSES))
    assert other.inertia_ratio == 0.5 * good.inertia_ratio and other.throw == good.throw
    assert not poses.throw.impulse_n.any() and poses.throw.mode is None


def test_rows_tell_success_and_compare_answers_alone(tmp_path):
    contest = {
        "methods": [CONTACT_SEQUENCE, "l1_penalty"],
        "frames_per_second": [240],
        "seeds": 1,
        "bad_start_seeds": 1,
        "truth_seeds": 1,
    }
    block = {
        **SETTINGS,
        "identification": {**SETTINGS["identification"], "reformulations": contest},
    }
    write_reformulations(block, "0.2", tmp_path / "table.csv")
    table = np.genfromtxt(
        tmp_path / "table.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    pairs = list(zip(table["start"].tolist(), table["reformulation"].tolist(), strict=True))
    assert pairs == [
        (FITTED_MOTION, CONTACT_SEQUENCE),
        (FITTED_MOTION, "l1_penalty"),
        (OTHER_INERTIA, CONTACT_SEQUENCE),
        (OTHER_INERTIA, "l1_penalty"),
        (MEASURED_POSES, "l1_penalty"),
    ]
    success = table["success"].astype(bool)
    assert success[:2].all() and (np.isfinite(table["answer_error_pct"]) == success).all()
