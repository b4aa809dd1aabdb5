"""Rule inhand_estimate: estimate inertial parameters from some recordings by every method and solver."""

from typing import Any

from contactid.inhand.estimate_files import write_estimates
from contactid.run.job import job


def main(
    *, recordings: list[str], truths: list[str], table: str, methods: dict[str, list[str]], study: dict[str, Any]
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_estimates(recordings, truths, table, methods=methods, study=study)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            recordings=smk.input.recordings,
            truths=smk.input.truths,
            table=smk.output.table,
            methods=smk.params.methods,
            study=smk.params.study,
        )
