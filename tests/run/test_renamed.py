"""Former names of rules are refused with the new ones, and stand for rules that are there."""

import re
from pathlib import Path

import pytest

from contactid.core.errors import ContactIdError
from contactid.run.renamed import RULES, refuse_old_names
from contactid.run.resources import asked_by, asked_for

TEXT = "".join(
    file.read_text() for file in (Path(__file__).parents[2] / "workflow/rules").glob("*.smk")
)


@pytest.mark.parametrize("words", [["-R", "arm_draw"], ["--set-resources", "arm_draw:mem_mb=2000"]])
def test_a_former_name_is_refused_with_the_new_one(words):
    with pytest.raises(
        ContactIdError, match=r"no rule arm_draw any more. What it did, arm_draw_1 does now"
    ):
        refuse_old_names(words)


def test_other_words_pass():
    refuse_old_names(
        ["--configfile", "config/arm_draw.yaml", "results/default/summary.md", "arm_fit"]
    )


@pytest.mark.parametrize(("old", "new"), RULES.items())
def test_the_new_rules_are_there_and_the_old_ones_are_not(old, new):
    assert asked_by(new, asked_for()), new
    assert not re.search(rf"^ *rule {old}:", TEXT, re.M)
