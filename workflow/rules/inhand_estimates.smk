"""Inertial estimation from every recording, by the paper's factor graph and with hard constraints; its speed."""


rule inhand_estimate:
    """Estimate a source's recordings of one seed by every method and solver."""
    input:
        recordings=lambda wildcards: estimated_recordings(wildcards, ""),
        truths=lambda wildcards: estimated_recordings(wildcards, "truth_"),
    output:
        table="<results>/inhand/fits/{inhand_source}_{inhand_seed}.csv",
    log:
        "<logs>/inhand_estimate/{inhand_source}_{inhand_seed}.log",
    benchmark:
        "<benchmarks>/inhand_estimate/{inhand_source}_{inhand_seed}.tsv"
    wildcard_constraints:
        inhand_source="|".join(inhand_names.SOURCES),
        inhand_seed=r"\d+",
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        methods=INHAND["estimates"]["methods"],
        study={name: INHAND[name] for name in ("baseline", "graph", "ipopt")},
        code=code("inhand_estimate"),
    script:
        "../scripts/inhand_estimate.py"


rule inhand_estimates:
    """Gather the estimates of all recordings."""
    input:
        shards=expand(
            "<results>/inhand/fits/{source}_{seed}.csv",
            source=inhand_names.SOURCES,
            seed=INHAND["estimates"]["seeds"],
        ),
    output:
        table="<results>/inhand/tables/ext_estimates.csv",
        tex="<results>/inhand/tables/ext_estimates.tex",
    log:
        "<logs>/inhand_estimates.log",
    benchmark:
        "<benchmarks>/inhand_estimates.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code("inhand_estimates"),
    script:
        "../scripts/inhand_estimates.py"


rule inhand_speed:
    """Time both solvers on recordings of several lengths."""
    output:
        table="<results>/inhand/tables/ext_speed.csv",
        tex="<results>/inhand/tables/ext_speed.tex",
        figure="<results>/inhand/figures/ext_speed.csv",
    log:
        "<logs>/inhand_speed.log",
    benchmark:
        "<benchmarks>/inhand_speed.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.table).parents[1]),
        study={
            name: INHAND[name]
            for name in ("twin", "baseline", "graph", "ipopt", "speed")
        },
        code=code("inhand_speed"),
    script:
        "../scripts/inhand_speed.py"


rule inhand_differences:
    """Estimate noise-free recordings with every scheme of finite differences."""
    output:
        table="<results>/inhand/tables/ext_differences.csv",
        tex="<results>/inhand/tables/ext_differences.tex",
    log:
        "<logs>/inhand_differences.log",
    benchmark:
        "<benchmarks>/inhand_differences.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        study={
            name: INHAND[name] for name in ("twin", "baseline", "graph", "differences")
        },
        code=code("inhand_differences"),
    script:
        "../scripts/inhand_differences.py"


rule inhand_factor_graph:
    """Enumerate the factors that figure 3 shows."""
    output:
        figure="<results>/inhand/figures/fig03_factor_graph.csv",
    log:
        "<logs>/inhand_factor_graph.log",
    benchmark:
        "<benchmarks>/inhand_factor_graph.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        weights=INHAND["graph"]["weights"],
        code=code("inhand_factor_graph"),
    script:
        "../scripts/inhand_factor_graph.py"
