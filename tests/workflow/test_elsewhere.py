"""The workflow from another folder, as somebody's module, and planned by a plain Snakemake that has
nothing else.
"""

import json
import shutil
import subprocess

import pytest

from contactid.run.failures import NEEDED
from whole_run import ROOT, copy_of_the_repository, start

# what Snakemake itself needs
PLAIN = {"requests", "jinja2", "yaml", "jsonschema"}
# an environment in which nothing else is installed
LACKING = """
import importlib.machinery
import sys

known = importlib.machinery.PathFinder


class Lacking:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in {lacking!r} else known.find_spec(name, path, target)

    invalidate_caches = known.invalidate_caches
    find_distributions = known.find_distributions


sys.meta_path[sys.meta_path.index(known)] = Lacking
"""
OUTER = """
import yaml

with open({test!r}) as file:
    small = yaml.safe_load(file)

module one:
    snakefile: {snakefile!r}
    config: {{**small, "run": "mine", "studies": ["arm"]}}
    prefix: "first"

use rule * from one as one_*

module two:
    snakefile: {snakefile!r}
    config: {{**small, "run": "mine", "studies": ["inhand"]}}
    prefix: "second"

use rule * from two as two_*

rule all:
    default_target: True
    input: rules.one_all.input, rules.two_all.input
"""

# a workflow that names a repository's commit, not a folder here
FROM_GIT = """
rule all:
    input: "first/results/mine/planar/checks.csv"

module one:
    snakefile: {snakefile}
    config: {{"run": "mine", "studies": ["planar"]}}
    prefix: "first"

use rule * from one as one_*
"""
# a workflow with a target of its own, before those of its module
HOST = """
module one:
    snakefile: {snakefile!r}
    config: {{"run": "mine", "studies": ["planar"]}}
    prefix: "arms"

rule all:
    input: "environment.txt"

use rule * from one as arms_*

rule summary:
    output: "environment.txt"
    threads: 2
    shell: "echo $PYTHONPATH $OMP_NUM_THREADS > {{output}}"
"""


def snakemake(folder, *arguments, path="", **environment):
    return start(folder, "--cores", "1", *arguments, PYTHONPATH=str(path), **environment)


@pytest.fixture
def plain(tmp_path):
    """A path that makes Python find Snakemake and what it needs, and none of the packages of jobs."""
    folder = tmp_path / "plain"
    folder.mkdir()
    # the environment's own plugin for clusters needs more, and stands for one that needs nothing
    (folder / "snakemake_executor_plugin_slurm.py").write_text(
        "from snakemake.executors.dryrun import *\n"
    )
    (folder / "sitecustomize.py").write_text(
        LACKING.replace("{lacking!r}", repr(set(NEEDED) - PLAIN))
    )
    return folder


def test_snakemake_alone_plans_a_run_in_another_folder_and_refuses_to_begin_it(tmp_path, plain):
    there = tmp_path / "there"
    there.mkdir()
    chosen = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(there), "--quiet", "host"]
    chosen += ["--configfile", str(ROOT / "config/test.yaml")]
    planned = snakemake(tmp_path, *chosen, "--dry-run", path=plain)
    assert planned.returncode == 0, planned.stdout + planned.stderr
    text = planned.stdout + planned.stderr
    assert "output: results/test/checks.csv" in text and f"input: {ROOT}" not in text
    for study in ("arm", "inhand", "planar", "tossing"):
        assert f"rule {study}_tables:" in text
    begun = snakemake(tmp_path, *chosen, path=plain)
    assert begun.returncode != 0
    told = [line for line in (begun.stdout + begun.stderr).splitlines() if line.startswith("ERROR")]
    assert len(told) == 1 and told[0].startswith("ERROR not installed: numpy, scipy, pandas"), told
    assert not (there / "results").exists()


def test_two_instances_in_one_workflow_keep_apart(tmp_path):
    files = {"snakefile": str(ROOT / "Snakefile"), "test": str(ROOT / "config/test.yaml")}
    (tmp_path / "Snakefile").write_text(OUTER.format(**files))
    planned = snakemake(tmp_path, "--dry-run")
    assert planned.returncode == 0, planned.stdout + planned.stderr
    text = planned.stdout + planned.stderr
    assert "rule two_inhand_tables:" in text and "rule one_inhand_tables:" not in text
    outputs = [line.strip() for line in text.splitlines() if line.strip().startswith("output: ")]
    assert outputs
    assert all(
        line.startswith(("output: first/results/", "output: second/results/")) for line in outputs
    )
    made = "first/results/mine/arm/sweeps/impact_laws.csv"
    run = snakemake(tmp_path, made)
    assert run.returncode == 0, run.stdout + run.stderr
    log = (tmp_path / "first/results/mine/logs/arm_impact_laws.log").read_text()
    assert f"Wrote {made}: " in log and "/workflow/contactid/arm/robots/lwr4.csv: " in log
    assert (tmp_path / made).is_file() and not (tmp_path / "results").exists()


@pytest.fixture
def host(tmp_path):
    (tmp_path / "Snakefile").write_text(HOST.format(snakefile=str(ROOT / "Snakefile")))
    return tmp_path


def test_a_module_that_is_all_there_is_makes_the_whole_run(host):
    """What is downloaded is so where Snakemake runs; the rest may be submitted."""
    module = (host / "Snakefile").read_text().partition("rule all:")[0]
    program = "import json; print(json.dumps(sorted(workflow._localrules)))"
    (host / "Snakefile").write_text(f"{module}use rule * from one as arms_*\n{program}\n")
    planned = snakemake(host, "--dry-run")
    text = planned.stdout + planned.stderr
    assert planned.returncode == 0 and "rule arms_all:" in text and "rule arms_report:" in text, (
        text
    )
    assert json.loads(planned.stdout.splitlines()[0]) == ["arms_fetch_dataset", "arms_verify_data"]


