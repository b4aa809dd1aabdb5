"""Forces from 19 electrode signals with an uncertainty (section V-A, figure 5), on a simulated sensor."""


rule inhand_force_sensing:
    """Train the configured force models and hold errors and stated uncertainty against the true forces."""
    output:
        tables=expand(
            "<results>/inhand/tables/ext_force_sensing.{extension}",
            extension=["csv", "tex"],
        ),
        figure="<results>/inhand/figures/fig05_force_sensing.csv",
    log:
        "<logs>/inhand_force_sensing.log",
    benchmark:
        "<benchmarks>/inhand_force_sensing.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.figure).parents[1]),
        block=INHAND["force_sensing"],
        code=code("inhand_force_sensing"),
    script:
        "../scripts/inhand_force_sensing.py"
