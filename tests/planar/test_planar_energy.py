"""The balance closes; what may change the energy does, by its closed form or within a bound that is
derived here.

For one contact, ``u`` and ``u^+`` are its velocities (n, t), ``W`` is its inverse mass, ``h gamma``
what gravity takes from ``u`` in a step, and ``w = u^+ + e u = (1 + e) u + W c - h gamma`` with
``w_n = 0`` and ``c_t w_t <= 0``. Then the impulse's work is ``c . (u + u^+)/2 = (c . w + (1 - e)/2
(h c . gamma - c . W c))/(1 + e)`` where both restitutions are e.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contactid.planar.simulate.bodies import GRAVITY, PlanarBody, PlanarLaw, PlanarMotion, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from contactid.planar.simulate.kernel import CLOSING
from contactid.planar.simulate.motions import EnergyBalance, energy_balance

MOTIONS = settings(max_examples=100, deadline=None)
LEVEL = Ground()
BODY = PlanarBody(Ellipse(1.5, 1.0), 10.0, 2.0)  # the paper's
SPARE = 1e-10  # m: no start may lie inside the ground by rounding
WEIGHT = BODY.mass * GRAVITY


def between(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


@dataclass(frozen=True)
class Throw:
    """A start over the ground's first point, and how it is stepped."""

    law: PlanarLaw
    slope: float = 0.0
    gap: float = 0.0
    theta: float = 0.0
    v: tuple[float, float, float] = (0.0, 0.0, 0.0)
    h: float = 1e-3
    steps: int = 300
    body: PlanarBody = BODY

    @property
    def ground(self) -> Ground:
        return Ground(self.slope)

    def motion(self) -> PlanarMotion:
        q = np.array([0.0, 0.0, self.theta])
        q[:2] += (
            self.gap + SPARE - contacts(self.body.shape, self.ground, q).gap[0]
        ) * self.ground.normal
        return simulate(
            self.body, self.ground, self.law, q, self.v, time_step=self.h, steps=self.steps
        )

    def balance(self) -> EnergyBalance:
        return energy_balance(self.body, self.ground, self.motion(), self.law.gravity)


laws = st.builds(PlanarLaw, between(0, 2), between(0, 1), between(0, 1), st.just(GRAVITY))
velocities = st.tuples(between(-8, 8), between(-8, 4), between(-9, 9))
throws = st.builds(
    Throw,
    laws,
    between(-0.6, 0.6),
    between(0, 1),
    between(-4, 4),
    velocities,
    between(1e-4, 1e-2),
    st.just(300),
)


def with_law(throw: Throw, **values: float) -> Throw:
    return replace(throw, law=throw.law._replace(**values))


@dataclass(frozen=True)
class Impacts:
    """Every step of a motion in contact coordinates; vectors are (n, 2), along n and t."""

    before: np.ndarray
    after: np.ndarray
    impulse: np.ndarray
    inverse_mass: np.ndarray  # (n, 2, 2) W
    taken: np.ndarray  # h gamma

    @classmethod
    def of(cls, throw: Throw) -> Impacts:
        motion, body = throw.motion(), throw.body
        at = contacts(body.shape, throw.ground, motion.position[:-1])
        bases = np.concatenate([at.normal, at.tangent], axis=1)
        fall = np.array([0.0, -throw.h * throw.law.gravity, 0.0])
        return cls(
            np.einsum("kij,kj->ki", bases, motion.velocity[:-1]),
            np.einsum("kij,kj->ki", bases, motion.velocity[1:]),
            np.concatenate([motion.impulse_n, motion.impulse_t], axis=1)[1:],
            np.einsum("kij,j,klj->kil", bases, 1.0 / body.mass_matrix, bases),
            -bases @ fall,
        )

    @property
    def work(self) -> np.ndarray:
        return (self.impulse * (self.before + self.after)).sum(axis=1) / 2.0


def rounding(balance: EnergyBalance) -> float:
    """J: what 1e-12 of the largest energy is."""
    return 1e-12 * float(np.abs(balance.kinetic).max() + np.abs(balance.potential).max() + 1.0)


def staggered(balance: EnergyBalance) -> np.ndarray:
    """(n + 1,) ``E*``, which contact impulses alone can change."""
    return balance.total + balance.scheme


# the balance


@MOTIONS
@given(throws)
def test_the_balance_closes(throw):
    motion, balance = throw.motion(), throw.balance()
    assert balance.closure <= 1e-10
    kinetic = (
        5.0 * (motion.velocity[:, 0] ** 2 + motion.velocity[:, 1] ** 2)
        + 1.0 * motion.velocity[:, 2] ** 2
    )
    assert balance.kinetic == pytest.approx(kinetic, rel=1e-12)
    assert balance.potential == pytest.approx(WEIGHT * motion.position[:, 1], rel=1e-12)
    gone = balance.restitution + balance.friction + balance.scheme
    assert balance.total[0] - balance.total == pytest.approx(gone, abs=rounding(balance) * 100)
    for losses in (balance.restitution, balance.friction, balance.scheme):
        assert losses.shape == (301,) and losses[0] == 0.0


