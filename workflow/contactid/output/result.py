"""One kind of answer for a user's own data: parameters with errors, what they explain, whether to
believe them.

A command writes it (:meth:`Result.save`), a notebook shows it (``_repr_html_``,
:meth:`Result.plot`).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.output.own_report import PARAMETERS
from contactid.output.simulator_formats import IdentifiedBody, mjcf, urdf
from contactid.output.tables import write_report_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPORT = "report.html"
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse}th,td{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #ddd}"
    "svg{max-width:100%;height:auto}.refuted{color:#a00}"
)


@dataclass(frozen=True, eq=False)
class Result:
    """What was identified, and whether it holds.

    Attributes
    ----------
    title : what of, in a few words
    params : index ``parameter``; columns ``value``, ``error`` (one standard deviation), ``low``,
        ``high`` (95 %), ``unit``, and ``told_by``: ``data``, ``prior``, or ``stated`` by the user
    covariance : of the parameters that have one, in the parameters' units
    residuals : by channel, measured less modelled, with ``units`` as an attribute
    reasons : why the answer isn't to be believed; empty where it is
    warnings, notes : sentences
    record : what :func:`contactid.output.fits.write_fit` takes
    tables, figures : further ones by name; a figure is drawn when it is asked for
    body : for simulators; None where not enough of it is known
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

    @property
    def valid(self) -> bool:
        """Whether nothing speaks against the answer."""
        return not self.reasons

    def lines(self) -> list[str]:
        """A line per parameter, as commands print them."""
        lines = []
        for name, row in self.params.iterrows():
            unit = "" if row["unit"] == "1" else f" {row['unit']}"
            interval = f"95 %: {row['low']:.4g} to {row['high']:.4g}"
            lines.append(f"{name} = {row['value']:.4g}{unit} ({interval}; by {row['told_by']})")
        return lines

    def summary(self) -> str:
        """Title, parameters, and what not to trust, as text."""
        parts = [self.title, *self.lines(), *(f"NOT VALID: {reason}" for reason in self.reasons)]
        parts += [f"WARNING {warning}" for warning in self.warnings]
        return "\n".join([*parts, *self.notes])

    def __repr__(self) -> str:
        """The summary."""
        return self.summary()

    def _repr_html_(self) -> str:
        shown = self.params.drop(columns="error").rename_axis(None)
        table = shown.to_html(float_format="{:.5g}".format, border=0)
        refuted = "".join(
            f"<p class='refuted'>Not valid: {escape(reason)}</p>" for reason in self.reasons
        )
        warnings = _list("What this can't tell", self.warnings) + _list("Notes", self.notes)
        return f"<h1>{escape(self.title)}</h1>{refuted}{table}{warnings}"

    def plot(self, name: str = "") -> Figure:
        """A figure by its name, by default the first.

        Raises :class:`ContactIdError` where there is none of that name.
        """
        from contactid.output.style import styled

        chosen = name or next(iter(self.figures), "")
        if chosen not in self.figures:
            raise ContactIdError(
                f"no figure {chosen}", f"There are {', '.join(self.figures) or 'none'}"
            )
        with styled():
            return self.figures[chosen]()

    def to_mjcf(self) -> str:
        """The body for MuJoCo."""
        return mjcf(self._body())

    def to_urdf(self) -> str:
        """The body for simulators that read URDF."""
        return urdf(self._body())

    def _body(self) -> IdentifiedBody:
        if self.body is None:
            raise ContactIdError("no simulator's body: its mass isn't known", "State the mass")
        return self.body

    def save(self, folder: str | Path) -> None:
        """Write one page (``report.html``), the numbers (json), the tables (csv), and the body
        where it is known.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / REPORT, self._page())
        write_fit(folder / PARAMETERS, dict(self.record))
        for name, table in {"parameters": self.params.reset_index(), **self.tables}.items():
            write_report_csv(table, folder / f"{name}.csv")
        if self.body is not None:
            write_text(folder / "body.xml", self.to_mjcf())
            write_text(folder / "body.urdf", self.to_urdf())

    def _page(self) -> str:
        drawn = "".join(f"<h2>{escape(name)}</h2>{self._svg(name)}" for name in self.figures)
        head = f"<meta charset='utf-8'><title>{escape(self.title)}</title><style>{_STYLE}</style>"
        return f"<!doctype html><html lang='en'><head>{head}</head><body>{self._repr_html_()}{drawn}</body></html>\n"

    def _svg(self, name: str) -> str:
        from matplotlib import pyplot as plt

        from contactid.output.style import styled

        with styled():
            figure = self.figures[name]()
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None})
            plt.close(figure)
        return text.getvalue()[text.getvalue().index("<svg") :]


def _list(title: str, sentences: tuple[str, ...]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""
