"""Prose that can't lie: its numbers are cells of results, its sentences are tied to what must hold.

A study's prose, ``resources/articles/<study>.md`` or, of another run than the default one, in a
folder there, begins with a heading in YAML between lines of ``---``:

* ``runs``: the names of the runs that it is about;
* ``files``: short names of csv files, below the run's results, or of this repository where they
  begin with ``workflow/``;
* ``values``: by name a cell of such a file, as ``file | rows | column | format``
  (:mod:`contactid.output.cells`).

The text has headings (``#``, ``##``), paragraphs, items (``*``), and ``@show tab03 fig12``, which
places tables and figures. In it ``{name}`` is a value. Behind a sentence's end stands what it needs:
``{holds a > 2 * b}``, an expression of values, or ``{claim name = verdict}``, a sentence of the
paper and what came of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.cells import number_of, read_texts, written
from contactid.review.article import spans
from contactid.review.article.heading import read_parts

#: What the summary says, in this order: ReScience's and the ML Reproducibility Challenge's points.
SUMMARY = ("Scope", "Method", "Results", "What was easy", "What was hard", "Contact")
_SUMMARY_TITLE = "Summary"
# of blocks, by the mark that each begins with
_KINDS = {"## ": "subheading", "# ": "heading", "* ": "item", "@show ": "show"}
_REMEDY = "correct the sentence; a run with other settings can have another name (run: ...)"
_NEED = re.compile(r"\s*\{(holds|claim) ([^{}]*)\}")
_NEEDS = re.compile(rf"(?:{_NEED.pattern})+")
_VALUE = re.compile(r"\{(\w+)\}")
# a sentence ends before a word that begins one
_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z{*`(\"])")
# digits that are no results: code, references to the paper's parts, and names such as Box006
_NOT_RESULTS = re.compile(
    r"`[^`]*`|\{[^{}]*\}|\[\d+\]"
    r"|\b(?:[Ff]igures?|[Tt]ables?|[Ss]ections?|[Ee]quations?|[Ee]qs?\.) "
    r"[A-Z]?\d[\d.]*(?:(?:, | and | to | or )[A-Z]?\d[\d.]*)*"
    r"|\b[A-Za-z]+\d\w*"
)


@dataclass(frozen=True)
class Value:
    """A cell of a result: the file's short name, rows, column, and how it is written."""

    file: str
    rows: str
    column: str
    form: str

    def of(self, table: pd.DataFrame) -> float:
        """The number, times the factor that its format has."""
        factor = self.form.partition("*")[2]
        return number_of(table, self.rows, self.column) * float(factor or 1)

    def written(self, number: float) -> str:
        """The number as it stands in the text."""
        return spans.number(written(number, self.form.partition("*")[0]))


@dataclass(frozen=True)
class Sentence:
    """A sentence with its values' names in braces, and what it needs.

    Attributes
    ----------
    holds : expressions of values
    claims : sentences of the paper by name, with the verdict that each must have
    """

    text: str
    holds: tuple[str, ...] = ()
    claims: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Block:
    """A part of the text.

    Attributes
    ----------
    kind : ``heading``, ``subheading``, ``paragraph``, ``item``, or ``show`` of tables and figures
    sentences : of a heading its words, of ``show`` the names, one each
    """

    kind: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Prose:
    """A study's prose.

    Attributes
    ----------
    path : where it is written, for messages
    """

    path: str
    files: Mapping[str, str]
    values: Mapping[str, Value]
    blocks: tuple[Block, ...]


def read_prose(path: str | Path) -> Prose:
    """A study's prose, each sentence with what it needs.

    Raises
    ------
    ContactIdError
        where a number stands in the text, a sentence has a value and needs nothing, a value is
        unknown or used by no sentence, or the summary lacks a point
    """
    heading, text = read_parts(path)
    cells = {name: re.split(r"\s*\|\s*", cell) for name, cell in heading["values"].items()}
    for name, cell in cells.items():
        if len(cell) != 4 or cell[0] not in heading["files"]:
            problem = f"{path}: the value {name} isn't file | rows | column | format"
            raise ContactIdError(problem, "correct its line")
    values = {name: Value(*cell) for name, cell in cells.items()}
    # an empty line ends a block, and so does an item's mark
    parts = re.split(r"\n\s*\n|\n(?=\* )", text)
    blocks = tuple(_block(part.strip()) for part in parts if part.strip())
    prose = Prose(str(path), heading["files"], values, blocks)
    used: set[str] = set()
    for sentence in _sentences_of(blocks):
        _require_sound(prose, sentence)
        used |= _names(sentence)
    if unused := [name for name in values if name not in used]:
        raise ContactIdError(f"{path}: no sentence has the value {unused[0]}", "remove its line")
    subheadings = (block for block in _summary(blocks) if block.kind == "subheading")
    points = tuple(block.sentences[0].text for block in subheadings)
    if points != SUMMARY:
        raise ContactIdError(
            f"{path}: its summary has {', '.join(points) or 'no points'}",
            f"give it {', '.join(SUMMARY)}",
        )
    return prose


def _sentences_of(blocks: Sequence[Block]) -> list[Sentence]:
    """All sentences; what ``@show`` has are names."""
    return [sentence for block in blocks if block.kind != "show" for sentence in block.sentences]


def _block(text: str) -> Block:
    mark = next((mark for mark in _KINDS if text.startswith(mark)), "")
    words = text.removeprefix(mark).split()
    kind = _KINDS.get(mark, "paragraph")
    if kind == "show":
        return Block(kind, tuple(map(Sentence, words)))
    return Block(kind, tuple(_sentences(" ".join(words))))


