"""Rule crate: the run as a research object."""

from contactid.output.fits import write_json
from contactid.review.crate.in_place import describe_run
from contactid.run.job import job


def main(
    *,
    record: str,
    results: list[str],
    metadata: str,
    workflow: str,
    configuration: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_json(metadata, describe_run(record, results, workflow=workflow, configuration=configuration))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            record=smk.input.record,
            results=list(smk.input),
            metadata=smk.output.metadata,
            workflow=smk.output.workflow,
            configuration=smk.output.configuration,
        )
