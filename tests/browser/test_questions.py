"""What a reviewer asks the report, in three clicks or one search each, and that the right thing
answers.
"""

import re

import pytest
from screens import NARROW, WIDE

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("size", [NARROW, WIDE], ids=["phone", "desktop"]),
]
TABLE = "tossing-tab03"
# After a click, ``wait_for`` asserts that something is seen: the page answers a new hash in a later
# task, so a check at once can come too early.


def seen(page):
    """The addresses of the tables and figures that are shown, and of the boxes and lines of the
    index.
    """
    visible = (
        "all => all.filter((one) => one.checkVisibility()).map((one) => one.dataset.of ?? one.id)"
    )
    return page.locator("[data-artefact]").evaluate_all(visible), page.locator(
        "[data-of]"
    ).evaluate_all(visible)


def sentences(page):
    """The sentences that are shown among the hits, each with its verdict."""
    return page.locator("#said li:has(a)").evaluate_all(
        "all => all.filter((one) => one.checkVisibility()).map((one) => [one.querySelector('.chip').textContent,"
        " one.querySelector('a').textContent, one.querySelector('a').hash])"
    )


def search(page, text):
    """Type, and wait until hits of *this* text are shown: a search marks the body in the task that
    shows them.
    """
    page.evaluate("document.body.classList.remove('finding')")
    page.locator("#search").fill(text)
    page.wait_for_function("document.body.classList.contains('finding')")


def test_table_three_is_answered_in_three_clicks(opened, size, report):
    """Does it reproduce, how far off, from which data, with which settings, where is the log."""
    with opened(size) as it:
        page, clicks = it.page, 0
        page.locator(f".card[data-of={TABLE}]").click()
        clicks += 1
        table = page.locator(f"#{TABLE}")
        table.wait_for()
        assert seen(page) == ([TABLE], [])
        assert table.locator("h2").inner_text() == "Table III: Errors of the predicted rest pose"
        # does it reproduce, and how far off: the paper's grid, with both numbers and a verdict in
        # each cell
        assert re.search(r"\d+ reproduced", table.inner_text())
        heads = table.locator(".grid thead tr").first.locator("th").all_inner_texts()
        assert heads == [f"Box00{k}" for k in range(4, 8)][: len(heads)] and heads
        cells = table.locator(".grid td.cell")
        assert cells.first.is_visible()
        assert cells.first.locator(".printed").inner_text() == "19.7 ± 3.5"
        cell = cells.filter(
            has=page.locator("a", has_text=re.compile(r"^\d+\.\d ± \d+\.\d$"))
        ).first
        printed = cell.locator(".printed").inner_text().split(" ± ")
        assert cell.is_visible() and len(printed) == 2
        # from which data, and made by what: right below
        data = table.locator(".made a[href^='#data-']").first
        assert data.is_visible() and page.locator(data.get_attribute("href")).count() == 1
        assert re.search(
            r"Made by\s*tossing_tables in [\d.]+ (s|min)",
            table.locator(".made .inline").inner_text(),
        )
        # with which settings, and where is the log
        table.locator(".made details > summary").first.click()
        clicks += 1
        log = table.locator(".made a[href$='.log']").first
        log.wait_for()
        assert log.get_attribute("href") == "logs/tossing_tables.log"
        settings = table.locator(".settings").first
        assert settings.is_visible() and "block" in settings.inner_text()
        # all of one number
        cell.locator("a").click()
        clicks += 1
        told = page.locator("#row")
        told.wait_for(state="visible")
        page.wait_for_function("document.querySelector('#row dl')")
        text = told.inner_text()
        assert all(f"{number} cm; Table III" in text for number in printed)
        assert "logs/tossing_tables.log" in text
        lacking = re.compile("needs archive|never published|undefined|not done")
        assert ("Off by" in text) is not bool(
            lacking.search(told.locator(".chip").first.inner_text())
        )
        assert clicks <= 3


