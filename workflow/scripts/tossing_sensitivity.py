"""Rule tossing_sensitivity: vary friction and restitution around their optimum."""

from typing import Any

from contactid.output.fits import read_json
from contactid.output.tables import write_csv
from contactid.run.job import job
from contactid.tossing.preprocess import TEST
from contactid.tossing.sensitivity import (
    VariationOptions,
    largest_dimension,
    restitution_profile,
    summarise_variation,
    vary_parameters,
)
from contactid.tossing.simulate.box import ContactParameters
from contactid.tossing.variants import Variant, load_problem


def main(
    *,
    prepared: str,
    calibration: str | None,
    fit: str,
    variant: dict[str, Any],
    reach: float,
    step: float,
    varied: str,
    summary: str,
    profile: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    problem = load_problem(prepared, calibration, Variant.from_config(variant), TEST)
    parameters = ContactParameters(**read_json(fit)["parameters"])
    table = vary_parameters(problem, parameters, VariationOptions(reach, step))
    write_csv(table, varied)
    write_csv(summarise_variation(table, largest_dimension(problem.body.vertices)), summary)
    write_csv(restitution_profile(problem, parameters), profile)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            calibration=smk.input.get("calibration") or None,
            fit=smk.input.fit,
            variant=smk.params.variant,
            reach=smk.params.options["reach"],
            step=smk.params.options["step"],
            varied=smk.output.varied,
            summary=smk.output.summary,
            profile=smk.output.profile,
        )
