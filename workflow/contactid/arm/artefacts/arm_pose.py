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

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle

from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import (
    TABLE_HEIGHT,
    joint_velocity,
    stated_posture,
    upright_posture,
)
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.output import style

SPEED = 0.2  # m/s
_LIFTED = (("start", 0.25), ("approach", 0.10))  # pose and height of the tip above the table, m
_SLID = 0.5  # s after the impact, with the velocity right after it
# half-widths of the drawn outlines, m: housings of the base, arm and wrist, the flange, the probe
_WIDTHS = (0.075, 0.065, 0.06, 0.06, 0.055, 0.05, 0.045, 0.03)
_PROBE_WIDTH = 0.009


def arm_figure(links: str, robot: Mapping[str, Any]) -> pd.DataFrame:
    """``fig01_arm`` from a link table and the block ``arm: robot``: one row per drawn point.

    Columns pose, kind (``link``: point of the chain from base to tip; ``velocity``: tip velocity
    before and after, m/s), order, x_m, z_m, half_width_m (of the link that ends there), label,
    time_s (since the impact), lift_m.
    """
    arm, rows = load_robot(links, **robot), []
    q = stated_posture(90, arm.model.nq)
    jacobian = arm.tip_jacobian(q)
    before = joint_velocity(arm, q, 0.0, -SPEED)
    after = impact_map(arm.mass_matrix(q), jacobian[2], before)
    for pose, (posture, time, lift) in _poses(arm, q, float(jacobian[0] @ after)).items():
        rows += _chain(arm, pose, posture, time, lift)
    for pose, velocity in (("impact", before), ("sliding", after)):
        tip = jacobian @ velocity
        rows.append((pose, "velocity", 0, *np.round(tip[[0, 2]], 9), np.nan, "", 0.0, 0.0))
    columns = ["pose", "kind", "order", "x_m", "z_m", "half_width_m", "label", "time_s", "lift_m"]
    return pd.DataFrame(rows, columns=columns)


def _poses(
    robot: Robot, at: np.ndarray, slide: float
) -> Mapping[str, tuple[np.ndarray, float, float]]:
    """Joint positions (n,) in rad, time since the impact in s, and the tip's height in m, by pose."""
    tip = robot.tip_position(at)
    poses = {}
    for pose, lift in _LIFTED:
        poses[pose] = (upright_posture(robot, tip[0], TABLE_HEIGHT + lift, at), -lift / SPEED, lift)
    poses["impact"] = (at, 0.0, 0.0)
    poses["sliding"] = (
        upright_posture(robot, tip[0] + _SLID * slide, TABLE_HEIGHT, at),
        _SLID,
        0.0,
    )
    return poses


def _chain(robot: Robot, pose: str, q: np.ndarray, time: float, lift: float) -> list[tuple]:
    joints = robot.joint_placements(q)
    points = [np.zeros(3), *joints, robot.tip_position(q)]
    widths = [np.nan, *_WIDTHS[: len(joints)], _PROBE_WIDTH]
    labels = ["base", *(f"joint {k}" for k in range(1, len(joints) + 1)), "tip"]
    return [
        (pose, "link", k, *np.round(point[[0, 2]], 9), width, label, time, lift)
        for k, (point, width, label) in enumerate(zip(points, widths, labels, strict=True))
    ]


_TITLES = {
    "start": "(1) start\n{lift:.0f} mm above the table",
    "approach": "(2) moving down\n{lift:.0f} mm above the table",
    "impact": "(3) impact",
    "sliding": "(4) sliding\n{time:.1f} s after the impact",
}
_LINK, _EDGE, _JOINT, _PROBE = "#f2a65a", "#7a4a12", "#ffffff", "#5a5a5a"
_WOOD, _WOOD_EDGE = "#ecd9b4", "#8a6d3b"
_X, _Z = (-0.16, 1.14), (-0.30, 0.88)  # m, what is shown
_TABLE_FROM = 0.32
_TURNING = ("joint 2", "joint 4", "joint 6")  # axes along y, that the plane's motion turns about
_ARROW = 1.0  # m per m/s
_CORNERS = 24


def draw_arm(data: pd.DataFrame) -> Figure:
    """Figure 1: four moments of a vertical impact, time from left to right."""
    poses = list(dict.fromkeys(data["pose"]))
    width, ratio = style.DOUBLE_COLUMN, (_Z[1] - _Z[0]) / (_X[1] - _X[0])
    figure, panels = plt.subplots(
        1, len(poses), figsize=(width, width / len(poses) * ratio + 0.2), squeeze=False
    )
    links = data[data["kind"] == "link"]
    table = float(links.loc[(links["pose"] == "impact") & (links["label"] == "tip"), "z_m"].iloc[0])
    for axes, pose, before in zip(panels[0], poses, [None, *poses], strict=False):
        axes.set(xlim=_X, ylim=_Z, aspect="equal")
        axes.set_axis_off()
        _draw_table(axes, table)
        chain = links[links["pose"] == pose]
        if before is not None:
            _draw_chain(axes, links[links["pose"] == before], ghost=True)
        _draw_chain(axes, chain, ghost=False)
        row = chain.iloc[0]
        title = _TITLES[pose].format(lift=1e3 * row["lift_m"], time=row["time_s"])
        axes.text(_X[0], _Z[1], title, fontsize=7, va="top", in_layout=False)
        _label_joints(axes, chain)
        velocity = data[(data["pose"] == pose) & (data["kind"] == "velocity")]
        if len(velocity):
            tip = chain.iloc[-1]
            _draw_velocity(axes, (tip["x_m"], tip["z_m"]), velocity.iloc[0])
    _draw_axes(panels[0][0])
    return figure


