"""Identification from measured throws and impacts (section 6.2): public data in place of the paper's videos."""


rule planar_ellipse:
    """Identify an impact law from half of the measured impacts, and predict the other half beside published models."""
    input:
        data=REAL_IMPACTS,
    output:
        tables=expand(
            "<results>/planar/tables/{table}.{extension}",
            table=REAL_ELLIPSE_TABLES,
            extension=["csv", "tex"],
        ),
        figures=expand(
            "<results>/planar/figures/{figure}.csv", figure=REAL_ELLIPSE_FIGURES
        ),
    log:
        "<logs>/planar_ellipse.log",
    benchmark:
        "<benchmarks>/planar_ellipse.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=30,
    params:
        folder=lambda wildcards, output: str(Path(output.tables[0]).parents[1]),
        seeds=PLANAR_REAL["splits"],
        code=code("planar_ellipse"),
    script:
        "../scripts/planar_ellipse.py"


rule planar_square_part:
    """Identify a share of the measured throws of a square, one by one."""
    input:
        data=REAL_THROWS,
    output:
        table="<results>/planar/identification/squares.{part}.csv",
    log:
        "<logs>/planar_square_part/{part}.log",
    benchmark:
        "<benchmarks>/planar_square_part/{part}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        part=lambda wildcards: int(wildcards.part),
        parts=PLANAR_REAL["parts"],
        code=code("planar_square_part"),
    script:
        "../scripts/planar_square_part.py"


rule planar_squares:
    """Identify the square from several throws together, and keep the states of some."""
    input:
        data=REAL_THROWS,
        parts=expand(
            "<results>/planar/identification/squares.{part}.csv",
            part=range(PLANAR_REAL["parts"]),
        ),
    output:
        tables=expand(
            "<results>/planar/tables/{table}.{extension}",
            table=SQUARE_TABLES,
            extension=["csv", "tex"],
        ),
        fits="<results>/planar/identification/squares.nc",
    log:
        "<logs>/planar_squares.log",
    benchmark:
        "<benchmarks>/planar_squares.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.tables[0]).parent),
        code=code("planar_squares"),
    script:
        "../scripts/planar_squares.py"


rule planar_square_reasons:
    """Experiments on why J/m of the real square isn't the uniform one's, with the synthetic twin as control."""
    input:
        data=REAL_THROWS,
        twin="<results>/data/planar_square_twin/planar.nc",
        squares="<results>/planar/tables/ext_real_squares.csv",
    output:
        tables=expand(
            "<results>/planar/tables/{table}.{extension}",
            table=SQUARE_REASONS,
            extension=["csv", "tex", "md"],
        ),
    log:
        "<logs>/planar_square_reasons.log",
    benchmark:
        "<benchmarks>/planar_square_reasons.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=20,
    params:
        folder=lambda wildcards, output: str(Path(output.tables[0]).parent),
        code=code("planar_square_reasons"),
    script:
        "../scripts/planar_square_reasons.py"


rule planar_square_figure_data:
    """The data behind figures 22 and 23 and of the throws' J/m."""
    input:
        fits="<results>/planar/identification/squares.nc",
        squares="<results>/planar/tables/ext_real_squares.csv",
    output:
        figures=expand("<results>/planar/figures/{figure}.csv", figure=SQUARE_FIGURES),
    log:
        "<logs>/planar_square_figure_data.log",
    benchmark:
        "<benchmarks>/planar_square_figure_data.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.figures[0]).parent),
        code=code("planar_square_figure_data"),
    script:
        "../scripts/planar_square_figure_data.py"
