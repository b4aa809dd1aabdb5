"""Bundles that somebody forged: one plain line each, nothing executed, nothing outside touched.

Their manifest and descriptions agree with what is in them, so only what they hold gives them away.
"""

import hashlib
import json
import os
import random
import socket
import stat
import struct
import subprocess
import zipfile

import pytest
import yaml

from contactid.review import again, contents, verify
from contactid.review.contents import NAME
from contactid.review.keep import Arithmetic
from contactid.review.recompute import Place
from honest_bundle import FITS, RUN, TABLE, honest_bundle, of_job, record
from sealed_bundles import sealed

# a table whose rows have no repetitions
pytestmark = pytest.mark.filterwarnings("ignore:.*fill value")
DEEP = b"[" * 100_000


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The reviewer's checkout with one commit, and an honest bundle of it."""
    root = tmp_path_factory.mktemp("home")
    return root, honest_bundle(root)


@pytest.fixture
def attack(home, tmp_path, monkeypatch, capsys):
    """Verify a bundle with some files replaced; status and lines of errors, after a look at what
    lies outside.
    """
    root, honest = home
    canary = tmp_path / "canary"
    (canary / "folder").mkdir(parents=True)
    (canary / "folder/kept.txt").write_text("kept")
    monkeypatch.setattr(verify, "_ROOT", root)
    # what was taken away is made again by nobody
    monkeypatch.setattr(again, "recompute", lambda *_: None)
    monkeypatch.setattr(again, "make_report", lambda *_: honest[f"{RUN}/report.html"])
    monkeypatch.setattr(again, "prepare", lambda folder, *_: Place(folder, folder, (), {}))
    monkeypatch.setattr(again, "keep", lambda *_: Arithmetic({}, {}, {}))
    started, real = [], subprocess.run
    monkeypatch.setattr(
        subprocess, "run", lambda command, **k: started.append(command[0]) or real(command, **k)
    )

    def everything():
        return {
            path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for folder in (canary, root)
            for path in folder.rglob("*")
        }

    def tried(replaced=None, path=None, arguments=()):
        if path is None:
            path = sealed(
                tmp_path / "b.zip", {k: v for k, v in (honest | replaced).items() if v is not None}
            )
        before = everything()
        try:
            status = verify.main([str(path), *arguments])
            told = capsys.readouterr()
        except SystemExit as end:
            status, told = 1, capsys.readouterr()
            assert str(end.code).startswith("ERROR "), end.code
            told = told._replace(err=f"{told.err}{end.code}\n")
        assert everything() == before and set(started) <= {"git"}
        text = (told.out + told.err).replace("\n", "")
        assert text.isprintable() and "Traceback" not in text
        return status, told.err.splitlines(), told.out

    tried.files, tried.folder, tried.canary = honest, tmp_path, canary
    return tried


def test_an_honest_bundle_passes_and_says_that_it_only_looked(attack):
    status, errors, said = attack({})
    assert (status, errors) == (0, [])
    assert "Code: 1 files are those of commit" in said
    assert "Looked only" in said


def header(offset, content):
    """Of the last entry in an archive's list of files."""

    def change(path):
        data = bytearray(path.read_bytes())
        at = data.rindex(b"PK\x01\x02") + offset
        data[at : at + len(content)] = content
        path.write_bytes(data)

    return change


def added(name, content=b"x", kind=stat.S_IFREG):
    def change(path):
        entry = zipfile.ZipInfo("placeholder")
        entry.filename = entry.orig_filename = name
        entry.external_attr = (kind | 0o777) << 16
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(entry, content)

    return change


def huge_list(path):
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x05\x06") + 12
    data[at : at + 4] = struct.pack("<I", 0x7FFFFFFF)
    path.write_bytes(data)


def two_names_of_one_entry(path):
    data = path.read_bytes()
    at, end = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    entry, tail = data[at:end].replace(b"summary.md", b"summary.mf"), bytearray(data[end:])
    count, size = (
        struct.unpack("<H", tail[10:12])[0] + 1,
        struct.unpack("<I", tail[12:16])[0] + len(entry),
    )
    tail[8:16] = struct.pack("<HHI", count, count, size)
    path.write_bytes(data[:end] + entry + bytes(tail))


