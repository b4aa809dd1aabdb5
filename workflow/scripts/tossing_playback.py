"""Rule tossing_playback: measured tosses beside predicted ones."""

from typing import Any

from contactid.run.job import job
from contactid.tossing.playback import write_playback


def main(
    *, folder: str, data_folder: str, playback: str, cases: list[tuple[str, str]], variant: dict[str, Any]
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_playback(folder, data_folder, playback, cases=cases, variant=variant)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            data_folder=smk.params.data_folder,
            playback=smk.output.playback,
            cases=smk.params.cases,
            variant=smk.params.variant,
        )
