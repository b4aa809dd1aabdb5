"""Recorded impacts of the arm, or their synthetic twin, in one canonical form; figure 2."""


rule arm_twin:
    """Simulate an arm with elastic joints that hits a table, as files laid out like the recorded ones."""
    output:
        raw=directory("<results>/data/arm_twin/raw"),
        truth="<results>/data/arm_twin/truth.nc",
    log:
        "<logs>/arm_twin.log",
    benchmark:
        "<benchmarks>/arm_twin.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        block=ARM["twin"],
        robot=ARM["robot"],
        code=code("arm_twin"),
    script:
        "../scripts/arm_twin.py"


rule arm_velocities:
    """The data behind figure 2: joint velocities by finite differences around the impact."""
    input:
        data=f"<results>/data/{ARM['data']}/arm.nc",
        fits="<results>/arm/tables/ext_fit.csv",
    output:
        figure="<results>/arm/figures/fig02_joint_velocities.csv",
    log:
        "<logs>/arm_velocities.log",
    benchmark:
        "<benchmarks>/arm_velocities.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code("arm_velocities"),
    script:
        "../scripts/arm_velocities.py"
