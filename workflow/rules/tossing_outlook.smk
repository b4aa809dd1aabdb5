"""What predictions depend on, how sure they are, and what other simulators make of the same tosses."""


wildcard_constraints:
    simulator="|".join(KNOWN_SIMULATORS),


rule tossing_sensitivity:
    """Vary friction and restitution around their optimum and see where the box comes to rest (section VI)."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        fit="<results>/tossing/fits/{identified_on}.{variant}.json",
        calibration=calibration_for_case,
    output:
        varied="<results>/tossing/sensitivity/{identified_on}/{dataset}.{variant}.csv",
        summary="<results>/tossing/sensitivity/{identified_on}/{dataset}.{variant}.summary.csv",
        profile="<results>/tossing/sensitivity/{identified_on}/{dataset}.{variant}.profile.csv",
    log:
        "<logs>/tossing_sensitivity/{identified_on}/{dataset}.{variant}.log",
    benchmark:
        "<benchmarks>/tossing_sensitivity/{identified_on}/{dataset}.{variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.variant],
        options=TOSSING["sensitivity"],
        code=code("tossing_sensitivity"),
    script:
        "../scripts/tossing_sensitivity.py"


rule tossing_sobol:
    """Sobol indices of the rest pose over parameters, body, surface and release."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        fit="<results>/tossing/fits/{identified_on}.{variant}.json",
        calibration=calibration_for_case,
    output:
        indices="<results>/tossing/sensitivity/{identified_on}/{dataset}.{variant}.sobol.csv",
    log:
        "<logs>/tossing_sobol/{identified_on}/{dataset}.{variant}.log",
    benchmark:
        "<benchmarks>/tossing_sobol/{identified_on}/{dataset}.{variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.variant],
        options=TOSSING["sensitivity"],
        code=code("tossing_sobol"),
    script:
        "../scripts/tossing_sobol.py"


rule tossing_rest_poses:
    """Predict a distribution of rest poses and score the measured ones in it."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        identified="<results>/data/{identified_on}/tosses.nc",
        fit="<results>/tossing/fits/{identified_on}.{variant}.json",
        calibration=calibration_for_case,
    output:
        scores="<results>/tossing/rest_poses/{identified_on}/{dataset}.{variant}.json",
        errors="<results>/tossing/rest_poses/{identified_on}/{dataset}.{variant}.csv",
        outlines="<results>/tossing/rest_poses/{identified_on}/{dataset}.{variant}.outlines.csv",
    log:
        "<logs>/tossing_rest_poses/{identified_on}/{dataset}.{variant}.log",
    benchmark:
        "<benchmarks>/tossing_rest_poses/{identified_on}/{dataset}.{variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.variant],
        grid=TOSSING["grid"]["restitution_e_n"],
        draws=TOSSING["rest_poses"]["draws"],
        seed=TOSSING["rest_poses"]["seed"],
        n_tosses=TOSSING["figures"]["tosses"],
        code=code("tossing_rest_poses"),
    script:
        "../scripts/tossing_rest_poses.py"


rule tossing_simulator:
    """Identify another simulator on the same tosses with the same budget, and predict the test tosses with it."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        identified="<results>/data/{identified_on}/tosses.nc",
        calibration=calibration_for_case,
    output:
        fit="<results>/tossing/simulators/{identified_on}/{dataset}.{variant}.{simulator}.json",
        predictions="<results>/tossing/simulators/{identified_on}/{dataset}.{variant}.{simulator}.csv",
    log:
        "<logs>/tossing_simulator/{identified_on}/{dataset}.{variant}.{simulator}.log",
    benchmark:
        "<benchmarks>/tossing_simulator/{identified_on}/{dataset}.{variant}.{simulator}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.variant],
        budget={
            key: value
            for key, value in TOSSING["simulators"].items()
            if key != "names"
        },
        code=code("tossing_simulator"),
    script:
        "../scripts/tossing_simulator.py"
