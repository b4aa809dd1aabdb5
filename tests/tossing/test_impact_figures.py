"""Figures 5 to 9: an impact's heights and velocities, the cost over both parameters, and their
drawings.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.text import Text

from contactid.output import style
from contactid.output.tables import read_csv, write_csv
from contactid.sources.motion import body_of, iterate_recordings
from contactid.tossing.artefacts.costs import costs
from contactid.tossing.artefacts.impacts import (
    COMPONENTS,
    example_window,
    vertex_heights,
    window_velocities,
)
from contactid.tossing.impacts.selection import find_impacts
from contactid.tossing.prepare.poses import central_differences, vertex_positions
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, simulate
from tossing_figures import FIGURES, draw_figure
from true_impacts import EMBEDDED, prepared_drops

REACH, STEP = 5, 1.0 / 360.0
FOUND = ContactParameters(0.25, 0.4)
CURVES = {"simulated, 16 steps": (FOUND, 16), "simulated": (ContactParameters(0.1, 0.0), 1)}
INTERVALS = {"friction_mu": [0.45, 0.6], "restitution_e_n": [0.2, 0.4]}
PRINTED = {"friction_mu": 0.55, "restitution_e_n": 0.3}


@pytest.fixture(scope="module")
def prepared():
    return prepared_drops(EMBEDDED / "box006_drops_twin.h5", last=8)


@pytest.fixture(scope="module")
def candidates(prepared):
    return [candidate for candidate in find_impacts(prepared) if candidate.impact is not None]


@pytest.fixture(scope="module")
def windows(candidates):
    return [candidate.impact for candidate in candidates]


@pytest.fixture(scope="module")
def data(prepared, windows):
    """Every figure's table by its name."""
    window = example_window(windows)
    mu, e_n = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 1.0, 4)
    loss = 0.2 + (mu[:, None] - 0.5) ** 2 + (e_n[None] - 1.0 / 3.0) ** 2
    tables = []
    for name, box, shift in (("first_drops", "Box001", 0.1), ("second_drops", "Box002", 0.0)):
        mean = xr.DataArray(
            loss + shift,
            dims=("friction_mu", "restitution_e_n"),
            coords={"friction_mu": mu, "restitution_e_n": e_n},
        )
        tables.append(costs(mean, INTERVALS, PRINTED).assign(dataset=name, object=box))
    return {
        "fig05_vertex_heights": vertex_heights(prepared, window),
        "fig06_impact_velocities": window_velocities(prepared, window, REACH, {}),
        "fig08_simulated_velocities": window_velocities(prepared, window, REACH, CURVES),
        "fig09_velocity_costs": pd.concat(tables, ignore_index=True),
    }


def samples_of(prepared, name):
    return dict(iterate_recordings(prepared))[name]


def curve(table, kind, side=""):
    """Offsets (n,) and twists (n, 6) of one curve."""
    part = table[(table["kind"] == kind) & (table["side"] == side)]
    wide = part.pivot(index="offset", columns="component", values="value")[list(COMPONENTS)]
    return wide.index.to_numpy(), wide.to_numpy()


# the data


def test_the_example_is_the_impact_of_median_change(windows):
    def change(window):
        return np.linalg.norm(window.impact.post_twist[:3] - window.impact.pre_twist[:3])

    shown, all_of_them = change(example_window(windows)), [change(window) for window in windows]
    below, above = (
        sum(value < shown for value in all_of_them),
        sum(value > shown for value in all_of_them),
    )
    assert len(windows) > 5 and abs(below - above) <= 1
    assert example_window(windows[::-1]).impact.sample in {w.impact.sample for w in windows}
    assert example_window(windows[:1]) is windows[0]


