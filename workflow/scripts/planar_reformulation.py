"""Rule planar_reformulation: one reformulation on the cells that all are compared on."""

from typing import Any

from contactid.planar.identification_files import write_reformulation
from contactid.run.job import job


def main(*, block: dict[str, Any], noise: dict[str, Any], reformulation: str, table: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_reformulation(block, noise, reformulation, table)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            block=smk.params.block,
            noise=smk.params.noise,
            reformulation=smk.wildcards.reformulation,
            table=smk.output.table,
        )
