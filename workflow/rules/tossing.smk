"""The tossing study: prepare tosses, identify friction and restitution on them, predict rest poses."""


include: "tossing_inputs.smk"


wildcard_constraints:
    trajectory_variant="|".join(TOSSING_VARIANTS),
    velocity_variant="|".join(VELOCITY_VARIANTS) or "none",
    benchmark_row="|".join(BENCHMARK) or "none",


rule tossing_preprocess:
    """Express motion in the surface frame; find release, contact and rest; say why a toss is left out."""
    input:
        motion=expand("<results>/data/{dataset}/motion.nc", dataset=TOSSING_PREPARED),
    output:
        prepared=expand("<results>/data/{dataset}/tosses.nc", dataset=TOSSING_PREPARED),
        table=expand("<results>/data/{dataset}/tosses.csv", dataset=TOSSING_PREPARED),
    log:
        "<logs>/tossing_preprocess.log",
    benchmark:
        "<benchmarks>/tossing_preprocess.tsv"
    priority: 2  # the longest chain of jobs begins soon
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.tossing.prepare.preprocess:prepare"),
        each=["motion", "prepared", "table", "dataset", "share", "require_usable"],
        dataset=TOSSING_PREPARED,
        share=[identification_share(name) for name in TOSSING_PREPARED],
        seed=TOSSING["split"]["seed"],
        exclude_tumbling=TOSSING["exclude_tumbling"],
        # drops are recorded for their impacts and may end before the box lies still
        require_usable=[name in TOSSING_DATASETS for name in TOSSING_PREPARED],
        events=TOSSING["events"],
    script:
        "../call.py"


rule tossing_calibrate:
    """Calibrate scale, centre of mass and inertia (free flight, rest and single impacts)."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
    output:
        calibration="<results>/tossing/fits/{dataset}.calibration.json",
    log:
        "<logs>/tossing_calibrate/{dataset}.log",
    benchmark:
        "<benchmarks>/tossing_calibrate/{dataset}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.tossing.identify.body:calibrate_dataset"),
    script:
        "../call.py"


for number, group in enumerate(sharing_a_job(TOSSING_IDENTIFIED), 1):

    rule:
        """Friction and restitution of least mean loss over the parameter grid (eqs. 16 and 18), with bootstrap intervals."""
        name:
            f"tossing_identify_{number}"
        input:
            prepared=expand("<results>/data/{dataset}/tosses.nc", dataset=group),
            calibration=lambda wildcards, group=group: calibrations_for(
                group, wildcards.trajectory_variant
            ),
        output:
            sweep=expand(
                "<results>/tossing/sweeps/{dataset}.{{trajectory_variant}}.nc",
                dataset=group,
            ),
            finest=expand(
                "<results>/tossing/sweeps/{dataset}.{{trajectory_variant}}.finest.nc",
                dataset=group,
            ),
            fit=expand(
                "<results>/tossing/fits/{dataset}.{{trajectory_variant}}.json",
                dataset=group,
            ),
        log:
            f"<logs>/tossing_identify_{number}/{{trajectory_variant}}.log",
        benchmark:
            f"<benchmarks>/tossing_identify_{number}/{{trajectory_variant}}.tsv"
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1500,
            runtime=10,
        params:
            **call("contactid.tossing.identify.trajectories:identify_dataset"),
            each=["prepared", "calibration", "sweep", "finest", "fit", "dataset"],
            dataset=group,
            variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
            grid=TOSSING["grid"],
            bootstrap=TOSSING["bootstrap"],
        script:
            "../call.py"


include: "tossing_impacts.smk"
include: "tossing_predictions.smk"


rule tossing_benchmark:
    """Identify a simulator on the same tosses with the same budget, and score it on whole files of the test tosses."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        calibration="<results>/tossing/fits/{dataset}.calibration.json",
        folder=lambda wildcards: raw_of(wildcards.dataset),
    output:
        scored="<results>/tossing/benchmark/{dataset}.{benchmark_row}.csv",
    log:
        "<logs>/tossing_benchmark/{dataset}.{benchmark_row}.log",
    benchmark:
        "<benchmarks>/tossing_benchmark/{dataset}.{benchmark_row}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        **call("contactid.tossing.predict.benchmark:score_row"),
        row=lambda wildcards: wildcards.benchmark_row,
        variant=STEPPED,
        budget=BUDGET,
    script:
        "../call.py"


