"""The tables, figures and animations of the planar study, each declared once; nothing is computed
here.

A row names the functions of a file of this folder (:class:`contactid.output.artefacts.Rows`).
User-defined scenes come first, so that they are drawn without the identifications.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contactid.output.artefacts import TYPESET, Artefact, Rows, Spread

#: The paper's own scenes; every other scene of a configuration is the user's.
PAPER_SCENES = ("drop", "throw", "sliding", "restitution")

CONTROL = "planar_square_twin"  # a square of known J/m

_TABLES = Rows(__name__, "planar_tables")
_DRAWN = Rows(__name__, "planar_figures", data="drawing")
_SIMULATED = Rows(__name__, "planar_figures", data="simulated")
_IDENTIFIED = Rows(__name__, "planar_identified_figures")
_NOISY = "simulated: throws with noise, identified"
_TWIN = "simulated: a twin of the throw on the paper's rig, identified"
_STORED = "simulated: throws with noise, identified, stored samples where there are some"
_QUARTILES = Spread(
    keys={"friction_mu": "mu", "fps": "fps"},
    value="error_median_pct",
    ends=("error_q25_pct", "error_q75_pct"),
    words="quartiles over noise samples",
)


def declare(block: Mapping[str, Any], synthetic: bool = False) -> list[Artefact]:
    """The artefacts of a run, by its block of the configuration, and whether the throws of a square
    are synthetic.
    """
    artefacts = [_own_scene(name) for name in block["scenes"] if name not in PAPER_SCENES]
    artefacts += [*_explained(), *_simulators(), *_noisy_throws()]
    real = block["real"]
    if real["squares"]:
        artefacts += _squares(real["squares"], "synthetic" if synthetic else "measured")
    if real["ellipse"]:
        artefacts += _ellipse(real["ellipse"])
    # both bodies are held against a simulator's square
    if real["squares"] and real["ellipse"] and real["simulated"]:
        artefacts += _bodies(real)
    return artefacts


def _own_scene(name: str) -> Artefact:
    """A user's scene."""
    caption = "A scene of the configuration in time lapse."
    return _SIMULATED.figure(f"ext_scene_{name}", "time_lapse:own_scenes", "draw_scene", caption)


def _explained() -> list[Artefact]:
    """The contact model and what a fit looks for, as drawings."""
    return [
        _DRAWN.figure(
            "fig01_contact_frames",
            "contact_sketches:contact_frames",
            "draw_contact_frames",
            "Contact frames where three grounds touch a smooth convex body, and one contact force.",
        ),
        _DRAWN.figure(
            "fig02_contact_states",
            "contact_sketches:contact_states",
            "draw_contact_states",
            "An ellipse in each of the four states of a contact, with the contact point's "
            "velocity $v_Q$ and the step's impulse $c_n$.",
        ),
        _DRAWN.figure(
            "fig03_restitution",
            "contact_sketches:restitution",
            "draw_restitution",
            "Normal velocity of the contact point before and after an impact, and the impulse "
            "between.",
        ),
        _DRAWN.figure(
            "fig04_friction_cones",
            "contact_sketches:friction_cones",
            "draw_friction_cones",
            "Friction cone, its pyramid, and the planar cone.",
            title="Friction cones",
        ),
        _DRAWN.figure(
            "fig05_normal_gap",
            "contact_sketches:normal_gap",
            "draw_normal_gap",
            "Frames, angles and lengths in the definition of the normal gap.",
            title="Definition of the normal gap",
        ),
        _SIMULATED.figure(
            "fig15_fitted_trajectory",
            "contact_sketches:fitted_trajectory",
            "draw_fitted_trajectory",
            "Captured postures with noise, and the smooth motion that a fit looks for.",
            title="Noisy postures, and the motion that a fit looks for",
            data="simulated: a motion, and the same with noise",
        ),
        _DRAWN.figure(
            "fig16_time_instants",
            "contact_sketches:time_instants",
            "draw_time_instants",
            "Instants captured at the camera's frame rate, and those inserted between them.",
        ),
    ]


