"""The tossing study on single impacts: find them, identify friction and restitution on them (section IV-A)."""

# variants that select the same impacts share a job
for number, group in enumerate(IMPACT_SELECTIONS.values(), 1):

    rule:
        """Find the impacts of single corners, and say why every other candidate is dropped (section IV-A1, 2)."""
        name:
            f"tossing_impacts_{number}"
        input:
            prepared=expand(
                "<results>/data/{dataset}/tosses.nc", dataset=VELOCITY_IDENTIFIED
            ),
            calibration=calibrations_of(
                VELOCITY_IDENTIFIED, VELOCITY_VARIANTS[group[0]]["calibrated"]
            ),
        output:
            impacts=[
                f"<results>/tossing/impacts/{dataset}.{name}.nc"
                for dataset in VELOCITY_IDENTIFIED
                for name in group
            ],
            tables=[
                f"<results>/tossing/impacts/{dataset}.{name}.csv"
                for dataset in VELOCITY_IDENTIFIED
                for name in group
            ],
        log:
            f"<logs>/tossing_impacts_{number}.log",
        benchmark:
            f"<benchmarks>/tossing_impacts_{number}.tsv"
        priority: 2  # the longest chain of jobs begins soon
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1250,
            runtime=10,
        params:
            **call("contactid.tossing.impacts.selection:select_impacts"),
            each=["prepared", "calibration", "dataset"],
            shares=["impacts", "tables"],
            dataset=VELOCITY_IDENTIFIED,
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
        impacts=expand(
            "<results>/tossing/impacts/{dataset}.{{velocity_variant}}.nc",
            dataset=VELOCITY_IDENTIFIED,
        ),
    output:
        sweep=expand(
            "<results>/tossing/sweeps/{dataset}.{{velocity_variant}}.nc",
            dataset=VELOCITY_IDENTIFIED,
        ),
        fit=expand(
            "<results>/tossing/fits/{dataset}.{{velocity_variant}}.json",
            dataset=VELOCITY_IDENTIFIED,
        ),
        losses=expand(
            "<results>/tossing/impacts/{dataset}.{{velocity_variant}}.losses.csv",
            dataset=VELOCITY_IDENTIFIED,
        ),
    log:
        "<logs>/tossing_velocity_identify/{velocity_variant}.log",
    benchmark:
        "<benchmarks>/tossing_velocity_identify/{velocity_variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.tossing.identify.velocities:identify_on_impacts"),
        each=["impacts", "sweep", "fit", "losses", "dataset"],
        dataset=VELOCITY_IDENTIFIED,
        variant=lambda wildcards: VELOCITY_VARIANTS[wildcards.velocity_variant],
        law=lambda wildcards: TOSSING_SCHEMES[wildcards.velocity_variant].stepping[
            "law"
        ],
        grid=TOSSING["grid"],
        bootstrap=TOSSING["bootstrap"],
    script:
        "../call.py"


for number, group in enumerate(sharing_a_job(VELOCITY_IDENTIFIED), 1):

    rule:
        """Identify on all impacts at once as a complementarity problem, in several forms."""
        name:
            f"tossing_impact_mpec_{number}"
        input:
            impacts=expand(
                "<results>/tossing/impacts/{dataset}.{{velocity_variant}}.nc",
                dataset=group,
            ),
        output:
            fit=expand(
                "<results>/tossing/fits/{dataset}.{{velocity_variant}}_mpec.json",
                dataset=group,
            ),
            forms=expand(
                "<results>/tossing/impacts/{dataset}.{{velocity_variant}}.mpec.csv",
                dataset=group,
            ),
        log:
            f"<logs>/tossing_impact_mpec_{number}/{{velocity_variant}}.log",
        benchmark:
            f"<benchmarks>/tossing_impact_mpec_{number}/{{velocity_variant}}.tsv"
        priority: 2  # the longest chain of jobs begins soon
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1500,
            runtime=10,
        params:
            **call("contactid.tossing.identify.impact_mpec:identify_from_file"),
            each=["impacts", "fit", "forms", "dataset"],
            dataset=group,
        script:
            "../call.py"
