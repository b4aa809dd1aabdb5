"""Rule arm_pose: the data of figure 1."""

from typing import Any

from contactid.arm.impact_files import write_pose
from contactid.run.job import job


def main(
    *,
    robot: dict[str, Any],
    figure: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_pose(figure, robot=robot)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            robot=smk.params.robot,
            figure=smk.output.figure,
        )
