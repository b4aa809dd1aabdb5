"""The velocity-based part: select impacts, identify on them by grid and by MPEC; windows of trajectories by MPEC."""


wildcard_constraints:
    velocity_variant="|".join(VELOCITY_VARIANTS) or "none",


rule tossing_impacts:
    """Find the impacts of single corners, and say why every other candidate is dropped (section IV-A1, 2)."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        calibration=calibration_for_velocity,
    output:
        impacts="<results>/tossing/impacts/{dataset}.{velocity_variant}.nc",
        table="<results>/tossing/impacts/{dataset}.{velocity_variant}.csv",
    log:
        "<logs>/tossing_impacts/{dataset}.{velocity_variant}.log",
    benchmark:
        "<benchmarks>/tossing_impacts/{dataset}.{velocity_variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.tossing.impact_selection:select_impacts"),
        variant=lambda wildcards: VELOCITY_VARIANTS[wildcards.velocity_variant],
        window=TOSSING["velocity"]["window"],
        slowest=TOSSING["velocity"]["slowest"],
    script:
        "../call.py"


rule tossing_velocity_identify:
    """Friction and restitution of least mean velocity error over impacts (eqs. 16 and 17)."""
    input:
        impacts="<results>/tossing/impacts/{dataset}.{velocity_variant}.nc",
    output:
        sweep="<results>/tossing/sweeps/{dataset}.{velocity_variant}.nc",
        fit="<results>/tossing/fits/{dataset}.{velocity_variant}.json",
        losses="<results>/tossing/impacts/{dataset}.{velocity_variant}.losses.csv",
    log:
        "<logs>/tossing_velocity_identify/{dataset}.{velocity_variant}.log",
    benchmark:
        "<benchmarks>/tossing_velocity_identify/{dataset}.{velocity_variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.tossing.velocity_identification:identify_on_impacts"),
        variant=lambda wildcards: VELOCITY_VARIANTS[wildcards.velocity_variant],
        grid=TOSSING["grid"],
        bootstrap=TOSSING["bootstrap"],
    script:
        "../call.py"


rule tossing_impact_mpec:
    """Identify on all impacts at once as a complementarity problem, in several forms."""
    input:
        impacts="<results>/tossing/impacts/{dataset}.{velocity_variant}.nc",
    output:
        fit="<results>/tossing/fits/{dataset}.{velocity_variant}_mpec.json",
        forms="<results>/tossing/impacts/{dataset}.{velocity_variant}.mpec.csv",
    log:
        "<logs>/tossing_impact_mpec/{dataset}.{velocity_variant}.log",
    benchmark:
        "<benchmarks>/tossing_impact_mpec/{dataset}.{velocity_variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        **call("contactid.tossing.mpec_comparison:identify_from_file"),
        facets=TOSSING["mpec"]["facets"],
        seed=TOSSING["bootstrap"]["seed"],
    script:
        "../call.py"


rule tossing_window_mpec:
    """Identify on short windows of trajectories by direct transcription."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        calibration=lambda wildcards: calibration_of(
            wildcards.dataset, TOSSING_SCHEMES[WINDOW_SCHEME].calibrated
        ),
    output:
        fit=f"<results>/tossing/fits/{{dataset}}.{WINDOW_SCHEME}.json",
    log:
        "<logs>/tossing_window_mpec/{dataset}.log",
    benchmark:
        "<benchmarks>/tossing_window_mpec/{dataset}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        **call("contactid.tossing.models.window_fit:identify_dataset_windows"),
        variant=lambda wildcards: dict(TOSSING_SCHEMES[WINDOW_SCHEME].stepping),
        tosses=TOSSING["mpec"]["windows"]["tosses"],
        seed=TOSSING["mpec"]["windows"]["seed"],
    script:
        "../call.py"
