"""The lock file: what is written is read again; what isn't one is refused; the committed one fits
the registry.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.sources.lockfile import (
    LockedArchive,
    LockedFile,
    check_name,
    listing,
    locked,
    read_lock,
    with_licences,
    write_lock,
)
from contactid.sources.registry import AS_PUBLISHED, Dataset, archives_of, load_registry
from datasets_for_tests import fourtu_archive, locked_archive

CONFIG = Path(__file__).parents[2] / "config"
TEXTS = st.sampled_from(["", "a", "Box drops & ü.h5", '"quoted"', "x/y", "10.4121/77.v1", "0" * 64])
LOCKED_FILES = st.builds(
    LockedFile,
    name=TEXTS.filter(bool),
    size=st.none() | st.integers(min_value=0, max_value=10**13),
    md5=TEXTS, sha256=TEXTS, uuid=TEXTS, url=TEXTS, link_only=st.booleans(),
)  # fmt: skip
ENTRIES = st.builds(
    LockedArchive,
    name=TEXTS, kind=TEXTS.filter(bool), source=TEXTS.filter(bool), version=TEXTS, container=TEXTS, base=TEXTS,
    title=TEXTS, licence=TEXTS, folder=TEXTS, locked_on=TEXTS, files=st.lists(LOCKED_FILES, max_size=2).map(tuple),
)  # fmt: skip


@settings(max_examples=50)
@given(st.lists(ENTRIES, max_size=2))
def test_what_is_written_is_read(tmp_path_factory, entries):
    path = tmp_path_factory.mktemp("lock") / "lock.json"
    lock = {entry.name: entry for entry in entries}
    write_lock(path, lock)
    assert read_lock(path) == lock
    text = path.read_text(encoding="utf-8")
    write_lock(path, read_lock(path))
    assert path.read_text(encoding="utf-8") == text


def test_a_line_for_each_file_and_nothing_unknown(tmp_path):
    write_lock(tmp_path / "lock.json", {"demo_set": locked_archive()})
    text = (tmp_path / "lock.json").read_text()
    assert sum('"sha256"' in line for line in text.splitlines()) == 3
    assert "md5" not in text and "link_only" not in text and "null" not in text


def test_no_file_is_an_empty_lock(tmp_path):
    assert read_lock(tmp_path / "none.json") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html>", "no lock file"),
        ("[]", "no lock file"),
        ("{}", "no lock file"),
        ('{"format": 2, "archives": {}}', "format 2, this version reads 1"),
        ('{"format": 1, "archives": {"a": 5}}', "no lock file"),
        ('{"format": 1, "archives": {"a": {"kind": "4tu"}}}', "no lock file"),
        (
            '{"format": 1, "archives": {"a": {"kind": "4tu", "source": "x", "files": [{"size": 5}]}}}',
            "no lock file",
        ),
    ],
)
def test_others_are_refused(tmp_path, text, message):
    (tmp_path / "lock.json").write_text(text)
    with pytest.raises(ContactIdError, match=f"lock.json: {message}.*make lock"):
        read_lock(tmp_path / "lock.json")


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../x", "a/../../x", "a\\b", "a\nb", "a\0b"])
def test_no_file_leads_out_of_its_folder(tmp_path, name):
    with pytest.raises(ContactIdError, match="leads out of its folder"):
        check_name(name, "demo")
    content = {
        "format": 1,
        "archives": {"demo": {"kind": "file", "source": "x", "files": [{"name": name}]}},
    }
    (tmp_path / "lock.json").write_text(json.dumps(content))
    with pytest.raises(ContactIdError, match="leads out of its folder"):
        read_lock(tmp_path / "lock.json")


def test_awkward_names_are_fine():
    for name in ("Archive_001 with space & ünicode.h5", "a/b/c.pt", "..hidden", "100%.h5"):
        check_name(name, "demo")


def dataset(**changes):
    fields = {
        "name": "d",
        "kind": "4tu",
        "reader": "iam",
        "source": "10.4121/77",
        "licence": AS_PUBLISHED,
    }
    return Dataset(**{**fields, **changes})


def test_a_run_takes_what_is_locked_and_nothing_else():
    entry = fourtu_archive({"a.h5": b"A"})
    lock = {"4tu_77": entry}
    for fitting in ({}, {"version": "2"}, {"source": "https://doi.org/10.4121/77.v2"}):
        assert (
            locked(
                {replace(entry, name=dataset(**fitting).archive).name: entry}, dataset(**fitting)
            )
            is entry
        )
    with pytest.raises(
        ContactIdError,
        match=r"4tu_78 \(10.4121/78\) is not in the lock file yet.*Run make lock once",
    ):
        locked(lock, dataset(source="10.4121/78"))
    with pytest.raises(
        ContactIdError,
        match=r"has 10.4121/77.v2, version 2, but the registry 10.4121/77, version 3",
    ):
        locked(lock, dataset(version="3"))
    repository = locked_archive()
    row = dataset(name="demo_set", kind="github", source=repository.source, folder="data")
    assert locked({"demo_set": repository}, row) is repository
    with pytest.raises(ContactIdError, match="make lock UPDATE=demo_set"):
        locked(
            {"demo_set": repository}, replace(row, source="https://example.invalid/newer.tar.gz")
        )


def test_the_licence_is_the_published_one():
    lock = {"4tu_77": fourtu_archive({}, licence="CC BY 4.0")}
    rows = {
        "a": dataset(name="a"),
        "b": dataset(name="b", licence="MIT"),
        "c": dataset(name="c", source="10.4121/78"),
    }
    assert [row.licence for row in with_licences(rows, lock).values()] == [
        "CC BY 4.0",
        "MIT",
        AS_PUBLISHED,
    ]


def test_the_committed_lock_fits_the_registry():
    registry, lock = (
        load_registry(CONFIG / "datasets.tsv", {}),
        read_lock(CONFIG / "datasets.lock.json"),
    )
    archives = archives_of(registry)
    assert set(lock) <= set(archives)
    for name, entry in lock.items():
        assert locked(lock, archives[name]) is entry
        assert all(len(file.sha256) == 64 and file.size for file in entry.wanted), name
    counts = {
        name: len(lock[name].files)
        for name in ("contactnets", "planar_square", "planar_ellipse", "planar_pybullet")
    }
    assert counts == {
        "contactnets": 471,
        "planar_square": 400,
        "planar_ellipse": 5,
        "planar_pybullet": 200,
    }
    licences = {
        name: (registry[name].licence, lock[name].licence)
        for name in ("planar_square", "planar_ellipse")
    }
    assert licences == {
        "planar_square": ("BSD-3-Clause",) * 2,
        "planar_ellipse": ("none stated",) * 2,
    }
    text = (CONFIG / "datasets.lock.json").read_text(encoding="utf-8")
    assert "127.0.0.1" not in text and list(json.loads(text)["archives"]) == sorted(lock)


def test_a_changed_entry_has_another_digest():
    entry = fourtu_archive({"a.h5": b"A"})
    assert entry.digest == fourtu_archive({"a.h5": b"A"}).digest
    assert (
        len(
            {
                entry.digest,
                fourtu_archive({"a.h5": b"B"}).digest,
                replace(entry, version="3").digest,
            }
        )
        == 3
    )


def test_a_listing_has_the_data_alone(tmp_path):
    (tmp_path / "part").mkdir()
    for name in ("b.h5", "part/a.h5", ".mark", "part/.mark"):
        (tmp_path / name).write_text(name)
    assert [file["name"] for file in listing(tmp_path)] == ["b.h5", "part/a.h5"]
    assert [file["name"] for file in listing(tmp_path / "b.h5")] == ["b.h5"]
