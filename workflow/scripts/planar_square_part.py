"""Rule planar_square_part: a share of the measured throws of a square, one by one."""

from contactid.planar.real_square_files import write_square_part
from contactid.run.job import job


def main(*, data: str, part: int, parts: int, table: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_square_part(data, table, part=part, parts=parts)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(data=smk.input.data, part=smk.params.part, parts=smk.params.parts, table=smk.output.table)