def _sentences(text: str) -> list[Sentence]:
    """A text's sentences; what one needs stands behind its end."""
    texts: list[str] = []
    for piece in _END.split(text):
        needs = _NEEDS.match(piece)
        # the split puts what stands behind an end before the next sentence
        if needs and texts:
            texts[-1] += needs[0]
            piece = piece[needs.end() :].strip()
        if piece:
            texts.append(piece)
    return [_sentence(text) for text in texts]


def _sentence(text: str) -> Sentence:
    needs = _NEED.findall(text)
    claims = [need.split(" = ", 1) for kind, need in needs if kind == "claim"]
    return Sentence(
        text=_NEED.sub("", text).strip(),
        holds=tuple(need for kind, need in needs if kind == "holds"),
        claims=tuple((name, verdict) for name, verdict in claims),
    )


def _names(sentence: Sentence) -> set[str]:
    """The values that a sentence and what it needs have."""
    needed = (name for expression in sentence.holds for name in _names_in(expression))
    return {*_VALUE.findall(sentence.text), *needed}


def _names_in(expression: str) -> list[str]:
    """The values that an expression has, each once."""
    try:
        nodes = ast.walk(ast.parse(expression, mode="eval"))
    except SyntaxError as problem:
        raise ContactIdError(
            f"{{holds {expression}}} isn't an expression: {problem.msg}", "correct it"
        ) from problem
    names = (node.id for node in nodes if isinstance(node, ast.Name))
    # the one function that expressions may have
    return [name for name in dict.fromkeys(names) if name != "abs"]


def _require_sound(prose: Prose, sentence: Sentence) -> None:
    number = re.search(r"\S*\d\S*", _NOT_RESULTS.sub("", sentence.text))
    problem = ""
    if number:
        problem = f"has {number[0]}, which is no value"
    elif unknown := _names(sentence) - set(prose.values):
        problem = f"has {min(unknown)}, which is none of its values"
    elif _VALUE.search(sentence.text) and not (sentence.holds or sentence.claims):
        problem = "has a value, and nothing that must hold"
    if problem:
        raise ContactIdError(
            f'{prose.path}: "{sentence.text}" {problem}',
            "name the value, and put {holds ...} or {claim ...} behind the sentence",
        )


def _summary(blocks: Sequence[Block]) -> list[Block]:
    """The blocks below the heading of the summary."""
    below: list[Block] = []
    in_summary = False
    for block in blocks:
        if block.kind == "heading":
            # a second one of that name isn't looked for
            if in_summary:
                break
            in_summary = block.sentences[0].text == _SUMMARY_TITLE
        elif in_summary:
            below.append(block)
    return below


def parted(prose: Prose) -> tuple[list[Block], list[Block]]:
    """The summary's blocks, and those of the text."""
    summary = _summary(prose.blocks)
    # by what they are, not what they say: a paragraph may stand in both
    in_summary = {id(block) for block in summary}
    text = [block for block in prose.blocks if id(block) not in in_summary]
    return summary, [block for block in text if block.sentences[0].text != _SUMMARY_TITLE]


def read_values(prose: Prose, files: Mapping[str, str]) -> dict[str, float]:
    """The prose's values.

    Parameters
    ----------
    files : where each file is, by its short name

    Raises
    ------
    ContactIdError : where a value isn't one number of its file
    """
    tables: dict[str, pd.DataFrame] = {}
    values = {}
    for name, value in prose.values.items():
        if value.file not in tables:
            tables[value.file] = read_texts([Path(files[value.file])])
        try:
            values[name] = value.of(tables[value.file])
        except ValueError as problem:
            raise ContactIdError(
                f"{prose.path}: {name}: {prose.files[value.file]}: {problem}", "correct its line"
            ) from problem
    return values


def require_true(prose: Prose, values: Mapping[str, float], verdicts: Mapping[str, str]) -> None:
    """Hold every sentence against the results.

    Parameters
    ----------
    values : of :func:`read_values`
    verdicts : what came of the paper's sentences, by their names

    Raises
    ------
    ContactIdError : names the first sentence that doesn't hold, what it needs, and what is so
    """
    for sentence in _sentences_of(prose.blocks):
        problem = _problem_of(sentence, values, verdicts)
        if problem:
            text = filled(prose, sentence.text, values)
            raise ContactIdError(f'{prose.path}: "{text}" {problem}', _REMEDY)


def _problem_of(
    sentence: Sentence, values: Mapping[str, float], verdicts: Mapping[str, str]
) -> str:
    """What a sentence needs, and what is so; nothing where it holds."""
    for expression in sentence.holds:
        if not _holds(expression, values):
            names = _names_in(expression)
            actual = ", ".join(f"{name} is {values[name]:.6g}" for name in names)
            return f"needs {expression}, but {actual}"
    for name, verdict in sentence.claims:
        if verdicts.get(name) != verdict:
            actual = verdicts.get(name, "no claim")
            return f"needs {name} to be {verdict}, and it is {actual}"
    return ""


def _holds(expression: str, values: Mapping[str, float]) -> bool:
    # pandas' expressions can call nothing, whatever a prose says
    answer: Any = pd.DataFrame([dict(values)]).eval(expression, engine="python")
    return bool(answer.iloc[0])


def filled(prose: Prose, text: str, values: Mapping[str, float]) -> str:
    """A sentence with its values written."""

    def written_value(match: re.Match[str]) -> str:
        name = match[1]
        return prose.values[name].written(values[name])

    return _VALUE.sub(written_value, text)
