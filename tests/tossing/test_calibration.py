"""The calibration recovers a loaded body and a wrong length scale, with honest standard errors."""

from dataclasses import replace

import numpy as np
import pytest

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.identify import body as body_module
from contactid.tossing.identify.body import block_jackknife, calibrate, inertia_by_data
from contactid.tossing.prepare.calibration import Calibration
from contactid.tossing.prepare.flight import central_difference_state, fit_flight
from tosses_for_tests import RATE, box, motion, prepare_tosses, recordings

CENTER = (0.002, -0.001, 0.006)
INERTIA = np.array([[8e-4, 2e-5, 0.0], [2e-5, 9e-4, 0.0], [0.0, 0.0, 7e-4]])
SCALE = 1.02
FOUND = Calibration(
    scale=SCALE, scale_se=0.0, scale_from_rest=SCALE, scale_from_rest_se=0.0, gravity=(0.0, 0.0, -9.81),
    gravity_se=(0.0, 0.0, 0.0), center_of_mass=CENTER, center_of_mass_se=(0.0, 0.0, 0.0),
    inertia=(8e-4, 9e-4, 7e-4, 2e-5, 0.0, 0.0), inertia_se=(0.0,) * 6, n_tosses=12, n_impacts=12,
)  # fmt: skip


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    loaded, nominal = box(CENTER, INERTIA), box()
    made = recordings(loaded, 60, seed=11, noise=3e-5, scale=SCALE)
    nominal = BodyProperties(nominal.vertices, nominal.mass, nominal.inertia)
    return calibrate(prepare_tosses(motion(made, nominal)))


def test_scale_from_free_fall_and_from_rest(calibration):
    assert calibration.scale == pytest.approx(SCALE, abs=4 * calibration.scale_se)
    assert calibration.scale_se < 2e-3
    assert calibration.scale_from_rest == pytest.approx(
        SCALE, abs=3e-3
    )  # simulated corners sink by 0.1 mm


def test_center_of_mass(calibration):
    errors = (np.array(calibration.center_of_mass) - CENTER) / np.array(
        calibration.center_of_mass_se
    )
    assert np.abs(errors).max() < 4 and np.max(calibration.center_of_mass_se) < 1e-3


def test_inertia(calibration):
    assert np.allclose(calibration.inertia_matrix(), INERTIA, atol=8e-5)
    assert np.max(calibration.inertia_se) < 4e-5


def test_too_few_tosses_are_refused():
    body = box()
    prepared = prepare_tosses(motion(recordings(body, 4, seed=1), body))
    with pytest.raises(ContactIdError, match="4 usable tosses are too few"):
        calibrate(prepared)


def test_a_search_for_the_inertia_that_ends_too_early_is_refused(monkeypatch):
    search = body_module.least_squares
    monkeypatch.setattr(body_module, "least_squares", lambda *given: search(*given, max_nfev=1))
    prepared = prepare_tosses(motion(recordings(box(CENTER, INERTIA), 8, seed=1), box()))
    with pytest.raises(ContactIdError, match=r"the inertia isn't to be had by [0-9]+ impacts"):
        calibrate(prepared)


def test_tosses_that_do_not_turn_leave_the_centre_open():
    body = box()
    prepared = prepare_tosses(motion(recordings(body, 6, seed=1), body))
    prepared["orientation"].values[:] = [1.0, 0.0, 0.0, 0.0]
    with pytest.raises(ContactIdError, match="hardly turns in flight"):
        calibrate(prepared)


@pytest.mark.parametrize(("count", "seed", "informed"), [(20, 4, True), (10, 4, False)])
def test_few_tosses_say_what_they_know(count, seed, informed):
    """The moments as stated are a third off; ten of the tosses have one impact of a single corner."""
    made = recordings(box(CENTER, INERTIA), count, seed=seed, noise=3e-5, scale=SCALE)
    found = calibrate(prepare_tosses(motion(made, box())))
    assert found.scale == pytest.approx(SCALE, abs=3 * found.scale_se)
    off, stated = (
        np.abs(np.diag(matrix - INERTIA)) for matrix in (found.inertia_matrix(), box().inertia)
    )
    assert (off <= 3.0 * np.array(found.inertia_se[:3])).all()
    assert (inertia_by_data(found, box()) > 0.5) is informed
    assert bool(np.linalg.norm(off) < 0.2 * np.linalg.norm(stated)) is informed
    apart = np.array(found.center_of_mass) - CENTER
    assert np.linalg.norm(apart) < 0.3 * np.linalg.norm(CENTER)


def test_nothing_but_identification_tosses_is_used():
    body = box(CENTER, INERTIA)
    prepared = prepare_tosses(motion(recordings(body, 12, seed=2, noise=3e-5), box()), share=0.5)
    shaken = prepared.copy(deep=True)
    test = np.repeat(prepared["split"].values == "test", prepared["row_size"].values)
    shaken["position"].values[test] *= 1.1
    assert calibrate(prepared) == calibrate(shaken)


