"""Prose that can't lie: what it refuses to say, and that what this repository says can be checked."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from contactid.core.errors import ContactIdError
from contactid.output.claims import NO_RESULT, read_claims
from contactid.output.verdicts import VERDICTS
from contactid.review.article.heading import about_run, files_of
from contactid.review.article.prose import (
    SUMMARY,
    Prose,
    filled,
    parted,
    read_prose,
    read_values,
    require_true,
)

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "workflow/resources/articles").glob("**/*.md"))
POINTS = "\n\n".join(f"## {point}\n\nWords." for point in SUMMARY)
CELLS = "object,scheme,error\na,ours,2.04\nb,ours,3.0\na,print,-0.5\n"
OURS = "t | object=a & scheme=ours | error | .1f"


def write_prose(folder, text, values=None, points=POINTS):
    """A prose with one table, and the text below its summary."""
    heading = {
        "runs": ["small"],
        "files": {"t": "tossing/t.csv"},
        "values": {"ours": OURS} if values is None else values,
    }
    path = folder / "tossing.md"
    path.write_text(
        f"---\n{yaml.safe_dump(heading)}---\n# Summary\n\n{points}\n\n# Text\n\n{text}\n"
    )
    return path


def held(folder, text, verdicts=None, **more):
    """The prose, after it was held against the cells and these verdicts, and its values."""
    (folder / "t.csv").write_text(CELLS)
    prose = read_prose(write_prose(folder, text, **more))
    values = read_values(prose, {"t": str(folder / "t.csv")})
    require_true(prose, values, verdicts or {})
    return prose, values


def texts(prose: Prose):
    return [one.text for block in parted(prose)[1] for one in block.sentences]


def test_sentences_have_their_values_and_what_they_need_isnt_shown(tmp_path):
    text = "We are {ours} cm off. {holds ours < 2.5}{claim small = reproduced} Eq. 5 says so, too."
    prose, values = held(tmp_path, text, {"small": "reproduced"})
    said = [filled(prose, one, values) for one in texts(prose)]
    assert said == ["Text", "We are 2.0 cm off.", "Eq. 5 says so, too."]
    needs = parted(prose)[1][1].sentences[0]
    assert needs.holds == ("ours < 2.5",) and needs.claims == (("small", "reproduced"),)


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        ("We are {ours} cm off. {holds ours > 2.1}", "needs ours > 2.1, but ours is 2.04"),
        ("It is {ours}. {holds ours < 3 and ours < 1}", "needs ours < 3 and ours < 1, but ours is 2.04"),
        ("It is {ours}. {claim small = reproduced}", "needs small to be reproduced, and it is differs"),
        ("It is {ours}. {claim large = differs}", "needs large to be differs, and it is no claim"),
    ],
)  # fmt: skip
def test_what_isnt_so_names_sentence_need_and_what_is_so(tmp_path, sentence, says):
    with pytest.raises(ContactIdError) as raised:
        held(tmp_path, f"First. {sentence} Last.", {"small": "differs"})
    line = str(raised.value)
    assert says in line and "\n" not in line
    said = sentence.partition(" {holds")[0].partition(" {claim")[0].replace("{ours}", "2.0")
    assert f'"{said}"' in line


def test_a_value_has_the_factor_of_its_format(tmp_path):
    cells = {"less": "t | scheme=print | error | .2f*-1"}
    prose, values = held(tmp_path, "It is {less} less. {holds less > 0.4}", values=cells)
    assert filled(prose, texts(prose)[1], values) == "It is 0.50 less."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("We are 2.0 cm off, not {ours}. {holds ours > 0}", "has 2.0, which is no value"),
        ("Half of 30 boxes, {ours}. {holds ours > 0}", "has 30, which is no value"),
        ("We are {ours} cm off.", "has a value, and nothing that must hold"),
        ("We are {ours} cm off. {holds others > 0}", "has others, which is none of its values"),
        ("We are {their} cm off. {holds ours > 0}", "has their, which is none of its values"),
        ("We are off.", "no sentence has the value ours"),
    ],
)
def test_prose_that_could_lie_is_refused(tmp_path, text, problem):
    with pytest.raises(ContactIdError, match=re.escape(problem)):
        read_prose(write_prose(tmp_path, text))


def test_references_and_names_may_have_digits(tmp_path):
    text = "Table 3, eqs. 5 and 6, figures 9, 10 and 12, section 4.1, [12] and Box006 are named."
    read_prose(write_prose(tmp_path, f"{text} It is {{ours}}. {{holds ours > 0}}"))


@pytest.mark.parametrize(
    ("points", "problem"),
    [
        ("## Scope\n\nWords.", "its summary has Scope"),
        ("Words.", "its summary has no points"),
    ],
)
def test_a_summary_has_all_points(tmp_path, points, problem):
    with pytest.raises(ContactIdError, match=problem):
        read_prose(write_prose(tmp_path, "It is {ours}. {holds ours > 0}", points=points))


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("t | object=c | error | .1f", "no rows have object=c"),
        ("t | object=a | error | .1f", "2 rows have object=a"),
        ("t | | scheme | .1f", "3 rows have no condition"),
        ("t | object=a & scheme=ours | scheme | .1f", "'ours' is no number"),
        ("u | object=a | error | .1f", "isn't file | rows | column | format"),
        ("t | object=a | error", "isn't file | rows | column | format"),
    ],
)
def test_a_value_that_cannot_be_taken_is_said(tmp_path, cell, problem):
    with pytest.raises(ContactIdError, match=re.escape(problem)):
        held(tmp_path, "It is {ours}. {holds ours > 0}", values={"ours": cell})


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_this_repository_says_can_be_checked(path):
    prose, study, folder = read_prose(path), path.stem, path.parent.name
    assert about_run(path, "default" if folder == "articles" else folder)
    for file in files_of(path):
        assert not file.startswith("workflow/") or (ROOT / file).is_file(), file
    ledger = ROOT / f"workflow/resources/published/{study}_claims.yaml"
    claims = {claim.name for claim in read_claims(ledger)}
    summary, text = parted(prose)
    sentences = [one for block in (*summary, *text) for one in block.sentences]
    named = [claim for sentence in sentences for claim in sentence.claims]
    assert named
    for name, verdict in named:
        assert name in claims and verdict in (*VERDICTS, NO_RESULT), (name, verdict)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_needs_of_this_repository_would_fail_on_other_values(path):
    """Each expression is false for some values: one that always holds asks nothing."""
    prose = read_prose(path)
    sentences = [one for block in prose.blocks if block.kind != "show" for one in block.sentences]
    needed = [one for sentence in sentences for one in sentence.holds]
    assert needed
    rng = np.random.default_rng(1)
    drawn = rng.normal(size=(50, len(prose.values))) * 10.0 ** rng.uniform(-3, 4, size=(50, 1))
    for expression in needed:
        with pytest.raises(ContactIdError):
            for row in drawn:
                require_one(prose, expression, dict(zip(prose.values, row, strict=True)))


def require_one(prose, expression, values):
    """One expression of a prose, held against other values."""
    block = next(block for block in prose.blocks if block.kind == "paragraph")
    sentence = type(block.sentences[0])("It is so.", (expression,))
    only = Prose(prose.path, {}, {}, (type(block)("paragraph", (sentence,)),))
    require_true(only, values, {})
