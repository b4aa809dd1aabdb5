"""The verdicts on printed numbers and statements, what they mean, and the rules behind them.

A printed number counts as reproduced only where ours was made without it and the same check would
have refused wrong answers. A verdict that a fifth more or less of its own threshold changes is
none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

# what a number of ours rests on
COMPUTED, PREDICTED, FITTED, PRINT, INPUT = "computed", "predicted", "fitted", "print", "input"
BASES = {
    COMPUTED: "made without this printed number and those related to it",
    PREDICTED: "fitted to other printed rows, held against this one",
    FITTED: "fitted to this printed row, among others",
    PRINT: "arithmetic on printed numbers alone",
    INPUT: "starts from the printed number: the run uses it, or the twin behind ours was made with it or a related one",
}

# where the data come from that a number of ours was made from
SIMULATION, TWIN_OF_PRINT, TWIN = "simulation", "twin_of_print", "twin"
RECORDING, ARCHIVE, PRINTED = "recording", "archive", "print"
ORIGINS = {
    ARCHIVE: "the paper's own recordings, from its archive",
    RECORDING: "recordings that aren't the paper's: public ones, or one's own",
    TWIN: "a synthetic twin that no printed number went into",
    TWIN_OF_PRINT: "a synthetic twin that was made with printed numbers, which therefore can't confirm them",
    SIMULATION: "no data: a simulation of what the paper describes",
    PRINTED: "no data: arithmetic on printed numbers",
}

REPRODUCED, PRINT_CONSISTENT, UNINFORMATIVE = "reproduced", "print_consistent", "uninformative"
BETTER, DIFFERS, PRINT_INCONSISTENT = "better", "differs", "print_inconsistent"
NEEDS_ARCHIVE, NEVER_PUBLISHED = "needs_archive", "never_published"
UNDEFINED, NOT_DONE = "undefined", "not_done"
#: What keeps a row from being compared.
LACKS = (NEEDS_ARCHIVE, NEVER_PUBLISHED, UNDEFINED, NOT_DONE)
#: The verdicts, in the order in which they are told.
VERDICTS = (
    REPRODUCED, PRINT_CONSISTENT, FITTED, BETTER, DIFFERS, PRINT_INCONSISTENT, UNINFORMATIVE, INPUT, *LACKS,
)  # fmt: skip
MEANINGS = {
    REPRODUCED: "made without the printed number, as printed or stated, and wrong answers would have been refused",
    PRINT_CONSISTENT: "printed numbers alone give it: the paper agrees with itself",
    FITTED: "as printed, but fitted to this very row",
    BETTER: "an error that is smaller than the printed one, by more than the tolerance",
    DIFFERS: "ours isn't as printed or stated",
    PRINT_INCONSISTENT: "the paper's own numbers contradict it",
    UNINFORMATIVE: "shows nothing: a wrong answer would pass as well, or a fifth of the threshold decides",
    INPUT: "what the run starts from, used as printed: it only shows that it was written down right",
    NEEDS_ARCHIVE: "needs the paper's recordings, which have a DOI, and this run didn't read them",
    NEVER_PUBLISHED: "needs what can't be had: recordings without a DOI, or licensed software",
    UNDEFINED: "has no value: eq. 38 is infinite, data don't determine it, or a sign that print leaves out decides",
    NOT_DONE: "could be computed, and this run didn't",
}
_WITHIN = {FITTED: FITTED, PRINT: PRINT_CONSISTENT, INPUT: INPUT}

#: A threshold is moved by this share, up and down, and the verdict must stay.
FIFTH = 0.2
MOVES = (1.0 - FIFTH, 1.0 + FIFTH)
#: The wrong answer that the author of a check chose; all others follow from a rule.
COUNTEREXAMPLE = "counterexample"


class Lack(NamedTuple):
    """Why a row can't be compared: one of :data:`LACKS`, and what is missing in words."""

    kind: str
    words: str


def agrees(value: float, published: float, tolerance: float) -> bool:
    """Whether a number is within the tolerance; a last digit of rounded numbers doesn't decide."""
    return bool(abs(value - published) <= tolerance * (1.0 + 1e-9))


def judge_number(
    value: float,
    published: float,
    tolerance: float,
    basis: str,
    tried: Collection[float],
    is_error: bool,
) -> str:
    """The verdict on a number that can be compared.

    Parameters
    ----------
    tried : the wrong answers, each of which the check must refuse
    is_error : the number is an error, so a smaller magnitude than the printed one is better
    """

    def at(limit: float) -> str:
        if not agrees(value, published, limit):
            return BETTER if is_error and abs(value) < abs(published) else DIFFERS
        could_fail = bool(tried) and not any(agrees(wrong, published, limit) for wrong in tried)
        return _WITHIN.get(basis, REPRODUCED if could_fail else UNINFORMATIVE)

    verdict = at(tolerance)
    if basis == PRINT:
        # rounding is exact: what it doesn't explain contradicts, by however little
        return PRINT_INCONSISTENT if verdict in (DIFFERS, BETTER) else verdict
    if basis == INPUT:
        return verdict
    steady = all(at(move * tolerance) == verdict for move in MOVES)
    return verdict if steady else UNINFORMATIVE


def judge_statement(
    holds: bool, basis: str, origin: str, wrong: Mapping[str, bool], moved: Mapping[str, bool]
) -> str:
    """The verdict on a statement that has an answer.

    Parameters
    ----------
    wrong : whether it holds of wrong answers, by name; all but :data:`COUNTEREXAMPLE` are made by a
        rule
    moved : whether it holds with a threshold moved by a fifth
    """
    if any(answer != holds for answer in moved.values()):
        return UNINFORMATIVE
    by_rule = [answer for name, answer in wrong.items() if name != COUNTEREXAMPLE]
    if not holds:
        # what was tuned to print can't refute it
        if basis == FITTED:
            return UNINFORMATIVE
        # on a twin, the opposite must look otherwise; a simulation of what the paper describes is
        # what it says
        blind = origin in (TWIN, TWIN_OF_PRINT) and not any(by_rule)
        if blind:
            return UNINFORMATIVE
        return PRINT_INCONSISTENT if basis == PRINT else DIFFERS
    if basis in _WITHIN:
        return _WITHIN[basis]
    # two wrong answers at least, one of them by a rule: its author could choose one that is refused
    could_fail = len(wrong) > 1 and bool(by_rule) and not any(wrong.values())
    return REPRODUCED if could_fail else UNINFORMATIVE
