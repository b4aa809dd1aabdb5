"""What a finished run's report says of data, held against the pictures, the tables and the verdicts themselves."""

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
    declared = _read(results / "artefacts.json")["studies"]
    told = []
    for (study, key), rows in checks.groupby(["study", "artefact"]):
        judged = {name for names in rows["data"] for name in names.split(", ") if name}
        if lost := judged - lines[f"{study}-{key}"][0]:
            told.append(f"{study}-{key}: its rows have {lost}, its line hasn't")
    for study, rows in declared.items():
        for row in rows:
            place = f"{study}-{key_of(row['name'])}"
            if row["kind"] == "animation":
                continue
            told += _of_table(results / row["files"][0], cards, *lines[place], place)
            if row["kind"] == "figure":
                told += _of_figure(results / study / f"{row['place']}.svg", row, cards, *lines[place], place)
        beyond = {key_of(row["name"]): set() for row in rows}
        for row in rows:
            beyond[key_of(row["name"])] |= set(row["datasets"])
        own = results / study / "figures/sources.json"
        for name, source in (_read(own) if own.is_file() else {}).items():
            beyond[key_of(name)] |= set(source["datasets"])
        for key, names in beyond.items():
            of_rows = checks[(checks["study"] == study) & (checks["artefact"] == key)]["data"]
            known = names | {name for joined in of_rows for name in joined.split(", ") if name}
            if lines[f"{study}-{key}"][0] != known:
                told.append(f"{study}-{key}: its line has {lines[f'{study}-{key}'][0]}, not {known}")
    return told


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
    footer = html.unescape(re.search(r"<dc:description>(.*?)</dc:description>", picture.read_text())[1])
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
    for address, article in re.findall(r'<article id="([^"]+)" data-artefact(.*?)</article>', page, re.DOTALL):
        line = html.unescape(re.sub(r"<[^>]*>", "", re.search(r"<dt>Data</dt><dd>(.*?)</dd>", article, re.DOTALL)[1]))
        named, _, said = line.strip().partition("; the figure says: ")
        names = {re.sub(r" \(.*\)$", "", name) for name in named.split(", ")} - {"no dataset"}
        lines[address] = names, said
    return lines


def _read(file):
    return json.loads(Path(file).read_text(encoding="utf-8"))
