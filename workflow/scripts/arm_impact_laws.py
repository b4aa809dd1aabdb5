"""Rule arm_impact_laws: impacts of Table II under other contact laws."""

from typing import Any

from contactid.arm.impact_files import write_laws
from contactid.run.job import job


def main(
    *,
    published: str,
    robot: dict[str, Any],
    laws: dict[str, Any],
    table: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_laws(table, robot=robot, laws=laws, published=published)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            published=smk.input.published,
            robot=smk.params.robot,
            laws=smk.params.laws,
            table=smk.output.table,
        )
