"""Figures 1 to 5: contact frames, the states of a contact, restitution, friction cones and the normal gap.

Tables are those of :mod:`contactid.planar.artefacts.sketch`, but for figure 4's, which is in three dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.planar.artefacts import pen, sketch
from contactid.planar.simulate.bodies import PlanarLaw, simulate
from contactid.planar.simulate.geometry import Contacts, Ellipse, Ground, Polygon, contacts, outline_at

CONE_COLUMNS = ("panel", "part", "item", "order", "x", "y", "z")
CONE_FRICTION = 0.6
PYRAMID_SIDES = 6
_CORNERS = 360  # of the polygon that stands for a smooth body
_TOUCHED_AT = (-125, -30, 110)  # figure 1: directions of the outward normals in S, degrees
_CASES = (
    (0.018, 0.2, -0.35),
    (sketch.TOUCHING, 0.2, -0.35),
    (sketch.TOUCHING, 0.4, 0.0),
    (sketch.TOUCHING, 0.2, 0.35),
)  # g_n, u_t, u_n
_STEP = 0.02  # s: long enough to see the impulse of a resting contact beside that of an impact
_LEANING = 0.5  # rad
_ROUND = 20  # corners of a rim from which on it is a circle


def contact_frames() -> pd.DataFrame:
    """Figure 1: frames {Q; t, n} where three grounds touch a smooth convex body, and one contact force."""
    body, turned = _smooth_body(), 20
    q = np.array([0.085, 0.075, np.radians(turned)])
    rows = [*sketch.frame("S", (0.0, 0.0), 0.0), sketch.point("O", (0.0, 0.0)), sketch.point("G", q[:2])]
    rows += sketch.line("outline", outline_at(body, q))
    for j, direction in enumerate(_TOUCHED_AT, start=1):
        corner = outline_at(body, q)[(direction - turned) % _CORNERS]
        ground = Ground(np.radians(direction + 90.0), *corner)
        at = contacts(body, ground, q)
        nearest = int(np.argmin(at.gap))
        foot, normal, tangent = at.point[nearest], at.normal[nearest, :2], at.tangent[nearest, :2]
        rows += sketch.line(f"ground {j}", foot + np.outer([-0.022, 0.022], tangent))
        rows += [sketch.point(f"Q {j}", foot), sketch.number(f"gap {j}", at.gap[nearest], "m")]
        rows += [sketch.arrow(f"n {j}", foot, normal, "1"), sketch.arrow(f"t {j}", foot, tangent, "1")]
        if j == 2:
            pushing, rubbing = 1.4 * normal, 0.4 * tangent
            forces = {"f_n": pushing, "f_t": rubbing, "f_c": pushing + rubbing}
            rows += [sketch.arrow(name, foot, force, "N") for name, force in forces.items()]
    return sketch.table(rows)


def draw_contact_frames(data: pd.DataFrame) -> Figure:
    """Figure 1: frames at the contact points of a body."""
    figure, (axes,) = pen.page(style.SINGLE_COLUMN, [((-0.012, -0.014), (0.163, 0.133))])
    for j in (1, 2, 3):
        pen.ground(axes, pen.line(data, f"ground {j}"), 0.005)
    pen.fill(axes, pen.line(data, "outline"))
    pen.frame_arrows(axes, data, "S", 0.03, r"$x$", r"$y$")
    pen.dot(axes, pen.place(data, "O"), r"$\{S\}$", (0, -9))
    pen.dot(axes, pen.place(data, "G"), r"$G$", (-7, -5))
    for item, name, shift in (("f_n", r"$f_n^{(2)}$", (-4, -9)), ("f_t", r"$f_t^{(2)}$", (19, -3))):
        pen.dashed(axes, pen.foot(data, item), pen.tip(data, item, 0.034))
        pen.dashed(axes, pen.tip(data, item, 0.034), pen.tip(data, "f_c", 0.034))
        pen.say(axes, pen.tip(data, item, 0.034), name, shift, pen.QUIET)
    pen.arrow(axes, pen.foot(data, "f_c"), pen.tip(data, "f_c", 0.034), style.RELEASE, pen.BOLD)
    pen.say(axes, pen.tip(data, "f_c", 0.034), r"$\mathbf{f}_c^{(2)}$", (-2, 10), style.RELEASE)
    sides = {"n 1": (10, 5), "t 1": (3, -9), "n 2": (-6, -10), "t 2": (11, 4), "n 3": (-9, -5), "t 3": (-11, -4)}
    for item, shift in sides.items():
        kind, number = item.split()
        colour, tip = style.ACCENT if kind == "n" else style.LINE, pen.tip(data, item, 0.021)
        pen.arrow(axes, pen.foot(data, item), tip, colour, pen.BOLD)
        pen.say(axes, tip, rf"$\mathbf{{{kind}}}^{{({number})}}$", shift, colour)
    for j in (1, 2, 3):
        out = -pen.vector(data, f"n {j}")
        pen.dot(axes, pen.place(data, f"Q {j}"), rf"$Q^{{({j})}}$", (18, 15) * out)
        pen.say(axes, pen.place(data, f"Q {j}"), rf"$\{{S^{{({j})}}\}}$", (40, 27) * out, pen.QUIET)
    return figure


def contact_states(ellipse: Ellipse = sketch.SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 2: an ellipse in each of the four cases, with the contact point's velocity and the step's impulse.

    There's no friction, so that impulses are along the normal.
    """
    ground, law, panels = Ground(), PlanarLaw(0.0, 0.5), []
    for gap, u_t, u_n in _CASES:
        q = sketch.posture(ellipse, ground, _LEANING, gap)
        at = contacts(ellipse, ground, q)
        v = _velocity(at, u_t, u_n, omega=1.0)
        motion = simulate(sketch.ellipse_body(ellipse), ground, law, q, v, time_step=_STEP, steps=1)
        foot, normal, impulse = at.point[0], at.normal[0], motion.impulse_n[1, 0]
        velocity = (at.tangent[0] @ v) * ground.tangent + (normal @ v) * ground.normal
        part = [*sketch.posture_lines(ellipse, ground, q, 1.3 * ellipse.a), sketch.point("Q", foot)]
        part += [sketch.point("Q_E", foot - at.gap[0] * ground.normal), sketch.number("g_n", at.gap[0], "m")]
        part += [sketch.number("gdot", normal @ v, "m/s"), sketch.number("c_n", impulse, "N s")]
        part += [sketch.arrow("velocity", foot, velocity, "m/s")]
        panels.append([*part, sketch.arrow("impulse", foot, impulse * ground.normal, "N s")])
    return sketch.table(*panels)


