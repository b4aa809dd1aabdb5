"""Rule inhand_grasp_figures: the data behind figures 1, 2, 4 and 9."""

from typing import Any

from contactid.inhand.grasp_figure_data import write_grasp_figures
from contactid.run.job import job


def main(*, twin: dict[str, Any], block: dict[str, Any], friction: str, folder: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_grasp_figures(folder, twin, block, friction)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            twin=smk.params.twin,
            block=smk.params.block,
            friction=smk.input.friction,
            folder=smk.params.folder,
        )
