"""Full disks, forbidden folders, a missing solver: one plain line each, no half file, and the rerun
finishes.
"""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest
from small_runs import (
    RESULTS,
    TARGETS,
    command,
    environment,
    errors,
    finish,
    whole_files,
)

from contactid.review.compare import differences
from whole_run import ROOT, copy_of_the_repository

pytestmark = pytest.mark.robustness

SOME = (TARGETS[0], TARGETS[2], TARGETS[4], TARGETS[6])  # netCDF, csv, mat, csv


def can_mount():
    probe = "mount -t tmpfs -o size=64k tmpfs /mnt"
    return (
        os.geteuid() == 0
        and subprocess.run(["unshare", "-m", "sh", "-c", probe], capture_output=True).returncode
        == 0
    )


needs_mounts = pytest.mark.skipif(
    not can_mount(), reason="mounts a small file system for itself: needs root on Linux"
)


def apart(folder, script):
    """Run a shell script whose mounts nobody else sees and that go with it."""
    script = f"set -u\nrun() {{ {' '.join(command(*SOME))}; }}\n{textwrap.dedent(script)}"
    return subprocess.run(
        ["unshare", "-m", "bash", "-c", script], cwd=folder, env=environment(), capture_output=True, text=True,
        timeout=1800,
    )  # fmt: skip


@needs_mounts
@pytest.mark.parametrize("size", ["256k", "900k"])
def test_a_disk_that_fills_up_ends_in_one_plain_line_and_is_resumed(undisturbed, tmp_path, size):
    folder = copy_of_the_repository(tmp_path / "full")
    run = apart(
        folder,
        f"""
        mkdir -p {RESULTS} before after
        mount -t tmpfs -o size={size} tmpfs {RESULTS}
        run > first.log 2>&1; echo $? > first.status
        cp -r {RESULTS}/. before/
        mount -o remount,size=200m {RESULTS}
        run > second.log 2>&1; echo $? > second.status
        cp -r {RESULTS}/. after/
        """,
    )
    assert run.returncode == 0, run.stderr
    first = (folder / "first.log").read_text()
    assert (folder / "first.status").read_text() == "1\n", first
    assert "ERROR" in first and first.rstrip().splitlines()[-1].startswith("ERROR"), first
    assert "no space left" in errors(first)[-1].lower()
    assert "run the same command again" in errors(first)[-1]
    wrong = [
        line
        for line in differences(undisturbed.results, folder / "before")
        if "only in" not in line
    ]
    assert not wrong
    assert not list((folder / "before").rglob(".*.partial*"))
    assert (folder / "second.status").read_text() == "0\n", (folder / "second.log").read_text()
    there = whole_files(folder / "after")
    assert {target.removeprefix(f"{RESULTS}/") for target in SOME} <= there
    wrong = [
        line
        for line in differences(undisturbed.results, folder / "after")
        if line.split(": ")[0] in there
    ]
    assert not wrong


@needs_mounts
def test_a_disk_full_of_snakemakes_own_records_is_told_of(tmp_path):
    folder = copy_of_the_repository(tmp_path / "records")
    run = apart(
        folder,
        """
        mkdir -p .snakemake
        mount -t tmpfs -o size=48k tmpfs .snakemake
        run
        """,
    )
    said = errors(run.stderr)
    assert (
        run.returncode != 0
        and said
        and ".snakemake" in said[-1]
        and "no space left" in said[-1].lower()
    ), run.stderr


@needs_mounts
def test_every_writer_leaves_the_old_file_on_a_full_disk(tmp_path):
    """One line of ours for csv, text, json, netCDF, drawings, animations and long recordings."""
    (tmp_path / "disk").mkdir()
    script = tmp_path / "write.py"
    script.write_text(WRITERS)
    shell = f"mount -t tmpfs -o size=64k tmpfs {tmp_path}/disk && {sys.executable} {script} {tmp_path}/disk"
    changes = environment(PYTHONPATH=str(ROOT / "workflow"))
    run = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell], capture_output=True, text=True, env=changes
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines() == [
        "table.csv",
        "fit.json",
        "data.nc",
        "figure.pdf",
        "motion.gif",
        "streamed.nc",
    ]


