"""One derivative-free search for all simulators, ours among them: the same tosses, loss, budget and
code.

An evaluation is the mean loss of eq. 18 (tossing) at one parameter set. Compliant contact models
have more than one valley, and which is deepest shows only on many tosses, so the budget is spent in
three stages on ever more tosses:

1. screen: the catalogue's starting value and a scrambled Sobol sequence in the catalogue's box
   (logarithmic where it says so), on few tosses;
2. compete: a short Nelder-Mead search from each of the best points of the first stage that lie
   apart, on more tosses;
3. refine: the ends of these on all tosses, and from the best of them a Nelder-Mead search with a
   smaller simplex.

The numbers of evaluations and the tosses (the budget: ``tossing.benchmark`` of the configuration)
are fixed beforehand and the same for every simulator. The loss is continuous in the parameters but
not smooth, so no gradient is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from contactid.core.errors import ContactIdError
from contactid.tossing.peers.catalogue import (
    OWN,
    OWN_INCREMENTAL,
    Parameter,
    parameters_of,
    share_of,
    values_at,
)
from contactid.tossing.peers.exchange import ERRORS, Answer, Problem, Request
from contactid.tossing.peers.sessions import OwnSession, PeerSession

# of a toss whose simulation failed: far above what a finite motion of the study reaches
FAILED_LOSS = 100.0
# first steps of the Nelder-Mead searches that compete and that refine, shares of the ranges
_WIDE, _NARROW = 0.1, 0.04
_APART = 0.15  # starts of competing searches differ by this share of the range in some parameter
_AT_BOUND = 0.01  # share of the range that counts as lying at its end


Session = OwnSession | PeerSession


def open_session(simulator: str, problem: Problem) -> Session:
    """A session with any simulator of the catalogue, to be used by ``with``."""
    if simulator in (OWN, OWN_INCREMENTAL):
        return OwnSession(problem, simulator)
    return PeerSession(simulator, problem)


class Evaluation(NamedTuple):
    """One evaluation: parameters by name, mean loss, how many tosses failed and why the first did."""

    parameters: dict[str, float]
    loss: float
    failed: int
    message: str


def draw(n_tosses: int, budget: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices of the tosses of the three stages, each ascending; each stage's tosses are among the
    next one's.
    """
    # one permutation for all simulators, so that they have the same tosses
    order = np.random.default_rng(budget["seed"]).permutation(n_tosses)[: budget["tosses"]]
    few, more = budget["screen_tosses"], max(budget["screen_tosses"], budget["compete_tosses"])
    return np.sort(order[:few]), np.sort(order[:more]), np.sort(order)


def sobol_points(parameters: Sequence[Parameter], count: int, seed: int) -> np.ndarray:
    """The first ``count`` points (count, p) in [0, 1]: the starting values, then a scrambled Sobol
    sequence.
    """
    start = np.array([[share_of(parameter, parameter.start) for parameter in parameters]])
    # Sobol sequences are balanced in powers of 2
    power = max(int(np.ceil(np.log2(max(count - 1, 1)))), 0)
    sequence = qmc.Sobol(len(parameters), scramble=True, rng=seed).random_base2(power)
    return np.vstack([start, sequence[: count - 1]])[:count]


Losses = Callable[[np.ndarray], Sequence[float]]


def minimise(
    screen: Losses,
    compete: Losses,
    refine: Losses,
    parameters: Sequence[Parameter],
    budget: Mapping[str, int],
) -> np.ndarray:
    """The best point (p,) in [0, 1] that ``refine`` was asked for.

    Each of the three functions gives the losses of points (k, p) in [0, 1], on the tosses of its
    stage.
    """
    points = sobol_points(parameters, budget["screened"], budget["seed"])
    starts = _best_apart(points, np.asarray(screen(points)), budget["starts"])
    ends = np.array([nelder_mead(compete, start, budget["competed"], _WIDE)[0] for start in starts])
    losses = np.asarray(refine(ends))
    best, least = ends[int(losses.argmin())], float(losses.min())
    # the ends of the searches were evaluated on all tosses first
    left = budget["refined"] - len(ends)
    return nelder_mead(refine, best, left, _NARROW, known=least)[0] if left else best


def _best_apart(points: np.ndarray, losses: np.ndarray, count: int) -> list[np.ndarray]:
    """The best of the points (k, p) and then the best of those that lie apart from all chosen so
    far.
    """
    chosen: list[np.ndarray] = []
    # stable, so that ties don't depend on the sort
    for index in np.argsort(losses, kind="stable"):
        if all(np.abs(points[index] - other).max() >= _APART for other in chosen):
            chosen.append(points[index])
        if len(chosen) == count:
            break
    return chosen


