"""The search that all simulators share spends its budget, finds known optima and keeps its
failures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.sources.motion import BodyProperties
from contactid.tossing.peers import search
from contactid.tossing.peers.catalogue import (
    OWN,
    OWN_INCREMENTAL,
    SIMULATORS,
    Parameter,
    parameters_of,
    share_of,
    values_at,
)
from contactid.tossing.peers.sessions import OwnSession
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from peer_problems import BUDGET, problem, start

STAGES = [
    BUDGET["screened"],
    BUDGET["starts"] * BUDGET["competed"],
    BUDGET["refined"],
]  # evaluations

# the search


def bowl(minimum: np.ndarray, asked: list[int]):
    def losses(points: np.ndarray) -> list[float]:
        asked.append(len(points))
        return [
            float(np.abs(point - minimum).sum() + 0.1 * np.cos(9 * point[0])) for point in points
        ]

    return losses


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_search_spends_exactly_its_budget_and_repeats(simulator):
    parameters, budget = parameters_of(simulator), BUDGET
    runs = []
    for _ in range(2):
        asked: list[list[int]] = [[], [], []]
        stages = [bowl(np.array([0.31, 0.62, 0.17][: len(parameters)]), stage) for stage in asked]
        runs.append(search.minimise(*stages, parameters, budget))
        assert [sum(stage) for stage in asked] == STAGES
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
    few, more, every = search.draw(329, BUDGET)
    assert (len(few), len(more), len(every)) == (40, 80, 329)
    assert set(few) < set(more) < set(every)
    assert [len(part) for part in search.draw(20, BUDGET)] == [20, 20, 20]
    assert search.simulations(329, BUDGET) == 64 * 40 + 3 * 16 * 80 + 24 * 329


@given(
    st.sampled_from([one for name in SIMULATORS for one in parameters_of(name)]),
    st.floats(0.0, 1.0),
)
def test_shares_of_a_range_come_back(parameter: Parameter, share: float):
    value = float(values_at(parameter, np.array(share)))
    assert parameter.low * (1 - 1e-12) <= value <= parameter.high * (1 + 1e-12)
    assert share_of(parameter, value) == pytest.approx(share, abs=1e-9)
    assert parameter.low < parameter.start < parameter.high


def recorded(monkeypatch, session):
    """The answers that a search is given by our own sessions from now on."""
    answers = []

    class Recorded(session):
        def ask(self, request):
            answers.append(super().ask(request))
            return answers[-1]

    monkeypatch.setattr(search, "OwnSession", Recorded)
    return answers


@pytest.mark.parametrize(("simulator", "law"), [(OWN, "newton"), (OWN_INCREMENTAL, "incremental")])
def test_our_own_parameters_are_found_again(simulator, law, monkeypatch):
    random = np.random.default_rng(3)
    turns = [rotations.exp(random.uniform(-1, 1, 3)) for _ in range(12)]
    starts = [
        start([0, 0, 0.12], [random.uniform(0.5, 1.5), 0, -0.5], random.uniform(-6, 6, 3), turn)
        for turn in turns
    ]
    what = problem(*starts, n=70)
    body = BodyProperties(what.vertices, what.mass, what.inertia, what.center_of_mass)
    options = SteppingOptions(what.time_step, law=law)
    motions = [
        simulate(
            body, State(*np.split(one, [3, 7, 10])), ContactParameters(0.32, 0.15), options, 70
        )
        for one in starts
    ]
    measured = replace(
        what,
        position=np.concatenate([motion.position for motion in motions]),
        orientation=np.concatenate([motion.orientation for motion in motions]),
    )
    answers = recorded(monkeypatch, OwnSession)
    found = search.identify(simulator, measured, {**BUDGET, "substeps": 1})
    history = [loss for answer in answers for loss in search.penalised(answer).mean(axis=1)]
    assert found["iterations"] == sum(STAGES) == len(history)
    assert found["parameters"]["friction_mu"] == pytest.approx(0.32, abs=0.01)
    assert found["objective"] == min(history[-24:])
    assert found["simulator"] == simulator and found["data"]["n_tosses"] == 12
    assert found["residuals"]["failed_evaluations"] == 0 and found["at_bound"] == []


def test_failed_tosses_count_and_are_recorded(monkeypatch):
    class Failing(OwnSession):
        def ask(self, request):
            answer = super().ask(request)
            failed = np.repeat(request.values[:, :1] > 0.3, self.problem.n_tosses, axis=1)
            loss = np.where(failed, np.nan, answer.position_error)
            return replace(answer, position_error=loss, rotation_error=loss, failed=failed)

    answers = recorded(monkeypatch, Failing)
    found = search.identify(
        OWN, problem(start([0, 0, 0.06], [1, 0, 0]), n=5), {**BUDGET, "substeps": 1}
    )
    assert found["parameters"]["friction_mu"] <= 0.3
    failures = [search.penalised(answer)[answer.failed] for answer in answers]
    assert 0 < found["residuals"]["failed_evaluations"] == sum(map(len, failures))
    assert (np.concatenate(failures) == search.FAILED_LOSS).all()
