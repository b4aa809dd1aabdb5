"""The contact law holds in every step; whole motions meet closed forms, symmetries and the exact
impact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.bodies import GRAVITY, PlanarBody, PlanarLaw, PlanarMotion, simulate
from contactid.planar.simulate.geometry import Contacts, Ellipse, Ground, contacts
from contactid.planar.simulate.kernel import CLOSING, contact_impulse, outline_of
from contactid.planar.simulate.polygon import run_steps


def between(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


THOROUGH = settings(max_examples=300, deadline=None)
MOTIONS = settings(max_examples=60, deadline=None)
LEVEL = Ground()
BODY = PlanarBody(Ellipse(1.5, 1.0), 10.0, 2.0)  # the paper's
PLAIN = PlanarLaw(0.3, 0.5)
THROW = ((0.0, 5.0, 0.0), (10.0, -3.0, -8.0))
ROUNDING = 1e-12
INSIDE, TOWARDS = between(1e-9, 0.1), between(0.0, 10.0)


@dataclass(frozen=True)
class Step:
    """One step from q and v, and everything the contact law speaks of, before and after."""

    body: PlanarBody
    ground: Ground
    law: PlanarLaw
    q: np.ndarray
    v: np.ndarray
    h: float

    def taken(self) -> PlanarMotion:
        """By the compiled code itself, since a start inside the ground is refused above it."""
        q, v = np.vstack([self.q, self.q]), np.vstack([self.v, self.v])
        impulse_n, impulse_t, gap = (np.zeros((2, 1)) for _ in range(3))
        body = outline_of(self.body.shape, self.ground, self.body.mass, self.body.inertia)
        run_steps(body, self.law, self.h, q, v, impulse_n, impulse_t, gap)
        return PlanarMotion(self.h * np.arange(2), q, v, impulse_n, impulse_t, gap)

    @property
    def at(self) -> Contacts:
        return contacts(self.body.shape, self.ground, self.q)

    @property
    def fall(self) -> np.ndarray:
        return np.array([0.0, -self.h * self.law.gravity, 0.0])

    def along(self, v: np.ndarray) -> np.ndarray:
        """(u_n, u_t)."""
        return np.concatenate([self.at.normal @ v, self.at.tangent @ v])

    @property
    def speed(self) -> float:
        """What rounding is relative to, m/s."""
        return 3.0 * float(np.abs([self.v, self.taken().velocity[1], self.fall]).max())


@st.composite
def steps_at(draw, depth=INSIDE, approach=TOWARDS) -> Step:
    """Bodies at a depth (m; negative is above the ground), approaching it at a speed (m/s; negative
    is leaving).
    """
    shape = Ellipse(draw(between(0.2, 2.0)), draw(between(0.2, 2.0)))
    mass = draw(between(0.1, 20.0))
    body = PlanarBody(shape, mass, mass * shape.uniform_inertia_ratio * draw(between(0.1, 2.0)))
    ground = Ground(draw(between(-1, 1)), draw(between(-2, 2)), draw(between(-2, 2)))
    law = PlanarLaw(draw(between(0, 2)), draw(between(0, 1)), draw(between(0, 1)))
    q = np.array([ground.x0, ground.y0, draw(between(-7, 7))])
    q[:2] -= (contacts(shape, ground, q).gap[0] + draw(depth)) * ground.normal
    v = np.array([draw(between(-10, 10)), draw(between(-10, 10)), draw(between(-10, 10))])
    v[:2] -= (contacts(shape, ground, q).normal[0] @ v + draw(approach)) * ground.normal
    return Step(body, ground, law, q, v, draw(between(1e-4, 1e-2)))


# one step in contact


@THOROUGH
@given(steps_at())
def test_impulse_and_gravity_make_the_change_of_momentum(step):
    motion, at = step.taken(), step.at
    given_by = (
        motion.impulse_n[1] @ at.normal
        + motion.impulse_t[1] @ at.tangent
        + step.body.mass_matrix * step.fall
    )
    gained = step.body.mass_matrix * (motion.velocity[1] - step.v)
    assert gained == pytest.approx(
        given_by, abs=ROUNDING * step.speed * step.body.mass_matrix.max()
    )
    assert (motion.position[1] == step.q + step.h * motion.velocity[1]).all(), "eq. 17"
    assert motion.gap[0] == pytest.approx(at.gap, abs=ROUNDING)


@THOROUGH
@given(steps_at())
def test_the_impulse_pushes_within_the_cone_and_newtons_law_holds(step):
    motion = step.taken()
    c_n, c_t = motion.impulse_n[1, 0], motion.impulse_t[1, 0]
    assert c_n > 0.0
    assert abs(c_t) <= step.law.friction_mu * c_n * (1.0 + ROUNDING)
    wanted = -step.law.restitution_e_n * step.along(step.v)[0]
    assert step.along(motion.velocity[1])[0] == pytest.approx(
        wanted, abs=100 * ROUNDING * step.speed
    )


@THOROUGH
@given(steps_at(), between(-1, 1))
def test_friction_sticks_or_opposes_sliding_and_no_other_impulse_dissipates_more(step, share):
    motion = step.taken()
    limit, c_t = step.law.friction_mu * motion.impulse_n[1, 0], motion.impulse_t[1, 0]
    w_t = step.along(motion.velocity[1])[1] + step.law.restitution_e_t * step.along(step.v)[1]
    rounding = 100 * ROUNDING * step.speed
    assert abs(w_t) <= rounding or abs(c_t) == pytest.approx(limit, rel=ROUNDING), (
        "stick inside the cone"
    )
    assert c_t * w_t <= rounding * limit
    assert c_t * w_t <= share * limit * w_t + rounding * limit, (
        "eq. 8, with u_t^+ + e_T u_t in place of u_t^+"
    )


@THOROUGH
@given(st.one_of(steps_at(depth=between(-3, -1e-9)), steps_at(approach=between(-10, -1e-8))))
def test_open_and_separating_contacts_bear_nothing(step):
    motion = step.taken()
    assert motion.impulse_n[1, 0] == 0.0 and motion.impulse_t[1, 0] == 0.0
    assert (motion.velocity[1] == step.v + step.fall).all()


def modes(w, b, mu):
    """All (c_n, c_t) that solve a closed contact: stick, and slide on either edge; checked to
    rounding.
    """
    scale = np.abs(b).max()
    found = []
    slides = [
        b[0] / (w[0, 0] + side * mu * w[0, 1]) * np.array([1.0, side * mu]) for side in (1.0, -1.0)
    ]
    for candidate in (np.linalg.solve(w, b), *slides):
        slip = (w @ candidate - b)[1]
        inside = abs(candidate[1]) <= mu * candidate[0] * (1.0 + 1e-9)
        if (
            candidate[0] >= 0.0
            and inside
            and slip * candidate[1] <= 1e-9 * scale * mu * candidate[0]
        ):
            found.append(candidate)
    return found


@st.composite
def contact_problems(draw):
    """W, b with b_n > 0, and mu up to far into wedging (mu |W_nt| > W_nn)."""
    half = np.array([[draw(between(0.3, 2)), 0.0], [draw(between(-3, 3)), draw(between(0.3, 2))]])
    return (
        half @ half.T,
        np.array([draw(between(0.01, 5)), draw(between(-5, 5))]),
        draw(between(0, 4)),
    )


@THOROUGH
@given(contact_problems())
def test_every_closed_contact_has_one_solution_and_it_is_returned(problem):
    w, b, mu = problem
    assume(
        np.abs(w[0, 0] - np.array([1, -1]) * mu * w[0, 1]).min() > 1e-2
    )  # the brute force divides by it
    found, returned = modes(w, b, mu), contact_impulse(w[0, 0], w[0, 1], w[1, 1], *b, mu)
    assert found
    assert contact_impulse(w[0, 0], w[0, 1], w[1, 1], -b[0], b[1], mu) == (0.0, 0.0), (
        "it opens by itself"
    )
    for candidate in found:
        assert candidate == pytest.approx(returned, rel=1e-6, abs=1e-6)


def test_rounding_on_the_cones_edge_leaves_a_solution():
    random = np.random.default_rng(1)
    for _ in range(500):
        half = random.normal(size=(2, 2))
        w = half @ half.T + 0.05 * np.eye(2)
        edge = random.uniform(0.1, 10) * np.array([1.0, random.uniform(-2, 2)])
        b = w @ edge  # sticks, with the whole of friction
        if b[0] > 0.0:
            impulse = contact_impulse(w[0, 0], w[0, 1], w[1, 1], b[0], b[1], abs(edge[1]) / edge[0])
            assert impulse == pytest.approx(edge, rel=1e-9), (w, b, edge)


# starts and refusals


def started(q, v=(0, 0, 0), law=PLAIN, h=1e-3, steps=50) -> PlanarMotion:
    return simulate(BODY, LEVEL, law, q, v, time_step=h, steps=steps)


@pytest.mark.parametrize("depth", [0.0, 5e-10])
def test_a_tangent_start_is_in_contact_at_once(depth):
    motion = started((0, 1 - depth, 0))
    assert motion.gap[0, 0] == pytest.approx(-depth, abs=1e-15)
    assert motion.impulse_n[1:, 0] == pytest.approx(BODY.mass * GRAVITY * 1e-3, rel=1e-12), (
        "it bears the weight"
    )
    assert (motion.position == motion.position[0]).all() and (motion.impulse_t == 0.0).all()
    assert motion.time == pytest.approx(1e-3 * np.arange(51)) and motion.impulse_n[0, 0] == 0.0
    assert started((0, 1 - depth, 0), steps=0).position.tolist() == [[0, 1 - depth, 0]]


@pytest.mark.parametrize(("depth", "named"), [(0.25, r"0\.25 m"), (1e-8, "1e-08 m")])
def test_a_start_inside_the_ground_is_refused_with_its_depth(depth, named):
    with pytest.raises(ContactIdError, match=f"{named} inside the ground.*{named}"):
        started((0, 1 - depth, 0))


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("named", "q", "v", "h", "steps"),
    [
        *(("time step", *THROW, h, 5) for h in (0.0, -1e-3, NAN, INF)),
        ("start state", (0, NAN, 0), THROW[1], 1e-3, 5),
        ("start state", THROW[0], (INF, 0, 0), 1e-3, 5),
        ("start state", (0, 5), THROW[1], 1e-3, 5),
        ("start state", (0, 5), (0, 0, 0, 0), 1e-3, 5),
        ("steps", *THROW, 1e-3, -3),
    ],
)
def test_a_bad_run_is_refused_by_name(named, q, v, h, steps):
    with pytest.raises(ContactIdError, match=named):
        started(q, v, h=h, steps=steps)


# closed forms


@MOTIONS
@given(between(-5, 5), between(-5, 5), between(-9, 9), between(1e-4, 1e-2))
def test_free_flight_is_the_discrete_parabola(v_x, v_y, omega, h):
    motion = started((1, 60, 2), (v_x, v_y, omega), h=h, steps=200)
    t = h * np.arange(201)
    exact = np.column_stack([1 + v_x * t, 60 + v_y * t - GRAVITY * t * (t + h) / 2, 2 + omega * t])
    assert motion.position == pytest.approx(exact, abs=1e-11)
    assert motion.velocity[:, 1] == pytest.approx(v_y - GRAVITY * t, abs=1e-11)
    assert (motion.velocity[:, [0, 2]] == [v_x, omega]).all() and not motion.impulse_n.any()


def first_peak(q, v, mu, h, seconds) -> float:
    motion = started(q, v, PlanarLaw(mu, 0.0), h, round(seconds / h))
    return float(motion.impulse_n[np.flatnonzero(motion.impulse_n[:, 0])[0], 0])


def test_the_drops_impulse_is_the_papers_to_first_order():
    # gap 0 is passed at the first k with k (k + 1) >= K^2, K = sqrt(2 D / g) / h, and the impulse
    # is (k + 1) m g h
    true = BODY.mass * np.sqrt(2.0 * GRAVITY * 9.0)
    assert true == pytest.approx(133.0, abs=0.2)  # eq. 22
    steps, errors = np.geomspace(1e-4, 1e-2, 80), []
    for h in steps:
        errors.append(first_peak((0, 10, 0), (0, 0, 0), 0.2, h, 1.5) - true)
        in_weights, fall_steps = (
            errors[-1] / (BODY.mass * GRAVITY * h),
            np.sqrt(2.0 * 9.0 / GRAVITY) / h,
        )
        assert 0.5 - 1e-9 < in_weights < 1.5 + 1.0 / (8.0 * fall_steps) + 1e-9
        assert errors[-1] < 0.005 * true or h > 2e-3
    assert 0.9 < np.polyfit(np.log(steps), np.log(errors), 1)[0] < 1.1


def exact_first_impulse(q, v, mu: float) -> float:
    """c_n of an inelastic impact where the parabola meets the level ground."""

    def state(t: float) -> tuple[np.ndarray, np.ndarray]:
        fallen = np.array([0.0, GRAVITY * t, 0.0])
        return q + v * t - 0.5 * fallen * t, v - fallen

    q, v = np.array(q), np.array(v)
    times = np.linspace(0.0, 2.0, 4001)
    after = next(t for t in times if contacts(BODY.shape, LEVEL, state(t)[0]).gap[0] < 0.0)
    hit = brentq(
        lambda t: contacts(BODY.shape, LEVEL, state(t)[0]).gap[0],
        after - times[1],
        after,
        xtol=1e-14,
    )
    at, before = contacts(BODY.shape, LEVEL, state(hit)[0]), state(hit)[1]
    bases = np.vstack([at.normal, at.tangent])
    (solution,) = modes(bases / BODY.mass_matrix @ bases.T, -bases @ before, mu)
    return float(solution[0])


def test_the_throws_impulse_converges_to_the_exact_impact():
    exact = exact_first_impulse(*THROW, 0.2)
    assert exact == pytest.approx(86.5, rel=0.005)
    steps = np.geomspace(1e-5, 1e-3, 60)
    errors = np.array([first_peak(*THROW, 0.2, h, 0.7) for h in steps]) - exact
    assert np.abs(errors).max() < 0.005 * 86.5
    assert np.abs(errors / steps).max() < 2.0 * np.abs(errors / steps)[steps > 3e-4].max(), (
        "first order"
    )
    assert np.abs(errors[steps < 2e-5]).max() < 0.01


@pytest.mark.parametrize("slope", [0.2, -0.5, 0.8914715719063546])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99999, 1.0, 1.00001, 3.0])
def test_a_cylinder_slides_or_rolls_down_a_slope(slope, share):
    """Friction is a share of what rolling needs: tan(slope) / (1 + m r^2 / J)."""
    body, ground = PlanarBody(Ellipse(0.3, 0.3), 2.0, 0.09), Ground(slope)
    rolling = np.tan(abs(slope)) / 3.0
    law = PlanarLaw(share * rolling, 0.4)
    start = (*((0.3 - 1e-10) * ground.normal), 0.0)
    motion = simulate(body, ground, law, start, (0, 0, 0), time_step=1e-3, steps=500)
    pull = GRAVITY * np.sin(abs(slope)) - min(share, 1.0) * rolling * GRAVITY * np.cos(slope)
    assert motion.velocity[:, :2] @ ground.tangent == pytest.approx(
        -np.sign(slope) * pull * motion.time, abs=1e-10
    )
    assert np.abs(motion.velocity[:, :2] @ ground.normal).max() < 1e-11
    assert (motion.impulse_n[1:] > 0.0).all() and np.ptp(motion.gap) < 1e-10


# whole motions

velocities = st.tuples(between(-8, 8), between(-8, 4), between(-9, 9))
laws = st.builds(PlanarLaw, between(0, 1), between(0, 1), between(0, 1), st.just(GRAVITY))
throws = st.tuples(st.tuples(between(0, 1), between(-4, 4)), velocities, between(5e-4, 1e-2), laws)
SPARE = 1e-10  # m: no start may lie inside the ground by rounding


def run(throw, ground: Ground = LEVEL, body: PlanarBody = BODY, steps: int = 300) -> PlanarMotion:
    """A throw from a gap over the ground's first point."""
    (gap, theta), v, h, law = throw
    q = np.array([ground.x0, ground.y0, theta])
    q[:2] += (gap + SPARE - contacts(body.shape, ground, q).gap[0]) * ground.normal
    return simulate(body, ground, law, q, v, time_step=h, steps=steps)


