"""The one place that decides how figures look: sizes, fonts, colours, and how they are saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from contactid.core.atomic import replacing
from contactid.output.escape import one_line

# inches, of one or two columns of an IEEE page
SINGLE_COLUMN = 3.5
DOUBLE_COLUMN = 7.16

# Okabe and Ito's palette, distinguishable with any colour vision
MEASURED = "#8c8c8c"
SIMULATED = "#E69F00"
RELEASE = "#D55E00"
REST = "#F0E442"
REST_EDGE = "#8a7f00"
LINE = "#0072B2"
ACCENT = "#009E73"
SKY = "#56B4E9"
ROSE = "#CC79A7"

FORMATS = ("pdf", "png", "svg")
# at most; each makes room for what the one before was too narrow for, until nothing is seen to move
_LAYOUTS = 5
# of the figure's size: less than a line's width
_SEEN = 1e-3

_SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "mathtext.fontset": "dejavusans",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "savefig.dpi": 300,
    "figure.constrained_layout.use": True,
    # identical figures from identical data
    "svg.hashsalt": "contactid",
    # TrueType: journals refuse Type 3
    "pdf.fonttype": 42,
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw inside this context, into files alone."""
    mpl.use("Agg")
    with styled_for_a_caller():
        yield


@contextmanager
def styled_for_a_caller() -> Iterator[None]:
    """Draw inside this context and leave alone where the caller's figures are shown."""
    _prefer_fonts_of_matplotlib()
    with mpl.rc_context(_SETTINGS):
        yield


def label_data(figure: Figure, text: str) -> None:
    """Say in the picture itself which data it was made from, as ``synthetic data: throws of a
    square, identified``.

    It begins with what kind they are: ``synthetic data``, ``recorded data``, ``public data``,
    ``simulated``, ``computed`` or ``drawing``. It is shown as it is: no math is read in it.
    """
    figure.supxlabel(
        one_line(text), fontsize=6, color="#555555", x=0.995, ha="right", parse_math=False
    )


def save(figure: Figure, stem: str | Path, formats: Sequence[str] = FORMATS) -> None:
    """Write ``stem`` with the extensions pdf, png and svg, without dates, so that equal figures are
    equal files.

    What :func:`label_data` said is also in the files' metadata: svg and png ``Description``, pdf
    ``Subject``.
    """
    _settle(figure)
    if "pdf" in formats:
        _embed_glyphs_alone()
    said = figure.get_supxlabel()
    # with a layout engine, even one that does nothing, each format would be drawn twice
    with mpl.rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
        for extension in formats:
            metadata = {
                "pdf": {"CreationDate": None, "Subject": said},
                "svg": {"Date": None, "Description": said},
                "png": {"Description": said},
            }[extension]
            with replacing(f"{stem}.{extension}") as partial:
                figure.savefig(partial, metadata=metadata)


def svg(figure: Figure) -> str:
    """A figure as the text of an ``<svg>`` element; equal figures are equal texts."""
    _settle(figure)
    text = StringIO()
    with mpl.rc_context({"figure.constrained_layout.use": False, "svg.fonttype": "none"}):
        # as in save()
        figure.set_layout_engine(None)
        figure.savefig(text, format="svg", metadata={"Date": None})
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]


@cache
def _prefer_fonts_of_matplotlib() -> None:
    """Draw with Matplotlib's own fonts, whatever fonts of the same name the system has.

    Of fonts that fit alike Matplotlib takes the first of its list. The list comes from a cache in
    the user's home, in any order, and without Matplotlib's own fonts where another installation,
    since removed, wrote it. Figures were others then.
    """
    fonts = font_manager.fontManager
    own = Path(mpl.get_data_path(), "fonts/ttf")
    listed = {font.fname for font in fonts.ttflist}
    for path in sorted(own.glob("*.ttf")):
        if str(path) not in listed:
            fonts.addfont(path)
    fonts.ttflist.sort(key=lambda font: Path(font.fname).parent != own)


@cache
def _embed_glyphs_alone() -> None:
    """Leave out of pdfs by which tables fonts lay text out.

    A pdf names its glyphs one by one and never asks for these tables; to take them along was two
    thirds of what a font cost, and each pdf has two or three. Matplotlib leaves the choice to
    fontTools' own list.
    """
    # here: a tenth of a second that only drawing needs
    from fontTools import subset

    subset.Options._drop_tables_default += ["GDEF", "GPOS", "GSUB", "MATH"]


def _settle(figure: Figure) -> None:
    """Lay a figure out once, for all its formats, and round where that puts the axes.

    The layout's solver orders its unknowns by where they lie in memory, so the last digits differ
    from run to run, and with them a few pixels and the names in an svg file.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        return
    # text is measured in whole dots
    figure.set_dpi(mpl.rcParams["savefig.dpi"])
    places = np.zeros(0)
    for _ in range(_LAYOUTS):
        boxes = [axes.get_position(original=True) for axes in figure.axes]
        boxes += [part.bbox_relative for part in figure.subfigs]
        before, places = places, np.array([box.get_points() for box in boxes])
        if before.shape == places.shape and np.allclose(before, places, rtol=0.0, atol=_SEEN):
            break
        engine.execute(figure)
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(6))
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(6)))
        # which a position of one's own switches off
        axes.set_in_layout(True)