rule tossing_tables:
    """Tables I to IV beside the printed values, and the tables that go beyond the paper."""
    input:
        **stored_for("table"),
        prepared=expand("<results>/data/{dataset}/tosses.nc", dataset=TOSSING_PREPARED),
        toss_tables=expand(
            "<results>/data/{dataset}/tosses.csv", dataset=TOSSING_DATASETS
        ),
        predictions=of_cases("predictions/{0}/{1}.{2}.csv", TOSSING_PREDICTIONS),
        fits=[
            f"<results>/tossing/fits/{on}.{TOSSING_SCHEMES[scheme].fit}.json"
            for on, _, scheme in TOSSING_PREDICTIONS
        ],
        calibrations=[
            calibration_of(dataset, True)
            for dataset in TOSSING_IDENTIFIED
            if any(variant["calibrated"] for variant in TOSSING_VARIANTS.values())
        ],
        velocity_fits=of_cases("fits/{0}.{1}.json", IMPACT_FITS),
        candidates=of_cases("impacts/{0}.{1}.csv", IMPACT_FITS),
        losses=of_cases("impacts/{0}.{1}.losses.csv", IMPACT_FITS),
        forms=of_cases(
            "impacts/{0}.{1}.mpec.csv",
            [case for case in IMPACT_FITS if VELOCITY_VARIANTS[case[1]]["mpec"]],
        ),
        variations=rules.tossing_sensitivity.output.variations,
        profiles=rules.tossing_sensitivity.output.profiles,
        sobol=of_cases("sensitivity/{0}/{1}.{2}.sobol.csv", SOBOL_CASES),
        scores=of_cases("rest_poses/{0}/{1}.{2}.json", REST_POSE_CASES),
        with_printed=["<results>/tossing/predictions/printed.csv"] if OF_BOXES else [],
        published=packaged("workflow/resources/published/tossing.csv"),
    output:
        artefacts=computed_by("tossing_tables"),
        tosses="<results>/tossing/tosses.csv",
        impacts=IMPACTS_TABLE,
    log:
        "<logs>/tossing_tables.log",
    benchmark:
        "<benchmarks>/tossing_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("tossing_tables"),
        block=TOSSING,
        datasets=TOSSING_PREPARED,
        cases=TOSSING_CASES,
        predicted=TOSSING_PREDICTIONS,
        identified_impacts=IMPACT_FITS,
        rest_pose_cases=REST_POSE_CASES,
        sobol_scheme=SOBOL_VARIANT,
    script:
        "../call.py"


rule tossing_figures:
    """The data behind the figures."""
    input:
        **stored_for("figure"),
        prepared=expand("<results>/data/{dataset}/tosses.nc", dataset=TOSSING_PREPARED),
        motions=expand("<results>/data/{dataset}/motion.nc", dataset=TOSSING_IDENTIFIED),
        sweeps=[
            f"<results>/tossing/sweeps/{on}.{FIRST_VARIANT}.nc"
            for on in TOSSING_IDENTIFIED
        ],
        fits=[
            f"<results>/tossing/fits/{on}.{FIRST_VARIANT}.json"
            for on in TOSSING_IDENTIFIED
        ],
        predictions=of_cases("predictions/{0}/{1}.{2}.csv", FIRST_CASES),
        velocity_predictions=of_cases(
            "predictions/{0}/{1}.{2}.csv",
            [(*case, name) for name in FIRST_VELOCITY for case in VELOCITY_CASES],
        ),
        velocity_sweeps=of_cases("sweeps/{0}.{1}.nc", FIRST_IMPACT_FITS),
        velocity_fits=of_cases("fits/{0}.{1}.json", FIRST_IMPACT_FITS),
        impacts=of_cases("impacts/{0}.{1}.nc", FIRST_IMPACT_FITS),
        varied=rules.tossing_sensitivity.output.varied,
        outlines=of_cases("rest_poses/{0}/{1}.{2}.outlines.csv", LAST_REST_POSE_CASES),
        published=packaged("workflow/resources/published/tossing.csv"),
    output:
        artefacts=computed_by("tossing_figures"),
        sources=FIGURE_SOURCES["tossing"][0],
    log:
        "<logs>/tossing_figures.log",
    benchmark:
        "<benchmarks>/tossing_figures.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("tossing_figures"),
        datasets=TOSSING_PREPARED,
        cases=TOSSING_CASES,
        impact_cases=VELOCITY_CASES,
        window=TOSSING["velocity"]["window"],
        figures=TOSSING["figures"],
    script:
        "../call.py"


