"""Rule tossing_summary: what the study found, as a section of text."""

from pathlib import Path

from contactid.core.atomic import write_text
from contactid.output.tables import read_csv
from contactid.run.job import job
from contactid.tossing.summary import summarise


def main(
    *,
    identification: str,
    calibration: str,
    tosses: str,
    more: list[str],
    summary: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    tables = [read_csv(path) for path in (identification, calibration, tosses)]
    by_name = {Path(path).stem: read_csv(path) for path in more}
    write_text(summary, summarise(*tables, by_name))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            identification=smk.input.identification,
            calibration=smk.input.calibration,
            tosses=smk.input.tosses,
            more=list(smk.input.more),
            summary=smk.output.summary,
        )
