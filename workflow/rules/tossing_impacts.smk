"""The tossing study on single impacts: find them, identify friction and restitution on them (section IV-A)."""

# variants that select the same impacts share a job
for number, group in enumerate(IMPACT_SELECTIONS.values(), 1):

    rule:
        """Find the impacts of single corners, and say why every other candidate is dropped (section IV-A1, 2)."""
        name:
            f"tossing_impacts_{number}"
        input:
            prepared="<results>/data/{dataset}/tosses.nc",
            calibration=calibration_of(
                "{dataset}", VELOCITY_VARIANTS[group[0]]["calibrated"]
            ),
        output:
            impacts=[
                f"<results>/tossing/impacts/{{dataset}}.{name}.nc" for name in group
            ],
            tables=[
                f"<results>/tossing/impacts/{{dataset}}.{name}.csv" for name in group
            ],
        log:
            f"<logs>/tossing_impacts_{number}/{{dataset}}.log",
        benchmark:
            f"<benchmarks>/tossing_impacts_{number}/{{dataset}}.tsv"
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1250,
            runtime=10,
        params:
            **call("contactid.tossing.impacts.selection:select_impacts"),
            largest_misfit=VELOCITY_VARIANTS[group[0]]["largest_misfit"],
            largest_imbalance=VELOCITY_VARIANTS[group[0]]["largest_imbalance"],
            twists=[VELOCITY_VARIANTS[name]["twists"] for name in group],
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
        **call("contactid.tossing.identify.velocities:identify_on_impacts"),
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
        **call("contactid.tossing.identify.impact_mpec:identify_from_file"),
        facets=TOSSING["mpec"]["facets"],
        seed=TOSSING["bootstrap"]["seed"],
    script:
        "../call.py"
