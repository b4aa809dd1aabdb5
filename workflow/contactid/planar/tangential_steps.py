"""Tangential impulses on the trajectory model's grid, by Coulomb's law, where the normal ones are given.

A simulated motion starts the identification, but its contacts change between the grid's instants. Step by step with
the model's own law, from the motion's normal impulses, follows what sticks and what slides on the grid: a start that
obeys the law of friction exactly, and so a sequence of contacts that is possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.planar.models.trajectory import ContactMode
from contactid.planar.simulate.geometry import Ground, Shape, contacts

_SWEEPS = 50  # over several contacts of one body
_EXACT = 1e-9  # share of the friction limit
_PUSHES = 1e-9  # m/s


@dataclass(frozen=True)
class StepBody:
    """What a step needs to know of a body: J/m (m2), mu, and gravity (m/s2)."""

    inertia_ratio: float
    friction_mu: float
    gravity: float


def tangential_steps(
    shape: Shape,
    ground: Ground,
    body: StepBody,
    position: np.ndarray,
    velocity: np.ndarray,
    durations: np.ndarray,
    impulse_n: np.ndarray,
) -> np.ndarray:
    """(n, n_c) tangential impulses per mass, m/s: they stop every contact that they can (eq. 17, 18).

    Parameters
    ----------
    position : (n, 3) at the beginning of every step
    velocity : (3,) before the first
    durations : (n,) s
    impulse_n : (n, n_c) per mass, m/s
    """
    at = contacts(shape, ground, position)
    mobility = np.array([1.0, 1.0, 1.0 / body.inertia_ratio])
    impulse_t = np.zeros_like(impulse_n)
    speed = velocity.astype(float)
    for k, duration in enumerate(durations):
        pushes = np.flatnonzero(impulse_n[k] > 0.0)
        speed = speed - np.array([0.0, body.gravity * duration, 0.0])
        speed = speed + mobility * (impulse_n[k, pushes] @ at.normal[k, pushes])
        for _ in range(_SWEEPS if len(pushes) > 1 else 1):
            for c in pushes:
                tangent = at.tangent[k, c]
                limit = body.friction_mu * impulse_n[k, c]
                stopping = impulse_t[k, c] - (tangent @ speed) / (tangent**2 @ mobility)
                change = np.clip(stopping, -limit, limit) - impulse_t[k, c]
                impulse_t[k, c] += change
                speed = speed + mobility * tangent * change
    return impulse_t


def contact_modes(impulse_n: np.ndarray, impulse_t: np.ndarray, friction_mu: float) -> np.ndarray:
    """(n, n_c) :class:`ContactMode` of impulses (n, n_c) per mass, m/s."""
    limit = friction_mu * impulse_n * (1.0 - _EXACT)
    mode = np.full(impulse_n.shape, int(ContactMode.STICKING))
    mode[impulse_t <= -limit] = ContactMode.SLIDING_FORWARD
    mode[impulse_t >= limit] = ContactMode.SLIDING_BACKWARD
    mode[impulse_n <= _PUSHES] = ContactMode.OPEN
    return mode