def test_heights_are_those_of_the_recorded_poses(prepared, windows, data):
    table, impact = data["fig05_vertex_heights"], example_window(windows).impact
    samples = samples_of(prepared, impact.toss)
    corners = vertex_positions(
        samples["position"].values, samples["orientation"].values, prepared["vertices"].values
    )
    wide = table.pivot(index="sample", columns="vertex", values="height_m")
    assert wide.shape == (len(corners), 8) and wide.columns.tolist() == list(range(1, 9))
    assert np.array_equal(wide.to_numpy(), corners[:, :, 2])
    assert table.loc[table["impacting"], "vertex"].unique().tolist() == [impact.vertex + 1]
    assert table.loc[table["impact"], "sample"].unique().tolist() == [impact.sample]
    dip = wide[impact.vertex + 1]
    assert dip[impact.sample] < min(dip[impact.sample - 1], dip[impact.sample + 1])


def test_velocities_have_one_row_per_offset_and_component(windows, data):
    table, impact = data["fig08_simulated_velocities"], example_window(windows).impact
    assert table.columns.tolist() == [
        "object", "toss", "k_im", "offset", "component", "unit", "kind", "side", "value",
    ]  # fmt: skip
    assert table["k_im"].unique().tolist() == [impact.sample] and table[
        "toss"
    ].unique().tolist() == [impact.toss]
    assert (
        not table.duplicated(["kind", "side", "offset", "component"]).any()
        and not table.isna().any().any()
    )
    assert (table["unit"] == np.where(table["component"].str.startswith("v"), "m/s", "rad/s")).all()
    for kind in ("measured", *CURVES):
        offsets, twists = curve(table, kind)
        assert offsets.tolist() == list(range(-REACH, REACH + 1)) and twists.shape == (
            2 * REACH + 1,
            6,
        )
    assert set(data["fig06_impact_velocities"]["kind"]) == {"measured", "fitted"}


def test_measured_velocities_are_central_differences(prepared, windows, data):
    impact = example_window(windows).impact
    samples = samples_of(prepared, impact.toss)
    twist = central_differences(samples["position"].values, samples["orientation"].values, STEP)
    _, shown = curve(data["fig06_impact_velocities"], "measured")
    assert np.array_equal(shown, twist[impact.sample - REACH : impact.sample + REACH + 1])


def test_fitted_lines_end_at_the_last_difference_before_and_begin_at_the_first_after(
    prepared, candidates
):
    """A central difference takes the poses on both sides, so the lines are one sample shorter than
    the fits to poses.

    -b may be one sample later where the pose after it was taken right after the impact, so that it
    hardly shows.
    """
    for candidate in candidates:
        table = window_velocities(prepared, candidate.impact, REACH, {})
        before, after = curve(table, "fitted", "pre")[0], curve(table, "fitted", "post")[0]
        assert before.tolist() == list(range(-REACH, before[-1] + 1))
        assert candidate.last_pre - 2 <= before[-1] <= candidate.last_pre
        assert after.tolist() == list(range(candidate.first_post + 1, REACH + 1))


def test_fitted_lines_follow_what_was_measured_and_the_gap_between_them_does_not(prepared, windows):
    jitter = (
        5.0 * 1.5e-5 / (np.sqrt(2.0) * STEP)
    )  # five standard deviations of a central difference
    for window in windows:
        table = window_velocities(prepared, window, REACH, {})
        measured = dict(zip(*curve(table, "measured"), strict=True))
        jump = np.linalg.norm(window.impact.post_twist[:3] - window.impact.pre_twist[:3])
        for side in ("pre", "post"):
            for offset, twist in zip(*curve(table, "fitted", side), strict=True):
                if (
                    abs(offset) < REACH
                ):  # the outermost differences look at a pose beyond the window
                    assert np.abs(twist[:3] - measured[offset][:3]).max() < jitter + 0.05 * jump
        offset, twist = (values[-1] for values in curve(table, "fitted", "pre"))
        following = twist[:3] + STEP * window.gravity
        assert np.linalg.norm(measured[offset + 1][:3] - following) > 0.02 * jump


