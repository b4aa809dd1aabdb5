"""Figure 1: the arm as links in the plane of its motion, at rest, approaching, at the impact and
sliding.

The paper shows four photographs of a vertical impact at 0.2 m/s. The drawing has the same four
moments, from the link table and the posture that reproduces the printed sliding velocity. The
height from which the arm starts isn't printed; it is assumed. The last pose has the tip where the
velocity of the impact map takes it within half a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch
from matplotlib.transforms import Affine2D

from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import (
    TABLE_HEIGHT,
    joint_velocity,
    stated_posture,
    upright_posture,
)
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.output import pen, style

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
    for pose in _poses(arm, q, float(jacobian[0] @ after)):
        rows += _chain(arm, pose)
    for name, velocity in (("impact", before), ("sliding", after)):
        tip = jacobian @ velocity
        rows.append((name, "velocity", 0, *(np.round(tip[[0, 2]], 9) + 0.0), np.nan, "", 0.0, 0.0))
    columns = ["pose", "kind", "order", "x_m", "z_m", "half_width_m", "label", "time_s", "lift_m"]
    return pd.DataFrame(rows, columns=columns)


class _Pose(NamedTuple):
    """A moment of figure 1: joint positions (n,) in rad, time since the impact in s, and the tip's
    height over the table in m.
    """

    name: str
    q: np.ndarray
    time: float
    lift: float


def _poses(robot: Robot, q: np.ndarray, sliding_velocity: float) -> list[_Pose]:
    """The four moments round an impact at ``q``, after which the tip slides (m/s)."""
    x = robot.tip_position(q)[0]
    poses = []
    for name, lift in _LIFTED:
        lifted = upright_posture(robot, x, TABLE_HEIGHT + lift, q)
        poses.append(_Pose(name, lifted, -lift / SPEED, lift))
    slid = upright_posture(robot, x + _SLID * sliding_velocity, TABLE_HEIGHT, q)
    return [*poses, _Pose("impact", q, 0.0, 0.0), _Pose("sliding", slid, _SLID, 0.0)]


def _chain(robot: Robot, pose: _Pose) -> list[tuple]:
    """The rows of a pose's chain, from the base to the tip."""
    joints = robot.joint_placements(pose.q)
    points = [np.zeros(3), *joints, robot.tip_position(pose.q)]
    widths = [np.nan, *_WIDTHS[: len(joints)], _PROBE_WIDTH]
    labels = ["base", *(f"joint {k}" for k in range(1, len(joints) + 1)), "tip"]
    rows = []
    for k, (point, width, label) in enumerate(zip(points, widths, labels, strict=True)):
        x, _, z = np.round(point, 9)
        rows.append((pose.name, "link", k, x, z, width, label, pose.time, pose.lift))
    return rows


_TITLES = {
    "start": "(1) start\n{lift:.0f} mm above the table",
    "approach": "(2) moving down\n{lift:.0f} mm above the table",
    "impact": "(3) impact",
    "sliding": "(4) sliding\n{time:.1f} s after the impact",
}
_LINK, _EDGE, _PROBE, _BASE = "#f2a65a", "#7a4a12", "#5a5a5a", "#d9d9d9"
_GHOST = {"facecolor": "#e9e9e9", "edgecolor": "#b5b5b5", "lw": 0.4}
_WOOD, _WOOD_EDGE = "#ecd9b4", "#8a6d3b"
_X, _Z = (-0.16, 1.14), (-0.30, 0.88)  # m, what is shown
_TABLE_FROM = 0.32
_TURNING = ("joint 2", "joint 4", "joint 6")  # axes along y, that the plane's motion turns about
_ARROW = 1.0  # m per m/s
_LEFT = {"fontsize": 6, "ha": "left", "va": "bottom"}


