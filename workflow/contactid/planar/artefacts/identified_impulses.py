"""Figures 18 and 23: identified contact impulses of thrown bodies, and simulated ones."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.planar.artefacts.identified_motion import MS, head, titled, with_result
from contactid.planar.identify.states import StoredFit, read_fits

_CONTACTS = (style.LINE, style.RELEASE, style.ACCENT, style.SIMULATED, style.MEASURED)
_COMPONENTS = {"c_n": "normal $c_n$", "c_t": "tangential $c_t$"}
_SMALL = 0.04  # of the largest impulse: below it, impulses are shown magnified
_NONE = 1e-5  # of the largest impulse: below it, there is none
_BESIDE = 0.01  # of the time shown, left free before and after it


def shown_impulses(shown_fits: str) -> pd.DataFrame:
    """Figure 18, of the last throw of a file."""
    return identified_impulses(read_fits(shown_fits)[-1])


def twin_impulses(twin_fits: str) -> pd.DataFrame:
    """Figure 23, of the twin on the paper's rig."""
    return identified_impulses(read_fits(twin_fits)[0])


def identified_impulses(fit: StoredFit) -> pd.DataFrame:
    """Figure 18: contact impulses, identified and simulated, N s.

    A simulation's time step is finer than the identification's, and the impulse of a lasting
    contact is proportional to it. So simulated impulses are summed over the time that is nearer to
    one identified instant than to the others, and stand at the mean time of what was summed.

    Returns
    -------
    ``component`` (``c_n``, ``c_t``), ``kind`` (``identified``; ``simulated``, summed over
    contacts), ``contact``, ``time_ms``, ``impulse_ns`` and what was identified.

    Raises
    ------
    ContactIdError
        Where the mass isn't known.
    """
    if not np.isfinite(fit.mass):
        raise ContactIdError(f"the mass of {fit.label} isn't known", "State it")
    table = pd.concat([_identified(fit), _simulated(fit)], ignore_index=True)
    table["impulse_ns"] = fit.mass * table.pop("impulse_m_s")
    return with_result(table, fit)


def _identified(fit: StoredFit) -> pd.DataFrame:
    """Identified impulses per mass, a row per component, contact and instant."""
    rows = [
        (component, "identified", contact, fit.states.time[:-1], impulse[:, contact])
        for component, impulse in (("c_n", fit.states.impulse_n), ("c_t", fit.states.impulse_t))
        for contact in range(impulse.shape[1])
    ]
    return _impulse_table(fit, rows)


def _simulated(fit: StoredFit) -> pd.DataFrame:
    """Simulated impulses per mass, summed about identified instants; no row where the truth isn't
    known.
    """
    truth, instants = fit.truth, fit.states.time[:-1]
    if truth is None:
        return pd.DataFrame()
    rows = [
        (component, "simulated", 0, *summed_about(instants, truth.time, impulse))
        for component, impulse in (("c_n", truth.impulse_n), ("c_t", truth.impulse_t))
    ]
    return _impulse_table(fit, rows)


def _impulse_table(
    fit: StoredFit, rows: list[tuple[str, str, int, np.ndarray, np.ndarray]]
) -> pd.DataFrame:
    """Rows of component, kind, contact, times (n,) and impulses (n,)."""
    columns = ["component", "kind", "contact", "time_ms", "impulse_m_s"]
    table = pd.DataFrame(rows, columns=columns).explode(columns[3:], ignore_index=True)
    table[columns[3:]] = table[columns[3:]].astype(float)
    return table.assign(time_ms=MS * (table["time_ms"] - fit.throw.time[0]))


