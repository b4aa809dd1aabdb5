"""Rule arm_two_mass: Table I and the data behind figures 3 to 5."""

from typing import Any

from contactid.arm.two_mass_files import write_models
from contactid.run.job import job


def main(
    *,
    folder: str,
    block: dict[str, Any],
    published: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_models(folder, block=block, published=published)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            block=smk.params.block,
            published=smk.input.published,
        )
