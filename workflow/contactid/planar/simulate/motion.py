"""Planar motion from event to event: parabolas, impacts in an instant, lasting contact in short
steps.

Flight is exact, the instant of an impact is located to rounding, and each impact has a restitution
of its own. So the poses are smooth in start, body, geometry and restitutions as long as the order
of the contacts stays, and their slopes are differences over steps that are far too small to change
it.

The contact law of an impact is that of the compiled time-stepping (eqs. 16 to 18, planar paper): an
exact step of one contact, a linear complementarity problem of several. Or friction follows the slip
during the impact of one contact (the incremental law); of several it is the same problem. Lasting
contact is stepped by the same law without restitution, with the impulse where the contact is in the
middle of a step, which makes it accurate to second order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np

from contactid.planar.simulate.geometry import Ellipse, Polygon, Shape, ellipse_arm, vertex_arm
from contactid.planar.simulate.kernel import OPTIONS, contact_impulse, incremental_impulse
from contactid.planar.simulate.polygon import solve_contacts

_ellipse_arm = numba.njit(ellipse_arm, inline="always")
_vertex_arm = numba.njit(vertex_arm, inline="always")

N_RESTITUTIONS = 12  # impacts with a restitution of their own; later ones share the last
X, Y, THETA, V_X, V_Y, OMEGA, RATIO, MU, RADIUS, SLOPE, HEIGHT = range(11)
"""Places in a motion's parameters; restitutions follow."""
N_PARAMETERS = 11 + N_RESTITUTIONS

_FLIGHT = 1e-3  # s, of flight near the ground between two looks for a contact
FINE = 1e-4
"""Step of lasting contact, s, with which poses are exact to some micrometres."""
# m: a contact whose gap is smaller takes part in another one's impact, and may last
_TOUCHING = 1e-6
_CLOSED = 1e-7  # m: a contact whose gap is smaller is closed
_LOCATED = 1e-12  # m: gap at the located instant; larger ones show in differences over tiny steps
_SLOW = 0.03  # m/s: slower approaches end without a bounce, which no camera sees (0.05 mm high)
_MOST_IMPACTS = 30  # within one frame: bounces that pile up end there
_AWAY = 1e6  # weighted residual of poses that aren't finite
_CUTS = 12  # of a step of lasting contact, until it ends where another corner closes
_CORRECTED = 0.1  # share of a gap in lasting contact that a step takes back


@dataclass(frozen=True)
class EventMotion:
    """A motion at its frames and at the instants where contacts act.

    Attributes
    ----------
    time : (m + 1,) s
    position : (m + 1, 3) q, m and rad
    velocity : (m + 1, 3) v before an impulse at the instant
    impulse_n, impulse_t : (m, n_c) from the instant to the next, per mass, m/s
    frame : (n_frames + 1,) indices of the instants at which frames lie
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray
    frame: np.ndarray


class Outline(NamedTuple):
    """A shape and a point of its ground as the compiled code wants them, m."""

    a: float
    b: float
    vertices: np.ndarray  # (n_c, 2) where a polygon's sides meet, or (0, 2)
    inward: np.ndarray  # (n_c, 2) by which a corner's centre moves per length of its radius
    x0: float
    y0: float
    reach: float  # from the centre to the farthest point
    incremental: bool  # whether friction follows the slip during an impact


class Trace(NamedTuple):
    """Where :func:`_run` writes instants: frames, and contacts' steps and impacts; no rows for
    none.
    """

    time: np.ndarray  # (m,)
    position: np.ndarray  # (m, 3)
    velocity: np.ndarray  # (m, 3)
    impulse_n: np.ndarray  # (m, n_c) from the row's instant to the next
    impulse_t: np.ndarray
    frame: np.ndarray  # (n_frames + 1,) rows at which frames lie


def outline_of(shape: Shape, point: tuple[float, float], incremental: bool = False) -> Outline:
    """A shape over the ground through ``point``; its own radius doesn't matter, the parameters have
    one.
    """
    if isinstance(shape, Ellipse):
        a, b, none = float(shape.a), float(shape.b), np.zeros((0, 2))
        return Outline(a, b, none, none, *point, max(a, b), incremental)
    corners = Polygon(shape.vertices).centres
    reach = float(np.linalg.norm(corners, axis=1).max())
    return Outline(0.0, 0.0, corners, inward_of(shape), *point, reach, incremental)


def inward_of(shape: Polygon) -> np.ndarray:
    """(n_c, 2) by which the centres of the corners' arcs move away from the corners, per length of
    the radius.
    """
    sharp = Polygon(shape.vertices)
    radius = 1e-3 * float(
        np.linalg.norm(sharp.centres, axis=1).min()
    )  # any will do: centres move in proportion
    return (sharp.centres - Polygon(shape.vertices, radius).centres) / radius


def tracked_residuals(
    outline: Outline,
    parameters: np.ndarray,
    frames: np.ndarray,
    gravity: float,
    interval: float,
    lasting: float,
    position: np.ndarray,
    weight: np.ndarray,
    limit: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Residuals (n, 3 frames) of tracked poses, and when impacts with a restitution of their own
    happen.

    The second array (n, :data:`N_RESTITUTIONS`) has the impacts' times, s; infinite where there are
    fewer.

    Parameters
    ----------
    parameters : (n, :data:`N_PARAMETERS`) of n motions, in SI units
    lasting : step of lasting contact, s
    frames : (n, 3) turn of the tracked axes (rad) and the tracked point in the body's axes (m) of
        each motion
    position, weight : (frames, 3) measured poses, and what their departures are multiplied by
    limit : size above which residuals grow with their logarithm; 0 for none
    """
    residuals = np.empty((len(parameters), position.size))
    impacts = np.full((len(parameters), N_RESTITUTIONS), np.inf)
    _residuals_of_all(
        outline, np.ascontiguousarray(parameters), frames, gravity, interval, lasting, position, weight, limit,
        residuals, impacts,
    )  # fmt: skip
    return residuals, impacts


