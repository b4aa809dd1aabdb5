"""What a job's log says, and whether a result was changed since its job wrote it.

A log names the job's inputs and outputs with their checksums, and its settings. Before a run
starts, and when it is checked, reported or bundled, every output that a log names is held against
its checksum (:func:`changed`), however old it says it is.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from contactid.core.errors import ContactIdError

# inputs that are named one by one: a table's job can have hundreds
_MOST = 12
# characters of a setting: a list of all recordings says nothing in a log
_LONGEST = 300
# the first line of a log has two of them, and a declaration is a caption's text
_NOT_SETTINGS = ("call", "code", "declared")
_WROTE = re.compile(r"^Wrote (.+): (?:.*, )?(\d+) bytes, sha256 ([0-9a-f]{64})$", re.MULTILINE)
_OF_A_FIT = ("status", "converged", "objective", "iterations", "seconds")


def tell_begin(inputs: Iterable[str], params: Mapping[str, Any]) -> None:
    """Print the function that a job calls, its settings, and its inputs with size and checksum."""
    print(f"Calls {params['call']}, of code {params['code']}")
    for name, value in params.items():
        if name not in _NOT_SETTINGS:
            text = json.dumps(value, default=str, ensure_ascii=False)
            if len(text) > _LONGEST:
                text = f"{text[:_LONGEST]}..."
            print(f"With {name}: {text}")
    # an input that two names stand for is named once
    files = list(dict.fromkeys(map(str, inputs)))
    for file in _files(files[:_MOST]):
        print(f"Reads {file}: {file.stat().st_size} bytes, sha256 {_digest(file)}")
    if len(files) > _MOST:
        print(f"Reads {len(files) - _MOST} files more")
    print(flush=True)


def tell_end(outputs: Iterable[str]) -> None:
    """Print a job's outputs with what is in them, size and checksum."""
    print()
    for file in _files(outputs):
        print(f"Wrote {file}: {_content(file)}{file.stat().st_size} bytes, sha256 {_digest(file)}")
    print(flush=True)


def changed(results: str | Path) -> list[tuple[str, str]]:
    """Every output that is there and isn't what its job wrote, with the job's rule."""
    folder = Path(results)
    logs = list((folder / "logs").rglob("*.log"))
    # of a rule that an update renamed the old log is still there: the newest one counts
    logs.sort(key=lambda log: log.stat().st_mtime_ns)
    records: dict[str, tuple[int, str, str]] = {}
    for log in logs:
        rule = log.relative_to(folder / "logs").with_suffix("").parts[0]
        for name, size, digest in written(log.read_text(encoding="utf-8", errors="replace")):
            records[name] = size, digest, rule
    changes = []
    for name, (size, digest, rule) in sorted(records.items()):
        file = folder / name
        # the size first: a checksum reads the whole file
        if file.is_file() and (file.stat().st_size != size or _digest(file) != digest):
            changes.append((str(file), rule))
    return changes


def written(log: str) -> list[tuple[str, int, str]]:
    """The outputs that a log names: path relative to the run's folder, bytes, SHA-256."""
    lines = []
    for name, size, digest in _WROTE.findall(log):
        # wherever the run was made
        within = re.sub(r"^(.*?/)??results/[^/]+/", "", name)
        lines.append((within, int(size), digest))
    return lines


def forced(command: Iterable[str]) -> set[str]:
    """The rules and files that a Snakemake command makes again whatever they are (-R, --forcerun)."""
    names = set()
    # an option takes all words up to the next one
    is_taking = False
    for word in command:
        if word.startswith("-"):
            is_taking = word in ("-R", "--forcerun")
        elif is_taking:
            names.add(word)
    return names


def refuse_changed(results: str | Path, remade: Collection[str] = ()) -> None:
    """Stop where an output isn't what its job wrote, unless it is or its rule is ``remade`` anyway.

    Raises
    ------
    ContactIdError : names the first such file, and both remedies
    """
    wrong = [(file, rule) for file, rule in changed(results) if not {file, rule} & set(remade)]
    if wrong:
        file, rule = wrong[0]
        more = f", and {len(wrong) - 1} files more" if len(wrong) > 1 else ""
        raise ContactIdError(
            f"{file} isn't what its job wrote{more}",
            f"Restore it, or make it again: snakemake -R {rule}, with the run's own --configfile",
        )


def refuse_damaged(folder: str | Path) -> None:
    """Stop where a file isn't what a ``SHA256SUMS`` beside it says, anywhere below a folder.

    Raises
    ------
    ContactIdError : names the first such file, and the remedy
    """
    for sums in sorted(Path(folder).rglob("SHA256SUMS")):
        for line in sums.read_text(encoding="utf-8").splitlines():
            digest, name = line.split(maxsplit=1)
            file = sums.with_name(name)
            if not file.is_file() or _digest(file) != digest:
                raise ContactIdError(
                    f"{file} isn't the file that {sums} names", f"Restore it: git checkout {file}"
                )


def _files(paths: Iterable[str]) -> list[Path]:
    """Files, and those in folders, without hidden ones, which aren't results."""
    files: list[Path] = []
    for path in map(Path, paths):
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        files += [file for file in below if file.is_file() and not file.name.startswith(".")]
    return files


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _content(file: Path) -> str:
    """Of a table its rows, and how many converged; of a fit how its solve ended."""
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        ends = [row["converged"] for row in rows if "converged" in row]
        if not ends:
            return f"{len(rows)} rows, "
        n_converged = sum(end in ("True", "1", "yes") for end in ends)
        return f"{len(rows)} rows, {n_converged} converged, "
    if file.suffix == ".json":
        content = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(content, dict) and "converged" in content:
            return "".join(f"{name} {content[name]}, " for name in _OF_A_FIT if name in content)
    return ""
