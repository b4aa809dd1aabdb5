"""Made-up estimates in the form of ``ext_estimates.csv``: bodies near the truth in ours, half
unphysical ones else.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from contactid.core.inertia import InertialParameters, PrincipalForm, consistency, geodesic_distance
from contactid.inhand.identify.methods import (
    DATA,
    ESTIMATE_COLUMNS,
    FACTOR_GRAPH,
    LEAST_SQUARES,
    LIKELIHOOD,
    METHODS,
    UNIFORM,
    parameter_values,
)


def made_up_estimates(
    truths: Mapping[tuple[str, str], InertialParameters], seeds: int = 6
) -> pd.DataFrame:
    """Every method, solver and object; every other run by the paper's way has a negative second
    moment.
    """
    random, rows = np.random.default_rng(1), []
    for (source, name), truth in truths.items():
        for method in (*METHODS, UNIFORM):
            naive = method == UNIFORM
            solvers = [LIKELIHOOD] if naive else [FACTOR_GRAPH, LIKELIHOOD]
            for solver in [LEAST_SQUARES] if method == METHODS[0] else solvers:
                for seed in range(seeds):
                    estimate = _near(truth, random, physical=solver == LIKELIHOOD or seed % 2 == 0)
                    labels = {
                        "source": source,
                        "object": name,
                        "noise_level": 0,
                        "seed": seed,
                        "method": method,
                    }
                    rows.append(
                        labels
                        | {"solver": solver, "converged": True, "seconds": 1.0}
                        | {"physically_consistent": consistency(estimate).consistent}
                        | {"geodesic_error": geodesic_distance(estimate, truth), "decided_by": DATA}
                        | parameter_values(estimate)
                    )
    return pd.DataFrame(rows)[list(ESTIMATE_COLUMNS)]


def _near(
    truth: InertialParameters, random: np.random.Generator, *, physical: bool
) -> InertialParameters:
    form = truth.principal_form
    moments = form.second_moments * np.exp(0.3 * random.normal(size=3))
    moments[0] *= 1.0 if physical else -1.0
    mass = form.mass * np.exp(0.1 * random.normal())
    return PrincipalForm(mass, form.center_of_mass, moments, form.rotation).parameters()
