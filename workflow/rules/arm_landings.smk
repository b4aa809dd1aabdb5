"""The arm study's rules for real impacts of another robot."""


rule arm_landings:
    """Hold measured velocities after a biped's landings against rigid laws."""
    input:
        data=f"<results>/data/{ARM['landings']}/landings.nc",
        urdf=packaged("workflow/contactid/arm/robots/cassie.urdf"),
    output:
        table="<results>/arm/sweeps/landings.csv",
    log:
        "<logs>/arm_landings.log",
    benchmark:
        "<benchmarks>/arm_landings.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.arm.identify.landings:write_landings"),
    script:
        "../call.py"


rule arm_landing_tables:
    """Tables and the figure's data of the landings."""
    input:
        landings=rules.arm_landings.output.table,
    output:
        artefacts=computed_by("arm_landing_tables"),
    log:
        "<logs>/arm_landing_tables.log",
    benchmark:
        "<benchmarks>/arm_landing_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("arm_landing_tables"),
    script:
        "../call.py"
