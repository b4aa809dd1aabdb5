"""The articles of a small run: what they hold, that they don't lie, and that they are the same
twice.
"""

import re
from contextlib import chdir
from html import unescape
from pathlib import Path

import pypdf
import pytest
import typst
import yaml

from contactid.core.errors import ContactIdError
from contactid.output.artefacts import typesettings
from contactid.output.tables import read_csv
from contactid.review.article import content
from contactid.review.article.prose import SUMMARY
from contactid.review.article.spans import of_markup, of_text
from contactid.review.article.write import typeset, write_articles
from contactid.review.report.quotes import typeset as set_quote
from report_run import DECLARED, RESULTS, make_run

ROOT = Path(__file__).parents[2]
RESOURCES = ROOT / "workflow/resources"
HEADING = """---
runs: [small]
files: {errors: tossing/tables/tab03_rest_pose_errors.csv}
values: {error: errors | object=a | error | .2f}
---
"""
POINTS = "\n\n".join(f"## {point}\n\nWords." for point in SUMMARY)
TEXT = f"""# Summary

{POINTS}

# Errors

Box a is {{error}} cm off (Table III). {{holds error > 2}}{{claim errors_small = differs}}

@show fig01
"""


@pytest.fixture
def run(tmp_path):
    """A finished run with prose of one study, below the folder that is given back."""
    make_run(tmp_path)
    (tmp_path / "tossing.md").write_text(HEADING + TEXT)
    return tmp_path


def written(folder, prose=("tossing.md",), out="out", citation=(ROOT / "CITATION.cff",)):
    """The articles of that run's one study, in a folder."""
    with chdir(folder):
        pages = {kind: Path(out, f"article.{kind}") for kind in ("pdf", "html")}
        described = {
            "metadata": Path(out, "metadata.yaml"),
            "codecheck": Path(out, "codecheck.yml"),
        }
        Path(out).mkdir(exist_ok=True)
        write_articles(
            studies=["tossing"],
            run="small",
            described={"tossing": typesettings([one for one in DECLARED if "tex" in one.files])},
            checks=str(RESULTS / "checks.csv"),
            claims=str(RESULTS / "claims.csv"),
            artefacts=str(RESULTS / "artefacts.json"),
            cards=[str(RESULTS / "data/box_a/card.json")],
            files=[],
            wording=str(RESOURCES / "report/studies.yaml"),
            published=["tossing.csv", "planar.csv"],
            ledgers=["planar_claims.yaml"],
            reasons="differences.yaml",
            prose=list(prose),
            quoted=[str(RESULTS / "tossing/tables/tab03_rest_pose_errors.csv")] if prose else [],
            citation=list(map(str, citation)),
            layout=str(RESOURCES / "articles/article.typ"),
            style=str(RESOURCES / "report/report.css"),
            **{kind: [str(file)] for kind, file in (pages | described).items()},
        )
        return {kind: folder / file for kind, file in (pages | described).items()}


def text_of(pdf):
    """A pdf's text without spaces, which lines and columns break anywhere."""
    text = "".join(page.extract_text() for page in pypdf.PdfReader(pdf).pages)
    return re.sub(r"\s+", "", text)


def test_an_article_holds_prose_verdicts_tables_figures_and_every_quote(run):
    made = written(run)
    page = made["html"].read_text()
    for text in (text_of(made["pdf"]), unescape(re.sub(r"\s+|<[^>]*>", "", page))):
        for said in (
            "Boxais2.04cmoff(TableIII).",
            "sentence1:differs",
            "hadnorecordings",
            "TableIII.Errorsoftherestpose(%).",
            "Figure1.Aboxintimelapse.",
            "Theerrorsareμ<2",
            "Boxesarenice.",
            "Theywererecorded.",
            "anotherbox",
            "thepaper'srecordings,whosearchivesareamongthereferences",
        ):
            assert said in text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"), said
    assert page.count("<main>") == 1 and page.count("<h1>") == 1 and 'lang="en"' in page
    assert "http" not in re.sub(r'<a href="[^"]*">[^<]*</a>|xmlns="[^"]*"', "", page)


@pytest.mark.parametrize("study", ["tossing", "planar", "arm", "inhand"])
def test_articles_of_the_finished_run_hold_every_verdict_and_every_quote(study):
    article = ROOT / f"results/default/{study}/article.pdf"
    if not article.is_file():
        pytest.skip("no finished default run")
    claims = read_csv(ROOT / "results/default/claims.csv")
    rows = claims[claims["study"] == study]
    text = text_of(article)
    for verdict, count in rows["verdict"].value_counts().items():
        assert f"{count}{verdict.replace('_', '')}" in text, verdict
    for quote in rows["quote"]:
        # indices stand higher or lower, so that a reader of pdf may take them later
        for part in re.split("<i>.*?</i>", str(set_quote(quote))):
            words = unescape(re.sub(r"<[^>]*>", "", part))
            assert letters(words) in letters(text), quote


def letters(text):
    """Only what no line's end or ligature changes."""
    return re.sub(r"[^A-Za-z]", "", text)


