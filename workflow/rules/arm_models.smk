"""The two-mass models A, B and C of section IV: Table I, figures 3 to 5, and what other dampings do."""


rule arm_two_mass:
    """Simulate models A, B and C with Table I, and decompose the velocity of m2 (figures 3 to 5)."""
    input:
        published="workflow/resources/published/arm.csv",
    output:
        figures=expand(
            "<results>/arm/figures/{figure}.csv",
            figure=["fig03_models", "fig04_two_mass", "fig05_decomposition"],
        ),
        tables=expand(
            "<results>/arm/tables/tab01_parameters.{extension}",
            extension=["csv", "tex"],
        ),
    log:
        "<logs>/arm_two_mass.log",
    benchmark:
        "<benchmarks>/arm_two_mass.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.figures[0]).parents[1]),
        block=ARM["models"],
        code=code("arm_two_mass"),
    script:
        "../scripts/arm_two_mass.py"


rule arm_damping_sweep:
    """Vary the dampings: bouncing, lift-off, settling and the one-mode fit against the rigid velocity."""
    output:
        tables=expand(
            "<results>/arm/tables/{table}.{extension}",
            table=["ext_events", "ext_damping_sweep"],
            extension=["csv", "tex"],
        ),
        figure="<results>/arm/figures/ext_damping_sweep.csv",
    log:
        "<logs>/arm_damping_sweep.log",
    benchmark:
        "<benchmarks>/arm_damping_sweep.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.figure).parents[1]),
        block=ARM["models"],
        code=code("arm_damping_sweep"),
    script:
        "../scripts/arm_damping_sweep.py"
