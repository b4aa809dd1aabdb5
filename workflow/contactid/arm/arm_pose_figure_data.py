"""Data of figure 1: the arm as links in the plane of its motion, at rest, approaching, at the impact and sliding.

The paper shows four photographs of a vertical impact at 0.2 m/s. The drawing has the same four moments, from the link
table and the posture that reproduces the printed sliding velocity. The height from which the arm starts isn't printed;
it is assumed. The last pose has the tip where the velocity of the impact map takes it within half a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.impact_map import impact_map
from contactid.arm.postures import TABLE_HEIGHT, joint_velocity, stated_posture, upright_posture
from contactid.arm.robots import Robot, load_robot

SPEED = 0.2  # m/s
_LIFTED = (("start", 0.25), ("approach", 0.10))  # pose and height of the tip above the table, m
_SLID = 0.5  # s after the impact, with the velocity right after it
# half-widths of the drawn outlines, m: housings of the base, arm and wrist, the flange, the probe
_WIDTHS = (0.075, 0.065, 0.06, 0.06, 0.055, 0.05, 0.045, 0.03)
_PROBE_WIDTH = 0.009
POSES = ("start", "approach", "impact", "sliding")
_LABELS = ("joint 1", "joint 2", "joint 3", "joint 4", "joint 5", "joint 6", "joint 7")


def arm_figure(robot: Mapping[str, Any]) -> pd.DataFrame:
    """``fig01_arm``: one row per drawn point.

    Returns
    -------
    DataFrame with pose, kind (``link``: point of the chain from base to tip; ``velocity``: tip velocity before and
    after, m/s), order, x_m, z_m, half_width_m (of the link that ends there), label, time_s (since the impact), lift_m.
    """
    arm, rows = load_robot(**robot), []
    for pose, (q, time, lift) in _poses(arm).items():
        rows += _chain(arm, pose, q, time, lift)
    q = stated_posture(90, arm.model.nq)
    before = joint_velocity(arm, q, 0.0, -SPEED)
    jacobian = arm.tip_jacobian(q)
    after = impact_map(arm.mass_matrix(q), jacobian[2], before)
    for pose, velocity in (("impact", before), ("sliding", after)):
        tip = jacobian @ velocity
        rows.append((pose, "velocity", 0, *np.round(tip[[0, 2]], 9), np.nan, "", 0.0, 0.0))
    columns = ["pose", "kind", "order", "x_m", "z_m", "half_width_m", "label", "time_s", "lift_m"]
    return pd.DataFrame(rows, columns=columns)


def _poses(robot: Robot) -> Mapping[str, tuple[np.ndarray, float, float]]:
    """Joint positions (n,) in rad, time since the impact in s, and the tip's height in m, by pose."""
    at = stated_posture(90, robot.model.nq)
    tip = robot.tip_position(at)
    poses = {}
    for pose, lift in _LIFTED:
        poses[pose] = (upright_posture(robot, tip[0], TABLE_HEIGHT + lift, at), -lift / SPEED, lift)
    poses["impact"] = (at, 0.0, 0.0)
    before = joint_velocity(robot, at, 0.0, -SPEED)
    jacobian = robot.tip_jacobian(at)
    slide = float(jacobian[0] @ impact_map(robot.mass_matrix(at), jacobian[2], before))
    poses["sliding"] = (upright_posture(robot, tip[0] + _SLID * slide, TABLE_HEIGHT, at), _SLID, 0.0)
    return poses


def _chain(robot: Robot, pose: str, q: np.ndarray, time: float, lift: float) -> list[tuple]:
    joints = robot.joint_placements(q)
    points = [np.zeros(3), *joints, robot.tip_position(q)]
    widths = [np.nan, *_WIDTHS[: len(joints)], _PROBE_WIDTH]
    labels = ["base", *_LABELS[: len(joints)], "tip"]
    return [
        (pose, "link", k, *np.round(point[[0, 2]], 9), width, label, time, lift)
        for k, (point, width, label) in enumerate(zip(points, widths, labels, strict=True))
    ]
