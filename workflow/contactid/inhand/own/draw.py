"""Draw what was estimated from a user's own recording or trials; nothing is computed here but
scales.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.inhand.friction.line import SurfaceFriction
from contactid.output import style

_INTERVAL = 1.96  # standard errors, of 95 %
_PANELS = (
    ("centre of mass (mm)", slice(1, 4), 1e3, ("x", "y", "z")),
    ("moments (kg mm$^2$)", slice(4, 7), 1e6, ("xx", "yy", "zz")),
    ("tensor's other entries (kg mm$^2$)", slice(7, 10), 1e6, ("xy", "xz", "yz")),
)
_ROW = 0.32  # inches of a model of what disturbs


def draw_masses(disturbances: pd.DataFrame, taken: tuple[float, float], weighed: float) -> Figure:
    """Intervals of the mass (kg) under each model of what disturbs, the likeliest on top, beside
    the one that was taken and the naive one that the sensed forces weigh.
    """
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, 1.0 + _ROW * len(disturbances)))
    places = np.arange(len(disturbances))
    axes.axvspan(*taken, color=style.LINE, alpha=0.12, lw=0, label="the answer, 95 %")
    axes.hlines(
        places,
        disturbances["low_kg"],
        disturbances["high_kg"],
        color=style.MEASURED,
        lw=2.0,
        label="under this model, 95 %",
    )
    if np.isfinite(weighed):
        axes.axvline(weighed, color=style.RELEASE, ls=":", label="forces weighed (naive)")
    likelihoods = disturbances["log_likelihood"]
    names = disturbances["taken_out"].str.removeprefix("a constant wrench in the body and ")
    labels = [f"{name} ({gain:.0f})" for name, gain in zip(names, likelihoods, strict=True)]
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.set(xlabel="mass (kg)", ylabel="taken out (log likelihood)")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def draw_parameters(params: pd.DataFrame, naive: pd.DataFrame) -> Figure:
    """Estimate with intervals of 95 % beside the uniform body; entries that the prior decides are
    open.
    """
    figure, panels = plt.subplots(1, 3, figsize=(style.DOUBLE_COLUMN, 2.2))
    for axes, (title, rows, scale, names) in zip(panels, _PANELS, strict=True):
        part, places = params.iloc[rows], np.arange(3)
        estimate, error = scale * part["value"], scale * _INTERVAL * part["error"]
        uniform = scale * naive["uniform_body"].iloc[rows].to_numpy()
        axes.errorbar(places - 0.1, estimate, yerr=error, fmt="none", ecolor=style.LINE, lw=0.9)
        filled = np.where(part["told_by"] == "prior", "white", style.LINE)
        axes.scatter(
            places - 0.1,
            estimate,
            s=16,
            c=filled,
            edgecolors=style.LINE,
            zorder=3,
            label="estimate, 95 %",
        )
        axes.plot(places + 0.1, uniform, "D", ms=3.5, color=style.MEASURED, label="uniform body")
        axes.set_xticks(places, names)
        axes.set_xlim(-0.5, 2.5)
        axes.set_title(title, loc="left")
        shown = np.concatenate([estimate, uniform])
        # at least a fifth of the largest, so that nearly equal values aren't torn apart
        around = max(float(np.ptp(shown)), 0.2 * float(np.abs(shown).max()), 1e-9)
        low, high = axes.get_ylim()  # an interval that says nothing would hide the rest
        axes.set_ylim(max(low, shown.min() - 3.0 * around), min(high, shown.max() + 3.0 * around))
    open_circle = plt.Line2D(
        [], [], marker="o", ls="", mfc="white", mec=style.LINE, ms=4, label="by the prior"
    )
    handles, _ = panels[0].get_legend_handles_labels()
    figure.legend(handles=[*handles, open_circle], loc="outside upper center", ncols=3)
    return figure


def draw_slip(table: pd.DataFrame, surface: SurfaceFriction | None) -> Figure:
    """Angle at slip of each trial against its normal force, with the line and its interval of 95 %."""
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, 2.6))
    slipped = table[table["slipped"]]
    angle = np.degrees(np.arctan(slipped["apparent_friction"]))
    axes.plot(slipped["normal_force"], angle, "o", ms=3.5, color=style.MEASURED, label="a trial")
    if surface is not None:
        # to zero load, where the line shows atan(mu), unless friction depends on the load
        from_zero = surface.line and not surface.by_load
        first = 0.0 if from_zero else slipped["normal_force"].min()
        load = np.linspace(first, slipped["normal_force"].max())
        columns = np.column_stack([np.ones_like(load), load])
        line = np.degrees(columns @ surface.angle)
        error = np.degrees(np.sqrt(np.sum(columns @ surface.covariance * columns, axis=1)))
        axes.plot(
            load,
            line,
            color=style.LINE,
            lw=1.0,
            label="line, 95 %" if surface.line else "mean, 95 %",
        )
        axes.fill_between(
            load,
            line - _INTERVAL * error,
            line + _INTERVAL * error,
            color=style.LINE,
            alpha=0.15,
            lw=0,
        )
        if surface.line:
            # what is stated: at no load, or at the largest
            place = 0 if from_zero else -1
            axes.plot(
                load[place],
                line[place],
                "D",
                ms=4,
                color=style.LINE,
                label="atan(mu)",
                clip_on=False,
            )
        if from_zero:
            axes.set_xlim(left=0.0)
    axes.set_xlabel("normal force at slip (N)")
    axes.set_ylabel("angle at slip (degrees)")
    figure.legend(loc="outside upper center", ncols=3)
    return figure
