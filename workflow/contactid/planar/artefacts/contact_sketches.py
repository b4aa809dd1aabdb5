"""Figures 1 to 5: contact frames, the states of a contact, restitution, friction cones and the
normal gap; 15 and 16: what a fit looks for, and the instants captured and inserted.

Every contact point, normal, gap, velocity and impulse is what ``contacts`` and ``simulate`` give
for a stated body. Tables are in SI units and the fixed frame S. A row of figures 1, 2, 3 and 5 has a
body and a contact of it: semi-axes ``a`` and ``b``, configuration ``x, y, theta``, contact point
``foot_x, foot_y``, ``slope`` of the ground (rad) and ``gap``, and what is said of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

from contactid.output import pen, style
from contactid.output.pen import BOLD, DARK, QUIET, THIN
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground, Shape, contacts, outline_at

SMALL_ELLIPSE = Ellipse(0.050, 0.025)  # the plywood ellipse of section 6.2, m
SMALL_MASS, SMALL_INERTIA_RATIO = 0.064, 756e-6  # kg, m2
PYRAMID_SIDES = 6
_TOUCHING = -1e-12  # m: closed for the simulator in spite of rounding
_DEPTH = 0.005  # m, of a drawn ground
_ROUND = 144  # sides of a cone that looks round
CAPTURED_STEP = 2e-3  # s, of figure 15's motion
_EVERY, _COUNT = 25, 9  # steps between captured postures, and their number
_SCATTER = np.array([0.005, 0.005, 0.12])  # of captured postures, m, m, rad


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


def _contact(ellipse: Ellipse, ground: Ground, q: np.ndarray) -> dict[str, Any]:
    """What all tables say of a body and its contact."""
    at = contacts(ellipse, ground, q)
    body = {"a": ellipse.a, "b": ellipse.b, "x": q[0], "y": q[1], "theta": q[2]}
    foot = {"foot_x": at.point[0, 0], "foot_y": at.point[0, 1]}
    return {**body, **foot, "slope": ground.slope, "gap": at.gap[0]}


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    # what is zero but for rounding is zero; adding it takes the sign off a negative one
    return pd.DataFrame(rows).round(9) + 0.0


def _body(axes: Axes, row: Any) -> np.ndarray:
    """Draw a row's body; its contact point (2,)."""
    pen.area(axes, outline_at(Ellipse(row.a, row.b), (row.x, row.y, row.theta)))
    return np.array([row.foot_x, row.foot_y])


def contact_frames() -> pd.DataFrame:
    """Figure 1: where three grounds touch a smooth convex body."""
    body, q = Ellipse(0.055, 0.036), np.array([0.085, 0.075, np.radians(20.0)])
    rows = []
    # directions of the outward normals in S
    for slope in np.radians([-125.0, -30.0, 110.0]) + 0.5 * np.pi:
        ground = Ground(slope, *contacts(body, Ground(slope), q).point[0])
        rows.append(_contact(body, ground, q))
    return _table(rows)


def draw_contact_frames(data: pd.DataFrame) -> Figure:
    """Figure 1: frames {Q; t, n} at the contact points of a body, and one contact force."""
    box = (-0.012, -0.014), (0.163, 0.133)
    figure, (axes,) = pen.page(style.SINGLE_COLUMN, [box])
    pen.frame(axes, (0.0, 0.0), 0.03 * np.eye(2), ("$x$", "$y$"), (DARK, DARK), pen.NORMAL)
    pen.point(axes, (0.0, 0.0), r"$\{S\}$", (0, -9))
    for j, row in enumerate(pen.rows_of(data), start=1):
        foot, ground = np.array([row.foot_x, row.foot_y]), Ground(row.slope)
        tangent, normal = ground.tangent, ground.normal
        pen.ground(axes, foot + np.outer([-0.022, 0.022], tangent), _DEPTH)
        names = [rf"$\mathbf{{{axis}}}^{{({j})}}$" for axis in "tn"]
        along, colours = 0.021 * np.array([tangent, normal]), (style.LINE, style.ACCENT)
        pen.frame(axes, foot, along, names, colours)
        pen.point(axes, foot, f"$Q^{{({j})}}$", -17 * normal)
        pen.say(axes, foot, rf"$\{{S^{{({j})}}\}}$", -34 * normal, QUIET)
        if j == 2:
            # a contact force with its parts
            pushing, rubbing = 0.048 * normal, 0.014 * tangent
            tip = foot + pushing + rubbing
            for name, part, shift in (("f_n", pushing, (5, -11)), ("f_t", rubbing, (17, -7))):
                pen.dashed(axes, [foot, foot + part, tip])
                pen.say(axes, foot + part, f"${name}^{{(2)}}$", shift, QUIET)
            pen.arrow(axes, foot, tip, style.RELEASE, BOLD, r"$\mathbf{f}_c^{(2)}$", (-2, 10))
    _body(axes, data.iloc[0])
    pen.point(axes, data.loc[0, ["x", "y"]], "$G$", (-7, -5))
    return figure


