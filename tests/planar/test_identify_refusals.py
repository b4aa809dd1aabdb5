"""What ``contactid identify`` refuses: descriptions that are wrong, and throws that don't determine
J/m.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from contactid.__main__ import main
from contactid.core.errors import ContactIdError
from contactid.output.own_report import cpu_seconds
from contactid.planar.own import body as own_body
from contactid.planar.own import doubts, explained
from contactid.planar.own.body import OwnBody, read_own_body, read_own_throws_of
from contactid.planar.own.identify import identify_own
from contactid.planar.own.noise import fall_warnings
from contactid.planar.readers.csv_throws import PartOfTable, read_own_throw
from contactid.planar.readers.throws import PlanarThrow
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from contactid.planar.simulate.throws import MeasuredThrow
from contactid.sources.conventions import STATED
from identify_example import RATIO, SIGMA, tracked
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


def test_a_video_of_30_frames_per_second_is_no_answer_and_says_so(tmp_path, capsys):
    before = cpu_seconds()
    sliding = decimated(tmp_path, 8)[1]
    words = [
        "identify",
        sliding,
        "--body",
        f"{EXAMPLE}/body.yaml",
        "--report",
        f"{tmp_path}/report",
    ]
    assert main(words) == 1 and cpu_seconds() - before < 60.0
    printed = capsys.readouterr()
    assert printed.err.startswith("ERROR sliding: the answer is refuted by its own misfit ")
    assert printed.err.count("\n") == 1
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


@pytest.mark.parametrize(
    ("accelerations", "refused"),
    [
        ((9.8, 9.9, 9.7), True),
        ((-9.8, -9.9, -9.7), False),
        # impacts in them: within four standard errors of rising freely, and far from it
        ((-0.9, 3.1, 7.1), False),
    ],
)
def test_flights_that_scatter_don_t_tell_which_way_is_up(
    monkeypatch, tmp_path, accelerations, refused
) -> None:
    """Rightly stated throws of which few frames fly aren't refused as if y pointed down."""
    interval, frames = 0.005, 8
    time = interval * np.arange(frames)
    flights = [
        (np.column_stack([time, 0.5 * value * time**2, time]), interval) for value in accelerations
    ]
    monkeypatch.setattr(own_body, "stretches", lambda body, throws: flights)
    (tmp_path / "body.yaml").write_text("shape: {ellipse: {a: 0.05, b: 0.025}}\n")
    body, throw = read_own_body(tmp_path / "body.yaml"), SimpleNamespace(name="throw0")
    if not refused:
        own_body._gravity_warning(body, [throw])
        return
    with pytest.raises(ContactIdError, match=r"throw0: y accelerates by 9\.8 m/s2"):
        own_body._gravity_warning(body, [throw])


@pytest.mark.parametrize("tilt", [0.0, 0.09, -0.09])
def test_flights_tell_by_how_much_y_is_off_upwards(tilt) -> None:
    """A ground that slopes by so much, taken for level."""
    time = np.arange(36) / 240.0
    fallen = 0.5 * 9.81 * time**2
    q = np.column_stack([time - np.sin(tilt) * fallen, 0.4 - np.cos(tilt) * fallen, 5.0 * time])
    q += np.random.default_rng(3).normal(size=q.shape) * SIGMA
    throw, body = PlanarThrow("toss", time, q), read_own_body(EXAMPLE / "body.yaml")
    warnings = fall_warnings(body, [throw], SIGMA)
    assert len(warnings) == (tilt != 0.0)
    for warning in warnings:
        told = float(re.search(r"by (\S+) rad, and give", warning)[1])
        assert told == pytest.approx(tilt, abs=0.02)


@pytest.mark.parametrize(("clock", "scale"), [(1.0, 1.0), (1.03, 1.0), (1.0, 1.06)])
def test_flights_tell_a_clock_or_a_ruler_that_is_off(clock, scale) -> None:
    time = np.arange(36) / 240.0
    q = np.column_stack([scale * time, scale * (0.4 - 0.5 * 9.81 * time**2), 5.0 * time])
    q += np.random.default_rng(3).normal(size=q.shape) * SIGMA
    body = read_own_body(EXAMPLE / "body.yaml")
    warnings = fall_warnings(body, [PlanarThrow("toss", clock * time, q)], SIGMA)
    assert len(warnings) == (clock * scale != 1.0)
    for warning in warnings:
        lengths, times = (float(one) for one in re.findall(r"([+-]\S+) %", warning))
        assert times == pytest.approx(100.0 * (clock - 1.0) - 50.0 * (scale - 1.0), abs=0.7)
        assert lengths == pytest.approx(100.0 * (scale - 1.0) - 200.0 * (clock - 1.0), abs=1.5)


def test_a_refusal_names_the_frames_that_were_left_out() -> None:
    warnings = ("a: frame 4 (t = 0.02 s) is off, and was left out.", "Something else.")
    assert doubts.left_out(SimpleNamespace(warnings=warnings)) == f"; {warnings[0][:-1]}"


def test_a_parabola_over_an_impact_tells_little_of_which_way_bodies_fall() -> None:
    """Two short flights with y upwards outweigh six windows over impacts that fall upwards."""
    flights = [[0.2, -9.7, 0.4], [-0.3, -9.9, 0.5]]
    over_impacts = [[0.5, 9.0 + 0.3 * k, 3.0 + 0.2 * k] for k in range(6)]
    windows = np.array([*flights, *over_impacts])
    falling = {up: explained._falling(windows, up, 1.0, 9.81) for up in ("y", "-y", "x", "-x")}
    assert max(falling, key=lambda up: falling[up]) == "y"
    # nothing to go by
    assert explained._falling(windows[:0], "y", 1.0, 9.81) == 0.0


