"""The drawing functions of the planar study's figures, by the figures' names, as they are declared."""

from functools import partial
from pathlib import Path

import yaml

from contactid.core.references import resolve
from contactid.planar.artefacts import declare

CONFIGURATION = yaml.safe_load(
    (Path(__file__).parents[2] / "config/default.yaml").read_text(encoding="utf-8")
)
EVERYTHING = {
    "squares": "planar_square",
    "ellipse": "planar_ellipse",
    "simulated": "planar_pybullet",
}
ROWS = declare({**CONFIGURATION["planar"], "real": EVERYTHING})


def drawings(names):
    """Functions from a table to a figure."""
    figures = {row.name: row for row in ROWS if row.kind == "figure"}
    return {name: partial(resolve(figures[name].draw), **figures[name].settings) for name in names}
