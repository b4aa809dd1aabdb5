"""Two runs are the same but for what they can't have in common; what moved otherwise is told, the
worst first.
"""

import base64
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from contactid.output.comparison import Reproduced
from contactid.output.comparison import compare as judged
from contactid.output.tables import write_csv
from contactid.review.compare import compare_runs, differences, main
from printed_rows import printed_rows
from report_run import RESULTS, make_run, record_jobs, rendered

_PART = re.compile('(<script type="application/octet-stream" id="part-[^"]*">)([^<]*)')

TABLE = "throw,error_pct,seconds\na,1.5,{}\nb,{},2\n"
TEX = "throw & error\\_pct & seconds \\\\\n\\hline\na & 1.5 & {} \\\\\nb & {} & 2 \\\\\n"
PAGE = "Words {}.\n\n| reformulation | |error| % | s    |\n| ---{} | --- | ---- |\n| penalty       | {} | {}  |\n"


@pytest.fixture
def folders(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name / "fits").mkdir(parents=True)
        write(tmp_path / name)
    return tmp_path / "a", tmp_path / "b"


def write(
    folder,
    *,
    seconds="3.0",
    error="2.5",
    offset=0.0,
    words="as before",
    unit="m",
    axis=2.0,
    numpy="2",
):
    (folder / "table.csv").write_text(TABLE.format(seconds, error))
    (folder / "table.tex").write_text(TEX.format(seconds, error))
    (folder / "summary.md").write_text(PAGE.format(words, "-" * len(seconds), error, seconds))
    (folder / "table.svg").write_text(f"<svg>{seconds}</svg>")
    (folder / "fits/fit.json").write_text(
        f'{{"parameters": {{"mu": [{error}, NaN]}}, "seconds": {seconds}}}'
    )
    values = xr.Dataset(
        {"x": ("t", np.array([1.0, np.nan]) + offset), "seconds": ("t", [float(seconds)] * 2)}
    )
    values["x"].attrs["unit"] = unit
    values.attrs["axes"] = [1.0, axis]
    values.to_netcdf(folder / "data.nc", engine="h5netcdf")
    (folder / "figure.csv").write_text(f"quantity,value\nseconds,{seconds}\nerror,{error}\n")
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "logs/job.log").write_text(seconds)
    record = {
        "git_commit": seconds,
        "cores": seconds,
        "jobs": {"end": seconds},
        "packages": {"numpy": numpy},
    }
    (folder / "provenance.json").write_text(json.dumps(record))
    entities = [
        {"@id": "#run-r", "@type": "CreateAction", "endTime": seconds, "result": [{"@id": numpy}]},
        {"@id": "table.csv", "@type": "File", "sha256": seconds},
    ]
    (folder / "ro-crate-metadata.json").write_text(json.dumps({"@graph": entities}))


def write_page(folder, page):
    (folder / "report.html").write_text(page)


def test_other_times_are_the_same_results(folders):
    a, b = folders
    write(b, seconds="12.5")
    assert differences(a, b) == []


@pytest.mark.parametrize(
    ("change", "files"),
    [
        ({"error": "2.6"}, ["figure.csv", "fits/fit.json", "summary.md", "table.csv", "table.tex"]),
        ({"words": "otherwise"}, ["summary.md"]),
        ({"offset": 1e-12}, ["data.nc"]),
        ({"unit": "mm"}, ["data.nc"]),
        ({"axis": 3.0}, ["data.nc"]),
        ({"numpy": "3"}, ["provenance.json", "ro-crate-metadata.json"]),
    ],
)
def test_every_other_difference_is_a_line(folders, change, files):
    a, b = folders
    write(b, **change)
    assert sorted(line.split(":")[0] for line in differences(a, b)) == files


def test_the_line_names_place_values_and_size(folders):
    a, b = folders
    write(b, error="2.6")
    assert "table.csv: error_pct: 2.5 became 2.6 (0.04 relative)" in differences(a, b)
    assert "fits/fit.json: parameters.mu: 2.5 became 2.6 (0.04 relative)" in differences(a, b)


def test_a_file_of_one_run_alone_and_a_partial_one_are_differences(folders):
    a, b = folders
    (a / "more.csv").write_text("x\n")
    (b / ".table.partial77.csv").write_text("thr")
    assert differences(a, b) == [f".table.partial77.csv: only in {b}", f"more.csv: only in {a}"]


