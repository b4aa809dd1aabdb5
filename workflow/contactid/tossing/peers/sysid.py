"""MuJoCo's own identification, ``mujoco.sysid``, on a problem's tosses: a program for MuJoCo's
environment.

``python -m contactid.tossing.peers.sysid problem.npz found.json simulations substeps``

Its optimiser is Gauss-Newton with derivatives by finite differences. It gets the peer's own
simulation, the catalogue's starting values, and parameters as shares of the catalogue's ranges, so
that one step fits all of them. A residual is a pose's error, position over length and turn in rad,
divided by the root of the number of samples: the sum of squares is eq. 18 (tossing) with squares in
place of sizes.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from mujoco import sysid

from contactid.tossing.peers.catalogue import parameters_of, share_of, values_at
from contactid.tossing.peers.exchange import TRAJECTORY, Answer, Problem, Request
from contactid.tossing.peers.mujoco import MuJoCo
from contactid.tossing.peers.run import answer
from contactid.tossing.peers.simulator import product

# Of the finite differences, as shares of the ranges: the optimiser's own, and one that sees across
# contacts that come and go. Both are tried, for neither is better on all data.
STEPS = (float(np.sqrt(np.finfo(float).eps)), 0.02)
_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
_DIVERGED = 1.0  # the residual of a sample whose simulation failed


class _SpentError(Exception):
    """No simulations are left."""


def residuals(problem: Problem, simulated: Answer) -> np.ndarray:
    """Weighted pose errors (k, 6 n) of k parameter sets over n samples."""
    sizes = np.diff(problem.rows)
    weight = np.repeat(1.0 / np.sqrt(sizes), sizes)[:, None]
    moved = (simulated.position - problem.position) / problem.length
    turned = product(simulated.orientation, problem.orientation * _CONJUGATE)
    # twice the sine of half the angle, along the shorter way round
    turn = 2.0 * turned[..., 1:] * np.sign(turned[..., :1])
    both = np.concatenate([weight * moved, weight * turn], axis=-1)
    return np.nan_to_num(both, nan=_DIVERGED).reshape(len(both), -1)


def identify(problem: Problem, simulations: int, substeps: int, step: float) -> dict[str, Any]:
    """The best parameters that the optimiser tried within so many simulated tosses.

    Returned are ``parameters``, their ``cost`` (the sum of squares), the ``step`` of the finite
    differences, ``iterations`` of the optimiser, ``simulated`` tosses, and the ``simulator``.
    """
    parameters = parameters_of("mujoco")
    names = np.array([parameter.name for parameter in parameters])
    starts = sysid.ParameterDict()
    for parameter in parameters:
        # shares of the ranges are all between 0 and 1
        share = share_of(parameter, parameter.start)
        starts.add(sysid.Parameter(parameter.name, share, 0.0, 1.0))
    tried: list[tuple[float, np.ndarray]] = []
    iterations = 0

    def residual_of(shares: np.ndarray, _: object) -> tuple[list[np.ndarray], None, None]:
        points = np.atleast_2d(shares.T)
        # the budget is in simulated tosses, as the search's is
        if (len(tried) + len(points)) * problem.n_tosses > simulations:
            raise _SpentError
        columns = zip(parameters, points.T, strict=True)
        values = np.column_stack([values_at(parameter, column) for parameter, column in columns])
        errors = residuals(
            problem, answer(MuJoCo, problem, Request(names, values, substeps, TRAJECTORY))
        )
        tried.extend(zip((errors**2).sum(axis=1), values, strict=True))
        return [errors.T], None, None

    def count(trace: list[Any]) -> None:
        nonlocal iterations
        iterations = len(trace) - 1

    with suppress(_SpentError):
        sysid.optimize(starts, residual_of, verbose=False, eps=step, iter_callback=count)
    cost, best = min(tried, key=lambda pair: pair[0])
    return {
        "parameters": dict(zip(names.tolist(), best.tolist(), strict=True)),
        "cost": cost,
        "step": step,
        "iterations": iterations,
        "simulated": len(tried) * problem.n_tosses,
        "simulator": f"{MuJoCo.name} {MuJoCo.version}, mujoco.sysid",
    }


def main(problem: str, found: str, simulations: str, substeps: str) -> None:
    """Identify with either step, and write what :func:`identify` returns for the one of less cost."""
    tosses, results = Problem.load(problem), []
    for step in STEPS:
        results.append(identify(tosses, int(simulations), int(substeps), step))
    best = min(results, key=lambda result: result["cost"])
    Path(found).write_text(json.dumps(best), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
