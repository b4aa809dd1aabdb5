"""Impact postures of the arm: which ones have the printed predictions, and how firmly.

In an inelastic frictionless impact the tip's velocity along the table grows by ``r |v_z-|`` with
``r = W_xz / W_zz`` (:func:`contactid.arm.rigid.impact_map.sliding_ratio`). A posture matters for
the table through this one number. The paper prints no posture, so r is fitted to printed rows, and
a posture with that r is looked for among those that hold the probe upright on the table.
Predictions with such postures reproduce the printed ones; they don't predict anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from contactid.arm.rigid.impact_map import sliding_ratio
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError

TABLE_HEIGHT = -0.20  # m, of the table in the arm's base frame
PLANE_JOINTS = (1, 3, 5)  # q2, q4, q6 move the arm in the plane x-z
# of q2, q4, q6 (deg), by the direction (deg) of the motion against the table; all other joints at 0
STATED_POSTURES = {
    90: (-86.33, 70.33, -23.34),
    70: (-90.77, 56.24, -32.99),
    53: (-95.04, 44.64, -40.32),
}
_REACHED = 1e-13  # m and rad, misfit of a posture that counts as found
_MOST_STEPS = 30  # of Newton's method
_MOST_TILT = 5.0  # deg; nobody would call such a probe upright
_SCAN_STEP = 0.005  # m
_SCAN_FROM = 0.5537  # m, where the search starts: well inside the reach


def stated_posture(direction_deg: int, n_joints: int = 7) -> np.ndarray:
    """(n,) joint positions in rad of :data:`STATED_POSTURES` for the motion of a direction, 90, 70
    or 53.
    """
    return in_plane(np.deg2rad(STATED_POSTURES[direction_deg]), n_joints)


def direction_deg(v_x: ArrayLike, v_z: ArrayLike) -> np.ndarray:
    """Angle in deg of tip velocities against the table; 90 straight down, below 90 forwards and
    down.
    """
    return np.rad2deg(np.arctan2(-np.asarray(v_z), np.asarray(v_x)))


def nearest_direction(v_x: ArrayLike, v_z: ArrayLike) -> np.ndarray:
    """Which of the three directions (deg) tip velocities (m/s) before the impact have, roughly."""
    known = np.array(list(STATED_POSTURES))
    return known[np.abs(direction_deg(v_x, v_z)[..., None] - known).argmin(axis=-1)]


def fitted_ratio(vx_minus: np.ndarray, vz_minus: np.ndarray, vx_plus: np.ndarray) -> float:
    """r that minimises ``sum (vx_plus - vx_minus - r |vz_minus|)^2`` over rows (k,), m/s."""
    fall, gain = np.abs(vz_minus), np.asarray(vx_plus) - vx_minus
    # least squares through the origin
    return float(fall @ gain / (fall @ fall))


def in_plane(angles: np.ndarray, n_joints: int = 7) -> np.ndarray:
    """(n,) joint positions with q2, q4, q6 as given (3,) and zeros elsewhere, rad."""
    q = np.zeros(n_joints)
    q[list(PLANE_JOINTS)] = angles
    return q


def joint_velocity(robot: Robot, q: np.ndarray, v_x: float, v_z: float) -> np.ndarray:
    """(n,) rad/s of q2, q4, q6 that move the tip by (v_x, 0, v_z) m/s and keep the probe's
    orientation.

    Raises
    ------
    ContactIdError
        Where the posture can't do that.
    """
    if np.linalg.cond(_plane_rows(robot, q)) > 1e8:
        raise ContactIdError(
            "singular posture: the tip can't move both ways in the plane", "Bend the elbow"
        )
    return in_plane(plane_rates(robot, q, np.array([v_x, v_z, 0.0])), len(q))


def plane_rates(robot: Robot, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(3,) rates of q2, q4, q6 that move the tip by (v_x, v_z, omega_y), m/s and rad/s."""
    return np.linalg.solve(_plane_rows(robot, q), wanted)


def _plane_rows(robot: Robot, q: np.ndarray) -> np.ndarray:
    """(3, 3) of v_x, v_z and the turn about y by q2, q4, q6."""
    return robot.tip_twist_jacobian(q)[np.ix_((0, 2, 4), PLANE_JOINTS)]