def rates(ground: Ground, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """(k,) velocities of the contact point along n."""
    return np.einsum("kji,ki->k", contacts(BODY.shape, ground, position).normal, velocity)


@MOTIONS
@given(throws, between(-0.8, 0.8))
def test_the_gap_follows_its_rate_up_to_the_curvature_of_the_ellipse(throw, slope):
    # g = d - H(phi), and H'' = (radius of curvature) - H lies between b^2/a - a and a^2/b - b
    motion, h = run(throw, Ground(slope)), throw[2]
    beyond = np.diff(motion.gap[:, 0]) - h * rates(
        Ground(slope), motion.position[:-1], motion.velocity[1:]
    )
    turned = 0.5 * (h * motion.velocity[1:, 2]) ** 2
    assert (beyond >= -turned * (1.5**2 / 1.0 - 1.0) - ROUNDING).all()
    assert (beyond <= turned * (1.5 - 1.0**2 / 1.5) + ROUNDING).all()


@MOTIONS
@given(throws, between(-0.8, 0.8))
def test_no_deeper_than_the_closing_step_and_what_follows_from_there(throw, slope):
    """Inside, only curvature deepens a borne contact, and only gravity's h^2 g cos(slope) one that
    is leaving.
    """
    (_, _, h, law), motion = throw, run(throw, Ground(slope))
    approach = -rates(Ground(slope), motion.position[:-1], motion.velocity[1:])
    allowed, drift = 0.0, 0.5 * (1.5**2 - 1.0) * (h * motion.velocity[1:, 2]) ** 2
    for k, gap in enumerate(motion.gap[:-1, 0]):
        if gap > 0.0:
            allowed = h * max(approach[k], 0.0)
        elif motion.impulse_n[k + 1, 0] > 0.0:
            allowed += h * law.restitution_e_n * CLOSING + ROUNDING
        else:
            allowed += h * h * GRAVITY * np.cos(slope)
        allowed += drift[k]
        assert motion.gap[k + 1, 0] >= -allowed - ROUNDING


@MOTIONS
@given(throws, between(-0.8, 0.8))
def test_a_mirrored_motion_is_the_mirror_image(throw, slope):
    (gap, theta), (v_x, v_y, omega), h, law = throw
    flip = np.array([-1.0, 1.0, -1.0])
    here = run(throw, Ground(slope, 0.5, 0.2))
    there = run(((gap, -theta), (-v_x, v_y, -omega), h, law), Ground(-slope, -0.5, 0.2))
    assert (there.position == flip * here.position).all() and (
        there.velocity == flip * here.velocity
    ).all()
    assert (there.impulse_n == here.impulse_n).all() and (there.impulse_t == -here.impulse_t).all()


def assert_same(there: PlanarMotion, position, velocity, impulse_n) -> None:
    """Up to what a few impacts make of rounding."""
    assert there.position == pytest.approx(position, abs=1e-8)
    assert there.velocity == pytest.approx(velocity, abs=1e-7)
    assert there.impulse_n == pytest.approx(impulse_n, abs=1e-6)


@MOTIONS
@given(throws, between(-0.7, 0.7), between(-0.7, 0.7))
def test_without_gravity_no_slope_is_special(throw, slope, angle):
    start, v, h, law = throw
    law = law._replace(gravity=0.0)
    turn = np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    )
    here = run((start, v, h, law), Ground(slope), steps=100)
    there = run(((start[0], start[1] + angle), turn @ v, h, law), Ground(slope + angle), steps=100)
    assert_same(
        there, here.position @ turn.T + [0, 0, angle], here.velocity @ turn.T, here.impulse_n
    )


@MOTIONS
@given(
    throws,
    between(-0.7, 0.7),
    st.tuples(between(-3, 3), between(-3, 3)),
    between(0.1, 10),
    between(0.1, 10),
)
def test_no_place_no_length_and_no_mass_is_special(throw, slope, place, length, mass):
    (gap, theta), v, h, law = throw
    here = run(throw, Ground(slope), steps=100)
    leaving = rates(Ground(slope), here.position, here.velocity)[here.gap[:, 0] <= 0.0]
    assume(
        not ((leaving > CLOSING / 10) & (leaving < CLOSING * 10)).any()
    )  # CLOSING is a speed, not scaled
    big = PlanarBody(Ellipse(1.5 * length, length), 10.0 * mass, 2.0 * mass * length**2)
    pace = np.sqrt(length)
    start = (length * (gap + SPARE) - SPARE, theta)
    scaled = (start, np.array(v) * [pace, pace, 1 / pace], h * pace, law)
    there = run(scaled, Ground(slope, *place), big, steps=100)
    position = (there.position - [*place, 0]) / [length, length, 1]
    assert_same(
        here, position, there.velocity / [pace, pace, 1 / pace], there.impulse_n / (mass * pace)
    )
