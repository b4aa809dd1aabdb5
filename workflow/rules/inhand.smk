"""The in-hand study: inertia and friction of a grasped object, from forces at fingertips; on synthetic twins."""


include: "inhand_inputs.smk"


rule inhand_twin:
    """Simulate every recording of an object in motion, at four contacts or on a wrist sensor, and its truth."""
    input:
        objects=INHAND_OBJECTS,
    output:
        recordings=inhand_twins(INHAND_SEEDS),
        truths=inhand_twins(INHAND_SEEDS, prefix="truth_"),
        card=INHAND_CARD,
    log:
        "<logs>/inhand_twin.log",
    benchmark:
        "<benchmarks>/inhand_twin.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.inhand.readers.twins:write_twins"),
        twin=INHAND["twin"],
        seeds=INHAND_SEEDS,
    script:
        "../call.py"


rule inhand_estimate:
    """Estimate every source's recordings of one seed by every method and solver."""
    input:
        recordings=lambda wildcards: inhand_twins([wildcards.inhand_seed]),
        truths=lambda wildcards: inhand_twins([wildcards.inhand_seed], prefix="truth_"),
    output:
        table=[
            f"<results>/inhand/fits/{source}_{{inhand_seed}}.csv"
            for source in INHAND_SOURCES
        ],
    log:
        "<logs>/inhand_estimate/{inhand_seed}.log",
    benchmark:
        "<benchmarks>/inhand_estimate/{inhand_seed}.tsv"
    wildcard_constraints:
        inhand_seed=r"\d+",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.inhand.identify.estimates:write_estimates"),
        each=["table"],
        shares=["recordings", "truths"],
        methods=INHAND["estimates"]["methods"],
        study={name: INHAND[name] for name in ("baseline", "graph")},
    script:
        "../call.py"


rule inhand_sweeps:
    """Sweep recordings in hand over parts of an estimator, unsensed forces, motions, time steps and lengths."""
    input:
        objects=INHAND_OBJECTS,
    output:
        ablation="<results>/inhand/sweeps/ablation.csv",
        disturbances="<results>/inhand/sweeps/disturbances.csv",
        strengths="<results>/inhand/sweeps/strength.csv",
        times="<results>/inhand/sweeps/speed.csv",
        errors="<results>/inhand/sweeps/differences.csv",
        choices="<results>/inhand/sweeps/choices.csv",
        identifiability="<results>/inhand/sweeps/identifiability.csv",
        active_constraint="<results>/inhand/sweeps/active_constraint.csv",
    log:
        "<logs>/inhand_sweeps.log",
    benchmark:
        "<benchmarks>/inhand_sweeps.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        **call("contactid.inhand.identify.sweeps:write_sweeps"),
        study={
            name: INHAND[name]
            for name in (
                *("twin", "baseline", "graph", "ablation", "disturbances"),
                *("strength", "speed", "differences", "identifiability"),
                "active_constraint",
            )
        },
    script:
        "../call.py"


rule inhand_friction:
    """Simulate friction trials on ten surfaces, and estimate from the last sticking force (section III-A)."""
    input:
        surfaces=INHAND_SURFACES,
    output:
        trials="<results>/inhand/sweeps/friction_trials.csv",
        slopes="<results>/inhand/sweeps/friction_slopes.csv",
        directions="<results>/inhand/sweeps/friction_directions.csv",
        ratios="<results>/inhand/sweeps/friction_kinetic.csv",
    log:
        "<logs>/inhand_friction.log",
    benchmark:
        "<benchmarks>/inhand_friction.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.inhand.friction.trials:write_trials"),
        block=INHAND["friction"],
    script:
        "../call.py"


rule inhand_force_sensing:
    """Train the configured force models on a simulated sensor with 19 electrodes (section V-A)."""
    output:
        predictions="<results>/inhand/fits/force_predictions.nc",
    log:
        "<logs>/inhand_force_sensing.log",
    benchmark:
        "<benchmarks>/inhand_force_sensing.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        **call("contactid.inhand.tactile.training:write_predictions"),
        block=INHAND["force_sensing"],
    script:
        "../call.py"


rule inhand_printed:
    """What follows from the paper and the settings alone: verdicts on printed estimates, figures 1 to 4 and 9."""
    input:
        published=INHAND_PUBLISHED,
        objects=INHAND_OBJECTS,
        surfaces=INHAND_SURFACES,
    output:
        artefacts=computed_by("inhand_printed"),
    log:
        "<logs>/inhand_printed.log",
    benchmark:
        "<benchmarks>/inhand_printed.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("inhand_printed"),
        twin=INHAND["twin"],
        shown=INHAND["grasp_figures"],
        weights=INHAND["graph"]["weights"],
    script:
        "../call.py"


if INHAND["wrist"]:

    include: "inhand_wrist.smk"


rule inhand_tables:
    """Tables and figures of all that was simulated and estimated."""
    input:
        shards=expand(
            "<results>/inhand/fits/{source}_{seed}.csv",
            source=INHAND_SOURCES,
            seed=INHAND_SEEDS,
        ),
        recordings=inhand_twins(INHAND_SEEDS, IN_HAND),
        times=rules.inhand_sweeps.output.times,
        errors=rules.inhand_sweeps.output.errors,
        choices=rules.inhand_sweeps.output.choices,
        identifiability=rules.inhand_sweeps.output.identifiability,
        trials=rules.inhand_friction.output.trials,
        slopes=rules.inhand_friction.output.slopes,
        directions=rules.inhand_friction.output.directions,
        ratios=rules.inhand_friction.output.ratios,
        predictions=rules.inhand_force_sensing.output.predictions,
        published=INHAND_PUBLISHED,
        verdicts="<results>/inhand/tables/ext_printed_consistency.csv",
        stored_estimates=stored_files("inhand_estimates"),
        stored_ablation=stored_files("inhand_ablation"),
        stored_disturbances=stored_files("inhand_disturbances"),
        stored_strength=stored_files("inhand_strength"),
        stored_active_constraint=stored_files("inhand_active_constraint"),
        objects=INHAND_OBJECTS,
    output:
        artefacts=computed_by("inhand_tables"),
    log:
        "<logs>/inhand_tables.log",
    benchmark:
        "<benchmarks>/inhand_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("inhand_tables"),
        force_sensing=INHAND["force_sensing"],
    script:
        "../call.py"


rule inhand_checks:
    """Hold every printed number and statement of the study against the run, and say in a section of text what it found."""
    input:
        published=INHAND_PUBLISHED,
        objects=INHAND_OBJECTS,
        ledger=ledger_of("inhand"),
        cards=[
            INHAND_CARD,
            *expand("<results>/data/{dataset}/card.json", dataset=INHAND["wrist"]),
        ],
        tables=[
            *expand("<results>/inhand/tables/{table}.csv", table=INHAND_JUDGED),
            f"<results>/inhand/figures/{INHAND_SCALE}.csv",
        ],
    output:
        checks="<results>/inhand/checks.csv",
        summary="<results>/inhand/summary.md",
    log:
        "<logs>/inhand_checks.log",
    benchmark:
        "<benchmarks>/inhand_checks.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **judged("inhand"),
        names=[*INHAND_JUDGED, INHAND_SCALE],
    script:
        "../call.py"
