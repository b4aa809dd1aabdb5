"""Which of the planar paper's printed numbers a run answers to, and why the others can't be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from contactid.output.comparison import Key, Reproduced
from contactid.planar.identification_checks import identification_numbers
from contactid.planar.names import DROP, IRC, RESTITUTION, SLIDING, THROW

Tables = Mapping[str, pd.DataFrame]
REASONS = {
    "": "not reproduced by this run: planar.identification.noise or .frames_per_second leave the cell out",
    "text": "section 6.2's videos are not published (public throws of a square and impacts of an ellipse take their "
    "place, see ext_real_squares and ext_real_ellipse of the public run), or planar.peaks and planar.liftoff ask for "
    "other time steps and durations than the paper's",
}
_AT = 1.0  # ms: time step at which printed impulses are compared
# what section 4 prints of its scenes: the ellipse, its start, and restitution where it is one value
_PRINTED: dict[str, dict[str, Any]] = {
    DROP: {"position": [0, 10, 0], "velocity": [0, 0, 0], "restitution_e_n": [0]},
    THROW: {"position": [0, 5, 0], "velocity": [10, -3, -8], "restitution_e_n": [0]},
    SLIDING: {"position": [0, 1, 0], "velocity": [15, 0, 0], "restitution_e_n": [0]},
    RESTITUTION: {"position": [0, 5, 0], "velocity": [10, -3, -8]},
}
_ELLIPSE = {"semi_axes": [1.5, 1.0], "mass": 10, "inertia": 2}
_OTHER_SCENE = "the configuration's scene isn't the paper's"
_TIMES = (
    "ours is since release; the time printed under the figure can't be, since free flight fixes it, but an axis that "
    "starts shortly before the impact would explain it"
)


def is_printed(block: Mapping[str, Any], name: str) -> bool:
    """Whether a scene of the configuration is the one that the paper prints."""
    scene = block["scenes"][name]
    ground = scene["ground"]
    return (
        dict(block["bodies"][scene["body"]]) == _ELLIPSE
        and all(scene[key] == value for key, value in _PRINTED[name].items())
        and scene["restitution_e_t"] == 0
        and ground["slope"] == 0
        and ground["start"] == [0, 0]
        and block["gravity"] == 9.81
    )


def reproduced_numbers(tables: Tables, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Our numbers by (artefact, quantity, condition) of ``published/planar.csv``.

    Parameters
    ----------
    tables
        The study's tables by name.
    block
        The study's block of the configuration, which tells whether a scene is the paper's.
    """
    return (
        _impulses(tables["ext_impact_times"], tables["ext_impulse_convergence"], block)
        | _liftoff(tables["ext_liftoff"], block)
        | _energies(tables["ext_tangential_impulses"], tables["ext_energy"], block)
        | identification_numbers(tables["tab01_inertia_ratio_error"], block)
    )


def _number(block: Mapping[str, Any], scene: str, value: float, note: str) -> Reproduced:
    printed = is_printed(block, scene)
    return Reproduced(float(value), comparable=printed, note=note if printed else f"{_OTHER_SCENE}; {note}")


def _impulses(times: pd.DataFrame, limits: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Peaks at 1 ms (section 4.2, figures 6 and 8), and the times under figures 7 and 10."""
    numbers: dict[Key, Reproduced] = {}
    for scene in (DROP, THROW):
        limit = limits[(limits["scene"] == scene) & (limits["model"] == IRC)].iloc[0]
        for row in times[times["scene"] == scene].to_dict("records"):
            h = float(row["time_step_ms"])
            condition = f"scene={scene};time_step_ms={h:g}"
            numbers["text", "impact_time_ms", condition] = _number(block, scene, row["impact_time_ms"], _TIMES)
            if abs(h - _AT) < 1e-6:
                note = (
                    f"IRC at h = {_AT:g} ms; limit for h -> 0 {limit['limit_ns']:.2f} N s, order {limit['order']:.2f}"
                )
                numbers["text", f"peak_impulse_{scene}_ns", f"scene={scene}"] = _number(
                    block, scene, row["peak_impulse_ns"], note
                )
    return numbers


def _liftoff(table: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """The threshold of section 4.3, within the time that figure 12 shows."""
    rows = table[table["duration_s"] == 1.0]
    if rows.empty:
        return {}
    first = rows.iloc[0]
    longer = table[table["duration_s"] > 1.0]
    waiting = (
        f"; {longer['friction_mu'].min():.3f} within {longer['duration_s'].max():g} s, after a second swing"
        if len(longer)
        else ""
    )
    note = f"gap above {first['clearance_mm']:g} mm within 1 s, by bisection{waiting}"
    key = ("text", "liftoff_friction_mu", f"scene={SLIDING};duration_s=1")
    return {key: _number(block, SLIDING, first["friction_mu"], note)}


def _energies(tangential: pd.DataFrame, energy: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Section 4.4: no loss at e_N = 1, nothing lost in friction; section 4.3: no loss without friction."""
    numbers: dict[Key, Reproduced] = {}
    for row in tangential.to_dict("records"):
        if row["restitution_e_n"] == 1.0:
            numbers["text", "energy_change_pct", f"scene={RESTITUTION};restitution_e_n=1"] = _number(
                block,
                RESTITUTION,
                row["energy_change_pct"],
                f"sticking impacts take {row['lost_in_friction_j']:.1f} J: they stop the contact point's tangential "
                "motion",
            )
        if row["restitution_e_n"] == 0.0:
            bounced = energy[(energy["scene"] == RESTITUTION) & (energy["restitution_e_n"] == 0.0)].iloc[0]
            share = 100.0 * row["lost_in_friction_j"] / bounced["energy_start_j"]
            sticking = row["lost_in_friction_sticking_j"] / row["lost_in_friction_j"]
            numbers["text", "lost_in_friction_pct", f"scene={RESTITUTION};restitution_e_n=0"] = _number(
                block,
                RESTITUTION,
                share,
                f"of the energy at the start; {sticking:.0%} of it in steps that stick",
            )
    free = energy[(energy["scene"] == SLIDING) & (energy["friction_mu"] == 0.0)]
    if len(free):
        row = free.iloc[0].to_dict()
        change = 100.0 * (row["energy_end_j"] / row["energy_start_j"] - 1.0)
        numbers["text", "energy_change_pct", f"scene={SLIDING};friction_mu=0"] = _number(block, SLIDING, change, "")
    return numbers
