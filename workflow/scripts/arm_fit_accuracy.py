"""Rule arm_fit_accuracy: bias, spread and coverage of the reconstruction, and the share of global optima."""

from collections.abc import Sequence
from typing import Any

from contactid.arm.fit_files import write_accuracy
from contactid.run.job import job


def main(
    *,
    truth: str,
    samples: Sequence[str],
    searches: Sequence[str],
    confirmations: Sequence[str],
    folder: str,
    robot: dict[str, Any],
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_accuracy(truth, samples, searches, confirmations, folder, robot=robot)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            truth=smk.input.truth,
            samples=smk.input.samples,
            searches=smk.input.searches,
            confirmations=smk.input.confirmations,
            folder=smk.params.folder,
            robot=smk.params.robot,
        )
