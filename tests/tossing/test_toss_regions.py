"""Regions of rest poses by the other tosses: what they hold, what they may depend on, when there
are none.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from test_rest_pose_distribution import clouds

from contactid.core.errors import ContactIdError
from contactid.tossing.own.toss_regions import regions_by_others
from contactid.tossing.predict.rest_pose_cloud import FlatPoses
from contactid.tossing.predict.rest_pose_regions import LEVELS

SIDE = 0.1  # m


def in_blocks(made, number=5):
    return [[made[k] for k in places] for places in np.array_split(np.arange(len(made)), number)]


def test_they_hold_the_stated_share_of_planted_tosses():
    """And uncertain parameters and release alone, the naive answer, hold less."""
    found = [
        one
        for seed in range(5)
        for one in regions_by_others(in_blocks(clouds(20, seed, n=40)), SIDE, seed)[0]
    ]
    for k, level in enumerate(LEVELS):
        low, high = binom.ppf([0.005, 0.995], len(found), level)
        assert low <= sum(one.covers[k] for one in found) <= high, level
        assert sum(one.naive_score <= level for one in found) < low, level


def test_a_block_s_own_rest_poses_shape_no_region_of_it_by_the_kernel():
    """Lost tosses in a block leave its kernel, and so its faces, as they are; the others' grow."""
    made = clouds(15, 3, n=40)
    lost = [
        replace(one, measured=FlatPoses(-one.measured.face, one.measured.pose + 0.5))
        for one in made[:3]
    ]
    before, after = (
        regions_by_others(in_blocks(part), SIDE, 0)[0] for part in (made, [*lost, *made[3:]])
    )
    assert [one.faces for one in before[:3]] == [one.faces for one in after[:3]]
    assert all(max(b.faces.values()) > max(a.faces.values()) for b, a in
               zip(before[3:], after[3:], strict=True))  # fmt: skip


def test_a_level_that_few_tosses_cannot_tell_holds_everything():
    found, _ = regions_by_others(in_blocks(clouds(8, 5, n=40)), SIDE, 0)
    assert [one.toss for one in clouds(8, 5, n=40)] == [one.cloud.toss for one in found]
    assert all(np.isfinite(one.areas[0]) and one.areas[2] == np.inf for one in found)


def test_too_few_tosses_are_refused():
    with pytest.raises(ContactIdError, match="4 tosses are too few"):
        regions_by_others(in_blocks(clouds(5, 5, n=40)), SIDE, 0)
