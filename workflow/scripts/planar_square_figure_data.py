"""Rule planar_square_figure_data: figures 22 and 23, and the throws one by one."""

from contactid.planar.real_square_files import write_square_figure_data
from contactid.run.job import job


def main(*, fits: str, squares: str, folder: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_square_figure_data(fits, squares, folder)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(fits=smk.input.fits, squares=smk.input.squares, folder=smk.params.folder)
