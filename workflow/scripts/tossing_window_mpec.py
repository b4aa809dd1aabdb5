"""Rule tossing_window_mpec: friction and restitution from short windows of trajectories, by MPEC."""

from typing import Any

from contactid.output.fits import write_fit
from contactid.run.job import job
from contactid.tossing.models.window_fit import identify_from_windows, window_fit_record
from contactid.tossing.models.windows import options_for
from contactid.tossing.preprocess import IDENTIFICATION
from contactid.tossing.schemes import WINDOW_SCHEME
from contactid.tossing.variants import Variant, load_problem


def main(
    *,
    prepared: str,
    calibration: str | None,
    dataset: str,
    variant: dict[str, Any],
    tosses: int,
    seed: int,
    fit: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    problem = load_problem(prepared, calibration, Variant.from_config(variant), IDENTIFICATION)
    options = options_for(problem.options.time_step)
    found = identify_from_windows(
        problem.body, problem.measured, problem.options, options, largest_number=tosses, seed=seed
    )
    record = window_fit_record(found, options, dataset=dataset, part=IDENTIFICATION, seed=seed)
    write_fit(fit, {**record, "variant": WINDOW_SCHEME})


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            calibration=smk.input.get("calibration") or None,
            dataset=smk.wildcards.dataset,
            variant=smk.params.variant,
            tosses=smk.params.tosses,
            seed=smk.params.seed,
            fit=smk.output.fit,
        )
