"""One HTML file for reviewers: every number, figure and setting of the run, and where each came from."""


rule report:
    """Set the whole run as one page that needs no network and no file beside it."""
    input:
        checks="<results>/checks.csv",
        summary="<results>/summary.md",
        provenance="<results>/provenance.json",
        cards=rules.data_cards.output,
        artefacts=STUDY_TARGETS,
        wording="workflow/resources/report/studies.yaml",
        templates=sorted(
            str(file)
            for file in Path("workflow/resources/report").rglob("*")
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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        resources=lambda wildcards, input: str(Path(input.wording).parent),
        code=code("report"),
    script:
        "../scripts/report.py"