def draw_arm(data: pd.DataFrame) -> Figure:
    """Figure 1: four moments of a vertical impact, time from left to right."""
    links = data[data["kind"] == "link"]
    chains = {str(pose): chain for pose, chain in links.groupby("pose", sort=False)}
    velocities = {row["pose"]: row for _, row in data[data["kind"] == "velocity"].iterrows()}
    box = (_X[0], _Z[0]), (_X[1], _Z[1])
    figure, panels = pen.page(style.DOUBLE_COLUMN, [box] * len(chains), head=0.2)
    table = float(chains["impact"]["z_m"].iloc[-1])
    before = None
    for axes, (pose, chain) in zip(panels, chains.items(), strict=True):
        axes.fill_between([_TABLE_FROM, _X[1]], _Z[0], table, fc=_WOOD, ec="none", zorder=1)
        axes.plot([_TABLE_FROM, _X[1]], [table, table], color=_WOOD_EDGE, lw=0.9, zorder=1.1)
        named = {"fontsize": 6, "ha": "right", "va": "bottom", "path_effects": []}
        pen.say(axes, (_X[1], _Z[0]), "table", (-1, 2), _WOOD_EDGE, **named)
        if before is not None:
            _draw_links(axes, before.iloc[2:], **_GHOST, zorder=2)
        before = chain
        _draw_chain(axes, chain)
        row = chain.iloc[0]
        title = _TITLES[pose].format(lift=1e3 * row["lift_m"], time=row["time_s"])
        axes.text(_X[0], _Z[1], title, fontsize=7, va="top", in_layout=False)
        if pose in velocities:
            _draw_velocity(axes, chain.iloc[-1], velocities[pose])
    origin = np.array([0.16, -0.12])
    for along, name in (((0.14, 0.0), "$x$"), ((0.0, 0.14), "$z$")):
        pen.arrow(panels[0], origin, origin + along)
        pen.say(panels[0], origin + along, name, (2, 2))
    return figure


def _draw_chain(axes: Axes, chain: pd.DataFrame) -> None:
    """The arm from base to tip, outermost link below, with numbers on the joints that turn."""
    points, width = chain[["x_m", "z_m"]].to_numpy(), chain["half_width_m"].iloc[1]
    axes.fill_between([-0.13, 0.13], _Z[0], 0.0, fc=_BASE, ec="none", zorder=2.4)
    shoulder = points[1, 1]
    axes.fill_between([-width, width], 0.0, shoulder, fc=_LINK, ec=_EDGE, lw=0.5, zorder=2.5)
    _draw_links(axes, chain.iloc[-2:], facecolor=_PROBE, edgecolor=_EDGE, lw=0.5, zorder=3)
    _draw_links(axes, chain.iloc[1:-1], facecolor=_LINK, edgecolor=_EDGE, lw=0.5, zorder=4)
    axes.add_patch(Circle((points[-1, 0], points[-1, 1] + 0.012), 0.012, color=_PROBE, zorder=5))
    for _, joint in chain[chain["label"].isin(_TURNING)].iterrows():
        at = joint["x_m"], joint["z_m"]
        axes.add_patch(Circle(at, 0.028, facecolor="white", edgecolor=_EDGE, lw=0.7, zorder=6))
        number = joint["label"].removeprefix("joint ")
        pen.say(axes, at, number, fontsize=5.5, va="center_baseline", path_effects=[])


def _draw_links(axes: Axes, chain: pd.DataFrame, **look: Any) -> None:
    """Links with round ends between the points of a chain, the outermost below."""
    points, widths = chain[["x_m", "z_m"]].to_numpy(), chain["half_width_m"].to_numpy()
    for k in range(len(points) - 1, 0, -1):
        x, z = points[k] - points[k - 1]
        rounded = f"round,pad={widths[k]},rounding_size={widths[k]}"
        placed = Affine2D().rotate(np.arctan2(z, x)).translate(*points[k - 1])
        link = FancyBboxPatch((0.0, 0.0), np.hypot(x, z), 0.0, rounded, **look)
        link.set_transform(placed + axes.transData)
        axes.add_patch(link)


def _draw_velocity(axes: Axes, tip: pd.Series, velocity: pd.Series) -> None:
    """The tip's velocity: it ends at the tip before the impact, and starts there after it."""
    vector = _ARROW * np.array([velocity["x_m"], velocity["z_m"]])
    at = np.array([tip["x_m"], tip["z_m"]])
    if velocity["z_m"] < 0.0:
        start, shift = at + np.array([0.06, 0.0]) - vector, (2, 0)
        text = rf"$|v_z^-|$ = {-velocity['z_m']:.2f} m/s"
    else:
        start, shift = at + np.array([0.04, 0.02]), (3, 3)
        text = rf"$v_x^+$ = {velocity['x_m']:.2f} m/s"
    pen.arrow(axes, start, start + vector, style.LINE, 1.2)
    pen.say(axes, start, text, shift, style.LINE, **_LEFT)