def event_motion(
    outline: Outline,
    parameters: np.ndarray,
    gravity: float,
    interval: float,
    n_frames: int,
    lasting: float = FINE,
) -> EventMotion:
    """The whole motion of one set of parameters, at frames and where contacts act.

    Arguments are those of :func:`tracked_residuals`. Velocities are those before an impulse at the
    instant.
    """
    steps = int(np.ceil(interval / lasting)) + 2 * _MOST_IMPACTS
    most = n_frames * steps + 1
    n_contacts = max(1, len(outline.vertices))
    trace = Trace(
        time=np.zeros(most),
        position=np.zeros((most, 3)),
        velocity=np.zeros((most, 3)),
        impulse_n=np.zeros((most, n_contacts)),
        impulse_t=np.zeros((most, n_contacts)),
        frame=np.zeros(n_frames + 1, dtype=np.int64),
    )
    poses, impacts = np.empty((n_frames + 1, 3)), np.empty(N_RESTITUTIONS)
    last = _run(
        outline, np.ascontiguousarray(parameters), gravity, interval, lasting, poses, impacts, trace
    )
    rows = slice(last + 1)
    return EventMotion(
        trace.time[rows],
        trace.position[rows],
        trace.velocity[rows],
        trace.impulse_n[:last],
        trace.impulse_t[:last],
        trace.frame,
    )


@numba.njit(**OPTIONS)
def _arms(outline, radius, phi, arms):
    """Fill ``arms`` (n_c, 2) with (r_t, r_n), and return the lowest r_n."""
    sin_phi, cos_phi = np.sin(phi), np.cos(phi)
    if outline.vertices.shape[0] == 0:
        arms[0, 0], arms[0, 1] = _ellipse_arm(sin_phi, cos_phi, outline.a, outline.b)
        return arms[0, 1]
    lowest = np.inf
    for j in range(arms.shape[0]):
        x = outline.vertices[j, 0] - radius * outline.inward[j, 0]
        y = outline.vertices[j, 1] - radius * outline.inward[j, 1]
        arms[j, 0], r_n = _vertex_arm(sin_phi, cos_phi, x, y)
        arms[j, 1] = r_n - radius
        lowest = min(lowest, arms[j, 1])
    return lowest


