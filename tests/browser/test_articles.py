"""The articles in headless Chromium: axe finds nothing, nothing is fetched, and a phone shows all of
it.
"""

from pathlib import Path

import pytest
from screens import NARROW, WIDE

pytestmark = pytest.mark.browser
STUDIES = ("tossing", "planar", "arm", "inhand")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("study", STUDIES)
def test_an_article_is_readable_by_everybody(report, browser, study, scheme, size):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    article = Path(report).parent / study / "article.html"
    if not article.is_file():
        pytest.skip(f"the run has no {study}")
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    fetched = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(article.as_uri())
    found = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:160]) for one in found] == []
    assert [url for url in fetched if not url.startswith("data:")] == [article.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
