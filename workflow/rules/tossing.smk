"""The tossing study: prepare tosses, identify friction and restitution on them, predict rest poses."""


include: "tossing_inputs.smk"
include: "tossing_impacts.smk"
include: "tossing_outlook.smk"
include: "tossing_report.smk"


wildcard_constraints:
    trajectory_variant="|".join(TOSSING_VARIANTS),
    scheme="|".join(TOSSING_SCHEMES),


rule tossing_preprocess:
    """Express motion in the surface frame; find release, contact and rest; say why a toss is left out."""
    input:
        motion="<results>/data/{dataset}/motion.nc",
    output:
        prepared="<results>/data/{dataset}/tosses.nc",
        table="<results>/data/{dataset}/tosses.csv",
    log:
        "<logs>/tossing_preprocess/{dataset}.log",
    benchmark:
        "<benchmarks>/tossing_preprocess/{dataset}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.tossing.preprocess:prepare"),
        share=identification_share,
        seed=TOSSING["split"]["seed"],
        exclude_tumbling=TOSSING["exclude_tumbling"],
        # drops are recorded for their impacts and may end before the box lies still
        require_usable=lambda wildcards: wildcards.dataset in TOSSING_DATASETS,
        events=TOSSING["events"],
    script:
        "../call.py"


rule tossing_calibrate:
    """Calibrate scale, centre of mass and inertia from free flight, rest and single impacts."""
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
        **call("contactid.tossing.calibration:calibrate_dataset"),
    script:
        "../call.py"


rule tossing_sweep:
    """Simulate every toss at every point of the parameter grid (eqs. 16 and 18)."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        calibration=calibration_for_variant,
    output:
        sweep="<results>/tossing/sweeps/{dataset}.{trajectory_variant}.nc",
    log:
        "<logs>/tossing_sweep/{dataset}.{trajectory_variant}.log",
    benchmark:
        "<benchmarks>/tossing_sweep/{dataset}.{trajectory_variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        **call("contactid.tossing.identification:sweep_dataset"),
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
        grid=TOSSING["grid"],
    script:
        "../call.py"


rule tossing_identify:
    """Find the friction and restitution of least mean loss, with bootstrap intervals."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        sweep="<results>/tossing/sweeps/{dataset}.{trajectory_variant}.nc",
        calibration=calibration_for_variant,
    output:
        fit="<results>/tossing/fits/{dataset}.{trajectory_variant}.json",
    log:
        "<logs>/tossing_identify/{dataset}.{trajectory_variant}.log",
    benchmark:
        "<benchmarks>/tossing_identify/{dataset}.{trajectory_variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.tossing.identification:identify_dataset"),
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
        bootstrap=TOSSING["bootstrap"],
    script:
        "../call.py"


rule tossing_predict:
    """Predict the test tosses with the identified parameters and measure the errors (eqs. 18 to 21)."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        fit=lambda wildcards: f"<results>/tossing/fits/{wildcards.identified_on}."
        f"{TOSSING_SCHEMES[wildcards.scheme].fit}.json",
        calibration=lambda wildcards: calibration_of(
            wildcards.identified_on, TOSSING_SCHEMES[wildcards.scheme].calibrated
        ),
    output:
        predictions="<results>/tossing/predictions/{identified_on}/{dataset}.{scheme}.csv",
    log:
        "<logs>/tossing_predict/{identified_on}/{dataset}.{scheme}.log",
    benchmark:
        "<benchmarks>/tossing_predict/{identified_on}/{dataset}.{scheme}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.tossing.prediction:predict_dataset"),
        variant=lambda wildcards: dict(TOSSING_SCHEMES[wildcards.scheme].stepping),
        kind=lambda wildcards: TOSSING_SCHEMES[wildcards.scheme].kind,
    script:
        "../call.py"
