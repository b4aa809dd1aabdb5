"""The command on one's own recordings of an arm: its example, its numbers against the truth, and
its refusals.
"""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.io
import xarray as xr

import arm_examples
import contactid
from arm_for_tests import CONFIG, ROOT, lwr4
from contactid.__main__ import main
from contactid.arm.identify.methods import ADMISSIBLE
from contactid.arm.own import explained
from contactid.arm.own.impacts import LWR4, SETTINGS, own_impact, own_robot
from contactid.arm.own.recordings import read_own, read_own_table
from contactid.arm.readers.impacts import ArmRecording, Setting
from contactid.arm.readers.twins import record
from contactid.core.errors import ContactIdError
from documented import differing, printed_by, shown
from odd_names import ODD

EXAMPLES = ROOT / "examples/impact"
STORED = ROOT / "workflow/resources/stored/arm_accuracy/table.csv"


@pytest.fixture(scope="module")
def experiments():
    return arm_examples.experiments()


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> tuple[Path, str]:
    """The report on the examples, and what the command says."""
    folder = tmp_path_factory.mktemp("own") / "report"
    return folder, printed_by("impact", *sorted(EXAMPLES.glob("*.*")), "--report", folder)


@pytest.fixture(scope="module")
def reported(printed: tuple[Path, str]) -> Path:
    return printed[0]


def test_the_page_shows_what_the_command_prints(printed: tuple[Path, str]) -> None:
    assert len(shown("impact")) == 2 and differing("impact", printed[1]) == []


def test_the_example_is_what_its_function_makes(tmp_path: Path, experiments) -> None:
    arm_examples.make(tmp_path, experiments)
    for name in ("oblique.mat", "vertical_turned.csv"):
        here, there = (read_own([folder / name], lwr4())[0] for folder in (tmp_path, EXAMPLES))
        [here], [there] = here.values(), there.values()
        # one step of the encoder
        np.testing.assert_allclose(here.joint_position, there.joint_position, atol=2e-5)
        assert (EXAMPLES / name).stat().st_size < 200_000


def test_the_truth_of_the_example_is_found_in_a_turned_plane_too(
    reported: Path, experiments
) -> None:
    rows = pd.read_csv(reported / "predictions.csv")
    assert list(rows["recording"]) == ["oblique", "vertical_turned"]
    for row, one in zip(rows.to_dict("records"), experiments, strict=True):
        assert row["vx_plus"] == pytest.approx(one.tip_velocity_post_map[0], rel=0.02)
        assert row["vx_plus_low"] < one.tip_velocity_post_map[0] < row["vx_plus_high"]
        assert row["vz_plus_low"] < one.tip_velocity_post_map[1] < row["vz_plus_high"]
        np.testing.assert_allclose(
            [row["vx_minus"], row["vz_minus"]], one.tip_velocity_pre, atol=1e-3
        )
        assert row["impact_time_s"] == pytest.approx(one.impact_time, abs=1.5e-3)
        links = one.tip_velocity_post_links
        assert row["vx_plus_map"] == pytest.approx(links[0], abs=2e-3) and row["vz_plus_map"] == 0.0
        assert row["vx_plus_map"] == pytest.approx(
            row["vx_minus"] - row["sliding_ratio"] * row["vz_minus"], abs=1e-6
        )
        assert row["state"] == "slides"
    np.testing.assert_allclose(rows["direction_deg"], [0.0, 30.0], atol=0.3)


def test_an_odd_name_is_shown_as_it_is(tmp_path: Path) -> None:
    mine = shutil.copy(EXAMPLES / "vertical_turned.csv", tmp_path / f"{ODD}.csv")
    assert main(["impact", str(mine), "--report", str(tmp_path / "report")]) == 0
    page = unescape((tmp_path / "report/report.html").read_text())
    assert f"<td>{ODD}</td>" in page and f"<li>{ODD}: moves in a plane" in page
    assert page.count(f"{ODD}</text>") == 2  # in the figures, too
    assert f"<b>{ODD}" not in page


