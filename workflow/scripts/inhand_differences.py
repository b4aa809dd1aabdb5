"""Rule inhand_differences: what finite differences cost on noise-free recordings."""

from typing import Any

from contactid.inhand.speed_files import write_differences
from contactid.run.job import job


def main(*, table: str, study: dict[str, Any]) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_differences(table, study=study)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(table=smk.output.table, study=smk.params.study)
