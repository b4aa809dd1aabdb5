"""Rule arm_fit: reconstruct every experiment's post-impact velocity."""

from typing import Any

from contactid.arm.fit_files import write_fits
from contactid.run.job import job


def main(*, data: str, folder: str, block: dict[str, Any], robot: dict[str, Any]) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_fits(data, folder, block=block, robot=robot)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(data=smk.input.data, folder=smk.params.folder, block=smk.params.block, robot=smk.params.robot)
