"""The authors' per-box thresholds, on twins of the boxes whose thresholds fit any set-up."""

from pathlib import Path

import numpy as np
import pytest

from contactid.sources.motion import iterate_recordings
from motion_in_memory import read_iam_archive
from tosses_for_tests import EVENTS, prepare_tosses

EMBEDDED = Path(__file__).parents[2] / "workflow/resources/embedded"
THEIRS = {**EVENTS, "rule": "authors"}


def twin(number):
    return read_iam_archive(
        EMBEDDED / f"box{number}_trajectories_twin.h5",
        f"Box{number}",
        surface_name="ConveyorPart001",
        licence="CC0-1.0",
    )


@pytest.mark.parametrize("number", ["004", "007"])
def test_release_is_the_last_high_peak_and_rest_close_to_ours(number):
    motion = twin(number)
    theirs = prepare_tosses(motion, exclude_tumbling=True, events=THEIRS)
    ours = prepare_tosses(motion, exclude_tumbling=True)
    assert (theirs["reason"].values == "").all() and (theirs["events"].values == "authors").all()
    for _, samples in iterate_recordings(theirs):
        height = samples["position"].values[:, 2]
        release = int(samples["release"])
        assert height[release] >= 0.095
        assert height[release] >= height[release - 1] and height[release] >= height[release + 1]
    assert np.abs(theirs["rest"].values - ours["rest"].values).max() <= 5


def test_a_toss_that_their_thresholds_do_not_fit_keeps_its_events_and_says_so():
    motion = twin("006")
    theirs, ours = (prepare_tosses(motion, exclude_tumbling=True, events=rule) for rule in (THEIRS, EVENTS))
    own = theirs["events"].values == "data_driven"
    assert own.any() and (theirs["reason"].values == "").all()
    for name in ("release", "contact", "rest"):
        np.testing.assert_array_equal(theirs[name].values[own], ours[name].values[own])


def test_their_thresholds_are_for_identification_alone():
    tested = prepare_tosses(twin("004"), exclude_tumbling=True, share=0.0, events=THEIRS)
    assert (tested["split"].values == "test").all() and (tested["events"].values == "data_driven").all()
