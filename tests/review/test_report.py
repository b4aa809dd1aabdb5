"""The report says what the run's files say: every row, every artefact, every failure, whatever is
missing.
"""

import base64
import gzip
import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from contactid.core.errors import ContactIdError
from contactid.output.claims import NO_RESULT
from contactid.output.verdicts import INPUT, LACKS, VERDICTS
from contactid.review.report.collect import title_of
from contactid.review.report.digest import check_rows
from contactid.review.report.page import equations_of
from contactid.review.report.plots import plot_deviations
from report_run import RESULTS, TEXTS, collected, make_run, record_jobs, rendered

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    make_run(folder)
    record_jobs(folder)
    return folder


@pytest.fixture(scope="module")
def report(run):
    return collected(run)


@pytest.fixture(scope="module")
def page(run):
    return rendered(run)


def part(page, name):
    packed = re.search(rf'id="part-{re.escape(name)}">([^<]*)<', page).group(1)
    return gzip.decompress(base64.b64decode(packed)).decode()


def test_every_row_of_the_checks_is_on_the_page_with_its_verdict(run, report, page):
    checks = pd.read_csv(run / RESULTS / "checks.csv")
    shown = [
        int(number)
        for found in re.findall(r' data-checks="([\d ]+)"', page)
        for number in found.split()
    ]
    assert sorted(shown) == list(range(1, len(checks) + 1))
    rows = json.loads(part(page, "rows"))
    assert [(row[2], row[3]) for row in sorted(rows)] == list(
        zip(checks["verdict"], checks["basis"], strict=True)
    )
    by_study = {study.name: study.digest.counts for study in report.studies}
    assert {name: count for name, count in by_study["tossing"].items() if count} == {
        "reproduced": 1, "differs": 1, "uninformative": 1, "input": 1, "needs_archive": 1,
    }  # fmt: skip
    assert [tuple(counts) for counts in by_study.values()] == [VERDICTS, VERDICTS]


def test_an_artefact_says_what_is_furthest_off_and_what_is_lacking(report):
    table = artefact(report, "tossing-tab03")
    assert table.label == "Table III" and table.about == ("Errors of the rest pose (%).",)
    assert table.digest.sentences == (
        "Of the reproduced numbers the furthest off is error (a): by 0.8 tolerances.",
        "Of those that differ the furthest off is error (b): 3.0 cm against 2.0 cm in print.",
        "1 more row repeats an experiment that is counted already.",
    )
    assert table.digest.missing == (
        ("needs_archive", "errors of c (Table III) in box_c, 10.4121/17122553.v1", 1),
    )
    assert table.digest.missing_datasets == ("10.4121/17122553.v1",)


def test_deviations_are_told_of_numbers_alone(report):
    assert artefact(report, "planar-text").digest.sentences == ()


def home(page):
    return page[page.index('<section id="overview"') :].partition('<section class="index"')[0]


def test_home_says_of_every_paper_what_holds_before_any_number(page):
    first = home(page).partition('<h2 id="abstract-tossing">')[0]
    told = (
        "in the abstract none is reproduced, 1 doesn&#39;t hold in this run, 1 isn&#39;t computed."
    )
    assert (
        f'<li><a href="#tossing">Robotic tossing</a>. Of its 2 checkable sentences {told}' in first
        and "<table" not in first
    )
    counts = re.findall(r'class="chip (\w+)" href="#find/([a-z ]+)">(\d+) ', first)
    assert counts == [
        ("differs", "differs tossing", "1"), ("needs_archive", "needs archive tossing", "1"),
        ("not_done", "not done tossing", "1"), ("no_result", "no result tossing", "1"),
        ("differs", "differs planar", "1"),
    ]  # fmt: skip
    assert 'href="#words"' in first and 'href="#differences"' in first


