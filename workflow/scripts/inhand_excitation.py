"""Rule inhand_excitation: what recordings can tell, and what a motion made for it buys."""

from typing import Any

from contactid.inhand.excitation_files import write_excitation, write_identifiability
from contactid.run.job import job


def main(*, twin: dict[str, Any], block: dict[str, Any], folder: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_identifiability(folder, twin, block["seeds"][0])
    write_excitation(folder, twin, block)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(twin=smk.params.twin, block=smk.params.block, folder=smk.params.folder)
