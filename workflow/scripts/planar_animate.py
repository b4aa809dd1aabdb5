"""Rule planar_animate: animate one figure from its frames."""

from contactid.output.tables import read_csv
from contactid.planar.draw import animate_figure
from contactid.run.job import job


def main(
    *,
    frames: str,
    gif: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    animate_figure(read_csv(frames), gif)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            frames=smk.input.frames,
            gif=smk.output.gif,
        )
