"""Rule arm_fit_optimum: one twin experiment's global optima, against random starts and by IPOPT."""

from typing import Any

from contactid.arm.fit_files import write_optima
from contactid.run.job import job


def main(
    *,
    truth: str,
    experiment: str,
    searches: str,
    confirmation: str,
    block: dict[str, Any],
    robot: dict[str, Any],
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_optima(truth, experiment, searches, confirmation, block=block, robot=robot)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            truth=smk.input.truth,
            experiment=smk.wildcards.experiment,
            searches=smk.output.searches,
            confirmation=smk.output.confirmation,
            block=smk.params.block,
            robot=smk.params.robot,
        )
