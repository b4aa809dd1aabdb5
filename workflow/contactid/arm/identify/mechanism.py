"""The motion of an arm whose motors have friction, after its tip has hit a table.

The joints that move the tip in its plane, each a motor (inertia B) behind a spring (K) and a damper
(D, K times one time), friction at the motors (dry and viscous), links with a mass matrix M, a table:

``M(q) v' + C(q, v) v = -(K (q - theta) + D (v - w)) + J_N(q)^T lambda``, ``0 <= lambda`` and ``0 <=
gap`` with one of them zero,

``B w' = K (q - theta) + D (v - w) - F J_N^T - dry sign(w) - viscous w``,

q and v of the links, theta and w of the motors, F a force that presses the tip down. The impact
changes the links alone (eq. 3 of the arm paper, with a rebound). M and J_N change with the posture
to first order: within a tenth of a second the arm turns so far that both count.

Steps are semi-implicit: velocities first, friction as the proximal map of ``|w|``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from contactid.core.compiled import OPTIONS

STEP = 2.5e-4  # s, a hundredth of the fastest swing's period
# rad/s, so that a mechanism too stiff for the steps stays finite, and is no answer
_FASTEST = 1e3


@dataclass(frozen=True)
class Approach:
    """What is known of the k joints that move the tip in its plane, at the impact.

    Attributes
    ----------
    jacobian : (2, k) of the tip's x and z, m
    bend : (k, k) derivatives of its z's row by every joint, m/rad
    mass : (k, k) of the links, by the link table, kg m2
    mass_slope : (k, k, k) its derivative by every joint, the first axis, kg m2/rad
    velocity : (k,) before the impact, rad/s
    noise : of the positions, rad rms
    at_motors : whether encoders sit at the motors, which don't jump
    """

    jacobian: np.ndarray
    bend: np.ndarray
    mass: np.ndarray
    mass_slope: np.ndarray
    velocity: np.ndarray
    noise: float
    at_motors: bool


@dataclass(frozen=True)
class Mechanisms:
    """Parameters of p mechanisms with k joints, in units of the text above."""

    mass: np.ndarray  # (p, k, k)
    motor: np.ndarray  # (p, k)
    stiffness: np.ndarray  # (p, k)
    damping: np.ndarray  # (p, k)
    dry: np.ndarray  # (p, k)
    viscous: np.ndarray  # (p, k)
    pressing: np.ndarray  # (p, 1) N
    later: np.ndarray  # (p,) s, by which the impact is later than detected
    rebound: np.ndarray  # (p, 1) share of the normal velocity
    links_before: np.ndarray  # (p, k) rad/s, right before the impact
    motors_before: np.ndarray  # (p, k) rad/s


def simulated(all_of: Mechanisms, approach: Approach, duration: float) -> np.ndarray:
    """(p, n, 2, k) positions of links and motors since the impact, rad, every :data:`STEP`."""
    normal = approach.jacobian[1]
    blow = np.linalg.solve(all_of.mass, normal)
    # eq. 3 with a rebound: the links alone are stopped
    lost = (1.0 + all_of.rebound) * ((all_of.links_before @ normal) / (blow @ normal))[:, None]
    after = all_of.links_before - lost * blow
    drives = np.stack(
        [all_of.motor, all_of.stiffness, all_of.damping, all_of.dry, all_of.viscous], axis=1
    )
    return _motions(
        all_of.mass, approach.mass_slope, normal, approach.bend, drives, all_of.pressing[:, 0], after,
        all_of.motors_before, round(duration / STEP),
    )  # fmt: skip


@numba.njit(**OPTIONS)
def _motions(masses, mass_slope, lever, bend, drives, pressing, after, before, steps):
    """As :func:`simulated`; ``after`` of the links, ``before`` of the motors, rad/s."""
    of_all, joints = after.shape
    places = np.zeros((of_all, steps + 1, 2, joints))
    mass, normal = np.empty((joints, joints)), np.empty(joints)
    push, blow = np.empty(joints), np.empty(joints)
    for k in range(of_all):
        motor, stiffness, damping, dry, viscous = drives[k]
        links, motors = after[k].copy(), before[k].copy()
        # the tip starts on the table
        gap = 0.0
        for step in range(steps):
            turned, wound = places[k, step]
            for i in range(joints):
                normal[i] = lever[i]
                stretch, rate = turned[i] - wound[i], links[i] - motors[i]
                push[i] = -stiffness[i] * stretch - damping[i] * rate
                for j in range(joints):
                    normal[i] += bend[j, i] * turned[j]
                    mass[i, j] = masses[k, i, j]
                    for m in range(joints):
                        mass[i, j] += mass_slope[m, i, j] * turned[m]
                        # Coriolis torque, by Christoffel's symbols
                        bent = mass_slope[m, i, j] - 0.5 * mass_slope[i, j, m]
                        push[i] -= bent * links[j] * links[m]
                # springs and damper against the pressing force
                torque = stiffness[i] * stretch + damping[i] * rate - pressing[k] * normal[i]
                speed = motors[i] + STEP / motor[i] * torque
                speed = min(max(speed, -_FASTEST), _FASTEST)
                # proximal map of dry friction: a motor slower than it stops at exactly zero;
                # implicit in the viscous friction, for any step
                moving = max(abs(speed) - STEP / motor[i] * dry[i], 0.0)
                motors[i] = np.sign(speed) * moving / (1.0 + STEP / motor[i] * viscous[i])
            inverse = np.linalg.inv(mass)
            closing, mobility = -gap / STEP, 0.0
            for i in range(joints):
                blow[i] = 0.0
                for j in range(joints):
                    blow[i] += inverse[i, j] * normal[j]
                    links[i] += STEP * inverse[i, j] * push[j]
                links[i] = min(max(links[i], -_FASTEST), _FASTEST)
                closing -= links[i] * normal[i]
                mobility += blow[i] * normal[i]
            # the table pushes and never pulls: the tip moves at least so fast that the gap just
            # closes within a step
            closed = max(closing, 0.0) / mobility
            for i in range(joints):
                links[i] += closed * blow[i]
                gap += STEP * links[i] * normal[i]
                places[k, step + 1, 0, i] = turned[i] + STEP * links[i]
                places[k, step + 1, 1, i] = wound[i] + STEP * motors[i]
    return places


def recorded(
    all_of: Mechanisms, approach: Approach, since: np.ndarray, duration: float
) -> np.ndarray:
    """(p, n, k) positions that encoders report at times (n,) since the detected impact, rad."""
    motion = simulated(all_of, approach, duration)[:, :, int(approach.at_motors)]
    before = all_of.motors_before if approach.at_motors else all_of.links_before
    # so that the sample behind exists
    last = motion.shape[1] - 2
    positions = []
    for places, velocity, later in zip(motion, before, all_of.later, strict=True):
        # steps since the shifted impact; none before it
        steps = np.maximum((since - later) / STEP, 0.0)
        whole = np.minimum(steps.astype(int), last)
        part = (steps - whole)[:, None]
        # linear between steps
        moved = (1.0 - part) * places[whole] + part * places[whole + 1]
        # what passed at v- before the impact, or until now where it is still to come
        fallen = np.minimum(since, later)[:, None] * velocity
        positions.append(moved + fallen)
    return np.array(positions)


def rigid_velocity(all_of: Mechanisms, jacobian: np.ndarray) -> np.ndarray:
    """(p,) v_x+ of the tip by eq. 5 for links and motors that move as one, M + B, m/s.

    ``jacobian`` (2, k) of the tip's x and z, m.
    """
    along, normal = jacobian
    inertia = all_of.mass + all_of.motor[:, :, None] * np.eye(len(normal))
    blow = np.linalg.solve(inertia, normal)
    impulse = (all_of.links_before @ normal) / (blow @ normal)
    return all_of.links_before @ along - impulse * (blow @ along)
