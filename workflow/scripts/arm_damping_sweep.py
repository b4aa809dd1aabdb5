"""Rule arm_damping_sweep: events of contact, and the two-mass models under other dampings."""

from typing import Any

from contactid.arm.two_mass_files import write_sweep
from contactid.run.job import job


def main(
    *,
    folder: str,
    block: dict[str, Any],
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_sweep(folder, block=block)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            block=smk.params.block,
        )
