"""Figures 1 to 5: contact frames, the states of a contact, restitution, friction cones and the
normal gap.

Every contact point, normal, gap, velocity and impulse is what ``contacts`` and ``simulate`` give
for a stated body. Tables are those of :mod:`contactid.output.sketch`, in m and the fixed frame S;
figure 4's is of what is seen of three dimensions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.output import pen, sketch, style
from contactid.output.pen import BOLD, THIN
from contactid.output.sketch import Look, Rows
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import (
    Contacts,
    Ellipse,
    Ground,
    Shape,
    contacts,
    outline_at,
)

SMALL_ELLIPSE = Ellipse(0.050, 0.025)  # the plywood ellipse of section 6.2, m
SMALL_MASS, SMALL_INERTIA_RATIO = 0.064, 756e-6  # kg, m2
CONE_FRICTION = 0.6
PYRAMID_SIDES = 6
_TOUCHING = -1e-12  # m: closed for the simulator in spite of rounding
_DEPTH = 0.005  # m, of a drawn ground
# figure 1: directions of the outward normals in S, degrees, and where n and t are named
_TOUCHED = {-125: ((10, 5), (3, -9)), -30: ((-6, -10), (11, 4)), 110: ((-9, -5), (-11, -4))}
_CASES = ((0.018, -0.35), (_TOUCHING, -0.35), (_TOUCHING, 0.0), (_TOUCHING, 0.35))  # g_n, u_n
_STEP = 0.02  # s: long enough to see the impulse of a resting contact beside that of an impact
_LEANING = 0.5  # rad
_FROM_ABOVE = pen.view(-115.0, 20.0)
_FROM_THE_FRONT = pen.view(-90.0, 0.0)
_NAMED = {
    "n": ("green", r"$\mathbf{n}^{(j)}$", (11, 0)),
    "f_c": ("red", r"$\mathbf{f}_c^{(j)}$", (-8, 4)),
}
_CONE_LOOKS = {
    **sketch.LOOKS,
    "plane": Look(width=0.0, face=pen.SOLID),
    "top": Look(face="#f3f7fa"),
    "edge": Look(width=THIN),
    "back edge": Look(width=THIN, dash=":"),
}


def posture(
    shape: Shape, ground: Ground, theta: float, gap: float, along: float = 0.0
) -> np.ndarray:
    """(3,) configuration of a body at an angle (rad) whose least gap is as stated.

    The centre of mass lies over the point of the ground ``along`` (m) from its origin.
    """
    start = ground.origin + along * ground.tangent
    # on the ground itself the body's gap is its depth: it is lifted by that and the wanted gap
    height = gap - float(contacts(shape, ground, (*start, theta)).gap.min())
    return np.array([*(start + height * ground.normal), theta])


def ellipse_body(ellipse: Ellipse) -> PlanarBody:
    """An ellipse of the mass and J/m of section 6.2."""
    return PlanarBody(ellipse, SMALL_MASS, SMALL_MASS * SMALL_INERTIA_RATIO)


def _over_ground(shape: Shape, q: np.ndarray, reach: float) -> Rows:
    """A body's outline, and level ground as far as ``reach`` (m) to both sides."""
    ends = [(q[0] - reach, 0.0), (q[0] + reach, 0.0)]
    rows = sketch.line("ground", ends, "ground", scale=_DEPTH)
    return rows + sketch.line("outline", outline_at(shape, q), "area", look="body")


