"""The tables and figures of the arm study, each declared once; nothing is computed here.

A row names the functions of a file of this folder (:class:`contactid.output.artefacts.Rows`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contactid.output.artefacts import Artefact, Rows, Spread

#: What follows from print, from links and from models, whatever was recorded.
_COMPUTED = Rows(__name__, "arm_tables")
_SCATTER = Spread(
    keys={"dataset": "dataset", "velocity_m_s": "velocity_m_s", "angle_deg": "angle_deg"},
    value="twin_{quantity}",
    ends=("twin_spread_{quantity}",),
    words="half of the range of several recordings",
)


def declare(block: Mapping[str, Any]) -> list[Artefact]:
    """The artefacts of a run, by the study's block of the configuration."""
    recorded = Rows(__name__, "arm_tables", datasets=(str(block["data"]),))
    artefacts = [
        *_two_mass_models(block["models"]["zoom"]),
        *_impact_map(recorded),
        *_reconstructions(recorded),
    ]
    if block["landings"]:
        artefacts += _landings(str(block["landings"]))
    return artefacts


def _two_mass_models(zoom: Sequence[float]) -> list[Artefact]:
    """Section IV: models A, B and C; figure 4 enlarges the times ``zoom`` (s)."""
    return [
        _COMPUTED.table(
            "tab01_parameters",
            "two_mass:parameters",
            "Parameters of the two-mass models, printed and used.",
        ),
        _COMPUTED.table(
            "ext_events",
            "damping_sweep:sweep_artefacts",
            "Events of contact in the two-mass models.",
        ),
        _COMPUTED.table(
            "ext_damping_sweep",
            "damping_sweep:sweep_artefacts",
            "Bouncing, settling and the one-mode fit of the two-mass models under other dampings.",
            title="Two-mass models under other dampings",
        ),
        _COMPUTED.figure(
            "fig03_models",
            "model_sketch:model_sketch",
            "draw_models",
            "The two-mass models A (compliant contact, flexible robot), B (rigid contact, "
            "flexible robot) and C (rigid).",
            title="The two-mass models A, B and C",
            data="drawing",
        ),
        _COMPUTED.figure(
            "fig04_two_mass",
            "two_mass:motions",
            "draw_motions",
            "Positions and velocities of the masses in models A, B and C over time, with the time "
            "of the impact enlarged.",
            title="Motions of the two-mass models A, B and C",
            data="simulated: two-mass models of Table I",
            settings={"zoom": zoom},
        ),
        _COMPUTED.figure(
            "fig05_decomposition",
            "two_mass:decomposition",
            "draw_decomposition",
            "Velocity of model A after the impact, split into the rigid motion and a fitted "
            "decaying oscillation.",
            data="simulated: two-mass models of Table I",
        ),
    ]


def _impact_map(recorded: Rows) -> list[Artefact]:
    """Table II: which velocity an impact leaves, by the map, by other arms and by other laws."""
    return [
        recorded.table(
            "tab02_impact_map",
            "impact_table:table_ii",
            "Impact map and fits: as printed, our predictions with fitted postures, and the "
            "recordings.",
            spread=_SCATTER,
        ),
        _COMPUTED.table(
            "ext_left_out",
            "impact_table:table_ii",
            "Every row of Table II predicted from the others of its group, also by arms of random "
            "inertia.",
        ),
        _COMPUTED.table(
            "ext_headline",
            "headline:headline",
            "Errors of Table II's predictions from print alone, beside answers that know nothing "
            "of the arm.",
            title="What the printed map tells of the measured velocities",
        ),
        _COMPUTED.table(
            "ext_robots",
            "robots:robots",
            "r, effective mass, lateral velocity and joint 3's jump in the stated postures by "
            "published models of the arm, with and without motors, and their errors against Table "
            "II.",
            title="The paper's impacts by every published model of its arm",
        ),
        _COMPUTED.table(
            "ext_robots_rows",
            "robots:robots",
            "How many models of the arm with and without motors agree with each row of Table II, "
            "in the stated posture and in any upright one.",
            title="Which robots each row of Table II could be",
        ),
        _COMPUTED.table(
            "ext_postures",
            "postures:postures",
            "Impact postures: r fitted to printed rows, and the postures that have it.",
        ),
        _COMPUTED.table(
            "ext_impact_laws",
            "impact_laws:impact_laws",
            "Impacts of Table II under other laws, by restitution and friction.",
        ),
        _COMPUTED.figure(
            "fig01_arm",
            "arm_pose:arm_figure",
            "draw_arm",
            "The arm's links before and at the impact, drawn from the link table in place of the "
            "photographs.",
            data="drawing: from the link table, outlines schematic, in place of the photographs",
        ),
        _COMPUTED.figure(
            "ext_headline",
            "headline:headline",
            "draw_headline",
            "Errors of Table II's predictions of v_x+ beside answers that know nothing of the "
            "arm, row by row (ticks) and their means (dots; logarithmic above 1 mm/s); the map's "
            "errors by speed and direction; the fitted v_z+ over v_x+, and one lean of the table "
            "(line).",
            title="What the printed map tells of the measured velocities",
            data="printed: Table II without its copied row",
        ),
    ]