def test_figure_twelve_is_seen_beside_what_the_paper_says(opened, size):
    with opened(size) as it:
        page = it.page
        search(page, "figure 12 planar")
        assert seen(page)[0] == ["planar-fig12"]
        figure = page.locator("#planar-fig12")
        assert (
            "steeper curve for higher coefficients of friction"
            in figure.locator(".said").inner_text()
        )
        claims = figure.locator(".others tbody tr")
        assert claims.count() == 4
        assert claims.first.is_visible()
        assert claims.first.locator(".chip").count() == 1
        image = figure.locator("img")
        page.wait_for_function(
            "image => image.complete && image.naturalWidth > 0", arg=image.element_handle()
        )
        picture, said = image.bounding_box(), figure.locator(".said").bounding_box()
        assert size == NARROW or (
            said["x"] > picture["x"] + picture["width"]
            and said["y"] < picture["y"] + picture["height"]
        )


def test_home_says_what_holds_and_a_tap_leads_to_what_is_behind_a_sentence(opened, size):
    with opened(size) as it:
        page = it.page
        had, holds = page.locator("#overview .had"), page.locator(".holds > li")
        assert had.is_visible() and holds.count() > 1
        assert holds.first.bounding_box()["y"] < page.viewport_size["height"], (
            "it is seen without scrolling"
        )
        for told in holds.all_inner_texts():
            assert re.search(r"Of its \d+ checkable sentences? in the abstract", told)
        first = page.locator("#overview .claims > li").first
        assert first.locator(".chip").is_visible() and first.locator("q").is_visible()
        first.get_by_role("link", name="behind it").click()
        sentence = page.locator("#tossing .claim").first
        sentence.wait_for()
        assert sentence.locator("q").inner_text() == first.locator("q").text_content()
        sentence.locator("summary").click()
        rows = sentence.locator("tbody tr")
        rows.first.wait_for()
        assert rows.count() > 1
        rows.first.locator("a[href^='#check-']").click()
        page.wait_for_function("document.querySelector('#row dl')")
        assert sentence.locator("q").inner_text()[:40] in page.locator("#row").inner_text()


def test_what_differs_is_one_click_away_with_reasons(opened, size):
    with opened(size) as it:
        page = it.page
        page.locator("#overview a[href='#differences']").click()
        lines = page.locator("#differences tbody tr")
        lines.first.wait_for()
        number = lines.first.locator("a[href^='#check-']").first
        assert re.search("→|not so", number.inner_text())
        number.click()
        page.wait_for_function("document.querySelector('#row dl')")
        assert page.locator("#row .chip").first.inner_text() in ("differs", "print inconsistent")


def test_words_are_explained_one_click_away(opened, size):
    with opened(size) as it:
        it.page.locator("#overview a[href='#words']").click()
        words = it.page.locator("#words")
        words.wait_for()
        for word in (
            "twin",
            "hull",
            "tolerance",
            "uniform body",
            "inertia ratio J/m",
            "IRC, IGC",
            "needs archive",
        ):
            assert words.locator(
                "dt", has_text=re.compile(f"^{re.escape(word)}$")
            ).first.is_visible()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("fig 8", {"tossing-fig08", "planar-fig08", "inhand-fig08"}),
        ("fig. 8 planar", {"planar-fig08"}),
        ("planar fig08", {"planar-fig08"}),
        ("table III", {"tossing-tab03"}),
        ("Table 3", {"tossing-tab03"}),
        ("86.5", {"planar-fig08"}),
        ("does table III reproduce?", {"tossing-tab03"}),
        ("What is figure 12 of the planar paper", {"planar-fig12"}),
    ],
)
def test_labels_and_numbers_find_what_they_name_and_nothing_else(opened, size, asked, found):
    with opened(size) as it:
        there = set(
            it.page.locator("[data-of]").evaluate_all(
                "cards => cards.map((card) => card.dataset.of)"
            )
        )
        search(it.page, asked)
        shown, cards = seen(it.page)
        assert set(shown or cards) == found & there


def test_a_quote_is_found_by_its_words(opened, size):
    with opened(size) as it:
        quote = it.page.locator("#planar .claim q").nth(4).text_content()
        words = " ".join(quote.split()[2:9])
        search(it.page, words)
        hits = sentences(it.page)
        assert quote == hits[0][1]
        it.page.locator("#said a").first.click()
        it.page.locator(f"#planar .claim{hits[0][2]}").wait_for()


