"""What else than the links decides r at the flattest angle: the probe's tilt, the table's height,
the probe's length.

The paper prints none of them. With the described links an upright probe of 0.10 m on a table at
-0.20 m meets the rows. With a wrist of plausible inertia no such posture does, but one does with a
tilt that nobody would see.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import brentq

from contactid.arm.artefacts.postures import PER_ANGLE, PER_SET_AND_ANGLE, groups, ratio_of_rows
from contactid.arm.rigid.postures import (
    TABLE_HEIGHT,
    ratio_at,
    stated_posture,
    upright_posture,
    upright_postures,
)
from contactid.arm.rigid.printed_table import copied_rows, printed_table
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.output import style
from contactid.output.tables import read_csv

FLATTEST = 53  # deg, the direction whose rows ask for the largest r
CURVE, MEETS, ASKED = "curve", "meets", "asked"
_TILTS = np.linspace(-0.3, 0.3, 7)  # deg
_HEIGHTS = (-0.25, TABLE_HEIGHT, -0.15)  # m
_PROBES = (0.05, 0.15)  # m, besides the study's
_MOST_TILT = 5.0  # deg, within which the one that meets the rows is looked for
_LEVERS = {
    "tilt_deg": ("tilt of the probe (degrees)", "r at the tip's place"),
    "table_height_m": ("height of the table (m)", "largest r of an upright probe"),
    "probe_length_m": ("length of the probe (m)", ""),
}
_COLOURS = {"described": style.LINE, "corrected": style.RELEASE}


def levers(links: str, corrections: str, robot: Mapping[str, Any], published: str) -> pd.DataFrame:
    """``ext_postures``, the figure: ``inertia, lever, series, value, ratio`` with described and
    with corrected links.

    Series ``curve``: r over a lever's value. Tilt (positive with the lower end forwards) is at the
    tip's place of the stated posture of the flattest angle; with another table or probe it is the
    largest r of any upright posture. ``meets``: the tilt at which r is what the rows of the
    flattest angle ask for. ``asked``: r that these rows ask for, by set, and from both together.
    """
    asked = _asked(printed_table(read_csv(published)))
    rows = [("", "", ASKED, np.nan, ratio) for ratio in asked]
    for inertia, divisors in (("described", None), ("corrected", corrections)):
        arm = load_robot(links, **robot, corrections=divisors)
        tilts = {tilt: tilted_ratio(arm, tilt) for tilt in _TILTS}
        heights = {height: _largest(arm, height) for height in _HEIGHTS}
        # the study's own probe on its own table, and others
        probes = {robot["probe_length"]: heights[TABLE_HEIGHT]}
        for length in _PROBES:
            other = {**robot, "probe_length": length}
            probes[length] = _largest(load_robot(links, **other, corrections=divisors))
        for lever, ratios in zip(_LEVERS, (tilts, heights, probes), strict=True):
            for value in sorted(ratios):
                rows.append((inertia, lever, CURVE, value, ratios[value]))
        meets = _tilt_of(arm, asked[-1])
        rows.append((inertia, "tilt_deg", MEETS, meets, tilted_ratio(arm, meets)))
    return pd.DataFrame(rows, columns=["inertia", "lever", "series", "value", "ratio"])


def _tilt_of(robot: Robot, ratio: float) -> float:
    """The tilt (deg) at which r is as large as asked."""
    return brentq(lambda tilt: tilted_ratio(robot, tilt) - ratio, -_MOST_TILT, _MOST_TILT)


def tilted_ratio(robot: Robot, tilt_deg: float) -> float:
    """R with the tip where the stated posture of the flattest angle has it, and the probe tilted."""
    near = stated_posture(FLATTEST, robot.model.nq)
    x, _, z = robot.tip_position(near)
    return ratio_at(robot, upright_posture(robot, x, z, near, np.deg2rad(tilt_deg)))


def _largest(robot: Robot, height: float = TABLE_HEIGHT) -> float:
    return float(upright_postures(robot, height).ratio.max())


def _asked(printed: pd.DataFrame) -> list[float]:
    """R of the rows of the flattest angle: of each set, and of both."""
    copied = copied_rows(printed)
    return [
        ratio_of_rows(printed, rows[~copied[rows]])
        for rule in (PER_SET_AND_ANGLE, PER_ANGLE)
        for _, direction, rows in groups(printed, rule)
        if direction == FLATTEST
    ]


def draw_levers(data: pd.DataFrame) -> Figure:
    """A panel per lever; the band is what the rows ask for."""
    figure, panels = plt.subplots(
        1, len(_LEVERS), figsize=(style.DOUBLE_COLUMN, 2.3), sharey=True, squeeze=False
    )
    asked = data.loc[data["series"] == ASKED, "ratio"]
    for axes, (lever, (label, of)) in zip(panels[0], _LEVERS.items(), strict=True):
        axes.axhspan(asked.min(), asked.max(), color=style.MEASURED, alpha=0.3, lw=0.0)
        for inertia, colour in _COLOURS.items():
            part = data[(data["lever"] == lever) & (data["inertia"] == inertia)]
            curve, meets = part[part["series"] == CURVE], part[part["series"] == MEETS]
            axes.plot(
                curve["value"],
                curve["ratio"],
                "-",
                marker="o",
                ms=2.5,
                color=colour,
                label=f"{inertia} inertias",
            )
            axes.plot(meets["value"], meets["ratio"], "s", ms=5.0, mfc="none", color=colour)
            for tilt, ratio in zip(meets["value"], meets["ratio"], strict=True):
                axes.annotate(
                    f"{round(tilt, 2) + 0.0:.2f}", (tilt, ratio), xytext=(5.0, -9.0), textcoords="offset points",
                    fontsize=6, color=colour,
                )  # fmt: skip
        axes.set_xlabel(label)
        if of:
            axes.set_title(of, loc="left")
    panels[0][0].set_ylabel("r")
    panels[0][0].legend(loc="upper left")
    return figure
