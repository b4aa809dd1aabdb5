"""The scripts of the in-hand estimation on tiny files, without Snakemake and without IPOPT."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from contactid.inhand.methods import GRAPH_METHODS
from contactid.inhand.names import ESTIMATE_COLUMNS
from contactid.inhand.readers.files import write_recording
from contactid.inhand.readers.twin_options import TwinOptions
from contactid.inhand.readers.twins import simulate_recording
from contactid.output.tables import read_csv
from contactid.sources.motion import write_dataset

SCRIPTS = Path(__file__).parents[2] / "workflow/scripts"
SOURCE = {
    "motion": {"displacement": 0.2, "turn": 0.8, "frequencies": [0.5, 0.9], "ramp": 0.3},
    "grip": {"least_force": 2.0, "safety": 1.2},
    "pose": {"white": [0.0, 0.0], "jitter": [0.0, 0.0], "jitter_time": 0.1, "drift": [0.0, 0.0], "drift_time": 1.0},
    "force": {"floor": 0.0, "relative": 0.0, "torque": 0.0, "contact": 0.0},
    "residual": {
        "preload_share": 0.0, "load_share": 0.0, "spread": 0.0, "transient_force": 0.0, "transient_rate": 0.0,
        "transient_time": 0.1,
    },
}  # fmt: skip
TWIN = {
    "samples": 80, "time_step": 0.02, "seed": 1, "force_levels": [0.0, 0.05], "sources": {"simulation": SOURCE},
    "breaks": {"object": "box_4", "contact": "ring", "count": 1, "length": 0.2, "blend": 0.05},
    "least": {"force": 1e-3, "torque": 1e-4, "position": 1e-5, "orientation": 1e-5, "contact": 1e-5},
}  # fmt: skip
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
    "ipopt": {},
    "speed": {**ONE, "method": "baseline_fg", "solvers": ["factor_graph"], "samples": [60, 90], "repeats": 1},
    "differences": {**ONE, "duration": 1.2, "time_steps": [0.02], "methods": ["baseline_fg"]},
}


def main_of(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inhand")
    recording, truth = simulate_recording("simulation", "noise_level_1", 0, TwinOptions(samples=80, time_step=0.02))
    write_recording(recording, folder / "recording.nc")
    write_dataset(truth, folder / "truth.nc")
    main_of("inhand_estimate")(
        recordings=[str(folder / "recording.nc")], truths=[str(folder / "truth.nc")], table=str(folder / "shard.csv"),
        methods={"least_squares": ["baseline"], "factor_graph": list(GRAPH_METHODS)}, study=STUDY,
    )  # fmt: skip
    return folder / "shard.csv"


def test_a_shard_names_its_recording_and_finds_the_mass(shard):
    rows = read_csv(shard)
    assert set(rows["source"]) == {"simulation"} and set(rows["noise_level"]) == {1}
    found = rows[rows["solver"] == "factor_graph"]
    assert found["mass_kg"].to_numpy() == pytest.approx(np.full(len(found), 1.3), rel=0.02)


def test_shards_become_the_table_of_estimates(shard, tmp_path):
    main_of("inhand_estimates")(shards=[str(shard)], table=str(tmp_path / "ext_estimates.csv"))
    assert tuple(read_csv(tmp_path / "ext_estimates.csv").columns) == ESTIMATE_COLUMNS


def test_speed_and_differences_are_written(tmp_path):
    main_of("inhand_speed")(folder=str(tmp_path), study=STUDY)
    main_of("inhand_differences")(table=str(tmp_path / "tables/ext_differences.csv"), study=STUDY)
    assert list(read_csv(tmp_path / "tables/ext_speed.csv")["samples"]) == [60, 90]
    assert "synthetic" in read_csv(tmp_path / "figures/ext_speed.csv")["source"].iloc[0]
    errors = read_csv(tmp_path / "tables/ext_differences.csv")
    assert set(errors["scheme"]) == {"paper", "central", "fourth_order"}


def test_figure_3_is_written(tmp_path):
    main_of("inhand_factor_graph")(figure=str(tmp_path / "fig03.csv"), weights=WEIGHTS)
    assert set(read_csv(tmp_path / "fig03.csv")["element"]) == {"variable", "factor", "edge"}
