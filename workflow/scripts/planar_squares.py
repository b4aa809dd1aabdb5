"""Rule planar_squares: the square from several throws together."""

from collections.abc import Sequence

from contactid.planar.real_square_files import write_squares
from contactid.run.job import job


def main(*, data: str, parts: Sequence[str], folder: str, fits: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_squares(data, parts, folder, fits)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(data=smk.input.data, parts=smk.input.parts, folder=smk.params.folder, fits=smk.output.fits)
