"""Figure 3: the three two-mass models, drawn from their parts.

Where parts stand along x is the table's; shapes of springs, dampers and arrows are decided where
they are drawn.
"""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, Wedge

from contactid.arm.artefacts.two_mass import NAMES, QUIET
from contactid.arm.simulate.two_mass import COMPLIANT, MODELS, RIGID
from contactid.output import style

# places of the sketch, in units of a mass's width
_ENVIRONMENT, _CONTACT_SIDE, _SENSING_SIDE = 0.0, 3.2, 5.7
_WIDTH, _BALL, _CONTACT, _ARROW = 1.0, 0.3, 1.0, 1.0
_DARK, _BODY, _SOLID = "#222222", "#dfe9f2", "#e3e3e3"
_HEIGHT, _FLOOR = 1.0, -0.62  # of a mass; of the line its coordinates stand on
_LINE = 0.9  # points
_APART = 0.24  # of spring and damper from the middle
_LABELS = {
    "m_0": r"$m_0$",
    "m_1": r"$m_1$",
    "m_2": r"$m_2$",
    "F": r"$F$",
    "delta": r"$-\delta = g_N$",
    "x_0": r"$x_0$",
    "x_1": r"$x_1$",
    "x_2": r"$x_2$",
    "k_rob": r"$k_\mathrm{rob}$",
    "d_rob": r"$d_\mathrm{rob}$",
    "k_env": r"$k_\mathrm{env},\ c$",
    "d_env": r"$d_\mathrm{env}$",
}


def model_sketch() -> pd.DataFrame:
    """Figure 3: parts of the three models along x, in units of a mass's width.

    Columns ``model, name, part, label, start, end``: ``mass`` from its left to its right side,
    ``ball`` (the contact surface of m1), ``contact`` (spring and damper of eq. 6), ``coupling``
    (between m1 and m2), ``rigid`` (the same, stiff), ``force`` (from foot to tip), ``depth`` (what
    delta is measured along, from m1 to the environment's surface) and ``place`` (the coordinate of
    a mass).
    """
    rows: list[tuple[str, str, str, float, float]] = []
    for model in MODELS:
        left, one, two = places = _ENVIRONMENT, _CONTACT_SIDE, _SENSING_SIDE
        surface = left + _WIDTH + (_CONTACT if model == COMPLIANT else 0.0)
        parts = [
            *(("mass", f"m_{k}", place, place + _WIDTH) for k, place in enumerate(places)),
            ("ball", "", one - _BALL, one),
            (
                "rigid" if model == RIGID else "coupling",
                "" if model == RIGID else "k_rob d_rob",
                one + _WIDTH,
                two,
            ),
            ("force", "F", two + _WIDTH + _ARROW, two + _WIDTH),
            ("depth", "delta", one - _BALL, surface),
            *(
                ("place", f"x_{k}", place + _WIDTH / 2, place + _WIDTH / 2)
                for k, place in enumerate(places)
            ),
        ]
        if model == COMPLIANT:
            parts.append(("contact", "k_env d_env", left + _WIDTH, surface))
        rows += [(model, part, label, start, end) for part, label, start, end in parts]
    table = pd.DataFrame(rows, columns=["model", "part", "label", "start", "end"])
    table.insert(1, "name", [NAMES[model].removeprefix(f"{model}: ") for model in table["model"]])
    return table


def draw_models(data: pd.DataFrame) -> Figure:
    """Figure 3: a row per model."""
    models = list(dict.fromkeys(data["model"]))
    figure, panels = plt.subplots(len(models), 1, figsize=(style.SINGLE_COLUMN, 1.28 * len(models)))
    reach = float(data["start"].min()) - 0.1, float(data["start"].max()) + 0.1
    for axes, model in zip(panels, models, strict=True):
        rows = data[data["model"] == model]
        axes.set(xlim=reach, ylim=(-1.35, 1.25), aspect="equal")
        axes.set_axis_off()
        axes.set_title(f"Model {model}: {rows['name'].iloc[0]}", loc="left", pad=1.0)
        for row in rows.itertuples():
            _PARTS[str(row.part)](axes, float(row.start), float(row.end), str(row.label))
    return figure


def _mass(axes: Axes, start: float, end: float, label: str) -> None:
    face = _SOLID if label == "m_0" else _BODY
    axes.add_patch(
        Rectangle(
            (start, -_HEIGHT / 2), end - start, _HEIGHT, fc=face, ec=_DARK, lw=_LINE, zorder=3
        )
    )
    axes.text(
        (start + end) / 2, 0.0, _LABELS[label], ha="center", va="center", fontsize=9, zorder=4
    )


