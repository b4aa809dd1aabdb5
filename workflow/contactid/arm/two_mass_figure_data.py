"""Data behind the figures of the two-mass models: 3 (a sketch), 4, 5, and the one of the damping sweep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from contactid.arm.simulate.two_mass import COMPLIANT, FLEXIBLE, MODELS, RIGID, TwoMassMotion
from contactid.arm.two_mass_fit import decompose
from contactid.arm.two_mass_settings import Setting, TwoMassSettings
from contactid.arm.two_mass_tables import flights

COARSE, FINE = 5e-4, 2e-5  # s, outside and inside the zoom of figure 4
_NAMES = {
    COMPLIANT: "compliant contact, flexible robot",
    FLEXIBLE: "hard contact, flexible robot",
    RIGID: "hard contact, rigid robot",
}
# places of the sketch, in units of a mass's width
_ENVIRONMENT, _CONTACT_SIDE, _SENSING_SIDE = 0.0, 3.2, 5.7
_WIDTH, _BALL, _CONTACT, _ARROW = 1.0, 0.3, 1.0, 1.0


def model_sketch() -> pd.DataFrame:
    """Figure 3: parts of the three models along x, in units of a mass's width.

    Columns ``model, name, part, label, start, end``: ``mass`` from its left to its right side, ``ball`` (the contact
    surface of m1), ``contact`` (spring and damper of eq. 6), ``coupling`` (between m1 and m2), ``rigid`` (the same,
    stiff), ``force`` (from foot to tip), ``depth`` (what delta is measured along, from m1 to the environment's surface)
    and ``place`` (the coordinate of a mass).
    """
    rows: list[tuple[str, str, str, float, float]] = []
    for model in MODELS:
        left, one, two = _ENVIRONMENT, _CONTACT_SIDE, _SENSING_SIDE
        surface = left + _WIDTH + (_CONTACT if model == COMPLIANT else 0.0)
        parts = [
            ("mass", "m_0", left, left + _WIDTH),
            ("mass", "m_1", one, one + _WIDTH),
            ("mass", "m_2", two, two + _WIDTH),
            ("ball", "", one - _BALL, one),
            ("rigid" if model == RIGID else "coupling", "" if model == RIGID else "k_rob d_rob", one + _WIDTH, two),
            ("force", "F", two + _WIDTH + _ARROW, two + _WIDTH),
            ("depth", "delta", one - _BALL, surface),
            ("place", "x_0", left + _WIDTH / 2, left + _WIDTH / 2),
            ("place", "x_1", one + _WIDTH / 2, one + _WIDTH / 2),
            ("place", "x_2", two + _WIDTH / 2, two + _WIDTH / 2),
        ]
        if model == COMPLIANT:
            parts.append(("contact", "k_env d_env", left + _WIDTH, surface))
        rows += [(model, part, label, start, end) for part, label, start, end in parts]
    table = pd.DataFrame(rows, columns=["model", "part", "label", "start", "end"])
    table.insert(1, "name", table["model"].map(_NAMES))
    return table


def motion_table(runs: Sequence[tuple[Setting, TwoMassMotion]], zoom: tuple[float, float]) -> pd.DataFrame:
    """Figure 4: ``model, t_s, x0_m, x1_m, x2_m, v0_m_s, v1_m_s, v2_m_s``, finer within ``zoom`` (s).

    An event's time has two rows, the state before it and the one after it.
    """
    tables = []
    for setting, motion in runs:
        grid = np.union1d(
            np.arange(0.0, motion.duration + 0.5 * COARSE, COARSE).clip(max=motion.duration),
            np.arange(zoom[0], zoom[1], FINE),
        )
        events = np.array([event.time for event in motion.events])
        grid = np.setdiff1d(grid, events)
        times = np.concatenate([grid, events, events])
        states = np.vstack([motion.states(grid), motion.states(events, before=True), motion.states(events)])
        order = np.argsort(times, kind="stable")
        table = pd.DataFrame(states[order], columns=["x0_m", "x1_m", "x2_m", "v0_m_s", "v1_m_s", "v2_m_s"])
        table.insert(0, "t_s", times[order])
        table.insert(0, "model", setting.model)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def decomposition_table(motion: TwoMassMotion, settings: TwoMassSettings) -> pd.DataFrame:
    """Figure 5: ``series, t_s, v_m_s``, t since the impact.

    Series: ``velocity`` of m2 (from 50 ms before the impact on), ``fit``, ``affine`` and ``oscillation`` (their sum
    is the fit) over the window, ``reconstructed`` (the affine part at the impact) and ``impact_map`` (its prediction
    from the velocity of m2 right before), a point each.
    """
    found = decompose(motion, settings.fit.windows[0], settings.fit.sample_interval)
    impact, step = motion.impact_time, settings.fit.sample_interval
    time = found.time
    around = step * np.arange(-round(0.05 / step), round(1.3 * time[-1] / step) + 1)
    around = around[(impact + around >= 0.0) & (impact + around <= motion.duration)]
    origin = np.zeros(1)
    series = {
        "velocity": (around, motion.states(impact + around)[:, 5]),
        "fit": (time, found.fit.evaluate(time)),
        "affine": (time, found.fit.affine(time)),
        "oscillation": (time, found.fit.oscillation(time)),
        "reconstructed": (origin, np.array([found.fit.post_velocity])),
        "impact_map": (origin, np.array([found.mapped])),
    }
    return pd.concat(
        [pd.DataFrame({"series": name, "t_s": t, "v_m_s": v}) for name, (t, v) in series.items()], ignore_index=True
    )


def sweep_figure(sweep: pd.DataFrame, runs: Sequence[tuple[Setting, TwoMassMotion]]) -> pd.DataFrame:
    """Figure of the damping sweep: ``panel, series, x, y, y_end, marked``.

    Panels: ``fit_error`` (size of model A's against d_rob, %; ``series`` is the window in ms, ``marked`` a pole on its
    bound), ``settling`` (ms against d_rob; ``series`` is the model), ``apart_d_rob`` and ``apart_d_env`` (times
    from ``y`` to ``y_end`` in ms after the impact at which the bodies are apart; NaN for a motion without).
    """
    varied = {id(motion): setting.name.split("=")[0] for setting, motion in runs}
    rows: list[tuple[str, str, float, float, float, bool]] = []
    by_coupling = sweep.iloc[: len(sweep) // len(runs) * sum(name == "d_rob" for name in varied.values())]
    for _, row in by_coupling[by_coupling["model"] == COMPLIANT].iterrows():
        window = f"{1e3 * row['window_s']:g}"
        error = float(np.abs(row["fit_error_pct"]))
        rows.append(("fit_error", window, row["d_rob"], error, np.nan, bool(row["fit_at_bound"])))
    for _, row in by_coupling.drop_duplicates(["model", "d_rob"]).iterrows():
        rows.append(("settling", row["model"], row["d_rob"], row["settling_ms"], np.nan, False))
    for setting, motion in runs:
        panel, value = f"apart_{varied[id(motion)]}", getattr(setting.system, varied[id(motion)])
        apart = 1e3 * (flights(motion) - motion.impact_time)
        for begin, end in apart if len(apart) else [(np.nan, np.nan)]:
            rows.append((panel, setting.model, value, float(begin), float(end), False))
    return pd.DataFrame(rows, columns=["panel", "series", "x", "y", "y_end", "marked"])
