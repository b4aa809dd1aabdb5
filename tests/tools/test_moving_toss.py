"""The picture of a toss that moves: its film is the toss's own."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from moving_toss import moving_picture

SVG = "{http://www.w3.org/2000/svg}"
SIDE = 100.0  # mm
VERTICES = [[x, y, z] for x in (-50.0, 50.0) for y in (-50.0, 50.0) for z in (-50.0, 50.0)]
# anticlockwise from outside
FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


@pytest.fixture
def slid():
    """A cube that slides along x without turning; it is predicted 10 mm aside in the end."""
    way = np.linspace(0.0, 600.0, 7)
    pose = [[x, 0.0, SIDE / 2.0, 1.0, 0.0, 0.0, 0.0] for x in way]
    aside = np.linspace(0.0, 10.0, 7)
    predicted = [[x, y, SIDE / 2.0, 1.0, 0.0, 0.0, 0.0] for x, y in zip(way, aside, strict=True)]
    return {
        "time_ms": (100.0 * np.arange(7)).tolist(),
        "vertices": VERTICES,
        "faces": FACES,
        "measured": pose,
        "predicted": predicted,
        "position_error_mm": aside.tolist(),
    }


def films(svg, name):
    return [film for film in svg.iter(f"{SVG}animate") if film.get("attributeName") == name]


def corners(text):
    return np.array([pair.split(",") for pair in text.split()], dtype=float)


def test_three_sides_of_each_cube_are_seen_and_move_as_it_does(slid):
    svg = ET.fromstring(moving_picture(slid))
    played = films(svg, "points")
    assert len(played) == 6, "three sides of the measured cube, three of the predicted one"
    for film in played[:3]:
        outlines = [corners(one) for one in film.get("values").split(";")]
        times = film.get("keyTimes").split(";")
        assert len(outlines) == len(times) == 8, "seven frames, and the last one held"
        steps = np.diff([one.mean(axis=0) for one in outlines[:-1]], axis=0)
        assert np.allclose(steps, steps[0], atol=0.11), "even steps, to the file's tenth of a pixel"
        assert np.array_equal(outlines[-1], outlines[-2])


def test_all_that_is_drawn_lies_in_the_picture(slid):
    svg = ET.fromstring(moving_picture(slid))
    size = float(svg.get("width")), float(svg.get("height"))
    drawn = [one for film in films(svg, "points") for one in film.get("values").split(";")]
    for text in drawn:
        assert (corners(text) > 0.0).all() and (corners(text) < size).all()


def test_the_dot_is_on_the_curve_of_errors(slid):
    svg = ET.fromstring(moving_picture(slid))
    curve = corners(list(svg.iter(f"{SVG}polyline"))[-1].get("points"))
    across, up = (films(svg, name)[0].get("values").split(";")[:-1] for name in ("cx", "cy"))
    assert np.array_equal(curve, np.column_stack([across, up]).astype(float))
    assert curve[0, 1] - curve[-1, 1] == pytest.approx(np.ptp(curve[:, 1]))
    assert "up to 10 mm, of a cube 100 mm wide" in ET.tostring(svg, encoding="unicode")


def test_a_still_picture_does_not_move(slid):
    svg = ET.fromstring(moving_picture(slid, still=True))
    assert not list(svg.iter(f"{SVG}animate"))
    assert len(list(svg.iter(f"{SVG}polygon"))) > 6