def _draw_table(axes: Axes, height: float) -> None:
    axes.add_patch(
        Rectangle(
            (_TABLE_FROM, _Z[0]),
            _X[1] - _TABLE_FROM,
            height - _Z[0],
            facecolor=_WOOD,
            edgecolor="none",
            zorder=1,
        )
    )
    axes.plot([_TABLE_FROM, _X[1]], [height] * 2, color=_WOOD_EDGE, lw=0.9, zorder=1.1)
    axes.text(
        _X[1] - 0.01, _Z[0] + 0.015, "table", ha="right", va="bottom", fontsize=6, color=_WOOD_EDGE
    )


def _draw_chain(axes: Axes, chain: pd.DataFrame, *, ghost: bool) -> None:
    """The chain from base to tip, outermost link below; a ghost is the moving part in grey."""
    points, widths = chain[["x_m", "z_m"]].to_numpy(), chain["half_width_m"].to_numpy()
    if ghost:
        for k in range(3, len(points)):
            outline = _capsule(points[k - 1], points[k], widths[k])
            axes.add_patch(
                Polygon(outline, facecolor="#e9e9e9", edgecolor="#b5b5b5", lw=0.4, zorder=2)
            )
        return
    axes.add_patch(
        Rectangle((-0.13, _Z[0]), 0.26, -_Z[0], facecolor="#d9d9d9", edgecolor="none", zorder=2.4)
    )
    base = ((-widths[1], 0.0), 2.0 * widths[1], points[1, 1])
    axes.add_patch(Rectangle(*base, facecolor=_LINK, edgecolor=_EDGE, lw=0.5, zorder=2.5))
    for k in range(len(points) - 1, 1, -1):
        tip = k == len(points) - 1
        outline = _capsule(points[k - 1], points[k], widths[k])
        color = _PROBE if tip else _LINK
        axes.add_patch(
            Polygon(
                outline,
                facecolor=color,
                edgecolor=_EDGE,
                lw=0.5,
                zorder=3 + 0.1 * (len(points) - k),
            )
        )
    axes.add_patch(Circle((points[-1, 0], points[-1, 1] + 0.012), 0.012, color=_PROBE, zorder=5))
    for point, label in zip(points, chain["label"], strict=True):
        if label in _TURNING:
            axes.add_patch(
                Circle(tuple(point), 0.028, facecolor=_JOINT, edgecolor=_EDGE, lw=0.7, zorder=6)
            )


def _capsule(start: np.ndarray, end: np.ndarray, half_width: float) -> np.ndarray:
    """(k, 2) outline of a segment with round ends."""
    along = end - start
    heading = np.arctan2(along[1], along[0])
    first = heading + np.linspace(0.5, 1.5, _CORNERS) * np.pi
    last = heading + np.linspace(-0.5, 0.5, _CORNERS) * np.pi
    return np.vstack(
        [
            start + half_width * np.column_stack([np.cos(first), np.sin(first)]),
            end + half_width * np.column_stack([np.cos(last), np.sin(last)]),
        ]
    )


def _draw_velocity(axes: Axes, tip: tuple[float, float], velocity: pd.Series) -> None:
    """The tip's velocity: it ends at the tip before the impact, and starts there after it."""
    vector = _ARROW * np.array([velocity["x_m"], velocity["z_m"]])
    incoming = velocity["z_m"] < 0.0
    shifted = np.asarray(tip) + (np.array([0.06, 0.0]) if incoming else np.array([0.04, 0.02]))
    start = shifted - vector if incoming else shifted
    arrow = {"arrowstyle": "-|>", "color": style.LINE, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tuple(start + vector), xytext=tuple(start), arrowprops=arrow, zorder=8)
    sign, component = ("-", "z") if incoming else ("+", "x")
    speed = abs(velocity["z_m"]) if incoming else velocity["x_m"]
    text = (
        rf"$|v_{component}^{sign}|$ = {speed:.2f} m/s"
        if incoming
        else rf"$v_{component}^{sign}$ = {speed:.2f} m/s"
    )
    place = start + (np.array([0.02, 0.0]) if incoming else np.array([0.035, 0.02]))
    axes.text(
        place[0],
        place[1],
        text,
        fontsize=6,
        color=style.LINE,
        va="bottom",
        ha="left",
        zorder=8,
        in_layout=False,
    )


def _label_joints(axes: Axes, chain: pd.DataFrame) -> None:
    """Numbers of the joints that turn about the normal of the drawing."""
    for _, row in chain.iterrows():
        if row["label"] in _TURNING:
            axes.text(
                row["x_m"], row["z_m"], row["label"].removeprefix("joint "), fontsize=5.5, ha="center", va="center",
                zorder=7,
            )  # fmt: skip


def _draw_axes(axes: Axes) -> None:
    arrow = {"arrowstyle": "-|>", "color": "#222222", "lw": 0.8, "shrinkA": 0, "shrinkB": 0}
    origin = np.array([0.16, -0.12])
    for end, name in (((0.14, 0.0), "x"), ((0.0, 0.14), "z")):
        tip = origin + end
        axes.annotate("", xy=tuple(tip), xytext=tuple(origin), arrowprops=arrow)
        axes.text(tip[0] + 0.02, tip[1] + 0.02, f"${name}$", fontsize=7, ha="center", va="center")
