"""Rule inhand_friction: simulated friction trials, their estimates, and figure 6's data."""

from typing import Any

from contactid.inhand.friction_files import write_friction
from contactid.run.job import job


def main(
    *,
    folder: str,
    block: dict[str, Any],
    objects: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_friction(folder, block=block, objects=objects)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            folder=smk.params.folder,
            block=smk.params.block,
            objects=smk.input.objects,
        )
