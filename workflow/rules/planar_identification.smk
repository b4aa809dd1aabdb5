"""Identification from noisy throws (sections 5 and 6.1): cells of table 1 side by side, figures 17 to 21."""


wildcard_constraints:
    noise="|".join(IDENTIFIED_NOISE),
    friction=r"[0-9.e+-]+",
    shard=r"[0-9]+",
    part=r"[0-9]+",
    reformulation="|".join(REFORMULATIONS),


rule planar_identify:
    """Identify J/m, friction, states and impulses from some noise samples of a throw, at every frame rate (eq. 27)."""
    output:
        table="<results>/planar/identification/{noise}.mu{friction}.{shard}.csv",
    log:
        "<logs>/planar_identify/{noise}.mu{friction}.{shard}.log",
    benchmark:
        "<benchmarks>/planar_identify/{noise}.mu{friction}.{shard}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        block=identification_block("frames_per_second"),
        noise=lambda wildcards: noise_reading(wildcards.noise),
        seeds=lambda wildcards: seeds_of(wildcards.shard),
        code=code("planar_identify"),
    script:
        "../scripts/planar_identify.py"


rule planar_identify_shown:
    """Identify the throws of figures 17 and 18, and keep their states and impulses."""
    output:
        fits="<results>/planar/identification/shown.nc",
    log:
        "<logs>/planar_identify_shown.log",
    benchmark:
        "<benchmarks>/planar_identify_shown.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        block=identification_block("shown"),
        noise=noise_reading(IDENTIFIED_NOISE[0]),
        code=code("planar_identify_shown"),
    script:
        "../scripts/planar_identify_shown.py"


rule planar_reformulation:
    """Identify the same throws by one reformulation of complementarity."""
    output:
        table="<results>/planar/identification/reformulation.{reformulation}.csv",
    log:
        "<logs>/planar_reformulation/{reformulation}.log",
    benchmark:
        "<benchmarks>/planar_reformulation/{reformulation}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        block=identification_block("reformulations"),
        noise=noise_reading(IDENTIFIED_NOISE[0]),
        code=code("planar_reformulation"),
    script:
        "../scripts/planar_reformulation.py"


rule planar_identification_tables:
    """Table 1, by frame rate and by reformulation, and every solve that failed."""
    input:
        published="workflow/resources/published/planar.csv",
        cells=IDENTIFICATION_CELLS,
        reformulations=COMPARED_REFORMULATIONS,
    output:
        tables=expand(
            "<results>/planar/tables/{table}.{extension}",
            table=IDENTIFICATION_TABLES,
            extension=["csv", "tex"],
        ),
    log:
        "<logs>/planar_identification_tables.log",
    benchmark:
        "<benchmarks>/planar_identification_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.tables[0]).parents[1]),
        block=identification_block(),
        code=code("planar_identification_tables"),
    script:
        "../scripts/planar_identification_tables.py"


rule planar_identification_figure_data:
    """The data behind figures 17 to 21 and those of the tables."""
    input:
        fits="<results>/planar/identification/shown.nc",
        tables=expand(
            "<results>/planar/tables/{table}.csv", table=IDENTIFICATION_TABLES
        ),
    output:
        figures=expand(
            "<results>/planar/figures/{figure}.csv", figure=IDENTIFICATION_FIGURES
        ),
    log:
        "<logs>/planar_identification_figure_data.log",
    benchmark:
        "<benchmarks>/planar_identification_figure_data.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.figures[0]).parents[1]),
        code=code("planar_identification_figure_data"),
    script:
        "../scripts/planar_identification_figure_data.py"


rule planar_playback:
    """Thin the shown throws for the report to play."""
    input:
        fits=["<results>/planar/identification/shown.nc"]
        + (
            ["<results>/planar/identification/squares.nc"]
            if PLANAR["real"]["squares"]
            else []
        ),
    output:
        playback="<results>/planar/playback.json",
    log:
        "<logs>/planar_playback.log",
    benchmark:
        "<benchmarks>/planar_playback.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code("planar_playback"),
    script:
        "../scripts/planar_playback.py"
