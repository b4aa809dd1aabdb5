"""Gains of a single sensor's channels: a spread that is there is seen, and one that isn't widens
nothing.
"""

from dataclasses import replace

import numpy as np

from contactid.inhand.identify.averaging import averaged_stretches
from contactid.inhand.identify.likelihood import GAIN_SD, INTERVAL, fit_recording, told_parameters
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


def test_the_centre_is_held_where_channels_have_gains_of_their_own():
    held, grown = 0, []
    for seed in range(30, 36):
        truth, stretches = wrist(seed, gain=True)
        fit, exact = (fit_recording(stretches, sd) for sd in (GAIN_SD, 0.0))
        off = np.abs(told_parameters(fit.body.vector) - truth)[CENTER]
        held += np.count_nonzero(off <= INTERVAL * fit.errors[CENTER])
        grown.append(fit.errors[CENTER] / exact.errors[CENTER])
    assert held >= 16
    assert np.median(grown) > 1.5


def test_channels_that_agree_widen_nothing():
    grown = []
    for seed in range(30, 34):
        _, stretches = wrist(seed, gain=False)
        fit, exact = (fit_recording(stretches, sd) for sd in (GAIN_SD, 0.0))
        grown.append(fit.errors[CENTER] / exact.errors[CENTER])
    assert np.median(grown) < 1.05 and np.max(grown) < 2.0
