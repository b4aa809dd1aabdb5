"""What every rule, file and figure of this repository keeps to."""

import ast
import hashlib
import importlib
import itertools
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from contactid import __version__
from contactid.run.fingerprint import Fingerprints
from contactid.run.progress import first_clause

ROOT = Path(__file__).parents[2]
RULE_FILES = sorted((ROOT / "workflow/rules").glob("*.smk"))
# rules that compute nothing
TARGETS = {"all", "data"}


def rules():
    """Name and text of every rule; of those made in a loop, the pattern of their names."""
    found = {}
    for file in [ROOT / "Snakefile", *RULE_FILES]:
        for block in re.split(r"^(?= *rule(?: \w+)?:$)", file.read_text(), flags=re.M)[1:]:
            indent = len(block) - len(block.lstrip(" "))
            lines = [line[indent:] for line in block.splitlines()]
            body = list(
                itertools.takewhile(lambda line: not line or line.startswith(" "), lines[1:])
            )
            text = "\n".join(body)
            name = re.match(r"rule (\w+):", lines[0]) or re.search(r'name:\n +f"([^"]+)"', text)
            found[name.group(1)] = text
    return found


RULES = rules()


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("name", sorted(set(RULES) - TARGETS))
def test_every_rule_is_documented_logged_measured_and_tied_to_its_code(name):
    text = RULES[name]
    assert re.search(r'^ +"""[A-Z].*\.', text, re.M), "a docstring"
    for directive in ("output", "params", "log", "benchmark", "resources", "conda", "script"):
        assert re.search(rf"^\s+{directive}:", text, re.M), f"no {directive}"
    assert '"../call.py"' in text, "the script of all rules"
    assert re.search(r"\*\*(call|compute|draw|judged)\(|call=.*(\n.*)*code=", text), (
        "its function and fingerprint"
    )
    assert "threads:" not in text, "one thread is the default"
    for directive in ("input", "output"):
        for match in re.finditer(rf"^    {directive}:\n((?:        .*\n)+)", text + "\n", re.M):
            assert re.match(r"\s+(\w+=|\*\*)", match.group(1)), f"named {directive}"


@pytest.mark.parametrize("name", sorted(RULES))
def test_what_a_job_does_is_a_short_line(name):
    docstring = re.search(r'"""(.*?)"""', RULES[name], re.DOTALL)
    assert docstring is not None and not first_clause(docstring[1]).endswith("...")


def test_the_script_of_all_rules_only_calls():
    """It is in no fingerprint, so nothing may be decided in it."""
    body = ast.parse((ROOT / "workflow/call.py").read_text()).body
    assert len(body) == 8, (
        "docstring, the package's place (3), import, Snakemake's object, the call within the job, leave"
    )


def test_no_file_of_ours_is_too_long():
    for folder, most in {"workflow": 510, "tests": 550}.items():
        for file in (ROOT / folder).rglob("*.py"):
            assert len(file.read_text().splitlines()) <= most, file
    for file in RULE_FILES:
        assert len(file.read_text().splitlines()) <= 600, (
            file
        )  # a study is one file, read from top to bottom


def test_common_rules_stay_small():
    assert len((ROOT / "workflow/rules/common.smk").read_text().splitlines()) < 120


def test_the_package_knows_no_snakemake():
    for file in (ROOT / "workflow/contactid").rglob("*.py"):
        names = {
            node.id for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Name)
        }
        assert "snakemake" not in names, file


def locked(name):
    """Versions of a lock file's packages."""
    return dict(
        re.findall(
            r"^([A-Za-z0-9_.-]+)==([^ ;\\]+)", (ROOT / f"envs/{name}.lock").read_text(), re.M
        )
    )


def asked_for(name):
    lines = (ROOT / f"envs/{name}.in").read_text().lower().splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def test_conda_and_pip_install_the_same_versions():
    lock, direct = locked("requirements"), asked_for("requirements")
    environment = yaml.safe_load((ROOT / "envs/environment.yaml").read_text())["dependencies"]
    conda = dict(item.split("=") for item in environment if "=" in item and ">" not in item)
    of_pip = {"snakemake-minimal": "snakemake", "pinocchio": "pin", "typst-py": "typst"}
    conda = {of_pip.get(name, name): version for name, version in conda.items()}
    pip = {name.lower(): ".".join(version.split(".")[:2]) for name, version in lock.items()}
    assert conda == {name: pip[name] for name in direct}
    assert "ipopt" in environment


def test_a_run_needs_no_development_tool_and_both_locks_have_the_same_versions():
    run, development = locked("requirements"), locked("development")
    assert not asked_for("development") & {name.lower() for name in run}
    assert len(run.keys() & development.keys()) > 3
    assert {name: run[name] for name in run.keys() & development.keys()} == {
        name: development[name] for name in run.keys() & development
    }


