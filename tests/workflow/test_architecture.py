"""The house: where files are, and what may import what (docs/architecture.md)."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).parents[2] / "workflow"
STUDIES = ("arm", "inhand", "planar", "tossing")
# what each part may import besides itself
ALLOWED = {
    "core": set(),
    "output": {"core"},
    "sources": {"core", "output"},
    "run": {"core", "output", "sources"},
    "review": {"core", "output", "sources", "run"},
    **{study: {"core", "output", "sources"} for study in STUDIES},
}
# what runs in an environment with another simulator, where little else is installed
ELSEWHERE = ("contactid.tossing.peers.run",)


def modules():
    """File, and the package's modules that it imports, by dotted name."""
    files = {}
    for file in (WORKFLOW / "contactid").rglob("*.py"):
        parts = (
            (file.parent if file.name == "__init__.py" else file.with_suffix(""))
            .relative_to(WORKFLOW)
            .parts
        )
        files[".".join(parts)] = file
    found = {}
    for name, file in files.items():
        imported = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module
                and node.module.startswith("contactid")
            ):
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                imported |= full & set(files) or {node.module}
                imported |= {node.module} if full - set(files) else set()
        found[name] = file, imported & set(files)
    return found


MODULES = modules()


def test_no_module_lies_loose_at_the_top():
    assert {file.name for file in (WORKFLOW / "contactid").glob("*.py")} == {
        "__init__.py",
        "__main__.py",
    }
    assert {
        folder.name
        for folder in (WORKFLOW / "contactid").iterdir()
        if (folder / "__init__.py").exists()
    } == set(ALLOWED)


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_go_one_way(part):
    for name, (_, imported) in MODULES.items():
        if name.split(".")[1:2] == [part]:
            others = {other.split(".")[1] for other in imported if "." in other} - {part}
            assert others <= ALLOWED[part], f"{name} imports {others - ALLOWED[part]}"


def test_no_two_folders_import_each_other():
    between = defaultdict(list)
    for name, (file, imported) in MODULES.items():
        for other in imported:
            if MODULES[other][0].parent != file.parent:
                between[file.parent, MODULES[other][0].parent].append(f"{name} -> {other}")
    mutual = [arrows for (a, b), arrows in between.items() if (b, a) in between]
    assert not mutual, "\n".join(arrow for arrows in mutual for arrow in arrows)


def test_what_runs_elsewhere_imports_little():
    for start in ELSEWHERE:
        folder = MODULES[start][0].parent
        waiting, seen = [start], set()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting.extend(MODULES[name][1])
        apart = {name for name in seen if MODULES[name][0].parent != folder}
        assert apart <= {"contactid.core.errors"}, start