def summed_about(
    instants: np.ndarray, time: np.ndarray, impulse: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Impulses (n,) at times (n,) summed about the nearest of ascending instants (m,), and the
    sums' mean times (m,).

    Impulses further from the first or last instant than half the neighbouring interval are left
    out.
    """
    steps = np.diff(instants)
    middles = instants[:-1] + 0.5 * steps
    # each instant gets what is nearer to it than to its neighbours
    edges = np.concatenate(
        [[instants[0] - 0.5 * steps[0]], middles, [instants[-1] + 0.5 * steps[-1]]]
    )
    summed, _ = np.histogram(time, edges, weights=impulse)
    # sizes as weights, so that impulses of both signs have a mean time, too
    size, _ = np.histogram(time, edges, weights=np.abs(impulse))
    moment, _ = np.histogram(time, edges, weights=np.abs(impulse) * time)
    return np.where(size > 0.0, moment / np.where(size > 0.0, size, 1.0), instants), summed


def draw_impulses(data: pd.DataFrame) -> Figure:
    """Figures 18 and 23: a row per component, and a second column for lasting contacts, too small
    to see in the first.

    ``data`` is what :func:`identified_impulses` returns.
    """
    width = style.DOUBLE_COLUMN
    end, views = float(data["time_ms"].max()), _enlarged(data)
    size = width if views else 0.7 * width, 3.7
    figure, grid = plt.subplots(2, 2 if views else 1, figsize=size, sharex=True, squeeze=False)
    for row, (component, name) in zip(grid, _COMPONENTS.items(), strict=True):
        for axes in row:
            _draw_stems(axes, data[data["component"] == component])
            axes.axhline(0.0, color="black", lw=0.5, zorder=1)
            axes.margins(y=0.1)
            axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        row[0].set_ylabel(f"{name} (N s)")
        if views:
            row[1].set_ylim(views[component])
    if views:
        grid[0, 0].set_title("(a) all impulses", loc="left")
        grid[0, 1].set_title("(b) small impulses, enlarged", loc="left")
    for axes in grid[1]:
        axes.set(
            xlabel="time since the first frame (ms)", xlim=(-_BESIDE * end, (1.0 + _BESIDE) * end)
        )
    head(figure, titled(data.iloc[0]), *grid[:, 0])
    return figure


def _enlarged(data: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Limits by component that show the instants at which normal impulses are small; empty where
    none is.
    """
    sizes = data["impulse_ns"].abs()
    normal = data["component"] == "c_n"
    top = float(sizes[normal].max())
    # too small to see beside an impact's, but no rounding
    small = data[normal & (sizes > _NONE * top) & (sizes < _SMALL * top)]
    if small.empty:
        return {}
    keys = ["kind", "contact", "time_ms"]
    # tangential impulses of the same instants belong to the same view
    same = data.merge(small[keys].drop_duplicates(), on=keys)
    same["size"] = same["impulse_ns"].abs()
    high = (
        1.4
        * same.groupby(["kind", "component", "time_ms"])["size"].sum().groupby("component").max()
    )
    beside = max(float(high["c_t"]), 0.1 * float(high["c_n"]))
    return {"c_n": (-0.08 * float(high["c_n"]), float(high["c_n"])), "c_t": (-beside, beside)}


def _draw_stems(axes: Axes, part: pd.DataFrame) -> None:
    """Identified impulses stand on each other where several contacts push at once; simulated ones
    are hollow.
    """
    several = part["contact"].nunique() > 1
    known = "identified" if (part["kind"] == "simulated").any() else ""
    sizes = part["impulse_ns"].abs()
    pushing = part[sizes > _NONE * float(sizes.max())]
    simulated = pushing[pushing["kind"] == "simulated"]
    if len(simulated):
        look: dict[str, Any] = {
            "marker": "o",
            "color": "black",
            "mfc": "none",
            "ms": 4.5,
            "mew": 0.8,
        }
        times, heights = simulated["time_ms"], simulated["impulse_ns"]
        axes.vlines(times, 0.0, heights, color="black", ls="--", lw=0.8, zorder=4)
        axes.plot(times, heights, ls="none", zorder=4, **look)
        axes.plot([], [], ls="--", lw=0.8, label="simulated", **look)
    # how high stems stand already, by time and sign
    below: dict[tuple[float, bool], float] = {}
    identified = pushing[pushing["kind"] == "identified"]
    for contact in sorted(identified["contact"].unique()):
        one = identified[identified["contact"] == contact]
        colour = _CONTACTS[int(contact) % len(_CONTACTS)]
        keys = [
            (time, value > 0.0)
            for time, value in zip(one["time_ms"], one["impulse_ns"], strict=True)
        ]
        feet = np.array([below.get(key, 0.0) for key in keys])
        tops = feet + one["impulse_ns"].to_numpy()
        below.update(zip(keys, tops, strict=True))
        axes.vlines(one["time_ms"], feet, tops, color=colour, lw=1.2, zorder=3)
        label = ", ".join(filter(None, [known, f"contact {int(contact) + 1}" if several else ""]))
        axes.plot(one["time_ms"], tops, "o", color=colour, ms=2.6, mew=0.0, zorder=3)
        axes.plot([], [], "o", color=colour, ms=2.6, mew=0.0, ls="-", lw=1.2, label=label or None)
