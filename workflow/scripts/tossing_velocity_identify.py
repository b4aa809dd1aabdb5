"""Rule tossing_velocity_identify: friction and restitution from impacts, on the grid."""

from typing import Any

from contactid.output.fits import write_fit
from contactid.output.tables import write_csv
from contactid.run.job import job
from contactid.sources.motion import write_dataset
from contactid.tossing.identification import Grid, grid_values
from contactid.tossing.impact_files import read_impacts
from contactid.tossing.preprocess import IDENTIFICATION
from contactid.tossing.velocity_identification import (
    identify_velocities,
    loss_table,
    sweep_velocities,
    velocity_fit_record,
)


def main(
    *,
    impacts: str,
    dataset: str,
    variant: dict[str, Any],
    grid: dict[str, dict[str, float]],
    samples: int,
    seed: int,
    sweep: str,
    fit: str,
    losses: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    body, windows, options = read_impacts(impacts, substeps=variant["substeps"])
    known = [window for window in windows if window.split == IDENTIFICATION]
    swept = sweep_velocities(body, known, Grid(**{name: grid_values(**grid[name]) for name in grid}), options)
    found = identify_velocities(
        body, known, swept, options, refine=variant["refine"], bootstrap_samples=samples, seed=seed
    )
    write_dataset(swept, sweep)
    write_fit(fit, velocity_fit_record(found, variant, known, dataset=dataset, seed=seed))
    write_csv(loss_table(body, windows, found, options), losses)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            impacts=smk.input.impacts,
            dataset=smk.wildcards.dataset,
            variant=smk.params.variant,
            grid=smk.params.grid,
            samples=smk.params.bootstrap["samples"],
            seed=smk.params.bootstrap["seed"],
            sweep=smk.output.sweep,
            fit=smk.output.fit,
            losses=smk.output.losses,
        )
