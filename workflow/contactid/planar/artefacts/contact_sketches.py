"""Figures 1 to 5: contact frames, the states of a contact, restitution, friction cones and the
normal gap.

Tables are those of :mod:`contactid.planar.artefacts.sketch`, but for figure 4's, which is in three
dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Arc

from contactid.output import style
from contactid.planar.artefacts import sketch
from contactid.planar.artefacts.pen import (
    BODY,
    BOLD,
    DARK,
    NORMAL,
    QUIET,
    SOLID,
    THIN,
    arrow,
    dot,
    ground,
    page,
    pens,
    say,
)
from contactid.planar.simulate.bodies import PlanarLaw, simulate
from contactid.planar.simulate.geometry import Contacts, Ellipse, Ground, contacts, outline_at

_XYZ = ("x", "y", "z")
CONE_FRICTION = 0.6
PYRAMID_SIDES = 6
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
_AZIMUTH, _ELEVATION = np.radians(25.0), np.radians(20.0)  # of the eye in figure 4
_AWAY = np.array([np.sin(_AZIMUTH), np.cos(_AZIMUTH), 0.0])
_UPWARDS = np.sin(_ELEVATION) * _AWAY + np.array([0.0, 0.0, np.cos(_ELEVATION)])
_FROM_ABOVE = np.array([[np.cos(_AZIMUTH), -np.sin(_AZIMUTH), 0.0], _UPWARDS])
_FROM_THE_FRONT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
_NAMED = {
    "n": (style.ACCENT, r"$\mathbf{n}^{(j)}$", (11, 0)),
    "f_c": (style.RELEASE, r"$\mathbf{f}_c^{(j)}$", (-8, 4)),
}


def contact_frames() -> pd.DataFrame:
    """Figure 1: frames {Q; t, n} where three grounds touch a smooth convex body, and one contact
    force.
    """
    body, q = Ellipse(0.055, 0.036), np.array([0.085, 0.075, np.radians(20.0)])
    rows = [
        *sketch.frame("S", (0.0, 0.0), 0.0),
        sketch.point("O", (0.0, 0.0)),
        sketch.point("G", q[:2]),
    ]
    rows += sketch.line("outline", outline_at(body, q))
    for j, direction in enumerate(_TOUCHED_AT, start=1):
        slope = np.radians(direction + 90.0)
        ground = Ground(slope, *contacts(body, Ground(slope), q).point[0])
        at = contacts(body, ground, q)
        foot, normal, tangent = at.point[0], at.normal[0, :2], at.tangent[0, :2]
        rows += sketch.line(f"ground {j}", foot + np.outer([-0.022, 0.022], tangent))
        rows += [sketch.point(f"Q {j}", foot), sketch.number(f"gap {j}", at.gap[0], "m")]
        rows += [
            sketch.arrow(f"n {j}", foot, normal, "1"),
            sketch.arrow(f"t {j}", foot, tangent, "1"),
        ]
        if j == 2:
            pushing, rubbing = 1.4 * normal, 0.4 * tangent
            forces = {"f_n": pushing, "f_t": rubbing, "f_c": pushing + rubbing}
            rows += [sketch.arrow(name, foot, force, "N") for name, force in forces.items()]
    return sketch.table(rows)


def draw_contact_frames(data: pd.DataFrame) -> Figure:
    """Figure 1: frames at the contact points of a body."""
    figure, (pen,) = pens(data, style.SINGLE_COLUMN, ((-0.012, -0.014), (0.163, 0.133)))
    for j in (1, 2, 3):
        pen.ground(f"ground {j}", 0.005)
    pen.fill("outline")
    pen.frame("S", 0.03, "$x$", "$y$")
    pen.dot("O", r"$\{S\}$", (0, -9))
    pen.dot("G", "$G$", (-7, -5))
    for item, name, shift in (("f_n", r"$f_n^{(2)}$", (-4, -9)), ("f_t", r"$f_t^{(2)}$", (19, -3))):
        tip = pen.tip(item, 0.034)
        pen.dashed(pen.place(item, "arrow"), tip)
        pen.dashed(tip, pen.tip("f_c", 0.034))
        say(pen.axes, tip, name, shift, QUIET)
    pen.arrow("f_c", 0.034, style.RELEASE, r"$\mathbf{f}_c^{(2)}$", (-2, 10))
    beside = {
        "n 1": (10, 5),
        "t 1": (3, -9),
        "n 2": (-6, -10),
        "t 2": (11, 4),
        "n 3": (-9, -5),
        "t 3": (-11, -4),
    }
    for item, shift in beside.items():
        kind, number = item.split()
        colour = style.ACCENT if kind == "n" else style.LINE
        pen.arrow(item, 0.021, colour, rf"$\mathbf{{{kind}}}^{{({number})}}$", shift)
    for j in (1, 2, 3):
        out = -pen.vector(f"n {j}")
        pen.dot(f"Q {j}", rf"$Q^{{({j})}}$", (18, 15) * out)
        say(pen.axes, pen.place(f"Q {j}"), rf"$\{{S^{{({j})}}\}}$", (40, 27) * out, QUIET)
    return figure


def contact_states(ellipse: Ellipse = sketch.SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 2: an ellipse in each of the four cases, with the contact point's velocity and the
    step's impulse.

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
        part += [
            sketch.point("Q_E", foot - at.gap[0] * ground.normal),
            sketch.number("g_n", at.gap[0], "m"),
        ]
        part += [sketch.number("gdot", normal @ v, "m/s"), sketch.number("c_n", impulse, "N s")]
        part += [sketch.arrow("velocity", foot, velocity, "m/s")]
        panels.append([*part, sketch.arrow("impulse", foot, impulse * ground.normal, "N s")])
    return sketch.table(*panels)


def draw_contact_states(data: pd.DataFrame) -> Figure:
    """Figure 2: the four states of a contact."""
    figure, panels = pens(data, style.DOUBLE_COLUMN, ((-0.070, -0.024), (0.070, 0.087)), head=0.5)
    for case, pen in enumerate(panels, start=1):
        pushed, closed = pen.sign("c_n") == ">", pen.sign("g_n") == "="
        pen.ground("ground", 0.006)
        pen.fill("outline")
        pen.arrow("velocity", 0.046, style.LINE)
        if not closed:
            pen.dimension("Q", "Q_E", "$g_n$", (-9, -1))
        if pushed:
            pen.arrow("impulse", 1.6, style.RELEASE)
        pen.dot("Q", "$Q$", (-8, 6))
        rate = rf",\ \dot{{g}}_n {pen.sign('gdot')} 0" if closed else ""
        pen.heading(
            f"Case {case}: {'impulse' if pushed else 'no impulse'}",
            f"$g_n {pen.sign('g_n')} 0{rate}$",
        )
    handles = [Line2D([], [], color=colour, lw=BOLD) for colour in (style.LINE, style.RELEASE)]
    figure.legend(
        handles,
        ["velocity of the contact point", "normal impulse"],
        loc="outside lower center",
        ncols=2,
    )
    return figure


def restitution(ellipse: Ellipse = sketch.SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 3: one step of the simulator through an impact without friction, at the posture where
    the gap closes.
    """
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
        [
            *body,
            sketch.arrow(item, foot, value * ground.normal, unit),
            sketch.number(item, value, unit),
        ]
        for item, value, unit in (
            ("gdot", before, "m/s"),
            ("c_n", impulse, "N s"),
            ("gdot+", after, "m/s"),
        )
    ]
    panels[0].insert(0, sketch.number("restitution_e_n", law.restitution_e_n, "1"))
    return sketch.table(*panels)


