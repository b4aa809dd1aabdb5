"""The planar study's rules for measured throws and impacts."""


rule planar_squares:
    """Identify a measured square from the impacts that change its spin most, each by itself (eq. 27)."""
    input:
        data=REAL_THROWS,
    output:
        table="<results>/planar/sweeps/squares.csv",
        fits="<results>/planar/identification/squares.nc",
    log:
        "<logs>/planar_squares.log",
    benchmark:
        "<benchmarks>/planar_squares.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        **call("contactid.planar.squares.identification:write_squares"),
    script:
        "../call.py"


rule planar_bodies:
    """J/m of the real square and ellipse by several routes: subsets, and rivals on uniform plates."""
    input:
        data=REAL_THROWS,
        twin=f"<results>/data/{planar_artefacts.CONTROL}/planar.nc",
        simulated=SIMULATED_THROWS,
        ellipse=REAL_IMPACTS,
        squares="<results>/planar/sweeps/squares.csv",
    output:
        table="<results>/planar/sweeps/bodies.csv",
    log:
        "<logs>/planar_bodies.log",
    benchmark:
        "<benchmarks>/planar_bodies.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.planar.squares.bodies:write_bodies"),
    script:
        "../call.py"


rule planar_ellipse:
    """Identify an impact law from half of the measured impacts, and predict the other half beside published models."""
    input:
        data=REAL_IMPACTS,
    output:
        tables=expand(
            "<results>/planar/sweeps/{table}.csv",
            table=["ellipse", "ellipse_impacts", "ellipse_reasons"],
        ),
    log:
        "<logs>/planar_ellipse.log",
    benchmark:
        "<benchmarks>/planar_ellipse.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.planar.identify.impact_tables:write_ellipse"),
        seeds=PLANAR_REAL["splits"],
    script:
        "../call.py"
