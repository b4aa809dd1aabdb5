"""The tossing study's tables and figures, from the files of all its other rules."""


rule tossing_tables:
    """Tables I to IV beside the printed values, and the tables that go beyond the paper."""
    input:
        prepared=expand("<results>/data/{dataset}/tosses.nc", dataset=TOSSING_PREPARED),
        toss_tables=expand(
            "<results>/data/{dataset}/tosses.csv", dataset=TOSSING_DATASETS
        ),
        fits=fit_files(),
        predictions=prediction_files(TOSSING_SCHEMES),
        calibrations=[
            file
            for dataset in TOSSING_IDENTIFIED
            for file in {
                calibration_of(dataset, True)
                for variant in TOSSING_VARIANTS.values()
                if variant["calibrated"]
            }
        ],
        impacts=impact_files(),
        outlook=outlook_files(),
        published="workflow/resources/published/tossing.csv",
    output:
        tables=expand(
            "<results>/tossing/tables/{table}.{extension}",
            table=TOSSING_TABLES,
            extension=["csv", "tex"],
        ),
        tosses="<results>/tossing/tosses.csv",
        impacts=IMPACTS_TABLE,
    log:
        "<logs>/tossing_tables.log",
    benchmark:
        "<benchmarks>/tossing_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.tosses).parent),
        data_folder=lambda wildcards, input: str(Path(input.prepared[0]).parents[1]),
        block=TOSSING,
        simulated=SIMULATED_CASES,
        code=code("tossing_tables"),
    script:
        "../scripts/tossing_tables.py"


rule tossing_figure_data:
    """The data behind the figures."""
    input:
        prepared=expand("<results>/data/{dataset}/tosses.nc", dataset=TOSSING_PREPARED),
        motions=expand("<results>/data/{dataset}/motion.nc", dataset=TOSSING_IDENTIFIED),
        sweeps=expand(
            "<results>/tossing/sweeps/{dataset}.{variant}.nc",
            dataset=TOSSING_IDENTIFIED,
            variant=[FIRST_VARIANT],
        ),
        predictions=prediction_files([FIRST_VARIANT, FIRST_VELOCITY]),
        fits=fit_files(),
        impacts=impact_files(),
        outlook=outlook_files(),
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
        mem_mb=1250,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.sources).parents[1]),
        data_folder=lambda wildcards, input: str(Path(input.prepared[0]).parents[1]),
        block=TOSSING,
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
        mem_mb=1250,
        runtime=2,
    params:
        code=code("tossing_draw"),
    script:
        "../scripts/tossing_draw.py"


rule tossing_playback:
    """Thin some measured tosses and their predictions for the report to play."""
    input:
        prepared=[f"<results>/data/{dataset}/tosses.nc" for _, dataset in TOSSING_CASES],
        fits=[
            f"<results>/tossing/fits/{on}.{FIRST_VARIANT}.json"
            for on, _ in TOSSING_CASES
        ],
        calibrations=[
            calibration_of(on, True)
            for on, _ in TOSSING_CASES
            if TOSSING_VARIANTS[FIRST_VARIANT]["calibrated"]
        ],
        predictions=prediction_files([FIRST_VARIANT]),
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
        **call("contactid.tossing.playback:write_playback"),
        cases=TOSSING_CASES,
        variant=TOSSING_VARIANTS[FIRST_VARIANT],
    script:
        "../call.py"


rule tossing_checks:
    """Hold every printed number of the study against the reproduced one."""
    input:
        published="workflow/resources/published/tossing.csv",
        tables=expand("<results>/tossing/tables/{table}.csv", table=TOSSING_TABLES)
        + IMPACTS_TABLE,
    output:
        checks="<results>/tossing/checks.csv",
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
        **call("contactid.tossing.checks:check"),
        names=[*TOSSING_TABLES, *(["impacts"] if IMPACTS_TABLE else [])],
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


rule tossing_summary:
    """Say in a section of text what the study found."""
    input:
        tables=["<results>/tossing/tosses.csv"]
        + expand("<results>/tossing/tables/{table}.csv", table=SUMMARISED),
    output:
        summary="<results>/tossing/summary.md",
    log:
        "<logs>/tossing_summary.log",
    benchmark:
        "<benchmarks>/tossing_summary.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **call("contactid.tossing.summary:summarise"),
        names=["tosses", *SUMMARISED],
    script:
        "../call.py"
