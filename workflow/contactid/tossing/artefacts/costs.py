"""Figures 9 and 12: mean losses over friction and restitution, from impacts and from trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.computing import Shown
from contactid.tossing.artefacts.data import Case, by_name, identified, object_of, shown
from contactid.tossing.prepare.metrics import mean_loss


def trajectory_costs(
    prepared: Sequence[str], datasets: Sequence[str], cases: Sequence[Case], sweeps: Sequence[str]
) -> Shown:
    """Figure 12: mean loss of eqs. 16 and 18; ``sweeps`` are files of the datasets identified on, in their order."""
    names = identified(cases)
    means = [mean_loss(swept) for swept in by_name(sweeps, names).values()]
    return _costs(prepared, datasets, names, means)


def velocity_costs(
    prepared: Sequence[str], datasets: Sequence[str], impact_cases: Sequence[Case], velocity_sweeps: Sequence[str]
) -> Shown:
    """Figure 9: mean loss of eqs. 16 and 17; files as of :func:`trajectory_costs`."""
    names = identified(impact_cases)
    means = [swept["loss"].mean("impact") for swept in by_name(velocity_sweeps, names).values()]
    return _costs(prepared, datasets, names, means)


def _costs(
    prepared: Sequence[str], datasets: Sequence[str], names: Sequence[str], means: Sequence[xr.DataArray]
) -> Shown:
    data = by_name(prepared, datasets)
    table = costs(dict(zip(names, means, strict=True)), {name: object_of(data[name]) for name in names})
    return shown(table, data, names)


def costs(means: Mapping[str, xr.DataArray], objects: Mapping[str, str]) -> pd.DataFrame:
    """Mean losses over the grid by dataset, the least of each marked as its ``optimum``."""
    tables = []
    for dataset, mean in means.items():
        table = mean.rename("mean_loss").to_dataframe().reset_index()
        best = table["mean_loss"] == table["mean_loss"].min()
        tables.append(table.assign(dataset=dataset, object=objects[dataset], optimum=best))
    columns = ["dataset", "object", "friction_mu", "restitution_e_n", "mean_loss", "optimum"]
    return pd.concat(tables, ignore_index=True)[columns]


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
