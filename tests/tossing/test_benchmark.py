"""The benchmark's measure on exact truths, and its rows, tables and figure on tiny inputs."""

from dataclasses import asdict, replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from contactid.core import rotations
from contactid.output.fits import write_json
from contactid.output.stored import RECORD, TABLE
from contactid.output.tables import read_csv, write_csv
from contactid.sources.lockfile import digest
from contactid.sources.motion import Recording, write_dataset
from contactid.tossing.artefacts.stored import (
    benchmark_table,
    draw_learning_curve,
    learning_figure,
)
from contactid.tossing.peers.search import evaluate, open_session
from contactid.tossing.peers.sessions import peer_problem
from contactid.tossing.predict.benchmark import FILE, FLIGHT, score_row, staying, whole_files
from contactid.tossing.prepare.calibration import uncalibrated
from contactid.tossing.prepare.preprocess import TEST
from contactid.tossing.prepare.tosses import Variant, set_up
from contactid.tossing.readers.contactnets import HALF_WIDTH
from contactid.tossing.simulate.box import State, SteppingOptions, simulate
from small_files import legacy_file
from tosses_for_tests import RATE, TRUTH, box, motion, prepare_tosses

STEPPED = {
    "start": "flight_fit",
    "substeps": 4,
    "solver": "newton",
    "refine": False,
    "calibrated": True,
}
LAW = {"friction_mu": TRUTH.friction_mu, "restitution_e_n": TRUTH.restitution_e_n}
BODY = box()
WIDTH = 0.1
BUDGET = {
    "screened": 3, "screen_tosses": 2, "starts": 1, "competed": 3, "compete_tosses": 2, "refined": 3, "tosses": 4,
    "substeps": 4, "seed": 0,
}  # fmt: skip


def runs(count):
    """Tosses by the benchmark's own stepping, from a height that a camera sees at once."""
    random, made = np.random.default_rng(4), []
    for _ in range(count):
        turn, spin = rotations.exp(random.uniform(-1, 1, 3)), random.uniform(-5, 5, 3)
        start = State(
            np.array([0.0, 0.0, 0.2]), turn, np.array([random.uniform(0.3, 0.8), 0.1, 0.2]), spin
        )
        made.append(simulate(BODY, start, TRUTH, SteppingOptions(1 / RATE, 4), 280))
    return made


def files(folder, made, scale=1.0):
    """A folder of files with first rows as the data's authors write them; lengths are divided by
    ``scale``.
    """
    (folder / "tosses_processed").mkdir(parents=True)
    for number, run in enumerate(made):
        row = np.zeros((1, 19))
        row[0, 3:7] = run.orientation[0]
        row[0, 7:10] = run.linear_velocity[0] / HALF_WIDTH / scale
        row[0, 10:13] = (
            rotations.as_rotation(run.orientation[0]).inv().apply(run.angular_velocity[0])
        )
        (folder / f"tosses_processed/toss{number}.pt").write_bytes(legacy_file(row))
    return folder


def recorded(made, scale=1.0, moved=(0.0, 0.0, 0.0), turned=0.0):
    """Their recordings, after the first row moved and turned about the vertical."""
    recordings = []
    for number, run in enumerate(made):
        position, turns = run.position.copy(), rotations.as_rotation(run.orientation)
        position[1:] += moved
        about = rotations.Rotation.from_rotvec(
            [[0.0, 0.0, turned * (row > 0)] for row in range(len(position))]
        )
        orientation = rotations.continuous(rotations.as_quaternions(about * turns))
        recordings.append(Recording(f"toss{number}", position / scale, orientation))
    prepared = prepare_tosses(motion(recordings, BODY), share=0.5)
    # simulated boxes sink by micrometres, by which levelling lifts them; impacts would amplify that
    exact = {
        name: np.concatenate([getattr(one, name) for one in recordings])
        for name in ("position", "orientation")
    }
    exact["gravity"] = np.tile([0.0, 0.0, -9.81], (len(made), 1))
    return prepared.assign(
        {name: prepared[name].copy(data=values) for name, values in exact.items()}
    )


def errors(prepared, folder, scale=1.0, start=FILE):
    test = set_up(prepared, Variant("v", law="newton", **STEPPED), TEST)
    whole = whole_files(prepared, test, scale, folder, start)
    with open_session("contactid", peer_problem(whole)) as session:
        answer = evaluate(session, LAW, 4)
    return whole, answer.position_error[0], answer.rotation_error[0]


@pytest.mark.parametrize(("moved", "turned"), [(0.0, 0.0), (0.005, 0.0), (0.0, 0.03)])
def test_an_offset_of_all_rows_but_the_first_is_the_error(tmp_path, moved, turned):
    made = runs(6)
    folder = files(tmp_path, made)
    whole, position, rotation = errors(recorded(made, moved=(moved, 0, 0), turned=turned), folder)
    share = 279 / 280  # the first row is where the simulation starts
    assert [len(toss.position) for toss in whole.measured] == [280] * 3, (
        "all rows, also those at rest"
    )
    assert position == pytest.approx(share * moved / WIDTH, abs=1e-6)
    assert rotation == pytest.approx(share * turned, abs=1e-6)


