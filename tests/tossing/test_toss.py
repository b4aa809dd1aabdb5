"""``contactid toss`` and ``contactid.toss`` on tosses of another law of impact and another time
step.
"""

import json

import numpy as np
import pandas as pd
import pytest

import contactid
from contactid.__main__ import main
from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.conventions import STATED, Convention
from contactid.tossing.identify.body import calibrate
from contactid.tossing.own.conventions import explained_motion, in_frame
from contactid.tossing.own.recordings import read_box, read_own
from tosses_for_tests import RATE, TRUTH, box, motion, prepare_tosses, recordings

SIZE = {
    "size": [0.1, 0.1, 0.1],
    "mass": 0.4,
}  # a uniform box's inertia: 33 % and 5 % off the truth's
CENTER = (0.004, -0.002, 0.003)
POSES = ["t", "x", "y", "z", "qw", "qx", "qy", "qz"]


def table_of(made):
    parts = []
    for toss in made:
        time = np.arange(len(toss.position)) / RATE
        poses = np.column_stack([time, toss.position, toss.orientation])
        parts.append(pd.DataFrame(poses, columns=POSES).assign(toss=toss.name))
    return pd.concat(parts, ignore_index=True)


def y_upwards(table):
    """The same tosses in a frame whose y is up: x, z, -y, and its quaternions."""
    turn = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])
    turned = rotations.as_rotation(turn)
    orientation = rotations.as_quaternions(
        turned * rotations.as_rotation(table[POSES[4:]].to_numpy(copy=True))
    )
    poses = np.column_stack([turned.apply(table[["x", "y", "z"]].to_numpy(copy=True)), orientation])
    return table.assign(**dict(zip(POSES[1:], poses.T, strict=True)))


def in_millimetres(table):
    return table.assign(x=1e3 * table["x"], y=1e3 * table["y"], z=1e3 * table["z"])


@pytest.fixture(scope="module")
def made():
    """Tosses by the paper's law of impact, 4 steps a frame, of a box whose centre of mass isn't its
    middle.
    """
    return recordings(box(CENTER), 12, seed=3, noise=5e-5)


@pytest.fixture(scope="module")
def table(made):
    return table_of(made)


@pytest.fixture(scope="module")
def answer(table):
    return contactid.toss(table, SIZE)


@pytest.mark.parametrize(("number", "as_stated"), [(5, True), (6, False)])
def test_few_tosses_are_answered_and_say_which_body_predicts_them(number, as_stated):
    few = contactid.toss(table_of(recordings(box(CENTER), number, seed=3, noise=5e-5)), SIZE)
    assert len(few.tables["predictions"]) == number
    assert any("body as stated" in warning for warning in few.warnings) == as_stated
    assert few.params.loc["friction_mu", "low"] <= TRUTH.friction_mu
    assert few.params.loc["friction_mu", "high"] >= TRUTH.friction_mu


@pytest.mark.parametrize(("name", "truth"), [("friction_mu", TRUTH.friction_mu), ("scale", 1.0)])
def test_an_interval_holds_the_truth_of_another_law(answer, name, truth):
    assert answer.params.loc[name, "low"] <= truth <= answer.params.loc[name, "high"]
    assert answer.params.loc[name, "error"] < 0.2 * truth


def test_an_interval_is_not_that_of_a_coarse_grid(answer):
    """Steps of .05 in restitution missed what lies between them, half a step's width included."""
    losses, draws = answer.figures["Friction and restitution"].args
    assert np.diff(losses["restitution_e_n"].values).max() < 0.03
    assert np.isin(draws[:, 1], losses["restitution_e_n"].values).all()


def test_centre_and_inertia_are_the_true_ones(answer):
    """Nearer than the box's middle and a uniform box, and within three errors."""
    for axis, truth in zip("xyz", CENTER, strict=True):
        row = answer.params.loc[f"center_{axis}"]
        assert abs(row["value"] - truth) <= 3.0 * row["error"]
        assert abs(row["value"] - truth) < 0.7 * abs(truth)
    for axis, truth in zip("xyz", np.diag(box().inertia), strict=True):
        row = answer.params.loc[f"inertia_{axis}{axis}"]
        assert abs(row["value"] - truth) <= 3.0 * row["error"]
        assert row["error"] < 0.15 * truth
        assert row["told_by"] == "data"


