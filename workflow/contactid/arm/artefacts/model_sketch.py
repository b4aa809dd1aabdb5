"""Figure 3: the three two-mass models, as tables of :mod:`contactid.output.sketch` in units of a
mass's width.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.arm.artefacts.two_mass import NAMES
from contactid.arm.simulate.two_mass import COMPLIANT, MODELS, RIGID
from contactid.output import sketch, style
from contactid.output.sketch import Rows

# left sides of the masses
_ENVIRONMENT, _CONTACT_SIDE, _SENSING_SIDE = 0.0, 3.2, 5.7
_BALL, _CONTACT = 0.3, 1.0  # lengths of m1's contact surface, and of the compliant contact
_HALF = 0.5  # height of a mass
_APART = 0.24  # of spring and damper from the middle
_TURNS = 8
_DEPTH, _PLACES = 0.78, -0.95  # heights of what delta is measured along, and of the coordinates


def model_sketch() -> pd.DataFrame:
    """Figure 3: a panel per model, from A to C.

    Items are ``m_0`` to ``m_2``, ``ball`` (the contact surface of m1), ``k_env`` and ``d_env``
    (spring and damper of eq. 6), ``k_rob`` and ``d_rob`` (between m1 and m2) or ``rigid`` (the
    same, stiff), ``F``, ``delta`` (from m1 to the environment's surface) and ``x_0`` to ``x_2``.
    """
    return sketch.table(*(_model(model) for model in MODELS))


def _model(model: str) -> Rows:
    left, one, two = places = _ENVIRONMENT, _CONTACT_SIDE, _SENSING_SIDE
    surface = left + 1.0 + (_CONTACT if model == COMPLIANT else 0.0)
    round_side = np.linspace(0.5 * np.pi, 1.5 * np.pi, 25)
    half_disc = np.column_stack([one + _BALL * np.cos(round_side), _BALL * np.sin(round_side)])
    rows = sketch.line("ball", half_disc, "area", look="body")
    for k, place in enumerate(places):
        look = "body" if k else "solid"
        rows += _block(f"m_{k}", place, place + 1.0, _HALF, look, f"$m_{k}$")
        middle = place + 0.5
        rows += sketch.line(f"x_{k}", [(middle, _PLACES - 0.08), (middle, -0.5)], look="quiet")
        rows += sketch.arrow(f"x_{k}", (middle, _PLACES), (0.5, 0), "quiet", 1, f"$x_{k}$", (7, 0))
    if model == RIGID:
        rows += _block("rigid", one + 1.0, two, 0.14, "body")
    else:
        rows += _spring_and_damper(one + 1.0, two, "thin blue", "rob", r"k_\mathrm{rob}")
    if model == COMPLIANT:
        rows += _spring_and_damper(left + 1.0, surface, "thin red", "env", r"k_\mathrm{env},\ c")
        rows += sketch.line("plate", [(surface, -0.4), (surface, 0.4)], look="red")
    ends = one - _BALL, surface
    level = [(end, _DEPTH) for end in ends]
    rows += sketch.length("delta", level, r"$-\delta = g_N$", (0, 6), "faint")
    for k, end in enumerate(ends):
        rows += sketch.line(f"delta {k}", [(end, 0.0), (end, _DEPTH + 0.08)], look="dashed")
    rows += sketch.arrow("F", (two + 2.0, 0.0), (-1.0, 0.0), "green", 1.0, "$F$", (14, 8))
    return rows


def _block(item: str, left: float, right: float, half: float, look: str, text: str = "") -> Rows:
    corners = [(left, -half), (right, -half), (right, half), (left, half)]
    return sketch.line(item, corners, "area", look=look, text=text)


def _spring_and_damper(left: float, right: float, look: str, where: str, stiffness: str) -> Rows:
    """A spring over a damper, named above and below."""
    length, middle = right - left, 0.5 * (left + right)
    coils = left + length * (0.18 + 0.64 * (np.arange(_TURNS) + 0.5) / _TURNS)
    swing = _APART + 0.11 * (-1.0) ** np.arange(_TURNS)
    ends = [(left, _APART), (left + 0.18 * length, _APART)]
    far_ends = [(left + 0.82 * length, _APART), (right, _APART)]
    spring = [*ends, *zip(coils, swing, strict=True), *far_ends]
    rows = sketch.line(f"k_{where}", spring, look=look)
    back, front = middle - 0.18 * length, middle + 0.18 * length
    low, high = -_APART - 0.17, -_APART + 0.17
    cup = [(back, high), (front, high), (front, low), (back, low)]
    rows += sketch.line(f"d_{where}", cup, look=look)
    rows += sketch.line(f"d_{where} rod", [(left, -_APART), (middle, -_APART)], look=look)
    piston = [(middle, -_APART - 0.12), (middle, -_APART + 0.12)]
    rows += sketch.line(f"d_{where} piston", piston, look=look)
    rows += sketch.line(f"d_{where} end", [(front, -_APART), (right, -_APART)], look=look)
    rows += sketch.point(f"k_{where}", (middle, _APART), f"${stiffness}$", (0, 11), look=look)
    damping = rf"$d_\mathrm{{{where}}}$"
    return rows + sketch.point(f"d_{where}", (middle, -_APART), damping, (0, -11.5), look=look)


def draw_models(data: pd.DataFrame) -> Figure:
    """Figure 3: a row per model."""
    figure, panels = plt.subplots(len(MODELS), 1, figsize=(style.SINGLE_COLUMN, 3.84))
    for axes, model, (_, rows) in zip(panels, MODELS, data.groupby("panel"), strict=True):
        axes.set(xlim=(-0.1, _SENSING_SIDE + 2.1), ylim=(-1.35, 1.25), aspect="equal")
        axes.set_axis_off()
        axes.set_title(f"Model {NAMES[model]}", loc="left", pad=1.0)
        sketch.draw(axes, rows)
    return figure
