"""Tosses of a box with springs under its corners: a truth of another kind than the project's.

No impact law and no complementarity: eight spheres at the corners (radius 0 or more, which is all
that a plane can touch of a rounded box) press springs. A spring unloads ``1 / e_N**2`` times as
stiffly as it was loaded (Walton and Braun, J. Rheol. 30, 1986), so that it gives back ``e_N**2`` of
the work, and a friction spring slides at ``mu`` times its load (Cundall and Strack, Geotechnique 29,
1979). Impacts last about a millisecond and act on each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

STIFFNESS, STEP = 2e6, 5e-6  # N/m per kg of the box, s
_GRAVITY = 9.81
_DAMPING = 0.02  # of critical, of the friction spring alone
_STILL, _LONG = 1e-4, 0.05  # m/s and rad/s, s: slower for so long, a box stays where it is
_DRAWN = 1000  # restitutions, in turn
_SLIPPING = 0.3  # m/s: slip speed at which friction that falls with it is halfway


@dataclass(frozen=True)
class Contact:
    """What acts at the corners.

    Attributes
    ----------
    mu, e_n : friction and restitution
    radius : m, of the corners
    mu_fast : friction at high slip speed; mu holds at rest
    mu_across : friction along the surface's y; mu holds along x
    e_n_to : each impact of a corner draws its restitution between e_n and this
    """

    mu: float
    e_n: float
    radius: float = 0.0
    mu_fast: float | None = None
    mu_across: float | None = None
    e_n_to: float | None = None


@dataclass(frozen=True)
class Body:
    """A box of a mass (kg) and size (3,) m, with its centre of mass (3,) m and moments of inertia
    (3,) kg m2 about it, along the box's axes; the middle is the origin.
    """

    mass: float
    size: np.ndarray
    center: np.ndarray
    moments: np.ndarray


def tossed(
    body: Body,
    contact: Contact,
    start: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    gravity: np.ndarray,
    rate: float,
    frames: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Poses of the middle, (frames, 3) m and (frames, 3, 3), over the plane z = 0.

    ``start``: place (3,) of the centre of mass, rotation (3, 3), velocity (3,) and spin (3,), all in
    the plane's axes; ``gravity`` (3,) m/s2 in them; ``rate`` in frames/s.
    """
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    spheres = signs * (0.5 * body.size - contact.radius) - body.center
    per_frame, random = round(1.0 / rate / STEP), np.random.default_rng(seed)
    law = np.array(
        [
            contact.mu,
            contact.mu if contact.mu_fast is None else contact.mu_fast,
            1.0 if contact.mu_across is None else contact.mu_across / contact.mu,
            contact.e_n,
            contact.e_n if contact.e_n_to is None else contact.e_n_to,
            contact.radius,
        ]
    )
    place, turn = _stepped(
        body.mass, body.moments, spheres, law, *map(np.array, start), np.array(gravity, dtype=float),
        1.0 / rate / per_frame, per_frame, frames, random.random(_DRAWN),
    )  # fmt: skip
    return place - turn @ body.center, turn


@numba.njit(cache=True)
def _turned(turn, vector):
    """exp(vector) turn."""
    angle = np.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2)
    if angle < 1e-14:
        return turn
    x, y, z = vector / angle
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return turn + np.sin(angle) * (k @ turn) + (1.0 - np.cos(angle)) * (k @ (k @ turn))


@numba.njit(cache=True)
def _stepped(
    mass,
    moments,
    spheres,
    law,
    place,
    turn,
    velocity,
    spin,
    gravity,
    step,
    per_frame,
    frames,
    drawn,
):
    impacts = 0
    mu, mu_fast, across, e_low, e_high, radius = law
    stiffness = STIFFNESS * mass
    damping = 2.0 * _DAMPING * np.sqrt(stiffness * mass)
    n = len(spheres)
    deepest, returned, e_n = np.zeros(n), np.zeros(n), np.full(n, e_low)
    touching = np.zeros(n, dtype=np.bool_)
    sheared = np.zeros((n, 2))
    places, turns = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
    momentum = turn @ (moments * (turn.T @ spin))
    reach = radius + np.sqrt((spheres**2).sum(axis=1).max())
    arms, still = np.zeros((n, 3)), 0
    for frame in range(frames):
        places[frame], turns[frame] = place, turn
        slow = np.abs(velocity).max() < _STILL and np.abs(spin).max() < _STILL
        still = still + 1 if slow else 0
        if still * per_frame * step > _LONG:
            continue
        for _ in range(per_frame):
            force, torque = mass * gravity, np.zeros(3)
            if place[2] < reach:
                arms = spheres @ turn.T
            else:
                arms[:, 2] = place[2]
            for k in range(n):
                depth = radius - place[2] - arms[k, 2]
                if depth <= 0.0:
                    touching[k] = False
                    continue
                if not touching[k]:
                    touching[k] = True
                    deepest[k], returned[k] = 0.0, 0.0
                    sheared[k] = 0.0
                    e_n[k] = e_low + (e_high - e_low) * drawn[impacts % len(drawn)]
                    impacts += 1
                deepest[k] = max(deepest[k], depth)
                back = e_n[k] ** 2
                # loaded along one line, unloaded along a steeper one
                load = min(
                    stiffness * depth,
                    max(stiffness * (depth - (1.0 - back) * deepest[k]) / back, 0.0),
                )
                arm = arms[k] - np.array([0.0, 0.0, radius])
                slip_x = velocity[0] + spin[1] * arm[2] - spin[2] * arm[1]
                slip_y = velocity[1] + spin[2] * arm[0] - spin[0] * arm[2]
                sheared[k, 0] += slip_x * step
                sheared[k, 1] += slip_y * step
                held_x = -stiffness * sheared[k, 0] - damping * slip_x
                held_y = -stiffness * sheared[k, 1] - damping * slip_y
                speed = np.sqrt(slip_x**2 + slip_y**2)
                here = mu_fast + (mu - mu_fast) / (1.0 + (speed / _SLIPPING) ** 2)
                # an ellipse of friction, whose axes are the surface's
                size = np.sqrt(held_x**2 + (held_y / across) ** 2)
                if size > here * load:
                    share = here * load / size
                    held_x, held_y = share * held_x, share * held_y
                    sheared[k, 0] = -held_x / stiffness
                    sheared[k, 1] = -held_y / stiffness
                force[0] += held_x
                force[1] += held_y
                force[2] += load
                torque[0] += arm[1] * load - arm[2] * held_y
                torque[1] += arm[2] * held_x - arm[0] * load
                torque[2] += arm[0] * held_y - arm[1] * held_x
            velocity = velocity + step / mass * force
            place = place + step * velocity
            momentum = momentum + step * torque
            spin = turn @ ((turn.T @ momentum) / moments)
            turn = _turned(turn, step * spin)
            spin = turn @ ((turn.T @ momentum) / moments)
        # takes out what rounding adds
        u, _, v = np.linalg.svd(turn)
        turn = u @ v
    return places, turns
