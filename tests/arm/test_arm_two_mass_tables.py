"""Tables and figures of the two-mass models: what they say of known motions, and that drawings show
their data.
"""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from arm_for_tests import PUBLISHED
from contactid.arm.artefacts.damping_sweep import (
    TABLE_I,
    events_table,
    simulate_sweep,
    sweep_artefacts,
    sweep_runs,
    sweep_table,
)
from contactid.arm.artefacts.model_sketch import draw_models, model_sketch
from contactid.arm.artefacts.two_mass import (
    decompose,
    decomposition,
    decomposition_table,
    draw_decomposition,
    draw_motions,
    motions,
    parameters,
    system_of,
)
from contactid.arm.simulate.two_mass import simulate
from contactid.core.errors import ContactIdError
from contactid.output import style

BLOCK = {
    "parameters": {
        "m0": 5.0, "m1": 1.0, "m2": 1.0, "hertz_exponent_c": 1.5, "k_env": 1e8, "d_env": 1e8, "k_rob": 1e4,
        "d_rob": 80.0, "initial_gap": 0.4, "pushing_force": 100.0,
    },
    "duration": 0.3,
    "zoom": [0.12, 0.16],
    "fit": {"model": "B", "windows": [0.15, 0.1], "sample_interval": 0.001},
    "sweep": {"duration": 0.5, "d_rob": [40.0, 100.0], "d_env": [1e9]},
}  # fmt: skip


SYSTEM = system_of(BLOCK)
WINDOWS, INTERVAL = [0.15, 0.1], 0.001


@pytest.fixture(scope="module")
def runs():
    return sweep_runs(BLOCK)


@pytest.fixture(scope="module")
def sweep(runs):
    return sweep_table(runs, WINDOWS, INTERVAL)


def row(sweep, model, d_rob, window=0.15, d_env=1e8):
    chosen = sweep[
        (sweep["model"] == model) & (sweep["d_rob"] == d_rob) & (sweep["window_s"] == window)
    ]
    return (chosen if model == "B" else chosen[chosen["d_env"] == d_env]).iloc[0]


def test_table_1_is_used_as_printed():
    table = parameters(BLOCK, PUBLISHED)
    assert len(table) == 10
    assert table["same"].all()
    changed = parameters(BLOCK | {"parameters": BLOCK["parameters"] | {"k_rob": 2e4}}, PUBLISHED)
    assert list(changed.loc[~changed["same"], "parameter"]) == ["k_rob"]


def test_events_name_model_and_setting(runs):
    table = events_table(runs[:3])
    assert list(table.columns[:4]) == ["model", "setting", "event", "t_s"]
    assert set(table["setting"]) == {TABLE_I}
    rigid = table[table["model"] == "C"]
    assert list(rigid["event"]) == ["impact"]
    assert rigid["t_s"].iloc[0] == pytest.approx(np.sqrt(0.016), abs=1e-12)
    assert table.groupby("model")["t_s"].is_monotonic_increasing.all()


def test_one_mode_is_exact_as_long_as_the_contact_holds(sweep):
    held = row(sweep, "B", 100.0)
    assert held["separations"] == 0
    assert abs(held["fit_error_pct"]) < 1e-6
    # d / 2 of the reduced mass 6/7
    assert held["fit_decay_1_s"] == pytest.approx(100.0 * 7.0 / 12.0, rel=1e-6)
    assert held["v_plus_rigid_m_s"] == pytest.approx(
        -100.0 * held["impact_time_s"] / 7.0, rel=1e-12
    )


def test_a_lift_off_spoils_the_fit_and_by_how_much_depends_on_the_window(sweep):
    long, short = row(sweep, "B", 40.0), row(sweep, "B", 40.0, 0.1)
    assert long["late_lift_off_ms"] == pytest.approx(29.7, abs=0.1)
    assert abs(long["fit_error_pct"]) > 3.0
    assert abs(short["fit_error_pct"]) > 30.0
    assert long["settling_ms"] > 150.0 and long["departure_100ms_pct"] > 5.0


def test_ten_times_the_contact_damping_bounces_no_more_but_lifts_off(sweep):
    damped = row(sweep, "A", 80.0, d_env=1e9)
    assert damped["early_separations"] == 0
    assert damped["separations"] == 1
    assert row(sweep, "A", 40.0)["early_separations"] == 1
    assert damped["v2_from_b_m_s"] < 0.1 * damped["v1_from_b_m_s"]


