"""Write the articles of a run's studies, pdf and html from one layout by typst, and metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typst

from contactid import __version__
from contactid.core.atomic import replacing
from contactid.core.errors import ContactIdError
from contactid.output.claims import ABSTRACT
from contactid.output.fits import read_json
from contactid.output.recordings import run_had
from contactid.output.typesetting import as_printed
from contactid.review.article import content
from contactid.review.article.metadata import write_metadata
from contactid.review.article.prose import Prose, parted, read_prose, read_values, require_true
from contactid.review.crate import UNCITED, read_citation
from contactid.review.report.digest import counts_of, digest, section_words
from contactid.review.report.judged import read_judged

_DATA, _STYLE = "article.json", "report.css"
# what a reader's program asks of a pdf that everybody can read: tags, a title, alternative texts
_ACCESSIBLE: list[Any] = ["ua-1"]


def write_articles(
    studies: Sequence[str],
    run: str,
    described: Mapping[str, Sequence[Mapping[str, Any]]],
    checks: str,
    claims: str,
    artefacts: str,
    cards: Sequence[str],
    files: Sequence[str],
    wording: str,
    published: Sequence[str],
    ledgers: Sequence[str],
    reasons: str,
    prose: Sequence[str],
    quoted: Sequence[str],
    citation: Sequence[str],
    layout: str,
    style: str,
    pdf: Sequence[str],
    html: Sequence[str],
    metadata: Sequence[str],
    codecheck: Sequence[str],
) -> None:
    """Write the articles, after holding every sentence of their prose against the run's results.

    Parameters
    ----------
    studies, run : the studies in the articles' order, and the run's name
    described : of each study what its printed tables say of themselves
        (:func:`contactid.output.artefacts.typesettings`)
    checks, claims, artefacts, cards : the run's files; the folder of ``checks`` is the run's
    files : all files that the studies made
    wording, published, ledgers, reasons : as the report has them
        (:func:`contactid.review.report.collect.collect`)
    prose, quoted
        the studies' prose where it is about this run, and the files that its values come from, one
        prose after the other
    citation : CITATION.cff where there is one
    layout, style : what sets an article, and the style of its html
    pdf, html, metadata, codecheck : what to write of each study

    Raises
    ------
    ContactIdError : where a sentence of the prose doesn't hold
    """
    folder = Path(checks).parent
    judged = read_judged(checks, claims, wording, published, ledgers, reasons)
    listed = read_json(artefacts)["studies"]
    # the others are a card's pictures
    dataset_cards = [read_json(card) for card in cards if card.endswith(".json")]
    cited = read_citation(citation[0]) if citation else UNCITED
    texts = _read_texts(prose, quoted)
    outputs = zip(studies, pdf, html, metadata, codecheck, strict=True)
    for study, pdf_file, html_file, metadata_file, codecheck_file in outputs:
        about = judged.wording.get(study, {})
        own_table = judged.table[judged.table["study"] == study]
        own_cards = [card for card in dataset_cards if card["study"] == study]
        sources = content.Sources(
            about=about,
            checks=judged.checks_of(study),
            claims=judged.claims_of(study),
            declared=listed[study],
            described=described[study],
            judged=as_printed(own_table, judged.printed[study]),
            folder=folder,
        )
        text, files_of_text = texts.get(study, (None, {}))
        data = article_of(sources, text, files_of_text)
        data |= {
            "study": study,
            "run": run,
            "version": __version__,
            "authors": cited["authors"],
            "paper": paper_of(study, about, cited),
            "had": run_had("This study", own_cards),
        }
        typeset(data, folder, layout, style, pdf_file, html_file)
        write_metadata(data, listed[study], metadata_file, codecheck_file)


def _read_texts(
    prose: Sequence[str], quoted: Sequence[str]
) -> dict[str, tuple[Prose, dict[str, str]]]:
    """Each study's prose, and where its csv files are, by their short names."""
    texts = {}
    # the files of the texts come one text after the other
    remaining = iter(quoted)
    for file in prose:
        text = read_prose(file)
        texts[Path(file).stem] = text, dict(zip(text.files, remaining, strict=False))
    return texts


def paper_of(study: str, about: Mapping[str, Any], cited: Mapping[str, Any]) -> dict[str, Any]:
    """A study's paper as CITATION.cff has it; where it isn't there, as the report calls it."""
    for paper in cited["papers"]:
        if paper["study"] == study:
            return dict(paper)
    return {
        "name": about.get("paper", study),
        "authors": [],
        "year": "",
        "doi": "",
        "url": about.get("link", ""),
    }


def article_of(
    sources: content.Sources, prose: Prose | None, files: Mapping[str, str]
) -> dict[str, Any]:
    """What an article says that is the study's alone; without prose, tables, figures and verdicts.

    Parameters
    ----------
    files : where the prose's csv files are, by their short names
    """
    # in the paper's order
    claims = [content.claim_of(claim, number) for number, claim in enumerate(sources.claims, 1)]
    of_abstract = section_words(ABSTRACT)
    # the paper's recordings that this run hasn't read
    missing = digest(sources.checks).missing_datasets
    summary: list[dict[str, Any]] = []
    text: list[dict[str, Any]] = []
    if prose is not None:
        values = read_values(prose, files)
        require_true(prose, values, {claim.name: claim.verdict for claim in sources.claims})
        summary, text = (
            content.text_blocks(prose, blocks, values, claims, sources) for blocks in parted(prose)
        )
    shown = content.shown(sources)
    placed: set[str] = set()
    for block in text:
        if block["kind"] == "show":
            placed.update(block["names"])
    if prose is not None and (absent := sorted(placed - shown.keys())):
        raise ContactIdError(
            f"{prose.path}: @show {absent[0]} is neither a figure nor a table of the paper",
            f"There are {', '.join(shown)}",
        )
    return {
        "summary": summary,
        "text": text,
        "shown": shown,
        "rest": [key for key in shown if key not in placed and key.startswith(content.PAPERS)],
        "claims": claims,
        "sections": content.by_section(claims),
        "datasets": [f"https://doi.org/{doi}" for doi in missing],
        "abstract": [claim for claim in claims if claim["section"] == of_abstract],
        "counts": list(counts_of(sources.claims).items()),
        "against": content.against(sources),
        "lacking": content.lacking(sources),
        "verdicts": content.verdict_words(),
    }


def typeset(
    data: Mapping[str, Any], folder: Path, layout: str, style: str, pdf: str, html: str
) -> None:
    """Set one article, twice.

    Equal data give equal bytes: no date is written, and of fonts only typst's own are used.
    """
    files: Any = {
        "main": Path(layout).read_bytes(),
        _DATA: json.dumps(data, ensure_ascii=False).encode(),
        _STYLE: Path(style).read_bytes(),
    }
    for parts in data["shown"].values():
        for part in parts:
            if part["kind"] == "figure":
                files[part["file"]] = (folder / part["file"]).read_bytes()
    pages: dict[Any, str] = {"pdf": pdf, "html": html}
    for format, page in pages.items():
        # a standard of pdf alone
        standards = _ACCESSIBLE if format == "pdf" else []
        content_of_page = typst.compile(
            files,
            format=format,
            ignore_system_fonts=True,
            pdf_standards=standards,
            sys_inputs={"format": format},
        )
        with replacing(page) as partial:
            Path(partial).write_bytes(content_of_page)
