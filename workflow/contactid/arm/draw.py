"""Draw the figures of the arm study from their data files; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from contactid.arm.artefacts.arm_pose import draw_arm
from contactid.arm.artefacts.joint_velocities import draw_joint_velocities
from contactid.arm.draw_fit import draw_accuracy, draw_cartesian_fit
from contactid.arm.draw_model_sketch import draw_models
from contactid.arm.draw_two_mass import draw_decomposition, draw_motions, draw_sweep
from contactid.output import style

_TWO_MASS = "simulated two-mass models, contactid arm"
_SOURCES = {
    "fig01_arm": "drawing from the link table, in place of the photographs; outlines schematic, contactid arm",
    "fig03_models": "drawing, contactid arm",
    "fig04_two_mass": f"{_TWO_MASS} (Table I)",
    "fig05_decomposition": f"{_TWO_MASS} (Table I)",
    "ext_damping_sweep": _TWO_MASS,
    "ext_fit_accuracy": "synthetic data: twin with noise samples; coverage: share of 95 % intervals that hold the "
    "reference; contactid arm",
}
DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig01_arm": draw_arm,
    "fig02_joint_velocities": draw_joint_velocities,
    "fig03_models": draw_models,
    "fig05_decomposition": draw_decomposition,
    "fig06_cartesian_fit": draw_cartesian_fit,
    "ext_damping_sweep": draw_sweep,
    "ext_fit_accuracy": draw_accuracy,
}


def draw(name: str, data: pd.DataFrame, stem: str, *, zoom: tuple[float, float]) -> None:
    """Draw a figure and save it as pdf, png and svg; ``zoom`` (s) is what figure 4's third column shows."""
    with style.styled():
        figure = draw_motions(data, zoom) if name == "fig04_two_mass" else DRAWINGS[name](data)
        source = _SOURCES[name] if name in _SOURCES else str(data["source"].iloc[0])
        style.label_data(figure, source)
        style.save(figure, stem)
        plt.close(figure)
