"""Rule tossing_tables: the tables of the study."""

from typing import Any

from contactid.run.job import job
from contactid.tossing.result_files import write_tables


def main(
    *,
    folder: str,
    data_folder: str,
    block: dict[str, Any],
    simulated: list[tuple[str, str, str]],
    published: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_tables(folder, data_folder, block=block, simulated=simulated, published=published)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            data_folder=smk.params.data_folder,
            block=smk.params.block,
            simulated=smk.params.simulated,
            published=smk.input.published,
        )
