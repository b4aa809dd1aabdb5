"""Set the report as one HTML file that needs no server, no network and no file beside it.

Large parts are compressed into text that the browser inflates when they are looked at.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup, escape

from contactid.core.atomic import write_text
from contactid.output.claims import SENTENCE_MEANINGS
from contactid.output.comparison import datasets_of
from contactid.output.fits import read_json
from contactid.output.grids import Grid, plain
from contactid.output.recordings import made_from, run_had
from contactid.output.verdicts import BASES, LACKS, ORIGINS, VERDICTS
from contactid.review.one_run import ONCE, is_time, shows_times
from contactid.review.report import plots
from contactid.review.report.collect import collect
from contactid.review.report.digest import (
    abstract_of,
    counts_of,
    differences,
    moved_thresholds,
    spoken,
)
from contactid.review.report.model import Artefact, Claim, Report
from contactid.review.report.playback import playback_section
from contactid.review.report.quotes import typeset

# a drawing beyond this many bytes is shown as its png instead, which has a bounded size
LARGEST_SVG = 1_500_000
# of a table that the page shows; its file has all
MOST_ROWS = 1000
# "eq. 5", "Eqs. (23)", "equation 22", and those that follow one: "eqs. 15, 16 and 18"
_EQUATIONS = re.compile(
    r"\b(?:eqs?\b\.?|equations?\b)((?:(?:\s|,|and|to|-)*\(?\d+\)?)+)", re.IGNORECASE
)


class Pack:
    """Compressed parts by name; equal parts give equal text, as no time is written into them."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        self.pictures: dict[str, dict[str, str]] = {}

    def add(self, name: str, content: str | bytes, once: bool = False) -> str:
        """Keep a part, marked where it is of one run alone; return its name."""
        raw = content.encode("utf-8") if isinstance(content, str) else content
        text = base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode("ascii")
        part = f'<script type="application/octet-stream" id="part-{name}">{text}</script>'
        self.parts[name] = once_only(Markup(part)) if once else part
        return name

    def add_function(self, function: Mapping[str, Any]) -> str:
        """Keep a function's text; return its part's name."""
        name = f"{function['module']}:{function['name']}"
        if name not in self.parts:
            label = f'<pre tabindex="0" role="region" aria-label="{name}">'
            self.add(name, f"{label}{escape(function['source'])}</pre>")
        return name

    def add_picture(self, name: str, svg: Path) -> dict[str, str]:
        """Keep a picture; return its part's name, type and aspect ratio, which the layout needs."""
        if name in self.pictures:
            return self.pictures[name]
        png = svg.with_suffix(".png")
        drawing = svg.read_bytes()
        content, media_type = drawing, "image/svg+xml"
        if len(drawing) > LARGEST_SVG and png.exists():
            content, media_type = png.read_bytes(), "image/png"
        # times are others in every run, and so is their drawing
        once = shows_times(svg.with_suffix(".csv"))
        self.pictures[name] = {
            "part": self.add(name, content, once),
            "type": media_type,
            "ratio": ratio_of(drawing),
        }
        return self.pictures[name]


def ratio_of(svg: bytes) -> str:
    """Width over height as CSS writes it, from the drawing's view box; 3 / 2 where it has none."""
    # it stands in the first element, and a drawing may have megabytes
    head = svg[:4000].decode("utf-8", errors="replace")
    box = head.partition('viewBox="')[2].partition('"')[0].split()
    if len(box) == 4:
        width, height = float(box[2]), float(box[3])
        if height > 0:
            return f"{width:.0f} / {height:.0f}"
    return "3 / 2"


