"""Animate time lapses of planar bodies, all panels at once, as a gif that loops.

The scene is that of :mod:`contactid.planar.artefacts.time_lapse`, with an outline for each picture.
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
from PIL import Image

from contactid.core.atomic import replacing
from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.planar.artefacts.time_lapse import BODY, COM, REFERENCE, name_lines, scene_panels

DPI = 100
SHORTEST, LONGEST = 40, 70  # ms of a frame: real time where that lies between
_HELD = 1000  # ms of the last frame


def animate(scene: pd.DataFrame, path: str | Path, *, source: str = "") -> None:
    """Write a looping gif of the motions; it plays in real time where outlines are 40 to 70 ms
    apart.

    A panel that ends before the others stays as it ends. ``source`` is printed in the picture.

    Raises
    ------
    ContactIdError
        Nothing to show, or a path that can't be written.
    """
    instants = scene[scene["kind"] == "outline"].groupby("item")["time_s"].max()
    if instants.empty:
        raise ContactIdError(
            f"{path}: there is no frame to animate", "Give a motion of one step or more"
        )
    with style.styled():
        figure, axes_of = scene_panels(scene)
        figure.set_dpi(DPI)
        if source:
            style.label_data(figure, source)
        panels = [_Panel(axes, scene[scene["panel"] == panel]) for panel, axes in axes_of.items()]
        name_lines(figure, panels[0].axes)
        clock = figure.text(0.01, 0.01, _time(instants.iloc[-1]), fontsize=8.0)
        canvas = _Canvas(figure, [*(artist for panel in panels for artist in panel.artists), clock])
        pictures = []
        for instant in instants:
            for panel in panels:
                panel.show(instant)
            clock.set_text(_time(instant))
            pictures.append(canvas.picture())
        plt.close(figure)
    _write(pictures, _durations(instants.to_numpy()), path)


class _Panel:
    """One motion's artists, moved from picture to picture."""

    def __init__(self, axes: Axes, motion: pd.DataFrame) -> None:
        outlines = motion[motion["kind"] == "outline"].groupby("item")
        self.axes, self.times = axes, outlines["time_s"].first().to_numpy()
        self.outlines = [part.to_numpy() for _, part in outlines[["x_m", "y_m"]]]
        (self.body,) = axes.fill(
            *self.outlines[0].T, facecolor=style.REST, edgecolor=style.REST_EDGE, lw=1.0, label=BODY
        )
        self.trails = []
        for kind, colour, dashes, name in (
            ("com", style.LINE, "-", COM),
            ("reference", style.RELEASE, "--", REFERENCE),
        ):
            (line,) = axes.plot([], [], color=colour, ls=dashes, lw=1.0, label=name)
            line.set(
                marker="o", markersize=3.0, markeredgewidth=0.0, markevery=[-1]
            )  # a dot at its end
            self.trails.append((line, motion[motion["kind"] == kind]))

    @property
    def artists(self) -> list[Artist]:
        """What moves, from back to front."""
        return [self.body, *(line for line, _ in self.trails)]

    def show(self, instant: float) -> None:
        """Take the state at an instant, or the last one before it."""
        place = max(int((self.times <= instant).sum()) - 1, 0)
        self.body.set_xy(self.outlines[place])
        for line, path in self.trails:
            past = path[path["time_s"] <= instant]
            line.set_data(past["x_m"], past["y_m"])


class _Canvas:
    """A figure of which only some artists are drawn anew for each picture."""

    def __init__(self, figure: Figure, artists: list[Artist]) -> None:
        assert isinstance(figure.canvas, FigureCanvasAgg)
        self.figure, self.canvas, self.artists = figure, figure.canvas, artists
        # once with everything: the layout is found, then held, so that pictures don't jump
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
    # ms, in whole hundredths of a second
    each = int(np.clip(10 * round(apart / 10.0), SHORTEST, LONGEST))
    return [each] * (len(instants) - 1) + [_HELD]


def _write(pictures: list[np.ndarray], durations: list[int], path: str | Path) -> None:
    """Save pictures (h, w, 3) in one palette, found for all of them at once."""
    height = len(pictures[0])
    strip = Image.fromarray(np.vstack(pictures)).quantize(256, method=Image.Quantize.FASTOCTREE)
    colours = np.array(strip.getpalette()).reshape(-1, 3)
    colours[np.array(strip)[0, 0]] = pictures[0][
        0, 0
    ]  # the background itself, not a mean of colours like it
    strip.putpalette(colours.ravel().tolist())
    first, *others = [
        strip.crop((0, top, strip.width, top + height)) for top in range(0, strip.height, height)
    ]
    with replacing(path) as partial:
        first.save(
            partial, format="GIF", save_all=True, append_images=others, duration=durations, loop=0
        )
