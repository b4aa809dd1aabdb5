"""What catalogues, archives and builders of containers read of this repository says the same in
every file.
"""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from contactid import __version__

ROOT = Path(__file__).parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CODEMETA = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
ZENODO = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
PAPERS = CITATION["references"]


def names(people):
    """Whoever wrote something, in words, by any file's keys."""
    whole = [
        [
            person.get(key)
            for key in ("name", "given-names", "givenName", "family-names", "familyName")
        ]
        for person in people
    ]
    return [" ".join(filter(None, parts)) for parts in whole]


def test_version_licence_and_authors_are_the_same():
    assert {CODEMETA["version"], ZENODO["version"], CITATION["version"]} == {__version__}
    assert (
        CODEMETA["license"].rpartition("/")[2]
        == ZENODO["license"]
        == CITATION["license"]
        == PROJECT["license"]
    )
    authors = names(CITATION["authors"])
    assert (
        authors
        == names(CODEMETA["author"])
        == names(ZENODO["creators"])
        == names(PROJECT["authors"])
    )


def test_what_it_is_and_what_it_needs_are_the_same():
    assert CODEMETA["name"] == PROJECT["name"] and ZENODO["title"] == CITATION["title"]
    assert CODEMETA["description"] == PROJECT["description"] == ZENODO["description"].rstrip(".")
    assert CODEMETA["keywords"] == ZENODO["keywords"] == PROJECT["keywords"]
    assert CODEMETA["softwareRequirements"] == PROJECT["dependencies"]
    assert CODEMETA["runtimePlatform"] == f"Python {PROJECT['requires-python']}"


def test_the_papers_are_the_same():
    assert [paper["title"].strip() for paper in PAPERS] == [
        paper["name"] for paper in CODEMETA["referencePublication"]
    ]
    for ours, theirs in zip(PAPERS, CODEMETA["referencePublication"], strict=True):
        assert names(ours["authors"]) == names(theirs["author"])
        assert ours.get("url") == theirs.get("url")
        assert str(ours.get("year", "")) == theirs.get("datePublished", "")
    links = [paper["url"] for paper in PAPERS if "url" in paper]
    assert [link["identifier"] for link in ZENODO["related_identifiers"]] == links


def test_the_catalogue_finds_what_it_looks_for():
    """Its rules: a README with these words, the workflow, its settings' page, and a file with how
    it is used.
    """
    words = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    assert "snakemake" in words and "workflow" in words
    assert (ROOT / "workflow/Snakefile").is_file() and (ROOT / "config/README.md").is_file()
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert usage["software-stack-deployment"]["conda"] is True


# containers

DOCKER = (ROOT / "Dockerfile").read_text(encoding="utf-8")
APPTAINER = (ROOT / "apptainer.def").read_text(encoding="utf-8")


def steps(text, before=""):
    """The commands that a recipe runs, one a line."""
    return [
        line.strip().removeprefix(before)
        for line in text.splitlines()
        if line.strip().startswith(before)
    ]


def test_both_recipes_are_one():
    base = re.search(r"^FROM (\S+)$", DOCKER, re.M)
    assert base is not None and f"\nFrom: {base[1]}\n" in APPTAINER
    assert "/" not in base[1], "an image's name, without a host"
    ours = steps(DOCKER, "RUN ")
    post = steps(APPTAINER.partition("%post")[2].partition("%environment")[0])
    assert [step for step in post if step and not step.startswith("cd ")] == ours
    assert "make env LOCKS=requirements" in ours


@pytest.mark.parametrize("text", [DOCKER, APPTAINER])
def test_recipes_name_no_registry_and_no_package_beside_the_locks(text):
    assert not re.search(r"https?://|index-url|find-links", text)
    installed = re.findall(r"pip install (.*)", text)
    assert all("--no-index" in words and "--no-deps" in words for words in installed)


def test_the_cluster_s_recipe_copies_what_is_there():
    copied = re.findall(r"^    (\S+) /opt/contactid/(\S+)$", APPTAINER, re.M)
    assert copied
    assert all(source == target and (ROOT / source).exists() for source, target in copied)
    needed = {
        "Makefile",
        "Snakefile",
        "config",
        "envs",
        "profiles",
        "pyproject.toml",
        "tools",
        "workflow",
    }
    assert needed <= {source for source, _ in copied}


def as_docker_writes_it(pattern):
    sign, path = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    return sign + ("" if path.startswith("/") else "**/") + path.strip("/")


def test_an_image_has_what_a_clone_has():
    patterns = map(as_docker_writes_it, (ROOT / ".gitignore").read_text().split())
    assert (ROOT / ".dockerignore").read_text().splitlines()[1:] == list(patterns)
