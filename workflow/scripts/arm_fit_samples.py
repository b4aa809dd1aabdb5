"""Rule arm_fit_samples: one twin experiment with samples of sensor noise, by every method."""

from typing import Any

from contactid.arm.fit_files import write_samples
from contactid.run.job import job


def main(*, truth: str, experiment: str, table: str, block: dict[str, Any], robot: dict[str, Any]) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_samples(truth, experiment, table, block=block, robot=robot)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            truth=smk.input.truth,
            experiment=smk.wildcards.experiment,
            table=smk.output.table,
            block=smk.params.block,
            robot=smk.params.robot,
        )
