"""Collect what a run left on disk into a :class:`contactid.review.report.model.Report`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.output.comparison import INPUTS
from contactid.output.fits import read_json
from contactid.output.grids import Grid, grid_of, plain
from contactid.output.tables import read_csv
from contactid.review.held import tell_stored
from contactid.review.report.artefacts import ROOT
from contactid.review.report.digest import digest, what_holds
from contactid.review.report.judged import read_judged, read_own_yaml
from contactid.review.report.model import Artefact, Input, Report, Study
from contactid.review.report.solves import MOST_LISTED, group_solves, solves_of
from contactid.run.records import JobRecord, read_benchmarks, read_jobs, upstream
from contactid.sources.card import headline

_NUMBERED = re.compile(r"(tab|fig)(A?)(\d+)_")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
# what ends the first clause of a caption
_CLAUSE = re.compile(r"[,;:.](?:\s|$)|\s\(")
# numbers that a paper prints in its text, not in a table
TEXT = "text"
_PLAYERS = {"box": "tossing/playback.json", "planar": "planar/playback.json"}
# rules that use this report or make it: their times would change it every time it is made
_LATER = ("report", "crate")
# how a log tells a setting (contactid.run.story)
_GIVEN = re.compile(r"^With (\w+): (.*)$", re.MULTILINE)


def collect(
    checks: str,
    claims: str,
    provenance: str,
    artefacts: str,
    sources: Mapping[str, Mapping[str, Mapping[str, Any]]],
    cards: Iterable[str],
    files: Iterable[str],
    wording: str,
    stored: str,
    published: Sequence[str],
    ledgers: Sequence[str],
    said: str,
    reasons: str,
) -> Report:
    """All that the page shows.

    Parameters
    ----------
    checks, claims
        the run's ``checks.csv`` and ``claims.csv``, relative to where Snakemake was started; their
        folder is the run's
    provenance, artefacts : ``provenance.json`` and ``artefacts.json``
    sources
        what figures were made from, by study and figure, where only the run knows: what they say
        themselves (``said``) and names of ``datasets``
    cards : the datasets' cards, of which the JSON files are read
    files : all files that the studies made
    wording : ``studies.yaml``
    stored : what the run found of stored results
    published, ledgers : the printed numbers of each study, and its sentences and statements
    said, reasons : what the papers say of their figures and tables, and why numbers differ
    """
    folder = Path(checks).parent
    record = read_json(provenance)
    declared = read_json(artefacts)
    quoted = read_own_yaml(said)
    judged = read_judged(checks, claims, wording, published, ledgers, reasons)
    configuration = record.get("configuration", {})
    jobs = [job for job in read_jobs(Path(), folder.as_posix()) if job.rule not in _LATER]
    run = _Run(
        folder=folder,
        makers={output: job for job in jobs for output in job.outputs},
        functions=_functions(declared["functions"], folder),
    )
    studies = []
    for name in dict.fromkeys(check.study for check in judged.checks):
        about = judged.wording.get(name, {})
        own_checks = judged.checks_of(name)
        own_claims = tuple(judged.claims_of(name))
        own_sources = sources.get(name, {})
        listed = [_with_sources(row, own_sources) for row in declared["studies"].get(name, [])]
        solves = solves_of(folder / name)
        study = Study(
            name=name,
            title=about.get("title", name),
            paper=about.get("paper", ""),
            link=about.get("link", ""),
            artefacts=artefacts_of(
                name, run, listed, own_checks, about, quoted.get(name, {}), judged.printed[name]
            ),
            claims=own_claims,
            holds=what_holds(own_claims),
            digest=digest(own_checks),
            solve_groups=group_solves(solves),
            solves=solves.head(MOST_LISTED).to_dict("records"),
            solves_in_all=len(solves),
            settings=configuration.get(name, {}),
        )
        studies.append(study)
    rules, times = read_runtimes(folder)
    run_files = {Path(file).relative_to(folder).as_posix() for file in files}
    card_files = [Path(file) for file in sorted(cards) if file.endswith(".json")]
    shared = {key: value for key, value in configuration.items() if key not in judged.wording}
    return Report(
        run=str(configuration.get("run", folder.name)),
        studies=tuple(studies),
        cards=tuple(_card(folder, file) for file in card_files),
        playback={kind: folder / file for kind, file in _PLAYERS.items() if file in run_files},
        rules=rules,
        jobs=times,
        provenance=record,
        checks=judged.checks,
        shared_settings=shared,
        stored=tell_stored(stored),
    )


def _functions(
    declared: Mapping[str, Mapping[str, Any]], folder: Path
) -> dict[str, dict[str, Any]]:
    """The functions that make artefacts, by name, with their files' paths from the run's folder."""
    functions = {}
    for name, entry in declared.items():
        path = os.path.relpath(ROOT / entry["file"], folder)
        functions[name] = {**entry, "path": path}
    return functions


def artefacts_of(
    study: str,
    run: _Run,
    declared: Sequence[Mapping[str, Any]],
    checks: Sequence[Any],
    about: Mapping[str, Any],
    quoted: Mapping[str, dict[str, str]],
    published: pd.DataFrame,
) -> tuple[Artefact, ...]:
    """A study's artefacts as the paper has them: tables, numbers in text, figures, and beyond it.

    A table and a figure of one name are one artefact, and so are the printed numbers of that name.
    """
    printed = {
        key: rows.to_dict("records")
        for key, rows in published.fillna({"condition": ""}).groupby("artefact")
    }
    tables = {row["name"]: row for row in declared if row["kind"] == "table"}
    figures = {row["name"]: row for row in declared if row["kind"] == "figure"}
    checks_by_key: dict[str, list[Any]] = {}
    for check in checks:
        checks_by_key.setdefault(check.artefact, []).append(check)
    names = {key_of(name): name for name in (*tables, *figures)}
    # printed numbers of which the run has neither table nor figure
    names |= {key: key for key in checks_by_key if key not in names}
    artefacts = []
    for key, name in names.items():
        own = tuple(checks_by_key.get(key, ()))
        grid, others = _in_grid(key, about, own, printed.get(key, []))
        rows = [by_name[name] for by_name in (tables, figures) if name in by_name]
        artefact = Artefact(
            study=study,
            name=name,
            key=key,
            label=label_of(key, about.get("numerals", "arabic")),
            title=title_of(key, rows, own),
            about=tuple(plain_caption(row["caption"]) for row in rows if row["caption"]),
            functions=_named_functions(rows, run.functions),
            datasets=_datasets(rows, own),
            checks=own,
            digest=digest(own) if own else None,
            said=quoted.get(key, {}),
            grid=grid,
            others=tuple(others),
            **_table_fields(run, study, tables.get(name), has_figure=name in figures),
            **_figure_fields(run, figures.get(name)),
        )
        artefacts.append(artefact)
    return tuple(sorted(artefacts, key=_place))


def _in_grid(
    key: str,
    about: Mapping[str, Any],
    checks: Sequence[Any],
    printed: Iterable[Mapping[Any, Any]],
) -> tuple[Grid | None, list[Any]]:
    """An artefact's checks in the paper's rows and columns, and those without a place there."""
    layout = about.get("grids", {}).get(key)
    if not layout:
        return None, list(checks)
    return grid_of(layout, about.get("words", {}), _as_printed(checks, printed))


def _table_fields(
    run: _Run, study: str, row: Mapping[str, Any] | None, has_figure: bool
) -> dict[str, Any]:
    """What an :class:`Artefact` has of its table."""
    if row is None:
        # numbers without a table of their own are made by the study's checks
        path = None if has_figure else f"{study}/checks.csv"
        return {"table_path": path, "table_making": run.making_of(path)}
    path = row["files"][0]
    file = run.folder / path
    # a file of a table without columns is a line's end alone
    has_cells = file.stat().st_size > 1
    return {
        "table": read_csv(file) if has_cells else None,
        "table_path": path,
        "table_making": run.making_of(path),
    }


def _figure_fields(run: _Run, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """What an :class:`Artefact` has of its figure: the drawing for the web, and its data."""
    if row is None:
        return {}
    data, *drawings = row["files"]
    drawing = next(file for file in drawings if file.endswith(".svg"))
    return {
        "figure": run.folder / drawing,
        "figure_path": drawing,
        "figure_making": run.making_of(drawing),
        "figure_source": row["data"] or _source(run.folder / data),
        "data_path": data,
        "data_making": run.making_of(data),
    }


def _named_functions(
    rows: Iterable[Mapping[str, Any]], functions: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Any], ...]:
    """The functions that compute and draw an artefact, with what they do."""
    named = []
    for row in rows:
        for step, done in (("compute", "computed"), ("draw", "drawn")):
            if row[step]:
                named.append({"what": f"{row['kind']}, {done}", **functions[row[step]]})
    return tuple(named)


def _with_sources(
    row: Mapping[str, Any], sources: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """An artefact's row, with what a figure was made from where only the run knows."""
    if row["kind"] == "table" or row["name"] not in sources:
        return dict(row)
    source = sources[row["name"]]
    return {
        **row,
        "data": row["data"] or source["said"],
        "datasets": [*row["datasets"], *source["datasets"]],
    }


