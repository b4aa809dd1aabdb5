"""The tossing study's figures as they are declared, drawn from a table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import yaml
from matplotlib.figure import Figure

from contactid.core.references import resolve
from contactid.tossing.artefacts import declare

_BLOCK = yaml.safe_load(
    (Path(__file__).parents[2] / "config/default.yaml").read_text(encoding="utf-8")
)["tossing"]
FIGURES = {row.name: row for row in declare(_BLOCK, printed=True) if row.kind == "figure"}


def draw_figure(name: str, data: pd.DataFrame) -> Figure:
    """Call the function that a figure's row names."""
    return resolve(FIGURES[name].draw)(data, **FIGURES[name].settings)
