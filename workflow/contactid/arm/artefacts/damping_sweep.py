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

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from contactid.arm.artefacts.two_mass import (
    FINE,
    LOOKS,
    NAMES,
    QUIET,
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
from contactid.output import style
from contactid.output.tables import read_csv, write_exact

CONVERGED_AFTER = 0.1  # s; the paper's "about 100 ms"
_LOOKED_AT = 1e-4  # s, between instants at which a motion is looked at for settling
_DECIMALS = 9  # what is smaller is rounding, and differs between machines
_WINDOWS = ((style.LINE, "o"), (style.RELEASE, "s"), (style.ACCENT, "^"), (style.SIMULATED, "D"))
_SETTLED_AFTER = 100.0  # ms, the paper's
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
    """Tables of events and of the sweep, and its figure, from the files of :func:`simulate_sweep`."""
    sweep = read_csv(damping)
    return {
        "tables/ext_events": read_csv(events),
        "tables/ext_damping_sweep": sweep.drop(columns="setting"),
        "figures/ext_damping_sweep": sweep_figure(sweep),
    }


def sweep_figure(sweep: pd.DataFrame) -> pd.DataFrame:
    """Figure of the damping sweep: ``panel, series, x, y, marked`` against d_rob.

    Panels: ``fit_error`` (size of model A's, %; ``series`` is the window in ms, ``marked`` a pole
    on its bound) and ``settling`` (ms; ``series`` is the model).
    """
    by_coupling = sweep[sweep["setting"].str.startswith("d_rob")]
    fitted = by_coupling[by_coupling["model"] == COMPLIANT]
    settled = by_coupling.drop_duplicates(["model", "d_rob"])
    windows = [f"{1e3 * window:g}" for window in fitted["window_s"]]
    parts = [
        pd.DataFrame({"panel": "fit_error", "series": windows, "x": fitted["d_rob"], "y": fitted["fit_error_pct"].abs(),
                      "marked": fitted["fit_at_bound"]}),
        pd.DataFrame({"panel": "settling", "series": settled["model"], "x": settled["d_rob"],
                      "y": settled["settling_ms"], "marked": False}),
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def draw_sweep(data: pd.DataFrame) -> Figure:
    """What other dampings do to the fit (a) and to settling (b)."""
    figure, panels = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN, 2.6))
    _fit_errors(panels[0], data[data["panel"] == "fit_error"])
    _settling(panels[1], data[data["panel"] == "settling"])
    panels[0].set_title("(a) fit of model A against the rigid velocity", loc="left")
    panels[1].set_title(r"(b) $v_2$ within 2 % of the rigid velocity", loc="left")
    return figure


def _fit_errors(axes: Axes, data: pd.DataFrame) -> None:
    """A line per window; a fit whose pole lies on its bound is hollow."""
    windows = sorted(data["series"].unique(), key=float)
    for (colour, marker), window in zip(_WINDOWS, windows, strict=False):
        part = data[data["series"] == window].sort_values("x")
        axes.plot(part["x"], part["y"], color=colour, lw=0.9)
        axes.plot(
            [], [], color=colour, marker=marker, lw=0.9, ms=4.0, label=f"{float(window):g} ms"
        )
        for marked, face in ((False, colour), (True, "white")):
            shown = part[part["marked"] == marked]
            axes.plot(shown["x"], shown["y"], marker, color=colour, mfc=face, ms=4.0, mew=0.9)
    axes.plot([], [], "o", color=QUIET, mfc="white", ms=4.0, mew=0.9, label="overdamped")
    axes.set(
        yscale="log",
        ylabel="error of the reconstructed velocity (%)",
        xlabel=r"$d_\mathrm{rob}$ (N s/m)",
    )
    axes.yaxis.set_major_formatter("{x:g}")
    _dampings(axes, data)
    axes.legend(title="fitted window", loc="lower left", alignment="left")


def _settling(axes: Axes, data: pd.DataFrame) -> None:
    for model, marker in (("A", "o"), ("B", "x")):
        part = data[data["series"] == model].sort_values("x")
        colour, dash, width = LOOKS[model]
        axes.plot(
            part["x"],
            part["y"],
            color=colour,
            ls=dash,
            lw=width,
            marker=marker,
            ms=4.0,
            label=NAMES[model],
        )
    axes.axhline(_SETTLED_AFTER, color=QUIET, lw=0.6, ls="--")
    axes.annotate("the paper's 100 ms", (1.0, _SETTLED_AFTER), (-2.0, 2.0), ("axes fraction", "data"),
                  textcoords="offset points", ha="right", va="bottom", fontsize=6, color=QUIET)  # fmt: skip
    axes.set(ylabel="settling time (ms)", xlabel=r"$d_\mathrm{rob}$ (N s/m)", ylim=(0.0, None))
    _dampings(axes, data)
    axes.legend(loc="upper right")


def _dampings(axes: Axes, data: pd.DataFrame) -> None:
    """A logarithmic axis with plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 4.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