def test_a_fit_that_cannot_be_is_a_row(runs):
    table = sweep_table(runs[:4], [0.15, 5.0], INTERVAL)
    assert list(table["converged"]) == [True, False]
    assert "outlasts the motion" in table["status"].iloc[1]
    assert np.isnan(table["v_plus_fit_m_s"].iloc[1])


def test_figure_4_has_both_sides_of_an_event_and_the_push_s_momentum():
    table = motions(BLOCK)
    assert list(table.columns) == [
        "model",
        "t_s",
        "x0_m",
        "x1_m",
        "x2_m",
        "v0_m_s",
        "v1_m_s",
        "v2_m_s",
    ]
    total = 5.0 * table["v0_m_s"] + table["v1_m_s"] + table["v2_m_s"]
    assert total.to_numpy() == pytest.approx(-100.0 * table["t_s"].to_numpy(), abs=1e-10)
    hard = table[table["model"] == "B"]
    twice = hard[hard["t_s"].duplicated(keep=False)]
    assert len(twice) == 6
    jump = twice["v1_m_s"].iloc[1] - twice["v1_m_s"].iloc[0]
    assert jump == pytest.approx(-twice["v1_m_s"].iloc[0] * 5.0 / 6.0, rel=1e-9)
    assert hard["t_s"].is_monotonic_increasing
    assert hard["t_s"].max() == pytest.approx(BLOCK["duration"])


def test_figure_5_is_a_sum_whose_affine_part_meets_the_impact_map():
    motion = simulate(SYSTEM, "B", 0.5)
    table = decomposition_table(motion, 0.15, INTERVAL)
    series = {name: part["v_m_s"].to_numpy() for name, part in table.groupby("series")}
    assert series["affine"] + series["oscillation"] == pytest.approx(series["fit"], abs=1e-12)
    assert series["reconstructed"][0] == pytest.approx(series["affine"][0], abs=1e-12)
    assert series["reconstructed"][0] == pytest.approx(series["impact_map"][0], rel=2e-3)
    assert decompose(motion, 0.15, 0.001)[1].pre_velocity == pytest.approx(
        series["fit"][0], rel=1e-2
    )


def test_the_sketch_has_the_parts_of_each_model():
    table = model_sketch()
    assert table["springs"].tolist() == ["env rob", "rob", ""]


def test_the_sketch_draws_every_label():
    with style.styled():
        figure = draw_models(model_sketch())
        shown = " ".join(text.get_text() for text in figure.findobj(Text))
    for symbol in ("$m_0$", "$m_1$", "$m_2$", "$F$", "delta", "rob", "env"):
        assert symbol in shown


def test_figure_4_draws_a_line_per_model_in_six_panels():
    table = motions(BLOCK)
    with style.styled():
        figure = draw_motions(table, BLOCK["zoom"])
        assert len(figure.axes) == 6
        for axes in figure.axes:
            assert len(axes.get_lines()) == 3
        assert figure.axes[2].get_xlim() == tuple(BLOCK["zoom"])
        hard = table[table["model"] == "B"]
        assert np.array_equal(
            np.asarray(figure.axes[4].get_lines()[1].get_ydata()), hard["v2_m_s"].to_numpy()
        )


def test_figure_5_draws_its_table():
    with style.styled():
        figure = draw_decomposition(decomposition_table(simulate(SYSTEM, "B", 0.5), 0.15, INTERVAL))
        assert len(figure.axes[0].get_lines()) == 7


def test_the_artefacts_are_made_from_the_sweep_s_files(tmp_path):
    block = BLOCK | {"sweep": {"duration": 0.3, "d_rob": [100.0], "d_env": [1e9]}}
    events, damping, shown = (
        str(tmp_path / f"{name}.csv") for name in ("events", "damping", "decomposition")
    )
    simulate_sweep(block, events, damping, shown)
    made = sweep_artefacts(events, damping)
    assert {TABLE_I} < set(made["tables/ext_events"]["setting"])
    direct = sweep_table(sweep_runs(block), WINDOWS, INTERVAL).drop(columns="setting")
    pd.testing.assert_frame_equal(
        made["tables/ext_damping_sweep"], direct, check_exact=True, check_dtype=False
    )
    pd.testing.assert_frame_equal(
        decomposition(shown),
        decomposition_table(simulate(SYSTEM, "B", 0.3), 0.15, INTERVAL),
        check_exact=True,
    )


def test_a_zoom_outside_the_motion_names_its_key():
    with pytest.raises(ContactIdError, match=r"arm\.models\.zoom is \[0\.2, 0\.1\]"):
        motions(BLOCK | {"zoom": [0.2, 0.1]})
