"""What the report says, as plain data: the collecting modules fill it, the templates set it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from contactid.output.grids import Grid


@dataclass(frozen=True)
class Digest:
    """What the checks of an artefact or a study say together.

    Attributes
    ----------
    counts : of every verdict, without rows that repeat an experiment
    sentences : what is furthest off, and how many rows repeat an experiment
    missing : verdict, what is missing in words, and of how many rows, most frequent first
    missing_datasets : the DOIs in it
    """

    counts: dict[str, int]
    sentences: tuple[str, ...]
    missing: tuple[tuple[str, str, int], ...]
    missing_datasets: tuple[str, ...]


class Input(NamedTuple):
    """A printed number that the run starts from: it is in its table's grid, and has no row."""

    quantity: str
    condition: str
    published: float
    tolerance: float
    unit: str
    reproduced: float = math.nan
    printed: str = ""
    ours: str = ""
    number: None = None


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and what came of it.

    Attributes
    ----------
    section : in words, for instance ``Section V-C2``
    evidence, rest : the verdict's first reason, and what else is said of it
    counts : how many rows behind it have which verdict, the weakest first
    rows : those of the checks that are behind it
    """

    study: str
    name: str
    section: str
    quote: str
    asks: str
    verdict: str
    evidence: str
    rest: str
    counts: dict[str, int]
    rows: tuple[Any, ...]

    @property
    def id(self) -> str:
        """Its address within the page."""
        return f"claim-{self.study}-{self.name}"


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
    table_making, data_making, figure_making : as ``making_of`` of
        :mod:`contactid.review.report.collect` has it
    datasets : the names of those that it and its numbers were made from
    functions : those that compute and draw it: what they do, and
        :func:`contactid.review.report.artefacts.text_of`
    checks : its rows, as :func:`contactid.review.report.digest.check_rows` has them
    said : what the paper says of it: ``text`` and ``where``, empty where that isn't written down
    grid, others : its rows in the paper's own rows and columns, and those that have no place there
    """

    study: str
    name: str
    key: str
    label: str
    title: str
    about: tuple[str, ...] = ()
    table: pd.DataFrame | None = None
    table_path: str | None = None
    table_making: dict[str, Any] | None = None
    figure: Path | None = None
    figure_path: str | None = None
    data_path: str | None = None
    figure_source: str = ""
    data_making: dict[str, Any] | None = None
    figure_making: dict[str, Any] | None = None
    datasets: tuple[str, ...] = ()
    functions: tuple[dict[str, Any], ...] = ()
    checks: tuple[Any, ...] = ()
    digest: Digest | None = None
    said: dict[str, str] = field(default_factory=dict)
    grid: Grid | None = None
    others: tuple[Any, ...] = ()

    @property
    def id(self) -> str:
        """Its address within the page."""
        return f"{self.study}-{self.key}"

    @property
    def makings(self) -> list[tuple[str, dict[str, Any]]]:
        """What is known about the making of its table, of its figure's data and of the drawing."""
        all_three = (
            ("Table", self.table_making),
            ("Figure's data", self.data_making),
            ("Drawing", self.figure_making),
        )
        return [(kind, making) for kind, making in all_three if making is not None]


@dataclass(frozen=True)
class Study:
    """One study of the run.

    Attributes
    ----------
    claims : the paper's sentences, in its order
    holds : what comes of its abstract, in a sentence
    solve_groups, solves : as :mod:`contactid.review.report.solves` has them, of the solves those
        that are listed
    settings : its block of the configuration
    link : where the paper is; empty where no place is known
    """

    name: str
    title: str
    paper: str
    link: str
    artefacts: tuple[Artefact, ...]
    claims: tuple[Claim, ...]
    holds: str
    digest: Digest
    solve_groups: list[dict[Any, Any]]
    solves: list[dict[Any, Any]]
    solves_in_all: int
    settings: Any


@dataclass(frozen=True)
class Report:
    """All that the page shows of a run.

    Attributes
    ----------
    cards : of the datasets: their ``content``, ``headline``, ``figure`` (a drawing or None) and
        ``path``
    playback : the data of its players, ``box`` and ``planar``
    rules, jobs : what they took (:func:`contactid.review.report.collect.read_runtimes`)
    stored : a sentence on each stored result, and what is wrong with it
    """

    run: str
    studies: tuple[Study, ...]
    cards: tuple[dict[str, Any], ...]
    playback: dict[str, Path]
    rules: list[dict[Any, Any]]
    jobs: list[dict[Any, Any]]
    provenance: dict[str, Any]
    checks: tuple[Any, ...]
    shared_settings: dict[str, Any]
    stored: list[tuple[str, str]]
