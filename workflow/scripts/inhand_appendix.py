"""Rule inhand_appendix: the appendix tables, printed beside reproduced, and the data of the error figures."""

from contactid.inhand.printed_files import write_appendix
from contactid.run.job import job


def main(
    *,
    folder: str,
    published: str,
    verdicts: str,
    estimates: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_appendix(folder, published=published, verdicts=verdicts, estimates=estimates)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            published=smk.input.published,
            verdicts=smk.input.verdicts,
            estimates=smk.input.estimates,
        )
