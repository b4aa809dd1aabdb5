"""Rule planar_tables: the study's tables."""

from typing import Any

from contactid.planar.result_files import write_tables
from contactid.run.job import job


def main(
    *,
    folder: str,
    block: dict[str, Any],
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_tables(folder, block=block)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            block=smk.params.block,
        )
