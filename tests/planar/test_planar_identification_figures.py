"""Figures 17 to 23 of the planar paper and three extensions: their tables are right, their drawings
readable.
"""

import dataclasses
import itertools
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.output.tables import read_csv, write_csv
from contactid.planar.artefacts import identified_impulses, identified_motion, noisy_throws, rig
from contactid.planar.identify.states import StoredFit, ThrowStates
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, contacts, outline_at
from contactid.planar.simulate.throws import MeasuredThrow, Truth
from planar_artefacts import drawings

ELLIPSE, MASS = Ellipse(0.05, 0.025), 0.064
HALF = 0.03
SQUARE = Polygon(((-HALF, -HALF), (HALF, -HALF), (HALF, HALF), (-HALF, HALF)))
SLOPE = Ground(-0.1, 0.0, 0.01)
STEP, STEPS = 1e-4, 2000
SHAPES = Path(__file__).parents[2] / "workflow/resources/planar/rig.yaml"


def thrown(shape, ground=SLOPE):
    body = PlanarBody(shape, MASS, MASS * 700e-6)
    start, speed = [0.0, 0.12, -0.6], [1.0, -2.0, 3.0]
    return simulate(body, ground, PlanarLaw(0.3, 0.2), start, speed, time_step=STEP, steps=STEPS)


MOTIONS = {shape: thrown(shape) for shape in (ELLIPSE, SQUARE)}


