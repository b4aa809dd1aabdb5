"""Which of the planar paper's printed numbers and statements a run answers to, and what the others lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import PRINT, Key, Reproduced, compare, statement
from contactid.output.stored import read_stored
from contactid.output.tables import read_csv, write_csv
from contactid.planar.statements import (
    ALWAYS_THE_SAME,
    FALLING_ONCE,
    FOLLOWING_ON,
    ONE_PAUSE,
    RISING_ONCE,
    SCATTERED,
    SLIPPERY,
    SPLIT_ONCE,
    WITH_LIMIT,
    WITHOUT_LIMIT,
    converges,
    falls,
    follows_truth,
    has_no_limit,
    in_one_instant,
    in_two_instants,
    nearer_together,
    never_rises,
    rises,
    stays_at_least,
    with_pause,
    within_literature,
    without_pause,
)
from contactid.planar.sweeps.measures import STATED, UNIFORM
from contactid.planar.table1 import INERTIA, LEAST_MU, MASS, SEMI_AXES, table_numbers

# what section 4 prints of its scenes: the ellipse, its start, and restitution where it is one value
_PRINTED_SCENES: dict[str, dict[str, Any]] = {
    "drop": {"position": [0, 10, 0], "velocity": [0, 0, 0], "restitution_e_n": [0]},
    "throw": {"position": [0, 5, 0], "velocity": [10, -3, -8], "restitution_e_n": [0]},
    "sliding": {"position": [0, 1, 0], "velocity": [15, 0, 0], "restitution_e_n": [0]},
    "restitution": {"position": [0, 5, 0], "velocity": [10, -3, -8]},
}
_ELLIPSE = {"semi_axes": [1.5, 1.0], "mass": 10, "inertia": 2}
# what section 6.1 prints of its throw
_BODY = {"semi_axes": list(SEMI_AXES), "mass": MASS, "inertia": INERTIA}
_PRINTED_THROW: dict[str, Any] = {"position": [0, 0.1, -0.785], "velocity": [3, -5, 0], "restitution_e_n": 0.2}

_TIMES = (
    "ours is since release; the time printed under the figure can't be, since free flight fixes it, but an axis that "
    "starts shortly before the impact would explain it; J doesn't enter, so the uniform body isn't a wrong answer"
)
_CENTRAL = "the impulse passes through the centre of mass and J doesn't enter, so the uniform body isn't a wrong answer"
_AT = 1.0  # ms: time step at which figure 8's value is compared
_STEPS = (1.0, 2.0, 5.0)  # ms, of figures 7 and 10
_ENOUGH_STEPS = 8  # time steps, for an order of convergence
_PUSHES = 1.01  # of the weight's impulse in a step, above which an impulse does more than carry the body
_FIGURES = {"drop": ("fig06", "fig07"), "throw": ("fig08", "fig10")}

#: What each number of section 6.2, and of the paper's own penalty, lacks.
_MISSING = {
    ("fig09", "motion_similar", "scene=throw;model=IGC"): "the thrown ellipse's whole motion by gap complementarity, "
    "which this run steps through its first impact only",
    ("fig14", "nothing_slides", "scene=restitution"): "the friction of figure 14's throws, which isn't printed",
    ("fig18", "impulse_over_several_instants", "friction_mu=0.2;fps=240"): "impulses identified by eq. 27's penalty "
    "with one weight; this run settles every answer to exact complementarity",
    ("text", "residual_not_zero", "section=5.1"): "the residual of eq. 23 at an answer of eq. 27 that isn't settled",
    ("fig22", "inertia_ratio_mm2", "section=6.2;throw=fig22"): "J/m from figure 22's video, which was never published",
    ("fig22", "friction_mu", "section=6.2;throw=fig22"): "friction from figure 22's video, which was never published",
    ("fig23", "impulses_comparable", "section=6.2;throw=fig22"): "impulses of the throw in figure 23, whose video was "
    "never published",
    ("text", "inertia_ratio_mean_mm2", "section=6.2;throw=all"): "J/m from the other videos of section 6.2, which "
    "were never published",
    ("text", "inertia_ratio_rmse_pct", "section=6.2;throw=all"): "the spread of J/m over the other videos of section "
    "6.2, which were never published",
    ("text", "friction_mu_mean", "section=6.2;throw=all"): "friction from the other videos of section 6.2, which were "
    "never published",
}


# ---------------------------------------------------------------- the run's numbers
def check(
    published: str,
    measures: str,
    drop_impulses: str,
    throw_impulses: str,
    convergence: str,
    trajectories: str,
    stored: Sequence[str],
    block: Mapping[str, Any],
    checks: str,
) -> None:
    """Hold ``published/planar.csv`` against the study's tables and table 1's stored samples, and write a row each.

    The study's block of the configuration tells whether scenes and throw are the paper's.
    """
    printed, found = read_csv(published), Measured(read_csv(measures))
    impulses = {"drop": read_csv(drop_impulses), "throw": read_csv(throw_impulses)}
    swept, paths, samples = read_csv(convergence), read_csv(trajectories), read_stored(stored)[0]
    numbers = all_numbers(found, impulses, swept, paths, printed, samples, block)
    left_out = {name: f"a number of {name} that this configuration leaves out" for name in printed["artefact"].unique()}
    write_csv(compare("planar", printed, numbers, left_out), checks)


def all_numbers(
    found: Measured,
    impulses: Mapping[str, pd.DataFrame],
    convergence: pd.DataFrame,
    paths: pd.DataFrame,
    printed: pd.DataFrame,
    samples: pd.DataFrame,
    block: Mapping[str, Any],
) -> dict[Key, Reproduced]:
    """Our number for each printed one; the tables are those of :func:`check`, ``impulses`` by scene."""
    return (
        {key: Reproduced(np.nan, basis="", missing=text) for key, text in _MISSING.items()}
        | impulse_numbers(found, impulses, convergence, block)
        | sliding_numbers(found, block)
        | bounce_numbers(found, block)
        | throw_numbers(found, paths, block)
        | table_numbers(printed, samples, found.same_motion())
        | friction_numbers(found, samples, block)
        | printed_numbers(printed)
    )


class Measured:
    """The table of :func:`contactid.planar.sweeps.measures.write_measures`, by quantity and what it was found at."""

    def __init__(self, table: pd.DataFrame) -> None:
        keys = zip(table["body"], table["quantity"], table["at"].round(6), strict=True)
        self._values = dict(zip(keys, table["value"].astype(float), strict=True))

    def __call__(self, quantity: str, at: float, body: str = STATED) -> float:
        """A number, of the stated body or the uniform one."""
        return self._values[body, quantity, round(at, 6)]

    def uniform(self, quantity: str, at: float) -> dict[str, float]:
        """The naive answer: the number of the uniform body."""
        return {"uniform body": self(quantity, at, UNIFORM)}

    def of(self, quantity: str) -> dict[float, float]:
        """All numbers of a quantity, of the stated body, ascending in what they were found at."""
        found = {at: value for (body, name, at), value in self._values.items() if (body, name) == (STATED, quantity)}
        return dict(sorted(found.items()))

    def same_motion(self) -> dict[float, float]:
        """For each friction of table 1 the least friction under which the body moves in the very same way."""
        return self.of("throw_same_as_mu")


def _is_printed(block: Mapping[str, Any], throw: Mapping[str, Any], body: Any, printed: Mapping[str, Any]) -> bool:
    """Whether a scene or the identified throw is one that the paper prints, on level ground."""
    ground = throw["ground"]
    return (
        dict(block["bodies"][throw["body"]]) == body
        and all(throw[key] == value for key, value in printed.items())
        and throw.get("restitution_e_t", 0) == 0
        and ground["slope"] == 0
        and ground["start"] == [0, 0]
        and block["gravity"] == 9.81
    )


def _of_scene(block: Mapping[str, Any], scene: str, numbers: Mapping[Key, Reproduced]) -> dict[Key, Reproduced]:
    """Numbers of a scene; they can't be compared where it isn't the printed one."""
    printed = _is_printed(block, block["scenes"][scene], _ELLIPSE, _PRINTED_SCENES[scene])
    return dict(numbers) if printed else _without(numbers, f"the paper's scene, of which planar.scenes.{scene} departs")


def _of_throw(block: Mapping[str, Any], numbers: Mapping[Key, Reproduced]) -> dict[Key, Reproduced]:
    """Numbers of section 6.1's throw, likewise."""
    printed = _is_printed(block, block["identification"], _BODY, _PRINTED_THROW)
    return dict(numbers) if printed else _without(numbers, "the paper's throw, of which planar.identification departs")


