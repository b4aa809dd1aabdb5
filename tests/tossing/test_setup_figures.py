"""Figures 1 to 4 and 11 of the tossing paper: the view, the scenes taken from the data, and their
drawings.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from contactid.core import rotations
from contactid.output import style
from contactid.output.tables import read_csv, write_csv
from contactid.sources.motion import Recording, iterate_recordings
from contactid.tossing.artefacts.playback import faces
from contactid.tossing.artefacts.scenes import (
    COLUMNS,
    INSTEAD_OF_PHOTOGRAPH,
    INSTEAD_OF_SKETCH,
    Picture,
    boxes_scene,
    example_toss_scene,
    frames_scene,
    points_of,
    setup_scene,
)
from contactid.tossing.prepare.poses import vertex_positions
from tosses_for_tests import RATE, box, motion, prepare_tosses, recordings
from tossing_figures import FIGURES, draw_figure

HELD = 40  # samples at the start of each recording in which the body is held still
angles = st.floats(-3.1, 3.1)
quaternions = st.tuples(angles, angles, angles).map(lambda vector: rotations.exp(np.array(vector)))
sizes = st.tuples(*[st.floats(0.05, 0.4)] * 3).map(np.array)
CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))


def moved_to_m(recording, surface_position, surface_orientation, belt):
    """The recording as seen from M, where C is elsewhere, and with a while before the release."""
    turn = rotations.as_rotation(surface_orientation)
    position = np.vstack([np.repeat(recording.position[:1], HELD, axis=0), recording.position])
    orientation = np.vstack(
        [np.repeat(recording.orientation[:1], HELD, axis=0), recording.orientation]
    )
    return Recording(
        name=recording.name,
        position=surface_position + turn.apply(position),
        orientation=rotations.continuous(
            rotations.as_quaternions(turn * rotations.as_rotation(orientation))
        ),
        surface_position=surface_position,
        surface_orientation=surface_orientation,
        surface_velocity=belt,
    )


@pytest.fixture(scope="module")
def tosses():
    """Canonical and prepared tosses, C turned and shifted in M."""
    body = box()
    turn = rotations.exp(np.array([0.002, -0.001, 0.6]))
    made = [
        moved_to_m(r, np.array([0.4, -0.3, 0.01]), turn, np.zeros(3))
        for r in recordings(body, 4, seed=3)
    ]
    canonical = motion(made, body)
    return canonical, prepare_tosses(canonical)


@pytest.fixture(scope="module")
def at_the_origin():
    """Canonical and prepared tosses for which M is C."""
    body = box()
    canonical = motion(recordings(body, 3, seed=5), body)
    return canonical, prepare_tosses(canonical)


def usable(prepared):
    return {
        name: samples
        for name, samples in iterate_recordings(prepared)
        if not str(samples["reason"].values)
    }


def length_of(scene, item):
    return np.linalg.norm(np.diff(points_of(part(scene, "dimension", item)), axis=0))


def part(scene, name, item=None):
    rows = scene[scene["part"] == name]
    return rows if item is None else rows[rows["item"] == item]


# the drawn box


@given(st.floats(-180.0, 180.0), st.floats(-80.0, 80.0), sizes, quaternions)
@settings(max_examples=20, deadline=None)
def test_the_drawn_sides_of_a_box_cover_its_outline_once(azimuth, elevation, size, quaternion):
    vertices = CORNERS * size
    corners = vertices @ rotations.matrices(quaternion).T
    scene = pd.DataFrame(
        corners[np.array(faces(vertices))].reshape(24, 3), columns=["x_m", "y_m", "z_m"]
    )
    with style.styled():
        picture = Picture(scene.assign(part="face", item="B"), 5.0, azimuth, elevation)
        picture.box("B", "#cfcfcf")
        sides = [patch.get_xy()[:4] for patch in picture.axes.patches]
        plt.close(picture.axes.figure)
    area = sum(
        ConvexHull(side).volume
        for side in sides
        if np.linalg.matrix_rank(side - side[0], tol=1e-6) == 2
    )
    assert area == pytest.approx(ConvexHull(picture.flat(corners)).volume, rel=1e-3)


def test_a_shadow_is_the_outline_from_above(tosses):
    scene = example_toss_scene(tosses[1])
    with style.styled():
        picture = Picture(scene, 5.0, 0.0, 90.0)  # seen from above, x downward
        picture.shadow("release")
        (patch,) = picture.axes.patches
        plt.close(picture.axes.figure)
    below = picture.flat(points_of(part(scene, "face", "release")) * [1.0, 1.0, 0.0])
    drawn = patch.get_xy()
    assert np.allclose(drawn.min(axis=0), below.min(axis=0))
    assert np.allclose(drawn.max(axis=0), below.max(axis=0))
    assert ConvexHull(drawn).volume == pytest.approx(ConvexHull(below).volume)


# the scenes


def test_the_time_lapse_shows_the_recorded_poses(tosses):
    _, prepared = tosses
    scene = example_toss_scene(prepared)
    samples = usable(prepared)[scene["toss"].iloc[0]]
    shown = part(scene, "origin")
    for event, item in (("release", "release"), ("contact", "first contact"), ("rest", "rest")):
        assert part(scene, "origin", item)["sample"].tolist() == [int(samples[event])]
    assert 4 <= len(shown) <= 7 and shown["sample"].is_monotonic_increasing
    assert np.allclose(shown["time_s"], (shown["sample"] - int(samples["release"])) / RATE)
    corners = vertex_positions(
        samples["position"].values, samples["orientation"].values, prepared["vertices"].values
    )
    for item, k in zip(shown["item"], shown["sample"], strict=True):
        drawn = np.unique(points_of(part(scene, "face", item)).round(9), axis=0)
        assert np.allclose(drawn, np.unique(corners[k].round(9), axis=0))


def test_the_surface_reaches_under_every_box_drawn(tosses):
    canonical, prepared = tosses
    for scene in (example_toss_scene(prepared), frames_scene(prepared, canonical)):
        patch, boxes = points_of(part(scene, "surface")), points_of(part(scene, "face"))
        assert (patch.min(axis=0)[:2] < boxes.min(axis=0)[:2]).all()
        assert (patch.max(axis=0)[:2] > boxes.max(axis=0)[:2]).all()


def test_frame_m_takes_recorded_positions_to_prepared_ones(tosses):
    canonical, prepared = tosses
    scene = frames_scene(prepared, canonical)
    toss = scene["toss"].iloc[0]
    lines = points_of(part(scene, "axis", "M")).reshape(3, 2, 3)
    directions = (lines[:, 1] - lines[:, 0]).T
    directions /= np.linalg.norm(directions, axis=0)
    recorded = dict(iterate_recordings(canonical))[toss]["position"].values
    assert np.allclose(
        lines[0, 0] + recorded @ directions.T, usable(prepared)[toss]["position"].values, atol=1e-9
    )
    assert (
        prepared.attrs["plane_height"] != 0.0
    )  # otherwise the correction of the plane would not be tested


def test_corners_are_numbered_in_the_order_of_the_data(tosses):
    canonical, prepared = tosses
    scene = frames_scene(prepared, canonical)
    samples = usable(prepared)[scene["toss"].iloc[0]]
    corners = part(scene, "corner")
    k = int(corners["sample"].iloc[0])
    assert int(samples["release"]) < k < int(samples["contact"])
    pose = samples["position"].values[k : k + 1], samples["orientation"].values[k : k + 1]
    assert np.allclose(points_of(corners), vertex_positions(*pose, prepared["vertices"].values)[0])


def test_frames_that_coincide_are_one_frame(at_the_origin):
    canonical, prepared = at_the_origin
    assert list(dict.fromkeys(part(frames_scene(prepared, canonical), "axis")["item"])) == [
        "C M",
        "B",
    ]


def test_the_setup_states_travel_and_height_of_release(tosses):
    canonical, prepared = tosses
    scene = setup_scene(prepared, canonical)
    samples = usable(prepared)[scene["toss"].iloc[0]]
    position = samples["position"].values
    release, rest = int(samples["release"]), int(samples["rest"])
    assert length_of(scene, "travel") == pytest.approx(
        np.linalg.norm((position[rest] - position[release])[:2])
    )
    assert length_of(scene, "height") == pytest.approx(position[release, 2])


def test_boxes_stand_side_by_side_once_each_with_their_sizes(tosses, at_the_origin):
    other = (
        at_the_origin[1]
        .assign(vertices=at_the_origin[1]["vertices"] * [2.0, 1.5, 0.7])
        .assign_attrs(object="Flat")
    )
    scene = boxes_scene([tosses[1], other, at_the_origin[1]])
    assert list(dict.fromkeys(scene["object"])) == ["TestBox", "Flat"]
    first, second = (
        points_of(part(scene[scene["object"] == name], "face")) for name in ("TestBox", "Flat")
    )
    assert first[:, 0].max() < second[:, 0].min()
    assert first[:, 2].min() == pytest.approx(0.0, abs=1e-12) == second[:, 2].min()
    flat = scene[scene["object"] == "Flat"]
    for item, expected in (("length", 0.2), ("width", 0.15), ("height", 0.07)):
        assert length_of(flat, item) == pytest.approx(expected)
    assert part(scene, "mass")["item"].tolist() == ["0.4 kg", "0.4 kg"]


# the drawings


def scenes(canonical, prepared):
    return {
        "fig01_example_toss": example_toss_scene(prepared),
        "fig02_frames": frames_scene(prepared, canonical),
        "fig03_setup": setup_scene(prepared, canonical),
        "fig04_boxes": boxes_scene([prepared]),
        "fig11_trajectory": example_toss_scene(prepared),
    }


def texts_of(figure):
    """Texts of a figure, laid out as it is saved, with their places in pixels."""
    style._settle(figure)
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    texts = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]
    return [
        (text.get_text(), text.get_window_extent(renderer)) for text in texts if text.get_text()
    ]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        *(
            (name, "tosses")
            for name in FIGURES
            if FIGURES[name].draw.partition(":")[0].endswith("scenes")
        ),
        ("fig02_frames", "at_the_origin"),
        ("fig03_setup", "at_the_origin"),
    ],
)
def test_a_drawing_needs_its_csv_alone_and_cuts_nothing_off(name, source, request, tmp_path):
    scene = scenes(*request.getfixturevalue(source))[name]
    assert list(scene.columns) == list(COLUMNS)
    write_csv(scene, tmp_path / "scene.csv")
    with style.styled():
        figure = draw_figure(name, read_csv(tmp_path / "scene.csv"))
        page = figure.bbox
        texts = texts_of(figure)
    for text, place in texts:
        assert (
            place.x0 >= -1
            and place.y0 >= -1
            and place.x1 <= page.x1 + 1
            and place.y1 <= page.y1 + 1
        ), text
    assert figure.get_size_inches()[0] <= style.DOUBLE_COLUMN + 1e-6
    instead = INSTEAD_OF_SKETCH if name == "fig02_frames" else INSTEAD_OF_PHOTOGRAPH
    assert any(instead in text for text, _ in texts)
    said = {text for text, _ in texts}
    assert ("$x_C$ (m)" in said) == ("$y_C$ (m)" in said) == (name == "fig11_trajectory")
