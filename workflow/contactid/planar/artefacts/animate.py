"""Animate motions of planar bodies, all panels at once, as a gif that loops.

The table has the columns ``panel, label, frame, time_s, kind, x_m, y_m``: at each frame an ``outline`` (a polyline in
S) and one point each of ``com`` and ``reference``, whose history is their path; the ``ground`` is drawn at every frame.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from contactid.core.atomic import replacing
from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.planar.artefacts.time_lapse import BODY, COM, REFERENCE, name_lines, scene_panels

DPI = 100
SHORTEST, LONGEST = 40, 70  # ms of a frame: real time where that lies between
_HELD = 1000  # ms of the last frame


def animate(frames: pd.DataFrame, path: str | Path, *, source: str = "") -> None:
    """Write a looping gif of the motions; it plays in real time where frames are 40 to 70 ms apart.

    A panel that ends before the others stays as it ends. ``source`` is printed in the picture.

    Raises
    ------
    ContactIdError
        Nothing to show, or a path that can't be written.
    """
    moving = frames[frames["kind"] != "ground"]
    if moving.empty:
        raise ContactIdError(f"{path}: there is no frame to animate", "Give a motion of one step or more")
    instants = moving.groupby("frame")["time_s"].max()
    with style.styled():
        figure, axes_of = scene_panels(frames.assign(item=0))
        figure.set_dpi(DPI)
        if source:
            style.label_data(figure, source)
        panels = [_Panel(axes, moving[moving["panel"] == panel]) for panel, axes in axes_of.items()]
        name_lines(figure, panels[0].axes)
        clock = figure.text(0.01, 0.01, _time(instants.iloc[-1]), fontsize=8.0)
        canvas = _Canvas(figure, [*(artist for panel in panels for artist in panel.artists), clock])
        pictures = []
        for frame, instant in zip(instants.index.to_numpy(dtype=int), instants, strict=True):
            for panel in panels:
                panel.show(frame)
            clock.set_text(_time(instant))
            pictures.append(canvas.picture())
        plt.close(figure)
    _write(pictures, _durations(instants.to_numpy()), path)


class _Panel:
    """One motion's artists, moved from frame to frame."""

    def __init__(self, axes: Axes, motion: pd.DataFrame) -> None:
        outlines = motion[motion["kind"] == "outline"].groupby("frame")[["x_m", "y_m"]]
        self.axes, self.frames = axes, np.array(list(outlines.groups))
        self.outlines = [part.to_numpy() for _, part in outlines]
        (self.body,) = axes.fill(
            *self.outlines[0].T, facecolor=style.REST, edgecolor=style.REST_EDGE, lw=1.0, label=BODY
        )
        com, reference = (motion[motion["kind"] == kind] for kind in ("com", "reference"))
        self.trails = [_trail(axes, com, style.LINE, "-", COM), _trail(axes, reference, style.RELEASE, "--", REFERENCE)]

    @property
    def artists(self) -> list[Artist]:
        """What moves, from back to front."""
        return [self.body, *(line for line, _ in self.trails)]

    def show(self, frame: int) -> None:
        """Take the state of a frame, or the last one before it."""
        past = max(int(np.searchsorted(self.frames, frame, side="right")), 1)
        self.body.set_xy(self.outlines[past - 1])
        for line, points in self.trails:
            line.set_data(*points[:past].T)


def _trail(axes: Axes, rows: pd.DataFrame, colour: str, dashes: str, name: str) -> tuple[Line2D, np.ndarray]:
    """A line that ends in a dot, and the points (n, 2) that it goes through in the end."""
    (line,) = axes.plot(
        [], [], color=colour, ls=dashes, lw=1.0, marker="o", ms=3.0, mew=0.0, markevery=[-1], label=name
    )
    return line, rows.sort_values("frame")[["x_m", "y_m"]].to_numpy()


class _Canvas:
    """A figure of which only some artists are drawn anew for each picture."""

    def __init__(self, figure: Figure, artists: list[Artist]) -> None:
        assert isinstance(figure.canvas, FigureCanvasAgg)
        self.figure, self.canvas, self.artists = figure, figure.canvas, artists
        self.canvas.draw()
        figure.set_layout_engine("none")
        for artist in artists:
            artist.set_animated(True)
        self.canvas.draw()
        self.background = self.canvas.copy_from_bbox(figure.bbox)

    def picture(self) -> np.ndarray:
        """(h, w, 3) the figure as it is now."""
        self.canvas.restore_region(self.background)
        for artist in self.artists:
            self.figure.draw_artist(artist)
        return np.array(self.canvas.buffer_rgba())[..., :3]


def _time(instant: float) -> str:
    return f"t = {instant:.2f} s"


def _durations(instants: np.ndarray) -> list[int]:
    """How long each frame stays, ms; gifs count hundredths of a second."""
    apart = 1e3 * float(np.median(np.diff(instants))) if len(instants) > 1 else SHORTEST
    each = int(np.clip(10 * round(apart / 10.0), SHORTEST, LONGEST))
    return [each] * (len(instants) - 1) + [_HELD]


def _write(pictures: list[np.ndarray], durations: list[int], path: str | Path) -> None:
    """Save pictures (h, w, 3) in one palette, found for all of them at once."""
    height = len(pictures[0])
    strip = Image.fromarray(np.vstack(pictures)).quantize(256, method=Image.Quantize.MEDIANCUT)
    colours = np.array(strip.getpalette()).reshape(-1, 3)
    colours[np.array(strip)[0, 0]] = pictures[0][0, 0]  # the background itself, not a mean of colours like it
    strip.putpalette(colours.ravel().tolist())
    first, *others = [strip.crop((0, top, strip.width, top + height)) for top in range(0, strip.height, height)]
    with replacing(path) as partial:
        first.save(partial, format="GIF", save_all=True, append_images=others, duration=durations, loop=0)
