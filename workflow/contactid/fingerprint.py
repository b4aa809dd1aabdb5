"""A fingerprint of the code a rule depends on: its script and every package module that it imports.

Snakemake notices an edit of a script but not of the package behind it, and reruns for a changed comment. The
fingerprint is taken of the syntax trees without docstrings, so a docstring or comment edit changes nothing and a code
edit changes exactly the rules whose scripts import the edited module, directly or not.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

_WORKFLOW = Path(__file__).resolve().parent.parent


def fingerprint(script: str | Path) -> str:
    """Sixteen hexadecimal digits for a script and the ``contactid`` modules it imports."""
    script = Path(script)
    digest = hashlib.sha256(_code_of(script).encode())
    for module in sorted(_reachable(script)):
        digest.update(module.relative_to(_WORKFLOW).as_posix().encode())
        digest.update(_code_of(module).encode())
    return digest.hexdigest()[:16]


def modules_of(script: str | Path) -> list[str]:
    """Names, relative to ``workflow/``, of the package modules that a script depends on."""
    return [module.relative_to(_WORKFLOW).as_posix() for module in sorted(_reachable(Path(script)))]


def _reachable(script: Path) -> set[Path]:
    found: set[Path] = set()
    waiting = [script]
    while waiting:
        for module in _imports(waiting.pop()):
            if module not in found:
                found.add(module)
                waiting.append(module)
    return found


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _code_of(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Files of the package modules that a file imports anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    files = []
    for name in sorted(name for name in names if name.split(".")[0] == "contactid"):
        base = _WORKFLOW.joinpath(*name.split("."))
        files += [file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()]
    return tuple(files)