def contact_states(ellipse: Ellipse = SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 2: an ellipse in each of the four cases, as :func:`_step` says."""
    law = PlanarLaw(0.0, 0.5)
    rows = []
    # slower along the ground where the arrow points up or down, too
    velocities = (0.2, -0.35), (0.2, -0.35), (0.4, 0.0), (0.2, 0.35)
    for gap, velocity in zip((0.018, *[_TOUCHING] * 3), velocities, strict=True):
        # long enough to see the impulse of a resting contact beside that of an impact
        rows.append(_step(ellipse, law, gap, velocity, 0.02))
    return _table(rows)


def restitution(ellipse: Ellipse = SMALL_ELLIPSE) -> pd.DataFrame:
    """Figure 3: an impact at the posture where the gap closes, as :func:`_step` says, and the law's
    ``restitution_e_n``.
    """
    law = PlanarLaw(0.0, 0.6)
    row = _step(ellipse, law, _TOUCHING, (0.0, -0.5), 1e-3)
    return _table([row | {"restitution_e_n": law.restitution_e_n}])


def _step(
    ellipse: Ellipse, law: PlanarLaw, gap: float, velocity: Sequence[float], time_step: float
) -> dict[str, Any]:
    """A leaning ellipse, and a step of the simulator from a gap (m) and the contact point's velocity
    ``u_t, u_n`` (m/s): the impulse ``c_n`` (N s) and the rate of the gap ``after`` it.

    There's no friction, so that impulses are along the normal.
    """
    ground = Ground()
    q = posture(ellipse, ground, 0.5, gap)
    at = contacts(ellipse, ground, q)
    # T . v = u_t and N . v = u_n, solved for the centre's velocity of a body that turns at 1 rad/s
    ways = np.array([at.tangent[0], at.normal[0]])
    v = np.array([*np.linalg.solve(ways[:, :2], velocity - ways[:, 2]), 1.0])
    motion = simulate(ellipse_body(ellipse), ground, law, q, v, time_step=time_step, steps=1)
    after = float(at.normal[0] @ motion.velocity[1])
    said = {"u_t": velocity[0], "u_n": velocity[1], "after": after}
    return _contact(ellipse, ground, q) | said | {"c_n": motion.impulse_n[1, 0]}


def draw_contact_states(data: pd.DataFrame) -> Figure:
    """Figure 2: the four states of a contact."""
    box = (-0.070, -0.024), (0.070, 0.087)
    figure, panels = pen.page(style.DOUBLE_COLUMN, [box] * len(data), head=0.35)
    for case, (axes, row) in enumerate(zip(panels, pen.rows_of(data), strict=True), start=1):
        foot = _on_ground(axes, row)
        said = "$g_n > 0$"
        if row.gap > 0.0:
            pen.length(axes, foot, (row.foot_x, 0.0), "$g_n$", (-9, -1))
        else:
            sign = {-1.0: "<", 0.0: "=", 1.0: ">"}[np.sign(row.u_n)]
            said = rf"$g_n = 0,\ \dot{{g}}_n {sign} 0$"
        velocity = foot + 0.046 * np.array([row.u_t, row.u_n])
        pen.arrow(axes, foot, velocity, style.LINE, BOLD, "$v_Q$", (9, 1))
        # less is rounding
        pushed = row.c_n > 1e-6
        if pushed:
            tip = row.foot_x, 1.6 * row.c_n
            pen.arrow(axes, foot, tip, style.RELEASE, BOLD, "$c_n$", (9, 1))
        axes.set_title(f"Case {case}: {'impulse' if pushed else 'no impulse'}\n{said}")
    return figure


def draw_restitution(data: pd.DataFrame) -> Figure:
    """Figure 3: the contact point's normal velocity before and after an impact, and the impulse
    between.
    """
    box = (-0.062, -0.042), (0.062, 0.068)
    figure, panels = pen.page(0.75 * style.DOUBLE_COLUMN, [box] * 3, head=0.45)
    row = pen.rows_of(data)[0]
    shown = (
        ("before", r"\dot{g}_n", row.u_n, 0.066, "m/s", style.LINE),
        ("impact", "c_n", row.c_n, 1.1, "N s", style.RELEASE),
        ("after", r"\dot{g}_n^+", row.after, 0.066, "m/s", style.ACCENT),
    )
    for axes, (when, name, value, scale, unit, colour) in zip(panels, shown, strict=True):
        foot = _on_ground(axes, row)
        end = row.foot_x, scale * value
        pen.arrow(axes, foot, end, colour, BOLD, f"${name}$", (11, 0))
        pen.point(axes, (row.x, row.y), "$G$", (7, 4))
        axes.set_title(f"{when}\n${name} = {value:.3g}$ {unit}")
    law = rf"$\dot{{g}}_n^+ = -\varepsilon\,\dot{{g}}_n$, $\varepsilon = {row.restitution_e_n:g}$"
    pen.say(panels[1], (0.0, -0.026), law)
    return figure


def _on_ground(axes: Axes, row: Any) -> np.ndarray:
    """A row's body over level ground, and its contact point (2,)."""
    pen.ground(axes, np.array([(-0.06, 0.0), (0.06, 0.0)]), _DEPTH)
    foot = _body(axes, row)
    pen.point(axes, foot, "$Q$", (-8, 6))
    return foot


def friction_cones() -> pd.DataFrame:
    """Figure 4: ``name`` of a panel, ``sides`` of its cone (two in the plane) and ``friction_mu``."""
    names = ["(a) cone", f"(b) pyramid, $p = {PYRAMID_SIDES}$", "(c) planar contact"]
    sides = [_ROUND, PYRAMID_SIDES, 2]
    return pd.DataFrame({"name": names, "sides": sides, "friction_mu": 0.6})


def directions(sides: int) -> np.ndarray:
    """(sides, 3) unit vectors d_l about z, the normal.

    Forces are divided by f_n, so a cone's rim is at ``mu d_l`` and z = 1, and a pyramid is the set
    where the sum of the f_t,l is at most mu f_n.
    """
    # turned, so that none lies behind another one
    angles = np.radians(-20.0) + 2.0 * np.pi * np.arange(sides) / sides
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(sides)])


