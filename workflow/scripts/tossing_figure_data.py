"""Rule tossing_figure_data: the data behind the figures."""

from typing import Any

from contactid.run.job import job
from contactid.tossing.figure_files import write_figure_data


def main(
    *,
    folder: str,
    data_folder: str,
    block: dict[str, Any],
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_figure_data(folder, data_folder, block=block)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            data_folder=smk.params.data_folder,
            block=smk.params.block,
        )