@pytest.mark.parametrize(
    ("mass", "h"), [(1.0, 1e-3), (7.0, 3e-3), (10.0, 5e-3), (0.064, 7e-3), (13.0, 9e-3)]
)
def test_the_balance_of_a_body_at_rest_closes(mass, h):
    body = PlanarBody(Ellipse(0.05, 0.025), mass, mass * 781.25e-6)
    motion = simulate(
        body, LEVEL, PlanarLaw(0.3, 0.2), (0, 0.025, 0), (0, 0, 0), time_step=h, steps=400
    )
    assert energy_balance(body, LEVEL, motion, GRAVITY).closure <= 1e-10


@pytest.mark.parametrize("damage", ["impulse_n", "impulse_t", "velocity"])
def test_a_motion_that_breaks_the_equations_does_not_close(damage):
    throw = Throw(PlanarLaw(0.3, 0.5), gap=0.2, v=(3.0, -2.0, -1.0))
    motion = throw.motion()
    assert motion.impulse_t.any()
    wrong = replace(motion, **{damage: 1.001 * getattr(motion, damage)})
    assert energy_balance(BODY, LEVEL, wrong, GRAVITY).closure > 1e-5


@MOTIONS
@given(throws)
def test_the_schemes_loss_is_half_a_step_of_falling(throw):
    motion, balance = throw.motion(), throw.balance()
    half_a_step_back = (
        balance.kinetic + WEIGHT * (motion.position - 0.5 * throw.h * motion.velocity)[:, 1]
    )
    assert np.ptp(staggered(balance) - half_a_step_back) < 100 * rounding(balance)
    speeds = np.abs(motion.velocity[:, 1] - motion.velocity[0, 1])
    assert np.abs(balance.scheme) == pytest.approx(
        0.5 * throw.h * WEIGHT * speeds, rel=1e-9, abs=1e-12
    )


@MOTIONS
@given(throws)
def test_in_flight_the_staggered_energy_is_constant(throw):
    balance, flying = throw.balance(), throw.motion().impulse_n[1:, 0] == 0.0
    assert np.abs(np.diff(staggered(balance))[flying]).max(initial=0.0) < 100 * rounding(balance)
    assert (
        not np.diff(balance.restitution)[flying].any()
        and not np.diff(balance.friction)[flying].any()
    )


# closed forms of the losses


@pytest.mark.parametrize("e_n", [0.0, 0.4, 1.0])
def test_a_drop_loses_energy_in_restitution_alone(e_n):
    throw = Throw(PlanarLaw(0.5, e_n), gap=2.0, h=1e-3, steps=900)
    balance, motion = throw.balance(), throw.motion()
    k = int(np.flatnonzero(motion.impulse_n[:, 0])[0])
    speed = -motion.velocity[k - 1, 1]
    impulse = BODY.mass * ((1.0 + e_n) * speed + GRAVITY * 1e-3)
    assert balance.restitution[k] == pytest.approx(0.5 * (1.0 - e_n) * speed * impulse, rel=1e-12)
    assert balance.restitution[k] == pytest.approx((1.0 - e_n**2) * WEIGHT * 2.0, rel=0.01), (
        "what the height gave"
    )
    assert not balance.friction.any()


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.5])
def test_a_cylinder_slides_until_it_rolls_and_friction_takes_the_difference(mu):
    # J/(J + m r^2) of the kinetic energy, whatever the friction
    body = PlanarBody(Ellipse(0.3, 0.3), 2.0, 0.05)
    throw = Throw(PlanarLaw(mu, 0.0), v=(2.0, 0.0, 0.0), h=2e-3, steps=1500, body=body)
    start = np.array([0.0, 0.3 - SPARE, 0.0])  # borne from the first step on
    motion = simulate(body, LEVEL, throw.law, start, throw.v, time_step=throw.h, steps=throw.steps)
    balance = energy_balance(body, LEVEL, motion, GRAVITY)
    assert balance.friction[-1] == pytest.approx(
        0.5 * 2.0 * 2.0**2 * 0.05 / (0.05 + 2.0 * 0.3**2), rel=1e-9
    )
    assert (np.diff(balance.friction) > -1e-14).all() and np.abs(balance.restitution).max() < 1e-12


# what conserves


@MOTIONS
@given(throws)
def test_smooth_elastic_impacts_keep_the_staggered_energy(throw):
    elastic = with_law(throw, friction_mu=0.0, restitution_e_n=1.0)
    balance = elastic.balance()
    assert np.ptp(staggered(balance)) < 100 * rounding(balance)
    assert np.abs(balance.total - balance.total[0]).max() == pytest.approx(
        np.abs(balance.scheme).max(), rel=1e-6
    )


