"""The in-hand study: inertia and friction of a grasped object, from forces at fingertips."""


include: "inhand_inputs.smk"
include: "inhand_data.smk"
include: "inhand_estimates.smk"
include: "inhand_friction.smk"
include: "inhand_force_sensing.smk"
include: "inhand_excitation.smk"


wildcard_constraints:
    inhand_figure="|".join(inhand_names.FIGURES),


rule inhand_printed:
    """Judge every printed estimate under every reading of the appendix."""
    input:
        published="workflow/resources/published/inhand.csv",
        objects="workflow/resources/inhand/objects.yaml",
    output:
        rows="<results>/inhand/tables/ext_printed_consistency.csv",
        tables=[
            "<results>/inhand/tables/ext_printed_consistency.tex",
            "<results>/inhand/tables/ext_printed_verdicts.csv",
            "<results>/inhand/tables/ext_printed_verdicts.tex",
        ],
    log:
        "<logs>/inhand_printed.log",
    benchmark:
        "<benchmarks>/inhand_printed.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.rows).parent),
        code=code("inhand_printed"),
    script:
        "../scripts/inhand_printed.py"


rule inhand_appendix:
    """Set the appendix tables: printed numbers, their verdict, and the twins' estimates."""
    input:
        published="workflow/resources/published/inhand.csv",
        verdicts="<results>/inhand/tables/ext_printed_consistency.csv",
        estimates="<results>/inhand/tables/ext_estimates.csv",
    output:
        tables=expand(
            "<results>/inhand/tables/{table}.{extension}",
            table=inhand_names.APPENDIX_TABLES.values(),
            extension=["csv", "tex"],
        ),
        figures=expand(
            "<results>/inhand/figures/{figure}.csv",
            figure=inhand_names.ERROR_FIGURES.values(),
        ),
    log:
        "<logs>/inhand_appendix.log",
    benchmark:
        "<benchmarks>/inhand_appendix.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.tables[0]).parents[1]),
        code=code("inhand_appendix"),
    script:
        "../scripts/inhand_appendix.py"


rule inhand_draw:
    """Draw a figure of the study from its data file."""
    input:
        data="<results>/inhand/figures/{inhand_figure}.csv",
    output:
        pdf="<results>/inhand/figures/{inhand_figure}.pdf",
        png="<results>/inhand/figures/{inhand_figure}.png",
        svg="<results>/inhand/figures/{inhand_figure}.svg",
    log:
        "<logs>/inhand_draw/{inhand_figure}.log",
    benchmark:
        "<benchmarks>/inhand_draw/{inhand_figure}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=2,
    params:
        code=code("inhand_draw"),
    script:
        "../scripts/inhand_draw.py"


rule inhand_checks:
    """Hold every printed number of the study against the reproduced one."""
    input:
        published="workflow/resources/published/inhand.csv",
        objects="workflow/resources/inhand/objects.yaml",
        tables=expand("<results>/inhand/tables/{table}.csv", table=inhand_names.JUDGED),
    output:
        checks="<results>/inhand/checks.csv",
    log:
        "<logs>/inhand_checks.log",
    benchmark:
        "<benchmarks>/inhand_checks.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code("inhand_checks"),
    script:
        "../scripts/inhand_checks.py"


rule inhand_summary:
    """Say in a section of text what the study found."""
    input:
        tables=expand(
            "<results>/inhand/tables/{table}.csv", table=inhand_names.SUMMARISED
        ),
    output:
        summary="<results>/inhand/summary.md",
    log:
        "<logs>/inhand_summary.log",
    benchmark:
        "<benchmarks>/inhand_summary.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code("inhand_summary"),
    script:
        "../scripts/inhand_summary.py"
