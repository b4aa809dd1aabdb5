"""The recipes of docs/extending.md, each followed in a scratch copy: what it touches is all that
there is to touch.
"""

import json
import re

import pandas as pd
import pytest

from whole_run import ROOT, TEST, copy_of_the_repository, snakemake

RULE = """    log:
        "<logs>/{name}.log",
    benchmark:
        "<benchmarks>/{name}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **compute("{name}"),
{params}    script:
        "../call.py"
"""


@pytest.fixture
def copy(tmp_path):
    return copy_of_the_repository(tmp_path)


def add(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def edit(file, old, new):
    text = file.read_text()
    assert old in text, f"{file}: {old}"
    file.write_text(text.replace(old, new, 1))


def made(folder, *arguments, configfile=TEST):
    run = snakemake(folder, *arguments, configfile=configfile)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


FIGURE = '''"""Figure beyond the paper: the link masses."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.tables import read_csv


def masses(links: str) -> pd.DataFrame:
    """Mass of every link, kg."""
    return read_csv(links).iloc[:, :2]


def draw_masses(data: pd.DataFrame) -> Figure:
    """Bars."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.0))
    axes.bar(range(len(data)), range(len(data)))
    return figure
'''


def test_a_figure_is_a_row_and_a_file(copy):
    add(copy / "workflow/contactid/arm/artefacts/masses.py", FIGURE)
    edit(
        copy / "workflow/contactid/arm/artefacts/__init__.py",
        "    artefacts = [\n",
        "    artefacts = [\n"
        '        Rows(__name__, "arm_masses").figure("ext_masses", "masses:masses", "draw_masses",\n'
        '            "Masses of the links.", data="link table"),\n',
    )
    # a rule of its own here, so that the test solves nothing; arm_tables would serve
    rules = copy / "workflow/rules/arm.smk"
    rule = "\n\nrule arm_masses:\n    input:\n        links=ARM_LINKS,\n    output:\n"
    rule += '        artefacts=computed_by("arm_masses"),\n' + RULE.format(
        name="arm_masses", params=""
    )
    rules.write_text(rules.read_text() + rule)
    made(copy, "--until", "arm_masses", "--config", 'studies=["arm"]')
    assert len(pd.read_csv(copy / "results/test/arm/figures/ext_masses.csv")) > 5


READER = '''"""Throws of somebody's own tracker."""

from __future__ import annotations

import numpy as np
import xarray as xr

from contactid.planar.readers.throws import PlanarThrow, build_throws, square


def read_mine(path: str, licence: str) -> xr.Dataset:
    """Lines of frame, x (mm), y (mm), theta (deg)."""
    table = np.loadtxt(path)
    pose = table[:, 1:] * np.array([1e-3, 1e-3, np.pi / 180.0])
    throw = PlanarThrow("one", table[:, 0] / 100.0, pose)
    return build_throws([throw], square(0.06), object_name="mine", source=path, licence=licence, synthetic=True)
'''


def test_a_reader_is_a_row_and_a_file_and_a_dataset_needs_no_code(copy):
    add(copy / "workflow/contactid/planar/readers/mine.py", READER)
    edit(
        copy / "workflow/contactid/sources/registry.py",
        '    "planar_throws": Reader(',
        '    "mine": Reader(form="planar", read="contactid.planar.readers.mine:read_mine",\n'
        '                   signals="contactid.planar.readers.card:throw_signals"),\n'
        '    "planar_throws": Reader(',
    )
    lines = [f"{k} {1000 + 5 * k} {500 + 2 * k} {k}" for k in range(12)]
    add(copy / "mine.txt", "\n".join(lines))
    datasets = json.dumps({"shed": {"reader": "mine", "path": "mine.txt"}})
    target = "results/test/data/shed/planar.nc"
    made(copy, "--config", f"datasets={datasets}", 'studies=["planar"]', "--", target)
    assert (copy / target).stat().st_size > 1000


def test_the_pages_example_of_own_planar_throws_is_a_dataset_like_any_other(copy):
    page = (ROOT / "docs/extending.md").read_text()
    block = re.search(r"```yaml\n(# mine\.yaml.*?)```", page, re.DOTALL)
    assert block is not None
    add(copy / "mine.yaml", block[1])
    rows = [f"{k / 100.0},{0.01 * k},{0.5 - 0.001 * k},{0.02 * k}" for k in range(12)]
    for name in ("one", "two"):
        add(copy / f"my_throws/{name}.csv", "\n".join(["t,x,y,theta", *rows]))
    both = (*TEST, "mine.yaml")
    made(copy, "--dry-run", configfile=both)  # all rules of the study take it
    made(copy, "--", "results/mine/data/my_plates/planar.nc", configfile=both)
    assert (copy / "results/mine/data/my_plates/planar.nc").stat().st_size > 1000


STUDY = {
    "contactid/demo/__init__.py": '"""A study of one rule."""\n',
    "contactid/demo/artefacts/__init__.py": '''"""The tables of the demo study."""

from contactid.output.artefacts import table


def declare(block):
    """One table."""
    return [table("tab01_squares", "demo_squares", "contactid.demo.squares:squares", "Squares.")]
''',
    "contactid/demo/squares.py": '''"""Squares, and whether the printed one is met."""

import pandas as pd

from contactid.core.atomic import write_text
from contactid.output.comparison import Reproduced, compare
from contactid.output.tables import read_csv, write_csv


def squares(published: str, block: dict, checks: str, summary: str) -> pd.DataFrame:
    """n and n^2; the study's verdicts and its section of the summary are written beside."""
    table = pd.DataFrame({"n": range(block["largest"] + 1)}).assign(square=lambda rows: rows["n"] ** 2)
    numbers = {("tab01", "square", "n=3"): Reproduced(float(table["square"].iloc[3]))}
    write_csv(compare("demo", read_csv(published), numbers), checks)
    write_text(summary, "## Demo\\n\\nSquares are squares.\\n")
    return table
''',
    "resources/published/demo.csv": "artefact,quantity,condition,value,unit,tolerance,tolerance_from,where\n"
    "tab01,square,n=3,9,1,0.5,rounding,page 1\n",
    "rules/demo.smk": '''"""A study of one rule."""

from contactid.demo import artefacts as demo_artefacts

ARTEFACTS["demo"] = demo_artefacts.declare(config["demo"])
STUDY_CHECKS += ["<results>/demo/checks.csv"]
STUDY_SUMMARIES += ["<results>/demo/summary.md"]


rule demo_squares:
    """Square some numbers."""
    input:
        published="workflow/resources/published/demo.csv",
    output:
        artefacts=computed_by("demo_squares"),
        checks="<results>/demo/checks.csv",
        summary="<results>/demo/summary.md",
'''
    + RULE.format(name="demo_squares", params='        block=config["demo"],\n'),
}


def test_a_study_is_its_own_files_and_two_shared_ones(copy):
    for name, text in STUDY.items():
        add(copy / "workflow" / name, text)
    schema = copy / "workflow/schemas/config.schema.yaml"
    edit(
        schema, "enum: [tossing, planar, arm, inhand]", "enum: [tossing, planar, arm, inhand, demo]"
    )
    block = "  demo:\n    properties:\n      largest: {type: integer}\n"
    edit(schema, "\nproperties:\n", f"\nproperties:\n{block}")
    default = copy / "config/default.yaml"
    default.write_text(default.read_text() + "demo: {largest: 4}\n")
    made(copy, "--config", 'studies=["demo"]')
    results = copy / "results/test"
    assert pd.read_csv(results / "checks.csv")["verdict"].tolist() == ["reproduced"]
    assert "\\caption{Squares.}" in (results / "demo/tables/tab01_squares.tex").read_text()
    assert "Squares are squares." in (results / "summary.md").read_text()
    page = (results / "report.html").read_text()
    assert "contactid.demo.squares" in page and (results / "ro-crate-metadata.json").exists()
