"""What the tossing study runs on: its cases, variants, targets, and the files behind each."""

TOSSING = config["tossing"]
TOSSING_CASES = cases(TOSSING)
TOSSING_VARIANTS = {variant["name"]: variant for variant in TOSSING["variants"]}
TOSSING_DATASETS = list(dict.fromkeys(name for case in TOSSING_CASES for name in case))
TOSSING_IDENTIFIED = list(dict.fromkeys(on for on, _ in TOSSING_CASES))
FIRST_VARIANT = TOSSING["variants"][0]["name"]

try:
    TOSSING_SCHEMES = schemes_of(TOSSING)
    TOSSING_PREDICTIONS = predictions_of(TOSSING)
    VELOCITY_CASES = velocity_cases(TOSSING)
    VELOCITY_IDENTIFIED = list(dict.fromkeys(on for on, _ in VELOCITY_CASES))
    for name in TOSSING_DATASETS + VELOCITY_IDENTIFIED:
        pick(DATASETS, name)
except ContactIdError as error:
    sys.exit(f"ERROR {error}")

VELOCITY_VARIANTS = {
    variant["name"]: variant
    for variant in TOSSING["velocity"]["variants"]
    if VELOCITY_IDENTIFIED
}
MPEC_VARIANTS = [name for name, variant in VELOCITY_VARIANTS.items() if variant["mpec"]]
FIRST_VELOCITY = next(iter(VELOCITY_VARIANTS), None)
TOSSING_PREPARED = list(dict.fromkeys(TOSSING_DATASETS + VELOCITY_IDENTIFIED))
REST_POSE_CASES = [
    (on, dataset, variant)
    for variant in TOSSING["rest_poses"]["variants"]
    for on, dataset in TOSSING_CASES
]
SOBOL_VARIANT = TOSSING["variants"][-1]["name"]
SIMULATORS = TOSSING["simulators"]["names"]
# every simulator is also given the calibrated body where the run calibrates one
SIMULATED_VARIANTS = [
    next(
        name
        for name, variant in reversed(list(TOSSING_VARIANTS.items()))
        if variant["calibrated"] == calibrated
    )
    for calibrated in dict.fromkeys(
        variant["calibrated"] for variant in TOSSING_VARIANTS.values()
    )
]
SIMULATED_CASES = [
    (on, dataset, variant)
    for variant in (SIMULATED_VARIANTS if SIMULATORS else [])
    for on, dataset in TOSSING_CASES
]

TOSSING_FIGURES = [
    "fig01_example_toss",
    "fig02_frames",
    "fig03_setup",
    "fig04_boxes",
    *(
        [
            "fig05_vertex_heights",
            "fig06_impact_velocities",
            "fig07_simulated_velocities_substeps",
            "fig08_simulated_velocities",
            "fig09_velocity_costs",
        ]
        if VELOCITY_IDENTIFIED
        else []
    ),
    "fig10_release_and_rest",
    "fig11_trajectory",
    "fig12_trajectory_costs",
    "fig13_rest_poses",
    "fig14_sensitivity",
    "ext_sobol",
    *(
        ["ext_calibration_curve", "ext_rest_pose_distribution"]
        if REST_POSE_CASES
        else []
    ),
]
TOSSING_TABLES = [
    "tab01_object_properties",
    "tab02_identified_parameters",
    "tab03_rest_pose_errors",
    "tab04_rest_pose_errors_without_restitution",
    "ext_identification",
    "ext_calibration",
    "ext_solver",
    "ext_sensitivity",
    "ext_sobol",
    "ext_moving_surface",
    *(
        ["ext_velocity_identification", "ext_velocity_against_trajectory"]
        if VELOCITY_IDENTIFIED
        else []
    ),
    *(["ext_impact_mpec"] if MPEC_VARIANTS else []),
    *(["ext_rest_pose_coverage", "ext_rest_pose_errors"] if REST_POSE_CASES else []),
    *(["ext_simulators"] if SIMULATED_CASES else []),
]

