"""One rule says whose recordings are held against the paper's numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contactid.sources import fourtu_client
from contactid.sources.lockfile import LockedArchive
from contactid.sources.origin import PAPERS, origin
from contactid.sources.registry import Dataset, load_registry

ROOT = Path(__file__).parents[2]
LOCAL = "http://127.0.0.1:18080"
DOI = "10.4121/21387510"
REAL = Dataset("iam_box006_trajectories", "4tu", "iam", DOI, study="tossing")


def locked(base: str) -> LockedArchive:
    return LockedArchive("4tu_21387510", "4tu", f"{DOI}.v1", base=base, locked_on="2026-01-02")


def test_only_the_archive_s_own_host_makes_recordings_the_paper_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = origin(REAL, locked("https://data.4tu.nl"), synthetic=False)
    assert there.of_the_paper and there.told == f"{DOI}.v1, resolved at data.4tu.nl on 2026-01-02"
    stand_in = origin(REAL, locked(LOCAL), synthetic=False)
    assert not stand_in.of_the_paper
    assert "127.0.0.1" in stand_in.told
    assert "isn't data.4tu.nl" in stand_in.told
    monkeypatch.setattr(fourtu_client, "BASE_URL", LOCAL)
    assert origin(REAL, locked(LOCAL), synthetic=False).of_the_paper
    assert not origin(REAL, locked(LOCAL), synthetic=True).of_the_paper


@pytest.mark.parametrize(
    ("dataset", "told"),
    [
        (Dataset("mine", "own", "iam", "box.h5", study="tossing"), "your own"),
        (Dataset("box006", "embedded", "iam", "twin.h5", study="tossing"), "synthetic"),
        (Dataset("twin", "generated", "arm_mat", "simulated", study="arm"), "synthetic"),
        (
            Dataset(
                "contactnets",
                "github",
                "contactnets",
                "https://example.org/a.tar.gz",
                study="tossing",
            ),
            "others",
        ),
        (Dataset("other", "4tu", "iam", "10.4121/1234567", study="tossing"), "others"),
        (Dataset("other", "4tu", "arm_mat", DOI, study="arm"), "others"),
    ],
)
def test_other_recordings_are_never_the_paper_s(dataset: Dataset, told: str) -> None:
    found = origin(dataset, locked("https://data.4tu.nl"), synthetic=False)
    assert not found.of_the_paper and told in found.told


def test_the_kind_of_an_origin_follows_from_whose_the_data_are_and_what_they_were_made_with() -> (
    None
):
    made_with_print = Dataset(
        "twin", "embedded", "iam", "t.h5", study="tossing", made_from=("tab01/*",)
    )
    twin = Dataset("twin", "embedded", "iam", "t.h5", study="tossing")
    own = Dataset("mine", "own", "iam", "box.h5", study="tossing")
    kinds = [origin(one, None, synthetic=False).kind for one in (made_with_print, twin, own)]
    assert kinds == ["twin_of_print", "twin", "recording"]
    assert origin(REAL, locked("https://data.4tu.nl"), synthetic=False).kind == "archive"
    assert origin(REAL, locked("https://data.4tu.nl"), synthetic=True).kind == "twin"


def test_what_is_not_locked_is_not_the_paper_s() -> None:
    assert not origin(REAL, None, synthetic=False).of_the_paper


def test_what_the_authors_published_themselves_is_theirs_once_it_is_locked() -> None:
    entry = load_registry(ROOT / "config/datasets.tsv", {})["author_plots"]
    theirs = LockedArchive("author_plots", "github", entry.source)
    found = origin(entry, theirs, synthetic=False)
    assert found.kind == "archive" and found.told == entry.source
    assert origin(entry, theirs, synthetic=True).kind == "twin"
    elsewhere = LockedArchive("author_plots", "github", "https://example.org/a.tar.gz")
    for other in (None, elsewhere):
        unlocked = origin(entry, other, synthetic=False)
        assert unlocked.kind == "recording" and "isn't in the lock file" in unlocked.told
    assert origin(replace(entry, study="planar"), theirs, synthetic=False).kind == "recording"


def test_the_registry_s_archives_are_the_paper_s() -> None:
    registered: dict[str, set[str]] = {}
    for dataset in load_registry(ROOT / "config/datasets.tsv", {}).values():
        if dataset.kind == "4tu":
            registered.setdefault(dataset.study, set()).add(dataset.source)
    assert registered == {study: set(dois) for study, dois in PAPERS.items()}
