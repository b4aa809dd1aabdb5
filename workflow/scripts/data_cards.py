"""Rule data_cards: what each dataset of the run is, how much of it there is, and its raw signals."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contactid.output.fits import write_json
from contactid.run.job import job
from contactid.sources.card import draw_card, make_card
from contactid.sources.registry import Dataset


def main(*, entries: Sequence[dict[str, Any]], data: Sequence[str], raw: Sequence[str], cards: Sequence[str]) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    for entry, canonical, source, card in zip(entries, data, raw, cards, strict=True):
        content = make_card(Dataset(**entry), canonical, source)
        draw_card(content, Path(card).with_suffix(""))
        write_json(card, content)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(entries=smk.params.entries, data=smk.input.data, raw=smk.input.raw, cards=smk.output.cards)
