"""What journals and registers ask to be told of an article: ReScience C's ``metadata.yaml``, and
``codecheck.yml`` with a manifest of the files that a codechecker makes again.

What isn't known yet stays empty in the one and is left out of the other: dates, DOIs, editors, the
codechecker and the certificate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from contactid.core.atomic import write_text
from contactid.review.report.collect import plain_caption

# the journal's form; what is empty here and isn't known is filled in by whoever submits it
_RESCIENCE = """\
title: ""
authors: []
affiliations: [{code: 1, name: "", address: ""}]
keywords: reproduction, contact, impact, friction, identification, Python, Snakemake
code: [{url: ""}, {doi: ""}, {swh: ""}]
data: [{url: ""}, {doi: ""}]
replication: []
abstract: ""
bibliography: ""
type: Replication
domain: Robotics
language: Python
review: [{url: ""}]
contributors: []
dates: [{received: ""}, {accepted: ""}, {published: ""}]
article: [{number: ""}, {doi: ""}, {url: ""}]
journal: [{name: ReScience C}, {issn: "2430-3658"}]
"""
_SPECIFICATION = "https://codecheck.org.uk/spec/config/2.0/"
_FOR_THE_CHECKER = "# codechecker, report and certificate are added by the person who checks it\n"


def rescience(data: Mapping[str, Any]) -> dict[str, Any]:
    """ReScience C's metadata of an article.

    Parameters
    ----------
    data : the article's, as :mod:`contactid.review.article.write` sets it
    """
    paper = data["paper"]
    form: dict[str, Any] = yaml.safe_load(_RESCIENCE)
    form["title"] = f"[Re] {paper['name']}"
    for name in data["authors"]:
        # the first affiliation, the corresponding author
        author = {"name": name, "orcid": "", "email": "", "affiliations": "1,*"}
        form["authors"].append(author)
    if data["datasets"]:
        form["data"] = [{"url": url} for url in data["datasets"]]
    cited = ", ".join(filter(None, (*paper["authors"], paper["name"], paper["year"])))
    links = [{"url": paper["url"]}, {"doi": paper["doi"]}]
    form["replication"] = [{"cite": cited}, {"bib": ""}, *links]
    form["abstract"] = _results(data)
    return form


def codecheck(data: Mapping[str, Any], declared: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The configuration of a codecheck: the article, and every table and figure that the run makes.

    Parameters
    ----------
    declared : the study's artefacts as ``artefacts.json`` lists them
    """
    paper = data["paper"]
    manifest = [("article.pdf", "The article"), ("checks.csv", "All verdicts of the study")]
    for row in declared:
        # without the study's own folder, in which the manifest lies
        file = row["files"][0].partition("/")[2]
        manifest.append((file, plain_caption(row["caption"])))
    address = _address(paper)
    return {
        "version": _SPECIFICATION,
        "paper": {
            "title": f"[Re] {paper['name']}",
            "authors": [{"name": name} for name in data["authors"]],
            "reference-other": [address] if address else [],
        },
        "manifest": [{"file": file, "comment": comment} for file, comment in manifest],
        "summary": _results(data),
    }


def _address(paper: Mapping[str, str]) -> str:
    return f"https://doi.org/{paper['doi']}" if paper["doi"] else paper["url"]


def _results(data: Mapping[str, Any]) -> str:
    """How many of the paper's sentences have which verdict."""
    counts = ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in data["counts"])
    return f"{data['had']} Of {len(data['claims'])} sentences of the paper: {counts}.".strip()


def write_metadata(
    data: Mapping[str, Any], declared: Iterable[Mapping[str, Any]], metadata: str, manifest: str
) -> None:
    """Write both."""
    write_text(metadata, _yaml(rescience(data)))
    write_text(manifest, _FOR_THE_CHECKER + _yaml(codecheck(data, declared)))


def _yaml(content: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(
        dict(content), sort_keys=False, allow_unicode=True, explicit_start=True, width=100
    )
    return text
