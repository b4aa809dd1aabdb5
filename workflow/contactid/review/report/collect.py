"""Collect what a run left on disk into a :class:`contactid.review.report.model.Report`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv
from contactid.review.report.artefacts import artefacts_of
from contactid.review.report.checks_digest import check_rows, digest
from contactid.review.report.making import Makings
from contactid.review.report.model import Card, Report, Study
from contactid.review.report.runtimes import read_runtimes
from contactid.review.report.solves import MOST_LISTED, group_solves, solves_of
from contactid.run.job_records import read_jobs
from contactid.sources.card import headline


def collect(results: Path, resources: Path, *, working_directory: Path = Path()) -> Report:
    """All that the page shows.

    Parameters
    ----------
    results
        The run's folder, relative to ``working_directory`` as Snakemake names it.
    resources
        The folder with ``studies.yaml``.
    working_directory
        Where Snakemake was started, and keeps its records.

    Raises
    ------
    ContactIdError
        Where the run has no ``checks.csv`` or ``provenance.json``.
    """
    folder = working_directory / results
    for name in ("checks.csv", "provenance.json"):
        if not (folder / name).exists():
            raise ContactIdError(f"{folder / name} is missing", "Run the workflow first, for instance make")
    checks = check_rows(read_csv(folder / "checks.csv"))
    provenance = _read(folder / "provenance.json")
    wording = yaml.safe_load((resources / "studies.yaml").read_text(encoding="utf-8"))
    jobs = [job for job in read_jobs(working_directory, results.as_posix()) if job.rule != "report"]
    makings = Makings(jobs, results.as_posix())
    configuration = provenance.get("configuration", {})
    studies = []
    for name in dict.fromkeys(check.study for check in checks):
        own = [check for check in checks if check.study == name]
        solves = solves_of(folder / name)
        words = wording.get(name, {})
        studies.append(
            Study(
                name=name,
                title=words.get("title", name),
                paper=words.get("paper", ""),
                artefacts=artefacts_of(name, folder, own, makings, words),
                digest=digest(own),
                solve_groups=tuple(group_solves(solves)),
                solves=tuple(solves[:MOST_LISTED]),
                solves_in_all=len(solves),
                settings=configuration.get(name, {}),
            )
        )
    rules, times = read_runtimes(folder)
    return Report(
        run=str(configuration.get("run", folder.name)),
        folder=folder,
        studies=tuple(studies),
        cards=tuple(_cards(folder)),
        rules=tuple(rules),
        jobs=tuple(times),
        provenance=provenance,
        checks=checks,
        shared_settings={key: value for key, value in configuration.items() if key not in wording},
    )


def _cards(folder: Path) -> list[Card]:
    cards = []
    for file in sorted((folder / "data").glob("*/card.json")):
        content = _read(file)
        content.pop("panels", None)  # drawn in the figure
        figure = file.with_suffix(".svg")
        path = file.relative_to(folder).as_posix()
        cards.append(Card(content, headline(content), figure if figure.exists() else None, path))
    return cards


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ContactIdError(f"{file} is not whole ({error})", "Delete it and run the workflow again") from None
    return dict(content)
