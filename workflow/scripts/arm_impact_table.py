"""Rule arm_impact_table: Table II as printed, with our predictions, as corrected, and with the recordings' fits."""

from typing import Any

from contactid.arm.impact_files import write_impact_table
from contactid.run.job import job


def main(
    *,
    published: str,
    fits: str,
    robot: dict[str, Any],
    table: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_impact_table(table, robot=robot, published=published, fits=fits)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            published=smk.input.published,
            fits=smk.input.fits,
            robot=smk.params.robot,
            table=smk.output.table,
        )
