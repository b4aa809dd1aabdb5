"""Rule arm_velocities: the data behind figure 2, joint velocities around an impact."""

from contactid.arm.artefacts.joint_velocities import write_velocities
from contactid.run.job import job


def main(*, data: str, fits: str, figure: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_velocities(data, fits, figure)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(data=smk.input.data, fits=smk.input.fits, figure=smk.output.figure)
