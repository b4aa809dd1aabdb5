"""Draw a cost over friction and restitution (figures 9 and 12 of the tossing paper)."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.output import style


def draw_costs(data: pd.DataFrame, label: str) -> Figure:
    """One panel per dataset; ``label`` names the cost."""
    names = list(dict.fromkeys(data["dataset"]))
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    width = style.SINGLE_COLUMN if columns == 1 else style.DOUBLE_COLUMN * 0.75
    figure, panels = plt.subplots(rows, columns, figsize=(width, 2.5 * rows), squeeze=False, sharex=True, sharey=True)
    for panel in panels.flat[len(names) :]:
        panel.set_visible(False)
    for panel, name in zip(panels.flat, names, strict=False):
        part = data[data["dataset"] == name]
        table = part.pivot(index="restitution_e_n", columns="friction_mu", values="mean_loss")
        levels = np.linspace(float(table.min().min()), float(table.max().max()), 15)
        mu, e_n = table.columns.to_numpy(dtype=float), table.index.to_numpy(dtype=float)
        filled = panel.contourf(mu, e_n, table.to_numpy(), levels=levels, cmap="viridis")
        figure.colorbar(filled, ax=panel, label=label, format="%.2f")
        best = part[part["optimum"]].iloc[0]
        panel.plot(best["friction_mu"], best["restitution_e_n"], "*", color=style.RELEASE, mec="white", mew=0.5, ms=9)
        panel.set_title(
            f"{best['object']}: $\\mu$ = {best['friction_mu']:.2f}, $e_N$ = {best['restitution_e_n']:.2f}", loc="left"
        )
    for panel in panels[-1]:
        panel.set_xlabel(r"friction $\mu$")
    for panel in panels[:, 0]:
        panel.set_ylabel(r"restitution $e_N$")
    return figure
