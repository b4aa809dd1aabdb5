"""What the report says, as plain data: the collecting modules fill it, the templates set it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class Check:
    """A row of ``checks.csv``: one printed number.

    Attributes
    ----------
    number : its row in the file, from 1
    published, reproduced, tolerance : in ``unit``; ``reproduced`` is NaN where the run has no such number
    """

    number: int
    study: str
    artefact: str
    quantity: str
    condition: str
    published: float
    reproduced: float
    unit: str
    tolerance: float
    verdict: str
    note: str

    @property
    def deviation(self) -> float:
        """Reproduced less published."""
        return self.reproduced - self.published

    @property
    def relative(self) -> float:
        """Magnitude of the deviation over that of the published number; NaN where either has none."""
        if self.published == 0.0 or not math.isfinite(self.published):
            return math.nan
        return abs(self.deviation / self.published)

    @property
    def in_tolerances(self) -> float:
        """Magnitude of the deviation over the tolerance; infinite where only an exact number agrees and ours isn't."""
        if self.tolerance > 0.0:
            return abs(self.deviation) / self.tolerance
        return math.nan if math.isnan(self.deviation) else 0.0 if self.deviation == 0.0 else math.inf


@dataclass(frozen=True)
class Digest:
    """What the checks of an artefact or a study say together.

    Attributes
    ----------
    answer : in a few words, whether the printed numbers are reproduced
    sentences : how many, how far off
    reasons : why numbers can't be compared, with how many have that reason, most frequent first
    counts : of every verdict
    """

    answer: str
    sentences: tuple[str, ...]
    reasons: tuple[tuple[str, int], ...]
    counts: dict[str, int]


@dataclass(frozen=True)
class Step:
    """The jobs of one rule that a file depends on."""

    rule: str
    jobs: int
    seconds: float


@dataclass(frozen=True)
class Making:
    """How a file was made, by Snakemake's records.

    Attributes
    ----------
    rule, seconds, log : of the job that wrote the file; the log's path is relative to the run's folder
    steps : rules of all jobs behind it, its own first
    datasets : names of the run's datasets behind it
    sources : files that no job of the run made
    """

    rule: str
    seconds: float
    log: str | None
    steps: tuple[Step, ...]
    datasets: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Artefact:
    """A table, a figure, or both under one name, and the printed numbers that belong to it.

    Attributes
    ----------
    key : ``tab03``, ``fig12``, ``ext_sobol`` or ``text``
    label : as the paper calls it, for instance ``Table III``
    about : what the table and the figure show, a sentence each
    table : the csv as it was read, None for a figure alone
    table_path : the table's, or that of the study's checks where there is neither table nor figure
    figure_path, data_path : the drawing and its data; all paths are relative to the run's folder
    figure_source : what the figure says it was made from
    functions : those that compute and draw it: what they do, and :func:`contactid.review.report.artefacts.text_of`
    """

    study: str
    name: str
    key: str
    label: str
    title: str
    about: tuple[str, ...] = ()
    table: pd.DataFrame | None = None
    table_path: str | None = None
    table_making: Making | None = None
    figure: Path | None = None
    figure_path: str | None = None
    data_path: str | None = None
    figure_source: str = ""
    figure_making: Making | None = None
    functions: tuple[dict[str, Any], ...] = ()
    checks: tuple[Check, ...] = ()
    digest: Digest | None = None

    @property
    def id(self) -> str:
        """Its address within the page."""
        return f"{self.study}-{self.key}"

    @property
    def makings(self) -> list[tuple[str, Making]]:
        """What is known about the making of its table and its figure."""
        both = (("Table", self.table_making), ("Figure", self.figure_making))
        return [(kind, making) for kind, making in both if making is not None]

    @property
    def datasets(self) -> list[str]:
        """The datasets behind its table and its figure."""
        return sorted({name for _, making in self.makings for name in making.datasets})


@dataclass(frozen=True)
class Study:
    """One study of the run.

    Attributes
    ----------
    solve_groups, solves : as :mod:`contactid.review.report.solves` has them, of the solves those that are listed
    settings : its block of the configuration
    """

    name: str
    title: str
    paper: str
    artefacts: tuple[Artefact, ...]
    digest: Digest
    solve_groups: list[dict[Any, Any]]
    solves: list[dict[Any, Any]]
    solves_in_all: int
    settings: Any


@dataclass(frozen=True)
class Card:
    """A dataset's card and the drawing of its raw signals."""

    content: dict[str, Any]
    headline: str
    figure: Path | None
    path: str


@dataclass(frozen=True)
class Report:
    """All that the page shows of a run.

    Attributes
    ----------
    playback : the data of its players, ``box`` and ``planar``
    rules, jobs : what they took (:func:`contactid.review.report.collect.read_runtimes`)
    """

    run: str
    studies: tuple[Study, ...]
    cards: tuple[Card, ...]
    playback: dict[str, Path]
    rules: list[dict[Any, Any]]
    jobs: list[dict[Any, Any]]
    provenance: dict[str, Any]
    checks: tuple[Check, ...]
    shared_settings: dict[str, Any]
