"""Fingerprints of what a function reaches in the package: an edit reruns what it concerns alone.

Snakemake notices neither an edit of the package behind a rule nor that an edit was of words alone.
A fingerprint is taken of definitions: the function that a rule calls, every function, class and
constant of the package that its text names, what these name in turn, and so on. Of each it takes
the syntax tree without docstrings. The rules that keep this sound are few, and tested
(tests/workflow/test_fingerprints.py): modules hold definitions alone; what is called by a name in a
text is written ``"contactid.module:function"``, and such a text counts as a reference.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError

WORKFLOW = Path(__file__).resolve().parents[2]
PACKAGE = "contactid"
#: Where a run keeps what is behind its fingerprints.
LISTS = Path(".snakemake/contactid_code")
#: What a module's statements that define nothing are called; there should be none.
LOOSE = "<statements>"
_REFERENCE = re.compile(rf"{PACKAGE}(\.\w+)+(:\w+)?")


class Definition(NamedTuple):
    """A definition at a module's top level: a hash of its code, and the dotted names in it."""

    code: str
    names: tuple[str, ...]


class Module(NamedTuple):
    """A file of the package: its definitions by name, and what its imported names stand for."""

    definitions: Mapping[str, Definition]
    imports: Mapping[str, str]


class Fingerprints:
    """Fingerprints of the package's functions.

    Parameters
    ----------
    remembered
        A file that keeps what was read of every file under the hash of its content, since parsing
        them takes seconds and every job of a cluster starts by it. A file that is damaged or can't
        be written costs time only.
    lists : a folder that keeps what is behind every fingerprint, for :mod:`contactid.run.why`
    always : functions that are in every fingerprint: what calls the others
    workflow : the folder with the package
    """

    def __init__(
        self,
        remembered: Path | None = None,
        lists: Path | None = None,
        always: tuple[str, ...] = (),
        workflow: Path = WORKFLOW,
    ) -> None:
        self._workflow = workflow
        self._remembered = remembered
        self._lists = lists
        self._always = always
        self._cached = _load(remembered)
        self._used: dict[str, Module] = {}
        self._resolved: dict[tuple[str, str], frozenset[tuple[str, str]]] = {}

    @cached_property
    def modules(self) -> Mapping[str, Module]:
        """All modules of the package by their dotted names."""
        modules = {}
        for file in sorted(self._workflow.glob(f"{PACKAGE}/**/*.py")):
            text = file.read_bytes()
            parts = file.relative_to(self._workflow).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            key = hashlib.sha256(text).hexdigest()
            self._used[key] = modules[name] = self._cached.get(key) or parse(text)
        # what is written holds the files of now alone, so it doesn't grow with every edit
        if self._remembered is not None and self._used != self._cached:
            with suppress(ContactIdError):
                write_text(self._remembered, json.dumps({_syntax(): self._used}))
        return modules

    def of(self, *references: str) -> str:
        """Sixteen hexadecimal digits for functions, each named ``"contactid.module:function"``."""
        reached = self.reached(*self._always, *references)
        # sorted: the order in which definitions are reached is no part of what they do
        listed = json.dumps(dict(sorted(reached.items())), indent=0)
        fingerprint = hashlib.sha256(listed.encode()).hexdigest()[:16]
        if self._lists is not None and not (self._lists / f"{fingerprint}.json").exists():
            with suppress(ContactIdError):
                write_text(self._lists / f"{fingerprint}.json", listed)
        return fingerprint

    def reached(self, *references: str) -> dict[str, str]:
        """Hashes of all definitions that functions reach, by ``"contactid.module:name"``.

        Raises :class:`ContactIdError` where a reference names nothing in the package.
        """
        # a dictionary without values: a set that keeps its order
        reached: dict[tuple[str, str], None] = {}
        waiting = []
        for reference in references:
            module, _, name = reference.partition(":")
            if module not in self.modules or name not in self.modules[module].definitions:
                problem = f"{reference} names nothing in the package"
                raise ContactIdError(problem, "Correct the name")
            waiting.append((module, name))
        while waiting:
            definition = waiting.pop()
            if definition not in reached:
                reached[definition] = None
                waiting.extend(self._named_in(definition))
        codes = {}
        for module, name in reached:
            codes[f"{module}:{name}"] = self.modules[module].definitions[name].code
        return codes

    def _named_in(self, definition: tuple[str, str]) -> frozenset[tuple[str, str]]:
        """The definitions that one definition names."""
        if definition not in self._resolved:
            module, name = definition
            named: set[tuple[str, str]] = set()
            for dotted in self.modules[module].definitions[name].names:
                named |= self._resolve(module, dotted)
            # whatever a module does as it is imported may change what its functions do
            if LOOSE in self.modules[module].definitions:
                named.add((module, LOOSE))
            self._resolved[definition] = frozenset(named)
        return self._resolved[definition]

    def _resolve(self, module: str, dotted: str) -> set[tuple[str, str]]:
        """What a dotted name stands for; nothing for local variables and other libraries."""
        if ":" in dotted:
            return self._global(dotted.replace(":", "."))
        first, _, rest = dotted.partition(".")
        # a local variable of the same name counts too: once too often reruns a job, never too few
        if first in self.modules[module].definitions:
            return {(module, first)}
        target = self.modules[module].imports.get(first, first if first == PACKAGE else "")
        return self._global(f"{target}.{rest}" if rest else target)

    def _global(self, dotted: str) -> set[tuple[str, str]]:
        """Definitions behind a full dotted name; all of a module that is named as a whole."""
        # the longest beginning that is a module; what follows is a name in it and its attributes
        module, attributes = dotted, [""]
        while module and module not in self.modules:
            module, _, last = module.rpartition(".")
            attributes.insert(0, last)
        if not module:
            return set()
        name = attributes[0]
        if name in self.modules[module].definitions or name in self.modules[module].imports:
            return self._resolve(module, ".".join(filter(None, attributes)))
        return {(module, name) for name in self.modules[module].definitions}


