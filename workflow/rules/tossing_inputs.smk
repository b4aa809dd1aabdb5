"""What the tossing study runs on: its cases, variants, artefacts and targets, and the files behind them."""

from itertools import product

from contactid.tossing import artefacts as tossing_artefacts
from contactid.tossing.configuration import (
    BOXES,
    cases,
    check_tossing,
    predictions_of,
    schemes_of,
    velocity_cases,
)

TOSSING = config["tossing"]

with told_plainly():
    check_tossing(TOSSING)
    TOSSING_CASES = cases(TOSSING)
    TOSSING_SCHEMES = schemes_of(TOSSING)
    TOSSING_PREDICTIONS = predictions_of(TOSSING)
    VELOCITY_CASES = velocity_cases(TOSSING)
    TOSSING_DATASETS = list(
        dict.fromkeys(name for case in TOSSING_CASES for name in case)
    )
    TOSSING_IDENTIFIED = list(dict.fromkeys(on for on, _ in TOSSING_CASES))
    VELOCITY_IDENTIFIED = list(dict.fromkeys(on for on, _ in VELOCITY_CASES))
    for name in TOSSING_DATASETS + VELOCITY_IDENTIFIED:
        pick(DATASETS, name)
    PLOTTED = [TOSSING["author_plots"]] if TOSSING["author_plots"] else []
    for name in PLOTTED:
        check_reader(DATASETS, name, "author_plots", "tossing.author_plots")

TOSSING_PREPARED = list(dict.fromkeys(TOSSING_DATASETS + VELOCITY_IDENTIFIED))
TOSSING_VARIANTS = {variant["name"]: variant for variant in TOSSING["variants"]}
FIRST_VARIANT, SOBOL_VARIANT = [*TOSSING_VARIANTS][0], [*TOSSING_VARIANTS][-1]
VELOCITY_VARIANTS = {
    variant["name"]: variant
    for variant in TOSSING["velocity"]["variants"]
    if VELOCITY_IDENTIFIED
}
FIRST_VELOCITY = [*VELOCITY_VARIANTS][:1]
# variants that select the same impacts
IMPACT_SELECTIONS = {}
for name, variant in VELOCITY_VARIANTS.items():
    selection = tuple(
        variant[key] for key in ("calibrated", "largest_misfit", "largest_imbalance")
    )
    IMPACT_SELECTIONS.setdefault(selection, []).append(name)
IMPACT_FITS = [(on, name) for on in VELOCITY_IDENTIFIED for name in VELOCITY_VARIANTS]
FIRST_IMPACT_FITS = [(on, name) for on, name in IMPACT_FITS if name in FIRST_VELOCITY]
# schemes whose parameters are identified on the same dataset
PREDICTED_TOGETHER = {}
for name, scheme in TOSSING_SCHEMES.items():
    PREDICTED_TOGETHER.setdefault(scheme.parameters, []).append(name)
FIRST_CASES = [(*case, FIRST_VARIANT) for case in TOSSING_CASES]
SOBOL_CASES = [(*case, SOBOL_VARIANT) for case in TOSSING_CASES]
REST_POSE_CASES = [
    (on, dataset, variant)
    for variant in TOSSING["rest_poses"]["variants"]
    for on, dataset in TOSSING_CASES
]
LAST_REST_POSE_CASES = [
    case for case in REST_POSE_CASES if case[2] == TOSSING["rest_poses"]["variants"][-1]
]
# predicted datasets of the paper's objects, for which there are printed parameters
OF_BOXES = [
    name
    for name in dict.fromkeys(dataset for _, dataset in TOSSING_CASES)
    if DATASETS[name].object in BOXES
]

ARTEFACTS["tossing"] = tossing_artefacts.declare(TOSSING, bool(OF_BOXES))
FIGURE_SOURCES["tossing"] = ["<results>/tossing/figures/sources.json"]
IMPACTS_TABLE = ["<results>/tossing/impacts.csv"] if VELOCITY_IDENTIFIED else []
TOSSING_TABLES = [one.name for one in ARTEFACTS["tossing"] if one.kind == "table"]
STUDY_TARGETS += [
    "<results>/tossing/tosses.csv",
    "<results>/tossing/playback.json",
    *IMPACTS_TABLE,
]
STUDY_DATASETS += TOSSING_PREPARED + PLOTTED
STUDY_CHECKS += ["<results>/tossing/checks.csv"]
STUDY_SUMMARIES += ["<results>/tossing/summary.md"]


def sharing_a_job(boxes):
    """Datasets or cases in the shares that a job takes one after the other."""
    size = TOSSING["boxes_per_job"]
    return [boxes[start : start + size] for start in range(0, len(boxes), size)]


def identification_share(name):
    """All of a dataset, none of it, or the configured share where it is both identified and predicted on."""
    identified = name in TOSSING_IDENTIFIED + VELOCITY_IDENTIFIED
    predicted = name in [dataset for _, dataset in TOSSING_CASES]
    if identified and predicted:
        return TOSSING["split"]["identification_share"]
    return 1.0 if identified else 0.0


def calibration_of(dataset, calibrated):
    """The calibration of a dataset where one is asked for, nothing otherwise."""
    return f"<results>/tossing/fits/{dataset}.calibration.json" if calibrated else []


def calibrations_of(datasets, calibrated):
    """One calibration for each dataset where they are asked for, nothing otherwise."""
    return [calibration_of(name, True) for name in datasets if calibrated]