def _simulators() -> list[Artefact]:
    """Sections 3 to 5.1: simulators against each other and against exact truths."""
    return [
        _SIMULATED.figure(
            "fig06_drop_peaks",
            "sweeps:swept_figures",
            "draw_peaks",
            "First normal impulse of the dropped ellipse against the time step, by restitution "
            "and by gap complementarity, with the exact value.",
            settings={"limit": "exact (eq. 22)"},
        ),
        _SIMULATED.figure(
            "fig07_drop_impulses",
            "sweeps:swept_figures",
            "draw_impulses",
            "Normal impulses of the dropped ellipse over time, for several time steps.",
        ),
        _SIMULATED.figure(
            "fig08_throw_peaks",
            "sweeps:swept_figures",
            "draw_peaks",
            "First normal impulse of the thrown ellipse against the time step, with its limit.",
            settings={"limit": r"limit $h \to 0$"},
        ),
        _SIMULATED.figure(
            "fig09_throw_motion",
            "time_lapse:throw_motion",
            "draw_scene",
            "The thrown ellipse in time lapse, the whole motion and its first two impacts.",
            settings={"columns": 1, "shared": False},
        ),
        _SIMULATED.figure(
            "fig10_throw_impulses",
            "sweeps:swept_figures",
            "draw_impulses",
            "Normal impulses of the thrown ellipse over time, for several time steps.",
        ),
        _SIMULATED.figure(
            "fig11_sliding_motion",
            "time_lapse:sliding_motion",
            "draw_scene",
            "The sliding ellipse in time lapse, for several coefficients of friction.",
            settings={"columns": 1},
        ),
        _SIMULATED.figure(
            "fig12_sliding_energy",
            "energy:energy_figures",
            "draw_energies",
            "Energy of the sliding ellipse over time, by friction.",
            settings={"parameter": "friction_mu", "symbol": r"$\mu$"},
        ),
        _SIMULATED.figure(
            "fig13_restitution_motion",
            "time_lapse:restitution_motion",
            "draw_scene",
            "The thrown ellipse in time lapse, for several restitutions.",
            title="The thrown ellipse with several restitutions in time lapse",
        ),
        _SIMULATED.figure(
            "fig14_restitution_energy",
            "energy:energy_figures",
            "draw_energies",
            "Energy of the thrown ellipse over time, by restitution.",
            settings={"parameter": "restitution_e_n", "symbol": r"$e_N$"},
        ),
        _SIMULATED.animation("fig09_throw_motion", "time_lapse:throw_motion", "animate:animate"),
        _SIMULATED.animation(
            "fig11_sliding_motion", "time_lapse:sliding_motion", "animate:animate"
        ),
        _SIMULATED.animation(
            "fig13_restitution_motion", "time_lapse:restitution_motion", "animate:animate"
        ),
        _TABLES.table(
            "ext_energy",
            "energy:energy_tables",
            "Energy at the end of every simulated motion, and where the rest went (J).",
        ),
        _TABLES.table(
            "ext_tangential_impulses",
            "energy:energy_tables",
            "Energy that tangential impulses take and give in the motions of figure 14.",
            files=TYPESET,
        ),
        _TABLES.table(
            "ext_impulse_convergence",
            "sweeps:impulse_tables",
            "First normal impulse against its limit as the time step tends to zero.",
        ),
        _TABLES.table(
            "ext_impact_times",
            "sweeps:impulse_tables",
            "Time and peak impulse of the first impact since release.",
            files=TYPESET,
        ),
        _TABLES.table(
            "ext_liftoff",
            "sweeps:swept_tables",
            "Friction above which the sliding ellipse leaves the ground.",
            files=TYPESET,
        ),
        _TABLES.table(
            "ext_nlp_step",
            "sweeps:swept_tables",
            "The paper's nonlinear program for one step against the exact step.",
        ),
    ]


def _noisy_throws() -> list[Artefact]:
    """Section 6.1: identification from noisy throws, and the rig."""
    return [
        _TABLES.table(
            "tab01_inertia_ratio_error",
            "noisy_throws:error_tables",
            "Errors of the identified J/m by friction and frame rate, of stored noise samples "
            "where the reading of the noise has some (%).",
            spread=_QUARTILES,
        ),
        _TABLES.table(
            "ext_identification_by_rate",
            "noisy_throws:error_tables",
            "Errors of the identified J/m by frame rate and reading of the noise, over the "
            "printed cells with friction from 0.2 on, of stored noise samples (%).",
        ),
        _TABLES.table(
            "ext_identification_failed",
            "noisy_throws:error_tables",
            "Identifications that did not converge, or whose misfit noise does not explain.",
        ),
        _TABLES.table(
            "ext_reformulations",
            "reformulations:contest_table",
            "Ways to write complementarity on the same throws from the same starts, good ones and "
            "bad ones, of stored samples.",
        ),
        _TABLES.table(
            "ext_step_equations",
            "step_equations:step_equations",
            "What the steps of table 1's throw say about J/m by themselves, by the noise of their "
            "velocities: the dynamic matrix A of eq. 29, J/m of single steps, and (total) least "
            "squares of eq. 31.",
        ),
        _TABLES.figure(
            "ext_step_equations",
            "step_equations:step_equations",
            "draw_step_equations",
            "Singular values of the dynamic matrix A (eq. 29), and J/m of the steps of table 1's "
            "throw, against the noise of their velocities.",
            data="simulated",
        ),
        _TABLES.table(
            "ext_hard_truths",
            "noisy_throws:stored_hard_truths",
            "Identification where the truth isn't what a start assumes: another body, other "
            "impacts, and noise stated wrong; of stored samples.",
        ),
        _IDENTIFIED.figure(
            "fig17_identified_trajectories",
            "identified_motion:shown_paths",
            "draw_identified_trajectories",
            "Path of the centre as simulated, measured and identified at several frame rates, and "
            "how far the identified one is from the simulated one: median and quartiles of "
            "stored noise samples.",
            title="Identified paths of the centre",
            data=_NOISY,
        ),
        _IDENTIFIED.figure(
            "fig18_identified_impulses",
            "identified_impulses:shown_impulses",
            "draw_impulses",
            "Identified and simulated contact impulses over time.",
            data=_NOISY,
        ),
        _IDENTIFIED.figure(
            "fig19_identified_friction",
            "noisy_throws:table1_friction",
            "draw_identified_friction",
            "Identified against true friction at high frame rates, medians and bands between the "
            "quartiles of noise samples; from some friction on the body rolls and friction is "
            "only bounded.",
            data=_STORED,
        ),
        _IDENTIFIED.figure(
            "fig20_rig",
            "rig:rig_figures",
            "draw_rig",
            "The throwing rig from the front and from the side; drawn from stated and assumed "
            "dimensions.",
            data="drawing",
        ),
        _IDENTIFIED.figure(
            "fig21_release",
            "rig:rig_figures",
            "draw_rig",
            "The end-effector that releases the body, from the front and from the side.",
            data="drawing",
        ),
        _IDENTIFIED.figure(
            "fig22_real_throw",
            "identified_motion:twin_throw",
            "draw_real_throw",
            "In place of the paper's recorded throw a simulated twin: its ellipse falls onto its "
            "sloped bar. The identified motion in time lapse, and the path of the centre.",
            title="A simulated twin of the throw on the rig",
            data=_TWIN,
        ),
        _IDENTIFIED.figure(
            "fig23_real_impulses",
            "identified_impulses:twin_impulses",
            "draw_impulses",
            "Identified and simulated contact impulses of the simulated twin in figure 22.",
            title="Impulses of the simulated twin on the rig",
            data=_TWIN,
        ),
        _IDENTIFIED.figure(
            "ext_reformulations",
            "reformulations:contest_figure",
            "draw_reformulations",
            "Success, misfit and time of the contact-sequence method and of seven ways to write "
            "complementarity, by their start.",
            data=_STORED,
        ),
    ]


