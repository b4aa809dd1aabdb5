"""Set the report as one HTML file that needs nothing else: no server, no network, no file beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup

from contactid.output.comparison import MEANINGS, VERDICTS
from contactid.review.report import plots
from contactid.review.report.checks_digest import percent, spoken
from contactid.review.report.model import Report
from contactid.review.report.pack import Pack
from contactid.review.report.playback import playback_section

MOST_ROWS = 1000


def render(report: Report, resources: Path) -> str:
    """The page's text.

    Parameters
    ----------
    resources
        The folder with the templates, style and script.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "number": number, "spoken": spoken, "percent": percent, "plain": plain, "yaml": as_yaml, "seconds": seconds,
        "cell": cell,
    }  # fmt: skip
    pack = Pack()
    data_table = environment.get_template("data_table.html.j2")
    job_table = environment.get_template("job_table.html.j2")
    text = environment.get_template("report.html.j2").render(
        report=report,
        verdicts=VERDICTS,
        meanings=MEANINGS,
        css=_embedded(resources / "report.css"),
        javascript=_embedded(resources / "report.js"),
        playback=Markup(section) if (section := playback_section(report.folder)) else None,
        picture=pack.add_picture,
        packed_table=lambda name, table: pack.add(name, data_table.render(**_table(table))),
        packed_jobs=lambda name, jobs: pack.add(name, job_table.render(jobs=jobs)),
        packed_plot=lambda name, plot: pack.add(name, plot.text),
        deviations={study.name: plots.plot_deviations(_checks(report, study.name)) for study in report.studies},
        runtimes=plots.plot_runtimes(report.rules),
        most_rows=MOST_ROWS,
        nan=math.isnan,
        provenance_rows=provenance_rows,
    )
    pack.add("bokeh", plots.script())
    parts = "\n".join(
        f'<script type="application/octet-stream" id="part-{name}">{content}</script>'
        for name, content in pack.parts.items()
    )
    return text.replace("<!-- parts -->", parts)


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


def plain(name: str) -> str:
    """``not_comparable`` as ``not comparable``."""
    return name.replace("_", " ")


def cell(value: object) -> str:
    """A cell of a table that the run wrote: its numbers are rounded already."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:g}"
    return str(value)


def as_yaml(value: Any) -> str:
    """A block of the configuration as a user writes it."""
    return str(yaml.safe_dump(value, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110))


def _table(table: pd.DataFrame) -> dict[str, Any]:
    shown = table.head(MOST_ROWS)
    return {
        "columns": [str(column) for column in table.columns],
        "rows": list(shown.itertuples(index=False, name=None)),
        "left_out": len(table) - len(shown),
    }


def _checks(report: Report, study: str) -> list[Any]:
    return [check for check in report.checks if check.study == study]


def _embedded(file: Path) -> Markup:
    """A style or script of ours; ``</`` would end the element that holds it."""
    text = file.read_text(encoding="utf-8")
    assert "</" not in text, file
    return Markup(text)


def provenance_rows(provenance: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Single values, and everything with an inner structure as JSON; the configuration is shown by study."""
    single, nested = [], []
    for key, value in provenance.items():
        if key == "configuration":
            continue
        if isinstance(value, dict | list):
            nested.append((key, json.dumps(value, indent=1, ensure_ascii=False)))
        else:
            single.append((key, "not recorded" if value is None else str(value)))
    return single, nested
