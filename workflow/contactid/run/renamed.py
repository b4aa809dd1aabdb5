"""Rules that have another name now: whoever asks for an old one is told the new one."""

from __future__ import annotations

from collections.abc import Iterable

from contactid.core.errors import ContactIdError

_ARM, _HAND, _SWEEPS = "arm_tables", "inhand_tables", "inhand_sweeps"
RULES = {
    "arm_draw": "arm_draw_1", "arm_fit_accuracy": _ARM, "arm_impact_table": _ARM, "arm_pose": _ARM,
    "arm_postures": _ARM, "arm_two_mass": _ARM, "arm_velocities": _ARM,
    "inhand_appendix": _HAND, "inhand_draw": "inhand_draw_1", "inhand_estimates": _HAND,
    "inhand_ablation": _SWEEPS, "inhand_differences": _SWEEPS, "inhand_disturbances": _SWEEPS,
    "inhand_excitation": _SWEEPS, "inhand_speed": _SWEEPS, "inhand_strength": _SWEEPS,
    "inhand_factor_graph": _HAND, "inhand_grasp_figures": _HAND,
    "planar_animate": "planar_draw_2", "planar_draw": "planar_draw_1", "planar_figure_data": "planar_figures",
    "planar_identification_figure_data": "planar_identified_figures", "planar_identification_tables": "planar_tables",
    "planar_reformulation": "planar_reformulations",
    "planar_square_figure_data": "planar_identified_figures",
    "tossing_draw": "tossing_draw_1", "tossing_figure_data": "tossing_figures", "tossing_impacts": "tossing_impacts_1",
    "tossing_predict": "tossing_predict_trajectory", "tossing_sweep": "tossing_identify_1",
    "tossing_identify": "tossing_identify_1", "tossing_impact_mpec": "tossing_impact_mpec_1",
    "tossing_sobol": "tossing_sobol_1",
    "tossing_rest_poses": "tossing_rest_poses_1",
    "arm_read": "read_data", "read_motion": "read_data", "read_planar": "read_data", "summary": "checks",
}  # fmt: skip


def refuse_old_names(words: Iterable[str]) -> None:
    """Raise :class:`ContactIdError` where a word is a rule's former name, as in ``-R arm_draw``."""
    for word in words:
        # --set-resources rule:mem_mb=...
        name = word.partition(":")[0]
        if name in RULES:
            problem = f"there is no rule {name} any more"
            raise ContactIdError(problem, f"What it did, {RULES[name]} does now")
