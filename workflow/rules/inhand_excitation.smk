"""What a recording can tell about an object's inertia, and a motion made for it."""


rule inhand_excitation:
    """Condition numbers and standard errors of every recording; D-optimal motions, and what they buy."""
    input:
        objects="workflow/resources/inhand/objects.yaml",
    output:
        table="<results>/inhand/tables/ext_excitation.csv",
        tables=[
            "<results>/inhand/tables/ext_excitation.tex",
            "<results>/inhand/tables/ext_identifiability.csv",
            "<results>/inhand/tables/ext_identifiability.tex",
        ],
        figures=[
            "<results>/inhand/figures/ext_excitation.csv",
            "<results>/inhand/figures/ext_identifiability.csv",
        ],
    log:
        "<logs>/inhand_excitation.log",
    benchmark:
        "<benchmarks>/inhand_excitation.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.table).parents[1]),
        twin=INHAND["twin"],
        block=INHAND["excitation"],
        code=code("inhand_excitation"),
    script:
        "../scripts/inhand_excitation.py"
