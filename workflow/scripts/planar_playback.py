"""Rule planar_playback: measured throws beside identified ones."""

from contactid.planar.playback import write_playback
from contactid.run.job import job


def main(*, fits: list[str], playback: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_playback(fits, playback)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(fits=list(smk.input.fits), playback=smk.output.playback)
