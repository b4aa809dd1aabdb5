"""Rule planar_peaks: the first impact against the time step, by both models."""

from typing import Any

from contactid.planar.sweeps.peaks import write_peaks
from contactid.run.job import job


def main(
    *,
    block: dict[str, Any],
    scene: str,
    options: dict[str, Any],
    peaks: str,
    impulses: str,
    errors: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_peaks(block, scene, options, peaks=peaks, impulses=impulses, errors=errors)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            block=smk.params.block,
            scene=smk.wildcards.scene,
            options=smk.params.options,
            peaks=smk.output.peaks,
            impulses=smk.output.impulses,
            errors=smk.output.errors,
        )