if PLOTTED:

    rule tossing_plotted:
        """Optima, errors and an impact from what the authors drew their figures from."""
        input:
            plots=f"<results>/data/{PLOTTED[0]}/plots.nc",
            velocity_sweep=swept_as_authors(VELOCITY_IDENTIFIED, FIRST_VELOCITY),
            trajectory_sweep=swept_as_authors(TOSSING_IDENTIFIED, [FIRST_VARIANT]),
        output:
            artefacts=computed_by("tossing_plotted"),
        log:
            "<logs>/tossing_plotted.log",
        benchmark:
            "<benchmarks>/tossing_plotted.tsv"
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1000,
            runtime=5,
        params:
            **compute("tossing_plotted"),
            dataset=PLOTTED[0],
        script:
            "../call.py"


rule tossing_playback:
    """Thin some measured tosses and their predictions for the report to play."""
    input:
        prepared=[f"<results>/data/{dataset}/tosses.nc" for _, dataset in TOSSING_CASES],
        fits=[
            f"<results>/tossing/fits/{on}.{FIRST_VARIANT}.json"
            for on, _ in TOSSING_CASES
        ],
        calibrations=FIRST_CALIBRATIONS,
        predictions=of_cases("predictions/{0}/{1}.{2}.csv", FIRST_CASES),
    output:
        playback="<results>/tossing/playback.json",
    log:
        "<logs>/tossing_playback.log",
    benchmark:
        "<benchmarks>/tossing_playback.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        **call("contactid.tossing.artefacts.playback:write_playback"),
        cases=TOSSING_CASES,
        variant=TOSSING_VARIANTS[FIRST_VARIANT],
    script:
        "../call.py"


rule tossing_checks:
    """Hold every printed number and statement of the study against the run, and say in a section of text what it found."""
    input:
        published=packaged("workflow/resources/published/tossing.csv"),
        ledger=ledger_of("tossing"),
        tables=expand("<results>/tossing/tables/{table}.csv", table=TOSSING_TABLES)
        + ["<results>/tossing/figures/fig12_trajectory_costs.csv"]
        + ["<results>/tossing/tosses.csv"]
        + IMPACTS_TABLE,
        cards=expand(
            "<results>/data/{dataset}/card.json", dataset=TOSSING_PREPARED + PLOTTED
        ),
    output:
        checks="<results>/tossing/checks.csv",
        summary="<results>/tossing/summary.md",
    log:
        "<logs>/tossing_checks.log",
    benchmark:
        "<benchmarks>/tossing_checks.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **judged("tossing"),
        names=[
            *TOSSING_TABLES,
            "fig12_trajectory_costs",
            "tosses",
            *(["impacts"] if IMPACTS_TABLE else []),
        ],
        archives={
            name: entry.source
            for name, entry in DATASETS.items()
            if entry.study == "tossing" and entry.kind == "4tu"
        },
        paper_schemes={
            (
                "no_restitution"
                if scheme.kind == "no_restitution"
                else scheme.parameters
            ): name
            for name, scheme in TOSSING_SCHEMES.items()
            if scheme.paper
        },
    script:
        "../call.py"