def test_the_next_likely_up_is_tried_where_flights_hardly_tell(tmp_path) -> None:
    """As many windows fall by y as by -x: both are tried, the stated one first."""
    windows = np.array([[0.0, -9.8, 0.5], [9.5, 0.0, 0.5]])
    time = 0.004 * np.arange(12.0)
    table = pd.DataFrame({"t": time, "x": time, "y": time, "theta": time})
    table.to_csv(tmp_path / "throw.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explained, "_accelerations", lambda tables, scale: windows)
        tried = [
            convention.options()
            for convention in explained._likelier([tmp_path / "throw.csv"], STATED, 9.81)
        ]
    assert tried == ["--frame theta=clockwise", "--frame up=-x", "--frame up=-x,theta=clockwise"]


@pytest.mark.parametrize(
    ("quantity", "factor", "option"),
    [("t", 1e3, "--units time=ms"), ("x", 1e4, "position=mm"), ("theta", 180.0, "theta=deg")],
)
def test_a_unit_that_can_t_be_is_said_with_the_option(tmp_path, quantity, factor, option) -> None:
    time = 0.004 * np.arange(12.0)
    table = pd.DataFrame({"t": time, "x": time, "y": time, "theta": 10.0 * time})
    table.assign(**{quantity: factor * table[quantity]}).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ContactIdError, match=option):
        read_own_throw(tmp_path / "a.csv")


@pytest.mark.parametrize(("share", "odd"), [(0.4, True), (0.6, False), (1.9, False), (2.1, True)])
def test_few_bodies_are_far_from_a_uniform_one(monkeypatch, tmp_path, share, odd) -> None:
    """By a wrong sense of theta few frames tell any J/m, so other conventions are tried there."""
    judged = []

    def judge(name, stated, attempt, likelier):
        judged.append(attempt(stated))
        raise ContactIdError("judged", "")

    shape = SimpleNamespace(uniform_inertia_ratio=6e-4)
    # eq. 31 fits three impacts, and no motion the whole throws
    numbers = {
        "inertia_ratio_se": 1e-5, "misfit_per_degree": 1.0, "incremental": False, "by_impacts": True,
        "squares": 3.0, "degrees": 3, "whole_squares": 9000.0, "whole_degrees": 100,
    }  # fmt: skip
    fit = SimpleNamespace(inertia_ratio=share * 6e-4, **numbers)
    found = SimpleNamespace(fit=fit, body=SimpleNamespace(shape=shape))
    monkeypatch.setattr(explained, "explained", judge)
    monkeypatch.setattr(explained, "identify_own", lambda body, throws, say, hasty: found)
    throws = SimpleNamespace(throws=(), seen=())
    monkeypatch.setattr(explained, "read_own_throws_of", lambda body, sources, convention: throws)
    with pytest.raises(ContactIdError, match="judged"):
        explained.explained_throws(None, [tmp_path / "throw.csv"])
    assert judged[0].odd == odd
    # impacts that agree on a usual body confirm what is stated, whatever whole throws do
    assert judged[0].misfit == (90.0 if odd else 1.0)


def falling(point, depth=0.0):
    """A throw (200 frames/s) of an ellipse that falls and turns, seen from a point of the body, m;
    its last frames are on the ground, or in it.
    """
    time = np.arange(60) / 200.0
    theta = 6.0 * time
    q = np.column_stack([time, 0.3 - 0.5 * 9.81 * time**2, theta])
    at = contacts(Ellipse(0.05, 0.025), Ground(), q).gap[:, 0]
    q[:, 1] = np.where(at < 0.0, q[:, 1] - at - depth, q[:, 1])
    cos, sin = np.cos(theta), np.sin(theta)
    q[:, 0] += point[0] * cos - point[1] * sin
    q[:, 1] += point[0] * sin + point[1] * cos
    return time, q


@pytest.mark.parametrize(
    ("point", "depth", "told"),
    [
        (
            (-0.008, 0.003),
            0.0,
            r"a centre of mass that is 8\.5 mm .* Give centre: \[0\.008, -0\.003\]",
        ),
        ((0.0, 0.0), 0.003, r"sinks by up to 3 mm into a ground .* Throw it onto a harder one"),
        (
            (0.0, 0.0),
            0.0,
            r"\(chi-square 9,000, expected 100\); friction .* bounces off single corners",
        ),
    ],
)
def test_a_refusal_says_what_flights_and_depths_tell(point, depth, told):
    time, q = falling(point, depth)
    sigma, seen = np.array([1e-4, 1e-4, 1e-3]), np.ones(len(q), bool)
    body = OwnBody(Ellipse(0.05, 0.025), Ground(), sigma, None, 9.81)
    throw = MeasuredThrow(time, q, sigma, Ground())
    poses = [PlanarThrow("a", time, q, ~seen)]
    throws = SimpleNamespace(
        names=("a",), throws=(throw,), warnings=(), sigma=sigma, poses=lambda _: poses
    )
    pushed = SimpleNamespace(time=time, impulse_n=np.eye(1, len(time) - 1, 30).T)
    refusal = str(doubts.refuted(body, throws, 1.5e-3, (9000.0, 100), [pushed]))
    assert re.search(told, refusal), refusal


@pytest.mark.parametrize(("name", "named"), [("theta", False), ("theta [deg]", True)])
def test_a_header_that_names_the_unit_of_theta_is_taken_at_its_word(name, named):
    frame = pd.DataFrame({"t": [0.0, 0.1], "x": [0.0, 0.0], "y": [0.0, 0.0], name: [0.0, 90.0]})
    assert explained._names_unit(PartOfTable("throw", frame), STATED) == named
