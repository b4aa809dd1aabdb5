"""Events of contact in the two-mass models, and how far the paper's remarks on damping hold.

The rigid robot's velocity after the impact is known here without a model of contact: all bodies
then move together, so it is the momentum over the total mass, -F t / (m0 + m1 + m2), at every
instant, and that is also what the velocities of the flexible models settle to. Errors are relative
to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.artefacts.two_mass import (
    FINE,
    decompose,
    decomposition_table,
    system_of,
)
from contactid.arm.simulate.two_mass import (
    COMPARED,
    COMPLIANT,
    EARLY,
    FLEXIBLE,
    GRAZING,
    MODELS,
    RE_IMPACT,
    SEPARATION,
    SETTLED,
    TABLE_I,
    TwoMassMotion,
    simulate,
)
from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv, write_exact

CONVERGED_AFTER = 0.1  # s; the paper's "about 100 ms"
_LOOKED_AT = 1e-4  # s, between instants at which a motion is looked at for settling
_DECIMALS = 9  # what is smaller is rounding, and differs between machines
# name of the setting, ``table_1``, ``d_rob=40`` or ``d_env=1e+09``, and its motion
Run = tuple[str, TwoMassMotion]


def simulate_sweep(
    models: Mapping[str, Any], events: str, damping: str, decomposition: str
) -> None:
    """Simulate Table I and one damping varied at a time, by the block ``arm: models``.

    Writes :func:`events_table` of all motions, :func:`sweep_table`, and the data of figure 5.
    """
    runs = sweep_runs(models)
    fit, fitted = models["fit"], {motion.model: motion for name, motion in runs if name == TABLE_I}
    write_exact(events_table(runs), events)
    write_exact(sweep_table(runs, fit["windows"], fit["sample_interval"]), damping)
    shown = decomposition_table(
        fitted[fit["model"]], float(fit["windows"][0]), float(fit["sample_interval"])
    )
    write_exact(shown, decomposition)


def sweep_runs(models: Mapping[str, Any]) -> list[Run]:
    """All motions; model B has no contact damping, C no damping at all. Equal settings are
    simulated once.
    """
    system, sweep = system_of(models), models["sweep"]
    chosen = [(TABLE_I, model, system) for model in MODELS]
    for model in (FLEXIBLE, COMPLIANT):
        chosen += [
            (f"d_rob={value:g}", model, replace(system, d_rob=float(value)))
            for value in sweep["d_rob"]
        ]
    chosen += [
        (f"d_env={value:g}", COMPLIANT, replace(system, d_env=float(value)))
        for value in sweep["d_env"]
    ]
    # the same setting may be in both sweeps
    distinct = dict.fromkeys((model, system) for _, model, system in chosen)
    motions = {
        (model, system): simulate(system, model, float(sweep["duration"]))
        for model, system in distinct
    }
    return [(name, motions[model, system]) for name, model, system in chosen]


def events_table(runs: Sequence[Run]) -> pd.DataFrame:
    """Every event of every motion: ``model, setting, event, t_s, gap_rate_m_s`` (the gap's rate
    right before).
    """
    rows = [
        {
            "model": motion.model,
            "setting": name,
            "event": event.kind,
            "t_s": event.time,
            "gap_rate_m_s": round(event.gap_rate, _DECIMALS) + 0.0,  # not minus zero
        }
        for name, motion in runs
        for event in motion.events
    ]
    return pd.DataFrame(rows)


def sweep_table(
    runs: Sequence[Run], windows: Sequence[float], sample_interval: float
) -> pd.DataFrame:
    """How a motion under each damping behaves: a row per setting, but Table I's, and fitted window
    (s).

    Columns
    -------
    setting : its name
    model, d_rob, d_env : the setting; ``d_env`` is NaN for model B, which has none
    window_s : of the fit
    impact_time_s : of the first impact
    separations, re_impacts, guarded : events after it
    early_separations : those within 10 ms, the bouncing that the paper speaks of
    late_lift_off_ms : first separation later than that, after the impact; NaN without
    v1_from_b_m_s, v2_from_b_m_s : rms distance of model A from B with the same coupling, over 100
        ms; NaN for B
    settling_ms, departure_100ms_pct : of v2 against the rigid velocity, see :func:`settling`
    v_plus_rigid_m_s, v_plus_fit_m_s, fit_error_pct : at the impact
    fit_decay_1_s, fit_at_bound, converged, status : of the fit
    """
    # model A is held against B of the same coupling
    hard = {motion.system.d_rob: motion for _, motion in runs if motion.model == FLEXIBLE}
    rows: list[dict[str, Any]] = []
    for name, motion in runs:
        if name == TABLE_I:
            continue
        shared = {"setting": name} | _contact_columns(motion, hard)
        rows += [
            shared | _fit_columns(motion, float(window), float(sample_interval))
            for window in windows
        ]
    return pd.DataFrame(rows)


def _contact_columns(motion: TwoMassMotion, hard: Mapping[float, TwoMassMotion]) -> dict[str, Any]:
    """``hard`` are the motions of model B by d_rob."""
    impact, opened = motion.impact_time, motion.times_of(SEPARATION)
    # bouncing is over within the longest impact; what opens later is the spring's doing
    late = opened[opened - impact > EARLY]
    compliant = motion.model == COMPLIANT
    settled, departure = settling(motion)
    from_b = (
        distance_between(motion, hard[motion.system.d_rob], COMPARED)
        if compliant
        else np.full(3, np.nan)
    )
    return {
        "model": motion.model,
        "d_rob": motion.system.d_rob,
        "d_env": motion.system.d_env if compliant else np.nan,
        "impact_time_s": impact,
        "separations": len(opened),
        "re_impacts": len(motion.times_of(RE_IMPACT)),
        "early_separations": int((opened - impact <= EARLY).sum()),
        "guarded": len(motion.times_of(GRAZING)),
        "late_lift_off_ms": 1e3 * (late[0] - impact) if len(late) else np.nan,
        "v1_from_b_m_s": from_b[1],
        "v2_from_b_m_s": from_b[2],
        "settling_ms": 1e3 * settled,
        "departure_100ms_pct": 100.0 * departure,
    }


def _fit_columns(motion: TwoMassMotion, window: float, sample_interval: float) -> dict[str, Any]:
    # no model of contact in it: momentum over mass
    rigid = float(rigid_velocity(motion, np.array([motion.impact_time]))[0])
    found: dict[str, Any] = {"window_s": window, "v_plus_rigid_m_s": rigid}
    try:
        fit = decompose(motion, window, sample_interval)[1]
    # a fit that isn't possible is a row with its reason
    except ContactIdError as error:
        return found | {"fit_at_bound": False, "converged": False, "status": str(error)}
    return found | {
        "v_plus_fit_m_s": fit.post_velocity,
        "fit_error_pct": round(100.0 * (fit.post_velocity / rigid - 1.0), _DECIMALS) + 0.0,
        "fit_decay_1_s": fit.decay,
        "fit_at_bound": fit.at_bound,
        "converged": fit.converged,
        "status": "at_bound" if fit.at_bound else "solved" if fit.converged else "not_converged",
    }


def rigid_velocity(motion: TwoMassMotion, times: np.ndarray) -> np.ndarray:
    """(n,) velocity of all bodies as one at (n,) times after the impact, m/s."""
    return -motion.system.pushing_force * np.asarray(times, dtype=float) / motion.system.total_mass


def settling(motion: TwoMassMotion) -> tuple[float, float]:
    """How the velocity of m2 settles to the rigid one.

    Returns
    -------
    time : from the impact until v2 stays within 2 % of the rigid velocity, s; NaN if it never does
    late : largest departure relative to the rigid velocity from 100 ms after the impact on; NaN
        without such times
    """
    times = np.arange(motion.impact_time, motion.duration, _LOOKED_AT)
    # relative to the rigid velocity, which grows with time
    departure = np.abs(motion.states(times)[:, 5] / rigid_velocity(motion, times) - 1.0)
    late = departure[round(CONVERGED_AFTER / _LOOKED_AT) :]
    # the last time outside decides, not the first inside
    outside = np.flatnonzero(departure > SETTLED)
    settled = 0.0
    if len(outside):
        last = int(outside[-1]) + 1
        settled = float(times[last] - motion.impact_time) if last < len(times) else float("nan")
    return settled, float(late.max()) if len(late) else float("nan")


def distance_between(one: TwoMassMotion, other: TwoMassMotion, span: float) -> np.ndarray:
    """(3,) root mean square difference of the velocities of m0, m1, m2 over ``span`` s after the
    impact, m/s.

    The mean is by the midpoint rule, since at the impact itself a hard contact has jumped and a
    compliant one hasn't.
    """
    # from the later of both impacts
    times = max(one.impact_time, other.impact_time) + np.arange(0.5 * FINE, span, FINE)
    difference = one.states(times)[:, 3:] - other.states(times)[:, 3:]
    return np.asarray(np.sqrt((difference**2).mean(axis=0)))


def sweep_artefacts(events: str, damping: str) -> dict[str, pd.DataFrame]:
    """Tables of events and of the sweep, from the files of :func:`simulate_sweep`."""
    return {
        "tables/ext_events": read_csv(events),
        "tables/ext_damping_sweep": read_csv(damping).drop(columns="setting"),
    }
