"""Rule tossing_sweep: losses of all tosses over the parameter grid."""

from typing import Any

from contactid.run.job import job
from contactid.sources.motion import write_dataset
from contactid.tossing.identification import Grid, grid_values, sweep_grid
from contactid.tossing.preprocess import IDENTIFICATION
from contactid.tossing.variants import Variant, load_problem


def main(
    *,
    prepared: str,
    calibration: str | None,
    variant: dict[str, Any],
    grid: dict[str, dict[str, float]],
    sweep: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    problem = load_problem(prepared, calibration, Variant.from_config(variant), IDENTIFICATION)
    values = Grid(**{name: grid_values(**steps) for name, steps in grid.items()})
    write_dataset(sweep_grid(problem.body, problem.measured, values, problem.options, problem.length), sweep)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            calibration=smk.input.get("calibration") or None,
            variant=smk.params.variant,
            grid=smk.params.grid,
            sweep=smk.output.sweep,
        )
