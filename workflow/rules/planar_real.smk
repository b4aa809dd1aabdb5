"""Identification from measured throws and impacts (section 6.2): public data in place of the paper's videos."""


rule read_planar:
    """Read planar throws or impacts into their canonical form."""
    input:
        raw=raw_data,
    output:
        data="<results>/data/{dataset}/planar.nc",
    log:
        "<logs>/read_planar/{dataset}.log",
    benchmark:
        "<benchmarks>/read_planar/{dataset}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        entry=lambda wildcards: vars(DATASETS[wildcards.dataset]),
        code=code("read_planar"),
    script:
        "../scripts/read_planar.py"


rule planar_ellipse:
    """Identify an impact law from half of the measured impacts, and predict the other half beside published models."""
    input:
        data=f"<results>/data/{PLANAR_REAL['ellipse']}/planar.nc",
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
        mem_mb=1000,
        runtime=30,
    params:
        folder=lambda wildcards, output: str(Path(output.tables[0]).parents[1]),
        seeds=PLANAR_REAL["splits"],
        code=code("planar_ellipse"),
    script:
        "../scripts/planar_ellipse.py"