def test_the_calibrated_body_rests_on_the_surface():
    """Whatever scale and plane the data come with; the centre's height at rest is half the side."""
    body = box()
    made = recordings(body, 12, seed=1, seconds=1.0, scale=SCALE)
    tilt = rotations.Rotation.from_rotvec([0.01, -0.004, 0.0])
    moved = [
        replace(
            one,
            position=tilt.apply(one.position) + np.array([0.0, 0.0, 0.003]),
            orientation=rotations.as_quaternions(tilt * rotations.as_rotation(one.orientation)),
        )
        for one in made
    ]
    prepared = prepare_tosses(motion(moved, body), share=0.5)
    applied = replace(FOUND, center_of_mass=(0.0, 0.0, 0.0)).apply(prepared)
    height, last = applied["rest_position"].values[:, 2], np.cumsum(applied["row_size"].values) - 1
    assert np.median(height) == pytest.approx(0.05, abs=1e-4)  # simulated corners sink by 0.1 mm
    assert applied["position"].values[last, 2] == pytest.approx(height, abs=1e-4)
    down = [
        rotations.as_rotation(data["rest_orientation"].values).inv().apply(data["gravity"].values)
        for data in (prepared, applied)
    ]
    assert down[1] == pytest.approx(down[0])  # seen from the body nothing turns
    steps = [
        np.linalg.norm(np.diff(data["position"].values[:50], axis=0), axis=1)
        for data in (prepared, applied)
    ]
    assert steps[1] == pytest.approx(SCALE * steps[0])


def test_the_calibrated_body_is_the_one_found():
    body = box()
    prepared = prepare_tosses(motion(recordings(body, 2, seed=1), body))
    applied = FOUND.apply(prepared)
    assert np.allclose(applied["center_of_mass"], CENTER) and np.allclose(
        applied["inertia"], INERTIA
    )
    assert np.allclose(prepared["center_of_mass"], 0.0)


def test_errors_hold_where_a_camera_errs_smoothly():
    """Formal errors, which take each frame's error for a new one, would be off by a factor of ten."""
    random = np.random.default_rng(3)
    loaded, shaken = box(CENTER, INERTIA), []
    for one in recordings(loaded, 60, seed=11, noise=3e-5):
        time = np.arange(len(one.position)) / RATE
        phases = 2 * np.pi * (time[:, None] / 0.25 + random.uniform(size=3))
        shaken.append(replace(one, position=one.position + 3e-4 * np.sin(phases)))
    apart = []
    for first in range(0, 60, 10):
        found = calibrate(prepare_tosses(motion(shaken[first : first + 10], box())))
        apart.append((found.scale - 1.0) / found.scale_se)
    assert np.sqrt(np.mean(np.square(apart))) < 3.0


def test_tosses_that_err_alike_count_once():
    """Twenty answers, each given five times in a row, are known no better than twenty."""
    answers = np.random.default_rng(0).normal(size=20)
    once, often = (
        block_jackknife([(np.eye(1), np.array([answer])) for answer in np.repeat(answers, times)])
        for times in (1, 5)
    )
    assert often[0] == pytest.approx(once[0]) and often[1] == pytest.approx(once[1])
    assert once[1] == pytest.approx(answers.std(ddof=1) / np.sqrt(20))


@pytest.mark.parametrize("inertia", [np.eye(3) * 8e-4, INERTIA])
def test_flight_fit_recovers_the_state_and_beats_a_central_difference(inertia):
    body = box(CENTER, inertia)
    exact = recordings(body, 1, seed=2, seconds=1.5)[0]
    flight = slice(1, 20)
    gravity = np.array([0.0, 0.0, -9.81])
    truth = fit_flight(
        body, exact.position[flight], exact.orientation[flight], 1 / RATE, gravity
    ).state
    forward = exact.position[2] - exact.position[1] - 0.5 * gravity / RATE**2
    assert np.allclose(truth.position, exact.position[1], atol=2e-6)
    assert np.linalg.norm(truth.linear_velocity - forward * RATE) < 0.05
    random = np.random.default_rng(0)
    fitted, differenced = [], []
    for _ in range(30):
        noisy = exact.position + 1e-4 * random.normal(size=exact.position.shape)
        fit = fit_flight(body, noisy[flight], exact.orientation[flight], 1 / RATE, gravity).state
        difference = central_difference_state(noisy, exact.orientation, 1, 1 / RATE)
        fitted.append(fit.linear_velocity - truth.linear_velocity)
        differenced.append(difference.linear_velocity - truth.linear_velocity)
    assert np.std(fitted) < 0.5 * np.std(differenced)