def write_report(
    checks: str,
    claims: str,
    provenance: str,
    artefacts: str,
    sources: Sequence[str],
    sources_of: Sequence[str],
    cards: Sequence[str],
    files: Sequence[str],
    wording: str,
    stored: str,
    published: Sequence[str],
    ledgers: Sequence[str],
    quoted: str,
    reasons: str,
    templates: Sequence[str],
    report: str,
) -> None:
    """Set the page of a run.

    ``sources`` are JSON files that say what figures were made from, and ``sources_of`` the studies
    that they are of; ``templates`` are templates, styles and scripts of the page, the other files
    those of :func:`contactid.review.report.collect.collect`.
    """
    sources_by_study: dict[str, dict[str, Any]] = {}
    for study, file in zip(sources_of, sources, strict=True):
        sources_by_study.setdefault(study, {}).update(read_json(file))
    texts = {Path(file).name: Path(file).read_text(encoding="utf-8") for file in templates}
    collected = collect(
        checks,
        claims,
        provenance,
        artefacts,
        sources_by_study,
        cards,
        files,
        wording,
        stored,
        published,
        ledgers,
        quoted,
        reasons,
    )
    write_text(report, render(collected, texts))


def render(report: Report, texts: Mapping[str, str]) -> str:
    """The page's text.

    Parameters
    ----------
    texts : templates, styles and scripts by their files' names
    """
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(texts),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "number": number,
        "spoken": spoken,
        "plain": plain,
        "yaml": as_yaml,
        "seconds": seconds,
        "once": once_only,
        "moved": moved_thresholds,
        "quote": typeset,
    }
    pack = Pack()
    checks_of: dict[str, list[Any]] = {}
    for check in report.checks:
        checks_of.setdefault(check.study, []).append(check)
    cards = [card["content"] for card in report.cards]
    cards_by_name = {card["name"]: card for card in cards}
    playback = playback_section(report.playback, environment, texts)
    data_table = environment.get_template("data_table.html.j2")
    job_table = environment.get_template("job_table.html.j2")
    text = environment.get_template("report.html.j2").render(
        report=report,
        verdicts=VERDICTS,
        meanings=SENTENCE_MEANINGS,
        bases=BASES,
        origins=ORIGINS,
        lacks=LACKS,
        abstract_of=abstract_of,
        by_section=by_section,
        counts_of=counts_of,
        behind=behind,
        verdicts_in=verdicts_in,
        alike=lambda artefact: alike(artefact.datasets, cards_by_name),
        needed_by=needed_by(report),
        equations=equations_of,
        css=_embedded(texts["report.css"]),
        javascript=_embedded(texts["inflate.js"] + texts["report.js"]),
        playback=Markup(playback) if playback else None,
        picture=pack.add_picture,
        run_had=run_had("This run", cards),
        study_had=lambda study: run_had(
            "This study", [card for card in cards if card["study"] == study]
        ),
        made_from=lambda names: made_from(
            [card for card in cards if card["name"] in datasets_of(", ".join(names))]
        ),
        packed_table=lambda name, table: pack.add(name, data_table.render(**_table(table))),
        packed_jobs=lambda name, jobs: pack.add(name, job_table.render(jobs=jobs), once=True),
        packed_plot=lambda name, plot, once=False: pack.add(name, plot.text, once),
        packed_function=pack.add_function,
        deviations={
            study.name: plots.plot_deviations(
                checks_of[study.name],
                {artefact.key: artefact.label for artefact in study.artefacts},
            )
            for study in report.studies
        },
        runtimes=plots.plot_runtimes(report.rules),
        provenance_rows=provenance_rows,
        differences={study: differences(checks) for study, checks in checks_of.items()},
        packed_rows=lambda name, row: pack.add(name, _rows(report, row)),
    )
    pack.add("bokeh", plots.script())
    return text.replace("<!-- parts -->", "\n".join(pack.parts.values()))


def once_only(text: str) -> Markup:
    """Marked as what this run alone can say, as times (:mod:`contactid.review.one_run`)."""
    return Markup(ONCE[0]) + text + Markup(ONCE[1])


def number(value: float | None, digits: int = 4) -> str:
    """A number to some significant digits; a dash where there is none."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.{digits}g}"


def seconds(value: float | None) -> str:
    """A duration to three digits, in minutes from 100 s on."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.3g} s" if value < 100.0 else f"{value / 60.0:.3g} min"


