"""The data behind the explanatory figures 1 to 5, 15 and 16 of the planar paper, from the study's own code.

The paper shows sketches. Here every contact point, normal, gap, velocity and impulse is what :func:`contacts` and
:func:`simulate` give for a stated body, so that a sketch can't say something else than the models. Figures 1, 2, 3
and 5 have one row per point, arrow, angle or number, in the fixed frame S:

================== ============================================================================================
column             meaning
================== ============================================================================================
panel              1, 2, ... from the left
part               ``line`` (a point of a polyline), ``point``, ``arrow``, ``angle``, ``number``
item               which one
order              of the point within its line
x_m, y_m           point of the line, point, foot of the arrow, apex of the angle; empty for a number
vector_x, vector_y arrow, in ``unit``; for an angle, the unit vector that it is measured from
value, unit        an angle (rad, counter-clockwise) or a number; the unit of points is m, that of directions 1
================== ============================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import Contacts, Ellipse, Ground, Polygon, Shape, contacts, outline_at

COLUMNS = ("panel", "part", "item", "order", "x_m", "y_m", "vector_x", "vector_y", "value", "unit")
CONE_COLUMNS = ("panel", "part", "item", "order", "x", "y", "z")
POSTURE_COLUMNS = ("kind", "part", "index", "order", "time_s", "x_m", "y_m", "theta_rad")
INSTANT_COLUMNS = ("kind", "index", "after_previous_capture", "time_s", "step_s")

SMALL_ELLIPSE = Ellipse(0.050, 0.025)  # the plywood ellipse of section 6.2, m
SMALL_MASS, SMALL_INERTIA_RATIO = 0.064, 756e-6  # kg, m2
TOUCHING = -1e-12  # m: closed for the simulator in spite of rounding
CONE_FRICTION = 0.6
PYRAMID_SIDES = 6

_CORNERS = 360  # of the polygon that stands for a smooth body
_TOUCHED_AT = (-125, -30, 110)  # figure 1: directions of the outward normals in S, degrees
_CASES = ((0.018, 0.2, -0.35), (TOUCHING, 0.2, -0.35), (TOUCHING, 0.4, 0.0), (TOUCHING, 0.2, 0.35))  # g_n, u_t, u_n
_STEP = 0.02  # s: long enough to see the impulse of a resting contact beside that of an impact
_LEANING = 0.5  # rad


def contact_frames() -> pd.DataFrame:
    """Figure 1: frames {Q; t, n} where three grounds touch a smooth convex body, and one contact force."""
    body, turned = _smooth_body(), 20
    q = np.array([0.085, 0.075, np.radians(turned)])
    rows = [*_frame("S", (0.0, 0.0), 0.0), _point("O", (0.0, 0.0)), _point("G", q[:2])]
    rows += _line("outline", outline_at(body, q))
    for j, direction in enumerate(_TOUCHED_AT, start=1):
        corner = outline_at(body, q)[(direction - turned) % _CORNERS]
        ground = Ground(np.radians(direction + 90.0), *corner)
        at, nearest = _nearest(body, ground, q)
        foot, normal, tangent = at.point[nearest], at.normal[nearest, :2], at.tangent[nearest, :2]
        rows += _line(f"ground {j}", foot + np.outer([-0.022, 0.022], tangent))
        rows += [_point(f"Q {j}", foot), _number(f"gap {j}", at.gap[nearest], "m")]
        rows += [_arrow(f"n {j}", foot, normal, "1"), _arrow(f"t {j}", foot, tangent, "1")]
        if j == 2:
            pushing, rubbing = 1.4 * normal, 0.4 * tangent
            forces = {"f_n": pushing, "f_t": rubbing, "f_c": pushing + rubbing}
            rows += [_arrow(name, foot, force, "N") for name, force in forces.items()]
    return _table(rows)


def contact_states(ellipse: Ellipse = SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 2: an ellipse in each of the four cases, with the contact point's velocity and the step's impulse.

    There's no friction, so that impulses are along the normal.
    """
    rows: list[dict[str, Any]] = []
    for panel, (gap, u_t, u_n) in enumerate(_CASES, start=1):
        ground = Ground()
        q = posture(ellipse, ground, _LEANING, gap)
        at, _ = _nearest(ellipse, ground, q)
        v = _velocity(at, u_t, u_n, omega=1.0)
        motion = simulate(_body(ellipse), ground, PlanarLaw(0.0, 0.5), q, v, time_step=_STEP, steps=1)
        foot, normal = at.point[0], at.normal[0]
        part = [*_posture_lines(ellipse, ground, q, 1.3 * ellipse.a), _point("Q", foot)]
        part += [_point("Q_E", foot - at.gap[0] * ground.normal), _number("g_n", at.gap[0], "m")]
        part += [_number("gdot", normal @ v, "m/s"), _number("c_n", motion.impulse_n[1, 0], "N s")]
        part += [_arrow("velocity", foot, (at.tangent[0] @ v) * ground.tangent + (normal @ v) * ground.normal, "m/s")]
        part += [_arrow("impulse", foot, motion.impulse_n[1, 0] * ground.normal, "N s")]
        rows += _in_panel(panel, part)
    return _table(rows)


