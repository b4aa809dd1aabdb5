"""The paper's impacts by every published model of its arm, with and without motors, and which print
refuses which.

All stand in the stated postures, in which the described links have the printed r. A robot is the
links of a model with its motors' inertia B added: none; as identified; or ``B / (1 + K)``, as
torque control with gain K makes it. K is fitted to the printed fits of v_x+. The composite rigid
body has its joints locked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import f as f_distribution

from contactid.arm.artefacts.left_out import ratio_intervals
from contactid.arm.rigid.impact_map import mobility
from contactid.arm.rigid.postures import (
    PLANE_JOINTS,
    STATED_POSTURES,
    fitted_ratio,
    nearest_direction,
    stated_posture,
    upright_postures,
)
from contactid.arm.rigid.printed_table import LABELS, copied_rows, printed_table
from contactid.arm.rigid.published_arms import (
    JUBIEN,
    mass_matrix,
    motors_of,
    parameters_of,
    published_arms,
    rigid_body_mobility,
)
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.output.tables import read_csv

DESCRIBED, CORRECTED = "described", "corrected"
NO_MOTORS, REDUCED, MOTORS, ONE_BODY = "links alone", "reduced motors", "motors", "one rigid body"
_JOINT_3 = 2
# even in the logarithm, and zero for links alone
_SHARES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 161)])  # of B, that 1 / (1 + K) may be
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Place:
    """The links of a model in a posture.

    Attributes
    ----------
    mass, motors : M and B (n, n), kg m2
    jacobian : (3, n) of the tip, m
    one_body : (3, 3) W of the tip where the joints are locked, 1/kg; None for links without masses
    """

    mass: np.ndarray
    motors: np.ndarray
    jacobian: np.ndarray
    one_body: np.ndarray | None

    @staticmethod
    def of(robot: Robot, model: str, parameters: np.ndarray, q: np.ndarray) -> Place:
        """A model in joint positions q (n,), rad."""
        one_body = None if model == JUBIEN else rigid_body_mobility(robot, parameters, q)
        motors = np.diag(motors_of(model))
        return Place(mass_matrix(robot, parameters, q), motors, robot.tip_jacobian(q), one_body)

    def mobility(self, share: float) -> np.ndarray:
        """W (3, 3), 1/kg, with a share of the motors; NaN stands for locked joints."""
        if np.isnan(share) and self.one_body is not None:
            return self.one_body
        return mobility(self.mass + share * self.motors, self.jacobian)

    def ratio(self, share: float) -> float:
        """R with a share of the motors."""
        w = self.mobility(share)
        return float(w[0, 2] / w[2, 2])

    def impact(self, share: float) -> dict[str, float]:
        """What an inelastic impact does to the tip, and by eq. 5 to the joints."""
        w = self.mobility(share)
        found = {
            "ratio": w[0, 2] / w[2, 2],
            "effective_mass_kg": 1.0 / w[2, 2],
            "lateral": w[1, 2] / w[2, 2],
            "joint_3": np.nan,
            "joint_3_share": np.nan,
        }
        if not np.isnan(share):
            # eq. 5's jump of the joints for each m/s that the tip loses
            jump = np.abs(
                np.linalg.solve(self.mass + share * self.motors, self.jacobian[2]) / w[2, 2]
            )
            largest = jump[list(PLANE_JOINTS)].max()
            found |= {"joint_3": jump[_JOINT_3], "joint_3_share": jump[_JOINT_3] / largest}
        return found


def robots(
    links: str, corrections: str, published_links: str, robot: Mapping[str, Any], published: str
) -> dict[str, pd.DataFrame]:
    """Tables ``ext_robots`` and ``ext_robots_rows``."""
    described = load_robot(links, **robot)
    models = {
        DESCRIBED: parameters_of(described),
        CORRECTED: parameters_of(load_robot(links, **robot, corrections=corrections)),
        **published_arms(published_links),
    }
    rows = rows_of_print(printed_table(read_csv(published)))
    table = robot_table(described, models, rows)
    return {
        "tables/ext_robots": table,
        "tables/ext_robots_rows": row_table(table, upright_ranges(described, models, table), rows),
    }


def rows_of_print(printed: pd.DataFrame) -> pd.DataFrame:
    """Table II without copies, with ``direction_deg``, and ``ratio_least, ratio_most`` that
    rounding leaves the map.
    """
    rows = pd.concat([printed, ratio_intervals(printed)], axis=1)[~copied_rows(printed)]
    direction = nearest_direction(rows["vx_minus"], rows["vz_minus"])
    return rows.assign(direction_deg=direction).reset_index(drop=True)


def robot_table(robot: Robot, models: Mapping[str, np.ndarray], rows: pd.DataFrame) -> pd.DataFrame:
    """``ext_robots``: one row per links, motors and direction.

    ``motor_share`` of the identified inertia, with the interval ``share_low, share_high``;
    ``ratio`` r; ``effective_mass_kg``; ``lateral``, W_yz / W_zz; ``joint_3``, its jump over the
    speed that the tip loses, rad/m, and ``joint_3_share`` of the largest jump of joints 2, 4 and 6;
    ``ratio_map, ratio_fit``, r that the printed map and fits have; ``map_error, fit_error``, mean
    sizes of the errors of v_x+ against them, m/s, and ``fit_error_of_all`` directions; ``rows``,
    and ``map_agrees``, in how many v_x+ is as near to the map as the described arm's furthest.
    """
    impacts = []
    for model, parameters in models.items():
        places = {
            direction: Place.of(robot, model, parameters, stated_posture(direction, robot.model.nq))
            for direction in STATED_POSTURES
        }
        motors = {
            NO_MOTORS: (0.0, 0.0, 0.0),
            REDUCED: fitted_share(places, rows),
            MOTORS: (1.0, 1.0, 1.0),
        }
        if model != JUBIEN:
            motors[ONE_BODY] = (np.nan, np.nan, np.nan)
        for name, (share, low, high) in motors.items():
            labels = {
                "links": model,
                "motors": name,
                "motor_share": share,
                "share_low": low,
                "share_high": high,
            }
            for direction, place in places.items():
                impacts.append(labels | {"direction_deg": direction} | place.impact(share))
    table = pd.DataFrame(impacts)
    against = _against_print(table, rows)
    of_robot = against.groupby("place")
    found = table.assign(
        ratio_map=table["direction_deg"].map(_fitted_ratios(rows, "vx_plus_map")),
        ratio_fit=table["direction_deg"].map(_fitted_ratios(rows, "vx_plus_fit")),
        map_error=of_robot["map_off"].mean(),
        fit_error=of_robot["fit_off"].mean(),
        rows=of_robot.size(),
        map_agrees=of_robot["agrees"].sum(),
    )
    of_all = against.groupby(["links", "motors"])["fit_off"].mean().rename("fit_error_of_all")
    return found.join(of_all, on=["links", "motors"])


def _fitted_ratios(rows: pd.DataFrame, after: str) -> dict[Any, float]:
    """r by direction that the column ``after`` of the printed v_x+ has."""
    return {
        direction: fitted_ratio(*here[["vx_minus", "vz_minus", after]].to_numpy().T)
        for direction, here in rows.groupby("direction_deg")
    }


def _against_print(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Every robot of ``ext_robots`` in each printed row of its direction.

    ``map_off, fit_off``, m/s, sizes of the errors of v_x+; ``agrees`` with the map within
    ``tolerance``, the largest error of the paper's arm in that direction. The stated postures were
    fitted with that arm, one a direction, so this is what no posture explains.
    """
    found = table.reset_index(names="place").merge(
        rows.reset_index(names="row"), on="direction_deg"
    )
    ours = found["vx_minus"] + found["ratio"] * found["vz_minus"].abs()
    found["map_off"] = (ours - found["vx_plus_map"]).abs()
    found["fit_off"] = (ours - found["vx_plus_fit"]).abs()
    own = found[_is_the_paper_s(found)].groupby("direction_deg")["map_off"].max()
    tolerance = found["direction_deg"].map(own)
    return found.assign(tolerance=tolerance, agrees=found["map_off"] <= tolerance)


