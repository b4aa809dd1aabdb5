"""Friction from the last sticking force: eq. 5 as trigonometry, known coefficients from simulated
slips, bounds.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.inhand.artefacts.friction import (
    draw_friction,
    estimates_and_errors,
    friction_figure,
    friction_tables,
)
from contactid.inhand.friction.slip import (
    detect_slip,
    estimate_friction,
    friction_coefficient,
    friction_standard_error,
    noise_sd,
    steps,
    travel,
)
from contactid.inhand.friction.trials import (
    friction_table,
    read_friction_objects,
    simulate_and_estimate,
    write_trials,
)
from contactid.inhand.simulate.fingertip_friction import (
    SAMPLE_RATE,
    apparent_friction,
    simulate_trials,
    slope_angles,
    slope_truth,
)
from contactid.output import style
from twins_for_tests import SURFACES_FILE as OBJECTS

BLOCK = {
    "trials": 10, "slope_repetitions": 10, "tangential_force": 1.0, "normal_force": [4.0, 0.6], "normal_rate": 0.25,
    "friction_scatter": 0.02, "kinetic_ratio": 0.85, "seed": 5, "direction_sweep_deg": [0.0, 4.0],
    "kinetic_sweep": [0.85, 1.0], "sweep_seeds": 1,
    "noise": {"force_sd": 0.03, "direction_sd_deg": 1.0, "contact_point_sd": 2e-4, "wobble_sd": 0.02,
              "slope_angle_sd_deg": 0.5},
}  # fmt: skip
NOISE_FREE = BLOCK | {"noise": dict.fromkeys(BLOCK["noise"], 0.0)}
angles = st.floats(1e-6, 1.55)
unit = st.floats(-1.0, 1.0)


def turned(rotation, vector):
    return Rotation.from_rotvec(rotation).apply(vector)


@given(angles, st.floats(0.01, 100.0), st.floats(-3.0, 3.0), st.lists(unit, min_size=3, max_size=3))
def test_eq_5_is_the_tangent_of_the_cone_s_half_angle_in_every_frame(phi, size, heading, rotation):
    direction = [np.sin(phi) * np.cos(heading), np.sin(phi) * np.sin(heading), np.cos(phi)]
    mu = friction_coefficient(
        turned(rotation, size * np.array(direction)), 3.0 * turned(rotation, [0.0, 0.0, 1.0])
    )
    assert mu == pytest.approx(np.tan(phi), rel=1e-9)


@given(
    st.lists(st.floats(-10.0, 10.0), min_size=3, max_size=3), st.lists(unit, min_size=3, max_size=3)
)
def test_eq_5_as_printed_and_as_computed_agree(force, normal):
    force, normal = np.array(force), np.array(normal)
    assume(np.linalg.norm(normal) > 1e-3 and np.linalg.norm(force) > 1e-3)
    cosine = force @ normal / np.linalg.norm(force) / np.linalg.norm(normal)
    assume(0.01 < cosine < 0.9999)
    assert friction_coefficient(force, normal) == pytest.approx(
        np.sqrt(1.0 - cosine**2) / cosine, rel=1e-6
    )


def test_a_force_that_does_not_press_has_no_coefficient():
    force = np.array([[1.0, 0.0, -0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.0, 1.0]])
    assert np.isnan(friction_coefficient(force, np.array([0.0, 0.0, 1.0]))).tolist() == [
        True,
        True,
        True,
        False,
    ]
    with pytest.raises(ContactIdError, match="surface normal is zero"):
        friction_coefficient(force, np.zeros(3))


def test_the_standard_error_is_that_of_many_noisy_forces():
    force, normal = np.array([0.6, -0.3, 1.4]), np.array([0.0, 0.0, 1.0])
    noisy = force + 0.01 * np.random.default_rng(1).normal(size=(200_000, 3))
    expected = friction_coefficient(noisy, normal).std()
    assert friction_standard_error(force, normal, 0.01) == pytest.approx(expected, rel=0.01)


@given(st.floats(0.0, 0.7), st.floats(0.0, 0.5))
def test_warping_adds_to_the_angle(phi, warp):
    mu = apparent_friction(np.tan(phi), warp)
    assert mu == pytest.approx(np.tan(phi + warp), rel=1e-12)
    rule = (np.tan(phi) + np.tan(warp)) / (1.0 - np.tan(phi) * np.tan(warp))
    assert mu == pytest.approx(rule, rel=1e-9)


def test_the_slope_method_is_unbiased_to_first_order_and_exact_without_noise():
    mu = np.full((1, 20_000), 0.7)
    assert slope_truth(slope_angles(mu, 0.0, np.random.default_rng(0)))[0] == pytest.approx(
        0.7, rel=1e-12
    )
    noisy = slope_truth(slope_angles(mu, 0.02, np.random.default_rng(0)))[0]
    second_order = (
        0.7 * (1.0 + 0.7**2) * 0.02**2
    )  # half the second derivative of tan, times the variance
    assert noisy == pytest.approx(0.7 + second_order, abs=4.0 * 0.02 * 1.49 / np.sqrt(20_000))
    assert slope_truth(np.array([[np.pi / 4.0]])) == pytest.approx(1.0)


@pytest.fixture(scope="module")
def clean():
    mu = np.array([0.4, 0.6, 0.8, 1.0])
    return mu, simulate_trials(mu, np.zeros(4), NOISE_FREE, np.random.default_rng(0))


def test_coulomb_s_law_holds_in_every_sample(clean):
    mu, trials = clean
    tangential, normal = (
        np.linalg.norm(trials.true_force[..., :2], axis=-1),
        trials.true_force[..., 2],
    )
    # a sample's force belongs to the normal force of the sample before it
    assert (tangential[:, 1:] <= mu[:, None] * normal[:, :-1] * (1.0 + 1e-9)).all()
    assert (np.diff(trials.slip, axis=1) >= 0.0).all()
    sticking = np.diff(trials.slip, axis=1) == 0.0
    assert sticking[:, :300].all() and not sticking.all()


def test_the_finger_sticks_again_after_it_slipped(clean):
    _, trials = clean
    for slip in trials.slip:
        moving = np.diff(slip) > 0.0
        starts = np.flatnonzero(moving[1:] & ~moving[:-1])
        assert len(starts) >= 3


def test_noise_free_slips_are_dated_and_the_coefficient_recovered(clean):
    mu, trials = clean
    for value, force, point, slip in zip(
        mu, trials.force, trials.contact_point, trials.slip, strict=True
    ):
        found = estimate_friction(force, point, trials.normal, direction_sd=0.0)
        assert found.slipped
        assert abs(found.onset - np.flatnonzero(slip > 0.0)[0]) <= 1
        rate = BLOCK["normal_rate"] / SAMPLE_RATE
        lag = (
            value**2 / BLOCK["tangential_force"] * rate * 5.0
        )  # growth of the ratio over the samples before
        assert value - 2.0 * lag < found.friction <= value * (1.0 + 1e-9)
        assert (
            value - 10.0 * lag < found.lower_bound < found.friction
        )  # a window is five times as long


def test_a_warped_surface_is_off_by_the_tangent_rule():
    mu, warp = np.array([0.5, 0.7]), np.deg2rad([4.0, 3.0])
    trials = simulate_trials(mu, warp, NOISE_FREE, np.random.default_rng(0))
    for k in range(2):
        found = estimate_friction(trials.force[k], trials.contact_point[k], trials.normal)
        turn = warp[k] * trials.true_force[k, found.onset - 1, 2]
        assert turn > np.deg2rad(3.0)
        assert found.friction == pytest.approx(np.tan(np.arctan(mu[k]) + turn), rel=0.01)


def test_the_estimate_is_the_same_in_another_frame(clean):
    _, trials = clean
    rotation = Rotation.from_rotvec([0.3, -1.1, 0.7])
    here = estimate_friction(trials.force[1], trials.contact_point[1], trials.normal)
    there = estimate_friction(
        rotation.apply(trials.force[1]),
        rotation.apply(trials.contact_point[1]) + 0.1,
        rotation.apply(trials.normal),
    )
    assert there.onset == here.onset
    assert there.friction == pytest.approx(here.friction, rel=1e-9)


def test_without_slip_there_is_only_a_bound():
    short = BLOCK | {"normal_force": [4.0, 2.0]}  # the ratio ends at 0.5
    trials = simulate_trials(np.full(20, 0.9), np.zeros(20), short, np.random.default_rng(3))
    assert (trials.slip == 0.0).all()
    for force, point in zip(trials.force, trials.contact_point, strict=True):
        found = estimate_friction(force, point, trials.normal)
        assert not found.slipped and np.isnan(found.friction) and "lower bound" in found.message
        assert 0.4 < found.lower_bound < 0.5


@pytest.mark.parametrize("ratio", [0.8, 0.9, 0.95, 1.0])
def test_slips_are_found_whatever_kinetic_friction_is_and_bounds_hold(ratio):
    """Of a skin that only slides, too, and where the contact point drifts steadily by a millimetre
    in two seconds.
    """
    truth = np.repeat([0.42, 0.55, 0.7, 0.86], 15)
    trials = simulate_trials(
        truth, np.zeros(60), BLOCK | {"kinetic_ratio": ratio}, np.random.default_rng(77)
    )
    drifting = trials.contact_point + np.array([3e-4, -4e-4, 0.0]) * trials.time[:, None]
    for points in (trials.contact_point, drifting):
        found = [
            estimate_friction(*one, trials.normal) for one in zip(trials.force, points, strict=True)
        ]
        assert sum(one.slipped for one in found) >= 0.95 * len(truth)
        errors = np.array([one.friction for one in found]) - truth
        assert np.nanmedian(np.abs(errors)) < 0.03
        assert np.mean([one.lower_bound for one in found] < truth) >= 0.95


def test_a_bound_holds_where_a_slide_stays_unseen():
    """No ratio is above the coefficient for long, so the bound needs no slip to be found."""
    truth = np.full(60, 0.6)
    trials = simulate_trials(
        truth, np.zeros(60), BLOCK | {"kinetic_ratio": 1.0}, np.random.default_rng(78)
    )
    found = [
        estimate_friction(force, np.zeros_like(force), trials.normal) for force in trials.force
    ]
    assert not any(one.slipped for one in found)
    assert np.mean([one.lower_bound for one in found] < truth) >= 0.95


def test_no_slip_is_found_in_200_recordings_without_one():
    truth, ends = np.repeat([0.45, 0.6, 0.8, 1.0], 50), [1.08 / 0.45, 1.08 / 0.6, 1.08 / 0.8, 1.08]
    for number, end in enumerate(ends):  # up to 93 % of the force that would slip
        mu, random = truth[50 * number : 50 * number + 50], np.random.default_rng(79 + number)
        trials = simulate_trials(mu, np.zeros(50), BLOCK | {"normal_force": [4.0, end]}, random)
        assert (trials.slip == 0.0).all()
        time, away = trials.time[:, None], np.array([[1.0, 0.0, 0.0]])
        for drift in (
            0.0,
            5e-4 * time,
            2e-3 * np.exp(-time / 2.0),
            -1e-3 * trials.true_force[..., 2:],
        ):
            points = trials.contact_point + drift * away
            found = [
                estimate_friction(*one, trials.normal)
                for one in zip(trials.force, points, strict=True)
            ]
            assert not any(one.slipped for one in found)
            assert np.mean([one.lower_bound for one in found] < mu) >= 0.95


def test_creep_without_a_falling_force_is_no_slip():
    random = np.random.default_rng(4)
    force = np.tile([0.5, 0.0, 1.0], (400, 1)) + 0.01 * random.normal(size=(400, 3))
    point = 1e-4 * random.normal(size=(400, 3))
    point[200:, 0] += 2e-3 * (1.0 - np.exp(-np.arange(200) / 20.0))
    onset, _, message = detect_slip(force, point, np.array([0.0, 0.0, 1.0]))
    assert onset == -1 and "creep" in message


def test_a_falling_force_without_motion_is_no_slip():
    random = np.random.default_rng(4)
    force = np.tile([0.5, 0.0, 1.0], (400, 1)) + 0.01 * random.normal(size=(400, 3))
    force[200:, 0] -= 0.2
    point = 1e-4 * random.normal(size=(400, 3))
    assert detect_slip(force, point, np.array([0.0, 0.0, 1.0])) == (-1, 0, "no slip")


def test_noisy_slips_are_found_and_dated():
    mu = np.repeat([0.45, 0.65, 0.85], 40)
    straight = BLOCK | {"noise": BLOCK["noise"] | {"direction_sd_deg": 0.0}}
    trials = simulate_trials(mu, np.zeros(len(mu)), straight, np.random.default_rng(6))
    found = [
        estimate_friction(*one, trials.normal)
        for one in zip(trials.force, trials.contact_point, strict=True)
    ]
    late = [
        one.onset - np.flatnonzero(slip > 0.0)[0]
        for one, slip in zip(found, trials.slip, strict=True)
    ]
    assert sum(one.slipped for one in found) == len(mu)
    assert np.mean(np.abs(late) <= 3) >= 0.97
    errors = np.array([one.friction for one in found]) - mu
    assert abs(np.median(errors)) < 0.01
    z = errors / [one.standard_error for one in found]
    assert 0.7 < 1.4826 * np.median(np.abs(z)) < 1.4  # the standard error is as large as the errors


def test_a_trial_too_short_for_a_slow_slip_says_so():
    force, still = np.tile([0.5, 0.0, 2.0], (200, 1)), np.full(200, 1e-3)
    for samples, told in ((124, True), (125, False)):
        point = np.column_stack([still, still, 0.0 * still])[:samples]
        onset, _, message = detect_slip(force[:samples], point, np.array([0.0, 0.0, 1.0]))
        assert onset == -1 and ("too short" in message) == told


def test_noise_is_measured_and_a_steady_drift_is_no_travel():
    noise = np.random.default_rng(1).normal(size=50_000)
    assert noise_sd(noise) == pytest.approx(1.0, rel=0.02)
    assert np.abs(travel(np.linspace(-3.0, 5.0, 900))).max() < 1e-9
    assert np.abs(travel(noise))[5_000:].max() < 5.5 / np.sqrt(25.0)
    assert (travel(np.ones(10)) == 0.0).all()


@given(st.floats(1e-3, 0.1), st.integers(200, 600))
def test_what_runs_on_travels_as_far_as_it_runs_and_a_step_is_its_height(height, start):
    position = np.where(np.arange(700) < start, 0.0, height)
    assert travel(position).max() == pytest.approx(height, rel=1e-9)
    assert steps(position, 0).max() == pytest.approx(height, rel=1e-9)
    assert np.argmax(steps(position, 0)) == start


@pytest.mark.parametrize(
    ("force", "point", "problem"),
    [
        (np.ones((100, 3)), np.ones((99, 3)), "forces .100, 3. and contact points .99, 3."),
        (np.ones((10, 3)), np.ones((10, 3)), "10 samples"),
        (np.full((100, 3), np.nan), np.ones((100, 3)), "not finite"),
    ],
)
def test_unusable_trials_are_named(force, point, problem):
    with pytest.raises(ContactIdError, match=problem):
        estimate_friction(force, point, np.array([0.0, 0.0, 1.0]))


def test_trials_without_any_tangential_force_bound_nothing():
    force = np.tile([0.0, 0.0, 1.0], (100, 1))
    found = estimate_friction(force, np.zeros((100, 3)), np.array([0.0, 0.0, 1.0]))
    assert not found.slipped and found.lower_bound == 0.0


def test_ten_cases_of_eight_objects_two_of_which_warp():
    cases = read_friction_objects(OBJECTS)
    assert len(cases) == 10 and cases["object"].nunique() == 8
    warped = cases[cases["warp_deg_per_n"] > 0.0]
    assert list(zip(warped["object"], warped["region"], strict=True)) == [
        ("sugar_box", "all"), ("mustard_bottle", "label"),
    ]  # fmt: skip
    assert set(cases["origin"]) == {"chosen"}


def test_wrong_objects_are_refused(tmp_path):
    cases = pd.read_csv(OBJECTS)
    for change, problem in (
        (cases.drop(columns="region"), "no column region"),
        (cases.assign(friction_mu=0.0), "isn't positive"),
        (pd.concat([cases, cases.iloc[:1]]), "twice"),
    ):
        change.to_csv(tmp_path / "objects.csv", index=False)
        with pytest.raises(ContactIdError, match=problem):
            read_friction_objects(tmp_path / "objects.csv")
    with pytest.raises(ContactIdError, match="has to fall"):
        simulate_trials(np.ones(1), np.zeros(1), BLOCK | {"normal_force": [4.0, 9.0]}, None)


def test_the_study_s_median_error_is_small_and_the_warped_stand_apart(tmp_path):
    names = ("trials", "slopes", "directions", "ratios")
    trials, slopes, directions, ratios = (str(tmp_path / f"{name}.csv") for name in names)
    write_trials(OBJECTS, BLOCK, trials, slopes, directions, ratios)
    made = friction_tables(trials, directions, ratios)
    table = made["tables/ext_friction"].set_index(["object", "region"])
    assert len(table) == 12
    rigid, warped = table.loc["all", "without the warped"], table.loc["all", "warped"]
    assert rigid["n_trials"] == 80 and warped["n_trials"] == 20 and rigid["n_slipped"] >= 79
    assert abs(rigid["error_median"]) < 0.02 and rigid["case_error"] < 0.02
    assert warped["error_median"] > 0.08
    again = simulate_and_estimate(read_friction_objects(OBJECTS), BLOCK)[0]
    pd.testing.assert_frame_equal(made["tables/ext_friction_trials"], again)
    swept = made["tables/ext_friction_direction"]
    spread = swept.loc[swept["region"] == "without the warped", "error_abs_median"].to_numpy()
    assert spread[1] > 2.0 * spread[0]
    slid = made["tables/ext_friction_kinetic"].set_index("region").loc["without the warped"]
    assert slid["kinetic_ratio"].tolist() == BLOCK["kinetic_sweep"]
    assert (slid["n_slipped"] >= 0.95 * slid["n_trials"]).all() and (
        slid["bound_below"] >= 0.95
    ).all()
    assert (slid["error_abs_median"] < 0.03).all()
    data = estimates_and_errors(trials, slopes)
    with style.styled():
        figure = draw_friction(data)
        for axes, column in zip(figure.axes, ("friction_mu", "error"), strict=True):
            boxes = [patch.get_path().vertices[:, 0] for patch in axes.patches]
            found = data[data["kind"] == "trial"].groupby(["object", "region"], sort=False)[column]
            np.testing.assert_allclose(
                sorted(box.min() for box in boxes), sorted(found.quantile(0.25))
            )
            np.testing.assert_allclose(
                sorted(box.max() for box in boxes), sorted(found.quantile(0.75))
            )


def test_trials_without_slip_are_counted_not_dropped():
    trials, slope = simulate_and_estimate(
        read_friction_objects(OBJECTS).iloc[:2], BLOCK | {"normal_force": [4.0, 3.0]}
    )
    table = friction_table(trials)
    assert (table["n_slipped"] == 0).all() and (table["n_trials"].iloc[:2] == 10).all()
    assert table["median"].isna().all()
    shown = friction_figure(trials, slope)
    assert (shown["kind"] == "slope").all() and not shown["warped"].isna().any()
    with style.styled():
        assert len(draw_friction(shown).axes[0].get_yticklabels()) == 2  # empty places, but there