def draw_friction_cones(data: pd.DataFrame) -> Figure:
    """Figure 4: friction cone, pyramid and planar cone of a contact in Q."""
    figure, panels = pen.page(style.DOUBLE_COLUMN, [((-1.3, -0.6), (1.3, 1.5))] * 3, head=0.2)
    for axes, row in zip(panels, pen.rows_of(data), strict=True):
        flat = row.sides == 2
        view = pen.view(-110.0, 0.0 if flat else 20.0)[:2]
        if flat:
            pen.ground(axes, np.array([(-1.25, 0.0), (1.25, 0.0)]), 0.08)
            opening = np.arctan(row.friction_mu)
            pen.angle(axes, (0.0, 0.0), 0.5 * np.pi, opening, 0.5, r"$\arctan\mu$", (-36, 9))
        else:
            pen.area(axes, 1.3 * directions(4) @ view.T, pen.SOLID, lw=0)
        around, up = directions(row.sides) @ view.T, view[:, 2]
        rim = row.friction_mu * around + up
        solid = np.vstack([[0.0, 0.0], rim])
        pen.area(axes, solid[ConvexHull(solid).vertices])
        pen.arrow(axes, (0.0, 0.0), 1.35 * up, style.ACCENT, BOLD, r"$\mathbf{n}^{(j)}$", (0, 10))
        if row.sides == _ROUND:
            force, named = up - 0.5 * row.friction_mu * around[0], r"$\mathbf{f}_c^{(j)}$"
            pen.arrow(axes, (0.0, 0.0), force, style.RELEASE, BOLD, named, (-17, -7))
        else:
            for k, tip in enumerate(around):
                pen.area(axes, np.array([(0.0, 0.0), rim[k]]), lw=THIN)
                # in the plane they lie on the ground: their names stand above it
                name, shift = ("+-"[k], (0, 10)) if flat else (k + 1, 11 * tip / np.hypot(*tip))
                named = rf"$\vec{{d}}_{{{name}}}$"
                pen.arrow(axes, (0.0, 0.0), tip, style.LINE, BOLD, named, shift)
        # over the edges at the back
        pen.area(axes, rim, "#f3f7fa")
        pen.point(axes, (0.0, 0.0), "$Q^{(j)}$", (3, -12))
        pen.say(axes, (0.0, -0.58), row.name)
    return figure


