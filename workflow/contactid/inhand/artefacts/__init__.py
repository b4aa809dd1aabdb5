"""The tables and figures of the in-hand study, each declared once; nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contactid.inhand.readers.sources import (
    APPENDIX_TABLES,
    ERROR_FIGURES,
    IN_HAND,
    IN_HAND_KINEMATIC,
    SOURCE_LABELS,
    SOURCES,
    WRIST,
)
from contactid.output.artefacts import TYPESET, Artefact, Rows

_FROM_PRINT = Rows(__name__, "inhand_printed")
_ESTIMATED = Rows(__name__, "inhand_tables")
# parts of the twin that aren't recordings of a motion
_FINGERTIP, _SENSOR = "fingertip", "electrode_sensor"
_MODEL = "drawing of the synthetic twin's model, contactid inhand"
_GUESS = "which figure is vision's is a guess"
_ERRORS_OF = {
    "fig07_simulation": "the simulated object at every noise level",
    "fig08_wrist": "the boxes at the wrist's force-torque sensor",
    "fig10_inhand_vision": f"boxes held in hand and tracked by vision ({_GUESS})",
    "fig11_inhand_kinematic": f"boxes held in hand and tracked kinematically ({_GUESS})",
}
_IN_HAND_FIGURES = {ERROR_FIGURES[source] for source in IN_HAND}
_UNSENSED = (
    "ours also estimates a constant unsensed wrench, which mends the mass; "
    "the constraint doesn't (ext_ablation)"
)


def _twins(*sources: str) -> tuple[str, ...]:
    """The parts of the study's synthetic twin, as verdicts name them."""
    return tuple(f"inhand_twin:{source}" for source in sources)


def declare(block: Mapping[str, Any]) -> list[Artefact]:
    """The artefacts of a run; the study's block of the configuration says which twins some of them
    are made from.
    """
    artefacts = [
        *_printed(),
        *_estimates(),
        *_active(),
        *_identifiability(),
        *_cost(block),
        *_fingertips(),
    ]
    if block["wrist"]:
        artefacts += _wrists()
    return artefacts


def _printed() -> list[Artefact]:
    """What follows from the paper's numbers and the settings alone."""
    return [
        _FROM_PRINT.table(
            "ext_printed_consistency",
            "printed:printed_consistency",
            "Every printed row of the appendix, its tensor about the origin, with either sign of "
            "its off-diagonals: can a rigid body have it? Margins: smallest second moment about "
            "the centre of mass over $m |c|^2$.",
            title="Can a rigid body have the printed rows?",
        ),
        _FROM_PRINT.table(
            "ext_printed_verdicts",
            "printed:printed_consistency",
            "Printed rows that pass the tests of physical consistency, by method and sign of the "
            "off-diagonals.",
            files=TYPESET,
        ),
        _FROM_PRINT.table(
            "ext_printed_conventions",
            "printed_conventions:convention_table",
            "Printed estimates (of 85, 40 of them with the constraint; 25, 20, 20 and 20 by "
            "table) that a rigid body can have with either sign of the off-diagonals, and ground "
            "truths (of 20) explained, by convention.",
            title="Printed estimates under other conventions",
            files=TYPESET,
        ),
        _FROM_PRINT.figure(
            "fig01_inhand",
            "objects:object_in_hand",
            "draw_held_object",
            "A grasped object with its contacts, forces and weight; drawn from the twin's model "
            "in place of the photograph.",
            data=_MODEL,
        ),
        _FROM_PRINT.figure(
            "fig02_contact",
            "contact_forces:contact_forces",
            "draw_contact",
            "Forces of the fingertips over time, and the friction cone of one contact.",
            data=_MODEL,
        ),
        _FROM_PRINT.figure(
            "fig03_factor_graph",
            "factor_graph:factor_graph",
            "draw_factor_graph",
            "The factor graph of five samples, drawn from the estimator's own factors.",
            data=(
                "drawn from the estimator's factors: a graph of five samples with four contacts; "
                "contactid inhand"
            ),
        ),
        _FROM_PRINT.figure(
            "fig04_objects",
            "objects:all_objects",
            "draw_objects",
            "The objects; shapes inferred from the printed numbers, in place of the photographs.",
            data=(
                "drawing; shapes inferred from the printed numbers, in place of the "
                "photographs, contactid inhand"
            ),
        ),
        _FROM_PRINT.figure(
            "fig09_force_scale",
            "contact_forces:force_scale",
            "draw_force_scale",
            "Forces of one motion as the wrist's sensor and the fingertips report them, against "
            "the true ones.",
            data=(
                "synthetic data: one motion of the twin at the wrist and in hand, contactid inhand"
            ),
            datasets=_twins(WRIST, IN_HAND_KINEMATIC),
        ),
    ]


