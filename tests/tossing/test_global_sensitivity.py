"""Sobol estimators against closed forms and SciPy's own, and against a sliding box whose variance
has one cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, qmc, sobol_indices, uniform
from test_sensitivity import SLIDING, SPEED, sliding_problem, tossed

from contactid.core.errors import ContactIdError
from contactid.tossing.predict.sobol import (
    GROUPS,
    OUTPUTS,
    InputSpread,
    TossSensitivity,
    global_sensitivity,
    runs_from_unit,
    sobol_table,
    sobol_terms,
    toss_sensitivity,
)
from contactid.tossing.simulate.box import GRAVITY, ContactParameters

NOTHING = InputSpread(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
PARAMETERS = ContactParameters(0.4, 0.2)
N_NUMBERS = sum(GROUPS.values())


def toss_table(tosses: Sequence[TossSensitivity]) -> pd.DataFrame:
    """One row per toss, output and input: indices of that toss alone."""
    rows = []
    for number, toss in enumerate(tosses):
        for o, output in enumerate(OUTPUTS):
            variance = toss.square[o].mean()
            for g, name in enumerate(GROUPS):
                shares = (
                    part[o, g].mean() / variance if variance > 0.0 else np.nan
                    for part in (toss.first, toss.total)
                )
                rows.append((number, output, name, *shares))
    return pd.DataFrame(rows, columns=["toss", "output", "input", "first_order", "total"])


def samples(n, groups, seed=0):
    """A, B and the mixtures of them, group by group, in the unit cube."""
    d = sum(groups)
    points = qmc.Sobol(2 * d, rng=np.random.default_rng(seed)).random(n)
    a, b = points[:, :d], points[:, d:]
    mixed, start = [], 0
    for size in groups:
        mixed.append(a.copy())
        mixed[-1][:, start : start + size] = b[:, start : start + size]
        start += size
    return a, b, np.stack(mixed)


def indices(f_a, f_b, f_ab):
    first, total, square = sobol_terms(f_a, f_b, f_ab)
    return first.mean(axis=1) / square.mean(), total.mean(axis=1) / square.mean()


def ishigami(x):
    x = np.pi * (2.0 * x - 1.0)
    return (
        np.sin(x[..., 0]) + 7.0 * np.sin(x[..., 1]) ** 2 + 0.1 * x[..., 2] ** 4 * np.sin(x[..., 0])
    )


# the estimators


def test_ishigami_function():
    a, b, ab = samples(2**13, (1, 1, 1))
    first, total = indices(ishigami(a)[None], ishigami(b)[None], ishigami(ab)[:, None])
    whole = 3.5**2 * 2 / 4 + 0.1 * np.pi**4 / 5 + 0.01 * np.pi**8 / 18 + 0.5
    one, two = 0.5 * (1 + 0.1 * np.pi**4 / 5) ** 2, 49 / 8
    inter = 0.01 * np.pi**8 * (1 / 18 - 1 / 50)
    assert whole == pytest.approx(one + two + inter)
    assert np.allclose(first, [one / whole, two / whole, 0.0], atol=0.02)
    assert np.allclose(total, [(one + inter) / whole, two / whole, inter / whole], atol=0.02)


def test_agrees_with_scipy():
    a, b, ab = samples(2**10, (1, 1, 1), seed=3)
    first, total = indices(ishigami(a)[None], ishigami(b)[None], ishigami(ab)[:, None])
    theirs = sobol_indices(
        func={"f_A": ishigami(a)[None], "f_B": ishigami(b)[None], "f_AB": ishigami(ab)[:, None]},
        n=2**10,
        dists=[uniform()] * 3,
    )
    assert np.allclose(first, theirs.first_order, atol=5e-3)
    assert np.allclose(total, theirs.total_order, atol=5e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_linear_vector_function_of_groups(seed):
    random = np.random.default_rng(seed)
    slopes = random.normal(size=(4, 2))  # two outputs of four numbers in groups of 1, 2 and 1
    a, b, ab = samples(2**12, (1, 2, 1), seed)
    first, total = indices((a @ slopes).T, (b @ slopes).T, (ab @ slopes).transpose(0, 2, 1))
    share = (slopes**2).sum(axis=1) / (slopes**2).sum()
    expected = [share[0], share[1] + share[2], share[3]]
    assert np.allclose(first, expected, atol=0.02) and np.allclose(total, expected, atol=0.02)


# the inputs


def covariance(seed=1):
    random = np.random.default_rng(seed)
    matrix = np.zeros((12, 12))
    for rows in (np.r_[0:3, 6:9], np.r_[3:6, 9:12]):
        root = 1e-3 * random.normal(size=(6, 6))
        matrix[np.ix_(rows, rows)] = root @ root.T
    return matrix


def test_release_inputs_together_have_the_fit_s_covariance():
    unit = qmc.Sobol(N_NUMBERS, rng=np.random.default_rng(2)).random(2**13)
    runs = runs_from_unit(unit, PARAMETERS, covariance(), InputSpread(release=2.0))
    assert (
        np.abs(np.cov(runs.state.T) / 4.0 - covariance()).max() < 0.03 * np.abs(covariance()).max()
    )


def test_release_position_is_independent_of_the_velocity():
    """Two points that differ in the release_position column alone have the same velocity, not the
    other way round.
    """
    start = sum(list(GROUPS.values())[: list(GROUPS).index("release_position")])
    unit = np.full((2, N_NUMBERS), 0.3)
    unit[1, start : start + 3] = 0.8
    state = runs_from_unit(unit, PARAMETERS, covariance(), InputSpread()).state
    assert np.array_equal(state[0, 3:], state[1, 3:])
    assert np.abs(state[0, :3] - state[1, :3]).min() > 0


def test_contact_parameters_stay_in_range():
    unit = np.vstack([np.zeros(N_NUMBERS), np.ones(N_NUMBERS)])
    low = runs_from_unit(unit, ContactParameters(0.01, 0.0), covariance(), InputSpread())
    assert np.allclose(low.friction_mu, [0.0, 0.1]) and np.allclose(low.restitution_e_n, [0.0, 0.1])
    high = runs_from_unit(unit, ContactParameters(0.4, 0.99), covariance(), InputSpread())
    assert np.allclose(high.friction_mu, [0.35, 0.45]) and np.allclose(
        high.restitution_e_n, [0.9, 1.0]
    )


# tosses


def test_a_sliding_box_with_uncertain_friction_alone():
    found = global_sensitivity(
        sliding_problem(2), PARAMETERS, replace(NOTHING, friction_mu=0.05), 256, 5
    )
    table = sobol_table(found, bootstrap_samples=50)
    position = table[table["output"] == "position"].set_index("input")
    assert position.loc["friction_mu", "first_order"] == pytest.approx(1.0, abs=0.02)
    assert position.loc["friction_mu", "total"] == pytest.approx(1.0, abs=0.02)
    assert (position.drop("friction_mu")["total"] == 0.0).all()
    # x = a / mu with mu uniform in (0.35, 0.45)
    a = 1e3 * SPEED**2 / (2 * GRAVITY)
    deviation = a * np.sqrt(1 / (0.35 * 0.45) - (np.log(0.45 / 0.35) / 0.1) ** 2)
    assert position.iloc[0]["standard_deviation"] == pytest.approx(deviation, rel=0.01)
    assert all(toss.steady for toss in found)


def test_a_sliding_box_with_uncertain_friction_and_speed():
    """x = v^2 / (2 mu g): relative spreads of 2 sd(v) / v and sd(mu) / mu, to first order."""
    spread = np.zeros((12, 12))
    spread[6, 6] = 0.03**2
    problem = released(sliding_problem(1), spread)
    found = global_sensitivity(
        problem, PARAMETERS, replace(NOTHING, friction_mu=0.02, release=1.0), 1024, 5
    )
    table = toss_table(found)
    position = table[table["output"] == "position"].set_index("input")["first_order"]
    speed, friction = (2 * 0.03 / SPEED) ** 2, (0.02 / np.sqrt(3) / PARAMETERS.friction_mu) ** 2
    assert position["release_velocity"] == pytest.approx(speed / (speed + friction), abs=0.02)
    assert position["friction_mu"] == pytest.approx(friction / (speed + friction), abs=0.02)
    assert np.allclose(SLIDING.linear_velocity, [SPEED, 0, 0])


def released(problem, uncertain):
    """The same with starts of another covariance."""
    return replace(problem, tosses=[replace(item, covariance=uncertain) for item in problem.tosses])


def tossed_problem(seeds):
    problem = sliding_problem(len(seeds))
    tosses = [
        replace(item, toss=replace(item.toss, start=tossed(seed), name=f"toss{seed}"))
        for item, seed in zip(problem.tosses, seeds, strict=True)
    ]
    return replace(problem, tosses=tosses)


def test_seeds_fix_everything_and_tosses_are_independent_of_each_other():
    problem = released(tossed_problem([3, 4]), covariance())
    first = toss_table(global_sensitivity(problem, PARAMETERS, InputSpread(), 16, 9))
    again = toss_table(global_sensitivity(problem, PARAMETERS, InputSpread(), 16, 9))
    assert first.equals(again)
    alone = replace(problem, tosses=problem.tosses[:1])
    only = toss_table(global_sensitivity(alone, PARAMETERS, InputSpread(), 16, 9))
    assert only.equals(first[first["toss"] == 0])


def test_base_points_must_be_a_power_of_two():
    problem = sliding_problem(1)
    with pytest.raises(ContactIdError, match="power of 2"):
        toss_sensitivity(
            problem, problem.tosses[0], np.zeros((12, 12)), PARAMETERS, NOTHING, 100, 0
        )


def synthetic(scale, steady, seed):
    """A toss whose outputs are all f = scale (x_0 + x_1), x normal, of the first two groups."""
    a, b, ab = samples(256, (1,) * len(GROUPS), seed)
    terms = sobol_terms(
        *(scale * norm.ppf(x[..., :2]).sum(axis=-1)[..., None, :] for x in (a, b, ab))
    )
    return TossSensitivity(*(np.stack([part] * len(OUTPUTS)) for part in terms), steady)


def test_averages_weigh_by_variance_and_those_of_turns_leave_chaotic_tosses_out():
    calm, wild = synthetic(1.0, True, 1), synthetic(10.0, False, 2)
    table = sobol_table([calm, wild], bootstrap_samples=20)
    row = table.set_index(["output", "input"])
    steady, every = row.loc[("orientation", "friction_mu")], row.loc[("position", "friction_mu")]
    assert steady["n_tosses"] == 1 and every["n_tosses"] == 2
    own = [toss.first[0, 0].mean() for toss in (calm, wild)]
    variance = [toss.square[0].mean() for toss in (calm, wild)]
    assert steady["first_order"] == pytest.approx(own[0] / variance[0])
    assert every["first_order"] == pytest.approx(sum(own) / sum(variance))
    assert steady["first_order_low"] < 0.5 < steady["first_order_high"]
