"""Names that files and rules of the arm study share; nothing is computed here."""

from __future__ import annotations

TABLES = (
    "tab01_parameters", "tab02_impact_map", "ext_events", "ext_damping_sweep", "ext_postures", "ext_links",
    "ext_impact_laws", "ext_fit", "ext_fit_summary", "ext_modes", "ext_fit_accuracy", "ext_optimum",
)  # fmt: skip
FIGURES = (
    "fig02_joint_velocities", "fig03_models", "fig04_two_mass", "fig05_decomposition",
    "fig06_cartesian_fit", "ext_damping_sweep", "ext_fit_accuracy",
)  # fmt: skip
# of the tables, those that a run is judged and summed up by
JUDGED = ("tab01_parameters", "tab02_impact_map", "ext_fit", "ext_damping_sweep")
SUMMARISED = ("tab02_impact_map", "ext_damping_sweep", "ext_fit_summary", "ext_fit_accuracy", "ext_optimum")
