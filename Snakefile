"""Every table and figure of four papers on identifying bodies from impacts, re-derived from data in one run."""

from snakemake.utils import min_version

min_version("9.12")


include: "workflow/rules/paths.smk"


configfile: packaged("config/default.yaml")


if workflow.modifier.skip_configfile:  # a module's user names what differs
    given, config = config, load_configfile(packaged("config/default.yaml"))
    update_config(config, given)


include: "workflow/rules/common.smk"
include: "workflow/rules/one_run.smk"


for study in config["studies"]:

    include: f"workflow/rules/{study}.smk"


include: "workflow/rules/data.smk"
include: "workflow/rules/artefacts.smk"
include: "workflow/rules/review.smk"


onsuccess:
    atexit.unregister(tell_of_full_disks)
    from contactid.output.summary import findings

    if (RESULTS / "report.html").exists():
        print("", *findings(RESULTS, CHOSEN), sep="\n")
    tell_kept(RESULTS, CHOSEN, KEPT)


onerror:
    print(
        "\nWhat failed:",
        *failures(RESULTS, STARTED),
        sep="\n",
    )


OF_STUDIES = [*STUDY_TARGETS, *STUDY_CHECKS, *STUDY_SUMMARIES]
OF_ALL_STUDIES = [
    "<results>/checks.csv",
    "<results>/provenance.json",
    "<results>/summary.md",
    "<results>/report.html",
    *rules.articles.output,
    "<results>/ro-crate-metadata.json",
    *rules.data_cards.output.cards,
]


rule all:
    """Everything the run's configuration asks for."""
    default_target: NO_TARGET_YET
    input:
        [] if KEPT else OF_ALL_STUDIES,
        [file for file in OF_STUDIES if file.split("/")[1] in CHOSEN],
