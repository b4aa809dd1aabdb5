"""Rule tossing_predict: predict the test tosses."""

from typing import Any

from contactid.output.fits import read_json
from contactid.output.tables import write_csv
from contactid.run.job import job
from contactid.tossing.prediction import predict
from contactid.tossing.preprocess import TEST
from contactid.tossing.schemes import NO_RESTITUTION
from contactid.tossing.sensitivity import without_restitution
from contactid.tossing.simulate.box import ContactParameters
from contactid.tossing.variants import Variant, load_problem


def main(
    *,
    prepared: str,
    calibration: str | None,
    fit: str,
    variant: dict[str, Any],
    kind: str,
    predictions: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    problem = load_problem(prepared, calibration, Variant.from_config(variant), TEST)
    parameters = ContactParameters(**read_json(fit)["parameters"])
    if kind == NO_RESTITUTION:
        parameters = without_restitution(parameters)
    write_csv(predict(problem.body, problem.tosses, parameters, problem.options, problem.length), predictions)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            calibration=smk.input.get("calibration") or None,
            fit=smk.input.fit,
            variant=smk.params.variant,
            kind=smk.params.kind,
            predictions=smk.output.predictions,
        )