@numba.njit(**OPTIONS)
def _impulses(arms, closed, n_closed, ratio, mu, e_n, fall, along, u_n, u_t, c_n, c_t, incremental):
    """Fill c_n and c_t of the closed contacts, per mass; returns their sums and their moment (m/s,
    m/s, m2/s).
    """
    if n_closed == 1:
        j = closed[0]
        r_t, r_n = arms[j, 0], arms[j, 1]
        # W of one contact, per mass
        w_nn, w_nt, w_tt = 1.0 + r_t * r_t / ratio, -r_t * r_n / ratio, 1.0 + r_n * r_n / ratio
        if incremental:
            c_n[j], c_t[j] = incremental_impulse(w_nn, w_nt, w_tt, u_n[j], u_t[j], mu, e_n)
        else:
            b_n, b_t = fall - (1.0 + e_n) * u_n[j], along - u_t[j]
            c_n[j], c_t[j] = contact_impulse(w_nn, w_nt, w_tt, b_n, b_t, mu)
    else:
        # W = [N T]^T M^-1 [N T] per mass, normal rows first, and wanted less free velocities
        w = np.empty((2 * n_closed, 2 * n_closed))
        b_n, b_t = np.empty(n_closed), np.empty(n_closed)
        for i in range(n_closed):
            t_i, n_i = arms[closed[i], 0], arms[closed[i], 1]
            b_n[i] = fall - (1.0 + e_n) * u_n[closed[i]]
            b_t[i] = along - u_t[closed[i]]
            for k in range(n_closed):
                t_k, n_k = arms[closed[k], 0], arms[closed[k], 1]
                w[i, k] = 1.0 + t_i * t_k / ratio
                w[i, n_closed + k] = -t_i * n_k / ratio
                w[n_closed + i, k] = -n_i * t_k / ratio
                w[n_closed + i, n_closed + k] = 1.0 + n_i * n_k / ratio
        several_n, several_t, _ = solve_contacts(w, b_n, b_t, mu)
        for i in range(n_closed):
            c_n[closed[i]], c_t[closed[i]] = several_n[i], several_t[i]
    push_n = push_t = twist = 0.0
    for i in range(n_closed):
        j = closed[i]
        push_n += c_n[j]
        push_t += c_t[j]
        twist += arms[j, 0] * c_n[j] - arms[j, 1] * c_t[j]
    return push_n, push_t, twist


@numba.njit(**OPTIONS)
def _speeds(arms, closed, n_closed, sin_a, cos_a, v_x, v_y, omega, u_n, u_t):
    """Fill normal and tangential speeds of the closed contacts, and return the fastest approach
    (the least u_n).
    """
    least = np.inf
    for i in range(n_closed):
        j = closed[i]
        u_n[j] = -sin_a * v_x + cos_a * v_y + arms[j, 0] * omega
        u_t[j] = cos_a * v_x + sin_a * v_y - arms[j, 1] * omega
        least = min(least, u_n[j])
    return least


@numba.njit(**OPTIONS)
def _write(trace, row, now, x, y, theta, v_x, v_y, omega):
    trace.time[row] = now
    trace.position[row, 0], trace.position[row, 1], trace.position[row, 2] = x, y, theta
    trace.velocity[row, 0], trace.velocity[row, 1], trace.velocity[row, 2] = v_x, v_y, omega


