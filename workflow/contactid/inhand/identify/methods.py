"""The paper's methods and our solvers: what each estimates, what it may be told beforehand, and
what it returns.

Every estimator takes a recording, a method's name, a prior and its block of the configuration, and
returns an :class:`Estimate`; one that fails returns an estimate with ``converged`` false and a
message that says why.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.inertia import InertialParameters, tensor_entries

# methods in the paper's order, with the labels of its appendix
METHODS = (
    "baseline", "baseline_fg", "no_constraint_no_geodesic", "constraint_no_geodesic", "constraint_geodesic",
)  # fmt: skip
METHOD_LABELS = {
    "ground_truth": "ground truth",
    "uniform_body": "uniform body",
    "baseline": "baseline",
    "baseline_fg": "baseline FG",
    "no_constraint_no_geodesic": "no C, no G",
    "constraint_no_geodesic": "C, no G",
    "constraint_geodesic": "C + G",
}
GROUND_TRUTH, BASELINE = "ground_truth", "baseline"
#: The naive answer beside every estimate: uniform density in the hull that is given, with the
#: estimate's mass.
UNIFORM = "uniform_body"
FREE, CONSTRAINED = METHODS[2:4]
DATA, PRIOR = "data", "prior"  # what decides the tensor of an estimate

LEAST_SQUARES, FACTOR_GRAPH, LIKELIHOOD = "least_squares", "factor_graph", "likelihood"
SOLVERS = (LEAST_SQUARES, FACTOR_GRAPH, LIKELIHOOD)
SOLVER_LABELS = {
    LEAST_SQUARES: "least squares",
    FACTOR_GRAPH: "constraint as a cost (paper)",
    LIKELIHOOD: "by likelihood (ours)",
}

PARAMETER_LABELS = {
    "mass_kg": "$m$", "com_x_m": "$c_x$", "com_y_m": "$c_y$", "com_z_m": "$c_z$", "i_xx": "$I_{xx}$",
    "i_yy": "$I_{yy}$", "i_zz": "$I_{zz}$", "i_xy": "$I_{xy}$", "i_xz": "$I_{xz}$", "i_yz": "$I_{yz}$",
}  # fmt: skip
PARAMETER_COLUMNS = tuple(PARAMETER_LABELS)
ESTIMATE_COLUMNS = (
    "source", "object", "noise_level", "seed", "method", "solver", "converged", "physically_consistent",
    "geodesic_error", "decided_by", *PARAMETER_COLUMNS, "seconds",
)  # fmt: skip

# What a method of the factor graph has (section IV-B): the principal-axes form of eqs. 26 to 30 in
# place of the ten parameters as they are, a cost of violations of eqs. 35 to 37, and one of the
# distance to a prior (eq. 20). The paper's methods know no wrench that isn't sensed; the ablation
# adds a constant one.
PRINCIPAL, CONSISTENCY, GEODESIC, BIAS = "principal", "consistency", "geodesic", "bias"
GRAPH_METHODS: dict[str, tuple[str, ...]] = {
    "baseline_fg": (),
    "no_constraint_no_geodesic": (PRINCIPAL,),
    "constraint_no_geodesic": (PRINCIPAL, CONSISTENCY),
    "constraint_geodesic": (PRINCIPAL, CONSISTENCY, GEODESIC),
}


@dataclass(frozen=True)
class Estimate:
    """Inertial parameters estimated from one recording.

    Attributes
    ----------
    method : name of the method, as in the paper's tables
    solver : one of :data:`SOLVERS`
    converged : the solver reached its own tolerance
    parameters : about the origin of B; may be unphysical where the method doesn't forbid it
    iterations : of the solver; 0 where there are none
    seconds : process CPU time, model building included
    objective : the solver's cost at the answer, half a sum of squared whitened residuals
    standard_errors : (10,) of ``parameters.vector``, in its units; nan where unknown
    message : what went wrong, or what the recording can't tell
    decided_by : ``data``, or ``prior`` where they say nothing of the tensor
    """

    method: str
    solver: str
    converged: bool
    parameters: InertialParameters
    iterations: int
    seconds: float
    objective: float
    standard_errors: np.ndarray
    message: str = ""
    decided_by: str = DATA


def failed_estimate(method: str, solver: str, message: str, seconds: float = 0.0) -> Estimate:
    """The estimate of a solver that has no answer: nan everywhere, not converged."""
    unknown = InertialParameters.from_vector(np.full(10, np.nan))
    return Estimate(
        method, solver, False, unknown, 0, seconds, float("nan"), np.full(10, np.nan), message
    )


def parameter_values(body: InertialParameters) -> dict[str, float]:
    """Mass (kg), centre of mass (m) and tensor entries about B's origin (kg m2), by
    :data:`PARAMETER_COLUMNS`.
    """
    values = (body.mass, *body.center_of_mass, *tensor_entries(body.inertia))
    return dict(zip(PARAMETER_COLUMNS, values, strict=True))