def test_home_has_the_abstracts_sentences_each_with_its_verdict_and_one_reason(page):
    said = (
        home(page)
        .partition('<h2 id="abstract-planar">')[0]
        .partition('<h2 id="abstract-tossing">')[2]
    )
    sentences = said.split("<li>")[1:]
    assert [re.search(r"chip (\w+)", one)[1] for one in sentences] == ["differs", "not_done"]
    assert "<q>The <em>errors</em> are <i>μ &lt; 2</i>, and &lt;small&gt;.</q>" in sentences[0]
    assert "<details><summary>b is off</summary>by a lot</details>" in sentences[0]
    assert 'href="#claim-tossing-errors_small">2 rows behind it</a>' in sentences[0]
    assert "<p>the errors</p>" in sentences[1], "the badge says already that it isn't done"


def test_a_paper_has_all_of_its_sentences_by_section_with_the_rows_behind_each(report, page):
    tossing, planar = report.studies
    assert [(claim.section, claim.verdict) for claim in tossing.claims] == [
        ("Abstract", "differs"),
        ("Section I, introduction", "no_result"),
        ("Section I, introduction", "needs_archive"),
        ("Abstract", "not_done"),
    ]
    view = page[page.index('<section id="tossing"') :].partition("<article")[0]
    assert re.findall(r'<h2 id="tossing-said-\d+">([^<]*)<', view) == [
        "Abstract",
        "Section I, introduction",
    ]
    assert re.findall(r'<li class="claim" id="claim-tossing-(\w+)"', view) == [
        "errors_small", "errors_again", "opinion", "data_needed",
    ]  # fmt: skip
    assert 'data-behind="1 2"' in view and '<a href="#tossing-tab03">Table III</a>' in view
    assert "<b>Asks:</b> Errors are small." in view
    assert "<b>Evidence:</b> b is off; by a lot" in view
    assert (
        planar.claims[0].rows[0].quantity == "bounces" and '<a href="#check-9">its row</a>' in page
    )


def test_the_counts_of_numbers_lead_with_what_is_reproduced_even_where_nothing_is(page):
    numbers = home(page).partition('<h2 id="numbers">')[2]
    chips = [re.findall(r'class="chip (\w+)[^>]*>(\d+) ', row) for row in numbers.split("<tr>")[2:]]
    assert chips == [
        [
            ("reproduced", "1"),
            ("differs", "1"),
            ("uninformative", "1"),
            ("input", "1"),
            ("needs_archive", "1"),
        ],
        [
            ("reproduced", "0"),
            ("print_consistent", "1"),
            ("differs", "1"),
            ("print_inconsistent", "1"),
        ],
    ]
    assert "10.4121/17122553.v1" in numbers


def test_a_row_says_what_it_rests_on_and_which_wrong_answers_its_check_let_pass(page):
    a, b, c, d, size, _, _, mass, bounces = (
        row[8] for row in sorted(json.loads(part(page, "rows")))
    )
    assert '<a href="#data-box_a">box_a</a> (synthetic), box_b<' in a and "Table III</dd>" in a
    assert "zero 0 refused, half 1 refused, twice 4 refused<" in a
    assert "<dt>Off by</dt><dd>0.04, tolerance 0.05" in a
    assert "<dt>From</dt><dd>a synthetic twin that no printed number went into</dd>" in a
    assert "<dt>Why</dt><dd>another box</dd>" in b and "<dt>Why</dt>" not in a
    assert "<dt>Off by</dt>" not in c, "what can't be compared isn't off"
    assert (
        "<strong>zero 0 not refused</strong>, <strong>half 2 not refused</strong>, twice 8 refused<"
        in size
    )
    assert "<dt>Repeats</dt><dd>object a," in d
    assert '<a href="logs/tossing_tables.log">' in a and 'href="#tossing-tab03-made"' in a
    assert '<dt>Behind</dt><dd><a href="#claim-tossing-errors_small">Abstract: <q>' in a
    assert "<dd>μ is ±2</dd>" in mass
    assert "<h2>The ellipse bounces at every step (from twins)</h2>" in bounces, (
        "what the ledger asks"
    )
    assert "<dd>not so, in 3 of 16 cases;" in bounces
    assert "exchanged refused, uniform body refused" in bounces
    assert "margin times 0.8: not so; margin times 1.2: not so" in bounces
    assert "section 4, eq. 12" in bounces


