"""Figures of a user's own tosses: the region of friction and restitution, predictions, and
residuals.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from contactid.output import style
from contactid.tossing.prepare.metrics import mean_loss

_SHADES = 12
_JITTER = 0.25  # of a grid's step: draws on one point of the grid are otherwise one dot


def draw_region(losses: xr.Dataset, draws: np.ndarray) -> Figure:
    """Mean loss (eq. 18) over friction and restitution, and the best points of resampled tosses."""
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN / 2.0, 2.6))
    mean = mean_loss(losses)
    mu, e_n = mean["friction_mu"].values, mean["restitution_e_n"].values
    shades = axes.contourf(mu, e_n, mean.values.T, levels=_SHADES, cmap="viridis")
    steps = np.array([np.diff(mu).mean(), np.diff(e_n).mean()])
    moved = draws + _JITTER * steps * np.random.default_rng(0).normal(size=draws.shape)
    axes.plot(*moved.T, ".", color="white", markersize=2, alpha=0.5, label="resampled tosses")
    axes.plot(
        *draws.mean(axis=0),
        "+",
        color=style.RELEASE,
        markersize=9,
        markeredgewidth=2,
        label="their mean",
    )
    axes.set(
        xlim=mu[[0, -1]], ylim=e_n[[0, -1]], xlabel=r"friction $\mu$", ylabel=r"restitution $e_N$"
    )
    figure.colorbar(shades, ax=axes, label="mean loss (eq. 18)")
    axes.legend(labelcolor="white", markerscale=2.0)
    return figure


def draw_predictions(predictions: pd.DataFrame) -> Figure:
    """Loss of each toss, predicted by the others, beside that of a box that stays where it first
    touches.
    """
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, 2.2))
    ordered = predictions.sort_values("loss")
    place = np.arange(len(ordered))
    axes.plot(
        place,
        ordered["naive_loss"],
        "_",
        color=style.MEASURED,
        label="stays where it first touches",
    )
    axes.plot(
        place,
        ordered["loss"],
        "o",
        color=style.LINE,
        markersize=4,
        label="predicted by the other tosses",
    )
    axes.set(xlabel="toss, by loss", ylabel="loss (eq. 18)", yscale="log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend()
    return figure


def draw_residuals(residuals: xr.Dataset) -> Figure:
    """Measured less simulated poses of every toss against time."""
    figure, panels = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN, 2.2))
    turn = np.degrees(np.linalg.norm(residuals["rotation"].values, axis=1))
    place = 100.0 * np.linalg.norm(residuals["position"].values, axis=1)
    for axes, values, label in zip(
        panels, (place, turn), ("position, cm", "rotation, degrees"), strict=True
    ):
        for name in np.unique(residuals["toss"].values):
            own = residuals["toss"].values == name
            axes.plot(
                residuals["time"].values[own],
                values[own],
                color=style.LINE,
                linewidth=0.6,
                alpha=0.5,
            )
        axes.set(xlabel="time since release, s", ylabel=f"off in {label}")
        axes.set_ylim(bottom=0.0)
    return figure
