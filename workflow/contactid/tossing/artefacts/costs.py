"""Figures 9 and 12: mean losses over friction and restitution, from impacts and from trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.computing import Shown
from contactid.output.fits import read_json
from contactid.output.tables import read_csv
from contactid.tossing.artefacts.data import Case, by_name, identified, object_of, shown
from contactid.tossing.configuration import BOXES
from contactid.tossing.predict.printed import printed_parameters
from contactid.tossing.prepare.metrics import mean_loss

_PARAMETERS = ("friction_mu", "restitution_e_n")
_LEVELS = 15


def cost_figures(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    sweeps: Sequence[str],
    fits: Sequence[str],
    impact_cases: Sequence[Case],
    velocity_sweeps: Sequence[str],
    velocity_fits: Sequence[str],
    published: str,
) -> dict[str, Shown]:
    """Figure 12, and figure 9 where there are impacts: mean losses of eq. 16, over those of eqs. 18
    and 17.

    Sweeps and fits are of the datasets identified on, in order.
    """
    data, printed = by_name(prepared, datasets), read_csv(published)
    found = {}
    for figure, kind, of_kind, swept, fitted in (
        ("fig09_velocity_costs", "velocity", impact_cases, velocity_sweeps, velocity_fits),
        ("fig12_trajectory_costs", "trajectory", cases, sweeps, fits),
    ):
        names, tables = identified(of_kind), []
        for (name, losses), fit in zip(by_name(swept, names).items(), fitted, strict=True):
            box = object_of(data[name])
            table = costs(
                mean_loss(losses), read_json(fit)["intervals"], _printed(printed, box, kind)
            )
            tables.append(table.assign(dataset=name, object=box))
        if tables:
            found[f"figures/{figure}"] = shown(pd.concat(tables, ignore_index=True), data, names)
    return found


def _printed(published: pd.DataFrame, box: str, kind: str) -> dict[str, float]:
    """Table II's optimum; none of an object that isn't the paper's."""
    law = printed_parameters(published, box)[kind] if box in BOXES else None
    return {name: getattr(law, name, np.nan) for name in _PARAMETERS}


def costs(
    mean: xr.DataArray, intervals: Mapping[str, Any], printed: Mapping[str, float]
) -> pd.DataFrame:
    """Mean losses over the grid; the least is the ``optimum``, and its row has its intervals and
    what is printed.

    Returns columns ``friction_mu``, ``restitution_e_n``, ``mean_loss``, ``optimum``, and of both
    parameters ``_low`` and ``_high`` (95 %) and ``_printed``; these are NaN in all other rows.
    """
    table = mean.rename("mean_loss").to_dataframe().reset_index()
    table["optimum"] = table["mean_loss"] == table["mean_loss"].min()
    for name in _PARAMETERS:
        beside = zip(("low", "high", "printed"), (*intervals[name], printed[name]), strict=True)
        for what, value in beside:
            table[f"{name}_{what}"] = np.where(
                table["optimum"], np.nan if value is None else value, np.nan
            )
    return table


def draw_costs(data: pd.DataFrame, label: str) -> Figure:
    """One panel per dataset, all with one scale of colours; ``label`` names the cost."""
    names = list(dict.fromkeys(data["dataset"]))
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    width = style.SINGLE_COLUMN if columns == 1 else style.DOUBLE_COLUMN * 0.75
    figure, panels = plt.subplots(
        rows, columns, figsize=(width, 2.4 * rows), squeeze=False, sharex=True, sharey=True
    )
    # one scale of colours for all panels
    levels = np.linspace(float(data["mean_loss"].min()), float(data["mean_loss"].max()), _LEVELS)
    for panel in panels.flat[len(names) :]:
        panel.set_visible(False)
    for panel, name in zip(panels.flat, names, strict=False):
        part = data[data["dataset"] == name]
        table = part.pivot(index="restitution_e_n", columns="friction_mu", values="mean_loss")
        mu, e_n = table.columns.to_numpy(dtype=float), table.index.to_numpy(dtype=float)
        filled = panel.contourf(mu, e_n, table.to_numpy(), levels=levels, cmap="viridis")
        best = part[part["optimum"]].iloc[0]
        place = best[list(_PARAMETERS)].to_numpy(dtype=float)
        ends = [
            [[abs(best[name] - best[f"{name}_{end}"])] for end in ("low", "high")]
            for name in _PARAMETERS
        ]
        # y's error goes before x's
        panel.errorbar(*place, *ends[::-1], fmt="none", ecolor="white", capsize=2.0)
        panel.plot(*place, "*", color=style.RELEASE, mec="white", mew=0.5, ms=8)
        printed = best[[f"{name}_printed" for name in _PARAMETERS]].to_numpy(dtype=float)
        panel.plot(*printed, "o", mfc="none", mec="white", mew=1.2, ms=11)
        said = " and ".join(
            f"{symbol} = {value:.2f}"
            for symbol, value in zip((r"$\mu$", "$e_N$"), place, strict=True)
        )
        panel.set_title(f"{best['object']}: {said}", loc="left")
    figure.colorbar(filled, ax=panels, label=label, format="%.2f", aspect=40)
    shown = "\N{BLACK STAR} optimum and its 95 % intervals"
    if data["friction_mu_printed"].notna().any():
        shown += ", \N{WHITE CIRCLE} printed optimum"
    figure.suptitle(shown, x=0.01, ha="left", fontsize=7)
    for panel in panels[-1]:
        panel.set_xlabel(r"friction $\mu$")
    for panel in panels[:, 0]:
        panel.set_ylabel(r"restitution $e_N$")
    return figure