def test_tosses_are_predicted_by_others_better_than_by_a_box_that_stays(answer, made):
    predictions = answer.tables["predictions"]
    assert sorted(predictions["toss"]) == sorted(toss.name for toss in made)
    assert predictions["loss"].mean() < 0.3 * predictions["naive_loss"].mean()
    assert answer.valid


def test_its_answer_predicts_tosses_that_it_has_not_seen(answer, tmp_path):
    """As well as its own tosses are predicted by the others, and with regions of each."""
    further = table_of(recordings(box(CENTER), 8, seed=11, noise=5e-5))
    predicted = contactid.predict(answer, further, SIZE)
    loss, naive = predicted.params.loc[["loss_incremental", "loss_no_impact"], "value"]
    assert loss < 0.3 * naive
    assert loss < 1.5 * answer.tables["predictions"]["loss"].mean()
    regions = predicted.tables["regions"]
    assert (regions["n_tosses"] == 8).all() and regions["covered"].is_monotonic_increasing
    assert (
        regions["covered"].iloc[-1] >= 6 and (regions["naive_covered"] <= regions["covered"]).all()
    )
    assert predicted.tables["outlines"]["toss"].nunique() == 8
    answer.save(tmp_path / "report")
    by_saved = contactid.predict(tmp_path / "report", further)
    assert np.allclose(by_saved.params["value"], predicted.params["value"])
    with pytest.raises(ContactIdError, match="100 x 100 x 100 mm were identified"):
        contactid.predict(tmp_path / "report", further, {"size": [0.2, 0.1, 0.1]})
    (tmp_path / "report/parameters.json").write_text("{}")
    with pytest.raises(ContactIdError, match="without a box and a law"):
        contactid.predict(tmp_path / "report", further)
    stated = contactid.predict(answer.params["value"].to_dict(), further, SIZE)
    assert "regions" not in stated.tables


def test_regions_of_the_others_hold_the_tosses_better_than_uncertain_parameters_alone(answer):
    regions = answer.tables["regions"].set_index("level")
    assert regions.loc[0.5, "covered"] < regions.loc[0.9, "covered"] >= 9
    assert (regions["naive_covered"] <= regions["covered"]).all()
    predictions = answer.tables["predictions"]
    widths = predictions[[f"region_{level}_m2" for level in (50, 80, 90)]].to_numpy()
    assert (np.diff(widths, axis=1) > 0.0).all() and len(predictions) == len(widths)
    assert set(answer.tables["outlines"]["toss"]) == set(predictions["toss"])


def test_the_result_says_what_it_holds(answer):
    assert answer.covariance.index.equals(answer.params.index)
    assert np.allclose(np.sqrt(np.diag(answer.covariance)), answer.params["error"])
    assert set(answer.residuals) == {"position", "rotation"}
    assert "friction_mu" in answer.summary() and "<table" in answer._repr_html_()
    assert answer.plot("Residuals").axes
    with pytest.raises(ContactIdError, match="no figure none"):
        answer.plot("none")
    assert 'type="box"' in answer.to_mjcf()


def test_the_command_says_the_same_as_the_call(answer, table, tmp_path, capsys):
    for name, part in table.groupby("toss"):
        part.drop(columns="toss").to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "box.yaml").write_text("size: [0.1, 0.1, 0.1]\nmass: 0.4\n")
    report = tmp_path / "report"
    assert (
        main(["toss", str(tmp_path), "--box", str(tmp_path / "box.yaml"), "--report", str(report)])
        == 0
    )
    assert "friction_mu = " in capsys.readouterr().out
    told = json.loads((report / "parameters.json").read_text())
    assert told["parameters"] == pytest.approx(answer.params["value"].to_dict(), rel=1e-6, abs=1e-9)
    page = (report / "report.html").read_text()
    assert page.count("<svg") == 4 and "friction_mu" in page
    assert {"predictions.csv", "tosses.csv", "body.xml", "body.urdf"} <= {
        file.name for file in report.iterdir()
    }


