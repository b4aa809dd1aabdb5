"""One's own tosses by a finished run: the run's own numbers come back, doubts are told, errors are
one line.
"""

import json
import re
import shutil
from html import escape
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy.stats import betabinom

import contactid
from contactid.__main__ import main
from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv
from contactid.sources.motion import iterate_recordings, read_dataset
from contactid.tossing.own.finished_run import read_run
from contactid.tossing.own.predict import means, predict_own
from contactid.tossing.own.regions import NO_REGIONS, predict_regions
from contactid.tossing.own.tosses import read_tosses
from contactid.tossing.readers.contactnets import read_toss_table
from example_tosses import BOX, CUBE, write_box
from example_tosses import write_cube as write_cube_example
from finished_runs import CALIBRATED, EXACT, names_of, write_cube, write_run
from odd_names import ODD
from small_files import folder_of
from tosses_for_tests import TRUTH

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/predict"
ALWAYS = {"report.html", "parameters.json", "parameters.csv", "predictions.csv"}
FILES = ALWAYS | {"schemes.csv"}
FITTED = ("exact", "calibrated")
POSES = ["t", "x", "y", "z", "qw", "qx", "qy", "qz"]
OF_REGIONS = {"regions.json", "coverage.csv"}


@pytest.fixture(scope="module")
def cube(tmp_path_factory):
    """A finished run on 40 tosses of a cube, its ``exact`` parameters the true ones, and these
    tosses.
    """
    folder = tmp_path_factory.mktemp("cube")
    tosses = write_cube(folder / "all", 40, seed=3)
    block = {"identify_on": ["cube"], "predict_on": ["cube"], "exclude_tumbling": False}
    block |= {"variants": [EXACT, CALIBRATED], "velocity": {"identify_on": []}}
    block |= {"rest_poses": {"variants": ["exact", "calibrated"], "draws": 30, "seed": 1}}
    fits = {"exact": (TRUTH.friction_mu, TRUTH.restitution_e_n), "calibrated": (0.3, 0.2)}
    return write_run(folder / "run", {"cube": ("contactnets", tosses, "")}, block, fits), tosses


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    """A finished run on the twin of Box006, in a folder like that of a checkout, with the examples
    beside it.
    """
    folder = tmp_path_factory.mktemp("box")
    source = ROOT / "workflow/resources/embedded/box006_trajectories_twin.h5"
    block = {
        "identify_on": ["box"],
        "predict_on": ["box"],
        "velocity": {"identify_on": []},
        "variants": [EXACT],
    }
    run = write_run(
        folder / "results/default",
        {"box": ("iam", source, "Box006")},
        block,
        {"exact": (0.4, 0.25)},
    )
    (folder / "examples").symlink_to(ROOT / "examples")
    return run


def copied(tosses, folder, names):
    """Some tosses in a folder of their own, under other names."""
    shutil.copytree(tosses / "params_processed", folder / "params_processed")
    (folder / "tosses_processed").mkdir()
    for name in names:
        shutil.copy2(
            tosses / f"tosses_processed/{name}.pt", folder / f"tosses_processed/9{name}.pt"
        )
    return folder


def test_the_run_s_own_test_tosses_have_the_run_s_own_losses(cube, tmp_path, capsys):
    run, tosses = cube
    mine = copied(tosses, tmp_path / "mine", names_of(run, "cube", "test"))
    assert (
        main(["predict", str(mine), "--run", str(run), "--report", str(tmp_path / "report")]) == 0
    )
    printed = capsys.readouterr().out
    assert (
        "WARNING" not in printed
        and {file.name for file in (tmp_path / "report").iterdir()} == FILES | OF_REGIONS
    )
    ours = pd.read_csv(tmp_path / "report/predictions.csv")
    assert (
        set(ours["scheme"]) == {"exact", "calibrated", "no_restitution", "no_impact"}
        and not ours["seen"].any()
    )
    for scheme in ("exact", "calibrated", "no_restitution"):
        theirs = read_csv(run / f"tossing/predictions/cube/cube.{scheme}.csv")
        own = (
            ours[ours["scheme"] == scheme]
            .set_index("toss")
            .loc[[int(f"9{name}") for name in theirs["toss"]]]
        )
        for column in ("loss", "rest_position_error_cm", "rest_rotation_error_deg"):
            assert np.allclose(own[column], theirs[column], rtol=1e-5, atol=1e-6), (scheme, column)
        told = re.search(rf"^{scheme}: loss = (\S+) \+- (\S+) ", printed, re.M)
        assert float(told[1]) == pytest.approx(theirs["loss"].mean(), rel=1e-3)
        assert float(told[2]) == pytest.approx(theirs["loss"].sem(), rel=0.05)
    mean = ours.groupby("scheme")["loss"].mean()
    assert mean["exact"] < 0.3 * mean["no_restitution"] < mean["no_impact"], (
        "the true parameters are the best"
    )


