"""The arm study: predict a robot arm's velocity after an impact, and find it in recordings that vibrate."""

from contactid.arm import artefacts as arm_artefacts

ARM = config["arm"]

with told_plainly():
    check_reader(DATASETS, ARM["data"], "arm_mat", "arm.data")
    if ARM["landings"]:
        check_reader(DATASETS, ARM["landings"], "cassie", "arm.landings")

ARTEFACTS["arm"] = arm_artefacts.declare(ARM)
ARM_PUBLISHED = packaged("workflow/resources/published/arm.csv")
ARM_LINKS, ARM_CORRECTIONS, ARM_PUBLISHED_LINKS = (
    packaged(f"workflow/contactid/arm/robots/{ARM['robot']['name']}{part}.csv")
    for part in ("", "_corrections", "_published")
)
ARM_SYNTHETIC = DATASETS[ARM["data"]].synthetic
ARM_ACCURACY = ARM["fit"]["accuracy"]
# motors are known where the recordings are the study's own twin; in other recordings only if they are given
ARM_FIT = dict(ARM["fit"])
if ARM_FIT["motor_inertia"] is None and ARM["data"] == "arm_twin":
    ARM_FIT["motor_inertia"] = ARM["twin"]["drives"]["motor_inertia"]
# those that a run is judged and summed up by
ARM_JUDGED = [
    "tables/tab01_parameters",
    "tables/tab02_impact_map",
    "tables/ext_left_out",
    "tables/ext_headline",
    "tables/ext_fit",
    "tables/ext_fit_summary",
    "tables/ext_events",
    "tables/ext_damping_sweep",
    "figures/fig02_joint_velocities",
    "figures/fig04_two_mass",
    "figures/fig05_decomposition",
]

ARM_DATASETS = list(filter(None, [ARM["data"], ARM["landings"]]))
if ARM["landings"]:
    ARM_JUDGED.append("tables/ext_landings_errors")
STUDY_DATASETS += ARM_DATASETS
STUDY_CHECKS += ["<results>/arm/checks.csv"]
STUDY_SUMMARIES += ["<results>/arm/summary.md"]

# noise samples of many twins, by every method
STORED["arm_accuracy"] = {
    "function": "contactid.arm.identify.accuracy:fit_samples",
    "settings": {
        "robot": ARM["robot"],
        "twin": ARM["twin"],
        "twins": ARM_ACCURACY["twins"],
        **{key: ARM["fit"][key] for key in ("window", "before", "impact")},
    },
    "key": ["twin", "experiment", "sample", "method"],
    "value": "error_x",
    "tolerance": 0.02,  # mm/s, half of what noise alone moves a fit of one mode by
    "samples": [
        f"<results>/arm/fits/samples_{twin}.csv" for twin in ARM_ACCURACY["computed"]
    ],
}


wildcard_constraints:
    twin="|".join(ARM_ACCURACY["twins"]),


rule arm_twin:
    """Simulate an arm with elastic joints that hits a table, as files laid out like the recorded ones."""
    input:
        links=ARM_LINKS,
        published=ARM_PUBLISHED,
    output:
        raw=directory("<results>/data/arm_twin/raw"),
    log:
        "<logs>/arm_twin.log",
    benchmark:
        "<benchmarks>/arm_twin.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.arm.readers.twins:write_arm_twin"),
        block=ARM["twin"],
        robot=ARM["robot"],
    script:
        "../call.py"


rule arm_fit:
    """Find every impact, and reconstruct the velocity after it by every method."""
    input:
        data=f"<results>/data/{ARM['data']}/arm.nc",
        links=ARM_LINKS,
    output:
        fits="<results>/arm/fits/methods.csv",
        curves="<results>/arm/fits/curves.csv",
        joints="<results>/arm/fits/joints.csv",
    log:
        "<logs>/arm_fit.log",
    benchmark:
        "<benchmarks>/arm_fit.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.arm.identify.recordings:fit_recordings"),
        block=ARM_FIT,
        robot=ARM["robot"],
    script:
        "../call.py"