@numba.njit(**OPTIONS)
def _run(outline, parameters, gravity, interval, lasting, poses, impacts, trace):
    """Fill ``poses`` (frames, 3), the times of ``impacts`` and, where it has rows, ``trace``;
    returns its last row.
    """
    keep = trace.time.shape[0] > 0
    n_contacts = max(1, outline.vertices.shape[0])
    x, y, theta = parameters[X], parameters[Y], parameters[THETA]
    v_x, v_y, omega = parameters[V_X], parameters[V_Y], parameters[OMEGA]
    ratio = parameters[RATIO]
    mu = parameters[MU]
    radius = parameters[RADIUS]
    slope = parameters[SLOPE]
    restitutions = parameters[HEIGHT + 1 :]
    sin_a, cos_a = np.sin(slope), np.cos(slope)
    arms = np.empty((n_contacts, 2))
    middle = np.empty((n_contacts, 2))
    ahead = np.empty((n_contacts, 2))
    u_n, u_t = np.zeros(n_contacts), np.zeros(n_contacts)
    mean_n, mean_t = np.zeros(n_contacts), np.zeros(n_contacts)
    c_n, c_t = np.zeros(n_contacts), np.zeros(n_contacts)
    closed = np.empty(n_contacts, dtype=np.int64)
    # the centre's height over the ground is -sin_a x + cos_a y + offset
    offset = sin_a * outline.x0 - cos_a * outline.y0 - parameters[HEIGHT]
    height = -sin_a * x + cos_a * y + offset
    gap = height + _arms(outline, radius, theta - slope, arms)
    number, row, now = 0, 0, 0.0
    poses[0, 0], poses[0, 1], poses[0, 2] = x, y, theta
    if keep:
        _write(trace, 0, 0.0, x, y, theta, v_x, v_y, omega)
    for f in range(1, poses.shape[0]):
        rest, in_frame = interval, 0
        while rest > 0.0:
            step, lasts = rest, False
            if gap > _TOUCHING:  # no outline falls and turns through its gap sooner
                fastest = abs(-sin_a * v_x + cos_a * v_y) + outline.reach * abs(omega)
                # root of fastest t + g t^2 / 2 = gap
                clear = (np.sqrt(fastest * fastest + 2.0 * gravity * gap) - fastest) / gravity
                step = min(rest, max(clear, _FLIGHT))
            if gap <= _TOUCHING:
                n_closed = 0
                for j in range(n_contacts):
                    c_n[j] = c_t[j] = 0.0
                    if height + arms[j, 1] <= _TOUCHING:
                        closed[n_closed] = j
                        n_closed += 1
                approach = _speeds(arms, closed, n_closed, sin_a, cos_a, v_x, v_y, omega, u_n, u_t)
                if gap <= _CLOSED and approach < -_SLOW and in_frame < _MOST_IMPACTS:
                    own = min(number, N_RESTITUTIONS - 1)
                    if number < N_RESTITUTIONS:
                        impacts[number] = now
                    number += 1
                    in_frame += 1
                    if keep and trace.time[row] < now:
                        row += 1
                        _write(trace, row, now, x, y, theta, v_x, v_y, omega)
                    push_n, push_t, twist = _impulses(
                        arms,
                        closed,
                        n_closed,
                        ratio,
                        mu,
                        restitutions[own],
                        0.0,
                        0.0,
                        u_n,
                        u_t,
                        c_n,
                        c_t,
                        outline.incremental,
                    )
                    if keep:
                        for i in range(n_closed):
                            trace.impulse_n[row, closed[i]] += c_n[closed[i]]
                            trace.impulse_t[row, closed[i]] += c_t[closed[i]]
                    v_x += -sin_a * push_n + cos_a * push_t
                    v_y += cos_a * push_n + sin_a * push_t
                    omega += twist / ratio
                    for i in range(n_closed):
                        c_n[closed[i]] = c_t[closed[i]] = 0.0
                    approach = _speeds(
                        arms, closed, n_closed, sin_a, cos_a, v_x, v_y, omega, u_n, u_t
                    )
                # gravity ends a slower separation within one step of lasting contact
                if approach < lasting * gravity * cos_a:
                    lasts = True
                    # two corners or more: the body lies or slides on a side, and nothing turns up
                    # to the next frame
                    step = rest if n_closed > 1 else min(rest, lasting)
                elif gap <= _CLOSED:
                    # no farther than the highest point, so that a low bounce is seen when it comes
                    # back
                    step = min(rest, _FLIGHT, max(approach / (gravity * cos_a + 1e-9), 1e-6))
            if not lasts:
                # flight is an exact parabola at a constant spin
                new_x = x + step * v_x
                new_y = y + step * (v_y - 0.5 * step * gravity)
                new_theta = theta + step * omega
                new_height = -sin_a * new_x + cos_a * new_y + offset
                new_gap = new_height + _arms(outline, radius, new_theta - slope, arms)
                if new_gap < 0.0 and gap > _CLOSED:
                    # the impact's instant by regula falsi
                    early, late, open_gap, deep = 0.0, step, gap, new_gap
                    for k in range(80):
                        step = early + (late - early) * open_gap / (open_gap - deep)
                        # secants alone may creep up from one side, so each third try halves
                        if k % 3 == 2:
                            step = 0.5 * (early + late)
                        new_x, new_y = x + step * v_x, y + step * (v_y - 0.5 * step * gravity)
                        new_theta = theta + step * omega
                        new_height = -sin_a * new_x + cos_a * new_y + offset
                        new_gap = new_height + _arms(outline, radius, new_theta - slope, arms)
                        if abs(new_gap) < _LOCATED:
                            break
                        if new_gap > 0.0:
                            early, open_gap = step, new_gap
                        else:
                            late, deep = step, new_gap
                elif new_gap < 0.0:  # it turns into the ground at once: a contact that lasts
                    _arms(outline, radius, theta - slope, arms)
                    lasts, step = True, min(rest, lasting)
                if not lasts:
                    v_y -= step * gravity
            if lasts:
                for _ in range(_CUTS):
                    fall, along = step * gravity * cos_a, step * gravity * sin_a
                    # impulses act where contacts are in the middle of the step, and leave them no
                    # approach at its end
                    _arms(outline, radius, theta + 0.5 * step * omega - slope, middle)
                    for i in range(n_closed):
                        j = closed[i]
                        c_n[j] = c_t[j] = 0.0
                        turned_t, turned_n = middle[j, 0] - arms[j, 0], middle[j, 1] - arms[j, 1]
                        correction = _CORRECTED * (height + arms[j, 1]) / step
                        # free speeds with arms of the step's end, turned twice as far as the
                        # middle's
                        mean_n[j] = u_n[j] + correction + 2.0 * turned_t * omega
                        mean_t[j] = u_t[j] - 2.0 * turned_n * omega
                    push_n, push_t, twist = _impulses(
                        middle,
                        closed,
                        n_closed,
                        ratio,
                        mu,
                        0.0,
                        fall,
                        along,
                        mean_n,
                        mean_t,
                        c_n,
                        c_t,
                        False,
                    )
                    change_x = -sin_a * push_n + cos_a * push_t
                    change_y = cos_a * push_n + sin_a * push_t - step * gravity
                    new_x = x + step * (v_x + 0.5 * change_x)
                    new_y = y + step * (v_y + 0.5 * change_y)
                    new_theta = theta + step * (omega + 0.5 * twist / ratio)
                    new_height = -sin_a * new_x + cos_a * new_y + offset
                    new_gap = new_height + _arms(outline, radius, new_theta - slope, ahead)
                    # the corner that comes deepest of those that didn't touch
                    open_gap, deep = 0.0, 0.0
                    for j in range(n_contacts):
                        if height + arms[j, 1] > _TOUCHING and new_height + ahead[j, 1] < deep:
                            open_gap, deep = height + arms[j, 1], new_height + ahead[j, 1]
                    if deep > -_LOCATED:
                        break
                    step *= open_gap / (open_gap - deep)  # up to where another corner closes
                if keep:
                    if push_n > 0.0 and trace.time[row] < now:
                        row += 1
                        _write(trace, row, now, x, y, theta, v_x, v_y, omega)
                    for i in range(n_closed):
                        trace.impulse_n[row, closed[i]] += c_n[closed[i]]
                        trace.impulse_t[row, closed[i]] += c_t[closed[i]]
                # eq. 16 with the impulses of the whole step
                v_x, v_y, omega = v_x + change_x, v_y + change_y, omega + twist / ratio
                arms[:] = ahead
            x, y, theta, height, gap = new_x, new_y, new_theta, new_height, new_gap
            # what rounding leaves of a frame isn't a step
            rest = rest - step if rest - step > 1e-12 else 0.0
            now = (f - 1) * interval + (interval - rest)
        poses[f, 0], poses[f, 1], poses[f, 2] = x, y, theta
        if keep:
            row += 1
            _write(trace, row, now, x, y, theta, v_x, v_y, omega)
            trace.frame[f] = row
    return row


