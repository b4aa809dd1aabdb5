"""Explanatory figures 1 to 5, 15 and 16 of the planar paper: their tables are right, their drawings
readable.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.output import style
from contactid.output.tables import read_csv, write_csv
from contactid.planar.artefacts import contact_sketches
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts, outline_at
from planar_artefacts import drawings

TABLES = {
    "fig01_contact_frames": contact_sketches.contact_frames,
    "fig02_contact_states": contact_sketches.contact_states,
    "fig03_restitution": contact_sketches.restitution,
    "fig04_friction_cones": contact_sketches.friction_cones,
    "fig05_normal_gap": contact_sketches.normal_gap,
    "fig15_fitted_trajectory": contact_sketches.fitted_trajectory,
    "fig16_time_instants": contact_sketches.time_instants,
}
DRAWINGS = drawings(TABLES)
LABELS = {
    "fig01_contact_frames": [
        r"$\{S\}$",
        r"$\{S^{(3)}\}$",
        "$Q^{(1)}$",
        r"$\mathbf{n}^{(2)}$",
        r"$\mathbf{t}^{(3)}$",
        "$G$",
    ],
    "fig02_contact_states": [
        "Case 1: no impulse",
        "Case 2: impulse",
        "Case 3: impulse",
        "Case 4: no impulse",
        "$g_n$",
    ],
    "fig03_restitution": [
        "before",
        "impact",
        "after",
        "$c_n$",
        r"$\dot{g}_n^+$",
        r"$\varepsilon = 0.6$",
    ],
    "fig04_friction_cones": [
        r"$\vec{d}_{6}$",
        r"$\vec{d}_{+}$",
        r"$\vec{d}_{-}$",
        "(b) pyramid, $p = 6$",
        "$Q^{(j)}$",
    ],
    "fig05_normal_gap": [
        r"$P_0\ \{S_p\}$",
        r"$\alpha$",
        r"$\theta$",
        r"$\beta^*$",
        "$Q_E$",
        r"$\rho(\beta)$",
        "$Q$",
    ],
    "fig15_fitted_trajectory": [
        r"best-fit trajectory $\mathbf{q}^k$",
        r"captured postures $\mathbf{q}_\mathrm{m}^i$",
    ],
    "fig16_time_instants": [
        "$t^{i}$",
        "$t^{i+1}$",
        "$t^{k}$",
        "$t^{k+n_s}$",
        r"$h = \Delta t / n_s = 0.833$ ms",
    ],
}
_KINDS = ("fitted", "captured")
ellipses = st.builds(Ellipse, st.floats(0.04, 0.10), st.floats(0.015, 0.039))
grounds = st.builds(Ground, st.floats(-0.6, 0.3), st.floats(-0.1, 0.1), st.floats(-0.1, 0.1))


def place(row, name):
    """(2,) a place of a row, as ``foot``."""
    return row[[f"{name}_x", f"{name}_y"]].to_numpy(dtype=float)


def body_of(row):
    """A row's body: ellipse, ground and configuration."""
    return Ellipse(row["a"], row["b"]), Ground(row["slope"]), row[["x", "y", "theta"]].to_numpy()


# the tables


@given(ellipses, grounds, st.floats(-3.0, 3.0), st.floats(-0.001, 0.5), st.floats(-1.0, 1.0))
def test_a_posture_has_the_gap_it_was_made_for(ellipse, ground, theta, gap, along):
    q = contact_sketches.posture(ellipse, ground, theta, gap, along)
    assert contacts(ellipse, ground, q).gap[0] == pytest.approx(gap, abs=1e-12)
    assert (q[:2] - [ground.x0, ground.y0]) @ ground.tangent == pytest.approx(along, abs=1e-12)
    assert q[2] == theta


def test_grounds_touch_the_body_from_outside_at_three_points():
    for _, row in contact_sketches.contact_frames().iterrows():
        ellipse, ground, q = body_of(row)
        heights = (outline_at(ellipse, q) - place(row, "foot")) @ ground.normal
        assert heights.min() == pytest.approx(0.0, abs=2e-5) and row["gap"] == 0.0
        assert (heights > 2e-5).sum() > 0.9 * len(heights)