STUDY_TARGETS += expand(
    "<results>/tossing/figures/{figure}.{extension}",
    figure=TOSSING_FIGURES,
    extension=["csv", "pdf", "png", "svg"],
)
STUDY_TARGETS += expand(
    "<results>/tossing/tables/{table}.{extension}",
    table=TOSSING_TABLES,
    extension=["csv", "tex"],
)
STUDY_TARGETS += ["<results>/tossing/tosses.csv", "<results>/tossing/playback.json"]
STUDY_DATASETS += TOSSING_PREPARED
STUDY_CHECKS += ["<results>/tossing/checks.csv"]
STUDY_SUMMARIES += ["<results>/tossing/summary.md"]
IMPACTS_TABLE = ["<results>/tossing/impacts.csv"] if VELOCITY_IDENTIFIED else []
STUDY_TARGETS += IMPACTS_TABLE
SUMMARISED = [
    table
    for table in TOSSING_TABLES
    if table
    in (
        "ext_identification",
        "ext_calibration",
        "ext_velocity_identification",
        "ext_velocity_against_trajectory",
        "ext_rest_pose_coverage",
        "ext_simulators",
    )
]


def identification_share(wildcards):
    """All of a dataset, none of it, or the configured share where it is both identified and predicted on."""
    identified = wildcards.dataset in TOSSING_IDENTIFIED + VELOCITY_IDENTIFIED
    predicted = wildcards.dataset in [dataset for _, dataset in TOSSING_CASES]
    if identified and predicted:
        return TOSSING["split"]["identification_share"]
    return 1.0 if identified else 0.0


def calibration_of(dataset, calibrated):
    """The calibration of a dataset where one is asked for, nothing otherwise."""
    if calibrated:
        return f"results/{config['run']}/tossing/fits/{dataset}.calibration.json"
    return []


def calibration_for_variant(wildcards):
    """The calibration that a trajectory variant asks for."""
    return calibration_of(
        wildcards.dataset, TOSSING_VARIANTS[wildcards.trajectory_variant]["calibrated"]
    )


def calibration_for_velocity(wildcards):
    """The calibration that a velocity variant asks for."""
    return calibration_of(
        wildcards.dataset, VELOCITY_VARIANTS[wildcards.velocity_variant]["calibrated"]
    )


def calibration_for_case(wildcards):
    """The calibration that a trajectory variant asks for, of the dataset it was identified on."""
    return calibration_of(
        wildcards.identified_on,
        TOSSING_VARIANTS[wildcards.trajectory_variant]["calibrated"],
    )


def prediction_files(schemes):
    """Prediction tables of all cases for some schemes."""
    return [
        f"<results>/tossing/predictions/{on}/{dataset}.{scheme}.csv"
        for on, dataset, scheme in TOSSING_PREDICTIONS
        if scheme in schemes
    ]


def fit_files():
    """All fit records that predictions use."""
    return list(
        dict.fromkeys(
            f"<results>/tossing/fits/{on}.{TOSSING_SCHEMES[scheme].fit}.json"
            for on, _, scheme in TOSSING_PREDICTIONS
        )
    )


def impact_files():
    """Kept impacts, the tables of candidates, losses and MPEC forms of the velocity-based part."""
    files = expand(
        "<results>/tossing/impacts/{dataset}.{variant}.{extension}",
        dataset=VELOCITY_IDENTIFIED,
        variant=VELOCITY_VARIANTS,
        extension=["nc", "csv", "losses.csv"],
    )
    files += expand(
        "<results>/tossing/sweeps/{dataset}.{variant}.nc",
        dataset=VELOCITY_IDENTIFIED,
        variant=VELOCITY_VARIANTS,
    )
    return files + expand(
        "<results>/tossing/impacts/{dataset}.{variant}.mpec.csv",
        dataset=VELOCITY_IDENTIFIED,
        variant=MPEC_VARIANTS,
    )


def outlook_files():
    """Sensitivity, Sobol indices, rest-pose distributions and other simulators."""
    files = [
        f"<results>/tossing/sensitivity/{on}/{dataset}.{variant}.{extension}"
        for on, dataset in TOSSING_CASES
        for variant, extensions in (
            (FIRST_VARIANT, ["csv", "summary.csv", "profile.csv"]),
            (SOBOL_VARIANT, ["sobol.csv"]),
        )
        for extension in extensions
    ]
    files += [
        f"<results>/tossing/rest_poses/{on}/{dataset}.{variant}.{extension}"
        for on, dataset, variant in REST_POSE_CASES
        for extension in ("json", "csv", "outlines.csv")
    ]
    return files + [
        f"<results>/tossing/simulators/{on}/{dataset}.{variant}.{simulator}.{extension}"
        for on, dataset, variant in SIMULATED_CASES
        for simulator in [OWN, OWN_TANGENTIAL, *SIMULATORS]
        for extension in ("json", "csv")
    ]