def test_a_hostile_name_is_no_formula_and_no_command_to_a_terminal(tmp_path: Path, capsys) -> None:
    # a formula, and signs that turn what follows round, or colour it
    hostile = "=A1\u202e\x1b[31mgpj"
    mine = shutil.copy(EXAMPLES / "vertical_turned.csv", tmp_path / f"{hostile}.csv")
    assert main(["impact", str(mine), "--report", str(tmp_path / "report")]) == 0
    said = capsys.readouterr().out
    assert "=A1??[31mgpj: moves in a plane" in said
    assert all(line.isprintable() for line in said.splitlines())
    [row] = pd.read_csv(tmp_path / "report/predictions.csv").to_dict("records")
    assert f"'{hostile}" in row.values() and hostile not in row.values()


def test_the_report_says_what_was_done_and_what_not_to_trust(reported: Path, capsys) -> None:
    assert {file.name for file in reported.iterdir()} == {
        "predictions.csv", "methods.csv", "parameters.csv", "parameters.json", "report.html"
    }  # fmt: skip
    told = json.loads((reported / "parameters.json").read_text())
    assert len(told["recordings"]) == 2 and len(told["recordings"][0]["q_impact_rad"]) == 7
    page = (reported / "report.html").read_text()
    assert "moves in a plane 30" in page.replace("29.9", "30") and "time stamps scatter" in page
    assert "neither motors nor friction" in page and "of the LWR 4+" in page
    assert told["warnings"] == []  # what no recording tells is no warning


def test_a_table_in_memory_gives_the_command_s_digits(reported: Path) -> None:
    rows = pd.read_csv(reported / "predictions.csv").set_index("recording")
    told = json.loads((reported / "parameters.json").read_text())
    answer = contactid.impact(pd.read_csv(EXAMPLES / "vertical_turned.csv"))
    [here] = answer.record["recordings"]
    [there] = [one for one in told["recordings"] if one["recording"] == "vertical_turned"]
    for name in set(here) - {"recording", "file"}:
        assert json.dumps(here[name]) == json.dumps(there[name]), name
    assert list(rows.columns) == list(answer.tables["predictions"].columns[1:])


def test_recordings_of_one_table_or_dataset_have_names(experiments) -> None:
    parts = []
    for name, one in zip(("first", "second"), experiments, strict=True):
        made = record(one, arm_examples.BLOCK)
        joints = pd.DataFrame(made.joint_position, columns=[f"q{k}" for k in range(1, 8)])
        parts.append(joints.assign(t=made.time, recording=name))
    table = pd.concat(parts, ignore_index=True)
    dataset = xr.Dataset(
        {"q": (("sample", "joint"), table[[f"q{k}" for k in range(1, 8)]].to_numpy()),
         "t": ("sample", table["t"].to_numpy()), "recording": ("sample", table["recording"])}
    )  # fmt: skip
    by_table, by_dataset = contactid.impact(table), contactid.impact(dataset)
    pd.testing.assert_frame_equal(by_table.params, by_dataset.params, check_exact=True)
    for name, one in zip(("first", "second"), experiments, strict=True):
        truth = one.tip_velocity_post_map
        for axis, value in zip("xz", truth, strict=True):
            row = by_table.params.loc[f"{name}.v{axis}_plus"]
            assert row["low"] < value < row["high"]


def test_residuals_are_as_large_as_the_noise_of_the_approach(experiments) -> None:
    """The encoder's noise is the same before and behind the impact: a fit that misses a mode, or
    bends to the noise, shows.
    """
    made = [record(one, arm_examples.BLOCK) for one in experiments]
    tables = [
        pd.DataFrame(one.joint_position, columns=[f"q{k}" for k in range(1, 8)]).assign(
            t=one.time, recording=one.name
        )
        for one in made
    ]
    answer = contactid.impact(pd.concat(tables, ignore_index=True))
    for channel in answer.residuals.values():
        ratio = channel.values.std() / channel.attrs["noise"]
        assert 0.8 < ratio < 1.25
    assert answer.covariance.shape == (10, 10) and answer.plot("Residuals").axes


def test_every_method_and_a_naive_answer_stand_beside(reported: Path, experiments) -> None:
    table = pd.read_csv(reported / "methods.csv")
    rows = table[table["recording"] == "oblique"].set_index("method")
    truth = experiments[0].tip_velocity_post_map[0]
    assert {"paper", "two_modes", "admissible", "impact map"} <= set(rows.index)
    off = (rows["vx_plus"] - truth).abs()
    assert off["admissible"] < 0.2 * off.filter(like="naive").item()


