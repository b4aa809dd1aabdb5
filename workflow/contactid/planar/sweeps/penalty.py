"""Eq. 27 as the paper states it: an even grid, and one weight for eq. 26 in the objective.

The project's own identification drives the penalty to its limit on a grid that moves
(:mod:`contactid.planar.identify.fit`). What the paper says of its answers, impulses before the gap
is closed and over several instants, is about this program. Its weights aren't printed, so it is
solved with more than one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.complementarity import Continuation, Reformulation, attach, solve_mpec
from contactid.core.solve import SolverOptions
from contactid.planar.identify.fit import FitOptions, read_states, scales_of
from contactid.planar.identify.starts import interpolated_throw
from contactid.planar.identify.states import ThrowStates
from contactid.planar.models.trajectory import Guess, build_trajectory_model, sub_steps_of
from contactid.planar.simulate.geometry import Shape
from contactid.planar.simulate.throws import MeasuredThrow

_SOLVER = SolverOptions(tolerance=1e-5, max_iterations=300)
_FRICTION = 0.3  # to start with


@dataclass(frozen=True)
class PenaltyFit:
    """An answer of eq. 27.

    Attributes
    ----------
    states : on the even grid
    residual : largest ``|min(a, b)|`` over the pairs of eq. 26, dimensionless
    """

    states: ThrowStates
    residual: float


def fit_with_one_weight(
    shape: Shape,
    throw: MeasuredThrow,
    options: FitOptions,
    *,
    weight: float,
) -> PenaltyFit:
    """Solve eq. 27 for a throw from its measured poses, without impulses to start with.

    ``weight`` is that of the squared products of eq. 26, dimensionless as
    :mod:`contactid.planar.models.trajectory` has them; those of the poses are their noise's.
    """
    n_s, scales = sub_steps_of(throw, options.longest_step), scales_of(shape, throw)
    start = Guess(shape.uniform_inertia_ratio, _FRICTION, interpolated_throw(shape, throw, n_s))
    built = build_trajectory_model(shape, throw, start, scales, n_s, options.gravity)
    for share in built.model.throw.share.values():
        # the paper's even grid
        share.fix(1.0)
    pairs = attach(built.model, built.pairs, Reformulation.SQUARED_PENALTY)
    # one weight, and nothing is settled: its residuals are what is asked for
    once = Continuation(pairs.reformulation, (weight,), settle=False)
    solution = solve_mpec(pairs, once, _SOLVER)
    states = read_states(built, shape, throw)
    return PenaltyFit(states, solution.residual)


def spread_share(states: ThrowStates, impacts: np.ndarray) -> np.ndarray:
    """(n,) share of each impact's normal impulse that acts at other instants than its strongest.

    An impulse belongs to the nearest impact; ``impacts`` (n,) are times, s. NaN without an impulse.
    """
    if not len(impacts):
        return np.array([])
    impulse = states.impulse_n.sum(axis=1)
    nearest = np.abs(states.time[:-1, None] - impacts).argmin(axis=1)
    shares = []
    for number in range(len(impacts)):
        own = impulse[nearest == number]
        whole = own.sum()
        shares.append(1.0 - own.max() / whole if whole > 0.0 else np.nan)
    return np.array(shares)
