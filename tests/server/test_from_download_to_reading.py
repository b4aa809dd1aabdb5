"""From the server to the canonical form by the project's own commands: lock, fetch, verify, read;
then offline.

Then a small run of the tossing study to its end, whose numbers are compared with the paper's or
not.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import yaml
from conftest import ARM_FILE, ARM_TWIN, EMBEDDED, ROOT

from contactid.output.verdicts import LACKS
from contactid.sources import fourtu_client
from contactid.sources.lockfile import read_lock, write_lock
from contactid.sources.registry import load_registry
from motion_in_memory import read_iam_archive

PARTS = ("Snakefile", "config", "envs", "profiles", "workflow")
REGISTRY = load_registry(ROOT / "config/datasets.tsv", {})
DATASETS = (
    "iam_box004_drops",
    "iam_box005_drops",
    "iam_box006_validation",
    "iam_box007_validation",
)
ARCHIVES = {"4tu_17122553", "4tu_21024007", "4tu_21387606", "4tu_21387510", "4tu_21399657", "4tu_c6278310_017_Box004",
            "4tu_c6278310_018_Box004", "4tu_c6278310_019_Box007", "4tu_c6278310_020_Box007"}  # fmt: skip


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": str(folder / "workflow")}
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
    )


def snakemake(folder, server, *words, forced=(), overlays=("config/4tu.yaml",), **config):
    settings = {"fourtu_url": server.url, "offline": "false"} | config
    command = ["snakemake", "--cores", "2", "--configfile", *overlays, *forced]
    return run(
        folder,
        *command,
        "--config",
        *(f"{key}={value}" for key, value in settings.items()),
        "--",
        *words,
    )


def motion_files():
    return [f"results/fourtu/data/{name}/motion.nc" for name in DATASETS]


@pytest.fixture(scope="module")
def repository(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, folder / part)
    locked = run(folder, "contactid.sources.lock", "--url", server.url, "--only", *sorted(ARCHIVES))
    assert locked.returncode == 0, locked.stderr
    (folder / "locked.txt").write_text(locked.stdout)
    return folder


def test_before_anything_is_computed_every_archive_is_reported(repository, server):
    shown = (repository / "locked.txt").read_text()
    datasets = [row for row in REGISTRY.values() if row.archive in ARCHIVES]
    assert len(datasets) == 11
    for row in datasets:
        title = f"{row.name} ({row.object} on {row.surface}):"
        held = (repository / f"data/{row.archive}/report.txt").read_text()
        assert title in shown and title in held
    assert "as in Table I" in shown
    assert "what is thrown falls at 9.8" in shown
    assert "WARNING" not in shown


def test_every_archive_is_locked_with_both_checksums(repository, server):
    lock = read_lock(repository / "config/datasets.lock.json")
    for name in ARCHIVES:
        entry = lock[name]
        assert entry.base == server.url
        assert entry.container
        assert entry.version
        assert entry.licence == "CC BY 4.0"
        for file in entry.wanted:
            assert file.size and file.uuid and len(file.sha256) == 64
            assert bool(file.md5) == (name != "4tu_17122553")
            assert file.url.startswith(f"file/{entry.container}/")
    sources = [
        lock[f"4tu_c6278310_{member}"].source
        for member in ("017_Box004", "018_Box004", "019_Box007", "020_Box007")
    ]
    assert sources == [
        "10.4121/21815511.v1",
        "10.4121/21815874.v1",
        "10.4121/21815913.v1",
        "10.4121/21815994.v1",
    ]


def test_downloaded_twins_are_read_as_the_embedded_ones(repository, server):
    shutil.rmtree(repository / "data")  # make lock left them there; this is another machine
    offline = snakemake(repository, server, *motion_files(), offline="true")
    assert offline.returncode != 0
    lines = [
        line for line in (offline.stdout + offline.stderr).splitlines() if line.startswith("ERROR ")
    ]
    assert {line.split()[1] for line in lines} == {
        "4tu_17122553:", "4tu_21399657:", "4tu_c6278310_020_Box007:",
    }, offline.stderr  # fmt: skip
    assert all(
        "offline is true, and 1 files (" in line and " of 10.4121/" in line for line in lines
    )
    assert not (repository / "data").exists()
    fetched = snakemake(repository, server, *motion_files())
    assert fetched.returncode == 0, fetched.stdout + fetched.stderr
    for name in DATASETS:
        row = REGISTRY[name]
        file = EMBEDDED / f"{name.removeprefix('iam_')}_twin.h5"
        named = {"surface_name": row.surface, "surface_height": row.surface_height}
        expected = read_iam_archive(file, row.object, licence="", **named)
        with xr.open_dataset(
            repository / f"results/fourtu/data/{name}/motion.nc", engine="h5netcdf"
        ) as data:
            assert data.attrs["synthetic"] == 1 and data.attrs["licence"] == "CC BY 4.0"
            np.testing.assert_array_equal(data["position"].values, expected["position"].values)
    receipt = json.loads((repository / "data/4tu_17122553/receipt.json").read_text())
    assert receipt["source"] == "10.4121/17122553.v1"
    assert receipt["files"][0]["from"].startswith(f"{server.url}/file/")


def test_offline_with_everything_there(repository, server):
    file = motion_files()[0]
    (repository / file).unlink()
    server.kill()
    try:
        again = snakemake(repository, server, file, offline="true")
        assert again.returncode == 0, again.stdout + again.stderr
    finally:
        server.start()


def test_damage_is_found_before_reading_and_mended_by_data(repository, server):
    stored = repository / "data/4tu_21399657/files/Archive_011_Box005Box006_Validation.h5"
    whole = stored.read_bytes()
    stored.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    wanted = "results/fourtu/data/iam_box006_validation/motion.nc"
    shutil.rmtree(repository / "results/fourtu/data/iam_box006_validation")
    found = snakemake(repository, server, wanted, offline="true")
    assert found.returncode != 0
    (line,) = [
        line
        for line in found.stdout.splitlines() + found.stderr.splitlines()
        if line.startswith("ERROR ")
    ][-1:]
    assert (
        "verify_data dataset=iam_box006_validation: 4tu_21399657: Archive_011_Box005Box006_Validation.h5 has the"
        in line
    )
    assert "expected" in line and "make data fetches what is damaged again" in line
    mended = snakemake(
        repository, server, "data/4tu_21399657/receipt.json", forced=["--forcerun", "fetch_dataset"]
    )
    assert mended.returncode == 0, mended.stdout + mended.stderr
    assert stored.read_bytes() == whole
    assert snakemake(repository, server, wanted, offline="true").returncode == 0


def test_a_file_that_changed_upstream_shows_both_checksums(repository, server, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(
        repository, folder, ignore=shutil.ignore_patterns("data", "results", ".snakemake")
    )
    lock = read_lock(folder / "config/datasets.lock.json")
    text = (folder / "config/datasets.lock.json").read_text()
    ours = next(file.sha256 for file in lock["4tu_21387510"].files)
    write_lock(folder / "config/datasets.lock.json", lock)
    (folder / "config/datasets.lock.json").write_text(text.replace(ours, "0" * 64))
    changed = snakemake(folder, server, "results/fourtu/data/iam_box006_trajectories/motion.nc")
    said = changed.stdout + changed.stderr
    assert changed.returncode != 0 and "Traceback" not in said
    assert f"has the checksum {ours} (sha256), expected {'0' * 64}" in said
    assert not list(Path(folder / "data").rglob("*.h5"))


def test_an_unlocked_archive_is_named_and_nothing_is_resolved(repository, server, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(
        repository, folder, ignore=shutil.ignore_patterns("data", "results", ".snakemake")
    )
    lock = read_lock(folder / "config/datasets.lock.json")
    write_lock(
        folder / "config/datasets.lock.json",
        {name: lock[name] for name in lock if name != "4tu_21387510"},
    )
    unlocked = snakemake(folder, server, "results/fourtu/data/iam_box006_trajectories/motion.nc")
    said = unlocked.stdout + unlocked.stderr
    assert unlocked.returncode != 0
    assert "4tu_21387510 (10.4121/21387510) is not in the lock file yet" in said
    assert "Run make lock once" in said


def test_a_small_run_is_compared_where_its_archives_are_the_papers_own(repository, server):
    """The paper's own: from the archive's own host, which is another one here, and of files that
    aren't synthetic.
    """
    small = yaml.safe_load((ROOT / "config/test.yaml").read_text())["tossing"]
    for block in (small, small["velocity"]):
        block |= {
            key: [f"iam_{name}" for name in block[key]]
            for key in ("identify_on", "predict_on")
            if key in block
        }
    (repository / "small.yaml").write_text(yaml.safe_dump({"run": "small", "tossing": small}))
    source = repository / "workflow/contactid/sources/fourtu_client.py"
    text = source.read_text()
    for host, of_the_paper in ((fourtu_client.BASE_URL, False), (server.url, True)):
        source.write_text(text.replace(f'"{fourtu_client.BASE_URL}"', f'"{host}"'))
        made = snakemake(repository, server, "all", overlays=["config/4tu.yaml", "small.yaml"])
        assert made.returncode == 0, made.stdout + made.stderr
        checks = pd.read_csv(repository / "results/small/tossing/checks.csv", keep_default_na=False)
        of_box = checks["condition"].str.contains("object=Box006") & (checks["basis"] != "print")
        compared = ~checks["verdict"].isin(LACKS)
        bodies, parameters, poses = (
            of_box & (checks["artefact"] == name) for name in ("tab01", "tab02", "tab03")
        )
        assert (
            compared[parameters & checks["condition"].str.contains("parameters=trajectory")].any()
            == of_the_paper
        )
        assert not compared[
            bodies | poses
        ].any()  # from its test tosses, which say that they are synthetic
        assert (repository / "results/small/tossing/figures/fig14_sensitivity.svg").is_file()
    source.write_text(text)


def test_the_arm_s_archive_is_read_and_fitted_like_the_file_itself(repository, server):
    locked = run(
        repository, "contactid.sources.lock", "--url", server.url, "--only", "4tu_14192429"
    )
    assert locked.returncode == 0, locked.stderr
    small = {
        "run": "small_arm",
        "arm": yaml.safe_load((ROOT / "config/test.yaml").read_text())["arm"],
    }
    (repository / "small_arm.yaml").write_text(yaml.safe_dump(small))
    target = "results/small_arm/arm/checks.csv"
    made = snakemake(repository, server, target, overlays=["config/4tu_arm.yaml", "small_arm.yaml"])
    assert made.returncode == 0, made.stdout + made.stderr
    assert (
        repository / f"data/4tu_14192429/files/{ARM_FILE}"
    ).read_bytes() == ARM_TWIN.read_bytes()
    fitted = pd.read_csv(repository / "results/small_arm/arm/fits/methods.csv")
    assert set(fitted["experiment"]) == {ARM_FILE.removesuffix(".mat")}
    assert fitted["converged"].all()
    own = run(repository, "contactid", "impact", "--report", "own", ARM_TWIN)
    assert own.returncode == 0, own.stderr
    (predicted,) = pd.read_csv(repository / "own/predictions.csv").to_dict("records")
    best = fitted[fitted["method"] == "admissible"].iloc[0]
    np.testing.assert_allclose(predicted["vx_plus"], best["vx_plus_fit"], atol=1e-6)
    checks = pd.read_csv(repository / target, keep_default_na=False)
    measured = checks[checks["data"] == "arm_icra2021"]  # from another host than the paper's
    assert len(measured) and measured["verdict"].isin(LACKS).all()
