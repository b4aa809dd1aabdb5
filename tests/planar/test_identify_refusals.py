"""What ``contactid identify`` refuses: descriptions that are wrong, and throws that don't determine
J/m.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contactid.__main__ import main
from contactid.core.errors import ContactIdError
from contactid.output.own_report import cpu_seconds
from contactid.planar.own import command
from contactid.planar.own.body import read_own_body, read_own_throws_of
from contactid.planar.own.identify import identify_own
from identify_example import RATIO, tracked
from own_throws import TABLE

EXAMPLE = Path(__file__).parents[2] / "examples/identify"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shpe: {ellipse: {a: 1, b: 1}}", "unknown key shpe. Did you mean shape."),
        ("mass: 1", "top level lacks shape. Add it."),
        (
            "[1, 2]",
            "top level is [1, 2], but must be of type object. Give a mapping with shape, mass",
        ),
        ("shape: {", "not readable as YAML"),
        ("shape: {ellipse: {a: 0.05, c: 0.02}}", "unknown key shape.ellipse.c"),
        ("shape: {ellipse: {a: 0.05}}", "shape.ellipse lacks b"),
        (
            "shape: {ellipse: {a: 50, b: 25}}",
            "the shape reaches 50 m from its centre. Give lengths in metres.",
        ),
        (
            "shape: {ellipse: {a: -0.05, b: 0.02}}",
            "shape.ellipse.a is -0.05, but must be greater than 0. Give",
        ),
        (
            "shape: {ellipse: {a: wide, b: 0.02}}",
            "shape.ellipse.a is 'wide', but must be of type number. Give",
        ),
        (
            "shape: {ellipse: {a: .nan, b: 0.02}}",
            "shape.ellipse.a is nan, but must be of type number.",
        ),
        (
            "shape: {ellipse: {a: 1, b: 1}, polygon: [[0, 0], [1, 0], [0, 1]]}",
            "not one of ellipse and polygon",
        ),
        (
            "shape: {polygon: [[0, 0], [1, 0]]}",
            "must have at least 3 entries. Give a list of [x, y] in metres.",
        ),
        (
            "shape: {polygon: [[0, 0], [1, 0], 3]}",
            "shape.polygon.2 is 3, but must be of type array. Give [x, y]",
        ),
        (
            "shape: {polygon: [[-1, -1], [-1, 1], [1, 1], [1, -1]]}",
            "List the corners counter-clockwise",
        ),
        (
            "shape: {polygon: [[-1, -1], [1, -1], [1, 1], [-1, 1]], corner_radius: 1}",
            "leave no side straight",
        ),
        (
            "shape: {polygon: [[-1, -1], [1, -1], [1, 1]], corner_radius: -1}",
            "at least 0. Give it in metres.",
        ),
        ("shape: {ellipse: {a: 0.05, b: 0.02}, corner_radius: 0}", "an ellipse has no corners"),
        ("shape: {ellipse: {a: 0.05, b: 0.02}}\nmass: 36.4", "mass is 36.4 kg"),
        (
            "shape: {ellipse: {a: 0.05, b: 0.02}}\nmass: 0",
            "mass is 0, but must be greater than 0. Give it in kg.",
        ),
        ("shape: {ellipse: {a: 0.05, b: 0.02}}\ngravity: 9810", "Give it in m/s2"),
        (
            "shape: {ellipse: {a: 0.05, b: 0.02}}\nground: {slope: 5}",
            "at most 1.57. Give it in radians",
        ),
        (
            "shape: {ellipse: {a: 0.05, b: 0.02}}\nground: {start: 3}",
            "of type array. Give [x, y] in metres.",
        ),
        ("shape: {ellipse: {a: 0.05, b: 0.02}}\nnoise: {position: 1}", "noise lacks orientation"),
        (
            "shape: {ellipse: {a: 0.05, b: 0.02}}\nnoise: {position: 1, orientation: 0.1}",
            "more than the body's size",
        ),
        (
            "shape: {ellipse: {a: 0.05, b: 0.02}}\nnoise: {position: 1e-3, orientation: 1}",
            "Give it in radians",
        ),
    ],
)
def test_a_bad_description_is_named_with_a_remedy(tmp_path, text, message):
    path = tmp_path / "body.yaml"
    path.write_text(text)
    with pytest.raises(ContactIdError) as caught:
        read_own_body(path)
    assert (
        str(caught.value).startswith(f"{path}: ")
        and message in str(caught.value)
        and "\n" not in str(caught.value)
    )


def test_hardly_a_scored_throw_is_refused():
    every = pd.read_csv(TABLE)
    scored = every[every["answered"]]
    # on seeds that nothing was chosen on: refused are those whose interval is open
    assert len(scored) >= 0.95 * len(every)


def decimated(folder, every):
    """The example's throws with every so many of their frames, as files."""
    files = []
    for name in ("rolling", "sliding"):
        table = tracked(name)
        kept = table[np.round(table[:, 0] * 240.0).astype(int) % every == 0]
        files.append(str(folder / f"{name}.csv"))
        np.savetxt(files[-1], kept, fmt="%.6f", delimiter=",", header="t,x,y,theta", comments="")
    return files


def test_a_video_of_30_frames_per_second_is_no_answer_and_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(command, "_PACE", 0.0)
    before = cpu_seconds()
    sliding = decimated(tmp_path, 8)[1]
    words = [
        "identify",
        sliding,
        "--body",
        str(EXAMPLE / "body.yaml"),
        "--report",
        str(tmp_path / "report"),
    ]
    assert main(words) == 1 and cpu_seconds() - before < 60.0
    printed = capsys.readouterr()
    assert " s: how far J/m and friction may be off\n" in printed.out
    assert (
        printed.err.startswith("ERROR sliding: J/m isn't determined: ")
        and printed.err.count("\n") == 1
    )
    assert (
        "only 2 frames before the first contact. Record more frames per second or more throws"
        in printed.err
    )
    assert not (tmp_path / "report").exists() and not list(tmp_path.glob(".report*"))


def test_at_60_frames_per_second_the_example_is_an_answer(tmp_path):
    body = read_own_body(EXAMPLE / "body.yaml")
    found = identify_own(body, read_own_throws_of(body, decimated(tmp_path, 4)))
    assert (
        abs(found.fit.inertia_ratio - RATIO) < 2.0 * found.fit.inertia_ratio_se < 0.2 * RATIO
    )  # two frames of flight
