"""Rule checks: every study's verdicts in one table."""

import pandas as pd

from contactid.output.tables import read_csv, write_csv
from contactid.run.job import job


def main(
    *,
    studies: list[str],
    checks: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_csv(pd.concat([read_csv(study) for study in studies], ignore_index=True), checks)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            studies=list(smk.input.studies),
            checks=smk.output.checks,
        )
