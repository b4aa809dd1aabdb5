"""Planar motion as exactly as it is measured: parabolas, impacts in an instant, lasting contact to second order.

The contact law is that of :mod:`contactid.planar.simulate.events`, whose one step serves flight, impact and lasting
contact. There an impact's impulse holds gravity's share of a step, so that its motions are off by up to some tenths of
a millisecond's fall: more than a good camera's noise, and enough to shift a corner's radius by many standard errors.
"""

from __future__ import annotations

import numba
import numpy as np

from contactid.planar.simulate.bodies import PlanarLaw
from contactid.planar.simulate.events import _arms, _impulses
from contactid.planar.simulate.kernel import OPTIONS, Outline

COARSE, FINE = (1e-3, 1e-4), (1e-3, 5e-5)
"""Longest steps of flight and of lasting contact, s."""
_TOUCHES = 1e-6  # m: below it a contact lasts, or takes part in another's impact
_AT_CONTACT = 1e-7  # m: below it a contact is closed
_LOCATED = 1e-8  # m: how exactly the closing instant is found
_IMPACT = 2e-3  # m/s: slower approaches end without a bounce
_IMPACTS = 30  # within one frame
_BACK = 0.1  # share of a gap that a step of lasting contact takes back


def tracked_motions(
    outline: Outline,
    parameters: np.ndarray,
    gravity: float,
    frame_interval: float,
    n_frames: int,
    steps: tuple[float, float],
) -> np.ndarray:
    """(n, n_frames + 1, 3) poses at frames; ``parameters`` (n, 9) are q (3,), v (3,), J/m (m2), mu and e_N of each."""
    poses = np.empty((len(parameters), n_frames + 1, 3))
    _run_all(outline, np.ascontiguousarray(parameters), gravity, frame_interval, *steps, poses)
    return poses


@numba.njit(**OPTIONS)
def _pushed(arms, closed, n_closed, c_n, c_t):
    """Sums of the impulses of closed contacts, and their moment (per unit of mass: m/s, m/s, m2/s)."""
    push_n = push_t = twist = 0.0
    for i in range(n_closed):
        j = closed[i]
        push_n += c_n[j]
        push_t += c_t[j]
        twist += arms[j, 0] * c_n[j] - arms[j, 1] * c_t[j]
    return push_n, push_t, twist


