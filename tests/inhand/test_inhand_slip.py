"""``contactid slip``: friction and warp by a line, on trials by another law; what can't be used is
named.
"""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import contactid
from contactid.__main__ import main
from contactid.core.errors import ContactIdError
from contactid.inhand.friction.line import surface_friction
from contactid.inhand.friction.slip import both_fall, estimate_friction
from contactid.inhand.own.slip import estimate_slip
from contactid.inhand.own.slip_trials import read_trials
from slip_trials import Surface, trial, write_trials

DIRECTION = np.deg2rad(1.0)


@given(
    st.floats(0.2, 1.2), st.floats(0.0, 0.07), st.lists(st.floats(0.3, 4.0), min_size=2, max_size=8)
)
def test_exact_trials_give_friction_and_warp(mu, warp, loads):
    load = np.array([*loads, 2.0 * max(loads)])
    found = surface_friction(
        np.tan(np.arctan(mu) + warp * load), np.full(len(load), 0.01), load, DIRECTION
    )
    assert found.line
    assert found.friction == pytest.approx(mu, rel=1e-6)
    assert found.warp == pytest.approx(warp, abs=1e-8)
    assert found.lower_bound < mu
    assert found.scatter < 1e-4 and not found.unlikely


@given(st.floats(0.4, 1.2), st.floats(0.005, 0.02))
def test_friction_that_falls_with_the_load_is_stated_at_the_largest(mu, fall):
    load = np.array([1.0, 2.0, 4.0, 8.0])
    shown = np.tan(np.arctan(mu) - fall * load)
    found = surface_friction(shown, np.full(len(load), 1e-4), load, 1e-4)
    assert found.by_load and found.friction == pytest.approx(shown[-1], rel=1e-6)
    assert found.lower_bound < shown[-1]
    # a slope that noise explains is no fall
    assert not surface_friction(shown, np.full(len(load), 1e-4), load, fall * 4.0).by_load


def test_errors_of_the_line_are_as_large_as_its_mistakes():
    random, load, mu = np.random.default_rng(2), np.repeat([0.7, 1.8, 3.5], 4), 0.6
    turned = np.arctan(mu) + 0.05 * load + DIRECTION * random.normal(size=(400, len(load)))
    found = [
        surface_friction(np.tan(one), np.full(len(load), 1e-6), load, DIRECTION) for one in turned
    ]
    z = [(one.friction - mu) / one.standard_error for one in found]
    assert (
        0.75 < np.std(z) < 1.1
    )  # larger scatter than stated widens an error, smaller doesn't narrow it
    assert np.mean([one.lower_bound < mu for one in found]) > 0.98


def test_one_load_tells_no_warp_and_a_scatter_beyond_what_is_stated_is_told():
    alone = surface_friction(
        np.array([0.6, 0.62]), np.full(2, 0.01), np.array([1.0, 1.1]), DIRECTION
    )
    assert not alone.line and np.isnan(alone.warp) and 0.6 < alone.friction < 0.62
    wild = surface_friction(
        np.array([0.4, 0.9, 0.4, 0.9]), np.full(4, 0.01), np.array([1.0, 2.0, 3.0, 4.0]), DIRECTION
    )
    assert wild.unlikely and wild.scatter > 3.0


def test_a_zero_that_is_stated_widens_and_one_that_is_not_is_in_no_interval():
    """Trials in all directions at three loads, whose sensor has one zero."""
    random, load, mu, zero_sd = np.random.default_rng(3), np.repeat([1.0, 2.0, 4.0], 3), 0.6, 0.1
    held, error = {0.0: [], zero_sd: []}, {}
    for _ in range(200):
        turns = random.uniform(0.0, 2.0 * np.pi, len(load))
        along = np.column_stack([np.cos(turns), np.sin(turns), np.zeros_like(turns)])
        across = (along - mu * np.array([0.0, 0.0, 1.0])) / ((1.0 + mu**2) * load[:, None])
        off = DIRECTION * random.normal(size=len(load)) + across @ random.normal(0.0, zero_sd, 3)
        for stated, within in held.items():
            friction, errors = np.tan(np.arctan(mu) + off), np.full(len(load), 1e-6)
            found = surface_friction(friction, errors, load, DIRECTION, across, stated)
            within.append(abs(found.friction - mu) <= 2.0 * found.standard_error)
            error[stated] = found.standard_error
    assert np.mean(held[zero_sd]) > 0.9 > 0.8 > np.mean(held[0.0])
    assert error[zero_sd] > error[0.0]


