"""axe-core finds nothing: light and dark, on a desktop and on a phone, folded and unfolded."""

import pytest
from screens import NARROW, VIEWS, WIDE

pytestmark = pytest.mark.browser
SEEN = {"include": [["header"], ["[data-view].current"], ["#row"]]}  # the rest isn't shown


def violations(page):
    """One line per violation, with the first of its elements."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = (
        axe.Axe()
        .run(page, context=SEEN, options={"resultTypes": ["violations"]})
        .response["violations"]
    )
    return [
        f"{item['id']} ({item['impact']}, {len(item['nodes'])}): {item['nodes'][0]['html'][:160]}"
        for item in found
    ]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desktop", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_violation(opened, size, dark):
    with opened(size, dark=dark) as it:
        for view in (*VIEWS, "#check-17"):
            it.page.evaluate("hash => { location.hash = hash; }", view)
            it.page.wait_for_timeout(300)
            assert violations(it.page) == [], view
            assert it.page.locator("[data-view].current h1").count() == 1


def test_nor_where_everything_is_unfolded(opened):
    with opened() as it:
        it.page.evaluate(
            "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
        )
        for view in ("#tossing-tab03", "#planar-fig12", "#tossing", "#provenance"):
            it.page.evaluate("hash => { location.hash = hash; }", view)
            it.page.wait_for_timeout(1000)
            assert violations(it.page) == [], view
