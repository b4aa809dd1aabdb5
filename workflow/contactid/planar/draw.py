"""Draw the figures and animations of the planar study from their data files; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from contactid.output import style
from contactid.planar import (
    draw_identification,
    draw_identification_tables,
    draw_impulses,
    draw_motion,
    draw_real_ellipse,
    draw_rig,
    draw_setting,
)
from contactid.planar.animate import animate

_SIMULATED = "simulated, contactid planar"
_DRAWING = "drawing, contactid planar"
_IDENTIFIED = "simulated throws with noise, identified, contactid planar"
_SOURCES = {
    "fig15_fitted_trajectory": "qualitative: a simulated motion and the same with noise, contactid planar",
    "fig17_identified_trajectories": _IDENTIFIED,
    "fig18_identified_impulses": _IDENTIFIED,
    "fig19_identified_friction": _IDENTIFIED,
    "fig20_rig": _DRAWING,
    "fig21_release": _DRAWING,
    "ext_identification_error": _IDENTIFIED,
    "ext_reformulations": _IDENTIFIED,
    "ext_real_ellipse": "public data: planar impacts of an ellipse; identified by contactid planar",
}
DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    **draw_setting.DRAWINGS,
    **draw_impulses.DRAWINGS,
    **draw_motion.DRAWINGS,
    **draw_identification.DRAWINGS,
    **draw_identification_tables.DRAWINGS,
    **draw_rig.DRAWINGS,
    **draw_real_ellipse.DRAWINGS,
}


def draw(name: str, data: pd.DataFrame, stem: str) -> None:
    """Draw a figure and save it as pdf, png and svg; a scene of the user is drawn as a time lapse."""
    with style.styled():
        figure = DRAWINGS.get(name, draw_motion.draw_scene)(data)
        style.label_data(figure, _source(name, data))
        style.save(figure, stem)
        plt.close(figure)


def _source(name: str, data: pd.DataFrame) -> str:
    """What the figure is made from; its data say so where it depends on the run."""
    if "source" in data:
        return str(data["source"].iloc[0])
    return _SOURCES.get(name, _DRAWING if name in draw_setting.DRAWINGS else _SIMULATED)


def animate_figure(frames: pd.DataFrame, path: str) -> None:
    """Write a figure's animation as gif."""
    animate(frames, path, source=_SIMULATED)