@settings(max_examples=25, deadline=None)
@given(ellipses)
def test_an_impulse_acts_where_the_gap_is_closed_and_does_not_open(ellipse):
    table = contact_sketches.contact_states(ellipse)
    assert ((table["c_n"] > 1e-6) == ((table["gap"] == 0.0) & (table["u_n"] <= 0.0))).all()
    signs = [*zip(np.sign(table["gap"]), np.sign(table["u_n"]), strict=True)]
    assert signs == [(1, -1), (0, -1), (0, 0), (0, 1)]
    for _, row in table.iterrows():
        low = outline_at(ellipse, row[["x", "y", "theta"]].to_numpy())[:, 1].min()
        assert low == pytest.approx(row["gap"], abs=1e-3 * ellipse.a)


@settings(max_examples=25, deadline=None)
@given(ellipses)
def test_the_impact_reverses_the_normal_velocity_by_the_impulse_of_the_effective_mass(ellipse):
    row = contact_sketches.restitution(ellipse).iloc[0]
    assert row["after"] == pytest.approx(-row["restitution_e_n"] * row["u_n"])
    arm = row["foot_x"] - row["x"]
    effective = 1.0 / (
        1.0 / contact_sketches.SMALL_MASS
        + arm**2 / (contact_sketches.SMALL_MASS * contact_sketches.SMALL_INERTIA_RATIO)
    )
    jump = row["after"] - row["u_n"] + 9.81e-3
    assert row["c_n"] == pytest.approx(effective * jump, rel=1e-5)


@pytest.mark.parametrize("sides", [2, contact_sketches.PYRAMID_SIDES])
def test_the_vectors_of_a_pyramid_span_positively(sides):
    spanning = contact_sketches.directions(sides)
    assert spanning.shape == (sides, 3) and np.allclose(spanning[:, 2], 0.0)
    assert np.allclose(np.linalg.norm(spanning, axis=1), 1.0)
    # so that any tangential force is a sum with weights >= 0
    assert np.allclose(spanning.sum(axis=0), 0.0)


@settings(max_examples=60, deadline=None)
@given(ellipses, grounds)
def test_the_drawn_gap_is_the_gap_and_beta_star_solves_the_papers_equation(ellipse, ground):
    nearest, other = (row for _, row in contact_sketches.normal_gap(ellipse, ground).iterrows())
    at = contacts(ellipse, ground, nearest[["x", "y", "theta"]].to_numpy())
    assert nearest["l"] == pytest.approx(at.gap[0], abs=1e-8)
    assert place(nearest, "edge") == pytest.approx(at.point[0], abs=1e-8)
    turn, beta = nearest["theta"] - ground.slope, nearest["beta"]
    expected = (
        ellipse.b**2 * np.cos(beta) * np.cos(turn),
        ellipse.a**2 * np.sin(beta) * np.sin(turn),
    )
    assert expected[0] == pytest.approx(expected[1], abs=1e-7 * ellipse.a**2)
    assert np.sin(beta + turn) < 0.0 and other["l"] > nearest["l"]
    for row in (nearest, other):
        theta, out = row["theta"], place(row, "edge") - row[["x", "y"]].to_numpy(dtype=float)
        local = np.array([[np.cos(theta), np.sin(theta)], [-np.sin(theta), np.cos(theta)]]) @ out
        assert np.hypot(local[0] / ellipse.a, local[1] / ellipse.b) == pytest.approx(1.0, abs=1e-6)
        direction = np.array([np.cos(row["beta"]), np.sin(row["beta"])])
        assert local / np.linalg.norm(local) == pytest.approx(direction, abs=1e-6)


def postures(table, kind):
    """(n, 3) postures of figure 15, by the step of the motion (n,)."""
    rows = table[table["kind"] == kind]
    return rows[["x", "y", "theta"]].to_numpy(), rows["k"]


