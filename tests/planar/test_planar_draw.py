"""Drawings and animations of the planar study: each from a minimal table, with what it promises in
it.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.output.tables import read_csv, write_csv
from contactid.planar.artefacts import time_lapse
from contactid.planar.artefacts.animate import LONGEST, SHORTEST, animate
from contactid.planar.own.draw import draw_impulses, draw_trajectory
from odd_names import ODD
from planar_artefacts import ROWS, drawings

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
STEP = 0.1  # s between outlines


def glide(panel=0, label="", instants=4, slope=0.0):
    """A scene: a square that glides along a ground through the origin, 2 m at a time."""
    along = np.array([np.cos(slope), np.sin(slope)])
    up = np.array([-along[1], along[0]])
    centres = 1.5 * up + 2.0 * np.arange(instants)[:, None] * along
    turn = np.stack([along, up])
    parts = [("outline", k, k * STEP, centres[k] + SQUARE @ turn) for k in range(instants)]
    parts += [("com", 0, STEP * np.arange(instants), centres)]
    parts += [("reference", 0, STEP * np.arange(instants), centres + along)]
    parts += [("ground", 0, 0.0, np.outer([-2.0, 2.0 * instants], along))]
    return pd.concat(
        pd.DataFrame(
            {
                "panel": panel,
                "label": label,
                "kind": kind,
                "item": item,
                "time_s": time,
                "x_m": xy[:, 0],
                "y_m": xy[:, 1],
            }
        )
        for kind, item, time, xy in parts
    )


def scene(labels, **options):
    return pd.concat(
        [glide(panel, label, **options) for panel, label in enumerate(labels)], ignore_index=True
    )


def peaks(**changed):
    table = {"model": ["IRC", "IRC", "IGC", "IGC"], "time_step_ms": [0.1, 1.0] * 2}
    return pd.DataFrame(
        {**table, "peak_impulse_ns": [132.9, 133.2, 70.0, 99.0], "limit_ns": 132.86, **changed}
    )


def impulses():
    rows = []
    for model, shares in (("IRC", (1.0, 0.0)), ("IGC", (0.25, 0.75))):
        for step in (1.0, 2.0, 5.0):
            stopping = [0.0, 0.0, *(100.0 * share for share in shares), 0.001]
            rows += [
                (model, step, 1350.0 + k * step, impulse) for k, impulse in enumerate(stopping)
            ]
    return pd.DataFrame(rows, columns=["model", "time_step_ms", "time_ms", "impulse_ns"])


def energies(name, values):
    time = np.linspace(0.0, 1.0, 5)
    return pd.concat(
        [pd.DataFrame({name: v, "time_s": time, "energy_j": 100.0 - v * time}) for v in values]
    )


def step_equations():
    kinds = ["null_vector", "single_steps", "least_squares", "total_least_squares"]
    rows = itertools.product((0.0, 0.001, 0.1), kinds)
    table = pd.DataFrame(rows, columns=["noise_m_s", "estimate"])
    return table.assign(
        n_steps=100,
        smallest_singular=table["noise_m_s"],
        margin=0.2,
        ratio_median_mm2=2000.0,
        ratio_q25_mm2=1500.0,
        ratio_q75_mm2=2500.0,
        true_mm2=2000.0,
        differenced_noise_m_s=0.6,
    )


TABLES = {
    "ext_step_equations": step_equations(),
    "fig06_drop_peaks": peaks(),
    "fig07_drop_impulses": impulses(),
    "fig08_throw_peaks": peaks(),
    "fig09_throw_motion": scene(["", "first two impacts"]),
    "fig10_throw_impulses": impulses(),
    "fig11_sliding_motion": scene([rf"$\mu = {mu}$" for mu in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)]),
    "fig12_sliding_energy": energies("friction_mu", [0.0, 0.5, 1.0]),
    "fig13_restitution_motion": scene([rf"$e_N = {e_n}$" for e_n in (0, 0.2, 0.4, 0.6, 0.8, 1)]),
    "fig14_restitution_energy": energies("restitution_e_n", [0.0, 0.5, 1.0]),
}
DRAWINGS = drawings(TABLES)


@pytest.fixture
def drawn(tmp_path):
    """Draw a table that went through csv, laid out; figures are closed at the end."""

    def draw(drawing, table):
        write_csv(table, tmp_path / "table.csv")
        figure = drawing(read_csv(tmp_path / "table.csv"))
        style.label_data(figure, "Simulated")
        figure.canvas.draw()
        return figure

    with style.styled():
        yield draw


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def titles_of(figure):
    return [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]


def test_every_drawing_has_a_table_here():
    simulated = {row.name for row in ROWS if row.kind == "figure" and row.data == "simulated"}
    assert set(TABLES) | {"ext_scene_square_on_slope"} == simulated


@pytest.mark.parametrize("name", TABLES)
def test_nothing_is_cut_off_and_axes_have_units(name, drawn):
    figure = drawn(DRAWINGS[name], TABLES[name])
    page = figure.bbox
    assert figure.get_figwidth() <= style.DOUBLE_COLUMN + 1e-9 and figure.get_figheight() < 9.0
    renderer = figure.canvas.get_renderer()
    for axes in figure.axes:
        assert axes.get_xlabel() == "" or axes.get_xlabel().endswith(")")
        assert axes.get_ylabel() == "" or axes.get_ylabel().endswith(")")
    for part in [*figure.axes, *figure.legends]:
        box = part.get_tightbbox(renderer)
        assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1, (
            part
        )
    assert any(axes.get_xlabel() for axes in figure.axes) and any(
        axes.get_ylabel() for axes in figure.axes
    )


# time lapses


def test_a_time_lapse_shows_outlines_paths_and_ground(drawn):
    figure = drawn(time_lapse.draw_scene, scene(["", ""], instants=5))
    assert titles_of(figure) == ["(a)", "(b)"]
    for axes in figure.axes:
        lines = axes.get_lines()
        outlines = [line for line in lines if np.allclose(np.ptp(line.get_xydata(), axis=0), 2.0)]
        assert len(outlines) == 5
        brightness = [sum(to_rgb(line.get_color())) for line in outlines]
        assert np.all(np.diff(brightness) < 0.0)
        (com,) = [line for line in lines if line.get_label() == time_lapse.COM]
        (reference,) = [line for line in lines if line.get_label() == time_lapse.REFERENCE]
        assert (com.get_color(), com.get_linestyle()) == (
            style.LINE,
            "-",
        ) and reference.get_linestyle() == "--"
        (dots,) = [line for line in lines if line.get_linestyle() == "None"]
        assert np.allclose(dots.get_xydata(), com.get_xydata() + np.array([1.0, 0.0]))
        assert any(patch.get_hatch() for patch in axes.patches)
        assert axes.get_aspect() == 1.0
    assert legend_of(figure) == [
        "body every 0.1 s, darker later",
        time_lapse.COM,
        time_lapse.REFERENCE,
    ]


@pytest.mark.parametrize("slope", [0.0, -0.4, 1.2])
def test_ground_fills_what_lies_below_its_line_and_nothing_else(slope, drawn):
    (axes,) = drawn(time_lapse.draw_scene, glide(slope=slope)).axes
    (ground,) = [patch for patch in axes.patches if patch.get_hatch()]
    x, y = (
        np.random.default_rng(7)
        .uniform(*zip(axes.get_xlim(), axes.get_ylim(), strict=True), (300, 2))
        .T
    )
    height = y * np.cos(slope) - x * np.sin(slope)
    inside = ground.get_path().contains_points(np.column_stack([x, y]))
    clear = np.abs(height) > 1e-6
    assert inside.any() and (inside == (height < 0.0))[clear].all()
    corners = np.array(
        [
            [line.get_xydata().min(axis=0), line.get_xydata().max(axis=0)]
            for line in axes.get_lines()[1:]
        ]
    )
    assert (corners[:, 0] >= [axes.get_xlim()[0], axes.get_ylim()[0]]).all()
    assert (corners[:, 1] <= [axes.get_xlim()[1], axes.get_ylim()[1]]).all()


def test_panels_share_the_plane_but_a_detail_has_its_own(drawn):
    whole, detail = glide(0, instants=6), glide(1, instants=2)
    both = pd.concat([whole, detail])
    first, second = drawn(time_lapse.draw_scene, both).axes
    assert first.get_xlim() == second.get_xlim()
    first, second = drawn(DRAWINGS["fig09_throw_motion"], both).axes
    assert np.ptp(second.get_xlim()) < 0.5 * np.ptp(first.get_xlim())


def test_uneven_instants_claim_no_interval(drawn):
    table = glide(instants=4)
    table = table[(table["kind"] != "outline") | (table["item"] != 2)]
    assert legend_of(drawn(time_lapse.draw_scene, table))[0] == "body, darker later"


def test_an_incomplete_grid_names_the_axis_below_every_column(drawn):
    figure = drawn(time_lapse.draw_scene, scene([str(k) for k in range(5)], instants=3))
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 5 < len(figure.axes)
    columns = shown[0].get_subplotspec().get_gridspec().ncols
    assert [bool(axes.get_xlabel()) for axes in shown] == [False] * (5 - columns) + [True] * columns
    for axes in shown[-columns:]:
        assert any(label.get_visible() and label.get_text() for label in axes.get_xticklabels())


# impulses and energies


def test_peaks_show_both_models_and_name_the_limit(drawn):
    figure = drawn(DRAWINGS["fig06_drop_peaks"], peaks())
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert legend_of(figure) == ["IRC", "IGC", "exact (eq. 22), 132.9 N s"]
    by_label = {line.get_label(): line for line in axes.get_lines()}
    assert by_label["IRC"].get_ydata().tolist() == [132.9, 133.2]
    assert by_label["IGC"].get_ydata().tolist() == [70.0, 99.0]
    assert np.allclose(by_label["exact (eq. 22), 132.9 N s"].get_ydata(), 132.86)


def test_unsolved_steps_are_counted(drawn):
    figure = drawn(
        DRAWINGS["fig08_throw_peaks"], peaks(peak_impulse_ns=[132.9, 133.2, np.nan, 99.0])
    )
    assert "IGC (1 of 2 not solved)" in legend_of(figure)


def test_impulses_are_stems_at_their_instants_with_their_values(drawn):
    figure = drawn(DRAWINGS["fig07_drop_impulses"], impulses())
    assert titles_of(figure) == ["(a) IRC", "(b) IGC"]
    for axes, stems in zip(figure.axes, (1, 2), strict=True):
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        values = "100.0" if stems == 1 else "25.0 + 75.0"
        assert labels == [f"$h$ = {step} ms: {values} N s" for step in (1, 2, 5)]
        assert [len(lines.get_segments()) for lines in axes.collections] == [stems] * 3
        for step, lines in zip((1.0, 2.0, 5.0), axes.collections, strict=True):
            assert lines.get_segments()[0][0].tolist() == [1350.0 + 2.0 * step, 0.0]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


@pytest.mark.parametrize("values", [[0.0, 0.1, 0.5, 1.0], np.linspace(0.0, 1.0, 41)])
def test_each_energy_has_a_colour_and_a_name(values, drawn):
    figure = drawn(DRAWINGS["fig12_sliding_energy"], energies("friction_mu", values))
    assert legend_of(figure) == [f"{value:g}" for value in values]
    assert figure.legends[0].get_title().get_text() == r"$\mu$"
    colours = [line.get_color() for line in figure.axes[0].get_lines()]
    assert len({tuple(colour) for colour in colours}) == len(values)


# animations


def frames_of(path):
    with Image.open(path) as picture:
        for frame in range(picture.n_frames):
            picture.seek(frame)
            yield np.asarray(picture.convert("RGB")).astype(int), picture.info["duration"]


def near(pixels, colour):
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return np.abs(pixels - wanted).max(axis=-1) < 12


def test_an_animation_moves_the_body_and_leaves_its_path(tmp_path):
    path = tmp_path / "glide.gif"
    animate(scene([""], instants=6), path, source="Simulated")
    shown = list(frames_of(path))
    assert len(shown) == 6
    centres = [np.nonzero(near(pixels, style.REST))[1].mean() for pixels, _ in shown]
    assert (np.diff(centres) > 20.0).all()
    path_lengths = [near(pixels, style.LINE).sum() for pixels, _ in shown]
    assert (np.diff(path_lengths) > 0).all()
    assert [duration for _, duration in shown[:-1]] == [LONGEST] * 5
    assert (shown[0][0][0, 0] == 255).all()
    with Image.open(path) as picture:
        assert picture.info["loop"] == 0
    assert [name.name for name in tmp_path.iterdir()] == ["glide.gif"]


def test_equal_motions_are_equal_files_and_panels_may_end_early(tmp_path):
    table = scene(["$a$", "$b$"], instants=3)
    table = table[(table["panel"] == 0) | (table["time_s"] < 1.5 * STEP)]
    write_csv(table, tmp_path / "frames.csv")
    for name in ("one.gif", "two.gif"):
        animate(read_csv(tmp_path / "frames.csv"), tmp_path / name)
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()
    assert len(list(frames_of(tmp_path / "one.gif"))) == 3


@pytest.mark.parametrize(("apart", "shown"), [(0.01, SHORTEST), (0.05, 50), (0.2, LONGEST)])
def test_an_animation_plays_in_real_time_where_a_gif_can(apart, shown, tmp_path):
    table = scene([""], instants=3)
    animate(table.assign(time_s=apart / STEP * table["time_s"]), tmp_path / "glide.gif")
    assert next(frames_of(tmp_path / "glide.gif"))[1] == shown


def test_an_animation_of_nothing_is_refused(tmp_path):
    table = scene([""])
    with pytest.raises(ContactIdError, match="no frame"):
        animate(table[table["kind"] == "ground"], tmp_path / "none.gif")
    assert not list(tmp_path.iterdir())


def test_a_users_throw_is_named_as_it_is(tmp_path):
    states = {
        "throw": ODD,
        "time_s": [0.0, 0.1],
        "impulse_n_0_m_s": [0.0, 1.0],
        "impulse_t_0_m_s": [0.0, 0.1],
    }
    with style.styled():
        for figure in (draw_trajectory(glide(label=ODD)), draw_impulses(pd.DataFrame(states))):
            style.save(figure, tmp_path / "a", ("png",))
            titles = [axes.get_title(loc="left") for axes in figure.axes]
            assert any(title.replace(r"\$", "$").startswith(ODD) for title in titles)
