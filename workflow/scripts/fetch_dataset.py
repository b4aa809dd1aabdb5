"""Rule fetch_dataset: bring a public dataset into the run's data folder."""

from typing import Any

from contactid.datasets.fetch import fetch
from contactid.datasets.registry import Dataset
from contactid.job import job


def main(
    *,
    entry: dict[str, Any],
    folder: str,
    mirrors: list[str],
    offline: bool,
    checksums: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    fetch(Dataset(**entry), folder, mirrors=mirrors, offline=offline, checksums=checksums)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            entry=smk.params.entry,
            folder=smk.output.folder,
            mirrors=smk.config["data_mirror"],
            offline=smk.config["offline"],
            checksums=smk.params.checksums,
        )
