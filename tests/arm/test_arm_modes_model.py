"""IPOPT on the modes' program agrees with variable projection."""

import numpy as np
import pytest

from contactid.arm.identify.modal_fit import fit_modes, fit_modes_jointly
from contactid.arm.models.modal_signal import FREE, TIED
from contactid.arm.models.modes import modes_model, solve_modes
from contactid.core.errors import ContactIdError

TIME = (np.arange(100) + 0.5) * 1e-3
POLES = np.array([-25.0 + 126.0j, -45.0 + 260.0j])
Z = np.array([-0.17 * np.exp(0.3j), 0.04 * np.exp(1.0j)])


def noisy(seed, modes=2):
    random = np.random.default_rng(seed)
    clean = 0.1 * TIME + (np.exp(np.outer(TIME, POLES[:modes])) @ Z[:modes]).real
    return clean + np.diff(random.normal(0.0, 1e-5, 101)) / 1e-3, float(Z[:modes].real.sum())


@pytest.mark.parametrize("noise", ["white", "differenced"])
@pytest.mark.parametrize("offset", [TIED, FREE])
@pytest.mark.parametrize("modes", [1, 2])
def test_the_found_optimum_is_ipopt_s(noise, offset, modes):
    y, before = noisy(1, modes)
    fit = fit_modes(TIME, y, before, modes=modes, offset=offset, noise=noise)
    answer = solve_modes(modes_model(TIME, y[:, None], [before], fit.poles, offset=offset, noise=noise))
    assert answer.solution.converged
    assert answer.cost == pytest.approx(fit.cost, rel=1e-7)
    assert answer.poles == pytest.approx(fit.poles, rel=1e-4)
    assert answer.post_velocity[0] == pytest.approx(fit.post_velocity, abs=1e-6)


def test_other_starts_lead_to_the_same_optimum_or_a_worse_one():
    y, before = noisy(2)
    fit = fit_modes(TIME, y, before, modes=2, noise="differenced")
    costs = []
    for start in (POLES * 1.1, np.array([-10.0 + 60.0j, -30.0 + 300.0j]), np.array([-100.0 + 100.0j, -5.0 + 450.0j])):
        costs.append(solve_modes(modes_model(TIME, y[:, None], [before], start, noise="differenced")).cost)
    assert min(costs) == pytest.approx(fit.cost, rel=1e-6)
    assert min(costs) >= fit.cost * (1.0 - 1e-7)


def test_components_share_their_poles():
    y, before = noisy(3)
    other, other_before = noisy(4)
    both = np.column_stack([y, 0.5 * other])
    fits = fit_modes_jointly(TIME, both, [before, 0.5 * other_before], modes=2)
    answer = solve_modes(modes_model(TIME, both, [before, 0.5 * other_before], fits[0].poles))
    assert answer.cost == pytest.approx(fits[0].cost, rel=1e-7)
    assert answer.post_velocity == pytest.approx([fit.post_velocity for fit in fits], abs=1e-6)


def test_a_signal_of_zeros_is_refused():
    with pytest.raises(ContactIdError, match="zero throughout"):
        modes_model(TIME, np.zeros((100, 1)), [0.0], POLES)