@pytest.mark.parametrize("asked", ["eq. 22", "equation 22", "Eqs. (22)"])
def test_an_equation_is_found_by_its_number_and_no_other(opened, size, asked):
    with opened(size) as it:
        search(it.page, asked)
        assert any("(22)" in text for _, text, _ in sentences(it.page))
        found = it.page.locator("#found").inner_text()
        assert "0 sentences" not in found
        search(it.page, "eq. 2222")
        assert (
            it.page.locator("#found")
            .inner_text()
            .startswith("0 sentences, 0 tables and figures, and 0 of")
        )


def test_a_simulator_is_found_by_its_other_name(opened, size):
    with opened(size) as it:
        search(it.page, "AGX")
        by_short = it.page.locator("#found").inner_text()
        assert all(
            "lgoryx" in text
            for text in it.page.locator("#hits tbody td:nth-child(2)").all_inner_texts()
        )
        search(it.page, "algoryx")
        assert it.page.locator("#found").inner_text() == by_short and not by_short.startswith(
            "0 sentences"
        )


def test_where_nothing_has_all_words_what_has_most_is_shown(opened, size):
    with opened(size) as it:
        search(it.page, "friction restitution")
        whole = it.page.locator("#found").inner_text()
        search(it.page, "friction restitution zyzzyva")
        partly = it.page.locator("#found").inner_text()
        assert partly.replace(", with 2 of these 3 words", "") == whole != partly
        search(it.page, "zyzzyva")
        assert it.page.locator("#found").inner_text().startswith("0 sentences, 0 tables")


def test_a_verdict_finds_its_rows_and_words_find_beginnings(opened, size):
    with opened(size) as it:
        page = it.page
        search(page, "differs planar")
        hits = page.locator("#hits tbody tr")
        assert hits.count() > 0
        assert set(hits.locator(".chip").all_inner_texts()) == {"differs"}
        assert all(
            address.startswith("#planar-")
            for address in hits.locator("td:first-child a").evaluate_all(
                "links => links.map((link) => link.getAttribute('href'))"
            )
        )
        search(page, "fricti")
        some = page.locator("#found").inner_text()
        search(page, "riction")
        assert page.locator("#found").inner_text() != some and page.locator("#hits").is_hidden()
        page.locator("#search").fill("")
        page.wait_for_function("!document.body.classList.contains('finding')")
        assert len(seen(page)[1]) == page.locator("[data-of]").count()


def test_a_link_opens_its_artefact_and_a_rows_address_its_row(opened, size):
    with opened(size, place=f"#{TABLE}") as it:
        assert seen(it.page) == ([TABLE], [])
        heading = it.page.locator(f"#{TABLE} h2")
        assert 0 <= heading.bounding_box()["y"] < it.page.viewport_size["height"]
    with opened(size, place="#check-17") as it:
        it.page.wait_for_function("document.querySelector('#row dl')")
        assert "Row 17 of" in it.page.locator("#row").inner_text()


def test_linked_files_lie_beside_the_report(opened, size, report):
    with opened(size) as it:
        links = it.page.evaluate(
            "() => [...document.querySelectorAll('main a[href]')].map((link) => link.getAttribute('href'))"
            ".filter((href) => !href.startsWith('#'))"
        )
        papers = [link for link in links if link.startswith("https://")]
        places = set(links) - set(papers)
        assert papers and places and not [link for link in places if re.match(r"[a-z]+:", link)]
        if (report.parent / "checks.csv").is_file():  # it lies in its run's folder
            assert [link for link in places if not (report.parent / link).exists()] == []


def test_links_within_the_page_have_a_place(opened, size):
    with opened(size) as it:
        lost = it.page.evaluate(
            "() => [...document.querySelectorAll('a[href^=\"#\"]')]"
            ".map((link) => decodeURIComponent(link.hash.slice(1)))"
            ".filter((name) => !name.startsWith('find/') && !document.getElementById(name)).slice(0, 5)"
        )
        assert lost == []
