"""Figure 3: the three two-mass models, in units of a mass's width."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.arm.artefacts.two_mass import NAMES
from contactid.arm.simulate.two_mass import COMPLIANT, MODELS, RIGID
from contactid.output import pen, style

_PLACES = {"m_0": 0.0, "m_1": 3.2, "m_2": 5.7}  # left sides of the masses
_BALL, _CONTACT = 0.3, 1.0  # lengths of m1's contact surface, and of the compliant contact
_DEPTH = 0.78  # height of what delta is measured along
_SPRING = np.array([0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0])  # its turns


def model_sketch() -> pd.DataFrame:
    """Figure 3, from A to C: ``model``, left sides ``m_0`` to ``m_2`` of the masses, left end
    ``ball`` of m1's contact surface, ``surface`` of the environment, and the springs with dampers:
    ``env`` (eq. 6) and ``rob`` (between m1 and m2), separated by spaces.
    """
    rows = []
    for model in MODELS:
        contact = _CONTACT if model == COMPLIANT else 0.0
        springs = {COMPLIANT: "env rob", RIGID: ""}.get(model, "rob")
        ends = {"ball": _PLACES["m_1"] - _BALL, "surface": _PLACES["m_0"] + 1.0 + contact}
        rows.append({"model": model, **_PLACES, **ends, "springs": springs})
    return pd.DataFrame(rows)


def draw_models(data: pd.DataFrame) -> Figure:
    """Figure 3: a row per model."""
    figure, panels = plt.subplots(len(data), 1, figsize=(style.SINGLE_COLUMN, 3.84))
    for axes, row in zip(panels, pen.rows_of(data), strict=True):
        axes.set(xlim=(-0.1, row.m_2 + 2.1), ylim=(-1.35, 1.25), aspect="equal")
        axes.set_axis_off()
        axes.set_title(f"Model {NAMES[row.model]}", loc="left", pad=1.0)
        # m1 hides its other half
        radius, around = row.m_1 - row.ball, np.linspace(0.0, 2.0 * np.pi, 60)
        ball = [row.m_1 + radius * np.cos(around), radius * np.sin(around)]
        pen.area(axes, np.transpose(ball))
        for k, left in enumerate((row.m_0, row.m_1, row.m_2)):
            _block(axes, left, left + 1.0, 0.5, pen.BODY if k else pen.SOLID)
            pen.say(axes, (left + 0.5, 0.0), f"$m_{k}$")
            axes.vlines(left + 0.5, -1.03, -0.5, color=pen.QUIET, lw=pen.THIN)
            foot, tip = (left + 0.5, -0.95), (left + 1.0, -0.95)
            pen.arrow(axes, foot, tip, pen.QUIET, pen.THIN, f"$x_{k}$", (7, 0))
        if "rob" in row.springs:
            stiffness = r"$k_\mathrm{rob}$"
            _spring_and_damper(axes, row.m_1 + 1.0, row.m_2, style.LINE, "rob", stiffness)
        else:
            _block(axes, row.m_1 + 1.0, row.m_2, 0.14, pen.BODY)
        if "env" in row.springs:
            stiffness = r"$k_\mathrm{env},\ c$"
            _spring_and_damper(axes, row.m_0 + 1.0, row.surface, style.RELEASE, "env", stiffness)
            axes.vlines(row.surface, -0.4, 0.4, color=style.RELEASE, lw=pen.BOLD)
        for end in (row.ball, row.surface):
            pen.dashed(axes, [(end, 0.0), (end, _DEPTH + 0.08)])
        ends = (row.ball, _DEPTH), (row.surface, _DEPTH)
        pen.length(axes, *ends, r"$-\delta = g_N$", (0, 6))
        pen.arrow(axes, (row.m_2 + 2.0, 0.0), (row.m_2 + 1.0, 0.0), style.ACCENT, pen.BOLD)
        pen.say(axes, (row.m_2 + 1.6, 0.0), "$F$", (0, 8), style.ACCENT)
    return figure


def _block(axes: Axes, left: float, right: float, half: float, face: str) -> None:
    corners = [(left, -half), (right, -half), (right, half), (left, half)]
    pen.area(axes, np.array(corners), face)


def _spring_and_damper(
    axes: Axes, left: float, right: float, colour: str, where: str, stiffness: str
) -> None:
    """A spring over a damper, named above and below."""
    look: dict[str, Any] = {"color": colour, "lw": pen.NORMAL}
    length, middle = right - left, 0.5 * (left + right)
    axes.plot(np.linspace(left, right, len(_SPRING)), 0.24 + 0.11 * _SPRING, **look)
    back, front = middle - 0.18 * length, middle + 0.18 * length
    # a cup that is open to the left, and the rod of a piston in it
    axes.plot([back, front, front, back], [-0.07, -0.07, -0.41, -0.41], **look)
    axes.plot([left, middle, np.nan, front, right], [-0.24] * 5, **look)
    axes.vlines(middle, -0.36, -0.12, **look)
    pen.say(axes, (middle, 0.24), stiffness, (0, 11), colour)
    pen.say(axes, (middle, -0.24), rf"$d_\mathrm{{{where}}}$", (0, -11.5), colour)
