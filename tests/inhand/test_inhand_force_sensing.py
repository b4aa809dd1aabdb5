"""The simulated sensor's physics, calibration measures against known predictors, and force models
on tiny sessions.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from contactid.core.errors import ContactIdError
from contactid.inhand.artefacts.force_sensing import (
    accuracy,
    draw_force_sensing,
    forces_and_calibration,
)
from contactid.inhand.simulate.electrode_sensor import (
    HALF_AXES,
    clean_signals,
    electrode_layout,
    outward_normal,
    simulate_sessions,
    surface_point,
)
from contactid.inhand.tactile.accuracy import (
    LEVELS,
    calibration_curve,
    magnitude_and_angle,
    scale_of,
    share_within,
)
from contactid.inhand.tactile.regression import fit_bayesian_features, fit_linear
from contactid.inhand.tactile.training import (
    simulated_samples,
    write_predictions,
)
from contactid.output import style

ONE_SD_SHARE = 2.0 * norm.cdf(1.0) - 1.0
BLOCK = {
    "models": ["bayesian_features", "linear"], "sessions": {"training": 8, "validation": 3, "test": 3}, "samples": 80,
    "sample_rate": 10.0, "noise": 0.005, "drift": 0.003, "features": 100,
    "training_seeds": [1, 2], "least_force": 0.5, "shown_session": 1, "seed": 3,
}  # fmt: skip


def test_all_electrodes_lie_on_the_pad_s_side_of_the_ellipsoid():
    layout = electrode_layout()
    assert layout.shape == (19, 3)
    assert np.sum((layout / HALF_AXES) ** 2, axis=1) == pytest.approx(1.0)
    assert (layout[:, 2] > 0.0).all()
    distances = np.linalg.norm(layout[:, None] - layout, axis=-1) + np.eye(19)
    assert distances.min() > 1e-3


def test_normals_are_those_of_the_surface():
    along, across, step = np.array([0.3, -0.8]), np.array([-0.5, 0.9]), 1e-6
    point = surface_point(along, across)
    normal = outward_normal(point)
    for turned in ((along + step, across), (along, across + step)):
        tangent = (surface_point(*turned) - point) / step
        assert np.sum(tangent * normal, axis=1) == pytest.approx(0.0, abs=1e-8)
    assert (np.sum(point * normal, axis=1) > 0.0).all()


def test_signals_are_zero_without_pressure_and_grow_with_it():
    place = surface_point(np.zeros(30), np.zeros(30))
    normal = outward_normal(place)
    pressing = np.linspace(0.0, 5.0, 30)[:, None]
    signals = clean_signals(place, -pressing * normal)
    assert (signals[0] == 0.0).all()
    nearest = np.argmin(np.linalg.norm(electrode_layout() - place[0], axis=1))
    assert (np.diff(signals[:, nearest]) > 0.0).all()
    assert signals[-1].min() < 0.0  # displaced fluid widens the gap elsewhere
    assert (clean_signals(place, normal) == 0.0).all()  # pulling leaves no dent


@given(st.floats(0.1, 5.0), st.floats(-0.6, 0.6), st.floats(0.0, 2.0))
def test_the_sensor_is_as_symmetric_as_its_layout(pressing, along, shear):
    place = surface_point(np.array(along), np.array(0.0))
    force = -pressing * outward_normal(place) + np.array([0.0, shear, 0.0])
    mirror = np.array([1.0, -1.0, 1.0])
    layout = electrode_layout()
    swapped = [int(np.argmin(np.linalg.norm(layout - mirror * one, axis=1))) for one in layout]
    assert clean_signals(place, mirror * force) == pytest.approx(
        clean_signals(place, force)[swapped], abs=1e-12
    )


def test_shear_changes_the_signals_at_the_same_place_and_pressure():
    place = surface_point(np.array(0.1), np.array(0.0))
    press = -2.0 * outward_normal(place)
    away = clean_signals(place, press + np.array([0.0, 1.0, 0.0])) - clean_signals(place, press)
    assert np.abs(away).max() > 5.0 * BLOCK["noise"]


def test_sessions_are_reproducible_tared_and_within_the_cone():
    block = BLOCK | {"samples": 50, "seed": 7}
    one, two = (simulate_sessions(4, block) for _ in range(2))
    assert (one.signals == two.signals).all()
    normal = outward_normal(one.place)
    pressing = -np.sum(one.force * normal, axis=-1)
    tangential = np.linalg.norm(one.force + pressing[..., None] * normal, axis=-1)
    assert (pressing > 0.0).all() and (tangential <= 0.7 * pressing + 1e-12).all()
    quiet = simulate_sessions(4, block | {"noise": 0.0, "drift": 0.0})
    ratio = quiet.signals / clean_signals(quiet.place, quiet.force)
    assert np.ptp(ratio, axis=(0, 1)).max() < 1e-6  # one gain per electrode
    drifting = simulate_sessions(4, block | {"noise": 0.0})
    assert np.abs((drifting.signals - quiet.signals)[:, 0]).max() < 1e-12


def test_calibration_of_a_known_gaussian_predictor():
    random = np.random.default_rng(0)
    sd = random.uniform(0.1, 2.0, (20_000, 3))
    truth = random.normal(size=sd.shape)
    mean = truth + sd * random.normal(size=sd.shape)
    assert share_within(truth, mean, sd) == pytest.approx(ONE_SD_SHARE, abs=0.01)
    assert calibration_curve(truth, mean, sd) == pytest.approx(LEVELS, abs=0.01)
    assert scale_of(truth, mean, sd) == pytest.approx(1.0, abs=0.02)
    # a predictor that states half its error is found out by exactly that factor
    assert scale_of(truth, mean, sd / 2.0) == pytest.approx(2.0, abs=0.04)
    assert share_within(truth, mean, sd / 2.0) == pytest.approx(2.0 * norm.cdf(0.5) - 1.0, abs=0.01)


def test_errors_of_a_turned_and_stretched_force_are_the_turn_and_the_stretch():
    truth = np.tile([0.0, 0.0, 2.0], (10, 1))
    turned = 1.1 * np.column_stack(
        [2.0 * np.sin(0.1) * np.ones(10), np.zeros(10), 2.0 * np.cos(0.1) * np.ones(10)]
    )
    found = magnitude_and_angle(truth, turned, 0.5)
    assert found["magnitude_error_n"] == pytest.approx(0.2)
    assert found["magnitude_error_pct"] == pytest.approx(10.0)
    assert found["angle_error_deg"] == pytest.approx(np.rad2deg(0.1))
    with pytest.raises(ContactIdError, match="no test force reaches 5 N"):
        magnitude_and_angle(truth, turned, 5.0)
    with pytest.raises(ContactIdError, match="not positive"):
        share_within(truth, turned, np.zeros((10, 3)))


def drawn(count, seed, sd=0.1):
    random = np.random.default_rng(seed)
    signals = random.normal(size=(count, 19))
    weights = np.random.default_rng(0).normal(size=(19, 3))
    return signals, signals @ weights + 0.5 + sd * random.normal(size=(count, 3)), weights


def drawn_samples(training, validation):
    samples = {}
    for part, count, seed in (("training", training, 1), ("validation", validation, 2)):
        samples[f"{part}_signals"], samples[f"{part}_force"], _ = drawn(count, seed)
    return samples


def test_both_models_recover_a_linear_law_and_its_noise():
    samples, (signals, force, weights) = drawn_samples(3000, 1000), drawn(1000, 3)
    for predict in (fit_linear(samples), fit_bayesian_features(samples, 50, seed=1)):
        mean, sd = predict(signals)
        assert np.abs(mean - signals @ weights - 0.5).max() < 0.08
        assert np.median(sd) == pytest.approx(0.1, rel=0.1)
        assert share_within(force, mean, sd) == pytest.approx(ONE_SD_SHARE, abs=0.03)


def test_bayesian_uncertainty_grows_away_from_the_training_samples():
    predict = fit_bayesian_features(drawn_samples(200, 200), 50, seed=1)
    near, far = predict(np.zeros((1, 19)))[1], predict(np.full((1, 19), 10.0))[1]
    assert (far > 2.0 * near).all()


def test_no_session_is_in_two_parts():
    samples = simulated_samples(BLOCK)
    assert len(samples["training_force"]) == 8 * 80 and len(samples["test_force"]) == 3 * 80
    parts = [
        {tuple(row) for row in samples[f"{part}_force"]}
        for part in ("training", "validation", "test")
    ]
    assert not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])


def test_table_and_figure_are_made_of_what_the_rule_keeps(tmp_path):
    kept = str(tmp_path / "predictions.nc")
    write_predictions(BLOCK, kept)
    table = accuracy(kept, BLOCK)
    assert list(table["model"]) == ["bayesian_features", "bayesian_features", "linear"]
    linear = table.iloc[2]
    for _, row in table.iloc[:2].iterrows():
        expected = linear["magnitude_error_n"] / row["magnitude_error_n"]
        assert row["magnitude_improvement"] == pytest.approx(expected, rel=1e-4)
        assert row["magnitude_improvement"] > 1.0
    assert np.isnan(linear["angle_improvement"])
    data = forces_and_calibration(kept, BLOCK)
    stretch = data[data["panel"] == "stretch"]
    shown = simulated_samples(BLOCK)["test_force"].reshape(3, 80, 3)[1]
    assert (stretch.loc[stretch["axis"] == "y", "truth_n"].to_numpy() == shown[:, 1]).all()
    with style.styled():
        figure = draw_force_sensing(data)
        assert len(figure.axes) == 4
        assert "Bayesian" in figure.axes[0].get_lines()[0].get_label()


def test_a_session_that_is_not_there_is_named(tmp_path):
    kept = str(tmp_path / "predictions.nc")
    write_predictions(BLOCK, kept)
    with pytest.raises(ContactIdError, match="test session 3 of 3"):
        forces_and_calibration(kept, BLOCK | {"shown_session": 3})
