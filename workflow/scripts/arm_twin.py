"""Rule arm_twin: simulate the synthetic twin of the recorded impacts."""

from typing import Any

from contactid.arm.readers.twins import twin_options, write_arm_twin
from contactid.arm.rigid.robot import load_robot
from contactid.run.job import job


def main(
    *,
    block: dict[str, Any],
    robot: dict[str, Any],
    raw: str,
    truth: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_arm_twin(raw, truth, twin_options(block), robot=load_robot(**robot))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            block=smk.params.block,
            robot=smk.params.robot,
            raw=smk.output.raw,
            truth=smk.output.truth,
        )
