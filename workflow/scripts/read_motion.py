"""Rule read_motion: a dataset's own files to the canonical form."""

from typing import Any

from contactid.run.job import job
from contactid.sources.registry import Dataset
from contactid.tossing.readers.readers import convert_motion


def main(
    *,
    entry: dict[str, Any],
    raw: str,
    motion: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    convert_motion(Dataset(**entry), raw, motion)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            entry=smk.params.entry,
            raw=smk.input.raw,
            motion=smk.output.motion,
        )
