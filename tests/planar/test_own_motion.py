"""The motions behind a fit of own throws: laws of contact, closed forms, and another simulator's
throws.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, Shape, contacts
from contactid.planar.simulate.motion import (
    FINE,
    N_RESTITUTIONS,
    EventMotion,
    event_motion,
    outline_of,
    tracked_residuals,
)
from rounded_twins import CORNERS, LARGEST_E_N, Twin, drawn_twin

A, B, RATIO, GRAVITY, TILT, INTERVAL, FRAMES = 0.05, 0.025, 9e-4, 9.81, 0.5, 1e-3, 300
FAST = 0.1  # m/s: an impact that rebounds faster stands alone in its instant
DEEPEST = 5e-4  # m: by which a contact is below the ground when it closes while another one lasts
LAWS = settings(max_examples=40, deadline=None)


def frames_of_motions(outline, rows, gravity, interval, frames, step=FINE):
    """Poses (n, frames + 1, 3) of motions, and when their impacts happen, (n, N_RESTITUTIONS)."""
    none = np.zeros((frames + 1, 3))
    tracked = np.zeros((len(rows), 3))
    poses, impacts = tracked_residuals(
        outline, rows, tracked, gravity, interval, step, none, none + 1.0, 0.0
    )
    return poses.reshape(len(rows), frames + 1, 3), impacts


def parameters(start, ratio, mu, e_n=0.0, radius=0.0, slope=0.0):
    """One motion's; ``e_n`` is a number for all impacts or one for each."""
    return np.array([*start, ratio, mu, radius, slope, 0.0, *np.broadcast_to(e_n, N_RESTITUTIONS)])


# lasting contact


@pytest.mark.parametrize(("mu", "rolls"), [(0.0, False), (10.0, True)])
def test_an_ellipse_rocks_as_its_lagrangian_says(mu, rolls):
    """Its centre is h(theta) over the ground, h'(theta) beside the contact: T = (J/m + rolls h^2 +
    h'^2) w^2 / 2.
    """

    def height(theta):
        h = np.hypot(A * np.sin(theta), B * np.cos(theta))
        slope = (A**2 - B**2) * np.sin(theta) * np.cos(theta) / h
        return h, slope, ((A**2 - B**2) * np.cos(2.0 * theta) - slope**2) / h

    def rates(_, state):
        theta, omega = state
        h, slope, bend = height(theta)
        inertia, by_theta = RATIO + rolls * h**2 + slope**2, 2.0 * slope * (rolls * h + bend)
        return omega, -(0.5 * by_theta * omega**2 + GRAVITY * slope) / inertia

    times = INTERVAL * np.arange(FRAMES + 1)
    expected = solve_ivp(
        rates, (0.0, times[-1]), (TILT, 0.0), t_eval=times, rtol=1e-11, atol=1e-12
    ).y[0]
    start = parameters((0.0, height(TILT)[0], TILT, 0.0, 0.0, 0.0), RATIO, mu)[None]
    poses, impacts = frames_of_motions(
        outline_of(Ellipse(A, B), (0.0, 0.0)), start, GRAVITY, INTERVAL, FRAMES, 2.5e-4
    )
    found = poses[0]
    assert expected.min() < -0.9 * TILT  # it has rocked over
    assert np.isinf(impacts).all()
    np.testing.assert_allclose(found[:, 2], expected, atol=2e-5)
    np.testing.assert_allclose(found[:, 1], height(expected)[0], atol=1e-6)
    if not rolls:
        np.testing.assert_allclose(found[:, 0], 0.0, atol=1e-12)


def test_half_the_step_is_a_quarter_of_the_error():
    start = parameters(
        (0.0, np.hypot(A * np.sin(TILT), B * np.cos(TILT)), TILT, 1.0, 0.0, 0.0), RATIO, 0.2
    )[None]
    outline = outline_of(Ellipse(A, B), (0.0, 0.0))  # slides on it, and stops sliding
    coarse, middle, exact = (
        frames_of_motions(outline, start, GRAVITY, 4e-3, 40, step)[0][0]
        for step in (4e-4, 2e-4, 1e-6)
    )
    assert 1e-7 < np.abs(middle - exact).max() < 0.35 * np.abs(coarse - exact).max()


# another simulator


