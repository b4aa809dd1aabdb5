"""Rule planar_identification_figure_data: what figures 17 to 21 and those of the tables show."""

from contactid.planar.identification_files import write_identification_figure_data
from contactid.run.job import job


def main(*, fits: str, folder: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_identification_figure_data(fits, folder)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(fits=smk.input.fits, folder=smk.params.folder)