def cell(value: object) -> str:
    """A cell of a table that the run wrote: its numbers are rounded already."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:g}"
    return str(value)


def as_yaml(value: Any) -> str:
    """A block of the configuration as a user writes it."""
    return str(
        yaml.safe_dump(
            value, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110
        )
    )


def _table(table: pd.DataFrame) -> dict[str, Any]:
    rows = []
    for row in table.head(MOST_ROWS).to_dict("records"):
        cells = []
        for column, value in row.items():
            text = cell(value)
            cells.append(once_only(text) if is_time(str(column), row) else text)
        rows.append(cells)
    return {
        "columns": [str(column) for column in table.columns],
        "rows": rows,
        "left_out": len(table) - len(rows),
    }


def _rows(report: Report, row: Callable[..., str]) -> str:
    """All rows as JSON: number, address, verdict, basis, words, numbers, place, and all of it."""
    rows = []
    for study in report.studies:
        for artefact in study.artefacts:
            for check in artefact.checks:
                cells = [
                    check.number,
                    artefact.id,
                    check.verdict,
                    check.basis,
                    check.words,
                    check.printed,
                    check.ours,
                    check.where,
                    row(check, artefact),
                ]
                rows.append(cells)
    return json.dumps(rows, ensure_ascii=False)


def by_section(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    """Sentences by the paper's sections, in the order in which each comes first."""
    sections: dict[str, list[Claim]] = {}
    for claim in claims:
        sections.setdefault(claim.section, []).append(claim)
    return sections


def alike(names: Sequence[str], cards: Mapping[str, Mapping[str, Any]]) -> str:
    """What all of several datasets are, where it is the same; else empty, as of the papers' own."""
    # a part of a dataset has no card of its own
    own_cards = [cards.get(name.split(":")[0], {}) for name in names]
    origins = set()
    for card in own_cards:
        of_others = card and not card["of_the_paper"]
        origins.add(card["told"] if of_others else "")
    # of one alone the page says it beside its name
    return origins.pop() if len(names) > 1 and len(origins) == 1 else ""


def verdicts_in(grid: Grid) -> list[str]:
    """The verdicts that a grid's cells have."""
    present = set()
    for _, cells in grid.rows:
        for numbers in cells:
            # a number that the run starts from has none
            present |= {getattr(number, "verdict", "") for number in numbers}
    return [verdict for verdict in VERDICTS if verdict in present]


def behind(claim: Claim) -> dict[str, Counter[str]]:
    """How many of the rows behind a sentence have which verdict, by artefact."""
    counts: dict[str, Counter[str]] = {}
    for check in claim.rows:
        counts.setdefault(check.artefact, Counter())[check.verdict] += 1
    return counts


def needed_by(report: Report) -> dict[int, list[Claim]]:
    """The sentences that a row is behind, by its number."""
    claims_of: dict[int, list[Claim]] = {}
    for study in report.studies:
        for claim in study.claims:
            for check in claim.rows:
                claims_of.setdefault(check.number, []).append(claim)
    return claims_of


def equations_of(artefact: Artefact) -> list[str]:
    """The numbers of equations that the functions behind an artefact name."""
    texts = "\n".join(function["source"] for function in artefact.functions)
    references = " ".join(_EQUATIONS.findall(texts))
    return sorted(set(re.findall(r"\d+", references)), key=int)


def _embedded(text: str) -> Markup:
    """A style or script of ours; ``</`` would end the element that holds it."""
    assert "</" not in text
    return Markup(text)


def provenance_rows(
    provenance: Mapping[str, Any],
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Single values, and what has an inner structure as JSON, without the configuration."""
    single, nested = [], []
    for key, value in provenance.items():
        if key == "configuration":
            continue
        if isinstance(value, dict | list):
            nested.append((key, json.dumps(value, indent=1, ensure_ascii=False)))
        else:
            single.append((key, "not recorded" if value is None else str(value)))
    return single, nested
