"""Archives: the same bytes twice, and damaged ones told in a line."""

import sys

import pytest

from contactid.core.errors import ContactIdError
from contactid.review.bundle import is_free, result_files, write_zip
from contactid.review.contents import NAME, opened, read_manifest, unpack, write_manifest
from contactid.review.verify import main
from contactid.sources.lockfile import digest

FILES = {"README.txt": b"what it is\n", "results/r/tab01.csv": b"x\n1\n"}


def bundle(path, changed=None, **left):
    """A small archive; files can be changed, added or left out after the manifest was written."""
    folder = path.parent / "content"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    manifest = write_manifest({name: digest(folder / name) for name in FILES})
    files = FILES | {NAME: manifest.encode()} | (changed or {})
    write_zip(path, {name: content for name, content in files.items() if content is not None})
    return path


def said(path, capsys):
    with pytest.raises(SystemExit) as end:
        sys.exit(main([str(path)]))
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err and end.value.code not in (0, None)
    return captured.err.splitlines() if end.value.code == 1 else [end.value.code]


def test_the_same_content_gives_the_same_bytes(tmp_path):
    (tmp_path / "run.sh").write_text("true\n")
    (tmp_path / "run.sh").chmod(0o755)
    names = {"b": b"2", "a": tmp_path / "run.sh"}
    write_zip(tmp_path / "1.zip", names)
    (tmp_path / "run.sh").touch()
    write_zip(tmp_path / "2.zip", dict(reversed(names.items())))
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    with opened(tmp_path / "1.zip") as archive:
        unpack(archive, tmp_path / "out")
        with pytest.raises(ContactIdError, match="a cannot be unpacked"):
            unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/b").read_bytes() == b"2"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"results/r/tab01.csv": b"x\n2\n"}, ["ERROR results/r/tab01.csv: changed"]),
        ({"results/r/tab01.csv": None}, ["ERROR results/r/tab01.csv: missing"]),
        ({"more.txt": b""}, ["ERROR more.txt: not in the manifest"]),
        (
            {"more.txt": b"", "README.txt": None},
            ["ERROR README.txt: missing", "ERROR more.txt: not in the manifest"],
        ),
    ],
)
def test_every_file_that_departs_from_the_manifest_is_one_line(tmp_path, capsys, changed, expected):
    assert said(bundle(tmp_path / "b.zip", changed), capsys) == expected


def truncated(path):
    path.write_bytes(path.read_bytes()[:-40])


def changed_byte(path):
    content = bytearray(path.read_bytes())
    content[45] ^= 255  # in the first file's compressed bytes
    path.write_bytes(content)


def no_zip(path):
    path.write_text("<html>not found</html>")


def empty(path):
    path.write_bytes(b"")


def no_files(path):
    write_zip(path, {})


def no_manifest(path):
    write_zip(path, FILES)


def bad_manifest(path):
    write_zip(path, FILES | {NAME: b"nonsense\n"})


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (truncated, "not a whole zip archive"),
        (changed_byte, "not a whole zip archive"),
        (no_zip, "not a whole zip archive"),
        (empty, "not a whole zip archive"),
        (no_files, f"no {NAME} in it"),
        (no_manifest, f"no {NAME} in it"),
        (bad_manifest, "line 1 is no checksum with a path"),
    ],
)
def test_a_damaged_archive_is_one_line(tmp_path, capsys, damage, expected):
    path = bundle(tmp_path / "b.zip")
    damage(path)
    lines = said(path, capsys)
    assert len(lines) == 1 and lines[0].startswith("ERROR ") and expected in lines[0]


def test_a_bundle_that_is_not_there_is_one_line(tmp_path, capsys):
    assert said(tmp_path / "none.zip", capsys) == [
        f"ERROR {tmp_path}/none.zip does not exist. Name a bundle that make bundle wrote."
    ]


def test_a_manifest_is_read_as_it_is_written():
    sums = {"b c.csv": "0" * 64, "a": "f" * 64}
    assert read_manifest(write_manifest(sums)) == sums
    assert write_manifest(sums).startswith("f" * 64 + "  a\n")
    with pytest.raises(ContactIdError, match="line 2"):
        read_manifest(write_manifest(sums).splitlines()[0] + "\n\n")


def test_data_of_others_stay_out_unless_their_licence_is_free(tmp_path):
    entries = [
        {"name": "twin", "kind": "generated", "synthetic": True, "licence": "unknown"},
        {"name": "free", "kind": "github", "synthetic": False, "licence": "BSD-3-Clause"},
        {"name": "closed", "kind": "4tu", "synthetic": False, "licence": "none stated"},
    ]
    for name in ("twin", "free", "closed"):
        for file in ("raw/a.mat", "motion.nc", "card.json"):
            path = tmp_path / "results/r/data" / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
    (tmp_path / "results/r/.half.partial1.csv").write_text("")
    found, left_out = result_files(tmp_path, "results/r", {"data": entries})
    assert [name.removeprefix("results/r/data/") for name in found] == [
        "closed/card.json", "free/card.json", "free/motion.nc", "twin/card.json", "twin/motion.nc", "twin/raw/a.mat",
    ]  # fmt: skip
    assert left_out == ["closed", "free"]


# as a 4TU server's API names licences, by address and by SPDX's name
@pytest.mark.parametrize(
    ("licence", "free"),
    [
        ("CC BY 4.0", True), ("CC0", True), ("BSD-3-Clause", True), ("MIT", True), ("Apache-2.0", True),
        ("CC-BY-4.0", True), ("CC0-1.0", True), ("https://creativecommons.org/licenses/by/4.0/", True),
        ("https://creativecommons.org/publicdomain/zero/1.0/", True), ("https://opensource.org/licenses/MIT", True),
        ("CC BY-NC-SA 4.0", False), ("CC-BY-NC-SA-4.0", False), ("CC BY-NC 4.0", False), ("CC BY-ND 4.0", False),
        ("CC BY-SA 4.0", False), ("CC-BY-NC-SA 3.0 IGO", False), ("GPL-3.0", False), ("Restrictive Licence", False),
        ("https://creativecommons.org/licenses/by-nc-sa/4.0/", False), ("4TU General Terms of Use", False),
        ("none stated", False), ("as published", False), ("", False),
    ],
)  # fmt: skip
def test_a_licence_is_free_by_whichever_name(licence, free):
    assert is_free(licence) == free
