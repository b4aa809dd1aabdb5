"""Which recordings a run had, by its datasets' cards: the sentence above its verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

PAPERS, OTHERS = "the papers' recordings", "recordings that aren't the papers'"
TWINS = "synthetic twins, simulated in place of recordings"


def kind_of(card: Mapping[str, Any]) -> str:
    """What a dataset is, by its card (:func:`contactid.sources.card.make_card`)."""
    if card["of_the_paper"]:
        return PAPERS
    return TWINS if card["synthetic"] else OTHERS


def run_had(what: str, cards: Iterable[Mapping[str, Any]]) -> str:
    """Which recordings a run or a study had; empty where it has no dataset.

    >>> run_had("This run", [{"of_the_paper": False, "synthetic": True}])
    'This run had no recordings: its data (1 dataset) are synthetic twins, simulated in place of recordings.'
    """
    counts = Counter(map(kind_of, cards))
    if not counts:
        return ""
    plural = "s" if counts.total() > 1 else ""
    number = f"{counts.total()} dataset{plural}"
    # simulated data alone must not look like a reproduction from measurements
    if set(counts) == {TWINS}:
        return f"{what} had no recordings: its data ({number}) are {TWINS}."
    parts = [f"{counts[kind]} of {kind}" for kind in (PAPERS, OTHERS, TWINS) if kind in counts]
    return f"{what} had {number}: {'; '.join(parts)}."


def made_from(cards: Iterable[Mapping[str, Any]]) -> str:
    """What a table or figure was made from; empty where that is no dataset."""
    kinds = set(map(kind_of, cards))
    parts = [kind for kind in (PAPERS, OTHERS, TWINS) if kind in kinds]
    return f"Made from {'; and from '.join(parts)}." if parts else ""