def normal_gap(ellipse: Ellipse = SMALL_ELLIPSE, ground: Ground | None = None) -> pd.DataFrame:
    """Figure 5: a body over a sloped ground from ``x_0, y_0``, and two points ``edge_x, edge_y`` of
    its outline at angles ``beta`` in its own axes, and their signed distances ``l`` (eq. 21) from
    the ground: the contact point, and another one (section 4.1).
    """
    ground = ground or Ground(-0.24, 0.028, 0.057)
    q = posture(ellipse, ground, 0.42, 0.62 * ellipse.a, along=2.17 * ellipse.a)
    at = _contact(ellipse, ground, q)
    out = np.array([at["foot_x"], at["foot_y"]]) - q[:2]
    # the angle of the contact point in the body's axes, beta* of section 4.1
    nearest = (np.arctan2(out[1], out[0]) - q[2]) % (2.0 * np.pi)
    rows = []
    for beta in (nearest, nearest + 1.45):
        # the local radius of section 4.1
        rho = ellipse.a * ellipse.b / np.hypot(ellipse.b * np.cos(beta), ellipse.a * np.sin(beta))
        edge = q[:2] + rho * np.array([np.cos(q[2] + beta), np.sin(q[2] + beta)])
        distance = (edge - ground.origin) @ ground.normal
        point = {"beta": beta, "edge_x": edge[0], "edge_y": edge[1], "l": distance}
        rows.append(at | {"x_0": ground.x0, "y_0": ground.y0} | point)
    return _table(rows)


def draw_normal_gap(data: pd.DataFrame) -> Figure:
    """Figure 5: frames, angles and lengths in the definition of the normal gap."""
    box = (-0.016, -0.014), (0.219, 0.167)
    figure, (axes,) = pen.page(0.72 * style.DOUBLE_COLUMN, [box])
    contact, other = pen.rows_of(data)
    start, center = np.array([contact.x_0, contact.y_0]), np.array([contact.x, contact.y])
    ground = Ground(contact.slope, *start)
    pen.ground(axes, start + np.outer([0.0, 3.5 * contact.a], ground.tangent), _DEPTH)
    _body(axes, contact)
    pen.say(axes, start + 0.035 * ground.tangent, "$x_p$", (-2, -16))
    for origin, turn, length, names, angle in (
        (np.zeros(2), 0.0, 0.035, ("$x$", "$y$"), ""),
        (start, contact.slope, 0.035, ("", "$y_p$"), r"$\alpha$"),
        (center, contact.theta, 0.066, ("$x_l$", "$y_l$"), r"$\theta$"),
    ):
        along = length * np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        pen.frame(axes, origin, along, names, (DARK, DARK), pen.NORMAL)
        if angle:
            pen.dashed(axes, [origin, (origin[0] + 0.065, origin[1])])
            pen.angle(axes, origin, 0.0, turn, 0.055, angle, (8, 0))
    for row, radius, symbol, gap, colour, beside in (
        (contact, 0.018, r"\beta^*", r"$g_n = l(\beta^*)$", style.LINE, 25),
        (other, 0.008, r"\beta", r"$l(\beta)$", QUIET, 13),
    ):
        edge = np.array([row.edge_x, row.edge_y])
        below = edge - row.l * ground.normal
        pen.angle(axes, center, row.theta, row.beta, radius, f"${symbol}$", (-7, 3))
        axes.plot(*np.transpose([center, edge]), color=style.RELEASE)
        pen.say(axes, 0.25 * center + 0.75 * edge, rf"$\rho({symbol})$", (-14, 0), style.RELEASE)
        pen.length(axes, edge, below, gap, (beside, 0), colour)
    foot = np.array([contact.foot_x, contact.foot_y])
    pen.point(axes, foot, "$Q$", (-8, -5))
    pen.point(axes, foot - contact.gap * ground.normal, "$Q_E$", (-3, -17))
    pen.point(axes, (0.0, 0.0), r"$O\ \{S\}$", (0, -9))
    pen.point(axes, start, r"$P_0\ \{S_p\}$", (-22, 0))
    pen.point(axes, center, r"$G\ \{S_l\}$", (24, -8))
    return figure


