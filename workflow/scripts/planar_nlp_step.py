"""Rule planar_nlp_step: the paper's nonlinear program for one step against the exact step."""

from typing import Any

from contactid.output.tables import write_csv
from contactid.planar.names import THROW
from contactid.planar.simulate.scenes import scene_of
from contactid.planar.sweeps.stepping import nlp_agreement_table
from contactid.run.job import job


def main(
    *,
    block: dict[str, Any],
    options: dict[str, Any],
    table: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    scene = scene_of(block, THROW)
    write_csv(nlp_agreement_table(scene, options["time_steps"], options["duration"]), table)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            block=smk.params.block,
            options=smk.params.options,
            table=smk.output.table,
        )
