"""``contactid.estimate``: the command's digits from a table in memory, and what the answer holds
beside its numbers.
"""

import json

import numpy as np
import pandas as pd
import pytest
import yaml

import contactid
from contactid.__main__ import main
from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters
from contactid.inhand.identify.advice import NAMES
from contactid.inhand.identify.likelihood import told_parameters
from contactid.inhand.own.estimate import explained_recording
from contactid.inhand.own.leftover import residuals_and_covariance
from grasp_for_tests import BODY, HULL, recording, standardised
from own_recordings import table_of, write_own

NOISE = {"position_sd": 2e-5, "orientation_sd": 5e-5, "contact_position_sd": 1e-4}
CALIBRATED = {**NOISE, "force_gain_sd": 0.0}
TRUTH = told_parameters(BODY.vector)[: len(NAMES)]


def white(seed=1, force_sd=0.02):
    """A recording with white noise as :data:`NOISE` states it."""
    return recording(
        160,
        noise_seed=seed,
        force_sd=force_sd,
        position_sd=2e-5,
        orientation_sd=5e-5,
        point_sd=1e-4,
    )


@pytest.fixture(scope="module")
def answer():
    return contactid.estimate(white(), HULL, NOISE)


def test_a_table_in_memory_gives_the_command_s_digits(tmp_path, capsys):
    given = write_own(white(), tmp_path)
    assert main(["estimate", *given, "--report", str(tmp_path / "report")]) == 0
    told = json.loads((tmp_path / "report/parameters.json").read_text())
    table, hull = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("recording", "hull"))
    noise = yaml.safe_load((tmp_path / "noise.yaml").read_text())
    answer = contactid.estimate(table, hull.to_numpy(), {k: float(v) for k, v in noise.items()})
    assert answer.record["parameters"] == told["parameters"]
    assert answer.record["standard_errors"] == told["standard_errors"]
    for line in answer.lines():
        assert line in capsys.readouterr().out or line in answer.summary()


def test_a_dataset_gives_the_digits_of_its_table(answer):
    table = contactid.estimate(table_of(white()), HULL, NOISE)
    pd.testing.assert_frame_equal(answer.params, table.params, check_exact=True)


def test_other_units_are_stated_as_for_the_command(answer):
    table = table_of(white())
    changed = table.assign(time=1e3 * table["time"])
    told = contactid.estimate(changed, HULL, NOISE, units={"s": "ms"})
    # levels of noise end within 2 %, so rounding of the times moves the answer a little
    off = told.params["value"] - answer.params["value"]
    assert (off.abs() < 0.01 * answer.params["error"]).all()
    with pytest.raises(ContactIdError, match=r"the table: .*--units time=ms"):
        contactid.estimate(changed, HULL, NOISE)


def test_the_covariance_is_the_estimator_s_own(answer):
    """It is computed anew from the answer, and its diagonal has to come out as the fit's errors."""
    found = explained_recording(white(), HULL, NOISE)
    _, anew = residuals_and_covariance(found.recording, found.fit, found.at_answer)
    assert np.sqrt(np.diag(anew)) == pytest.approx(found.fit.errors[: len(NAMES)], rel=1e-2)
    assert list(answer.covariance) == list(NAMES)
    assert np.sqrt(np.diag(answer.covariance)) == pytest.approx(answer.params["error"])
    assert np.linalg.eigvalsh(answer.covariance)[0] > 0.0
    gain = 0.05  # of calibration: it moves mass and moments together
    error = answer.params["error"]
    together = answer.covariance.loc["mass", "inertia_zz"] / (error["mass"] * error["inertia_zz"])
    value = answer.params["value"]
    shared = gain**2 * value["mass"] * value["inertia_zz"] / (error["mass"] * error["inertia_zz"])
    assert together == pytest.approx(shared, abs=0.2)


def test_errors_go_together_as_the_covariance_says():
    """Squared distances from the truth, of 12 recordings: ten on average."""
    squares = []
    for seed in range(12):
        one = contactid.estimate(white(seed), HULL, CALIBRATED)
        off = one.params["value"].to_numpy() - TRUTH
        squares.append(off @ np.linalg.solve(one.covariance.to_numpy(), off))
    assert 0.4 < np.mean(squares) / len(NAMES) < 1.8


@pytest.mark.parametrize("force_sd", [0.02, 0.05])
def test_residuals_are_as_large_as_their_noise(force_sd):
    """Also where the forces' noise isn't what the recording's columns state."""
    data = white(force_sd=force_sd)
    data["contact_force_sd"] = 0.0 * data["contact_force_sd"] + 0.02
    answer = contactid.estimate(data, HULL, NOISE)
    assert standardised(answer.residuals) == pytest.approx(1.0, abs=0.2)
    of_forces = np.sqrt(4 / 2) * force_sd  # of four contacts, two rows averaged
    assert answer.residuals["force"].attrs["noise"] > of_forces
    assert standardised(answer.residuals, ("position", "orientation")) < 1.1
    assert answer.residuals["force"].dims == ("frame", "xyz")


def test_the_mass_has_a_row_under_every_admissible_disturbance(answer):
    table = answer.tables["disturbances"]
    assert len(table) == 8 and table["log_likelihood"].is_monotonic_decreasing
    taken = table.iloc[0]
    assert taken["low_kg"] < BODY.mass < taken["high_kg"]
    low, high = answer.params.loc["mass", ["low", "high"]]
    assert (low, high) == pytest.approx((taken["low_kg"], taken["high_kg"]), rel=0.02)


def test_naive_answers_stand_beside(answer):
    naive = answer.tables["naive"].set_index("parameter")
    assert naive.loc["center_x", "uniform_body"] == pytest.approx(0.0, abs=1e-9)
    for axis, truth in zip("xyz", BODY.center_of_mass, strict=True):
        found = answer.params.loc[f"center_{axis}", "value"]
        assert abs(found - truth) < 0.1 * abs(truth)
    assert any("weight of 0.76" in line for line in answer.lines())


def test_what_no_recording_tells_is_no_warning(answer):
    assert answer.valid and answer.warnings == ()
    assert any("common factor" in limit for limit in answer.limits)
    assert "common factor" in answer.summary()
    # this motion is quick enough to tell weight from a cable
    assert not any("cable" in limit for limit in answer.limits)
    assert set(answer.figures) == {
        "Mass, by what is taken out", "Centre and inertia", "Residuals"
    }  # fmt: skip
    for name in answer.figures:
        assert answer.plot(name).axes


def test_the_body_for_simulators_is_the_answer(answer):
    assert f'mass="{answer.params.loc["mass", "value"]:.4g}'[:9] in answer.to_mjcf()
    named = answer.record["parameters"]
    body = InertialParameters.from_center(
        named["mass"], np.array(named["center_of_mass"]), np.array(named["inertia"])
    )
    origin = answer.tables["origin"].set_index("parameter")["value"]
    assert told_parameters(body.vector)[len(NAMES) :] == pytest.approx(origin.to_numpy())
