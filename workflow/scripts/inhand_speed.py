"""Rule inhand_speed: time both solvers on recordings of several lengths."""

from typing import Any

from contactid.inhand.speed_files import write_speed
from contactid.run.job import job


def main(*, folder: str, study: dict[str, Any]) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_speed(folder, study=study)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(folder=smk.params.folder, study=smk.params.study)
