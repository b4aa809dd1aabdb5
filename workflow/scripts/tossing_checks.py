"""Rule tossing_checks: hold the study's printed numbers against the reproduced ones."""

from pathlib import Path

from contactid.output.comparison import compare
from contactid.output.tables import read_csv, write_csv
from contactid.run.job import job
from contactid.tossing.checks import REASONS, reproduced_numbers


def main(*, published: str, tables: list[str], paper_schemes: dict[str, str], checks: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    by_name = {Path(table).stem: read_csv(table) for table in tables}
    write_csv(compare("tossing", read_csv(published), reproduced_numbers(by_name, paper_schemes), REASONS), checks)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            published=smk.input.published,
            tables=list(smk.input.tables),
            paper_schemes=smk.params.paper_schemes,
            checks=smk.output.checks,
        )
