"""Which of the planar paper's printed numbers a run answers to, and why the others can't be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import Key, Reproduced, Tolerance, compare
from contactid.output.tables import read_csv, write_csv

REASONS = {
    "": "not reproduced by this run: planar.identification.noise or .frames_per_second leave the cell out",
    "text": "section 6.2's videos are not published (public throws of a square and impacts of an ellipse take their "
    "place, see ext_real_squares and ext_real_ellipse of the public run), or planar.peaks and planar.liftoff ask for "
    "other time steps and durations than the paper's",
}
_AT = 1.0  # ms: time step at which printed impulses are compared
# what section 4 prints of its scenes: the ellipse, its start, and restitution where it is one value
_PRINTED_SCENES: dict[str, dict[str, Any]] = {
    "drop": {"position": [0, 10, 0], "velocity": [0, 0, 0], "restitution_e_n": [0]},
    "throw": {"position": [0, 5, 0], "velocity": [10, -3, -8], "restitution_e_n": [0]},
    "sliding": {"position": [0, 1, 0], "velocity": [15, 0, 0], "restitution_e_n": [0]},
    "restitution": {"position": [0, 5, 0], "velocity": [10, -3, -8]},
}
_ELLIPSE = {"semi_axes": [1.5, 1.0], "mass": 10, "inertia": 2}
_TIMES = (
    "ours is since release; the time printed under the figure can't be, since free flight fixes it, but an axis that "
    "starts shortly before the impact would explain it"
)
# what section 6.1 prints of its throw
_PRINTED_THROW: dict[str, Any] = {"position": [0, 0.1, -0.785], "velocity": [3, -5, 0], "restitution_e_n": 0.2}
_BODY = {"semi_axes": [0.05, 0.025], "mass": 0.064, "inertia": 4.84e-5}
_LEAST_FPS = 120.0  # below, friction is identified too roughly to say where the body rolls
_ROUNDING = 0.5  # %, of the printed errors
_DEVIATIONS = 2.0
_ENOUGH_SAMPLES = 5  # for quartiles
_QUARTILES = 1.349  # standard deviations between a normal distribution's quartiles
_UNDETERMINED = 0.5  # share of samples whose ratio runs to its limit


def check(
    published: str,
    impact_times: str,
    convergence: str,
    liftoff: str,
    tangential_impulses: str,
    energy: str,
    errors: str,
    block: Mapping[str, Any],
    checks: str,
) -> None:
    """Hold the numbers of ``published/planar.csv`` against those of the study's tables, and write a row each.

    The study's block of the configuration tells whether scenes and throw are the paper's.
    """
    numbers = (
        impulse_numbers(read_csv(impact_times), read_csv(convergence), block)
        | liftoff_numbers(read_csv(liftoff), block)
        | energy_numbers(read_csv(tangential_impulses), read_csv(energy), block)
        | identification_numbers(read_csv(errors), block)
    )
    write_csv(compare("planar", read_csv(published), numbers, REASONS), checks)


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


def _scene_number(block: Mapping[str, Any], scene: str, value: float, note: str) -> Reproduced:
    printed = _is_printed(block, block["scenes"][scene], _ELLIPSE, _PRINTED_SCENES[scene])
    return _number(value, "scene", printed, note)


def _number(value: float, what: str, printed: bool, note: str) -> Reproduced:
    """A number of a scene or throw that is the printed one, or not."""
    told = note if printed else f"the configuration's {what} isn't the paper's; {note}"
    return Reproduced(float(value), comparable=printed, note=told)


def impulse_numbers(times: pd.DataFrame, limits: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Peaks at 1 ms (section 4.2, figures 6 and 8), and the times under figures 7 and 10."""
    numbers: dict[Key, Reproduced] = {}
    for scene in ("drop", "throw"):
        limit = limits[(limits["scene"] == scene) & (limits["model"] == "IRC")].iloc[0]
        for row in times[times["scene"] == scene].to_dict("records"):
            h = float(row["time_step_ms"])
            condition = f"scene={scene};time_step_ms={h:g}"
            numbers["text", "impact_time_ms", condition] = _scene_number(block, scene, row["impact_time_ms"], _TIMES)
            if abs(h - _AT) < 1e-6:
                found = f"limit for h -> 0 {limit['limit_ns']:.2f} N s, order {limit['order']:.2f}"
                key = ("text", f"peak_impulse_{scene}_ns", f"scene={scene}")
                numbers[key] = _scene_number(block, scene, row["peak_impulse_ns"], f"IRC at h = {_AT:g} ms; {found}")
    return numbers


