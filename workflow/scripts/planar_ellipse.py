"""Rule planar_ellipse: impact laws identified from measured impacts of an ellipse, and their predictions."""

from collections.abc import Sequence

from contactid.planar.real_ellipse_files import write_ellipse
from contactid.run.job import job


def main(*, data: str, seeds: Sequence[int], folder: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_ellipse(data, seeds, folder)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(data=smk.input.data, seeds=smk.params.seeds, folder=smk.params.folder)
