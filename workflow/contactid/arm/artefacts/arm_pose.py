"""Figure 1: the arm as links in the plane of its motion, at rest, approaching, at the impact and
sliding.

The paper shows four photographs of a vertical impact at 0.2 m/s. The drawing has the same four
moments, from the link table and the posture that reproduces the printed sliding velocity. The
height from which the arm starts isn't printed; it is assumed. The last pose has the tip where the
velocity of the impact map takes it within half a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import (
    TABLE_HEIGHT,
    joint_velocity,
    stated_posture,
    upright_posture,
)
from contactid.arm.rigid.robot import load_robot
from contactid.output import pen, style

SPEED = 0.2  # m/s
_START, _APPROACH = 0.25, 0.10  # m, heights of the tip above the table before the impact
_SLID = 0.5  # s after the impact, with the velocity right after it
# half-widths of the drawn outlines, m: housings of the base, arm and wrist, the flange, the probe
_WIDTHS = (0.075, 0.065, 0.06, 0.06, 0.055, 0.05, 0.045, 0.03)
_PROBE_WIDTH = 0.009
_TITLES = {
    "start": f"(1) start\n{1e3 * _START:.0f} mm above the table",
    "approach": f"(2) moving down\n{1e3 * _APPROACH:.0f} mm above the table",
    "impact": "(3) impact",
    "sliding": f"(4) sliding\n{_SLID:.1f} s after the impact",
}
_LINK, _EDGE, _PROBE, _BASE, _GHOST = "#f2a65a", "#7a4a12", "#5a5a5a", "#d9d9d9", "#e9e9e9"
_WOOD, _WOOD_EDGE = "#ecd9b4", "#8a6d3b"
_X, _Z = (-0.16, 1.14), (-0.30, 0.88)  # m, what is shown
_TURNING = ("joint 2", "joint 4", "joint 6")  # axes along y, that the plane's motion turns about
_POINTS_PER_METRE = 72.0 * style.DOUBLE_COLUMN / (len(_TITLES) * (_X[1] - _X[0]))


def arm_figure(links: str, robot: Mapping[str, Any]) -> pd.DataFrame:
    """``fig01_arm`` from a link table and the block ``arm: robot``: one row per drawn point.

    Columns pose, kind (``link``: point of the chain from base to tip; ``velocity``: tip velocity
    before and after, m/s), x_m, z_m, half_width_m (of the link that ends there), label.
    """
    arm, rows = load_robot(links, **robot), []
    q = stated_posture(90, arm.model.nq)
    jacobian, x = arm.tip_jacobian(q), arm.tip_position(q)[0]
    before = joint_velocity(arm, q, 0.0, -SPEED)
    after = impact_map(arm.mass_matrix(q), jacobian[2], before)
    slid = x + _SLID * float(jacobian[0] @ after)
    poses = {
        "start": upright_posture(arm, x, TABLE_HEIGHT + _START, q),
        "approach": upright_posture(arm, x, TABLE_HEIGHT + _APPROACH, q),
        "impact": q,
        "sliding": upright_posture(arm, slid, TABLE_HEIGHT, q),
    }
    for name, joints in poses.items():
        points = [np.zeros(3), *arm.joint_placements(joints), arm.tip_position(joints)]
        labels = ["base", *(f"joint {k}" for k in range(1, len(points) - 1)), "tip"]
        widths = [np.nan, *_WIDTHS[: len(points) - 2], _PROBE_WIDTH]
        for point, width, label in zip(points, widths, labels, strict=True):
            rows.append((name, "link", *np.round(point[[0, 2]], 9), width, label))
    for name, velocity in (("impact", before), ("sliding", after)):
        tip = jacobian @ velocity
        rows.append((name, "velocity", *(np.round(tip[[0, 2]], 9) + 0.0), np.nan, ""))
    columns = ["pose", "kind", "x_m", "z_m", "half_width_m", "label"]
    return pd.DataFrame(rows, columns=columns)


def draw_arm(data: pd.DataFrame) -> Figure:
    """Figure 1: four moments of a vertical impact, time from left to right; the moment before is
    faint.
    """
    links, velocities = (data[data["kind"] == kind] for kind in ("link", "velocity"))
    box = (_X[0], _Z[0]), (_X[1], _Z[1])
    figure, panels = pen.page(style.DOUBLE_COLUMN, [box] * len(_TITLES), head=0.2)
    table = links.loc[links["pose"] == "impact", "z_m"].iloc[-1]
    before = None
    for axes, (pose, title) in zip(panels, _TITLES.items(), strict=True):
        axes.fill_between([0.32, _X[1]], _Z[0], table, fc=_WOOD, ec=_WOOD_EDGE, lw=0.9, zorder=0)
        axes.fill_between([-0.13, 0.13], _Z[0], 0.0, fc=_BASE, ec="none", zorder=2.5)
        axes.text(0.7, _Z[0] + 0.02, "table", fontsize=7, color=_WOOD_EDGE)
        axes.text(_X[0], _Z[1], title, fontsize=7, va="top", in_layout=False)
        chain = links[links["pose"] == pose]
        if before is not None:
            _draw_links(axes, before.iloc[2:], _GHOST, "#b5b5b5")
        _draw_links(axes, chain.iloc[-2:], _PROBE, _EDGE)
        _draw_links(axes, chain.iloc[:-1], _LINK, _EDGE)
        before = chain
        for joint in pen.rows_of(chain[chain["label"].isin(_TURNING)]):
            at = joint.x_m, joint.z_m
            axes.plot(*at, "o", color="white", mec=_EDGE, mew=0.7, ms=6.0)
            pen.say(axes, at, joint.label[-1], fontsize=5.5, path_effects=[])
        for velocity in pen.rows_of(velocities[velocities["pose"] == pose]):
            _draw_velocity(axes, chain.iloc[-1], velocity)
    look = ("$x$", "$z$"), (pen.DARK, pen.DARK), pen.NORMAL
    pen.frame(panels[0], np.array([0.16, -0.12]), 0.14 * np.eye(2), *look)
    return figure


def _draw_links(axes: Axes, chain: pd.DataFrame, face: str, edge: str) -> None:
    """Links with round ends between the points of a chain, the outermost below."""
    points, widths = chain[["x_m", "z_m"]].to_numpy(), chain["half_width_m"].to_numpy()
    for k in range(len(points) - 1, 0, -1):
        thick = 2.0 * widths[k] * _POINTS_PER_METRE
        for colour, width in ((edge, thick + 0.5), (face, thick - 0.5)):
            axes.plot(*points[k - 1 : k + 1].T, color=colour, lw=width, solid_capstyle="round")


def _draw_velocity(axes: Axes, tip: pd.Series, velocity: Any) -> None:
    """The tip's velocity: it ends at the tip before the impact, and starts there after it."""
    # drawn with 1 m per m/s
    start = tip["x_m"] + 0.05, tip["z_m"] + 0.02 - velocity.z_m
    end = start[0] + velocity.x_m, start[1] + velocity.z_m
    text = rf"$v_x^+$ = {velocity.x_m:.2f} m/s"
    if velocity.z_m < 0.0:
        text = rf"$|v_z^-|$ = {-velocity.z_m:.2f} m/s"
    pen.arrow(axes, start, end, style.LINE, 1.2)
    aligned = {"ha": "left", "va": "bottom", "fontsize": 6}
    pen.say(axes, start, text, (2, 3), style.LINE, **aligned)