ARCHIVES = {
    "parent": added("../canary/x"), "parent inside": added("a/../../canary/x"), "absolute": added("/canary/x"),
    "backslashes": added("..\\canary\\x"), "drive": added("C:x"), "no name": added("a//x"), "dot": added("./x"),
    "escape": added("\x1b[31mred"), "newline": added("a\nERROR b"), "nul": added("a\0.py"),
    "folder": added("../canary/"),
    "in a file": added("Snakefile/x"), "twice": added("Snakefile"),
    "link": added("l", b"/etc/passwd", stat.S_IFLNK), "link to a folder": added("l/", b"../canary", stat.S_IFLNK),
    "fifo": added("f", b"", stat.S_IFIFO), "device": added("d", b"", stat.S_IFCHR),
    "socket": added("s", b"", stat.S_IFSOCK),
    "bytecode": added("workflow/__pycache__/a.cpython-311.pyc"), "environment": added(".venv/bin/python"),
    "environment of a peer": added(".venv-mujoco/x.pth"), "log of Snakemake": added(".snakemake/log/1"),
    "script of Snakemake": added(".snakemake/scripts/a.py"), "git": added(".git/hooks/pre-commit"),
    "more than disks hold": header(24, struct.pack("<I", 0xFFFFFFFE)),
    "more than it says": header(24, struct.pack("<I", 3)),
    "encrypted": header(8, b"\x01\x00"), "unknown compression": header(10, b"\x63\x00"), "huge list": huge_list,
    "overlapping": two_names_of_one_entry, "wrong checksum": header(16, b"\0\0\0\0"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive(attack, kind):
    path = sealed(attack.folder / "b.zip", attack.files)
    with (
        pytest.warns(UserWarning, match="Duplicate")
        if kind == "twice"
        else pytest.MonkeyPatch.context()
    ):
        ARCHIVES[kind](path)
    for arguments in ((), ("--recompute", "5")):
        status, errors, _ = attack(path=path, arguments=arguments)
        assert status == 1 and len(errors) == 1 and errors[0].startswith("ERROR "), errors


def test_an_archive_may_not_hold_more_than_limits_say(attack, monkeypatch):
    monkeypatch.setattr(contents, "MOST_FILES", 5)
    assert "has more than 5 files" in attack({})[1][0]
    monkeypatch.setattr(contents, "MOST_FILES", 100)
    assert contents.MOST_BYTES <= 4e9 and contents.MOST_READ <= 64e6
    large = sealed(
        attack.folder / "large.zip", attack.files, {NAME: b"0" * (contents.MOST_READ + 1)}
    )
    assert large.stat().st_size < 1e6 and "bytes" in attack(path=large)[1][0]


def fifo(folder):
    os.mkfifo(folder / "f")


def bound_socket(folder):
    with socket.socket(socket.AF_UNIX) as opened:
        here = os.open(folder, os.O_RDONLY)
        try:
            opened.bind(f"/proc/self/fd/{here}/s")  # its whole path may be too long
        finally:
            os.close(here)


FOLDERS = {
    "link to a file": lambda folder: (folder / "l").symlink_to("/etc/passwd"),
    "dangling link": lambda folder: (folder / "l").symlink_to("nowhere"),
    "link to a folder": lambda folder: (folder / "l").symlink_to(folder.parent / "canary"),
    "link to itself": lambda folder: (folder / "l").symlink_to(folder),
    "fifo": fifo,
    "socket": bound_socket,
    "newline": lambda folder: (folder / "a\nERROR b").write_text(""),
    "escape": lambda folder: (folder / "\x1b[31mred").write_text(""),
    "link for a result": lambda folder: (
        (folder / TABLE).unlink(),
        (folder / TABLE).symlink_to("/dev/zero"),
    ),
    "fifo for a result": lambda folder: ((folder / TABLE).unlink(), os.mkfifo(folder / TABLE)),
    "link for an environment": lambda folder: (folder / ".venv").symlink_to(
        folder.parent / "canary"
    ),
    "record of a job": lambda folder: (folder / of_job("x")).write_text("{}"),
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_a_folder(attack, kind):
    folder = attack.folder / "unpacked"
    with contents.opened(sealed(attack.folder / "b.zip", attack.files)) as bundle:
        contents.unpack(bundle, folder)
    assert attack(path=folder)[0] == 0
    FOLDERS[kind](folder)
    status, errors, _ = attack(path=folder)
    assert (
        status == 1 and 1 <= len(errors) <= 2 and all(line.startswith("ERROR ") for line in errors)
    ), errors


def test_what_using_a_folder_makes_is_named_and_not_looked_at(attack):
    folder = attack.folder / "unpacked"
    with contents.opened(sealed(attack.folder / "b.zip", attack.files)) as bundle:
        contents.unpack(bundle, folder)
    for grown in (".venv-x", "workflow/__pycache__", ".snakemake/log"):
        (folder / grown).mkdir(parents=True)
        os.mkfifo(folder / grown / "f")
    status, errors, said = attack(path=folder)
    assert (
        (status, errors) == (0, []) and "Not looked at" in said and "workflow/__pycache__" in said
    )


@pytest.mark.parametrize("path", ["/dev/zero", "/proc/self/mem", "none.zip", "fifo"])
def test_what_is_no_bundle(attack, path):
    os.mkfifo(attack.folder / "fifo")
    status, errors, _ = attack(path=path if path.startswith("/") else attack.folder / path)
    assert status == 1 and len(errors) == 1


def changed(name, old, new, count=-1):
    return lambda files: {name: files[name].replace(old, new, count)}


def replaced(name, content):
    return lambda files: {name: content}


def loaded(name, change):
    """A JSON file whose content is changed in place."""

    def result(files):
        content = json.loads(files[name])
        change(content)
        return {name: json.dumps(content).encode()}

    return result


def twin(**changes):
    """A generated dataset with one file and a card."""
    sum_of_x = hashlib.sha256(b"x").hexdigest()

    def change(files):
        entry = {
            "kind": "generated",
            "name": "w",
            "files": [{"name": "a", "size": 1, "sha256": sum_of_x}],
        } | changes
        card = {
            "files": 1,
            "bytes": 1,
            "sha256": hashlib.sha256(f"{sum_of_x}  a\n".encode()).hexdigest(),
        }
        record = loaded(f"{RUN}/provenance.json", lambda content: content["data"].append(entry))(
            files
        )
        more = {f"{RUN}/data/w/raw/a": b"x", f"{RUN}/data/w/card.json": json.dumps(card).encode()}
        return {**more, **record}

    return change


CHECKS, CRATE, RECORD = f"{RUN}/checks.csv", "ro-crate-metadata.json", f"{RUN}/provenance.json"
CONTENTS = {
    "no checks": replaced(CHECKS, None), "empty checks": replaced(CHECKS, b""),
    "blank checks": replaced(CHECKS, b"\n\n"),
    "binary checks": replaced(CHECKS, bytes(range(256))), "checks of one word": replaced(CHECKS, b"hello"),
    "checks without rows": lambda files: {CHECKS: files[CHECKS].splitlines()[0] + b"\n"},
    "checks without a column": changed(CHECKS, b"rejects", b"x"), "an open quote": changed(CHECKS, b"s,t,a", b's,t,"a'),
    "unknown verdict": changed(CHECKS, b"reproduced,", b"\x1b[31mperfect,"),
    "nul": changed(CHECKS, b"s,t,a", b"s,t\0,a"),
    "one row twice": changed(CHECKS, b"s,t,b", b"s,t,a"),
    "words for numbers": changed(CHECKS, b"1.05", b"\x1b]0;x\x07"),
    "endless number": changed(CHECKS, b"1.05", b"1e999"), "no number": changed(CHECKS, b"1.05", b""),
    "other number": changed(CHECKS, b"1.05", b"1.04"), "other verdict": changed(CHECKS, b",reproduced,", b",differs,"),
    "odd wrong answers": changed(CHECKS, b"mean=3", b"mean=\xff"),
    "long cell": changed(CHECKS, b"mean", b"m" * 200_000),
    "a column twice": changed(CHECKS, b"note", b"verdict"), "another study": changed(CHECKS, b"s,t,a", b"../../x,t,a"),
    "no table of a study": replaced(f"{RUN}/s/checks.csv", None),
    "other table of a study": changed(f"{RUN}/s/checks.csv", b"1.05", b"1.04"),
    "other summary": changed(f"{RUN}/summary.md", b"2 reproduced", b"3 reproduced"),
    "no summary": replaced(f"{RUN}/summary.md", None),
    "no run": replaced(f"{RUN}/crate/configuration.yaml", None),
    "two runs": replaced("results/q/crate/configuration.yaml", b""),
    "no crate": replaced(CRATE, None), "no crate of the run": replaced(f"{RUN}/{CRATE}", None),
    "deep crate": replaced(CRATE, DEEP), "crate of nothing": replaced(CRATE, b"null"),
    "crate of bytes": replaced(CRATE, b"\xff"),
    "crate without a graph": replaced(CRATE, b"{}"), "crate of numbers": replaced(CRATE, b'{"@graph": [1]}'),
    "crate without a run": replaced(CRATE, b'{"@graph": []}'),
    "long number": replaced(CRATE, b'{"@graph": ' + b"9" * 100_000 + b"}"),
    "description of a file elsewhere": changed(CRATE, b'"results/r/checks.csv"', b'"../../../../etc/passwd"'),
    "description of no file": changed(CRATE, b'{"@id": "results/r/checks.csv"}', b'{"@id": "results/r/other.csv"}'),
    "no record": replaced(RECORD, None), "deep record": replaced(RECORD, DEEP),
    "record of a list": replaced(RECORD, b"[]"),
    "data that are a number": replaced(RECORD, b'{"data": 3}'),
    "data without a kind": replaced(RECORD, b'{"data": [{}]}'),
    "data elsewhere": twin(name="../../../../etc"), "other files of data": twin(files=[]),
    "odd size": twin(files=[{"name": "a", "size": "x", "sha256": "y"}]), "files of numbers": twin(files=[1, 2]),
    "no card": lambda files: twin()(files) | {f"{RUN}/data/w/card.json": None},
    "a hidden file counted": lambda files: twin()(files) | {
        f"{RUN}/data/w/card.json": twin()(files)[f"{RUN}/data/w/card.json"].replace(b'"files": 1', b'"files": 2')
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", CONTENTS)
def test_contents(attack, kind):
    status, errors, _ = attack(CONTENTS[kind](attack.files))
    assert (
        status == 1 and 1 <= len(errors) <= 4 and all(line.startswith("ERROR ") for line in errors)
    ), errors
    assert max(map(len, errors)) <= 500


def test_generated_data_that_are_as_told_pass(attack):
    assert attack(twin()(attack.files))[:2] == (0, [])


MANIFESTS = [
    b"nonsense\n", b"\n", b"0" * 64 + b"  ../canary/x\n", b"0" * 64 + b"  /etc/passwd\n", b"0" * 64 + b"  a\x1b[31m\n",
    b"\xff" * 80, b"0" * 64 + b"  a\n" + b"0" * 64 + b"  a\n",
]  # fmt: skip


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_a_manifest(attack, manifest):
    status, errors, _ = attack(path=sealed(attack.folder / "b.zip", attack.files, {NAME: manifest}))
    assert status == 1 and len(errors) == 1 and "is no checksum with a path" in errors[0]


def of_commit(commit):
    def change(content):
        next(entity for entity in content["@graph"] if entity["@id"] == "Snakefile")["version"] = (
            commit
        )

    return loaded(CRATE, change)


@pytest.mark.parametrize(
    "commit", ["HEAD", "--output=x", "f" * 40, ["x"], {}, "main; touch x", "a" * 64]
)
def test_a_commit_that_is_not_in_the_checkout_is_looking_only(attack, commit):
    for arguments, expected in (((), 0), (("--recompute", "5"), 1)):
        status, errors, said = attack(of_commit(commit)(attack.files), arguments=arguments)
        assert (status, errors) == (expected, [])
        assert "Looked only" in said
        assert "can't be held against" in said


def test_code_that_the_commit_has_not_is_told_and_never_unpacked(attack, monkeypatch):
    there = []
    monkeypatch.setattr(again, "recompute", lambda place, *_: there.extend(place.folder.rglob("*")))
    evil = {
        "Snakefile": attack.files["Snakefile"] + b"print(1)\n",
        "workflow/__pycache__/a.pyc": b"x",
        "conftest.py": b"x",
    }
    _, errors, said = attack(evil, arguments=("--recompute", "5"))
    assert not errors and "WARNING 3 files of code aren't those of commit" in said
    names = {path.name for path in there}
    assert {"Snakefile", "fits.csv"} <= names and not names & {"a.pyc", "conftest.py", "tab01.csv"}
    assert all(
        (path.parts[-2:] != ("code", "Snakefile")) or path.read_text() == "rule all:\n"
        for path in there
        if path.exists()
    )


def configured(configuration):
    """A run's two accounts of its configuration."""
    return {
        RECORD: json.dumps({"data": [], "configuration": configuration}).encode(),
        f"{RUN}/crate/configuration.yaml": yaml.safe_dump(configuration).encode(),
    }


# of an output's record, what it says; "elsewhere" is a folder outside
JOBS = {
    "a folder elsewhere": ("elsewhere", {}),
    "a file elsewhere": ("elsewhere/folder/kept.txt", {}),
    "an absolute path": ("/elsewhere", {}),
    "up and down": (f"{RUN}/s/../s/fits.csv", {}),
    "nul": (f"{RUN}/a\0b", {}),
    "a long name": (f"{RUN}/x", {"log": ["y" * 100_000]}),
    "no JSON": (FITS, b"\xff"),
    "deep": (FITS, DEEP),
    "an option as a rule": (FITS, {"rule": "--unlock", "log": []}),
    "a rule of parts": (FITS, {"rule": {"a": 1}}),
    "a log of parts": (FITS, {"log": [{}]}),
    "numbers as inputs": (TABLE, {"input": [1, 2]}),
    "mixed inputs": (TABLE, {"input": [1, "a", None]}),
    "inputs elsewhere": (TABLE, {"input": ["/etc/passwd", "../../etc/passwd", "a\0"]}),
    "no times": (TABLE, {"starttime": "soon"}),
    "endless times": (TABLE, {"starttime": -1e308, "endtime": 1e308}),
    "a list": (TABLE, b"[1]"),
}
OTHERS = {
    "the whole run": {of_job(RUN): record(), of_job(f"{RUN}/"): record()},
    "no base64": {".snakemake/metadata/%%%": record()},
    "another configuration": configured({"run": "../q"}),
    "configuration of words": configured("x"),
}


# what Snakemake's records are read without, and what makes a file one that can't be drawn
HARMLESS = ("an absolute path", "nul", "a long name", "no base64", "no JSON")


@pytest.mark.parametrize("kind", [*JOBS, *OTHERS])
def test_records_of_jobs(attack, kind):
    """What a job's record names is looked up among the bundle's own files, and nothing else is
    taken away.
    """
    if kind in OTHERS:
        changes = OTHERS[kind]
    else:
        output, said = JOBS[kind]
        output = output.replace("/elsewhere", str(attack.canary))
        output = output.replace("elsewhere", f"{RUN}/{'../' * 30}{str(attack.canary)[1:]}")
        changes = {of_job(output): record(**said) if isinstance(said, dict) else said}
    status, errors, _ = attack(changes, arguments=("--recompute", "100", "--longest", "1e9"))
    assert status == 1 and len(errors) <= 1
    assert bool(errors) == (kind not in HARMLESS), errors


def test_a_bundle_without_records_of_jobs_says_that_and_asks_for_no_more_time(attack):
    status, errors, said = attack({of_job(TABLE): None})
    assert (status, errors) == (
        0,
        [],
    )
    assert "results have no record of the job that made them" in said
    status, (error,), _ = attack({of_job(TABLE): None}, arguments=("--recompute", "5"))
    assert status == 1
    assert "files without a record of the job that made it" in error
    assert "--longest" not in error


def test_random_edits_end_in_lines(attack):
    """Bytes of what is read are replaced, cut out and doubled; whatever comes of it, nothing else
    happens.
    """
    source, noticed = random.Random(21), 0
    of_run = (f"{RUN}/{name}" for name in (CRATE, "s/checks.csv", "summary.md"))
    read = (CHECKS, CRATE, RECORD, of_job(TABLE), *of_run)
    for _ in range(150):
        name = source.choice(read)
        content = bytearray(attack.files[name])
        for _ in range(source.randint(1, 4)):
            at, length = source.randrange(len(content)), source.randint(0, 9)
            content[at : at + length] = source.choice(
                (source.randbytes(3), content[at : at + 40] * 2, b'"', b"9" * 400)
            )
        noticed += attack({name: bytes(content)}, arguments=("--recompute", "5"))[0]
    assert noticed > 100