def test_a_files_velocities_are_in_its_own_lengths_and_its_spin_in_the_body(tmp_path):
    made = runs(4)
    prepared = recorded(made, scale=1.02)
    found = replace(uncalibrated(BODY), scale=1.02)
    whole, _, _ = errors(found.apply(prepared), files(tmp_path, made, scale=1.02), 1.02)
    for toss in whole.measured:
        run = made[int(toss.name.removeprefix("toss"))]
        assert toss.start.linear_velocity == pytest.approx(run.linear_velocity[0], abs=1e-3)
        assert toss.start.angular_velocity == pytest.approx(run.angular_velocity[0], abs=1e-2)


def test_a_start_fitted_to_the_flight_needs_no_velocities_of_the_file(tmp_path):
    made = runs(4)
    wrong = [replace(run, linear_velocity=-run.linear_velocity) for run in made]
    prepared, folder = recorded(made), files(tmp_path, wrong)
    assert (
        errors(prepared, folder, start=FLIGHT)[1].max()
        < 0.1
        < 0.5
        < errors(prepared, folder)[1].min()
    )


def test_who_stays_has_the_distance_since_contact_as_error():
    prepared = recorded(runs(4))
    test = set_up(prepared, Variant("v", law="newton", **STEPPED), TEST)
    for item, error in zip(test.tosses, staying(prepared, test)["position_error_pct"], strict=True):
        name = prepared["recording"].values.tolist().index(item.toss.name)
        contact = int(prepared["contact"][name])
        path = prepared["position"].values[280 * name : 280 * (name + 1)]
        away = np.linalg.norm(path[contact:] - path[contact], axis=1).sum() / 280
        assert error == pytest.approx(100 * away / WIDTH) and error > 20.0


def test_rows_are_scored_from_both_starts_and_the_truth_wins(tmp_path):
    made = runs(8)
    write_dataset(recorded(made), tmp_path / "tosses.nc")
    write_json(tmp_path / "calibration.json", asdict(uncalibrated(BODY)))
    folder, inputs = (
        files(tmp_path / "raw", made),
        (str(tmp_path / "tosses.nc"), str(tmp_path / "calibration.json")),
    )
    tables = {}
    for row in ("stays", "nominal", "contactid", "contactid_incremental"):
        score_row(*inputs, str(folder), row, STEPPED, BUDGET, str(tmp_path / f"{row}.csv"))
        tables[row] = read_csv(tmp_path / f"{row}.csv").set_index("start")
    assert tables["stays"].index.tolist() == [FILE]
    assert all(tables[row].index.tolist() == [FILE, FLIGHT] for row in ("nominal", "contactid"))
    spent = BUDGET["screened"] * 2 + BUDGET["competed"] * 2 + BUDGET["refined"] * 4
    assert tables["contactid"].loc[FILE, ["n_identification", "simulated", "n_test"]].tolist() == [
        4,
        spent,
        4,
    ]
    assert (
        tables["nominal"].loc[FILE, "parameters"] == "friction_mu = 0.18; restitution_e_n = 0.125"
    )
    for name in ("loss", "position_pct", "rotation_deg"):
        assert tables["contactid"].loc[FILE, name] < 0.5 * tables["stays"].loc[FILE, name]
    assert (tables["contactid_incremental"]["us_per_step"] > 0.0).all()


def kept(folder, rows):
    """Paths of a stored result that has these rows."""
    write_csv(pd.DataFrame(rows), folder / TABLE)
    write_json(folder / RECORD, {"table_sha256": digest(folder / TABLE)})
    return [str(folder / TABLE), str(folder / RECORD)]


def test_published_rows_stand_beside_stored_ones(tmp_path):
    measured = {
        "position_pct": 9.0,
        "position_sd": 5.0,
        "rotation_deg": 8.0,
        "rotation_sd": 9.0,
        "loss": 0.16,
    }
    rows = [
        {"row": row, "start": start, **measured, "us_per_step": time}
        for row, time in (("contactid", 0.5), ("mujoco", 5.0))
        for start in (FILE, FLIGHT)
    ]
    table = benchmark_table(kept(tmp_path, rows)).set_index(["row", "start"])
    assert table.loc["mujoco", "time_over_newton"].tolist() == [10.0, 10.0]
    assert table.loc[("Drake_published", FILE), ["position_pct", "rotation_deg"]].tolist() == [
        13.5,
        16.5,
    ]
    assert np.isnan(table.loc[("Drake_published", FILE), "loss"]) and len(table) == 7


def test_a_learning_curve_has_medians_and_ranges_of_the_first_split(tmp_path):
    rows = [
        {
            "dataset": "cube", "seed": seed, "law": law, "draw": draw,
            "n_identification": number, "calibrated": number > 8,
            "test_loss": draw + number, "position_pct": 2.0, "rotation_deg": 3.0,
        }
        for seed in (7, 8)
        for law in ("newton", "incremental")
        for number in (4, 16)
        for draw in (1, 2, 6)
    ]  # fmt: skip
    shown = learning_figure(kept(tmp_path, rows))
    assert (shown.data, shown.datasets) == ("recorded data: cube", ["cube"])
    table = shown.table
    few = table[(table["law"] == "newton") & (table["n_tosses"] == 4)].iloc[0]
    assert few[["draws", "test_loss", "test_loss_least", "test_loss_most"]].tolist() == [
        3,
        6,
        5,
        10,
    ]
    figure = draw_learning_curve(table)
    curves = figure.axes[0].get_lines()
    assert [line.get_label() for line in curves] == ["newton", "incremental"]
    assert curves[0].get_xydata().tolist() == [[4.0, 6.0], [16.0, 18.0]]
    plt.close(figure)
