"""Motions with located impacts: each step obeys the contact law, whole motions meet closed forms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.planar.simulate.bodies import GRAVITY, PlanarBody, PlanarLaw, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, Shape, contacts
from contactid.planar.simulate.kernel import outline_of
from stepped_motion import EventMotion, event_motion, frames_of_motions

ELLIPSE = Ellipse(0.05, 0.025)
SQUARE = Polygon(((0.03, 0.03), (-0.03, 0.03), (-0.03, -0.03), (0.03, -0.03)))
LEVEL = Ground()
INTERVAL = 1.0 / 240.0
ROUNDING = 1e-11
CLOSED = 1.1e-7  # m: what counts as contact, and rounding
LAWS = settings(max_examples=80, deadline=None)
MU, E_N = 7, 8


def between(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


@dataclass(frozen=True)
class Start:
    """A body, its ground and the nine parameters of its motion."""

    shape: Shape
    ground: Ground
    parameters: np.ndarray

    def motion(self, frames: int, step: float, interval: float = INTERVAL) -> EventMotion:
        return event_motion(
            outline_of(self.shape, self.ground), self.parameters, GRAVITY, interval, frames, step
        )

    def frames(self, frames: int, step: float, interval: float = INTERVAL) -> np.ndarray:
        outline = outline_of(self.shape, self.ground)
        return frames_of_motions(outline, self.parameters[None], GRAVITY, interval, frames, step)[0]

    def plain(self, frames: int, step: float) -> np.ndarray:
        """(frames + 1, 3) poses on a fixed grid that holds the frames."""
        every = int(np.ceil(INTERVAL / step - 1e-9))
        p = self.parameters
        law = PlanarLaw(p[MU], p[E_N])
        body = PlanarBody(self.shape, 0.1, 0.1 * p[6])
        run = simulate(
            body, self.ground, law, p[:3], p[3:6], time_step=INTERVAL / every, steps=every * frames
        )
        return run.position[::every]


def start(shape: Shape, q, v, ratio: float, mu: float, e_n: float, ground: Ground = LEVEL) -> Start:
    return Start(shape, ground, np.array([*q, *v, ratio, mu, e_n], dtype=float))


THROWS = {
    "ellipse": (start(ELLIPSE, (0, 0.1, -0.785), (3, -5, 0), 756e-6, 0.3, 0.2), 36),
    "ellipse bounces": (
        start(ELLIPSE, (0, 0.1, -0.785), (3, -5, 0), 756e-6, 0.5, 0.6, Ground(0.1, 0.0, -0.01)),
        60,
    ),
    "square": (
        start(SQUARE, (0, 0.08, 0.3), (1, -1, 5), 600e-6, 0.2, 0.4, Ground(0.1, 0.0, -0.01)),
        40,
    ),
    "square comes to rest": (start(SQUARE, (0, 0.08, 0.3), (1, -1, 5), 600e-6, 0.2, 0.0), 60),
}


@st.composite
def starts(draw, friction=True, bouncing=None, shapes=(ELLIPSE, SQUARE)) -> Start:
    """Bodies thrown at a ground from a few centimetres."""
    shape = draw(st.sampled_from(shapes))
    ground = Ground(draw(between(-0.5, 0.5)), draw(between(-1, 1)), draw(between(-1, 1)))
    theta, height = draw(between(-4, 4)), draw(between(1e-3, 0.05))
    foot = np.array([ground.x0, ground.y0])
    lift = height - float(contacts(shape, ground, [*foot, theta]).gap.min())
    v = draw(between(-3, 3)) * ground.tangent + draw(between(-4, 0.5)) * ground.normal
    ratio = shape.uniform_inertia_ratio * draw(between(0.5, 1.5))
    mu = draw(between(0, 1)) if friction else 0.0
    e_n = draw(between(0, 1)) if bouncing is None else bouncing
    return start(
        shape,
        (*(foot + lift * ground.normal), theta),
        (*v, draw(between(-15, 15))),
        ratio,
        mu,
        e_n,
        ground,
    )


@LAWS
@given(starts(), st.sampled_from([1e-3, 2.5e-4]))
def test_every_step_obeys_the_contact_law(thrown, step):
    motion, p = thrown.motion(24, step), thrown.parameters
    at = contacts(thrown.shape, thrown.ground, motion.position[:-1])
    h, before, after = np.diff(motion.time), motion.velocity[:-1], motion.velocity[1:]
    push = np.einsum("kj,kji->ki", motion.impulse_n, at.normal) + np.einsum(
        "kj,kji->ki", motion.impulse_t, at.tangent
    )
    push[:, 2] /= p[6]
    fall = np.outer(h, [0.0, -GRAVITY, 0.0])
    assert (h > 0.0).all()
    assert np.allclose(after, before + push + fall, rtol=0.0, atol=1e-9)
    assert np.allclose(
        motion.position[1:], motion.position[:-1] + h[:, None] * after, rtol=0.0, atol=1e-12
    )
    pushes = motion.impulse_n > 0.0
    assert (at.gap[pushes] <= CLOSED).all()
    assert (motion.impulse_n >= 0.0).all()
    assert (np.abs(motion.impulse_t) <= p[MU] * motion.impulse_n + 1e-9).all()
    sliding = np.einsum("kji,ki->kj", at.tangent, after)
    inside = pushes & (np.abs(motion.impulse_t) < p[MU] * motion.impulse_n - 1e-7)
    assert (np.abs(sliding[inside]) <= GRAVITY * step + 1e-7).all()
    assert (motion.impulse_t * sliding <= 1e-9 + GRAVITY * step * motion.impulse_n).all()


@LAWS
@given(starts(), st.sampled_from([2e-3, 1e-3, 3e-4]))
def test_poses_at_frames_are_those_of_the_whole_motion(thrown, step):
    motion = thrown.motion(24, step)
    assert np.array_equal(motion.position[motion.frame], thrown.frames(24, step))
    assert np.allclose(motion.time[motion.frame], INTERVAL * np.arange(25), rtol=0.0, atol=ROUNDING)
    assert (
        len(motion.time)
        == len(motion.position)
        == len(motion.velocity)
        == len(motion.impulse_n) + 1
    )


@LAWS
@given(starts(shapes=(ELLIPSE,)), st.sampled_from([2e-3, 1e-3, 3e-4]))
def test_an_ellipse_that_lands_lands_at_zero_gap(thrown, step):
    """Bounces shorter than a step are left to the grid, so the law is that of impacts after a step
    of free flight.
    """
    motion = thrown.motion(24, step)
    gap = contacts(thrown.shape, thrown.ground, motion.position[:-1]).gap[:, 0]
    pushes = motion.impulse_n[:, 0] > 0.0
    flew = np.zeros_like(pushes)
    flew[2:] = (gap[:-2] > CLOSED) & (gap[1:-1] > CLOSED)
    assert (np.abs(gap[pushes & flew]) <= CLOSED).all()


@pytest.mark.parametrize("name", THROWS)
def test_first_impacts_lie_between_grid_instants_at_zero_gap(name):
    thrown, frames = THROWS[name]
    motion = thrown.motion(frames, 1e-3)
    first = int(np.argmax(motion.impulse_n.max(axis=1) > 0.0))
    gap = contacts(thrown.shape, thrown.ground, motion.position[first]).gap
    grid = motion.time[first] / (INTERVAL / 5)
    assert first > 5 and abs(gap.min()) < 1e-7
    assert abs(grid - round(grid)) > 1e-3


def rebounded(
    radius: float, ratio: float, mu: float, e_n: float, q, v, duration: float
) -> np.ndarray:
    """(3,) exact pose of a disc after one impact on the level ground, by free fall and Coulomb's
    law.
    """
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    impact = (v[1] + np.sqrt(v[1] ** 2 + 2.0 * GRAVITY * (q[1] - radius))) / GRAVITY
    q = q + impact * v - [0.0, 0.5 * GRAVITY * impact**2, 0.0]
    v = v - [0.0, GRAVITY * impact, 0.0]
    c_n = -(1.0 + e_n) * v[1]
    c_t = float(np.clip(-(v[0] + radius * v[2]) / (1.0 + radius**2 / ratio), -mu * c_n, mu * c_n))
    v = v + np.array([c_t, c_n, radius * c_t / ratio])
    left = duration - impact
    return q + left * v - [0.0, 0.5 * GRAVITY * left**2, 0.0]


@LAWS
@given(
    between(1.0, 20.0),
    between(-5, 5),
    between(-100, 100),
    between(0.4, 1.0),
    between(0, 1),
    st.sampled_from([1e-3, 1e-4]),
)
def test_a_disc_bounces_as_by_hand_within_what_gravity_does_in_a_step(
    down, along, spin, e_n, mu, step
):
    """The bound doesn't rise with the speed: on a fixed grid the impact is late by a part of a step
    times the speed.
    """
    radius, ratio, frames = 0.03, 0.5 * 0.03**2, 20
    q, v = (0.0, radius + 0.02 * down, 0.3), (along, -down, spin)
    disc = start(Ellipse(radius, radius), q, v, ratio, mu, e_n)
    interval = (0.02 + 0.5 * 2.0 * e_n * down / GRAVITY if down < 2.0 else 0.05) / frames
    found = disc.frames(frames, step, interval)[-1]
    error = (found - rebounded(radius, ratio, mu, e_n, q, v, frames * interval)) * [
        1.0,
        1.0,
        radius,
    ]
    assert np.abs(error).max() <= 2.5 * GRAVITY * step * frames * interval * max(1.0, 1.5 * mu)


@pytest.mark.parametrize(
    ("name", "largest"),
    [
        ("ellipse", 6e-3),
        ("ellipse bounces", 2e-3),
        ("square", 8e-3),
        ("square comes to rest", 1.5e-3),
    ],
)
def test_motions_are_those_of_the_plain_simulation_at_a_fine_step(name, largest):
    thrown, frames = THROWS[name]
    apart = np.abs(thrown.frames(frames, 1e-4) - thrown.plain(frames, 2e-6))
    assert (apart.max(axis=0) <= np.array([0.1, 0.1, 1.0]) * largest).all()


@pytest.mark.parametrize("name", ["ellipse bounces", "square comes to rest"])
def test_errors_fall_in_proportion_to_the_step(name):
    thrown, frames = THROWS[name]
    exact = thrown.plain(frames, 1e-6)
    steps = np.array([2e-3, 1e-3, 5e-4, 2.5e-4, 1e-4])
    errors = [float(np.linalg.norm(thrown.frames(frames, step) - exact)) for step in steps]
    assert 0.75 <= np.polyfit(np.log(steps), np.log(errors), 1)[0] <= 1.6


def lost_and_allowed(
    thrown: Start, motion: EventMotion
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Energy gained in every step, the normal impulses' work by Newton's law, and what the scheme
    may be off, by mass.

    A step falls with its new velocity, and an impulse acts before or after the gravity of its own
    step.
    """
    p, h = thrown.parameters, np.diff(motion.time)
    energy = 0.5 * motion.velocity**2 @ [1.0, 1.0, p[6]] + GRAVITY * motion.position[:, 1]
    at = contacts(thrown.shape, thrown.ground, motion.position[:-1])
    approach = np.einsum("kji,ki->kj", at.normal, motion.velocity[:-1])
    work = 0.5 * (1.0 - p[E_N]) * (motion.impulse_n * approach).sum(axis=1)
    step = INTERVAL / np.ceil(INTERVAL / h.max() - 1e-9)
    allowed = GRAVITY * step * motion.impulse_n.sum(axis=1) + 0.5 * (GRAVITY * h) ** 2 + ROUNDING
    return np.diff(energy), work, allowed