def test_smooth_elastic_energy_errs_to_first_order_in_the_step():
    worst = []
    for h in (4e-3, 2e-3, 1e-3, 5e-4):
        balance = Throw(PlanarLaw(0.0, 1.0), gap=1.0, h=h, steps=round(3.0 / h)).balance()
        worst.append(np.abs(balance.total - balance.total[0]).max())
    assert np.array(worst[:-1]) / worst[1:] == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("h", [1e-3, 5e-3])
def test_sliding_without_friction_keeps_the_energy(h):
    motion = simulate(
        BODY, LEVEL, PlanarLaw(0.0, 0.0), (0, 1, 0), (15, 0, 0), time_step=h, steps=400
    )
    balance = energy_balance(BODY, LEVEL, motion, GRAVITY)
    assert np.ptp(balance.total) < 1e-10 and balance.kinetic[0] == 0.5 * 10.0 * 15.0**2
    assert (motion.impulse_n[1:] > 0.0).all(), "in contact all along"


def test_sliding_with_friction_loses_energy_and_more_with_more_friction():
    left = []
    for mu in (0.0, 0.1, 0.2, 0.3):
        motion = simulate(
            BODY, LEVEL, PlanarLaw(mu, 0.0), (0, 1, 0), (15, 0, 0), time_step=1e-3, steps=300
        )
        balance = energy_balance(BODY, LEVEL, motion, GRAVITY)
        left.append(staggered(balance)[-1])
        if mu > 0.0:
            assert (np.diff(balance.friction)[motion.impulse_n[1:, 0] > 0.0] > 0.0).all()
    assert (np.diff(left) < -1.0).all()


@MOTIONS
@given(throws)
def test_without_friction_the_momentum_along_the_ground_obeys_gravity_alone(throw):
    smooth = with_law(throw, friction_mu=0.0)
    motion, t = smooth.motion(), smooth.ground.tangent
    exact = np.array(throw.v[:2]) @ t - GRAVITY * np.sin(throw.slope) * motion.time
    assert motion.velocity[:, :2] @ t == pytest.approx(exact, abs=1e-11)
    assert (replace(smooth, slope=0.0).motion().velocity[:, 0] == throw.v[0]).all(), (
        "on level ground, to the bit"
    )


# what loses


@MOTIONS
@given(throws)
def test_without_friction_no_step_gains(throw):
    smooth = with_law(throw, friction_mu=0.0)
    balance, pushed = smooth.balance(), smooth.motion().impulse_n[1:, 0]
    gains = np.diff(staggered(balance))
    slowly_leaving = (
        pushed * (1.0 - throw.law.restitution_e_n) * CLOSING / 2.0
    )  # still counted as at rest
    assert (gains <= slowly_leaving + 100 * rounding(balance)).all()


@MOTIONS
@given(throws, between(0, 1))
def test_equal_restitutions_gain_no_more_than_gravitys_term(throw, e):
    equal = with_law(throw, restitution_e_n=e, restitution_e_t=e)
    steps, slack = Impacts.of(equal), 100 * rounding(equal.balance())
    w = np.where(steps.impulse[:, :1] > 0.0, steps.after + e * steps.before, 0.0)
    quadratic = np.einsum("ki,kij,kj->k", steps.impulse, steps.inverse_mass, steps.impulse)
    gravity = (steps.impulse * steps.taken).sum(axis=1)
    identity = ((steps.impulse * w).sum(axis=1) + 0.5 * (1.0 - e) * (gravity - quadratic)) / (
        1.0 + e
    )
    assert steps.work == pytest.approx(identity, abs=slack)
    assert (steps.work <= 0.5 * (1.0 - e) / (1.0 + e) * gravity + slack).all()
    assert np.diff(staggered(equal.balance())) == pytest.approx(steps.work, abs=slack)


@MOTIONS
@given(throws, between(0, 1))
def test_equal_restitutions_without_gravity_never_gain(throw, e):
    equal = with_law(throw, restitution_e_n=e, restitution_e_t=e, gravity=0.0)
    balance = equal.balance()
    assert (np.diff(balance.total) <= 100 * rounding(balance)).all()


# Newton's law with friction can gain


def one_impact(
    u_n: float, u_t: float, law: PlanarLaw, theta: float
) -> tuple[Impacts, EnergyBalance]:
    """An impact without gravity at contact velocities (u_n, u_t), by a body that doesn't spin
    before.
    """
    throw = Throw(
        law._replace(gravity=0.0), theta=theta, v=(u_t, u_n, 0.0), gap=-2 * SPARE, h=1e-3, steps=1
    )
    return Impacts.of(throw), throw.balance()


