"""The tables and figures of the arm study, each declared once; nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from contactid.output import artefacts
from contactid.output.artefacts import Artefact, Spread, figure

table = partial(artefacts.table, rule="arm_tables")
_SCATTER = Spread(
    {name: name for name in ("dataset", "velocity_m_s", "angle_deg")}, "twin_{quantity}", ("twin_spread_{quantity}",),
    "half of the range of several recordings",
)  # fmt: skip


def declare(block: Mapping[str, Any]) -> list[Artefact]:
    """The artefacts of a run, by the study's block of the configuration."""
    recordings = (str(block["data"]),)
    return [
        *(_landings(str(block["landings"])) if block["landings"] else []),
        table(
            "tab01_parameters",
            compute="contactid.arm.artefacts.two_mass:parameters",
            caption="Parameters of the two-mass models, printed and used.",
        ),
        table(
            "tab02_impact_map",
            datasets=recordings,
            compute="contactid.arm.artefacts.impact_table:table_ii",
            caption="Impact map and fits: as printed, our predictions with fitted postures, and the recordings.",
            spread=_SCATTER,
        ),
        table(
            "ext_left_out",
            compute="contactid.arm.artefacts.impact_table:table_ii",
            caption="Every row of Table II predicted from the others of its group, also by arms of random inertia.",
        ),
        table(
            "ext_headline",
            compute="contactid.arm.artefacts.headline:headline",
            title="What the printed map tells of the measured velocities",
            caption="Errors of Table II's predictions from print alone, beside answers that know nothing of the arm.",
        ),
        table(
            "ext_robots",
            compute="contactid.arm.artefacts.robots:robots",
            title="The paper's impacts by every published model of its arm",
            caption="r, effective mass, lateral velocity and joint 3's jump in the stated postures by published models"
            " of the arm, with and without motors, and their errors against Table II.",
        ),
        table(
            "ext_robots_rows",
            compute="contactid.arm.artefacts.robots:robots",
            title="Which robots each row of Table II could be",
            caption="How many models of the arm with and without motors agree with each row of Table II, in the stated"
            " posture and in any upright one.",
        ),
        table(
            "ext_events",
            compute="contactid.arm.artefacts.damping_sweep:sweep_artefacts",
            caption="Events of contact in the two-mass models.",
        ),
        table(
            "ext_damping_sweep",
            compute="contactid.arm.artefacts.damping_sweep:sweep_artefacts",
            caption="Bouncing, settling and the one-mode fit of the two-mass models under other dampings.",
            title="Two-mass models under other dampings",
        ),
        table(
            "ext_postures",
            compute="contactid.arm.artefacts.postures:postures",
            caption="Impact postures: r fitted to printed rows, and the postures that have it.",
        ),
        table(
            "ext_links",
            compute="contactid.arm.artefacts.postures:postures",
            caption="Links of the arm, as described and as corrected: can they be solid bodies of their size?",
        ),
        table(
            "ext_impact_laws",
            compute="contactid.arm.artefacts.impact_laws:impact_laws",
            caption="Impacts of Table II under other laws, by restitution and friction.",
        ),
        table(
            "ext_fit",
            datasets=recordings,
            compute="contactid.arm.artefacts.fits:fit_tables",
            caption="Reconstructed post-impact velocities by the paper's method, against the impact map.",
        ),
        table(
            "ext_fit_methods",
            datasets=recordings,
            compute="contactid.arm.artefacts.fits:fit_tables",
            caption="Velocities after every recorded impact, by every method.",
        ),
        table(
            "ext_fit_summary",
            datasets=recordings,
            compute="contactid.arm.artefacts.fits:fit_tables",
            caption="Errors of the reconstructed post-impact velocity against the impact map, by method.",
        ),
        table(
            "ext_joints",
            datasets=recordings,
            compute="contactid.arm.artefacts.fits:fit_tables",
            title="Joint velocities after the impacts, against eq. 5",
            caption="Velocities of the joints after every recorded impact, by all of them at once, against eq. 5.",
        ),
        table(
            "ext_fit_accuracy",
            compute="contactid.arm.artefacts.accuracy:accuracy",
            title="Accuracy of the fits on twins that methods weren't chosen on",
            caption="Errors of the reconstructed post-impact velocity on twins that methods weren't chosen on"
            " (mm/s). Data: synthetic twins with noise samples.",
        ),
        figure(
            "fig01_arm",
            rule="arm_tables",
            compute="contactid.arm.artefacts.arm_pose:arm_figure",
            draw="contactid.arm.artefacts.arm_pose:draw_arm",
            caption="The arm's links before and at the impact, drawn from the link table in place of the photographs.",
            data="drawing: from the link table, outlines schematic, in place of the photographs",
        ),
        figure(
            "fig02_joint_velocities",
            rule="arm_tables",
            datasets=recordings,
            compute="contactid.arm.artefacts.joint_velocities:shown_velocities",
            draw="contactid.arm.artefacts.joint_velocities:draw_joint_velocities",
            caption="Joint velocities of a recording round its impact.",
        ),
        figure(
            "fig03_models",
            rule="arm_tables",
            compute="contactid.arm.artefacts.model_sketch:model_sketch",
            draw="contactid.arm.artefacts.model_sketch:draw_models",
            title="The two-mass models A, B and C",
            caption="The two-mass models A (compliant contact, flexible robot), B (rigid contact, flexible robot) and C"
            " (rigid).",
            data="drawing",
        ),
        figure(
            "fig04_two_mass",
            rule="arm_tables",
            compute="contactid.arm.artefacts.two_mass:motions",
            draw="contactid.arm.artefacts.two_mass:draw_motions",
            title="Motions of the two-mass models A, B and C",
            caption="Positions and velocities of the masses in models A, B and C over time, with the time of the impact"
            " enlarged.",
            data="simulated: two-mass models of Table I",
            settings={"zoom": block["models"]["zoom"]},
        ),
        figure(
            "fig05_decomposition",
            rule="arm_tables",
            compute="contactid.arm.artefacts.two_mass:decomposition",
            draw="contactid.arm.artefacts.two_mass:draw_decomposition",
            caption="Velocity of model A after the impact, split into the rigid motion and a fitted decaying"
            " oscillation.",
            data="simulated: two-mass models of Table I",
        ),
        figure(
            "fig06_cartesian_fit",
            rule="arm_tables",
            datasets=recordings,
            compute="contactid.arm.artefacts.fits:fit_tables",
            draw="contactid.arm.artefacts.fits:draw_cartesian_fit",
            caption="Velocity of the tip in recordings, with the fits that give the velocities before and after the"
            " impact.",
        ),
        figure(
            "ext_damping_sweep",
            rule="arm_tables",
            compute="contactid.arm.artefacts.damping_sweep:sweep_artefacts",
            draw="contactid.arm.artefacts.damping_sweep:draw_sweep",
            caption="Settling and the fit's error of models A and B against the coupling's damping.",
            data="simulated: two-mass models",
        ),
        figure(
            "ext_fit_accuracy",
            rule="arm_tables",
            compute="contactid.arm.artefacts.accuracy:accuracy",
            draw="contactid.arm.artefacts.accuracy:draw_accuracy",
            caption="Errors of the reconstructed post-impact velocity by method on twins that they weren't chosen on,"
            " and of the paper's map, which has no motors.",
            data="synthetic data: twins with noise samples; coverage: share of 95 % intervals that hold the truth",
        ),
        figure(
            "ext_headline",
            rule="arm_tables",
            compute="contactid.arm.artefacts.headline:headline",
            draw="contactid.arm.artefacts.headline:draw_headline",
            title="What the printed map tells of the measured velocities",
            caption="Errors of Table II's predictions of v_x+ beside answers that know nothing of the arm, row by row"
            " and their means (dots); the map's errors by speed and direction; the fitted v_z+ over v_x+, and one lean"
            " of the table (line).",
            data="printed: Table II without its copied row",
        ),
        figure(
            "ext_robots",
            rule="arm_tables",
            compute="contactid.arm.artefacts.robots:robots",
            draw="contactid.arm.artefacts.robots:draw_robots",
            title="The paper's impacts by every published model of its arm",
            caption="r in the stated postures by published models of the arm with no motors, identified motors, motors"
            " reduced by torque control (fitted to the printed fits), and as one rigid body; joint 3's jump over the"
            " largest of joints 2, 4 and 6 at 53 degrees.",
            data="computed: from published links and motors; lines: r that Table II's map and fits have",
        ),
        figure(
            "ext_postures",
            rule="arm_tables",
            compute="contactid.arm.artefacts.levers:levers",
            draw="contactid.arm.artefacts.levers:draw_levers",
            caption="r against the probe's tilt, the table's height and the probe's length, with the described and the"
            " corrected wrist.",
            data="computed: from the link table; bands: r that the printed rows ask for",
        ),
    ]


def _landings(dataset: str) -> list[Artefact]:
    """A biped's landings against rigid laws."""
    how: dict[str, Any] = {
        "rule": "arm_landing_tables",
        "datasets": (dataset,),
        "compute": "contactid.arm.artefacts.landings:landing_tables",
    }
    return [
        artefacts.table(
            "ext_landings",
            **how,
            title="Laws of impact on real landings of a biped",
            caption="Errors of v+ by rigid laws over the size of the measured jump, on real landings of a biped.",
        ),
        artefacts.table(
            "ext_landings_errors",
            **how,
            title="Laws of impact, landing by landing",
            caption="Errors of v+ by rigid laws over the size of the measured jump, landing by landing.",
        ),
        figure(
            "ext_landings",
            **how,
            draw="contactid.arm.artefacts.landings:draw_landings",
            title="Laws of impact on real landings of a biped",
            caption="Errors of v+ by rigid laws over the size of the measured jump: every landing, the median 6 ms"
            " after the second foot's touch with its 95 % interval, and below it medians at 4 (<) and 8 ms (>).",
            data="public data: landings of the biped Cassie at 2 kHz",
        ),
    ]
