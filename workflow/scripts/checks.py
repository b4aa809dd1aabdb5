"""Rule checks: hold every printed number against the reproduced one."""

from contactid.checks import compare
from contactid.job import job
from contactid.tables import read_csv, write_csv
from contactid.tossing.checks import REASONS, reproduced_numbers


def main(
    *,
    published: str,
    properties: str,
    parameters: str,
    rest: str,
    scheme: str,
    checks: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    numbers = reproduced_numbers(read_csv(properties), read_csv(parameters), read_csv(rest), scheme)
    write_csv(compare("tossing", read_csv(published), numbers, REASONS), checks)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            published=smk.input.published,
            properties=smk.input.properties,
            parameters=smk.input.parameters,
            rest=smk.input.rest,
            scheme=smk.params.scheme,
            checks=smk.output.checks,
        )
