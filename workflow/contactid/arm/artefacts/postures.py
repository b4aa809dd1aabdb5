"""Postures behind Table II: r fitted to its rows, the posture that has it, how well the rows are
met, how firmly.

Two rules share rows out: one posture per direction of the motion (three), and one per set and
direction (six). The ``stated`` postures are three given ones, rounded to 0.01 deg, for comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.rigid.impact_map import impact_map, mobility
from contactid.arm.rigid.postures import (
    PLANE_JOINTS,
    STATED_POSTURES,
    UprightPostures,
    fitted_ratio,
    joint_velocity,
    nearest_direction,
    nearest_posture,
    ratio_at,
    stated_posture,
    tilt_of_ratio,
    upright_postures,
)
from contactid.arm.rigid.printed_table import copied_rows, printed_table
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.output.tables import read_csv

PER_ANGLE, PER_SET_AND_ANGLE, STATED = "per_angle", "per_set_and_angle", "stated"
RULES = (PER_ANGLE, PER_SET_AND_ANGLE)


def postures(
    links: str, corrections: str, robot: Mapping[str, Any], published: str
) -> dict[str, pd.DataFrame]:
    """Postures of the described arm and of the one that the table of divisors corrects."""
    robots = {
        "described": load_robot(links, **robot),
        "corrected": load_robot(links, **robot, corrections=corrections),
    }
    return {"tables/ext_postures": posture_table(robots, printed_table(read_csv(published)))}


@dataclass(frozen=True)
class RowPosture:
    """A posture and the rows that it belongs to.

    Attributes
    ----------
    rows : (k,) of the printed table
    dataset : 0 where it is for both
    direction : 90, 70 or 53 deg
    fitted : r that the rows ask for; NaN for a stated posture
    joint_position : (n,) rad; None where no upright posture has this r
    """

    rows: np.ndarray
    dataset: int
    direction: int
    fitted: float
    joint_position: np.ndarray | None


def row_postures(
    robot: Robot, printed: pd.DataFrame, rule: str, upright: UprightPostures
) -> list[RowPosture]:
    """The postures of a rule; r by least squares over a group's rows, copies of other rows left
    out.
    """
    copied, found = copied_rows(printed), []
    for dataset, direction, rows in groups(printed, rule):
        if rule == STATED:
            found.append(
                RowPosture(
                    rows, dataset, direction, np.nan, stated_posture(direction, robot.model.nq)
                )
            )
            continue
        ratio = ratio_of_rows(printed, rows[~copied[rows]])
        # where none has this r, a row without a posture
        found_one = upright.ratio[0] <= ratio <= upright.ratio[upright.largest]
        posture = nearest_posture(upright, ratio) if found_one else None
        found.append(RowPosture(rows, dataset, direction, ratio, posture))
    return found


def ratio_of_rows(printed: pd.DataFrame, rows: np.ndarray) -> float:
    """r that the printed predictions of some rows ask for."""
    columns = ("vx_minus", "vz_minus", "vx_plus_map")
    return fitted_ratio(*(printed[name].to_numpy()[rows] for name in columns))


def row_impacts(
    robot: Robot, printed: pd.DataFrame, postures: list[RowPosture]
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Row, mass matrix, tip Jacobian and joint velocity before the impact, of every row that has a
    posture.
    """
    for group in postures:
        q = group.joint_position
        if q is None:
            continue
        mass, jacobian = robot.mass_matrix(q), robot.tip_jacobian(q)
        for k in group.rows:
            before = joint_velocity(
                robot, q, printed["vx_minus"].iloc[k], printed["vz_minus"].iloc[k]
            )
            yield int(k), mass, jacobian, before


def predictions(robot: Robot, printed: pd.DataFrame, postures: list[RowPosture]) -> np.ndarray:
    """(rows, 3) tip velocity (m/s) that eq. 5 gives for every printed v-; NaN without a posture."""
    predicted = np.full((len(printed), 3), np.nan)
    for k, mass, jacobian, before in row_impacts(robot, printed, postures):
        predicted[k] = jacobian @ impact_map(mass, jacobian[2], before)
    return predicted


def posture_table(robots: Mapping[str, Robot], printed: pd.DataFrame) -> pd.DataFrame:
    """``ext_postures``: one row per inertia (the robots' keys), rule and group of rows.

    Columns inertia, posture_rule, dataset (0: both), direction_deg, rows, ratio_fitted,
    largest_ratio (of any upright posture), found, tilt_deg (of a probe that has the fitted r at the
    stated posture's place where no upright one does, its lower end forwards), q2_deg, q4_deg,
    q6_deg, tip_x_m, tip_z_m, ratio, effective_mass_kg (of the tip along the normal),
    vx_plus_max_error_mm_s (of the printed predictions).
    """
    rows = []
    for inertia, robot in robots.items():
        upright = upright_postures(robot)
        for rule in (STATED, *RULES):
            groups = row_postures(robot, printed, rule, upright)
            errors = 1e3 * (
                predictions(robot, printed, groups)[:, 0] - printed["vx_plus_map"].to_numpy()
            )
            rows += [_posture_row(robot, inertia, rule, group, upright, errors) for group in groups]
    return pd.DataFrame(rows)


def _posture_row(
    robot: Robot,
    inertia: str,
    rule: str,
    group: RowPosture,
    upright: UprightPostures,
    errors: np.ndarray,
) -> dict:
    q, mine = group.joint_position, errors[group.rows]
    row = {
        "inertia": inertia,
        "posture_rule": rule,
        "dataset": group.dataset,
        "direction_deg": group.direction,
        "rows": len(group.rows),
        "ratio_fitted": group.fitted,
        "largest_ratio": upright.ratio[upright.largest],
        "found": q is not None,
    }
    if q is not None:
        tip = robot.tip_position(q)
        # kg, 1 / (J M^-1 J^T)
        effective = 1.0 / mobility(robot.mass_matrix(q), robot.tip_jacobian(q)[2])[0, 0]
        q2, q4, q6 = np.rad2deg(q[list(PLANE_JOINTS)])
        row |= {
            "q2_deg": q2,
            "q4_deg": q4,
            "q6_deg": q6,
            "tip_x_m": tip[0],
            "tip_z_m": tip[2],
            "ratio": ratio_at(robot, q),
            "effective_mass_kg": effective,
        }
    else:
        row["tilt_deg"] = tilt_of_ratio(robot, group.direction, group.fitted)
    row["vx_plus_max_error_mm_s"] = float(np.abs(mine).max())
    return row


def groups(printed: pd.DataFrame, rule: str) -> Iterator[tuple[int, int, np.ndarray]]:
    """Dataset (0: both), direction in deg and rows of every group that shares a posture under a
    rule.
    """
    directions = nearest_direction(printed["vx_minus"], printed["vz_minus"])
    for dataset in sorted(printed["dataset"].unique()) if rule == PER_SET_AND_ANGLE else [0]:
        member = (
            np.ones(len(printed), bool)
            if dataset == 0
            else (printed["dataset"] == dataset).to_numpy()
        )
        for direction in STATED_POSTURES:
            rows = np.flatnonzero(member & (directions == direction))
            if len(rows):
                yield int(dataset), direction, rows
