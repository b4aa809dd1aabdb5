"""Rule tossing_simulator: another simulator, identified and tested on the same tosses."""

from typing import Any

from contactid.run.job import job
from contactid.tossing.peers.search import Budget
from contactid.tossing.preprocess import IDENTIFICATION, TEST
from contactid.tossing.simulators import run_simulator
from contactid.tossing.variants import Variant, load_problem


def main(
    *,
    prepared: str,
    identified: str,
    calibration: str | None,
    variant: dict[str, Any],
    simulator: str,
    budget: dict[str, int],
    fit: str,
    predictions: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    chosen = Variant.from_config(variant)
    run_simulator(
        simulator,
        load_problem(identified, calibration, chosen, IDENTIFICATION),
        load_problem(prepared, calibration, chosen, TEST),
        Budget(**budget),
        fit=fit,
        predictions=predictions,
    )


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            identified=smk.input.identified,
            calibration=smk.input.get("calibration") or None,
            variant=smk.params.variant,
            simulator=smk.wildcards.simulator,
            budget=smk.params.budget,
            fit=smk.output.fit,
            predictions=smk.output.predictions,
        )