def _appendix(source: str, name: str) -> Artefact:
    """The appendix's table of one source of recordings."""
    label = SOURCE_LABELS[source]
    caption = (
        f"Inertial parameters, {label}: printed, and medians over recordings of the synthetic "
        "twin; tensors about the body frame's origin"
    )
    if source in IN_HAND:
        caption += f"; {_UNSENSED}"
    return _ESTIMATED.table(
        name,
        "estimates:appendix",
        caption,
        title=f"Inertial parameters: {_without_brackets(label)}",
        datasets=_twins(source),
    )


def _error_figure(source: str, name: str) -> Artefact:
    """The figure of one source's errors."""
    recordings = _ERRORS_OF[name]
    caption = (
        f"Geodesic error of the estimates by method for {recordings}, with the printed rows and "
        "the uniform body in the hull; stored twins of several seeds, a dot per run. "
    )
    if name in _IN_HAND_FIGURES:
        caption += f"{_UNSENSED}."
    return _ESTIMATED.figure(
        name,
        "errors:error_figures",
        "draw_errors",
        caption,
        title=f"Geodesic errors: {_without_brackets(recordings)}",
        datasets=_twins(source),
    )


def _without_brackets(words: str) -> str:
    return words.partition(" (")[0]


def _estimates() -> list[Artefact]:
    """What is estimated from the twins, and what each part of an estimate brings."""
    return [
        *(_appendix(source, name) for source, name in APPENDIX_TABLES.items()),
        *(_error_figure(source, name) for source, name in ERROR_FIGURES.items()),
        _ESTIMATED.table(
            "ext_estimates",
            "estimates:all_estimates",
            "Every estimate of inertial parameters: whether it converged and is physically "
            "consistent, and its geodesic error.",
            datasets=_twins(*SOURCES),
        ),
        _ESTIMATED.table(
            "ext_ablation",
            "ablation:parts_of_estimators",
            "What a constant unsensed wrench (bias), the physical constraint, the hull's prior, "
            "finite differences and the errors' weights (fixed, stated, or as the recording shows "
            "them) each bring: stored estimates of three boxes in hand, kinematic twin",
            title="What each part of an estimate brings",
            datasets=_twins(IN_HAND_KINEMATIC),
        ),
        _ESTIMATED.table(
            "ext_disturbances",
            "ablation:unsensed_forces",
            "Error of the mass in hand by what the fingertips don't sense (our estimate): "
            "size_pct is the median of its size, mass_se_pct and fit_se_pct the median stated one "
            "with calibration and without, taken_out what the estimate named most often, held "
            "how many intervals of 95 % hold the mass, with the stated share of the load that "
            "bypasses the sensors; stored estimates of five boxes, kinematic twin",
            datasets=_twins(IN_HAND_KINEMATIC),
        ),
        _ESTIMATED.table(
            "ext_motion_strength",
            "motion_strength:strengths_of_motion",
            "Our estimate by how strongly the boxes are moved (ranges times 1/3, 1 and 2.5), with "
            "several kinds of unsensed forces: geodesic errors with quartiles beside the uniform "
            "body's, how many say that the prior decides the tensor, and shares of 95 % "
            "intervals that hold; stored estimates of twenty seeds that nothing was chosen on",
            datasets=_twins(WRIST, *IN_HAND),
        ),
        _ESTIMATED.table(
            "ext_printed_point",
            "printed_point:point_of_tensors",
            "How like tensors are to the parallel-axis part of their own mass and centre: median "
            "cosine, between which it would be in 95 % of random pairings, median size; the same "
            "of the off-diagonals alone, and how many have its sign. Printed estimates, and "
            "stored ones of twins by the paper's methods, whose tensors are known about both "
            "points.",
            files=TYPESET,
            datasets=_twins(*SOURCES),
        ),
        _ESTIMATED.table(
            "ext_tensor_constraint",
            "printed_point:constrained_tensors",
            "Linear fits of the twins in hand, free and with a constraint on the tensor about the "
            "origin alone: smallest second moment about the origin and about the centre of mass "
            "(a body's where positive) over $m |c|^2$, cosine and size against the parallel-axis "
            "part.",
            files=TYPESET,
            datasets=_twins(*IN_HAND),
        ),
    ]


def _active() -> list[Artefact]:
    """Where the paper's constraint acts."""
    compute = "active_constraint:active_constraint"
    return [
        _ESTIMATED.table(
            "ext_active_constraint",
            compute,
            "The paper's methods where the free estimate is no body's, which small motions were "
            "searched for: how many are a body's, how many have a tensor that is nearer, or "
            "further, than the free one's by more than 5 %, and median errors with quartiles of "
            "the tensor's; stored estimates of seeds that the search didn't see",
            title="Where the constraint acts",
            datasets=_twins(*SOURCES),
        ),
        _ESTIMATED.table(
            "ext_active_constraint_runs",
            compute,
            "Every estimate of ext_active_constraint, and those with a weight of the graph ten "
            "times or a tenth as large.",
            datasets=_twins(*SOURCES),
        ),
        _ESTIMATED.table(
            "ext_tuned_weights",
            compute,
            "Of each recording of ext_active_constraint and each of the ten numbers: its error, "
            "and the mean error of the others, with the configured weights and with those that "
            "bring it nearest to the truth.",
            datasets=_twins(*SOURCES),
        ),
    ]