def contact_frames() -> pd.DataFrame:
    """Figure 1: frames {Q; t, n} where three grounds touch a smooth convex body, and one contact
    force.
    """
    body, q = Ellipse(0.055, 0.036), np.array([0.085, 0.075, np.radians(20.0)])
    grounds, rows = [], sketch.line("outline", outline_at(body, q), "area", look="body")
    rows += sketch.frame("S", (0.0, 0.0), 0.0, 0.03, "$x$", "$y$")
    rows += sketch.point("O", (0.0, 0.0), r"$\{S\}$", (0, -9))
    rows += sketch.point("G", q[:2], "$G$", (-7, -5))
    for j, (direction, (beside_n, beside_t)) in enumerate(_TOUCHED.items(), start=1):
        slope = np.radians(direction + 90.0)
        ground = Ground(slope, *contacts(body, Ground(slope), q).point[0])
        at = contacts(body, ground, q)
        foot, normal, tangent = at.point[0], at.normal[0, :2], at.tangent[0, :2]
        ends = foot + np.outer([-0.022, 0.022], tangent)
        grounds += sketch.line(f"ground {j}", ends, "ground", scale=_DEPTH)
        if j == 2:
            rows += _contact_force(foot, 1.4 * normal, 0.4 * tangent)
        named_n, named_t = (rf"$\mathbf{{{axis}}}^{{({j})}}$" for axis in "nt")
        rows += sketch.arrow(f"n {j}", foot, normal, "green", 0.021, named_n, beside_n)
        rows += sketch.arrow(f"t {j}", foot, tangent, "blue", 0.021, named_t, beside_t)
        rows += sketch.point(f"Q {j}", foot, f"$Q^{{({j})}}$", (-18, -15) * normal)
        beyond = rf"$\{{S^{{({j})}}\}}$", (-40, -27) * normal
        rows += sketch.point(f"S {j}", foot, *beyond, look="faint")
        rows += sketch.number(f"gap {j}", at.gap[0], "m")
    return sketch.table(grounds + rows)


def _contact_force(foot: np.ndarray, pushing: np.ndarray, rubbing: np.ndarray) -> Rows:
    """A contact force (N) with its parts, which are drawn as dashed lines."""
    scale, rows = 0.034, []
    tip = foot + scale * (pushing + rubbing)
    for name, force, shift in (("f_n", pushing, (-4, -9)), ("f_t", rubbing, (19, -3))):
        end = foot + scale * force
        rows += sketch.arrow(name, foot, force, unit="N")
        rows += sketch.line(f"{name} drawn", [foot, end, tip], look="dashed")
        rows += sketch.point(f"{name} end", end, f"${name}^{{(2)}}$", shift, look="faint")
    named = r"$\mathbf{f}_c^{(2)}$", (-2, 10), "N"
    return rows + sketch.arrow("f_c", foot, pushing + rubbing, "red", scale, *named)


def draw_contact_frames(data: pd.DataFrame) -> Figure:
    """Figure 1: frames at the contact points of a body."""
    box = (-0.012, -0.014), (0.163, 0.133)
    return sketch.draw_panels(data, style.SINGLE_COLUMN, box)[0]


