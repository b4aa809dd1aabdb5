"""What Snakemake would end by in many lines is one line before it starts."""

import os
import sys

import pytest

from bad_files import BOMB, MERGES
from start import CACHE, cache_folder, configuration_files, main, problem_of


def test_the_configuration_files_of_a_command_are_those_after_their_option():
    command = [
        "snakemake",
        "-n",
        "--configfile",
        "a.yaml",
        "b c.yaml",
        "--config",
        "run=x",
        "--configfile",
        "d.yaml",
    ]
    assert list(configuration_files(command)) == ["a.yaml", "b c.yaml", "d.yaml"]
    assert list(configuration_files(["snakemake", "--config", "a=b"])) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("run: mine\nplanar: {a: 1}\n", ""),
        (
            "run: mine\nplanar: {a: [1\nb: 2\n",
            ", line 3, column 2: while parsing a flow sequence expected ',' or ']'",
        ),
        ("run: mine\n\tplanar: 1\n", ", line 2, column 1: "),
        ("a: &a [*b]\n", ", line 1, column 8: found undefined alias"),
        ("a: &a [*a]\n", ": nested or repeated without end"),
        (BOMB, ": nested or repeated without end"),
        (MERGES, ": nested or repeated without end"),
        ("a: " + "[" * 5000, ": nested more than 20 deep"),
        ("a: &a {b: 1}\nc: *a\n", ""),
        ("", ": no settings in it"),
        ("- a\n", ": no settings in it"),
    ],
)
def test_a_broken_configuration_is_named_with_its_line(tmp_path, text, problem):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    told = problem_of(str(file))
    assert told.startswith(f"{file}{problem}") if problem else told == ""


def test_a_configuration_that_is_not_there_or_no_text_is_one_line(tmp_path):
    (tmp_path / "picture.yaml").write_bytes(b"\x89PNG\xff")
    assert "No such file or directory. Name a configuration file" in problem_of(
        str(tmp_path / "nope.yaml")
    )
    assert "picture.yaml: no text" in problem_of(str(tmp_path / "picture.yaml"))
    os.mkfifo(tmp_path / "fifo")
    assert "a folder, pipe or device" in problem_of(str(tmp_path / "fifo"))
    with pytest.raises(SystemExit, match=r"^ERROR nope\.yaml: No such file"):
        main([sys.executable, "--configfile", "nope.yaml"])


def test_a_home_that_cannot_be_written_gives_way_to_a_folder_beside_the_results(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert cache_folder() == str(tmp_path / "own")
    monkeypatch.delenv("XDG_CACHE_HOME")
    for home in ("/proc/nowhere", str(tmp_path / "file/home")):
        (tmp_path / "file").touch()
        monkeypatch.setenv("HOME", home)
        assert cache_folder() == str(tmp_path / CACHE)
