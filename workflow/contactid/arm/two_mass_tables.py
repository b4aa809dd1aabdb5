"""Tables of the two-mass models: Table I, events of contact, and how far the paper's remarks on damping hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.simulate.two_mass import COMPLIANT, FLEXIBLE, GRAZING, RE_IMPACT, SEPARATION, TwoMassMotion, simulate
from contactid.arm.simulate.two_mass_phases import TwoMass
from contactid.arm.two_mass_fit import decompose, distance_between, rigid_velocity, settling
from contactid.arm.two_mass_settings import Setting, TwoMassSettings
from contactid.core.errors import ContactIdError

EARLY = 0.01  # s; longest duration of an impact that the paper's section II names
COMPARED = 0.1  # s after the impact, over which model A is compared with B
_DECIMALS = 9  # what is smaller is rounding, and differs between machines
CAPTIONS = {
    "tab01_parameters": "Parameters of the two-mass models, printed and used.",
    "ext_events": "Events of contact in the two-mass models (s).",
    "ext_damping_sweep": "Bouncing, settling and the one-mode fit of the two-mass models under other dampings.",
}
_UNITS = {
    "m0": "kg", "m1": "kg", "m2": "kg", "hertz_exponent_c": "1", "k_env": "N/m^c", "d_env": "N*s/m^(c+1)",
    "k_rob": "N/m", "d_rob": "N*s/m", "initial_gap": "m", "pushing_force": "N",
}  # fmt: skip


def parameters_table(system: TwoMass, printed: Mapping[str, float]) -> pd.DataFrame:
    """Table I: columns ``parameter, printed, used, unit, same``.

    Parameters
    ----------
    system
        As used.
    printed
        Parameter to printed value; a parameter that isn't printed is NaN.
    """
    rows = []
    for field in fields(TwoMass):
        used, shown = float(getattr(system, field.name)), float(printed.get(field.name, np.nan))
        rows.append(
            {"parameter": field.name, "printed": shown, "used": used, "unit": _UNITS[field.name], "same": used == shown}
        )
    return pd.DataFrame(rows)


def printed_parameters(published: pd.DataFrame) -> dict[str, float]:
    """Table I from the table of published values (``artefact, quantity, condition, value, ...``)."""
    known = {field.name for field in fields(TwoMass)}
    rows = published[(published["artefact"] == "tab01") & published["quantity"].isin(known)]
    return {str(name): float(value) for name, value in zip(rows["quantity"], rows["value"], strict=True)}


def events_table(runs: Sequence[tuple[Setting, TwoMassMotion]]) -> pd.DataFrame:
    """Every event of every motion: ``model, setting, event, t_s, gap_rate_m_s`` (the gap's rate right before)."""
    rows = [
        {
            "model": setting.model,
            "setting": setting.name,
            "event": event.kind,
            "t_s": event.time,
            "gap_rate_m_s": round(event.gap_rate, _DECIMALS) + 0.0,  # not minus zero
        }
        for setting, motion in runs
        for event in motion.events
    ]
    return pd.DataFrame(rows, columns=["model", "setting", "event", "t_s", "gap_rate_m_s"])


def run_settings(chosen: Sequence[Setting], duration: float) -> list[tuple[Setting, TwoMassMotion]]:
    """Simulate every setting for ``duration`` s."""
    return [(setting, simulate(setting.system, setting.model, duration)) for setting in chosen]


def sweep_table(runs: Sequence[tuple[Setting, TwoMassMotion]], settings: TwoMassSettings) -> pd.DataFrame:
    """How a motion under each damping behaves: a row per setting and fitted window.

    Columns
    -------
    model, d_rob, d_env : the setting; ``d_env`` is NaN for model B, which has none
    window_s : of the fit
    impact_time_s : of the first impact
    separations, re_impacts, guarded : events after it
    early_separations : those within 10 ms, the bouncing that the paper speaks of
    late_lift_off_ms : first separation later than that, after the impact; NaN without
    apart_ms : time that the bodies are apart after the impact
    v1_from_b_m_s, v2_from_b_m_s : rms distance of model A from B with the same coupling, over 100 ms; NaN for B
    settling_ms, departure_100ms_pct : of v2 against the rigid velocity, see :func:`contactid.arm.two_mass_fit.settling`
    v_plus_rigid_m_s, v_plus_fit_m_s, fit_error_pct : at the impact
    fit_rms_m_s, fit_frequency_hz, fit_decay_1_s, fit_at_bound, converged, status : of the fit
    """
    rows: list[dict[str, Any]] = []
    for setting, motion in runs:
        shared = _contact_columns(setting, motion)
        rows += [shared | _fit_columns(motion, window, settings.fit.sample_interval) for window in settings.fit.windows]
    return pd.DataFrame(rows)


def flights(motion: TwoMassMotion) -> np.ndarray:
    """(n, 2) begin and end of every time apart after the first impact, s; the last may end with the motion."""
    opened = motion.times_of(SEPARATION)
    closed = np.sort(np.concatenate([motion.times_of(RE_IMPACT), motion.times_of(GRAZING), [motion.duration]]))
    ends = closed[np.searchsorted(closed, opened, side="left")] if len(opened) else np.empty(0)
    return np.column_stack([opened, ends])


def _contact_columns(setting: Setting, motion: TwoMassMotion) -> dict[str, Any]:
    impact, opened = motion.impact_time, motion.times_of(SEPARATION)
    late = opened[opened - impact > EARLY]
    compliant = setting.model == COMPLIANT
    apart = flights(motion)
    settled, departure = settling(motion)
    from_b = np.full(3, np.nan)
    if compliant:
        from_b = distance_between(motion, simulate(setting.system, FLEXIBLE, motion.duration), COMPARED)
    return {
        "model": setting.model,
        "d_rob": setting.system.d_rob,
        "d_env": setting.system.d_env if compliant else np.nan,
        "impact_time_s": impact,
        "separations": len(opened),
        "re_impacts": len(motion.times_of(RE_IMPACT)),
        "early_separations": int((opened - impact <= EARLY).sum()),
        "guarded": len(motion.times_of(GRAZING)),
        "late_lift_off_ms": 1e3 * (late[0] - impact) if len(late) else np.nan,
        "apart_ms": 1e3 * float((apart[:, 1] - apart[:, 0]).sum()),
        "v1_from_b_m_s": from_b[1],
        "v2_from_b_m_s": from_b[2],
        "settling_ms": 1e3 * settled,
        "departure_100ms_pct": 100.0 * departure,
    }


def _fit_columns(motion: TwoMassMotion, window: float, sample_interval: float) -> dict[str, Any]:
    rigid = float(rigid_velocity(motion, np.array([motion.impact_time]))[0])
    found: dict[str, Any] = {"window_s": window, "v_plus_rigid_m_s": rigid}
    try:
        fit = decompose(motion, window, sample_interval).fit
    except ContactIdError as error:
        blank = dict.fromkeys(
            ("v_plus_fit_m_s", "fit_error_pct", "fit_rms_m_s", "fit_frequency_hz", "fit_decay_1_s"), np.nan
        )
        return found | blank | {"fit_at_bound": False, "converged": False, "status": str(error)}
    return found | {
        "v_plus_fit_m_s": fit.post_velocity,
        "fit_error_pct": round(100.0 * (fit.post_velocity / rigid - 1.0), _DECIMALS) + 0.0,
        "fit_rms_m_s": round(fit.residual_rms, _DECIMALS),
        "fit_frequency_hz": fit.frequency_hz,
        "fit_decay_1_s": fit.decay,
        "fit_at_bound": fit.at_bound,
        "converged": fit.converged,
        "status": "at_bound" if fit.at_bound else "solved" if fit.converged else "not_converged",
    }
