"""What the recordings give: velocities after the impact by every method, and figure 6."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.arm.identify.methods import PAPER
from contactid.output import style
from contactid.output.tables import read_csv

_SERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "recording": ("recording", {"color": style.MEASURED, "lw": 1.0}),
    "fit": ("fit", {"color": style.LINE, "lw": 1.0, "ls": "--"}),
    "affine": ("rigid response", {"color": style.RELEASE, "lw": 1.2}),
    "map": (
        "impact map",
        {"color": style.RELEASE, "marker": "s", "ms": 5.0, "mfc": "none", "ls": "none"},
    ),
    "map_links": (
        "impact map without motors",
        {"color": style.ACCENT, "marker": "D", "ms": 4.0, "mfc": "none", "ls": "none"},
    ),
}
_COLUMNS = (("z", r"normal to the table, $v_z$"), ("x", r"along the table, $v_x$"))


def fit_tables(fits: str, curves: str, joints: str) -> dict[str, pd.DataFrame]:
    """Tables and figure 6 from the files of
    :func:`contactid.arm.identify.recordings.fit_recordings`.
    """
    rows = read_csv(fits)
    return {
        "tables/ext_fit": rows[rows["method"] == PAPER].drop(columns="method"),
        "tables/ext_fit_methods": rows,
        "tables/ext_fit_summary": summary_table(rows),
        "tables/ext_joints": read_csv(joints),
        "figures/fig06_cartesian_fit": read_csv(curves),
    }


def summary_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Errors against the impact map by method, over all experiments, as the paper reports them for
    its 18.

    ``method, experiments, fitted, mean_eta_x_mm_s, median_eta_x_mm_s, largest_eta_x_mm_s,
    mean_relative_x_pct, mean_eta_z_mm_s, largest_eta_z_mm_s, mean_error_x_mm_s, mean_error_z_mm_s``
    (the last two signed, fit less map), mean_eta_x_links_mm_s (against the map of the links alone,
    the paper's).
    """
    measured = rows.assign(
        eta_x=1e3 * rows["eta_x"],
        eta_z=1e3 * rows["eta_z"],
        eta_x_links=1e3 * (rows["vx_plus_fit"] - rows["vx_plus_map_links"]).abs(),
        error_x=rows["vx_plus_fit"] - rows["vx_plus_map"],
        error_z=rows["vz_plus_fit"] - rows["vz_plus_map"],
    )
    table = measured.groupby("method", sort=False).agg(
        experiments=("method", "size"),
        fitted=("vx_plus_fit", "count"),
        mean_eta_x_mm_s=("eta_x", "mean"),
        median_eta_x_mm_s=("eta_x", "median"),
        largest_eta_x_mm_s=("eta_x", "max"),
        mean_relative_x_pct=("relative_x", "mean"),
        mean_eta_z_mm_s=("eta_z", "mean"),
        largest_eta_z_mm_s=("eta_z", "max"),
        mean_error_x_mm_s=("error_x", "mean"),
        mean_error_z_mm_s=("error_z", "mean"),
        mean_eta_x_links_mm_s=("eta_x_links", "mean"),
    )
    factors = {"mean_relative_x_pct": 100.0, "mean_error_x_mm_s": 1e3, "mean_error_z_mm_s": 1e3}
    return table.assign(
        **{name: factor * table[name] for name, factor in factors.items()}
    ).reset_index()


def draw_cartesian_fit(data: pd.DataFrame) -> Figure:
    """Figure 6: a row per impact; z on the left, x on the right; time counts from the impact."""
    impacts = data.drop_duplicates("experiment").sort_values("angle_deg").to_dict("records")
    figure, panels = plt.subplots(
        len(impacts),
        2,
        figsize=(style.DOUBLE_COLUMN, 1.55 * len(impacts) + 0.6),
        sharex=True,
        squeeze=False,
    )
    for row, impact in zip(panels, impacts, strict=True):
        for axes, (component, _) in zip(row, _COLUMNS, strict=True):
            part = data[
                (data["experiment"] == impact["experiment"]) & (data["component"] == component)
            ]
            _draw_series(axes, part)
        row[0].set_ylabel(
            f"{impact['speed_m_s']:.2f} m/s, {impact['angle_deg']:.0f} degrees\nvelocity (m/s)"
        )
    for axes, (_, title) in zip(panels[0], _COLUMNS, strict=True):
        axes.set_title(title, loc="left")
    for axes in panels[-1]:
        axes.set_xlabel("time since impact (ms)")
    made_by = "simulated" if data["source"].iloc[0].startswith("synthetic") else "measured"
    labels = _SERIES | {"recording": (made_by, _SERIES["recording"][1])}
    handles = [
        Line2D([], [], **settings, label=label)
        for name, (label, settings) in labels.items()
        if name in set(data["series"])
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw_series(axes: Axes, part: pd.DataFrame) -> None:
    axes.axvline(0.0, color="black", lw=0.4, zorder=0)
    for order, (name, (_, settings)) in enumerate(_SERIES.items(), start=2):
        one = part[part["series"] == name]
        axes.plot(1e3 * one["t_s"], one["v_m_s"], zorder=order, **settings)
    axes.margins(x=0.02, y=0.08)
