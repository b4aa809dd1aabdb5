"""Table I and figures 4 and 5: the two-mass models' motion, and a one-mode fit of the velocity of
m2.

The paper's blue, dashed black and dash-dot red are kept in hues that any colour vision tells apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.arm.identify.modal_fit import ModalFit, fit_modes
from contactid.arm.simulate.two_mass import (
    MODELS,
    TwoMass,
    TwoMassMotion,
    impact_map_velocity,
    simulate,
)
from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.output.tables import read_csv

COARSE, FINE = 5e-4, 2e-5  # s, outside and inside the zoom of figure 4
_UNITS = {
    "m0": "kg", "m1": "kg", "m2": "kg", "hertz_exponent_c": "1", "k_env": "N/m^c", "d_env": "N*s/m^(c+1)",
    "k_rob": "N/m", "d_rob": "N*s/m", "initial_gap": "m", "pushing_force": "N",
}  # fmt: skip
LOOKS = {"A": (style.LINE, "-", 1.3), "B": ("black", "--", 0.9), "C": (style.RELEASE, "-.", 1.1)}
NAMES = {
    "A": "A: compliant contact, flexible robot",
    "B": "B: hard contact, flexible robot",
    "C": "C: hard contact, rigid robot",
}
QUIET = "#555555"


def system_of(models: Mapping[str, Any]) -> TwoMass:
    """Table I as the block ``arm: models`` has it."""
    return TwoMass(**{name: float(value) for name, value in models["parameters"].items()})


def parameters(models: Mapping[str, Any], published: str) -> pd.DataFrame:
    """Table I: columns ``parameter, printed, used, unit, same``; a parameter that isn't printed is
    NaN.
    """
    rows, names = read_csv(published), list(_UNITS)
    printed = (
        rows[rows["artefact"] == "tab01"]
        .set_index("quantity")["value"]
        .reindex(names)
        .to_numpy(dtype=float)
    )
    used = [getattr(system_of(models), name) for name in names]
    table = {"parameter": names, "printed": printed, "used": used, "unit": list(_UNITS.values())}
    return pd.DataFrame(table).assign(same=used == printed)


def motions(models: Mapping[str, Any]) -> pd.DataFrame:
    """Figure 4: ``model, t_s, x0_m, x1_m, x2_m, v0_m_s, v1_m_s, v2_m_s``, finer within the zoom.

    An event's time has two rows, the state before it and the one after it.

    Raises
    ------
    ContactIdError
        Where the zoom isn't within the motion.
    """
    duration, (first, last) = float(models["duration"]), map(float, models["zoom"])
    if not 0.0 <= first < last <= duration:
        raise ContactIdError(
            f"configuration: arm.models.zoom is {[first, last]}",
            f"Give two ascending times within arm.models.duration, {duration:g} s",
        )
    tables = []
    for model in MODELS:
        motion = simulate(system_of(models), model, duration)
        grid = np.union1d(
            np.arange(0.0, duration + 0.5 * COARSE, COARSE).clip(max=duration),
            np.arange(first, last, FINE),
        )
        events = np.array([event.time for event in motion.events])
        # an event has rows of its own, before and after
        grid = np.setdiff1d(grid, events)
        times = np.concatenate([grid, events, events])
        states = np.vstack(
            [motion.states(grid), motion.states(events, before=True), motion.states(events)]
        )
        order = np.argsort(times, kind="stable")
        names = ["t_s", "x0_m", "x1_m", "x2_m", "v0_m_s", "v1_m_s", "v2_m_s"]
        table = pd.DataFrame(np.column_stack([times, states])[order], columns=names)
        table.insert(0, "model", model)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def decompose(
    motion: TwoMassMotion, window: float, sample_interval: float
) -> tuple[np.ndarray, ModalFit]:
    """Times (n,) since the first impact, s, and the one-mode fit of the velocity of m2 there, over
    ``window`` s.

    The offset is tied to the velocity of m2 right before the impact (eq. 7).

    Raises
    ------
    ContactIdError
        Where the motion is shorter than the window, or the fit refuses the signal.
    """
    impact = motion.impact_time
    # a window of whole samples keeps its last one
    count = int(np.floor(window / sample_interval * (1.0 + 1e-9))) + 1
    time = sample_interval * np.arange(count)
    if impact + time[-1] > motion.duration:
        raise ContactIdError(
            f"two-mass model {motion.model}: a window of {window:g} s after the impact outlasts the motion",
            "Simulate longer, or shorten the window",
        )
    velocity = motion.states(impact + time)[:, 5]
    before = float(motion.states(np.array([impact]), before=True)[0, 5])
    return time, fit_modes(time, velocity, before)


def decomposition_table(
    motion: TwoMassMotion, window: float, sample_interval: float
) -> pd.DataFrame:
    """Figure 5: ``series, t_s, v_m_s``, t since the impact.

    Series: ``velocity`` of m2 (from 50 ms before the impact on), ``fit``, ``affine`` and
    ``oscillation`` (their sum is the fit) over the window, ``reconstructed`` (the affine part at
    the impact) and ``impact_map`` (its prediction from the velocity of m2 right before), a point
    each.
    """
    time, fit = decompose(motion, window, sample_interval)
    impact, step = motion.impact_time, sample_interval
    # from 50 ms before the impact to a little beyond the window
    around = step * np.arange(-round(0.05 / step), round(1.3 * time[-1] / step) + 1)
    around = around[(impact + around >= 0.0) & (impact + around <= motion.duration)]
    origin = np.zeros(1)
    series = {
        "velocity": (around, motion.states(impact + around)[:, 5]),
        "fit": (time, fit.evaluate(time)),
        "affine": (time, fit.affine(time)),
        "oscillation": (time, fit.oscillation(time)),
        "reconstructed": (origin, np.array([fit.post_velocity])),
        "impact_map": (origin, np.array([impact_map_velocity(motion.system, fit.pre_velocity)])),
    }
    return pd.concat(
        [pd.DataFrame({"series": name, "t_s": t, "v_m_s": v}) for name, (t, v) in series.items()],
        ignore_index=True,
    )


def decomposition(decomposition: str) -> pd.DataFrame:
    """Figure 5, as :func:`contactid.arm.artefacts.damping_sweep.simulate_sweep` keeps it."""
    return read_csv(decomposition)


def draw_motions(data: pd.DataFrame, zoom: tuple[float, float]) -> Figure:
    """Figure 4: positions (first column), velocities (second) and these around the impact; rows m1
    and m2.
    """
    figure, panels = plt.subplots(2, 3, figsize=(style.DOUBLE_COLUMN, 3.6), sharex="col")
    for row, body in enumerate((1, 2)):
        for axes, column in zip(
            panels[row], (f"x{body}_m", f"v{body}_m_s", f"v{body}_m_s"), strict=True
        ):
            for model, (colour, dash, width) in LOOKS.items():
                part = data[data["model"] == model]
                axes.plot(
                    part["t_s"], part[column], color=colour, ls=dash, lw=width, label=NAMES[model]
                )
        panels[row, 0].set_ylabel(rf"$x_{body}$ (m)")
        for axes in panels[row, 1:]:
            axes.set_ylabel(rf"$v_{body}$ (m/s)")
        # limits that hold what lies within the zoom
        shown = data.loc[data["t_s"].between(*zoom), f"v{body}_m_s"]
        low, high = float(shown.min()), float(shown.max())
        panels[row, 2].set(xlim=zoom, ylim=(low - 0.06 * (high - low), high + 0.06 * (high - low)))
        panels[row, 1].axvspan(*zoom, color="#ececec", lw=0.0, zorder=0)
    for axes, title in zip(
        panels[0], ("position", "velocity", "velocity around the impact"), strict=True
    ):
        axes.set_title(title)
    for axes in panels[1]:
        axes.set_xlabel("time (s)")
    for axes in panels[:, :2].flat:
        axes.margins(x=0.0)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def draw_decomposition(data: pd.DataFrame) -> Figure:
    """Figure 5: velocity of m2 as an affine and an oscillating part, and the impact map's
    prediction.
    """
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.9))
    series = {str(name): part for name, part in data.groupby("series", sort=False)}
    looks: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("velocity", r"velocity of $m_2$", {"color": style.MEASURED, "lw": 2.4}),
        ("fit", "fit: affine + one mode", {"color": style.LINE, "lw": 1.0}),
        ("oscillation", "oscillating part", {"color": style.ACCENT, "lw": 1.0, "ls": ":"}),
        (
            "affine",
            "affine part, back to the impact",
            {"color": style.RELEASE, "lw": 1.4, "ls": "--"},
        ),
    )
    for name, label, look in looks:
        axes.plot(1e3 * series[name]["t_s"], series[name]["v_m_s"], label=label, **look)
    axes.plot(0.0, series["reconstructed"]["v_m_s"], "o", color=style.RELEASE, ms=4.0, clip_on=False, zorder=5,
              label=rf"reconstructed, ${series['reconstructed']['v_m_s'].iloc[0]:.3f}$ m/s")  # fmt: skip
    axes.plot(0.0, series["impact_map"]["v_m_s"], "s", color="black", mfc="none", ms=7.0, zorder=6,
              label=rf"impact map, ${series['impact_map']['v_m_s'].iloc[0]:.3f}$ m/s")  # fmt: skip
    axes.axvline(0.0, color=QUIET, lw=0.5, zorder=0)
    axes.set(xlabel="time since the impact (ms)", ylabel="velocity (m/s)")
    axes.margins(x=0.0)
    figure.legend(loc="outside upper center", ncols=2, columnspacing=1.0, handlelength=1.8)
    return figure
