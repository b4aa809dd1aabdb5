"""Predictions of the tossing study: rest poses, their sensitivity and distribution, other splits (section V)."""

# all that is identified on datasets of one kind and predicted shares a job
for parameters, names in PREDICTED_TOGETHER.items():
    predicted_cases = VELOCITY_CASES if parameters == "velocity" else TOSSING_CASES

    rule:
        """Predict the test tosses with the identified parameters, and measure the errors (eqs. 18 to 21)."""
        name:
            f"tossing_predict_{parameters}"
        input:
            prepared=[
                f"<results>/data/{dataset}/tosses.nc" for _, dataset in predicted_cases
            ],
            fits=[
                f"<results>/tossing/fits/{on}.{TOSSING_SCHEMES[name].fit}.json"
                for on, _ in predicted_cases
                for name in names
            ],
            calibration=calibrations_of(
                [on for on, _ in predicted_cases],
                any(TOSSING_SCHEMES[name].calibrated for name in names),
            ),
        output:
            predictions=of_cases(
                "predictions/{0}/{1}.{2}.csv",
                [(*case, name) for case in predicted_cases for name in names],
            ),
        log:
            f"<logs>/tossing_predict_{parameters}.log",
        benchmark:
            f"<benchmarks>/tossing_predict_{parameters}.tsv"
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1250,
            runtime=5,
        params:
            **call("contactid.tossing.predict.prediction:predict_dataset"),
            each=["prepared", "calibration"],
            shares=["fits", "predictions"],
            variants=[dict(TOSSING_SCHEMES[name].stepping) for name in names],
            kinds=[TOSSING_SCHEMES[name].kind for name in names],
        script:
            "../call.py"


rule tossing_predict_printed:
    """Predict the test tosses with the printed parameters of both kinds (section V)."""
    input:
        prepared=expand("<results>/data/{dataset}/tosses.nc", dataset=OF_BOXES),
        published=packaged("workflow/resources/published/tossing.csv"),
    output:
        predictions="<results>/tossing/predictions/printed.csv",
    log:
        "<logs>/tossing_predict_printed.log",
    benchmark:
        "<benchmarks>/tossing_predict_printed.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.tossing.predict.printed:predict_with_printed"),
        datasets=OF_BOXES,
        objects=[DATASETS[name].object for name in OF_BOXES],
        variant=TOSSING_VARIANTS[FIRST_VARIANT],
    script:
        "../call.py"


rule tossing_split:
    """Split tosses anew, calibrate and identify on one part by both laws, and predict the other."""
    input:
        motion="<results>/data/{dataset}/motion.nc",
        folder=lambda wildcards: raw_of(wildcards.dataset),
    output:
        scored="<results>/tossing/splits/{dataset}.{seed}.csv",
    log:
        "<logs>/tossing_split/{dataset}.{seed}.log",
    benchmark:
        "<benchmarks>/tossing_split/{dataset}.{seed}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        **call("contactid.tossing.predict.splits:score_split"),
        tosses=lambda wildcards: (
            TOSSING["splits"]["tosses"]
            if wildcards.seed == str(TOSSING["splits"]["seeds"][0])
            else []
        ),
        settings=SPLIT_SETTINGS,
    script:
        "../call.py"


rule tossing_other_truth:
    """Make a body's tosses and drops anew by another truth, and identify both ways by both laws."""
    input:
        trajectories="<results>/data/{dataset}/tosses.nc",
        validation=lambda wildcards: f"<results>/data/{TRUTH_CASES[wildcards.dataset][0]}/tosses.nc",
        impacts=lambda wildcards: (
            f"<results>/tossing/impacts/{TRUTH_CASES[wildcards.dataset][1]}"
            f".{OTHER_TRUTHS['identify_with']['velocity']}.nc"
        ),
        published=packaged("workflow/resources/published/tossing.csv"),
    output:
        scored="<results>/tossing/other_truths/{dataset}.{truth}.{seed}.csv",
    log:
        "<logs>/tossing_other_truth/{dataset}.{truth}.{seed}.log",
    benchmark:
        "<benchmarks>/tossing_other_truth/{dataset}.{truth}.{seed}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=15,
    params:
        **call("contactid.tossing.predict.other_truth:identify_other_truth"),
        settings=TRUTH_SETTINGS,
    script:
        "../call.py"


