"""The report as a file that someone opens: quick, silent, without a network, on a phone, by
keyboard, on paper.
"""

import re
import statistics

import pytest
from screens import NARROW, VIEWS, WIDE

pytestmark = pytest.mark.browser
LARGEST = 8e6  # bytes
SLOWEST = 2.0  # s
MOST_PAGES = 60
FOCUSABLE = "a[href], button, input, select, summary, textarea, [tabindex='0']"


def go(page, view):
    page.evaluate("hash => { location.hash = hash; }", view)
    page.wait_for_timeout(150)


def walk_through(page):
    """Every view from top to bottom, so that everything that waits to be seen is made; yields each
    view.
    """
    for view in VIEWS:
        go(page, view)
        tall = page.evaluate("document.documentElement.scrollHeight")
        for y in range(0, tall, 1500):
            page.evaluate("y => window.scrollTo(0, y)", y)
            page.wait_for_timeout(30)
        yield view


def test_nothing_leaves_the_page_and_the_console_stays_silent(opened, report):
    with opened() as it:
        assert len(list(walk_through(it.page))) == len(VIEWS)
        go(it.page, "#playback")
        for button in it.page.locator("[data-playback] .play").all():
            button.click()
        it.page.locator("#search").fill("friction")
        it.page.wait_for_timeout(500)
        asked = [url for url in it.requests if not url.startswith(("data:", "blob:"))]
        assert {url.split("#")[0] for url in asked} == {report.as_uri()}
        assert [line for line in it.said if line.startswith(("error", "warning"))] == []


def test_it_is_small_and_opens_quickly(opened, report, capsys):
    seconds = []
    for _ in range(3):
        with opened() as it:
            it.page.wait_for_function(
                "performance.getEntriesByName('first-contentful-paint').length > 0"
            )
            seconds.append(
                it.page.evaluate(
                    """() => Math.max(
                        performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,
                        performance.getEntriesByName('first-contentful-paint')[0].startTime,
                    ) / 1000"""
                )
            )
    with capsys.disabled():
        print(
            f"\n{report.name}: {report.stat().st_size / 1e6:.2f} MB, opens in {statistics.median(seconds):.2f} s"
        )
    assert report.stat().st_size < LARGEST
    assert statistics.median(seconds) < SLOWEST


def test_every_figure_is_there_once_it_is_seen(opened):
    with opened() as it:
        articles = it.page.locator("[data-artefact]:has(.picture)").evaluate_all(
            "all => all.map((one) => one.id)"
        )
        assert len(articles) > 10
        for address in articles:
            go(it.page, f"#{address}")
            image = it.page.locator(f"#{address} .picture img")
            it.page.wait_for_function(
                "image => image.complete && image.naturalWidth > 0", arg=image.element_handle()
            )
            assert image.is_visible() and image.get_attribute("alt")
        go(it.page, "#overview")
        for image in it.page.locator(".card img").all():
            image.evaluate("image => image.scrollIntoView({block: 'center'})")
            it.page.wait_for_function(
                "image => image.complete && image.naturalWidth > 0", arg=image.element_handle()
            )


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["phone", "desktop"])
def test_it_never_scrolls_sideways(opened, size):
    with opened(size) as it:
        it.page.evaluate(
            "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
        )
        for view in walk_through(it.page):
            wide = it.page.evaluate(
                """() => [...document.querySelectorAll('body *')].filter((element) =>
                    !element.closest('.skip')
                    && element.getBoundingClientRect().right > document.documentElement.clientWidth + 1
                    && !element.parentElement.closest('.scroll, pre, [data-plot]'))
                    .map((element) => element.outerHTML.slice(0, 120)).slice(0, 5)"""
            )
            overflow = it.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert overflow <= 0, (view, wide)


@pytest.mark.parametrize(
    "place", ["#tossing-tab03 .grid", "#tossing-tab03 .computed table", "#hits"]
)
def test_the_first_column_of_a_wide_table_stays_on_a_phone(opened, place):
    with opened(NARROW) as it:
        go(it.page, "#find/friction" if place == "#hits" else "#tossing-tab03")
        it.page.evaluate(
            "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
        )
        it.page.wait_for_timeout(300)
        table = it.page.locator(place)
        moved = table.evaluate(
            """(table) => {
                const box = table.closest('.scroll'), first = table.tBodies[0].rows[0].cells[0];
                const last = table.tBodies[0].rows[0].cells[table.tBodies[0].rows[0].cells.length - 1];
                const before = [first, last].map((cell) => cell.getBoundingClientRect().left);
                box.scrollLeft = 120;
                return [first, last].map((cell, k) => before[k] - cell.getBoundingClientRect().left);
            }"""
        )
        assert moved[1] > 50, "it is wider than the screen"
        assert abs(moved[0]) < 15


@pytest.mark.parametrize("view", ["#overview", "#tossing-tab03", "#planar-fig12"])
def test_tab_reaches_everything_and_shows_where_it_is(opened, view):
    with opened(place=view) as it:
        it.page.evaluate(
            """(selector) => {
                const seen = (window.seen = new Set());
                const bare = (window.bare = []);
                document.addEventListener('focusin', (event) => {
                    const target = event.composedPath()[0]; // inside a plot, too
                    if (seen.has(target)) return;
                    seen.add(target);
                    const style = getComputedStyle(target);
                    const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
                    if (!outlined && style.boxShadow === 'none') bare.push(target.outerHTML.slice(0, 100));
                });
                window.expected = () => [...document.querySelectorAll(selector)].filter(
                    (element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled,
                );
            }""",
            FOCUSABLE,
        )
        expected = it.page.evaluate("window.expected().length")
        assert expected > 10
        for _ in range(min(expected + 20, 4000)):
            it.page.keyboard.press("Tab")
        missed = it.page.evaluate(
            "() => window.expected().filter((element) => !window.seen.has(element))"
            ".map((element) => element.outerHTML.slice(0, 100))"
        )
        assert missed == []
        assert it.page.evaluate("window.bare") == []


def test_on_paper_all_views_are_there_on_few_pages_with_whole_numbers(opened):
    """All but what lies beside the report in files: settings, tables as computed, single solves."""
    with opened() as it:
        it.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        it.page.emulate_media(media="print")
        folded = it.page.evaluate(
            """() => [...document.querySelectorAll('details')].filter((part) => part.checkVisibility() && !part.open)
                .map((part) => part.querySelector('summary').textContent).slice(0, 5)"""
        )
        assert folded == []
        numbers = it.page.locator(".cell a, td.num, .n")
        assert numbers.count() > 100
        broken = numbers.evaluate_all(
            """found => found.filter((cell) => getComputedStyle(cell).whiteSpace !== 'nowrap'
                || getComputedStyle(cell).overflowWrap === 'anywhere')
                .map((cell) => cell.outerHTML.slice(0, 100)).slice(0, 5)"""
        )
        assert broken == []
        assert (
            it.page.locator("[data-checks]").first.is_visible()
            and it.page.locator("#differences h1").is_visible()
        )
        sheets = it.page.pdf(format="A4")
        pages = max(int(count) for count in re.findall(rb"/Count (\d+)", sheets))
        assert 5 < pages < MOST_PAGES
