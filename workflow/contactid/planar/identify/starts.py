"""Starts of the trajectory model: from a fitted motion, or from nothing but the measured poses.

Tangential impulses on the model's grid follow by Coulomb's law, where the normal ones are given. A
simulated motion starts the identification, but its contacts change between the grid's instants.
Step by step with the model's own law, from the motion's normal impulses, follows what sticks and
what slides on the grid: a start that obeys the law of friction exactly, and so a sequence of
contacts that is possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.planar.models.trajectory import TIME_SHIFT, ContactMode, GuessedThrow
from contactid.planar.simulate.geometry import Ground, Shape, contacts
from contactid.planar.simulate.motion import EventMotion
from contactid.planar.simulate.throws import MeasuredThrow

_SWEEPS = 50  # over several contacts of one body
_EXACT = 1e-9  # share of the friction limit
_PUSHES = 1e-9  # m/s
_SPREADS = 6.0  # of the noise, beyond which a measured gap is surely open
_MARGIN = 2e-3  # m: contacts may push where the start's gap is at most this and the noise's
_LEAST_SHARE = 1.5 * (1.0 - TIME_SHIFT)  # shortest duration of a step, by the even one
_SUDDEN = 0.02  # of the largest impulse: an impact, no lasting contact


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
    """(n, n_c) tangential impulses per mass, m/s: they stop every contact that they can (eqs. 16
    and 18).

    Parameters
    ----------
    position : (n, 3) at the beginning of every step
    velocity : (3,) before the first
    durations : (n,) s
    impulse_n : (n, n_c) per mass, m/s
    """
    at = contacts(shape, ground, position)
    # diagonal of M^-1 per mass
    mobility = np.array([1.0, 1.0, 1.0 / body.inertia_ratio])
    impulse_t = np.zeros_like(impulse_n)
    speed = velocity.astype(float)
    for k, duration in enumerate(durations):
        pushes = np.flatnonzero(impulse_n[k] > 0.0)
        speed = speed - np.array([0.0, body.gravity * duration, 0.0])
        speed = speed + mobility * (impulse_n[k, pushes] @ at.normal[k, pushes])
        # contacts of one body change each other: Gauss-Seidel sweeps
        for _ in range(_SWEEPS if len(pushes) > 1 else 1):
            for c in pushes:
                tangent = at.tangent[k, c]
                limit = body.friction_mu * impulse_n[k, c]
                # what would stop this contact alone, as far as the cone allows
                stopping = impulse_t[k, c] - (tangent @ speed) / (tangent**2 @ mobility)
                change = np.clip(stopping, -limit, limit) - impulse_t[k, c]
                impulse_t[k, c] += change
                speed = speed + mobility * tangent * change
    return impulse_t


def contact_modes(impulse_n: np.ndarray, impulse_t: np.ndarray, friction_mu: float) -> np.ndarray:
    """(n, n_c) :class:`ContactMode` of impulses (n, n_c) per mass, m/s."""
    # rounding of a clipped impulse still counts as on the edge
    limit = friction_mu * impulse_n * (1.0 - _EXACT)
    mode = np.full(impulse_n.shape, int(ContactMode.STICKING))
    # friction opposes sliding: a negative impulse belongs to sliding along t
    mode[impulse_t <= -limit] = ContactMode.SLIDING_FORWARD
    mode[impulse_t >= limit] = ContactMode.SLIDING_BACKWARD
    mode[impulse_n <= _PUSHES] = ContactMode.OPEN
    return mode


def interpolated_throw(shape: Shape, throw: MeasuredThrow, n_s: int) -> GuessedThrow:
    """Poses by interpolation between frames, velocities by their differences, no impulses.

    Contacts may push wherever the measured gap, noise and motion between frames allow.
    """
    n = n_s * throw.n_frames
    grid = np.linspace(throw.time[0], throw.time[-1], n + 1)
    q = np.column_stack([np.interp(grid, throw.time, throw.position[:, i]) for i in range(3)])
    # (n, 3) the velocity that leads to each pose, eq. 17
    change = np.diff(q, axis=0) / (throw.frame_interval / n_s)
    none = np.zeros((n, shape.n_contacts))
    speed = (
        np.linalg.norm(np.diff(throw.position[:, :2], axis=0), axis=1).max() / throw.frame_interval
    )
    # between two frames the body may come lower by as much as it flies
    reach = _noise_of_gap(shape, throw) + speed * throw.frame_interval
    near = contacts(shape, throw.ground, q[:-1]).gap <= reach
    return GuessedThrow(np.ones(n), q, np.vstack([change[:1], change]), none, none, near)


def simulated_throw(
    shape: Shape, throw: MeasuredThrow, n_s: int, motion: EventMotion, body: StepBody
) -> GuessedThrow:
    """A motion on the model's grid, of which an instant lies at each impact; impulses are summed
    over the steps.

    What is tangential follows from the grid's own steps
    (:func:`~contactid.planar.identify.starts.tangential_steps`): a step in which the motion goes
    over from sliding to sticking does neither on the grid.

    Parameters
    ----------
    motion
        Of the whole throw, its time counted from the first frame.
    body
        J/m, mu and gravity of the motion.
    """
    even = throw.frame_interval / n_s
    times = grid_with_impacts(throw, n_s, _impact_times(motion), _LEAST_SHARE)
    share = np.diff(times) / even
    q = np.column_stack([np.interp(times, motion.time, motion.position[:, i]) for i in range(3)])
    # (n, 3) as eq. 17 has them on this grid
    change = np.diff(q, axis=0) / np.diff(times)[:, None]
    first = np.array([np.interp(times[0], motion.time, motion.velocity[:, i]) for i in range(3)])
    # an impulse at an instant of the grid belongs to the step that begins there, rounding or not
    step = np.clip(
        np.searchsorted(times, motion.time[:-1] + 1e-3 * even, side="right") - 1, 0, len(share) - 1
    )
    impulse_n = np.zeros((len(share), shape.n_contacts))
    np.add.at(impulse_n, step, motion.impulse_n)
    near = contacts(shape, throw.ground, q[:-1]).gap <= _noise_of_gap(shape, throw) + _MARGIN
    # whatever its gap, a contact that pushes in the start may push
    near |= impulse_n > 0.0
    impulse_t = tangential_steps(shape, throw.ground, body, q[:-1], first, even * share, impulse_n)
    mode = contact_modes(impulse_n, impulse_t, body.friction_mu)
    return GuessedThrow(share, q, np.vstack([first, change]), impulse_n, impulse_t, near, mode)


def grid_with_impacts(
    throw: MeasuredThrow, n_s: int, impacts: np.ndarray, least_share: float
) -> np.ndarray:
    """(n + 1,) instants from 0: frames stay, inner instants of a frame move so that one lies at
    each impact.

    No step gets shorter than ``least_share`` of its even duration, or longer than 2 less that: an
    impact too far from the one before gets the instant next before it, and one too near none.
    """
    interval = throw.frame_interval
    times = np.linspace(0.0, interval * throw.n_frames, n_s * throw.n_frames + 1)
    # no inner instant that could move
    if n_s < 2:
        return times
    most_share = 2.0 - least_share  # the model's bounds lie evenly about 1
    for i in range(throw.n_frames):
        inside = (impacts - i * interval) / interval * n_s  # in sub-steps from the frame
        inside = inside[(inside > 0.0) & (inside < n_s)]
        anchors, places = [0], [0.0]
        # places are in sub-steps from the frame; anchors are the instants that got an impact
        for at in inside:
            index = int(np.clip(round(at), anchors[-1] + 1, n_s - 1))
            steps_before = index - anchors[-1]
            steps_after = n_s - index
            place = min(float(at), places[-1] + most_share * steps_before)
            if (
                place - places[-1] >= least_share * steps_before > 0
                and least_share <= (n_s - place) / steps_after <= most_share
            ):
                anchors.append(index)
                places.append(place)
        # instants between anchors share what lies between them evenly
        inner = np.interp(np.arange(n_s + 1), [*anchors, n_s], [*places, float(n_s)])
        times[i * n_s : (i + 1) * n_s] = i * interval + inner[:-1] * interval / n_s
    return times


def _impact_times(motion: EventMotion) -> np.ndarray:
    """Instants of impulses too large for lasting contact, s."""
    impulse = motion.impulse_n.sum(axis=1)
    return motion.time[:-1][impulse > _SUDDEN * impulse.max(initial=0.0)]


def _noise_of_gap(shape: Shape, throw: MeasuredThrow) -> float:
    """A bound of what noise does to a measured gap, m."""
    radius = float(np.linalg.norm(shape.outline(), axis=1).max())
    # the contact point moves with the centre, and with theta by the radius
    return _SPREADS * float(np.hypot(throw.sigma[:2].max(), radius * throw.sigma[2]))
