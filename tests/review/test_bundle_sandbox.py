"""What recomputing a stranger's bundle can reach: names, published files, the sandbox."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from contactid.core.errors import ContactIdError
from contactid.review import apart, recompute, sandbox
from contactid.review.contents import is_below


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/a",
        "a/",
        "../a",
        "a/..",
        "a/./b",
        "a//b",
        "a\\b",
        "c:a",
        "a\0",
        "a\nb",
        "\udcff",
        1,
        None,
        ["a"],
    ],
)
def test_names_that_are_none_below_a_folder(name):
    assert not is_below(name) and is_below("a/b c.csv")


def test_published_netcdf_that_leads_elsewhere_is_not_followed(tmp_path):
    (tmp_path / "secret.raw").write_bytes(b"\0" * 80)
    os.mkfifo(tmp_path / "fifo")
    with h5py.File(tmp_path / "plain.nc", "w") as file:
        file["x"] = range(10)

    def linked(file):
        file["x"] = h5py.ExternalLink(str(tmp_path / "plain.nc"), "/x")

    def stored_elsewhere(file):
        file.create_dataset("x", (10,), "f8", external=[(str(tmp_path / "fifo"), 0, 80)])

    def virtual(file):
        layout = h5py.VirtualLayout((10,), "i8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "plain.nc"), "x", (10,))
        file.create_virtual_dataset("x", layout)

    def endless(file):
        file.create_dataset("x", (10**12,), "f8", chunks=True, compression="gzip")

    again = (tmp_path / "plain.nc").read_bytes()
    for number, fill in enumerate((linked, stored_elsewhere, virtual, endless)):
        with h5py.File(tmp_path / f"{number}.nc", "w") as file:
            fill(file)
        found = apart.compare("x.nc", (tmp_path / f"{number}.nc").read_bytes(), again)
        assert found.verdict(1e9) == "differs" and "not readable" in found.where, fill
    assert apart.compare("x.json", b"[" * 100_000, b"{}").verdict(1e9) == "differs"
    assert apart.compare("x.json", b"1" + b"0" * 400, b"1").verdict(1e9) == "differs"


@pytest.mark.skipif(bool(sandbox.why_not(Path(__file__).parent)), reason="no sandbox starts here")
def test_in_the_sandbox_only_the_folder_is_written_and_there_is_no_network(tmp_path):
    inside, out = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    out.mkdir()
    program = f"""
import os, socket, subprocess
def refused(what):
    try: what()
    except OSError: return True
print([
    os.listdir("/run"), open("made", "w").write("x"),
    refused(lambda: open({str(out / "x")!r}, "w")), refused(lambda: os.rmdir({str(out)!r})),
    refused(lambda: socket.create_connection(("127.0.0.1", 9), 1)), refused(lambda: os.kill({os.getpid()}, 0)),
    subprocess.run(["mount", "-o", "remount,bind,rw", "/"], capture_output=True).returncode != 0,
])
"""
    command = [*sandbox.sandboxed(inside), sys.executable, "-c", program]
    done = subprocess.run(command, cwd=inside, capture_output=True, text=True)
    assert done.stdout.strip() == str([[], 1, True, True, True, True, True]), (
        done.stdout + done.stderr
    )
    assert (inside / "made").exists() and out.is_dir() and not any(out.iterdir())


def test_where_no_sandbox_starts_nothing_runs_without_being_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ContactIdError, match=r"no sandbox starts here .*UNSANDBOXED=1"):
        recompute.prepare(tmp_path, {}, sandbox=True)