@pytest.mark.parametrize(
    "name",
    [
        "requirements",
        "development",
        "mujoco",
        "drake",
        "pybullet",
        "crate",
        "browser",
        "docs",
    ],
)
def test_locks_have_hashes_and_name_no_index(name):
    text = (ROOT / f"envs/{name}.lock").read_text()
    assert not re.search(r"https?://|--index|--extra-index|--find-links", text)
    for requirement in re.split(r"\n(?=\S)", text.strip()):
        if not requirement.startswith("#"):
            assert "--hash=sha256:" in requirement, requirement


def test_citation_and_changelog_have_the_version_of_the_package():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == __version__


def test_no_machine_path_is_committed():
    pattern = re.compile(r"(^|[\"' (=])/(work|farm|home|root|tmp)/")
    for file in tracked():
        if file.suffix in {
            ".py",
            ".smk",
            ".yaml",
            ".md",
            ".toml",
            ".tsv",
            ".csv",
            ".in",
            ".lock",
            "",
        }:
            for number, line in enumerate(
                file.read_text(encoding="utf-8", errors="ignore").splitlines(), 1
            ):
                assert not pattern.search(line) or "pattern = re.compile" in line, (
                    f"{file}:{number}"
                )


def test_the_readme_is_read_in_three_minutes():
    assert len((ROOT / "README.md").read_text().split()) <= 700


def test_links_between_the_pages_lead_somewhere():
    others = ("README.md", "CONTRIBUTING.md", "config/README.md", "results/README.md")
    for page in [*(ROOT / name for name in others), *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text()
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
            other = page.parent / target if target else page
            assert other.exists(), f"{page.name}: {target}"
            if anchor and other.suffix == ".md":
                titles = re.findall(r"^#+ (.*)$", other.read_text(), re.M)
                anchors = {
                    re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles
                }
                assert anchor in anchors, f"{page.name}: {target}#{anchor}"


def test_every_make_target_is_there_once_and_the_pages_name_no_other():
    listed = subprocess.run(
        ["make", "help", "help-dev"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert listed.stderr == "", "make warns of a target with two recipes"
    targets = set(re.findall(r"^  make (\S+)", listed.stdout, re.M))
    assert {"run", "test", "check", "bench"} <= targets
    others = (
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "config/README.md",
        "results/README.md",
    )
    for page in [*(ROOT / name for name in others), *sorted((ROOT / "docs").rglob("*.md"))]:
        named = set(re.findall(r"(?:`|^)make ([a-z0-9-]+)", page.read_text(encoding="utf-8"), re.M))
        assert named <= targets, f"{page.name}: {named - targets}"


def test_pages_name_no_table_or_figure_that_is_gone():
    sources = [*(ROOT / "workflow/contactid").rglob("*.py"), *(ROOT / "tools").glob("*.py")]
    declared = set(re.findall(r"ext_\w+", "".join(file.read_text() for file in sources)))
    pages = [ROOT / "README.md", ROOT / "config/README.md", ROOT / "results/README.md"]
    for page in [*pages, *sorted((ROOT / "docs").rglob("*.md"))]:
        named = set(re.findall(r"`(ext_\w+)`", page.read_text(encoding="utf-8")))
        gone = {name for name in named - declared if not name.startswith("ext_scene_")}
        assert not gone, f"{page.name}: {gone}"


def test_embedded_files_are_what_they_were():
    folder = ROOT / "workflow/resources/embedded"
    sums = dict(
        reversed(line.split(maxsplit=1))
        for line in (folder / "SHA256SUMS").read_text().splitlines()
    )
    assert {file.name for file in folder.glob("*.h5")} == set(sums)
    for name, digest in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def test_editing_the_simulator_changes_nothing_before_it_and_no_drawing():
    code = Fingerprints()
    for study, kernel, before in (
        (
            "tossing",
            "simulate.box_kernel:advance",
            ["prepare.preprocess:prepare", "identify.body:calibrate_dataset"],
        ),
        ("planar", "simulate.kernel:contact_impulse", ["checks:check"]),
    ):
        drawn = [row.draw for row in artefacts_of(study) if row.draw]
        for function in [*(f"contactid.{study}.{name}" for name in before), *drawn]:
            assert f"contactid.{study}.{kernel}" not in code.reached(function), function


def artefacts_of(study):
    block = yaml.safe_load((ROOT / "config/default.yaml").read_text())[study]
    return importlib.import_module(f"contactid.{study}.artefacts").declare(block)
