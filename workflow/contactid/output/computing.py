"""Compute declared artefacts, and put tables under their captions.

Rules call :func:`compute` and :func:`typeset`. What they are told of each artefact is in the rule's params
(:mod:`contactid.output.artefacts`). Nothing but the report needs a caption, so its edit reruns one short job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.core.atomic import write_text
from contactid.core.references import arguments, resolve
from contactid.output.artefacts import files_by_place
from contactid.output.escape import one_line
from contactid.output.fits import write_json
from contactid.output.tables import captioned, tabular, write_report_csv

_DATA = "% Data: "


@dataclass(frozen=True)
class Shown:
    """A table that is shown in another way than it is kept.

    Attributes
    ----------
    table : what the csv file holds
    tex : what the tex file shows; None for the same
    headings : of the tex table, in math mode where they hold a ``$``; None for the columns' names
    data : what it was made from, which ends a table's caption; empty where the caption says it
    datasets : those of the run that a figure was made from, by name, where they aren't declared
    md : what a Markdown file says, where one is declared
    """

    table: pd.DataFrame
    tex: pd.DataFrame | None = None
    headings: Sequence[str] | None = None
    data: str = ""
    datasets: Sequence[str] = ()
    md: str = ""


def compute(declared: Sequence[Mapping[str, Any]], named: Mapping[str, Any]) -> None:
    """Call the functions of declared artefacts, each once, and write what they return.

    Parameters
    ----------
    declared : what :func:`contactid.output.artefacts.declared` says of each
    named
        The rule's files and settings, of which every function is given those that it asks for. ``artefacts`` lists the
        files to write, ``sources`` is a JSON file for what figures were made from, where the rule has one. A function
        returns its one artefact, or several by place (``"tables/ext_modes"``), each a table or a :class:`Shown`.
    """
    files, said = files_by_place(declared, named["artefacts"]), {}
    for reference in dict.fromkeys(row["compute"] for row in declared):
        rows = {row["place"]: row for row in declared if row["compute"] == reference}
        function = resolve(reference)
        found = function(**arguments(function, named))
        made = found if isinstance(found, Mapping) else dict.fromkeys(rows, found)
        if set(made) != set(rows) or (made is not found and len(rows) > 1):
            raise ValueError(f"{reference} makes {', '.join(made)}, but {', '.join(rows)} are declared for it")
        for place, content in made.items():
            shown = content if isinstance(content, Shown) else Shown(content)
            _write(shown, files[place])
            said[place] = {"said": shown.data, "datasets": [*shown.datasets]}
    if "sources" in named:
        write_json(named["sources"], {Path(row["place"]).name: said[row["place"]] for row in declared})


def _write(shown: Shown, files: Sequence[str]) -> None:
    for file in files:
        match Path(file).suffix:
            case ".csv":
                write_report_csv(shown.table, file)
            case ".tex":
                said = f"{_DATA}{one_line(shown.data)}\n" if shown.data else ""
                write_text(file, said + tabular(shown.table if shown.tex is None else shown.tex, shown.headings))
            case ".md":
                write_text(file, shown.md)


def typeset(captions: Sequence[str], tabulars: Sequence[str], tables: Sequence[str]) -> None:
    """Put the tables that :func:`compute` left in ``tabulars`` under their captions, in tex files of the same order."""
    for caption, file, table in zip(captions, tabulars, tables, strict=True):
        content, said = Path(file).read_text(encoding="utf-8"), ""
        if content.startswith(_DATA):
            said, content = content.removeprefix(_DATA).split("\n", 1)
        write_text(table, captioned(content, caption, said))