rule arm_fit_samples:
    """Simulate experiments of a twin, and reconstruct them from samples of sensor noise."""
    input:
        links=ARM_LINKS,
        corrections=ARM_CORRECTIONS,
        published=ARM_PUBLISHED,
    output:
        table="<results>/arm/fits/samples_{twin}.csv",
    log:
        "<logs>/arm_fit_samples/{twin}.log",
    benchmark:
        "<benchmarks>/arm_fit_samples/{twin}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.arm.identify.accuracy:fit_samples"),
        settings=ARM["twin"],
        block=ARM_FIT,
        robot=ARM["robot"],
    script:
        "../call.py"


rule arm_damping_sweep:
    """Simulate the two-mass models A, B and C of section IV, with Table I and with other dampings."""
    output:
        events="<results>/arm/sweeps/events.csv",
        damping="<results>/arm/sweeps/damping.csv",
        decomposition="<results>/arm/sweeps/decomposition.csv",
    log:
        "<logs>/arm_damping_sweep.log",
    benchmark:
        "<benchmarks>/arm_damping_sweep.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.arm.artefacts.damping_sweep:simulate_sweep"),
        models=ARM["models"],
    script:
        "../call.py"


rule arm_impact_laws:
    """The impacts of Table II with friction and restitution, as complementarity problems."""
    input:
        published=ARM_PUBLISHED,
        links=ARM_LINKS,
    output:
        table="<results>/arm/sweeps/impact_laws.csv",
    log:
        "<logs>/arm_impact_laws.log",
    benchmark:
        "<benchmarks>/arm_impact_laws.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.arm.artefacts.impact_laws:solve_laws"),
        laws=ARM["impact_laws"],
        robot=ARM["robot"],
    script:
        "../call.py"


if ARM["landings"]:

    include: "arm_landings.smk"


rule arm_tables:
    """All tables, and the data of all figures."""
    input:
        published=ARM_PUBLISHED,
        links=ARM_LINKS,
        corrections=ARM_CORRECTIONS,
        published_links=ARM_PUBLISHED_LINKS,
        data=rules.arm_fit.input.data,
        fits=rules.arm_fit.output.fits,
        curves=rules.arm_fit.output.curves,
        joints=rules.arm_fit.output.joints,
        stored_accuracy=stored_files("arm_accuracy"),
        events=rules.arm_damping_sweep.output.events,
        damping=rules.arm_damping_sweep.output.damping,
        decomposition=rules.arm_damping_sweep.output.decomposition,
        laws=rules.arm_impact_laws.output.table,
    output:
        artefacts=computed_by("arm_tables"),
    log:
        "<logs>/arm_tables.log",
    benchmark:
        "<benchmarks>/arm_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("arm_tables"),
        models=ARM["models"],
        robot=ARM["robot"],
    script:
        "../call.py"


rule arm_checks:
    """Hold every printed number and statement of the study against the run, and say in a section of text what it found."""
    input:
        published=ARM_PUBLISHED,
        links=ARM_LINKS,
        cards=expand("<results>/data/{dataset}/card.json", dataset=ARM_DATASETS),
        ledger=ledger_of("arm"),
        own_impacts=packaged("workflow/resources/own_impacts.csv"),
        tables=expand("<results>/arm/{table}.csv", table=ARM_JUDGED),
    output:
        checks="<results>/arm/checks.csv",
        summary="<results>/arm/summary.md",
    log:
        "<logs>/arm_checks.log",
    benchmark:
        "<benchmarks>/arm_checks.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **judged("arm"),
        synthetic=ARM_SYNTHETIC,
        names=[table.partition("/")[2] for table in ARM_JUDGED],
        window=ARM["fit"]["window"],
    script:
        "../call.py"
