"""Rule tossing_calibrate: what the body really weighs where."""

from contactid.output.fits import write_json
from contactid.run.job import job
from contactid.sources.motion import read_dataset
from contactid.tossing.calibration import calibrate


def main(
    *,
    prepared: str,
    calibration: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_json(calibration, calibrate(read_dataset(prepared)).as_dict())


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            prepared=smk.input.prepared,
            calibration=smk.output.calibration,
        )
