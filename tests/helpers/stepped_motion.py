"""Planar motion whose impacts happen when the gap closes, not at the next step: nearly smooth in
its parameters.

The contact law is that of the compiled steps (eqs. 16 to 18; an ellipse's exact step, a polygon's
linear complementarity problem). What differs is when it acts: a step that would end with an open
contact closed is cut at the instant at which the gap is zero, so a motion depends on its start,
J/m, mu and e_N without the jumps that a fixed grid causes, which is what a least-squares fit needs,
and it is accurate at ten times the step. A saw tooth is left: an impact's impulse holds gravity's
share of the rest of its step, at most g h. Lasting contact is stepped as usual; bounces shorter
than a step are cut a few times and then left to the grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from contactid.planar.simulate.bodies import PlanarLaw
from contactid.planar.simulate.geometry import ellipse_arm, vertex_arm
from contactid.planar.simulate.kernel import CLOSING, OPTIONS, Outline, contact_impulse
from contactid.planar.simulate.polygon import solve_contacts

_ellipse_arm = numba.njit(ellipse_arm, inline="always")
_vertex_arm = numba.njit(vertex_arm, inline="always")
_AT_CONTACT = 1e-7  # m: below it a contact is closed
_LOCATED = 1e-8  # m: how exactly the closing instant is found
_CUTS = 4  # of one step


@dataclass(frozen=True)
class EventMotion:
    """A motion on a grid with additional instants where contacts closed.

    Attributes
    ----------
    time : (m + 1,) s
    position : (m + 1, 3) q, m and rad
    velocity : (m + 1, 3) v, of the step that led to the instant
    impulse_n, impulse_t : (m, n_c) of the step that starts at the instant, per mass, m/s
    frame : (n_frames + 1,) indices of the instants at which frames lie
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray
    frame: np.ndarray


def frames_of_motions(
    outline: Outline,
    parameters: np.ndarray,
    gravity: float,
    frame_interval: float,
    n_frames: int,
    step: float,
) -> np.ndarray:
    """(n, n_frames + 1, 3) poses at frames; ``parameters`` (n, 9) are q (3,), v (3,), J/m (m2), mu
    and e_N of each.
    """
    per_frame = max(1, int(np.ceil(frame_interval / step - 1e-9)))
    poses = np.empty((len(parameters), n_frames + 1, 3))
    _run_all(
        outline,
        np.ascontiguousarray(parameters),
        gravity,
        frame_interval / per_frame,
        per_frame,
        poses,
    )
    return poses


def event_motion(
    outline: Outline,
    parameters: np.ndarray,
    gravity: float,
    frame_interval: float,
    n_frames: int,
    step: float,
) -> EventMotion:
    """The whole motion; arguments as of :func:`frames_of_motions`."""
    per_frame = max(1, int(np.ceil(frame_interval / step - 1e-9)))
    most = n_frames * per_frame * (1 + _CUTS) + 1
    n_contacts = max(1, len(outline.corners))
    time, position, velocity = np.zeros(most), np.zeros((most, 3)), np.zeros((most, 3))
    impulse_n, impulse_t = np.zeros((most, n_contacts)), np.zeros((most, n_contacts))
    frame = np.zeros(n_frames + 1, dtype=np.int64)
    poses = np.empty((n_frames + 1, 3))
    m = _run(outline, parameters, gravity, frame_interval / per_frame, per_frame, poses,
             time, position, velocity, impulse_n, impulse_t, frame)  # fmt: skip
    return EventMotion(
        time[: m + 1], position[: m + 1], velocity[: m + 1], impulse_n[:m], impulse_t[:m], frame
    )