def draw_contact_states(data: pd.DataFrame) -> Figure:
    """Figure 2: the four states of a contact."""
    box = (-0.070, -0.024), (0.070, 0.087)
    figure, panels = pen.page(style.DOUBLE_COLUMN, [box] * 4, head=0.5)
    for case, axes in enumerate(panels, start=1):
        part = data[data["panel"] == case]
        impulse, foot = pen.vector(part, "impulse"), pen.place(part, "Q")
        pushed, apart = bool(np.hypot(*impulse) > pen.SLACK), pen.number(part, "g_n") > pen.SLACK
        pen.ground(axes, pen.line(part, "ground"), 0.006)
        pen.fill(axes, pen.line(part, "outline"))
        pen.arrow(axes, foot, foot + 0.046 * pen.vector(part, "velocity"), style.LINE, pen.BOLD)
        if apart:
            pen.dimension(axes, foot, pen.place(part, "Q_E"), r"$g_n$", (-9, -1))
        if pushed:
            pen.arrow(axes, foot, foot + 1.6 * impulse, style.RELEASE, pen.BOLD)
        pen.dot(axes, foot, r"$Q$", (-8, 6))
        state = rf"$g_n {pen.sign(part, 'g_n')} 0$" + ("" if apart else rf"$,\ \dot{{g}}_n {pen.sign(part, 'gdot')} 0$")
        pen.heading(axes, f"Case {case}: {'impulse' if pushed else 'no impulse'}", state)
    handles = [panels[0].plot([], [], color=colour, lw=pen.BOLD)[0] for colour in (style.LINE, style.RELEASE)]
    figure.legend(handles, ["velocity of the contact point", "normal impulse"], loc="outside lower center", ncols=2)
    return figure


