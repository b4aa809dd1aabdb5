"""Draw figures 5 to 9 of the tossing paper from their data files; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.tossing.draw_costs import draw_costs

_COLOURS = {"x": style.LINE, "y": style.RELEASE, "z": style.ACCENT}
_ROWS = (("v", r"linear velocity (m/s)"), ("w", r"angular velocity (rad/s)"))
_SYMBOLS = {"v": "v", "w": r"\omega"}


def draw_heights(data: pd.DataFrame) -> Figure:
    """Figure 5: heights of the eight vertices, the selected impact marked."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.3))
    for vertex, part in data.groupby("vertex"):
        if not part["impacting"].any():
            axes.plot(part["sample"], 1e3 * part["height_m"], color=style.MEASURED, lw=0.7, zorder=1)
        else:
            name = rf"impacting vertex $\mathbf{{p}}_{{{vertex}}}$"
            axes.plot(part["sample"], 1e3 * part["height_m"], color=style.LINE, zorder=2, label=name)
            hit = part[part["impact"]]
            axes.plot(
                hit["sample"], 1e3 * hit["height_m"], "o", color=style.LINE, mec="black", mew=0.5, ms=5, zorder=3,
                label=rf"selected impact, $k_\mathrm{{im}} = {int(hit['sample'].iloc[0])}$",
            )  # fmt: skip
    axes.plot([], [], color=style.MEASURED, lw=0.7, label="other vertices")
    axes.axhline(0.0, color="black", lw=0.5)
    axes.set(xlabel=r"sample $k$", ylabel=r"height $({}^C\mathbf{p}_i)_z$ (mm)")
    top = 1e3 * float(data["height_m"].max())
    axes.set_ylim(-0.04 * top, 1.45 * top)
    axes.set_title(f"{data['object'].iloc[0]}, recording {data['toss'].iloc[0]}", loc="left")
    axes.legend(loc="upper right")
    return figure


def draw_velocities(data: pd.DataFrame) -> Figure:
    """Figures 6 to 8: hybrid velocities around an impact, measured, fitted, and simulated where there are any."""
    kinds = [kind for kind in dict.fromkeys(data["kind"]) if kind not in ("measured", "fitted")]
    figure, panels = plt.subplots(2, 1, figsize=(style.SINGLE_COLUMN, 3.9), sharex=True)
    for panel, (letter, label) in zip(panels, _ROWS, strict=True):
        for axis, colour in _COLOURS.items():
            part = data[data["component"] == f"{letter}_{axis}"]
            measured = part[part["kind"] == "measured"]
            panel.plot(measured["offset"], measured["value"], color=colour, label=rf"${_SYMBOLS[letter]}_{axis}$")
            for _, side in part[part["kind"] == "fitted"].groupby("side"):
                panel.plot(side["offset"], side["value"], "--", color="black", lw=0.9)
            for kind in kinds:
                run = part[part["kind"] == kind]
                panel.plot(run["offset"], run["value"], ":", color=colour, lw=1.6)
        _mark_sides(panel, data, named=panel is panels[0])
        panel.set_ylabel(label)
        panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.2)
    panels[1].set_xlabel(r"sample $k - k_\mathrm{im}$")
    ends = [int(offset) for offset in data["offset"].agg(["min", "max"])]
    panels[1].set_xticks(range(ends[0], ends[1] + 1))
    proxies = [plt.Line2D([], [], color="black", label="measured")]
    proxies.append(plt.Line2D([], [], color="black", ls="--", lw=0.9, label="fitted"))
    proxies.extend(plt.Line2D([], [], color="black", ls=":", lw=1.6, label=kind) for kind in kinds)
    figure.legend(handles=proxies, loc="outside upper center", ncols=min(len(proxies), 3), columnspacing=1.0)
    panels[0].set_title(f"{data['object'].iloc[0]}, $k_\\mathrm{{im}}$ = {data['k_im'].iloc[0]}", loc="left", pad=12)
    return figure


def _mark_sides(panel: Axes, data: pd.DataFrame, *, named: bool) -> None:
    """Pre- and post-impact indices -b and c."""
    fitted = data[data["kind"] == "fitted"]
    for side, pick in (("pre", "max"), ("post", "min")):
        offset = fitted.loc[fitted["side"] == side, "offset"].agg(pick)
        panel.axvline(offset, color=style.MEASURED, lw=0.7, ls="-", zorder=0)
        if named:
            panel.annotate(
                "$-b$" if side == "pre" else "$c$", (offset, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2),
                textcoords="offset points", ha="center", fontsize=7, color="#555555",
            )  # fmt: skip


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig05_vertex_heights": draw_heights,
    "fig06_impact_velocities": draw_velocities,
    "fig07_simulated_velocities_substeps": draw_velocities,
    "fig08_simulated_velocities": draw_velocities,
    "fig09_velocity_costs": lambda data: draw_costs(data, r"mean $L_\mathrm{vel}$ (m/s)"),
}
