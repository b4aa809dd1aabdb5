"""What predictions depend on, how sure they are, and what other simulators make of the same tosses."""


wildcard_constraints:
    simulator="|".join(KNOWN_SIMULATORS),


rule tossing_sensitivity:
    """Vary friction and restitution around their optimum and see where the box comes to rest (section VI)."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        fit="<results>/tossing/fits/{identified_on}.{trajectory_variant}.json",
        calibration=calibration_for_case,
    output:
        varied="<results>/tossing/sensitivity/{identified_on}/{dataset}.{trajectory_variant}.csv",
        summary="<results>/tossing/sensitivity/{identified_on}/{dataset}.{trajectory_variant}.summary.csv",
        profile="<results>/tossing/sensitivity/{identified_on}/{dataset}.{trajectory_variant}.profile.csv",
    log:
        "<logs>/tossing_sensitivity/{identified_on}/{dataset}.{trajectory_variant}.log",
    benchmark:
        "<benchmarks>/tossing_sensitivity/{identified_on}/{dataset}.{trajectory_variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.tossing.sensitivity:vary_dataset"),
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
        reach=TOSSING["sensitivity"]["reach"],
        step=TOSSING["sensitivity"]["step"],
    script:
        "../call.py"


rule tossing_sobol:
    """Sobol indices of the rest pose over parameters, body, surface and release."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        fit="<results>/tossing/fits/{identified_on}.{trajectory_variant}.json",
        calibration=calibration_for_case,
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
        **call("contactid.tossing.global_sensitivity:sobol_indices"),
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
        calibration=calibration_for_case,
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
        **call("contactid.tossing.rest_pose_files:predict_rest_poses"),
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
        restitution=TOSSING["grid"]["restitution_e_n"],
        draws=TOSSING["rest_poses"]["draws"],
        seed=TOSSING["rest_poses"]["seed"],
        n_tosses=TOSSING["figures"]["tosses"],
    script:
        "../call.py"


rule tossing_simulator:
    """Identify another simulator on the same tosses with the same budget, and predict the test tosses with it."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        identified="<results>/data/{identified_on}/tosses.nc",
        calibration=calibration_for_case,
    output:
        fit="<results>/tossing/simulators/{identified_on}/{dataset}.{trajectory_variant}.{simulator}.json",
        predictions="<results>/tossing/simulators/{identified_on}/{dataset}.{trajectory_variant}.{simulator}.csv",
    log:
        "<logs>/tossing_simulator/{identified_on}/{dataset}.{trajectory_variant}.{simulator}.log",
    benchmark:
        "<benchmarks>/tossing_simulator/{identified_on}/{dataset}.{trajectory_variant}.{simulator}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        **call("contactid.tossing.simulators:compare_simulator"),
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.trajectory_variant],
        budget={
            key: value
            for key, value in TOSSING["simulators"].items()
            if key != "names"
        },
    script:
        "../call.py"
