"""Authors, licence and papers, as CITATION.cff has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Citation:
    """What an archive of this repository's results has to say about whose they are.

    Attributes
    ----------
    title, version, licence : of the software; the licence by its SPDX name
    authors : names
    papers : one mapping per paper, with ``name``, ``authors``, ``year`` and ``url`` (empty where unknown), ``study``
    """

    title: str = "contactid"
    version: str = ""
    licence: str = "MIT"
    authors: tuple[str, ...] = ()
    papers: tuple[Mapping[str, Any], ...] = ()


def read_citation(path: str | Path) -> Citation:
    """From a CITATION.cff; nothing but the defaults where there is none."""
    if not Path(path).is_file():
        return Citation()
    content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    papers = [
        {
            "name": " ".join(entry["title"].split()),
            "authors": [_name(author) for author in entry.get("authors", [])],
            "year": str(entry.get("year", "")),
            "url": entry.get("url", ""),
            "study": entry.get("notes", "").removeprefix("study "),
        }
        for entry in content.get("references", [])
    ]
    return Citation(
        title=content["title"],
        version=str(content.get("version", "")),
        licence=content.get("license", "MIT"),
        authors=tuple(_name(author) for author in content.get("authors", [])),
        papers=tuple(papers),
    )


def _name(author: Mapping[str, str]) -> str:
    parts = (author.get("given-names"), author.get("name-particle"), author.get("family-names"), author.get("name"))
    return " ".join(part for part in parts if part)
