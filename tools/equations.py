"""Write docs/equations.md: every numbered equation of the four papers, with what cites it or why
nothing does.

A docstring cites "eq. 16", "eqs. 16 and 18", "eqs. 7 to 11" of its study's paper, by the folder of
its file, or of one named beside it: "eq. 18 (tossing)", "eqs. 35 and 36, in-hand paper", "eq. 7 of
the arm paper". In a file outside of the studies a bare number is of the one paper that the file's
docstrings name.
"""

from __future__ import annotations

import ast
import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
EQUATIONS = ROOT / "workflow/resources/equations.csv"
PAGE = ROOT / "docs/equations.md"
TITLES = {
    "tossing": "Tossing: Jongeneel et al. 2023",
    "planar": "Planar: Gabiccini and Fusco",
    "arm": "Arm: Aouaj et al. 2021",
    "inhand": "In-hand: Sundaralingam and Hermans",
}
INTRODUCTION = """# The papers' equations, and where they are

Written by `make equations` from the package's docstrings and `workflow/resources/equations.csv`: edit those.
A place is `module:definition` in `contactid`, or a module where none of its definitions names the equation. Where there
is none, the row says why. The in-hand paper's formulas lost their symbols; the text around them says what they are.
[Conventions](conventions.md) has the papers' symbols beside our names."""

_NAME = "(tossing|planar|arm|in-hand)"
_CITATION = re.compile(
    rf"(?:{_NAME}(?: study's)? paper, )?"
    r"\b[Ee]q(?:\. (\d+)|s\. (\d+(?:(?:, and|,| and| to) \d+)*))(?:'s)?"
    rf"(?:,? \(?{_NAME}\)|(?: of the|,)? \(?{_NAME}(?: study's)? paper\b)?"
)

#: Study and number.
Equation = tuple[str, int]
#: What it says, and the reason why nothing has it.
Table = dict[Equation, tuple[str, str]]
#: module:definition, and its file relative to the package.
Places = dict[Equation, list[tuple[str, str]]]


def numbers(listed: str) -> list[int]:
    """Numbers of a list such as "7 to 11 and 16"."""
    listed_numbers: list[int] = []
    for last, single in re.findall(r"to (\d+)|(\d+)", listed):
        if single:
            listed_numbers.append(int(single))
        else:
            listed_numbers += range(listed_numbers[-1] + 1, int(last) + 1)
    return listed_numbers


def citations(text: str) -> list[Equation]:
    """Equations that a text cites, in its order; the study is empty where no paper is named beside
    the number.
    """
    cited = []
    # a citation may go over a line's end
    for match in _CITATION.finditer(" ".join(text.split())):
        before, one, several, after, of_paper = match.groups()
        study = (before or after or of_paper or "").replace("-", "")
        cited += [(study, number) for number in numbers(one or several)]
    return cited


def definitions(node: ast.AST, name: str = "") -> Iterator[tuple[str, str]]:
    """Name and docstrings of a module (""), its classes and functions (".name"), and what they hold
    (".name.name").
    """
    texts = []
    for statement in getattr(node, "body", []):
        # also those that stand below a constant
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            texts.append(str(statement.value.value))
    yield name, "\n".join(texts)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from definitions(child, f"{name}.{child.name}")


def cited_in(source: str, folder: str) -> dict[Equation, list[str]]:
    """Definitions of a module's text that cite an equation; of those inside one another the
    innermost alone.
    """
    cited = {name: citations(text) for name, text in definitions(ast.parse(source))}
    named = {paper for equations in cited.values() for paper, _ in equations if paper}
    own = folder if folder in TITLES else ""
    # a file outside of the studies
    if not own and len(named) == 1:
        own = named.pop()
    places: dict[Equation, list[str]] = {}
    for name, equations in cited.items():
        for equation in dict.fromkeys((paper or own, number) for paper, number in equations):
            places.setdefault(equation, []).append(name)
    innermost: dict[Equation, list[str]] = {}
    for equation, names in places.items():
        for name in names:
            if not any(other.startswith(f"{name}.") for other in names):
                innermost.setdefault(equation, []).append(name)
    return innermost


def all_places(package: Path = ROOT / "workflow/contactid") -> Places:
    """Everything in the package that cites an equation, in the order of the labels."""
    places: Places = {}
    for file in package.rglob("*.py"):
        inside = file.relative_to(package)
        module = ".".join(part for part in inside.with_suffix("").parts if part != "__init__")
        for equation, names in cited_in(file.read_text(encoding="utf-8"), inside.parts[0]).items():
            labels = [f"{module}:{name[1:]}".rstrip(":") for name in names]
            places.setdefault(equation, []).extend((label, inside.as_posix()) for label in labels)
    return {equation: sorted(labels) for equation, labels in places.items()}


def read_equations() -> Table:
    """The list of the papers' equations."""
    equations = {}
    with EQUATIONS.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            equation = (row["study"], int(row["equation"]))
            equations[equation] = (row["what"], row["reason"])
    return equations


def problems(equations: Table, places: Places) -> list[str]:
    """What is wrong: numbers that aren't in the list, equations with neither place nor reason, or
    with both.
    """
    wrong = []
    for study, number in sorted(set(places) - set(equations)):
        for label, _ in places[study, number]:
            wrong.append(f"{label} cites eq. {number} of {study or 'no paper'}")
    for (study, number), (_, reason) in equations.items():
        if bool(reason) == ((study, number) in places):
            remedy = "delete its reason" if reason else "no docstring names it"
            wrong.append(f"{study}, eq. {number}: {remedy}")
    return wrong


def page(equations: Table, places: Places) -> str:
    """The page's text."""
    lines = [INTRODUCTION]
    for study, title in TITLES.items():
        lines += ["", f"## {title}", "", "| Eq. | What it says | Where |", "|---|---|---|"]
        for (paper, number), (what, reason) in equations.items():
            if paper != study:
                continue
            links = []
            for label, file in places.get((paper, number), []):
                links.append(f"[{label}](../workflow/contactid/{file})")
            lines.append(f"| {number} | {what} | {'<br>'.join(links) or reason} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    table, cited = read_equations(), all_places()
    PAGE.write_text(page(table, cited), encoding="utf-8")
    sys.exit("\n".join(problems(table, cited)) or 0)