@numba.njit(**OPTIONS)
def _arms(outline, phi, arms):
    """Fill ``arms`` (n_c, 2) with (r_t, r_n), and return the lowest r_n."""
    sin_phi, cos_phi = np.sin(phi), np.cos(phi)
    if outline.corners.shape[0] == 0:
        arms[0, 0], arms[0, 1] = _ellipse_arm(sin_phi, cos_phi, outline.a, outline.b)
        return arms[0, 1]
    lowest = np.inf
    for j in range(arms.shape[0]):
        arms[j, 0], arms[j, 1] = _vertex_arm(
            sin_phi, cos_phi, outline.corners[j, 0], outline.corners[j, 1]
        )
        arms[j, 1] -= outline.radius
        lowest = min(lowest, arms[j, 1])
    return lowest


@numba.njit(**OPTIONS)
def _impulses(arms, closed, n_closed, ratio, law, fall, along, u_n, u_t, c_n, c_t):
    """Fill c_n and c_t of the closed contacts, per mass."""
    if n_closed == 1:
        j = closed[0]
        r_t, r_n = arms[j, 0], arms[j, 1]
        c_n[j], c_t[j] = contact_impulse(
            1.0 + r_t * r_t / ratio,
            -r_t * r_n / ratio,
            1.0 + r_n * r_n / ratio,
            fall - (1.0 + law.restitution_e_n) * u_n[j],
            along - (1.0 + law.restitution_e_t) * u_t[j],
            law.friction_mu,
        )
        return
    w = np.empty((2 * n_closed, 2 * n_closed))
    b_n, b_t = np.empty(n_closed), np.empty(n_closed)
    for i in range(n_closed):
        t_i, n_i = arms[closed[i], 0], arms[closed[i], 1]
        b_n[i] = fall - (1.0 + law.restitution_e_n) * u_n[closed[i]]
        b_t[i] = along - (1.0 + law.restitution_e_t) * u_t[closed[i]]
        for k in range(n_closed):
            t_k, n_k = arms[closed[k], 0], arms[closed[k], 1]
            w[i, k] = 1.0 + t_i * t_k / ratio
            w[i, n_closed + k] = -t_i * n_k / ratio
            w[n_closed + i, k] = -n_i * t_k / ratio
            w[n_closed + i, n_closed + k] = 1.0 + n_i * n_k / ratio
    push_n, push_t, _ = solve_contacts(w, b_n, b_t, law.friction_mu)
    for i in range(n_closed):
        c_n[closed[i]], c_t[closed[i]] = push_n[i], push_t[i]