@dataclass(frozen=True)
class UprightPostures:
    """The postures that hold the probe upright with its tip on the table, by the tip's x.

    Attributes
    ----------
    x : (k,) m, ascending
    joint_position : (k, n) rad
    ratio : (k,) r
    """

    x: np.ndarray
    joint_position: np.ndarray
    ratio: np.ndarray

    @property
    def largest(self) -> int:
        """Index of the largest r; r rises with x up to there."""
        return int(np.argmax(self.ratio))


def upright_posture(
    robot: Robot,
    x: float,
    height: float = TABLE_HEIGHT,
    start: np.ndarray | None = None,
    tilt: float = 0.0,
) -> np.ndarray:
    """(n,) joint positions in rad with the tip at (x, 0, height) m and the probe pointing straight
    down.

    ``start`` (n,), rad, selects the branch; the elbow-up posture of the vertical motion by default.
    ``tilt`` in rad turns the probe out of the vertical, its lower end forwards where it is
    positive.

    Raises
    ------
    ContactIdError
        Where the table can't be reached there within the joint limits.
    """
    q = np.array(stated_posture(90, robot.model.nq) if start is None else start, dtype=float)
    joints, (low, high) = list(PLANE_JOINTS), robot.position_limits.T
    for _ in range(_MOST_STEPS):
        place = robot.tip_position(q)
        # turning about y lessens the tilt
        missing = np.array([x - place[0], height - place[2], _tilt(robot, q) - tilt])
        if np.abs(missing).max() < _REACHED:
            if (q < low)[joints].any() or (q > high)[joints].any():
                break
            return q
        # Newton's step in the three planar joints
        q[joints] += plane_rates(robot, q, missing)
    raise ContactIdError(
        f"the arm doesn't reach x = {x:.3f} m, z = {height:.3f} m with an upright probe",
        "Choose a point closer to its base, but not below its shoulder",
    )


def upright_postures(robot: Robot, height: float = TABLE_HEIGHT) -> UprightPostures:
    """All upright postures of the elbow-up branch on a table of some height (m), with r, in steps
    of 5 mm of x.
    """
    rows: list[tuple[float, np.ndarray]] = []
    # from the start outwards, each solution the next one's start
    for sign in (-1.0, 1.0):
        q = stated_posture(90, robot.model.nq)
        for k in range(0 if sign > 0.0 else 1, 200):
            x = _SCAN_FROM + sign * k * _SCAN_STEP
            try:
                q = upright_posture(robot, x, height, q)
            except ContactIdError:
                break
            rows.append((x, q))
    rows.sort(key=lambda row: row[0])
    reached, found = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    return UprightPostures(reached, found, np.array([ratio_at(robot, q) for q in found]))


def tilt_of_ratio(robot: Robot, direction: int, ratio: float) -> float:
    """Tilt of the probe (deg) that has r with the tip where a direction's stated posture has it.

    The impulse turns a light wrist, so r follows the tilt.
    """
    near = stated_posture(direction, robot.model.nq)
    x, _, z = robot.tip_position(near)

    def off(tilt: float) -> float:
        return ratio_at(robot, upright_posture(robot, x, z, near, np.deg2rad(tilt))) - ratio

    return brentq(off, -_MOST_TILT, _MOST_TILT)


def nearest_posture(postures: UprightPostures, ratio: float) -> np.ndarray:
    """(n,) rad: the posture with the least x that has a given r, or else the one whose r is
    nearest.

    Between two neighbours, 5 mm apart, joints are interpolated, by which r is up to 2e-4 off.
    """
    off = postures.ratio - ratio
    # a change of sign between neighbours
    crossed = np.flatnonzero(off[1:] * off[:-1] <= 0.0)
    if not len(crossed):
        return postures.joint_position[np.abs(off).argmin()]
    k = crossed[0]
    share = off[k] / (off[k] - off[k + 1]) if off[k] else 0.0
    return (1.0 - share) * postures.joint_position[k] + share * postures.joint_position[k + 1]


def ratio_at(robot: Robot, q: np.ndarray) -> float:
    """R of a posture (n,) in rad."""
    return sliding_ratio(robot.mass_matrix(q), robot.tip_jacobian(q))


def _tilt(robot: Robot, q: np.ndarray) -> float:
    """Angle in rad of the probe against straight down, in the plane x-z."""
    probe = robot.tip_orientation(q)[:, 2]
    # zero where the probe's z points straight down
    return float(np.arctan2(probe[0], -probe[2]))
