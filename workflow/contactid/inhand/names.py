"""Names that files and rules of the in-hand study share; nothing is computed here."""

from __future__ import annotations

# methods in the paper's order, with the labels of its appendix
METHODS = (
    "baseline", "baseline_fg", "no_constraint_no_geodesic", "constraint_no_geodesic", "constraint_geodesic",
)  # fmt: skip
METHOD_LABELS = {
    "ground_truth": "ground truth",
    "baseline": "baseline",
    "baseline_fg": "baseline FG",
    "no_constraint_no_geodesic": "no C, no G",
    "constraint_no_geodesic": "C, no G",
    "constraint_geodesic": "C + G",
}
GROUND_TRUTH = "ground_truth"

LEAST_SQUARES, FACTOR_GRAPH, IPOPT = "least_squares", "factor_graph", "ipopt"
SOLVERS = (LEAST_SQUARES, FACTOR_GRAPH, IPOPT)
SOLVER_LABELS = {
    LEAST_SQUARES: "least squares",
    FACTOR_GRAPH: "constraint as a cost (paper)",
    IPOPT: "hard constraints (IPOPT)",
}

SIMULATION, WRIST, IN_HAND_VISION, IN_HAND_KINEMATIC = "simulation", "wrist_ft", "in_hand_vision", "in_hand_kinematic"
SOURCES = (SIMULATION, WRIST, IN_HAND_VISION, IN_HAND_KINEMATIC)
SOURCE_LABELS = {
    SIMULATION: "simulation",
    WRIST: "wrist force-torque sensor",
    IN_HAND_VISION: "in hand, tracked by vision",
    IN_HAND_KINEMATIC: "in hand, tracked kinematically (relaxed rigidity)",
}
NOISE_LEVELS = tuple(f"noise_level_{level}" for level in range(5))
BOXES = tuple(f"box_{number}" for number in range(5))
OBJECTS = {SIMULATION: NOISE_LEVELS, WRIST: BOXES, IN_HAND_VISION: BOXES, IN_HAND_KINEMATIC: BOXES}

# the paper's appendix, and its box plots of the inertial error
APPENDIX_TABLES = {
    SIMULATION: "tabA1_simulation",
    WRIST: "tabA2_wrist",
    IN_HAND_VISION: "tabA3_inhand_vision",
    IN_HAND_KINEMATIC: "tabA4_inhand_kinematic",
}
ERROR_FIGURES = {
    SIMULATION: "fig07_simulation",
    WRIST: "fig08_wrist",
    IN_HAND_VISION: "fig10_inhand_vision",
    IN_HAND_KINEMATIC: "fig11_inhand_kinematic",
}
# what a row of the error figures' data is; the last one also stands for a printed row in the appendix tables
BOX, OUTLIER, PRINTED = "box", "outlier", "printed"

PARAMETER_COLUMNS = (
    "mass_kg", "com_x_m", "com_y_m", "com_z_m", "i_xx", "i_yy", "i_zz", "i_xy", "i_xz", "i_yz",
)  # fmt: skip
ESTIMATE_COLUMNS = (
    "source", "object", "noise_level", "seed", "method", "solver", "converged", "physically_consistent",
    "geodesic_error", *PARAMETER_COLUMNS, "seconds",
)  # fmt: skip

PRINTED_TABLES = ("ext_printed_consistency", "ext_printed_verdicts")
TABLES = (
    *APPENDIX_TABLES.values(), *PRINTED_TABLES, "ext_estimates", "ext_differences", "ext_speed", "ext_identifiability",
    "ext_excitation", "ext_friction", "ext_force_sensing",
)  # fmt: skip
FIGURES = (
    "fig01_inhand", "fig02_contact", "fig03_factor_graph", "fig04_objects", "fig05_force_sensing", "fig06_friction",
    "fig09_force_scale", *ERROR_FIGURES.values(), "ext_excitation", "ext_identifiability", "ext_speed",
)  # fmt: skip
# of the tables, those that a run is judged and summed up by
JUDGED = (*APPENDIX_TABLES.values(), "ext_force_sensing")
SUMMARISED = (
    *APPENDIX_TABLES.values(), "ext_printed_verdicts", "ext_estimates", "ext_friction", "ext_force_sensing",
)  # fmt: skip
