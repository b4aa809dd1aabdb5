"""The run's ``artefacts.json``: every declared table and figure, and its functions' texts."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from contactid.core.atomic import write_text
from contactid.output.artefacts import Artefact, artefact_files

ROOT = Path(__file__).resolve().parents[4]
# of what an artefact declares, what the report and the articles read
_LISTED = (
    *("kind", "name", "place", "title", "caption", "data", "datasets"),
    *("rule", "compute", "draw"),
)


def listed(study: str, artefacts: Iterable[Artefact]) -> list[dict[str, Any]]:
    """What the list says of a study's artefacts; ``files`` are relative to the run's folder."""
    rows = []
    for artefact in artefacts:
        row = {name: getattr(artefact, name) for name in _LISTED}
        rows.append({**row, "files": artefact_files([artefact], study)})
    return rows


def functions_of(studies: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Every function that is named there, once."""
    references: list[str] = []
    for rows in studies.values():
        for row in rows:
            references += filter(None, (row["compute"], row["draw"]))
    return list(dict.fromkeys(references))


def write_list(studies: Mapping[str, Sequence[Mapping[str, Any]]], artefacts: str) -> None:
    """Write the list: what is declared of each study (:func:`listed`), and the functions' texts."""
    content = {
        "studies": studies,
        "functions": {name: text_of(name) for name in functions_of(studies)},
    }
    write_text(artefacts, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def text_of(reference: str) -> dict[str, Any]:
    """Where a function ``"contactid.module:function"`` is, first and last line, and its text."""
    module, _, name = reference.partition(":")
    path = ROOT / "workflow" / Path(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = file.read_text(encoding="utf-8")
    node = next(
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
    )
    # a function's own line number is that below its decorators
    first = min(line.lineno for line in (node, *node.decorator_list))
    return {
        "module": module,
        "name": name,
        "file": file.relative_to(ROOT).as_posix(),
        "first": first,
        "last": node.end_lineno,
        "source": "\n".join(text.splitlines()[first - 1 : node.end_lineno]) + "\n",
    }