def test_tosses_that_the_run_identified_on_are_told_and_don_t_count(cube):
    folder, tosses = cube
    run = read_run(folder)
    found = read_tosses([tosses], run)
    assert found.seen == set(names_of(folder, "cube", "identification"))
    table = predict_own(run, found)
    summary = means(table, run, found).set_index("scheme")
    unseen = table[(table["scheme"] == "exact") & ~table["seen"]]["loss"]
    assert (
        summary.loc["exact", "mean_loss"] == pytest.approx(unseen.mean())
        and summary.loc["exact", "n_tosses"] == 12
    )


def test_the_naive_answer_stays_where_it_first_touches(cube):
    folder, tosses = cube
    run = read_run(folder)
    name = names_of(folder, "cube", "test")[0]
    found = read_tosses([tosses / f"tosses_processed/{name}.pt"], run)
    table = predict_own(run, found).set_index("scheme").loc["no_impact"]
    toss = dict(iterate_recordings(read_dataset(folder / "data/cube/tosses.nc")))[name]
    contact, rest, position = int(toss["contact"]), int(toss["rest"]), toss["position"].values
    way = [np.linalg.norm(position[k] - position[contact]) for k in range(contact, rest + 1)]
    samples = rest + 1 - max(int(toss["release"]), 1)
    assert table["position_error_pct"] == pytest.approx(
        100.0 * sum(way) / samples / 0.1048, rel=1e-9
    )


def test_on_another_surface_the_tosses_own_rest_is_used_and_that_is_told(cube, tmp_path):
    run = read_run(cube[0])
    low, high = (
        read_tosses([write_cube(tmp_path / f"{z}", 6, seed=8, height=z)], run) for z in (0.0, 0.02)
    )
    assert low.warnings == () and re.search(
        r"rest \+(19.9|20.0|20.1) mm off the surface", high.warnings[0]
    )
    losses = [predict_own(run, tosses).groupby("scheme")["loss"].mean() for tosses in (low, high)]
    assert np.allclose(*losses, rtol=0.05, atol=2e-3)


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        (
            {"mass": 0.5, "inertia": 0.4},
            "its mass is 0.5 kg instead of 0.37 kg; its principal moments",
        ),
    ],
)
def test_another_body_or_frame_rate_is_told(cube, tmp_path, changes, warning):
    tosses = write_cube(tmp_path / "other", 6, seed=9, **changes)
    assert warning in " ".join(read_tosses([tosses], read_run(cube[0])).warnings)


def test_a_wrong_frame_rate_shows_in_the_fall(cube, tmp_path):
    tosses = write_cube(tmp_path / "other", 6, seed=9)
    shutil.rmtree(tosses / "params_processed")  # 148 frames/s are assumed, it was 200
    found = read_tosses([tosses], read_run(cube[0]))
    fall = re.search(r"fall with (\S+) m/s2: their frame rate \(148\)", " ".join(found.warnings))
    assert (
        float(fall[1]) == pytest.approx(9.81 * (148 / 200) ** 2, rel=0.02)
        and "as published" in found.notes[-1]
    )


def report_of(cube, tmp_path, *tosses, run=None):
    arguments = [
        "predict",
        *map(str, tosses),
        "--run",
        str(run or cube[0]),
        "--report",
        str(tmp_path / "report"),
    ]
    return main(arguments)


