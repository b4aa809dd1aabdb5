"""Rule arm_draw: draw one figure from its data file."""

from pathlib import Path

from contactid.arm.draw import draw
from contactid.output.tables import read_csv
from contactid.run.job import job


def main(
    *,
    figure: str,
    data: str,
    zoom: tuple[float, float],
    pdf: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    draw(figure, read_csv(data), str(Path(pdf).with_suffix("")), zoom=zoom)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            figure=smk.wildcards.arm_figure,
            data=smk.input.data,
            zoom=tuple(smk.params.zoom),
            pdf=smk.output.pdf,
        )