def test_captured_postures_scatter_about_a_bounce_at_their_instants():
    table = contact_sketches.fitted_trajectory()
    (fitted, steps), (captured, instants) = (postures(table, kind) for kind in _KINDS)
    gap = contacts(contact_sketches.SMALL_ELLIPSE, Ground(), fitted).gap[:, 0]
    assert -5e-3 < gap.min() <= 0.0 < gap[0] and gap[-1] > 0.01
    assert steps.tolist() == list(range(len(fitted)))
    away = np.abs(captured - fitted[instants])
    assert len(captured) < len(fitted) / 10
    assert (away < 4.0 * np.array([0.005, 0.005, 0.12])).all() and (away > 0.0).all()
    free = fitted[1:20]  # a parabola before the bounce
    assert np.allclose(
        np.diff(free[:, 1], n=2), -9.81 * contact_sketches.CAPTURED_STEP**2, atol=1e-8
    )


def test_inserted_instants_divide_the_interval_into_the_fewest_steps_short_enough():
    table = contact_sketches.time_instants()
    captured = np.flatnonzero(table["inserted"] == 0)
    parts, interval = int(captured[1]), 1e3 / 240.0
    assert interval / parts <= 1.0 < interval / (parts - 1)
    assert np.allclose(np.diff(table["t_ms"]), interval / parts)
    assert captured.tolist() == [0, parts, 2 * parts]


# the drawings


def drawn(name, folder):
    """A figure drawn from its csv file saved: its texts with their places, the page, pixels, and
    the width, inches.
    """
    write_csv(TABLES[name](), folder / "table.csv")
    with style.styled():
        figure = DRAWINGS[name](read_csv(folder / "table.csv"))
        style.label_data(figure, "computed")
        style.save(figure, folder / name)
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        texts = [
            text for text in figure.findobj(plt.Text) if text.get_text() and text.get_visible()
        ]
        shown = [axes for axes in figure.axes if axes.axison]
        texts = [
            text
            for text in texts
            if text.axes is None
            or text.axes in shown
            or text in (*text.axes.texts, text.axes.title)
        ]
        places = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
        page, width = figure.bbox.frozen(), figure.get_figwidth()
    return places, page, width


def test_every_figure_has_labels():
    assert set(TABLES) == set(LABELS)


@pytest.mark.parametrize("name", TABLES)
def test_a_drawing_needs_its_csv_alone_and_its_labels_are_whole_and_apart(name, tmp_path):
    places, page, width = drawn(name, tmp_path)
    assert all((tmp_path / f"{name}.{extension}").stat().st_size > 0 for extension in style.FORMATS)
    assert width <= style.DOUBLE_COLUMN + 1e-6
    said = "\n".join(text for text, _ in places)
    for label in LABELS[name]:
        assert label in said, label
    for text, place in places:
        assert (
            place.x0 >= -1
            and place.y0 >= -1
            and place.x1 <= page.x1 + 1
            and place.y1 <= page.y1 + 1
        ), text
    for (one, a), (other, b) in itertools.combinations(places, 2):
        shared = max(min(a.x1, b.x1) - max(a.x0, b.x0), 0.0) * max(
            min(a.y1, b.y1) - max(a.y0, b.y0), 0.0
        )
        assert shared < 0.1 * min(a.width * a.height, b.width * b.height), (one, other)


@pytest.mark.parametrize("name", TABLES)
def test_what_is_drawn_stays_within_the_view(name, tmp_path):
    write_csv(TABLES[name](), tmp_path / "table.csv")
    with style.styled():
        figure = DRAWINGS[name](read_csv(tmp_path / "table.csv"))
        for axes in figure.axes:
            (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
            ends = [
                end
                for text in axes.texts
                if text.arrow_patch is not None
                for end in (text.xy, text.xyann)
            ]
            curves = [points for curve in axes.lines if len(points := curve.get_xydata())]
            points = np.vstack([*curves, *([ends] if ends else [])])
            assert points[:, 0].min() >= left and points[:, 0].max() <= right
            assert points[:, 1].min() >= low and points[:, 1].max() <= high
