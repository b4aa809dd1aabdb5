"""Rule tossing_draw: draw one figure from its data file."""

from pathlib import Path

from contactid.output.fits import read_json
from contactid.output.tables import read_csv
from contactid.run.job import job
from contactid.tossing.draw import draw


def main(
    *,
    figure: str,
    data: str,
    sources: str,
    pdf: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    draw(figure, read_csv(data), read_json(sources)[figure], str(Path(pdf).with_suffix("")))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            figure=smk.wildcards.figure,
            data=smk.input.data,
            sources=smk.input.sources,
            pdf=smk.output.pdf,
        )