def restitution(ellipse: Ellipse = sketch.SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 3: one step of the simulator through an impact without friction, at the posture where the gap closes."""
    ground, law = Ground(), PlanarLaw(0.0, 0.6)
    q = sketch.posture(ellipse, ground, _LEANING, sketch.TOUCHING)
    at = contacts(ellipse, ground, q)
    v = _velocity(at, 0.0, -0.5, omega=1.0)
    motion = simulate(sketch.ellipse_body(ellipse), ground, law, q, v, time_step=1e-3, steps=1)
    before, after = (float(at.normal[0] @ velocity) for velocity in motion.velocity)
    impulse, foot = float(motion.impulse_n[1, 0]), at.point[0]
    body = sketch.posture_lines(ellipse, ground, q, 1.2 * ellipse.a)
    body += [sketch.point("Q", foot), sketch.point("G", q[:2])]
    panels = [
        [*body, sketch.arrow(item, foot, value * ground.normal, unit), sketch.number(item, value, unit)]
        for item, value, unit in (("gdot", before, "m/s"), ("c_n", impulse, "N s"), ("gdot+", after, "m/s"))
    ]
    panels[0].insert(0, sketch.number("restitution_e_n", law.restitution_e_n, "1"))
    return sketch.table(*panels)


def draw_restitution(data: pd.DataFrame) -> Figure:
    """Figure 3: the contact point's normal velocity before and after an impact, and the impulse between."""
    box = (-0.062, -0.042), (0.062, 0.068)
    figure, panels = pen.page(0.75 * style.DOUBLE_COLUMN, [box] * 3, head=0.45)
    said = (
        ("gdot", "before", style.LINE, 0.066, r"\dot{g}_n", ""),
        ("c_n", "impact", style.RELEASE, 1.1, r"c_n", ""),
        ("gdot+", "after", style.ACCENT, 0.066, r"\dot{g}_n^+", r" = -\varepsilon\,\dot{g}_n"),
    )
    for panel, (axes, (item, when, colour, length, name, law)) in enumerate(zip(panels, said, strict=True), start=1):
        part = data[data["panel"] == panel]
        pen.ground(axes, pen.line(part, "ground"), 0.005)
        pen.fill(axes, pen.line(part, "outline"))
        pen.dot(axes, pen.place(part, "G"), r"$G$", (7, 4))
        pen.arrow(axes, pen.foot(part, item), pen.tip(part, item, length), colour, pen.BOLD)
        pen.dot(axes, pen.place(part, "Q"), r"$Q$", (-8, 6))
        pen.say(axes, pen.tip(part, item, length), rf"${name}$", (11, 0), colour)
        unit = pen.row(part, item, "number")["unit"]
        pen.heading(axes, when, rf"${name}{law} = {pen.number(part, item):.3g}$ {unit}")
    pen.say(panels[1], (0.0, -0.026), rf"$\varepsilon = {pen.number(data, 'restitution_e_n'):g}$", (0, 0), pen.DARK)
    return figure


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


def draw_friction_cones(data: pd.DataFrame) -> Figure:
    """Figure 4: friction cone, pyramid and planar cone."""
    box = (-1.3, -0.6), (1.3, 1.5)
    figure, panels = pen.page(style.DOUBLE_COLUMN, [box] * 3, head=0.2)
    sides = int(((data["panel"] == 2) & data["item"].str.startswith("d_")).sum())
    names = "cone", f"pyramid, $p = {sides}$", "planar contact"
    for panel, axes in enumerate(panels, start=1):
        part = data[data["panel"] == panel]
        if panel == 3:
            pen.ground(axes, np.array([[-1.25, 0.0], [1.25, 0.0]]), 0.08)
            turned = 0.5 * np.pi + np.linspace(0.0, np.arctan(float(pen.row(part, "friction_mu", "number")["x"])), 30)
            arc = 0.5 * np.column_stack([np.cos(turned), np.sin(turned)])
            axes.plot(*arc.T, color=pen.QUIET, lw=pen.THIN, zorder=4)
            pen.say(axes, arc[15], r"$\arctan\mu$", (-38, 9), pen.DARK)
        else:
            corners = 0.95 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
            axes.fill(*_flat(corners).T, facecolor=pen.SOLID, lw=0)
        _cone(axes, part)
        for item in part[part["part"] == "arrow"]["item"]:
            colour = {"n": style.ACCENT, "f_c": style.RELEASE}.get(item, style.LINE)
            tip = _pictured(part[part["item"] == item])[0] * (1.35 if item == "n" else 1.0)
            pen.arrow(axes, (0.0, 0.0), tip, colour, pen.BOLD)
            beyond = (0.0, 10.0) if panel == 3 else [9.0, 8.0] * (tip / np.hypot(*tip))
            pen.say(axes, tip, _direction(item), {"n": (11, 0), "f_c": (-8, 4)}.get(item, beyond), colour)
        pen.dot(axes, (0.0, 0.0), "$Q^{(j)}$", (3, -12))
        pen.say(axes, (0.0, -0.58), f"({'abc'[panel - 1]}) {names[panel - 1]}", (0, 0), pen.DARK, size=8)
    return figure


def normal_gap(ellipse: Ellipse = sketch.SMALL_ELLIPSE, ground: Ground | None = None) -> pd.DataFrame:
    """Figure 5: frames, angles and lengths in the gap's definition (section 4.1), for a body over a sloped ground.

    ``beta`` is the angle of some other point of the outline, at the signed distance ``l`` (eq. 21) from the ground.
    """
    ground = ground or Ground(-0.24, 0.028, 0.057)
    reach = 3.5 * ellipse.a
    q = sketch.posture(ellipse, ground, 0.42, 0.62 * ellipse.a, along=0.62 * reach)
    at = contacts(ellipse, ground, q)
    start, own_axis = ground.origin, (np.cos(q[2]), np.sin(q[2]))
    rows = sketch.line("outline", outline_at(ellipse, q))
    rows += sketch.line("ground", start + np.outer([0.0, reach], ground.tangent))
    for name, origin, angle in (("S", (0.0, 0.0), 0.0), ("S_p", start, ground.slope), ("S_l", q[:2], q[2])):
        rows += sketch.frame(name, origin, angle)
    rows += [sketch.point("O", (0.0, 0.0)), sketch.point("P_0", start), sketch.point("G", q[:2])]
    out = at.point[0] - q[:2]
    beta_star = (np.arctan2(out[1], out[0]) - q[2]) % (2.0 * np.pi)
    for item, beta in (("*", beta_star), ("", beta_star + 1.45)):
        rho = ellipse.a * ellipse.b / np.hypot(ellipse.b * np.cos(beta), ellipse.a * np.sin(beta))
        edge = q[:2] + rho * np.array([np.cos(q[2] + beta), np.sin(q[2] + beta)])
        distance = (edge - start) @ ground.normal
        below = edge - distance * ground.normal
        rows += [sketch.point(f"Q{item}", edge), sketch.point(f"Q_E{item}", below)]
        rows += [sketch.angle(f"beta{item}", q[:2], own_axis, beta)]
        rows += [*sketch.line(f"rho{item}", (q[:2], edge)), *sketch.line(f"l{item}", (edge, below))]
        rows += [sketch.number(f"l{item}", distance, "m")]
    rows += [sketch.angle("alpha", start, (1.0, 0.0), ground.slope), sketch.angle("theta", q[:2], (1.0, 0.0), q[2])]
    return sketch.table(rows)


def draw_normal_gap(data: pd.DataFrame) -> Figure:
    """Figure 5: definition of the normal gap."""
    figure, (axes,) = pen.page(0.72 * style.DOUBLE_COLUMN, [((-0.016, -0.014), (0.219, 0.167))])
    pen.ground(axes, pen.line(data, "ground"), 0.005)
    pen.fill(axes, pen.line(data, "outline"))
    for item, length in (("alpha", 0.062), ("theta", 0.066)):
        apex = pen.place(data, item, "angle")
        pen.dashed(axes, apex, apex + length * pen.vector(data, item, "angle"))
    pen.frame_arrows(axes, data, "S", 0.035, r"$x$", r"$y$")
    pen.frame_arrows(axes, data, "S_p", 0.035, "", r"$y_p$")
    pen.say(axes, pen.tip(data, "x S_p", 0.035), r"$x_p$", (-5, -15), pen.DARK)
    pen.frame_arrows(axes, data, "S_l", 0.066, r"$x_l$", r"$y_l$")
    for item, radius, name, shift, named in (
        ("alpha", 0.052, r"$\alpha$", (8, 0), 0.5),
        ("theta", 0.058, r"$\theta$", (8, 1), 0.5),
        ("beta*", 0.021, r"$\beta^*$", (-8, 2), 0.75),
        ("beta", 0.010, r"$\beta$", (-7, 0), 0.5),
    ):
        pen.angle(axes, data, item, radius, name, shift, named)
    for star, dash, name, shift in (("*", "-", r"\beta^*", (-13, 7)), ("", "--", r"\beta", (-13, -5))):
        rho = pen.line(data, f"rho{star}")
        axes.plot(*rho.T, color=style.RELEASE, lw=pen.NORMAL, ls=dash)
        pen.say(axes, 0.35 * rho[0] + 0.65 * rho[1], rf"$\rho({name})$", shift, style.RELEASE)
    for star, name, right, colour in (("*", r"$g_n = l(\beta^*)$", 25, style.LINE), ("", r"$l(\beta)$", 13, pen.QUIET)):
        pen.dimension(axes, pen.place(data, f"Q{star}"), pen.place(data, f"Q_E{star}"), name, (right, 0), colour)
    for item, name, shift in (
        ("O", r"$O\ \{S\}$", (0, -9)),
        ("P_0", r"$P_0\ \{S_p\}$", (-22, 0)),
        ("G", r"$G\ \{S_l\}$", (24, -8)),
        ("Q*", r"$Q$", (-8, -5)),
        ("Q_E*", r"$Q_E$", (-3, -17)),
    ):
        pen.dot(axes, pen.place(data, item), name, shift)
    return figure


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


def _velocity(at: Contacts, u_t: float, u_n: float, omega: float) -> np.ndarray:
    """(3,) velocity of a body turning at omega (rad/s) whose only contact point has (u_t, u_n), m/s."""
    tangent, normal = at.tangent[0], at.normal[0]
    linear = (u_t - tangent[2] * omega) * tangent[:2] + (u_n - normal[2] * omega) * normal[:2]
    return np.array([*linear, omega])


def _flat(points: np.ndarray) -> np.ndarray:
    """Picture of points (..., 3), seen from a little above."""
    x, away = _turned(points)
    elevation = np.radians(20.0)
    return np.stack([x, np.sin(elevation) * away + np.cos(elevation) * points[..., 2]], axis=-1)


def _turned(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (...) to the right and away from the viewer."""
    azimuth = np.radians(25.0)
    x, y = points[..., 0], points[..., 1]
    return np.cos(azimuth) * x - np.sin(azimuth) * y, np.sin(azimuth) * x + np.cos(azimuth) * y


def _pictured(rows: pd.DataFrame) -> np.ndarray:
    """Picture (n, 2) of rows of figure 4, the planar contact's from the front."""
    points = rows[["x", "y", "z"]].to_numpy(dtype=float)
    return points[:, [0, 2]] if (rows["panel"] == 3).all() else _flat(points)


def _cone(axes: Axes, data: pd.DataFrame) -> None:
    """A cone, pyramid or triangle from Q up to its rim; edges behind its outer side are dotted."""
    rows = data[data["part"] == "rim"]
    points, rim = rows[["x", "y", "z"]].to_numpy(dtype=float), _pictured(rows)
    sides = np.arctan2(rim[:, 0], rim[:, 1])
    outer = [int(np.argmin(sides)), int(np.argmax(sides))]
    axes.fill(*np.vstack([[0.0, 0.0], rim[outer]]).T, facecolor=pen.BODY, edgecolor=pen.DARK, lw=pen.NORMAL)
    if len(rim) > 2:
        axes.fill(*rim.T, facecolor="#f3f7fa", edgecolor=pen.DARK, lw=pen.NORMAL)
    if 2 < len(rim) < _ROUND:
        for point, corner in zip(points[:-1], rim[:-1], strict=True):
            dash = "-" if _turned(point)[1] < 0.0 else ":"
            axes.plot(*np.array([(0.0, 0.0), corner]).T, color=pen.DARK, lw=pen.THIN, ls=dash)
    elif len(rim) >= _ROUND:
        pen.dashed(axes, _flat(points[0] * [0.0, 0.0, 1.0]), rim[0])
        pen.say(axes, rim[0], r"$\mu f_n$", (13, 0), pen.DARK)


def _direction(item: str) -> str:
    return {"n": r"$\mathbf{n}^{(j)}$", "f_c": r"$\mathbf{f}_c^{(j)}$"}.get(item, rf"$\vec{{d}}_{{{item[2:]}}}$")
