"""Rule planar_liftoff: friction above which the sliding body leaves the ground."""

from typing import Any

from contactid.output.tables import write_csv
from contactid.planar.names import SLIDING
from contactid.planar.simulate.scenes import scene_of
from contactid.planar.sweeps.liftoff import liftoff_table
from contactid.run.job import job


def main(
    *,
    block: dict[str, Any],
    options: dict[str, list[float]],
    table: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_csv(liftoff_table(scene_of(block, SLIDING), options["durations"], options["clearances"]), table)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            block=smk.params.block,
            options=smk.params.options,
            table=smk.output.table,
        )
