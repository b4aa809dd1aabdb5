"""What a reviewer asks the report: filters, search, links to one artefact, and table III in three clicks."""

import re

import pytest

pytestmark = pytest.mark.browser
ROWS = "[data-check-row]"
# rows that filters leave, whether or not the part that holds them is folded
LEFT = "() => [...document.querySelectorAll('[data-check-row]')].filter((row) => !row.closest('[hidden]'))"
TABLE = "tossing-tab03"
ALL_SHOWN = "/^(\\d+) of \\1$/.test(document.querySelector('#checks-count').textContent.trim())"


def counted(page):
    """The two numbers of "n of N"."""
    found = re.fullmatch(r"\s*(\d+)\s+of\s+(\d+)\s*", page.locator("#checks-count").text_content())
    assert found
    return int(found[1]), int(found[2])


def left(page):
    return page.evaluate(f"({LEFT})().length")


@pytest.mark.parametrize("kind", ["verdict", "basis"])
def test_verdicts_and_bases_filter_the_rows_and_the_count(opened, kind):
    with opened() as it:
        page = it.page
        total = page.locator(ROWS).count()
        assert counted(page) == (total, total)
        offered = page.locator(f"[data-filter-{kind}]").evaluate_all(
            "(all, kind) => all.map((button) => button.getAttribute(`data-filter-${kind}`))", kind
        )
        there = set(page.locator(ROWS).evaluate_all("(all, kind) => all.map((row) => row.dataset[kind])", kind))
        assert there <= {*offered, ""}
        for name in offered:
            button = page.locator(f"[data-filter-{kind}={name}]")
            button.click()
            assert button.get_attribute("aria-pressed") == "true"
            of_it = page.locator(f"{ROWS}[data-{kind}={name}]").count()
            assert left(page) == of_it and counted(page) == (of_it, total)
            assert set(page.evaluate(f"({LEFT})().map((row) => row.dataset.{kind})")) <= {name}
            button.click()
            assert button.get_attribute("aria-pressed") == "false"
        assert counted(page) == (total, total)


def test_the_overview_stays_above_the_filters_and_the_numbers_are_seen(opened):
    """A filter pressed far down leads to the first of the numbers that are left; the buttons don't move away."""
    with opened() as it:
        page = it.page
        button = page.locator("[data-filter-verdict=differs]")
        before = button.bounding_box()
        button.click()
        assert button.bounding_box() == before
        button.click()
        page.evaluate("window.scrollTo(0, 6000)")
        button.click()
        first = page.locator("[data-artefact]:not([hidden])").first.bounding_box()
        bar = page.locator("#filter").bounding_box()
        assert bar["y"] + bar["height"] <= first["y"] < page.viewport_size["height"]


def test_search_finds_rows_and_says_how_many(opened):
    with opened() as it:
        page = it.page
        page.locator("#search").fill("friction_mu")
        page.wait_for_function(f"() => !{ALL_SHOWN}")
        found, total = counted(page)
        assert 0 < found < total and left(page) == found
        page.locator("#search").fill("no such quantity anywhere")
        page.wait_for_function("() => document.querySelector('#checks-count').textContent.trim().startsWith('0 of')")
        assert left(page) == 0
        page.locator("#search").fill("")
        page.wait_for_function(f"() => {ALL_SHOWN}")
        assert left(page) == total


def test_a_link_opens_its_artefact(opened):
    with opened(place=f"#{TABLE}") as it:
        page = it.page
        page.wait_for_timeout(500)
        heading = page.locator(f"#{TABLE} :is(h2, h3, h4)").first
        assert heading.is_visible()
        top = heading.bounding_box()["y"]
        assert 0 <= top < page.viewport_size["height"]


def test_table_three_is_answered_in_three_clicks(opened):
    with opened() as it:
        page = it.page
        clicks = 0

        page.locator(f"#overview a[href='#{TABLE}'], main a[href='#{TABLE}'], nav a[href='#{TABLE}']").first.click()
        clicks += 1
        artefact = page.locator(f"#{TABLE}")
        # whether it reproduces, from which data, where the log is
        assert artefact.locator("h3").is_visible()
        assert re.search(r"\d+ reproduced", artefact.inner_text())
        data = artefact.locator("a[href^='#data-']").first
        assert data.is_visible() and data.inner_text().strip()
        log = artefact.locator("a[href$='.log']").first
        assert log.is_visible() and log.inner_text().strip().endswith(".log")

        row = artefact.locator(ROWS).first
        if not row.is_visible():
            artefact.locator("details.checks > summary").click()
            clicks += 1
        # how far off
        headings = [text.strip().lower() for text in artefact.locator("details.checks thead th").all_inner_texts()]
        place = next(k for k, text in enumerate(headings) if text.startswith("deviation"))
        deviations = [row.locator("td").nth(place).inner_text() for row in artefact.locator(ROWS).all()]
        assert any(re.search(r"\d", text) for text in deviations)

        # with which settings
        settings = page.locator("#tossing-settings pre")
        artefact.locator("a[href='#tossing-settings']").first.click()
        clicks += 1
        page.wait_for_timeout(300)
        assert settings.is_visible() and "friction_mu" in settings.inner_text()
        assert clicks <= 3


def test_linked_files_lie_beside_the_report(opened, report):
    with opened() as it:
        links = it.page.evaluate(
            "() => [...document.querySelectorAll('main a[href]')].map((link) => link.getAttribute('href'))"
            ".filter((href) => !href.startsWith('#'))"
        )
        places = [link for link in links if not link.startswith("#")]
        assert places and not [link for link in places if re.match(r"[a-z]+:", link)]
        if (report.parent / "checks.csv").is_file():  # it lies in its run's folder
            assert [link for link in set(places) if not (report.parent / link).exists()] == []
