"""A fingerprint of the code a rule depends on: its script and every package module that it imports.

Snakemake notices an edit of a script but not of the package behind it, and reruns for a changed comment. The
fingerprint is taken of the syntax trees without docstrings, so a docstring or comment edit changes nothing and a code
edit changes exactly the rules whose scripts import the edited module, directly or not.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError

_WORKFLOW = Path(__file__).resolve().parents[2]


class _Read(NamedTuple):
    """What one file says: a hash of its code, and the names that it imports anywhere in it."""

    code: str
    imports: tuple[str, ...]


class Fingerprints:
    """Fingerprints of scripts.

    Parameters
    ----------
    remembered
        A file that keeps what was read of every file under the hash of its content, since parsing 400 files takes
        seconds and every job of a cluster starts by it. A file that is damaged or can't be written costs time only.
    workflow
        The folder with the package.
    """

    def __init__(self, remembered: Path | None = None, workflow: Path = _WORKFLOW) -> None:
        self._workflow = workflow
        self._remembered = remembered
        self._known = _load(remembered)
        self._used: dict[str, _Read] = {}
        self._files: dict[Path, _Read] = {}
        # one walk instead of a question to the file system for every imported name
        self._modules = {_module_name(file.relative_to(workflow)): file for file in workflow.glob("contactid/**/*.py")}

    def all_of(self, scripts: Iterable[Path]) -> dict[str, str]:
        """Sixteen hexadecimal digits for each script and the ``contactid`` modules it imports, by the script's name."""
        taken = {script.stem: self._fingerprint(script) for script in scripts}
        if self._remembered is not None and self._used != self._known:
            with suppress(ContactIdError):
                write_text(self._remembered, json.dumps({_syntax(): self._used}))
        return taken

    def modules_of(self, script: Path) -> list[str]:
        """Names, relative to ``workflow/``, of the package modules that a script depends on."""
        return [module.relative_to(self._workflow).as_posix() for module in sorted(self._reachable(script))]

    def _fingerprint(self, script: Path) -> str:
        digest = hashlib.sha256(self._read(script).code.encode())
        for module in sorted(self._reachable(script)):
            digest.update(f"{module.relative_to(self._workflow).as_posix()} {self._read(module).code}".encode())
        return digest.hexdigest()[:16]

    def _reachable(self, script: Path) -> set[Path]:
        found: set[Path] = set()
        waiting = [script]
        while waiting:
            new = set(self._imported(waiting.pop())) - found
            found |= new
            waiting += new
        return found

    def _imported(self, path: Path) -> list[Path]:
        """Files of the package modules that a file imports."""
        return [self._modules[name] for name in self._read(path).imports if name in self._modules]

    def _read(self, path: Path) -> _Read:
        if path not in self._files:
            text = path.read_bytes()
            key = hashlib.sha256(text).hexdigest()
            self._files[path] = self._used[key] = self._known.get(key) or _parse(text)
        return self._files[path]


def _module_name(file: Path) -> str:
    return ".".join((file.parent if file.name == "__init__.py" else file.with_suffix("")).parts)


def _syntax() -> str:
    """Whose syntax trees: another Python writes them down in another way."""
    return f"{sys.implementation.cache_tag} 1"


def _load(remembered: Path | None) -> dict[str, _Read]:
    if remembered is not None:
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            kept = json.loads(remembered.read_text(encoding="utf-8"))[_syntax()]
            return {key: _Read(code, tuple(imports)) for key, (code, imports) in kept.items()}
    return {}


def _parse(text: bytes) -> _Read:
    tree = ast.parse(text)
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = _without_docstring(node.body)
    ours = tuple(sorted(name for name in names if name.split(".")[0] == "contactid"))
    return _Read(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), ours)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:] or [ast.Pass()]
    return body
