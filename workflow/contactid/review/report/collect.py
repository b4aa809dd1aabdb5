"""Collect what a run left on disk into a :class:`contactid.review.report.model.Report`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from contactid.output.comparison import INPUTS
from contactid.output.fits import read_json
from contactid.output.grids import grid_of, plain
from contactid.output.tables import read_csv
from contactid.review.held import tell_stored
from contactid.review.report.artefacts import ROOT
from contactid.review.report.digest import (
    all_names,
    asked_by,
    check_rows,
    claim_rows,
    digest,
    what_holds,
)
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
    folder, record = Path(checks).parent, read_json(provenance)
    declared = read_json(artefacts)
    words, quoted, differences = (
        yaml.safe_load(Path(file).read_text(encoding="utf-8")) for file in (wording, said, reasons)
    )
    table = read_csv(checks)
    names = all_names(table, {study: about.get("words", {}) for study, about in words.items()})
    rows = check_rows(table, asked_by(ledgers), differences, names)
    sentences = claim_rows(pd.read_csv(claims, dtype=str, keep_default_na=False), rows, names)
    printed = {Path(file).stem: read_csv(file) for file in published}
    run_files = {Path(file).relative_to(folder).as_posix() for file in files}
    jobs = [job for job in read_jobs(Path(), folder.as_posix()) if job.rule not in _LATER]
    makers = {output: job for job in jobs for output in job.outputs}
    configuration = record.get("configuration", {})
    settings_of = _Settings()
    functions = {
        name: {**entry, "path": os.path.relpath(ROOT / entry["file"], folder)}
        for name, entry in declared["functions"].items()
    }
    studies = []
    for name in dict.fromkeys(check.study for check in rows):
        own = [check for check in rows if check.study == name]
        own_claims = tuple(claim for claim in sentences if claim.study == name)
        solves = solves_of(folder / name)
        about = words.get(name, {})
        listed = [
            _with_sources(row, sources.get(name, {})) for row in declared["studies"].get(name, [])
        ]
        studies.append(
            Study(
                name=name,
                title=about.get("title", name),
                paper=about.get("paper", ""),
                link=about.get("link", ""),
                artefacts=artefacts_of(
                    name,
                    folder,
                    listed,
                    own,
                    makers,
                    functions,
                    about,
                    quoted.get(name, {}),
                    settings_of,
                    printed[name],
                ),
                claims=own_claims,
                holds=what_holds(own_claims),
                digest=digest(own),
                solve_groups=group_solves(solves),
                solves=solves.head(MOST_LISTED).to_dict("records"),
                solves_in_all=len(solves),
                settings=configuration.get(name, {}),
            )
        )
    rules, times = read_runtimes(folder)
    return Report(
        run=str(configuration.get("run", folder.name)),
        studies=tuple(studies),
        cards=tuple(_card(folder, Path(file)) for file in sorted(cards) if file.endswith(".json")),
        playback={kind: folder / file for kind, file in _PLAYERS.items() if file in run_files},
        rules=rules,
        jobs=times,
        provenance=record,
        checks=rows,
        shared_settings={key: value for key, value in configuration.items() if key not in words},
        stored=tell_stored(stored),
    )


def artefacts_of(
    study: str,
    folder: Path,
    declared: Sequence[Mapping[str, Any]],
    checks: Sequence[Any],
    makers: Mapping[str, JobRecord],
    functions: Mapping[str, Mapping[str, Any]],
    about: Mapping[str, Any],
    quoted: Mapping[str, dict[str, str]],
    settings_of: _Settings,
    published: pd.DataFrame,
) -> tuple[Artefact, ...]:
    """A study's artefacts as the paper has them: tables, numbers in text, figures, and beyond it.

    A table and a figure of one name are one artefact, and so are the printed numbers of that name.
    """
    printed = {
        key: rows.to_dict("records")
        for key, rows in published.fillna({"condition": ""}).groupby("artefact")
    }
    tables, figures = (
        {row["name"]: row for row in declared if row["kind"] == kind}
        for kind in ("table", "figure")
    )
    by_key: dict[str, list[Any]] = {}
    for check in checks:
        by_key.setdefault(check.artefact, []).append(check)
    names = {key_of(name): name for name in (*tables, *figures)}
    names |= {key: key for key in by_key if key not in names}
    artefacts = []
    for key, name in names.items():
        rows = [row[name] for row in (tables, figures) if name in row]
        table = tables[name]["files"][0] if name in tables else None
        data, figure = _drawn(figures[name]) if name in figures else (None, None)
        # numbers without a table of their own are made by the study's checks
        file = table or (f"{study}/checks.csv" if figure is None else None)
        own = tuple(by_key.get(key, ()))
        grid, others = None, list(own)
        if spec := about.get("grids", {}).get(key):
            in_print = _as_printed(own, printed.get(key, []))
            grid, others = grid_of(spec, about.get("words", {}), in_print)
        # a file of a table without columns is a line's end alone
        has_cells = table is not None and (folder / table).stat().st_size > 1
        steps = (("compute", "computed"), ("draw", "drawn"))
        named_functions = tuple(
            {"what": f"{row['kind']}, {done}", **functions[row[step]]}
            for row in rows
            for step, done in steps
            if row[step]
        )
        artefacts.append(
            Artefact(
                study=study,
                name=name,
                key=key,
                label=label_of(key, about.get("numerals", "arabic")),
                title=title_of(key, rows, own),
                about=tuple(plain_caption(row["caption"]) for row in rows if row["caption"]),
                table=read_csv(folder / table) if table and has_cells else None,
                table_path=file,
                table_making=making_of(file, folder, makers, settings_of) if file else None,
                figure=folder / figure if figure else None,
                figure_path=figure,
                data_path=data,
                figure_source=(figures[name]["data"] or _source(folder / data)) if data else "",
                data_making=making_of(data, folder, makers, settings_of) if data else None,
                figure_making=making_of(figure, folder, makers, settings_of) if figure else None,
                functions=named_functions,
                datasets=_datasets(rows, own),
                checks=own,
                digest=digest(own) if own else None,
                said=quoted.get(key, {}),
                grid=grid,
                others=tuple(others),
            )
        )
    return tuple(sorted(artefacts, key=_place))


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
    return tuple(dict.fromkeys(name for names in listed for name in names))


def _drawn(row: Mapping[str, Any]) -> tuple[str, str]:
    """A figure's data and its drawing for the web."""
    data, *drawings = row["files"]
    return data, next(file for file in drawings if file.endswith(".svg"))


