"""Equal figures are equal files, although the layout's solver rounds otherwise from run to run."""

import copy
import itertools
import shutil
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from fontTools import subset
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

from contactid.output import style


def drawn(folder, name):
    with style.styled():
        figure = plt.figure(figsize=(style.SINGLE_COLUMN, 2.5))
        upper, lower = figure.subfigures(2, 1, height_ratios=(2, 1))
        for axes in (*upper.subplots(1, 2).ravel(), lower.subplots()):
            axes.plot([0, 1], [0, 1e6])
            axes.set(xlabel="time (s)", ylabel="force (N)", aspect=1e-6)
        style.label_data(figure, "synthetic data")
        style.save(figure, folder / name)
    return [(folder / f"{name}.{extension}").read_bytes() for extension in style.FORMATS]


@pytest.fixture
def shaky_layout(monkeypatch):
    """A layout whose last digits are others each time."""
    step = itertools.count(1)
    lay_out = ConstrainedLayoutEngine.execute

    def shaken(engine, figure):
        lay_out(engine, figure)
        shift = 3e-14 * next(step)
        for part in figure.subfigs:
            part.bbox_relative.set_points(part.bbox_relative.get_points() + shift)
        for axes in figure.axes:
            axes._set_position(
                Bbox(axes.get_position(original=True).get_points() - shift)
            )  # stays in the layout

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", shaken)


def test_a_layout_with_other_last_digits_gives_the_same_files(shaky_layout, tmp_path):
    assert drawn(tmp_path, "first") == drawn(tmp_path, "again")


def test_saving_keeps_what_was_laid_out_and_says_what_it_was_made_from(tmp_path):
    pdf, png, svg = drawn(tmp_path, "figure")
    assert pdf.startswith(b"%PDF") and png.startswith(b"\x89PNG")
    assert svg.count(b"time (s)") == 3 and b"synthetic data" in svg


def test_pdfs_leave_out_the_tables_by_which_fonts_lay_text_out(tmp_path):
    drawn(tmp_path, "figure")
    dropped = subset.Options().drop_tables
    assert {"GDEF", "GPOS", "GSUB", "MATH"} <= set(dropped)
    drawn(tmp_path, "another")
    assert subset.Options().drop_tables == dropped


@pytest.mark.parametrize("own_are_listed", [True, False])
def test_figures_have_fonts_of_matplotlib_whatever_else_its_cache_lists(
    monkeypatch, tmp_path, own_are_listed
):
    own = style.mpl.get_data_path() + "/fonts/ttf/DejaVuSans.ttf"
    fonts = copy.copy(font_manager.fontManager)
    of_matplotlib = fonts.ttflist if own_are_listed else []
    fonts.ttflist = []
    fonts.addfont(shutil.copy(own, tmp_path))
    fonts.ttflist += of_matplotlib
    assert fonts.findfont("DejaVu Sans") == str(tmp_path / "DejaVuSans.ttf")
    monkeypatch.setattr(font_manager, "fontManager", fonts)
    fonts._findfont_cached.cache_clear()
    style._prefer_fonts_of_matplotlib.__wrapped__()
    assert fonts.findfont("DejaVu Sans") == own
    assert {Path(font.fname).name for font in fonts.ttflist} >= {"STIXGeneral.ttf", "cmr10.ttf"}


@pytest.mark.parametrize("layout", ["none", "constrained"])
def test_an_svg_is_drawn_once(monkeypatch, layout):
    drawn, draw = [], Figure.draw

    def counted(figure, renderer):
        drawn.append(figure)
        draw(figure, renderer)

    monkeypatch.setattr(Figure, "draw", counted)
    with style.styled_for_a_caller():
        figure, _ = plt.subplots()
        figure.set_layout_engine(layout)
        assert style.svg(figure).startswith("<svg")
    assert len(drawn) == 1