@LAWS
@given(starts(friction=False), st.sampled_from([1e-3, 2.5e-4]))
def test_without_friction_energy_goes_into_restitution_alone_and_never_grows(thrown, step):
    gained, work, allowed = lost_and_allowed(thrown, thrown.motion(24, step))
    assert (np.abs(gained - work) <= allowed).all()
    assert (gained <= allowed).all()


@pytest.mark.parametrize("name", ["ellipse", "square"])
def test_without_friction_and_loss_energy_is_kept(name):
    thrown, frames = THROWS[name]
    elastic = start(
        thrown.shape, thrown.parameters[:3], thrown.parameters[3:6], thrown.parameters[6], 0.0, 1.0
    )
    drifts = []
    for step in (1e-3, 1e-5):
        motion = elastic.motion(frames, step)
        energy = (
            0.5 * motion.velocity**2 @ [1.0, 1.0, elastic.parameters[6]]
            + GRAVITY * motion.position[:, 1]
        )
        assert motion.impulse_n.max() > 0.5
        drifts.append(np.abs(energy - energy[0]).max() / energy[0])
    assert drifts[0] < 0.03 and drifts[1] < 3e-4


@given(between(-0.5, 0.5), between(0, 1), st.sampled_from([0, 1, 2, 3]))
@settings(max_examples=30, deadline=None)
def test_a_square_stays_at_rest_on_a_slope_within_friction(slope, e_n, side):
    ground = Ground(slope, 0.2, -0.1)
    q = np.array([*(np.array([0.2, -0.1]) + 0.03 * ground.normal), slope + side * np.pi / 2.0])
    resting = start(SQUARE, q, (0, 0, 0), 600e-6, abs(np.tan(slope)) + 0.05, e_n, ground)
    assert np.allclose(resting.frames(24, 1e-3), q, rtol=0.0, atol=1e-8)