def test_a_host_makes_its_own_target_in_its_environment_and_snakemake_keeps_its_words(host):
    made = snakemake(host, "--cores", "2", path="/of/the/host")
    text = made.stdout + made.stderr
    assert made.returncode == 0, text
    assert (host / "environment.txt").read_text() == "/of/the/host 2\n"
    assert "rule summary:" in text and "1 jobs to do" not in text
    assert "rule arms_" not in text and "specifies rules that are not present" not in text
    # no run of ours was begun
    assert not (host / "arms").exists() and not (host / ".snakemake/runs").exists()


def test_a_host_s_environment_doesn_t_stop_our_jobs(host):
    """A package of our name on its path isn't taken for ours."""
    other = host / "elsewhere"
    (other / "contactid").mkdir(parents=True)
    (other / "contactid/__init__.py").write_text("raise ImportError('the wrong one')\n")
    made = "arms/results/mine/planar/sweeps/liftoff.csv"
    run = snakemake(host, "--", made, path=other)
    assert run.returncode == 0, run.stdout + run.stderr
    assert (host / made).is_file()


def git(folder, *words):
    identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", *identity, "-C", str(folder), *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with what the workflow is, as it is here now, and a tag."""
    folder = copy_of_the_repository(tmp_path_factory.mktemp("contactid"))
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "All of it")
    git(folder, "tag", "v1")
    return folder


def jobs_of(text):
    """Rules and their numbers of jobs, as a dry run lists them."""
    table = text.partition("Job stats:\n")[2].partition("\n\n")[0].splitlines()[2:]
    return {name: int(count) for name, count in (line.split() for line in table)}


def test_a_module_named_by_a_commit_is_planned_and_run(tmp_path, repository):
    named = repr(f"git+file://{repository}/workflow/Snakefile@v1")
    (tmp_path / "Snakefile").write_text(FROM_GIT.format(snakefile=named))
    planned = snakemake(tmp_path, "--dry-run")
    text = planned.stdout + planned.stderr
    assert planned.returncode == 0, text
    jobs = jobs_of(text)
    assert jobs.pop("total") == len(jobs) and {
        "all",
        "one_planar_identify",
        "one_planar_checks",
    } <= set(jobs), "each once"
    assert "one_report" not in jobs
    assert all(name == "all" or name.startswith("one_") for name in jobs)
    made = "first/results/mine/planar/sweeps/liftoff.csv"
    run = snakemake(tmp_path, "--", made)
    assert run.returncode == 0, run.stdout + run.stderr
    copies = list((tmp_path / ".snakemake/contactid").iterdir())
    assert (tmp_path / made).is_file() and len(copies) == 1
    again = snakemake(tmp_path, "--dry-run", "--", made)
    assert "Nothing to be done" in again.stdout + again.stderr


def test_a_module_of_github_is_planned_from_snakemake_s_own_clone(tmp_path, repository):
    clone = (
        tmp_path
        / "cache/snakemake/snakemake/source-cache/snakemake-git-cache/github.com/somebody/contactid"
    )
    clone.parent.mkdir(parents=True)
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), str(clone))
    host = tmp_path / "host"
    host.mkdir()
    named = 'github("somebody/contactid", path="workflow/Snakefile", tag="v1")'
    (host / "Snakefile").write_text(FROM_GIT.format(snakefile=named))
    planned = snakemake(host, "--dry-run", XDG_CACHE_HOME=str(tmp_path / "cache"))
    text = planned.stdout + planned.stderr
    assert planned.returncode == 0 and "one_planar_checks" in jobs_of(text), text
    (host / "Snakefile").write_text(FROM_GIT.format(snakefile=named.replace("workflow/", "")))
    refused = snakemake(host, "--dry-run", XDG_CACHE_HOME=str(tmp_path / "cache"))
    told = [
        line for line in (refused.stdout + refused.stderr).splitlines() if line.startswith("ERROR")
    ]
    assert refused.returncode != 0
    assert len(told) == 1
    assert "Name workflow/Snakefile of github(...)" in told[0]


def test_the_catalogue_s_snakefile_is_the_one_above_it(tmp_path):
    plans = []
    for name in ("Snakefile", "workflow/Snakefile"):
        chosen = [
            "--snakefile",
            str(ROOT / name),
            "--configfile",
            str(ROOT / "config/test.yaml"),
            *("--dry-run", "--config", 'studies=["arm"]'),
        ]
        planned = snakemake(tmp_path, *chosen)
        assert planned.returncode == 0, planned.stdout + planned.stderr
        plans.append(jobs_of(planned.stdout + planned.stderr))
    assert plans[0] == plans[1] and plans[0]["all"] == 1


def test_what_the_catalogue_s_tool_writes_is_a_workflow_of_its_own(tmp_path):
    """A host with a copy of our settings, and every rule by its own name."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    name = str(ROOT / "workflow/Snakefile")
    text = f"configfile: 'config/config.yaml'\nmodule ours:\n    snakefile: {name!r}\n    config: config\n"
    (tmp_path / "Snakefile").write_text(f"{text}use rule * from ours\n")
    planned = snakemake(tmp_path, "--dry-run", "--config", 'studies=["arm"]')
    assert planned.returncode == 0 and jobs_of(planned.stdout + planned.stderr)["all"] == 1, (
        planned.stderr
    )
    assert "output: results/mine/checks.csv" in planned.stdout + planned.stderr
