"""Writing the lock: resolved once, kept afterwards, and never replaced unasked."""

import hashlib
from dataclasses import replace

import pytest

from contactid.core.errors import ContactIdError
from contactid.sources.fourtu_client import FourTuClient
from contactid.sources.lock import Locking, _entry, lock_archive, main
from contactid.sources.lockfile import read_lock
from contactid.sources.places import Sources
from contactid.sources.registry import Dataset, parse_doi
from contactid.sources.store import Store
from datasets_for_tests import FILES, contents, reply, repository_archive, sha256
from fault_server import IMPATIENT, Content, serving, status

HEADER = "name\tstudy\tkind\treader\tsource\ttitle\tversion\tfolder\tlicence\tcitation\n"


class Server:
    """A 4TU server of a few datasets: per number a title and the files of each version."""

    def __init__(self, content):
        self.content = content
        self.datasets = {}
        self.content.files = self
        self.content.faults = self

    def __bool__(self):
        return True

    def get(self, path):
        return self.files().get(path, b"") if "/v2/" in path or path in self.files() else None

    def files(self):
        return {
            f"/file/{number}/{version}{name}": body
            for number, (_, versions) in self.datasets.items()
            for version, files in enumerate(versions, 1)
            for name, body in files.items()
        }

    def popleft(self):
        path = self.content.requests[-1][0]
        parts = path.partition("?")[0].split("/")
        if parts[1] != "v2":
            from fault_server import whole

            return whole
        if parts[2] == "collections":
            return reply(
                [
                    {"doi": f"10.4121/{n}.v1", "title": title}
                    for n, (title, _) in self.datasets.items()
                ]
            )
        if int(parts[3]) not in self.datasets:
            return status(404)
        title, versions = self.datasets[int(parts[3])]
        if len(parts) == 5:
            return reply([{"version": n + 1} for n in range(len(versions))])
        version = int(parts[5])
        records = [
            {"name": name, "uuid": f"u{name}", "size": len(body), "computed_md5": hashlib.md5(body).hexdigest(),
             "download_url": f"{self.content.url}/file/{parts[3]}/{version}{name}"}
            for name, body in versions[version - 1].items()
        ]  # fmt: skip
        return reply(
            {
                "version": version,
                "uuid": "c",
                "title": title,
                "files": records,
                "license": {"name": "CC0"},
            }
        )


@pytest.fixture
def server():
    with serving(Content({})) as content:
        server = Server(content)
        server.datasets[77] = ("Box drops", [{"a.h5": b"A1"}])
        yield server


def locking(server, folder, **changes):
    client = FourTuClient(server.content.url, IMPATIENT)
    sources = Sources([], False, server.content.url, IMPATIENT)
    return Locking(client, Store(folder / "data"), sources, **changes)


def row(**changes):
    return Dataset(
        **{"name": "d", "kind": "4tu", "reader": "iam", "source": "10.4121/77", **changes}
    )


def test_everything_about_a_dataset_is_written_down(server, tmp_path):
    entry = lock_archive(row(), None, locking(server, tmp_path))
    assert (entry.source, entry.version, entry.container, entry.licence) == (
        "10.4121/77.v1",
        "1",
        "c",
        "CC0",
    )
    assert (entry.base, entry.title, len(entry.locked_on)) == (server.content.url, "Box drops", 10)
    (file,) = entry.files
    assert (file.size, file.uuid, file.url) == (2, "ua.h5", "file/77/1a.h5")
    assert (file.md5, file.sha256) == (hashlib.md5(b"A1").hexdigest(), sha256(b"A1"))


def test_what_is_locked_stays(server, tmp_path, caplog):
    entry = lock_archive(row(), None, locking(server, tmp_path))
    server.datasets[77][1].append({"a.h5": b"A2", "b.h5": b"B"})
    with caplog.at_level("INFO"):
        assert lock_archive(row(), entry, locking(server, tmp_path)) == entry
    assert (
        "10.4121/77.v2 is out; 10.4121/77.v1 stays locked (UPDATE=4tu_77 takes it)" in caplog.text
    )
    newer = lock_archive(row(), entry, locking(server, tmp_path, update=["4tu_77"]))
    assert newer.source == "10.4121/77.v2"
    assert [file.sha256 for file in newer.files] == [
        sha256(b"A2"),
        sha256(b"B"),
    ]
    assert contents(tmp_path / "data/4tu_77/files") == {"a.h5": b"A2", "b.h5": b"B"}


def test_a_version_may_be_asked_for(server, tmp_path):
    server.datasets[77][1].append({"a.h5": b"A2"})
    for changes in ({"version": "1"}, {"source": "10.4121/77.v1"}):
        assert (
            lock_archive(row(**changes), None, locking(server, tmp_path)).source == "10.4121/77.v1"
        )


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.h5": b"A9"}, f"a.h5 has the checksum {hashlib.md5(b'A9').hexdigest()} .md5., locked "
                          f"{hashlib.md5(b'A1').hexdigest()}"),
        ({"a.h5": b"longer"}, "a.h5 has 6 bytes, locked 2"),
        ({"b.h5": b"A1"}, "a.h5 is gone; b.h5 is new"),
    ],
)  # fmt: skip
def test_a_version_that_changed_is_an_error_with_both(server, tmp_path, files, message):
    entry = lock_archive(row(), None, locking(server, tmp_path))
    server.datasets[77] = ("Box drops", [files])
    with pytest.raises(
        ContactIdError,
        match=rf"10.4121/77.v1 has changed since it was locked on .*: {message}.*UPDATE=",
    ):
        lock_archive(row(), entry, locking(server, tmp_path))


