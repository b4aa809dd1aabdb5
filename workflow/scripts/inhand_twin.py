"""Rule inhand_twin: simulate the recordings of a held object, and the truth behind each."""

from typing import Any

from contactid.inhand.readers.twin_options import twin_options
from contactid.inhand.readers.twins import write_twins
from contactid.run.job import job


def main(*, block: dict[str, Any], seeds: list[int], folder: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_twins(folder, seeds, twin_options(block))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(block=smk.params.block, seeds=list(smk.params.seeds), folder=smk.params.folder)
