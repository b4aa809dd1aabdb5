"""A small real run, bundled, opened elsewhere, tampered with and verified."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from rocrate.vocabs import RO_CRATE

from contactid.review.contents import NAME, opened, unpack
from contactid.review.sandbox import why_not
from contactid.run.records import FOLDER, path_of_record
from sealed_bundles import sealed

pytestmark = pytest.mark.bundle

ROOT = Path(__file__).parents[2]
# terms whose meaning changed between the RO-Crate context that rocrate brings (1.3) and the
# profile's (1.1)
TERMS = {
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "FormalParameter": "https://bioschemas.org/FormalParameter",
    "input": "https://bioschemas.org/ComputationalWorkflow#input",
    "output": "https://bioschemas.org/ComputationalWorkflow#output",
}


def run(folder, *command):
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "CONTACTID_COMMAND")
    }
    environment |= {
        "PYTHONPATH": str(folder / "workflow"),
        **{
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1500
    )


def python(folder, *arguments):
    return run(folder, sys.executable, "-m", *arguments)


def python_code(folder, code):
    return run(folder, sys.executable, "-c", code)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A checkout with a finished run of one study."""
    folder = tmp_path_factory.mktemp("repository")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for command in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "all")):
        assert run(folder, "git", *command).returncode == 0
    options = (
        "--cores",
        "2",
        "--configfile",
        "config/test.yaml",
        "--config",
        'studies=["arm"]',
        "run=small",
    )
    done = python(folder, "snakemake", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def archive(finished):
    done = python(finished, "contactid.review.bundle", "--run", "small")
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = finished.glob("contactid-small-*.zip")
    assert "-dirty" not in path.name
    return path


def test_a_release_has_report_and_bundle_with_their_sums_and_is_refused_where_files_changed(
    finished, archive
):
    code = "from contactid.review import bundle as one; print(one.release(one._ROOT, {runs}).name)"
    made = python_code(finished, code.format(runs=["small", "public"]))
    assert made.returncode == 0, made.stderr
    folder = finished / "release" / made.stdout.strip()
    assert {file.name for file in folder.iterdir()} == {
        archive.name,
        "small-report.html",
        "SHA256SUMS",
    }
    assert run(folder, "sha256sum", "--check", "--strict", "SHA256SUMS").returncode == 0
    assert (folder / archive.name).read_bytes() == archive.read_bytes()
    assert run(finished, "git", "status", "--porcelain").stdout == ""
    refused = python_code(finished, code.format(runs=["default"]))
    assert "results/default has no ro-crate-metadata.json" in refused.stderr
    assert [file.name for file in (finished / "release").iterdir()] == [folder.name]


@pytest.fixture
def unpacked(archive, tmp_path):
    with opened(archive) as bundle:
        unpack(bundle, tmp_path / "unpacked")
    return tmp_path / "unpacked"


def test_the_record_says_what_the_run_was_made_with(finished):
    record = json.loads((finished / "results/small/provenance.json").read_text())
    assert record["git_dirty"] is False and record["configuration"]["studies"] == ["arm"]
    assert "run=small" in record["snakemake"]["arguments"]
    assert record["jobs"]["begin"] < record["jobs"]["end"] and record["jobs"]["finished"] > 10
    (twin,) = record["data"]
    assert twin["name"] == "arm_twin" and twin["files"] and twin["synthetic"]
    assert record["seeds"]["arm.twin.seed"] == 20210531


def verify(folder, *arguments):
    """The command, without a sandbox where none starts; its lines of results by file."""
    without = ["--unsandboxed"] if "--recompute" in arguments and why_not(folder) else []
    done = python(folder, "contactid.review.verify", *map(str, arguments), *without)
    assert "Traceback" not in done.stderr, done.stderr
    rows = [line.split("|")[1:] for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    return done, {row[0].strip().removesuffix(" *"): row[3].strip() for row in rows}


def test_looking_at_an_honest_bundle_finds_nothing(finished, archive, unpacked, tmp_path):
    here, _ = verify(finished, archive.name)
    assert here.returncode == 0 and not here.stderr, here.stdout + here.stderr
    rows = len(pd.read_csv(unpacked / "results/small/checks.csv"))
    assert f"{rows} of {rows} in checks.csv follow" in here.stdout
    assert "files are those of commit" in here.stdout and "nothing was executed" in here.stdout
    alone, _ = verify(unpacked)
    assert alone.returncode == 0 and "Looked only" in alone.stdout, alone.stderr
    asked, _ = verify(unpacked, "--recompute", 1)
    assert asked.returncode == 1 and "WARNING Looked only" in asked.stdout


def test_all_of_an_honest_bundle_is_made_again_without_a_difference(finished, archive):
    before = {
        path: path.stat().st_mtime_ns for path in finished.rglob("*") if ".git" not in path.parts
    }
    done, verdicts = verify(finished, archive.name, "--recompute", 100_000, "--longest", 100_000)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(verdicts) > 30 and set(verdicts.values()) <= {"identical", "agrees"}
    assert "data/arm_twin/card.json" in verdicts and "without a record" not in done.stdout
    assert "Arithmetic: the run's." in done.stdout
    assert "Report: set again from the bundle's files, identical" in done.stdout
    drawn, of_all = re.search(r"Sample: (\d+) of (\d+) files", done.stdout).groups()
    shown = int(re.search(r"Figures and typeset tables: (\d+) files", done.stdout)[1])
    in_all = len(verdicts) + shown
    assert drawn == of_all and shown > 30 and f"{in_all} of {in_all} files agree" in done.stdout
    after = {
        path: path.stat().st_mtime_ns for path in finished.rglob("*") if ".git" not in path.parts
    }
    assert {path for path in before | after if before.get(path) != after.get(path)} <= {
        path for path in after if "__pycache__" in path.parts
    }


def test_the_same_run_gives_the_same_bytes(finished, archive):
    before = archive.read_bytes()
    assert python(finished, "contactid.review.bundle", "--run", "small").returncode == 0
    assert archive.read_bytes() == before


def test_a_bundle_has_what_a_reviewer_needs(archive):
    with zipfile.ZipFile(archive) as opened:
        names = set(opened.namelist())
        text = opened.read("README.txt").decode()
    results = {
        f"results/small/{name}"
        for name in ("checks.csv", "summary.md", "provenance.json", "arm/fits/fits.csv")
    }
    assert {
        "README.txt",
        NAME,
        "ro-crate-metadata.json",
        "Snakefile",
        "envs/requirements.lock",
    } <= names
    assert {name for name in results if "fits" not in name} <= names
    assert len(text.splitlines()) <= 12 and "sha256sum --check" in text
    assert any(name.startswith(".snakemake/metadata/") for name in names)
    assert not any(name.startswith(("data/", ".git/")) for name in names)


def test_a_hostile_bundle_harms_nobody_and_its_changed_number_is_found(
    finished, unpacked, tmp_path
):
    """Its manifest and descriptions agree with it, so that looking finds the changed code alone."""
    table = "results/small/arm/tables/tab02_impact_map.csv"
    files = {
        path.relative_to(unpacked).as_posix(): path.read_bytes()
        for path in unpacked.rglob("*")
        if path.is_file()
    }
    lines = files[table].decode().splitlines()
    cells = lines[1].split(",")
    place = next(
        k
        for k, cell in reversed(list(enumerate(cells)))
        if cell.replace(".", "").lstrip("-").isdigit()
    )
    cells[place] = f"{float(cells[place]) + 0.01:.6g}"
    lines[1] = ",".join(cells)
    files[table] = ("\n".join(lines) + "\n").encode()
    canary = tmp_path / "canary/kept.txt"
    canary.parent.mkdir()
    canary.write_text("kept")
    write_hostile_code(files, canary.parent / "ran.txt")
    sealed(tmp_path / "hostile.zip", files)
    looked, _ = verify(finished, tmp_path / "hostile.zip")
    assert (
        looked.returncode == 0 and "WARNING 2 files of code aren't those of commit" in looked.stdout
    ), looked.stderr
    done, verdicts = verify(finished, tmp_path / "hostile.zip", "--recompute", 1000)
    assert done.returncode == 1, done.stdout
    assert [name for name, verdict in verdicts.items() if verdict == "differs"] == [
        "arm/tables/tab02_impact_map.csv"
    ]
    record = files[f"{FOLDER}/{path_of_record(table)}"]
    for output in (
        f"results/small/{'../' * 30}{str(canary.parent)[1:]}",
        "results/small/../../workflow",
    ):
        sealed(tmp_path / "traversal.zip", files | {f"{FOLDER}/{path_of_record(output)}": record})
        done, _ = verify(finished, tmp_path / "traversal.zip", "--recompute", 1000)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert "a record of a job" in done.stderr
    assert sorted(canary.parent.iterdir()) == [canary] and canary.read_text() == "kept"


def write_hostile_code(files, trace):
    """A rule and a planted bytecode file that leave a trace where they run."""
    source = f"open({str(trace)!r}, 'w').write('ran')\n"
    files["Snakefile"] += source.encode()
    code = importlib._bootstrap_external._code_to_hash_pyc(
        compile(source, "x", "exec"), b"0" * 8, checked=False
    )
    files[importlib.util.cache_from_source("workflow/contactid/__init__.py")] = bytes(code)


def forged(files, name, old, new):
    assert old in files[name]
    return files | {name: files[name].replace(old, new, 1)}


def test_what_people_look_at_is_made_again_and_a_changed_one_is_found(finished, unpacked, tmp_path):
    """A forger made manifest, descriptions and logs fit, so that looking finds nothing."""
    files = {
        path.relative_to(unpacked).as_posix(): path.read_bytes()
        for path in unpacked.rglob("*")
        if path.is_file()
    }
    figure = sorted(
        name
        for name in files
        if name.startswith("results/small/arm/figures/") and name.endswith(".svg")
    )[0]
    table = sorted(
        name
        for name in files
        if name.startswith("results/small/arm/tables/") and name.endswith(".tex")
    )[0]
    changed = forged(
        files, "results/small/report.html", b"</body>", b"<script>fetch('x')</script></body>"
    )
    changed = forged(changed, figure, b"stroke-width: 0.", b"stroke-width: 1.")
    changed = forged(changed, table, b"&", b"& 7")
    sealed(tmp_path / "forged.zip", changed)
    looked, _ = verify(finished, tmp_path / "forged.zip")
    assert looked.returncode == 0, looked.stderr
    done, verdicts = verify(finished, tmp_path / "forged.zip", "--recompute", 1)
    assert done.returncode == 1
    assert "Report: set again from the bundle's files, differs" in done.stdout
    differing = {
        f"results/small/{name}" for name, verdict in verdicts.items() if verdict == "differs"
    }
    assert differing == {figure, table}


def test_an_honest_bundle_made_again_by_another_arithmetic_agrees_and_says_so(
    finished, unpacked, tmp_path
):
    """Of one whose record says nothing, made again by other kernels of OpenBLAS than the run had."""
    record = "results/small/provenance.json"
    files = {
        path.relative_to(unpacked).as_posix(): path.read_bytes()
        for path in unpacked.rglob("*")
        if path.is_file()
    }
    made = json.loads(files[record])
    kernel = next(name for name in ("Nehalem", "Haswell") if name != made["arithmetic"]["blas"])
    files[record] = json.dumps(made | {"arithmetic": None}).encode()
    sealed(tmp_path / "silent.zip", files)
    os.environ["OPENBLAS_CORETYPE"] = kernel
    try:
        done, verdicts = verify(finished, tmp_path / "silent.zip", "--recompute", 12)
    finally:
        del os.environ["OPENBLAS_CORETYPE"]
    assert "NOT the run's, and it can't be kept here" in done.stdout
    assert f"is {kernel}" in done.stdout
    assert verdicts and "differs" not in verdicts.values(), done.stdout


def test_what_is_not_finished_or_not_committed_is_refused_in_a_line(finished, archive):
    def refused():
        done = python(finished, "contactid.review.bundle", "--run", "small")
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr

    assert (
        "results/other has no"
        in python(finished, "contactid.review.bundle", "--run", "other").stderr
    )
    notes = finished / "notes.txt"
    notes.write_text("x")
    try:
        assert "changes that aren't committed" in refused()
    finally:
        notes.unlink()
    table = finished / "results/small/arm/tables/tab01_parameters.csv"
    table = (
        table
        if table.exists()
        else next((finished / "results/small/arm/tables").glob("tab01*.csv"))
    )
    content = table.read_bytes()
    table.unlink()
    try:
        assert "unfinished" in refused()
    finally:
        table.write_bytes(content)


@pytest.mark.parametrize("where", ["bundle", "run"])
def test_it_is_a_workflow_run_crate(finished, unpacked, tmp_path, where):
    """By the validator, at the level that the profile requires, without a network."""
    validator = os.environ.get("CRATE_VALIDATOR")
    if not validator:
        pytest.skip("make test-bundle gives CRATE_VALIDATOR")
    validator = Path(validator).absolute()
    (tmp_path / "context.json").write_text(json.dumps({"@context": RO_CRATE["@context"] | TERMS}))
    cache = tmp_path / "cache"
    fill = [str(validator.with_name("python")), str(Path(__file__).with_name("fill_cache.py"))]
    assert run(tmp_path, *fill, str(cache), str(tmp_path / "context.json")).returncode == 0
    crate = unpacked if where == "bundle" else finished / "results/small"
    # with the profiles that it extends, RO-Crate 1.1 among them
    options = (
        "--profile-identifier",
        "workflow-run-crate",
        "--offline",
        "--cache-path",
        str(cache),
        "--no-paging",
    )
    checked = run(tmp_path, str(validator), "--disable-color", "validate", *options, str(crate))
    assert checked.returncode == 0, checked.stdout + checked.stderr
