"""What made the run, and the run described as a research object (Workflow Run RO-Crate)."""

# jobs run in processes of their own, whose command lines say nothing about what the user asked for
os.environ.setdefault("CONTACTID_COMMAND", shlex.join(sys.argv[1:]))


rule provenance:
    """Record the code, versions, machine, data, seeds and configuration that the run was made with."""
    input:
        checks="<results>/checks.csv",
    output:
        record="<results>/provenance.json",
    log:
        "<logs>/provenance.log",
    benchmark:
        "<benchmarks>/provenance.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        config=config,
        entries=[vars(DATASETS[name]) for name in sorted(set(STUDY_DATASETS))],
        code=code("provenance"),
    script:
        "../scripts/provenance.py"


rule crate:
    """Describe the run's results, with data, workflow and papers, as a Workflow Run RO-Crate."""
    input:
        checks="<results>/checks.csv",
        summary="<results>/summary.md",
        record="<results>/provenance.json",
        report="<results>/report.html",
        cards=rules.data_cards.output.cards,
        results=STUDY_TARGETS,
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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code("crate"),
    script:
        "../scripts/crate.py"
