"""Rule tossing_preprocess: canonical motion to prepared tosses."""

from typing import Any

from contactid.output.tables import write_csv
from contactid.run.job import job
from contactid.sources.motion import read_dataset, write_dataset
from contactid.tossing.author_events import find_author_events
from contactid.tossing.events import EventOptions, find_events
from contactid.tossing.preprocess import PreprocessOptions, preprocess, toss_table


def main(
    *,
    motion: str,
    share: float,
    seed: int,
    exclude_tumbling: bool,
    require_usable: bool,
    events: dict[str, Any],
    dataset: str,
    prepared: str,
    table: str,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    rule = {"data_driven": find_events, "authors": find_author_events}[events["rule"]]
    options = PreprocessOptions(
        identification_share=share,
        split_seed=seed,
        exclude_tumbling=exclude_tumbling,
        require_usable=require_usable,
        events=EventOptions(rest_speed=events["rest_speed"], fall_tolerance=events["fall_tolerance"]),
    )
    tosses = preprocess(read_dataset(motion), options, rule)
    write_dataset(tosses, prepared)
    write_csv(toss_table(tosses, dataset), table)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            motion=smk.input.motion,
            share=smk.params.share,
            seed=smk.params.seed,
            exclude_tumbling=smk.params.exclude_tumbling,
            require_usable=smk.params.require_usable,
            events=smk.params.events,
            dataset=smk.wildcards.dataset,
            prepared=smk.output.prepared,
            table=smk.output.table,
        )
