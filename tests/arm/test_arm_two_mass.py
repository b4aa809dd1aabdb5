"""Models A, B and C of the arm paper: closed forms, momentum, energy, unilateral contact, grazing,
and their limits.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from arm_for_tests import contact_force, energy, momentum, work_of_push
from contactid.arm.artefacts.damping_sweep import distance_between, rigid_velocity, settling
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.simulate.two_mass import (
    GAP,
    GRAZING,
    IMPACT,
    RE_IMPACT,
    SEPARATION,
    TwoMass,
    impact_map_velocity,
    simulate,
)
from contactid.core.errors import ContactIdError

TABLE_I = TwoMass(
    m0=5.0, m1=1.0, m2=1.0, hertz_exponent_c=1.5, k_env=1e8, d_env=1e8, k_rob=1e4, d_rob=80.0, initial_gap=0.4,
    pushing_force=100.0,
)  # fmt: skip
UNCHANGED = [HealthCheck.function_scoped_fixture]  # the fixture quick sets a constant
systems = st.builds(
    TwoMass,
    m0=st.floats(0.5, 50.0),
    m1=st.floats(0.2, 5.0),
    m2=st.floats(0.2, 5.0),
    hertz_exponent_c=st.floats(1.0, 2.0),
    k_env=st.floats(1e6, 1e8),
    d_env=st.floats(1e6, 1e8),
    k_rob=st.floats(1e3, 1e5),
    d_rob=st.floats(0.0, 300.0),
    initial_gap=st.floats(0.05, 0.6),
    pushing_force=st.floats(20.0, 300.0),
)


def meeting(system):
    """Time at which the rigid robot would meet the environment."""
    return float(np.sqrt(2.0 * system.initial_gap * (system.m1 + system.m2) / system.pushing_force))


@pytest.fixture
def quick(monkeypatch):
    """A looser tolerance of the compliant contact."""
    monkeypatch.setattr("contactid.arm.simulate.two_mass._COMPLIANT", 1e-8)


@pytest.fixture(scope="module", params="ABC")
def motion(request):
    return simulate(TABLE_I, request.param, 0.4)


def test_the_rigid_model_is_its_closed_form():
    motion = simulate(TABLE_I, "C", 0.4)
    impact = np.sqrt(2.0 * 0.4 * 2.0 / 100.0)
    assert motion.impact_time == pytest.approx(impact, abs=1e-12)
    assert [event.kind for event in motion.events] == [IMPACT]
    times = np.linspace(0.0, 0.4, 41)
    flying, joint = times < impact, np.maximum(times - impact, 0.0)
    after = -50.0 * impact * 2.0 / 7.0
    robot = np.where(flying, 0.4 - 25.0 * times**2, after * joint - 50.0 / 7.0 * joint**2)
    speed = np.where(flying, -50.0 * times, after - 100.0 / 7.0 * joint)
    states = motion.states(times)
    assert states[:, 1] == pytest.approx(robot, abs=1e-12)
    assert states[:, 2] == pytest.approx(robot, abs=1e-12)
    assert states[:, 4] == pytest.approx(speed, abs=1e-12)
    assert states[~flying, 3] == pytest.approx(speed[~flying], abs=1e-12)


@given(system=systems)
@settings(max_examples=25, deadline=None, suppress_health_check=UNCHANGED)
def test_the_flexible_robot_meets_the_environment_when_two_modes_in_closed_form_say_so(
    quick, system
):
    total, reduced = system.m1 + system.m2, system.m1 * system.m2 / (system.m1 + system.m2)
    rest = system.pushing_force * reduced / (system.m2 * system.k_rob)
    roots = np.roots([1.0, system.d_rob / reduced, system.k_rob / reduced]).astype(complex)
    if abs(roots[0] - roots[1]) < 1e-3 * abs(roots[0]):
        return

    def gap(t):
        waves = (roots[1] * np.exp(roots[0] * t) - roots[0] * np.exp(roots[1] * t)) / (
            roots[1] - roots[0]
        )
        strain = rest * (1.0 - waves.real)
        centre = system.initial_gap - 0.5 * system.pushing_force / total * t**2
        return centre + system.m2 / total * strain

    # the spring gives way by twice its rest value at most, so the gap is closed by then
    furthest = system.initial_gap + 2.0 * rest * system.m2 / total
    grid = np.linspace(0.0, 1.01 * np.sqrt(2.0 * furthest * total / system.pushing_force), 20001)
    first = np.flatnonzero(gap(grid) < 0.0)[0]
    truth = brentq(gap, grid[first - 1], grid[first], xtol=1e-15)
    for model in "AB":
        found = simulate(system, model, truth + 1e-4).impact_time
        assert found == pytest.approx(truth, abs=1e-10)


def test_total_momentum_is_the_push_times_time(motion):
    times = np.linspace(0.0, 0.4, 2001)
    assert np.abs(momentum(TABLE_I, motion.states(times)) + 100.0 * times).max() < 1e-11


def test_energy_grows_by_the_work_of_the_push_at_most(motion):
    events = np.array([event.time for event in motion.events])
    times = np.sort(np.concatenate([np.linspace(0.0, 0.4, 4001), events]))
    states = motion.states(times)
    gained = energy(TABLE_I, states, compliant=motion.model == "A") - work_of_push(TABLE_I, states)
    assert np.diff(gained).max() < 1e-9
    assert gained[-1] < -20.0  # an inelastic impact and a damper have taken some


@given(system=systems, model=st.sampled_from("ABC"))
@settings(max_examples=30, deadline=None, suppress_health_check=UNCHANGED)
def test_momentum_energy_and_contact_for_all_parameters(quick, system, model):
    until = 1.6 * meeting(system)
    motion = simulate(system, model, until)
    times = np.linspace(0.0, until, 301)
    states = motion.states(times)
    push = system.pushing_force * times
    assert np.abs(momentum(system, states) + push).max() < 1e-9 * push[-1]
    gained = energy(system, states, compliant=model == "A") - work_of_push(system, states)
    scale = work_of_push(system, states[-1:])[0]
    assert np.diff(gained).max() < 1e-6 * scale
    if model != "A":
        assert (states @ GAP).min() > -1e-12
        assert contact_force(motion, times).min() > -1e-6 * system.pushing_force


def test_an_impact_jumps_by_the_impact_map_and_conserves_momentum():
    motion = simulate(TABLE_I, "B", 0.2)
    at = np.array([motion.impact_time])
    before, after = motion.states(at, before=True)[0], motion.states(at)[0]
    assert before[3] == pytest.approx(0.0, abs=1e-14)
    common = impact_map_velocity(replace(TABLE_I, m1=0.5, m2=0.5), before[4])  # of m1 alone on m0
    assert after[3:5] == pytest.approx([common, common], abs=1e-12)
    assert after[[0, 1, 2, 5]] == pytest.approx(before[[0, 1, 2, 5]], abs=1e-12)


@given(st.floats(0.1, 20.0), st.floats(0.1, 20.0), st.floats(-5.0, -0.1))
def test_the_prediction_is_the_impact_map_of_two_bodies(m0, robot, velocity):
    system = replace(TABLE_I, m0=m0, m1=0.3 * robot, m2=0.7 * robot)
    mapped = impact_map(np.diag([m0, robot]), np.array([-1.0, 1.0]), np.array([0.0, velocity]))
    assert mapped == pytest.approx([impact_map_velocity(system, velocity)] * 2, abs=1e-12)


def test_model_c_after_the_impact_is_the_prediction_and_the_common_momentum():
    motion = simulate(TABLE_I, "C", 0.3)
    at = np.array([motion.impact_time])
    before = motion.states(at, before=True)[0, 4]
    assert motion.states(at)[0, 4] == pytest.approx(impact_map_velocity(TABLE_I, before), abs=1e-12)
    times = np.linspace(motion.impact_time, 0.3, 11)
    assert motion.states(times)[:, 4] == pytest.approx(rigid_velocity(motion, times), abs=1e-12)


def test_hard_contact_opens_where_its_force_vanishes_and_closes_inelastically():
    motion = simulate(TABLE_I, "B", 0.4)
    assert [event.kind for event in motion.events] == [IMPACT, SEPARATION, RE_IMPACT]
    (opened,), (closed,) = motion.times_of(SEPARATION), motion.times_of(RE_IMPACT)
    assert abs(contact_force(motion, np.array([opened - 1e-9]))[0]) < 1e-4
    apart = np.linspace(opened + 1e-4, closed - 1e-6, 100)
    assert (motion.states(apart) @ GAP).min() > 0.0
    assert not contact_force(motion, apart).any()
    held = np.linspace(closed, 0.4, 100)
    assert contact_force(motion, held).min() > 0.0


def test_the_flexible_robot_settles_to_the_rigid_one_within_about_100_ms():
    motion, rigid = simulate(TABLE_I, "B", 0.6), simulate(TABLE_I, "C", 0.6)
    settled, late = settling(motion)
    assert settled < 0.1 and late < 0.02
    times = np.linspace(motion.impact_time + 0.1, 0.6, 500)
    assert motion.states(times)[:, 5] == pytest.approx(rigid.states(times)[:, 5], rel=0.02)


def test_the_compliant_model_is_an_integration_in_the_bodies_own_coordinates():
    system, motion = TABLE_I, simulate(TABLE_I, "A", 0.17)

    def rates(_, s):
        depth, rate = s[0] - s[1], s[3] - s[4]
        push = depth**1.5 * (system.k_env + system.d_env * rate) if depth > 0.0 else 0.0
        pull = system.k_rob * (s[1] - s[2]) + system.d_rob * (s[4] - s[5])
        return [
            *s[3:],
            -push / system.m0,
            (push - pull) / system.m1,
            (pull - system.pushing_force) / system.m2,
        ]

    times = np.linspace(0.0, 0.17, 200)
    other = solve_ivp(
        rates, (0.0, 0.17), system.start, "DOP853", times, rtol=1e-11, atol=1e-12, max_step=2e-5
    )
    assert np.abs(other.y.T - motion.states(times)).max() < 1e-5


def test_the_compliant_contact_has_the_force_that_moves_m0():
    motion = simulate(TABLE_I, "A", 0.2)
    times = np.linspace(0.1275, 0.1285, 101)
    speed = motion.states(times)[:, 3]
    force = contact_force(motion, times)
    assert np.gradient(speed, times)[1:-1] == pytest.approx(
        -force[1:-1] / TABLE_I.m0, rel=1e-3, abs=1.0
    )
    assert force.max() > 1000.0


def test_the_compliant_model_tends_to_the_hard_one_as_contact_stiffens(quick):
    hard = simulate(TABLE_I, "B", 0.2)
    distances = []
    for stiffness in (1e8, 1e9, 1e10):
        system = replace(TABLE_I, k_env=stiffness, d_env=10.0 * stiffness)
        distances.append(distance_between(simulate(system, "A", 0.2), hard, 0.03)[1:])
    ratios = np.array(distances[:-1]) / np.array(distances[1:])
    assert (ratios > 1.3).all()
    assert distances[-1][0] < 0.12 and distances[-1][1] < 0.005


def test_the_flexible_robot_tends_to_the_rigid_one_as_it_stiffens():
    rigid = simulate(TABLE_I, "C", 0.2).impact_time
    late = [
        simulate(replace(TABLE_I, k_rob=k), "B", 0.2).impact_time - rigid for k in (1e4, 1e5, 1e6)
    ]
    assert late[0] / late[1] == pytest.approx(10.0, rel=0.1)
    assert late[1] / late[2] == pytest.approx(10.0, rel=0.1)


def critical_damping():
    """d_rob between which the hard contact opens once and doesn't open, bisected until neither
    differs.
    """
    low, high = 83.8, 83.85
    for _ in range(40):
        middle = 0.5 * (low + high)
        opens = len(simulate(replace(TABLE_I, d_rob=middle), "B", 0.2).events) > 1
        low, high = (middle, high) if opens else (low, middle)
    return low


def test_a_grazing_contact_is_guarded_recorded_and_ends():
    damping = critical_damping()
    assert damping == pytest.approx(83.818995, abs=1e-5)
    motion = simulate(replace(TABLE_I, d_rob=damping), "B", 0.4)
    assert [event.kind for event in motion.events] == [IMPACT, GRAZING]
    (guarded,) = motion.times_of(GRAZING)
    after = np.linspace(guarded + 1e-5, 0.4, 200)
    assert contact_force(motion, after).min() >= 0.0
    assert momentum(motion.system, motion.states(after)) == pytest.approx(-100.0 * after, abs=1e-11)


@given(st.floats(83.7, 83.9))
@settings(max_examples=20, deadline=None)
def test_near_grazing_the_loop_over_events_ends(damping):
    motion = simulate(replace(TABLE_I, d_rob=damping), "B", 0.4)
    assert len(motion.events) <= 3
    assert contact_force(motion, np.array([0.4]))[0] == pytest.approx(500.0 / 7.0, rel=0.01)


def test_the_paper_s_bouncing_and_what_is_left_of_it_at_ten_times_the_damping():
    first = simulate(TABLE_I, "A", 0.4)
    since = first.times_of(SEPARATION) - first.impact_time
    assert since[0] < 0.005  # bounces within milliseconds, as the paper says
    damped = simulate(replace(TABLE_I, d_env=1e9), "A", 0.4)
    since = damped.times_of(SEPARATION) - damped.impact_time
    assert len(since) == 1 and 0.02 < since[0] < 0.05  # no bouncing then, but one lift-off


def test_impossible_questions_are_refused_in_one_line(monkeypatch):
    with pytest.raises(ContactIdError, match=r"no impact within 0\.1 s"):
        _ = simulate(TABLE_I, "B", 0.1).impact_time
    with pytest.raises(ContactIdError, match=r"The motion is from 0 to 0\.2 s"):
        simulate(TABLE_I, "B", 0.2).states(np.array([0.3]))
    monkeypatch.setattr("contactid.arm.simulate.two_mass._MOST_EVENTS", 2)
    with pytest.raises(ContactIdError, match="more than 2 contact events"):
        simulate(TABLE_I, "B", 0.4)
