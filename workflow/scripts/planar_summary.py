"""Rule planar_summary: what the study found, as a section of text."""

from pathlib import Path

from contactid.core.atomic import write_text
from contactid.output.tables import read_csv
from contactid.planar.summary import summarise
from contactid.run.job import job


def main(
    *,
    tables: list[str],
    summary: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_text(summary, summarise({Path(table).stem: read_csv(table) for table in tables}))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            tables=list(smk.input.tables),
            summary=smk.output.summary,
        )
