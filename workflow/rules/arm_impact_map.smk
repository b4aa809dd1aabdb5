"""The impact map: Table II, postures, other contact laws, figure 1, and the checks of the study."""


rule arm_impact_table:
    """Table II: as printed, with our predictions, as corrected, and the recordings' (eqs. 3 to 5)."""
    input:
        published="workflow/resources/published/arm.csv",
        fits="<results>/arm/tables/ext_fit.csv",
    output:
        table="<results>/arm/tables/tab02_impact_map.csv",
        tex="<results>/arm/tables/tab02_impact_map.tex",
    log:
        "<logs>/arm_impact_table.log",
    benchmark:
        "<benchmarks>/arm_impact_table.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        robot=ARM["robot"],
        code=code("arm_impact_table"),
    script:
        "../scripts/arm_impact_table.py"


rule arm_postures:
    """Fit postures to the printed predictions, and hold the links against solid bodies."""
    input:
        published="workflow/resources/published/arm.csv",
    output:
        postures="<results>/arm/tables/ext_postures.csv",
        postures_tex="<results>/arm/tables/ext_postures.tex",
        links="<results>/arm/tables/ext_links.csv",
        links_tex="<results>/arm/tables/ext_links.tex",
    log:
        "<logs>/arm_postures.log",
    benchmark:
        "<benchmarks>/arm_postures.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        robot=ARM["robot"],
        code=code("arm_postures"),
    script:
        "../scripts/arm_postures.py"


rule arm_impact_laws:
    """The impacts of Table II with friction and restitution, as complementarity problems."""
    input:
        published="workflow/resources/published/arm.csv",
    output:
        table="<results>/arm/tables/ext_impact_laws.csv",
        tex="<results>/arm/tables/ext_impact_laws.tex",
    log:
        "<logs>/arm_impact_laws.log",
    benchmark:
        "<benchmarks>/arm_impact_laws.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        robot=ARM["robot"],
        laws=ARM["impact_laws"],
        code=code("arm_impact_laws"),
    script:
        "../scripts/arm_impact_laws.py"


rule arm_pose:
    """The data of figure 1: the arm before, at and after an impact."""
    output:
        artefacts=computed_by("arm_pose"),
    log:
        "<logs>/arm_pose.log",
    benchmark:
        "<benchmarks>/arm_pose.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("arm_pose"),
        robot=ARM["robot"],
    script:
        "../call.py"