def test_the_pdf_is_tagged_has_a_title_and_alternative_texts(run):
    reader = pypdf.PdfReader(written(run)["pdf"])
    root = reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"] and root["/Lang"] == "en"
    assert reader.metadata.title.startswith("[Re] Experimental Validation")
    objects = (reader.get_object(number) for number in range(1, reader.trailer["/Size"]))
    alternatives = [
        one["/Alt"]
        for one in objects
        if isinstance(one, pypdf.generic.DictionaryObject) and "/Alt" in one
    ]
    assert alternatives == ["A box in time lapse.", "Frames of motion capture, and others."]


def test_equal_results_make_equal_bytes(run):
    first, second = written(run, out="first"), written(run, out="second")
    for kind, file in first.items():
        assert file.read_bytes() == second[kind].read_bytes(), kind


def test_another_result_ends_the_build_and_names_the_sentence(run):
    table = run / RESULTS / "tossing/tables/tab03_rest_pose_errors.csv"
    table.write_text("object,error\na,1.04\n")
    with pytest.raises(ContactIdError, match=r"needs error > 2, but error is 1\.04") as raised:
        written(run)
    assert '"Box a is 1.04 cm off (Table III)."' in str(raised.value)
    assert list((run / "out").iterdir()) == []


def test_another_verdict_ends_the_build_and_names_the_sentence(run):
    claims = run / RESULTS / "claims.csv"
    claims.write_text(claims.read_text().replace("are small.,differs", "are small.,reproduced"))
    with pytest.raises(ContactIdError, match="errors_small to be differs, and it is reproduced"):
        written(run)


def test_what_cannot_be_shown_is_named(run):
    (run / "tossing.md").write_text(HEADING + TEXT.replace("@show fig01", "@show fig01 fig99"))
    with pytest.raises(ContactIdError, match="@show fig99 is neither a figure nor"):
        written(run)


def test_a_run_that_no_prose_is_about_has_an_article_without(run):
    made = written(run, prose=())
    text = text_of(made["pdf"])
    assert "TableIII.Errorsoftherestpose" in text and "Figure2." in text
    assert "Summary" not in text and "Boxais" not in text


def test_without_a_citation_the_paper_is_called_as_in_the_report(run):
    made = written(run, citation=())
    assert "[Re]Jongeneel,Poort" in text_of(made["pdf"])
    assert yaml.safe_load(made["metadata"].read_text())["replication"][3] == {"doi": ""}


def test_a_table_that_is_wider_than_the_text_is_an_error(run):
    made = written(run)
    assert made["pdf"].is_file()
    wide = {"kind": "table", "id": "tab01", "label": "Table I", "caption": [], "corner": [[]]}
    wide |= {"marks": [], "heads": [[{"text": ["a heading"], "span": 1}] * 40]}
    cell = {"printed": "12.3 ± 4.5", "ours": "12.3 ± 4.5", "marks": "r", "ends": ""}
    wide |= {"rows": [{"labels": [["row"]], "cells": [cell] * 40}]}
    data = {"shown": {"tab01": [wide]}, "rest": ["tab01"], "text": [], "summary": []}
    data |= {"claims": [], "sections": [], "abstract": [], "counts": [], "against": []}
    data |= {"lacking": [], "datasets": [], "verdicts": content.verdict_words(), "had": ""}
    data |= {"study": "tossing", "run": "small", "version": "1", "authors": ["A"]}
    data |= {"paper": {"name": "P", "authors": ["B"], "year": "", "url": "", "doi": ""}}
    layout, style = RESOURCES / "articles/article.typ", RESOURCES / "report/report.css"
    pages = (str(run / "a.pdf"), str(run / "a.html"))
    with pytest.raises(typst.TypstError, match=r"Table I is .* wide"):
        typeset(data, run, str(layout), str(style), *pages)


def test_metadata_name_the_paper_and_the_manifest_every_table_and_figure(run):
    made = written(run)
    told = yaml.safe_load(made["metadata"].read_text())
    assert told["title"].startswith("[Re] Experimental Validation")
    assert told["type"] == "Replication"
    assert told["replication"][2]["url"] == "https://hal.science/hal-03974604"
    assert "had no recordings" in told["abstract"]
    text = made["codecheck"].read_text()
    listed = yaml.safe_load(text)
    files = {one["file"] for one in listed["manifest"]}
    assert {"article.pdf", "tables/tab03_rest_pose_errors.csv", "figures/fig02_frames.csv"} <= files
    assert all(one["comment"] for one in listed["manifest"])
    assert "codechecker" not in listed and "---\n" in text


def test_spans_of_text_and_quotes():
    links = {"Table I": "tab01", "Table II": "tab02"}
    assert of_text("see table II", links) == [
        "see ",
        {"kind": "link", "to": "tab02", "body": ["table II"]},
    ]
    assert of_text("a `x_y` and *b*")[1] == {"kind": "code", "body": ["x_y"]}
    assert of_text("3 < 4 & e_N")[-1] == {"kind": "sub", "body": ["N"]}
    nested = [{"kind": "emph", "body": ["c", {"kind": "sub", "body": ["n"]}]}, " & <"]
    assert of_markup("<i>c<sub>n</sub></i> &amp; &lt;") == nested
    with pytest.raises(KeyError):
        of_markup("<script>")
