"""Rule inhand_force_sensing: force models on the simulated tactile sensor, and figure 5's data."""

from typing import Any

from contactid.inhand.force_files import write_force_sensing
from contactid.run.job import job


def main(
    *,
    folder: str,
    block: dict[str, Any],
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_force_sensing(folder, block=block)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            block=smk.params.block,
        )