def _datasets(rows: Iterable[Mapping[str, Any]], checks: Iterable[Any]) -> tuple[str, ...]:
    """The datasets that an artefact's table and figure say they were made from, each once.

    Its judged numbers name theirs themselves, since they may come from another artefact's table.
    Where a paper's numbers are in neither table nor figure of the run, the rows are the artefact,
    and name its datasets.
    """
    listed = [row["datasets"] for row in rows] or [check.datasets for check in checks]
    # a dictionary without values: a set that keeps its order
    datasets: dict[str, None] = {}
    for names in listed:
        datasets |= dict.fromkeys(names)
    return tuple(datasets)


def _source(data: Path) -> str:
    """What a figure's data say that they were made from."""
    first = pd.read_csv(data, nrows=1)
    if "source" not in first or first.empty:
        return ""
    return str(first["source"].iloc[0])


def key_of(name: str) -> str:
    """``tab03`` of ``tab03_rest_pose_errors``; names beyond the paper stay whole."""
    return name.split("_", 1)[0] if _NUMBERED.match(name) else name


def label_of(key: str, numerals: str) -> str:
    """What the paper calls an artefact: ``Table III``, ``Figure 12``, ``Table A1``."""
    match = _NUMBERED.match(f"{key}_")
    if match is None:
        if key == TEXT:
            return "Text"
        return "Beyond the paper" if key.startswith("ext_") else "Printed elsewhere"
    prefix, appendix, digits = match.groups()
    number = str(int(digits))
    # journals number tables so, and no figures
    if prefix == "tab" and numerals == "roman" and not appendix:
        number = _ROMAN[int(digits) - 1]
    word = "Table" if prefix == "tab" else "Figure"
    return f"{word} {appendix}{number}"