def parse(text: bytes) -> Module:
    """What a file of the package defines and imports, at its top level or inside a function."""
    tree = ast.parse(text)
    imports: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _ours(node.module or ""):
            for alias in node.names:
                imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            # without another name, an import is named in full where it is used
            for alias in node.names:
                if alias.asname and _ours(alias.name):
                    imports[alias.asname] = alias.name
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = _without_texts(node.body)
    parts: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in defined_by(statement):
            parts.setdefault(name, []).append(statement)
    return Module({name: _definition(statements) for name, statements in parts.items()}, imports)


def defined_by(statement: ast.stmt) -> list[str]:
    """The names that a statement at top level defines; :data:`LOOSE` where it does other things."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return []
        case ast.Assign(targets=targets) if all(map(_is_names, targets)):
            nodes = [node for target in targets for node in ast.walk(target)]
            return [node.id for node in nodes if isinstance(node, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        # what a module does as a command is in no job; imports for type checkers are no statements
        case (
            ast.If(test=ast.Compare(left=ast.Name(id="__name__")))
            | ast.If(test=ast.Name(id="TYPE_CHECKING"))
        ):
            return []
    return [LOOSE]


def _is_names(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(map(_is_names, target.elts))
    return isinstance(target, ast.Name)


def _definition(statements: Iterable[ast.stmt]) -> Definition:
    statements, names = list(statements), set()
    waiting: list[ast.AST] = [*statements]
    while waiting:
        node = waiting.pop()
        dotted = _dotted(node)
        text = node.value if isinstance(node, ast.Constant) else None
        if dotted:
            names.add(dotted)
        elif isinstance(text, str) and _REFERENCE.fullmatch(text):
            # a module alone stands for all of it
            names.add(text if ":" in text else f"{text}:")
        else:
            waiting.extend(ast.iter_child_nodes(node))
    code = "\n".join(_dumped(statement) for statement in statements)
    return Definition(hashlib.sha256(code.encode()).hexdigest()[:16], tuple(sorted(names)))


def _dumped(statement: ast.stmt) -> str:
    """A syntax tree as Python 3.11 writes it: stored results keep fingerprints, Pythons change."""
    shown = {"show_empty": True} if sys.version_info >= (3, 13) else {}
    return ast.dump(statement, **shown).replace(", type_params=[]", "")


def _dotted(node: ast.AST) -> str:
    """``a.b.c`` of a name and its attributes; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _ours(name: str) -> bool:
    return name.split(".")[0] == PACKAGE


def _syntax() -> str:
    """Whose syntax trees: another Python may write them down in another way."""
    return f"{sys.implementation.cache_tag} 3"


def _load(remembered: Path | None) -> dict[str, Module]:
    if remembered is not None:
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            content = json.loads(remembered.read_text(encoding="utf-8"))[_syntax()]
            modules = {}
            # JSON keeps no named tuples
            for key, (definitions, imports) in content.items():
                typed = {}
                for name, (code, names) in definitions.items():
                    typed[name] = Definition(code, tuple(names))
                modules[key] = Module(typed, imports)
            return modules
    return {}


def _without_texts(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without docstrings, those of attributes and constants included."""
    statements = []
    for node in body:
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            statements.append(node)
    return statements or [ast.Pass()]