def test_what_a_zero_does_to_friction_is_told(tmp_path):
    folder = write_trials(tmp_path / "a", Surface(0.6, 0.0, 0.9), (0.4, 1.0, 2.0), 2, 7)
    first = contactid.slip(folder)
    assert "0.1 N that isn't taken off moves mu by up to" in first.summary()
    wide = contactid.slip(folder, zero=0.1)
    assert wide.params.loc["friction_mu", "error"] > first.params.loc["friction_mu", "error"]
    with pytest.raises(ContactIdError, match="a zero's deviation of -1 N"):
        contactid.slip(folder, zero="-1")


@pytest.mark.parametrize(("warp", "ratio"), [(0.0, 0.9), (2.0, 0.8), (4.0, 1.0)])
def test_warping_surfaces_of_another_law(tmp_path, warp, ratio):
    errors, naive, held = [], [], []
    for number, mu in enumerate(np.linspace(0.42, 0.85, 7)):
        folder = write_trials(
            tmp_path / str(number),
            Surface(mu, warp, ratio),
            (0.4, 1.0, 2.0),
            4,
            100 + number,
            rate=0.4,
        )
        surface = estimate_slip(folder, "1").surface
        errors.append(surface.friction / mu - 1.0)
        held.append(surface.lower_bound < mu)
        alone = [
            estimate_friction(one.force, one.point, one.normal).friction
            for one in read_trials(folder)
        ]
        naive.append(np.nanmedian(alone) / mu - 1.0)
    assert np.median(np.abs(errors)) < 0.05
    assert all(held)
    assert warp < 2.0 or np.median(np.abs(errors)) < 0.5 * np.median(naive)


def test_an_answer_at_the_largest_load_holds_there_and_has_no_warp(tmp_path):
    folder = tmp_path / "trials"
    # friction as the load to the power -.15, a surface for each
    for number, load in enumerate((0.4, 1.0, 2.5)):
        mu = 0.7 * load**-0.15
        write_trials(folder, Surface(mu, ratio=0.95, direction_sd=0.3), (load,), 4, 50 + number)
    found = contactid.slip(folder, direction=0.3)
    assert list(found.params.index) == ["apparent_mu", "apparent_bound"]
    row = found.params.loc["apparent_mu"]
    # of the last surface, as far as its law and its trials' scatter let it be seen
    assert row["low"] - 0.02 < mu < row["high"] + 0.02
    assert found.record["status"] == "friction by load"
    assert found.params.loc["apparent_bound", "value"] < mu
    assert "friction itself depends on it" in found.summary()


def test_a_stiff_finger_s_short_slide_is_seen_and_one_that_is_stiffer_still_is_said_to_be_so():
    random = np.random.default_rng(8)
    seen = [_estimate(Surface(0.6, 0.0, 1.0, stiffness=2000.0), random) for _ in range(10)]
    assert sum(one.slipped for one in seen) >= 9
    assert np.median([one.friction for one in seen]) == pytest.approx(0.6, rel=0.05)
    unseen = [_estimate(Surface(0.6, 0.0, 1.0, stiffness=20_000.0), random) for _ in range(5)]
    assert not any(one.slipped for one in unseen)
    assert all("stiff" in one.message and 0.4 < one.lower_bound < 0.6 for one in unseen)
    held = [_estimate(Surface(0.6, slips=False), random) for _ in range(5)]
    assert not any(one.slipped or "stiff" in one.message for one in held)


def _estimate(surface, random):
    rows = trial(surface, 1.0, random, rate=0.5).to_numpy()
    return estimate_friction(rows[:, 1:4], rows[:, 4:7], rows[0, 7:])


def test_forces_fall_together_only_where_both_do():
    pressing, held = np.linspace(4.0, 1.0, 400), np.ones(400)
    assert not both_fall(held, pressing).any()
    assert both_fall(0.6 * pressing, pressing)[99:].all()
    assert not both_fall(0.6 * pressing, held).any()
    assert not both_fall(0.6 * pressing[:50], pressing[:50]).any()


@pytest.fixture
def folder(tmp_path):
    return write_trials(tmp_path / "trials", Surface(0.6, 2.0), (0.6, 1.5), 2, 1, rate=1.0)