WRITERS = """
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output import style
from contactid.core.atomic import write_text
from contactid.sources.motion import BodyProperties, MotionStream, Recording, write_dataset, write_motion
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_json
from contactid.planar.artefacts.animate import _write
from contactid.output.tables import write_csv

disk = Path(sys.argv[1])
noise = np.random.default_rng(1).normal(size=100_000)


def figure(path):
    with style.styled():
        drawing = style.Figure()
        drawing.figimage(noise.reshape(250, 400), cmap="viridis")
        style.save(drawing, path.with_suffix(""), ["pdf"])


def stream(path):
    body = BodyProperties(np.eye(3), 1.0, np.eye(3), np.zeros(3))
    turned = np.tile([1.0, 0.0, 0.0, 0.0], (30_000, 1))
    made = iter([Recording("first", noise[:90_000].reshape(-1, 3), turned)])
    write_motion(MotionStream(body, "box", 100.0, "noise", "none", True, made), path)


def animation(path):
    values = np.clip(noise * 60.0 + 128.0, 0, 255).astype(np.uint8)
    pictures = [values[start : start + 30_000].reshape(100, 100, 3) for start in range(0, 60_000, 4_000)]
    _write(pictures, [40] * len(pictures), path)


writers = {
    "table.csv": lambda path: write_csv(pd.DataFrame({"noise": noise}), path),
    "fit.json": lambda path: write_json(path, {"noise": noise.tolist()}),
    "data.nc": lambda path: write_dataset(xr.Dataset({"noise": ("sample", noise)}), path),
    "figure.pdf": figure,
    "motion.gif": animation,
    "streamed.nc": stream,
}
for name, write in writers.items():
    write_text(disk / name, "old")
    try:
        write(disk / name)
    except ContactIdError as error:
        assert "cannot be written (No space left on device). Free some space" in str(error), error
    else:
        raise SystemExit(f"{name}: no error")
    assert [path.name for path in disk.iterdir()] == [name], list(disk.iterdir())
    assert (disk / name).read_text() == "old"
    (disk / name).unlink()
    print(name)
"""


@needs_mounts
def test_a_read_only_results_folder_is_one_line_and_nothing_is_lost(tmp_path):
    folder = copy_of_the_repository(tmp_path / "read_only")
    kept = folder / RESULTS / "arm/mine.csv"
    kept.parent.mkdir(parents=True)
    kept.write_text("kept")
    run = apart(
        folder, "mount --bind results results; mount -o remount,ro,bind results results; run"
    )
    said = errors(run.stderr)
    assert run.returncode != 0
    assert len(said) == 1
    assert f"ERROR {RESULTS}: cannot be written (Read-only" in said[0]
    assert "Traceback" not in run.stderr and "Check space and permissions" in said[0]
    assert kept.read_text() == "kept"


def test_a_file_where_results_belong_is_one_line(tmp_path):
    folder = copy_of_the_repository(tmp_path / "file")
    (folder / "results").mkdir()
    (folder / RESULTS).write_text("mine")
    run = finish(folder, *SOME)
    assert run.returncode != 0
    assert errors(run.stdout) == [
        f"ERROR {RESULTS} is a file, not a folder. Move it away, or give the run another name with --config run=NAME."
    ]
    assert (folder / RESULTS).read_text() == "mine"


def test_a_missing_solver_is_one_line_before_anything_starts(tmp_path):
    """No ipopt on PATH, and no CasADi."""
    folder = copy_of_the_repository(tmp_path / "solver")
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(
        "import sys\n\n\nclass Hidden:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'casadi':\n            raise ModuleNotFoundError(name=name)\n\n\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    run = finish(folder, *SOME, PYTHONPATH=str(hiding))
    assert run.returncode != 0 and "Traceback" not in run.stdout
    assert errors(run.stdout) == [
        "ERROR not installed: casadi. Install the pinned environment (make env)."
    ], run.stdout
    assert not (folder / "results").exists()


def test_a_solver_that_fails_once_costs_one_try(undisturbed, tmp_path):
    """An ipopt that can't run is first on PATH and then gone."""
    folder = copy_of_the_repository(tmp_path / "once")
    target = TARGETS[1]
    broken = tmp_path / "bin/ipopt"

    def put_it_there():
        broken.parent.mkdir(exist_ok=True)
        broken.write_text(
            "#!/bin/sh\ncase $1 in -v|--version) echo Ipopt 3.14.0;; *) rm -f $0; exit 3;; esac\n"
        )
        broken.chmod(0o755)

    path = f"{broken.parent}:{os.environ['PATH']}"
    put_it_there()
    run = finish(folder, target, PATH=path)
    said = errors(run.stdout)
    assert run.returncode != 0 and said, run.stdout
    assert all(
        "ERROR planar_identify" in line and "ipopt executable failed" in line for line in said
    ), said
    assert not (folder / target).exists() and not broken.exists()
    put_it_there()
    run = finish(folder, target, options=("--retries", "1"), PATH=path)
    assert run.returncode == 0 and not broken.exists(), run.stdout
    assert shutil.which("ipopt") or whole_files(folder / RESULTS) <= whole_files(
        undisturbed.results
    )
    wrong = [
        line
        for line in differences(undisturbed.results, folder / RESULTS)
        if line.startswith("planar/")
    ]
    assert not [line for line in wrong if "only in" not in line], wrong