@numba.njit(**OPTIONS)
def _residuals_of_all(
    outline,
    parameters,
    frames,
    gravity,
    interval,
    lasting,
    position,
    weight,
    limit,
    residuals,
    impacts,
):
    """Fill ``residuals`` (n, 3 frames) with weighted residuals of tracked poses, and the times of
    ``impacts``.
    """
    none = np.empty((0, 0))
    nowhere = Trace(np.empty(0), none, none, none, none, np.empty(0, dtype=np.int64))
    poses = np.empty(position.shape)
    for i in range(parameters.shape[0]):
        _run(outline, parameters[i], gravity, interval, lasting, poses, impacts[i], nowhere)
        turn, x, y = frames[i, 0], frames[i, 1], frames[i, 2]
        for f in range(position.shape[0]):
            sin, cos = np.sin(poses[f, 2]), np.cos(poses[f, 2])
            # from the body's centre and axes to the tracked point and axes
            poses[f, 0] += x * cos - y * sin
            poses[f, 1] += x * sin + y * cos
            poses[f, 2] += turn
            for k in range(3):
                residual = (poses[f, k] - position[f, k]) * weight[f, k]
                if not np.isfinite(residual):
                    residual = _AWAY
                if limit > 0.0:
                    # a wild pose must not pull the motion away
                    residual = limit * np.arcsinh(residual / limit)
                residuals[i, 3 * f + k] = residual
