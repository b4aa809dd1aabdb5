"""The tables, figures and animations of the planar study, each declared once; nothing is computed
here.

A row names a file of this folder with the function that computes the data, and the one that draws
them. User-defined scenes come first, so that they are drawn without the identifications.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from contactid.output.artefacts import TYPESET, Artefact, Spread, animation, figure, table

#: The paper's own scenes; every other scene of a configuration is the user's.
PAPER_SCENES = ("drop", "throw", "sliding", "restitution")

CONTROL = "planar_square_twin"  # a square of known J/m
_DRAWING, _SIMULATED = "drawing", "simulated"
_OWN = "A scene of the configuration in time lapse."
_NOISY = "simulated: throws with noise, identified"
_TWIN = "simulated: a twin of the throw on the paper's rig, identified"
_STORED = "simulated: throws with noise, identified, stored samples where there are some"
_QUARTILES = Spread(
    {"friction_mu": "mu", "fps": "fps"}, "error_median_pct", ("error_q25_pct", "error_q75_pct"),
    "quartiles over noise samples",
)  # fmt: skip


def declare(block: Mapping[str, Any], synthetic: bool = False) -> list[Artefact]:
    """The artefacts of a run, by its block of the configuration, and whether the throws of a square
    are synthetic.
    """
    real = block["real"]
    kind = "synthetic" if synthetic else "measured"
    return [
        *(
            _figure(f"ext_scene_{name}", "time_lapse:own_scenes", "draw_scene", _OWN)
            for name in block["scenes"]
            if name not in PAPER_SCENES
        ),
        *_simulators(),
        *_noisy_throws(),
        *(_from(real["squares"], _squares(kind)) if real["squares"] else []),
        *(_from(real["ellipse"], _ellipse()) if real["ellipse"] else []),
        *(
            _from(real["squares"], _bodies(), real["ellipse"], real["simulated"], CONTROL)
            if _both(real)
            else []
        ),
    ]


def _simulators() -> list[Artefact]:
    """Sections 3 to 5.1: the contact model, simulators against each other and against exact truths."""
    return [
        _figure(
            "fig01_contact_frames", "contact_sketches:contact_frames", "draw_contact_frames",
            "Contact frames where three grounds touch a smooth convex body, and one contact force.", _DRAWING,
        ),
        _figure(
            "fig02_contact_states", "contact_sketches:contact_states", "draw_contact_states",
            "An ellipse in each of the four states of a contact, with the contact point's velocity and the step's "
            "impulse.", _DRAWING,
        ),
        _figure(
            "fig03_restitution", "contact_sketches:restitution", "draw_restitution",
            "Normal velocity of the contact point before and after an impact, and the impulse between.", _DRAWING,
        ),
        _figure(
            "fig04_friction_cones", "contact_sketches:friction_cones", "draw_friction_cones",
            "Friction cone, its pyramid, and the planar cone.", _DRAWING, title="Friction cones",
        ),
        _figure(
            "fig05_normal_gap", "contact_sketches:normal_gap", "draw_normal_gap",
            "Frames, angles and lengths in the definition of the normal gap.", _DRAWING,
            title="Definition of the normal gap",
        ),
        _figure(
            "fig06_drop_peaks", "sweeps:swept_figures", "draw_peaks",
            "First normal impulse of the dropped ellipse against the time step, by restitution and by gap "
            "complementarity, with the exact value.", limit="exact (eq. 22)",
        ),
        _figure(
            "fig07_drop_impulses", "sweeps:swept_figures", "draw_impulses",
            "Normal impulses of the dropped ellipse over time, for several time steps.",
        ),
        _figure(
            "fig08_throw_peaks", "sweeps:swept_figures", "draw_peaks",
            "First normal impulse of the thrown ellipse against the time step, with its limit.",
            limit=r"limit $h \to 0$",
        ),
        _figure(
            "fig09_throw_motion", "time_lapse:throw_motion", "draw_scene",
            "The thrown ellipse in time lapse, the whole motion and its first impact.", columns=1, shared=False,
        ),
        _figure(
            "fig10_throw_impulses", "sweeps:swept_figures", "draw_impulses",
            "Normal impulses of the thrown ellipse over time, for several time steps.",
        ),
        _figure(
            "fig11_sliding_motion", "time_lapse:sliding_motion", "draw_scene",
            "The sliding ellipse in time lapse, for several coefficients of friction.", columns=1,
        ),
        _figure(
            "fig12_sliding_energy", "energy:energy_figures", "draw_energies",
            "Energy of the sliding ellipse over time, by friction.", parameter="friction_mu", symbol=r"$\mu$",
        ),
        _figure(
            "fig13_restitution_motion", "time_lapse:restitution_motion", "draw_scene",
            "The thrown ellipse in time lapse, for several restitutions.",
            title="The thrown ellipse with several restitutions in time lapse",
        ),
        _figure(
            "fig14_restitution_energy", "energy:energy_figures", "draw_energies",
            "Energy of the thrown ellipse over time, by restitution.", parameter="restitution_e_n", symbol=r"$e_N$",
        ),
        _figure(
            "fig15_fitted_trajectory", "fit_sketches:fitted_trajectory", "draw_fitted_trajectory",
            "Captured postures with noise, and the smooth motion that a fit looks for.",
            "simulated: a motion, and the same with noise", title="Noisy postures, and the motion that a fit looks for",
        ),
        _figure(
            "fig16_time_instants", "fit_sketches:time_instants", "draw_time_instants",
            "Instants captured at the camera's frame rate, and those inserted between them.", _DRAWING,
        ),
        _animation("fig09_throw_motion", "time_lapse:throw_motion"),
        _animation("fig11_sliding_motion", "time_lapse:sliding_motion"),
        _animation("fig13_restitution_motion", "time_lapse:restitution_motion"),
        _table(
            "ext_energy", "energy:energy_tables",
            "Energy at the end of every simulated motion, and where the rest went (J).",
        ),
        _table(
            "ext_tangential_impulses", "energy:energy_tables",
            "Energy that tangential impulses take and give in the motions of figure 14.", files=TYPESET,
        ),
        _table(
            "ext_impulse_convergence", "sweeps:impulse_tables",
            "First normal impulse against its limit as the time step tends to zero.",
        ),
        _table(
            "ext_impact_times", "sweeps:impulse_tables",
            "Time and peak impulse of the first impact since release.", files=TYPESET,
        ),
        _table(
            "ext_liftoff", "sweeps:swept_tables", "Friction above which the sliding ellipse leaves the ground.",
            files=TYPESET,
        ),
        _table(
            "ext_nlp_step", "sweeps:swept_tables", "The paper's nonlinear program for one step against the exact step."
        ),
    ]  # fmt: skip


def _noisy_throws() -> list[Artefact]:
    """Section 6.1: identification from noisy throws, and the rig."""
    return [
        _table(
            "tab01_inertia_ratio_error", "noisy_throws:error_tables",
            "Errors of the identified J/m by friction and frame rate, of stored noise samples where the reading of the "
            "noise has some (%).", spread=_QUARTILES,
        ),
        _table(
            "ext_identification_by_rate", "noisy_throws:error_tables",
            "Errors of the identified J/m by frame rate and reading of the noise, over the printed cells with friction "
            "from 0.2 on, of stored noise samples (%).",
        ),
        _table(
            "ext_identification_failed", "noisy_throws:error_tables",
            "Identifications that did not converge, or whose misfit noise does not explain.",
        ),
        _table(
            "ext_reformulations", "reformulations:contest_table",
            "Ways to write complementarity on the same throws from the same starts, good ones and bad ones, of stored "
            "samples.",
        ),
        _table(
            "ext_step_equations", "step_equations:step_equations",
            "What the steps of table 1's throw say about J/m by themselves, by the noise of their velocities: the "
            "dynamic matrix A of eq. 29, J/m of single steps, and (total) least squares of eq. 31.",
        ),
        _figure(
            "ext_step_equations", "step_equations:step_equations", "draw_step_equations",
            "Singular values of the dynamic matrix A (eq. 29), and J/m of the steps of table 1's throw, against the "
            "noise of their velocities.", rule="planar_tables",
        ),
        _table(
            "ext_hard_truths", "noisy_throws:stored_hard_truths",
            "Identification where the truth isn't what a start assumes: another body, other impacts, and noise stated "
            "wrong; of stored samples.",
        ),
        _identified(
            "fig17_identified_trajectories", "identified_motion:shown_paths", "draw_identified_trajectories",
            "Path of the centre as simulated, measured and identified at several frame rates, and how far the "
            "identified one is from the simulated one: median and quartiles of stored noise samples.",
            _NOISY, title="Identified paths of the centre",
        ),
        _identified(
            "fig18_identified_impulses", "identified_impulses:shown_impulses", "draw_impulses",
            "Identified and simulated contact impulses over time.", _NOISY,
        ),
        _identified(
            "fig19_identified_friction", "noisy_throws:error_figures", "draw_identified_friction",
            "Identified against true friction at high frame rates, medians and bands between the quartiles of noise "
            "samples; from some friction on the body rolls and friction is only bounded.", _STORED,
        ),
        _identified(
            "fig20_rig", "rig:rig", "draw_rig",
            "The throwing rig from the front and from the side; drawn from stated and assumed dimensions.", _DRAWING,
        ),
        _identified(
            "fig21_release", "rig:release", "draw_release",
            "The end-effector that releases the body, from the front and from the side.", _DRAWING,
        ),
        _identified(
            "fig22_real_throw", "identified_motion:twin_throw", "draw_real_throw",
            "In place of the paper's recorded throw a simulated twin: its ellipse falls onto its sloped bar. The "
            "identified motion in time lapse, and the path of the centre.", _TWIN,
            title="A simulated twin of the throw on the rig",
        ),
        _identified(
            "fig23_real_impulses", "identified_impulses:twin_impulses", "draw_impulses",
            "Identified and simulated contact impulses of the simulated twin in figure 22.", _TWIN,
            title="Impulses of the simulated twin on the rig",
        ),
        _identified(
            "ext_identification_error", "noisy_throws:error_figures", "draw_identification_error",
            "Size of the error of the identified J/m in table 1's grid, medians of noise samples, beside the printed "
            "one. Means are over the cells with a friction of 0.2 or more that are printed.", _STORED,
        ),
        _identified(
            "ext_reformulations", "reformulations:contest_figure", "draw_reformulations",
            "Success, misfit and time of the contact-sequence method and of seven ways to write complementarity, by "
            "their start.", _STORED,
        ),
    ]  # fmt: skip


def _from(dataset: str, artefacts: Iterable[Artefact], *others: str) -> Iterator[Artefact]:
    return (replace(one, datasets=tuple(dict.fromkeys((dataset, *others)))) for one in artefacts)


def _squares(kind: str) -> list[Artefact]:
    """Section 6.2 with throws of a square, whose ``kind`` is ``measured`` or ``synthetic``."""
    return [
        _table(
            "ext_real_squares", "real_bodies:square_table",
            f"J/m by eq. 27 from single impacts of the {kind} throws of a square, those that change its spin most, "
            "beside eq. 31 on the same.", f"{kind} throws of a square",
        ),
        _identified(
            "ext_square_throw", "identified_motion:square_throw", "draw_real_throw",
            f"A {kind} throw of a square, its identified motion in time lapse, and the path of its centre.",
            title=f"a {kind} throw of a square",
        ),
        _identified(
            "ext_square_impulses", "identified_impulses:square_impulses", "draw_impulses",
            f"Identified contact impulses per mass of a {kind} throw of a square.",
            title=f"impulses of a {kind} throw of a square",
        ),
    ]  # fmt: skip


def _both(real: Mapping[str, Any]) -> bool:
    """Whether there is a square, an ellipse, and a simulator's square to hold both against."""
    return bool(real["squares"] and real["ellipse"] and real["simulated"])


