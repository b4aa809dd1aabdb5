"""Rule report: one HTML file with everything that a reviewer of the run asks for."""

from pathlib import Path

from contactid.core.atomic import write_text
from contactid.review.report.collect import collect
from contactid.review.report.page import render
from contactid.run.job import job


def main(
    *,
    checks: str,
    resources: str,
    report: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    folder = Path(resources)
    write_text(report, render(collect(Path(checks).parent, folder), folder))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            checks=smk.input.checks,
            resources=smk.params.resources,
            report=smk.output.report,
        )
