"""The search that all simulators share spends its budget, finds known optima and keeps its failures; comparisons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.tossing.peers import search
from contactid.tossing.peers.catalogue import OWN, OWN_TANGENTIAL, SIMULATORS, Parameter, parameters_of
from contactid.tossing.peers.comparison import paired_difference
from contactid.tossing.peers.exchange import TRAJECTORY
from contactid.tossing.peers.sessions import OwnSession
from peer_problems import problem, start

# the search


def bowl(minimum: np.ndarray, asked: list[int]):
    def losses(points: np.ndarray) -> list[float]:
        asked.append(len(points))
        return [float(np.abs(point - minimum).sum() + 0.1 * np.cos(9 * point[0])) for point in points]

    return losses


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_search_spends_exactly_its_budget_and_repeats(simulator):
    parameters, budget = parameters_of(simulator), search.Budget()
    runs = []
    for _ in range(2):
        asked: list[list[int]] = [[], [], []]
        stages = [bowl(np.array([0.31, 0.62, 0.17][: len(parameters)]), stage) for stage in asked]
        runs.append(search.minimise(*stages, parameters, budget))
        assert [sum(stage) for stage in asked] == [budget.screened, budget.starts * budget.competed, budget.refined]
    assert np.array_equal(*runs)
    assert np.abs(runs[0] - np.array([0.31, 0.62, 0.17][: len(parameters)])).max() < 0.03


def test_nelder_mead_keeps_the_best_and_stays_inside():
    seen = []

    def losses(points):
        seen.extend(points)
        return [float((point - 1.2) @ (point - 1.2)) for point in points]

    best, loss = search.nelder_mead(losses, np.array([0.9, 0.95]), 30, 0.1)
    assert len(seen) == 30 and np.min(seen) >= 0.0 and np.max(seen) <= 1.0
    assert loss == min((point - 1.2) @ (point - 1.2) for point in seen)
    assert best == pytest.approx([1.0, 1.0], abs=1e-3)
    known = search.nelder_mead(losses, np.array([0.5, 0.5]), 1, 0.1, known=-1.0)
    assert len(seen) == 31 and known[1] == -1.0 and known[0].tolist() == [0.5, 0.5]


def test_stages_share_their_tosses():
    few, more, every = search.draw(329, search.Budget())
    assert (len(few), len(more), len(every)) == (40, 80, 329)
    assert set(few) < set(more) < set(every)
    assert [len(part) for part in search.draw(20, search.Budget())] == [20, 20, 20]


@given(st.sampled_from([one for name in SIMULATORS for one in parameters_of(name)]), st.floats(0.0, 1.0))
def test_shares_of_a_range_come_back(parameter: Parameter, share: float):
    value = float(parameter.from_unit(np.array(share)))
    assert parameter.low * (1 - 1e-12) <= value <= parameter.high * (1 + 1e-12)
    assert parameter.to_unit(value) == pytest.approx(share, abs=1e-9)
    assert parameter.low < parameter.start < parameter.high


@pytest.mark.parametrize(
    ("simulator", "truth", "within"),
    [
        (OWN, {"friction_mu": 0.32, "restitution_e_n": 0.15}, 0.01),
        (OWN_TANGENTIAL, {"friction_mu": 0.32, "restitution_e_n": 0.15, "restitution_e_t": 0.3}, 0.05),
    ],
)
def test_our_own_parameters_are_found_again(simulator, truth, within):
    random = np.random.default_rng(3)
    turns = [rotations.exp(random.uniform(-1, 1, 3)) for _ in range(12)]
    starts = [
        start([0, 0, 0.12], [random.uniform(0.5, 1.5), 0, -0.5], random.uniform(-6, 6, 3), turn) for turn in turns
    ]
    what = problem(*starts, n=70)
    with OwnSession(what, simulator) as opened:
        exact = search.evaluate(opened, truth, 1, TRAJECTORY)
    measured = replace(what, position=exact.position[0], orientation=exact.orientation[0])
    found = search.identify(simulator, measured, search.Budget(substeps=1))
    assert found.evaluations == search.Budget().evaluations == len(found.history)
    assert found.parameters["friction_mu"] == pytest.approx(0.32, abs=within)
    assert found.loss == min(one.loss for one in found.history[-24:])
    assert found.simulator == simulator and found.tosses == 12
    assert found.failed_evaluations == 0 and found.at_bound == ()


def test_failed_tosses_count_and_are_recorded(monkeypatch):
    class Failing(OwnSession):
        def ask(self, request):
            answer = super().ask(request)
            failed = np.repeat(request.values[:, :1] > 0.3, self.problem.n_tosses, axis=1)
            loss = np.where(failed, np.nan, answer.position_error)
            return replace(answer, position_error=loss, rotation_error=loss, failed=failed)

    monkeypatch.setattr(search, "OwnSession", Failing)
    found = search.identify(OWN, problem(start([0, 0, 0.06], [1, 0, 0]), n=5), search.Budget(substeps=1))
    assert found.parameters["friction_mu"] <= 0.3
    failures = [one for one in found.history if one.failed]
    assert 0 < found.failed_evaluations == len(failures)
    assert all(one.loss == search.FAILED_LOSS for one in failures)


# comparison


def test_a_paired_interval_covers_the_difference_and_repeats():
    random = np.random.default_rng(0)
    hard = random.gamma(1.0, 0.3, 140)  # what both simulators find hard
    first, second = hard + random.normal(0, 0.01, 140), hard + 0.02 + random.normal(0, 0.01, 140)
    result = paired_difference(first, second, seed=1)
    assert result == paired_difference(first, second, seed=1)
    assert result.low < result.difference < result.high and result.decided
    assert result.high - result.low < 0.01, "not the scatter of the tosses themselves"
    assert result.difference == pytest.approx(second.mean() - first.mean())
    assert not paired_difference(first, first + random.normal(0, 1.0, 140), seed=1).decided
    standard = np.std(second - first, ddof=1) / np.sqrt(140)
    assert result.high - result.low == pytest.approx(3.92 * standard, rel=0.1)


def test_tumbling_tosses_can_be_left_out():
    first, second, tumbled = np.zeros(10), np.r_[np.ones(5), np.zeros(5)], np.arange(10) < 5
    every = paired_difference(first, second, seed=0, samples=100)
    still = paired_difference(first, second, seed=0, samples=100, keep=~tumbled)
    assert (every.difference, still.difference, still.n) == (0.5, 0.0, 5)


def test_losses_that_do_not_belong_together_are_refused():
    with pytest.raises(ContactIdError, match="not of the same tosses"):
        paired_difference(np.zeros(3), np.zeros(4), seed=0)
    with pytest.raises(ContactIdError, match="NaN"):
        paired_difference(np.zeros(3), np.array([0, np.nan, 0]), seed=0)