def _bodies() -> list[Artefact]:
    """J/m of both real bodies by several routes."""
    return [
        _table(
            "ext_real_bodies", "real_bodies:bodies_table",
            "J/m of the real square and ellipse by several routes and over subsets of their impacts, and what rival "
            "causes (sizes in mm or ms) would show on a uniform plate. One whose largest departure is 3 standard "
            "errors or more is refused.", "J/m of the real square and ellipse", files=TYPESET,
        ),
        _identified(
            "ext_real_bodies", "real_bodies:bodies_figure", "draw_bodies",
            "J/m of the real square and ellipse by route, and by subset of their impacts beside uniform plates with "
            "rival causes, each as large as brings it nearest to the body.",
            "public data: throws of a square and impacts of an ellipse", "J/m of the real square and ellipse",
        ),
    ]  # fmt: skip


def _ellipse() -> list[Artefact]:
    """Section 6.2 with measured impacts of an ellipse."""
    return [
        _table(
            "ext_real_ellipse", "real_ellipse:ellipse_tables",
            "Velocity errors of impact laws and published models on real ellipse impacts (m/s).",
        ),
        _table(
            "ext_real_ellipse_reasons", "real_ellipse:ellipse_tables",
            "Where real ellipse impacts depart from the impact laws.", files=TYPESET,
        ),
        _identified(
            "ext_real_ellipse", "real_ellipse:ellipse_impacts", "draw_real_ellipse",
            "Velocity errors of identified impact laws and of published models on measured impacts of an ellipse.",
            "public data: planar impacts of an ellipse, identified",
        ),
    ]  # fmt: skip


def _table(name: str, compute: str, caption: str, title: str = "", **more: Any) -> Artefact:
    return table(name, "planar_tables", f"{__name__}.{compute}", caption, title=title, **more)


def _figure(
    name: str,
    compute: str,
    draw: str,
    caption: str,
    data: str = _SIMULATED,
    rule: str = "planar_figures",
    title: str = "",
    **more: Any,
) -> Artefact:
    """A figure of a file's two functions, ``compute`` as ``"file:function"``, from simulations
    alone.
    """
    place = f"{__name__}.{compute}"
    drawn_by = f"{place.partition(':')[0]}:{draw}"
    return figure(name, rule, place, drawn_by, caption, data=data, title=title, settings=more)


def _identified(
    name: str, compute: str, draw: str, caption: str, data: str = "", title: str = ""
) -> Artefact:
    """A figure of what was identified."""
    return _figure(name, compute, draw, caption, data, "planar_identified_figures", title)


def _animation(name: str, compute: str) -> Artefact:
    return animation(
        name,
        "planar_figures",
        f"{__name__}.{compute}",
        f"{__name__}.animate:animate",
        data=_SIMULATED,
    )
