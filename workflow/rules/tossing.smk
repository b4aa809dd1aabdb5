"""The tossing study: prepare tosses, identify friction and restitution on them, predict rest poses."""


include: "tossing_inputs.smk"


wildcard_constraints:
    variant="|".join(TOSSING_VARIANTS),


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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        share=identification_share,
        seed=TOSSING["split"]["seed"],
        exclude_tumbling=TOSSING["exclude_tumbling"],
        events=TOSSING["events"],
        code=code("tossing_preprocess"),
    script:
        "../scripts/tossing_preprocess.py"


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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("tossing_calibrate"),
    script:
        "../scripts/tossing_calibrate.py"


rule tossing_sweep:
    """Simulate every toss at every point of the parameter grid (eqs. 16 and 18)."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        calibration=lambda wildcards: calibration_of(
            wildcards.dataset, wildcards.variant
        ),
    output:
        sweep="<results>/tossing/sweeps/{dataset}.{variant}.nc",
    log:
        "<logs>/tossing_sweep/{dataset}.{variant}.log",
    benchmark:
        "<benchmarks>/tossing_sweep/{dataset}.{variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.variant],
        grid=TOSSING["grid"],
        code=code("tossing_sweep"),
    script:
        "../scripts/tossing_sweep.py"


rule tossing_identify:
    """Find the friction and restitution of least mean loss, with bootstrap intervals."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        sweep="<results>/tossing/sweeps/{dataset}.{variant}.nc",
        calibration=lambda wildcards: calibration_of(
            wildcards.dataset, wildcards.variant
        ),
    output:
        fit="<results>/tossing/fits/{dataset}.{variant}.json",
    log:
        "<logs>/tossing_identify/{dataset}.{variant}.log",
    benchmark:
        "<benchmarks>/tossing_identify/{dataset}.{variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.variant],
        bootstrap=TOSSING["bootstrap"],
        code=code("tossing_identify"),
    script:
        "../scripts/tossing_identify.py"


rule tossing_predict:
    """Predict the test tosses with the identified parameters and measure the errors (eqs. 18 to 21)."""
    input:
        prepared="<results>/data/{dataset}/tosses.nc",
        fit="<results>/tossing/fits/{identified_on}.{variant}.json",
        calibration=lambda wildcards: calibration_of(
            wildcards.identified_on, wildcards.variant
        ),
    output:
        predictions="<results>/tossing/predictions/{identified_on}/{dataset}.{variant}.csv",
    log:
        "<logs>/tossing_predict/{identified_on}/{dataset}.{variant}.log",
    benchmark:
        "<benchmarks>/tossing_predict/{identified_on}/{dataset}.{variant}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        variant=lambda wildcards: TOSSING_VARIANTS[wildcards.variant],
        code=code("tossing_predict"),
    script:
        "../scripts/tossing_predict.py"


rule tossing_tables:
    """Tables I to III beside the printed values, and the tables that go beyond the paper."""
    input:
        prepared=expand("<results>/data/{dataset}/tosses.nc", dataset=TOSSING_DATASETS),
        toss_tables=expand(
            "<results>/data/{dataset}/tosses.csv", dataset=TOSSING_DATASETS
        ),
        fits=expand(
            "<results>/tossing/fits/{dataset}.{variant}.json",
            dataset=TOSSING_IDENTIFIED,
            variant=TOSSING_VARIANTS,
        ),
        predictions=prediction_files(TOSSING_VARIANTS),
        calibrations=[
            file
            for dataset in TOSSING_IDENTIFIED
            for file in {
                calibration_of(dataset, variant)
                for variant in TOSSING_VARIANTS
                if TOSSING_VARIANTS[variant]["calibrated"]
            }
        ],
        published="workflow/resources/published/tossing.csv",
    output:
        tables=expand(
            "<results>/tossing/tables/{table}.{extension}",
            table=TOSSING_TABLES,
            extension=["csv", "tex"],
        ),
        tosses="<results>/tossing/tosses.csv",
    log:
        "<logs>/tossing_tables.log",
    benchmark:
        "<benchmarks>/tossing_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.tosses).parent),
        data_folder=lambda wildcards, input: str(Path(input.prepared[0]).parents[1]),
        cases=TOSSING_CASES,
        variants=TOSSING["variants"],
        code=code("tossing_tables"),
    script:
        "../scripts/tossing_tables.py"


rule tossing_figure_data:
    """The data behind figures 10 to 13."""
    input:
        prepared=expand("<results>/data/{dataset}/tosses.nc", dataset=TOSSING_DATASETS),
        sweeps=expand(
            "<results>/tossing/sweeps/{dataset}.{variant}.nc",
            dataset=TOSSING_IDENTIFIED,
            variant=[FIRST_VARIANT],
        ),
        predictions=prediction_files([FIRST_VARIANT]),
    output:
        figures=expand("<results>/tossing/figures/{figure}.csv", figure=TOSSING_FIGURES),
        sources="<results>/tossing/figures/sources.json",
    log:
        "<logs>/tossing_figure_data.log",
    benchmark:
        "<benchmarks>/tossing_figure_data.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.sources).parents[1]),
        data_folder=lambda wildcards, input: str(Path(input.prepared[0]).parents[1]),
        cases=TOSSING_CASES,
        variant=FIRST_VARIANT,
        figures=TOSSING["figures"],
        code=code("tossing_figure_data"),
    script:
        "../scripts/tossing_figure_data.py"


rule tossing_draw:
    """Draw one figure from its data file."""
    input:
        data="<results>/tossing/figures/{figure}.csv",
        sources="<results>/tossing/figures/sources.json",
    output:
        pdf="<results>/tossing/figures/{figure}.pdf",
        png="<results>/tossing/figures/{figure}.png",
        svg="<results>/tossing/figures/{figure}.svg",
    log:
        "<logs>/tossing_draw/{figure}.log",
    benchmark:
        "<benchmarks>/tossing_draw/{figure}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code("tossing_draw"),
    script:
        "../scripts/tossing_draw.py"