def fitted_share(places: Mapping[int, Place], rows: pd.DataFrame) -> tuple[float, float, float]:
    """1 / (1 + K) that meets the printed fits of v_x+ best, and the ends of its interval of 95 % (F
    test), 0 to 1.
    """
    # (shares, rows) m/s
    errors = np.zeros((len(_SHARES), len(rows)))
    for direction, place in places.items():
        here = (rows["direction_deg"] == direction).to_numpy()
        ratios = np.array([place.ratio(share) for share in _SHARES])
        errors[:, here] = (
            predicted(rows[here], ratios[:, None]) - rows.loc[here, "vx_plus_fit"].to_numpy()
        )
    squares = (errors**2).sum(axis=1)
    # one number is fitted
    freedom = len(rows) - 1
    # shares whose squares an F test doesn't tell from the least
    held = squares <= squares.min() * (1.0 + f_distribution.ppf(_CONFIDENCE, 1, freedom) / freedom)
    return float(_SHARES[squares.argmin()]), float(_SHARES[held].min()), float(_SHARES[held].max())


def predicted(rows: pd.DataFrame, ratio: np.ndarray | float) -> np.ndarray:
    """v_x+ in m/s of rows by r."""
    return rows["vx_minus"].to_numpy() + ratio * rows["vz_minus"].abs().to_numpy()