def nelder_mead(
    losses: Losses, start: np.ndarray, evaluations: int, size: float, known: float | None = None
) -> tuple[np.ndarray, float]:
    """The best point and loss of a Nelder-Mead search in [0, 1] with this many evaluations.

    A point outside counts as infinitely bad and costs nothing: moved to the boundary instead, the
    corners of the simplex would fall together there. ``size`` is the length of the first simplex's
    edges, ``known`` the loss at the start where it was evaluated before.
    """
    tried: list[tuple[float, np.ndarray]] = [] if known is None else [(known, start)]
    total = evaluations + len(tried)

    def one(point: np.ndarray) -> float:
        if known is not None and np.array_equal(point, start):
            return known
        if point.min() < 0.0 or point.max() > 1.0:
            return np.inf
        if len(tried) == total:
            raise StopIteration
        tried.append((float(losses(point[None])[0]), point.copy()))
        return tried[-1][0]

    # inwards at the upper end
    steps = np.where(start + size > 1.0, -size, size)
    simplex = np.vstack([start, start + np.diag(steps)])
    # tolerances of 0: only the budget ends a search
    options: Any = {"initial_simplex": simplex, "xatol": 0.0, "fatol": 0.0, "maxfev": 100 * total}
    with suppress(StopIteration):  # the evaluations are spent
        minimize(one, start, method="Nelder-Mead", options=options)
    loss, best = min(tried, key=lambda pair: pair[0])
    return best, loss


def identify(simulator: str, problem: Problem, budget: Mapping[str, int]) -> dict[str, Any]:
    """Search a simulator's parameters for the least mean loss over the problem's tosses, as many as
    the budget allows.

    Returns the record that :func:`contactid.output.fits.write_fit` takes. ``objective`` is over the
    tosses of the refinement, ``at_bound`` names parameters at the end of their range;
    ``failed_evaluations`` had a failed toss; ``seconds_per_evaluation`` were spent in the
    simulator's own stepping, mean over the refinement.

    Raises :class:`ContactIdError` where the simulator can't be asked, or failed on every toss even
    at the best parameters.
    """
    begin = time.perf_counter()
    stages = draw(problem.n_tosses, budget)
    parameters = parameters_of(simulator)
    sessions = [open_session(simulator, problem.take(tosses)) for tosses in stages]
    with ExitStack() as stack:
        for session in sessions:
            stack.enter_context(session)
        objectives = [_Objective(session, budget["substeps"]) for session in sessions]
        minimise(objectives[0], objectives[1], objectives[2], parameters, budget)
    last, n_tosses = objectives[-1], len(stages[-1])
    # of the refinement alone, whose losses are over all tosses
    best = min(last.history, key=lambda evaluation: evaluation.loss)
    # the penalty alone would look like a loss
    if best.failed == n_tosses:
        raise ContactIdError(
            f"{last.version} failed on every toss ({best.message})",
            "Look at the body and the starts",
        )
    history = [evaluation for objective in objectives for evaluation in objective.history]
    at_bound = [
        parameter.name
        for parameter in parameters
        if not _AT_BOUND < share_of(parameter, best.parameters[parameter.name]) < 1.0 - _AT_BOUND
    ]
    return {
        "parameters": best.parameters,
        "objective": best.loss,
        "status": "budget spent",
        "converged": not at_bound,
        "residuals": {"failed_evaluations": sum(evaluation.failed > 0 for evaluation in history)},
        "iterations": len(history),
        "seconds": time.perf_counter() - begin,
        "seed": budget["seed"],
        "data": {"part": "identification", "n_tosses": n_tosses},
        "model": f"{last.version}, {budget['substeps']} steps per sample",
        "reformulation": "simulation and search (eqs. 16 and 18)",
        "simulator": last.version,
        "at_bound": at_bound,
        "seconds_per_evaluation": float(np.mean(last.seconds)),
        "budget": dict(budget),
    }


class _Objective:
    """Mean losses of points in [0, 1]; keeps every evaluation."""

    def __init__(self, session: Session, substeps: int) -> None:
        self._session, self._substeps = session, substeps
        self._parameters = parameters_of(session.name)
        self.history: list[Evaluation] = []
        self.seconds: list[float] = []
        self.version = session.name

    def __call__(self, points: np.ndarray) -> list[float]:
        values = np.column_stack(
            [
                values_at(parameter, points[:, column])
                for column, parameter in enumerate(self._parameters)
            ]
        )
        request = _request(self._parameters, values, self._substeps)
        answer = self._session.ask(request)
        self.version = answer.simulator
        self.seconds.extend(float(value) for value in answer.seconds)
        means = [float(mean) for mean in penalised(answer).mean(axis=1)]
        for row, mean in enumerate(means):
            failed = int(answer.failed[row].sum())
            self.history.append(
                Evaluation(request.parameters(row), mean, failed, str(answer.message[row]))
            )
        return means


def evaluate(
    session: Session, parameters: Mapping[str, float], substeps: int, want: str = ERRORS
) -> Answer:
    """Simulate the session's tosses at one parameter set."""
    ordered = parameters_of(session.name)
    values = np.array([[parameters[parameter.name] for parameter in ordered]])
    return session.ask(_request(ordered, values, substeps, want))


def simulations(n_tosses: int, budget: Mapping[str, int]) -> int:
    """How many tosses :func:`identify` simulates in all, of so many that it is given."""
    few, more, every = map(len, draw(n_tosses, budget))
    return (
        budget["screened"] * few
        + budget["starts"] * budget["competed"] * more
        + budget["refined"] * every
    )


def penalised(answer: Answer) -> np.ndarray:
    """Losses (k, t) with failed tosses at :data:`FAILED_LOSS`."""
    return np.where(answer.failed, FAILED_LOSS, answer.loss)


def _request(
    parameters: Sequence[Parameter], values: np.ndarray, substeps: int, want: str = ERRORS
) -> Request:
    return Request(np.array([parameter.name for parameter in parameters]), values, substeps, want)
