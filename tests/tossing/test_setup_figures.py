"""Figures 1 to 4 and 11 of the tossing paper: the view, the scenes taken from the data, and their
drawings.
"""

import numpy as np
import pytest

from contactid.core import rotations
from contactid.output import style
from contactid.output.tables import read_csv, write_csv
from contactid.sources.motion import Recording, iterate_recordings
from contactid.tossing.artefacts.scenes import boxes_scene, points_of, toss_scene
from contactid.tossing.prepare.poses import vertex_positions
from tosses_for_tests import RATE, box, motion, prepare_tosses, recordings
from tossing_figures import FIGURES, draw_figure

HELD = 40  # samples at the start of each recording in which the body is held still


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


def part(scene, name, item=None):
    rows = scene[scene["part"] == name]
    return rows if item is None else rows[rows["item"] == item]


# the scenes


def test_the_time_lapse_shows_the_recorded_poses(tosses):
    canonical, prepared = tosses
    scene = toss_scene(prepared, canonical)
    samples = usable(prepared)[scene["toss"].iloc[0]]
    shown = part(scene, "origin")
    for event, item in (("release", "release"), ("contact", "first contact"), ("rest", "rest")):
        since = (int(samples[event]) - int(samples["release"])) / RATE
        assert part(scene, "origin", item)["time_s"].tolist() == [pytest.approx(since)]
    assert 3 <= len(shown) <= 8 and shown["time_s"].is_monotonic_increasing
    shown_samples = (int(samples["release"]) + (shown["time_s"] * RATE).round()).astype(int)
    corners = vertex_positions(
        samples["position"].values, samples["orientation"].values, prepared["vertices"].values
    )
    for item, k in zip(shown["item"], shown_samples, strict=True):
        box = part(scene, "box", item)
        # the contact points by their numbers in the data
        assert np.allclose(points_of(box), corners[k][box["number"].astype(int) - 1])


def test_frame_m_takes_recorded_positions_to_prepared_ones(tosses):
    canonical, prepared = tosses
    scene = toss_scene(prepared, canonical)
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


def test_frames_that_coincide_are_one_frame(at_the_origin):
    canonical, prepared = at_the_origin
    axes = part(toss_scene(prepared, canonical), "axis")
    assert list(dict.fromkeys(axes["item"])) == [r"C \approx M", "B"]


def test_the_setup_states_travel_and_height_of_release(tosses):
    canonical, prepared = tosses
    scene = toss_scene(prepared, canonical)
    samples = usable(prepared)[scene["toss"].iloc[0]]
    position = samples["position"].values
    release, rest = int(samples["release"]), int(samples["rest"])
    travel = np.linalg.norm((position[rest] - position[release])[:2])
    with style.styled():
        said = {text for text, _ in texts_of(draw_figure("fig03_setup", scene))}
    assert {f"travel {travel:.2f} m", f"height {position[release, 2]:.2f} m"} <= said


def test_boxes_are_drawn_once_each_with_their_sizes(tosses, at_the_origin):
    other = (
        at_the_origin[1]
        .assign(vertices=at_the_origin[1]["vertices"] * [2.0, 1.5, 0.7])
        .assign_attrs(object="Flat")
    )
    scene = boxes_scene([tosses[1], other, at_the_origin[1]])
    assert list(dict.fromkeys(scene["object"])) == ["TestBox", "Flat"]
    assert len(scene) == 16
    with style.styled():
        figure = draw_figure("fig04_boxes", scene)
        said = {text for text, _ in texts_of(figure)}
    assert {"200 mm", "150 mm", "70 mm"} <= said
    assert [axes.get_title() for axes in figure.axes] == ["TestBox\n0.4 kg", "Flat\n0.4 kg"]


# the drawings


def scenes(name, canonical, prepared):
    return boxes_scene([prepared]) if name == "fig04_boxes" else toss_scene(prepared, canonical)


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
    scene = scenes(name, *request.getfixturevalue(source))
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
    said = {text for text, _ in texts}
    assert ("$x_C$ = 0 m" in said) == (name != "fig04_boxes")
