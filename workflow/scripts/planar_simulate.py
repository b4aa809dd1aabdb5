"""Rule planar_simulate: simulate one scene under all its laws."""

from typing import Any

from contactid.planar.simulate.motions import simulate_scene
from contactid.planar.simulate.scenes import scene_of
from contactid.run.job import job
from contactid.sources.motion import write_dataset


def main(
    *,
    block: dict[str, Any],
    scene: str,
    motions: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_dataset(simulate_scene(scene_of(block, scene)), motions)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            block=smk.params.block,
            scene=smk.wildcards.scene,
            motions=smk.output.motions,
        )
