"""What air does to the scale that flights tell: an exact law."""

import numpy as np
import pytest

from contactid.sources.motion import iterate_recordings
from contactid.tossing.identify.body import GRAVITY
from contactid.tossing.toss.drag import drag_of
from tosses_for_tests import RATE, box, motion, prepare_tosses, recordings


@pytest.mark.parametrize("drag", [0.0, 0.03])
def test_drag_and_what_it_makes_of_gravity_are_told_by_flights(drag):
    prepared = prepare_tosses(motion(recordings(box(), 12, seed=4), box()))
    position = prepared["position"].values.copy()
    rows = np.cumsum(prepared["row_size"].values) - prepared["row_size"].values
    for first, (_, samples) in zip(rows, iterate_recordings(prepared), strict=True):
        flight = slice(int(samples["release"]), int(samples["contact"]))
        path = samples["position"].values[flight]
        velocity = np.gradient(path, 1.0 / RATE, axis=0)
        push = -drag * np.linalg.norm(velocity, axis=1)[:, None] * velocity
        position[first + flight.start : first + flight.stop] += (
            np.cumsum(np.cumsum(push, axis=0), axis=0) / RATE**2
        )
    told = drag_of(prepared.assign(position=prepared["position"].copy(data=position)))
    assert told.value == pytest.approx(drag, abs=0.006)
    assert told.effect * GRAVITY == pytest.approx(1.5, rel=0.7)  # m2/s2 of these falls
    assert bool(told.warnings()) == (drag > 0.0)
