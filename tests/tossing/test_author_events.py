"""The authors' per-box thresholds, on twins of the boxes whose thresholds fit any set-up."""

from pathlib import Path

import numpy as np
import pytest

from contactid.core.errors import ContactIdError
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
    assert (theirs["reason"].values == "").all()
    for _, samples in iterate_recordings(theirs):
        height = samples["position"].values[:, 2]
        release = int(samples["release"])
        assert height[release] >= 0.095
        assert height[release] >= height[release - 1] and height[release] >= height[release + 1]
    assert np.abs(theirs["rest"].values - ours["rest"].values).max() <= 5


def test_a_set_up_their_thresholds_do_not_fit_is_said_so():
    with pytest.raises(ContactIdError, match=r"no peak of at least 0.105 m"):
        prepare_tosses(twin("006"), exclude_tumbling=True, events=THEIRS)
