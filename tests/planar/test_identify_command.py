"""The command for one's own throws: known bodies come back, doubts are told, bad input is one line
and no report.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import nullcontext
from dataclasses import replace
from html import escape
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import contactid
from contactid.__main__ import main
from contactid.core.errors import ContactIdError
from contactid.output.fits import KEYS
from contactid.output.own_report import cpu_seconds
from contactid.output.own_report import own_report as own_report_folder
from contactid.planar.own import doubts, draw
from contactid.planar.own.body import OwnBody, read_own_body, read_own_throws_of
from contactid.planar.own.identify import identify_own
from contactid.planar.own.result import FOUND_RADIUS, result_of
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon
from contactid.planar.simulate.kernel import outline_of
from documented import differing, printed_by, shown
from identify_example import MU, POINT, RADIUS, RATIO, TURN, write_example
from rounded_twins import drawn_twin
from stepped_motion import event_motion

ELLIPSE = Ellipse(0.05, 0.025)
CORNERS = [[-0.03, -0.03], [0.03, -0.03], [0.03, 0.03], [-0.03, 0.03]]
SQUARE = Polygon(tuple(map(tuple, CORNERS)))
RATE = 250.0
EXAMPLE = Path(__file__).parents[2] / "examples/identify"
TABLES = {"parameters.csv", "states.csv", "throws.csv", "trajectory.csv"}
FILES = TABLES | {"report.html", "parameters.json"}


def poses(shape, start, ratio, mu, frames, sigma=(0.0, 0.0, 0.0), seed=1, ground=None):
    """(frames, 3) of a simulated throw with e_N = 0.4 and noise; ``start`` is x, y, theta and their
    rates.
    """
    parameters = np.array([*start, ratio, mu, 0.4])
    motion = event_motion(
        outline_of(shape, ground or Ground()), parameters, 9.81, 1.0 / RATE, frames - 1, 1e-4
    )
    q = motion.position[motion.frame]
    return q + np.random.default_rng(seed).normal(size=q.shape) * sigma


def throw_file(path, q, rate=RATE):
    table = np.column_stack([np.arange(len(q)) / rate, q])
    np.savetxt(path, table, fmt="%.9f", delimiter=",", header="t,x,y,theta", comments="")
    return str(path)


def body_file(path, **content):
    path.write_text(yaml.safe_dump(content))
    return str(path)


def states_of(report, *columns):
    table = pd.read_csv(report / "states.csv")
    return [table[column].fillna(0.0).to_numpy() for column in columns]


def body_of(shape, sigma=(1e-4, 1e-4, 1e-3), ground=None):
    return OwnBody(
        shape, ground or Ground(), None if sigma is None else np.array(sigma), None, 9.81
    )


def read_of(path, q, body):
    return read_own_throws_of(body, [throw_file(path, q)])


SPINNING = (0.0, 0.12, 0.4, 1.6, -1.0, 5.0)


@pytest.fixture(scope="module")
def square_throws(tmp_path_factory):
    """Two throws of a square with J/m = 550 mm2 and mu = 0.2, and its description."""
    folder = tmp_path_factory.mktemp("square")
    files = [
        throw_file(
            folder / f"{name}.csv", poses(SQUARE, start, 550e-6, 0.2, 34, (1e-4, 1e-4, 1e-3), seed)
        )
        for seed, (name, start) in enumerate(
            {"one": SPINNING, "two": (0.0, 0.12, 2.2, -1.5, -1.2, -6.0)}.items()
        )
    ]
    return files, folder


# end to end


def test_an_ellipse_comes_back_with_nothing_but_its_poses_and_shape(tmp_path, capsys):
    q = poses(ELLIPSE, (0.0, 0.2, 0.4, 0.8, 0.0, 5.0), 700e-6, 0.3, 70, (3e-4, 3e-4, 1e-3))
    body = body_file(tmp_path / "body.yaml", shape={"ellipse": {"a": 0.05, "b": 0.025}}, mass=0.5)
    report = tmp_path / "out" / "report"
    file = throw_file(tmp_path / "toss.csv", q)
    assert main(["identify", file, "--body", body, "--report", str(report)]) == 0
    assert {file.name for file in report.iterdir()} == FILES | {"body.xml"}
    assert [file.name for file in report.parent.iterdir()] == ["report"]
    record = json.loads((report / "parameters.json").read_text())
    assert set(KEYS) <= set(record) and record["converged"] is True
    ratio, error = record["parameters"]["inertia_ratio"], record["standard_errors"]["inertia_ratio"]
    # one impact of a frame that may be off tells no more
    assert abs(ratio - 700e-6) < 3.0 * error and error < 0.15 * 700e-6
    assert record["parameters"]["inertia"] == pytest.approx(0.5 * ratio, rel=1e-12)
    inertial = ET.parse(report / "body.xml").find("worldbody/body/inertial")
    assert inertial is not None and float(inertial.get("mass", "0")) == 0.5
    assert float(inertial.get("fullinertia", "").split()[2]) == pytest.approx(0.5 * ratio, rel=1e-9)
    assert record["data"]["throws"] == ["toss"] and not record["data"]["sigma_given"]
    assert np.allclose(record["data"]["sigma"], [3e-4, 3e-4, 1e-3], rtol=0.4)
    # this impact sticks
    assert record["friction_is_bound"] and record["standard_errors"]["friction_mu"] is None
    impulses = states_of(report, "impulse_n_0_m_s", "impulse_t_0_m_s")
    pushes = impulses[0] > 0.1
    ratio_of_impulses = np.abs(impulses[1][pushes] / impulses[0][pushes]).max()
    assert 0.0 < record["parameters"]["friction_mu"] < 0.3
    assert record["parameters"]["friction_mu"] <= 1.0001 * ratio_of_impulses
    printed = capsys.readouterr().out
    assert printed.startswith("Read 1 throws, 70 frames\n")
    shown = f"J/m = {1e6 * ratio:.0f} mm2 +- {1e6 * error:.0f} "
    assert f"\n{shown}" in printed and "\nmu >= " in printed
    assert "WARNING No contact slides" in printed
    page = (report / "report.html").read_text()
    assert all(escape(warning) in page for warning in record["warnings"])
    assert escape(shown) in page and "Noise, estimated from" in page
    assert page.count("<svg") == 4
    states = pd.read_csv(report / "states.csv")
    at_frames = states.dropna(subset=["measured_x_m"])
    assert len(at_frames) == 70
    turn = record["parameters"]["turn"]  # poses are told in the body's own axes
    assert abs(turn) < 4e-3
    assert np.allclose(at_frames["measured_theta_rad"], q[:, 2] - turn, atol=1e-5)
    assert np.abs(at_frames["x_m"] - at_frames["measured_x_m"]).max() < 5 * 3e-4
    assert (impulses[0] > 0.1).sum() == 1 and states["gap_0_m"].min() > -1e-5


def test_throws_of_a_square_are_taken_together(square_throws, capsys):
    files, folder = square_throws
    body = body_file(
        folder / "body.yaml",
        shape={"polygon": CORNERS},
        noise={"position": 1e-4, "orientation": 1e-3},
    )
    assert main(["identify", *files, "--body", body, "--report", str(folder / "report")]) == 0
    record = json.loads((folder / "report" / "parameters.json").read_text())
    errors = record["standard_errors"]
    error = errors["inertia_ratio"]
    assert abs(record["parameters"]["inertia_ratio"] - 550e-6) < 4.0 * error < 4.0 * 12e-6
    assert abs(record["parameters"]["friction_mu"] - 0.2) < 4.0 * errors["friction_mu"] < 4.0 * 0.02
    assert record["warnings"] == []
    assert escape(FOUND_RADIUS) in (folder / "report" / "report.html").read_text()
    assert record["standard_error_scale"] < 1.2
    noise = {"sigma": [1e-4, 1e-4, 1e-3], "sigma_given": True}
    assert record["data"] == {"throws": ["one", "two"], "frames": [34, 34], **noise}
    states = pd.read_csv(folder / "report" / "states.csv")
    assert list(states["throw"].unique()) == ["one", "two"]
    assert "WARNING" not in capsys.readouterr().out


@pytest.mark.parametrize("seed", [4, 7])
def test_a_square_with_rounded_corners_comes_back_by_its_stated_radius(tmp_path, seed):
    twin, sigma = drawn_twin(seed), (1e-4, 1e-4, 1e-3)
    q = twin.poses(0.2, RATE)
    file = throw_file(
        tmp_path / "toss.csv", q + np.random.default_rng(seed).normal(size=q.shape) * sigma
    )
    shape = {"polygon": CORNERS, "corner_radius": twin.radius}
    body = body_file(
        tmp_path / "body.yaml", shape=shape, noise={"position": 1e-4, "orientation": 1e-3}
    )
    assert main(["identify", file, "--body", body, "--report", str(tmp_path / "report")]) == 0
    record = json.loads((tmp_path / "report" / "parameters.json").read_text())
    found, error = record["parameters"]["inertia_ratio"], record["standard_errors"]["inertia_ratio"]
    assert abs(found - twin.ratio) < 3.0 * error < 0.1 * twin.ratio


# the example


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    report, files = tmp_path_factory.mktemp("example") / "report", sorted(EXAMPLE.glob("*.csv"))
    begin = cpu_seconds()
    text = printed_by("identify", *files, "--body", EXAMPLE / "body.yaml", "--report", report)
    return report, text, cpu_seconds() - begin


@pytest.fixture(scope="module")
def example(printed):
    return json.loads((printed[0] / "parameters.json").read_text())


def test_the_page_shows_what_the_command_prints(printed):
    assert len(shown("identify")) == 3 and differing("identify", printed[1]) == []


def test_the_seconds_are_those_of_the_whole_command(printed, example):
    assert 0.6 * printed[2] < example["seconds"] <= printed[2]  # the files are written after


def test_the_examples_truth_comes_back_with_its_corners_and_tracked_frame(example):
    found, errors = example["parameters"], example["standard_errors"]
    assert found["corner_radius"] == pytest.approx(RADIUS, rel=0.1)
    for name, truth, most in (("inertia_ratio", RATIO, 0.08), ("friction_mu", MU, 0.1)):
        assert abs(found[name] - truth) < 3.0 * errors[name] < most * truth, name
    for name, truth in zip(("turn", "centre_x", "centre_y"), (TURN, *-POINT), strict=True):
        assert abs(found[name] - truth) < 4.0 * errors[name], name
    assert found["inertia"] == pytest.approx(0.05 * found["inertia_ratio"])
    assert any("2 of 68 frames have no pose" in note for note in example["notes"])


def test_friction_that_is_bounded_is_open_above(understated):
    bound = result_of(with_fit(understated, friction_is_bound=True, friction_mu_se=float("nan")))
    row = bound.params.loc["friction_mu"]
    assert row["low"] == row["value"] and row["high"] == np.inf and np.isnan(row["error"])
    assert "friction_mu" not in bound.covariance.index
    assert bound.plot("J/m and friction").axes
    assert bound.numbers()["intervals"]["friction_mu"][1] is None


def test_the_example_is_made_by_its_function(tmp_path):
    write_example(tmp_path)
    for file in sorted(tmp_path.iterdir()):
        assert (EXAMPLE / file.name).read_text() == file.read_text(), file.name


# what to distrust


@pytest.fixture(scope="module")
def understated(square_throws):
    """A throw whose noise is stated at a third of what it is."""
    files, _ = square_throws
    body = body_of(SQUARE, np.array([1e-4, 1e-4, 1e-3]) / 3.0)
    return identify_own(body, read_own_throws_of(body, files[:1]))


def test_noise_that_is_understated_enlarges_standard_errors_at_least_as_much(
    understated, square_throws
):
    assert 2.0 < understated.scale < 4.5
    assert understated.scale**2 == pytest.approx(understated.fit.squares / understated.fit.degrees)
    assert abs(understated.fit.inertia_ratio - 550e-6) < 4.0 * understated.fit.inertia_ratio_se
    (warning,) = [text for text in understated.warnings if "fitted worse than their noise" in text]
    assert f"enlarged {understated.scale:.2g}" in warning
    body = body_of(SQUARE)
    stated = identify_own(body, read_own_throws_of(body, square_throws[0][:1]))
    assert stated.scale < 1.3 and not any("fitted worse" in warning for warning in stated.warnings)
    # what whole throws don't explain is told by impacts taken alone, which know less
    assert 0.7 < understated.fit.inertia_ratio_se / stated.fit.inertia_ratio_se < 5.0


def test_a_fall_without_a_change_of_spin_is_no_answer(tmp_path):
    q = poses(ELLIPSE, (0.0, 0.1, 0.0, 0.0, -0.5, 0.0), 700e-6, 0.3, 45, (1e-4, 1e-4, 1e-3))
    body, told = (
        body_of(ELLIPSE),
        r"drop: J/m isn't determined: .* Throw the body tilted or with spin",
    )
    with pytest.raises(ContactIdError, match=told):
        identify_own(body, read_of(tmp_path / "drop.csv", q, body))


def with_fit(found, **changes):
    return replace(found, fit=replace(found.fit, **changes))


def test_an_interval_that_holds_most_of_what_the_outline_allows_is_no_answer(understated):
    ratio = understated.fit.inertia_ratio
    largest = float((understated.body.shape.outline() ** 2).sum(axis=1).max())
    for share, refused in ((0.45, False), (0.55, True), (np.inf, True)):
        wide = with_fit(
            understated, inertia_ratio=0.5 * largest, inertia_ratio_se=0.5 * share * largest / 1.96
        )
        with pytest.raises(ContactIdError, match="isn't determined") if refused else nullcontext():
            doubts.refuse_undetermined(wide)
    weak = with_fit(understated, inertia_ratio_se=0.4 * ratio)
    assert any("known to 40 % only" in warning for warning in doubts.warnings_of(weak))
    strong = with_fit(understated, inertia_ratio_se=0.1 * ratio)
    assert not any("known to" in warning for warning in doubts.warnings_of(strong))


def test_a_misfit_that_no_flight_can_judge_is_no_answer(understated):
    # poses are four times their noise off
    off = with_fit(understated, squares=16.0 * understated.fit.degrees)
    doubts.refuse_undetermined(off)
    unjudged = replace(off, throws=replace(off.throws, frames_in_flight=5))
    with pytest.raises(ContactIdError, match="no flight is long enough"):
        doubts.refuse_undetermined(unjudged)


def test_friction_at_its_own_bound_or_a_bound_itself_is_told(understated):
    bound = with_fit(understated, friction_is_bound=True, friction_mu=0.2)
    assert "mu >= 0.2 " in bound.lines()[1]
    assert any("mu >= 0.2" in warning for warning in doubts.warnings_of(bound))
    sliding = with_fit(understated, friction_is_bound=False, friction_mu=1.49)
    assert any("mu is at the largest value" in warning for warning in doubts.warnings_of(sliding))


def test_least_friction_comes_from_impulses_that_are_not_small(understated):
    states = understated.fit.states[0]
    large = states.impulse_n > 0.01 * states.impulse_n.max()
    expected = np.abs(states.impulse_t[large] / states.impulse_n[large]).max()
    noise = replace(
        states, impulse_n=states.impulse_n + 1e-3, impulse_t=states.impulse_t + 1e-2 * ~large
    )
    assert states.largest_ratio == pytest.approx(expected)
    assert noise.largest_ratio == pytest.approx(expected, rel=0.05)


def test_few_frames_beside_the_contact_are_told(tmp_path):
    q = poses(SQUARE, SPINNING, 550e-6, 0.2, 34, (1e-4, 1e-4, 1e-3))
    # the last frame before the first impact
    first = int(np.argmax(np.diff(q[:, 1], 2) > 0.5 / RATE)) + 1
    body = body_of(SQUARE)
    found = identify_own(body, read_of(tmp_path / "a.csv", q[: first + 3], body))
    assert any("frames after the first contact" in warning for warning in found.warnings)


@settings(max_examples=20, deadline=None)
@given(scale=st.floats(0.02, 10.0), seed=st.integers(0, 10**6))
def test_noise_is_estimated_in_flight_whatever_its_size(tmp_path_factory, scale, seed):
    sigma = scale * np.array([1e-4, 2e-4, 1e-3])
    q = poses(ELLIPSE, (0.0, 0.5, 0.4, 0.8, 0.0, 5.0), 700e-6, 0.3, 110, sigma, seed)
    throws = read_of(tmp_path_factory.mktemp("noise") / "a.csv", q, body_of(ELLIPSE, None))
    assert np.allclose(throws.sigma, sigma, rtol=0.45) and not throws.sigma_given
    assert not any("instead of -9.81" in warning for warning in throws.warnings)


def test_smoothed_poses_are_noticed(tmp_path):
    q = poses(ELLIPSE, (0.0, 0.9, 0.4, 0.8, 0.0, 5.0), 700e-6, 0.3, 150)
    white = np.random.default_rng(1).normal(size=(len(q) + 4, 3)) * [1e-4, 1e-4, 1e-3]
    smooth = sum(white[i : i + len(q)] for i in range(5)) / 5**0.5
    warnings = read_of(tmp_path / "a.csv", q + smooth, body_of(ELLIPSE, None)).noise.warnings
    assert any("not independent from frame to frame" in warning for warning in warnings)


def test_rest_is_cut_and_told(tmp_path):
    q = poses(SQUARE, SPINNING, 550e-6, 0.4, 200, (1e-5, 1e-5, 1e-4))
    moves = int(np.flatnonzero(np.linalg.norm(q[:, :2] - q[-1, :2], axis=1) > 5e-4)[-1])
    throws = read_of(tmp_path / "a.csv", q, body_of(SQUARE))
    frames = len(throws.throws[0].time)
    assert moves + 1 < frames <= moves + 30 < 150
    assert np.allclose(throws.throws[0].position, q[:frames], atol=1e-8)
    assert throws.notes[0].startswith(f"a: the last {200 - frames} of 200 frames, at rest")


def test_a_ground_that_is_a_little_off_is_told(tmp_path):
    q = poses(SQUARE, SPINNING, 550e-6, 0.2, 34) + np.array([0.0, 0.008, 0.0])
    file = throw_file(tmp_path / "a.csv", q)
    (warning,) = read_own_throws_of(body_of(SQUARE), [file]).warnings
    assert "mm above the ground" in warning and "ground.start" in warning
    assert not read_own_throws_of(body_of(SQUARE, ground=Ground(0.0, 0.3, 0.008)), [file]).warnings


def test_wrong_frame_rates_show_in_gravity(tmp_path):
    q = poses(SQUARE, (0.0, 0.6, 0.4, 0.8, -1.0, 5.0), 550e-6, 0.2, 90)
    file = throw_file(tmp_path / "a.csv", q, rate=200.0)
    (warning,) = read_own_throws_of(body_of(SQUARE), [file]).warnings
    assert "y accelerates by -6.28" in warning


# bad input


def test_a_description_says_what_it_says(tmp_path):
    path = tmp_path / "body.yaml"
    path.write_text(
        "shape: {polygon: [[-0.03, -0.03], [0.03, -0.03], [0.03, 0.03], [-0.03, 0.03]]}\n"
        "mass: 5e-2\nground: {slope: 0.1, start: [1, 2e-3]}\nnoise: {position: 1e-4, orientation: 2e-3}\ngravity: 0\n"
    )
    body = read_own_body(path)
    assert (body.shape, body.mass, body.gravity) == (SQUARE, 0.05, 0.0)
    assert body.ground == Ground(0.1, 1.0, 2e-3)
    assert body.sigma is not None and body.sigma.tolist() == [1e-4, 1e-4, 2e-3]
    path.write_text("shape: {ellipse: {a: 0.05, b: 0.025}}")
    plain = read_own_body(path)
    assert (plain.shape, plain.mass, plain.gravity) == (ELLIPSE, None, 9.81)
    assert plain.ground == Ground() and plain.sigma is None


def bad_throw(path, kind):
    q = poses(SQUARE, SPINNING, 550e-6, 0.2, 34)
    high = poses(SQUARE, (0.0, 0.6, 0.4, 0.8, -1.0, 5.0), 550e-6, 0.2, 40)
    if kind == "high":
        q = high
    elif kind == "below":
        q = q - [0.0, 1.0, 0.0]
    elif kind == "down":
        q = high[:100] * [1.0, -1.0, -1.0] + [0.0, 0.6, 0.0]
    elif kind == "degrees":
        q = q * [1.0, 1.0, 180.0 / np.pi]
    elif kind == "flight":
        q = q[11:20]
    throw_file(path, q, rate=0.25 if kind == "seconds" else RATE)
    if kind == "column":
        path.write_text(path.read_text().replace("theta", "spin"))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("high", r"never comes closer than .* m to the ground. Give a point of the ground"),
        ("below", r"always below the ground"),
        ("down", r"y accelerates by 9\.81 m/s2 in flight. Give y upwards"),
        ("degrees", r"angles are in deg: .* Give --units theta=deg"),
        ("seconds", r"times are in ms: .* Give --units time=ms"),
        ("column", r"no column theta"),
        ("flight", r"too few frames in flight to tell the noise. Give noise"),
    ],
)
def test_a_bad_throw_is_one_line_and_leaves_nothing(tmp_path, capsys, kind, message):
    bad_throw(tmp_path / "toss.csv", kind)
    ground = {"ground": {"slope": 0.0}} if kind == "below" else {}
    body = body_file(
        tmp_path / "body.yaml", shape={"polygon": CORNERS, "corner_radius": 0.0}, **ground
    )
    file, report = str(tmp_path / "toss.csv"), str(tmp_path / "report")
    code = main(["identify", file, "--body", body, "--report", report])
    printed = capsys.readouterr()
    assert code == 1 and all(line.startswith("Trying") for line in printed.out.splitlines())
    assert printed.err.startswith("ERROR ") and printed.err.count("\n") == 1
    assert "toss" in printed.err
    assert re.search(message, printed.err), printed.err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["body.yaml", "toss.csv"]


def test_the_same_throw_twice_is_refused(square_throws):
    with pytest.raises(ContactIdError, match="two throws have the name one"):
        read_own_throws_of(body_of(SQUARE), [square_throws[0][0]] * 2)


def test_the_module_runs_as_a_command_and_fails_with_status_1(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "contactid", "identify", "no.csv", "--body", "no.yaml"],
        cwd=tmp_path, env={"PYTHONPATH": str(Path(contactid.__path__[0]).parent)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "ERROR no.yaml: no such file. Correct the path.\n"
    assert not list(tmp_path.iterdir())


# the report's folder


def write_report(found, folder):
    with own_report_folder(folder) as partial:
        result_of(found).save(partial)


def test_a_report_replaces_a_report_and_nothing_else(tmp_path, understated):
    folder = tmp_path / "report"
    write_report(understated, folder)
    first = {file.name: file.read_bytes() for file in folder.iterdir()}
    (folder / "note.txt").write_text("of the old report")
    write_report(understated, folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == first
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.tex").write_text("years of work")
    with pytest.raises(
        ContactIdError, match=r"thesis: holds other things than a report\. Name another folder"
    ):
        write_report(understated, other)
    with pytest.raises(ContactIdError, match=r"note\.txt: is a file"):
        (tmp_path / "note.txt").write_text("")
        write_report(understated, tmp_path / "note.txt")
    assert [file.name for file in other.iterdir()] == ["chapter.tex"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyError("defect")])
def test_a_report_that_fails_leaves_the_old_one(tmp_path, understated, monkeypatch, error):
    write_report(understated, folder := tmp_path / "report")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    monkeypatch.setattr(draw, "draw_trajectory", Mock(side_effect=error))
    for place in (folder, tmp_path / "new"):
        with pytest.raises(ContactIdError if isinstance(error, OSError) else KeyError):
            write_report(understated, place)
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
        assert [file.name for file in tmp_path.iterdir()] == ["report"]
