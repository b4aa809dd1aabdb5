"""The tables and figures of a study as files, joined by name with the printed numbers that belong to them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from contactid.output.tables import read_csv
from contactid.review.report.checks_digest import digest
from contactid.review.report.making import Makings
from contactid.review.report.model import Artefact, Check

_NUMBERED = re.compile(r"(tab|fig)(A?)(\d+)_")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
# numbers that a paper prints in its text, not in a table
TEXT = "text"


def artefacts_of(
    study: str, results: Path, checks: Sequence[Check], makings: Makings, wording: Mapping[str, Any]
) -> tuple[Artefact, ...]:
    """All artefacts of a study: the paper's tables, numbers in its text, its figures, and what goes beyond it.

    Parameters
    ----------
    results
        The run's folder.
    checks
        The study's rows of ``checks.csv``.
    wording
        The study's entry of ``studies.yaml``.
    """
    folder = results / study
    tables = {file.stem: file for file in sorted((folder / "tables").glob("*.csv"))}
    figures = {file.stem: file for file in sorted((folder / "figures").glob("*.svg"))}
    by_key: dict[str, list[Check]] = {}
    for check in checks:
        by_key.setdefault(check.artefact, []).append(check)
    names = {key_of(name): name for name in (*tables, *figures)}
    names |= {key: key for key in by_key if key not in names}
    found = []
    for key, name in names.items():
        table, figure = tables.get(name), figures.get(name)
        # numbers without a table of their own are made by the study's checks
        made = table or (folder / "checks.csv" if figure is None else None)
        table_path = made.relative_to(results).as_posix() if made else None
        data_path = figure.with_suffix(".csv").relative_to(results).as_posix() if figure else None
        figure_path = figure.relative_to(results).as_posix() if figure else None
        own = tuple(by_key.get(key, ()))
        found.append(
            Artefact(
                study=study,
                name=name,
                key=key,
                label=label_of(key, wording.get("numerals", "arabic")),
                title=_title(name, key),
                about=_about(name, table, figure, wording.get("captions", {})),
                table=read_csv(table) if table and table.stat().st_size > 1 else None,
                table_path=table_path,
                table_making=makings.of(table_path) if table_path else None,
                figure=figure,
                figure_path=figure_path,
                data_path=data_path,
                figure_source=said_in(figure) if figure else "",
                figure_making=makings.of(figure_path) if figure_path else None,
                checks=own,
                digest=digest(own) if own else None,
            )
        )
    return tuple(sorted(found, key=_place))


def key_of(name: str) -> str:
    """``tab03`` of ``tab03_rest_pose_errors``; names beyond the paper stay whole."""
    return name.split("_", 1)[0] if _NUMBERED.match(name) else name


def label_of(key: str, numerals: str) -> str:
    """What the paper calls an artefact: ``Table III``, ``Figure 12``, ``Table A1``."""
    match = _NUMBERED.match(f"{key}_")
    if match is None:
        return "Text" if key == TEXT else "Beyond the paper" if key.startswith("ext_") else "Printed elsewhere"
    kind, appendix, digits = match.groups()
    number = str(int(digits))
    if kind == "tab" and numerals == "roman" and not appendix:
        number = _ROMAN[int(digits) - 1]
    return f"{'Table' if kind == 'tab' else 'Figure'} {appendix}{number}"


def said_in(figure: Path) -> str:
    """What a drawn figure says it was made from: the description in the svg file's metadata."""
    head = figure.read_text(encoding="utf-8")[:4000]
    match = re.search(r"<dc:description>(.*?)</dc:description>", head, re.DOTALL)
    return _unescaped(match.group(1)).strip() if match else ""


def caption_of(tex: Path) -> str:
    """The caption of a table's tex file as plain text."""
    match = re.search(r"^\\caption\{(.*)\}$", tex.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        return ""
    plain = re.sub(r"\\([_%&#])", r"\1", match.group(1)).replace("$\\pm$", "±").replace("^{", "^").replace("$", "")
    return plain.replace("}", "").strip()


def _about(name: str, table: Path | None, figure: Path | None, captions: Mapping[str, str]) -> tuple[str, ...]:
    tex = table.with_suffix(".tex") if table else None
    said = [caption_of(tex)] if tex is not None and tex.exists() else []
    written = captions.get(name) or (captions.get("ext_scene") if name.startswith("ext_scene_") else None)
    if written and (figure or not said):
        said.append(written)
    return tuple(sentence for sentence in said if sentence)


def _title(name: str, key: str) -> str:
    if key == TEXT:
        return "numbers in the text"
    return name.removeprefix(f"{key}_").removeprefix("ext_").replace("_", " ")


def _place(artefact: Artefact) -> tuple[int, str]:
    kinds = {"tab": 0, "tex": 1, "fig": 2, "ext": 3}
    return kinds.get(artefact.key[:3], 4), artefact.key


def _unescaped(text: str) -> str:
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text
