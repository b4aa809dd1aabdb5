"""What a run says of itself: verdicts on printed numbers, its artefacts, what it was made with, and one page of it all."""

from contactid.output.artefacts import typesettings
from contactid.review.article.heading import about_run, files_of
from contactid.review.report.artefacts import functions_of, listed

# jobs run in processes of their own, whose command lines say nothing about what the user asked for
os.environ.setdefault("CONTACTID_COMMAND", shlex.join(sys.argv[1:]))

STORED_CODE = Fingerprints(Path(".snakemake/contactid_code.json"))
STORED = {
    name: {**result, "code": STORED_CODE.of(result["function"])}
    for name, result in STORED.items()
}


# what a stored result is, without the run's files
DESCRIBED = {
    name: {**result, "samples": len(result["samples"])}
    for name, result in STORED.items()
}
HELD = "<results>/stored.csv"


wildcard_constraints:
    stored_result="|".join(STORED) or "none",


LISTED = {study: listed(study, rows) for study, rows in ARTEFACTS.items()}


# the sentences of a study's paper, where somebody has written them down
LEDGERS = [
    packaged(file)
    for study in config["studies"]
    if (
        CHECKOUT / (file := f"workflow/resources/published/{study}_claims.yaml")
    ).is_file()
]


rule checks:
    """Gather the studies' verdicts, judge the papers' sentences, say on one page what the run found, and hold it against what is stored."""
    input:
        studies=STUDY_CHECKS,
        sections=STUDY_SUMMARIES,
        cards=[*rules.data_cards.output.cards, *STUDY_CARDS],
        ledgers=LEDGERS,
        stored=[file for name in STORED for file in stored_files(name)],
        samples=[file for result in STORED.values() for file in result["samples"]],
    output:
        checks=report("<results>/checks.csv", category="verification"),
        claims=report("<results>/claims.csv", category="verification"),
        summary=report("<results>/summary.md", category="verification"),
        held=HELD,
    log:
        "<logs>/checks.log",
    benchmark:
        "<benchmarks>/checks.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **call("contactid.output.summary:conclude, contactid.review.held:hold"),
        run=config["run"],
        results=DESCRIBED,
    script:
        "../call.py"


rule gather_stored:
    """Put the samples of a result that is to be stored into one table, with what they were made by (make store)."""
    input:
        samples=lambda wildcards: STORED[wildcards.stored_result]["samples"],
    output:
        table="<results>/stored/{stored_result}/table.csv",
        record="<results>/stored/{stored_result}/provenance.json",
    log:
        "<logs>/gather_stored/{stored_result}.log",
    benchmark:
        "<benchmarks>/gather_stored/{stored_result}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **call("contactid.review.stored:gather"),
        result=lambda wildcards: DESCRIBED[wildcards.stored_result],
    script:
        "../call.py"


rule artefacts:
    """List every table and figure of the run: its caption, and the functions that make it."""
    output:
        artefacts="<results>/artefacts.json",
    log:
        "<logs>/artefacts.log",
    benchmark:
        "<benchmarks>/artefacts.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **call("contactid.review.report.artefacts:write_list", *functions_of(LISTED)),
        studies=LISTED,
    script:
        "../call.py"


# the studies' prose, where it is about this run, and the files that its numbers come from
PROSE = [
    file
    for study in ARTEFACTS
    for file in sorted(CHECKOUT.glob(f"workflow/resources/articles/**/{study}.md"))
    if about_run(file, config["run"])
]
ARTICLES = {
    "pdf": "article.pdf",
    "html": "article.html",
    "metadata": "metadata.yaml",
    "codecheck": "codecheck.yml",
}