def contact_states(ellipse: Ellipse = SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 2: an ellipse in each of the four cases, with the contact point's velocity and the
    step's impulse.

    There's no friction, so that impulses are along the normal.
    """
    panels = [_state(ellipse, case, *_CASES[case - 1]) for case in range(1, len(_CASES) + 1)]
    return sketch.table(*panels)


def _state(ellipse: Ellipse, case: int, gap: float, normal_velocity: float) -> Rows:
    """One panel of figure 2: one step of the simulator from a gap (m) and its rate (m/s)."""
    ground, law = Ground(), PlanarLaw(0.0, 0.5)
    q = posture(ellipse, ground, _LEANING, gap)
    at = contacts(ellipse, ground, q)
    # slower where the arrow points up or down, too
    along = 0.4 if normal_velocity == 0.0 else 0.2
    v = _velocity(at, along, normal_velocity, omega=1.0)
    motion = simulate(ellipse_body(ellipse), ground, law, q, v, time_step=_STEP, steps=1)
    foot, gap, rate = at.point[0], at.gap[0], at.normal[0] @ v
    impulse = motion.impulse_n[1, 0]
    pushed, closed = impulse > 0.0, sketch.sign(gap) == "="
    below = foot[0], foot[1] - gap

    rows = _over_ground(ellipse, q, 1.3 * ellipse.a)
    rows += sketch.arrow("velocity", foot, (at.tangent[0] @ v, rate), "blue", 0.046, unit="m/s")
    heading = f"$g_n {sketch.sign(gap)} 0$"
    if closed:
        heading = rf"$g_n = 0,\ \dot{{g}}_n {sketch.sign(rate)} 0$"
    else:
        rows += sketch.length("gap", [foot, below], "$g_n$", (-9, -1))
    scale = 1.6 if pushed else np.nan
    rows += sketch.arrow("impulse", foot, (0.0, impulse), "red", scale, unit="N s")
    rows += sketch.point("Q_E", below)
    rows += sketch.point("Q", foot, "$Q$", (-8, 6))
    rows += sketch.heading(f"Case {case}: {'impulse' if pushed else 'no impulse'}", heading)
    rows += sketch.number("g_n", gap, "m")
    rows += sketch.number("gdot", rate, "m/s")
    return rows + sketch.number("c_n", impulse, "N s")


def draw_contact_states(data: pd.DataFrame) -> Figure:
    """Figure 2: the four states of a contact."""
    box = (-0.070, -0.024), (0.070, 0.087)
    figure, _ = sketch.draw_panels(data, style.DOUBLE_COLUMN, box, head=0.5)
    handles = [Line2D([], [], color=colour, lw=BOLD) for colour in (style.LINE, style.RELEASE)]
    names = ["velocity of the contact point", "normal impulse"]
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    return figure


def restitution(ellipse: Ellipse = SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 3: one step of the simulator through an impact without friction, at the posture where
    the gap closes.
    """
    ground, law = Ground(), PlanarLaw(0.0, 0.6)
    q = posture(ellipse, ground, _LEANING, _TOUCHING)
    at = contacts(ellipse, ground, q)
    v = _velocity(at, 0.0, -0.5, omega=1.0)
    motion = simulate(ellipse_body(ellipse), ground, law, q, v, time_step=1e-3, steps=1)
    before, after = (float(at.normal[0] @ velocity) for velocity in motion.velocity)
    foot, panels = at.point[0], []
    for when, item, value, unit, look, scale, name, equal in (
        ("before", "gdot", before, "m/s", "blue", 0.066, r"\dot{g}_n", ""),
        ("impact", "c_n", float(motion.impulse_n[1, 0]), "N s", "red", 1.1, "c_n", ""),
        ("after", "gdot+", after, "m/s", "green", 0.066, r"\dot{g}_n^+", r" = -\varepsilon\,\dot{g}_n"),
    ):  # fmt: skip
        part = _over_ground(ellipse, q, 1.2 * ellipse.a)
        part += sketch.arrow(item, foot, (0.0, value), look, scale, f"${name}$", (11, 0), unit)
        part += sketch.point("Q", foot, "$Q$", (-8, 6)) + sketch.point("G", q[:2], "$G$", (7, 4))
        part += sketch.heading(when, f"${name}{equal} = {value:.3g}$ {unit}")
        panels.append(part + sketch.number(item, value, unit))
    panels[1] += sketch.number("restitution_e_n", law.restitution_e_n, "1")
    said = rf"$\varepsilon = {law.restitution_e_n:g}$"
    panels[1] += sketch.name(said, (0.0, -0.026))
    return sketch.table(*panels)


def draw_restitution(data: pd.DataFrame) -> Figure:
    """Figure 3: the contact point's normal velocity before and after an impact, and the impulse
    between.
    """
    box = (-0.062, -0.042), (0.062, 0.068)
    return sketch.draw_panels(data, 0.75 * style.DOUBLE_COLUMN, box, head=0.45)[0]


def cones() -> dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]:
    """Cone, pyramid and planar cone of a contact in Q, by name: the rim (n, 3), and arrows (3,)
    from Q by name, z along the normal.

    Forces are divided by f_n, so a rim lies at z = 1 with radius mu. The pyramid is the hull of the
    mu d_l: the set where the sum of the f_t,l is at most mu f_n.
    """
    mu, up = CONE_FRICTION, np.array([0.0, 0.0, 1.0])
    steps = np.arange(PYRAMID_SIDES)
    around = _directions(np.linspace(0.0, 2.0 * np.pi, 145))
    spanning = _directions(np.radians(-20.0) + 2.0 * np.pi * steps / PYRAMID_SIDES)
    across = _directions(np.array([0.0, np.pi]))
    force = up - 0.5 * mu * _directions(np.array([0.17]))[0]
    named = {f"d_{k + 1}": spanning[k] for k in steps}
    return {
        "(a) cone": (mu * around + up, {"f_c": force, "n": up}),
        f"(b) pyramid, $p = {PYRAMID_SIDES}$": (mu * spanning + up, {**named, "n": up}),
        "(c) planar contact": (mu * across + up, {"d_+": across[0], "d_-": across[1], "n": up}),
    }