def test_what_cannot_be_predicted_is_one_line_and_leaves_nothing(cube, tmp_path, capsys):
    run, tosses = cube
    (tmp_path / "both").mkdir()
    shutil.copy2(tosses / "tosses_processed/0.pt", tmp_path / "both/0.pt")
    shutil.copy2(EXAMPLES / BOX, tmp_path / "both" / BOX)
    (tmp_path / "empty").mkdir()
    lacking = shutil.copytree(run, tmp_path / "runs/public")
    (lacking / "tossing/fits/cube.exact.json").unlink()
    bare = shutil.copytree(run, tmp_path / "runs/bare")
    shutil.rmtree(bare / "tossing/rest_poses")
    flights = in_motion(tosses, tmp_path / "flights", names_of(run, "cube", "test")[:2], 18)
    old = shutil.copytree(run, tmp_path / "runs/old")
    record = json.loads((old / "provenance.json").read_text())
    del record["configuration"]["tossing"]["velocity"]
    (old / "provenance.json").write_text(json.dumps(record))
    for given, of_run, words in (
        ([tmp_path / "nowhere"], run, "nowhere: no such file"),
        ([tmp_path / "empty"], run, "empty: no .pt toss and no .h5 archive"),
        ([tmp_path / "both"], run, "both .pt tosses and .h5 archives"),
        ([tmp_path / "both/0.pt", EXAMPLES / BOX], run, "both .pt tosses and .h5 archives"),
        ([EXAMPLES / BOX], run, "Box006 (205 x 155 x 100 mm), but"),
        (
            [tosses],
            tmp_path / "runs/none",
            "no such run. Finish it first (snakemake with its configuration), or name",
        ),
        ([tosses], tmp_path / "empty", "is no finished run"),
        ([tosses], lacking, "lacks tossing/fits/cube.exact.json. Finish it first (make public)"),
        ([flights], bare, "all recordings end in motion, and"),
        ([tosses], old, "another version of this program ('velocity' is missing)"),
    ):
        assert report_of(cube, tmp_path, *given, run=of_run) == 1
        told = capsys.readouterr().err.splitlines()
        assert len(told) == 1 and told[0].startswith("ERROR ") and words in told[0], told
        assert not (tmp_path / "report").exists()


# The call


@pytest.fixture(scope="module")
def table(cube):
    """The run's test tosses as a notebook has them: metres, a column of names."""
    run, _ = cube
    motion = read_dataset(run / "data/cube/motion.nc")
    recordings, parts = dict(iterate_recordings(motion)), []
    for name in names_of(run, "cube", "test"):
        toss = recordings[name]
        time = np.arange(toss.sizes["sample"]) / float(motion.attrs["sample_frequency"])
        poses = np.column_stack([time, toss["position"].values, toss["orientation"].values])
        parts.append(pd.DataFrame(poses, columns=POSES).assign(toss=f"new {name}"))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def answer(cube, table):
    return contactid.predict(cube[0], table)


def test_a_table_in_memory_has_the_commands_answer_to_the_last_digit(answer, cube, table, tmp_path):
    table.to_csv(tmp_path / "mine.csv", index=False)
    assert report_of(cube, tmp_path, tmp_path / "mine.csv") == 0
    told = json.loads((tmp_path / "report/parameters.json").read_text())
    assert told["parameters"] == answer.params["value"].to_dict()
    assert (tmp_path / "report/regions.json").read_text() == answer.files["regions.json"]


def test_a_table_of_the_runs_body_has_the_runs_own_losses(answer, cube):
    theirs = read_csv(cube[0] / "tossing/predictions/cube/cube.exact.csv")["loss"]
    assert answer.params.loc["loss_exact", "value"] == pytest.approx(theirs.mean(), rel=1e-4)
    assert answer.warnings == ()


def test_losses_go_together_as_their_tosses_do(answer):
    losses = answer.tables["predictions"].pivot_table(index="toss", columns="scheme", values="loss")
    covariance, schemes = answer.covariance, list(losses.columns)
    names = [f"loss_{scheme}" for scheme in schemes]
    assert np.allclose(np.sqrt(np.diag(covariance)), answer.params["error"])
    by_hand = np.cov(losses.to_numpy().T) / len(losses)
    assert np.allclose(covariance.loc[names, names], by_hand)


def test_residuals_are_how_far_tosses_rest_from_where_they_were_predicted(answer):
    pairs = [answer.residuals["toss"].values, answer.residuals["scheme"].values]
    predictions = answer.tables["predictions"].set_index(["toss", "scheme"])
    predictions = predictions.loc[list(zip(*pairs, strict=True))]
    in_the_surface = answer.residuals["position"].values[:, :2]  # as eq. 21 has it
    off = np.linalg.norm(in_the_surface, axis=1)
    turned = np.linalg.norm(answer.residuals["rotation"].values, axis=1)
    assert np.allclose(100.0 * off, predictions["rest_position_error_cm"], rtol=1e-6)
    assert np.allclose(np.degrees(turned), predictions["rest_rotation_error_deg"], atol=1e-6)


CUBE_OF_TABLE = {"size": [0.1048] * 3, "mass": 0.37, "inertia": [8.1e-4] * 3}


