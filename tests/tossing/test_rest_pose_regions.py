"""Regions of rest poses: exact shapes, laws, and whether they hold what they say on planted tosses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.path import Path as Outline
from scipy.stats import betabinom
from test_rest_pose_distribution import TRUE_KERNEL, cloud, clouds

from contactid.tossing.predict.rest_pose_cloud import FACES, UNKNOWN, FlatPoses
from contactid.tossing.predict.rest_pose_distribution import (
    Kernel,
    Scores,
    density,
    draw_poses,
    score_tosses,
)
from contactid.tossing.predict.rest_pose_regions import (
    LEVELS,
    face_probabilities,
    predict_rest,
    region_table,
    shown_tosses,
)
from tosses_for_tests import box

UNIFORM = np.linspace(0.0, 1.0, 1001)  # scores of right predictions
GAUSSIAN = Kernel(0.02, 0.008, 0.15)


def model(kernel, held_out=UNIFORM):
    return Scores(pd.DataFrame(), kernel, np.zeros(0), held_out)


def single(seed, face=2):
    """A cloud of one simulated rest pose."""
    made = cloud(np.random.default_rng(seed))
    samples = FlatPoses(np.array([face]), made.samples.pose[:1])
    return replace(made, samples=samples, central=samples, measured=samples)


def inside(outlines, poses):
    """Which poses lie within the outlines, on their own face."""
    held = np.zeros(len(poses.face), dtype=int)
    for face, corners in outlines:
        held += (poses.face == face) & Outline(corners).contains_points(poses.pose[:, :2])
    return held % 2 == 1


def test_the_region_of_one_normal_kernel_is_its_ellipse():
    one = single(1)
    found = predict_rest(one, model(GAUSSIAN), np.random.default_rng(0))
    for level, area, outlines, covers in zip(
        LEVELS, found.areas, found.outlines, found.covers, strict=True
    ):
        square = -2.0 * np.log(1.0 - level)  # of the radius, in standard deviations
        ellipse = np.pi * square * GAUSSIAN.along * GAUSSIAN.across
        assert area == pytest.approx(ellipse, rel=0.12), "1,000 draws tell where it ends"
        ((face, corners),) = outlines
        along = (corners - one.central.pose[0, :2]) @ one.heading
        assert face == 2 and np.abs(along).max() == pytest.approx(
            np.sqrt(square) * GAUSSIAN.along, rel=0.1
        )
        assert np.allclose(corners[0], corners[-1]) and covers


def test_the_density_without_yaw_is_the_one_with_it_summed_over_the_yaw():
    made = cloud(np.random.default_rng(4), n=10)
    kernel = Kernel(0.02, 0.01, 0.05, 8.0, 0.2, 0.1)
    poses = draw_poses(made, kernel, 40, np.random.default_rng(0))
    yaw = np.linspace(-np.pi, np.pi, 721)[:-1]
    total = np.zeros(40)
    for angle in yaw:
        turned = np.column_stack([poses.pose[:, :2], np.full(40, angle)])
        total += density(made, kernel, FlatPoses(poses.face, turned)) * (yaw[1] - yaw[0])
    assert np.allclose(density(made, kernel, poses, yaw=False), total, rtol=0.01)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 0.9))
def test_faces_are_as_probable_as_they_are_drawn(seed, lost):
    made, kernel = cloud(np.random.default_rng(seed)), replace(TRUE_KERNEL, lost=lost)
    faces = face_probabilities(made, kernel)
    assert list(faces) == FACES.tolist() and sum(faces.values()) == pytest.approx(1.0, abs=1e-12)
    drawn = draw_poses(made, kernel, 20_000, np.random.default_rng(1)).face
    assert np.allclose([(drawn == face).mean() for face in faces], list(faces.values()), atol=0.02)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 0.3))
def test_regions_grow_with_their_level_and_hold_what_is_denser_than_their_edge(seed, lost):
    random = np.random.default_rng(seed)
    made, kernel = cloud(random), replace(TRUE_KERNEL, lost=lost)
    found = predict_rest(made, model(kernel), random)
    assert 0.0 < found.areas[0] < found.areas[1] < found.areas[2]
    drawn = draw_poses(made, kernel, 2000, random)
    held = [inside(outlines, drawn) for outlines in found.outlines]
    assert not (held[0] & ~held[1]).any() and not (held[1] & ~held[2]).any(), "nested"
    for level, within in zip(LEVELS, held, strict=True):
        assert within.mean() == pytest.approx(level, abs=0.06)


def test_two_faces_have_a_region_each_and_the_measured_one_must_be_right():
    made = single(3)
    two = FlatPoses(np.array([2, -1]), np.repeat(made.samples.pose, 2, axis=0))
    for face, covers in ((2, True), (-1, True), (3, False)):
        measured = FlatPoses(np.array([face]), made.samples.pose)
        found = predict_rest(
            replace(made, samples=two, measured=measured), model(GAUSSIAN), np.random.default_rng(0)
        )
        assert found.covers == [covers] * 3, "the place is right, the face decides"
        assert {outlined for outlined, _ in found.outlines[0]} == {2, -1}


def test_without_a_measured_rest_pose_there_are_regions_but_no_answer_whether_they_hold_it():
    unknown = FlatPoses(np.array([UNKNOWN]), np.full((1, 3), np.nan))
    known, hidden = (
        predict_rest(one, model(TRUE_KERNEL), np.random.default_rng(0))
        for one in (clouds(1, 3)[0], replace(clouds(1, 3)[0], measured=unknown))
    )
    assert (
        hidden.covers == [None] * 3 and np.isnan(hidden.naive_score) and hidden.areas == known.areas
    )


def test_too_few_identification_tosses_for_a_level_leave_everything_inside():
    found = predict_rest(
        clouds(1, 3)[0], model(TRUE_KERNEL, np.linspace(0.1, 0.9, 5)), np.random.default_rng(0)
    )
    assert (
        np.isfinite(found.areas[0])
        and found.areas[2] == np.inf
        and found.outlines[2] == []
        and found.covers[2]
    )


def test_regions_calibrated_on_some_planted_tosses_hold_the_stated_share_of_others():
    """The count of n new tosses is beta-binomial, as the quantile of N scores is itself drawn."""
    N, n = 100, 150
    identification, test = clouds(N, 21, n=40), clouds(n, 22, n=40)
    scores = score_tosses(identification, test[:1], 0.1, n=500, folds=3)
    fitted = model(scores.kernel, scores.held_out_positions)
    random = np.random.default_rng(5)
    predictions = [predict_rest(one, fitted, random) for one in test]
    for k, level in enumerate(LEVELS):
        rank = int(np.ceil((N + 1) * level))
        low, high = betabinom.ppf([0.005, 0.995], n, rank, N + 1 - rank)
        assert low <= sum(one.covers[k] for one in predictions) <= high, level
        assert sum(one.naive_score <= level for one in predictions) < low, (
            "without the model's error"
        )


def test_a_figure_shows_the_least_sure_faces_and_regions_with_what_was_measured():
    made = clouds(8, 31)
    torn = FlatPoses(
        np.repeat(made[5].samples.face[:2], 30) * np.repeat([1, -1], 30), made[5].samples.pose
    )
    made[5] = replace(made[5], samples=torn)
    chosen = shown_tosses([face_probabilities(one, GAUSSIAN) for one in made], 3)
    assert len(chosen) == 3 and chosen[-1] == 5
    found = predict_rest(made[5], model(GAUSSIAN), np.random.default_rng(0))
    data = region_table([found], box().vertices)
    assert set(data["toss"]) == {"toss5"} and set(data["kind"]) >= {
        "region_50",
        "region_80",
        "region_90",
        "predicted",
    }
    assert not data.loc[data["kind"].str.startswith("region"), "likely"].all(), "two faces"
    places = data[["x_m", "y_m"]]
    middle = places[data["kind"] == "measured"].mean() - places[data["kind"] == "center"].iloc[0]
    assert np.abs(middle.to_numpy()).max() < 1e-12, "outlined round its own centre"
    corners = [np.asarray(line) for _, line in found.outlines[0]]
    drawn = [
        part[["x_m", "y_m"]].to_numpy()
        for _, part in data[data["kind"] == "region_50"].groupby("polygon")
    ]
    assert all(np.array_equal(one, other) for one, other in zip(corners, drawn, strict=True))


def test_few_tosses_are_all_shown():
    assert shown_tosses([{1: 0.4, 2: 0.6}], 6) == [0]
    assert sorted(shown_tosses([{1: share} for share in (0.9, 0.5, 0.7)], 6)) == [0, 1, 2]