def plain_caption(caption: str) -> str:
    """A caption without its TeX, as a sentence."""
    plain = re.sub(r"\\([_%&#])", r"\1", caption).replace("+-", "±").replace("$\\pm$", "±")
    plain = plain.replace("^{", "^").replace("$", "").replace("}", "").strip()
    return plain if plain.endswith(".") else f"{plain}."


def title_of(key: str, rows: Sequence[Mapping[str, Any]], checks: Sequence[Any]) -> str:
    """What an artefact is called: as it is declared, else the first clause of its caption.

    What the run has no table or figure of is called by the place where its numbers are printed.
    """
    declared = next((row["title"] for row in rows if row["title"]), "")
    caption = next((row["caption"] for row in rows if row["caption"]), "")
    if declared:
        title = declared
    elif caption:
        title = _CLAUSE.split(plain_caption(caption), maxsplit=1)[0]
    elif key == TEXT:
        title = "numbers in the text"
    else:
        title = next((check.where for check in checks), "") or plain(key)
    return title[:1].upper() + title[1:]


def _place(artefact: Artefact) -> tuple[int, str]:
    """Tables, numbers in the text, figures, what is beyond the paper; then what others print."""
    order = ("tab", "tex", "fig", "ext")
    prefix = artefact.key[:3]
    place = order.index(prefix) if prefix in order else len(order)
    return place, artefact.key


class _Settings:
    """The settings that jobs told in their logs; a log is read once."""

    def __init__(self) -> None:
        self._by_log: dict[str, list[tuple[str, str]]] = {}

    def of(self, jobs: Iterable[JobRecord]) -> dict[str, list[str]]:
        """By name, the different values that these jobs were given."""
        names: dict[str, list[str]] = {}
        for job in jobs:
            for name, value in self._of_log(job.log) if job.log else ():
                values = names.setdefault(name, [])
                if value not in values:
                    values.append(value)
        return names

    def _of_log(self, log: str) -> list[tuple[str, str]]:
        if log not in self._by_log:
            file = Path(log)
            text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
            self._by_log[log] = _GIVEN.findall(text)
        return self._by_log[log]


