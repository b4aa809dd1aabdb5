"""Made-up tables of an in-hand run, each as its statements would have it, in the columns that they
are judged by.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from contactid.inhand.identify.methods import PARAMETER_COLUMNS
from contactid.inhand.readers.sources import OBJECTS, SOURCES

FORCE = pd.DataFrame(
    {
        "model": ["bayesian_features", "bayesian_features", "linear"],
        "magnitude_error_n": [0.1, 0.12, 0.3],
        "angle_error_deg": [3.0, 3.2, 9.0],
        "share_within_one_sd": [0.68, 0.69, 0.6],
        "magnitude_improvement": [3.0, 2.5, np.nan],
        "angle_improvement": [3.0, 2.8, np.nan],
    }
)
FRICTION = pd.DataFrame(
    {
        "object": ["mug", "mustard_bottle", "mustard_bottle", "all", "all"],
        "region": ["all", "plastic", "label", "without the warped", "warped"],
        "warped": [False, False, True, False, True],
        "n_trials": [10, 10, 10, 80, 20],
        "n_slipped": [10, 10, 10, 80, 19],
        "truth": [0.5, 0.7, 0.5, np.nan, np.nan],
        "error_median": [0.01, -0.02, 0.1, 0.012, 0.1],
        "case_error": [0.01, 0.02, 0.1, 0.012, 0.1],
    }
)
DIFFERENCES = pd.DataFrame(
    {
        "object": "noise_level_0",
        "time_step_s": [0.02, 0.02, 0.01],
        "scheme": "paper",
        "estimator": ["baseline", "least squares without filter", "baseline"],
        "converged": True,
        "mass_error_pct": [50.0, 1.0, 2.0],
    }
)
_ERRORS = {
    "mass_error_pct": 1.0,
    "com_error_mm": 1.0,
    "inertia_error_pct": 1.0,
    "geodesic_error": 1.0,
}
CHOICES = pd.DataFrame(
    [
        {"source": source, "object": OBJECTS[source][2], "estimator": estimator, "prior_share": share,
         "converged": True, **{name: size * error for name, error in _ERRORS.items()}}
        for source in SOURCES
        for estimator, share, size in (
            ("baseline", np.nan, 9.0),
            ("least squares without filter", np.nan, 5.0),
            ("constraint_no_geodesic", np.nan, 2.0),
            ("constraint_no_geodesic with filter", np.nan, 4.0),
            ("constraint_geodesic", 1.0, 2.0),
            ("constraint_geodesic", 0.01, 1.0),
        )
    ]
)  # fmt: skip
_CASES = [
    ("simulation", "recorded", 0.001),
    ("wrist_ft", "held_still", np.inf),
    ("wrist_ft", "turned_about_x", np.inf),
]
IDENTIFIABILITY = pd.DataFrame(
    [
        {
            "source": source,
            "case": case,
            **{f"relative_{name}": error for name in PARAMETER_COLUMNS},
        }
        for source, case, error in _CASES
    ]
)
_MOTIONS = (("weak", 0.3), ("configured", 0.2), ("strong", 0.1))
STRENGTHS = pd.DataFrame(
    [
        {"source": source, "motion": motion, "converged": 20, "geodesic_error": error}
        for source in SOURCES[1:]
        for motion, error in _MOTIONS
    ]
)
ABLATION = pd.DataFrame(
    [
        {
            "solver": "factor_graph",
            "bias": bias,
            "constraint": constraint,
            "hull_prior": "no",
            "converged": 3,
            "geodesic_error": 1.0,
        }
        for bias, constraint in product(("no", "yes"), repeat=2)
    ]
)
DISTURBANCES = pd.DataFrame(
    {
        "disturbance": [
            "load share 0", "load share 0.08, as in the twins", "load share 0.16", "load share 0.6, no preload",
            "preload relaxes in 1 s",
        ],
        "mass_error_pct": [-2.0, -10.0, -18.0, -60.0, 3.0],
    }
)  # fmt: skip
FORCES = pd.DataFrame(
    {
        "sensor": ["wrist"] * 3 + ["thumb"] * 3,
        "component": ["x"] * 6,
        "reported_n": [0.0, 3.0, 6.0, 4.0, 4.1, 4.2],
    }
)
_METHODS = (
    ("no_constraint_no_geodesic", "sensed", 3.0), ("constraint_no_geodesic", "sensed", 2.0),
    ("constraint_geodesic", "sensed", 1.9), ("constraint_no_geodesic", "filtered", 4.0),
)  # fmt: skip
ACTIVE = pd.DataFrame(
    [
        {"source": source, "recording": f"{source}_{seed}", "method": method, "forces": forces, "weights": "configured",
         "acts": 1, "tensor_error_pct": error, "com_error_mm": 5.0}
        for source in SOURCES[1:]
        for seed in range(2)
        for method, forces, error in _METHODS
    ]
)  # fmt: skip
TUNED = pd.DataFrame(
    {"error": 1.0, "tuned_error": [0.1, 0.2, 0.9], "others": 1.0, "tuned_others": [2.0, 1.5, 0.5]}
)
MADE_UP = {
    "ext_active_constraint_runs": ACTIVE,
    "ext_tuned_weights": TUNED,
    "ext_force_sensing": FORCE,
    "ext_friction": FRICTION,
    "ext_differences": DIFFERENCES,
    "ext_choices": CHOICES,
    "ext_identifiability": IDENTIFIABILITY,
    "ext_motion_strength": STRENGTHS,
    "ext_ablation": ABLATION,
    "ext_disturbances": DISTURBANCES,
    "fig09_force_scale": FORCES,
}