def _directions(angles: np.ndarray) -> np.ndarray:
    """(n, 3) unit vectors at angles (n,) about z, rad."""
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))])


def friction_cones() -> pd.DataFrame:
    """Figure 4: cone, pyramid and planar cone of a contact in Q, as they are seen."""
    panels = []
    for name, (rim, arrows) in cones().items():
        flat = len(rim) == 2
        view = (_FROM_THE_FRONT if flat else _FROM_ABOVE)[:2]
        rows = _cone(rim, view)
        rows = _level() + rows + _opening() if flat else _plane(view) + rows
        for item, vector in arrows.items():
            tip = view @ vector * (1.35 if item == "n" else 1.0)
            beyond = (0.0, 10.0) if flat else np.array([9.0, 8.0]) * (tip / np.hypot(*tip))
            direction = "blue", rf"$\vec{{d}}_{{{item[2:]}}}$", beyond
            look, text, shift = _NAMED.get(item, direction)
            rows += sketch.arrow(item, (0.0, 0.0), tip, look, 1.0, text, shift)
        rows += sketch.point("Q", (0.0, 0.0), "$Q^{(j)}$", (3, -12))
        panels.append(rows + sketch.name(name, (0.0, -0.58)))
    return sketch.table(*panels)


def _level() -> Rows:
    return sketch.line("ground", [(-1.25, 0.0), (1.25, 0.0)], "ground", scale=0.08)


def _opening() -> Rows:
    value, named = np.arctan(CONE_FRICTION), (r"$\arctan\mu$", (-36, 9))
    return sketch.angle("opening", (0.0, 0.0), (0.0, 1.0), value, 0.5, *named)


def _plane(view: np.ndarray) -> Rows:
    corners = 0.95 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    return sketch.line("plane", corners @ view.T, "area", look="plane")


def _cone(rim: np.ndarray, view: np.ndarray) -> Rows:
    """A cone, pyramid or triangle from Q up to its rim (n, 3); edges at its back are dotted."""
    seen = rim @ view.T
    sides = np.arctan2(seen[:, 0], seen[:, 1])
    outer = seen[[int(np.argmin(sides)), int(np.argmax(sides))]]
    rows = sketch.line("side", [(0.0, 0.0), *outer], "area", look="body")
    if len(rim) > 2:
        rows += sketch.line("top", seen, "area", look="top")
    if len(rim) > PYRAMID_SIDES:
        rows += sketch.line("radius", [view @ [0.0, 0.0, 1.0], seen[0]], look="dashed")
        rows += sketch.point("radius", seen[0], r"$\mu f_n$", (13, 0), look="quiet")
    elif len(rim) > 2:
        behind = rim[:, :2] @ _FROM_ABOVE[2, :2] < 0.0
        for k, corner in enumerate(seen):
            look = "back edge" if behind[k] else "edge"
            rows += sketch.line(f"edge {k}", [(0.0, 0.0), corner], look=look)
    return rows


def draw_friction_cones(data: pd.DataFrame) -> Figure:
    """Figure 4: friction cone, pyramid and planar cone."""
    box = (-1.3, -0.6), (1.3, 1.5)
    return sketch.draw_panels(data, style.DOUBLE_COLUMN, box, head=0.2, looks=_CONE_LOOKS)[0]


