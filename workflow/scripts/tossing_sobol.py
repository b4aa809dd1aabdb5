"""Rule tossing_sobol: Sobol indices of the rest pose."""

from typing import Any

from contactid.output.fits import read_json
from contactid.output.tables import write_csv
from contactid.run.job import job
from contactid.tossing.global_sensitivity import InputSpread, global_sensitivity, sobol_table
from contactid.tossing.preprocess import TEST
from contactid.tossing.release_uncertainty import release_covariances
from contactid.tossing.simulate.box import ContactParameters
from contactid.tossing.variants import Variant, load_dataset, load_problem


def main(
    *,
    prepared: str,
    calibration: str | None,
    fit: str,
    variant: dict[str, Any],
    reach: float,
    n_tosses: int,
    samples: int,
    seed: int,
    indices: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    problem = load_problem(prepared, calibration, Variant.from_config(variant), TEST).some(n_tosses, seed)
    parameters = ContactParameters(**read_json(fit)["parameters"])
    covariances = release_covariances(load_dataset(prepared, calibration), problem.body, problem.tosses)
    spread = InputSpread(friction_mu=reach, restitution_e_n=reach)
    tosses = global_sensitivity(problem, covariances, parameters, spread, samples, seed)
    write_csv(sobol_table(tosses, seed=seed), indices)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            calibration=smk.input.get("calibration") or None,
            fit=smk.input.fit,
            variant=smk.params.variant,
            reach=smk.params.options["reach"],
            n_tosses=smk.params.options["tosses"],
            samples=smk.params.options["samples"],
            seed=smk.params.options["seed"],
            indices=smk.output.indices,
        )
