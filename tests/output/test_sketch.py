"""Explanatory drawings: the view, strokes, and tables drawn by one function."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.output import pen, sketch, style
from contactid.output.tables import read_csv, write_csv

angles = st.floats(-3.1, 3.1)
BOX = ((-2.0, -2.0), (2.0, 2.0))


@given(angles, angles)
def test_the_view_is_a_right_handed_frame_with_z_upright(azimuth, elevation):
    right, up, towards = axes = pen.view(np.degrees(azimuth), np.degrees(elevation / 2.1))
    assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.allclose(np.cross(right, up), towards)
    assert right[2] == 0.0 and up[2] > 0.0


def test_the_viewer_stands_where_the_angles_say():
    assert np.allclose(
        pen.view(0.0, 0.0), [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    )  # from x, over the horizon
    assert np.allclose(pen.view(90.0, 30.0)[2], [0.0, np.cos(np.pi / 6), 0.5])


def drawn(rows, folder):
    """The axes and their texts of a panel that was written as csv and drawn."""
    write_csv(sketch.table(rows), folder / "table.csv")
    with style.styled():
        figure, (axes,) = sketch.draw_panels(read_csv(folder / "table.csv"), 3.5, BOX)
        figure.draw_without_rendering()
        plt.close(figure)
    return axes, [text for text in axes.texts if text.get_text()]


def test_an_arrow_is_drawn_to_scale_and_named_at_its_tip(tmp_path):
    rows = sketch.arrow("f", (0.5, 0.0), (0.0, 3.0), "red", 0.25, "$f$", (4, 0), "N")
    axes, (said,) = drawn(rows + sketch.arrow("not drawn", (0.0, 0.0), (1.0, 0.0)), tmp_path)
    (arrow,) = (text for text in axes.texts if text.arrow_patch is not None)
    assert arrow.xyann == (0.5, 0.0) and arrow.xy == (0.5, 0.75)
    assert said.xy == (0.5, 0.75) and said.get_color() == style.RELEASE


@given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_an_arc_runs_from_the_start_by_the_angle(start, value):
    direction = np.array([np.cos(start), np.sin(start)])
    rows = sketch.angle("a", (0.1, 0.2), direction, value, 0.5, "$a$", (0, 0))
    with style.styled():
        figure, (axes,) = sketch.draw_panels(sketch.table(rows), 3.5, BOX)
        plt.close(figure)
    (arc,) = (line.get_xydata() - [0.1, 0.2] for line in axes.lines)
    assert np.allclose(np.hypot(*arc.T), 0.5)
    assert np.allclose(arc[0], 0.5 * direction, atol=1e-8)
    end = axes.texts[0].xy - np.array([0.1, 0.2])
    assert np.allclose(end, 0.5 * np.array([np.cos(start + value), np.sin(start + value)]))


def test_only_points_with_a_name_or_a_size_have_a_mark(tmp_path):
    rows = sketch.point("Q", (0.0, 0.0), "$Q$") + sketch.point("R", (1.0, 0.0), size=3.0)
    axes, texts = drawn(rows + sketch.point("S", (1.0, 1.0)), tmp_path)
    assert [line.get_xydata().tolist() for line in axes.lines] == [[[0.0, 0.0]], [[1.0, 0.0]]]
    assert [text.get_text() for text in texts] == ["$Q$"]


def test_the_solid_side_of_a_ground_is_to_its_right(tmp_path):
    axes, _ = drawn(sketch.line("g", [(0.0, 0.0), (1.0, 0.0)], "ground", scale=0.2), tmp_path)
    (solid,) = (patch.get_xy() for patch in axes.patches)
    assert solid[:, 1].min() == pytest.approx(-0.2) and solid[:, 1].max() == 0.0


def test_an_area_is_closed_and_named_in_its_middle(tmp_path):
    corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    axes, (said,) = drawn(sketch.line("m", corners, "area", text="$m$"), tmp_path)
    (outline,) = (line.get_xydata() for line in axes.lines)
    assert np.array_equal(outline[0], outline[-1]) and said.xy == (0.5, 0.5)


def test_numbers_are_kept_and_not_drawn(tmp_path):
    axes, texts = drawn(sketch.number("g", -1e-14, "m") + sketch.point("P", (0, 0)), tmp_path)
    assert sketch.table(sketch.number("g", -1e-14, "m"))["value"].tolist() == [0.0]
    assert not axes.lines and not texts
    assert [sketch.sign(value) for value in (-1.0, 1e-9, 1.0)] == ["<", "=", ">"]


def test_a_length_is_written_upright_beside_its_line():
    for ends in ([(0.0, 0.0), (1.0, 1.0)], [(1.0, 1.0), (0.0, 0.0)]):
        with style.styled():
            figure, (axes,) = pen.page(3.5, [BOX])
            pen.dimension(axes, np.array(ends), "1.41 m", 8.0)
            plt.close(figure)
        (said,) = (text for text in axes.texts if text.get_text())
        assert said.get_rotation() == pytest.approx(45.0)
        assert said.xy == (0.5, 0.5)