def _without(numbers: Mapping[Key, Reproduced], lacking: str) -> dict[Key, Reproduced]:
    return {key: replace(one, missing=f"{key[1]} ({key[0]}, {key[2]}) of {lacking}") for key, one in numbers.items()}


def impulse_numbers(
    found: Measured, impulses: Mapping[str, pd.DataFrame], limits: pd.DataFrame, block: Mapping[str, Any]
) -> dict[Key, Reproduced]:
    """Section 4.2: first impulses against the time step, by restitution (IRC) and by gap complementarity (IGC)."""
    numbers: dict[Key, Reproduced] = {}
    for scene, (swept, shown) in _FIGURES.items():
        by_gap = _peaks_by_gap(impulses[scene])
        peaks: dict[Key, Reproduced] = {}
        for h in _STEPS:
            condition = f"scene={scene};time_step_ms={h:g}"
            peaks[shown, "impact_time_ms", condition] = Reproduced(found(f"{scene}_impact_ms", h), note=_TIMES)
            naive = {"gap complementarity": by_gap[h]} if h in by_gap else {}
            peak = Reproduced(found(f"{scene}_peak_ns", h), naive=naive, note=f"IRC at h = {h:g} ms")
            if scene == "drop":
                at, first = (f"scene={scene}", "") if h == _AT else (condition, f"scene={scene}")
                key = (shown, "peak_impulse_drop_ns", at)
                peaks[key] = replace(peak, note=f"{peak.note}; {_CENTRAL}", repeats=first)
            elif h == _AT:
                naive = naive | found.uniform("throw_peak_ns", h)
                peaks[swept, "peak_impulse_throw_ns", f"scene={scene}"] = replace(peak, naive=naive)
        shapes = _shapes(scene, swept, shown, impulses[scene], limits, _weight(block, scene))
        numbers |= _of_scene(block, scene, peaks | shapes)
    return numbers


