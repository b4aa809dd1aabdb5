"""The tables and figures of the tossing study, each declared once; nothing is computed here.

A row names the functions of a file of this folder (:class:`contactid.output.artefacts.Rows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contactid.output.artefacts import TYPESET, Artefact, Rows, Spread
from contactid.tossing.configuration import cases, velocity_cases

_TABLES = Rows(__name__, "tossing_tables")
#: Which data a figure was made from is known in the run only (``figures/sources.json``).
_FIGURES = Rows(__name__, "tossing_figures")
_INTERVAL = Spread(
    keys={"object": "object", "parameters": "parameters"},
    value="{quantity}",
    ends=("{quantity}_low", "{quantity}_high"),
    words="95 % interval, which takes the body as known",
)


#: What a run identifies on (``identified`` tosses, ``impacts``) and predicts; names may be repeated.
_Datasets = Mapping[str, tuple[str, ...]]


def declare(block: Mapping[str, Any], printed: bool = True) -> list[Artefact]:
    """The artefacts of a run, by the study's block of the configuration, and whether its objects
    are the paper's.
    """
    identified, predicted = zip(*cases(block), strict=True)
    impacts = tuple(identified_on for identified_on, _ in velocity_cases(block))
    tossed = identified + predicted
    data: _Datasets = {"identified": identified, "predicted": predicted, "impacts": impacts}
    data = {**data, "tossed": tossed, "every": tossed + impacts}
    calibrated = any(variant["calibrated"] for variant in block["variants"])
    artefacts = [*_scenes(), *_tosses(), *_tables(data, calibrated)]
    if printed:  # what the paper's parameters predict of its boxes
        artefacts.append(
            _TABLES.table(
                "ext_printed_parameters",
                "predictions:prediction_tables",
                "Errors of the rest pose predicted with the printed parameters, beside the printed "
                "errors",
                datasets=data["predicted"],
            )
        )
    if block["velocity"]["identify_on"]:
        artefacts += _impacts(data)
        if printed:
            artefacts += _other_truths()
        if any(variant["mpec"] for variant in block["velocity"]["variants"]):
            artefacts.append(
                _TABLES.table(
                    "ext_impact_mpec",
                    "impacts:impact_tables",
                    "The impact MPEC in several forms",
                    datasets=data["impacts"],
                )
            )
    if block["rest_poses"]["variants"]:
        artefacts += _distributions(data)
    if block["author_plots"]:
        artefacts += _plotted(block["author_plots"])
    if block["benchmark"]["rows"]:
        artefacts += _benchmark(data)
    return artefacts


def _scenes() -> list[Artefact]:
    """What is seen: a toss, the frames, the set-up and the boxes."""
    return [
        _FIGURES.figure(
            "fig01_example_toss",
            "scenes:scene_figures",
            "draw_example_toss",
            "A box in time lapse, from its release to its rest on the surface; rendered from the "
            "data in place of the photograph.",
            settings={"aside": 14.0},
        ),
        _FIGURES.figure(
            "fig02_frames",
            "scenes:scene_figures",
            "draw_frames",
            "The frames M (motion capture), C (contact surface) and B (body), and the box's "
            "contact points in flight; rendered from the data in place of the drawing.",
            title="The frames of motion capture, surface and box",
        ),
        _FIGURES.figure(
            "fig03_setup",
            "scenes:scene_figures",
            "draw_setup",
            "The set-up in overview: surface, frames and one toss, with dimensions; rendered "
            "from the data in place of the photographs.",
        ),
        _FIGURES.figure(
            "fig04_boxes",
            "scenes:scene_figures",
            "draw_boxes",
            "The boxes to one scale with size and mass; rendered from the data in place of "
            "the photographs.",
        ),
    ]


def _tosses() -> list[Artefact]:
    """Figures of tosses, and of what is identified from their trajectories."""
    return [
        _FIGURES.figure(
            "fig10_release_and_rest",
            "tosses:toss_figures",
            "draw_height",
            "Height of the box's centre over the samples of a toss, with the moments of release "
            "and rest that were found.",
        ),
        _FIGURES.figure(
            "fig11_trajectory",
            "scenes:scene_figures",
            "draw_example_toss",
            "The measured toss from release to rest, rendered from the data.",
            settings={"aside": 40.0},
        ),
        _FIGURES.figure(
            "fig12_trajectory_costs",
            "costs:cost_figures",
            "draw_costs",
            "Mean trajectory loss (eqs. 16 and 18) over friction and restitution for every box, "
            "with its optimum, the optimum's 95 % interval and the printed one.",
            title="Trajectory-based cost over friction and restitution",
            settings={"label": r"mean $L_\mathrm{traj}$"},
        ),
        _FIGURES.figure(
            "fig13_rest_poses",
            "tosses:toss_figures",
            "draw_rest_poses",
            "Measured rest poses from above, and predicted ones by parameters from impacts "
            "(velocity) and from trajectories, with the errors of their position and orientation; "
            "a row per box.",
        ),
        _FIGURES.figure(
            "fig14_sensitivity",
            "sensitivity:sensitivity_figure",
            "draw_variation",
            "Rest poses from above where friction or restitution is varied, a row per box and "
            "parameter.",
        ),
    ]


def _tables(data: _Datasets, calibrated: bool) -> list[Artefact]:
    """Tables of every run; one names its datasets only where a body is ``calibrated``."""
    return [
        _TABLES.table(
            "tab01_object_properties",
            "bodies:body_tables",
            "Properties of the objects, and the inertia of a homogeneous box of that size and mass",
            datasets=data["predicted"],
        ),
        _TABLES.table(
            "tab02_identified_parameters",
            "predictions:prediction_tables",
            "Identified parameters, beside the printed ones",
            spread=_INTERVAL,
            datasets=data["identified"] + data["impacts"],
        ),
        _TABLES.table(
            "tab03_rest_pose_errors",
            "predictions:prediction_tables",
            "Errors of the predicted rest pose, beside the printed ones",
            datasets=data["every"],
        ),
        _TABLES.table(
            "tab04_rest_pose_errors_without_restitution",
            "predictions:prediction_tables",
            "Errors of the predicted rest pose with restitution set to zero",
            datasets=data["tossed"],
        ),
        _TABLES.table(
            "ext_identification",
            "predictions:prediction_tables",
            "Errors on the test tosses by scheme",
            datasets=data["every"],
        ),
        _TABLES.table(
            "ext_calibration",
            "bodies:body_tables",
            "Calibrated body and length scale",
            datasets=data["identified"] if calibrated else (),
        ),
        _TABLES.table(
            "ext_solver",
            "predictions:prediction_tables",
            "Contact steps of the predicted tosses and how many of them the contact solver solved "
            "to 1e-9 m/s",
            title="Contact steps that the solver solved",
            datasets=data["every"],
        ),
        _TABLES.table(
            "ext_sensitivity",
            "sensitivity:sensitivity_tables",
            "Change of the rest pose where one parameter is varied",
            datasets=data["tossed"],
        ),
        _TABLES.table(
            "ext_sobol",
            "sensitivity:sensitivity_tables",
            "Sobol indices of the rest pose",
            datasets=data["tossed"],
        ),
        _TABLES.table(
            "ext_recorded_motion",
            "tosses:motion_table",
            "How every toss moves from release to rest, and the error of its predicted rest "
            "position",
            datasets=data["tossed"],
        ),
        _FIGURES.table(
            "ext_tumbling_costs",
            "other_choices:tumbling_costs",
            "Change of the trajectory-based cost with restitution, of recorded tosses and of "
            "tosses that turn over",
            datasets=data["identified"],
        ),
        _TABLES.table(
            "ext_no_impact",
            "predictions:prediction_tables",
            "Errors if every toss ended where the box first touches the surface",
            files=TYPESET,
            datasets=data["predicted"],
        ),
    ]


def _impacts(data: _Datasets) -> list[Artefact]:
    """Identification from the velocities round impacts."""
    return [
        _FIGURES.figure(
            "fig05_vertex_heights",
            "impacts:impact_figures",
            "draw_heights",
            "Heights of the eight vertices over the surface during a toss; the selected impact is "
            "marked.",
        ),
        _FIGURES.figure(
            "fig06_impact_velocities",
            "impacts:impact_figures",
            "draw_velocities",
            "Measured velocities round an impact, with the lines fitted before and after it that "
            "give the velocities at the impact.",
        ),
        _FIGURES.figure(
            "fig08_simulated_velocities",
            "impacts:impact_figures",
            "draw_velocities",
            "Measured velocities round an impact against simulated ones: (a) with 16 steps per "
            "sample, in place of the commercial simulator of figure 7, and (b) with one, as in "
            "figure 8.",
            title="Simulated velocities round an impact, as in figures 7 and 8",
        ),
        _FIGURES.figure(
            "fig09_velocity_costs",
            "costs:cost_figures",
            "draw_costs",
            "Mean velocity loss (eqs. 16 and 17) over friction and restitution for every box, "
            "with its optimum, the optimum's 95 % interval and the printed one.",
            title="Velocity-based cost over friction and restitution",
            settings={"label": r"mean $L_\mathrm{vel}$ (m/s)"},
        ),
        _TABLES.table(
            "ext_velocity_identification",
            "impacts:impact_tables",
            "Velocity-based identification: impacts, losses and parameters",
            datasets=data["impacts"],
        ),
        _FIGURES.table(
            "ext_velocity_choices",
            "other_choices:impact_tables",
            "Velocity-based optimum with other grids, thresholds and differences",
            datasets=data["impacts"],
        ),
        _FIGURES.table(
            "ext_example_impacts",
            "other_choices:impact_tables",
            "Measured and simulated velocities at one impact of every box",
            datasets=data["impacts"],
        ),
        _TABLES.table(
            "ext_velocity_against_trajectory",
            "predictions:prediction_tables",
            "Parameters from impacts less those from trajectories",
            datasets=data["impacts"] + data["identified"],
        ),
    ]


def _other_truths() -> list[Artefact]:
    """Made of stored samples, so no dataset of the run is behind them."""
    return [
        _TABLES.table(
            "ext_other_truth",
            "stored:other_truth_table",
            "Boxes made anew by other truths, identified both ways by both laws of impacts: "
            "medians over seeds; of stored samples",
            title="Identified under another truth",
        ),
    ]


def _distributions(data: _Datasets) -> list[Artefact]:
    """Regions that hold the rest pose with stated probability."""
    return [
        _FIGURES.figure(
            "ext_rest_pose_distribution",
            "rest_poses:rest_pose_figure",
            "draw_regions",
            "Regions that hold 50, 80 and 90 % of the rest positions, of a few tosses from above: "
            "of those with the surest and the least sure faces.",
        ),
        _TABLES.table(
            "ext_rest_pose_coverage",
            "rest_poses:rest_pose_tables",
            "Coverage of the predicted regions of the rest pose on held-out tosses",
            datasets=data["tossed"],
        ),
    ]


def _benchmark(data: _Datasets) -> list[Artefact]:
    """Other simulators on the same tosses, and fewer tosses."""
    return [
        _TABLES.table(
            "ext_benchmark",
            "stored:benchmark_table",
            "Simulators identified on the same tosses with the same budget, on whole files of the "
            "test tosses",
            datasets=data["tossed"],
        ),
        _FIGURES.figure(
            "ext_learning_curve",
            "stored:learning_figure",
            "draw_learning_curve",
            "Errors on the test tosses against the number of tosses that the body and both "
            "parameters are identified on, by both laws of impacts: medians over draws, with "
            "their range.",
        ),
    ]


def _plotted(dataset: str) -> list[Artefact]:
    """The authors' own drawings, read as numbers."""
    plotted = Rows(__name__, "tossing_plotted", datasets=(dataset,))
    plots = "plotted:plotted_tables"
    return [
        plotted.table(
            "ext_plotted_costs",
            plots,
            "Cost surfaces of Box006 as the authors drew them (figures 9 and 12): optimum and "
            "plateaus",
        ),
        plotted.table(
            "ext_plotted_rest_poses",
            plots,
            "Errors of the rest poses that the authors drew (figure 13), with both simulators",
        ),
        plotted.table(
            "ext_plotted_impact",
            plots,
            "Velocity losses of the impact that the authors drew (figures 6 to 8), with both "
            "simulators",
        ),
    ]
