"""Verdicts on the printed numbers of all studies, and the page that sums them up."""


rule checks:
    """Gather every study's verdicts on its printed numbers."""
    input:
        studies=STUDY_CHECKS,
    output:
        checks=report("<results>/checks.csv", category="verification"),
    log:
        "<logs>/checks.log",
    benchmark:
        "<benchmarks>/checks.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code("checks"),
    script:
        "../scripts/checks.py"


rule summary:
    """Say on one page what the run found; the terminal shows it at the end of the run."""
    input:
        sections=STUDY_SUMMARIES,
        checks="<results>/checks.csv",
    output:
        summary=report("<results>/summary.md", category="verification"),
    log:
        "<logs>/summary.log",
    benchmark:
        "<benchmarks>/summary.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        run=config["run"],
        code=code("summary"),
    script:
        "../scripts/summary.py"