def test_an_answer_that_gravity_refutes_is_none(table, tmp_path, capsys):
    """Lengths that are an eighth too large: no unit explains them, and nothing is written."""
    large = table.assign(**{axis: 1.125 * table[axis] for axis in "xyz"})
    large.to_csv(tmp_path / "tosses.csv", index=False)
    (tmp_path / "box.yaml").write_text("size: [0.1125, 0.1125, 0.1125]\n")
    report = tmp_path / "report"
    words = [
        "toss",
        str(tmp_path / "tosses.csv"),
        "--box",
        str(tmp_path / "box.yaml"),
        "--report",
        str(report),
    ]
    assert main(words) == 1
    error = capsys.readouterr().err
    assert "% off gravity" in error and error.count("\n") == 1 and not report.exists()


def test_few_tosses_know_less_of_the_inertia(made):
    """Down to the prior, where no impact is seen."""
    few, all_ = (
        calibrate(prepare_tosses(motion(part, box()), require_usable=True))
        for part in (made[:5], made)
    )
    for name in ("inertia_se", "center_of_mass_se"):
        assert (np.array(getattr(few, name)) >= getattr(all_, name)).all()


# columns as they are where the real part is last
LAST = {"qw": "qx", "qx": "qy", "qy": "qz", "qz": "qw"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t[t["toss"] < "toss004"], "4 of 4 tosses can be used"),
        (lambda t: t.drop(columns="qz"), "no column for orientation_z"),
        (lambda t: t.assign(t=1e3 * t["t"]), r"time is in s \(--units t=ms, if it is in ms\)"),
        (lambda t: t.assign(qw=2.0 * t["qw"]), "unit length"),
        (lambda t: t.assign(x=np.nan), "a pose in 0 of"),
        (lambda t: in_millimetres(t), "mm"),
        (lambda t: t.rename(columns=LAST), "quaternion=xyzw"),
        (lambda t: y_upwards(t), "up=y"),
        (lambda t: in_millimetres(t).rename(columns=LAST), "quaternion=xyzw --units mm"),
        (lambda t: t.assign(y=-t["y"]), "--columns position_y=-object_position_y"),
        (lambda t: t.assign(x=t["y"], y=t["x"]), "position_x=object_position_y,position_y=object_"),
        (lambda t: t[::-1], r"time goes back \(frame 1\): sort its frames"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(table, change, said):
    with pytest.raises(ContactIdError, match=said) as raised:
        contactid.toss(change(table), SIZE)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"y": "-y"}, None),
        # a second sign cancels the first
        ({}, r"--columns position_y=-object_position_y"),
        ({"x": "-x", "y": "-y"}, r"--columns position_x=x,position_y=-y"),
    ],
)
def test_friction_tells_positions_that_are_mirrored_against_orientations(table, columns, said):
    body, _ = read_box(SIZE)
    convention = Convention(columns=columns)
    read = read_own(table.assign(y=-table["y"]), body, convention)
    how = {"placed": read.placed, "length": read.length}
    if said is None:
        assert explained_motion(read.motion, read.convention, **how) is not None
        return
    with pytest.raises(ContactIdError, match=said):
        explained_motion(read.motion, read.convention, **how)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"mass": 0.4}, "size"),
        ({"size": [100, 100, 100]}, "size"),
        ({**SIZE, "weight": 1}, "weight"),
    ],
)
def test_a_box_that_is_none_is_said(table, content, said):
    with pytest.raises(ContactIdError, match=said):
        contactid.toss(table, content)


def test_a_table_needs_a_box(table):
    with pytest.raises(ContactIdError, match="how large the box is"):
        contactid.toss(table)


def test_stated_units_and_frames_are_taken(table):
    """The same tosses in mm and with the real part last."""
    mm = table.assign(**{axis: 1e3 * table[axis] for axis in "xyz"})
    last = mm[["toss", "t", "x", "y", "z", "qx", "qy", "qz", "qw"]].set_axis(
        ["toss", *POSES], axis=1
    )
    body, _ = read_box(SIZE)
    convention = Convention(units={"m": "mm"}, frame={"quaternion": "xyzw"})
    own = read_own(last, body, convention)
    read = in_frame(own.motion, own.convention, own.placed, own.length)
    expected = read_own(table, body, STATED).motion
    for name in ("position", "orientation"):
        assert np.allclose(read[name], expected[name], atol=1e-12)