def test_true_parameters_predict_better_than_others_and_than_a_box_that_stays(table):
    right = {"friction_mu": TRUTH.friction_mu, "restitution_e_n": TRUTH.restitution_e_n}
    wrong = {**right, "friction_mu": 3.0 * TRUTH.friction_mu}
    losses = {}
    for name, given in (("right", right), ("wrong", wrong)):
        answer = contactid.predict(given, table, CUBE_OF_TABLE, law="newton")
        losses[name] = answer.params.loc["loss_newton", "value"]
    naive = answer.params.loc["loss_no_impact", "value"]
    assert losses["right"] < 0.5 * losses["wrong"] and losses["right"] < 0.2 * naive
    assert 'type="box"' in answer.to_mjcf()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"friction_mu": 0.3}, "lack restitution_e_n"),
        ({"friction_mu": 0.3, "restitution_e_n": 0.1, "mu": 1.0}, "have mu"),
    ],
)
def test_parameters_that_are_none_are_said(table, given, said):
    with pytest.raises(ContactIdError, match=said):
        contactid.predict(given, table, CUBE_OF_TABLE)


# Where they come to rest


def test_regions_are_in_a_file_a_table_and_a_few_lines(cube, tmp_path, capsys):
    run, tosses = cube
    names = names_of(run, "cube", "test")
    mine = copied(tosses, tmp_path / "mine", names)
    assert report_of(cube, tmp_path, mine) == 0
    printed = capsys.readouterr().out
    document = json.loads((tmp_path / "report/regions.json").read_text())
    losses = {
        name: read_csv(run / f"tossing/predictions/cube/cube.{name}.csv")["loss"].mean()
        for name in FITTED
    }
    assert document["scheme"] == min(losses, key=losses.get), (
        "of least loss on the run's own test tosses"
    )
    assert [toss["toss"] for toss in document["tosses"]] == [f"9{name}" for name in names]
    table = pd.read_csv(tmp_path / "report/predictions.csv", dtype={"toss": str})
    own = table["scheme"] == document["scheme"]
    columns = ["simulated_face_probability", "region_50_m2", "region_80_m2", "region_90_m2"]
    assert table.loc[own, columns].notna().all(axis=None) and table.loc[~own, columns].isna().all(
        axis=None
    )
    by_toss = table[own].set_index("toss")
    for toss in document["tosses"]:
        assert sum(toss["faces"].values()) == pytest.approx(1.0)
        areas = [region["area_m2"] for region in toss["regions"]]
        assert np.allclose(areas, by_toss.loc[toss["toss"], columns[1:]].astype(float), rtol=1e-5)
        assert 0.0 < areas[0] <= areas[1] <= areas[2]
        place = by_toss.loc[toss["toss"], ["measured_x", "measured_y"]].astype(float)
        assert np.allclose([toss["measured"]["x"], toss["measured"]["y"]], place, atol=1e-6)
    coverage = pd.read_csv(tmp_path / "report/coverage.csv")
    for k, level in enumerate((50, 80, 90)):
        held = sum(toss["regions"][k]["covers"] for toss in document["tosses"])
        assert (
            f"{level} % regions by {document['scheme']} hold {held} of 12 poses at rest" in printed
        )
        assert coverage.loc[k, ["covered", "n_tosses"]].tolist() == [held, 12]


def test_regions_hold_tosses_that_the_run_has_not_seen(cube, tmp_path):
    """28 tosses set the edges of the regions, so the count of 60 new ones is beta-binomial."""
    run = read_run(cube[0])
    table = predict_regions(
        run, read_tosses([write_cube(tmp_path / "new", 60, seed=77)], run)
    ).coverage
    for row in table.itertuples():
        rank = int(np.ceil(29 * row.level))
        low, high = betabinom.ppf([0.001, 0.999], 60, rank, 29 - rank)
        assert low <= row.covered <= high and row.n_tosses == 60, row


def in_motion(tosses, folder, names, frames):
    """The beginnings of some tosses."""
    mine = copied(tosses, folder, names)
    for file in (mine / "tosses_processed").glob("*.pt"):
        folder_of(mine, {file.stem: read_toss_table(file)[:frames]})
    return mine


def test_tosses_that_end_in_motion_have_regions_alone(cube, tmp_path, capsys):
    run, tosses = cube
    names = names_of(run, "cube", "test")
    flights = in_motion(tosses, tmp_path / "flights", names, 18)
    assert report_of(cube, tmp_path, flights) == 0
    printed = capsys.readouterr().out
    assert "loss = " not in printed and "12 recordings end in motion" in page_of(tmp_path)
    assert {file.name for file in (tmp_path / "report").iterdir()} == ALWAYS | OF_REGIONS
    hidden = json.loads((tmp_path / "report/regions.json").read_text())["tosses"]
    assert report_of(cube, tmp_path, copied(tosses, tmp_path / "whole", names)) == 0
    whole = json.loads((tmp_path / "report/regions.json").read_text())["tosses"]
    for one, other in zip(hidden, whole, strict=True):
        assert one["measured"] is None and all(
            region["covers"] is None for region in one["regions"]
        )
        assert one["most_probable_face"] == other["most_probable_face"]
        middle, known = (
            np.mean(toss["regions"][0]["outlines"][0]["corners"], axis=0) for toss in (one, other)
        )
        assert np.linalg.norm(middle - known) < 0.02, "from fewer samples of the flight"


