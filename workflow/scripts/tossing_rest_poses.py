"""Rule tossing_rest_poses: predictive distribution of rest poses and its scores."""

from typing import Any

from contactid.run.job import job
from contactid.tossing.rest_pose_files import write_rest_poses
from contactid.tossing.variants import Variant


def main(
    *,
    prepared: str,
    identified: str,
    calibration: str | None,
    fit: str,
    variant: dict[str, Any],
    grid: dict[str, float],
    draws: int,
    seed: int,
    n_tosses: int,
    outputs: tuple[str, str, str],
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_rest_poses(
        outputs,
        prepared=prepared,
        identified=identified,
        calibration=calibration,
        fit=fit,
        variant=Variant.from_config(variant),
        restitution=grid,
        draws=draws,
        seed=seed,
        n_tosses=n_tosses,
    )


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            identified=smk.input.identified,
            calibration=smk.input.get("calibration") or None,
            fit=smk.input.fit,
            variant=smk.params.variant,
            grid=smk.params.grid,
            draws=smk.params.draws,
            seed=smk.params.seed,
            n_tosses=smk.params.n_tosses,
            outputs=(smk.output.scores, smk.output.errors, smk.output.outlines),
        )