def _identifiability() -> list[Artefact]:
    """What the motions say of each parameter."""
    return [
        _ESTIMATED.table(
            "ext_identifiability",
            "identifiability:identifiability_of_recordings",
            "Condition numbers and standard errors of the twins' recordings, by source and object.",
            datasets=_twins(*SOURCES),
        ),
        _ESTIMATED.figure(
            "ext_identifiability",
            "identifiability:identifiability_of_recordings",
            "draw_identifiability",
            "Relative standard errors of the inertial parameters by source and object, and "
            "condition numbers.",
            data="synthetic data: the twins' motions, contactid inhand",
            datasets=_twins(*SOURCES),
        ),
    ]


def _cost(block: Mapping[str, Any]) -> list[Artefact]:
    """What choices and samples cost."""
    return [
        _ESTIMATED.table(
            "ext_differences",
            "cost:differences",
            "Errors of noise-free estimates by scheme of finite differences and time step.",
            datasets=_twins(block["differences"]["source"]),
        ),
        _ESTIMATED.table(
            "ext_choices",
            "cost:choices_made",
            "Errors of estimates of a recording of each source by what section IV-B chose: forces "
            "through the baseline's filter or as sensed, and the standard deviation of the prior "
            "as a share of the configured one.",
            datasets=_twins(*SOURCES),
        ),
        _ESTIMATED.table(
            "ext_speed",
            "cost:time_by_samples",
            "Time of an estimate against the number of samples.",
            datasets=_twins(block["speed"]["source"]),
        ),
    ]


def _fingertips() -> list[Artefact]:
    """Friction and tactile force sensing."""
    return [
        _ESTIMATED.table(
            "ext_friction",
            "friction:friction_tables",
            "Coefficient of friction from unloading trials against the slope method, simulated "
            "fingertip; the last two rows pool the cases",
            datasets=_twins(_FINGERTIP),
        ),
        _ESTIMATED.table(
            "ext_friction_trials",
            "friction:friction_tables",
            "Every simulated trial of the coefficient of friction.",
            datasets=_twins(_FINGERTIP),
        ),
        _ESTIMATED.table(
            "ext_friction_direction",
            "friction:friction_tables",
            "Errors of the coefficient of friction by the error of the force's direction, all "
            "cases",
            files=TYPESET,
            datasets=_twins(_FINGERTIP),
        ),
        _ESTIMATED.table(
            "ext_friction_kinetic",
            "friction:friction_tables",
            "Slips found, errors of the coefficient of friction, and how often its lower bound is "
            "below the slope method's, by kinetic over static friction, all cases",
            title="Slips found, by kinetic over static friction",
            files=TYPESET,
            datasets=_twins(_FINGERTIP),
        ),
        _ESTIMATED.figure(
            "fig06_friction",
            "friction:estimates_and_errors",
            "draw_friction",
            "Identified coefficients of friction per object and region, beside the slope method.",
            datasets=_twins(_FINGERTIP),
        ),
        _ESTIMATED.table(
            "ext_force_sensing",
            "force_sensing:accuracy",
            "Force models on test sessions of the simulated sensor: median errors where the force "
            "is at least the configured one, share of components within one standard deviation "
            "(68.3 % expected), as trained and scaled on the validation sessions; improvement is "
            "the reference's median error over the model's",
            datasets=_twins(_SENSOR),
        ),
        _ESTIMATED.figure(
            "fig05_force_sensing",
            "force_sensing:forces_and_calibration",
            "draw_force_sensing",
            "Force predicted from tactile signals with its uncertainty, against the truth, and "
            "its calibration.",
            datasets=_twins(_SENSOR),
        ),
    ]


def _wrists() -> list[Artefact]:
    """Real recordings."""
    wrists = Rows(__name__, "inhand_wrist_tables")
    compute = "wrists:wrist_tables"
    return [
        wrists.table(
            "ext_wrist",
            compute,
            "Mass with real recordings of a sensor at a robot's wrist, from all rows and from "
            "few, beside a linear fit of weight and zero; standard errors with 1 % of "
            "calibration, the linear fit's by a jackknife over blocks.",
            title="Real recordings of a wrist's sensor",
        ),
        wrists.table(
            "ext_wrist_predictions",
            compute,
            "Root mean square, over samples and axes, of what is left of the wrench of a part "
            "that was left out, by the estimate from the rest and by its linear fit, without "
            "accelerations; and the share of force samples within the estimate's interval of 95 "
            "%, with drift and as if nothing drifted.",
            title="Real recordings of a wrist's sensor: a part from the rest",
        ),
        wrists.figure(
            "ext_wrist",
            compute,
            "draw_wrists",
            "Mass with real recordings of a sensor at a robot's wrist, from all rows and from "
            "few, beside the linear fit of weight and zero below each. No true mass is stated.",
            title="Real recordings of a wrist's sensor",
            data="public data: wrench and pose of a robot's wrist with a payload",
        ),
    ]
