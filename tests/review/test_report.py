"""The report says what the run's files say: every row, every artefact, every failure, whatever is missing."""

import base64
import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from contactid.core.errors import ContactIdError
from contactid.output.comparison import COLUMNS
from contactid.review.report.collect import key_of, label_of, plain_caption
from contactid.review.report.digest import check_rows, digest
from report_run import RESULTS, collected, make_run, record_jobs, rendered

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


def test_every_row_of_the_checks_is_on_the_page_with_its_verdict(run, report, page):
    checks = pd.read_csv(run / RESULTS / "checks.csv")
    rows = re.findall(r'<tr data-check-row data-study="(\w+)" data-verdict="(\w+)"', page)
    assert Counter(rows) == Counter(zip(checks["study"], checks["verdict"], strict=True))
    by_study = {study.name: study.digest.counts for study in report.studies}
    assert by_study["tossing"] == {"agrees": 1, "better": 0, "differs": 1, "input": 0, "not_comparable": 1}
    assert f">{len(checks)} of {len(checks)}</output>" in page


def test_an_artefact_says_how_far_off_it_is_and_why_numbers_are_left_out(report):
    table = artefact(report, "tossing-tab03")
    assert table.label == "Table III" and table.about == ("Errors of the rest pose (%).",)
    assert table.digest.answer == "reproduced in part: 1 of 2 comparable"
    assert any("by 50 % at most: error (object b)" in sentence for sentence in table.digest.sentences)
    assert table.digest.reasons == (("synthetic twin", 1),)


def test_an_artefact_without_printed_numbers_is_there_without_an_answer(report, page):
    figure = artefact(report, "tossing-fig01")
    assert figure.digest is None and figure.checks == () and figure.figure_source == "SYNTHETIC <twin> & more"
    assert 'id="tossing-fig01"' in page and "SYNTHETIC &lt;twin&gt; &amp; more" in page


def test_printed_numbers_without_a_table_of_the_run_are_there(report):
    text = artefact(report, "planar-text")
    assert text.table is None and len(text.checks) == 1


def test_it_is_told_how_an_artefact_was_made(report, page):
    (kind, making), *_ = artefact(report, "tossing-tab03").makings
    assert kind == "Table" and making["rule"] == "tossing_tables" and making["log"] == "logs/tossing_tables.log"
    assert [(step["rule"], step["jobs"]) for step in making["steps"]] == [("tossing_tables", 1), ("read_data", 2)]
    assert making["datasets"] == ["box_a", "box_b"]
    assert making["sources"] == ["workflow/resources/embedded/box.h5"]
    assert '<a href="logs/tossing_tables.log">' in page


def test_failed_solves_come_first_then_implausible_ones(report):
    planar = next(study for study in report.studies if study.name == "planar")
    assert [solve["standing"] for solve in planar.solves] == ["failed", "implausible", "good"]
    (group,) = planar.solve_groups
    assert [group[name] for name in ("solves", "failed", "implausible", "iterations")] == [3, 1, 1, 20.0]
    tossing = next(study for study in report.studies if study.name == "tossing")
    assert [(solve["case"], solve["status"], solve["residual"]) for solve in tossing.solves] == [
        ("box_a.paper", "Maximum_Iterations", 0.5),
        ("box_b.paper", "solved", 1e-9),
    ]


def test_text_of_the_run_stays_text(page):
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_a_run_without_records_or_benchmarks_says_so(tmp_path):
    make_run(tmp_path)
    page = rendered(tmp_path)
    assert artefact(collected(tmp_path), "tossing-tab03").makings == []
    assert "Not recorded: Snakemake" in page and "Not recorded: the run has no benchmark files" in page


def test_every_part_that_the_page_shows_is_in_it(page):
    shown = set(re.findall(r'data-(?:part|plot)="([^"]+)"', page))
    assert {"jobs", "plot-runtimes", "tossing-fig01-picture", "tossing-tab03-table"} < shown
    assert shown < set(re.findall(r'<script type="application/octet-stream" id="part-([^"]+)">', page))


def test_equal_runs_give_equal_pages(run, page):
    assert rendered(run) == page


