"""The in-hand study's rules for real recordings of sensors at a robot's wrist."""


rule inhand_wrist:
    """Estimate real recordings of a wrist's sensor from all rows and from few, and parts of them from the rest."""
    input:
        data=expand("<results>/data/{dataset}/wrist.nc", dataset=INHAND["wrist"]),
    output:
        estimates="<results>/inhand/sweeps/wrist.csv",
        predictions="<results>/inhand/sweeps/wrist_predictions.csv",
    log:
        "<logs>/inhand_wrist.log",
    benchmark:
        "<benchmarks>/inhand_wrist.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.inhand.own.wrists:write_wrists"),
    script:
        "../call.py"


rule inhand_wrist_tables:
    """Tables and the figure's data of these recordings."""
    input:
        estimates=rules.inhand_wrist.output.estimates,
        predictions=rules.inhand_wrist.output.predictions,
    output:
        artefacts=computed_by("inhand_wrist_tables"),
    log:
        "<logs>/inhand_wrist_tables.log",
    benchmark:
        "<benchmarks>/inhand_wrist_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **compute("inhand_wrist_tables"),
    script:
        "../call.py"
