"""Rule read_planar: a dataset's own files to the canonical form of planar throws or impacts."""

from typing import Any

from contactid.planar.readers.readers import read_planar
from contactid.run.job import job
from contactid.sources.motion import write_dataset
from contactid.sources.registry import Dataset


def main(*, entry: dict[str, Any], raw: str, data: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_dataset(read_planar(Dataset(**entry), raw), data)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(entry=smk.params.entry, raw=smk.input.raw, data=smk.output.data)