def test_a_lock_file_that_changed_since_is_told(run):
    record = run / RESULTS / "provenance.json"
    before = record.read_text()
    lock = {"jobs_made_with_another": {"arm_fit": 2, "arm_read": 1}}
    record.write_text(json.dumps({**json.loads(before), "environment_lock": lock}))
    page = rendered(run)
    record.write_text(before)
    assert "lock file has changed since results of these rules were made: arm_fit (2), arm_read (1)." in page
    assert "lock file has changed" not in rendered(run)


def test_the_page_asks_for_nothing_from_outside(page):
    shown = re.sub(r'<script type="application/octet-stream".*?</script>', "", page, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', shown)
    assert "default-src 'none'" in shown


def test_an_unfinished_run_is_an_error_that_names_the_file(tmp_path):
    make_run(tmp_path)
    (tmp_path / RESULTS / "provenance.json").unlink()
    with pytest.raises(ContactIdError, match=r"provenance\.json: not a readable JSON file"):
        collected(tmp_path)


@pytest.mark.parametrize(
    ("name", "key", "label"),
    [
        ("tab03_rest_pose_errors", "tab03", "Table III"),
        ("tabA2_wrist", "tabA2", "Table A2"),
        ("fig12_costs", "fig12", "Figure 12"),
        ("ext_sobol", "ext_sobol", "Beyond the paper"),
    ],
)
def test_names_of_files_are_names_of_the_paper(name, key, label):
    assert key_of(name) == key and label_of(key, "roman") == label


def test_captions_lose_their_tex_and_end_as_sentences():
    assert plain_caption("Shares (%), $10^{-2}$ kg m$^2$, +- spread") == "Shares (%), 10^-2 kg m^2, ± spread."
    assert plain_caption("Events (s).") == "Events (s)."


def test_a_figures_source_is_read_where_it_is_said(report):
    assert artefact(report, "tossing-fig01").figure_source == "SYNTHETIC <twin> & more"  # its data
    assert artefact(report, "tossing-fig02").figure_source == "twin of a box"  # the study's sources.json


def test_an_artefact_leads_to_the_functions_behind_it(run, report, page):
    read, label = artefact(report, "tossing-fig01").functions
    assert (read["what"], label["what"]) == ("figure, computed", "figure, drawn")
    assert (read["module"], read["name"]) == ("contactid.output.tables", "read_csv")
    text = (ROOT / label["file"]).read_text(encoding="utf-8").splitlines()
    assert label["source"].splitlines() == text[label["first"] - 1 : label["last"]]
    assert label["source"].startswith("def label_data(") and Path(label["path"]).name == "style.py"
    assert f'<a href="{label["path"]}">workflow/contactid/output/style.py</a>' in page
    packed = re.search(r'id="part-contactid.output.style:label_data">([^<]*)<', page).group(1)
    assert "def label_data(figure: Figure" in gzip.decompress(base64.b64decode(packed)).decode()


def test_nothing_compared_is_not_called_reproduced():
    rows = pd.read_csv(Path(__file__).parents[2] / "workflow/resources/published/planar.csv").head(3)
    table = pd.DataFrame(
        {
            "study": "planar", "artefact": "text", "quantity": rows["quantity"], "condition": "",
            "published": rows["value"], "reproduced": float("nan"), "unit": "", "tolerance": 0.0,
            "verdict": "not_comparable", "note": "no data",
        }
    )  # fmt: skip
    assert digest(check_rows(table)).answer == "not comparable in this run"


def artefact(report, address):
    return next(found for study in report.studies for found in study.artefacts if found.id == address)


def test_the_cards_of_the_data_are_shown(report, page):
    assert [card["content"]["name"] for card in report.cards] == ["box_a"]
    assert 'href="#data-box_a"' in page and json.dumps("panels") not in page


def test_inputs_are_no_answer_to_whether_a_table_reproduces():
    def answer(*verdicts):
        table = pd.DataFrame(
            [("s", "tab01", name, "", 1.0, 1.0, "m", 0.1, name, "why") for name in verdicts], columns=list(COLUMNS)
        )
        return digest(check_rows(table))

    assert answer("input", "input").answer == "2 inputs, used as printed"
    assert answer("input", "not_comparable").answer == "not comparable in this run; 1 input, used as printed"
    mixed = answer("agrees", "input", "differs")
    assert mixed.answer == "reproduced in part: 1 of 2"
    assert any(sentence.startswith("1 is an input of the run") for sentence in mixed.sentences)
    assert answer("input", "not_comparable").sentences[1].startswith("The other 1 cannot be compared")
