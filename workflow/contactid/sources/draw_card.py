"""Draw the signals of a data card; nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from contactid.output import style
from contactid.sources.data_card import headline

FORMATS = ("png", "svg")
_HEIGHT = 2.2  # inches
_MOST_LABELS = 7


def draw_card(card: dict[str, Any], stem: str | Path) -> None:
    """Write the card's panels side by side as ``stem`` with the extensions png and svg."""
    with style.styled():
        figure, axes = plt.subplots(1, len(card["panels"]), figsize=(style.DOUBLE_COLUMN, _HEIGHT), squeeze=False)
        for panel, place in zip(card["panels"], axes[0], strict=True):
            _draw_panel(place, panel)
        figure.suptitle(f"{card['name']}: {headline(card)}", fontsize=8, x=0.01, ha="left")
        kind = "synthetic data" if card["synthetic"] else "measured data"
        style.label_data(figure, f"{kind}; {card['what']}; licence: {card['licence']}")
        style.save(figure, stem, FORMATS)
        plt.close(figure)


def _draw_panel(axes: Axes, panel: dict[str, Any]) -> None:
    colours = plt.get_cmap("viridis")
    count = max(len(panel["series"]) - 1, 1)
    for number, series in enumerate(panel["series"]):
        if panel["kind"] == "points":
            axes.plot(series["x"], series["y"], ".", color=style.LINE, ms=1.5, alpha=0.4)
        else:
            axes.plot(series["x"], series["y"], color=colours(0.9 * number / count), lw=0.7, label=series["label"])
    if 1 < len(panel["series"]) <= _MOST_LABELS and panel["title"].startswith("joints"):
        axes.legend(fontsize=5, ncols=2)
    axes.set(xlabel=panel["x_label"], ylabel=panel["y_label"])
    axes.set_title(panel["title"], loc="left")
