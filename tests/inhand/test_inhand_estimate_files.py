"""What the rules of the in-hand estimation call, on tiny files, without Snakemake."""

import numpy as np
import pytest

from contactid.inhand.artefacts.cost import choices_made, differences, time_by_samples
from contactid.inhand.artefacts.estimates import all_estimates
from contactid.inhand.artefacts.factor_graph import factor_graph
from contactid.inhand.identify.cost import PRIOR_SHARES, write_differences, write_speed
from contactid.inhand.identify.estimates import write_estimates
from contactid.inhand.identify.methods import ESTIMATE_COLUMNS, GRAPH_METHODS
from contactid.inhand.readers.recordings import write_recording
from contactid.inhand.readers.sources import SOURCES
from contactid.inhand.readers.twins import simulate_recording
from contactid.output.tables import read_csv
from contactid.sources.motion import write_dataset
from twins_for_tests import OBJECTS_FILE, twins
from twins_for_tests import STUDY as DEFAULT

TWIN = DEFAULT["twin"] | {"samples": 80, "time_step": 0.02}
WEIGHTS = {
    "orientation": 1e-3, "position": 1e-3, "contact_position": 1e-3, "least_force": 1e-2, "contact_torque": 1e-3,
    "dynamics_force": 1e-2, "dynamics_torque": 1e-3, "mass": 1e-3, "second_moment": 1e-5, "center_of_mass": 1e-3,
    "geodesic": 1.0,
}  # fmt: skip
ONE = {"source": "simulation", "object": "noise_level_0", "seed": 0}
STUDY = {
    "twin": TWIN,
    "baseline": {"window": 21, "degree": 3, "scheme": "paper"},
    "graph": {
        "scheme": "fourth_order",
        "weights": WEIGHTS,
        "iterations": {"max_iterations": 40, "relative_decrease": 1e-6, "absolute_decrease": 1e-10},
    },
    "speed": {
        **ONE,
        "method": "baseline_fg",
        "solvers": ["factor_graph"],
        "samples": [60, 90],
        "repeats": 1,
    },
    "differences": {**ONE, "duration": 1.2, "time_steps": [0.02], "methods": ["baseline_fg"]},
}


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inhand")
    recording, truth = simulate_recording(
        "simulation", "noise_level_1", 0, twins(samples=80, time_step=0.02)
    )
    write_recording(recording, folder / "recording.nc")
    write_dataset(truth, folder / "truth.nc")
    methods = {"least_squares": ["baseline"], "factor_graph": list(GRAPH_METHODS)}
    write_estimates(
        [folder / "recording.nc"], [folder / "truth.nc"], folder / "shard.csv", methods, STUDY
    )
    return folder / "shard.csv"


def test_a_shard_names_its_recording_and_finds_the_mass(shard):
    rows = read_csv(shard)
    assert set(rows["source"]) == {"simulation"} and set(rows["noise_level"]) == {1}
    found = rows[rows["solver"] == "factor_graph"]
    assert found["mass_kg"].to_numpy() == pytest.approx(np.full(len(found), 1.3), rel=0.02)


def test_shards_become_the_table_of_estimates(shard):
    assert tuple(all_estimates([shard]).columns) == ESTIMATE_COLUMNS


def test_speed_and_differences_are_kept_and_shown(tmp_path):
    times, errors, choices = (
        str(tmp_path / f"{name}.csv") for name in ("speed", "differences", "choices")
    )
    write_speed(OBJECTS_FILE, STUDY, times)
    write_differences(OBJECTS_FILE, STUDY, errors, choices)
    assert list(time_by_samples(times)["samples"]) == [60, 90]
    assert set(differences(errors)["scheme"]) == {"paper", "central", "fourth_order"}
    _choices_are_of_one_recording_each(choices_made(choices))


def _choices_are_of_one_recording_each(rows):
    assert list(rows["source"].unique()) == list(SOURCES)
    assert (rows.groupby("source")["object"].nunique() == 1).all() and len(rows) == 6 * len(SOURCES)
    assert set(rows.loc[rows["estimator"] == "constraint_geodesic", "prior_share"]) == set(
        PRIOR_SHARES
    )
    wide = rows[rows["prior_share"].isna()].pivot(
        index="source", columns="estimator", values="mass_error_pct"
    )
    # the filter smooths the forces alone, so its estimates aren't those from forces as sensed
    assert (wide["baseline"] != wide["least squares without filter"]).all()
    assert (wide["constraint_no_geodesic"] != wide["constraint_no_geodesic with filter"]).all()
    # the prior is the truth here: what weighs it more is nearer
    by_share = rows.dropna(subset="prior_share").pivot(
        index="source", columns="prior_share", values="mass_error_pct"
    )
    assert (by_share[min(PRIOR_SHARES)] < by_share[1.0]).all()


def test_figure_3_joins_factors_and_unknowns():
    data = factor_graph(OBJECTS_FILE, TWIN, WEIGHTS)
    assert set(data["unknown"]) == {"pose", "force", "contact", "parameters"}
