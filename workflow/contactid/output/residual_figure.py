"""Residuals of a user's own recordings on their noise: the one figure of them for all commands."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.escape import one_line
from contactid.output.plain_panels import plain_panels

# deviations of the noise between which residuals mostly lie
_SIGMAS = 2.0
_COLOURS = (style.LINE, style.RELEASE, style.ACCENT, style.ROSE, style.SIMULATED, style.SKY)
# what is mostly shown in a smaller unit: a thousand of them are one
_SMALLER = {"m": "mm", "rad": "mrad", "N m": "N mm", "m/s": "mm/s"}
# in a legend
_MOST_LABELS = 6
# inches of a channel, and between two
_HEIGHT, _BETWEEN = 1.05, 0.15


def draw_residuals(residuals: xr.Dataset, group: str) -> Figure:
    """A panel for each channel of ``Result.residuals``, against time.

    Parameters
    ----------
    residuals
        Channels along a first dimension that has the coordinates ``time`` (s) and ``group``; a
        channel of vectors has components along its second.
    group
        Lines are not drawn from one of its values to the next.
    """
    channels = list(residuals.data_vars)
    figure, panels = plain_panels(len(channels), 1, height=_HEIGHT, between=_BETWEEN, sharex=True)
    for axes, name in zip(panels[:, 0], channels, strict=True):
        _draw_channel(axes, residuals[name], group)
    time_name = residuals["time"].attrs.get("long_name", "time")
    panels[-1, 0].set_xlabel(f"{time_name} (s)")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    # the noise's band comes first
    shown = slice(1 + _MOST_LABELS)
    legend = figure.legend(handles[shown], labels[shown], loc="upper center", ncols=4)
    for text in legend.get_texts():
        # a user's names may hold any sign
        text.set_parse_math(False)
    return figure


def _draw_channel(axes: Axes, channel: xr.DataArray, group: str) -> None:
    unit = channel.attrs["units"]
    factor = 1e3 if unit in _SMALLER else 1.0
    reach = factor * _SIGMAS * channel.attrs["noise"]
    axes.axhspan(-reach, reach, color=style.MEASURED, alpha=0.2, lw=0, label="noise, 2 sigma")
    time = channel["time"].values
    groups = channel[group].values
    is_vector = channel.ndim > 1
    colours = cycle(_COLOURS)
    labelled = set()
    for name in dict.fromkeys(groups):
        rows = groups == name
        values = factor * np.atleast_2d(channel.values[rows].T)
        # a colour per component, the same in every group and named once; else a colour per group
        parts = [name]
        if is_vector:
            parts = list(channel[channel.dims[1]].values)
            colours = cycle(_COLOURS)
        for part, line in zip(parts, values, strict=True):
            label = None if part in labelled else one_line(part)
            labelled.add(part)
            axes.plot(time[rows], line, color=next(colours), lw=0.8, label=label)
    axes.set_ylabel(f"{channel.name} ({_SMALLER.get(unit, unit)})")
