"""What preprocessing makes of planar throws: ground, tracked point, contacts, noise, windows to
identify with.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.planar.readers.throws import shape_of
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import contacts
from contactid.planar.squares import flight
from contactid.planar.squares import windows as windows_module
from contactid.planar.squares.events import align, find_events, second_difference_noise
from contactid.planar.squares.flight import FlightReport, corner_radius, flight_report
from contactid.planar.squares.windows import PreparedThrows
from planar_measured import (
    event_table,
    first_impacts,
    flight_detail,
    recorded_window,
    rest_gaps,
    throw_windows,
    touching_corners,
    window_of,
)
from throws_for_tests import (
    GROUND,
    POINT,
    RATE,
    RATIO,
    SIGMA,
    SQUARE,
    TURN,
    flights,
    lying,
    resting,
    throws_of,
    tracked,
)


@pytest.fixture(scope="module")
def thrown():
    """Two simulated throws of a square, as tracked, with the resting throws that tell the ground."""
    body, law = PlanarBody(SQUARE, 0.05, 0.05 * RATIO), PlanarLaw(0.3, 0.4)
    found = []
    for v, theta in (((-0.5, -1.8, 3.0), 0.6), ((0.4, -1.9, -5.0), -0.5)):
        motion = simulate(body, GROUND, law, (-0.4, 0.13, theta), v, time_step=2e-4, steps=2000)
        found.append(motion)
    return found


@pytest.fixture(scope="module")
def prepared(thrown):
    random = np.random.default_rng(3)
    positions = [tracked(motion.position[::20]) for motion in thrown] + resting(random)
    data = throws_of(positions)
    alignment = align(data, SQUARE)
    return data, alignment, find_events(data, SQUARE, alignment)


def test_alignment_is_exact_without_noise(prepared):
    _, alignment, events = prepared
    assert alignment.ground.slope == pytest.approx(GROUND.slope, abs=1e-7)
    at_start = (GROUND.x0 - alignment.ground.x0) * np.tan(
        alignment.ground.slope
    ) + alignment.ground.y0
    assert at_start == pytest.approx(
        GROUND.y0, abs=1e-6
    )  # simulated throws rest a little above the ground
    assert alignment.turn == pytest.approx(TURN, abs=1e-7)
    assert alignment.point == pytest.approx(POINT, abs=1e-7)
    assert np.abs(rest_gaps(events)).max() < 1e-6


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_alignment_undoes_the_tracking(seed):
    random = np.random.default_rng(seed)
    alignment = align(throws_of(resting(random, noise=2e-5)), SQUARE)
    body = random.uniform([-0.6, 0.03, -20], [-0.2, 0.2, 20], (50, 3))
    assert np.abs(alignment.body_position(tracked(body)) - body).max() < 2e-5


def test_few_throws_at_rest_tell_the_height_alone(thrown):
    positions = [np.tile(lying(0, -0.4), (12, 1))]
    alignment = align(throws_of(positions), SQUARE)
    assert alignment.turn == 0.0 and not alignment.point.any() and alignment.ground.slope == 0.0
    flat = np.tile([0.3, 0.04, np.pi], (12, 1))
    assert align(throws_of([flat]), SQUARE).ground.y0 == pytest.approx(0.01)
    with pytest.raises(ContactIdError, match="no throw ends at rest"):
        align(throws_of([thrown[0].position[:600:20]]), SQUARE)


def test_contacts_are_where_the_impulses_are(thrown, prepared):
    for motion, event in zip(thrown, prepared[2], strict=False):
        pushed = motion.impulse_n.sum(axis=1) > 1e-3 * motion.impulse_n.max()
        first = int(np.argmax(pushed))
        assert event.contacts[0].before * 20 <= first <= event.contacts[0].after * 20
        assert int(motion.impulse_n[first].argmax()) in touching_corners(event)
        assert (
            window_of(event)[0] == (event.contacts[0].before - 7, event.contacts[0].before + 26)
            and not event.jumps
        )


def test_a_lost_frame_is_a_jump_and_no_window_contains_it(thrown):
    whole = tracked(thrown[0].position[::20])
    early, late = np.delete(whole, 5, axis=0), np.delete(whole, 70, axis=0)
    random = np.random.default_rng(1)
    data = throws_of([early, late, whole, *resting(random)])
    events = find_events(data, SQUARE, align(data, SQUARE))
    assert events[0].jumps and set(events[0].jumps) <= {3, 4, 5, 6}
    assert window_of(events[0]) == (None, "a jump in the window")
    assert window_of(events[2])[0] and not events[2].jumps
    table = event_table(events)
    assert list(table["reason"].iloc[[0, 2]]) == ["a jump in the window", ""]
    assert (table["contacts"].iloc[3:] == 0).all()


def test_first_impacts_give_the_simulated_ratio_and_law(prepared):
    data, alignment, events = prepared
    impacts = first_impacts(events, shape_of(data), alignment, 1.0 / RATE)
    assert len(impacts.names) >= 1
    moment, turn = impacts.moments()
    assert np.allclose(moment / turn, RATIO, rtol=0.01)
    assert np.allclose(impacts.restitution(), 0.4, atol=0.03)
    assert (np.abs(impacts.impulse_ratio()) < 0.31).all()
    rounded = first_impacts(events, shape_of(data), alignment, 1.0 / RATE, radius=0.004)
    over_ground = contacts(
        replace(SQUARE, radius=0.004), alignment.ground, rounded.position
    ).gap.min(axis=1)
    height = (
        rounded.position[:, :2] - [alignment.ground.x0, alignment.ground.y0]
    ) @ alignment.ground.normal
    assert rounded.tangent[:, 2] == pytest.approx(height - over_ground, abs=1e-12)


def flying(random, **options):
    """Events of throws in flight over the known ground."""
    positions = [*flights(random, 60, **options), *resting(random, 12)]
    data = throws_of(positions)
    return find_events(data, SQUARE, align(data, SQUARE))


def test_white_noise_in_flight_is_measured_and_looks_white():
    events = flying(np.random.default_rng(7))
    report, detail = flight_report(events, 1.0 / RATE), flight_detail(events, 1.0 / RATE)
    assert report.sigma == pytest.approx(SIGMA, rel=0.1)
    assert detail.sigma_of_differences == pytest.approx(SIGMA, rel=0.1)
    assert np.abs(detail.autocorrelation - detail.white).max() < 0.08
    assert abs(report.gravity - 9.81) < 4.0 * detail.gravity_error


def test_smoothed_noise_does_not_look_white():
    smooth = np.array([0.25, 0.5, 0.25])
    random = np.random.default_rng(8)
    positions = [
        np.column_stack([np.convolve(q[:, i], smooth, mode="valid") for i in range(3)])
        for q in flights(random, 60)
    ]
    data = throws_of([*positions, *resting(random, 12)])
    events = find_events(data, SQUARE, align(data, SQUARE))
    report, detail = flight_report(events, 1.0 / RATE), flight_detail(events, 1.0 / RATE)
    assert (detail.sigma_of_differences < 0.7 * report.sigma).all()
    assert (detail.autocorrelation[:, 0] > detail.white[:, 0] + 0.3).all()


def test_braking_is_told_from_gravity():
    events = flying(np.random.default_rng(9), braking=0.5)
    report, detail = flight_report(events, 1.0 / RATE), flight_detail(events, 1.0 / RATE)
    assert report.braking == pytest.approx(0.5, abs=4.0 * detail.braking_error)
    assert report.gravity == pytest.approx(9.81, abs=4.0 * detail.gravity_error)
    assert detail.braking_error < 0.1
    with pytest.raises(ContactIdError, match="stretches of 9 frames"):
        flight_report([], 1.0 / RATE)


@pytest.mark.parametrize("radius", [0.0, 0.004])
def test_rounded_corners_are_seen_in_slow_pivots(radius):
    theta = np.linspace(0.9, 0.5, 40)
    height = (0.03 - radius) * (np.cos(theta) + np.sin(theta)) + radius
    pivot = np.column_stack([np.zeros(40), height, theta])
    data = throws_of([pivot, *([np.tile([0.0, 0.03, 0.0], (12, 1))] * 3)])
    alignment = align(data, SQUARE)
    found, error = corner_radius(find_events(data, SQUARE, alignment), SQUARE, alignment)
    assert found == pytest.approx(radius, abs=3e-5) and error < 3e-5


# windows


@pytest.fixture(scope="module")
def windows(thrown):
    """The simulated throws with noise, and flights that tell it."""
    random = np.random.default_rng(11)
    positions = [
        tracked(motion.position[::20]) + SIGMA * random.normal(size=(101, 3)) for motion in thrown
    ]
    data = throws_of([*positions, *flights(random, 40), *resting(random, noise=2e-5)])
    return throw_windows(data)


def test_a_window_holds_one_impact_of_one_corner_on_its_own_ground(thrown, windows):
    assert {window.name for window in windows.windows} == {"0", "1"}
    assert windows.prepared.shape == SQUARE
    for window in windows.windows:
        motion, throw, first = thrown[int(window.name)], window.throw, window.frames[0]
        pushed = np.flatnonzero(motion.impulse_n.sum(axis=1) > 1e-3 * motion.impulse_n.max())
        assert first + window.instant * RATE == pytest.approx(pushed[0] / 20.0, abs=0.08)
        assert int(motion.impulse_n[pushed[0]].argmax()) == window.corner
        assert not (
            (pushed > 20 * (first + window.instant * RATE) + 5)
            & (pushed < 20 * (window.frames[1] - 1))
        ).any()
        truth = motion.position[::20][slice(*window.frames)]
        assert np.abs(throw.position - truth).max(axis=0) == pytest.approx(
            np.zeros(3), abs=5.0 * SIGMA.max()
        )
        assert (np.abs(throw.position - truth).max(axis=0) < 5.0 * SIGMA).all()
        assert throw.time[0] == 0.0 and throw.frame_interval == pytest.approx(1.0 / RATE)
        assert throw.sigma == pytest.approx(SIGMA, rel=0.15)
        assert abs(window.lowered) < 3e-4
        assert throw.ground.slope == pytest.approx(GROUND.slope, abs=5e-4)


def test_a_body_in_a_window_reaches_its_own_ground_at_the_impact(windows):
    for window in windows.windows:
        throw, n = window.throw, int(window.instant * RATE) + 1
        time = throw.time[:n]
        fits = [
            np.polyfit(time, throw.position[:n, i] + (i == 1) * 4.905 * time**2, 1)
            for i in range(3)
        ]
        q = np.array([np.polyval(fit, window.instant) for fit in fits]) - [
            0.0,
            4.905 * window.instant**2,
            0.0,
        ]
        assert contacts(windows.prepared.shape, throw.ground, q).gap[
            window.corner
        ] == pytest.approx(0.0, abs=2e-4)


def test_which_throws_have_no_window(thrown, prepared, monkeypatch):
    """One without a contact, one that hits no single corner, one below its ground, and one that
    lost a frame.
    """
    _, alignment, events = prepared
    report = FlightReport(SIGMA, 9.81, 0.0)
    sharp = PreparedThrows(SQUARE, 0.0, 1.0 / RATE, alignment, tuple(events), report)
    assert recorded_window(events[9], sharp) is None
    assert recorded_window(events[0], sharp) is not None
    for module, name, value in ((flight, "_CLEAR_CORNER", 1.0), (windows_module, "_DEEPEST", -0.1)):
        with monkeypatch.context() as strict:
            strict.setattr(module, name, value)
            assert recorded_window(events[0], sharp) is None
    lost = np.delete(tracked(thrown[0].position[::20]), events[0].contacts[0].before + 1, axis=0)
    again = throws_of([lost, *resting(np.random.default_rng(1))])
    event = find_events(again, SQUARE, align(again, SQUARE))[0]
    assert recorded_window(event, sharp) is None


def test_noise_from_second_differences_passes_over_contacts(thrown):
    random = np.random.default_rng(2)
    still = [0.1 + SIGMA * random.normal(size=(200, 3)) for _ in range(20)]
    still[0][100:] += 0.05
    assert second_difference_noise(still) == pytest.approx(SIGMA, rel=0.06)
