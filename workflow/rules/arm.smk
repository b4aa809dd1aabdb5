"""The arm study: predict a robot arm's velocity after an impact, and find it in recordings that vibrate."""


include: "arm_inputs.smk"
include: "arm_data.smk"
include: "arm_models.smk"
include: "arm_impact_map.smk"
include: "arm_fit.smk"


wildcard_constraints:
    arm_figure="|".join(arm_names.FIGURES),


rule arm_draw:
    """Draw a figure of the study from its data file."""
    input:
        data="<results>/arm/figures/{arm_figure}.csv",
    output:
        pdf="<results>/arm/figures/{arm_figure}.pdf",
        png="<results>/arm/figures/{arm_figure}.png",
        svg="<results>/arm/figures/{arm_figure}.svg",
    log:
        "<logs>/arm_draw/{arm_figure}.log",
    benchmark:
        "<benchmarks>/arm_draw/{arm_figure}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=2,
    params:
        zoom=ARM["models"]["zoom"],
        code=code("arm_draw"),
    script:
        "../scripts/arm_draw.py"


rule arm_checks:
    """Hold every printed number of the study against the reproduced one."""
    input:
        published="workflow/resources/published/arm.csv",
        links=ARM_LINKS,
        tables=expand("<results>/arm/tables/{table}.csv", table=arm_names.JUDGED),
    output:
        checks="<results>/arm/checks.csv",
    log:
        "<logs>/arm_checks.log",
    benchmark:
        "<benchmarks>/arm_checks.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        synthetic=ARM_SYNTHETIC,
        window=ARM["fit"]["window"],
        code=code("arm_checks"),
    script:
        "../scripts/arm_checks.py"


rule arm_summary:
    """Say in a section of text what the study found."""
    input:
        tables=expand("<results>/arm/tables/{table}.csv", table=arm_names.SUMMARISED),
    output:
        summary="<results>/arm/summary.md",
    log:
        "<logs>/arm_summary.log",
    benchmark:
        "<benchmarks>/arm_summary.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        synthetic=ARM_SYNTHETIC,
        code=code("arm_summary"),
    script:
        "../scripts/arm_summary.py"
