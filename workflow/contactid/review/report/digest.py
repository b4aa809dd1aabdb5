"""The rows of ``checks.csv``, and what they say together: reproduced or not, and how far off."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import AGREES, BETTER, COLUMNS, DIFFERS, INPUT, NOT_COMPARABLE, VERDICTS
from contactid.review.report.model import Digest

_MOST_REASONS = 6


def check_rows(table: pd.DataFrame) -> tuple[Any, ...]:
    """The rows of ``checks.csv`` in the file's order, with their columns as attributes, and further ones.

    ``number`` is the row's in the file, from 1; ``deviation`` is reproduced less published, NaN where there is no such
    number; ``relative`` is its magnitude over that of the published number, NaN where that is none or 0;
    ``in_tolerances`` is its magnitude over the tolerance, infinite where only an exact number agrees and ours isn't.
    """
    rows = table[list(COLUMNS)].fillna({"condition": "", "unit": "", "note": ""})
    deviation, published = rows["reproduced"] - rows["published"], rows["published"].astype(float)
    rows = rows.assign(
        number=range(1, len(rows) + 1),
        deviation=deviation,
        relative=(deviation / published.where(np.isfinite(published) & (published != 0.0))).abs(),
        in_tolerances=(deviation.abs() / rows["tolerance"]).where(deviation != 0.0, 0.0),
    )
    return tuple(rows.itertuples(index=False, name="Check"))


def digest(checks: Sequence[Any]) -> Digest:
    """How many printed numbers are reproduced and how far off the others are."""
    counts = {verdict: sum(check.verdict == verdict for check in checks) for verdict in VERDICTS}
    compared = [check for check in checks if check.verdict not in (INPUT, NOT_COMPARABLE)]
    aside = [check for check in checks if check.verdict == NOT_COMPARABLE]
    sentences = []
    if compared:
        sentences.append(f"{len(compared)} of {len(checks)} printed numbers are compared: {_how_many(counts)}.")
        sentences.extend(_how_far("Those that agree", [check for check in compared if check.verdict == AGREES]))
        sentences.extend(_how_far("Those that differ", [check for check in compared if check.verdict == DIFFERS]))
    if counts[INPUT]:
        are = "is an input" if counts[INPUT] == 1 else "are inputs"
        sentences.append(f"{counts[INPUT]} {are} of the run, used as printed: no result.")
    if aside:
        known = [check for check in aside if not math.isnan(check.reproduced)]
        left = (
            f"The other {len(aside)} cannot"
            if len(aside) < len(checks)
            else f"None of the {len(aside)} printed numbers can"
        )
        sentences.append(f"{left} be compared; the run has {len(known) or 'no'} numbers of its own beside them.")
        sentences.extend(_how_far("These", known))
    return Digest(_answer(counts), tuple(sentences), _reasons(aside), counts)


def _answer(counts: dict[str, int]) -> str:
    good = counts[AGREES] + counts[BETTER]
    compared = good + counts[DIFFERS]
    if not compared:
        used = f"{counts[INPUT]} input{'s' if counts[INPUT] > 1 else ''}, used as printed"
        if not counts[INPUT]:
            return "not comparable in this run"
        return f"not comparable in this run; {used}" if counts[NOT_COMPARABLE] else used
    of = f"{good} of {compared}{' comparable' if counts[NOT_COMPARABLE] else ''}"
    return f"reproduced: {of}" if good == compared else f"reproduced in part: {of}" if good else f"not reproduced: {of}"


def _how_many(counts: dict[str, int]) -> str:
    words = {AGREES: "agree", BETTER: "are better", DIFFERS: "differ"}
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in words.items() if counts[verdict])


def _how_far(subject: str, checks: Sequence[Any]) -> list[str]:
    """Median and largest relative deviation, the latter with its place."""
    known = [check for check in checks if math.isfinite(check.relative)]
    if not known:
        return []
    worst = max(known, key=lambda check: check.relative)
    if worst.relative == 0.0:
        return [f"{subject} are exactly the printed ones."]
    middle = median(check.relative for check in known)
    where = f"{worst.quantity} ({spoken(worst.condition)})" if worst.condition else worst.quantity
    return [
        f"{subject} are off by {percent(middle)}{' of' if middle < 10.0 else ''} the printed value in the median, "
        f"by {percent(worst.relative)} at most: {where}."
    ]


def _reasons(checks: Sequence[Any]) -> tuple[tuple[str, int], ...]:
    """Notes by frequency; what follows a semicolon belongs to one row alone."""
    counted = Counter(check.note.split(";")[0].strip() or "no reason given" for check in checks)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_MOST_REASONS])


def spoken(condition: str) -> str:
    """``object=Box004;simulator=matlab`` as ``object Box004, simulator matlab``."""
    return ", ".join(part.replace("=", " ", 1) for part in condition.split(";") if part)


def percent(share: float) -> str:
    """A share in percent, to two digits where it is below 10 %; as a multiple from ten times on."""
    if share >= 10.0:
        return f"{share:.0f} times" if share < 1e4 else "orders of magnitude"
    return f"{100.0 * share:.0f} %" if share >= 0.1 else f"{100.0 * share:.2g} %"
