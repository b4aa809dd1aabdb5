"""The arm's modal fit: post-impact velocities from recorded oscillations, their accuracy on the twin, figure 6."""


wildcard_constraints:
    experiment=r"set\d+_v\d+_a\d+",


rule arm_fit:
    """Find every impact, and reconstruct the velocity after it by every method."""
    input:
        data=f"<results>/data/{ARM['data']}/arm.nc",
    output:
        fits="<results>/arm/tables/ext_fit.csv",
        tables=[
            "<results>/arm/tables/ext_fit.tex",
            "<results>/arm/tables/ext_fit_methods.csv",
            "<results>/arm/tables/ext_fit_summary.csv",
            "<results>/arm/tables/ext_fit_summary.tex",
            "<results>/arm/tables/ext_modes.csv",
            "<results>/arm/tables/ext_modes.tex",
        ],
        figure="<results>/arm/figures/fig06_cartesian_fit.csv",
    log:
        "<logs>/arm_fit.log",
    benchmark:
        "<benchmarks>/arm_fit.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        folder=lambda wildcards, output: str(Path(output.fits).parents[1]),
        block=ARM["fit"],
        robot=ARM["robot"],
        code=code("arm_fit"),
    script:
        "../scripts/arm_fit.py"


rule arm_fit_samples:
    """Reconstruct one twin experiment with many samples of sensor noise."""
    input:
        truth="<results>/data/arm_twin/truth.nc",
    output:
        table="<results>/arm/fits/samples_{experiment}.csv",
    log:
        "<logs>/arm_fit_samples/{experiment}.log",
    benchmark:
        "<benchmarks>/arm_fit_samples/{experiment}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        block=ARM["fit"],
        robot=ARM["robot"],
        code=code("arm_fit_samples"),
    script:
        "../scripts/arm_fit_samples.py"


rule arm_fit_optimum:
    """Hold the search for the poles against random starts and IPOPT, on one twin experiment."""
    input:
        truth="<results>/data/arm_twin/truth.nc",
    output:
        searches="<results>/arm/fits/searches_{experiment}.csv",
        confirmation="<results>/arm/fits/confirmation_{experiment}.csv",
    log:
        "<logs>/arm_fit_optimum/{experiment}.log",
    benchmark:
        "<benchmarks>/arm_fit_optimum/{experiment}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        block=ARM["fit"],
        robot=ARM["robot"],
        code=code("arm_fit_optimum"),
    script:
        "../scripts/arm_fit_optimum.py"


rule arm_fit_accuracy:
    """Gather the noise samples: bias, spread, coverage, share of global optima."""
    input:
        truth="<results>/data/arm_twin/truth.nc",
        samples=expand(
            "<results>/arm/fits/samples_{experiment}.csv",
            experiment=ARM["fit"]["accuracy"]["experiments"],
        ),
        searches=expand(
            "<results>/arm/fits/searches_{experiment}.csv",
            experiment=ARM["fit"]["accuracy"]["experiments"],
        ),
        confirmations=expand(
            "<results>/arm/fits/confirmation_{experiment}.csv",
            experiment=ARM["fit"]["accuracy"]["experiments"],
        ),
    output:
        accuracy="<results>/arm/tables/ext_fit_accuracy.csv",
        tables=[
            "<results>/arm/tables/ext_fit_accuracy.tex",
            "<results>/arm/tables/ext_optimum.csv",
            "<results>/arm/tables/ext_optimum.tex",
            "<results>/arm/tables/ext_fit_confirmation.csv",
        ],
        figure="<results>/arm/figures/ext_fit_accuracy.csv",
    log:
        "<logs>/arm_fit_accuracy.log",
    benchmark:
        "<benchmarks>/arm_fit_accuracy.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.accuracy).parents[1]),
        robot=ARM["robot"],
        code=code("arm_fit_accuracy"),
    script:
        "../scripts/arm_fit_accuracy.py"
