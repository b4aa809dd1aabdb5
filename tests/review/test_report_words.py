"""Words of the report: verdicts, reasons, names and formulas as sentences."""

import doctest

import pandas as pd
import pytest

from contactid.output.claims import NO_RESULT
from contactid.output.verdicts import VERDICTS
from contactid.review.report import digest, quotes
from contactid.review.report.collect import key_of, label_of, plain_caption
from contactid.review.report.digest import claim_rows, what_holds
from contactid.review.report.page import alike
from contactid.review.report.quotes import typeset


def claims_of(verdicts, evidence="x", section="I"):
    columns = ("study", "claim", "quote", "asks", "rows")
    table = pd.DataFrame({"verdict": verdicts}).assign(**dict.fromkeys(columns, ""))
    return claim_rows(table.assign(section=section, evidence=evidence), [], {})


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        (["reproduced"], "Of its 1 checkable sentence in the abstract 1 is reproduced."),
        (["no_result"], ""),
        (
            ["reproduced", "print_inconsistent", "print_inconsistent", "no_result"],
            "Of its 3 checkable sentences in the abstract 1 is reproduced, 2 are contradicted by its own numbers.",
        ),
    ],
)
def test_what_holds_is_counted_without_opinions(verdicts, told):
    assert what_holds(claims_of(verdicts, section="abstract")) == told


@pytest.mark.parametrize("verdict", (*VERDICTS, NO_RESULT))
def test_every_verdict_on_a_sentence_can_be_told(verdict):
    told = what_holds(claims_of([verdict, verdict], section="abstract"))
    assert bool(told) is (verdict != NO_RESULT)


@pytest.mark.parametrize("words", [10, 100])
def test_evidence_is_cut_and_nothing_of_it_is_lost(words):
    first, rest = ("a reason " * words).strip(), "another; and a third"
    [claim] = claims_of(["differs"], f"{first}; {rest}")
    assert len(claim.evidence) < 180
    whole = f"{claim.evidence} {claim.rest}".replace(" … …", "")
    assert whole.replace(";", "") == f"{first} {rest}".replace(";", "")


@pytest.mark.parametrize(
    ("verdict", "evidence", "told"),
    [
        ("differs", "in 3 of 16 cases; why", ("in 3 of 16 cases: why", "")),
        ("differs", "in 3 of 16 cases", ("in 3 of 16 cases", "")),
        ("not_done", "not done: a number", ("a number", "")),
        ("never_published", "never published: a video; more", ("needs a video", "more")),
        ("needs_archive", "needs the archive 10.1/2: n", ("needs the archive 10.1/2: n", "")),
        # what the run has speaks neither for it nor against it
        (
            "needs_archive",
            "in 8 of 8 cases; a from b; c",
            ("needs a from b", "on what this run has: in 8 of 8 cases; c"),
        ),
    ],
)
def test_a_reason_begins_with_what_the_verdict_rests_on(verdict, evidence, told):
    [claim] = claims_of([verdict], evidence)
    assert (claim.evidence, claim.rest) == told


def test_quantities_in_notes_are_words_and_datasets_keep_their_names():
    table = pd.DataFrame(
        {
            "study": "s",
            "unit": ["s", "1", "holds"],
            "quantity": ["impact_time_s", "i_xx", "it_holds"],
        }
    )
    names = digest.all_names(table, {"s": {"i_xx": "I_xx"}})["s"]
    assert (
        digest.in_words("impact_time_s and i_xx of box_drops", names)
        == "impact time and I_xx of box_drops"
    )
    assert "it_holds" not in names


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
    assert (
        plain_caption("Shares (%), $10^{-2}$ kg m$^2$, +- spread")
        == "Shares (%), 10^-2 kg m^2, ± spread."
    )
    assert plain_caption("Events (s).") == "Events (s)."


@pytest.mark.parametrize(
    ("quote", "told"),
    [
        (r"$\frac{J}{m}$ is $\hat{v}_i^+$ ", "<i>J/m</i> is <i>v̂<sub>i</sub><sup>+</sup></i> "),
        (
            r"$N_{\mathrm{I}} - 1$ and *both* 2 * 3 * 4",
            "<i>N<sub>I</sub> - 1</i> and <em>both</em> 2 * 3 * 4",
        ),
        ("a <b> & $5", "a &lt;b&gt; &amp; $5"),
        ("100 kg/m<sup>3</sup>", "100 kg/m<sup>3</sup>"),
    ],
)
def test_formulas_of_quotes_are_set_and_all_else_stays_text(quote, told):
    assert str(typeset(quote)) == told


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a", "b"], "synthetic"),
        (["a:left", "a:right"], "synthetic"),
        (["a"], ""),  # it says so itself
        (["a", "other"], ""),
        (["a", "nowhere"], ""),
        (["papers", "papers:part"], ""),
    ],
)
def test_what_all_datasets_of_a_line_are_is_said_once(names, told):
    twin = {"told": "synthetic", "of_the_paper": False}
    cards = {
        "a": twin, "b": twin, "other": {"told": "public", "of_the_paper": False},
        "papers": {"told": "recorded", "of_the_paper": True},
    }  # fmt: skip
    assert alike(names, cards) == told


@pytest.mark.parametrize("module", [digest, quotes])
def test_examples_of_words_are_as_written(module):
    found = doctest.testmod(module)
    assert found.failed == 0 < found.attempted
