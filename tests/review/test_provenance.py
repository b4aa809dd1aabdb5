"""What a run was made with."""

import json
import os
import subprocess
import sys
from pathlib import Path

from contactid.review.provenance import (
    COMMAND,
    compare_locks,
    describe_code,
    describe_data,
    packages,
    seeds_of,
    write_provenance,
)
from contactid.run.records import JobRecord
from contactid.sources.lockfile import digest
from contactid.sources.registry import Dataset

PACKAGE = {"PYTHONPATH": str(Path(__file__).parents[2] / "workflow")}


def git(folder, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def checkout(folder):
    git(folder, "init", "--quiet")
    (folder / "code.py").write_text("x = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def test_a_clean_checkout_is_its_commit_and_every_change_has_a_checksum_of_its_own(tmp_path):
    folder = checkout(tmp_path)
    clean = describe_code(folder)
    assert len(clean["git_commit"]) == 40
    assert clean["git_dirty"] is False
    assert clean["git_diff_sha256"] is None
    digests = set()
    for file, text in [
        ("code.py", "x = 2\n"),
        ("code.py", "x = 3\n"),
        ("new.py", ""),
        ("new.py", "y\n"),
    ]:
        (folder / file).write_text(text)
        found = describe_code(folder)
        assert found["git_dirty"] is True and found["git_commit"] == clean["git_commit"]
        digests.add(found["git_diff_sha256"])
    assert len(digests) == 4 and None not in digests


def test_a_folder_in_somebody_elses_checkout_has_no_commit(tmp_path):
    inner = checkout(tmp_path) / "unpacked"
    inner.mkdir()
    assert describe_code(inner) == {"git_commit": None, "git_dirty": None, "git_diff_sha256": None}


def test_seeds_are_found_wherever_they_are():
    config = {
        "seed": 1,
        "a": {"split": {"seed": 2}, "training_seeds": [3, 4], "seeds_per_job": 5},
        "b": [{"seed": 6}, {"other": 7}],
    }
    assert seeds_of(config) == {
        "seed": 1,
        "a.split.seed": 2,
        "a.training_seeds": [3, 4],
        "b[0].seed": 6,
    }


def test_data_have_sizes_checksums_and_licences(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "box.h5").write_bytes(b"abc")
    raw = tmp_path / "results/r/data/twin/raw"
    raw.mkdir(parents=True)
    (raw / "b.mat").write_bytes(b"")
    (raw / "a.mat").write_bytes(b"abc")
    lock = {
        "kind": "4tu", "source": "10.4121/1.v2", "version": "2", "licence": "CC-BY-4.0",
        "files": [{"name": "x.zip", "size": 7, "sha256": "00ff"}],
    }  # fmt: skip
    far = Dataset("far", "4tu", "iam", "10.4121/1", licence="CC-BY-4.0")
    (tmp_path / "lock.json").write_text(json.dumps({"format": 1, "archives": {far.archive: lock}}))
    datasets = [
        Dataset("twin", "generated", "arm_mat", ""),
        Dataset("box", "embedded", "iam", "box.h5"),
        far,
    ]
    box, far_entry, twin = describe_data(
        datasets, lock="lock.json", store="data", results="results/r"
    )
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert box["files"] == [{"name": "box.h5", "size": 3, "sha256": abc}] and box["synthetic"]
    assert [file["name"] for file in twin["files"]] == ["a.mat", "b.mat"]
    assert far_entry["doi"] == "10.4121/1.v2"
    assert far_entry["version"] == "2"
    assert not far_entry["synthetic"]
    assert far_entry["files"] == [{"name": "x.zip", "size": 7, "sha256": "00ff"}]


def test_the_whole_record_is_plain_json_and_the_same_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(COMMAND, "--cores 2")
    config = {"run": "r", "study": {"seed": 1}}
    (tmp_path / "requirements.lock").write_text("numpy==1\n")

    def made():
        write_provenance(
            "results/r/checks.csv",
            "data.json",
            "requirements.lock",
            config,
            [],
            "data",
            "record.json",
        )
        return json.loads((tmp_path / "record.json").read_text())

    record = made()
    assert record == made()
    assert record["configuration"] == config and record["seeds"] == {"study.seed": 1}
    assert record["packages"] == packages()
    assert record["packages"]["numpy"]
    assert record["packages"]["snakemake"]
    assert record["snakemake"]["arguments"] == "--cores 2"
    assert record["solver"]["name"].startswith("IPOPT 3.")
    assert record["solver"]["default_options"]["tol"] == 1e-8
    assert record["environment_lock"]["jobs_made_with_another"] == {}
    assert record["jobs"]["begin"] is None and record["memory_bytes"] > 1e8 and record["cores"] >= 1


def test_results_that_were_made_with_another_lock_are_told(tmp_path):
    """The checksum is in the log of every job; a lock file that changed since is told by the rules
    of those jobs.
    """

    lock = tmp_path / "requirements.lock"
    program = (
        "import sys\nfrom pathlib import Path\nfrom contactid.run import job\n"
        "job._LOCK_FILE = Path(sys.argv[1])\nwith job.job('solve', {}, sys.argv[2]):\n    print('solved')\n"
    )
    jobs = []
    for name, text in (("a", "numpy==1"), ("b", "numpy==2"), ("c", "numpy==2")):
        lock.write_text(text)
        log = tmp_path / f"{name}.log"
        subprocess.run(
            [sys.executable, "-c", program, lock, log], check=True, env={**os.environ, **PACKAGE}
        )
        jobs.append(JobRecord("solve", (f"{name}.csv",), (), str(log), 0.0, 1.0))
    found = compare_locks(lock, jobs)
    assert found["sha256"] == digest(lock)
    assert found["jobs_made_with_another"] == {"solve": 1} and found["jobs_not_known"] == 0
    lock.write_text("numpy==3")
    assert compare_locks(lock, jobs)["jobs_made_with_another"] == {"solve": 3}
    (tmp_path / "a.log").unlink()
    (tmp_path / "b.log").write_text("of an older version\n")
    found = compare_locks(lock, [*jobs, JobRecord("report", ("r.html",), (), None, 0.0, 1.0)])
    assert found["jobs_made_with_another"] == {"solve": 1} and found["jobs_not_known"] == 2


def test_the_packages_of_a_folder_are_not_ours(tmp_path):
    info = Path(tmp_path, "some_thing-1.2.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Some_Thing\nVersion: 1.2\n")
    assert packages(tmp_path) == {"some-thing": "1.2"}