def draw_restitution(data: pd.DataFrame) -> Figure:
    """Figure 3: the contact point's normal velocity before and after an impact, and the impulse
    between.
    """
    figure, panels = pens(
        data, 0.75 * style.DOUBLE_COLUMN, ((-0.062, -0.042), (0.062, 0.068)), head=0.45
    )
    said = (
        ("gdot", "before", style.LINE, 0.066, r"\dot{g}_n", ""),
        ("c_n", "impact", style.RELEASE, 1.1, "c_n", ""),
        ("gdot+", "after", style.ACCENT, 0.066, r"\dot{g}_n^+", r" = -\varepsilon\,\dot{g}_n"),
    )
    for pen, (item, when, colour, length, name, law) in zip(panels, said, strict=True):
        pen.ground("ground", 0.005)
        pen.fill("outline")
        pen.dot("G", "$G$", (7, 4))
        pen.arrow(item, length, colour, f"${name}$", (11, 0))
        pen.dot("Q", "$Q$", (-8, 6))
        pen.heading(
            when, f"${name}{law} = {pen.number(item):.3g}$ {pen.row(item, 'number')['unit']}"
        )
    e_n = panels[0].number("restitution_e_n")
    say(panels[1].axes, (0.0, -0.026), rf"$\varepsilon = {e_n:g}$", (0, 0), DARK)
    return figure