def _ball(axes: Axes, start: float, end: float, _: str) -> None:
    axes.add_patch(
        Wedge((end, 0.0), end - start, 90.0, 270.0, fc=_BODY, ec=_DARK, lw=_LINE, zorder=3)
    )


def _contact(axes: Axes, start: float, end: float, label: str) -> None:
    """Spring and damper of the contact end in a plate that m1 meets."""
    _spring_and_damper(axes, start, end, label)
    axes.plot([end, end], [-0.4, 0.4], color=style.RELEASE, lw=2.0, solid_capstyle="butt")


def _spring_and_damper(axes: Axes, start: float, end: float, label: str) -> None:
    colour = style.RELEASE if "env" in label else style.LINE
    stiffness, damping = label.split()
    length = end - start
    turns = np.concatenate([[0.0, 0.18], 0.18 + 0.64 * (np.arange(8) + 0.5) / 8.0, [0.82, 1.0]])
    swing = np.concatenate([[0.0, 0.0], 0.11 * (-1.0) ** np.arange(8), [0.0, 0.0]])
    axes.plot(start + length * turns, _APART + swing, color=colour, lw=_LINE)
    middle, half = start + 0.5 * length, 0.12
    axes.plot([start, middle], [-_APART, -_APART], color=colour, lw=_LINE)
    axes.plot([middle, middle], [-_APART - half, -_APART + half], color=colour, lw=1.6)
    cup = middle - 0.18 * length, middle + 0.18 * length
    axes.plot(
        [cup[0], cup[1], cup[1], cup[0]],
        -_APART + half * np.array([1.4, 1.4, -1.4, -1.4]),
        color=colour,
        lw=_LINE,
    )
    axes.plot([cup[1], end], [-_APART, -_APART], color=colour, lw=_LINE)
    axes.text(
        middle, _APART + 0.2, _LABELS[stiffness], ha="center", va="bottom", color=colour, fontsize=7
    )
    axes.text(
        middle, -_APART - 0.25, _LABELS[damping], ha="center", va="top", color=colour, fontsize=7
    )


def _rigid(axes: Axes, start: float, end: float, _: str) -> None:
    axes.add_patch(
        Rectangle((start, -0.14), end - start, 0.28, fc=_BODY, ec=_DARK, lw=_LINE, zorder=2)
    )


def _force(axes: Axes, start: float, end: float, label: str) -> None:
    _arrow(axes, start, end, 0.0, style.ACCENT, 1.4)
    axes.text(
        (start + end) / 2,
        0.14,
        _LABELS[label],
        ha="center",
        va="bottom",
        color=style.ACCENT,
        fontsize=9,
    )


def _depth(axes: Axes, start: float, end: float, label: str) -> None:
    level = 0.78
    for place in (start, end):
        axes.plot([place, place], [0.0, level + 0.08], color=QUIET, lw=0.5, ls=(0, (4, 2)))
    _arrow(axes, end, start, level, QUIET, 0.7, heads="<|-|>")
    axes.text(
        (start + end) / 2,
        level + 0.06,
        _LABELS[label],
        ha="center",
        va="bottom",
        fontsize=7,
        color=QUIET,
    )


def _place(axes: Axes, start: float, _: float, label: str) -> None:
    axes.plot([start, start], [_FLOOR - 0.32, _FLOOR + 0.12], color=QUIET, lw=0.5)
    _arrow(axes, start, start + 0.5, _FLOOR - 0.24, QUIET, 0.7)
    axes.text(
        start + 0.55, _FLOOR - 0.24, _LABELS[label], ha="left", va="center", fontsize=7, color=QUIET
    )


def _arrow(
    axes: Axes,
    start: float,
    end: float,
    level: float,
    colour: str,
    width: float,
    heads: str = "-|>",
) -> None:
    look = {
        "arrowstyle": heads,
        "color": colour,
        "lw": width,
        "mutation_scale": 7,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate(
        "", xy=(end, level), xytext=(start, level), arrowprops=look, zorder=4, annotation_clip=False
    )


_PARTS: dict[str, Callable[[Axes, float, float, str], None]] = {
    "mass": _mass,
    "ball": _ball,
    "contact": _contact,
    "coupling": _spring_and_damper,
    "rigid": _rigid,
    "force": _force,
    "depth": _depth,
    "place": _place,
}