rule tossing_sensitivity:
    """See where the box comes to rest as friction and restitution vary (section VI)."""
    input:
        prepared=[f"<results>/data/{dataset}/tosses.nc" for _, dataset in TOSSING_CASES],
        fits=[
            f"<results>/tossing/fits/{on}.{FIRST_VARIANT}.json"
            for on, _ in TOSSING_CASES
        ],
        calibrations=FIRST_CALIBRATIONS,
    output:
        varied=of_cases("sensitivity/{0}/{1}.{2}.csv", FIRST_CASES),
        variations=of_cases("sensitivity/{0}/{1}.{2}.summary.csv", FIRST_CASES),
        profiles=of_cases("sensitivity/{0}/{1}.{2}.profile.csv", FIRST_CASES),
    log:
        "<logs>/tossing_sensitivity.log",
    benchmark:
        "<benchmarks>/tossing_sensitivity.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.tossing.predict.sensitivity:vary_datasets"),
        variant=TOSSING_VARIANTS[FIRST_VARIANT],
        reach=TOSSING["sensitivity"]["reach"],
        step=TOSSING["sensitivity"]["step"],
    script:
        "../call.py"


for number, group in enumerate(sharing_a_job(TOSSING_CASES), 1):

    rule:
        """Sobol indices of the rest pose over parameters, body, surface and release."""
        name:
            f"tossing_sobol_{number}"
        input:
            prepared=[f"<results>/data/{dataset}/tosses.nc" for _, dataset in group],
            fit=of_cases("fits/{0}.{{trajectory_variant}}.json", group),
            calibration=lambda wildcards, group=group: calibrations_for(
                [on for on, _ in group], wildcards.trajectory_variant
            ),
        output:
            indices=of_cases(
                "sensitivity/{0}/{1}.{{trajectory_variant}}.sobol.csv", group
            ),
        log:
            f"<logs>/tossing_sobol_{number}/{{trajectory_variant}}.log",
        benchmark:
            f"<benchmarks>/tossing_sobol_{number}/{{trajectory_variant}}.tsv"
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1250,
            runtime=10,
        params:
            **call("contactid.tossing.predict.sobol:sobol_indices"),
            each=["prepared", "calibration", "fit", "indices"],
            variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
            options=TOSSING["sensitivity"],
        script:
            "../call.py"

    rule:
        """Predict a distribution of rest poses and score the measured ones in it."""
        name:
            f"tossing_rest_poses_{number}"
        input:
            prepared=[f"<results>/data/{dataset}/tosses.nc" for _, dataset in group],
            identified=[f"<results>/data/{on}/tosses.nc" for on, _ in group],
            fit=of_cases("fits/{0}.{{trajectory_variant}}.json", group),
            swept=of_cases("sweeps/{0}.{{trajectory_variant}}.finest.nc", group),
            calibration=lambda wildcards, group=group: calibrations_for(
                [on for on, _ in group], wildcards.trajectory_variant
            ),
        output:
            scores=of_cases("rest_poses/{0}/{1}.{{trajectory_variant}}.json", group),
            outlines=of_cases(
                "rest_poses/{0}/{1}.{{trajectory_variant}}.outlines.csv", group
            ),
        log:
            f"<logs>/tossing_rest_poses_{number}/{{trajectory_variant}}.log",
        benchmark:
            f"<benchmarks>/tossing_rest_poses_{number}/{{trajectory_variant}}.tsv"
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1250,
            runtime=10,
        params:
            **call("contactid.tossing.predict.rest_pose_regions:predict_rest_poses"),
            each=[
                "prepared",
                "identified",
                "calibration",
                "fit",
                "swept",
                "scores",
                "outlines",
            ],
            variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
            draws=TOSSING["rest_poses"]["draws"],
            seed=TOSSING["rest_poses"]["seed"],
            n_tosses=TOSSING["figures"]["tosses"],
        script:
            "../call.py"