def friction_cones() -> pd.DataFrame:
    """Figure 4: cone, pyramid and planar cone of a contact in Q, as points (x, y, z) with z along
    the normal.

    Forces are divided by f_n, so the cone's rim lies at z = 1 with radius mu (a number, in the
    column x). The pyramid is the hull of the mu d_l: the set where the sum of the f_t,l is at most
    mu f_n. Parts are ``rim``, ``arrow`` (from Q), and ``number``.
    """
    mu = CONE_FRICTION
    angle = np.linspace(0.0, 2.0 * np.pi, 145)
    spanning = np.radians(-20.0) + 2.0 * np.pi * np.arange(PYRAMID_SIDES) / PYRAMID_SIDES
    rows: list[tuple[Any, ...]] = []
    for panel, around in ((1, angle), (2, np.append(spanning, spanning[0]))):
        rim = np.column_stack([mu * np.cos(around), mu * np.sin(around), np.ones(len(around))])
        rows += [(panel, "rim", "cone", k, *point) for k, point in enumerate(rim)]
    rows += [(1, "arrow", "f_c", 0, *(-0.5 * mu * np.array([np.cos(0.17), np.sin(0.17)])), 1.0)]
    rows += [
        (2, "arrow", f"d_{k + 1}", 0, np.cos(a), np.sin(a), 0.0) for k, a in enumerate(spanning)
    ]
    tangent = Ground().tangent
    rows += [
        (3, "rim", "cone", k, *(side * mu * tangent), 1.0) for k, side in enumerate((1.0, -1.0))
    ]
    rows += [
        (3, "arrow", name, 0, *(side * tangent), 0.0)
        for name, side in (("d_+", 1.0), ("d_-", -1.0))
    ]
    for panel in (1, 2, 3):
        rows += [
            (panel, "arrow", "n", 0, 0.0, 0.0, 1.0),
            (panel, "number", "friction_mu", 0, mu, 0.0, 0.0),
        ]
    return pd.DataFrame(rows, columns=["panel", "part", "item", "order", *_XYZ])


def draw_friction_cones(data: pd.DataFrame) -> Figure:
    """Figure 4: friction cone, pyramid and planar cone."""
    box = (-1.3, -0.6), (1.3, 1.5)
    figure, panels = page(style.DOUBLE_COLUMN, [box] * 3, head=0.2)
    sides = int(((data["panel"] == 2) & data["item"].str.startswith("d_")).sum())
    names = "(a) cone", f"(b) pyramid, $p = {sides}$", "(c) planar contact"
    for panel, (axes, name) in enumerate(zip(panels, names, strict=True), start=1):
        part = data[data["panel"] == panel]
        if panel == 3:
            ground(axes, np.array([[-1.25, 0.0], [1.25, 0.0]]), 0.08)
            mu = float(part.loc[part["part"] == "number", "x"].iloc[0])
            end = 90.0 + np.degrees(np.arctan(mu))
            axes.add_patch(
                Arc((0.0, 0.0), 1.0, 1.0, theta1=90.0, theta2=end, lw=THIN, ec=QUIET, zorder=4)
            )
            say(axes, (-0.14, 0.48), r"$\arctan\mu$", (-38, 9), DARK)
        else:
            corners = 0.95 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
            axes.fill(*(corners @ _FROM_ABOVE.T).T, facecolor=SOLID, lw=0)
        view = _FROM_THE_FRONT if panel == 3 else _FROM_ABOVE
        _draw_cone(axes, part.loc[part["part"] == "rim", list(_XYZ)].to_numpy(), view)
        for item, *vector in part.loc[part["part"] == "arrow", ["item", *_XYZ]].itertuples(
            index=False
        ):
            tip = view @ vector * (1.35 if item == "n" else 1.0)
            beyond = (0.0, 10.0) if panel == 3 else [9.0, 8.0] * (tip / np.hypot(*tip))
            direction = style.LINE, rf"$\vec{{d}}_{{{item[2:]}}}$", beyond
            colour, label, shift = _NAMED.get(item, direction)
            arrow(axes, (0.0, 0.0), tip, colour, BOLD)
            say(axes, tip, label, shift, colour)
        dot(axes, (0.0, 0.0), "$Q^{(j)}$", (3, -12))
        say(axes, (0.0, -0.58), name, (0, 0), DARK, size=8)
    return figure


