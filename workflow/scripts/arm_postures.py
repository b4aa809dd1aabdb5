"""Rule arm_postures: postures behind Table II, and what the links can be."""

from typing import Any

from contactid.arm.impact_files import write_postures
from contactid.run.job import job


def main(
    *,
    published: str,
    robot: dict[str, Any],
    postures: str,
    links: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_postures(postures, links, robot=robot, published=published)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            published=smk.input.published,
            robot=smk.params.robot,
            postures=smk.output.postures,
            links=smk.output.links,
        )
