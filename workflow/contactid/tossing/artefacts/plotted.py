"""The authors' own plot data as tables: optima of their cost surfaces, errors of their rest poses,
one impact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.sources.motion import read_dataset
from contactid.tossing.artefacts.predictions import means_of
from contactid.tossing.identify.trajectories import FLAT, best_point
from contactid.tossing.impacts.impact import WEIGHTS
from contactid.tossing.prepare.metrics import mean_loss, rest_position_error, rest_rotation_error
from contactid.tossing.readers.author_plots import KINDS, OBJECT, SIMULATORS

_PLATEAU = 0.01  # of the loss at the largest friction, as of our own losses (identify_velocities)


def plotted_tables(
    plots: str, dataset: str, velocity_sweep: Sequence[str], trajectory_sweep: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """``ext_plotted_costs``, ``ext_plotted_rest_poses`` and ``ext_plotted_impact``; empty for a
    part that is left out.

    Parameters
    ----------
    plots, dataset : the canonical file of :mod:`contactid.tossing.readers.author_plots`, and its
        dataset's name
    velocity_sweep, trajectory_sweep : our own sweep of the paper's recordings of that box, one file
        or none
    """
    data = read_dataset(plots)
    ours = {"velocity": [read_dataset(file)["loss"].mean("impact") for file in velocity_sweep]}
    ours |= {"trajectory": [mean_loss(read_dataset(file)) for file in trajectory_sweep]}
    made = {
        "costs": _costs(data["cost"], ours) if "cost" in data else [],
        "rest_poses": _rest_poses(data) if "rest_position" in data else [],
        "impact": [_impact(data)] if "velocity" in data else [],
    }
    return {
        f"tables/ext_plotted_{name}": pd.DataFrame(rows).assign(dataset=dataset)
        for name, rows in made.items()
    }


def _costs(costs: xr.DataArray, ours: Mapping[str, Sequence[xr.DataArray]]) -> list[dict[str, Any]]:
    """A row for each surface of eq. 16: its optimum, where it is flat, and how far ours is from it
    on the same data.

    ``unlike`` is 1 less its correlation with the other simulator's surface, or with that of
    exchanged parameters.
    """
    rows = []
    for kind, simulator in product(KINDS, SIMULATORS):
        surface = costs.sel(kind=kind, simulator=simulator)
        other = costs.sel(kind=kind).drop_sel(simulator=simulator)[0].values
        mu, e_n, least = best_point(surface)
        along, profile = surface.sel(restitution_e_n=e_n), surface.min("friction_mu")
        steep = np.flatnonzero(np.abs(along.values / along.values[-1] - 1.0) > _PLATEAU)
        first_flat = steep[-1] + 1 if len(steep) else 0
        row = {
            "object": OBJECT,
            "parameters": kind,
            "simulator": simulator,
            "friction_mu": mu,
            "restitution_e_n": e_n,
            "least_cost": least,
            # the last point alone is no plateau
            "friction_flat_from": float(along["friction_mu"][first_flat])
            if first_flat < len(along) - 1
            else np.nan,
            "restitution_flat_to": float(
                profile["restitution_e_n"][profile <= (1.0 + FLAT) * least].max()
            ),
            "unlike": 1.0 - np.corrcoef(surface.values.ravel(), other.ravel())[0, 1],
            # the naive answer: friction in the place of restitution
            "unlike_exchanged": 1.0 - np.corrcoef(surface.values.ravel(), other.T.ravel())[0, 1],
        }
        for own in ours[kind]:
            row["largest_difference_from_ours"] = float(
                np.abs(surface - own.interp_like(surface)).max()
            )
        rows.append(row)
    return rows


def _rest_poses(data: xr.Dataset) -> list[dict[str, Any]]:
    """Table III's errors (eqs. 20 and 21) of each box, kind of parameters and simulator."""
    rows = []
    of_tosses = zip(data["object"].values, data["parameters"].values, strict=True)
    for box, kind in dict.fromkeys(of_tosses):
        part = data.isel(toss=(data["object"] == box).values & (data["parameters"] == kind).values)
        position, turn = (part[f"rest_{name}"].values for name in ("position", "orientation"))
        for pose, simulator in enumerate(SIMULATORS, 1):
            distance = pd.Series(100.0 * rest_position_error(position[0], position[pose]))
            angle = pd.Series(np.degrees(np.abs(rest_rotation_error(turn[0], turn[pose]))))
            of = {"object": box, "parameters": kind, "simulator": simulator, "n_tosses": len(angle)}
            rows.append(of | means_of(distance, angle))
    return rows


def _impact(data: xr.Dataset) -> dict[str, Any]:
    """Eq. 17's loss of the impact by either simulator and without an impact, m/s."""
    last_pre, first_post = int(data["last_pre"]), int(data["first_post"])
    curves = {str(one): data["velocity"].sel(curve=one).values for one in data["curve"].values}
    reached = {name: curves[name][first_post] for name in SIMULATORS} | {
        "no_impact": curves["before"][last_pre]
    }
    left = {
        name: WEIGHTS * (twist - curves["after"][first_post]) for name, twist in reached.items()
    }
    losses = {
        f"{name}_loss": float(np.linalg.norm(difference)) for name, difference in left.items()
    }
    middle = data.sizes["sample"] // 2
    of = {
        "object": OBJECT,
        "sample": int(data["sample"][middle]),
        "last_pre": last_pre,
        "first_post": first_post,
    }
    return of | losses
