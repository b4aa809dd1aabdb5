"""Rule provenance: what the run was made with."""

from typing import Any

from contactid.output.fits import write_json
from contactid.review.provenance.record import collect
from contactid.run.job import job
from contactid.sources.registry import Dataset


def main(
    *,
    config: dict[str, Any],
    entries: list[dict[str, Any]],
    record: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_json(record, collect(config, [Dataset(**entry) for entry in entries]))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            config=smk.params.config,
            entries=smk.params.entries,
            record=smk.output.record,
        )
