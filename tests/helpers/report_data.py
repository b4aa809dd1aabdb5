"""What a finished run's report says of data, held against the pictures, the tables and the verdicts
themselves.
"""

import html
import json
import re
from pathlib import Path

import pandas as pd

from contactid.review.report.collect import key_of

# how a picture's footer begins that shows no dataset
_NO_DATA = ("drawing", "drawn", "simulated", "computed")
_OF_DATASETS = ("dataset", "identified_on")  # columns of tables


def contradictions(results):
    """Sentences on what doesn't agree; none where all is well."""
    results = Path(results)
    lines = _data_lines((results / "report.html").read_text(encoding="utf-8"))
    cards = {card["name"]: card for card in map(_read, results.glob("data/*/card.json"))}
    checks = pd.read_csv(results / "checks.csv", keep_default_na=False)
    told, known = [], {}
    for (study, key), rows in checks.groupby(["study", "artefact"]):
        # the numbers of what is neither table nor figure are the rows themselves
        known[f"{study}-{key}"] = {
            name for names in rows["data"] for name in names.split(", ") if name
        }
    declared = list(inputs(results))
    known |= {f"{study}-{key_of(row['name'])}": set() for study, row, _ in declared}
    for study, row, names in declared:
        place = f"{study}-{key_of(row['name'])}"
        known[place] |= names
        told += _of_table(results / row["files"][0], cards, *lines[place], place)
        if row["kind"] == "figure":
            told += _of_figure(
                results / study / f"{row['place']}.svg", row, cards, *lines[place], place
            )
    for place, names in known.items():
        if lines[place][0] != names:
            told.append(f"{place}: its line has {lines[place][0]}, not {names}")
    return told


def inputs(results):
    """Of every table and figure of a run: its study, its row in the run's list, and the datasets it
    was made from.
    """
    for study, rows in _read(results / "artefacts.json")["studies"].items():
        file = results / study / "figures/sources.json"
        sources = _read(file) if file.is_file() else {}
        for row in rows:
            if row["kind"] != "animation":
                own = sources.get(row["name"], {}) if row["kind"] == "figure" else {}
                yield study, row, {*row["datasets"], *own.get("datasets", [])}


def _of_table(file, cards, names, _, place):
    """Datasets that a table has in its own columns are on its line."""
    if file.stat().st_size < 2:
        return []
    table = pd.read_csv(file)
    columns = [table[name].dropna().astype(str) for name in _OF_DATASETS if name in table]
    lost = {value for column in columns for value in column if value in cards} - names
    return [f"{place}: its columns have {lost}, its line hasn't"] if lost else []


def _of_figure(picture, row, cards, names, said, place):
    """A line says what the picture's footer says, and no datasets of another kind."""
    footer = html.unescape(
        re.search(r"<dc:description>(.*?)</dc:description>", picture.read_text())[1]
    )
    kinds = {cards[name.split(":")[0]]["synthetic"] for name in names}
    told = []
    if said != footer:
        told.append(f"{place}: the picture says {footer!r}, its line {said!r}")
    if footer.startswith(_NO_DATA) and row["datasets"]:
        told.append(f"{place}: the picture says {footer!r}, its row {row['datasets']}")
    if footer.startswith("synthetic data") and kinds - {True}:
        told.append(f"{place}: the picture says {footer!r}, its line names {names}")
    if footer.startswith(("recorded data", "public data")) and kinds != {False}:
        told.append(f"{place}: the picture says {footer!r}, its line names {names}")
    return told


def _data_lines(page):
    """By address, the names on an artefact's Data line, and what the figure says there."""
    lines = {}
    for address, article in re.findall(
        r'<article id="([^"]+)" data-artefact(.*?)</article>', page, re.DOTALL
    ):
        line = html.unescape(
            re.sub(r"<[^>]*>", "", re.search(r"<dt>Data</dt><dd>(.*?)</dd>", article, re.DOTALL)[1])
        )
        named, _, said = line.strip().partition("; the figure says: ")
        names = {re.sub(r" \(.*\)$", "", name) for name in named.split(", ")} - {"no dataset"}
        lines[address] = names, said
    return lines


def _read(file):
    return json.loads(Path(file).read_text(encoding="utf-8"))
