"""One kind of answer for a user's own data: parameters with errors, and whether to believe them.

A command writes it (:meth:`Result.save`), a notebook shows it (``_repr_html_``,
:meth:`Result.plot`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_json
from contactid.output.grids import plain
from contactid.output.own_report import PARAMETERS
from contactid.output.simulator_formats import IdentifiedBody, mjcf, urdf, wavefront
from contactid.output.tables import write_report_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPORT = "report.html"
# standard errors on either side of a normal error's 95 %
NORMAL_95 = 1.96
_HULL = "hull.obj"
_STYLE = Path(__file__).with_name("result.css")


@dataclass(frozen=True, eq=False)
class Result:
    """What was identified, and whether it holds.

    Attributes
    ----------
    title : what of, in a few words
    params : index ``parameter``; columns ``value``, ``error`` (one standard deviation), ``low``,
        ``high`` (95 %), ``unit``, and ``told_by``: ``data``, ``prior``, or ``stated`` by the user;
        rows are those of :func:`parameter_row`
    covariance : of the parameters that have one, in the parameters' units
    residuals : by channel, measured less modelled, with ``units`` as an attribute, and ``noise``,
        a standard deviation in these units, where a channel has one
    reasons : why the answer isn't to be believed; empty where it is
    warnings : sentences on what not to trust in this answer, the weightiest first
    notes : sentences on what was done
    record : what ``parameters.json`` holds besides :meth:`numbers`; of one name, the record's
    tables, figures : further ones by name; a figure is drawn when it is asked for
    body : for simulators; None where not enough of it is known
    headline : lines that say the answer, where they aren't one per parameter
    limits : sentences on what no answer of this kind can tell, whatever the data
    shown : names of the tables that the page shows; the others are files alone
    files : texts of further files by name
    remedy : what to do where it isn't valid
    """

    title: str
    params: pd.DataFrame
    covariance: pd.DataFrame
    residuals: xr.Dataset
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    record: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    body: IdentifiedBody | None = None
    headline: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    remedy: str = ""

    @property
    def valid(self) -> bool:
        """Whether nothing speaks against the answer."""
        return not self.reasons

    def timed(self, seconds: float) -> Result:
        """The same, made in so many seconds of CPU time."""
        return replace(self, record={**self.record, "seconds": seconds})

    def lines(self) -> list[str]:
        """The answer as commands print it: the headline, else a line per parameter."""
        return list(self.headline) or list(self._parameter_lines())

    def _parameter_lines(self) -> Iterator[str]:
        for name, row in self.params.iterrows():
            unit = "" if row["unit"] == "1" else f" {row['unit']}"
            value, low, high = (
                to_error(row[column], row["error"]) for column in ("value", "low", "high")
            )
            yield f"{name} = {value}{unit} (95 %: {low} to {high}; by {row['told_by']})"

    def numbers(self) -> dict[str, Any]:
        """The parameters by name, as JSON takes them: what isn't finite is None."""
        numbers = self.params[["value", "error", "low", "high"]].astype(float)
        finite = numbers.astype(object).where(np.isfinite(numbers), None)
        intervals = finite[["low", "high"]].to_numpy().tolist()
        return {
            "parameters": finite["value"].to_dict(),
            "standard_errors": finite["error"].to_dict(),
            "intervals": dict(zip(finite.index, intervals, strict=True)),
            "units": self.params["unit"].to_dict(),
            "told_by": self.params["told_by"].to_dict(),
        }

    def summary(self) -> str:
        """Title, answer, and what not to trust, as text."""
        # what speaks against the answer comes before what was done
        lines = [self.title, *self.lines()]
        lines += [f"NOT VALID: {reason}" for reason in self.reasons]
        lines += [f"WARNING {warning}" for warning in self.warnings]
        return "\n".join([*lines, *self.limits, *self.notes])

    def __repr__(self) -> str:
        """The summary."""
        return self.summary()

    def _repr_html_(self) -> str:
        return self._answer_html() + self._tables_html()

    def plot(self, name: str = "") -> Figure:
        """A figure by its name, by default the first. A notebook shows it as a cell's value.

        Raises :class:`ContactIdError` where there is none of that name.
        """
        # slow to import, and most answers are only printed
        from matplotlib import pyplot as plt

        from contactid.output.style import styled_for_a_caller

        chosen = name or next(iter(self.figures), "")
        if chosen not in self.figures:
            raise ContactIdError(
                f"no figure {chosen}", f"There are {', '.join(self.figures) or 'none'}"
            )
        with styled_for_a_caller():
            figure = self.figures[chosen]()
        # a notebook would show it a second time, as one that is still open
        plt.close(figure)
        return figure

    def to_mjcf(self) -> str:
        """The body for MuJoCo.

        Raises :class:`ContactIdError` where it has no mass.
        """
        return mjcf(self._body())

    def to_urdf(self) -> str:
        """The body for simulators that read URDF; a hull is in the file ``hull.obj`` beside it.

        Raises :class:`ContactIdError` where it has no mass, or moves in a plane alone.
        """
        if self._body().planar:
            raise ContactIdError("URDF has no joint for a body in a plane", "Take to_mjcf()")
        return urdf(self._body(), mesh=_HULL)

    def _body(self) -> IdentifiedBody:
        if self.body is None:
            raise ContactIdError("no simulator's body: its mass isn't known", "State the mass")
        return self.body

    def save(self, folder: str | Path) -> None:
        """Write one page (``report.html``), the numbers (``parameters.json``), the tables (csv), and
        the body (``body.xml``, ``body.urdf``) where it is known.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / REPORT, self._page())
        write_json(folder / PARAMETERS, {**self.numbers(), **self.record})
        for name, table in {"parameters": self.params.reset_index(), **self.tables}.items():
            write_report_csv(table, folder / f"{name}.csv")
        for name, text in {**self._body_files(), **self.files}.items():
            write_text(folder / name, text)

    def _body_files(self) -> dict[str, str]:
        if self.body is None:
            return {}
        files = {"body.xml": self.to_mjcf()}
        if not self.body.planar:
            files["body.urdf"] = self.to_urdf()
            if self.body.hull is not None:
                files[_HULL] = wavefront(self.body.hull)
        return files

    def _page(self) -> str:
        title, style = escape(self.title), _STYLE.read_text(encoding="utf-8")
        head = f"<meta charset='utf-8'><title>{title}</title><style>{style}</style>"
        figures = "".join(map(self._figure_html, self.figures))
        body = self._answer_html() + figures + self._tables_html()
        return f"<!doctype html>\n<html lang='en'><head>{head}</head><body>{body}</body></html>\n"

    def _answer_html(self) -> str:
        marks = [("refuted", f"Not valid: {reason}") for reason in self.reasons]
        if self.valid:
            doubts = ", with warnings" if self.warnings else ""
            marks = [("valid", f"Its own checks hold{doubts}")]
        chips = "".join(
            f"<p><span class='chip {kind}'>{escape(text)}</span>" for kind, text in marks
        )
        headline = _items(self.headline, "answer")
        parameters = _table_html(self.params.reset_index())
        warnings = _section("Warnings", self.warnings)
        return f"<h1>{escape(self.title)}</h1>{chips}{headline}{parameters}{warnings}"

    def _tables_html(self) -> str:
        tables = []
        for name in self.shown:
            title = escape(plain(name).capitalize())
            tables.append(f"<h2>{title}</h2>{_table_html(self.tables[name])}")
        limits = _section("What this can't tell", self.limits)
        return "".join(tables) + limits + _section("Notes", self.notes)

    def _figure_html(self, name: str) -> str:
        from matplotlib import pyplot as plt

        from contactid.output.style import DOUBLE_COLUMN, styled_for_a_caller, svg

        with styled_for_a_caller():
            figure = self.figures[name]()
            # a figure of one column keeps its letters' size beside one of two
            share = min(figure.get_figwidth() / DOUBLE_COLUMN, 1.0)
            drawn = svg(figure).replace("<svg", f"<svg style='width:{share:.0%}'", 1)
            plt.close(figure)
        return f"<figure><h2>{escape(name)}</h2>{drawn}</figure>"


def parameter_row(
    name: str,
    value: float,
    error: float,
    unit: str,
    told_by: str = "data",
    ends: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """A row of ``Result.params``; by default its 95 % interval is that of a normal error."""
    low, high = ends or (value - NORMAL_95 * error, value + NORMAL_95 * error)
    numbers = {"value": float(value), "error": float(error), "low": float(low), "high": float(high)}
    return {"parameter": name, **numbers, "unit": unit, "told_by": told_by}


def parameter_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """``Result.params`` of rows by :func:`parameter_row`."""
    columns = ["parameter", "value", "error", "low", "high", "unit", "told_by"]
    return pd.DataFrame(rows, columns=columns).set_index("parameter")


def with_error(value: float, error: float, unit: str = "") -> str:
    """A number to the first digit of its standard error, to the second where that begins with 1.

    Further digits differ from one processor to another.

    >>> with_error(515.3, 11.2, "mm2")
    '515 mm2 +- 11 (standard error)'
    """
    unit = f" {unit}" if unit else ""
    if not np.isfinite(error) or error <= 0.0:
        return f"{value:.4g}{unit} (no standard error)"
    exponent = int(np.floor(np.log10(error)))
    begins_with_1 = error < 2.0 * 10.0**exponent
    decimals = max(0, int(begins_with_1) - exponent)
    return f"{value:.{decimals}f}{unit} +- {error:.{decimals}f} (standard error)"


def to_error(value: float, error: float) -> str:
    """A number to the second digit of its error."""
    if not (np.isfinite(error) and error > 0.0):
        return f"{value:.4g}"
    decimals = max(1 - int(np.floor(np.log10(error))), 0)
    # without the sign of a zero
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}"


def _table_html(table: pd.DataFrame) -> str:
    shown = table.rename(columns=plain)
    html = shown.to_html(index=False, border=0, na_rep="", float_format="{:.4g}".format)
    return f"<div class='scroll'>{html}</div>"


def _section(title: str, sentences: Sequence[str]) -> str:
    return f"<h2>{title}</h2>{_items(sentences)}" if sentences else ""


def _items(sentences: Sequence[str], kind: str = "") -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul class='{kind}'>{items}</ul>" if items else ""