def test_a_number_that_the_run_starts_from_stands_in_its_grid_without_a_verdict(report, page):
    table = artefact(report, "tossing-tab03")
    assert table.grid.rows[0][0][0].text == "velocity-based"
    article = page[page.index('<article id="tossing-tab03"') :].partition("</article>")[0]
    assert '<td class="cell"><span class="printed">19.7 ± 3.5</span></td>' in article
    assert "A number alone is what the run starts from." in article


def test_a_figure_has_the_papers_words_beside_it(page):
    article = page[page.index('<article id="tossing-fig01"') :].partition("</article>")[0]
    assert "<q>An &lt;example&gt;.</q> <small>Figure 1&#39;s caption</small>" in article


def test_what_differs_is_listed_with_its_reason(page):
    listed = page[page.index('<section id="differences"') : page.index('<section id="words"')]
    assert (
        ">another box</td>" in listed
        and '<a href="#check-2"><span class="n">2.0</span> → <span class="n">3.0</span> cm'
        in listed
    )
    assert (
        'The ellipse bounces at every step (from twins): <a href="#check-9">not so, in 3 of 16 cases</a>'
        in listed
    )
    assert '<a href="#check-8"><span class="n">1</span> → <span class="n">2</span> kg</a>' in listed
    assert re.findall(r'<td><span class="chip (\w+)"', listed) == [
        "differs",
        "differs",
        "print_inconsistent",
    ]


def test_every_verdict_has_a_chip_with_a_sign_of_its_own_and_a_meaning(page):
    every = {*VERDICTS, NO_RESULT}
    signs = re.findall(
        r"^:is\(\.chip, \.sign\)\.(\w+)::before { content: \"(.*?)\"",
        TEXTS["report.css"],
        flags=re.M,
    )
    assert {verdict for verdict, _ in signs} == every
    assert len({sign for _, sign in signs}) == len(every)
    assert every <= set(re.findall(r"^\.chip\.(\w+)", TEXTS["report.css"], flags=re.MULTILINE))
    words = page[page.index('<section id="words"') :].partition("</section>")[0]
    assert set(re.findall(r'<dt><span class="chip (\w+)">', words)) == every
    assert all(verdict.replace("_", "[\\s_]") in TEXTS["report.js"] for verdict in every), (
        "search knows them as labels"
    )


def test_every_verdict_on_a_number_has_a_place_in_the_plot(run):
    table = pd.read_csv(run / RESULTS / "checks.csv").head(1)
    rows = [check_rows(table.assign(verdict=verdict), {}, [], {})[0] for verdict in VERDICTS]
    plot = plot_deviations(rows, {"tab03": "Table III"}).text
    drawn = re.findall(r'"label": \{"type": "value", "value": "([a-z ]+)"\}', plot)
    assert drawn == [
        verdict.replace("_", " ") for verdict in VERDICTS if verdict not in (INPUT, *LACKS)
    ]
    assert "Table III: error" in plot
    statements = [row._replace(unit="holds") for row in rows]
    assert plot_deviations(statements, {"tab03": "Table III"}) is None, (
        "a statement has no tolerance"
    )


def test_an_artefact_without_printed_numbers_is_there_without_an_answer(report, page):
    figure = artefact(report, "tossing-fig01")
    assert figure.digest is None
    assert figure.checks == ()
    assert figure.figure_source == "SYNTHETIC <twin> & more"
    assert 'id="tossing-fig01"' in page and "SYNTHETIC &lt;twin&gt; &amp; more" in page


def test_printed_numbers_without_a_table_of_the_run_are_there(report):
    text = artefact(report, "planar-text")
    assert text.table is None and len(text.checks) == 3


