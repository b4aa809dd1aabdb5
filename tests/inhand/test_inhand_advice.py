"""What a recording tells, what another one would add, and several in one estimate."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation
from test_inhand_disturbances import pulled

from contactid.__main__ import main
from contactid.core.errors import ContactIdError
from contactid.core.inertia import (
    InertialParameters,
    geodesic_distance,
    moved_to,
    pseudo_inertia,
    uniform_body,
)
from contactid.inhand.identify.advice import (
    ANYWHERE,
    NAMES,
    PRESENT,
    SAME,
    SHOWN,
    TWICE,
    Prior,
    _evidence,
    _simulated,
    advise,
    limits_of,
    swings_within,
    told_sentence,
    well_told,
)
from contactid.inhand.identify.averaging import averaged_stretches
from contactid.inhand.identify.disturbance_models import inverse
from contactid.inhand.identify.drift import STEADY
from contactid.inhand.identify.joint import FittedRecording, fit_jointly, followed, summed
from contactid.inhand.identify.likeliest_body import PRIOR_WEIGHT
from contactid.inhand.identify.likelihood import fit_recording, told_parameters
from contactid.inhand.identify.linearised import WORLD
from contactid.inhand.own.result import estimate
from contactid.inhand.readers.recordings import recorded_signals
from contactid.inhand.simulate.swing import Swing
from grasp_for_tests import BODY, HULL, recording
from own_advice import study_twin

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/estimate"
NOISY = {"force_sd": 0.05, "position_sd": 5e-5, "orientation_sd": 2e-4}
SWING = Swing(
    axes=np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]),
    angle=0.4,
    period=0.8,
    swings=3,
    start=np.array([0.8, 0.0, 0.6, 0.0]),
    pivot=np.array([0.03, -0.05, 0.02]),
)


def stretches_of(data):
    return averaged_stretches(recorded_signals(data))[0]


def advised(stretches, fit):
    present = FittedRecording.of(stretches, fit)
    (evidence,) = followed([present], fit.body.vector)
    return advise(limits_of(stretches), fit, present, evidence)


@pytest.fixture(scope="module")
def fitted():
    """Stretches of a short recording, and their estimate."""
    stretches = stretches_of(recording(120, 0.01, **NOISY))
    return stretches, fit_recording(stretches)


@pytest.fixture(scope="module")
def advice(fitted):
    return advised(*fitted)


# several recordings


def test_one_recording_alone_is_its_own_estimate(fitted):
    stretches, fit = fitted
    joint = fit_jointly([stretches], [fit])
    assert joint.converged
    assert joint.errors == pytest.approx(fit.errors, rel=0.01)
    assert joint.fit_errors == pytest.approx(fit.fit_errors, rel=0.01)
    off = joint.body.vector - fit.body.vector
    assert np.all(np.abs(off) < 0.1 * fit.vector_errors)
    # but for what is on the edge
    moved = told_parameters(fit.body.vector) - told_parameters(fit.uniform.vector)
    clear = np.abs(np.abs(moved) / fit.fit_errors - 1.0) > 0.05
    assert np.array_equal(joint.by_data[clear], fit.by_data[clear])


def test_the_same_twice_is_twice_the_information(fitted):
    stretches, fit = fitted
    (evidence,) = followed([FittedRecording.of(stretches, fit)], fit.body.vector)
    once, twice, longer = (
        summed(one).information for one in ([evidence], [evidence, evidence], [evidence.times(2.0)])
    )
    assert twice == pytest.approx(2.0 * once, rel=1e-6)
    assert longer == pytest.approx(twice, rel=1e-6)


def test_two_recordings_are_better_than_each():
    every = [stretches_of(recording(120, 0.01, seed=k, noise_seed=k, **NOISY)) for k in (3, 4)]
    fits = [fit_recording(one) for one in every]
    joint = fit_jointly(every, fits)
    assert np.all(joint.fit_errors < [one.fit_errors for one in fits])
    distances = [geodesic_distance(one.body, BODY) for one in (joint, *fits)]
    assert distances[0] < np.mean(distances[1:])


def test_a_cable_that_one_recording_shows_is_taken_out_of_both():
    """The second one is short and noisy, so it takes the cable for a constant force in the body."""
    quiet = {"force_sd": 0.02, "position_sd": 5e-5, "orientation_sd": 2e-4}
    turned = stretches_of(pulled(recording(200, 0.01, **quiet)))
    short = stretches_of(pulled(recording(40, 0.01, **quiet | {"force_sd": 0.3})))
    fits = [fit_recording(one) for one in (turned, short)]
    assert [WORLD in one.models[0].names for one in fits] == [True, False]
    joint = fit_jointly([turned, short], fits)
    assert joint.body.mass == pytest.approx(BODY.mass, rel=0.03)


# motions


def test_a_swing_moves_as_it_says_about_a_point_that_stays():
    time, h = np.linspace(0.2, SWING.seconds - 0.2, 60), 1e-4
    before, now, after = (SWING.evaluate(time + shift) for shift in (-h, 0.0, h))
    turned = [
        Rotation.from_quat(one.orientation, scalar_first=True) for one in (before, now, after)
    ]
    assert turned[1].apply(SWING.pivot) + now.position == pytest.approx(0.0, abs=1e-12)
    velocity = (after.position - before.position) / (2.0 * h)
    acceleration = (after.position - 2.0 * now.position + before.position) / h**2
    assert now.velocity == pytest.approx(velocity, abs=1e-5)
    assert now.acceleration == pytest.approx(acceleration, abs=1e-4)
    rate = (turned[0].inv() * turned[2]).as_rotvec() / (2.0 * h)
    assert now.angular_velocity == pytest.approx(rate, abs=1e-5)
    change = (after.angular_velocity - before.angular_velocity) / (2.0 * h)
    assert now.angular_acceleration == pytest.approx(change, abs=1e-4)


def test_a_swing_starts_and_ends_at_rest_in_the_same_place():
    path = SWING.evaluate(np.array([0.0, 0.5 * SWING.seconds, SWING.seconds]))
    assert path.angular_velocity == pytest.approx(0.0, abs=1e-9)
    assert path.angular_acceleration == pytest.approx(0.0, abs=1e-9)
    assert path.orientation == pytest.approx(np.tile(SWING.start, (3, 1)))


def test_limits_are_those_of_the_motion():
    """Of swings whose rate and angular acceleration are known."""
    data = recording(240, 0.01)
    path = replace(SWING, angle=0.5).evaluate(data["time"].values - data["time"].values[0])
    moved = data.assign(
        object_position=(data["object_position"].dims, path.position),
        object_orientation=(data["object_orientation"].dims, path.orientation),
    )
    limits = limits_of(stretches_of(moved))
    sizes = [
        np.linalg.norm(one, axis=1) for one in (path.angular_velocity, path.angular_acceleration)
    ]
    assert limits.rate == pytest.approx(np.quantile(sizes[0], 0.95), rel=0.05)
    assert limits.change == pytest.approx(np.quantile(sizes[1], 0.95), rel=0.1)
    assert limits.angle == pytest.approx(0.5, rel=0.2)


# advice


def test_swings_are_no_faster_and_turn_no_further_than_was_recorded(fitted):
    limits = limits_of(fitted[0])
    swings = swings_within(limits, FittedRecording.of(*fitted).recording)
    assert len(swings) == 10
    for motion, swing in swings.items():
        rate, change = swing.peaks()
        assert rate <= limits.rate * (1.0 + 1e-9)
        assert change <= limits.change * (1.0 + 1e-9)
        if motion != ANYWHERE:
            assert swing.angle <= limits.angle
            assert swing.angle == pytest.approx(limits.angle) or (
                rate == pytest.approx(limits.rate) or change == pytest.approx(limits.change)
            )


def test_every_motion_is_in_the_table_and_the_advised_one_is_best(advice):
    table = advice.table.set_index("motion")
    assert list(table.index[:3]) == [PRESENT, SAME, TWICE]
    within = table.drop(index=[PRESENT, TWICE, ANYWHERE])
    assert advice.advised == within["expected_distance"].idxmin()
    assert len(within) == 10
    assert f"Next, record {advice.advised}" in advice.sentences[1]
    assert (advice.best is None) == (advice.advised == SAME)


def test_poses_too_noisy_for_any_motion_like_it_are_not_recorded_again():
    """Of a small swing that a camera tracks; where twins did so, the answer was further off."""
    seen = study_twin("in_hand_vision", "load share 0", 1).record(None, 1, None)
    stretches, _ = averaged_stretches(seen)
    found = advised(stretches, fit_recording(stretches))
    distance = found.table.set_index("motion")["expected_distance"]
    assert distance[found.advised] > distance[PRESENT] > distance[TWICE]
    assert found.sentences[1].startswith("No other recording")


def test_more_of_the_same_lowers_every_error(advice):
    table = advice.table.set_index("motion")
    names = [f"{kind}_{name}" for kind in ("expected", "stated") for name in NAMES]
    assert np.all(table.loc[SAME, names] < table.loc[PRESENT, names])
    share = table.loc[SAME, "stated_mass"] / table.loc[PRESENT, "stated_mass"]
    longer = table.loc[SAME, "seconds"] / (117 * 0.01)
    assert share == pytest.approx((1.0 + longer) ** -0.5, rel=0.03)


def test_stated_errors_are_the_fits(fitted, advice):
    stated = advice.table.iloc[0][[f"stated_{name}" for name in NAMES]].to_numpy(float)
    assert stated == pytest.approx(fitted[1].fit_errors[: len(NAMES)], rel=0.01)


def test_an_object_that_hardly_moves_gets_no_advice_on_how_to_move_it():
    stretches = stretches_of(
        recording(100, still=True, force_sd=0.05, position_sd=2e-4, orientation_sd=1e-3)
    )
    found = advised(stretches, fit_recording(stretches))
    assert found.best is None and found.advised == ""
    assert len(found.sentences) == 1


@pytest.mark.parametrize(("sign", "told", "untold"), [(-1.0, "+", "-"), (1.0, "-", "+")])
def test_a_sum_or_a_difference_is_named_where_it_is_told_and_each_is_not(sign, told, untold):
    body = InertialParameters.from_center(1.0, np.zeros(3), np.diag([1e-3, 2e-3, 2.2e-3]))
    errors = np.array([0.01, 1e-3, 1e-3, 1e-3, 5e-5, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3])
    covariance = np.diag(errors**2)
    covariance[5, 6] = covariance[6, 5] = sign * 0.99 * errors[5] * errors[6]
    sentence = told_sentence(body, covariance, HULL)
    assert f"I_yy {told} I_zz to" in sentence
    assert f"I_yy {untold} I_zz" not in sentence
    assert "I_xx to 5 %" in sentence.split("Hardly")[0]
    assert "I_yy to 50 %" in sentence.split("Hardly")[1]


def test_the_priors_slope_and_curvature_are_those_of_the_distance():
    uniform = uniform_body(BODY.mass, HULL)

    def cost(vector):
        """Half the weight times the squared distance to the nearest uniform body of any mass."""
        sizes = [np.linalg.det(pseudo_inertia(one)) for one in (vector, uniform.vector)]
        other = InertialParameters.from_vector(uniform.vector * (sizes[0] / sizes[1]) ** 0.25)
        return (
            0.5
            * PRIOR_WEIGHT
            * geodesic_distance(InertialParameters.from_vector(vector), other) ** 2
        )

    prior = Prior.near(BODY, uniform)
    steps = np.diag(1e-4 * np.array([1.0, *[0.1] * 3, *[1e-2] * 6]))
    slope = [
        (cost(BODY.vector + one) - cost(BODY.vector - one)) / (2.0 * one.max()) for one in steps
    ]
    assert prior.slope == pytest.approx(np.array(slope), rel=1e-3, abs=1e-2)
    direction = np.array([0.0, 1e-3, -5e-4, 0.0, 3e-5, -2e-5, 1e-5, 1e-5, 0.0, 0.0])
    curved = Prior.near(uniform, uniform).information
    assert cost(uniform.vector + direction) == pytest.approx(
        0.5 * direction @ curved @ direction, rel=0.02
    )


def test_a_centre_far_from_the_hulls_middle_says_nothing_of_the_shape_about_it():
    """The distribution that such an object is from is wider in the centre alone."""
    uniform = uniform_body(BODY.mass, HULL)
    usual = Prior.near(uniform, uniform)
    assert usual.wide == pytest.approx(usual.information)
    moved = Prior.near(moved_to(uniform, np.array([0.05, 0.0, 0.0])), uniform)
    shape = np.zeros(10)
    shape[4:] = [1e-4, -2e-4, 3e-4, 1e-4, 0.0, 2e-4]
    assert shape @ moved.wide @ shape == pytest.approx(shape @ moved.information @ shape, rel=1e-6)
    by_center = moved_to(uniform, np.array([0.051, 0.0, 0.0])).vector
    by_center = by_center - moved_to(uniform, np.array([0.049, 0.0, 0.0])).vector
    assert by_center @ moved.wide @ by_center < 0.2 * by_center @ moved.information @ by_center


def test_of_simulated_poses_the_information_that_counts_is_all_of_theirs():
    """They have no noise that passes for motion, as those that a camera will record have."""
    seen = study_twin("in_hand_vision", "load share 0", 0).record(None, 0, None)
    stretches, _ = averaged_stretches(seen)
    fit = fit_recording(stretches)
    signals = FittedRecording.of(stretches, fit).recording
    exact = _simulated(
        signals, signals.signals.time, signals.rotations, signals.positions, signals.parts
    )
    evidence = FittedRecording(exact, fit, fit.models[0].names).evidence(fit.body.vector)
    all_of_it = inverse(inverse(evidence.model.information)[:10, :10])
    noise = np.diag(evidence.noise) / np.diag(all_of_it)
    assert noise.max() > 0.5
    counts = summed([_evidence(exact, fit, STEADY)])
    assert counts.information == pytest.approx(all_of_it, rel=1e-3)
    # of a score that has the noise in it
    assert np.all(np.diag(counts.covariance) > np.diag(inverse(all_of_it)))


# the command


def test_an_estimate_says_what_is_told_and_what_to_record_next():
    answer = estimate(EXAMPLE / "recording.csv", EXAMPLE / "hull.csv", EXAMPLE / "noise.yaml")
    assert answer.notes[0].startswith("Told by the data")
    assert answer.notes[1].startswith("Next, record ")
    assert list(answer.tables["advice"].columns) == list(SHOWN)
    still = pd.read_csv(EXAMPLE / "recording.csv").drop(columns="time")
    answer = estimate(still, EXAMPLE / "hull.csv", EXAMPLE / "noise.yaml")
    assert "advice" not in answer.tables


def test_halves_of_a_recording_together_are_the_whole(tmp_path, capsys):
    """But for the zero, which each half has of its own."""
    rows = pd.read_csv(EXAMPLE / "recording.csv")
    for name, part in (("a.csv", rows[:75]), ("b.csv", rows[75:])):
        part.to_csv(tmp_path / name, index=False)
    stated = ["--hull", str(EXAMPLE / "hull.csv"), "--noise", str(EXAMPLE / "noise.yaml")]
    files = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    assert main(["estimate", *files, *stated, "--report", str(tmp_path / "report")]) == 0
    assert "Object in a.csv and b.csv" in (tmp_path / "report/report.html").read_text()
    answer = estimate(EXAMPLE / "recording.csv", EXAMPLE / "hull.csv", EXAMPLE / "noise.yaml")
    whole = answer.params
    joint = pd.read_csv(tmp_path / "report/parameters.csv", index_col="parameter")
    off = (joint["value"] - whole["value"]).abs() / whole["error"]
    assert off.max() < 0.5
    # errors of the data: what the prior moves is another random number
    found = pd.read_csv(tmp_path / "report/naive.csv")["error_without_calibration"]
    expected = answer.tables["naive"]["error_without_calibration"]
    assert found.to_numpy() == pytest.approx(expected.to_numpy(), rel=0.2)
    assert joint["error"]["mass"] == pytest.approx(whole["error"]["mass"], rel=0.2)
    assert "b.csv: " in capsys.readouterr().out


def test_still_poses_are_not_joined():
    still = pd.read_csv(EXAMPLE / "recording.csv").drop(columns="time")
    with pytest.raises(ContactIdError, match="no time"):
        estimate([still, still], EXAMPLE / "hull.csv", EXAMPLE / "noise.yaml")


# following it: the stored table


BEYOND_A_QUARTER = {
    "in hand, tracked by vision",
    "a cable",
    "forces 50 ms late",
    "a preload that relaxes",
}


def test_predictions_are_within_a_quarter_but_in_the_cases_that_the_page_names():
    """Of errors and of stated errors; half as far again is missed by vision's stated ones alone."""
    table = pd.read_csv(ROOT / "workflow/resources/own_advice.csv", index_col="case")
    assert (table["twins"] == 20).all()
    ratios = table.filter(regex="^(expected_over_error|predicted_over_stated)_")
    off = (ratios - 1.0).abs().max(axis=1)
    assert set(off.index[off > 0.25]) == BEYOND_A_QUARTER
    assert set(off.index[off > 0.5]) == {"in hand, tracked by vision"}
    few = table[table["entries_before"] <= 2.0]
    assert np.all(few["entries_after"] >= 2.0 * few["entries_before"])


def test_what_is_told_is_small_beside_the_body_not_far_from_a_uniform_one():
    """A moment that the data know to a percent is told by them, be it a uniform body's or not."""
    hull = np.array([[0.0, 0.0, 0.0], [0.1, 0.1, 0.1]])
    values = np.array([1.0, 0.0, 0.0, 0.0, *(2e-3, 3e-3, 4e-3), 0.0, 0.0, 0.0] + 6 * [1e-3])
    limits = np.array([0.1, 2e-3, 2e-3, 2e-3, 2e-4, 3e-4, 4e-4])
    products = 0.1 * np.sqrt([6e-6, 8e-6, 12e-6])
    errors = np.array([*limits, *products, *6 * [1e-4]])
    assert np.all(well_told(values, 0.999 * errors, hull))
    assert not np.any(well_told(values, 1.001 * errors, hull))
