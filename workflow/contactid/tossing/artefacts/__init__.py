"""The tables and figures of the tossing study, each declared once; nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contactid.output.artefacts import TYPESET, Artefact, Spread, figure, table
from contactid.tossing.configuration import cases, velocity_cases

# who computes the tables
_BODIES, _PREDICTIONS, _IMPACTS = (
    "bodies:body_tables",
    "predictions:prediction_tables",
    "impacts:impact_tables",
)
_SENSITIVITY, _DISTRIBUTIONS = "sensitivity:sensitivity_tables", "rest_poses:rest_pose_tables"
_CHOICES = "other_choices"
_INTERVAL = Spread(
    {"object": "object", "parameters": "parameters"}, "{quantity}", ("{quantity}_low", "{quantity}_high"),
    "95 % interval, which takes the body as known",
)  # fmt: skip


def declare(block: Mapping[str, Any], printed: bool = True) -> list[Artefact]:
    """The artefacts of a run, by the study's block of the configuration, and whether its objects
    are the paper's.
    """
    from_impacts = bool(block["velocity"]["identify_on"])
    mpec = from_impacts and any(variant["mpec"] for variant in block["velocity"]["variants"])
    rest_poses = bool(block["rest_poses"]["variants"])
    benchmark = bool(block["benchmark"]["rows"])
    of_tosses, of_impacts = cases(block), velocity_cases(block)
    identified, predicted = zip(*of_tosses, strict=True)
    impacts = [on for on, _ in of_impacts]
    calibrated = identified if any(variant["calibrated"] for variant in block["variants"]) else []
    tossed = [*identified, *predicted]
    every = [*tossed, *impacts]
    return [
        *_scenes(), *from_impacts * _impacts(), *_tosses(), *rest_poses * _distributions(),
        _table("tab01_object_properties", _BODIES,
               "Properties of the objects, and the inertia of a homogeneous box of that size and mass", predicted),
        _table("tab02_identified_parameters", _PREDICTIONS,
               "Identified parameters, beside the printed ones", [*identified, *impacts], spread=_INTERVAL),
        _table("tab03_rest_pose_errors", _PREDICTIONS, "Errors of the predicted rest pose, beside the printed ones",
               every),
        _table("tab04_rest_pose_errors_without_restitution", _PREDICTIONS,
               "Errors of the predicted rest pose with restitution set to zero", tossed),
        _table("ext_identification", _PREDICTIONS, "Errors on the test tosses by scheme", every),
        _table("ext_calibration", _BODIES, "Calibrated body and length scale", calibrated),
        _table("ext_solver", _PREDICTIONS,
               "Contact steps of the predicted tosses and how many of them the contact solver solved to 1e-9 m/s",
               every, title="Contact steps that the solver solved"),
        _table("ext_sensitivity", _SENSITIVITY, "Change of the rest pose where one parameter is varied", tossed),
        _table("ext_sobol", _SENSITIVITY, "Sobol indices of the rest pose", tossed),
        _table("ext_moving_surface", _PREDICTIONS, "Errors on a moving surface against those on one at rest",
               every),
        _table("ext_recorded_motion", "tosses:motion_table",
               "How every toss moves from release to rest, and the error of its predicted rest position", tossed),
        _table("ext_tumbling_costs", f"{_CHOICES}:tumbling_costs",
               "Change of the trajectory-based cost with restitution, of recorded tosses and of tosses that turn over",
               identified, rule="tossing_figures"),
        _table("ext_no_impact", _PREDICTIONS, "Errors if every toss ended where the box first touches the surface",
               predicted, files=TYPESET),
        *printed * [
            _table("ext_printed_parameters", _PREDICTIONS,
                   "Errors of the rest pose predicted with the printed parameters, beside the printed errors",
                   predicted),
        ],
        *(printed and from_impacts) * _other_truths(),
        *from_impacts * [
            _table("ext_velocity_identification", _IMPACTS,
                   "Velocity-based identification: impacts, losses and parameters", impacts),
            _table("ext_velocity_choices", f"{_CHOICES}:impact_tables",
                   "Velocity-based optimum with other grids, thresholds and differences", impacts,
                   rule="tossing_figures"),
            _table("ext_example_impacts", f"{_CHOICES}:impact_tables",
                   "Measured and simulated velocities at one impact of every box", impacts, rule="tossing_figures"),
            _table("ext_velocity_against_trajectory", _PREDICTIONS,
                   "Parameters from impacts less those from trajectories", [*impacts, *identified]),
        ],
        *mpec * [_table("ext_impact_mpec", _IMPACTS, "The impact MPEC in several forms", impacts)],
        *rest_poses * [
            _table("ext_rest_pose_coverage", _DISTRIBUTIONS,
                   "Coverage of the predicted regions of the rest pose on held-out tosses", tossed),
            _table("ext_rest_pose_errors", _DISTRIBUTIONS, "Predicted and actual errors of every toss's rest pose",
                   tossed),
        ],
        *bool(block["author_plots"]) * _plotted(block["author_plots"]),
        *benchmark * _benchmark(tossed),
    ]  # fmt: skip


def _benchmark(tossed: Sequence[str]) -> list[Artefact]:
    return [
        _table("ext_benchmark", "stored:benchmark_table",
               "Simulators identified on the same tosses with the same budget, on whole files of the test tosses",
               tossed),
        _table("ext_learning_curve", "stored:learning_table",
               "Test errors against the number of tosses to identify on, medians and ranges over draws", tossed),
        _figure("ext_learning_curve", "stored:learning_figure", "stored:draw_learning_curve",
                "Errors on the test tosses against the number of tosses that the body and both parameters are "
                "identified on, by both laws of impacts: medians over draws, with their range."),
    ]  # fmt: skip


def _scenes() -> list[Artefact]:
    scenes = "scenes:scene_figures"
    return [
        _figure("fig01_example_toss", scenes, "scene_drawings:draw_example_toss",
                "A box in time lapse, from its release to its rest on the surface; rendered from the data in place of "
                "the photograph."),
        _figure("fig02_frames", scenes, "scene_drawings:draw_frames",
                "The frames M (motion capture), C (contact surface) and B (body), and the box's contact points.",
                title="The frames of motion capture, surface and box"),
        _figure("fig03_setup", scenes, "scene_drawings:draw_setup",
                "The set-up in overview: surface, frames and one toss, with dimensions; rendered in place of the "
                "photographs."),
        _figure("fig04_boxes", scenes, "scene_drawings:draw_boxes",
                "The boxes to one scale with size and mass; rendered in place of the photographs."),
    ]  # fmt: skip


def _impacts() -> list[Artefact]:
    figures = "impacts:impact_figures"
    return [
        _figure("fig05_vertex_heights", figures, "impacts:draw_heights",
                "Heights of the eight vertices over the surface during a toss; the selected impact is marked."),
        _figure("fig06_impact_velocities", figures, "impacts:draw_velocities",
                "Measured velocities round an impact, with the lines fitted before and after it that give the "
                "velocities at the impact."),
        _figure("fig08_simulated_velocities", figures, "impacts:draw_velocities",
                "Measured velocities round an impact against simulated ones: (a) with 16 steps per sample, in place of "
                "the commercial simulator of figure 7, and (b) with one, as in figure 8.",
                title="Simulated velocities round an impact, as in figures 7 and 8"),
        _figure("fig09_velocity_costs", "costs:cost_figures", "costs:draw_costs",
                "Mean velocity loss (eqs. 16 and 17) over friction and restitution for every box, with its optimum, "
                "the optimum's 95 % interval and the printed one.",
                label=r"mean $L_\mathrm{vel}$ (m/s)", title="Velocity-based cost over friction and restitution"),
    ]  # fmt: skip


def _tosses() -> list[Artefact]:
    figures, sensitivity = "tosses:toss_figures", "sensitivity:sensitivity_figures"
    return [
        _figure("fig10_release_and_rest", figures, "tosses:draw_height",
                "Height of the box's centre over the samples of a toss, with the moments of release and rest that "
                "were found."),
        _figure("fig11_trajectory", "scenes:scene_figures", "scene_drawings:draw_example_toss",
                "The measured toss from release to rest in three dimensions.", numbered=True),
        _figure("fig12_trajectory_costs", "costs:cost_figures", "costs:draw_costs",
                "Mean trajectory loss (eqs. 16 and 18) over friction and restitution for every box, with its optimum, "
                "the optimum's 95 % interval and the printed one.",
                label=r"mean $L_\mathrm{traj}$", title="Trajectory-based cost over friction and restitution"),
        _figure("fig13_rest_poses", figures, "tosses:draw_rest_poses",
                "Measured rest poses from above, and predicted ones by parameters from impacts (velocity) and from "
                "trajectories, with the errors of their position and orientation; a row per box."),
        _figure("fig14_sensitivity", sensitivity, "sensitivity:draw_variation",
                "Rest poses from above where friction or restitution is varied, a row per box and parameter."),
        _figure("ext_sobol", sensitivity, "sensitivity:draw_sobol",
                "Sobol indices of the rest pose, first order and total, by identified parameter and release quantity."),
    ]  # fmt: skip


def _other_truths() -> list[Artefact]:
    """Made of stored samples, so no dataset of the run is behind them."""
    module = "contactid.tossing.artefacts.stored"
    return [
        _table("ext_other_truth", "stored:other_truth_table",
               "Boxes made anew by other truths, identified both ways by both laws of impacts: medians over seeds; "
               "of stored samples", [], title="Identified under another truth"),
        figure("ext_other_truth", "tossing_figures", f"{module}:differences", f"{module}:draw_other_truth",
               "Friction from impacts less friction from trajectories, of boxes made anew by one truth and identified "
               "by Newton's law, beside table II; of stored samples.",
               title="The two ways of table II under another truth",
               data="synthetic data: boxes made anew by other truths, stored"),
    ]  # fmt: skip


def _distributions() -> list[Artefact]:
    figures = "rest_poses:rest_pose_figures"
    return [
        _figure("ext_calibration_curve", figures, "rest_poses:draw_calibration_curve",
                "How often the predicted regions of the rest pose hold the measured one, against their nominal level."),
        _figure("ext_rest_pose_distribution", figures, "rest_poses:draw_regions",
                "Regions that hold 50, 80 and 90 % of the rest positions, of a few tosses from above: of those with "
                "the surest and the least sure faces."),
    ]  # fmt: skip


def _plotted(dataset: str) -> list[Artefact]:
    captions = {
        "costs": "Cost surfaces of Box006 as the authors drew them (figures 9 and 12): optimum and plateaus",
        "rest_poses": "Errors of the rest poses that the authors drew (figure 13), with both simulators",
        "impact": "Velocity losses of the impact that the authors drew (figures 6 to 8), with both simulators",
    }
    return [
        _table(
            f"ext_plotted_{name}",
            "plotted:plotted_tables",
            caption,
            [dataset],
            rule="tossing_plotted",
        )
        for name, caption in captions.items()
    ]


def _table(
    name: str,
    compute: str,
    caption: str,
    datasets: Sequence[str],
    rule: str = "tossing_tables",
    **more: Any,
) -> Artefact:
    return table(
        name, rule, f"contactid.tossing.artefacts.{compute}", caption, datasets=datasets, **more
    )


def _figure(
    name: str, compute: str, draw: str, caption: str, title: str = "", **settings: Any
) -> Artefact:
    """A figure; which data it was made from is known in the run only (``figures/sources.json``)."""
    compute, draw = (f"contactid.tossing.artefacts.{function}" for function in (compute, draw))
    return figure(name, "tossing_figures", compute, draw, caption, title=title, settings=settings)
