"""Every row of Table II predicted from the others of its set and direction, with the described arm
and with others.

The posture behind a group of rows isn't printed, so r is fitted: to the other rows of the group,
copies left out. Arms with the same joints but random masses and inertias are asked for the same.
Where such an arm has a posture with that r it predicts the same velocity, and then the printed one
doesn't tell the arms apart.

Beside them stands the r that rounding leaves each row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.artefacts.postures import PER_SET_AND_ANGLE, groups
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import (
    UprightPostures,
    fitted_ratio,
    joint_velocity,
    nearest_posture,
    ratio_at,
)
from contactid.arm.rigid.printed_table import LABELS, copied_rows, original_rows
from contactid.arm.rigid.robot import Robot, build_robot, random_inertias

DESCRIBED = "described"
RANDOM_ARMS = 5  # with the seeds 1 to 5
HALF_DIGIT = 0.0005  # m/s, of the printed velocities
_DECIMALS = 12


def arms(described: Robot, settings: Mapping[str, Any]) -> dict[str, Robot]:
    """The described arm and those of random inertia, by name; ``settings`` is the block ``arm:
    robot``.
    """
    found = {DESCRIBED: described}
    for seed in range(1, RANDOM_ARMS + 1):
        found[f"random_arm_{seed}"] = build_robot(
            random_inertias(described.links, seed), **settings
        )
    return found


def left_out_table(
    robots: Mapping[str, Robot], printed: pd.DataFrame, upright: UprightPostures
) -> pd.DataFrame:
    """``ext_left_out``: one row per robot and printed row that has others in its group; velocities
    in m/s.

    ``upright`` are the postures of any of the robots, which have the same joints.

    Columns: the labels, direction_deg, robot, others (how many rows r is fitted to), ratio_others
    (the r that they ask for), ratio (that of the posture found), vx_plus_map (as printed),
    vx_plus_map_ours and vz_plus_map_ours (by eq. 5), mean_of_others (of their vx_plus_map),
    rounding_m_s (how far rounding of the row and of the others can bring the prediction from the
    printed number); ratio_least, ratio_most (:func:`ratio_intervals`) and vx_plus_fit (as printed),
    all of them NaN for a copied row.
    """
    rows = list(_left_out(printed))
    found = []
    for name, robot in robots.items():
        # postures are geometry, r depends on the robot's masses
        ratio = np.array([ratio_at(robot, q) for q in upright.joint_position])
        family = UprightPostures(upright.x, upright.joint_position, ratio)
        for k, row in rows:
            q = nearest_posture(family, row["ratio_others"])
            jacobian = robot.tip_jacobian(q)
            before = joint_velocity(
                robot, q, printed["vx_minus"].iloc[k], printed["vz_minus"].iloc[k]
            )
            after = jacobian @ impact_map(robot.mass_matrix(q), jacobian[2], before)
            ours = {
                "robot": name,
                "ratio": ratio_at(robot, q),
                "vx_plus_map_ours": after[0],
                "vz_plus_map_ours": after[2].round(_DECIMALS) + 0.0,  # what is left is rounding
            }
            found.append(row | ours)
    return pd.DataFrame(found)


def _left_out(printed: pd.DataFrame) -> Iterator[tuple[int, dict[str, Any]]]:
    """Printed rows and what the others of their group say of them."""
    original, copied = original_rows(printed), copied_rows(printed)
    more = pd.concat([ratio_intervals(printed), printed["vx_plus_fit"]], axis=1)
    more[copied] = np.nan
    before, fall = printed["vx_minus"].to_numpy(), printed["vz_minus"].abs().to_numpy()
    after = printed["vx_plus_map"].to_numpy()
    for _, direction, members in groups(printed, PER_SET_AND_ANGLE):
        once = members[~copied[members]]
        of_all = fitted_ratio(before[once], fall[once], after[once])
        for k in members:
            # neither the row itself nor what it copies
            others = once[once != original[k]]
            if not len(others):
                continue
            ratio = fitted_ratio(before[others], fall[others], after[others])
            rounding = min(_rounding(fall, k, others, ratio), _rounding(fall, k, once, of_all))
            row = printed.loc[k, [*LABELS, "vx_plus_map"]].to_dict()
            yield (
                k,
                row
                | {
                    "dataset": int(row["dataset"]),
                    "angle_deg": int(row["angle_deg"]),
                    "direction_deg": direction,
                    "others": len(others),
                    "ratio_others": ratio,
                    "mean_of_others": after[others].mean(),
                    "rounding_m_s": rounding,
                }
                | more.loc[k].to_dict(),
            )


def _rounding(fall: np.ndarray, row: int, used: np.ndarray, ratio: float) -> float:
    """How far rounding alone can bring the prediction of a row from the printed one, m/s.

    A printed row obeys ``vx+ = vx- + r |vz-|`` up to ``e = (2 + r) half a digit``. Least squares
    over the rows ``used`` brings their ``e`` into r, and r brings it into the row.
    """
    # m/s, both velocities and the fall rounded
    off = HALF_DIGIT * (2.0 + abs(ratio))
    return float(off * (1.0 + fall[row] * fall[used].sum() / (fall[used] @ fall[used])))


def ratio_intervals(printed: pd.DataFrame) -> pd.DataFrame:
    """``ratio_least, ratio_most``: between them is ``r = (vx+ - vx-) / |vz-|`` of a row as far as
    its rounding goes.

    For rows in which the tip gets faster by more than their rounding.
    """
    fall, gain = printed["vz_minus"].abs(), printed["vx_plus_map"] - printed["vx_minus"]
    # gain is the difference of two rounded numbers, the fall is one
    least = (gain - 2.0 * HALF_DIGIT) / (fall + HALF_DIGIT)
    most = (gain + 2.0 * HALF_DIGIT) / (fall - HALF_DIGIT)
    return pd.DataFrame({"ratio_least": least, "ratio_most": most})
