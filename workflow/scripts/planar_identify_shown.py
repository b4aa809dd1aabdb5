"""Rule planar_identify_shown: throws of figures 17 and 18 with states and impulses."""

from typing import Any

from contactid.planar.identification_files import write_shown
from contactid.run.job import job


def main(*, block: dict[str, Any], noise: dict[str, Any], fits: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_shown(block, noise, fits)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(block=smk.params.block, noise=smk.params.noise, fits=smk.output.fits)