def restitution(ellipse: Ellipse = SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 3: one step of the simulator through an impact without friction, at the posture where the gap closes."""
    ground, law = Ground(), PlanarLaw(0.0, 0.6)
    q = posture(ellipse, ground, _LEANING, TOUCHING)
    at, _ = _nearest(ellipse, ground, q)
    v = _velocity(at, 0.0, -0.5, omega=1.0)
    motion = simulate(_body(ellipse), ground, law, q, v, time_step=1e-3, steps=1)
    before, after = (float(at.normal[0] @ velocity) for velocity in motion.velocity)
    impulse, foot = float(motion.impulse_n[1, 0]), at.point[0]
    shown = (("gdot", before, "m/s"), ("c_n", impulse, "N s"), ("gdot+", after, "m/s"))
    rows = [_number("restitution_e_n", law.restitution_e_n, "1")]
    for panel, (item, value, unit) in enumerate(shown, start=1):
        part = [*_posture_lines(ellipse, ground, q, 1.2 * ellipse.a), _point("Q", foot), _point("G", q[:2])]
        part += [_arrow(item, foot, value * ground.normal, unit), _number(item, value, unit)]
        rows += _in_panel(panel, part)
    return _table(rows)


def friction_cones() -> pd.DataFrame:
    """Figure 4: cone, pyramid and planar cone of a contact in Q, as points (x, y, z) with z along the normal.

    Forces are divided by f_n, so the cone's rim lies at z = 1 with radius mu (a number, in the column x). The pyramid
    is the hull of the mu d_l: the set where the sum of the f_t,l is at most mu f_n. Parts are ``rim``, ``arrow`` (from
    Q), and ``number``.
    """
    mu = CONE_FRICTION
    angle = np.linspace(0.0, 2.0 * np.pi, 145)
    spanning = np.radians(-20.0) + 2.0 * np.pi * np.arange(PYRAMID_SIDES) / PYRAMID_SIDES
    rows: list[tuple[Any, ...]] = []
    for panel, around in ((1, angle), (2, np.append(spanning, spanning[0]))):
        rim = np.column_stack([mu * np.cos(around), mu * np.sin(around), np.ones(len(around))])
        rows += [(panel, "rim", "cone", k, *point) for k, point in enumerate(rim)]
    rows += [(1, "arrow", "f_c", 0, *(-0.5 * mu * np.array([np.cos(0.17), np.sin(0.17)])), 1.0)]
    rows += [(2, "arrow", f"d_{k + 1}", 0, np.cos(a), np.sin(a), 0.0) for k, a in enumerate(spanning)]
    tangent = Ground().tangent
    rows += [(3, "rim", "cone", k, *(side * mu * tangent), 1.0) for k, side in enumerate((1.0, -1.0))]
    rows += [(3, "arrow", name, 0, *(side * tangent), 0.0) for name, side in (("d_+", 1.0), ("d_-", -1.0))]
    for panel in (1, 2, 3):
        rows += [(panel, "arrow", "n", 0, 0.0, 0.0, 1.0), (panel, "number", "friction_mu", 0, mu, 0.0, 0.0)]
    return pd.DataFrame(rows, columns=list(CONE_COLUMNS))


def normal_gap(ellipse: Ellipse = SMALL_ELLIPSE, ground: Ground | None = None) -> pd.DataFrame:
    """Figure 5: frames, angles and lengths in the gap's definition (section 4.1), for a body over a sloped ground.

    ``beta`` is the angle of some other point of the outline, at the signed distance ``l`` (eq. 21) from the ground.
    """
    ground = ground or Ground(-0.24, 0.028, 0.057)
    reach = 3.5 * ellipse.a
    q = posture(ellipse, ground, 0.42, 0.62 * ellipse.a, along=0.62 * reach)
    at, _ = _nearest(ellipse, ground, q)
    start = np.array([ground.x0, ground.y0])
    rows = [*_line("outline", outline_at(ellipse, q)), *_line("ground", start + np.outer([0.0, reach], ground.tangent))]
    for name, origin, angle in (("S", (0.0, 0.0), 0.0), ("S_p", start, ground.slope), ("S_l", q[:2], q[2])):
        rows += _frame(name, origin, angle)
    rows += [_point("O", (0.0, 0.0)), _point("P_0", start), _point("G", q[:2])]
    out = at.point[0] - q[:2]
    beta_star = (np.arctan2(out[1], out[0]) - q[2]) % (2.0 * np.pi)
    own_axis = (np.cos(q[2]), np.sin(q[2]))
    for item, beta in (("*", beta_star), ("", beta_star + 1.45)):
        rho = ellipse.a * ellipse.b / np.hypot(ellipse.b * np.cos(beta), ellipse.a * np.sin(beta))
        edge = q[:2] + rho * np.array([np.cos(q[2] + beta), np.sin(q[2] + beta)])
        distance = (edge - start) @ ground.normal
        below = edge - distance * ground.normal
        rows += [_point(f"Q{item}", edge), _point(f"Q_E{item}", below), _angle(f"beta{item}", q[:2], own_axis, beta)]
        rows += [
            *_line(f"rho{item}", (q[:2], edge)),
            *_line(f"l{item}", (edge, below)),
            _number(f"l{item}", distance, "m"),
        ]
    rows += [_angle("alpha", start, (1.0, 0.0), ground.slope), _angle("theta", q[:2], (1.0, 0.0), q[2])]
    return _table(rows)


def fitted_trajectory(seed: int = 15) -> pd.DataFrame:
    """Figure 15: postures captured with noise, and the smooth motion that a fit looks for.

    The motion is a simulated bounce of the small ellipse; every 25th state with Gaussian noise, far more than a
    camera's so that it can be seen, stands for a captured posture. One row per posture or point of an outline
    (``part``); ``index`` is k of the motion and i of the captured postures, ``order`` that of an outline's points.

    Deviation: the curve is the motion itself and not the outcome of a fit; the figure is qualitative in the paper too.
    """
    h, every, count = 2e-3, 25, 9
    ground = Ground()
    body, law = _body(SMALL_ELLIPSE), PlanarLaw(0.3, 0.7)
    q0 = posture(SMALL_ELLIPSE, ground, 0.6, 0.12)
    motion = simulate(body, ground, law, q0, (2.3, 0.0, -3.0), time_step=h, steps=every * (count - 1))
    scatter = np.array([0.005, 0.005, 0.12])  # m, m, rad
    captured = motion.position[::every] + scatter * np.random.default_rng(seed).standard_normal((count, 3))
    rows: list[tuple[Any, ...]] = []
    for kind, postures, times, outlined in (
        ("fitted", motion.position, motion.time, every),
        ("captured", captured, motion.time[::every], 1),
    ):
        for k, (q, time) in enumerate(zip(postures, times, strict=True)):
            rows.append((kind, "posture", k, 0, time, *q))
            if k % outlined == 0:
                points = outline_at(SMALL_ELLIPSE, q)
                rows += [(kind, "outline", k, order, time, *point, q[2]) for order, point in enumerate(points)]
    return pd.DataFrame(rows, columns=list(POSTURE_COLUMNS))


def time_instants() -> pd.DataFrame:
    """Figure 16: captured instants at 240 frames/s and those inserted for steps of at most 1 ms (section 5.1).

    ``index`` is k = n_s i + ``after_previous_capture``; ``step_s`` is ``h = Delta t / n_s``, n_s the least number
    of sub-intervals with steps no longer than wanted.
    """
    interval, longest = 1.0 / 240.0, 1e-3
    parts = int(np.ceil(interval / longest))
    step = interval / parts
    rows = []
    for k in range(2 * parts + 1):
        kind = "captured" if k % parts == 0 else "inserted"
        rows.append((kind, k, k % parts, k * step, step))
    return pd.DataFrame(rows, columns=list(INSTANT_COLUMNS))


def posture(shape: Shape, ground: Ground, theta: float, gap: float, along: float = 0.0) -> np.ndarray:
    """(3,) configuration of a body at an angle (rad) whose least gap is as stated.

    The centre of mass lies over the point of the ground ``along`` (m) from its origin.
    """
    start = np.array([ground.x0, ground.y0]) + along * ground.tangent
    height = gap - float(contacts(shape, ground, (*start, theta)).gap.min())
    return np.array([*(start + height * ground.normal), theta])


def _smooth_body() -> Polygon:
    """A convex body without symmetry, its corners a degree of the outward normal apart, about its centre of mass.

    The support function is ``H = r (1 + c_2 cos 2 psi + c_3 cos(3 psi - p))``; its points are ``H u + H' u'``.
    """
    psi = 2.0 * np.pi * np.arange(_CORNERS) / _CORNERS
    r, c_2, c_3, p = 0.045, 0.16, 0.05, 0.9
    height = r * (1.0 + c_2 * np.cos(2.0 * psi) + c_3 * np.cos(3.0 * psi - p))
    slope = -r * (2.0 * c_2 * np.sin(2.0 * psi) + 3.0 * c_3 * np.sin(3.0 * psi - p))
    outward = np.column_stack([np.cos(psi), np.sin(psi)])
    points = height[:, None] * outward + slope[:, None] * np.column_stack([-np.sin(psi), np.cos(psi)])
    following = np.roll(points, -1, axis=0)
    cross = points[:, 0] * following[:, 1] - points[:, 1] * following[:, 0]
    center = (cross[:, None] * (points + following)).sum(axis=0) / (3.0 * cross.sum())
    return Polygon(tuple((float(x), float(y)) for x, y in points - center))


def _nearest(shape: Shape, ground: Ground, q: np.ndarray) -> tuple[Contacts, int]:
    at = contacts(shape, ground, q)
    return at, int(np.argmin(at.gap))


def _body(ellipse: Ellipse) -> PlanarBody:
    return PlanarBody(ellipse, SMALL_MASS, SMALL_MASS * SMALL_INERTIA_RATIO)


def _velocity(at: Contacts, u_t: float, u_n: float, omega: float) -> np.ndarray:
    """(3,) velocity of a body turning at omega (rad/s) whose only contact point has (u_t, u_n), m/s."""
    tangent, normal = at.tangent[0], at.normal[0]
    linear = (u_t - tangent[2] * omega) * tangent[:2] + (u_n - normal[2] * omega) * normal[:2]
    return np.array([*linear, omega])


def _posture_lines(shape: Shape, ground: Ground, q: np.ndarray, reach: float) -> list[dict[str, Any]]:
    foot = q[:2] - ((q[:2] - [ground.x0, ground.y0]) @ ground.normal) * ground.normal
    ends = foot + np.outer([-reach, reach], ground.tangent)
    return [*_line("outline", outline_at(shape, q)), *_line("ground", ends)]


def _frame(name: str, origin: Iterable[float], angle: float) -> list[dict[str, Any]]:
    first, second = (np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))
    return [_arrow(f"x {name}", origin, first, "1"), _arrow(f"y {name}", origin, second, "1")]


def _row(part: str, item: str, at: Iterable[float] = (np.nan, np.nan), **more: Any) -> dict[str, Any]:
    x, y = at
    return {"panel": 1, "part": part, "item": item, "order": 0, "x_m": x, "y_m": y, "unit": "m", **more}


def _line(item: str, points: Iterable[Iterable[float]]) -> list[dict[str, Any]]:
    return [_row("line", item, point, order=order) for order, point in enumerate(points)]


def _point(item: str, at: Iterable[float]) -> dict[str, Any]:
    return _row("point", item, at)


def _arrow(item: str, foot: Iterable[float], vector: Iterable[float], unit: str) -> dict[str, Any]:
    x, y = vector
    return _row("arrow", item, foot, vector_x=x, vector_y=y, unit=unit)


def _angle(item: str, apex: Iterable[float], start: Iterable[float], value: float) -> dict[str, Any]:
    x, y = start
    return _row("angle", item, apex, vector_x=x, vector_y=y, value=value, unit="rad")


def _number(item: str, value: float, unit: str) -> dict[str, Any]:
    return _row("number", item, value=value, unit=unit)


def _in_panel(panel: int, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "panel": panel} for row in rows]


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows to a nanometre (and as fine in other units): what is zero but for rounding is written as zero."""
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["x_m", "y_m", "vector_x", "vector_y", "value"]
    table[numbers] = table[numbers].astype(float).round(9) + 0.0
    return table
