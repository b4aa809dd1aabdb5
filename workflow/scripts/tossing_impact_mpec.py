"""Rule tossing_impact_mpec: friction and restitution from all impacts at once, by MPEC."""

from contactid.output.fits import write_fit
from contactid.output.tables import write_csv
from contactid.run.job import job
from contactid.tossing.impact_files import read_impacts
from contactid.tossing.mpec_comparison import compare_forms, identify_with_model_error
from contactid.tossing.mpec_identification import impact_fit_record
from contactid.tossing.preprocess import IDENTIFICATION


def main(
    *,
    impacts: str,
    dataset: str,
    scheme: str,
    facets: list[int],
    seed: int,
    fit: str,
    forms: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    body, windows, _ = read_impacts(impacts, split=IDENTIFICATION)
    best = identify_with_model_error(body, windows, seed=seed)
    n_tosses = len({window.impact.toss for window in windows})
    record = impact_fit_record(best[0], dataset=dataset, part=IDENTIFICATION, seed=seed, n_tosses=n_tosses)
    write_fit(fit, {**record, "variant": scheme})
    write_csv(compare_forms(body, windows, best, facets=facets, seed=seed), forms)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            impacts=smk.input.impacts,
            dataset=smk.wildcards.dataset,
            scheme=f"{smk.wildcards.velocity_variant}_mpec",
            facets=smk.params.facets,
            seed=smk.params.seed,
            fit=smk.output.fit,
            forms=smk.output.forms,
        )
