"""Draw the figures of the in-hand study from their data files; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from contactid.inhand import (
    draw_errors,
    draw_excitation,
    draw_factor_graph,
    draw_force_sensing,
    draw_friction,
    draw_grasp,
    draw_speed,
)
from contactid.output import style

_MODEL = "drawing of the synthetic twin's model, contactid inhand"
# of figures whose data don't say it in a column ``source``
_SOURCES = {
    "fig01_inhand": _MODEL,
    "fig02_contact": _MODEL,
    "fig04_objects": "drawing; shapes inferred from the printed numbers, in place of the photographs, contactid inhand",
    "fig09_force_scale": "synthetic data: one motion of the twin at the wrist and in hand, contactid inhand",
    "ext_identifiability": "synthetic data: the twins' motions, contactid inhand",
    "ext_excitation": "synthetic data: the twins' motions and optimised ones, contactid inhand",
}
DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    **draw_grasp.DRAWINGS,
    **draw_factor_graph.DRAWINGS,
    **draw_force_sensing.DRAWINGS,
    **draw_friction.DRAWINGS,
    **draw_errors.DRAWINGS,
    **draw_excitation.DRAWINGS,
    **draw_speed.DRAWINGS,
}


def draw(name: str, data: pd.DataFrame, stem: str) -> None:
    """Draw a figure and save it as pdf, png and svg; its label says what it was made from."""
    with style.styled():
        figure = DRAWINGS[name](data)
        style.label_data(figure, _SOURCES[name] if name in _SOURCES else str(data["source"].iloc[0]))
        style.save(figure, stem)
        plt.close(figure)
