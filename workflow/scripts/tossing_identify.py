"""Rule tossing_identify: friction and restitution of least mean loss."""

from typing import Any

from contactid.output.fits import write_fit
from contactid.run.job import job
from contactid.sources.motion import read_dataset
from contactid.tossing.identification import fit_record, identify
from contactid.tossing.preprocess import IDENTIFICATION
from contactid.tossing.variants import Variant, load_problem


def main(
    *,
    prepared: str,
    calibration: str | None,
    sweep: str,
    dataset: str,
    variant: dict[str, Any],
    samples: int,
    seed: int,
    fit: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    chosen = Variant.from_config(variant)
    problem = load_problem(prepared, calibration, chosen, IDENTIFICATION)
    identified = identify(
        problem.body,
        problem.measured,
        read_dataset(sweep),
        problem.options,
        problem.length,
        refine=chosen.refine,
        bootstrap_samples=samples,
        seed=seed,
    )
    write_fit(fit, fit_record(identified, chosen, dataset=dataset, n_tosses=len(problem.measured), seed=seed))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            calibration=smk.input.get("calibration") or None,
            sweep=smk.input.sweep,
            dataset=smk.wildcards.dataset,
            variant=smk.params.variant,
            samples=smk.params.bootstrap["samples"],
            seed=smk.params.bootstrap["seed"],
            fit=smk.output.fit,
        )