def test_members_are_found_by_their_titles(server, tmp_path):
    server.datasets |= {
        1: ("Archive 017: Box004 trajectories", [{"x.h5": b"1"}]),
        2: ("I.AM. 018_BOX004_Validation", [{"x.h5": b"2"}]),
        3: ("Something", [{"Archive_019_Box007.h5": b"3"}]),
        4: ("Archive 0170 Box0041", [{"x.h5": b"4"}]),
    }
    found = {
        title: lock_archive(
            row(source="10.4121/c.5", title=title), None, locking(server, tmp_path)
        ).source
        for title in ("017 Box004", "018 Box004", "019 Box007")
    }
    assert list(found.values()) == ["10.4121/1.v1", "10.4121/2.v1", "10.4121/3.v1"]
    with pytest.raises(
        ContactIdError,
        match=r"d in 10.4121/c.5: no members have 020 and Box007 .*of 10.4121/77.v1 'Box",
    ):
        lock_archive(row(source="10.4121/c.5", title="020 Box007"), None, locking(server, tmp_path))
    server.datasets[5] = ("017 again, Box004", [{"y.h5": b"5"}])
    with pytest.raises(ContactIdError, match=r"2 members have 017 and Box004.*config/datasets.tsv"):
        lock_archive(row(source="10.4121/c.5", title="017 Box004"), None, locking(server, tmp_path))


def test_another_member_than_the_locked_one_is_an_error(server, tmp_path):
    member = row(source="10.4121/c.5", title="Box drops")
    entry = lock_archive(member, None, locking(server, tmp_path))
    server.datasets = {78: server.datasets[77]} | {77: ("renamed", [{"a.h5": b"A1"}])}
    with pytest.raises(
        ContactIdError, match=r"locked as 10.4121/77.v1, but the registry now means 10.4121/78"
    ):
        lock_archive(member, entry, locking(server, tmp_path))


def test_files_of_one_name_are_kept_apart(server, tmp_path):
    article = locking(server, tmp_path).client.article
    found = article(parse_doi("10.4121/77"))
    twice = replace(found, files=(found.files[0], replace(found.files[0], uuid="other")))
    assert [file.name for file in _entry("x", twice).files] == ["ua.h5_a.h5", "other_a.h5"]
    evil = replace(found, files=(replace(found.files[0], name="../../evil"),))
    with pytest.raises(ContactIdError, match="leads out of its folder"):
        _entry("x", evil)


def test_repositories_and_files_are_locked_by_what_is_in_them(tmp_path):
    with serving(Content({"/a.tar.gz": repository_archive(), "/one%20file.mat": b"M"})) as content:
        how = locking(type("S", (), {"content": content}), tmp_path)
        repository = row(
            name="repo",
            kind="github",
            source=f"{content.url}/a.tar.gz",
            folder="data",
            version="abc",
        )
        entry = lock_archive(repository, None, how)
        assert {file.name: file.sha256 for file in entry.files} == {
            name: sha256(FILES[name]) for name in sorted(FILES)
        }
        assert contents(tmp_path / "data/repo/files") == FILES
        single = row(name="single", kind="file", source=f"{content.url}/one%20file.mat")
        (file,) = lock_archive(single, None, how).files
        assert (file.sha256, file.url) == (sha256(b"M"), single.source)
        asked = len(content.requests)
        assert lock_archive(repository, entry, how) is entry
        assert len(content.requests) == asked
        with pytest.raises(
            ContactIdError, match=r"now .*/b.tar.gz. Accept that with make lock UPDATE=repo"
        ):
            lock_archive(replace(repository, source=f"{content.url}/b.tar.gz"), entry, how)


def test_the_command_writes_what_it_can_and_says_what_it_cannot(server, tmp_path, capsys):
    registry = tmp_path / "datasets.tsv"
    registry.write_text(
        HEADER + "a\ttossing\t4tu\tiam\t10.4121/77\nb\ttossing\t4tu\tiam\t10.4121/78\n"
    )
    arguments = ["--registry", registry, "--lock", tmp_path / "lock.json", "--store", tmp_path / "data",
                 "--url", server.content.url + "/", "--attempts", "1"]  # fmt: skip
    arguments = [str(argument) for argument in arguments]
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert "4tu_77: 10.4121/77.v1, 1 files" in captured.out
    assert "ERROR 4tu_78: 10.4121/78: no such dataset or version" in captured.err
    assert "Traceback" not in captured.err
    lock = read_lock(tmp_path / "lock.json")
    assert list(lock) == ["4tu_77"] and lock["4tu_77"].files[0].sha256 == sha256(b"A1")
    text = (tmp_path / "lock.json").read_text()
    assert main([*arguments, "--only", "4tu_77"]) == 0
    assert (tmp_path / "lock.json").read_text() == text
    for wrong, told in (
        (["--only", "4tu_79"], "has no archive 4tu_79. Known are 4tu_77, 4tu_78"),
        (["--url", "ftp://x"], "fourtu_url is 'ftp://x', which is no web address"),
    ):
        with pytest.raises(SystemExit, match=told):
            main([*arguments, *wrong])
