"""Fetching a locked archive: from mirrors, a server or a repository; whole or not at all; verified
and clear.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from contactid.core.errors import ContactIdError
from contactid.sources.fetch import below, fetch, fetch_dataset, write_receipt
from contactid.sources.lockfile import LockedFile, write_lock
from contactid.sources.places import Sources, missing
from contactid.sources.store import Store, link, verify, verify_data
from datasets_for_tests import (
    FILES,
    contents,
    fourtu_archive,
    locked_archive,
    mirror_with,
    repository_archive,
    sha256,
    tar_with_a_long_header,
)  # fmt: skip
from fault_server import IMPATIENT, Content, cut, serving, status

NOWHERE = "http://127.0.0.1:9"


def sources(*mirrors, offline=False, url=NOWHERE):
    return Sources([str(mirror) for mirror in mirrors], offline, url, IMPATIENT)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "data")


def stored(store, archive):
    return contents(store.folder(archive))


@pytest.mark.parametrize("name", ["demo_set", "demo-set"])
@pytest.mark.parametrize("form", ["{}", "file://{}", "file://localhost{}"])
def test_a_folder_is_a_mirror(store, tmp_path, name, form):
    archive = locked_archive()
    place = form.format(mirror_with(tmp_path / "mirror", name))
    fetch(archive, store, sources(place, offline=True))
    assert stored(store, archive) == FILES
    assert store.origins(archive)["params 1.json"]["from"] == str(
        tmp_path / "mirror" / name / "params 1.json"
    )


def test_a_mirror_of_a_4tu_dataset_may_be_called_by_its_number(store, tmp_path):
    for name in ("4tu_77", "77.v2", "77"):
        archive = fourtu_archive({"a.h5": name.encode()})
        fetch(
            archive,
            Store(store.root / name),
            sources(mirror_with(tmp_path / name, name, {"a.h5": name.encode()})),
        )


def test_mirrors_are_tried_in_order_file_by_file(store, tmp_path):
    archive = fourtu_archive({"a.h5": b"A", "b.h5": b"B", "c.h5": b"C"})
    first = mirror_with(tmp_path / "first", "77", {"a.h5": b"A"})
    second = mirror_with(tmp_path / "second", "77", {"a.h5": b"not asked", "b.h5": b"B"})
    with serving(Content({"/file/c/2": b"C"})) as server:
        fetch(archive, store, sources(first, second, url=server.url))
        assert [path for path, _ in server.requests] == ["/file/c/2"]
    assert stored(store, archive) == {"a.h5": b"A", "b.h5": b"B", "c.h5": b"C"}
    assert [
        store.origins(archive)[name]["from"].partition("/77/")[0] for name in ("a.h5", "b.h5")
    ] == [first, second]


def test_a_web_address_is_a_mirror(store):
    archive = locked_archive()
    with serving(
        Content({quote(f"/base/demo-set/{name}"): content for name, content in FILES.items()})
    ) as mirror:
        fetch(archive, store, sources(f"{mirror.url}/base/"))
        assert stored(store, archive) == FILES
        with pytest.raises(ContactIdError, match="offline is true, and 3 files"):
            fetch(
                archive, Store(store.root / "other"), sources(f"{mirror.url}/base/", offline=True)
            )
        asked = len(mirror.requests)
    assert asked == 6  # by both names


def test_a_web_mirror_that_fails_is_passed_over(store):
    archive = fourtu_archive({"a.h5": b"A", "b.h5": b"B"})
    with (
        serving(Content({"/77/a.h5": b"wrong"})) as mirror,
        serving(Content({f"/file/c/{n}": b"AB"[n : n + 1] for n in (0, 1)})) as server,
    ):
        fetch(archive, store, sources(mirror.url, url=server.url))
        assert {path.rpartition("/")[2] for path, _ in mirror.requests} == {"a.h5"}
    assert stored(store, archive) == {"a.h5": b"A", "b.h5": b"B"}


def test_a_repository_gives_its_folder_alone_and_nothing_outside(store, tmp_path):
    evil = [("repo-abc/other.txt", b"x"), ("repo-abc/data/../../evil.txt", b"x"), ("/data/evil.txt", b"x"),
            ("repo-abc/data/unlisted.pt", b"not in the lock file")]  # fmt: skip
    with serving(Content({"/a.tar.gz": repository_archive(extra=evil)})) as server:
        server.faults.append(cut(50))
        archive = locked_archive(source=f"{server.url}/a.tar.gz")
        fetch(archive, store, sources())
        assert server.ranges_asked() == [None, "bytes=50-"]
    assert stored(store, archive) == FILES
    assert not list(tmp_path.rglob("evil.txt")) and not list(tmp_path.rglob("*.tar.gz"))


@pytest.mark.parametrize("folder", ["data", "a/b"])
def test_paths_below_a_folder(folder):
    assert below(f"root/{folder}/x/y.pt", folder).as_posix() == "x/y.pt"
    for name in (
        f"root/{folder}",
        "root",
        f"root/{folder}/../x",
        f"/top/{folder}/x",
        f"root/other/{folder}/x",
    ):
        assert below(name, folder) is None


def test_only_what_is_missing_or_damaged_is_fetched(store):
    contents_of = {"a.h5": b"A" * 1000, "b.h5": b"B" * 1000, "c.h5": b"C" * 1000}
    archive = fourtu_archive(contents_of)
    with serving(
        Content({f"/file/c/{n}": body for n, body in enumerate(contents_of.values())})
    ) as server:
        fetch(archive, store, sources(url=server.url))
        (store.folder(archive) / "a.h5").write_bytes(b"A" * 999 + b"?")
        (store.folder(archive) / "b.h5").unlink()
        server.requests.clear()
        fetch(archive, store, sources(url=server.url))
        assert [path for path, _ in server.requests] == ["/file/c/0", "/file/c/1"]
        server.requests.clear()
        fetch(archive, store, sources(offline=True))
    assert stored(store, archive) == contents_of


def test_links_are_left_alone(store, tmp_path, caplog):
    link_only = LockedFile("elsewhere", url="https://example.org/x", link_only=True)
    archive = locked_archive()
    archive = replace(archive, files=(*archive.files, link_only))
    with caplog.at_level("INFO"):
        fetch(archive, store, sources(mirror_with(tmp_path / "mirror"), offline=True))
    assert "elsewhere is only a link to https://example.org/x" in caplog.text
    assert stored(store, archive) == FILES
    with pytest.raises(ContactIdError, match="has links only, no files"):
        fetch(replace(archive, files=(link_only,)), store, sources())


def test_offline_lists_all_that_is_missing(store, tmp_path):
    archive = fourtu_archive({f"{n}.h5": b"x" * 1500 for n in range(7)})
    mirror = mirror_with(tmp_path / "m", "77", {"0.h5": b"x" * 1500})
    with pytest.raises(ContactIdError) as error:
        fetch(archive, store, sources(mirror, offline=True))
    text = str(error.value)
    assert (
        "4tu_77: offline is true, and 6 files (9.0 kB) of 10.4121/77.v2 are missing: 1.h5 (1.5 kB), "
        in text
    )
    assert " and 1 more; mirrors tried: " in text and "make data" in text and "\n" not in text
    assert missing(archive, Store(tmp_path / "new"), sources(mirror, offline=True)) == text
    fetch_all = mirror_with(tmp_path / "all", "77", {f"{n}.h5": b"x" * 1500 for n in range(7)})
    assert missing(archive, Store(tmp_path / "new"), sources(fetch_all)) == ""


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("missing mirror", "data_mirror: .*nowhere is no folder"),
        ("other machine", "data_mirror: file://there/x names another machine"),
        (
            "damaged mirror",
            f"tosses/1.pt has the checksum {sha256(b'seconD')} .sha256., expected {sha256(b'second')}",
        ),
        ("not an archive", "the downloaded archive is damaged"),
        ("truncated", "the downloaded archive is damaged"),
        ("other layout", "the archive has no folder data"),
        ("file gone", "tosses/0.pt is not in http"),
        (
            "changed",
            f"tosses/0.pt has the checksum {sha256(b'First')} .sha256., expected {sha256(b'first')}",
        ),
        ("longer", "tosses/0.pt has 6 bytes in http.*, expected 5"),
        ("long header", "the downloaded archive is damaged .a header of more than 16777216 bytes"),
        ("no file", r"does not exist \(status 404\)"),
        ("no server", "cannot be had"),
    ],
)
def test_what_goes_wrong_is_one_line_and_leaves_no_file(store, tmp_path, case, message):
    mirrors, whole = [], repository_archive()
    if case == "missing mirror":
        mirrors = [tmp_path / "nowhere"]
    elif case == "other machine":
        mirrors = ["file://there/x"]
    elif case == "damaged mirror":
        mirrors = [mirror_with(tmp_path / "mirror", files={"tosses/1.pt": b"seconD"})]
    elif case == "not an archive":
        whole = b"<html>not found</html>"
    elif case == "truncated":
        whole = whole[:-40]
    elif case == "other layout":
        whole = repository_archive("repo/else/")
    elif case == "file gone":
        whole = repository_archive("repo/data/renamed_")
    elif case == "changed":
        whole = repository_archive("repo/other/", [("repo/data/tosses/0.pt", b"First")])
    elif case == "longer":
        whole = repository_archive("repo/other/", [("repo/data/tosses/0.pt", b"firsts")])
    elif case == "long header":
        whole = tar_with_a_long_header(1 << 27)
    with serving(Content({} if case == "no file" else {"/a.tar.gz": whole})) as server:
        url = NOWHERE if case == "no server" else server.url
        with pytest.raises(ContactIdError, match=message) as error:
            fetch(locked_archive(source=f"{url}/a.tar.gz"), store, sources(*mirrors))
    assert "\n" not in str(error.value)
    assert not list(store.root.glob("*/files/**/*.pt"))


def test_the_receipt_says_what_from_where_and_changes_only_with_a_file(store, tmp_path):
    archive = locked_archive()
    fetch(archive, store, sources(mirror_with(tmp_path / "mirror")))
    write_receipt(archive, store, tmp_path / "receipt.json")
    text = (tmp_path / "receipt.json").read_text()
    record = json.loads(text)
    assert (record["source"], record["version"], record["licence"]) == (
        archive.source,
        "abc",
        "MIT",
    )
    assert {file["name"]: file["sha256"] for file in record["files"]} == {
        k: sha256(v) for k, v in FILES.items()
    }
    assert all(file["from"].startswith(str(tmp_path / "mirror")) for file in record["files"])
    fetch(archive, store, sources(mirror_with(tmp_path / "mirror")))
    write_receipt(archive, store, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == text
    (store.folder(archive) / "tosses/0.pt").write_bytes(b"wrong")
    fetch(archive, store, sources(mirror_with(tmp_path / "mirror")))
    write_receipt(archive, store, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() != text


def test_verified_files_are_linked_into_the_run(store, tmp_path):
    archive = locked_archive()
    fetch(archive, store, sources(mirror_with(tmp_path / "mirror")))
    verify(archive, store)
    for _ in range(2):
        link(archive, store, tmp_path / "results/run/data/demo/raw")
        assert contents(tmp_path / "results/run/data/demo/raw") == FILES
    moved = shutil.copytree(tmp_path, tmp_path.parent / f"{tmp_path.name}_moved", symlinks=True)
    assert contents(moved / "results/run/data/demo/raw") == FILES
    assert str(tmp_path) not in str((moved / "results/run/data/demo/raw/params 1.json").readlink())
    assert [path.name for path in (tmp_path / "results/run/data/demo").iterdir()] == ["raw"]


def test_verification_names_what_is_wrong(store, tmp_path):
    archive = locked_archive()
    fetch(archive, store, sources(mirror_with(tmp_path / "mirror")))
    (store.folder(archive) / "tosses/0.pt").write_bytes(b"wrong")
    (store.folder(archive) / "tosses/1.pt").unlink()
    pattern = (
        f"0.pt has the checksum {sha256(b'wrong')} .*expected {sha256(b'first')}; "
        "tosses/1.pt is missing. make data"
    )
    with pytest.raises(ContactIdError, match=pattern):
        verify(archive, store)


def test_a_busy_server_is_waited_for(store):
    archive = fourtu_archive({"a.h5": b"A"})
    with serving(Content({"/file/c/0": b"A"})) as server:
        server.faults.extend([status(503, Retry_After="0"), status(429)])
        fetch(archive, store, sources(url=server.url))
    assert stored(store, archive) == {"a.h5": b"A"}


def test_the_rules_functions(tmp_path):
    archive = locked_archive()
    lock, store = str(tmp_path / "lock.json"), str(tmp_path / "data")
    write_lock(lock, {archive.name: archive})
    receipt, raw = str(tmp_path / "data/demo_set/receipt.json"), str(tmp_path / "results/raw")
    entry = {
        "archive": "demo_set",
        "pinned": archive.digest,
        "lock": lock,
        "store": store,
        "receipt": receipt,
    }
    config = {"data_mirror": [], "offline": True, "fourtu_url": NOWHERE}
    with pytest.raises(ContactIdError, match="offline is true"):
        fetch_dataset(**entry, config=config, terminal=2)
    with pytest.raises(ContactIdError, match="is missing"):
        verify_data(**entry, folder=raw)
    assert not Path(receipt).exists() and not Path(raw).exists()
    fetch_dataset(
        **entry, config=config | {"data_mirror": [mirror_with(tmp_path / "mirror")]}, terminal=2
    )
    verify_data(**entry, folder=raw)
    assert Path(receipt).exists() and contents(Path(raw)) == FILES
    with pytest.raises(
        ContactIdError, match=r"lock.json: demo_set has changed since this run began"
    ):
        verify_data(**{**entry, "pinned": "another"}, folder=raw)
