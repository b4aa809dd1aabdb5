"""Hooks of MkDocs for the documentation as a site (``mkdocs.yml``, ``make docs``).

A page of the site is a file of the repository, as GitHub shows it. What lies outside of ``docs/``
and is linked from there becomes a page, too: Markdown as it is, code with its colours. README.md is
the first page. The notebooks are run and shown with their outputs, and each command is asked for its
help.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbconvert import MarkdownExporter

from contactid.__main__ import COMMANDS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: Markdown's links and pictures, and those of a tag.
_LINK = re.compile(r"(?P<before>\]\(|(?:src|srcset|href)=\")(?P<path>[^)\s#\":]+)")
#: Sphinx' roles, which docstrings have and Markdown hasn't.
_ROLE = re.compile(r":(?:mod|class|func|meth|attr):(?=<code>)")
_LANGUAGES = {".smk": "python", ".tsv": "text", ".cff": "yaml", "": "text"}
# that a cell may take: some seconds, but where several things run at once
_SECONDS = 300


def address(file: Path) -> str:
    """Where a file of the repository is in the site's sources."""
    place = PurePosixPath(file.relative_to(ROOT).as_posix())
    if place == PurePosixPath("README.md"):
        return "index.md"
    if file.is_relative_to(DOCS):
        within = file.relative_to(DOCS)
        # a notebook is shown as Markdown
        if file.suffix == ".ipynb":
            within = within.with_suffix(".md")
        return within.as_posix()
    return f"repository/{place}" if file.suffix == ".md" else f"repository/{place}.md"


def linked(text: str, file: Path) -> Iterator[tuple[re.Match[str], Path]]:
    """Links of a file's text to other files of the repository."""
    for match in _LINK.finditer(text):
        target = Path(os.path.normpath(file.parent / match["path"]))
        if target.is_file() and target.is_relative_to(ROOT):
            yield match, target


def rewritten(text: str, file: Path) -> str:
    """A page's text with its links as the site has them."""
    here = PurePosixPath(address(file)).parent
    parts, end = [], 0
    for match, target in linked(text, file):
        there = os.path.relpath(address(target), here)
        parts += [text[end : match.start("path")], there]
        end = match.end("path")
    return "".join([*parts, text[end:]])


def outside(pages: list[Path]) -> list[Path]:
    """Files outside of docs/ that the pages link to, or pages among these do."""
    reached, waiting = {ROOT / "README.md"}, [ROOT / "README.md", *pages]
    while waiting:
        file = waiting.pop()
        for _, target in linked(file.read_text(encoding="utf-8"), file):
            if not target.is_relative_to(DOCS) and target not in reached:
                reached.add(target)
                # code links to nothing
                if target.suffix == ".md":
                    waiting.append(target)
    return sorted(reached)


def code_page(file: Path) -> str:
    """A file of code as a page, which a search leaves out."""
    language = _LANGUAGES.get(file.suffix, file.suffix[1:])
    text = file.read_text(encoding="utf-8")
    name = file.relative_to(ROOT).as_posix()
    head = f"---\nsearch: {{exclude: true}}\ntitle: {file.name}\n---\n"
    return f'{head}# `{name}`\n\n````{language} linenums="1"\n{text}````\n'


def commands_page() -> str:
    """What every command says of itself."""
    parts = ["# Commands\n\n`contactid COMMAND`, or `make COMMAND`: see [your recordings](own.md)."]
    for name in COMMANDS:
        words = [sys.executable, "-m", "contactid", name, "--help"]
        printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        parts.append(f"## {name}\n\n```text\n{printed}```")
    return "\n\n".join(parts)


def run_notebook(file: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown with its outputs, and its pictures by name.

    Raises
    ------
    PluginError : where a cell fails or takes too long; it ends the site's making
    """
    notebook = nbformat.read(file, as_version=4)
    client = NotebookClient(
        notebook,
        startup_timeout=_SECONDS,
        # it warns of its ports, which are this machine's
        extra_arguments=["--log-level=ERROR"],
        timeout=_SECONDS,
        resources={"metadata": {"path": str(file.parent)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError) as error:
        raise PluginError(f"{file.relative_to(ROOT)}: {error}") from None
    exporter = MarkdownExporter()
    text, resources = exporter.from_notebook_node(
        notebook, {"unique_key": file.stem, "output_files_dir": f"{file.stem}_files"}
    )
    return text, resources["outputs"]


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that aren't in docs/."""
    notebooks = sorted((DOCS / "notebooks").glob("*.ipynb"))
    for file in outside(sorted(DOCS.rglob("*.md"))):
        text = file.read_text(encoding="utf-8") if file.suffix == ".md" else code_page(file)
        files.append(_generated(config, address(file), text))
    for file in notebooks:
        text, pictures = run_notebook(file)
        files.append(_generated(config, address(file), text))
        for name, picture in pictures.items():
            files.append(_generated(config, f"notebooks/{name}", picture))
    files.append(_generated(config, "commands.md", commands_page()))
    return files


def _generated(config: MkDocsConfig, place: str, content: str | bytes) -> File:
    return File.generated(config, place, content=content)


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Turn links between the repository's files into links between the site's pages."""
    file = origin(page.file.src_uri)
    return rewritten(markdown, file) if file.suffix in (".md", ".ipynb") else markdown


def origin(place: str) -> Path:
    """The file of the repository that a page of the site shows."""
    if place == "index.md":
        return ROOT / "README.md"
    if place.startswith("repository/"):
        file = ROOT / place.removeprefix("repository/")
        return file if file.is_file() else file.with_suffix("")
    notebook = (DOCS / place).with_suffix(".ipynb")
    return notebook if notebook.is_file() else DOCS / place


def on_page_content(html: str, **_: Any) -> str:
    """Show a docstring's roles as code."""
    return _ROLE.sub("", html)
