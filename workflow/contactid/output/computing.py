"""Compute declared artefacts: rules call :func:`compute` with what
:mod:`contactid.output.artefacts` says of each.
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
from contactid.output.fits import write_json
from contactid.output.tables import write_report_csv


@dataclass(frozen=True)
class Shown:
    """A table with more to say than its csv file holds.

    Attributes
    ----------
    table : what the csv file holds
    data : what a figure was made from, where only the run knows
    datasets : those of the run that a figure was made from, by name, where they aren't declared
    md : what a Markdown file says, where one is declared
    """

    table: pd.DataFrame
    data: str = ""
    datasets: Sequence[str] = ()
    md: str = ""


def compute(declared: Sequence[Mapping[str, Any]], named: Mapping[str, Any]) -> None:
    """Call the functions of declared artefacts, each once, and write what they return.

    Parameters
    ----------
    declared : what :func:`contactid.output.artefacts.declared` says of each
    named
        The rule's files and settings, of which every function is given those that it asks for.
        ``artefacts`` lists the files to write, ``sources`` is a JSON file for what figures were
        made from, where the rule has one. A function returns its one artefact, or several by place
        (``"tables/ext_headline"``), each a table or a :class:`Shown`.
    """
    files = files_by_place(declared, named["artefacts"])
    # one function may make several artefacts, and shares what it computes for them
    places_of: dict[str, list[str]] = {}
    for row in declared:
        places_of.setdefault(row["compute"], []).append(row["place"])
    sources = {}
    for reference, places in places_of.items():
        function = resolve(reference)
        result = function(**arguments(function, named))
        for place, shown in _by_place(reference, places, result).items():
            _write(shown, files[place])
            sources[place] = {"said": shown.data, "datasets": [*shown.datasets]}
    if "sources" in named:
        by_name = {Path(row["place"]).name: sources[row["place"]] for row in declared}
        write_json(named["sources"], by_name)


def _by_place(reference: str, places: Sequence[str], result: Any) -> dict[str, Shown]:
    """What a function returned for the artefacts that are declared for it."""
    results = result if isinstance(result, Mapping) else {places[0]: result}
    if set(results) != set(places):
        raise ValueError(
            f"{reference} makes {', '.join(results)}, but {', '.join(places)} are declared for it"
        )
    by_place = {}
    for place, content in results.items():
        by_place[place] = content if isinstance(content, Shown) else Shown(content)
    return by_place


def _write(shown: Shown, files: Sequence[str]) -> None:
    # a declaration's other extensions are those that are drawn or typeset from these
    for file in files:
        match Path(file).suffix:
            case ".csv":
                write_report_csv(shown.table, file)
            case ".md":
                write_text(file, shown.md)
