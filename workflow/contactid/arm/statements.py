"""Statements of the arm paper that have no number: when each holds, and a case in which it doesn't.

Every statement is a function of what it speaks of, with a stored case beside it that it must refuse. Cases of the
two-mass models are of Table I but for the damping that a comment names, and made by :mod:`contactid.arm.simulate`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contactid.arm.artefacts.left_out import HALF_DIGIT
from contactid.arm.rigid.postures import PLANE_JOINTS
from contactid.arm.simulate.two_mass import EARLY, IMPACT, RE_IMPACT, SEPARATION, SETTLED
from contactid.output.comparison import SCALES

Pairs = Sequence[tuple[float, float]]
Events = Sequence[tuple[str, float]]  # kind, s since the impact

FAST_FROM, FAST_TO, SLOW_TO = 0.12, 0.14, 0.21  # s, section IV
_NOTABLY = 2.0  # times as much as the least of the others
_AGREES = 0.1  # of a velocity that a figure of recordings shows
WINDOW_MS = 150.0  # that section V fits

#: Two rows (v_x-, v_z-, v_x+) in m/s that no scalar r has: it is 0.5 and 0.6.
TWO_RATIOS = ((0.0, -0.1, 0.05), (0.0, -0.1, 0.06))
#: Labels and directions in deg, of which the flattest label falls steepest.
EXCHANGED_LABELS = ((30, 90.0), (60, 70.0), (90, 53.0))
#: Models A and B at d_env = 1e6: distance of a signal from B's, see :func:`same`.
FAR_FROM_B = {"x1_m": 0.025, "x2_m": 0.029, "v1_m_s": 0.32, "v2_m_s": 0.11}
#: At d_env = 1e7: the mean velocity of m1 in the first 10 ms, less model B's, as a share of the jump.
OTHER_AVERAGE = 0.17
#: At d_env = 1e7: time (s) and velocity of m1 less model B's, as a share of its range.
SLOW_BOUNCES = ((0.1300, 0.36), (0.1413, -0.23))
#: At d_rob = 100: when v2 has settled, s.
SETTLED_EARLY = 0.1988
#: At d_rob = 60: departure of v2 from the rigid velocity, 100 ms after the impact and later, at most.
LATE_DEPARTURE = 0.0498
#: At d_rob = 60 and 400: settling times of v2 in model B, ms.
OTHER_SETTLING = {"d_rob=60": 125.4, "d_rob=400": 51.5}
#: At d_rob = 150: departures of v2 from the rigid velocity, every 8 ms.
ONE_SWING = (2.45, 0.29, -0.30, -0.31, -0.19, -0.087, -0.030, -0.005, 0.002, 0.003, 0.002)
#: At d_env = 1e9.
NO_BOUNCE = ((IMPACT, 0.0), (SEPARATION, 0.03242), (RE_IMPACT, 0.04741))
#: Table I.
BOUNCE = ((IMPACT, 0.0), (SEPARATION, 0.00257), (RE_IMPACT, 0.0044), (SEPARATION, 0.03202), (RE_IMPACT, 0.04678))
#: At d_env = 3e7 and at Table I's: rms distance of v1 from model B's, m/s.
FARTHER = (0.475, 0.251)
#: At d_env = 1e7: speed of separation over that of the impact.
REBOUND = 0.645
#: Tangent stiffness of a contact, and stiffness of the coupling, N/m.
SOFT_CONTACT = (5e3, 1e4)
#: At d_rob = 60: the fit's error of the velocity after the impact, as a share of the rigid one.
OFF_THE_MAP = 0.035
#: At d_rob = 40: rms of the fit's residuals as a share of the velocity's range.
MORE_THAN_ONE_MODE = 0.043
#: At d_rob = 80 and 60: settling time in ms, and the fit's error in %.
NOT_SIMILAR = ((94.1, 0.1), (107.3, 3.5))
#: By eq. 5, rad/s of joints 1 to 7: a vertical impact at 0.2 m/s of the arm at 90 deg with joint 3 turned by 1 rad.
OUT_OF_THE_PLANE = (0.073, 0.028, 0.450, 0.012, 0.141, 0.032, 0.163)
#: v_x- in place of the fit, and v_x+ by the map, of rows of Table II at 0.2 m/s.
NO_IMPACT = ((0.108, 0.223), (0.086, 0.190))


def ratio_intervals(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """(k, 2) least and largest r with ``vx+ = vx- + r |vz-|``, as rounding of each row (vx-, vz-, vx+), m/s, leaves it.

    For rows in which the tip gets faster by more than their rounding.
    """
    before, fall, after = np.array(rows, dtype=float).T
    fall, gain = np.abs(fall), after - before
    return np.column_stack(
        [(gain - 2.0 * HALF_DIGIT) / (fall + HALF_DIGIT), (gain + 2.0 * HALF_DIGIT) / (fall - HALF_DIGIT)]
    )


def has_common_ratio(rows: Sequence[Sequence[float]]) -> bool:
    """Whether one scalar r is in the :func:`ratio_intervals` of all rows."""
    least, most = ratio_intervals(rows).T
    return bool(least.max() <= most.min())


def labels_in_order(rows: Pairs) -> bool:
    """Whether rows with a larger label fall steeper on average; (label, direction) in deg."""
    label, direction = np.array(rows, dtype=float).T
    means = [direction[label == one].mean() for one in np.unique(label)]
    return bool((np.diff(means) > 0.0).all())


def bounces_first(events: Events) -> bool:
    """Whether the bodies part within 10 ms of their impact, and are together in the end."""
    return any(kind == SEPARATION and after <= EARLY for kind, after in events) and events[-1][0] != SEPARATION


def no_early_bounce(events: Events) -> bool:
    """Whether the bodies stay together for 10 ms."""
    return not any(kind == SEPARATION and after <= EARLY for kind, after in events)


def no_bounce(events: Events) -> bool:
    """Whether the bodies stay together."""
    return not any(kind == SEPARATION for kind, _ in events)


def closer(distances: tuple[float, float]) -> bool:
    """Whether the first distance is the smaller one."""
    return distances[0] < distances[1]


def same(share: float) -> bool:
    """Whether a distance, as a share of the range or of the jump that it is seen against, is within 2 %."""
    return abs(share) <= SETTLED


def fast_part_is_within(curve: Pairs) -> bool:
    """Whether (time in s, share) leaves the band of 2 % between 0.12 and 0.14 s, and only there."""
    time, share = np.array(curve, dtype=float).T
    left = time[np.abs(share) > SETTLED]
    return bool(len(left) and left.min() >= FAST_FROM and left.max() <= FAST_TO)


def lasts(time: float) -> bool:
    """Whether a motion settles later than 0.21 s."""
    return time > SLOW_TO


def swings_twice(departure: Sequence[float]) -> bool:
    """Whether a departure changes its side of the band of 2 % at least twice: a lightly damped response."""
    values = np.array(departure, dtype=float)
    sides = np.sign(values[np.abs(values) > SETTLED])
    return bool(np.count_nonzero(np.diff(sides)) >= 2)


def almost_inelastic(restitution: float) -> bool:
    """Whether a reader would still call the rebound zero."""
    return restitution <= SCALES["1"]


def stiffer(stiffness: tuple[float, float]) -> bool:
    """Whether the first stiffness is the larger one."""
    return stiffness[0] > stiffness[1]


def similar(settings: Pairs) -> bool:
    """Whether every (settling time in ms, fit error in %) that settles within the window is fitted to 2 %."""
    return all(abs(error) <= 100.0 * SETTLED for settling, error in settings if settling <= WINDOW_MS)


def only_the_plane_moves(change: Sequence[float]) -> bool:
    """Whether joints 2, 4 and 6 each change (n,), rad/s, by more than twice what any other joint does."""
    plane = np.isin(np.arange(len(change)), PLANE_JOINTS)
    size = np.abs(np.array(change, dtype=float))
    return bool(size[plane].min() > _NOTABLY * size[~plane].max())


def fits_meet_the_map(velocities: Pairs) -> bool:
    """Whether every (fitted, predicted) velocity, m/s, agrees to a tenth."""
    return all(abs(fitted - predicted) <= _AGREES * abs(predicted) for fitted, predicted in velocities)
