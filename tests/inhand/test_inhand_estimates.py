"""The baseline, the rows and tables of estimates, their speed, and figure 3's data."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.inhand.artefacts.cost import time_by_samples
from contactid.inhand.artefacts.estimates import all_estimates
from contactid.inhand.artefacts.factor_graph import draw_factor_graph, factor_graph_points
from contactid.inhand.identify.baseline import estimate_baseline, filtered
from contactid.inhand.identify.cost import write_differences, write_speed
from contactid.inhand.identify.estimates import FIT_COLUMNS, estimate_rows
from contactid.inhand.identify.factor_graph import FactorGraph
from contactid.inhand.identify.kinematics import FOURTH_ORDER, PAPER
from contactid.inhand.identify.methods import ESTIMATE_COLUMNS, GRAPH_METHODS
from contactid.inhand.readers.recordings import recorded_signals
from contactid.output import style
from contactid.output.tables import read_csv, write_csv
from grasp_for_tests import BODY, recording
from twins_for_tests import OBJECTS_FILE
from twins_for_tests import STUDY as DEFAULT

TWIN = DEFAULT["twin"] | {"time_step": 0.04}
ONE = {"source": "simulation", "object": "noise_level_1", "seed": 0}
STUDY = {
    "baseline": {"window": 21, "degree": 3, "scheme": "paper"},
    "graph": {
        "scheme": "fourth_order",
        "weights": {
            "orientation": 1e-3, "position": 1e-3, "contact_position": 1e-3, "least_force": 1e-2,
            "contact_torque": 1e-3, "dynamics_force": 1e-2, "dynamics_torque": 1e-3, "mass": 1e-3,
            "second_moment": 1e-5, "center_of_mass": 1e-3, "geodesic": 1.0,
        },
        "iterations": {"max_iterations": 50, "relative_decrease": 1e-6, "absolute_decrease": 1e-10},
    },
}  # fmt: skip
PLAIN = {"window": 0, "degree": 3, "scheme": FOURTH_ORDER}
METHODS = {"least_squares": ["baseline"], "factor_graph": list(GRAPH_METHODS)}


def test_the_baseline_without_filter_recovers_exact_data():
    found = estimate_baseline(recording(150), PLAIN)
    assert found.converged and found.solver == "least_squares"
    assert found.parameters.vector == pytest.approx(BODY.vector, rel=1e-4, abs=1e-7)


def test_the_filter_is_what_costs_the_baseline():
    plain, smooth = (
        estimate_baseline(recording(150), STUDY["baseline"] | {"window": window}).parameters.mass
        for window in (0, 51)
    )
    assert abs(smooth - BODY.mass) > 5.0 * abs(plain - BODY.mass)


@pytest.mark.parametrize("power", range(4))
def test_the_filter_keeps_cubics(power):
    signals = recorded_signals(recording(60))
    curve = np.linspace(-1.0, 1.0, 60)[:, None, None] ** power * np.ones((1, 4, 3))
    kept = filtered(replace(signals, forces=curve), 21, 3)
    assert kept.forces == pytest.approx(curve, abs=1e-10)


def test_a_recording_shorter_than_the_filter_is_named():
    with pytest.raises(
        ContactIdError, match="40 samples is shorter than the filter's window of 51"
    ):
        estimate_baseline(recording(40), STUDY["baseline"] | {"window": 51})


def test_the_baseline_says_what_a_still_object_cannot_tell():
    found = estimate_baseline(recording(100, still=True), STUDY["baseline"])
    assert not found.converged and "identified" in found.message


def test_standard_errors_of_the_linear_fit_are_the_scatter_of_estimates():
    runs = [
        estimate_baseline(recording(100, noise_seed=seed, force_sd=0.05), PLAIN)
        for seed in range(60)
    ]
    scatter = np.std([run.parameters.vector for run in runs], axis=0, ddof=1)
    stated = np.mean([run.standard_errors for run in runs], axis=0)
    assert scatter / stated == pytest.approx(np.ones(10), abs=0.4)


def test_every_method_and_solver_has_a_row():
    rows = estimate_rows(recording(80), BODY, METHODS, STUDY)
    assert list(rows.columns) == list(FIT_COLUMNS)
    assert list(rows["method"]) == [
        "baseline", "baseline_fg", "no_constraint_no_geodesic", "constraint_no_geodesic", "constraint_geodesic",
    ]  # fmt: skip
    assert list(rows["solver"]) == ["least_squares"] + 4 * ["factor_graph"]
    own = rows[rows["solver"] == "factor_graph"]
    assert own["converged"].all() and own["physically_consistent"].all()
    assert (own["geodesic_error"] < 1e-3).all() and (own["samples"] == 80).all()
    assert own["mass_kg"].to_numpy() == pytest.approx(np.full(4, BODY.mass), rel=1e-5)


def test_failures_are_rows():
    rows = estimate_rows(recording(15, 0.06), BODY, METHODS, STUDY)
    failed = rows[~rows["converged"]]
    assert set(failed["method"]) == {"baseline"}
    assert failed["mass_kg"].isna().all() and not failed["physically_consistent"].any()
    assert all("window of 21" in text for text in failed["message"])


def test_shards_are_gathered_with_the_promised_columns(tmp_path):
    rows = estimate_rows(recording(60), BODY, METHODS, STUDY)
    shards = [tmp_path / f"{number}.csv" for number in range(2)]
    for number, shard in enumerate(shards):
        write_csv(rows.assign(seed=number), shard)
    table = all_estimates(shards)
    assert tuple(table.columns) == ESTIMATE_COLUMNS and len(table) == 2 * len(rows)
    assert list(table["seed"]) == [0] * len(rows) + [1] * len(rows)


def test_speed_is_measured_at_every_length(tmp_path):
    speed = {
        "samples": (30, 60),
        "repeats": 1,
        "method": "constraint_no_geodesic",
        "solvers": ("factor_graph",),
    }
    write_speed(OBJECTS_FILE, STUDY | {"twin": TWIN, "speed": ONE | speed}, tmp_path / "speed.csv")
    rows = time_by_samples(str(tmp_path / "speed.csv"))
    assert list(rows["samples"]) == [30, 60]
    assert (rows["seconds"] > 0.0).all() and rows["converged"].all()


@settings(deadline=None)
@given(st.floats(0.1, 2.0), st.floats(1e-3, 1.0))
def test_the_exponent_of_a_power_is_found_anew(exponent, factor):
    counts = np.array([100.0, 200.0, 400.0])
    with tempfile.TemporaryDirectory() as folder:
        rows = {"solver": "likelihood", "samples": counts, "converged": True}
        times = str(Path(folder) / "times.csv")
        write_csv(pd.DataFrame(rows | {"ms_per_iteration": factor * counts**exponent}), times)
        assert time_by_samples(times)["exponent"].to_numpy() == pytest.approx(exponent, abs=1e-3)


def test_refined_differences_recover_what_the_papers_do_not(tmp_path):
    wanted = ONE | {"duration": 1.6, "time_steps": (0.02,), "methods": ("baseline_fg",)}
    study = STUDY | {"twin": TWIN, "differences": wanted}
    write_differences(OBJECTS_FILE, study, tmp_path / "errors.csv", tmp_path / "choices.csv")
    rows = read_csv(tmp_path / "errors.csv")
    errors = rows[rows["estimator"] == "baseline_fg"].set_index("scheme")["geodesic_error"]
    assert errors["paper"] > 3.0 * errors["central"] > 30.0 * errors["fourth_order"]
    assert set(rows["estimator"]) == {"baseline", "least squares without filter", "baseline_fg"}


def test_figure_3_shows_the_factors_of_the_graph():
    method, weights = GRAPH_METHODS["constraint_geodesic"], STUDY["graph"]["weights"]
    graph = FactorGraph(recorded_signals(recording(5)), method, weights, PAPER, BODY)
    listed = list(graph.factors())
    points = factor_graph_points(listed)
    kinds = {"pose", "force", "contact", "dynamics", "consistency", "geodesic"}
    assert set(points["factor"]) == kinds
    assert points["shared"].sum() == sum(len(factor.unknowns) for factor in listed)
    assert points.loc[points["factor"] == "dynamics", "sample"].unique().tolist() == [-1, 0, 1]
    with style.styled():
        draw_factor_graph(points)