def _source(data: Path) -> str:
    """What a figure's data say that they were made from."""
    first = pd.read_csv(data, nrows=1)
    return str(first["source"].iloc[0]) if "source" in first and len(first) else ""


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
    kind, appendix, digits = match.groups()
    number = str(int(digits))
    if kind == "tab" and numerals == "roman" and not appendix:
        number = _ROMAN[int(digits) - 1]
    return f"{'Table' if kind == 'tab' else 'Figure'} {appendix}{number}"


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
    kinds = {"tab": 0, "tex": 1, "fig": 2, "ext": 3}
    return kinds.get(artefact.key[:3], 4), artefact.key


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


def making_of(
    path: str, folder: Path, makers: Mapping[str, JobRecord], settings_of: _Settings
) -> dict[str, Any] | None:
    """How a file (relative to the run's folder) was made; None where there is no record of it.

    Returns
    -------
    dict
        ``rule``, ``seconds`` and ``log`` (relative to the run's folder) of the job that wrote it;
        ``steps``: rules of all jobs behind it, its own first, with ``jobs``, ``seconds`` and
        ``settings``; ``sources``: files that no job of the run made.
    """
    results = f"{folder.as_posix()}/"
    behind = upstream(makers, results + path)
    if not behind:
        return None
    steps: dict[str, list[JobRecord]] = {}
    for job in behind:
        steps.setdefault(job.rule, []).append(job)
    return {
        "rule": behind[0].rule,
        "seconds": behind[0].seconds,
        "log": behind[0].log.removeprefix(results) if behind[0].log else None,
        "steps": [
            {
                "rule": rule,
                "jobs": len(jobs),
                "seconds": sum(job.seconds for job in jobs),
                "settings": settings_of.of(jobs),
            }
            for rule, jobs in steps.items()
        ],
        "sources": sorted({file for job in behind for file in job.inputs if file not in makers}),
    }


def read_runtimes(results: Path) -> tuple[list[dict[Any, Any]], list[dict[Any, Any]]]:
    """Times and memory by rule, the most expensive first, and of every job, with its log."""
    jobs = read_benchmarks(results, damaged="skip")
    jobs = jobs[~jobs["rule"].isin(_LATER)]
    named = zip(jobs["rule"], jobs["job"], strict=True)
    logs = [f"logs/{rule}/{job}.log" if job else f"logs/{rule}.log" for rule, job in named]
    rules = jobs.groupby("rule", sort=False).agg(
        jobs=("job", "size"),
        seconds=("seconds", "sum"),
        longest=("seconds", "max"),
        cpu_seconds=("cpu_seconds", "sum"),
        memory_mb=("memory_mb", "max"),
    )
    rules = rules.reset_index().sort_values(["seconds", "rule"], ascending=[False, True])
    shown = jobs.assign(log=[log if (results / log).exists() else "" for log in logs])
    return rules.to_dict("records"), shown.to_dict("records")


def _as_printed(checks: Sequence[Any], printed: Iterable[Mapping[Any, Any]]) -> list[Any]:
    """An artefact's rows in printed order, with the numbers that the run starts from."""
    if not any(check.quantity == INPUTS for check in checks):
        return list(checks)
    by_number = {(check.quantity, check.condition): check for check in checks}
    numbers = []
    for row in printed:
        check = by_number.pop((row["quantity"], row["condition"]), None)
        value, tolerance = float(row["value"]), float(row["tolerance"])
        start = Input(row["quantity"], row["condition"], value, tolerance, row["unit"])
        numbers.append(check or start)
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