def fitted_trajectory() -> pd.DataFrame:
    """Figure 15: ``kind`` (``fitted`` or ``captured``), step ``k`` and posture ``x, y`` (m),
    ``theta`` (rad) of postures captured with noise, and of the smooth motion that a fit looks for.

    The motion is a simulated bounce of the small ellipse; every 25th state with Gaussian noise, far
    more than a camera's so that it can be seen, stands for a captured posture.

    Deviation: the curve is the motion itself and not the outcome of a fit; the figure is
    qualitative in the paper too.
    """
    ground, body, law = Ground(), ellipse_body(SMALL_ELLIPSE), PlanarLaw(0.3, 0.7)
    start = posture(SMALL_ELLIPSE, ground, 0.6, 0.12), (2.3, 0.0, -3.0)
    steps = _EVERY * (_COUNT - 1)
    fitted = simulate(body, ground, law, *start, time_step=CAPTURED_STEP, steps=steps).position
    noise = np.random.default_rng(15).standard_normal((_COUNT, 3))
    captured = fitted[::_EVERY] + _SCATTER * noise
    kinds = ["fitted"] * len(fitted) + ["captured"] * _COUNT
    instants = [*range(steps + 1), *range(0, steps + 1, _EVERY)]
    table = pd.DataFrame(np.vstack([fitted, captured]), columns=["x", "y", "theta"])
    return table.assign(kind=kinds, k=instants)


def draw_fitted_trajectory(data: pd.DataFrame) -> Figure:
    """Figure 15: captured postures and the trajectory that fits them best."""
    # the ground, and what reaches farthest beyond the centres
    beyond = SMALL_ELLIPSE.a + 0.01
    left, right = data["x"].min() - beyond, data["x"].max() + beyond
    box = (left, -0.015), (right, data["y"].max() + beyond)
    figure, (axes,) = pen.page(style.DOUBLE_COLUMN, [box], head=0.35)
    pen.ground(axes, np.array([(left, 0.0), (right, 0.0)]), 0.008)
    for kind, name, colour, dash, size in (
        ("fitted", r"best-fit trajectory $\mathbf{q}^k$", style.LINE, "-", 1.4),
        ("captured", r"captured postures $\mathbf{q}_\mathrm{m}^i$", style.RELEASE, "--", 3.6),
    ):
        rows = data[data["kind"] == kind]
        axes.plot(rows["x"], rows["y"], "o", ms=size, mew=0.0, color=colour, label=name)
        for q in rows.loc[rows["k"] % _EVERY == 0, ["x", "y", "theta"]].to_numpy():
            axes.plot(*outline_at(SMALL_ELLIPSE, q).T, color=colour, lw=0.7, ls=dash)
    figure.legend(loc="outside upper center", ncols=2, labelcolor="linecolor")
    return figure


def time_instants() -> pd.DataFrame:
    """Figure 16: captured instants at 240 frames/s and those inserted for steps of at most 1 ms
    (section 5.1): ``t_ms``, and ``inserted``, their number between two captured ones.

    The step is ``h = Delta t / n_s``, n_s the least number of sub-intervals with steps no longer
    than wanted.
    """
    interval, longest = 1e3 / 240.0, 1.0
    parts = int(np.ceil(interval / longest))
    k = np.arange(2 * parts + 1)
    return pd.DataFrame({"t_ms": k * interval / parts, "inserted": k % parts})


def draw_time_instants(data: pd.DataFrame) -> Figure:
    """Figure 16: captured and inserted instants."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 1.35))
    times, captured = data["t_ms"].to_numpy(), (data["inserted"] == 0).to_numpy()
    start, interval, end = times[captured]
    step, parts = times[1], int(data["inserted"].max()) + 1
    axes.set(xlim=(-step, end + 2.0 * step), ylim=(-1.3, 1.6))
    axes.set_axis_off()
    pen.arrow(axes, (-0.6 * step, 0.0), (end + 1.5 * step, 0.0), text="$t$", shift=(4, -8))
    axes.vlines(times[~captured], -0.14, 0.14, color=style.LINE, lw=pen.NORMAL)
    axes.vlines(times[captured], -0.3, 0.3, color=style.RELEASE, lw=pen.BOLD)
    for time, name in zip(times[captured], ("i", "i+1", "i+2"), strict=True):
        pen.say(axes, (time, 0.3), f"$t^{{{name}}}$", (1, 8), style.RELEASE)
    for k, name in ((0, "k"), (1, "k+1"), (parts, "k+n_s")):
        pen.say(axes, (times[k], -0.3), f"$t^{{{name}}}$", (1, -7), style.LINE)
    inner = times[parts + 2]
    for first, last, height, text, shift in (
        (start, interval, 1.1, rf"$\Delta t = {interval:.3g}$ ms", 7),
        (interval, end, 1.1, rf"$n_s = {parts}$ sub-intervals", 7),
        (inner, inner + step, -0.45, rf"$h = \Delta t / n_s = {step:.3g}$ ms", -8),
    ):
        pen.length(axes, (first, height), (last, height), text, (0, shift))
    return figure
