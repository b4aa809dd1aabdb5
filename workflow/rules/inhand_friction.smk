"""Friction from the force just before slip (section III-A, figure 6), on a simulated fingertip."""


rule inhand_friction:
    """Simulate friction trials on ten surfaces, estimate from the last sticking force, compare with the slope method."""
    input:
        objects="workflow/resources/inhand/friction_objects.csv",
    output:
        tables=expand(
            "<results>/inhand/tables/{table}.{extension}",
            table=["ext_friction", "ext_friction_direction"],
            extension=["csv", "tex"],
        ),
        trials="<results>/inhand/tables/ext_friction_trials.csv",
        figure="<results>/inhand/figures/fig06_friction.csv",
    log:
        "<logs>/inhand_friction.log",
    benchmark:
        "<benchmarks>/inhand_friction.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.figure).parents[1]),
        block=INHAND["friction"],
        code=code("inhand_friction"),
    script:
        "../scripts/inhand_friction.py"