def test_it_is_told_how_an_artefact_was_made(report, page):
    (kind, making), *_ = artefact(report, "tossing-tab03").makings
    assert kind == "Table"
    assert making["rule"] == "tossing_tables"
    assert making["log"] == "logs/tossing_tables.log"
    assert [(step["rule"], step["jobs"]) for step in making["steps"]] == [
        ("tossing_tables", 1),
        ("read_data", 2),
    ]
    assert making["steps"][0]["settings"] == {"share": ["0.7"]} and "<b>share</b>: 0.7" in page
    assert making["sources"] == ["workflow/resources/embedded/box.h5"]
    assert '<a href="logs/tossing_tables.log">' in page


def test_failed_solves_come_first_then_implausible_ones(report):
    planar = next(study for study in report.studies if study.name == "planar")
    assert [solve["standing"] for solve in planar.solves] == ["failed", "implausible", "good"]
    (group,) = planar.solve_groups
    assert [group[name] for name in ("solves", "failed", "implausible", "iterations")] == [
        3,
        1,
        1,
        20.0,
    ]
    tossing = next(study for study in report.studies if study.name == "tossing")
    assert [(solve["case"], solve["status"], solve["residual"]) for solve in tossing.solves] == [
        ("box_a.paper", "Maximum_Iterations", 0.5),
        ("box_b.paper", "solved", 1e-9),
    ]


def test_text_of_the_run_stays_text(page):
    assert "<script>alert" not in page and "&lt;script&gt;alert" in part(page, "rows")


def test_a_run_without_records_or_benchmarks_says_so(tmp_path):
    make_run(tmp_path)
    page = rendered(tmp_path)
    assert artefact(collected(tmp_path), "tossing-tab03").makings == []
    assert "not recorded: Snakemake" in page
    assert "Not recorded: the run has no benchmark files" in page


def test_every_part_that_the_page_shows_is_in_it(page):
    shown = set(re.findall(r'data-(?:part|plot)="([^"]+)"', page))
    assert {"jobs", "plot-runtimes", "tossing-fig01-picture", "tossing-tab03-table"} < shown
    assert shown < set(
        re.findall(r'<script type="application/octet-stream" id="part-([^"]+)">', page)
    )


def test_equal_runs_give_equal_pages(run, page):
    assert rendered(run) == page


def test_a_lock_file_that_changed_since_is_told(run):
    record = run / RESULTS / "provenance.json"
    before = record.read_text()
    lock = {"jobs_made_with_another": {"arm_fit": 2, "arm_read": 1}}
    record.write_text(json.dumps({**json.loads(before), "environment_lock": lock}))
    page = rendered(run)
    record.write_text(before)
    assert (
        "lock file has changed since results of these rules were made: arm_fit (2), arm_read (1)."
        in page
    )
    assert "lock file has changed" not in rendered(run)


def test_the_page_asks_for_nothing_from_outside(page):
    shown = re.sub(
        r'<script type="application/octet-stream".*?</script>', "", page, flags=re.DOTALL
    )
    assert not re.search(r'(?:src|<link[^>]* href)="(?:https?:)?//', shown)
    assert "default-src 'none'" in shown


def test_an_unfinished_run_is_an_error_that_names_the_file(tmp_path):
    make_run(tmp_path)
    (tmp_path / RESULTS / "provenance.json").unlink()
    with pytest.raises(ContactIdError, match=r"provenance\.json: not a readable JSON file"):
        collected(tmp_path)


def test_a_figures_source_is_read_where_it_is_said(report):
    assert artefact(report, "tossing-fig01").figure_source == "SYNTHETIC <twin> & more"  # its data
    assert (
        artefact(report, "tossing-fig02").figure_source == "twin of a box"
    )  # the study's sources.json


def made(page, address):
    """What the page says of an artefact's data: the sentence above all verdicts, and the line
    below.
    """
    article = page[page.index(f'<article id="{address}"') :].partition("</article>")[0]
    above = article[: article.index("chip")] if "chip" in article else article
    line = re.search(r"<dt>Data</dt><dd>(.*?)</dd>", article, flags=re.DOTALL).group(1)
    return re.findall(r'<p class="had">(.*?)</p>', above), re.sub(r"<[^>]*>", "", line).strip()


