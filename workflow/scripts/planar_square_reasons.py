"""Rule planar_square_reasons: why J/m of the real square isn't the uniform one's."""

from contactid.planar.real_square_files import write_square_reasons
from contactid.run.job import job


def main(*, data: str, squares: str, twin: str, folder: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_square_reasons(data, squares, twin, folder)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(data=smk.input.data, squares=smk.input.squares, twin=smk.input.twin, folder=smk.params.folder)
