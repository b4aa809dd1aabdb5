"""Energies of the simulated motions: figures 12 and 14, ``ext_energy`` and
``ext_tangential_impulses``.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from contactid.output import style
from contactid.planar.artefacts.time_lapse import evenly
from contactid.sources.motion import read_dataset

_POINTS = 800  # of a drawn curve
_SLIPPING = 1.0 - 1e-9  # share of mu c_n from which a tangential impulse lies on the cone's edge
SLIDING_END = 1.0  # s, as in figure 12
_DARKEST, _LIGHTEST = 0.0, 0.88  # of the colour map; its end is too light for lines on white
_DASHES = "-", (0, (4, 1)), (0, (1, 1))  # of lines one after the other, whose colours are alike
_MOST = 20  # names in a column of the legend


def energy_figures(sliding_motions: str, restitution_motions: str) -> dict[str, pd.DataFrame]:
    """Figures 12 and 14: energy of the sliding ellipse, by friction, and of the thrown one, by
    restitution.
    """
    sliding, thrown = read_dataset(sliding_motions), read_dataset(restitution_motions)
    return {
        "figures/fig12_sliding_energy": energy_curves(sliding, "friction_mu", SLIDING_END),
        "figures/fig14_restitution_energy": energy_curves(thrown, "restitution_e_n", np.inf),
    }


def energy_tables(simulations: Sequence[str], restitution_motions: str) -> dict[str, pd.DataFrame]:
    """``ext_energy`` of all scenes, and ``ext_tangential_impulses`` of figure 14's."""
    motions = [read_dataset(file) for file in simulations]
    return {
        "tables/ext_energy": energy_table({str(scene.attrs["scene"]): scene for scene in motions}),
        "tables/ext_tangential_impulses": tangential_table(read_dataset(restitution_motions)),
    }


def energy_table(motions: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """One row per scene and law: energies, losses, how well the balance closes, largest gain in one
    step.
    """
    parts = []
    for name, scene in motions.items():
        total = (scene["kinetic"] + scene["potential"]).values
        last, scheme = scene.isel(state=-1), scene["scheme"].values
        parts.append(
            pd.DataFrame(
                {
                    "scene": name,
                    "friction_mu": scene["friction_mu"].values,
                    "restitution_e_n": scene["restitution_e_n"].values,
                    "time_step_ms": 1e3 * float(scene.attrs["time_step"]),
                    "energy_start_j": total[:, 0],
                    "energy_end_j": total[:, -1],
                    "lost_in_restitution_j": last["restitution"].values,
                    "lost_in_friction_j": last["friction"].values,
                    "lost_by_scheme_j": last["scheme"].values,
                    "scheme_largest_j": np.abs(scheme).max(axis=1),
                    "closure": scene["closure"].values,
                    "largest_gain_j": np.diff(total + scheme, axis=1).max(axis=1).clip(min=0.0),
                    "deepest_penetration_mm": -1e3
                    * scene["gap"].values.min(axis=(1, 2)).clip(max=0.0),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def tangential_table(motions: xr.Dataset) -> pd.DataFrame:
    """Whether tangential impulses take no energy in the motions of figure 14, as section 4.4 says.

    The paper sets friction so high that no impact slides, and infers that friction takes nothing. A
    sticking impact does take energy: it stops the contact point's tangential velocity. It can also
    give some, where it acts against a tangential velocity that the normal impulse of the same
    impact makes.
    """
    lost = np.diff(motions["friction"].values, axis=1)
    normal, tangential = (motions[name].values[:, 1:, 0] for name in ("impulse_n", "impulse_t"))
    mu = motions["friction_mu"].values
    pushed = normal > 0.0
    # on the edge of the friction cone but for rounding
    slides = pushed & (np.abs(tangential) >= _SLIPPING * mu[:, None] * normal)
    total = (motions["kinetic"] + motions["potential"]).values
    return pd.DataFrame(
        {
            "restitution_e_n": motions["restitution_e_n"].values,
            "friction_mu": mu,
            "steps_in_contact": pushed.sum(axis=1),
            "steps_sliding": slides.sum(axis=1),
            "lost_in_restitution_j": motions["restitution"].values[:, -1],
            "lost_in_friction_j": lost.sum(axis=1),
            "lost_in_friction_sticking_j": [
                own[~slid].sum() for own, slid in zip(lost, slides, strict=True)
            ],
            "largest_loss_in_one_step_j": lost.max(axis=1).clip(min=0.0),
            "largest_gain_in_one_step_j": -lost.min(axis=1).clip(max=0.0),
            "energy_change_pct": 100.0 * (total[:, -1] / total[:, 0] - 1.0),
        }
    )


def energy_curves(motions: xr.Dataset, varied: str, end: float) -> pd.DataFrame:
    """Total mechanical energy against time, one curve per run; ``<varied>, time_s, energy_j``."""
    time = motions["time"].values
    shown = evenly(np.flatnonzero(time <= end + 1e-12), _POINTS)
    energy = (motions["kinetic"] + motions["potential"]).values
    curves = zip(motions[varied].values, energy, strict=True)
    parts = [
        pd.DataFrame({varied: value, "time_s": time[shown], "energy_j": own[shown]})
        for value, own in curves
    ]
    return pd.concat(parts, ignore_index=True)


def draw_energies(data: pd.DataFrame, *, parameter: str, symbol: str) -> Figure:
    """Figures 12 and 14: mechanical energy over time, a line per value of the column ``parameter``."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.7))
    values = sorted(data[parameter].unique())
    shades = plt.get_cmap("viridis")(np.linspace(_DARKEST, _LIGHTEST, len(values)))
    for value, shade, dashes in zip(values, shades, itertools.cycle(_DASHES), strict=False):
        part = data[data[parameter] == value]
        axes.plot(
            part["time_s"], part["energy_j"], color=shade, ls=dashes, lw=1.1, label=f"{value:g}"
        )
    axes.set(xlabel="time (s)", ylabel="mechanical energy (J)")
    axes.margins(x=0.0, y=0.06)
    figure.legend(
        title=symbol, loc="outside right center", ncols=1 + len(values) // _MOST, handlelength=1.0
    )
    return figure
