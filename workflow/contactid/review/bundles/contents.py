"""Which files a bundle of a run has: its results, the code, and Snakemake's records of the jobs.

Data that others published stay out unless their licence lets anyone pass them on; what was left out is told.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contactid.core.errors import ContactIdError
from contactid.run.job_records import FOLDER, path_of_record

FREE_LICENCES = {"CC0-1.0", "CC-BY-4.0", "BSD-2-Clause", "BSD-3-Clause", "MIT", "Apache-2.0"}
_EVERY_DATASET = {"card.json", "card.svg", "card.png"}


def code_files(root: Path) -> dict[str, Path]:
    """Everything that git knows or would ask about, by path."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, capture_output=True, check=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        raise ContactIdError(f"{root} is not a git checkout", "Run make bundle where the run was made") from None
    names = sorted(name.decode() for name in listed.split(b"\0") if name)
    return {name: root / name for name in names if (root / name).is_file()}


def result_files(root: Path, results: str, record: Mapping[str, Any]) -> tuple[dict[str, Path], list[str]]:
    """Files of ``results/<run>`` by path, and the datasets of which no data are among them."""
    closed = {entry["name"] for entry in record["data"] if not _may_pass_on(entry)}
    # files as they were published or given are told by name and checksum only
    as_given = {entry["name"] for entry in record["data"] if entry["kind"] not in ("embedded", "generated")}
    found = {}
    for path in sorted((root / results).rglob("*")):
        parts = path.relative_to(root / results).parts
        if not path.is_file() or any(part.startswith(".") for part in parts):
            continue
        if parts[0] == "data" and len(parts) > 2:
            raw = parts[1] in as_given and parts[2] == "raw"
            if raw or (parts[1] in closed and parts[-1] not in _EVERY_DATASET):
                continue
        found[path.relative_to(root).as_posix()] = path
    return found, sorted(as_given | closed)


def _may_pass_on(entry: Mapping[str, Any]) -> bool:
    return bool(entry["synthetic"]) or entry["licence"] in FREE_LICENCES


def job_files(root: Path, results: Mapping[str, Path]) -> dict[str, Path]:
    """Snakemake's records of the jobs that made these files or their folders."""
    names = set(results) | {str(parent) for name in results for parent in Path(name).parents}
    records = {name: root / FOLDER / path_of_record(name) for name in sorted(names)}
    return {file.relative_to(root).as_posix(): file for file in records.values() if file.is_file()}
