"""Figure 3: the three two-mass models, in units of a mass's width."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from contactid.arm.artefacts.two_mass import NAMES
from contactid.arm.simulate.two_mass import COMPLIANT, MODELS, RIGID
from contactid.output import pen, style

_MASSES = (0.0, 3.2, 5.7)  # left sides
_BALL, _CONTACT = 0.3, 1.0  # lengths of m1's contact surface, and of the compliant contact
_DEPTH = 0.78  # height of what delta is measured along
_SPRING = np.array([0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0])  # its turns
_LINES: dict[str, Any] = {"ec": pen.DARK, "lw": pen.NORMAL}


def model_sketch() -> pd.DataFrame:
    """Figure 3, from A to C: ``model``, and the springs with dampers that it has: ``env`` (eq. 6)
    and ``rob`` (between m1 and m2), separated by spaces.
    """
    springs = [{COMPLIANT: "env rob", RIGID: ""}.get(model, "rob") for model in MODELS]
    return pd.DataFrame({"model": MODELS, "springs": springs})


def draw_models(data: pd.DataFrame) -> Figure:
    """Figure 3: a row per model."""
    figure, panels = plt.subplots(len(data), 1, figsize=(style.SINGLE_COLUMN, 3.84))
    for axes, row in zip(panels, pen.rows_of(data), strict=True):
        axes.set(xlim=(-0.1, 7.8), ylim=(-1.35, 1.25), aspect="equal")
        axes.set_axis_off()
        axes.set_title(f"Model {NAMES[row.model]}", loc="left", pad=1.0)
        # m1 hides its other half
        axes.add_patch(Circle((_MASSES[1], 0.0), _BALL, fc=pen.BODY, **_LINES))
        for k, left in enumerate(_MASSES):
            face, middle = pen.BODY if k else pen.SOLID, left + 0.5
            axes.add_patch(Rectangle((left, -0.5), 1.0, 1.0, fc=face, **_LINES))
            pen.say(axes, (middle, 0.0), f"$m_{k}$")
            axes.vlines(middle, -1.03, -0.5, color=pen.QUIET, lw=pen.THIN)
            ends = (middle, -0.95), (left + 1.0, -0.95)
            pen.arrow(axes, *ends, pen.QUIET, pen.THIN, f"$x_{k}$", (7, 0))
        surface, ball, right = _MASSES[0] + 1.0, _MASSES[1] - _BALL, _MASSES[2] + 1.0
        start, end = _MASSES[1] + 1.0, _MASSES[2]
        if "rob" in row.springs:
            names = r"$k_\mathrm{rob}$", r"$d_\mathrm{rob}$"
            _spring_and_damper(axes, start, end, style.LINE, *names)
        else:
            axes.add_patch(Rectangle((start, -0.14), end - start, 0.28, fc=pen.BODY, **_LINES))
        if "env" in row.springs:
            surface += _CONTACT
            names = r"$k_\mathrm{env},\ c$", r"$d_\mathrm{env}$"
            _spring_and_damper(axes, surface - _CONTACT, surface, style.RELEASE, *names)
            axes.vlines(surface, -0.4, 0.4, color=style.RELEASE, lw=pen.BOLD)
        for end in (ball, surface):
            pen.dashed(axes, [(end, 0.0), (end, _DEPTH + 0.08)])
        pen.length(axes, (ball, _DEPTH), (surface, _DEPTH), r"$-\delta = g_N$", (0, 6))
        pen.arrow(axes, (right + 1.0, 0.0), (right, 0.0), style.ACCENT, pen.BOLD)
        pen.say(axes, (right + 0.6, 0.0), "$F$", (0, 8), style.ACCENT)
    return figure


def _spring_and_damper(
    axes: Axes, left: float, right: float, colour: str, spring: str, damper: str
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
    pen.say(axes, (middle, 0.24), spring, (0, 11), colour)
    pen.say(axes, (middle, -0.24), damper, (0, -11.5), colour)
