"""Explanatory figures 1 to 5, 15 and 16 of the planar paper: their tables are right, their drawings
readable.
"""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.output import style
from contactid.output.tables import read_csv, write_csv
from contactid.planar.artefacts import contact_sketches, fit_sketches
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from planar_artefacts import drawings

TABLES = {
    "fig01_contact_frames": contact_sketches.contact_frames,
    "fig02_contact_states": contact_sketches.contact_states,
    "fig03_restitution": contact_sketches.restitution,
    "fig04_friction_cones": contact_sketches.friction_cones,
    "fig05_normal_gap": contact_sketches.normal_gap,
    "fig15_fitted_trajectory": fit_sketches.fitted_trajectory,
    "fig16_time_instants": fit_sketches.time_instants,
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


def row(table, item, part):
    return table[(table["item"] == item) & (table["part"] == part)].iloc[0]


def point(table, item, part="point"):
    return row(table, item, part)[["x", "y"]].to_numpy(dtype=float)


def vector(table, item, part="arrow"):
    return row(table, item, part)[["vector_x", "vector_y"]].to_numpy(dtype=float)


def number(table, item, part="number"):
    return float(row(table, item, part)["value"])


def line(table, item):
    polyline = table["part"].isin(["line", "area", "ground"])
    rows = table[(table["item"] == item) & polyline].sort_values("order")
    return rows[["x", "y"]].to_numpy(dtype=float)


# the tables


@given(ellipses, grounds, st.floats(-3.0, 3.0), st.floats(-0.001, 0.5), st.floats(-1.0, 1.0))
def test_a_posture_has_the_gap_it_was_made_for(ellipse, ground, theta, gap, along):
    q = contact_sketches.posture(ellipse, ground, theta, gap, along)
    assert contacts(ellipse, ground, q).gap[0] == pytest.approx(gap, abs=1e-12)
    assert (q[:2] - [ground.x0, ground.y0]) @ ground.tangent == pytest.approx(along, abs=1e-12)
    assert q[2] == theta


@pytest.mark.parametrize("j", [1, 2, 3])
def test_a_contact_frame_is_right_handed_and_its_normal_points_into_the_body(j):
    table = contact_sketches.contact_frames()
    n, t, foot = vector(table, f"n {j}"), vector(table, f"t {j}"), point(table, f"Q {j}")
    assert np.linalg.norm(n) == pytest.approx(1.0) and np.linalg.norm(t) == pytest.approx(1.0)
    assert n @ t == pytest.approx(0.0, abs=1e-8)
    assert t[0] * n[1] - t[1] * n[0] == pytest.approx(1.0)
    outline = line(table, "outline")
    heights = (outline - foot) @ n
    assert heights.min() == pytest.approx(0.0, abs=2e-5) and (heights > 2e-5).sum() > 0.9 * len(
        heights
    )
    assert (
        np.linalg.norm(outline[np.argmin(heights)] - foot) < 2e-3
    )  # half the way between its points
    assert number(table, f"gap {j}") == 0.0
    ground = line(table, f"ground {j}")
    assert np.allclose((ground - foot) @ n, 0.0, atol=1e-8) and (ground[1] - ground[0]) @ t > 0.0


def test_g_is_the_centroid_of_the_body_and_the_force_is_the_sum_of_its_parts():
    table = contact_sketches.contact_frames()
    p = line(table, "outline") - point(table, "G")
    cross = p[:-1, 0] * p[1:, 1] - p[:-1, 1] * p[1:, 0]
    assert np.allclose(cross @ (p[:-1] + p[1:]) / (3.0 * cross.sum()), 0.0, atol=1e-9)
    f_n, f_t, f_c = (vector(table, item) for item in ("f_n", "f_t", "f_c"))
    assert np.allclose(f_n + f_t, f_c, atol=1e-8)
    assert f_n @ vector(table, "n 2") == pytest.approx(np.linalg.norm(f_n))
    assert f_t @ vector(table, "t 2") == pytest.approx(np.linalg.norm(f_t))


@settings(max_examples=25, deadline=None)
@given(ellipses)
def test_an_impulse_acts_where_the_gap_is_closed_and_does_not_open(ellipse):
    table = contact_sketches.contact_states(ellipse)
    signs = []
    for _, panel in table.groupby("panel"):
        gap, rate, impulse = (number(panel, item) for item in ("g_n", "gdot", "c_n"))
        signs.append((np.sign(gap), np.sign(rate)))
        assert (impulse > 1e-6) == (gap == 0.0 and rate <= 0.0)
        assert vector(panel, "velocity") == pytest.approx([0.4 if rate == 0.0 else 0.2, rate])
        assert vector(panel, "impulse") == pytest.approx([0.0, impulse])
        assert line(panel, "outline")[:, 1].min() == pytest.approx(gap, abs=1e-3 * ellipse.a)
        assert point(panel, "Q") - point(panel, "Q_E") == pytest.approx([0.0, gap])
    assert signs == [(1, -1), (0, -1), (0, 0), (0, 1)]


@settings(max_examples=25, deadline=None)
@given(ellipses)
def test_the_impact_reverses_the_normal_velocity_by_the_impulse_of_the_effective_mass(ellipse):
    table = contact_sketches.restitution(ellipse)
    before, after, impulse = (number(table, item) for item in ("gdot", "gdot+", "c_n"))
    assert after == pytest.approx(-number(table, "restitution_e_n") * before)
    arm = (point(table, "Q") - point(table, "G"))[0]
    effective = 1.0 / (
        1.0 / contact_sketches.SMALL_MASS
        + arm**2 / (contact_sketches.SMALL_MASS * contact_sketches.SMALL_INERTIA_RATIO)
    )
    assert impulse == pytest.approx(effective * (after - before + 9.81e-3), rel=1e-5)
    for item, value in (("gdot", before), ("gdot+", after), ("c_n", impulse)):
        assert vector(table, item) == pytest.approx([0.0, value])


def test_the_pyramid_is_inscribed_in_the_cone_and_its_vectors_span_positively():
    mu = contact_sketches.CONE_FRICTION
    (cone, of_cone), *others = contact_sketches.cones().values()
    assert np.allclose(np.hypot(*cone[:, :2].T), mu) and np.allclose(cone[:, 2], 1.0)
    for (rim, arrows), count in zip(others, (contact_sketches.PYRAMID_SIDES, 2), strict=True):
        spanning = np.array([arrow for name, arrow in arrows.items() if name.startswith("d_")])
        assert len(spanning) == count and np.allclose(spanning[:, 2], 0.0)
        assert np.allclose(np.linalg.norm(spanning, axis=1), 1.0)
        # so that any tangential force is a sum with weights >= 0
        assert np.allclose(spanning.sum(axis=0), 0.0)
        assert np.allclose(rim, mu * spanning + [0.0, 0.0, 1.0])
    x, y, z = of_cone["f_c"]
    assert 0.0 < math.hypot(x, y) < mu * z


@settings(max_examples=60, deadline=None)
@given(ellipses, grounds)
def test_the_drawn_gap_is_the_gap_and_beta_star_solves_the_papers_equation(ellipse, ground):
    table = contact_sketches.normal_gap(ellipse, ground)
    theta, alpha, beta = (number(table, item, "angle") for item in ("theta", "alpha", "beta*"))
    center, foot = point(table, "G"), point(table, "Q*")
    at = contacts(ellipse, ground, [*center, theta])
    drawn = foot - point(table, "Q_E*")
    assert number(table, "l*") == pytest.approx(at.gap[0], abs=1e-8)
    assert np.linalg.norm(drawn) == pytest.approx(at.gap[0], abs=1e-8)
    assert foot == pytest.approx(at.point[0], abs=1e-8)
    assert alpha == pytest.approx(ground.slope, abs=1e-8)
    assert drawn @ ground.tangent == pytest.approx(0.0, abs=1e-8)
    assert (point(table, "Q_E*") - point(table, "P_0")) @ ground.normal == pytest.approx(
        0.0, abs=1e-8
    )
    turn = theta - alpha
    expected = (
        ellipse.b**2 * np.cos(beta) * np.cos(turn),
        ellipse.a**2 * np.sin(beta) * np.sin(turn),
    )
    assert expected[0] == pytest.approx(expected[1], abs=1e-7 * ellipse.a**2)
    assert np.linalg.norm(foot - center) * np.sin(beta + turn) < 0.0
    assert number(table, "l") > number(table, "l*")


@pytest.mark.parametrize("item", ["", "*"])
def test_points_at_beta_lie_on_the_ellipse(item):
    table = contact_sketches.normal_gap()
    theta = number(table, "theta", "angle")
    out = point(table, f"Q{item}") - point(table, "G")
    local = np.array([[np.cos(theta), np.sin(theta)], [-np.sin(theta), np.cos(theta)]]) @ out
    assert (local[0] / contact_sketches.SMALL_ELLIPSE.a) ** 2 + (
        local[1] / contact_sketches.SMALL_ELLIPSE.b
    ) ** 2 == pytest.approx(1.0)
    angle = number(table, f"beta{item}", "angle")
    assert local / np.linalg.norm(local) == pytest.approx([np.cos(angle), np.sin(angle)], abs=1e-6)
    assert vector(table, f"beta{item}", "angle") == pytest.approx([np.cos(theta), np.sin(theta)])


def postures(table, kind):
    """(n, 3) postures of figure 15, by the step of the motion (n,)."""
    rows = table[(table["part"] == "point") & table["item"].str.startswith(kind)]
    return rows[["x", "y", "value"]].to_numpy(), rows["item"].str.split().str[1].astype(int)


def test_captured_postures_scatter_about_a_bounce_at_their_instants():
    table = fit_sketches.fitted_trajectory(seed=4)
    (fitted, steps), (captured, instants) = (postures(table, kind) for kind in _KINDS)
    gap = contacts(contact_sketches.SMALL_ELLIPSE, Ground(), fitted).gap[:, 0]
    assert -5e-3 < gap.min() <= 0.0 < gap[0] and gap[-1] > 0.01
    assert steps.tolist() == list(range(len(fitted)))
    away = np.abs(captured - fitted[instants])
    assert len(captured) < len(fitted) / 10
    assert (away < 4.0 * np.array([0.005, 0.005, 0.12])).all() and (away > 0.0).all()
    outlined = table[table["part"] == "line"].drop_duplicates("item")["item"]
    assert outlined.tolist() == [f"{kind} {k}" for kind in _KINDS for k in instants]
    free = fitted[1:20]  # a parabola before the bounce
    assert np.allclose(np.diff(free[:, 1], n=2), -9.81 * fit_sketches.STEP**2, atol=1e-8)


def test_the_scatter_is_the_seeds():
    first, again, other = (fit_sketches.fitted_trajectory(seed) for seed in (1, 1, 2))
    assert first.equals(again) and not first.equals(other)
    assert np.array_equal(postures(first, "fitted")[0], postures(other, "fitted")[0])


def test_inserted_instants_divide_the_interval_into_the_fewest_steps_short_enough():
    table = fit_sketches.time_instants()
    marks = table[table["item"].str.match("captured|inserted") & (table["order"] == 0)]
    kinds = marks["item"].str.split().str[0]
    captured = np.flatnonzero(kinds == "captured")
    parts, interval = int(captured[1]), 1e3 / 240.0
    assert interval / parts <= 1.0 < interval / (parts - 1)
    assert np.allclose(np.diff(marks["x"]), interval / parts)
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
            if text.axes is None or text.axes in shown or text in text.axes.texts
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
    said = [text for text, _ in places]
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