def of_twin(twin: Twin) -> np.ndarray:
    """The twin's parameters: start and restitutions over the slope on which it is."""
    c, s = np.cos(twin.slope), np.sin(twin.slope)
    x, y, theta, v_x, v_y, omega = twin.start
    start = (
        c * x - s * y,
        s * x + c * y,
        theta + twin.slope,
        c * v_x - s * v_y,
        s * v_x + c * v_y,
        omega,
    )
    e_n = np.random.default_rng([twin.varying, 31]).uniform(0.0, LARGEST_E_N, N_RESTITUTIONS)
    return parameters(start, twin.ratio, twin.mu, e_n, twin.radius, twin.slope)


@pytest.mark.parametrize("seed", range(30, 38))
def test_the_twins_solver_moves_alike_with_the_same_restitution_at_each_impact(seed):
    twin = replace(drawn_twin(seed), varying=seed, slope=0.05)
    if seed % 2:
        twin = replace(twin, corners=(A, B), radius=0.0)
    shape = Ellipse(A, B) if seed % 2 else Polygon(CORNERS, twin.radius)
    rate, outline = 240.0, outline_of(shape, (0.0, 0.0))
    q = twin.poses(0.3, rate)
    poses, impacts = frames_of_motions(
        outline, of_twin(twin)[None], GRAVITY, 1.0 / rate, len(q) - 1
    )
    assert np.isfinite(impacts).sum() >= 2
    apart = np.abs(
        poses[0] - q
    )  # the twin's impacts are up to 1e-7 s late, which each impact after them multiplies
    assert apart[:, :2].max() < 5e-5 and apart[:, 2].max() < 1.5e-3
    shifted = of_twin(twin)
    shifted[-N_RESTITUTIONS:] = np.roll(shifted[-N_RESTITUTIONS:], 1)
    other = frames_of_motions(outline, shifted[None], GRAVITY, 1.0 / rate, len(q) - 1)[0][0]
    assert np.abs(other - q)[:, :2].max() > 1e-3  # which restitution is whose can be told


# laws of impacts


@dataclass(frozen=True)
class Thrown:
    """A body thrown at a ground, with the parameters of its motion."""

    shape: Shape
    ground: Ground
    parameters: np.ndarray

    @property
    def e_n(self) -> np.ndarray:
        return self.parameters[-N_RESTITUTIONS:]

    @property
    def mu(self) -> float:
        return float(self.parameters[7])

    def run(self, frames: int = 50) -> tuple[EventMotion, np.ndarray]:
        """The motion, and the times of its impacts."""
        outline, step = outline_of(self.shape, (self.ground.x0, self.ground.y0)), 1.0 / 240.0
        motion = event_motion(outline, self.parameters, GRAVITY, step, frames)
        poses, impacts = frames_of_motions(outline, self.parameters[None], GRAVITY, step, frames)
        np.testing.assert_array_equal(motion.position[motion.frame], poses[0])
        return motion, impacts[0]

    def impacts(self):
        """Of each clear impact: its place in the order, impulses (n_c,), speeds before and after,
        and the motion's.

        Normal and tangential speeds (n_c,) of the contacts that are closed; others' impulses are
        zero.
        """
        motion, times = self.run()
        inverse = np.array([1.0, 1.0, 1.0 / self.parameters[6]])
        for k, time in enumerate(times[np.isfinite(times)]):
            row = int(np.searchsorted(motion.time, time))
            assert motion.time[row] == time
            at = contacts(self.shape, self.ground, motion.position[row])
            closed = at.gap < 1e-6
            # a step of lasting contact isn't cut where another contact closes
            assert closed.any() and at.gap.min() > (
                -DEEPEST if motion.impulse_n[:row].any() else -1e-7
            )
            c_n, c_t = motion.impulse_n[row], motion.impulse_t[row]
            before = motion.velocity[row]
            after = before + inverse * (c_n @ at.normal + c_t @ at.tangent)
            u_n, u_t = at.normal @ before, at.tangent @ before
            if (-self.e_n[k] * u_n[closed]).max() < FAST:
                continue  # contact lasts from the same instant on, or nearly
            if closed.sum() > 1 and abs((at.normal[closed] @ after).min()) < 0.5 * FAST:
                continue  # so does that of one of several
            assert (c_n[~closed] == 0.0).all()
            yield k, c_n[closed], c_t[closed], (u_n[closed], u_t[closed]), at.normal[closed] @ after, (
                at.tangent[closed] @ after
            ), self._energy(after) - self._energy(before)  # fmt: skip

    def _energy(self, velocity: np.ndarray) -> float:
        """Kinetic, per mass."""
        return 0.5 * float(velocity**2 @ [1.0, 1.0, self.parameters[6]])