def _is_the_paper_s(table: pd.DataFrame) -> pd.Series:
    """The described links alone, also where K is fitted and leaves no motors."""
    return (table["links"] == DESCRIBED) & (table["motor_share"] == 0.0)


def upright_ranges(
    robot: Robot, models: Mapping[str, np.ndarray], table: pd.DataFrame
) -> dict[tuple[str, str], tuple[float, float]]:
    """Least and largest r in any upright posture on the table, by links and motors of the rows of
    ``ext_robots``.
    """
    # postures are geometry: the same for all models
    upright = upright_postures(robot).joint_position
    ranges = {}
    for model, parameters in models.items():
        places = [Place.of(robot, model, parameters, q) for q in upright]
        shares = (
            table[table["links"] == model]
            .drop_duplicates("motors")
            .set_index("motors")["motor_share"]
        )
        for motors, share in shares.items():
            ratios = [place.ratio(share) for place in places]
            ranges[model, str(motors)] = (min(ratios), max(ratios))
    return ranges


def row_table(
    table: pd.DataFrame, ranges: Mapping[tuple[str, str], tuple[float, float]], rows: pd.DataFrame
) -> pd.DataFrame:
    """``ext_robots_rows``: one row per printed row that is no copy: which other robots could it be?

    Of ``robots``, all but the described links without motors, ``stated`` are within
    ``tolerance_m_s`` of the printed map in the stated posture. ``upright``: in some upright posture
    on the table they have an r that the row's rounding leaves.
    """
    against = _against_print(table, rows)
    others = against[~_is_the_paper_s(against)]
    spans = np.array([ranges[key] for key in zip(others["links"], others["motors"], strict=True)])
    # the range of r in upright postures meets the row's interval
    could = (spans[:, 0] <= others["ratio_most"]) & (spans[:, 1] >= others["ratio_least"])
    of_row = others.assign(could=could).groupby("row")
    counts = of_row.agg(
        tolerance_m_s=("tolerance", "first"),
        robots=("agrees", "size"),
        stated=("agrees", "sum"),
        upright=("could", "sum"),
    )
    return rows[[*LABELS, "direction_deg"]].join(counts)