def test_simulated_curves_start_where_the_window_does(prepared, windows, data):
    window = example_window(windows)
    for label, (parameters, substeps) in CURVES.items():
        _, twists = curve(data["fig08_simulated_velocities"], label)
        stepping = SteppingOptions(
            STEP, substeps=substeps, gravity=tuple(map(float, window.gravity))
        )
        run = simulate(body_of(prepared), window.start, parameters, stepping, 2 * REACH + 1)
        assert np.array_equal(twists, np.hstack([run.linear_velocity, run.angular_velocity]))
        assert twists[0] == pytest.approx(
            np.r_[window.start.linear_velocity, window.start.angular_velocity]
        )
    # with the twin's own parameters the simulation ends where the fit to the data does
    offsets, after = curve(data["fig08_simulated_velocities"], "fitted", "post")
    _, simulated = curve(data["fig08_simulated_velocities"], "simulated, 16 steps")
    assert simulated[-1] == pytest.approx(after[-1], abs=0.05) and offsets[-1] == REACH


def test_an_impact_of_nothing_leaves_no_gap_to_look_for(prepared, windows):
    """Where no difference knows nothing of the impact, the line before it is as short as a fit
    allows.
    """
    window = windows[0]
    elsewhere = replace(
        window, impact=replace(window.impact, pre_twist=window.impact.pre_twist + 100.0)
    )
    assert curve(window_velocities(prepared, elsewhere, REACH, {}), "fitted", "pre")[
        0
    ].tolist() == [-5, -4]


def test_costs_have_one_optimum_each_with_its_interval_and_what_is_printed(data):
    table = data["fig09_velocity_costs"]
    assert len(table) == 2 * 5 * 4
    for name, part in table.groupby("dataset"):
        best = part[part["optimum"]]
        assert best[["friction_mu", "restitution_e_n"]].to_numpy().tolist() == [
            [0.5, pytest.approx(1.0 / 3.0)]
        ]
        assert best["mean_loss"].item() == pytest.approx(
            {"first_drops": 0.3, "second_drops": 0.2}[name]
        )
        for parameter, ends in INTERVALS.items():
            said = [f"{parameter}_{what}" for what in ("low", "high", "printed")]
            assert best[said].to_numpy().tolist() == [[*ends, PRINTED[parameter]]]
            assert part.loc[~part["optimum"], said].isna().all(axis=None)


# the drawings


def drawn(name, table, folder):
    """The figure made of a table that went through its file."""
    write_csv(table, folder / f"{name}.csv")
    with style.styled():
        figure = draw_figure(name, read_csv(folder / f"{name}.csv"))
        figure.canvas.draw()
    return figure


@pytest.mark.parametrize("name", [name for name in FIGURES if "fig05" <= name < "fig10"])
def test_a_drawing_needs_its_csv_alone_and_cuts_nothing_off(name, data, tmp_path):
    figure = drawn(name, data[name], tmp_path)
    page = figure.bbox
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    places = [
        (text.get_text(), text.get_window_extent())
        for text in texts
        if text in _titles_and_labels(figure)
    ]
    assert len(places) > 2
    for text, place in places:
        assert (
            place.x0 >= -1
            and place.y0 >= -1
            and place.x1 <= page.x1 + 1
            and place.y1 <= page.y1 + 1
        ), text
    assert figure.get_size_inches()[0] <= style.DOUBLE_COLUMN + 1e-6


def _titles_and_labels(figure):
    found = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in figure.axes:
        found += [axes.xaxis.label, axes.yaxis.label, axes._left_title, *axes.texts]
        found += axes.get_legend().get_texts() if axes.get_legend() else []
    return found


def test_the_impact_is_marked_on_its_corners_curve(windows, data, tmp_path):
    figure = drawn("fig05_vertex_heights", data["fig05_vertex_heights"], tmp_path)
    impact, axes = example_window(windows).impact, figure.axes[0]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    said = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [dot.get_xdata().tolist() for dot in dots] == [[impact.sample]]
    assert any(f"= {impact.sample}$" in text for text in said)
    assert any(f"p}}_{{{impact.vertex + 1}}}" in text for text in said)