def between(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


@st.composite
def thrown(draw, largest_mu=1.0) -> Thrown:
    radius = draw(between(0.0, 8e-3))
    shape = draw(st.sampled_from([Ellipse(A, B), Polygon(CORNERS, radius)]))
    ground = Ground(draw(between(-0.3, 0.3)), draw(between(-1, 1)), draw(between(-1, 1)))
    theta, height = draw(between(-4, 4)), draw(between(1e-3, 0.05))
    foot = np.array([ground.x0, ground.y0])
    lift = height - float(contacts(shape, ground, [*foot, theta]).gap.min())
    start = (
        *(foot + lift * ground.normal),
        theta,
        *draw(st.tuples(between(-2, 2), between(-2, 0), between(-15, 15))),
    )
    e_n = [draw(between(0.0, 1.0)) for _ in range(N_RESTITUTIONS)]
    ratio = draw(between(350e-6, 900e-6))
    slope = ground.slope
    return Thrown(
        shape, ground, parameters(start, ratio, draw(between(0.0, largest_mu)), e_n, radius, slope)
    )


@LAWS
@given(thrown())
def test_each_impact_has_newtons_restitution_of_its_own(body):
    """Where a contact pushes, it leaves with e_N of its approach; where not, faster."""
    for k, c_n, _, (u_n, _), after, *_ in body.impacts():
        excess = after + body.e_n[k] * u_n
        assert (c_n >= 0.0).all() and c_n.max() > 0.0
        assert excess.min() > -1e-9
        assert np.abs(np.minimum(c_n, excess)).max() < 1e-9


@LAWS
@given(thrown())
def test_friction_keeps_to_its_cone_and_sticks_inside_it(body):
    motion, _ = body.run()
    assert (np.abs(motion.impulse_t) <= body.mu * motion.impulse_n + 1e-12).all()
    for _, c_n, c_t, _, _, along, _ in body.impacts():
        slides = np.abs(along) > 1e-8
        np.testing.assert_allclose(
            c_t[slides], -body.mu * np.sign(along[slides]) * c_n[slides], atol=1e-9
        )


@LAWS
@given(thrown(largest_mu=0.0))
def test_without_friction_an_impact_costs_what_its_restitution_says(body):
    for k, c_n, _, (u_n, _), _, _, gained in body.impacts():
        assert gained == pytest.approx(0.5 * (1.0 - body.e_n[k]) * float(c_n @ u_n), abs=1e-9)
        assert gained <= 1e-12


@LAWS
@given(thrown())
def test_an_impact_gives_back_no_more_than_its_restitution_does(body):
    """What the normal impulses do with the rebound, less half of what all impulses do with the
    change of speed.

    Newton's restitution with friction may win energy where sliding turns round (Kane and Levinson,
    1985), and it does in two of a hundred impacts with mu and e_N up to 1: so no law says that
    energy never grows.
    """
    for k, c_n, c_t, (u_n, u_t), after, along, gained in body.impacts():
        change = float(c_n @ (after - u_n) + c_t @ (along - u_t))
        assert change > 0.0
        assert gained <= -body.e_n[k] * float(c_n @ u_n) - 0.5 * change + 1e-9


@pytest.mark.parametrize("round_body", [False, True])
def test_energy_never_grows_at_an_impact_of_bodies_as_they_are_thrown(round_body):
    gains = []
    for seed in range(100, 300):
        twin = replace(drawn_twin(seed), varying=seed)
        twin = replace(twin, corners=(A, B), radius=0.0) if round_body else twin
        shape = Ellipse(A, B) if round_body else Polygon(CORNERS, twin.radius)
        gains += [gained for *_, gained in Thrown(shape, Ground(), of_twin(twin)).impacts()]
    assert len(gains) > 200 and max(gains) <= 1e-9
