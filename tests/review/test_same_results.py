"""Two results folders are the same but for what two runs can't have in common; every other difference is told."""

import base64
import gzip
import json
import re

import numpy as np
import pytest
import xarray as xr

from contactid.review.same_results import differences, main
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


def write(folder, *, seconds="3.0", error="2.5", offset=0.0, words="as before", unit="m", axis=2.0, numpy="2"):
    (folder / "table.csv").write_text(TABLE.format(seconds, error))
    (folder / "table.tex").write_text(TEX.format(seconds, error))
    (folder / "summary.md").write_text(PAGE.format(words, "-" * len(seconds), error, seconds))
    (folder / "table.svg").write_text(f"<svg>{seconds}</svg>")
    (folder / "fits/fit.json").write_text(f'{{"parameters": {{"mu": [{error}, NaN]}}, "seconds": {seconds}}}')
    values = xr.Dataset({"x": ("t", np.array([1.0, np.nan]) + offset), "seconds": ("t", [float(seconds)] * 2)})
    values["x"].attrs["unit"] = unit
    values.attrs["axes"] = [1.0, axis]
    values.to_netcdf(folder / "data.nc", engine="h5netcdf")
    (folder / "figure.csv").write_text(f"quantity,value\nseconds,{seconds}\nerror,{error}\n")
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "logs/job.log").write_text(seconds)
    record = {"git_commit": seconds, "cores": seconds, "jobs": {"end": seconds}, "packages": {"numpy": numpy}}
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
    assert differences(a, b) == [] and main([str(a), str(b)]) == 0


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
def test_every_other_difference_is_a_line(folders, capsys, change, files):
    a, b = folders
    write(b, **change)
    assert [line.split(":")[0] for line in differences(a, b)] == files
    assert main([str(a), str(b)]) == 1
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == files


def test_the_line_names_place_and_values(folders):
    a, b = folders
    write(b, error="2.6")
    assert "table.csv: line 3, error_pct: '2.5' and '2.6'" in differences(a, b)
    assert "fits/fit.json: parameters.mu.0: 2.5 and 2.6" in differences(a, b)


def test_a_file_of_one_run_alone_and_a_partial_one_are_differences(folders):
    a, b = folders
    (a / "more.csv").write_text("x\n")
    (b / ".table.partial77.csv").write_text("thr")
    assert differences(a, b) == [f"more.csv: only in {a}", f".table.partial77.csv: only in {b}"]


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
    record.write_text(json.dumps({**json.loads(record.read_text()), "git_commit": "a" * 40, "cores": 2}))
    first = rendered(folder)
    table.write_text("object,error,seconds\na,2.04,2.5\n")
    for file in (folder / RESULTS / "benchmarks").rglob("*.tsv"):
        file.write_text(file.read_text().replace("1.5", "7.5"))
    for file in (folder / ".snakemake/metadata").iterdir():
        file.write_text(file.read_text().replace('"endtime": 12.0', '"endtime": 19.0'))
    record.write_text(json.dumps({**json.loads(record.read_text()), "git_commit": "f" * 40, "cores": 8}))
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


def test_a_folder_that_is_not_there_is_one_line(tmp_path, capsys):
    assert main([str(tmp_path), str(tmp_path / "nowhere")]) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err
