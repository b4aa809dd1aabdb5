"""The report's interactive plots, as Bokeh's JSON and the one script that draws them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bokeh.embed import json_item
from bokeh.models import ColumnDataSource, CustomJS, FactorRange, HoverTool, Range1d, TapTool
from bokeh.models.annotations import Span
from bokeh.plotting import figure
from bokeh.resources import Resources
from bokeh.transform import jitter

from contactid.output import style
from contactid.output.comparison import STATEMENT
from contactid.output.verdicts import (
    BETTER,
    DIFFERS,
    FITTED,
    PRINT_CONSISTENT,
    PRINT_INCONSISTENT,
    REPRODUCED,
    UNINFORMATIVE,
)

# colour and marker, so that neither is needed alone; inputs are as printed, and what can't be
# compared isn't off
_LOOKS = {
    REPRODUCED: (style.LINE, "circle"),
    PRINT_CONSISTENT: (style.SKY, "square"),
    FITTED: (style.ROSE, "inverted_triangle"),
    BETTER: (style.ACCENT, "triangle"),
    DIFFERS: (style.RELEASE, "diamond"),
    PRINT_INCONSISTENT: (style.RELEASE, "square_x"),
    UNINFORMATIVE: (style.SIMULATED, "plus"),
}
# tolerances: what is nearer is as good as exact, what is further is another quantity
_LEAST, _MOST = 1e-2, 1e4
# px
_ROW = 17
# the others take less than all of these together
_MOST_RULES = 25
_STUDIES = {
    "tossing": style.LINE,
    "planar": style.SIMULATED,
    "arm": style.ACCENT,
    "inhand": style.RELEASE,
}


@dataclass(frozen=True)
class Plot:
    """A plot as JSON, and the height in px that its place needs."""

    text: str
    height: int


def script() -> str:
    """BokehJS, without anything that would be loaded from elsewhere."""
    raw = Resources(mode="inline", components=["bokeh"]).js_raw
    # it would talk on the console
    return "\n".join(part for part in raw if not part.startswith("Bokeh.set_log_level"))


def plot_deviations(checks: Sequence[Any], labels: Mapping[str, str]) -> Plot | None:
    """Every number of a study that is held against print: its deviation in tolerances, a line per
    quantity; or None.

    Parameters
    ----------
    labels : what the paper calls its tables and figures, by their keys
    """
    numbers = [check for check in checks if check.unit != STATEMENT and check.verdict in _LOOKS]
    shown = [check for check in numbers if not math.isnan(check.in_tolerances)]
    if not shown:
        return None

    def line_of(check: Any) -> str:
        return f"{labels[check.artefact]}: {check.name}"

    lines = list(dict.fromkeys(map(line_of, shown)))
    plot = figure(
        x_axis_type="log",
        x_range=Range1d(start=_LEAST / 1.5, end=_MOST * 1.5),
        y_range=FactorRange(factors=lines[::-1]),
        height=110 + _ROW * len(lines),
        x_axis_label="|ours - printed| / tolerance (up to 0.01 at the left edge, from 10,000 at the right)",
        **_frame(),
    )
    plot.add_layout(
        Span(location=1.0, dimension="height", line_color="#444444", line_dash="dashed")
    )
    for verdict, (colour, marker) in _LOOKS.items():
        members = [check for check in shown if check.verdict == verdict]
        if not members:
            continue
        label = verdict.replace("_", " ")
        source = ColumnDataSource(
            {
                "x": [min(max(check.in_tolerances, _LEAST), _MOST) for check in members],
                "y": list(map(line_of, members)),
                "row": [check.number for check in members],
                "condition": [check.condition.replace(";", ", ") or "-" for check in members],
                "printed": [f"{check.printed} {check.unit}" for check in members],
                "ours": [f"{check.ours} {check.unit}" for check in members],
                "tolerance": [f"{check.tolerance:.3g}" for check in members],
                "basis": [check.basis for check in members],
                "verdict": [label] * len(members),
            }
        )
        plot.scatter(
            "x", jitter("y", width=0.5, range=plot.y_range), source=source, marker=marker, size=7, color=colour,
            alpha=0.75, legend_label=label,
        )  # fmt: skip
    _hover(plot, ["verdict", "basis", "condition", "printed", "ours", "tolerance"], first="@y")
    # a tap opens the number's row in its table
    tapped = CustomJS(code="const i = cb_data.source.selected.indices[0]; if (i != null) "
                      "location.hash = 'check-' + cb_data.source.data.row[i]")  # fmt: skip
    plot.add_tools(TapTool(callback=tapped))
    plot.legend.orientation = "horizontal"
    plot.add_layout(plot.legend[0], "above")
    return _json(plot)


def plot_runtimes(rules: Sequence[Mapping[str, Any]]) -> Plot | None:
    """Seconds of the most expensive rules, all jobs together; None without measurements."""
    shown = [rule for rule in rules if rule["seconds"] > 0.0][:_MOST_RULES]
    if not shown:
        return None
    plot = figure(
        y_range=FactorRange(factors=[rule["rule"] for rule in reversed(shown)]),
        height=90 + _ROW * len(shown),
        x_axis_label="seconds, all jobs of the rule together",
        **_frame(),
    )
    source = ColumnDataSource(
        {
            "y": [rule["rule"] for rule in shown],
            "right": [rule["seconds"] for rule in shown],
            "colour": [_STUDIES.get(rule["rule"].split("_")[0], style.MEASURED) for rule in shown],
            "jobs": [rule["jobs"] for rule in shown],
            "seconds": [f"{rule['seconds']:.4g}" for rule in shown],
            "longest": [f"{rule['longest']:.4g} s" for rule in shown],
            "memory": [f"{rule['memory_mb']:.0f} MB" for rule in shown],
        }
    )
    plot.hbar(y="y", left=0.0, right="right", height=0.7, color="colour", source=source)
    _hover(plot, ["jobs", "seconds", "longest", "memory"], first="@y")
    return _json(plot)


def _frame() -> dict[str, Any]:
    """What all plots share: no toolbar, and the page scrolls where a wheel turns over them."""
    return {
        "sizing_mode": "stretch_width",
        "toolbar_location": None,
        "tools": "",
        "background_fill_color": "#ffffff",
    }


def _hover(plot: Any, fields: Sequence[str], first: str) -> None:
    plot.add_tools(HoverTool(tooltips=[("", first), *((name, f"@{name}") for name in fields)]))
    plot.axis.axis_label_text_font_style = "normal"
    plot.ygrid.grid_line_color = "#eeeeee"


def _json(plot: Any) -> Plot:
    """The plot's JSON with its models numbered from 1, as Bokeh counts them over the whole process."""
    text = json.dumps(json_item(plot), allow_nan=False)
    numbers: dict[str, int] = {}

    def numbered(model: re.Match[str]) -> str:
        number = numbers.setdefault(model[1], len(numbers) + 1)
        return f'"m{number}"'

    return Plot(re.sub(r'"p(\d{4,})"', numbered, text), plot.height)