def normal_gap(ellipse: Ellipse = SMALL_ELLIPSE, ground: Ground | None = None) -> pd.DataFrame:
    """Figure 5: frames, angles and lengths in the gap's definition (section 4.1), for a body over a
    sloped ground.

    ``beta`` is the angle of some other point of the outline, at the signed distance ``l`` (eq. 21)
    from the ground.
    """
    ground = ground or Ground(-0.24, 0.028, 0.057)
    reach = 3.5 * ellipse.a
    q = posture(ellipse, ground, 0.42, 0.62 * ellipse.a, along=0.62 * reach)
    start, center, theta = ground.origin, q[:2], q[2]
    ends = start + np.outer([0.0, reach], ground.tangent)
    rows = sketch.line("ground", ends, "ground", scale=_DEPTH)
    rows += sketch.line("outline", outline_at(ellipse, q), "area", look="body")
    rows += sketch.frame("S", (0.0, 0.0), 0.0, 0.035, "$x$", "$y$")
    rows += sketch.frame("S_p", start, ground.slope, 0.035, "", "$y_p$")
    rows += sketch.name("$x_p$", start + 0.035 * ground.tangent - (0.002, 0.010))
    rows += sketch.frame("S_l", center, theta, 0.066, "$x_l$", "$y_l$")
    for item, apex, value, radius, shift in (
        ("alpha", start, ground.slope, 0.052, (8, 0)),
        ("theta", center, theta, 0.058, (8, 1)),
    ):
        level = np.array([radius + 0.009, 0.0])
        rows += sketch.line(f"level {item}", [apex, apex + level], look="dashed")
        rows += sketch.angle(item, apex, (1.0, 0.0), value, radius, rf"$\{item}$", shift)
    out = contacts(ellipse, ground, q).point[0] - center
    # the angle of the contact point in the body's axes, beta* of section 4.1
    nearest = (np.arctan2(out[1], out[0]) - theta) % (2.0 * np.pi)
    rows += _outline_point(ellipse, ground, q, nearest, nearest=True)
    rows += _outline_point(ellipse, ground, q, nearest + 1.45, nearest=False)
    rows += sketch.point("O", (0.0, 0.0), r"$O\ \{S\}$", (0, -9))
    rows += sketch.point("P_0", start, r"$P_0\ \{S_p\}$", (-22, 0))
    return sketch.table(rows + sketch.point("G", center, r"$G\ \{S_l\}$", (24, -8)))


def _outline_point(
    ellipse: Ellipse, ground: Ground, q: np.ndarray, beta: float, *, nearest: bool
) -> Rows:
    """The point of figure 5's outline at an angle beta (rad), and its distance from the ground.

    The nearest one is the contact point, drawn in full and with a star to its symbols.
    """
    star, symbol, gap = "", r"\beta", r"$l(\beta)$"
    radius, look, ink = 0.010, "red dashed", "faint"
    beside_angle, beside_radius, beside_gap = (-7, 0), (-13, -5), (13, 0)
    if nearest:
        star, symbol, gap = "*", r"\beta^*", r"$g_n = l(\beta^*)$"
        radius, look, ink = 0.021, "thin red", "thin blue"
        beside_angle, beside_radius, beside_gap = (-7, 5), (-13, 7), (25, 0)
    center, theta = q[:2], q[2]
    own_axis = np.cos(theta), np.sin(theta)
    # the local radius of section 4.1
    rho = ellipse.a * ellipse.b / np.hypot(ellipse.b * np.cos(beta), ellipse.a * np.sin(beta))
    edge = center + rho * np.array([np.cos(theta + beta), np.sin(theta + beta)])
    distance = (edge - ground.origin) @ ground.normal
    below = edge - distance * ground.normal
    at = 0.35 * center + 0.65 * edge

    rows = sketch.angle(f"beta{star}", center, own_axis, beta, radius, f"${symbol}$", beside_angle)
    rows += sketch.line(f"rho{star}", [center, edge], look=look)
    rows += sketch.point(f"rho{star}", at, rf"$\rho({symbol})$", beside_radius, look=look)
    rows += sketch.length(f"l{star}", [edge, below], gap, beside_gap, ink)
    rows += sketch.point(f"Q{star}", edge, "$Q$" if nearest else "", (-8, -5))
    rows += sketch.point(f"Q_E{star}", below, "$Q_E$" if nearest else "", (-3, -17))
    return rows + sketch.number(f"l{star}", distance, "m")


def draw_normal_gap(data: pd.DataFrame) -> Figure:
    """Figure 5: definition of the normal gap."""
    box = (-0.016, -0.014), (0.219, 0.167)
    return sketch.draw_panels(data, 0.72 * style.DOUBLE_COLUMN, box)[0]


def _velocity(at: Contacts, u_t: float, u_n: float, omega: float) -> np.ndarray:
    """(3,) velocity of a body turning at omega (rad/s) whose only contact point has (u_t, u_n),
    m/s.
    """
    tangent, normal = at.tangent[0], at.normal[0]
    # T . v = u_t and N . v = u_n, solved for the centre's velocity
    linear = (u_t - tangent[2] * omega) * tangent[:2] + (u_n - normal[2] * omega) * normal[:2]
    return np.array([*linear, omega])