def test_a_drawing_of_anything_but_times_is_compared(folders):
    a, b = folders
    for folder, drawing in ((a, "<svg/>"), (b, "<svg />")):
        (folder / "motion.csv").write_text("t_s,x_m\n0,1\n")
        (folder / "motion.svg").write_text(drawing)
    assert [line.split(":")[0] for line in differences(a, b)] == ["motion.svg"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A report's text, and that of the same run at another commit, with other times."""
    folder = tmp_path_factory.mktemp("run")
    make_run(folder)
    record_jobs(folder)
    table = folder / RESULTS / "tossing/tables/tab03_rest_pose_errors.csv"
    table.write_text("object,error,seconds\na,2.04,1.5\n")
    record = folder / RESULTS / "provenance.json"
    record.write_text(
        json.dumps({**json.loads(record.read_text()), "git_commit": "a" * 40, "cores": 2})
    )
    first = rendered(folder)
    table.write_text("object,error,seconds\na,2.04,2.5\n")
    for file in (folder / RESULTS / "benchmarks").rglob("*.tsv"):
        file.write_text(file.read_text().replace("1.5", "7.5"))
    for file in (folder / ".snakemake/metadata").iterdir():
        file.write_text(file.read_text().replace('"endtime": 12.0', '"endtime": 19.0'))
    record.write_text(
        json.dumps({**json.loads(record.read_text()), "git_commit": "f" * 40, "cores": 8})
    )
    fit = folder / RESULTS / "tossing/fits/box_a.paper.json"
    fit.write_text(fit.read_text().replace('"seconds": 0.1', '"seconds": 9.1'))
    return first, rendered(folder)


def test_reports_of_one_run_at_other_times_are_the_same(folders, pages):
    a, b = folders
    write_page(a, pages[0])
    write_page(b, pages[1])
    assert pages[0] != pages[1] and differences(a, b) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Errors of the rest pose", "Errors of the pose"),
        ('href="logs/tossing_tables.log"', 'href="logs/tables.log"'),
        ("2.04", "2.05"),
        ("def label_data", "def label"),
    ],
)
def test_a_report_that_shows_or_carries_something_else_differs(folders, pages, old, new):
    a, b = folders
    write_page(a, pages[0])
    write_page(b, _PART.sub(lambda part: packed(part, old, new), pages[0].replace(old, new)))
    (line,) = differences(a, b)
    assert line.startswith("report.html: ")


def packed(part, old, new):
    """A part of the page in which a text is another."""
    text = gzip.decompress(base64.b64decode(part[2])).replace(old.encode(), new.encode())
    return part[0].replace(part[2], base64.b64encode(gzip.compress(text)).decode())


PUBLISHED = printed_rows(
    *(("tab01", f"q{number}", "", 1.0, "kg", 0.1, "rounding", "p. 1") for number in range(5))
)


def finish(folder, *values):
    """A run's checks: one number for each printed one; None where there is none."""
    ours = {
        ("tab01", f"q{number}", ""): Reproduced(value)
        for number, value in enumerate(values)
        if value is not None
    }
    write_csv(judged("s", PUBLISHED, ours), folder / "checks.csv")


def test_what_moved_between_two_runs_is_listed_the_worst_first(folders, tmp_path, capsys):
    a, b = folders
    finish(a, 1.0, 1.0, 1.0, 1.3, 1.01)
    finish(b, 1.0, 1.02, None, 1.0, 1.05)
    assert main([str(a), str(b), "--csv", str(tmp_path / "moved.csv")]) == 1
    told = pd.read_csv(tmp_path / "moved.csv")
    assert list(told["kind"]) == ["verdict", "verdict", "number", "number", "file"]
    assert list(told["name"]) == [
        "s tab01 q2",
        "s tab01 q3",
        "s tab01 q4",
        "s tab01 q1",
        "checks.csv",
    ]
    assert told["tolerances"][2:4].tolist() == pytest.approx([0.4, 0.2])
    assert told["relative"][:4].tolist() == pytest.approx(
        [np.inf, 0.3 / 1.3, 0.04 / 1.05, 0.02 / 1.02], rel=1e-5
    )
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert lines[0].startswith(
        "in one run alone: s tab01 q2: reproduced -> not_done; printed 1, reproduced 1 -> "
    )
    assert lines[2].startswith(
        "0.4 tolerances, 3.8 %: s tab01 q4: reproduced; printed 1, reproduced 1.01 -> 1.05 kg"
    )


@given(st.lists(st.sampled_from([None, 0.0, 0.5, 1.0, 1.05, 2.0]), min_size=5, max_size=5))
def test_a_run_beside_itself_has_moved_nowhere(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("run")
    finish(folder, *values)
    text, table = compare_runs(folder, folder)
    assert table.empty and "0 of 5 moved" in text and "0 of 1 differ" in text


def test_runs_are_named_as_folders_or_by_their_names(tmp_path, monkeypatch, capsys):
    for name in ("one", "two"):
        (tmp_path / "results" / name).mkdir(parents=True)
        finish(tmp_path / "results" / name, 1.0)
    monkeypatch.chdir(tmp_path)
    assert main(["one", "results/two"]) == 0
    with pytest.raises(
        SystemExit, match=r"^ERROR there is no run three\. Name two: .*; there are one, two\.$"
    ):
        main(["one", "three"])
    (tmp_path / "results/two/checks.csv").unlink()
    with pytest.raises(
        SystemExit, match=r"^ERROR results/two/checks.csv does not exist\. Let the run finish"
    ):
        main(["one", "two"])