def _draw_cone(axes: Axes, rim: np.ndarray, view: np.ndarray) -> None:
    """A cone, pyramid or triangle from Q up to its rim (n, 3); edges behind its outer side are
    dotted.
    """
    seen = rim @ view.T
    sides = np.arctan2(seen[:, 0], seen[:, 1])
    outer = seen[[int(np.argmin(sides)), int(np.argmax(sides))]]
    axes.fill(*np.vstack([[0.0, 0.0], outer]).T, facecolor=BODY, edgecolor=DARK, lw=NORMAL)
    if len(rim) == 2:
        return
    axes.fill(*seen.T, facecolor="#f3f7fa", edgecolor=DARK, lw=NORMAL)
    if len(rim) > _ROUND:
        axes.plot(
            *np.array([view @ [0.0, 0.0, 1.0], seen[0]]).T, color=QUIET, lw=THIN, ls="--", zorder=3
        )
        say(axes, seen[0], r"$\mu f_n$", (13, 0), DARK)
        return
    for corner, (x, y) in zip(rim[:-1], seen[:-1], strict=True):
        axes.plot([0.0, x], [0.0, y], color=DARK, lw=THIN, ls=":" if corner @ _AWAY > 0.0 else "-")


def normal_gap(
    ellipse: Ellipse = sketch.SMALL_ELLIPSE, ground: Ground | None = None
) -> pd.DataFrame:
    """Figure 5: frames, angles and lengths in the gap's definition (section 4.1), for a body over a
    sloped ground.

    ``beta`` is the angle of some other point of the outline, at the signed distance ``l`` (eq. 21)
    from the ground.
    """
    ground = ground or Ground(-0.24, 0.028, 0.057)
    reach = 3.5 * ellipse.a
    q = sketch.posture(ellipse, ground, 0.42, 0.62 * ellipse.a, along=0.62 * reach)
    at = contacts(ellipse, ground, q)
    start, own_axis = ground.origin, (np.cos(q[2]), np.sin(q[2]))
    rows = sketch.line("outline", outline_at(ellipse, q))
    rows += sketch.line("ground", start + np.outer([0.0, reach], ground.tangent))
    for name, origin, angle in (
        ("S", (0.0, 0.0), 0.0),
        ("S_p", start, ground.slope),
        ("S_l", q[:2], q[2]),
    ):
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
    rows += [
        sketch.angle("alpha", start, (1.0, 0.0), ground.slope),
        sketch.angle("theta", q[:2], (1.0, 0.0), q[2]),
    ]
    return sketch.table(rows)


def draw_normal_gap(data: pd.DataFrame) -> Figure:
    """Figure 5: definition of the normal gap."""
    figure, (pen,) = pens(data, 0.72 * style.DOUBLE_COLUMN, ((-0.016, -0.014), (0.219, 0.167)))
    pen.ground("ground", 0.005)
    pen.fill("outline")
    for item, length in (("alpha", 0.062), ("theta", 0.066)):
        apex = pen.place(item, "angle")
        pen.dashed(apex, apex + length * pen.vector(item, "angle"))
    pen.frame("S", 0.035, "$x$", "$y$")
    pen.frame("S_p", 0.035, "", "$y_p$")
    say(pen.axes, pen.tip("x S_p", 0.035), "$x_p$", (-5, -15), DARK)
    pen.frame("S_l", 0.066, "$x_l$", "$y_l$")
    pen.angle("alpha", 0.052, r"$\alpha$", (8, 0))
    pen.angle("theta", 0.058, r"$\theta$", (8, 1))
    pen.angle("beta*", 0.021, r"$\beta^*$", (-7, 5))
    pen.angle("beta", 0.010, r"$\beta$", (-7, 0))
    for star, dash, name, shift in (
        ("*", "-", r"\beta^*", (-13, 7)),
        ("", "--", r"\beta", (-13, -5)),
    ):
        rho = pen.line(f"rho{star}")
        pen.axes.plot(*rho.T, color=style.RELEASE, lw=NORMAL, ls=dash)
        say(pen.axes, 0.35 * rho[0] + 0.65 * rho[1], rf"$\rho({name})$", shift, style.RELEASE)
    pen.dimension("Q*", "Q_E*", r"$g_n = l(\beta^*)$", (25, 0), style.LINE)
    pen.dimension("Q", "Q_E", r"$l(\beta)$", (13, 0), QUIET)
    pen.dot("O", r"$O\ \{S\}$", (0, -9))
    pen.dot("P_0", r"$P_0\ \{S_p\}$", (-22, 0))
    pen.dot("G", r"$G\ \{S_l\}$", (24, -8))
    pen.dot("Q*", "$Q$", (-8, -5))
    pen.dot("Q_E*", "$Q_E$", (-3, -17))
    return figure


def _velocity(at: Contacts, u_t: float, u_n: float, omega: float) -> np.ndarray:
    """(3,) velocity of a body turning at omega (rad/s) whose only contact point has (u_t, u_n),
    m/s.
    """
    tangent, normal = at.tangent[0], at.normal[0]
    linear = (u_t - tangent[2] * omega) * tangent[:2] + (u_n - normal[2] * omega) * normal[:2]
    return np.array([*linear, omega])
