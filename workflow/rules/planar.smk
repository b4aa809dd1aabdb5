"""The planar study: simulate impacts of planar bodies, identify them from throws, and hold both against exact truths."""


include: "planar_inputs.smk"


wildcard_constraints:
    noise="|".join(IDENTIFIED_NOISE),
    friction=r"[0-9.e+_-]+",
    shard=r"[0-9]+",


rule planar_simulate:
    """Simulate every scene under every friction and restitution (eqs. 16 to 19) and balance its energy."""
    output:
        motions=simulated(*PLANAR["scenes"]),
    log:
        "<logs>/planar_simulate.log",
    benchmark:
        "<benchmarks>/planar_simulate.tsv"
    priority: 1  # there is something to look at soon
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.planar.simulate.motions:write_scenes"),
        block=scenes_block(*PLANAR["scenes"]),
    script:
        "../call.py"


rule planar_peaks:
    """Find the first normal impulse at many time steps, by restitution and by gap complementarity."""
    output:
        peaks=swept("peaks", *PLANAR_PEAKS),
        impulses=swept("impulses", *PLANAR_PEAKS),
        errors=swept("convergence", *PLANAR_PEAKS),
    log:
        "<logs>/planar_peaks.log",
    benchmark:
        "<benchmarks>/planar_peaks.tsv"
    priority: 1  # there is something to look at soon
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.planar.sweeps.peaks:write_peaks"),
        each=["scene", "peaks", "impulses", "errors"],
        scene=PLANAR_PEAKS,
        block=scenes_block(*PLANAR_PEAKS),
        options=PLANAR["peaks"],
    script:
        "../call.py"


rule planar_measures:
    """Measure what printed numbers and statements are held against, of the stated body and of a uniform one."""
    output:
        table="<results>/planar/sweeps/measures.csv",
    log:
        "<logs>/planar_measures.log",
    benchmark:
        "<benchmarks>/planar_measures.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.planar.sweeps.measures:write_measures"),
        block=measured_block(),
    script:
        "../call.py"


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
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call("contactid.planar.sweeps.liftoff:write_liftoff"),
        block=scenes_block("sliding"),
        options=PLANAR["liftoff"],
    script:
        "../call.py"


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
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.planar.sweeps.stepping:write_nlp_agreement"),
        block=scenes_block("throw"),
        options=PLANAR["nlp_step"],
    script:
        "../call.py"


rule planar_identify:
    """Identify a throw from some noise samples at every frame rate: J/m, friction, states, impulses (eq. 27)."""
    output:
        table="<results>/planar/identification/{noise}.mu{friction}.{shard}.csv",
    log:
        "<logs>/planar_identify/{noise}.mu{friction}.{shard}.log",
    benchmark:
        "<benchmarks>/planar_identify/{noise}.mu{friction}.{shard}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        **call("contactid.planar.identify.cells:write_cells"),
        block=lambda wildcards: identification_block(
            wildcards.noise, "frames_per_second"
        ),
        frictions=lambda wildcards: [
            float(friction) for friction in wildcards.friction.split("_")
        ],
        seeds=lambda wildcards: seeds_of(wildcards.shard),
    script:
        "../call.py"


rule planar_identify_shown:
    """Identify the throws of figures 17 and 18, and keep their states and impulses."""
    output:
        fits="<results>/planar/identification/shown.nc",
        table="<results>/planar/identification/shown.csv",
        paths="<results>/planar/identification/shown_paths.csv",
    log:
        "<logs>/planar_identify_shown.log",
    benchmark:
        "<benchmarks>/planar_identify_shown.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.planar.identify.cells:write_shown"),
        block=identification_block(IDENTIFIED_NOISE[0], "shown"),
    script:
        "../call.py"


rule planar_rig_twin:
    """Identify a simulated twin of the throw in figures 22 and 23, whose recording was never published."""
    output:
        fits="<results>/planar/identification/rig_twin.nc",
    log:
        "<logs>/planar_rig_twin.log",
    benchmark:
        "<benchmarks>/planar_rig_twin.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        **call("contactid.planar.identify.cells:write_rig_twin"),
        block=identification_block(IDENTIFIED_NOISE[0]),
    script:
        "../call.py"


rule planar_reformulations:
    """Identify the same throws by each reformulation of complementarity, from the same starts."""
    output:
        table="<results>/planar/identification/reformulations.{throws}.csv",
    log:
        "<logs>/planar_reformulations/{throws}.log",
    benchmark:
        "<benchmarks>/planar_reformulations/{throws}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        **call("contactid.planar.identify.contest:write_reformulations"),
        block=identification_block(IDENTIFIED_NOISE[0], "reformulations"),
    script:
        "../call.py"


rule planar_hard_truth:
    """Identify throws whose truth isn't what a start assumes: another body, other impacts, noise stated wrong."""
    output:
        table="<results>/planar/identification/hard_truths.{truth}.csv",
    log:
        "<logs>/planar_hard_truth/{truth}.log",
    benchmark:
        "<benchmarks>/planar_hard_truth/{truth}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        **call("contactid.planar.identify.cells:write_hard_truth"),
        block=identification_block(IDENTIFIED_NOISE[0]),
        seeds=IDENTIFICATION["hard_truths"]["seeds"],
    script:
        "../call.py"


