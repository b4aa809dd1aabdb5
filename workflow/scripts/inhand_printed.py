"""Rule inhand_printed: can a rigid body have the printed parameters, under any reading of the tables?"""

from contactid.inhand.printed_files import write_printed
from contactid.run.job import job


def main(
    *,
    folder: str,
    published: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_printed(folder, published=published)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            published=smk.input.published,
        )