@numba.njit(**OPTIONS)
def _run(outline, parameters, gravity, interval, flight, lasting, poses):
    """Fill ``poses`` (frames, 3)."""
    n_contacts = max(1, outline.corners.shape[0])
    ratio = parameters[6]
    law = PlanarLaw(parameters[7], parameters[8], 0.0, gravity)
    resting = PlanarLaw(parameters[7], 0.0, 0.0, gravity)
    sin_a, cos_a = np.sin(outline.slope), np.cos(outline.slope)
    x, y, theta = parameters[0], parameters[1], parameters[2]
    v_x, v_y, omega = parameters[3], parameters[4], parameters[5]
    arms, middle = np.empty((n_contacts, 2)), np.empty((n_contacts, 2))
    u_n, u_t = np.zeros(n_contacts), np.zeros(n_contacts)
    c_n, c_t = np.zeros(n_contacts), np.zeros(n_contacts)
    closed = np.empty(n_contacts, dtype=np.int64)
    poses[0, 0], poses[0, 1], poses[0, 2] = x, y, theta
    height = -sin_a * (x - outline.x0) + cos_a * (y - outline.y0)
    gap = height + _arms(outline, theta - outline.slope, arms)
    for f in range(1, poses.shape[0]):
        left, impacts = interval, 0
        while left > 0.0:
            step = min(left, flight)
            lasts = False
            if gap <= _TOUCHES:
                n_closed, approach = 0, np.inf
                for j in range(n_contacts):
                    c_n[j] = c_t[j] = 0.0
                    if height + arms[j, 1] <= _TOUCHES:
                        u_n[j] = -sin_a * v_x + cos_a * v_y + arms[j, 0] * omega
                        u_t[j] = cos_a * v_x + sin_a * v_y - arms[j, 1] * omega
                        approach = min(approach, u_n[j])
                        closed[n_closed] = j
                        n_closed += 1
                if gap <= _AT_CONTACT and approach < -_IMPACT and impacts < _IMPACTS:
                    impacts += 1
                    _impulses(arms, closed, n_closed, ratio, law, 0.0, 0.0, u_n, u_t, c_n, c_t)
                    approach = np.inf
                    push_n, push_t, twist = _pushed(arms, closed, n_closed, c_n, c_t)
                    v_x += -sin_a * push_n + cos_a * push_t
                    v_y += cos_a * push_n + sin_a * push_t
                    omega += twist / ratio
                    for i in range(n_closed):
                        j = closed[i]
                        c_n[j] = c_t[j] = 0.0
                        u_n[j] = -sin_a * v_x + cos_a * v_y + arms[j, 0] * omega
                        u_t[j] = cos_a * v_x + sin_a * v_y - arms[j, 1] * omega
                        approach = min(approach, u_n[j])
                short = min(left, flight if n_closed > 1 else lasting)
                if approach < lasting * gravity * cos_a:
                    lasts, step = True, short
                elif gap <= _AT_CONTACT:  # up to the highest point, so that it is found when it comes back
                    step = min(step, max(approach / (gravity * cos_a + 1e-9), 1e-6))
            if not lasts:
                new_x, new_y, new_theta = x + step * v_x, y + step * (v_y - 0.5 * step * gravity), theta + step * omega
                new_height = -sin_a * (new_x - outline.x0) + cos_a * (new_y - outline.y0)
                new_gap = new_height + _arms(outline, new_theta - outline.slope, arms)
                if new_gap < 0.0 and gap > _AT_CONTACT:
                    early, late, open_gap, deep = 0.0, step, gap, new_gap
                    for k in range(60):
                        step = early + (late - early) * open_gap / (open_gap - deep)
                        if k % 3 == 2:
                            step = 0.5 * (early + late)
                        new_x, new_y = x + step * v_x, y + step * (v_y - 0.5 * step * gravity)
                        new_theta = theta + step * omega
                        new_height = -sin_a * (new_x - outline.x0) + cos_a * (new_y - outline.y0)
                        new_gap = new_height + _arms(outline, new_theta - outline.slope, arms)
                        if abs(new_gap) < _LOCATED:
                            break
                        if new_gap > 0.0:
                            early, open_gap = step, new_gap
                        else:
                            late, deep = step, new_gap
                elif new_gap < 0.0:  # turned into the ground at once
                    _arms(outline, theta - outline.slope, arms)
                    lasts, step = True, min(left, lasting)
                if not lasts:
                    v_y -= step * gravity
            if lasts:
                fall, along = step * gravity * cos_a, step * gravity * sin_a
                # impulses act where contacts are in the middle of the step, and leave them no approach at its end
                _arms(outline, theta + 0.5 * step * omega - outline.slope, middle)
                for i in range(n_closed):
                    j = closed[i]
                    u_n[j] += _BACK * (height + arms[j, 1]) / step + 2.0 * (middle[j, 0] - arms[j, 0]) * omega
                    u_t[j] -= 2.0 * (middle[j, 1] - arms[j, 1]) * omega
                _impulses(middle, closed, n_closed, ratio, resting, fall, along, u_n, u_t, c_n, c_t)
                push_n, push_t, twist = _pushed(middle, closed, n_closed, c_n, c_t)
                change_x = -sin_a * push_n + cos_a * push_t
                change_y = cos_a * push_n + sin_a * push_t - step * gravity
                new_x, new_y = x + step * (v_x + 0.5 * change_x), y + step * (v_y + 0.5 * change_y)
                new_theta = theta + step * (omega + 0.5 * twist / ratio)
                v_x, v_y, omega = v_x + change_x, v_y + change_y, omega + twist / ratio
                new_height = -sin_a * (new_x - outline.x0) + cos_a * (new_y - outline.y0)
                new_gap = new_height + _arms(outline, new_theta - outline.slope, arms)
            x, y, theta, height, gap = new_x, new_y, new_theta, new_height, new_gap
            left = left - step if left - step > 1e-12 else 0.0
        poses[f, 0], poses[f, 1], poses[f, 2] = x, y, theta


@numba.njit(**OPTIONS)
def _run_all(outline, parameters, gravity, interval, flight, lasting, poses):
    """:func:`_run` of each row of parameters (n, 9), filling ``poses`` (n, frames, 3)."""
    for i in range(parameters.shape[0]):
        _run(outline, parameters[i], gravity, interval, flight, lasting, poses[i])
