"""The planar study: simulate impacts of planar bodies, and hold the simulators against exact truths."""


include: "planar_inputs.smk"
include: "planar_identification_inputs.smk"
include: "planar_identification.smk"
include: "planar_real_inputs.smk"
include: "planar_real.smk"


wildcard_constraints:
    scene="|".join(PLANAR_SCENES),


rule planar_simulate:
    """Simulate a scene under every friction and restitution (eqs. 16 to 19) and balance its energy."""
    output:
        motions="<results>/planar/simulations/{scene}.nc",
    log:
        "<logs>/planar_simulate/{scene}.log",
    benchmark:
        "<benchmarks>/planar_simulate/{scene}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        block=lambda wildcards: scene_block(wildcards.scene),
        code=code("planar_simulate"),
    script:
        "../scripts/planar_simulate.py"


rule planar_peaks:
    """Find the first normal impulse at many time steps, by restitution and by gap complementarity."""
    output:
        peaks="<results>/planar/sweeps/{scene}.peaks.csv",
        impulses="<results>/planar/sweeps/{scene}.impulses.csv",
        errors="<results>/planar/sweeps/{scene}.convergence.csv",
    log:
        "<logs>/planar_peaks/{scene}.log",
    benchmark:
        "<benchmarks>/planar_peaks/{scene}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        block=lambda wildcards: scene_block(wildcards.scene),
        options=PLANAR["peaks"],
        code=code("planar_peaks"),
    script:
        "../scripts/planar_peaks.py"


rule planar_liftoff:
    """Bisect the friction above which the sliding body leaves the ground (section 4.3)."""
    output:
        table="<results>/planar/sweeps/liftoff.csv",
    log:
        "<logs>/planar_liftoff.log",
    benchmark:
        "<benchmarks>/planar_liftoff.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        block=scene_block("sliding"),
        options=PLANAR["liftoff"],
        code=code("planar_liftoff"),
    script:
        "../scripts/planar_liftoff.py"


rule planar_nlp_step:
    """Simulate the throw by the paper's nonlinear program (eq. 20) and by the exact step."""
    output:
        table="<results>/planar/sweeps/nlp_step.csv",
    log:
        "<logs>/planar_nlp_step.log",
    benchmark:
        "<benchmarks>/planar_nlp_step.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        block=scene_block("throw"),
        options=PLANAR["nlp_step"],
        code=code("planar_nlp_step"),
    script:
        "../scripts/planar_nlp_step.py"


rule planar_tables:
    """Tables about the simulators: energies, convergence, lift-off, the two forms of a step."""
    input:
        simulations=PLANAR_SIMULATIONS,
        sweeps=PLANAR_SWEEPS,
    output:
        tables=expand(
            "<results>/planar/tables/{table}.{extension}",
            table=PLANAR_TABLES,
            extension=["csv", "tex"],
        ),
    log:
        "<logs>/planar_tables.log",
    benchmark:
        "<benchmarks>/planar_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.tables[0]).parents[1]),
        block=PLANAR,
        code=code("planar_tables"),
    script:
        "../scripts/planar_tables.py"


rule planar_figure_data:
    """The data behind the figures and animations."""
    input:
        simulations=PLANAR_SIMULATIONS,
        sweeps=PLANAR_SWEEPS,
    output:
        figures=expand("<results>/planar/figures/{figure}.csv", figure=PLANAR_FIGURES),
        animations=expand("<results>/planar/animations/{figure}.csv", figure=ANIMATIONS),
    log:
        "<logs>/planar_figure_data.log",
    benchmark:
        "<benchmarks>/planar_figure_data.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        folder=lambda wildcards, output: str(Path(output.figures[0]).parents[1]),
        block=PLANAR,
        code=code("planar_figure_data"),
    script:
        "../scripts/planar_figure_data.py"


rule planar_draw:
    """Draw one figure from its data file."""
    input:
        data="<results>/planar/figures/{figure}.csv",
    output:
        pdf="<results>/planar/figures/{figure}.pdf",
        png="<results>/planar/figures/{figure}.png",
        svg="<results>/planar/figures/{figure}.svg",
    log:
        "<logs>/planar_draw/{figure}.log",
    benchmark:
        "<benchmarks>/planar_draw/{figure}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=2,
    params:
        code=code("planar_draw"),
    script:
        "../scripts/planar_draw.py"


rule planar_animate:
    """Animate one figure from its frames."""
    input:
        frames="<results>/planar/animations/{figure}.csv",
    output:
        gif="<results>/planar/animations/{figure}.gif",
    log:
        "<logs>/planar_animate/{figure}.log",
    benchmark:
        "<benchmarks>/planar_animate/{figure}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=2,
    params:
        code=code("planar_animate"),
    script:
        "../scripts/planar_animate.py"


rule planar_checks:
    """Hold every printed number of the study against the reproduced one."""
    input:
        published="workflow/resources/published/planar.csv",
        tables=expand(
            "<results>/planar/tables/{table}.csv",
            table=[*PLANAR_TABLES, *IDENTIFICATION_TABLES],
        ),
    output:
        checks="<results>/planar/checks.csv",
    log:
        "<logs>/planar_checks.log",
    benchmark:
        "<benchmarks>/planar_checks.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        block=PLANAR,
        code=code("planar_checks"),
    script:
        "../scripts/planar_checks.py"


rule planar_summary:
    """Say in a section of text what the study found."""
    input:
        tables=expand(
            "<results>/planar/tables/{table}.csv",
            table=[*PLANAR_TABLES, *IDENTIFICATION_TABLES],
        ),
    output:
        summary="<results>/planar/summary.md",
    log:
        "<logs>/planar_summary.log",
    benchmark:
        "<benchmarks>/planar_summary.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code("planar_summary"),
    script:
        "../scripts/planar_summary.py"
