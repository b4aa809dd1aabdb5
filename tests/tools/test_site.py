"""The site's sources: every page is in its navigation, notebooks have no outputs, pictures are small
and in step with their page. `make docs` builds it.
"""

import json
import re

import pytest

import pictures
from pictures import FOLDER, PAGE, ROOT, SHOWN

DOCS = ROOT / "docs"
NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def test_every_page_is_in_the_navigation_once():
    pages = {file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md")}
    pages |= {f"notebooks/{file.stem}.md" for file in NOTEBOOKS}
    named = re.findall(r"- (\S+\.md)$", NAVIGATION, re.M)
    assert len(named) == len(set(named))
    assert {name for name in named if not name.startswith("repository/")} == {
        *pages,
        "index.md",
        "commands.md",
    }


@pytest.mark.parametrize(
    "page", sorted((DOCS / "studies").glob("*.md")), ids=lambda page: page.stem
)
def test_a_study_is_read_in_five_minutes(page):
    assert len(page.read_text(encoding="utf-8").split()) <= 1500


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_is_committed_without_outputs(file):
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code and all(not cell["outputs"] and cell["execution_count"] is None for cell in code)


def test_the_gallery_is_what_its_figures_declare():
    assert pictures.gallery() == (ROOT / PAGE).read_text(encoding="utf-8"), "run make pictures"


def test_pictures_are_those_shown_and_small():
    shown = {f"{study}_{name}.png" for study, names in SHOWN.items() for name in names}
    files = list((ROOT / FOLDER).iterdir())
    assert {file.name for file in files} == shown | {
        "toss.svg",
        "toss_still.svg",
        "tossing_article.png",
    }
    assert sum(file.stat().st_size for file in files) < 600_000