def _peaks_by_gap(impulses: pd.DataFrame) -> dict[float, float]:
    peaks = impulses[impulses["model"] == "IGC"].groupby("time_step_ms")["impulse_ns"].max()
    return {round(float(str(h)), 6): float(peak) for h, peak in peaks.items()}


def _weight(block: Mapping[str, Any], scene: str) -> float:
    """N."""
    return float(block["bodies"][block["scenes"][scene]["body"]]["mass"]) * float(block["gravity"])


def _shapes(
    scene: str, swept: str, shown: str, impulses: pd.DataFrame, limits: pd.DataFrame, weight: float
) -> dict[Key, Reproduced]:
    """Statements about figures 6 to 8 and 10."""
    of = {model: f"scene={scene};model={model}" for model in ("IRC", "IGC")}
    orders = limits[limits["scene"] == scene].set_index("model")
    order = {model: (float(orders["order"][model]), float(orders["order_se"][model])) for model in of}
    told = {model: f"the error's order in h is {one[0]:.2f} +- {one[1]:.2f}" for model, one in order.items()}
    numbers = {
        (swept, "first_impulse_converges", of["IRC"]): statement(
            converges, order["IRC"], WITHOUT_LIMIT, note=told["IRC"]
        ),
        (swept, "first_impulse_has_no_limit", of["IGC"]): statement(
            has_no_limit, order["IGC"], WITH_LIMIT, note=told["IGC"]
        ),
    }
    if orders["time_steps"].min() < _ENOUGH_STEPS:
        numbers = _without(numbers, f"{_ENOUGH_STEPS} or more time steps, of which planar.peaks has fewer")
    pushing = impulses[impulses["impulse_ns"] > _PUSHES * 1e-3 * weight * impulses["time_step_ms"]]
    counts = pushing.groupby(["model", "time_step_ms"]).size()
    peaks = pushing.groupby(["model", "time_step_ms"])["impulse_ns"].max()
    by_model = {model: counts.xs(model).to_list() for model in of}
    steps: dict[Key, Reproduced] = {
        (shown, "impulse_in_one_instant", of["IRC"]): statement(in_one_instant, by_model["IRC"], SPLIT_ONCE),
        (shown, "impulse_in_two_instants", of["IGC"]): statement(in_two_instants, by_model["IGC"], SPLIT_ONCE),
    }
    if scene == "throw":
        both = peaks.xs("IRC").to_list(), peaks.xs("IGC").to_list()
        spans = f"the peaks span {np.ptp(both[0]):.2f} N s by IRC, {np.ptp(both[1]):.1f} by IGC"
        key = (shown, "peaks_nearly_equal", of["IRC"])
        steps[key] = statement(nearer_together, both, SCATTERED, note=spans)
    if set(impulses["time_step_ms"].round(6)) != set(_STEPS):
        steps = _without(steps, "the printed time steps, which planar.peaks.shown leaves out")
    return numbers | steps