def test_tosses_in_motion_beside_whole_ones_have_rows_without_losses(cube, tmp_path, capsys):
    run, tosses = cube
    names = names_of(run, "cube", "test")
    mine = copied(tosses, tmp_path / "mine", names[:9])
    flight = in_motion(tosses, tmp_path / "flight", names[9:10], 18)
    shutil.copy2(flight / f"tosses_processed/9{names[9]}.pt", mine / "tosses_processed")
    assert report_of(cube, tmp_path, mine) == 0
    table = pd.read_csv(tmp_path / "report/predictions.csv", dtype={"toss": str})
    (row,) = table[table["toss"] == f"9{names[9]}"].to_dict("records")
    assert np.isnan(row["loss"]) and 0.0 < row["region_90_m2"] < 1.0 and row["scheme"] in FITTED
    assert "hold" in capsys.readouterr().out and "1 recordings end in motion" in page_of(tmp_path)


def page_of(tmp_path):
    return (tmp_path / "report/report.html").read_text()


# The example


def test_the_example_is_made_by_its_function(tmp_path):
    write_box(tmp_path)
    assert (EXAMPLES / BOX).stat().st_size < 200_000
    with h5py.File(EXAMPLES / BOX) as committed, h5py.File(tmp_path / BOX) as made:
        names = []
        committed.visititems(
            lambda name, node: names.append(name) if name.endswith("transforms") else None
        )
        assert names and set(committed) == set(made)
        for name in names:
            assert np.allclose(committed[name][:], made[name][:], atol=1e-4)
    write_cube_example(tmp_path)
    files = sorted((EXAMPLES / CUBE).rglob("*.pt"))
    assert len(files) == 6 and sum(file.stat().st_size for file in files) < 200_000
    for file in files:
        assert np.allclose(
            read_toss_table(file), read_toss_table(tmp_path / file.relative_to(EXAMPLES)), atol=1e-4
        )


def test_the_example_is_predicted_and_its_other_surface_noticed(box, tmp_path, capsys):
    mine = shutil.copy(EXAMPLES / BOX, tmp_path / f"{ODD}.h5")
    assert (
        main(["predict", str(mine), "--run", str(box), "--report", str(tmp_path / "report")]) == 0
    )
    assert f"<h1>Predicted: {escape(ODD)}.h5: " in page_of(tmp_path)
    printed = capsys.readouterr().out
    assert NO_REGIONS in printed and NO_REGIONS in page_of(tmp_path)
    assert {file.name for file in (tmp_path / "report").iterdir()} == FILES
    assert printed.startswith(f"{ODD}.h5: 6 tosses of Box006 (205 x 155 x 100 mm), 360 frames/s.")
    assert "WARNING Losses are higher than on the run's own test tosses" in printed
    schemes = pd.read_csv(tmp_path / "report/schemes.csv").set_index("scheme")
    assert schemes.loc["exact", ["friction_mu", "restitution_e_n"]].tolist() == [0.4, 0.25]
    assert "Losses are higher" in page_of(tmp_path)
    table = pd.read_csv(tmp_path / "report/predictions.csv")
    assert table["moving"].sum() == len(table) / 6, "one toss of six onto a running belt"


def test_parameters_of_a_simulation_are_not_taken_for_a_real_body_s(box, tmp_path):
    with h5py.File(shutil.copy2(EXAMPLES / BOX, tmp_path / "mine.h5"), "r+") as archive:
        del archive.attrs["synthetic"]
    warnings = read_tosses([tmp_path / "mine.h5"], read_run(box)).warnings
    assert any(
        "simulated tosses: its parameters are those of the simulation" in warning
        for warning in warnings
    )


def test_the_lines_of_python_in_the_docs_run(box, monkeypatch, capsys):
    program = re.search(r"```python\n(.*?)```", (ROOT / "docs/lab/tossing.md").read_text(), re.S)[1]
    monkeypatch.chdir(box.parents[1])
    exec(compile(program, "docs/lab/tossing.md", "exec"), {})
    assert "exact" in capsys.readouterr().out