def calibrations_for(datasets, variant):
    """The calibrations of some datasets that a trajectory variant asks for."""
    return calibrations_of(datasets, TOSSING_VARIANTS[variant]["calibrated"])


def calibration_for(wildcards):
    """The calibration that a job's trajectory variant asks for, of the dataset that it was identified on."""
    on = dict(wildcards.items()).get("identified_on", wildcards.dataset)
    return calibration_of(
        on, TOSSING_VARIANTS[wildcards.trajectory_variant]["calibrated"]
    )


FIRST_CALIBRATIONS = [
    calibration_of(on, True)
    for on, _ in TOSSING_CASES
    if TOSSING_VARIANTS[FIRST_VARIANT]["calibrated"]
]


def swept_as_authors(cases, names):
    """Sweeps over the grid of the paper's recordings of the box whose costs the authors' plot data have."""
    return of_cases(
        "sweeps/{0}.{1}.nc",
        [
            (on, names[0])
            for on in cases
            if (DATASETS[on].kind, DATASETS[on].object) == ("4tu", "Box006")
        ],
    )


# A calibrated body's stepping, whatever the law, for what is computed by both laws: the first one's, whose steps are as
# many as other simulators have in the benchmark
CALIBRATED = [variant for variant in TOSSING_VARIANTS.values() if variant["calibrated"]]
STEPPED = {
    key: value
    for variant in CALIBRATED[:1]
    for key, value in variant.items()
    if key not in ("name", "law")
}
SPLIT_ALL = [on for on, dataset in TOSSING_CASES if on == dataset]
BENCHMARK = TOSSING["benchmark"]["rows"]
BUDGET = {key: value for key, value in TOSSING["benchmark"].items() if key != "rows"}
SPLIT_SETTINGS = {
    "share": TOSSING["split"]["identification_share"],
    "draws": TOSSING["splits"]["draws"],
    **{
        key: TOSSING[key] for key in ("exclude_tumbling", "events", "grid", "bootstrap")
    },
    "variant": STEPPED,
}
STORED["tossing_splits"] = {
    "function": "contactid.tossing.predict.splits:score_split",
    "settings": SPLIT_SETTINGS,
    "key": ["dataset", "seed", "law", "n_identification", "draw"],
    "value": "test_loss",
    "tolerance": 0.001,  # a tenth of its standard error
    "samples": [
        f"<results>/tossing/splits/{name}.{seed}.csv"
        for name in SPLIT_ALL
        for seed in TOSSING["splits"]["seeds"]
    ],
}
STORED["tossing_benchmark"] = {
    "function": "contactid.tossing.predict.benchmark:score_row",
    "settings": {
        "variant": STEPPED,
        "budget": BUDGET,
        **{key: TOSSING[key] for key in ("split", "exclude_tumbling", "events")},
    },
    "key": ["row", "start"],
    "value": "position_pct",
    "tolerance": 0.05,  # half of the last digit that is printed of the others
    "samples": [
        f"<results>/tossing/benchmark/{name}.{row}.csv"
        for name in SPLIT_ALL
        for row in BENCHMARK
    ],
}

OTHER_TRUTHS = TOSSING["other_truths"]
# by the dataset that a body is identified on: its test tosses and its drops
TRUTH_CASES = {
    on: (dataset, drops)
    for (on, dataset), (drops, tested) in product(TOSSING_CASES, VELOCITY_CASES)
    if dataset == tested
}
TRUTH_SETTINGS = {
    **{key: OTHER_TRUTHS[key] for key in ("truths", "parameters")},
    "variant": TOSSING_VARIANTS.get(OTHER_TRUTHS["identify_with"]["trajectory"]),
    "velocity": {
        **VELOCITY_VARIANTS.get(OTHER_TRUTHS["identify_with"]["velocity"], {}),
        "largest_imbalance": OTHER_TRUTHS["largest_imbalance"],
    },
    **{key: TOSSING[key] for key in ("grid", "bootstrap", "events")},
    **{key: TOSSING["velocity"][key] for key in ("window", "slowest")},
}
STORED["tossing_other_truths"] = {
    "function": "contactid.tossing.predict.other_truth:identify_other_truth",
    "settings": TRUTH_SETTINGS,
    "key": ["object", "truth", "seed", "parameters", "law"],
    "value": "friction_mu",
    "tolerance": 0.002,
    "samples": expand(
        "<results>/tossing/other_truths/{dataset}.{truth}.{seed}.csv",
        dataset=TRUTH_CASES,
        truth=OTHER_TRUTHS["truths"],
        seed=OTHER_TRUTHS["seeds"],
    ),
}


def stored_for(kind):
    """Stored results that this run's tables or figures are made of, as inputs by the name that asks for them."""
    shown = {one.name for one in ARTEFACTS["tossing"] if one.kind == kind}
    inputs = {}
    if "ext_benchmark" in shown:
        inputs["stored_benchmark"] = stored_files("tossing_benchmark")
    if "ext_learning_curve" in shown:
        inputs["stored_splits"] = stored_files("tossing_splits")
    if "ext_other_truth" in shown:
        inputs["other_truths"] = stored_files("tossing_other_truths")[0]
    return inputs


def of_cases(pattern, cases):
    """Files of the study by a pattern, in which {0}, {1} ... stand for what a case consists of."""
    return [f"<results>/tossing/{pattern.format(*case)}" for case in cases]
