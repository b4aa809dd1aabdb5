"""Rule planar_identification_tables: table 1 and what goes with it."""

from collections.abc import Sequence
from typing import Any

from contactid.planar.identification_files import write_identification_tables
from contactid.run.job import job


def main(
    *, block: dict[str, Any], published: str, cells: Sequence[str], reformulations: Sequence[str], folder: str
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_identification_tables(block, published, cells, reformulations, folder)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            block=smk.params.block,
            published=smk.input.published,
            cells=smk.input.cells,
            reformulations=smk.input.reformulations,
            folder=smk.params.folder,
        )