@dataclass(frozen=True)
class _Run:
    """What all artefacts of a run share.

    Attributes
    ----------
    folder : the run's
    makers : the job that wrote a file
    functions : those that make artefacts, by name (:func:`_functions`)
    """

    folder: Path
    makers: Mapping[str, JobRecord]
    functions: Mapping[str, Mapping[str, Any]]
    _settings: _Settings = field(default_factory=_Settings)

    def making_of(self, path: str | None) -> dict[str, Any] | None:
        """How a file (relative to the run's folder) was made; None without one, or a record of it.

        Returns
        -------
        dict
            ``rule``, ``seconds`` and ``log`` (relative to the run's folder) of the job that wrote
            it; ``steps``: rules of all jobs behind it, its own first, with ``jobs``, ``seconds``
            and ``settings``; ``sources``: files that no job of the run made.
        """
        results = f"{self.folder.as_posix()}/"
        jobs_behind = upstream(self.makers, f"{results}{path}")
        if not jobs_behind:
            return None
        jobs_by_rule: dict[str, list[JobRecord]] = {}
        sources = set()
        for job in jobs_behind:
            jobs_by_rule.setdefault(job.rule, []).append(job)
            # the data, and files of the repository
            sources |= {file for file in job.inputs if file not in self.makers}
        steps = []
        for rule, jobs in jobs_by_rule.items():
            step = {"rule": rule, "jobs": len(jobs), "seconds": sum(job.seconds for job in jobs)}
            steps.append({**step, "settings": self._settings.of(jobs)})
        own = jobs_behind[0]
        return {
            "rule": own.rule,
            "seconds": own.seconds,
            "log": own.log.removeprefix(results) if own.log else None,
            "steps": steps,
            "sources": sorted(sources),
        }


def read_runtimes(results: Path) -> tuple[list[dict[Any, Any]], list[dict[Any, Any]]]:
    """Times and memory by rule, the most expensive first, and of every job, with its log."""
    jobs = read_benchmarks(results, damaged="skip")
    jobs = jobs[~jobs["rule"].isin(_LATER)]
    rules = jobs.groupby("rule", sort=False).agg(
        jobs=("job", "size"),
        seconds=("seconds", "sum"),
        longest=("seconds", "max"),
        cpu_seconds=("cpu_seconds", "sum"),
        memory_mb=("memory_mb", "max"),
    )
    rules = rules.reset_index().sort_values(["seconds", "rule"], ascending=[False, True])
    names = zip(jobs["rule"], jobs["job"], strict=True)
    jobs_with_logs = jobs.assign(log=[_log_of(results, rule, job) for rule, job in names])
    return rules.to_dict("records"), jobs_with_logs.to_dict("records")


def _log_of(results: Path, rule: str, job: str) -> str:
    """A job's log, relative to the run's folder; empty where there is none."""
    log = f"logs/{rule}/{job}.log" if job else f"logs/{rule}.log"
    return log if (results / log).exists() else ""


def _as_printed(checks: Sequence[Any], printed: Iterable[Mapping[Any, Any]]) -> list[Any]:
    """An artefact's rows in printed order, with the numbers that the run starts from."""
    if not any(check.quantity == INPUTS for check in checks):
        return list(checks)
    by_number = {(check.quantity, check.condition): check for check in checks}
    numbers = []
    for row in printed:
        number = (row["quantity"], row["condition"])
        if number in by_number:
            numbers.append(by_number.pop(number))
            continue
        value, tolerance = float(row["value"]), float(row["tolerance"])
        numbers.append(Input(*number, value, tolerance, row["unit"]))
    # then the statements
    return [*numbers, *by_number.values()]


def _card(folder: Path, file: Path) -> dict[str, Any]:
    content = read_json(file)
    # drawn in the figure
    content.pop("panels", None)
    figure = file.with_suffix(".svg")
    return {
        "content": content,
        "headline": headline(content),
        "figure": figure if figure.exists() else None,
        "path": file.relative_to(folder).as_posix(),
    }
