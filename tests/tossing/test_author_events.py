"""The authors' per-box thresholds, on twins of the boxes whose thresholds fit any set-up."""

from pathlib import Path

import numpy as np
import pytest

from contactid.sources.motion import iterate_recordings
from contactid.tossing.prepare.events import Events, as_authors
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
    theirs, ours = (
        prepare_tosses(motion, exclude_tumbling=True, events=rule) for rule in (THEIRS, EVENTS)
    )
    own = theirs["events"].values == "data_driven"
    assert own.any() and (theirs["reason"].values == "").all()
    for name in ("release", "contact", "rest"):
        np.testing.assert_array_equal(theirs[name].values[own], ours[name].values[own])


def test_their_thresholds_are_for_identification_alone():
    tested = prepare_tosses(twin("004"), exclude_tumbling=True, share=0.0, events=THEIRS)
    assert (tested["split"].values == "test").all() and (
        tested["events"].values == "data_driven"
    ).all()


def test_a_peak_at_which_the_box_was_still_held_is_no_release():
    n, step = 400, 1.0 / 360.0
    height = np.full(n, 0.09)
    height[60:141] += 0.1 * np.sin(
        np.linspace(0.0, np.pi, 81)
    )  # lifted and lowered by hand, highest at sample 100
    height[200:] = 0.05
    along = 0.1 * step * np.minimum(np.arange(n), 250)  # at rest from sample 250 on
    position = np.column_stack([along, np.zeros(n), height])
    orientation = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    vertices = np.array(
        [[x, y, z] for x in (-0.096, 0.096) for y in (-0.05, 0.05) for z in (-0.03, 0.03)]
    )
    held, no_flight = (
        "finds a peak at which the box was still held",
        "no flight, or a rest before the contact",
    )
    for release, contact, reason in (
        (190, 200, held),
        (105, 200, ""),
        (99, 105, ""),
        (99, 104, no_flight),
    ):
        found = Events(release=release, contact=contact, rest=250)
        theirs = as_authors(found, position, orientation, vertices, step, np.zeros(3), 0.02)
        assert (reason in theirs.reason) if reason else not theirs.reason
        assert reason or theirs.release == 100