rule articles:
    """Write an article about every study, after holding each sentence of its prose against the results."""
    input:
        checks="<results>/checks.csv",
        claims="<results>/claims.csv",
        artefacts="<results>/artefacts.json",
        cards=[*rules.data_cards.output.cards, *STUDY_CARDS],
        files=STUDY_TARGETS,
        wording=packaged("workflow/resources/report/studies.yaml"),
        published=[
            packaged(f"workflow/resources/published/{study}.csv")
            for study in ARTEFACTS
        ],
        ledgers=LEDGERS,
        reasons=packaged("workflow/resources/published/differences.yaml"),
        prose=[packaged(file.relative_to(CHECKOUT)) for file in PROSE],
        quoted=[
            packaged(name) if name.startswith("workflow/") else f"<results>/{name}"
            for file in PROSE
            for name in files_of(file)
        ],
        citation=[packaged(file) for file in CHECKOUT.glob("CITATION.cff")],
        layout=packaged("workflow/resources/articles/article.typ"),
        style=packaged("workflow/resources/report/report.css"),
    output:
        **{
            kind: [f"<results>/{study}/{file}" for study in ARTEFACTS]
            for kind, file in ARTICLES.items()
        },
    log:
        "<logs>/articles.log",
    benchmark:
        "<benchmarks>/articles.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **call("contactid.review.article.write:write_articles"),
        studies=list(ARTEFACTS),
        run=config["run"],
        described={
            study: typesettings([one for one in rows if "tex" in one.files])
            for study, rows in ARTEFACTS.items()
        },
    script:
        "../call.py"


rule provenance:
    """Record what the run was made with: code, versions, machine, data, seeds, configuration."""
    input:
        checks="<results>/checks.csv",
        data_lock=LOCK_FILE,
        environment_lock=packaged("envs/requirements.lock"),
    output:
        record="<results>/provenance.json",
    log:
        "<logs>/provenance.log",
    benchmark:
        "<benchmarks>/provenance.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **call("contactid.review.provenance:write_provenance"),
        config=config,
        entries=[vars(DATASETS[name]) for name in sorted(set(STUDY_DATASETS))],
        store=str(STORE),
    script:
        "../call.py"


rule report:
    """Set the whole run as one page for reviewers, which needs no network and no file beside it."""
    input:
        checks="<results>/checks.csv",
        claims="<results>/claims.csv",
        provenance="<results>/provenance.json",
        artefacts="<results>/artefacts.json",
        sources=[file for files in FIGURE_SOURCES.values() for file in files],
        cards=[*rules.data_cards.output, *STUDY_CARDS],
        files=STUDY_TARGETS,
        stored=HELD,
        wording=packaged("workflow/resources/report/studies.yaml"),
        published=[
            packaged(f"workflow/resources/published/{study}.csv")
            for study in ARTEFACTS
        ],
        ledgers=LEDGERS,
        quoted=packaged("workflow/resources/published/said.yaml"),
        reasons=packaged("workflow/resources/published/differences.yaml"),
        templates=sorted(
            packaged(file)
            for file in (WORKFLOW / "resources/report").rglob("*")
            if file.is_file() and file.suffix != ".yaml"
        ),
    output:
        report=report("<results>/report.html", category="verification"),
    log:
        "<logs>/report.log",
    benchmark:
        "<benchmarks>/report.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        **call("contactid.review.report.page:write_report"),
        sources_of=[study for study, files in FIGURE_SOURCES.items() for _ in files],
    script:
        "../call.py"


rule crate:
    """Describe the run as a Workflow Run RO-Crate: its results, data, workflow and papers."""
    input:
        record="<results>/provenance.json",
        results=[
            "<results>/checks.csv",
            "<results>/claims.csv",
            "<results>/summary.md",
            "<results>/artefacts.json",
            "<results>/report.html",
            *rules.articles.output,
            *rules.data_cards.output.cards,
            *STUDY_CARDS,
            *STUDY_TARGETS,
            HELD,
        ],
        source=packaged("Snakefile"),
        citation=[packaged(file) for file in CHECKOUT.glob("CITATION.cff")],
    output:
        metadata="<results>/ro-crate-metadata.json",
        workflow="<results>/crate/Snakefile",
        configuration="<results>/crate/configuration.yaml",
    log:
        "<logs>/crate.log",
    benchmark:
        "<benchmarks>/crate.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **call("contactid.review.crate:write_crate"),
    script:
        "../call.py"