def mobility(theta: float) -> np.ndarray:
    """W of the paper's ellipse on level ground."""
    r_t, r_n = BODY.shape.arms(np.sin(theta), np.cos(theta))[0]
    return np.diag([0.1, 0.1]) + np.outer([r_t, -r_n], [r_t, -r_n]) / 2.0


def stick_gain(w: np.ndarray, u_n: float, u_t: float, e_n: float) -> float:
    """J gained by an impact from u to (-e_N u_n, 0), since kinetic energy is ``u . W^-1 u / 2`` and
    a constant.
    """
    a = np.linalg.inv(w)
    return 0.5 * float(e_n**2 * u_n**2 * a[0, 0] - np.array([u_n, u_t]) @ a @ [u_n, u_t])


def friction_to_stick(w: np.ndarray, u_n: float, u_t: float, e_n: float) -> float:
    c_n, c_t = np.linalg.solve(w, [-(1.0 + e_n) * u_n, -u_t])
    return abs(c_t) / c_n if c_n > 0.0 else np.inf


def threshold(w: np.ndarray) -> float:
    """Largest e_N^2 at which no impact gains: ``1 - W_nt^2 / (W_nn W_tt)``."""
    return float(1.0 - w[0, 1] ** 2 / (w[0, 0] * w[1, 1]))


def test_an_elastic_impact_with_friction_gains_a_seventh_of_its_energy():
    theta, u_n = np.pi / 4.0, -2.0
    w = mobility(theta)
    assert threshold(w) == pytest.approx(0.5134, abs=1e-3)
    u_t = u_n * w[0, 1] / w[0, 0]  # where sticking costs least: u_t = -A_nt u_n / A_tt
    law = PlanarLaw(1.01 * friction_to_stick(w, u_n, u_t, 1.0), 1.0)
    steps, balance = one_impact(u_n, u_t, law, theta)
    assert steps.after[0] == pytest.approx([2.0, 0.0], abs=1e-12), (
        "it sticks and bounces elastically"
    )
    gain = balance.total[1] - balance.total[0]
    assert gain == pytest.approx(stick_gain(w, u_n, u_t, 1.0), rel=1e-9)
    assert gain == pytest.approx(0.5 * u_n**2 * (np.linalg.inv(w)[0, 0] - 1.0 / w[0, 0]), rel=1e-9)
    assert gain > balance.kinetic[0] / 7.1
    assert (
        balance.friction[1] == pytest.approx(-gain, rel=1e-9)
        and abs(balance.restitution[1]) < 1e-12
    )


@MOTIONS
@given(between(-4, 4), between(-5, -0.1), between(-5, 5), between(0, 1))
def test_the_energy_of_a_sticking_impact_has_a_closed_form(theta, u_n, u_t, e_n):
    w = mobility(theta)
    needed = friction_to_stick(w, u_n, u_t, e_n)
    assume(needed < 100.0)
    steps, balance = one_impact(u_n, u_t, PlanarLaw(1.01 * needed + 1e-6, e_n), theta)
    assert steps.before[0] == pytest.approx([u_n, u_t]) and steps.inverse_mass[0] == pytest.approx(
        w
    )
    assert steps.after[0] == pytest.approx([-e_n * u_n, 0.0], abs=1e-10)
    assert balance.total[1] - balance.total[0] == pytest.approx(
        stick_gain(w, u_n, u_t, e_n), abs=1e-9
    )


@MOTIONS
@given(between(-4, 4), between(-5, -0.1), between(-5, 5), between(0, 20), between(0, 1))
def test_no_impact_gains_below_the_threshold(theta, u_n, u_t, mu, share):
    # here work is c_t w_t - (k W_nn c_n^2 + (1 + k) W_nt c_n c_t + W_tt c_t^2)/2 with k = (1 -
    # e_N)/(1 + e_N): the form is positive up to the threshold, so sliding impacts can't gain either
    law = PlanarLaw(mu, share * np.sqrt(threshold(mobility(theta))))
    balance = one_impact(u_n, u_t, law, theta)[1]
    assert balance.total[1] <= balance.total[0] * (1.0 + 1e-12)


@MOTIONS
@given(between(-4, 4), between(-5, -0.1), between(0.05, 1))
def test_above_the_threshold_some_sticking_impact_gains(theta, u_n, share):
    w = mobility(theta)
    e_n = np.sqrt(threshold(w) + share * (1.0 - threshold(w)))
    assume(e_n**2 - threshold(w) > 1e-4)
    u_t = u_n * w[0, 1] / w[0, 0]
    law = PlanarLaw(1.01 * friction_to_stick(w, u_n, u_t, e_n), min(e_n, 1.0))
    balance = one_impact(u_n, u_t, law, theta)[1]
    assert balance.total[1] > balance.total[0]
