"""``make bench``: a run's benchmark files become a table, peers stand beside ours, and missing ones
say why.
"""

import sys

import numpy as np
import pandas as pd
import pytest

import bench
import bench_cost
from bench_cost import Task, draw_cost, measure, reading_tasks, with_slopes
from bench_stages import peer_rows, stage_rows
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def benchmark(folder, name, seconds, megabytes, cpu):
    file = folder / "benchmarks" / f"{name}.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HEADER + f"{seconds}\t0:00:01\t{megabytes}\t1\t1\t1\t0\t0\t50\t{cpu}\n")


@pytest.fixture
def run(tmp_path):
    benchmark(tmp_path, "planar_identify/one.mu0.2.0", 40.0, 300.0, 20.0)
    benchmark(tmp_path, "planar_identify/one.mu0.3.0", 80.0, 390.0, 40.0)
    benchmark(tmp_path, "checks", 2.0, 90.0, "-")
    for friction in ("0.2", "0.3"):
        table = tmp_path / f"planar/identification/one.mu{friction}.0.csv"
        write_csv(pd.DataFrame({"fps": [30, 60, 120]}), table)
    return tmp_path


def test_a_stage_sums_its_jobs_and_counts_what_they_worked_through(run):
    table = stage_rows(run).set_index("stage")
    row = table.loc["planar_identify"]
    assert (row["study"], row["jobs"], row["seconds"], row["cpu_seconds"], row["peak_MB"]) == (
        "planar", 2, 120.0, 60.0, 390.0,
    )  # fmt: skip
    assert (row["throughput"], row["unit"]) == (6.0, "throws per CPU minute")
    other = table.loc["checks"]
    assert (other["study"], other["throughput"], other["unit"]) == ("all", 30.0, "jobs per minute")


def test_a_job_too_short_to_be_measured_counts_as_nothing(run):
    assert stage_rows(run).set_index("stage").loc["checks", "cpu_seconds"] == 0.0


def test_a_run_without_or_with_a_damaged_benchmark_file_is_one_line(run, tmp_path):
    with pytest.raises(ContactIdError, match="nowhere/benchmarks: no benchmark files"):
        stage_rows(tmp_path / "nowhere")
    (run / "benchmarks/checks.tsv").write_text("")
    with pytest.raises(ContactIdError, match=r"checks\.tsv: not a benchmark file"):
        stage_rows(run)


def test_peers_stand_beside_ours_on_the_same_problem(run):
    speed = pd.DataFrame(
        [("likelihood", 100, True, 1.0), ("factor_graph", 100, True, 0.05), ("likelihood", 400, True, 4.0),
         ("factor_graph", 400, True, 0.1), ("likelihood", 800, False, 9.0), ("factor_graph", 800, True, 0.2)],
        columns=["solver", "samples", "converged", "seconds"],
    )  # fmt: skip
    write_csv(speed, run / "inhand/tables/ext_speed.csv")
    forms = pd.DataFrame(
        [
            ("table_1", "fitted_motion", "contact_sequence", 3, 3, 1.5),
            ("table_1", "fitted_motion", "scholtes", 3, 2, 6.0),
            ("table_1", "measured_poses", "scholtes", 3, 0, 9.0),
        ],
        columns=["throws", "start", "reformulation", "n", "n_converged", "seconds_median"],
    )
    write_csv(forms, run / "planar/tables/ext_reformulations.csv")
    table = peer_rows(run).set_index("stage")
    estimate = table.loc["one estimate"]
    assert (estimate["peer"], estimate["ours_seconds"], estimate["peer_over_ours"]) == (
        "factor graph",
        4.0,
        0.025,
    )
    form = table.loc["identification of one throw"]
    assert (form["peer"], form["peer_over_ours"]) == (
        "scholtes",
        4.0,
    ) and "2 of 3 converged" in form["note"]
    missing = table.loc["one time step"]
    assert pd.isna(missing["peer"]) and missing["note"].startswith("no peer: the run has no ")


def test_absent_tosses_and_an_absent_mujoco_are_reasons_not_failures(tmp_path):
    assert "set DATA_MIRROR" in bench.simulator_row("", "")["note"]
    (tmp_path / "contactnets").mkdir()
    assert "make peers" in bench.simulator_row(str(tmp_path), str(tmp_path / "python"))["note"]


def test_slopes_are_those_of_power_laws():
    size = np.array([10.0, 20.0, 40.0])
    rows = pd.concat(
        pd.DataFrame({"stage": stage, "size": size, "cpu_seconds_median": level * size**slope})
        for stage, slope, level in (("a", 1.0, 0.1), ("b", 2.0, 0.01))
    )
    found = with_slopes(rows).groupby("stage")[["slope", "at_one"]].first()
    assert found.loc["a"].to_numpy() == pytest.approx([1.0, 0.1])
    assert found.loc["b"].to_numpy() == pytest.approx([2.0, 0.01])


def test_cpu_time_is_counted_without_the_solve_that_compiles(monkeypatch):
    clock, solved = [0.0], []

    def solve(repeat):
        solved.append(repeat)
        clock[0] += {0: 1.0, 1: 3.0, 2: 2.0}[repeat] + (100.0 if len(solved) == 1 else 0.0)

    monkeypatch.setattr(bench_cost, "cpu_seconds", lambda: clock[0])
    rows = measure(iter([Task("a", 1.0, "MB", solve), Task("a", 2.0, "MB", solve)]), 3)
    assert solved == [0, 0, 1, 2, 0, 1, 2]
    assert rows[
        ["cpu_seconds_least", "cpu_seconds_median", "cpu_seconds_largest"]
    ].to_numpy().tolist() == [
        [1.0, 2.0, 3.0],
        [1.0, 2.0, 3.0],
    ]


def test_archives_of_two_sizes_are_measured_drawn_and_deleted(tmp_path):
    rows = measure(reading_tasks(str(tmp_path), (0.3, 0.6)), 1)
    assert not list(tmp_path.iterdir()) and (np.diff(rows["size"]) > 0).all()
    parts = [rows.assign(stage=name) for name in "abcd"]
    draw_cost(pd.concat(parts, ignore_index=True), tmp_path / "ext_cost", "synthetic data")
    for extension in ("pdf", "png", "svg"):
        assert (tmp_path / f"ext_cost.{extension}").stat().st_size > 1000
    assert "synthetic data" in (tmp_path / "ext_cost.svg").read_text()


def test_a_run_that_is_not_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["bench"])
    with pytest.raises(SystemExit, match=r"^ERROR .*Make the run first"):
        bench.main(str(tmp_path / "default"), str(tmp_path / "bench"), "", "", 1, True)
    assert not (tmp_path / "bench").exists()