def test_the_page_s_lines_of_python_print_the_command_s_answers(
    printed: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    [block] = re.findall(r"```python\n(.*?)```", (ROOT / "docs/lab/arm.md").read_text(), re.DOTALL)
    monkeypatch.chdir(ROOT)
    exec(compile(block, "docs/lab/arm.md", "exec"), {})
    answers = [line for line in printed[1].splitlines() if " v+ = " in line]
    assert len(answers) == 2 and set(answers) <= set(capsys.readouterr().out.splitlines())


def test_the_method_is_the_best_on_the_stored_twins_and_its_intervals_hold() -> None:
    table = pd.read_csv(STORED)
    held_out = table[table["twin"] != "study"]
    mean = held_out.groupby("method")["error_x"].apply(lambda errors: errors.abs().mean())
    assert mean.idxmin() == ADMISSIBLE
    best = held_out[held_out["method"] == ADMISSIBLE]
    for component in "xz":
        assert (best[f"error_{component}"].abs() <= 1.96 * best[f"se_{component}"]).mean() >= 0.95


def test_the_settings_are_the_study_s() -> None:
    fit = CONFIG["fit"]
    assert {name: fit[name] for name in SETTINGS if name != "motor_inertia"} == {
        name: value for name, value in SETTINGS.items() if name != "motor_inertia"
    }
    assert Path(LWR4).is_relative_to(ROOT / "workflow/contactid")
    np.testing.assert_array_equal(
        own_robot("", 0.1).mass_matrix(np.ones(7)), lwr4().mass_matrix(np.ones(7))
    )


def test_an_arm_of_six_joints_has_six_columns(tmp_path: Path) -> None:
    links = pd.read_csv(LWR4)
    links[: list(links["link"]).index("link_7")].to_csv(tmp_path / "six.csv", index=False)
    robot = own_robot(tmp_path / "six.csv", 0.1)
    time, position = 2e-3 * np.arange(60), np.linspace(0.0, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 60)
    table = pd.DataFrame({"t": time, **{f"q{k + 1}": position[:, k] for k in range(6)}})
    scipy.io.savemat(tmp_path / "a.mat", {"t": time, "q": position})
    for source in (table, tmp_path / "a.mat"):
        [one] = read_own(source, robot)[0].values()
        np.testing.assert_allclose(one.joint_position, position, atol=1e-12)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables_are_read_whatever_their_order_case_and_separator(
    tmp_path: Path, separator: str
) -> None:
    columns = ["Q3", " q1", "T", "q2", "tau", "q4", "q5", "q7", "q6"]
    values = np.arange(18.0).reshape(2, 9)
    lines = [separator.join(columns), *(separator.join(map(str, row)) for row in values)]
    (tmp_path / "a.csv").write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    table = read_own_table(tmp_path / "a.csv")
    np.testing.assert_array_equal(table["t"], values[:, 2])
    np.testing.assert_array_equal(table["q"], values[:, [1, 3, 0, 5, 6, 8, 7]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no line names the columns"),
        ("t,q1,q2,speed\n1,2,3,4\n", "its columns are t, q1, q2, speed"),
        ("t,q1,q2,q3,q4,q5,q6,q7\n", "0 samples where at least 50 are needed"),
        ("t,q1,q2,q3,q4,q5,q6,q7\n0,1,2,3,4,5,6,x\n", "NaN in 1 samples"),
        (
            "t,q1,q2,q3,q4,q5,q6,q7\n" + "0,0,0,0,0,0,0,0\n" * 10,
            "10 samples where at least 50 are needed",
        ),
        ("q1,q2,q3,q4,q5,q6,q7\n" + "0,0.1,0,0,0,0,0\n" * 600, "no impact found"),
    ],
)
def test_one_line_names_the_file_and_what_is_wrong(
    tmp_path: Path, capsys, text: str, said: str
) -> None:
    (tmp_path / "mine.csv").write_text(text)
    assert main(["impact", str(tmp_path / "mine.csv"), "--report", str(tmp_path / "report")]) == 1
    error = capsys.readouterr().err.strip()
    assert (
        error.startswith("ERROR ") and said in error and "mine.csv" in error and "\n" not in error
    )
    assert not (tmp_path / "report").exists()


def test_a_path_that_holds_no_recording_is_named(tmp_path: Path, capsys) -> None:
    (tmp_path / "notes.odt").write_text("nothing")
    for path, said in (
        ("notes.odt", "none of .mat, .zip, .csv"),
        ("gone.mat", "no such file"),
        (".", "no .mat"),
    ):
        assert main(["impact", str(tmp_path / path), "--report", str(tmp_path / "report")]) == 1
        assert said in capsys.readouterr().err


def test_a_folder_with_one_good_recording_is_enough(tmp_path: Path, capsys, experiments) -> None:
    first = record(experiments[0], arm_examples.BLOCK)
    scipy.io.savemat(
        tmp_path / "v02_a60.mat",
        {"angles": first.joint_position, "t": first.time.astype("float32")},
    )
    scipy.io.savemat(tmp_path / "broken.mat", {"speed": np.ones((500, 6))})
    assert main(["impact", str(tmp_path), "--report", str(tmp_path / "report")]) == 0
    shown = capsys.readouterr().out
    assert "1 of 2 recordings can be read" in shown
    assert "broken.mat: left out: no joint positions" in shown and "speed 500x6" in shown
    rows = pd.read_csv(tmp_path / "report" / "predictions.csv")
    assert rows["vx_plus"][0] == pytest.approx(experiments[0].tip_velocity_post_map[0], rel=0.02)


def test_a_label_that_the_recording_contradicts_is_warned_about(experiments) -> None:
    first = record(experiments[0], arm_examples.BLOCK)
    impact = own_impact(
        lwr4(), ArmRecording(Setting(1, 0.1, 60.0), first.time, first.joint_position)
    )
    assert any("says 0.1 m/s, but it hits at 0.19" in text for text in impact.warnings)
    tilted = first.joint_position + np.linspace(0.0, 0.02, len(first.time))[:, None] * [
        0,
        1,
        0,
        0,
        0,
        0,
        0,
    ]
    impact = own_impact(lwr4(), ArmRecording(first.setting, first.time, tilted))
    assert any("level table" in text for text in impact.warnings)


# signs of joints


@pytest.mark.parametrize("joint", [2, 4, 6])
def test_a_joint_of_the_wrong_sign_is_named(experiments, joint: int) -> None:
    recording = record(experiments[1], arm_examples.BLOCK)
    recording.joint_position[:, joint - 1] *= -1.0
    with pytest.raises(ContactIdError, match=rf"straight .*--columns q{joint}=-q{joint}"):
        explained.explained_impact(lwr4(), recording)


@pytest.mark.parametrize(
    ("zero", "normal", "half", "said"),
    [
        (0.0, 0.001, 0.01, None),
        # springs and motors throw a tip up, however fast
        (0.0, 0.09, 0.01, None),
        # by more than three standard errors
        (0.0, -0.02, 0.01, "on into the table"),
        (0.0, -0.02, 0.02, None),
        # no tip goes into a table that fast, however wide the interval
        (0.0, -0.05, 0.05, "on into the table"),
        # a joint's zero that is off bends the path, and no other sign mends it
        (0.5, 0.05, 0.01, None),
        (0.5, 0.06, 0.01, "up from the table"),
    ],
)
def test_a_tip_that_no_table_allows_is_refused(
    monkeypatch, experiments, zero, normal, half, said
) -> None:
    answer = SimpleNamespace(
        speed=0.15, velocity=np.array([0.1, normal]), half_width=np.array([0.01, half])
    )
    monkeypatch.setattr(explained, "own_impact", lambda *_: answer)
    recording = record(experiments[1], arm_examples.BLOCK)
    recording.joint_position[:, 3] += zero
    if said is None:
        assert explained.explained_impact(lwr4(), recording) is answer
        return
    with pytest.raises(ContactIdError, match=f"{said}.*signs and zeros"):
        explained.explained_impact(lwr4(), recording)
