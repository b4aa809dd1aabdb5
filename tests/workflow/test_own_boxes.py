"""The tossing study on boxes of one's own."""

import json
import re
import shutil

import pytest
import yaml

from iam_twins import SURFACES, write_twin
from whole_run import ROOT, start

PAPER = "results/mine/tossing/fits/{}.paper.json"


def snakemake(folder, configuration, *arguments, below=()):
    """A run in another folder by a configuration on top of config/default.yaml, or of ``below``,
    too.
    """
    (folder / "mine.yaml").write_text(yaml.safe_dump(configuration))
    files = [*(ROOT / "config" / name for name in below), folder / "mine.yaml"]
    where = ("--snakefile", ROOT / "Snakefile", "--directory", folder, "--cores", "1")
    ended = start(folder, *where, "--configfile", *files, *arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.fixture
def mine(tmp_path):
    """A configuration of one box, whose few tosses are simulated."""
    write_twin(tmp_path / "box.h5", "Box006", "trajectories", 4, 1, lost_frames=False)
    path = str(tmp_path / "box.h5")
    box = {"reader": "iam", "path": path, "object": "Box006", "surface": SURFACES}
    on = {"identify_on": ["my_box"], "predict_on": ["my_box"], "velocity": {"identify_on": []}}
    return {"run": "mine", "studies": ["tossing"], "datasets": {"my_box": box}, "tossing": on}


def test_a_box_of_ones_own_is_identified_by_every_variant(mine, tmp_path):
    step = {"start": 0.2, "stop": 0.4, "step": 0.2}
    mine["tossing"]["grid"] = {"friction_mu": step, "restitution_e_n": step}
    file = PAPER.format("my_box")
    text = snakemake(tmp_path, mine, "--", file)
    assert "WARNING" not in text
    fit = json.loads((tmp_path / file).read_text())
    # of the grid nearest to the twin's truth, mu = 0.4 and e_N = 0.25
    assert fit["parameters"] == {"friction_mu": 0.4, "restitution_e_n": 0.2}


def test_the_configuration_that_the_page_shows_plans_a_run(tmp_path):
    page = (ROOT / "docs/own.md").read_text()
    shown = re.search(
        r"```yaml\n# my\.yaml: snakemake --configfile config/(\S+) my\.yaml\n(.*?)```", page, re.S
    )
    text = shown[2].replace("/data/", f"{tmp_path}/")
    shutil.copytree(ROOT / "examples/predict/cube", tmp_path / "cube")
    shutil.copy2(ROOT / "examples/predict/box006.h5", tmp_path / "box.h5")
    text = snakemake(tmp_path, yaml.safe_load(text), "--dry-run", below=[shown[1]])
    public = yaml.safe_load((ROOT / "config" / shown[1]).read_text())
    assert re.search(rf"^tossing_identify_1 +{len(public['tossing']['variants'])}$", text, re.M), (
        text
    )