def liftoff_numbers(table: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """The threshold of section 4.3, within the time that figure 12 shows."""
    rows = table[table["duration_s"] == 1.0]
    if rows.empty:
        return {}
    first, longer, waiting = rows.iloc[0], table[table["duration_s"] > 1.0], ""
    if len(longer):
        least, longest = longer["friction_mu"].min(), longer["duration_s"].max()
        waiting = f"; {least:.3f} within {longest:g} s, after a second swing"
    note = f"gap above {first['clearance_mm']:g} mm within 1 s, by bisection{waiting}"
    key = ("text", "liftoff_friction_mu", "scene=sliding;duration_s=1")
    return {key: _scene_number(block, "sliding", first["friction_mu"], note)}


def energy_numbers(tangential: pd.DataFrame, energy: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Section 4.4: no loss at e_N = 1, nothing lost in friction; section 4.3: no loss without friction."""
    numbers: dict[Key, Reproduced] = {}
    for row in tangential.to_dict("records"):
        if row["restitution_e_n"] == 1.0:
            taken = f"sticking impacts take {row['lost_in_friction_j']:.1f} J"
            note = f"{taken}: they stop the contact point's tangential motion"
            key = ("text", "energy_change_pct", "scene=restitution;restitution_e_n=1")
            numbers[key] = _scene_number(block, "restitution", row["energy_change_pct"], note)
        if row["restitution_e_n"] == 0.0:
            bounced = energy[(energy["scene"] == "restitution") & (energy["restitution_e_n"] == 0.0)].iloc[0]
            share = 100.0 * row["lost_in_friction_j"] / bounced["energy_start_j"]
            sticking = row["lost_in_friction_sticking_j"] / row["lost_in_friction_j"]
            note = f"of the energy at the start; {sticking:.0%} of it in steps that stick"
            key = ("text", "lost_in_friction_pct", "scene=restitution;restitution_e_n=0")
            numbers[key] = _scene_number(block, "restitution", share, note)
    for row in energy[(energy["scene"] == "sliding") & (energy["friction_mu"] == 0.0)].head(1).to_dict("records"):
        change = 100.0 * (row["energy_end_j"] / row["energy_start_j"] - 1.0)
        key = ("text", "energy_change_pct", "scene=sliding;friction_mu=0")
        numbers[key] = _scene_number(block, "sliding", change, "")
    return numbers


def identification_numbers(errors: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Section 6.1: table 1 by the configuration's first reading of the noise, J/m, and where the body rolls."""
    printed = _is_printed(block, block["identification"], _BODY, _PRINTED_THROW)
    first = errors[errors["noise_model"] == next(iter(block["identification"]["noise"]))]
    numbers: dict[Key, Reproduced] = {}
    for row in first.to_dict("records"):
        error, limit = row["inertia_ratio_se_median_pct"], row["ratio_is_limit_share"]
        known = f"standard error {error:.2g} %"
        if not limit < _UNDETERMINED:
            known = f"not determined in {limit:.0%} of the samples"
        condition = f"friction_mu={row['mu']:g};fps={row['fps']:g}"
        note = (
            f"median of {row['n_converged']} of {row['n_seeds']} noise samples, the paper has one; median magnitude "
            f"{row['error_abs_median_pct']:.2g} %, {known}"
        )
        number = _number(row["error_median_pct"], "throw", printed, note)
        numbers["tab01", "inertia_ratio_error_pct", condition] = replace(number, tolerance=_spread(row), is_error=True)
    body = block["bodies"][block["identification"]["body"]]
    ratio = 1e6 * body["inertia"] / body["mass"]
    key = ("text", "true_inertia_ratio_mm2", "body=plywood_ellipse")
    numbers[key] = _number(ratio, "throw", printed, "stated inertia by stated mass")
    rolling = first[(first["mu_is_bound_share"] > 0.5) & (first["fps"] >= _LEAST_FPS)]
    if len(rolling):
        note = f"least friction that explains the motion, median of {len(rolling)} cells in which nothing slides"
        key = ("text", "rolling_friction_mu", "section=6.1;restitution_e_n=0.2")
        numbers[key] = _number(rolling["mu_median"].median(), "throw", printed, note)
    return numbers


def _spread(row: Mapping[Any, Any]) -> Tolerance | None:
    """Within which one noise sample (theirs) and a median of some (ours) lie in 19 of 20 cases; None where unknown.

    The standard deviation of one sample is that of our samples, from their quartiles, or where they are few the
    standard error of the fit. A median of n has the variance pi / (2 n) of one sample's.
    """
    n = int(row["n_converged"])
    if n >= _ENOUGH_SAMPLES:
        deviation, source = (row["error_q75_pct"] - row["error_q25_pct"]) / _QUARTILES, f"spread over {n} samples"
    else:
        deviation, source = row["inertia_ratio_se_median_pct"], "standard error"
    if n == 0 or not np.isfinite(deviation) or row["ratio_is_limit_share"] >= _UNDETERMINED:
        return None
    of_difference = float(deviation) * np.sqrt(1.0 + min(1.0, np.pi / (2.0 * n)))
    return Tolerance(
        _ROUNDING + _DEVIATIONS * of_difference,
        f"rounding of the printed number, and {_DEVIATIONS:g} standard deviations of the difference of one noise "
        f"sample and the median of {n}, by our {source}",
    )