def _reconstructions(recorded: Rows) -> list[Artefact]:
    """Section V: velocities after an impact, from recordings that vibrate."""
    return [
        recorded.table(
            "ext_fit",
            "fits:fit_tables",
            "Reconstructed post-impact velocities by the paper's method, against the impact map.",
        ),
        recorded.table(
            "ext_fit_methods",
            "fits:fit_tables",
            "Velocities after every recorded impact, by every method.",
        ),
        recorded.table(
            "ext_fit_summary",
            "fits:fit_tables",
            "Errors of the reconstructed post-impact velocity against the impact map, by method.",
        ),
        recorded.table(
            "ext_joints",
            "fits:fit_tables",
            "Velocities of the joints after every recorded impact, by all of them at once, "
            "against eq. 5.",
            title="Joint velocities after the impacts, against eq. 5",
        ),
        _COMPUTED.table(
            "ext_fit_accuracy",
            "accuracy:accuracy",
            "Errors of the reconstructed post-impact velocity on twins that methods weren't "
            "chosen on (mm/s). Data: synthetic twins with noise samples.",
            title="Accuracy of the fits on twins that methods weren't chosen on",
        ),
        recorded.figure(
            "fig02_joint_velocities",
            "joint_velocities:shown_velocities",
            "draw_joint_velocities",
            "Joint velocities of a recording round its impact.",
        ),
        recorded.figure(
            "fig06_cartesian_fit",
            "fits:fit_tables",
            "draw_cartesian_fit",
            "Velocity of the tip in recordings, with the fits that give the velocities before and "
            "after the impact.",
        ),
        _COMPUTED.figure(
            "ext_fit_accuracy",
            "accuracy:accuracy",
            "draw_accuracy",
            "Errors of the reconstructed post-impact velocity by method on twins that they "
            "weren't chosen on, and of the paper's map, which has no motors.",
            data=(
                "synthetic data: twins with noise samples; coverage: share of 95 % intervals "
                "that hold the truth"
            ),
        ),
    ]


def _landings(dataset: str) -> list[Artefact]:
    """A biped's landings against rigid laws."""
    landed = Rows(__name__, "arm_landing_tables", datasets=(dataset,))
    return [
        landed.table(
            "ext_landings",
            "landings:landing_tables",
            "Errors of v+ by rigid laws over the size of the measured jump, on real landings of a "
            "biped.",
            title="Laws of impact on real landings of a biped",
        ),
        landed.table(
            "ext_landings_errors",
            "landings:landing_tables",
            "Errors of v+ by rigid laws over the size of the measured jump, landing by landing.",
            title="Laws of impact, landing by landing",
        ),
        landed.figure(
            "ext_landings",
            "landings:landing_tables",
            "draw_landings",
            "Errors of v+ by rigid laws over the size of the measured jump: every landing, the "
            "median 6 ms after the second foot's touch with its 95 % interval, and below it "
            "medians at 4 (<) and 8 ms (>).",
            title="Laws of impact on real landings of a biped",
            data="public data: landings of the biped Cassie at 2 kHz",
        ),
    ]
