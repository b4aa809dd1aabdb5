"""Predictions of the tossing study: rest poses, their sensitivity and distribution, other splits (section V)."""

# all that is identified on one dataset and predicted on another shares a job
for parameters, names in PREDICTED_TOGETHER.items():

    rule:
        """Predict the test tosses with the identified parameters and measure the errors (eqs. 18 to 21)."""
        name:
            f"tossing_predict_{parameters}"
        input:
            prepared="<results>/data/{dataset}/tosses.nc",
            fits=[
                f"<results>/tossing/fits/{{identified_on}}.{TOSSING_SCHEMES[name].fit}.json"
                for name in names
            ],
            calibration=calibration_of(
                "{identified_on}",
                any(TOSSING_SCHEMES[name].calibrated for name in names),
            ),
        output:
            predictions=[
                f"<results>/tossing/predictions/{{identified_on}}/{{dataset}}.{name}.csv"
                for name in names
            ],
        log:
            f"<logs>/tossing_predict_{parameters}/{{identified_on}}/{{dataset}}.log",
        benchmark:
            f"<benchmarks>/tossing_predict_{parameters}/{{identified_on}}/{{dataset}}.tsv"
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1250,
            runtime=5,
        params:
            **call("contactid.tossing.predict.prediction:predict_dataset"),
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
    """Split tosses anew, calibrate and identify on one part, and predict the other."""
    input:
        motion="<results>/data/{dataset}/motion.nc",
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
        settings=SPLIT_SETTINGS,
    script:
        "../call.py"


rule tossing_sensitivity:
    """Vary friction and restitution around their optimum and see where the box comes to rest (section VI)."""
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


rule tossing_sobol:
    """Sobol indices of the rest pose over parameters, body, surface and release."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        fit="<results>/tossing/fits/{identified_on}.{trajectory_variant}.json",
        calibration=calibration_for,
    output:
        indices="<results>/tossing/sensitivity/{identified_on}/{dataset}.{trajectory_variant}.sobol.csv",
    log:
        "<logs>/tossing_sobol/{identified_on}/{dataset}.{trajectory_variant}.log",
    benchmark:
        "<benchmarks>/tossing_sobol/{identified_on}/{dataset}.{trajectory_variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.tossing.predict.sobol:sobol_indices"),
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
        options=TOSSING["sensitivity"],
    script:
        "../call.py"


rule tossing_rest_poses:
    """Predict a distribution of rest poses and score the measured ones in it."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        identified="<results>/data/{identified_on}/tosses.nc",
        fit="<results>/tossing/fits/{identified_on}.{trajectory_variant}.json",
        calibration=calibration_for,
    output:
        scores="<results>/tossing/rest_poses/{identified_on}/{dataset}.{trajectory_variant}.json",
        errors="<results>/tossing/rest_poses/{identified_on}/{dataset}.{trajectory_variant}.csv",
        outlines="<results>/tossing/rest_poses/{identified_on}/{dataset}.{trajectory_variant}.outlines.csv",
    log:
        "<logs>/tossing_rest_poses/{identified_on}/{dataset}.{trajectory_variant}.log",
    benchmark:
        "<benchmarks>/tossing_rest_poses/{identified_on}/{dataset}.{trajectory_variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.tossing.predict.rest_pose_distribution:predict_rest_poses"),
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
        restitution=TOSSING["grid"]["restitution_e_n"],
        draws=TOSSING["rest_poses"]["draws"],
        seed=TOSSING["rest_poses"]["seed"],
        n_tosses=TOSSING["figures"]["tosses"],
    script:
        "../call.py"