def test_the_report_has_all_and_other_rates_names_and_orders_change_nothing(
    folder, tmp_path, capsys
):
    assert main(["slip", str(folder), "--report", str(tmp_path / "report")]) == 0
    assert "mu = " in capsys.readouterr().out
    record = json.loads((tmp_path / "report/parameters.json").read_text())
    assert (
        record["status"] == "line" and record["lower_bound"] < record["parameters"]["friction_mu"]
    )
    table = pd.read_csv(tmp_path / "report/trials.csv", comment="#")
    assert table["slipped"].all() and len(table) == 4
    page = (tmp_path / "report/report.html").read_text()
    assert "<svg" in page and "load_1.5N_2.csv" in page and "naive" in page
    for path in folder.iterdir():
        rows = pd.read_csv(path)
        rows.columns = [
            name.replace("contact_force", "Contact Force index").upper() for name in rows
        ]
        rows.columns = [name.replace("CONTACT_POSITION", "contact_position_index") for name in rows]
        fine = rows.loc[rows.index.repeat(2)].reset_index(drop=True)
        fine["TIME"] = 7.0 + 0.005 * np.arange(len(fine))
        fine[fine.columns[::-1]].to_csv(path, index=False)
    again = estimate_slip(folder, 1.0).surface
    assert again.friction == pytest.approx(record["parameters"]["friction_mu"], rel=0.02)


def test_twenty_rows_a_second_are_enough(folder):
    for path in folder.iterdir():
        rows = pd.read_csv(path).iloc[::5].reset_index(drop=True)
        # as times round: never quite 20 a second
        rows["time"] = 0.0500001 * np.arange(len(rows))
        rows.to_csv(path, index=False)
    trials = read_trials(folder)
    assert len(trials) == 4 and all(len(trial.time) > 20 for trial in trials)


def test_a_table_in_memory_gives_the_command_s_digits(folder, tmp_path):
    assert main(["slip", str(folder), "--report", str(tmp_path / "report")]) == 0
    record = json.loads((tmp_path / "report/parameters.json").read_text())
    files = sorted(folder.iterdir())
    table = pd.concat([pd.read_csv(path).assign(trial=path.name) for path in files])
    series = {name: ("sample", table[name].to_numpy()) for name in ("time", "trial")}
    for kind in ("contact_force", "contact_position", "surface_normal"):
        values = table[[f"{kind}_{axis}" for axis in "xyz"]].to_numpy()
        series[kind] = (("sample", "axis"), values)
    dataset = xr.Dataset(series, {"axis": list("xyz")})
    for trials in (folder, files, table, dataset):
        answer = contactid.slip(trials)
        assert answer.params.loc["friction_mu", "value"] == record["parameters"]["friction_mu"]
        assert answer.record["data"] == record["data"]


def test_an_answer_has_its_bound_its_line_and_what_is_off_it(folder):
    answer = contactid.slip(folder)
    mu, bound = answer.params.loc["friction_mu"], answer.params.loc["friction_bound"]
    assert bound["value"] < mu["low"] < mu["value"] < mu["high"]
    assert mu["low"] < 0.6 < mu["high"] and bound["high"] == np.inf
    # of 95 %, of the angle, by which mu moves as 1 + mu^2
    half = 0.5 * (np.arctan(mu["high"]) - np.arctan(mu["low"]))
    assert half * (1.0 + mu["value"] ** 2) == pytest.approx(1.96 * mu["error"], rel=1e-3)
    assert np.sqrt(np.diag(answer.covariance)) == pytest.approx(answer.params["error"][:2])
    assert answer.covariance.loc["friction_mu", "warp"] < 0.0  # a steeper line begins lower
    off = answer.residuals["angle"]
    apparent = answer.tables["trials"]["apparent_friction"]
    line = np.degrees(np.arctan(mu["value"])) + answer.params.loc["warp", "value"] * (
        off["normal_force"].values
    )
    assert off.values == pytest.approx(np.degrees(np.arctan(apparent)) - line)
    assert answer.valid and answer.plot().axes


