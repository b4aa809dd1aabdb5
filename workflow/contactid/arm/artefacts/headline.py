"""The paper's headline judged from print alone: what its map tells of the measured v_x+, and naive
answers beside it.

Every row of Table II that is no copy is predicted by ``v_x+ = v_x- + r |v_z-|`` (eq. 5) with
several r. That of the map is printed. One r for all other rows, the other set's r and no impact
know nothing of the arm's model. The map's r of other rows are the shuffled answer: were they as
good, the map would tell no posture from another.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.arm.rigid.postures import fitted_ratio, nearest_direction
from contactid.arm.rigid.printed_table import LABELS, copied_rows, printed_table, relative_error
from contactid.output import style
from contactid.output.tables import read_csv

#: Columns of errors, and what the figure calls them.
PREDICTIONS = {
    "error_map": "the map",
    "error_other_set": "r of the other set's fits",
    "error_one_ratio": "one r of all other fits",
    "error_shuffled": "the map's r of other rows",
    "error_no_impact": r"no impact, $v_x^-$",
}
_COLOURS = {90: style.LINE, 70: style.RELEASE, 53: style.ACCENT}


def headline(published: str) -> dict[str, pd.DataFrame]:
    """Table and figure ``ext_headline``."""
    table = headline_table(printed_table(read_csv(published)))
    return {"tables/ext_headline": table, "figures/ext_headline": table}


def headline_table(printed: pd.DataFrame) -> pd.DataFrame:
    """One row per printed row that is no copy; velocities and errors in m/s.

    The labels; ``direction_deg`` (90, 70 or 53); ``speed`` before the impact; ``vx_plus_fit,
    vz_plus_fit`` as printed; ``signed_error`` of the map, prediction less fit; the errors' sizes
    :data:`PREDICTIONS`, of which ``error_shuffled`` is a mean over the other rows' r;
    ``relative_error`` of the map as the paper defines it; ``vz_plus_lean``: v_z+ if every fit slid
    on one plane that leans, by least squares.
    """
    once = printed[~copied_rows(printed)].reset_index(drop=True)
    before, fall = once["vx_minus"].to_numpy(), once["vz_minus"].abs().to_numpy()
    by_map, by_fit = once["vx_plus_map"].to_numpy(), once["vx_plus_fit"].to_numpy()
    normal = once["vz_plus_fit"].to_numpy()
    direction = nearest_direction(once["vx_minus"], once["vz_minus"])
    dataset = once["dataset"].to_numpy()
    map_ratio = (by_map - before) / fall

    every = np.arange(len(once))

    def ratio_of(rows: np.ndarray) -> float:
        if not rows.any():
            return np.nan
        return fitted_ratio(before[rows], fall[rows], by_fit[rows])

    one_ratio = [ratio_of(every != k) for k in every]
    other_set = [ratio_of((dataset != dataset[k]) & (direction == direction[k])) for k in every]
    # (rows, ratios): each row by every row's r
    shuffled = np.abs(before + np.outer(map_ratio, fall) - by_fit).T
    of_others = ~np.eye(len(once), dtype=bool)
    errors = {
        "error_map": np.abs(by_map - by_fit),
        "error_other_set": np.abs(before + other_set * fall - by_fit),
        "error_one_ratio": np.abs(before + one_ratio * fall - by_fit),
        "error_shuffled": shuffled.mean(axis=1, where=of_others),
        "error_no_impact": np.abs(before - by_fit),
    }
    lean = float(by_fit @ normal / (by_fit @ by_fit))
    return once[list(LABELS)].assign(
        direction_deg=direction,
        speed=np.hypot(before, fall),
        vx_plus_fit=by_fit,
        vz_plus_fit=normal,
        signed_error=by_map - by_fit,
        relative_error=relative_error(by_map, by_fit),
        vz_plus_lean=lean * by_fit,
        **errors,
    )


def draw_headline(data: pd.DataFrame) -> Figure:
    """Mean errors of the predictions, the map's errors by speed and direction, and v_z+ over v_x+
    with one lean.
    """
    figure, (means, errors, normal) = plt.subplots(1, 3, figsize=(style.DOUBLE_COLUMN, 2.5))
    _draw_means(means, data)
    for direction, colour in _COLOURS.items():
        rows = data[data["direction_deg"] == direction]
        label = f"{direction} degrees"
        errors.plot(
            rows["speed"], 1e3 * rows["signed_error"], "o", ms=3.5, color=colour, label=label
        )
        normal.plot(1e3 * rows["vx_plus_fit"], 1e3 * rows["vz_plus_fit"], "o", ms=3.5, color=colour)
    along = data.sort_values("vx_plus_fit")
    normal.plot(
        1e3 * along["vx_plus_fit"], 1e3 * along["vz_plus_lean"], "-", lw=0.9, color=style.MEASURED
    )
    for axes in (errors, normal):
        axes.axhline(0.0, color="black", lw=0.4, zorder=0)
    errors.set_xlabel("speed before the impact (m/s)")
    errors.set_ylabel(r"map less fit, $v_x^+$ (mm/s)")
    figure.legend(loc="outside upper right", ncols=len(_COLOURS), handlelength=1.0)
    normal.set_xlabel(r"fitted $v_x^+$ (mm/s)")
    normal.set_ylabel(r"fitted $v_z^+$ (mm/s)")
    return figure


def _draw_means(axes: Axes, data: pd.DataFrame) -> None:
    for place, column in enumerate(PREDICTIONS):
        error = 1e3 * data[column]
        axes.plot(error, np.full(len(error), place), "|", ms=5.0, mew=0.6, color=style.MEASURED)
        # colours are those of directions
        filled = "black" if column == "error_map" else "white"
        axes.plot(error.mean(), place, "o", ms=4.0, color="black", markerfacecolor=filled)
    axes.set_yticks(range(len(PREDICTIONS)), list(PREDICTIONS.values()))
    axes.invert_yaxis()
    axes.set_xscale("symlog", linthresh=1.0)  # some errors are 0
    axes.set_xticks([0.0, 1.0, 10.0, 100.0], ["0", "1", "10", "100"])
    axes.set_xlim(left=-0.3)
    axes.set_xlabel(r"error of $v_x^+$ (mm/s)")
