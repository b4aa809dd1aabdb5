"""Rule summary: what the run found, as a page of text."""

from pathlib import Path

from contactid.core.atomic import write_text
from contactid.output.summary import summarise_run
from contactid.output.tables import read_csv
from contactid.run.job import job


def main(
    *,
    run: str,
    sections: list[str],
    checks: str,
    summary: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    texts = [Path(section).read_text(encoding="utf-8") for section in sections]
    write_text(summary, summarise_run(run, texts, read_csv(checks)))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            run=smk.params.run,
            sections=list(smk.input.sections),
            checks=smk.input.checks,
            summary=smk.output.summary,
        )