def test_angles_that_follow_no_line_are_refused(tmp_path, capsys):
    for mu in (0.3, 0.9):
        write_trials(tmp_path / str(mu), Surface(mu), (0.6, 1.5), 2, 1, rate=1.0)
    for path in (tmp_path / "0.3").iterdir():
        path.rename(tmp_path / "0.9" / f"other_{path.name}")
    assert main(["slip", str(tmp_path / "0.9"), "--report", str(tmp_path / "report")]) == 1
    said = capsys.readouterr().err
    assert "times as much about the line" in said and said.count("\n") == 1
    assert not (tmp_path / "report").exists()
    answer = contactid.slip(tmp_path / "0.9")
    assert not answer.valid and "NOT VALID" in answer.summary()
    assert contactid.slip(tmp_path / "0.9", direction=8.0).valid


def test_a_line_that_lays_most_of_the_angle_to_the_warp_is_doubted(tmp_path):
    """Friction that grows with the load looks the same, and two loads fit any line."""
    both = tmp_path / "0.4"
    write_trials(both, Surface(0.4), (0.5,), 3, 1, rate=1.0)
    for path in write_trials(tmp_path / "0.8", Surface(0.8), (2.0,), 3, 1, rate=1.0).iterdir():
        path.rename(both / path.name)
    answer = contactid.slip(both)
    assert answer.params.loc["friction_mu", "value"] < 0.3
    assert any("laid to the surface's warp" in warning for warning in answer.warnings)
    assert any("Through two loads" in limit for limit in answer.limits)
    warped = write_trials(tmp_path / "w", Surface(0.5, warp=4.0), (0.5, 1.0, 2.0), 2, 1, rate=1.0)
    answer = contactid.slip(warped)
    assert not any("laid to" in warning for warning in answer.warnings)
    assert not any("Through two loads" in limit for limit in answer.limits)


def test_one_load_and_no_slip_have_no_mu_but_say_why(tmp_path):
    one = contactid.slip(write_trials(tmp_path / "a", Surface(0.6), (1.0,), 2, 1, rate=1.0))
    assert list(one.params.index) == ["apparent_mu", "apparent_bound"]
    assert any("another tangential force" in warning for warning in one.warnings)
    sticking = Surface(0.6, slips=False)
    none = contactid.slip(write_trials(tmp_path / "b", sticking, (1.0, 2.0), 1, 1, rate=1.0))
    assert list(none.params.index) == ["apparent_bound"]
    assert 0.4 < none.params.loc["apparent_bound", "value"] < 0.6
    assert any("No trial slipped" in warning for warning in none.warnings)
    for answer in (one, none):
        assert answer.lines() and answer.valid and answer.plot().axes


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: rows.drop(columns="surface_normal_z"), "no column surface_normal_z"),
        (lambda rows: rows.assign(contact_force_thumb_x=0.0), "forces of"),
        (lambda rows: rows.assign(time=rows["time"][::-1].to_numpy()), "doesn't increase"),
        (lambda rows: rows.assign(time=100.0 * rows["time"]), "1 s between rows"),
        (
            lambda rows: rows.assign(
                contact_position_x=1e3 * rows["contact_position_x"] + np.arange(len(rows))
            ),
            "metres",
        ),
        (
            lambda rows: rows.assign(contact_force_z=-rows["contact_force_z"]),
            "presses into the object in 0 %",
        ),
        (lambda rows: rows.assign(surface_normal_z=0.0), "normal is zero"),
        (lambda rows: rows.assign(surface_normal_x=np.linspace(-1, 1, len(rows))), "turns by more"),
        (lambda rows: rows.iloc[:20], "20 samples"),
        (lambda rows: rows.assign(contact_force_x="much"), "0 rows"),
    ],
)
def test_what_can_t_be_used_is_one_line(folder, tmp_path, capsys, change, problem):
    path = folder / "load_1.5N_1.csv"
    change(pd.read_csv(path)).to_csv(path, index=False)
    assert main(["slip", str(folder), "--report", str(tmp_path / "report")]) == 1
    said = capsys.readouterr().err
    assert (
        said.startswith("ERROR ")
        and said.count("\n") == 1
        and path.name in said
        and problem in said
    )
    assert not (tmp_path / "report").exists()


def test_a_folder_without_trials_and_a_direction_that_is_none_are_refused(folder, tmp_path):
    with pytest.raises(ContactIdError, match="no trial"):
        estimate_slip(tmp_path, 1)
    with pytest.raises(ContactIdError, match="no table"):
        contactid.slip(folder / "notes.doc")
    for direction in ("0", "x", "90", "nan"):
        with pytest.raises(ContactIdError, match="direction"):
            estimate_slip(folder, direction)
