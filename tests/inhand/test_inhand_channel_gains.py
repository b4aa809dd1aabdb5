"""Gains of a single sensor's channels: a spread that is there is seen and taken off, and one that
isn't widens nothing.
"""

from dataclasses import replace

import numpy as np
import pytest

from contactid.inhand.identify import channel_gains
from contactid.inhand.identify.averaging import averaged_stretches
from contactid.inhand.identify.channel_gains import without_gains
from contactid.inhand.identify.disturbance_models import inverse, models
from contactid.inhand.identify.joint import FittedRecording
from contactid.inhand.identify.latent_errors import LatentErrors
from contactid.inhand.identify.likelihood import GAIN_SD, INTERVAL, fit_recording, told_parameters
from contactid.inhand.identify.linearised import linearised
from own_advice import study_twin

GAIN, CROSSTALK = 0.04, 0.015
CENTER = slice(1, 4)


def wrist(seed, gain):
    """A twin's truth, and its estimate where channels have gains and crosstalk."""
    twin, random = study_twin("wrist_ft", "none", seed), np.random.default_rng([seed, 77])
    sizes = np.where(np.eye(3, dtype=bool), GAIN, CROSSTALK)
    seen = twin.record(None, seed, None)
    if gain:
        forces, torques = (
            values @ (np.eye(3) + sizes * random.normal(size=(3, 3))).T
            for values in (seen.forces, seen.torques)
        )
        seen = replace(seen, forces=forces, torques=torques)
    return told_parameters(twin.truth.vector), averaged_stretches(seen)[0]


def test_the_answer_is_that_of_gains_as_unknowns_of_a_stated_spread(monkeypatch):
    _, stretches = wrist(30, gain=True)
    fit = fit_recording(stretches)
    fitted = FittedRecording.of(stretches, fit)
    recording, present = fitted.recording, linearised(fitted.recording, fit.body.vector)
    errors = LatentErrors(present.equations, fit.levels)
    size = present.equations.slope.shape[2]
    deviations = np.full(size, 10.0)
    (model,) = models(errors.information, errors.score, deviations, np.zeros(size), (), True)
    variance = 0.02**2
    monkeypatch.setattr(channel_gains, "likeliest_variances", lambda *_: np.array([variance]))
    without, gains = without_gains(recording, present, errors, model, GAIN_SD)

    # least squares of parameters and gains together, with the gains' prior
    expected = present.equations.slope @ model.answer
    each = channel_gains._channels(recording, present.roots @ expected[..., None])
    columns = np.concatenate(
        [
            present.equations.slope[:, :, model.columns],
            np.linalg.solve(present.roots, each),
            present.equations.value[..., None],
        ],
        axis=2,
    )
    products, count = errors.inner(columns), len(model.columns)
    information, score = products[:-1, :-1], products[:-1, -1]
    information[:count, :count] += np.diag(deviations[model.columns] ** -2.0)
    of_gains = np.arange(count, len(information))
    information[of_gains, of_gains] += 1.0 / variance
    both = inverse(information)
    assert without.answer[model.columns] == pytest.approx(
        (both @ score)[:count], rel=1e-4, abs=1e-6
    )
    by_gain = inverse(model.information) @ gains.scores
    covariance = inverse(model.information) + by_gain @ by_gain.T
    assert np.diag(covariance) == pytest.approx(np.diag(both)[:count], rel=1e-4)
    assert gains.common_sd**2 == pytest.approx(GAIN_SD**2 - 2.0 / 3.0 * variance)


def test_the_centre_is_held_and_nearer_where_channels_have_gains_of_their_own():
    held, off = 0, []
    for seed in range(30, 36):
        truth, stretches = wrist(seed, gain=True)
        fit, exact = (fit_recording(stretches, sd) for sd in (GAIN_SD, 0.0))
        away = [told_parameters(one.body.vector)[CENTER] - truth[CENTER] for one in (fit, exact)]
        held += np.count_nonzero(np.abs(away[0]) <= INTERVAL * fit.errors[CENTER])
        off.append(away)
    assert held >= 16
    of_fit, of_exact = np.sqrt(np.mean(np.square(off), axis=(0, 2)))
    assert of_fit < 0.9 * of_exact


def test_channels_that_agree_widen_nothing():
    grown = []
    for seed in range(30, 34):
        _, stretches = wrist(seed, gain=False)
        fit, exact = (fit_recording(stretches, sd) for sd in (GAIN_SD, 0.0))
        grown.append(fit.errors[CENTER] / exact.errors[CENTER])
    assert np.median(grown) < 1.05 and np.max(grown) < 1.5