@pytest.mark.parametrize("name", ["fig06_impact_velocities", "fig08_simulated_velocities"])
def test_drawn_lines_end_at_minus_b_and_begin_at_c(name, data, tmp_path):
    table = data[name]
    minus_b, c = curve(table, "fitted", "pre")[0][-1], curve(table, "fitted", "post")[0][0]
    figure = drawn(name, table, tmp_path)
    simulated = name == "fig08_simulated_velocities"
    assert len(figure.axes) == (2 * len(CURVES) if simulated else 2)
    for axes in figure.axes:
        dashed = [line.get_xdata() for line in axes.lines if line.get_linestyle() == "--"]
        ends = sorted((int(x[0]), int(x[-1])) for x in dashed)
        assert ends == sorted([(-REACH, minus_b)] * 3 + [(c, REACH)] * 3)
        upright = [line.get_xdata()[0] for line in axes.lines if list(line.get_ydata()) == [0, 1]]
        assert sorted(upright) == [minus_b, c]
        assert sum(line.get_linestyle() == ":" for line in axes.lines) == 3 * simulated
    marks = {text.get_text(): text.xy[0] for axes in figure.axes for text in axes.texts}
    assert marks == {"$-b$": minus_b, "$c$": c}


def test_each_simulation_has_its_own_column(data, tmp_path):
    table = data["fig08_simulated_velocities"]
    figure = drawn("fig08_simulated_velocities", table, tmp_path)
    for axes, kind in zip(figure.axes[:2], CURVES, strict=True):
        assert axes.get_title(loc="left").endswith(kind)
        dotted = [line.get_ydata() for line in axes.lines if line.get_linestyle() == ":"]
        assert np.allclose(dotted, curve(table, kind)[1][:, :3].T, rtol=1e-4, atol=1e-4)


def test_optimum_interval_and_printed_optimum_are_where_the_table_says(data, tmp_path):
    figure = drawn("fig09_velocity_costs", data["fig09_velocity_costs"], tmp_path)
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert (
        len(panels) == 2 and len({tuple(axes.collections[0].levels) for axes in panels}) == 1
    )  # one scale
    for axes in panels:
        assert all(said in axes.get_title(loc="left") for said in ("Box00", "0.50", "0.33"))
        places = {
            line.get_marker(): line.get_xydata()[0]
            for line in axes.lines
            if line.get_marker() in "*o"
        }
        assert places["*"] == pytest.approx((0.5, 1.0 / 3.0), abs=1e-5)
        assert places["o"] == pytest.approx((PRINTED["friction_mu"], PRINTED["restitution_e_n"]))
        bars = [
            lines.get_segments()[0] for lines in axes.collections if hasattr(lines, "get_segments")
        ]
        ends = sorted(np.ptp(bar, axis=0).max() for bar in bars)
        assert ends == pytest.approx([0.15, 0.2], abs=1e-5)


def test_what_is_not_printed_is_not_drawn(data, tmp_path):
    table = data["fig09_velocity_costs"].assign(
        friction_mu_printed=np.nan, restitution_e_n_printed=np.nan
    )
    figure = drawn("fig09_velocity_costs", table, tmp_path)
    assert "printed" not in figure.get_suptitle()
    assert (
        "printed"
        in drawn("fig09_velocity_costs", data["fig09_velocity_costs"], tmp_path).get_suptitle()
    )


def test_a_single_dataset_fills_a_column(data, tmp_path):
    table: pd.DataFrame = data["fig09_velocity_costs"]
    figure = drawn("fig09_velocity_costs", table[table["dataset"] == "first_drops"], tmp_path)
    width = figure.get_size_inches()[0]
    assert width == pytest.approx(style.SINGLE_COLUMN)
