"""Fetching from mirrors and archives: whole or not at all, verified, and clear about what is wrong."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from contactid.datasets.fetch import fetch, read_checksums
from contactid.datasets.registry import Dataset
from contactid.errors import ContactIdError

FILES = {"tosses/0.pt": b"first", "tosses/1.pt": b"second", "params.json": b"{}"}


@pytest.fixture
def setting(tmp_path):
    mirror = tmp_path / "mirror"
    for name, content in FILES.items():
        (mirror / "demo" / name).parent.mkdir(parents=True, exist_ok=True)
        (mirror / "demo" / name).write_bytes(content)
    sums = tmp_path / "checksums"
    sums.mkdir()
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in FILES.items()]
    (sums / "demo.sha256").write_text("\n".join(lines) + "\n")
    return tmp_path, mirror, sums


def dataset(source="https://example.invalid/archive.tar.gz"):
    return Dataset("demo", "github", "contactnets", source, folder="data", size_mb="1")


def archive(path: Path, prefix="repo-abc/data/", extra=()):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in [*((prefix + name, content) for name, content in FILES.items()), *extra]:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def contents(folder):
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_mirror_is_copied_and_verified(setting):
    tmp, mirror, sums = setting
    fetch(dataset(), tmp / "out", mirrors=[str(mirror)], offline=True, checksums=sums)
    assert contents(tmp / "out") == FILES


def test_archive_gives_the_folder_alone_and_nothing_outside(setting):
    tmp, _, sums = setting
    evil = [("repo-abc/other.txt", b"x"), ("repo-abc/data/../../evil.txt", b"x"), ("/data/evil.txt", b"x")]
    source = archive(tmp / "a.tar.gz", extra=evil).as_uri()
    fetch(dataset(source), tmp / "deep/out", mirrors=[], offline=False, checksums=sums)
    assert contents(tmp / "deep/out") == FILES
    assert not list(tmp.rglob("evil.txt"))


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("missing mirror", "data_mirror: .*nowhere is no folder"),
        ("offline", r"demo \(1 MB, .*\) is in no mirror .* offline is true"),
        ("damaged", "tosses/1.pt has the checksum .* expected "),
        ("not an archive", "the downloaded archive is damaged"),
        ("truncated", "the downloaded archive is damaged"),
        ("other layout", "the archive has no folder data"),
        ("no file", "cannot be had"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line_and_leaves_nothing(setting, case, message):
    tmp, mirror, sums = setting
    mirrors, offline, entry = [str(mirror)], True, dataset()
    if case == "missing mirror":
        mirrors = [str(tmp / "nowhere")]
    elif case == "offline":
        mirrors = [str(sums)]
    elif case == "damaged":
        (mirror / "demo/tosses/1.pt").write_bytes(b"seconD")
    else:
        mirrors, offline = [], False
        whole = archive(tmp / "a.tar.gz", prefix="repo/else/" if case == "other layout" else "repo/data/")
        if case == "not an archive":
            whole.write_bytes(b"<html>not found</html>")
        elif case == "truncated":
            whole.write_bytes(whole.read_bytes()[:-40])
        elif case == "no file":
            whole.unlink()
        entry = dataset(whole.as_uri())
    with pytest.raises(ContactIdError, match=message) as error:
        fetch(entry, tmp / "results/out", mirrors=mirrors, offline=offline, checksums=sums)
    assert "\n" not in str(error.value)
    assert not list((tmp / "results").iterdir())


def test_a_failed_fetch_keeps_what_was_there(setting):
    tmp, mirror, sums = setting
    fetch(dataset(), tmp / "out", mirrors=[str(mirror)], offline=True, checksums=sums)
    (mirror / "demo/tosses/0.pt").write_bytes(b"changed")
    with pytest.raises(ContactIdError):
        fetch(dataset(), tmp / "out", mirrors=[str(mirror)], offline=True, checksums=sums)
    assert contents(tmp / "out") == FILES


def test_known_checksums_are_well_formed():
    sums = read_checksums(Path(__file__).parents[2] / "config/checksums/contactnets.sha256")
    assert len(sums) == 471 and all(len(digest) == 64 for digest in sums.values())
