"""Verdicts on the printed numbers, and a record of what made them."""


rule checks:
    """Hold every printed number against the reproduced one."""
    input:
        published="workflow/resources/published/tossing.csv",
        tables=expand("<results>/tossing/tables/{table}.csv", table=TOSSING_TABLES)
        + (["<results>/tossing/impacts.csv"] if VELOCITY_IDENTIFIED else []),
    output:
        checks="<results>/checks.csv",
    log:
        "<logs>/checks.log",
    benchmark:
        "<benchmarks>/checks.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        paper_schemes={
            (
                "no_restitution"
                if scheme.kind == "no_restitution"
                else scheme.parameters
            ): name
            for name, scheme in TOSSING_SCHEMES.items()
            if scheme.paper
        },
        code=code("checks"),
    script:
        "../scripts/checks.py"


rule summary:
    """Say on one page what the run found; the terminal shows it at the end of the run."""
    input:
        identification="<results>/tossing/tables/ext_identification.csv",
        calibration="<results>/tossing/tables/ext_calibration.csv",
        tosses="<results>/tossing/tosses.csv",
        checks="<results>/checks.csv",
        more=[
            f"<results>/tossing/tables/{table}.csv"
            for table in TOSSING_TABLES
            if table
            in (
                "ext_velocity_identification",
                "ext_velocity_against_trajectory",
                "ext_rest_pose_coverage",
                "ext_simulators",
            )
        ],
    output:
        summary="<results>/summary.md",
    log:
        "<logs>/summary.log",
    benchmark:
        "<benchmarks>/summary.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        run=config["run"],
        code=code("summary"),
    script:
        "../scripts/summary.py"


rule provenance:
    """Record the code, versions, configuration and data that the run was made with."""
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
        mem_mb=500,
        runtime=5,
    params:
        config=config,
        code=code("provenance"),
    script:
        "../scripts/provenance.py"
