"""What the in-hand study runs on, and what it adds to a run."""

from contactid.inhand import artefacts as inhand_artefacts
from contactid.inhand.readers.sources import (
    ABLATED as INHAND_PARTS,
    APPENDIX_TABLES,
    IN_HAND,
    SOURCES as INHAND_SOURCES,
    recording_names,
)

INHAND = config["inhand"]
INHAND_OBJECTS = packaged("workflow/resources/inhand/objects.yaml")
INHAND_SURFACES = packaged("workflow/resources/inhand/friction_objects.csv")
INHAND_PUBLISHED = packaged("workflow/resources/published/inhand.csv")
INHAND_CARD = "<results>/data/inhand_twin/card.json"
INHAND_SEEDS = INHAND["estimates"]["seeds"]
# the tables that a run is judged and summed up by
INHAND_JUDGED = [
    *APPENDIX_TABLES.values(),
    "ext_force_sensing",
    "ext_friction",
    "ext_ablation",
    "ext_active_constraint_runs",
    "ext_choices",
    "ext_differences",
    "ext_disturbances",
    "ext_estimates",
    "ext_identifiability",
    "ext_motion_strength",
    "ext_printed_consistency",
    "ext_printed_verdicts",
    "ext_tuned_weights",
    *(["ext_wrist"] if INHAND["wrist"] else []),
]
INHAND_SCALE = "fig09_force_scale"  # a figure, whose data are judged as well

with told_plainly():
    for name in INHAND["wrist"]:
        check_reader(DATASETS, name, "wrist", "inhand.wrist")
STUDY_DATASETS += INHAND["wrist"]

_ESTIMATORS = {name: INHAND[name] for name in ("twin", "graph")}
# seeds, methods, parts and kinds of disturbances are the samples, so that a run with fewer of them is compared, too
STORED["inhand_estimates"] = {
    "function": "contactid.inhand.identify.estimates:write_estimates",
    "settings": {**_ESTIMATORS, "baseline": INHAND["baseline"]},
    "key": ["source", "object", "seed", "method", "solver"],
    "value": "mass_kg",
    "tolerance": 1e-4,
    "samples": [
        f"<results>/inhand/fits/{source}_{seed}.csv"
        for source in INHAND_SOURCES
        for seed in INHAND_SEEDS
    ],
}
STORED["inhand_ablation"] = {
    "function": "contactid.inhand.identify.ablation:write_ablation",
    "settings": {**_ESTIMATORS, "source": INHAND["ablation"]["source"]},
    "key": ["object", "seed", "solver", *INHAND_PARTS],
    "value": "mass_error_pct",
    "tolerance": 0.1,
    "samples": ["<results>/inhand/sweeps/ablation.csv"],
}
STORED["inhand_disturbances"] = {
    "function": "contactid.inhand.identify.ablation:write_disturbances",
    "settings": {"twin": INHAND["twin"], "source": INHAND["disturbances"]["source"]},
    "key": ["disturbance", "object", "seed"],
    "value": "mass_error_pct",
    "tolerance": 0.1,
    "samples": ["<results>/inhand/sweeps/disturbances.csv"],
}
STORED["inhand_strength"] = {
    "function": "contactid.inhand.identify.motion_strength:write_strengths",
    "settings": {"twin": INHAND["twin"]},
    "key": ["source", "motion", "seed"],
    "value": "geodesic_error",
    "tolerance": 1e-2,
    "samples": ["<results>/inhand/sweeps/strength.csv"],
}
STORED["inhand_active_constraint"] = {
    "function": "contactid.inhand.identify.active_constraint:write_active_constraint",
    "settings": {
        **_ESTIMATORS,
        "baseline": INHAND["baseline"],
        "factors": INHAND["active_constraint"]["factors"],
    },
    "key": ["source", "object", "seed", "method", "forces", "weights"],
    "value": "mass_kg",
    "tolerance": 1e-4,
    "samples": ["<results>/inhand/sweeps/active_constraint.csv"],
}

ARTEFACTS["inhand"] = inhand_artefacts.declare(INHAND)
STUDY_CHECKS += ["<results>/inhand/checks.csv"]
STUDY_CARDS += [INHAND_CARD]
STUDY_SUMMARIES += ["<results>/inhand/summary.md"]


def inhand_twins(seeds, sources=INHAND_SOURCES, prefix=""):
    """Recordings of some sources, or with the prefix "truth_" their truths."""
    names = recording_names(seeds, sources)
    return [f"<results>/data/inhand_twin/{prefix}{name}.nc" for name in names]
