"""Names that files, configuration and figures of the planar study share; nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# the paper's own scenes; every other scene of a configuration is the user's
DROP, THROW, SLIDING, RESTITUTION = "drop", "throw", "sliding", "restitution"
PAPER_SCENES = (DROP, THROW, SLIDING, RESTITUTION)
# impulse-restitution and impulse-gap complementarity
IRC, IGC = "IRC", "IGC"
PAPER_FIGURES = (
    "fig01_contact_frames", "fig02_contact_states", "fig03_restitution", "fig04_friction_cones", "fig05_normal_gap",
    "fig06_drop_peaks", "fig07_drop_impulses", "fig08_throw_peaks", "fig09_throw_motion", "fig10_throw_impulses",
    "fig11_sliding_motion", "fig12_sliding_energy", "fig13_restitution_motion", "fig14_restitution_energy",
    "fig15_fitted_trajectory", "fig16_time_instants",
)  # fmt: skip
ANIMATIONS = ("fig09_throw_motion", "fig11_sliding_motion", "fig13_restitution_motion")

CAPTIONS = {
    "ext_energy": "Energy at the end of every simulated motion, and where the rest went (J).",
    "ext_tangential_impulses": "Energy that tangential impulses take and give in the motions of figure 14 (J).",
    "ext_impulse_convergence": "First normal impulse against its limit as the time step tends to zero.",
    "ext_impact_times": "Time of the first impact since release, simulated and printed (ms).",
    "ext_liftoff": "Friction above which the sliding ellipse leaves the ground.",
    "ext_nlp_step": "The paper's nonlinear program for one step against the exact step.",
}
TABLES = tuple(CAPTIONS)
IDENTIFICATION_CAPTIONS = {
    "tab01_inertia_ratio_error": "Errors of the identified J/m by friction and frame rate (%).",
    "ext_identification_by_rate": "Errors of the identified J/m by frame rate, over friction from 0.2 on (%).",
    "ext_identification_failed": "Identifications that did not converge, or whose misfit noise does not explain.",
    "ext_reformulations": "Reformulations of complementarity on the same throws, one solve each.",
}
IDENTIFICATION_TABLES = tuple(IDENTIFICATION_CAPTIONS)
IDENTIFICATION_FIGURES = (
    "fig17_identified_trajectories", "fig18_identified_impulses", "fig19_identified_friction", "fig20_rig",
    "fig21_release", "ext_identification_error", "ext_reformulations",
)  # fmt: skip
REAL_ELLIPSE_CAPTIONS = {
    "ext_real_ellipse": "Velocity errors of impact laws and published models on real ellipse impacts (m/s).",
    "ext_real_ellipse_reasons": "Where real ellipse impacts depart from the impact laws.",
    "ext_real_ellipse_ratio": "J/m of the ellipse by eq. 31, with x as published and reversed.",
}
REAL_ELLIPSE_TABLES = tuple(REAL_ELLIPSE_CAPTIONS)
REAL_ELLIPSE_FIGURES = ("ext_real_ellipse",)
SQUARE_CAPTIONS = {
    "ext_real_squares": "J/m and friction from each measured throw of a square, the last row from several.",
    "ext_real_squares_left_out": "Measured throws of a square without a usable first impact.",
    "ext_real_squares_reasons": "Experiments on why J/m of the real square is not the uniform one's.",
}
SQUARE_TABLES = ("ext_real_squares", "ext_real_squares_left_out")
SQUARE_REASONS = ("ext_real_squares_reasons",)
SQUARE_FIGURES = ("fig22_real_throw", "fig23_real_impulses", "ext_real_squares")
REFORMULATIONS = (
    "contact_sequence", "l1_penalty", "squared_penalty", "scholtes", "lin_fukushima", "steffensen_ulbrich",
    "fischer_burmeister", "pyomo_mpec",
)  # fmt: skip


def scene_figures(block: Mapping[str, Any]) -> list[str]:
    """Figures of the scenes that aren't the paper's."""
    return [f"ext_scene_{name}" for name in block["scenes"] if name not in PAPER_SCENES]
