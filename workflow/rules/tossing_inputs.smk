"""What the tossing study runs on: its cases, variants, targets, and the files behind each."""

TOSSING = config["tossing"]
TOSSING_CASES = cases(TOSSING)
TOSSING_VARIANTS = {variant["name"]: variant for variant in TOSSING["variants"]}
TOSSING_DATASETS = list(dict.fromkeys(name for case in TOSSING_CASES for name in case))
TOSSING_IDENTIFIED = list(dict.fromkeys(on for on, _ in TOSSING_CASES))
TOSSING_FIGURES = [
    "fig10_release_and_rest",
    "fig11_trajectory",
    "fig12_trajectory_costs",
    "fig13_rest_poses",
]
TOSSING_TABLES = [
    "tab01_object_properties",
    "tab02_identified_parameters",
    "tab03_rest_pose_errors",
    "ext_identification",
    "ext_calibration",
    "ext_solver",
]
FIRST_VARIANT = TOSSING["variants"][0]["name"]

try:
    for name in TOSSING_DATASETS:
        pick(DATASETS, name)
except ContactIdError as error:
    sys.exit(f"ERROR {error}")

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
STUDY_TARGETS += ["<results>/tossing/tosses.csv"]


def identification_share(wildcards):
    """All of a dataset, none of it, or the configured share where it is both identified and predicted on."""
    identified = wildcards.dataset in TOSSING_IDENTIFIED
    predicted = wildcards.dataset in [dataset for _, dataset in TOSSING_CASES]
    if identified and predicted:
        return TOSSING["split"]["identification_share"]
    return 1.0 if identified else 0.0


def calibration_of(dataset, variant):
    """The calibration that a variant asks for, nothing where it asks for none."""
    if TOSSING_VARIANTS[variant]["calibrated"]:
        return f"results/{config['run']}/tossing/fits/{dataset}.calibration.json"
    return []


def prediction_files(variants):
    """Prediction tables of all cases for some variants."""
    return [
        f"<results>/tossing/predictions/{on}/{dataset}.{variant}.csv"
        for on, dataset in TOSSING_CASES
        for variant in variants
    ]
