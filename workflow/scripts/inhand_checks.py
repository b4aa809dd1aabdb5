"""Rule inhand_checks: hold the study's printed numbers against the reproduced ones."""

from pathlib import Path

from contactid.inhand.checks import REASONS, reproduced_numbers
from contactid.output.comparison import compare
from contactid.output.tables import read_csv, write_csv
from contactid.run.job import job


def main(
    *,
    published: str,
    tables: list[str],
    checks: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    numbers = reproduced_numbers({Path(table).stem: read_csv(table) for table in tables})
    write_csv(compare("inhand", read_csv(published), numbers, REASONS), checks)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            published=smk.input.published,
            tables=list(smk.input.tables),
            checks=smk.output.checks,
        )
