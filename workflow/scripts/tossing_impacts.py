"""Rule tossing_impacts: select impacts of single corners."""

from typing import Any

from contactid.output.tables import write_csv
from contactid.run.job import job
from contactid.tossing.impact_files import write_impacts
from contactid.tossing.impact_selection import SelectionOptions, candidate_table, find_impacts
from contactid.tossing.variants import load_dataset


def main(
    *,
    prepared: str,
    calibration: str | None,
    dataset: str,
    variant: dict[str, Any],
    window: int,
    slowest: float,
    impacts: str,
    table: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    tosses = load_dataset(prepared, calibration)
    options = SelectionOptions(window, slowest, variant["largest_misfit"], variant["largest_imbalance"])
    candidates = find_impacts(tosses, options)
    kept = [candidate.impact for candidate in candidates if candidate.impact is not None]
    write_impacts(kept, tosses, impacts)
    write_csv(candidate_table(candidates, dataset), table)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            calibration=smk.input.get("calibration") or None,
            dataset=smk.wildcards.dataset,
            variant=smk.params.variant,
            window=smk.params.window,
            slowest=smk.params.slowest,
            impacts=smk.output.impacts,
            table=smk.output.table,
        )
