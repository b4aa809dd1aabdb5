"""The modal fit recovers what a signal was made of, finds the global optimum, and knows how sure it
is.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.arm.identify.modal_fit import fit_modes, fit_modes_jointly
from contactid.arm.identify.modal_search import (
    _project,
    _projected_slopes,
    cost_at,
    polish,
    search,
)
from contactid.arm.models.modal_signal import (
    DIFFERENCED,
    FREE,
    HIGH,
    LOW,
    TIED,
    WHITE,
    ModalProblem,
    poles_of,
)
from contactid.core.errors import ContactIdError

TIME = (np.arange(150) + 0.5) * 1e-3
DT = 1e-3
ONE = np.array([-25.0 + 126.0j])
TWO = np.array([-25.0 + 126.0j, -45.0 + 260.0j])
ONE_Z = np.array([-0.17 * np.exp(0.3j)])
TWO_Z = np.array([-0.17 * np.exp(0.3j), 0.03 * np.exp(1.0j)])


def velocity(time, poles, z, post, slope=0.1):
    return post + slope * time + (np.exp(np.outer(time, poles)) @ z).real


def position(time, poles, z, post, slope=0.1):
    return post * time + slope * time**2 / 2.0 + ((np.exp(np.outer(time, poles)) / poles) @ z).real


def before(z, post):
    return post + float(z.real.sum())


@pytest.mark.parametrize("offset", [TIED, FREE])
@pytest.mark.parametrize("noise", [WHITE, DIFFERENCED])
@pytest.mark.parametrize(("poles", "z"), [(ONE, ONE_Z), (TWO, TWO_Z)])
def test_exact_signals_are_recovered(offset, noise, poles, z):
    y = velocity(TIME, poles, z, -0.003)
    fit = fit_modes(TIME, y, before(z, -0.003), modes=len(poles), offset=offset, noise=noise)
    assert fit.post_velocity == pytest.approx(-0.003, abs=1e-11)
    assert fit.slope == pytest.approx(0.1, abs=1e-8)
    assert fit.poles == pytest.approx(poles, rel=1e-7)
    assert fit.amplitude * np.exp(1j * fit.phase) == pytest.approx(z, abs=1e-9)
    assert fit.evaluate(TIME) == pytest.approx(y, abs=1e-10)
    assert fit.affine(0.0) == pytest.approx(fit.post_velocity)
    assert fit.converged and not fit.at_bound


def test_three_modes_are_recovered():
    poles = np.array([-20.0 + 80.0j, -30.0 + 190.0j, -60.0 + 400.0j])
    z = np.array([0.1, -0.04j, 0.02 + 0.01j])
    fit = fit_modes(TIME, velocity(TIME, poles, z, 0.2), before(z, 0.2), modes=3)
    assert fit.poles == pytest.approx(poles, rel=1e-5)
    assert fit.post_velocity == pytest.approx(0.2, abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(
    decay=st.floats(5.0, 80.0),
    frequency=st.floats(8.0, 60.0),
    amplitude=st.floats(0.02, 0.5),
    phase=st.floats(-np.pi, np.pi),
    post=st.floats(-0.3, 0.3),
    slope=st.floats(-1.0, 1.0),
)
def test_one_mode_is_recovered_whatever_it_is(decay, frequency, amplitude, phase, post, slope):
    poles = np.array([-decay + 2j * np.pi * frequency])
    z = np.array([amplitude * np.exp(1j * phase)])
    fit = fit_modes(TIME, velocity(TIME, poles, z, post, slope), before(z, post))
    assert fit.post_velocity == pytest.approx(post, abs=1e-7)
    assert fit.poles == pytest.approx(poles, rel=1e-5)
    assert fit.amplitude[0] >= 0.0 and fit.poles[0].imag > 0.0 and fit.poles[0].real < 0.0


def test_means_over_intervals_are_told_from_instants():
    fast = np.array([-60.0 + 450.0j])
    edges = np.arange(151) * DT
    y = np.diff(position(edges, fast, ONE_Z, 0.05)) / DT
    pre = before(ONE_Z, 0.05)
    mean = fit_modes(TIME, y, pre, averaging=DT)
    instant = fit_modes(TIME, y, pre)
    assert mean.post_velocity == pytest.approx(0.05, abs=1e-10)
    assert abs(instant.post_velocity - 0.05) > 1e-5


def test_differenced_noise_is_least_squares_on_positions():
    """Whitened residuals are those of positions with a free origin, less nothing else."""
    random = np.random.default_rng(3)
    y = random.normal(size=(40, 1))
    problem = ModalProblem(np.arange(40) * DT, y, TIED, DIFFERENCED)
    difference = np.diff(np.eye(41), axis=0) / DT
    metric = np.linalg.inv(difference @ difference.T)
    assert (problem.target**2).sum() == pytest.approx(float(y[:, 0] @ metric @ y[:, 0]), rel=1e-9)


def test_projected_gradient_is_that_of_the_reduced_cost():
    random = np.random.default_rng(5)
    y = (velocity(TIME, TWO, TWO_Z, 0.1) + random.normal(0.0, 0.01, 150))[:, None]
    problem = ModalProblem(TIME, y, FREE)
    point = np.array([[-30.0, 140.0, -50.0, 230.0]])
    poles = poles_of(point[0])
    rest = _project(problem, poles).rest.ravel()
    gradient = 2.0 * rest @ _projected_slopes(problem, poles)
    for k in range(4):
        step = np.zeros((1, 4))
        step[0, k] = 1e-3
        high, low = (p[:, 0::2] + 1j * p[:, 1::2] for p in (point + step, point - step))
        numeric = (cost_at(problem, high)[0] - cost_at(problem, low)[0]) / 2e-3
        assert gradient[k] == pytest.approx(numeric, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("modes", "weak"), [(1, 0.03), (2, 0.03), (2, 0.0)])
def test_the_search_finds_what_many_random_starts_find(modes, weak):
    random = np.random.default_rng(11)
    poles, z = TWO, np.array([TWO_Z[0], weak])
    for _ in range(4):
        noisy = velocity(TIME, poles, z, 0.0) + np.diff(random.normal(0.0, 5e-6, 151)) / DT
        problem = ModalProblem(TIME, (noisy - before(z, 0.0))[:, None], TIED, DIFFERENCED, DT)
        starts = random.uniform(LOW[0], HIGH[0], (60, modes)) + 1j * random.uniform(
            LOW[1], HIGH[1], (60, modes)
        )
        reference = polish(problem, starts).costs[0]
        assert search(problem, modes).costs[0] <= reference * (1.0 + 1e-6)


def monte_carlo(modes, poles, z, n=60, **settings):
    random = np.random.default_rng(19)
    clean, pre = velocity(TIME, poles, z, -0.003), before(z, -0.003)
    errors, ses = [], []
    for _ in range(n):
        y = clean + np.diff(random.normal(0.0, 1e-5, 151)) / DT
        fit = fit_modes(TIME, y, pre, modes=modes, noise=DIFFERENCED, **settings)
        errors.append(fit.post_velocity + 0.003)
        ses.append(fit.post_velocity_se)
    return np.array(errors), np.array(ses)


@pytest.mark.parametrize(("poles", "z"), [(ONE, ONE_Z), (TWO, TWO_Z)])
def test_standard_errors_are_right_for_differenced_positions(poles, z):
    errors, ses = monte_carlo(len(poles), poles, z)
    assert np.std(errors) == pytest.approx(np.mean(ses), rel=0.35)
    assert np.mean(np.abs(errors) < 1.96 * ses) >= 0.85
    assert abs(errors.mean()) < 3e-4


def test_sensitivities_are_derivatives():
    random = np.random.default_rng(23)
    y = velocity(TIME, ONE, ONE_Z, -0.003) + np.diff(random.normal(0.0, 1e-5, 151)) / DT
    pre = before(ONE_Z, -0.003)
    for offset in (TIED, FREE):
        fit = fit_modes(TIME, y, pre, offset=offset, noise=DIFFERENCED)
        later, earlier = (
            fit_modes(TIME - shift, y, pre, offset=offset, noise=DIFFERENCED).post_velocity
            for shift in (1e-5, -1e-5)
        )
        # an impact time that is unsure by a second widens the error by the derivative
        unsure = fit_modes(TIME, y, pre, offset=offset, noise=DIFFERENCED, impact_time_se=1.0)
        widened = np.sqrt(unsure.post_velocity_se**2 - fit.post_velocity_se**2)
        assert widened == pytest.approx(abs(later - earlier) / 2e-5, rel=0.02, abs=1e-4)


def test_an_unsure_impact_time_and_v_minus_widen_the_interval():
    y, pre = velocity(TIME, ONE, ONE_Z, 0.0), before(ONE_Z, 0.0)
    fit = fit_modes(TIME, y, pre, pre_velocity_se=1e-3, impact_time_se=1e-3)
    more, less = (fit_modes(TIME, y, pre + change).post_velocity for change in (1e-5, -1e-5))
    by_pre_velocity = (more - less) / 2e-5
    later, earlier = (fit_modes(TIME - by, y, pre).post_velocity for by in (1e-5, -1e-5))
    by_impact_time = (later - earlier) / 2e-5
    expected = np.hypot(by_pre_velocity * 1e-3, by_impact_time * 1e-3)
    assert fit.post_velocity_se == pytest.approx(expected, rel=1e-3)
    assert fit.post_velocity_se > 1e-4


def test_given_poles_make_the_fit_linear_and_pass_their_uncertainty_on():
    y = velocity(TIME, ONE, 0.5 * ONE_Z, 0.1)
    pre = before(0.5 * ONE_Z, 0.1)
    sure = fit_modes(TIME, y, pre, poles=ONE)
    unsure = fit_modes(TIME, y, pre, poles=ONE, pole_covariance=np.diag([1.0, 1.0]))
    assert sure.post_velocity == pytest.approx(0.1, abs=1e-12)
    assert sure.poles == pytest.approx(ONE)
    later = (
        fit_modes(TIME, y, pre, poles=ONE + 1e-4).post_velocity
        - fit_modes(TIME, y, pre, poles=ONE).post_velocity
    )
    turned = fit_modes(TIME, y, pre, poles=ONE + 1e-4j).post_velocity - sure.post_velocity
    assert unsure.post_velocity_se == pytest.approx(np.hypot(later, turned) / 1e-4, rel=1e-3)


def test_components_with_shared_poles_are_found_whatever_their_noise_s_correlation():
    z = np.array([[0.1, -0.05j], [0.02, 0.08]])
    y = np.column_stack([velocity(TIME, TWO, z[0], 0.2), velocity(TIME, TWO, z[1], -0.1)])
    pre = [before(z[0], 0.2), before(z[1], -0.1)]
    for covariance in (None, [[2.0, 0.9], [0.9, 1.0]]):
        fits = fit_modes_jointly(TIME, y, pre, modes=2, noise_covariance=covariance)
        assert [fit.post_velocity for fit in fits] == pytest.approx([0.2, -0.1], abs=1e-9)
        assert fits[0].poles == pytest.approx(TWO, rel=1e-7)
        assert fits[1].amplitude * np.exp(1j * fits[1].phase) == pytest.approx(z[1], abs=1e-8)


def test_a_mode_beyond_the_bounds_is_reported():
    fast = np.array([-20.0 + 2j * np.pi * 85.0])
    fit = fit_modes(TIME, velocity(TIME, fast, ONE_Z, 0.0), before(ONE_Z, 0.0))
    assert fit.at_bound and fit.frequency_hz == pytest.approx(80.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"time": TIME[:5], "velocity": TIME[:5]}, "5 samples for 1 modes"),
        ({"velocity": np.full(150, np.nan)}, "finite"),
        ({"time": np.sort(np.random.default_rng(0).uniform(0, 0.1, 150))}, "evenly"),
        ({"time": TIME[::-1]}, "ascending"),
        ({"velocity": np.zeros((150, 2))}, "belong together"),
        ({"velocity": np.zeros(149)}, "belong together"),
    ],
)
def test_what_cannot_be_fitted_is_said_in_one_line(change, said):
    given_ = {"time": TIME, "velocity": np.zeros(150), "pre_velocity": 0.0} | change
    with pytest.raises(ContactIdError, match=said) as caught:
        fit_modes(given_.pop("time"), given_.pop("velocity"), given_.pop("pre_velocity"), **given_)
    assert "\n" not in str(caught.value)
