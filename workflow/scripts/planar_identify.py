"""Rule planar_identify: one noise reading, one friction, some seeds, every frame rate."""

from collections.abc import Sequence
from typing import Any

from contactid.planar.identification_files import write_cells
from contactid.run.job import job


def main(*, block: dict[str, Any], noise: dict[str, Any], friction_mu: float, seeds: Sequence[int], table: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_cells(block, noise, friction_mu, seeds, table)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            block=smk.params.block,
            noise=smk.params.noise,
            friction_mu=float(smk.wildcards.friction),
            seeds=smk.params.seeds,
            table=smk.output.table,
        )
