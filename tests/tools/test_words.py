"""What users name reaches the commands as it was typed: no shell, and no make, reads it."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from words import filled, words

ROOT = Path(__file__).parents[2]
ODD = [
    "throw (1).csv",
    "it's;touch bad",
    "`touch bad`",
    "$(touch bad)",
    "$HOME\\ü",
    '"quoted" #1',
    "[a] & b | c > d",
    "{RUN}",
]
NAMES = st.text(
    st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=30
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@given(NAMES)
def test_a_name_is_put_into_a_word_as_it_is(name):
    assert list(filled(["--run=results/{RUN}", "{RUN}"], {"RUN": name})) == [
        f"--run=results/{name}",
        name,
    ]


@given(
    st.text(
        st.characters(exclude_characters="\ufeff", exclude_categories=["C", "Zl", "Zp"]), min_size=1
    )
)
def test_a_setting_is_read_back_by_yaml_as_it_was(name):
    quoted, listed = filled(["{STUDY:json}", "{STUDY:list}"], {"STUDY": name})
    assert yaml.load(quoted, yaml.BaseLoader) == name
    assert yaml.load(listed, yaml.BaseLoader) == [name]


@given(st.lists(NAMES))
def test_names_in_a_shells_quotes_are_the_names(names):
    plain = [f"/nowhere/{name}" for name in names]  # no glob matches, no name is there
    assert words(shlex.join(plain)) == plain


def test_an_empty_text_names_nothing():
    assert list(filled(["a", "{THROWS:words}", "{STUDY:list}", "b{RUN}"], {})) == ["a", "[]", "b"]


@pytest.mark.parametrize("name", ODD)
def test_a_text_that_is_a_files_name_is_that_file(here, name):
    (here / name).touch()
    assert words(name) == [name]
    assert words(shlex.join([name, "other"])) == [name, "other"]


def test_patterns_are_every_such_file_in_order(here):
    for name in ("b 2.csv", "b 1.csv", "c[1].csv", "c1.csv"):
        (here / name).touch()
    every = ["b 1.csv", "b 2.csv", "c[1].csv", "c1.csv", "none*.csv"]
    assert words("b*.csv 'c[1].csv' c?.csv none*.csv") == every


def test_a_quote_that_is_not_closed_is_a_line_that_names_the_variable():
    with pytest.raises(
        ValueError, match=r"^THROWS: a quote isn't closed in it's.csv b.csv\. Write names"
    ):
        list(filled(["{THROWS:words}"], {"THROWS": "it's.csv b.csv"}))


@pytest.mark.parametrize("word", ["{FILE!}", "--file={FILE!}", "{FILE:words!}"])
def test_what_must_be_given_is_asked_for_by_its_name(word):
    assert next(filled([word], {"FILE": "a"})).endswith("a")
    with pytest.raises(ValueError, match=r"^FILE isn't given\. Add FILE="):
        list(filled([word], {"FILE": ""}))


LOCKS = ("envs/requirements.lock", "envs/development.lock", "envs/build.lock")


@pytest.fixture
def make(tmp_path):
    """``make`` of a copy of the Makefile, whose programs write down what they were given; give that
    of the last one.
    """
    for name in ("Makefile", "tools/words.py", "tools/start.py", "config/public.yaml", *LOCKS):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    told = tmp_path / "told.json"
    note = (
        "import json, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(json.dumps(sys.argv[2:]))"
    )
    write = f"exec {sys.executable} -c '{note}' {shlex.quote(str(told))}"
    python = f'case "$1" in tools/words.py | tools/start.py) exec {sys.executable} "$@";; esac\n{write} "$@"'
    for name, script in (("python", python), ("snakemake", f'{write} "$@"')):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    (tmp_path / ".venv/.ready").touch()

    def call(*arguments, mirror=("DATA_MIRROR=",), **environment):
        told.unlink(missing_ok=True)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MAKE", "DATA_MIRROR"))
        }
        command = ["make", *mirror, *arguments]
        ended = subprocess.run(
            command, cwd=tmp_path, env={**kept, **environment}, capture_output=True, text=True
        )
        assert ended.returncode == 0, ended.stderr
        assert not (tmp_path / "bad").exists()
        return json.loads(told.read_text()) if told.is_file() else ended.stdout

    return call


@pytest.mark.parametrize("name", ODD)
def test_every_command_gets_the_very_name(make, name):
    said = make("identify", f"THROWS={shlex.join([name, 'b c'])}", f"BODY={name}", f"REPORT={name}")
    options = [f"--body={name}", f"--report={name}"]
    assert said == ["-m", "contactid", "identify", *options, "--", name, "b c"]
    said = make("estimate", f"RECORDING={name}", f"HULL={name}", f"NOISE={name}")
    options = [f"--hull={name}", f"--noise={name}", "--report=report"]
    assert said == ["-m", "contactid", "estimate", *options, "--", name]
    said = make("slip", f"TRIALS={name}")
    assert said == ["-m", "contactid", "slip", "--direction=1", "--report=report", "--", name]
    assert make("verify", f"BUNDLE={name}")[-2:] == ["--", name]


def test_data_beside_the_checkout_are_used(make, tmp_path):
    (tmp_path / "../shared/data").mkdir(parents=True, exist_ok=True)
    assert make("public", mirror=())[-1] == 'data_mirror=["../shared/data"]'
    assert make("public", mirror=(), DATA_MIRROR="")[-1] == "data_mirror=[]"


def test_names_from_the_environment_are_the_same(make):
    said = make("predict", TOSSES="'my tosses' $x", OBJECT="`date`")
    options = ["--run=results/default", "--report=report", "--object=`date`", "--surface="]
    assert said[3:] == [*options, "--", "my tosses", "$x"]


@pytest.mark.parametrize("name", ODD)
def test_snakemakes_settings_are_read_as_they_were_typed(make, tmp_path, name):
    for file in (name, "b.yaml"):
        (tmp_path / file).write_text("run: mine\n")
    said = make("public", f"DATA_MIRROR={name}", f"STUDY={name}", f"FOURTU_URL={name}")
    mirror, url, study = said[-3:]
    assert yaml.safe_load(mirror.removeprefix("data_mirror=")) == [name]
    assert yaml.safe_load(study.removeprefix("studies=")) == [name]
    assert url == f"fourtu_url={name}"
    said = make("cluster", f"CONFIG={shlex.join([name, 'b.yaml'])}", f"PARTITION={name}")
    assert said[2:5] == ["--configfile", name, "b.yaml"]
    assert eval(said[-1].removeprefix("slurm_partition=")) == name  # as Snakemake does


def test_what_is_not_given_is_not_passed_on(make):
    assert make("run") == ["--config"]
    assert make("public") == ["--configfile", "config/public.yaml", "--config", "data_mirror=[]"]
    assert make("lock") == ["-m", "contactid.sources.lock"]
    assert make("bundle") == ["-m", "contactid.review.bundle", "--run=default"]


def test_a_dry_run_is_of_the_study_that_is_named(make):
    assert make("dry-run", "STUDY=planar") == ["--dry-run", "--config", 'studies=["planar"]']
    assert make("dry-run") == ["--dry-run", "--config"]


def test_clean_removes_what_runs_made_and_nothing_else(make, tmp_path):
    own = [f".snakemake/runs/{name}.lock" for name in ("mine", "other")]
    own += ["results/mine/a.csv", "results/bench/bench.csv"]
    kept = ["results/README.md", "results/mine copy/a.csv", "results/theirs/a.csv"]
    kept += ["copy/a.csv", "mine/a.csv", "report/a.csv"]
    for name in [*own, *kept]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    make("clean")
    assert [name for name in [*own, *kept] if (tmp_path / name).exists()] == kept


def helped(target):
    command = ["make", "--no-print-directory", target]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return said, [line.split()[1] for line in said.splitlines() if line.startswith("  make ")]


def test_help_has_every_target_in_a_group():
    text = (ROOT / "Makefile").read_text()
    targets = text.split(".PHONY:")[1].split("\n\n")[0].replace("\\\n", " ").split()
    (said, users), (said_dev, developers) = helped("help"), helped("help-dev")
    assert sorted([*users, *developers]) == sorted(targets)
    assert (
        said.count("\n\n") == text.count("\n##@ ")
        and said_dev.count("\n\n") == text.count("\n##@dev ") - 1
    )


def test_help_is_a_user_s():
    """What only a change of the code needs has a list of its own."""
    _, users = helped("help")
    assert len(users) <= 30 and {"run", "identify", "test", "help-dev"} <= set(users)
    assert not [name for name in users if name.startswith(("bench-", "test-", "lock-"))]
    others = {"store", "baseline", "numbers", "equations", "resources", "release"}
    assert not {*others, "other-processor"} & set(users)
