"""Rule arm_checks: hold the study's printed numbers against the reproduced ones."""

from pathlib import Path

from contactid.arm.checks import REASONS, reproduced_numbers
from contactid.output.comparison import compare
from contactid.output.tables import read_csv, write_csv
from contactid.run.job import job


def main(
    *,
    published: str,
    tables: list[str],
    synthetic: bool,
    window: float,
    links: str,
    checks: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    by_name = {Path(table).stem: read_csv(table) for table in tables}
    numbers = reproduced_numbers(by_name, synthetic=synthetic, window=window, links=read_csv(links))
    write_csv(compare("arm", read_csv(published), numbers, REASONS), checks)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            published=smk.input.published,
            links=smk.input.links,
            tables=list(smk.input.tables),
            synthetic=smk.params.synthetic,
            window=smk.params.window,
            checks=smk.output.checks,
        )