def _squares(dataset: str, kind: str) -> list[Artefact]:
    """Section 6.2 with throws of a square, whose ``kind`` is ``measured`` or ``synthetic``."""
    tables = Rows(__name__, "planar_tables", datasets=(dataset,))
    figures = Rows(__name__, "planar_identified_figures", datasets=(dataset,))
    return [
        tables.table(
            "ext_real_squares",
            "real_bodies:square_table",
            f"J/m by eq. 27 from single impacts of the {kind} throws of a square, those that "
            "change its spin most, beside eq. 31 on the same.",
            title=f"{kind} throws of a square",
        ),
        figures.figure(
            "ext_square_throw",
            "identified_motion:square_throw",
            "draw_real_throw",
            f"A {kind} throw of a square, its identified motion in time lapse, and the path of "
            "its centre.",
            title=f"a {kind} throw of a square",
        ),
    ]


def _ellipse(dataset: str) -> list[Artefact]:
    """Section 6.2 with measured impacts of an ellipse."""
    tables = Rows(__name__, "planar_tables", datasets=(dataset,))
    figures = Rows(__name__, "planar_identified_figures", datasets=(dataset,))
    return [
        tables.table(
            "ext_real_ellipse",
            "real_ellipse:ellipse_tables",
            "Velocity errors of impact laws and published models on real ellipse impacts (m/s).",
        ),
        tables.table(
            "ext_real_ellipse_reasons",
            "real_ellipse:ellipse_tables",
            "Where real ellipse impacts depart from the impact laws.",
            files=TYPESET,
        ),
        figures.figure(
            "ext_real_ellipse",
            "real_ellipse:ellipse_impacts",
            "draw_real_ellipse",
            "Velocity errors of identified impact laws and of published models on measured "
            "impacts of an ellipse.",
            data="public data: planar impacts of an ellipse, identified",
        ),
    ]


def _bodies(real: Mapping[str, str]) -> list[Artefact]:
    """J/m of both real bodies by several routes."""
    # one dataset may have two of these parts
    datasets = tuple(dict.fromkeys((real["squares"], real["ellipse"], real["simulated"], CONTROL)))
    tables = Rows(__name__, "planar_tables", datasets=datasets)
    figures = Rows(__name__, "planar_identified_figures", datasets=datasets)
    return [
        tables.table(
            "ext_real_bodies",
            "real_bodies:bodies_table",
            "J/m of the real square and ellipse by several routes and over subsets of their "
            "impacts, and what rival causes (sizes in mm or ms) would show on a uniform plate. "
            "One whose largest departure is 3 standard errors or more is refused.",
            title="J/m of the real square and ellipse",
            files=TYPESET,
        ),
        figures.figure(
            "ext_real_bodies",
            "real_bodies:bodies_figure",
            "draw_bodies",
            "J/m of the real square and ellipse by route, and by subset of their impacts beside "
            "uniform plates with rival causes, each as large as brings it nearest to the body.",
            title="J/m of the real square and ellipse",
            data="public data: throws of a square and impacts of an ellipse",
        ),
    ]
