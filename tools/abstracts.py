"""What the studies' articles say of their results, for docs/findings.md: ``make numbers`` takes it
from the default run and keeps it in ``workflow/resources/abstracts.csv``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from contactid.output.tables import read_csv, write_csv
from contactid.review.article.prose import (
    Block,
    Prose,
    filled,
    parted,
    read_prose,
    read_values,
)

ABSTRACTS = "workflow/resources/abstracts.csv"
ARTICLES = "workflow/resources/articles"
RUN = "results/default"
_IN_SUMMARY, _IN_TEXT = "Results", "Beyond the paper"


def take_abstracts(root: Path) -> None:
    """Write the studies' abstracts, if the default run with all studies is there."""
    articles = sorted((root / ARTICLES).glob("*.md"))
    pages = [root / RUN / article.stem / "article.html" for article in articles]
    if not pages or not all(page.is_file() for page in pages):
        return
    rows = []
    for article in articles:
        for kind, text in _abstract(root, read_prose(article)):
            rows.append({"study": article.stem, "kind": kind, "text": text})
    write_csv(pd.DataFrame(rows), root / ABSTRACTS)


def abstracts(root: Path) -> dict[str, str]:
    """By the name of its marker, every study's abstract as a page has it."""
    texts = read_csv(root / ABSTRACTS)
    pages = {}
    for study, rows in texts.groupby("study", sort=False):
        paragraphs = map(_as_markdown, rows["kind"], rows["text"])
        pages[f"table_of_{study}_abstract"] = "\n\n" + "\n\n".join(paragraphs) + "\n\n"
    return pages


def _abstract(root: Path, prose: Prose) -> Iterator[tuple[str, str]]:
    """Kind and text of its blocks: the summary's results, and what goes beyond the paper."""
    files = {}
    for name, file in prose.files.items():
        # a file of the repository, or of the run
        folder = root if file.startswith("workflow/") else root / RUN
        files[name] = str(folder / file)
    values = read_values(prose, files)
    summary, text = parted(prose)
    results = _below(summary, "subheading", _IN_SUMMARY)
    beyond = _below(text, "heading", _IN_TEXT)
    for block in [*results, *beyond]:
        # a page has no figures of an article
        if block.kind != "show":
            text_of_block = " ".join(sentence.text for sentence in block.sentences)
            yield block.kind, filled(prose, text_of_block, values)


def _below(blocks: list[Block], kind: str, title: str) -> list[Block]:
    """The blocks between a heading and the next one of its kind."""
    headings = [number for number, block in enumerate(blocks) if block.kind == kind]
    titles = [blocks[number].sentences[0].text for number in headings]
    begin = headings[titles.index(title)] + 1
    end = next((number for number in headings if number > begin), len(blocks))
    return blocks[begin:end]


def _as_markdown(kind: str, text: str) -> str:
    marks = {"subheading": f"**{text}.**".replace("?.", "?"), "item": f"* {text}"}
    return marks.get(kind, text)
