"""Rule inhand_estimates: gather the estimates of all recordings in one table."""

from contactid.inhand.estimate_tables import gather_estimates
from contactid.run.job import job


def main(*, shards: list[str], table: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    gather_estimates(shards, table)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(shards=list(smk.input.shards), table=smk.output.table)
