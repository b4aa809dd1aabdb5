"""Impacts of an ellipse by themselves: a ground of springs, which no rigid law of impact explains."""

import math

import numpy as np
import pytest

from contactid.planar.engine.steering import STEERING
from contactid.planar.own.body import OwnBody, read_own_body, read_own_throws_of
from contactid.planar.own.doubts import other_centre
from contactid.planar.own.explained import explained_throws
from contactid.planar.own.identify import stated_geometry
from contactid.planar.own.impacts import identify_impacts
from contactid.planar.own.noise import centre_in_flight
from contactid.planar.readers.throws import PlanarThrow
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from contactid.planar.squares.impacts import EllipseImpacts, impacts_of

A, B, RATIO, MU = 0.05, 0.03, 700e-6, 0.25
STIFFNESS, DAMPING, STEP = 4e5, 0.4, 2e-5  # N/m per kg, s/m, s
SIGMA = np.array([3e-4, 3e-4, 1e-3])


def thrown_onto_springs(random, frames=120, rate=240):
    """(n, 4) time and poses of an ellipse on a ground of springs with dry friction, with noise."""
    x, y, theta = 0.0, random.uniform(0.18, 0.28), random.uniform(-3.0, 3.0)
    u, v, spin = random.uniform(0.3, 1.2), random.uniform(-0.5, 0.5), random.uniform(-9.0, 9.0)
    rows, time = [], 0.0
    for frame in range(frames):
        while time < frame / rate - 0.5 * STEP:
            sin, cos = math.sin(theta), math.cos(theta)
            height = math.sqrt((A * sin) ** 2 + (B * cos) ** 2)
            along = -(A**2 - B**2) * sin * cos / height
            depth, push, rub = height - y, 0.0, 0.0
            if depth > 0.0:
                closing = -(v + spin * along)
                push = max(STIFFNESS * depth * (1.0 + DAMPING * closing), 0.0)
                rub = -MU * push * math.tanh((u + spin * height) / 2e-3)
            u += STEP * rub
            v += STEP * (push - 9.81)
            spin += STEP * (along * push + height * rub) / RATIO
            x, y, theta, time = x + STEP * u, y + STEP * v, theta + STEP * spin, time + STEP
        rows.append([frame / rate, x, y, theta])
    poses = np.array(rows)
    poses[:, 1:] += SIGMA * random.normal(size=(frames, 3))
    return poses


def kicked(poses):
    """The same with a push to one side in the first flight, which no ground gives."""
    poses[:, 1] += 0.4 * np.maximum(poses[:, 0] - 0.1, 0.0)
    return poses


def read(folder, seed, tracked=0.0, change=lambda poses: poses):
    """The body and its throws, of a point ``tracked`` (m) along the first axis from the centre."""
    random, files = np.random.default_rng(seed), []
    for k in range(3):
        files.append(str(folder / f"throw{k}.csv"))
        poses = change(thrown_onto_springs(random))
        angle = poses[:, 3]
        poses[:, 1:3] += tracked * np.column_stack([np.cos(angle), np.sin(angle)])
        np.savetxt(files[-1], poses, delimiter=",", header="t,x,y,theta", comments="")
    noise = {"position": SIGMA[0], "orientation": SIGMA[2]}
    ground = {"slope": 0.0, "start": [0.0, 0.0]}
    body = read_own_body({"shape": {"ellipse": {"a": A, "b": B}}, "ground": ground, "noise": noise})
    return body, read_own_throws_of(body, files)


@pytest.mark.parametrize("seed", [5, 6, 7])
def test_single_impacts_of_an_ellipse_on_springs_give_its_inertia(tmp_path, seed):
    body, throws = read(tmp_path, seed)
    geometry = stated_geometry(body, throws)
    assert other_centre(body, throws, geometry.point_error) is None
    answer = identify_impacts(geometry, throws)
    fit = answer.fit
    assert len(answer.windows) >= 4
    assert abs(fit.ratio - RATIO) < 2.5 * fit.ratio_se < 0.3 * RATIO
    # impulses' ratios never exceed friction but for noise, which the bound leaves out
    assert 0.0 < answer.friction < 1.02 * MU


def test_an_impact_that_contradicts_the_others_is_left_out(tmp_path, monkeypatch):
    def with_a_wild_one(*what):
        impacts = impacts_of(*what)
        impacts.spin[0] *= -1.0
        return impacts

    body, throws = read(tmp_path, 5)
    geometry = stated_geometry(body, throws)
    monkeypatch.setattr("contactid.planar.own.impacts.impacts_of", with_a_wild_one)
    answer = identify_impacts(geometry, throws)
    assert answer.left_out == 1
    assert abs(answer.fit.ratio - RATIO) < 2.5 * answer.fit.ratio_se < 0.3 * RATIO


def test_flights_tell_a_centre_of_mass_that_is_elsewhere(tmp_path):
    body, throws = read(tmp_path, 5, tracked=0.006)
    centre = other_centre(body, throws, stated_geometry(body, throws).point_error)
    np.testing.assert_allclose(centre, [-0.006, 0.0], atol=5e-4)


def test_flights_that_are_no_parabolas_tell_no_centre(tmp_path):
    body, throws = read(tmp_path, 5, tracked=0.006, change=kicked)
    assert other_centre(body, throws, stated_geometry(body, throws).point_error) is None


@pytest.mark.parametrize(("drag", "off"), [(0.4, 0.0), (1e-9, 0.004)])
def test_flights_that_drag_bends_tell_no_centre(drag, off):
    time, sigma = np.arange(40) / 240.0, np.array([1e-4, 1e-4, 1e-3])
    theta = 0.3 + 15.0 * time
    gone = -np.expm1(-drag * time) / drag  # s that a speed of 1 would last to go as far
    position = np.column_stack([1.5 * gone, 0.6 + gone - 9.81 * (time - gone) / drag, theta])
    position[:, :2] += off * np.column_stack([np.cos(theta), np.sin(theta)])
    body = OwnBody(Ellipse(A, B), Ground(), sigma, None, 9.81)
    centre, error = centre_in_flight(body, [PlanarThrow("a", time, position)], sigma)
    assert math.isinf(error) if drag > 0.1 else abs(centre[0] + off) < 3.0 * error < 0.2 * off


def test_impacts_answer_where_no_motion_does_without_wider_searches_or_other_frames(
    tmp_path, monkeypatch
):
    def never(*_):
        raise AssertionError("nothing more is to be tried")

    monkeypatch.setattr("contactid.planar.engine.search._search_one_widely", never)
    monkeypatch.setattr("contactid.planar.own.explained._likelier", never)
    body, throws = read(tmp_path, 5, change=kicked)
    files = [tmp_path / f"{name}.csv" for name in throws.names]
    found = explained_throws(body, files)
    fit = found.fit
    assert fit.by_impacts and fit.whole_squares > STEERING.not_whole * fit.whole_degrees
    assert abs(fit.inertia_ratio - RATIO) < 2.5 * fit.inertia_ratio_se


def test_an_ellipse_touches_where_the_geometry_says():
    angles = np.linspace(-3.0, 3.0, 13)
    none = np.zeros((13, 2))
    axes = np.tile([A, B], (13, 1))
    impacts = EllipseImpacts(angles, axes, none, angles, none, angles, none, none, angles)
    poses = np.column_stack([none, angles])
    expected = contacts(Ellipse(A, B), Ground(), poses).point[:, 0]
    np.testing.assert_allclose(impacts.contact(angles, 0.0), expected, atol=1e-15)