def sliding_numbers(found: Measured, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Section 4.3: lift-off and energy of the sliding ellipse."""
    numbers: dict[Key, Reproduced] = {}
    key = ("fig11", "liftoff_friction_mu", "scene=sliding;duration_s=1")
    note = "gap above 10 mm within figure 12's second, by bisection; what happens later is in ext_liftoff"
    numbers[key] = Reproduced(found("liftoff_mu", 1.0), naive=found.uniform("liftoff_mu", 1.0), note=note)
    change, loss = found.of("sliding_energy_change_pct"), found.of("sliding_first_loss_j")
    kept, least = found.of("sliding_lossless_s"), min(mu for mu in change if mu > 0.0)
    if 0.0 in change:
        note = "nothing turns or brakes the body, so the uniform one isn't a wrong answer; friction that isn't 0 is"
        key = ("fig12", "energy_change_pct", "scene=sliding;friction_mu=0")
        numbers[key] = Reproduced(change[0.0], naive={f"friction {least:g}": change[least]}, note=note)
    low, high = [kept[mu] for mu in kept if 0.0 < mu < 0.3], [kept[mu] for mu in kept if mu >= 0.4]
    numbers["fig12", "steeper_with_friction", "scene=sliding"] = statement(
        rises, list(loss.values()), FALLING_ONCE, note="energy lost in the first 50 ms"
    )
    if low and high:
        numbers["fig12", "loses_energy_throughout", "scene=sliding;friction_mu=0.1..0.2"] = statement(
            without_pause, low, ONE_PAUSE, note=f"the longest stretch without loss is {max(low):g} s"
        )
        numbers["fig12", "keeps_energy_in_flight", "scene=sliding;friction_mu=0.4..1"] = statement(
            with_pause, high, ONE_PAUSE, note=f"the shortest flight is {min(high):g} s of the figure's 1 s"
        )
    return _of_scene(block, "sliding", numbers)


def bounce_numbers(found: Measured, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Section 4.4: bounces and energy by restitution."""
    heights, losses = found.of("bounce_height_m"), found.of("bounce_loss_pct")
    numbers: dict[Key, Reproduced] = {
        ("fig13", "bounces_higher_with_restitution", "scene=restitution"): statement(
            rises, list(heights.values()), FALLING_ONCE, note="height of the centre between the first two impacts"
        ),
        ("fig14", "first_loss_falls_with_restitution", "scene=restitution"): statement(
            falls, list(losses.values()), RISING_ONCE, note="share of the energy that the first impact takes"
        ),
    }
    changes = found.of("bounce_energy_change_pct")
    key = ("fig14", "less_decrease_with_restitution", "scene=restitution")
    numbers[key] = statement(
        rises, list(changes.values()), FALLING_ONCE,
        note="change of energy over the configuration's duration, which isn't printed, nor is friction: "
        + ", ".join(f"{value:.0f} % at {e_n:g}" for e_n, value in changes.items()),
    )  # fmt: skip
    of_friction = "friction of 1, under which sticking impacts stop the contact point's tangential motion"
    for quantity, measured, e_n in (
        ("energy_change_pct", "bounce_energy_change_pct", 1.0),
        ("lost_in_friction_pct", "bounce_friction_pct", 0.0),
    ):
        if e_n in heights:
            key = ("fig14", quantity, f"scene=restitution;restitution_e_n={e_n:g}")
            numbers[key] = Reproduced(found(measured, e_n), naive=found.uniform(measured, e_n), note=of_friction)
    return _of_scene(block, "restitution", numbers)


def throw_numbers(found: Measured, paths: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Sections 5.2, 6.1: what a motion tells, contacts by restitution, and figure 17's paths of the centre."""
    contacts, away = found.of("throw_contact_steps"), path_errors(paths)
    noiseless = found("free_directions", 0.0)
    told = ", ".join(f"{error:.2g} mm at {fps:g} frames/s" for fps, error in away.items())
    return _of_throw(
        block,
        {
            # any rigid body's motion leaves one direction free, so the uniform one isn't a wrong answer here
            ("text", "free_directions", "section=5.2.2;noise_mm=0"): Reproduced(
                noiseless, note="null space of eq. 29's matrix; one is free for every rigid body, the uniform one too"
            ),
            ("text", "free_directions", "section=5.2.3;noise_mm=1"): Reproduced(
                found("free_directions", 1.0),
                naive={"without noise": noiseless},
                note="null space of eq. 29's matrix of noisy poses; none is free for any body, the uniform one too",
            ),
            ("text", "restitution_reduces_contacts", "section=6.1;friction_mu=0.2"): statement(
                never_rises, list(contacts.values()), FALLING_ONCE, note="steps with contact at e_N from 0 to 0.8"
            ),
            ("fig17", "nearer_with_frame_rate", "friction_mu=0.2"): statement(
                falls, list(away.values()), RISING_ONCE, note=f"one noise sample: {told}, root mean squares"
            ),
        },
    )


def path_errors(paths: pd.DataFrame) -> dict[float, float]:
    """By frame rate the root mean square distance (mm) of figure 17's identified centre from the simulated one."""
    errors = {}
    for fps, part in paths.groupby("fps"):
        true, found = (part[part["kind"] == kind] for kind in ("simulated", "identified"))
        away = [np.interp(found["time_ms"], true["time_ms"], true[axis]) - found[axis] for axis in ("x_mm", "y_mm")]
        errors[float(str(fps))] = float(np.sqrt(np.mean(np.sum(np.square(away), axis=0))))
    return errors


def friction_numbers(found: Measured, samples: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Figure 19: where the body rolls, and identified friction, the mean over frame rates of each cell's median."""
    good, same = samples[samples["converged"]], found.same_motion()
    medians = good.groupby(["mu", "fps"])["friction_mu"].median().groupby("mu").mean()
    by_mu = {float(str(mu)): float(value) for mu, value in medians.items()}
    at = float(block["identification"]["restitution_e_n"])
    least = found("rolling_mu", at)
    sliding = [(mu, by_mu[mu]) for mu in by_mu if LEAST_MU < mu < least]
    rolling = [by_mu[same[mu]] for mu in same if mu > least and same[mu] in by_mu]
    numbers = {
        ("fig19", "rolling_friction_mu", "section=6.1;restitution_e_n=0.2"): Reproduced(
            least, naive=found.uniform("rolling_mu", at),
            note="largest share of tangential in normal impulse of the motion in which nothing slides",
        ),
        ("fig19", "friction_found_where_it_slides", "friction_mu=0.2..0.5"): statement(
            follows_truth, sliding, ALWAYS_THE_SAME, note=_listed(f"{mu:g}: {value:.3f}" for mu, value in sliding)
        ),
        ("fig19", "least_friction_where_it_rolls", "friction_mu=0.6..0.9"): statement(
            stays_at_least, (least, rolling), FOLLOWING_ON, note=_listed(f"{value:.3f}" for value in set(rolling))
        ),
    }  # fmt: skip
    return _of_throw(block, numbers)


def _listed(found: Iterable[str]) -> str:
    return "found " + ", ".join(found)


def printed_numbers(published: pd.DataFrame) -> dict[Key, Reproduced]:
    """What printed numbers alone give: J/m by J and m, figure 22's error by its J/m, friction by the quoted range."""
    keys = zip(published["quantity"], published["condition"], strict=True)
    value = dict(zip(keys, published["value"].astype(float), strict=True))
    numbers: dict[Key, Reproduced] = {
        ("text", "true_inertia_ratio_mm2", "body=plywood_ellipse"): Reproduced(
            1e6 * INERTIA / MASS, basis=PRINT, note="stated inertia by stated mass"
        )
    }
    fig22, true = "section=6.2;throw=fig22", ("true_inertia_ratio_mm2", "body=plywood_ellipse")
    if {("inertia_ratio_mm2", fig22), true} <= set(value):
        error = 100.0 * (value["inertia_ratio_mm2", fig22] / value[true] - 1.0)
        key = ("fig22", "inertia_ratio_error_pct", fig22)
        numbers[key] = Reproduced(error, basis=PRINT, signed=True, note="printed J/m by the printed true one")
    for artefact, quantity, condition in (
        ("fig22", "friction_mu", fig22),
        ("text", "friction_mu_mean", "section=6.2;throw=all"),
    ):
        if (quantity, condition) in value:
            key = (artefact, "friction_within_literature", condition)
            numbers[key] = statement(within_literature, value[quantity, condition], SLIPPERY, basis=PRINT)
    return numbers
