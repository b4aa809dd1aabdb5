"""Axes in rows and columns with fixed room for numbers and names: finding the room takes longer than
the drawing, and those who wait for a command's report wait for it.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from contactid.output import style

# inches beside axes, for numbers of six signs and a name; below them; and above, for a legend of
# two lines or one and a title
_BESIDE, _BELOW, _ABOVE = 0.65, 0.4, 0.35
# inches right of all axes
_MARGIN = 0.05


def plain_panels(
    n_rows: int,
    n_columns: int,
    *,
    width: float = style.DOUBLE_COLUMN,
    height: float = 0.9,
    between: float = 0.4,
    **shared: Any,
) -> tuple[Figure, np.ndarray]:
    """A figure and its axes (rows, columns).

    ``width`` is the figure's, ``height`` that of axes, and ``between`` of what is free between two
    rows, inches; ``shared`` are ``sharex`` and ``sharey`` of matplotlib's ``subplots``.
    """
    whole = n_rows * height + (n_rows - 1) * between + _BELOW + _ABOVE
    room = fixed_room(width, whole, n_rows, n_columns, between)
    return plt.subplots(
        n_rows,
        n_columns,
        squeeze=False,
        figsize=(width, whole),
        layout="none",
        gridspec_kw=room,
        **shared,
    )


def fixed_room(
    width: float, height: float, n_rows: int, n_columns: int, between: float
) -> dict[str, float]:
    """Where the axes of a figure of so many inches are, as matplotlib's grids take it."""
    # of axes; matplotlib takes what is free between them in shares of these
    one_width = (width - _MARGIN) / n_columns - _BESIDE
    one_height = (height - _BELOW - _ABOVE + between) / n_rows - between
    return {
        "left": _BESIDE / width,
        "right": 1.0 - _MARGIN / width,
        "bottom": _BELOW / height,
        "top": 1.0 - _ABOVE / height,
        "wspace": _BESIDE / one_width,
        "hspace": between / one_height,
    }