@numba.njit(**OPTIONS)
def _run(
    outline,
    parameters,
    gravity,
    h,
    per_frame,
    poses,
    time,
    position,
    velocity,
    impulse_n,
    impulse_t,
    frame,
):
    """Fill ``poses`` and, where they have room, everything else; returns the number of steps taken."""
    n_contacts = max(1, outline.corners.shape[0])
    law = PlanarLaw(parameters[7], parameters[8], 0.0, gravity)
    ratio = parameters[6]
    sin_a, cos_a = np.sin(outline.slope), np.cos(outline.slope)
    x, y, theta = parameters[0], parameters[1], parameters[2]
    v_x, v_y, omega = parameters[3], parameters[4], parameters[5]
    arms, ahead = np.empty((n_contacts, 2)), np.empty((n_contacts, 2))
    u_n, u_t = np.zeros(n_contacts), np.zeros(n_contacts)
    c_n, c_t = np.zeros(n_contacts), np.zeros(n_contacts)
    closed = np.empty(n_contacts, dtype=np.int64)
    keep = time.shape[0] > 0
    now, taken = 0.0, 0
    poses[0, 0], poses[0, 1], poses[0, 2] = x, y, theta
    if keep:
        position[0, 0], position[0, 1], position[0, 2] = x, y, theta
        velocity[0, 0], velocity[0, 1], velocity[0, 2] = v_x, v_y, omega
    gap = (
        -sin_a * (x - outline.x0)
        + cos_a * (y - outline.y0)
        + _arms(outline, theta - outline.slope, arms)
    )
    for f in range(1, poses.shape[0]):
        for _ in range(per_frame):
            left, cuts = h, 0
            while left > 0.0:
                step = left
                push_n = push_t = twist = 0.0
                n_closed, pushed = 0, False
                if gap <= _AT_CONTACT:
                    height = -sin_a * (x - outline.x0) + cos_a * (y - outline.y0)
                    approach = np.inf
                    for j in range(n_contacts):
                        c_n[j] = c_t[j] = 0.0
                        if height + arms[j, 1] <= _AT_CONTACT:
                            u_n[j] = -sin_a * v_x + cos_a * v_y + arms[j, 0] * omega
                            u_t[j] = cos_a * v_x + sin_a * v_y - arms[j, 1] * omega
                            approach = min(approach, u_n[j])
                            closed[n_closed] = j
                            n_closed += 1
                    if n_closed > 1 or approach <= CLOSING:
                        _impulses(arms, closed, n_closed, ratio, law, left * gravity * cos_a, left * gravity * sin_a,
                                  u_n, u_t, c_n, c_t)  # fmt: skip
                        for i in range(n_closed):
                            j = closed[i]
                            push_n += c_n[j]
                            push_t += c_t[j]
                            twist += arms[j, 0] * c_n[j] - arms[j, 1] * c_t[j]
                        pushed = push_n > 0.0
                v_x += -sin_a * push_n + cos_a * push_t
                v_y += cos_a * push_n + sin_a * push_t
                omega += twist / ratio
                fallen = v_y - step * gravity
                new_x, new_y, new_theta = x + step * v_x, y + step * fallen, theta + step * omega
                lowest = _arms(outline, new_theta - outline.slope, ahead)
                new_gap = -sin_a * (new_x - outline.x0) + cos_a * (new_y - outline.y0) + lowest
                if new_gap < 0.0 and gap > _AT_CONTACT and not pushed and cuts < _CUTS:
                    early, late, open_gap, deep = 0.0, left, gap, new_gap
                    for _ in range(40):
                        step = early + (late - early) * open_gap / (open_gap - deep)
                        fallen = v_y - step * gravity
                        new_x, new_y, new_theta = (
                            x + step * v_x,
                            y + step * fallen,
                            theta + step * omega,
                        )
                        lowest = _arms(outline, new_theta - outline.slope, ahead)
                        new_gap = (
                            -sin_a * (new_x - outline.x0) + cos_a * (new_y - outline.y0) + lowest
                        )
                        if abs(new_gap) < _LOCATED:
                            break
                        if new_gap > 0.0:
                            early, open_gap = step, new_gap
                        else:
                            late, deep = step, new_gap
                    cuts += 1
                x, y, theta, v_y, gap = new_x, new_y, new_theta, fallen, new_gap
                arms, ahead = ahead, arms
                left = left - step if left - step > 1e-12 else 0.0
                now += step
                if keep:
                    for j in range(n_contacts):
                        pushes = n_closed > 0 and pushed
                        impulse_n[taken, j] = c_n[j] if pushes else 0.0
                        impulse_t[taken, j] = c_t[j] if pushes else 0.0
                taken += 1
                if keep:
                    time[taken] = now
                    position[taken, 0], position[taken, 1], position[taken, 2] = x, y, theta
                    velocity[taken, 0], velocity[taken, 1], velocity[taken, 2] = v_x, v_y, omega
        poses[f, 0], poses[f, 1], poses[f, 2] = x, y, theta
        if keep:
            frame[f] = taken
    return taken


@numba.njit(**OPTIONS)
def _run_all(outline, parameters, gravity, h, per_frame, poses):
    """:func:`_run` of each row of parameters (n, 9), filling ``poses`` (n, frames, 3)."""
    nothing = np.empty((0, 0))
    for i in range(parameters.shape[0]):
        _run(outline, parameters[i], gravity, h, per_frame, poses[i],
             np.empty(0), nothing, nothing, nothing, nothing, np.empty(0, dtype=np.int64))  # fmt: skip