def test_an_artefacts_data_are_those_that_it_says_it_was_made_from(report, page):
    """Not those of everything that one job made, nor those that a number of it was judged by."""
    assert artefact(report, "tossing-tab03").datasets == (
        "box_a",
    )  # declared; a row has box_b, too
    assert made(page, "tossing-tab03") == (
        ["Made from synthetic twins, simulated in place of recordings."], "box_a (synthetic)"
    )  # fmt: skip
    assert artefact(report, "tossing-fig01").datasets == ()
    assert made(page, "tossing-fig01") == (
        [],
        "no dataset; the figure says: SYNTHETIC &lt;twin&gt; &amp; more",
    )
    assert artefact(report, "tossing-fig02").datasets == ("box_a",)  # the study's sources.json
    assert made(page, "planar-text") == ([], "no dataset")


def test_what_recordings_the_run_had_stands_above_every_verdict(page, report):
    had = "This run had no recordings: its data (1 dataset) are synthetic twins, simulated in place of recordings."
    for view in ("overview", "differences"):
        section = page[page.index(f'<section id="{view}"') :].partition("</section>")[0]
        assert had in section.partition('class="chip')[0].partition("<table")[0]
    study = page[page.index('<section id="tossing"') :]
    assert "This study had no recordings" in study.partition('class="chip')[0]


def test_a_title_is_the_declared_one_or_how_its_caption_begins(report):
    assert artefact(report, "tossing-fig01").title == "A box"
    assert artefact(report, "tossing-fig02").title == "Frames of motion capture"
    assert artefact(report, "tossing-tab03").title == "Errors of the rest pose"
    assert artefact(report, "planar-text").title == "Numbers in the text"
    assert title_of("links", [], report.checks[:1]) == "Table III", "where it is printed"
    assert title_of("other_place", [], []) == "Other place"


def test_a_view_has_one_first_heading_and_no_level_is_left_out(page):
    shown = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    for view in re.split(r'(?=<section id="\w+" data-view)', shown.partition("</main>")[0])[1:]:
        levels = [int(level) for level in re.findall(r"<h([1-6])", view)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_tables_beyond_the_paper_are_lines_of_a_list_and_what_has_a_picture_or_numbers_is_a_box(
    page,
):
    index = page[page.index('<section class="index"') :].partition("</section>")[0]
    assert re.findall(r'class="card" href="#tossing-(\w+)"', index) == ["tab03", "fig01", "fig02"]
    lines = re.findall(
        r'<li><a href="#tossing-ext_solver" data-of="tossing-ext_solver">.*?</li>', index
    )
    assert len(lines) == 1 and "Steps of the solver" in lines[0]


def test_equations_are_those_that_the_functions_behind_an_artefact_name(report):
    figure = artefact(report, "tossing-fig01")
    text = {"source": "By eq. 5 and Eqs. (7), 9 to 11; the 4 equations of 3 bodies, equation 22."}
    assert equations_of(replace(figure, functions=(text,))) == ["5", "7", "9", "11", "22"]


def test_an_artefact_leads_to_the_functions_behind_it(run, report, page):
    read, label = artefact(report, "tossing-fig01").functions
    assert (read["what"], label["what"]) == ("figure, computed", "figure, drawn")
    assert (read["module"], read["name"]) == ("contactid.output.tables", "read_csv")
    text = (ROOT / label["file"]).read_text(encoding="utf-8").splitlines()
    assert label["source"].splitlines() == text[label["first"] - 1 : label["last"]]
    assert label["source"].startswith("def label_data(") and Path(label["path"]).name == "style.py"
    assert f'<a href="{label["path"]}">workflow/contactid/output/style.py</a>' in page
    assert "def label_data(figure: Figure" in part(page, "contactid.output.style:label_data")


def artefact(report, address):
    return next(
        found for study in report.studies for found in study.artefacts if found.id == address
    )


def test_the_cards_of_the_data_are_shown(report, page):
    assert [card["content"]["name"] for card in report.cards] == ["box_a"]
    assert 'href="#data-box_a"' in page and json.dumps("panels") not in page
    assert "Held against the paper's numbers: no, synthetic." in page
