"""What the jobs of a recorded run executed and opened, against their fingerprints and declared
files.
"""

import ast
import json
from pathlib import Path

from contactid.run.fingerprint import LISTS, defined_by

# of these no byte of a result depends: they say and keep, but don't write results
EXEMPT = (
    "contactid.run.job",
    "contactid.run.story",
    "contactid.run.run_lock",
    "contactid.run.failures",
)

# these tell of the run itself, by its logs and records
OF_THE_RUN = ("provenance", "report", "crate")


def unfounded(folder):
    """Lines: a job, and a function that it executed outside its fingerprint or a file that it read
    undeclared.
    """
    lines = []
    for file in sorted((folder / "recorded").glob("*.json")):
        record = json.loads(file.read_text())
        reached = json.loads((folder / LISTS / f"{record['code']}.json").read_text())
        for name in sorted({_definition(folder, *place) for place in record["executed"]}):
            if name not in reached and name.partition(":")[0] not in EXEMPT:
                lines.append(f"{file.stem} executes {name}")
        if record["rule"] not in OF_THE_RUN:
            lines += [
                f"{file.stem} reads {path}"
                for path in record["opened"]
                if not _declared(path, record["files"])
            ]
    return lines


def _definition(folder, path, line, known={}):  # noqa: B006 - a memory
    """``contactid.module:name`` of the definition at a line."""
    if path not in known:
        known[path] = [
            (_first_line(node), node.end_lineno, name)
            for node in ast.parse((folder / path).read_text()).body
            for name in defined_by(node)
        ]
    module = ".".join(Path(path).relative_to("workflow").with_suffix("").parts).removesuffix(
        ".__init__"
    )
    return f"{module}:{next(name for first, last, name in known[path] if first <= line <= last)}"


def _first_line(node):
    return min(
        [node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))]
    )


def _declared(path, files):
    if path == "envs/requirements.lock":
        return True  # the job writes its checksum into the log
    if (
        path.endswith((".py", ".pyc"))
        or path.startswith((".snakemake/", "recorded/", "recorded_code/"))
        or "/__pycache__/" in path
    ):
        return True  # code; Snakemake's own; compiled code
    return any(path == file or path.startswith(f"{file}/") for file in files)
