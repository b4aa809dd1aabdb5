"""Explanatory drawings: the view, strokes, and bodies."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from contactid.output import pen, style

angles = st.floats(-3.1, 3.1)
CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
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


def on_page(draw):
    """The axes of a page on which a function draws."""
    with style.styled():
        figure, (axes,) = pen.page(3.5, [BOX])
        draw(axes)
        plt.close(figure)
    return axes


def test_an_arrow_runs_from_foot_to_tip_and_is_named_there():
    axes = on_page(lambda axes: pen.arrow(axes, (0.5, 0.0), (0.5, 0.75), text="$f$"))
    arrow, said = axes.texts
    assert arrow.xyann == (0.5, 0.0) and arrow.xy == said.xy == (0.5, 0.75)


@given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_an_arc_runs_from_the_start_by_the_angle(start, value):
    apex = np.array([0.1, 0.2])
    axes = on_page(lambda axes: pen.angle(axes, apex, start, value, 0.5, "$a$", (0, 0)))
    (arc,) = (line.get_xydata() - apex for line in axes.lines)
    assert np.allclose(np.hypot(*arc.T), 0.5)
    assert np.allclose(arc[0], 0.5 * np.array([np.cos(start), np.sin(start)]))
    end = axes.texts[0].xy - apex
    assert np.allclose(end, 0.5 * np.array([np.cos(start + value), np.sin(start + value)]))


def test_the_solid_side_of_a_ground_is_to_its_right():
    axes = on_page(lambda axes: pen.ground(axes, np.array([(0.0, 0.0), (1.0, 0.0)]), 0.2))
    (solid,) = (patch.get_xy() for patch in axes.patches)
    assert solid[:, 1].min() == pytest.approx(-0.2) and solid[:, 1].max() == 0.0


def test_a_length_is_named_at_its_middle():
    axes = on_page(lambda axes: pen.length(axes, (0.0, 0.0), (1.0, 1.0), "1.41 m", (0, 0)))
    assert axes.texts[-1].get_text() == "1.41 m" and tuple(axes.texts[-1].xy) == (0.5, 0.5)


@given(st.floats(-180.0, 180.0), st.floats(-80.0, 80.0), st.tuples(*[st.floats(0.05, 0.4)] * 3))
@settings(max_examples=20, deadline=None)
def test_the_seen_sides_of_a_box_cover_its_outline_once(azimuth, elevation, size):
    corners = CORNERS * size
    view = pen.view(azimuth, elevation)
    axes = on_page(lambda axes: pen.box(axes, corners, view, "#cfcfcf", 1.0))
    sides = [patch.get_xy()[:4] for patch in axes.patches if patch.get_facecolor()[3] > 0.0]
    area = sum(
        ConvexHull(side).volume
        for side in sides
        if np.linalg.matrix_rank(side - side[0], tol=1e-6) == 2
    )
    assert area == pytest.approx(ConvexHull(corners @ view[:2].T).volume, rel=1e-3)
