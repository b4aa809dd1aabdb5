"""Synthetic twins of the in-hand paper's recordings; its figures of objects, contacts and forces."""


rule inhand_twin:
    """Simulate every recording of an object in motion, at four contacts or on a wrist sensor, and its truth."""
    input:
        objects="workflow/resources/inhand/objects.yaml",
    output:
        recordings=expand(
            "<results>/data/inhand_twin/{recording}.nc",
            recording=recording_names(INHAND["estimates"]["seeds"]),
        ),
        truths=expand(
            "<results>/data/inhand_twin/truth_{recording}.nc",
            recording=recording_names(INHAND["estimates"]["seeds"]),
        ),
    log:
        "<logs>/inhand_twin.log",
    benchmark:
        "<benchmarks>/inhand_twin.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.recordings[0]).parent),
        block=INHAND["twin"],
        seeds=INHAND["estimates"]["seeds"],
        code=code("inhand_twin"),
    script:
        "../scripts/inhand_twin.py"


rule inhand_grasp_figures:
    """The data behind figures 1, 2, 4 and 9: a held object, a contact, all objects, the scale of forces."""
    input:
        objects="workflow/resources/inhand/objects.yaml",
        friction="workflow/resources/inhand/friction_objects.csv",
    output:
        figures=expand(
            "<results>/inhand/figures/{figure}.csv",
            figure=[
                "fig01_inhand",
                "fig02_contact",
                "fig04_objects",
                "fig09_force_scale",
            ],
        ),
    log:
        "<logs>/inhand_grasp_figures.log",
    benchmark:
        "<benchmarks>/inhand_grasp_figures.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.figures[0]).parent),
        twin=INHAND["twin"],
        block=INHAND["grasp_figures"],
        code=code("inhand_grasp_figures"),
    script:
        "../scripts/inhand_grasp_figures.py"