def identified(
    shape=ELLIPSE, fps=100, sub_steps=5, away=(0.0, 0.0), begin=0.0, known=True, **given_
):
    """What a perfect identification of a simulated throw would store, its path displaced by
    ``away`` (m).
    """
    motion = MOTIONS[shape]
    every = round(1.0 / fps / sub_steps / STEP)
    coarse = np.arange(0, STEPS + 1, every)
    frames = coarse[::sub_steps]
    coarse = coarse[: (len(frames) - 1) * sub_steps + 1]
    summed = [
        np.add.reduceat(i, np.maximum(coarse - every // 2, 0)) / MASS
        for i in (motion.impulse_n, motion.impulse_t)
    ]
    pushes = [impulse[:-1] for impulse in summed]
    q = motion.position[coarse] + [*away, 0.0]
    states = ThrowStates(
        time=begin + motion.time[coarse],
        frame=sub_steps * np.arange(len(frames)),
        position=q,
        velocity=motion.velocity[coarse],
        impulse_n=pushes[0],
        impulse_t=pushes[1],
        gap=contacts(shape, SLOPE, q).gap,
        sliding=np.zeros_like(pushes[0]),
    )
    throw = MeasuredThrow(
        begin + motion.time[frames], motion.position[frames], np.full(3, 1e-3), SLOPE
    )
    impulses = motion.impulse_n.sum(axis=1) / MASS, motion.impulse_t.sum(axis=1) / MASS
    truth = {"truth": Truth(begin + motion.time, motion.position, *impulses), "mass": MASS}
    fit = StoredFit(
        "a throw",
        float(fps),
        shape,
        throw,
        states,
        7e-4,
        1e-5,
        0.3,
        0.01,
        False,
        **truth if known else {},
    )
    return dataclasses.replace(fit, **given_)


def cells(models=("milliradian",), rates=(30, 60, 120, 200, 240), seeds=20):
    """Table 1 with errors that tell cells apart, and sliding up to 0.5."""
    rows = []
    for model, fps, mu in itertools.product(models, rates, np.arange(1, 10) / 10.0):
        seen = min(mu, 0.55)
        rows.append(
            {
                "mu": mu,
                "fps": fps,
                "noise_model": model,
                "motion_mu": min(mu, 0.6),
                "n_seeds": seeds,
                "n_converged": seeds - (fps == 30),
                "error_abs_median_pct": 100.0 * mu + 1.0 / fps,
                "published_pct": np.nan if (fps, mu) == (30, 0.2) else -10.0 * mu,
                "mu_median": seen,
                "mu_q25": seen - 0.02,
                "mu_q75": seen + 0.03,
                "mu_is_bound_share": float(mu > 0.55),
            }
        )
    return pd.DataFrame(rows)


def reformulated():
    rows = [("contact_sequence", 10, 0.5), ("l1_penalty", 10, 2.0), ("scholtes", 8, 4.0)]
    table = pd.DataFrame(rows, columns=["reformulation", "n_success", "seconds_median"])
    good = table.assign(throws="table_1", start="fitted_motion", n=10, misfit_over_best_median=1.1)
    bad = good[1:].assign(start="measured_poses", n_success=0, misfit_over_best_median=50.0)
    return pd.concat([good, bad], ignore_index=True)


def distances(rates=(100.0, 50.0), seeds=4):
    """Of noise samples, distances that grow with the seed and fall with the frame rate."""
    rows = itertools.product(rates, range(1, seeds + 1), (0.0, 100.0, 200.0))
    table = pd.DataFrame(rows, columns=["fps", "seed", "time_ms"])
    return table.assign(distance_mm=table["seed"] * 50.0 / table["fps"])


TABLES = {
    "fig17_identified_trajectories": lambda: identified_motion.identified_trajectories(
        [identified(fps=fps) for fps in (100, 50)], distances()
    ),
    "fig18_identified_impulses": lambda: identified_impulses.identified_impulses(identified()),
    "fig19_identified_friction": lambda: noisy_throws.identified_friction(cells()),
    "fig20_rig": lambda: rig.rig_figures(SHAPES)["figures/fig20_rig"],
    "fig21_release": lambda: rig.rig_figures(SHAPES)["figures/fig21_release"],
    "fig22_real_throw": lambda: identified_motion.real_throw(identified()),
    "fig23_real_impulses": lambda: identified_impulses.identified_impulses(identified()),
    "ext_square_throw": lambda: identified_motion.real_throw(identified(SQUARE, known=False)),
    "ext_reformulations": reformulated,
}
DRAWINGS = drawings(TABLES)
LAPSE = ["$x$ (mm)", "(a) identified motion", "(b) centre of mass", "frames", "identified"]
LABELS = {
    "fig17_identified_trajectories": [
        "$x$ (mm)",
        "$y$ (mm)",
        "50 frames/s",
        "100 frames/s, samples",
        "simulated",
    ],
    "fig18_identified_impulses": [
        "normal $c_n$ (N s)",
        "tangential $c_t$ (N s)",
        "time since the first frame (ms)",
    ],
    "fig19_identified_friction": [
        r"true friction coefficient $\mu$",
        "pure rolling",
        "printed: rolling from 0.6",
    ],
    "fig20_rig": [
        rig.INSTEAD_OF_PHOTOGRAPH,
        "about 200 mm",
        "slope \N{MINUS SIGN}0.247 rad",
        "wooden bar",
    ],
    "fig21_release": [
        rig.INSTEAD_OF_PHOTOGRAPH,
        "100 mm",
        "0.5 rad",
        "servo motor",
        "electromagnets",
    ],
    "fig22_real_throw": LAPSE,
    "fig23_real_impulses": ["normal $c_n$ (N s)", "tangential $c_t$ (N s)", "simulated"],
    "ext_square_throw": LAPSE,
    "ext_reformulations": [
        "l1 penalty",
        "converged and plausible (%)",
        "measured poses",
        "CPU time (s), median",
    ],
}


# the tables


def test_paths_are_those_of_the_fits_in_mm_from_low_to_high_frame_rate():
    fits = [identified(fps=100, away=(2e-3, 0.0), begin=0.5), identified(fps=50, begin=0.5)]
    table = identified_motion.identified_trajectories(fits, distances())
    assert set(table.columns) == {"fps", "kind", "time_ms", "x_mm", "y_mm", "distance_mm"}
    assert table["fps"].dropna().unique().tolist() == [50.0, 100.0]
    for fit in fits:
        own = table[table["fps"] == fit.frames_per_second]
        measured, found, true = (
            own[own["kind"] == kind] for kind in ("measured", "identified", "simulated")
        )
        assert measured[["x_mm", "y_mm"]].to_numpy() == pytest.approx(
            1e3 * fit.throw.position[:, :2]
        )
        assert found[["x_mm", "y_mm"]].to_numpy() == pytest.approx(1e3 * fit.states.position[:, :2])
        assert measured["time_ms"].iloc[0] == 0.0 and true["time_ms"].iloc[-1] == pytest.approx(
            200.0
        )
        assert true["x_mm"].iloc[-1] == pytest.approx(1e3 * MOTIONS[ELLIPSE].position[-1, 0])


def test_the_band_is_median_and_quartiles_over_noise_samples():
    table = identified_motion.identified_trajectories([identified(fps=50)], distances())
    band = table[table["distance_mm"].notna()]
    assert set(band["fps"]) == {50.0} and band["x_mm"].isna().all()
    assert band.groupby("kind")["distance_mm"].unique().map(list).to_dict() == {
        "median": [2.5],
        "q25": [1.75],
        "q75": [3.25],
    }


def test_no_fit_no_paths():
    with pytest.raises(ContactIdError, match="no identified throw"):
        identified_motion.identified_trajectories([], distances())


def test_impulses_are_in_newton_seconds_and_the_simulation_is_summed_over_the_identifications_steps():
    fit = identified(begin=2.0)
    table = identified_impulses.identified_impulses(fit)
    for component, impulse in (("c_n", fit.states.impulse_n), ("c_t", fit.states.impulse_t)):
        found, true = (
            table[(table["component"] == component) & (table["kind"] == kind)]
            for kind in ("identified", "simulated")
        )
        assert found["impulse_ns"].to_numpy() == pytest.approx(MASS * impulse[:, 0])
        assert len(true) == len(found) and true["impulse_ns"].to_numpy() == pytest.approx(
            found["impulse_ns"].to_numpy()
        )
        hit = int(np.argmax(np.abs(true["impulse_ns"].to_numpy())))
        exact = int(np.argmax(np.abs(MOTIONS[ELLIPSE].impulse_n[:, 0])))
        assert true["time_ms"].iloc[hit] == pytest.approx(1e3 * STEP * exact, abs=1.1e3 * STEP)
    assert (
        table["inertia_ratio_mm2"].to_numpy() == pytest.approx(700.0)
        and not table["friction_is_bound"].any()
    )


def test_impulses_of_a_body_of_unknown_mass_are_refused():
    with pytest.raises(ContactIdError, match="mass of a throw"):
        identified_impulses.identified_impulses(identified(known=False))


@settings(max_examples=50)
@given(st.lists(st.floats(-1.0, 1.0), min_size=40, max_size=40), st.integers(2, 12))
def test_summing_keeps_the_whole_and_every_sum_stays_within_its_interval(impulse, parts):
    time = 0.01 + 0.01 * np.arange(40)
    instants = np.linspace(0.0, 0.42, parts)
    at, summed = identified_impulses.summed_about(instants, time, np.array(impulse))
    assert summed.sum() == pytest.approx(sum(impulse), abs=1e-12)
    assert (np.abs(at - instants) <= 0.5 * (instants[1] - instants[0]) + 1e-9).all()


def test_every_contact_of_a_polygon_has_its_rows():
    fit = identified(SQUARE, known=False, mass=1.0)
    table = identified_impulses.identified_impulses(fit)
    for contact in range(4):
        own = table[(table["contact"] == contact) & (table["component"] == "c_n")]
        assert own["impulse_ns"].to_numpy() == pytest.approx(fit.states.impulse_n[:, contact])
    assert (fit.states.impulse_n > 0.0).any(axis=0).sum() > 1  # the motion tries more than one


@pytest.mark.parametrize("shape", [ELLIPSE, SQUARE])
def test_a_time_lapse_shows_the_identified_body_over_the_ground_and_tells_the_residual(shape):
    fit = identified(shape, away=(3e-3, 4e-3))
    table = identified_motion.real_throw(fit, outlines=5)
    outlines = table[table["kind"] == "outline"]
    assert outlines["item"].nunique() == 5
    last = outlines[outlines["item"] == 4][["x_mm", "y_mm"]].to_numpy()
    assert last == pytest.approx(1e3 * outline_at(shape, fit.states.position[-1]))
    assert table["residual_mm"].to_numpy() == pytest.approx(5.0)
    ends = table.loc[table["kind"] == "ground", ["x_mm", "y_mm"]].to_numpy() / 1e3
    assert (ends - [SLOPE.x0, SLOPE.y0]) @ SLOPE.normal == pytest.approx(0.0, abs=1e-12)
    marks = table[table["kind"] == "mark"]
    assert marks[["x_mm", "y_mm"]].to_numpy()[-1] == pytest.approx(last[0])


def test_friction_is_that_of_high_frame_rates_and_rolling_begins_where_all_cells_are_bounds():
    table = noisy_throws.identified_friction(cells(("b", "a")))
    assert sorted(table["fps"].unique()) == [120, 200, 240] and list(
        dict.fromkeys(table["noise_model"])
    ) == ["b", "a"]
    assert (table["is_bound"] == (table["mu"] > 0.55)).all()
    assert table["rolling_from_mu"].to_numpy() == pytest.approx(0.6)
    assert (table["printed_rolling_mu"] == 0.6).all()


@pytest.mark.parametrize(
    ("mu", "fps", "expected"), [(0.9, 240, np.nan), (0.7, 120, 0.8), (0.5, 120, 0.6)]
)
def test_one_cell_that_slides_moves_the_begin_of_rolling(mu, fps, expected):
    table = cells()
    table.loc[np.isclose(table["mu"], mu) & (table["fps"] == fps), "mu_is_bound_share"] = 0.0
    found = noisy_throws.identified_friction(table)["rolling_from_mu"].to_numpy()
    assert found == pytest.approx(expected, nan_ok=True)


def test_friction_without_a_high_frame_rate_is_refused():
    with pytest.raises(ContactIdError, match="120 frames/s"):
        noisy_throws.identified_friction(cells(rates=(30, 60)))


def test_the_released_ellipse_falls_two_decimetres_onto_a_bar_of_the_stated_slope():
    table = TABLES["fig20_rig"]()
    front = table[(table["panel"] == 1) & (table["part"] != "name")]
    bar, held, landed = (
        front.loc[front["item"] == item, ["x", "y"]].to_numpy()
        for item in ("bar", "ellipse", "at first contact")
    )
    upper = bar[:2]
    along = (upper[1] - upper[0]) / np.linalg.norm(upper[1] - upper[0])
    assert np.arctan2(along[1], along[0]) == pytest.approx(-0.247)
    heights = (landed - upper[0]) @ np.array([-along[1], along[0]])
    assert heights.min() == pytest.approx(0.0, abs=0.05)
    assert held - landed == pytest.approx(np.tile([0.0, 200.0], (len(held), 1)))
    sizes = np.linalg.norm(held - held.mean(axis=0), axis=1)
    assert sizes.max() == pytest.approx(50.0, rel=0.02) and sizes.min() == pytest.approx(
        25.0, rel=0.02
    )
    circles = front[front["look"] == "circle"]
    assert circles["item"].nunique() == 8


def test_electromagnets_are_over_the_magnets_of_the_turned_ellipse():
    table = TABLES["fig21_release"]()
    front = table[table["panel"] == 1].groupby("item")[["x", "y"]]
    middle = front.agg(lambda values: 0.5 * (values.min() + values.max()))
    for k in (0, 1):
        assert middle.loc[f"magnet {k}"].to_numpy() == pytest.approx(
            middle.loc[f"electromagnet {k}"].to_numpy()
        )
    between = (middle.loc["magnet 1"] - middle.loc["magnet 0"]).to_numpy()
    assert np.arctan2(between[1], between[0]) == pytest.approx(
        0.5, abs=1e-4
    )  # the shapes have four decimals
    assumed = table[table["part"] == "area"].set_index("item")["given"] == "assumed"
    assert not assumed["ellipse"].iloc[0] and assumed["platform"].all()


# the drawings


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Each figure drawn from its csv: shown texts with their places, the page and the width,
    inches.
    """
    folder, found = tmp_path_factory.mktemp("figures"), {}
    for name, make in TABLES.items():
        write_csv(make(), folder / f"{name}.csv")
        with style.styled():
            figure = DRAWINGS[name](read_csv(folder / f"{name}.csv"))
            style.label_data(figure, "computed")
            figure.canvas.draw()
            within = [axes for axes in figure.axes if axes.axison]
            beyond = _beyond(figure)
            places = [
                (text.get_text(), text.get_window_extent())
                for text in figure.findobj(plt.Text)
                if text.get_text() and text.get_visible() and text not in beyond
                if text.axes is None or text.axes in within or text in text.axes.texts
            ]
            found[name] = places, figure.bbox.frozen(), figure.get_figwidth(), figure
    yield found


def _beyond(figure):
    """Labels of ticks that aren't drawn: beyond the limits, or of axes that are off."""
    found = []
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        slack = 1e-6 * (high - low)
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            if not axis.axes.axison or not low - slack <= tick.get_loc() <= high + slack:
                found += [tick.label1, tick.label2]
    return found


def test_every_figure_has_a_drawing():
    assert set(TABLES) == set(LABELS)


@pytest.mark.parametrize("name", TABLES)
def test_a_drawing_needs_its_csv_alone_and_its_labels_are_whole_and_apart(name, drawn):
    places, page, width, _ = drawn[name]
    assert width <= style.DOUBLE_COLUMN + 1e-6
    said = [text for text, _ in places]
    for label in LABELS[name]:
        assert any(text.startswith(label) for text in said), (label, said)
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


@pytest.mark.parametrize("shape", [ELLIPSE, SQUARE])
def test_stems_stand_on_each_other_up_to_the_sum_over_contacts(shape):
    table = identified_impulses.identified_impulses(identified(shape, known=False, mass=MASS))
    with style.styled():
        axes = identified_impulses.draw_impulses(table).axes[0]
    tops = max(np.asarray(line.get_ydata(), dtype=float).max(initial=0.0) for line in axes.lines)
    assert tops == pytest.approx(
        MASS * identified(shape).states.impulse_n.sum(axis=1).max(), rel=1e-4
    )


def test_lasting_contact_is_enlarged_and_its_absence_leaves_one_column():
    fit = identified(SQUARE, known=False, mass=1.0)
    pushing = np.zeros_like(fit.states.impulse_n)
    pushing[20, 0] = 2.0
    for lasting, columns in ((0.0, 1), (0.02, 2)):
        pushing[60:, 1] = pushing[60:, 2] = lasting
        states = dataclasses.replace(fit.states, impulse_n=pushing.copy(), impulse_t=-0.1 * pushing)
        with style.styled():
            figure = identified_impulses.draw_impulses(
                identified_impulses.identified_impulses(dataclasses.replace(fit, states=states))
            )
            assert len(figure.axes) == 2 * columns
            if columns == 2:
                normal, tangential = figure.axes[1].get_ylim(), figure.axes[3].get_ylim()
                assert 0.04 < normal[1] < 0.08 and tangential[0] < -0.004 and tangential[1] > 0.0


def test_a_bound_of_friction_and_an_unknown_error_are_said_so():
    fit = identified(known=False, friction_is_bound=True, inertia_ratio_se=np.nan)
    with style.styled():
        figure = identified_motion.draw_real_throw(identified_motion.real_throw(fit))
        (legend,) = figure.legends
        title = legend.get_title().get_text()
    assert r"\geq 0.30" in title and "±" not in title and "700 mm²" in title


def test_hollow_marks_are_the_cells_whose_friction_is_a_bound(drawn):
    axes = drawn["fig19_identified_friction"][3].axes[0]
    hollow = [
        line
        for line in axes.lines
        if line.get_marker() != "None" and line.get_markerfacecolor() == "white"
    ]
    x = np.concatenate([np.asarray(line.get_xdata(), dtype=float) for line in hollow])
    assert len(x) == 3 * 4 and x.min() > 0.57