include: "planar_real.smk"


rule planar_tables:
    """Tables: the simulators, table 1 and what goes with it, measured throws and impacts."""
    input:
        **{name: f"<results>/planar/sweeps/{name}.csv" for name in REAL_TABLES},
        published=packaged("workflow/resources/published/planar.csv"),
        simulations=simulated(*PLANAR["scenes"]),
        restitution_motions=simulated("restitution")[0],
        peaks=swept("peaks", *PLANAR_PEAKS),
        errors=swept("convergence", *PLANAR_PEAKS),
        liftoff="<results>/planar/sweeps/liftoff.csv",
        nlp_step="<results>/planar/sweeps/nlp_step.csv",
        cells=IDENTIFICATION_CELLS,
        samples=stored_files("planar_table1"),
        measures="<results>/planar/sweeps/measures.csv",
        reformulations=packaged(
            "workflow/resources/stored/planar_reformulations/table.csv"
        ),
        hard_truths=packaged("workflow/resources/stored/planar_hard_truths/table.csv"),
    output:
        artefacts=computed_by("planar_tables"),
    log:
        "<logs>/planar_tables.log",
    benchmark:
        "<benchmarks>/planar_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("planar_tables"),
        settings=STORED["planar_table1"]["settings"],
        peak_scenes=PLANAR_PEAKS,
        shown=PLANAR["peaks"]["shown"],
    script:
        "../call.py"


rule planar_figures:
    """The data behind the figures and animations of simulated motions."""
    input:
        throw_motions=simulated("throw")[0],
        sliding_motions=simulated("sliding")[0],
        restitution_motions=simulated("restitution")[0],
        own_motions=simulated(*OWN_SCENES),
        drop_peaks=swept("peaks", "drop")[0],
        drop_impulses=swept("impulses", "drop")[0],
        throw_peaks=swept("peaks", "throw")[0],
        throw_impulses=swept("impulses", "throw")[0],
    output:
        artefacts=computed_by("planar_figures"),
    log:
        "<logs>/planar_figures.log",
    benchmark:
        "<benchmarks>/planar_figures.tsv"
    priority: 1  # there is something to look at soon
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("planar_figures"),
        **PLANAR["drawn"],
        block=scenes_block(*PLANAR["scenes"]),
    script:
        "../call.py"


rule planar_identified_figures:
    """The data behind figures 17 to 23 and of those beside the tables."""
    input:
        **REAL_FITS,
        shown_fits="<results>/planar/identification/shown.nc",
        path_samples=stored_files("planar_paths"),
        rig_shapes=packaged("workflow/resources/planar/rig.yaml"),
        twin_fits="<results>/planar/identification/rig_twin.nc",
        errors="<results>/planar/tables/tab01_inertia_ratio_error.csv",
        reformulation_table="<results>/planar/tables/ext_reformulations.csv",
    output:
        artefacts=computed_by("planar_identified_figures"),
    log:
        "<logs>/planar_identified_figures.log",
    benchmark:
        "<benchmarks>/planar_identified_figures.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **compute("planar_identified_figures"),
    script:
        "../call.py"


rule planar_playback:
    """Thin the shown throws for the report to play."""
    input:
        fits=["<results>/planar/identification/shown.nc"]
        + (["<results>/planar/identification/squares.nc"] if REAL_SQUARES else []),
    output:
        playback="<results>/planar/playback.json",
    log:
        "<logs>/planar_playback.log",
    benchmark:
        "<benchmarks>/planar_playback.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **call("contactid.planar.artefacts.playback:write_playback"),
    script:
        "../call.py"


rule planar_checks:
    """Hold every printed number and statement of the study against the run, and say in a section of text what it found."""
    input:
        published=packaged("workflow/resources/published/planar.csv"),
        ledger=ledger_of("planar"),
        tables=[
            "<results>/planar/sweeps/measures.csv",
            *expand(
                "<results>/planar/tables/ext_{table}.csv",
                table=[
                    "impulse_convergence",
                    "liftoff",
                    "reformulations",
                    "hard_truths",
                ],
            ),
            "<results>/planar/figures/fig17_identified_trajectories.csv",
            "<results>/planar/figures/fig18_identified_impulses.csv",
        ],
        stored=stored_files("planar_table1"),
        convergence="<results>/planar/tables/ext_impulse_convergence.csv",
        rates="<results>/planar/tables/ext_identification_by_rate.csv",
        failed="<results>/planar/tables/ext_identification_failed.csv",
    output:
        checks="<results>/planar/checks.csv",
        summary="<results>/planar/summary.md",
    log:
        "<logs>/planar_checks.log",
    benchmark:
        "<benchmarks>/planar_checks.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **judged("planar"),
        block=PLANAR,
    script:
        "../call.py"
