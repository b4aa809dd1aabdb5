"""Trajectory losses (eq. 18, tossing paper) of many tosses over many contact parameters, compiled.

Two exact savings make the grid cheap without changing what is computed:

* the flight before the first contact doesn't depend on the parameters, so each toss is flown once;
* a step in which every contact sticks comes out the same for every larger friction coefficient, so the parameters are
  visited in descending friction and each run starts from the first step that the previous one could not share.

Memory: one toss's states at a time, whatever the number of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from contactid.datasets.motion import BodyProperties
from contactid.errors import ContactIdError
from contactid.simulate.box import ContactParameters, State, SteppingOptions, body_arrays, contact_law, pack_state
from contactid.simulate.box_kernel import (
    CONTACTS,
    FRICTION_NEEDED,
    ITERATIONS,
    STATE_SIZE,
    advance,
    at_rest,
    new_workspace,
    origin_of,
    with_values,
)

_OPTIONS: Any = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}

# columns of the compiled result
_POSITION, _ROTATION, _FAILED = 0, 1, 2


@dataclass(frozen=True)
class MeasuredToss:
    """One toss to compare with: the state at release and the measured poses from release to rest, all in C.

    Attributes
    ----------
    name : the recording's name
    start : state at release
    position : (n, 3) m, B's origin; row 0 is the release
    orientation : (n, 4) quaternions, real part first
    surface_velocity : (3,) m/s
    """

    name: str
    start: State
    position: np.ndarray
    orientation: np.ndarray
    surface_velocity: np.ndarray


@dataclass(frozen=True)
class SweepResult:
    """Errors of every toss at every parameter pair.

    Attributes
    ----------
    position_error : (toss, pair) mean over samples of |o - o~| / l
    rotation_error : (toss, pair) mean over samples of |log(R^-1 R~)|, rad
    failed_steps : (toss, pair) steps whose contact solver did not converge
    """

    position_error: np.ndarray
    rotation_error: np.ndarray
    failed_steps: np.ndarray

    @property
    def loss(self) -> np.ndarray:
        """Eq. 18: (toss, pair)."""
        return self.position_error + self.rotation_error


@numba.njit(**_OPTIONS)
def _add_errors(body, state, work, origin, position, orientation, sample, errors):
    """Add this sample's position (m) and rotation (rad) error to ``errors``."""
    origin_of(body, state, work.rotation, origin)
    x, y, z = origin[0] - position[sample, 0], origin[1] - position[sample, 1], origin[2] - position[sample, 2]
    errors[_POSITION] += np.sqrt(x * x + y * y + z * z)
    near = far = 0.0
    for k in range(4):
        near += (state[3 + k] - orientation[sample, k]) ** 2
        far += (state[3 + k] + orientation[sample, k]) ** 2
    errors[_ROTATION] += 4.0 * np.arcsin(min(0.5 * np.sqrt(min(near, far)), 1.0))


@numba.njit(**_OPTIONS)
def _sweep_toss(body, law, h, substeps, start, position, orientation, mus, e_ns, share, out):
    """Fill ``out`` (pair, 3) with summed position and rotation errors and failed steps of one toss.

    ``mus`` and ``e_ns`` (pair,) are sorted by e_N, then by descending mu, so that runs with equal e_N can share steps.
    """
    n = position.shape[0]
    n_vertices = body.vertices.shape[0]
    work = new_workspace(n_vertices)
    origin, state, errors = np.empty(3), np.empty(STATE_SIZE), np.zeros(3)
    # what the previous run left behind at each sample: state, impulses, sums so far, friction needed so far
    states = np.empty((n, STATE_SIZE))
    memories = np.empty((n, n_vertices, 3))
    sums = np.empty((n, 3))
    needed = np.empty(n)
    state[:] = start
    _add_errors(body, state, work, origin, position, orientation, 0, errors)
    states[0], memories[0], sums[0], needed[0] = state, 0.0, errors, 0.0
    still = not (law.surface_velocity[0] != 0.0 or law.surface_velocity[1] != 0.0 or law.surface_velocity[2] != 0.0)
    flown = 0  # samples 0..flown are the same for all pairs
    last = -1  # samples 0..last belong to the previous run
    for pair in range(mus.shape[0]):
        mu, e_n = mus[pair], e_ns[pair]
        begin = flown
        if share and pair > 0 and e_ns[pair - 1] == e_n and mus[pair - 1] >= mu:
            while begin < last and needed[begin + 1] <= mu:
                begin += 1
        state[:] = states[begin]
        work.memory[:, :] = memories[begin]
        errors[:] = sums[begin]
        requirement = needed[begin]
        parameters = with_values(law, mu, e_n, law.surface_velocity)
        touched = begin > flown
        asleep = False
        for sample in range(begin + 1, n):
            if not asleep:
                for _ in range(substeps):
                    advance(body, parameters, h, state, work)
                    if work.report[CONTACTS] > 0:
                        touched = True
                        requirement = max(requirement, work.report[FRICTION_NEEDED])
                        if work.report[ITERATIONS] > law.max_iterations:
                            errors[_FAILED] += 1.0
                if still and work.report[CONTACTS] > 0 and at_rest(state) and at_rest(states[sample - 1]):
                    asleep = True
            _add_errors(body, state, work, origin, position, orientation, sample, errors)
            states[sample], memories[sample], sums[sample], needed[sample] = state, work.memory, errors, requirement
            if share and not touched:
                flown = sample
        last = n - 1
        out[pair] = errors


@numba.njit(**_OPTIONS)
def _sweep(body, law, h, substeps, starts, rows, position, orientation, surface_velocity, mus, e_ns, share, out):
    for toss in range(starts.shape[0]):
        first, end = rows[toss], rows[toss + 1]
        moving = with_values(law, law.friction_mu, law.restitution_e_n, surface_velocity[toss])
        _sweep_toss(
            body, moving, h, substeps, starts[toss], position[first:end], orientation[first:end], mus, e_ns, share,
            out[toss],
        )  # fmt: skip


def sweep(
    body: BodyProperties,
    tosses: Sequence[MeasuredToss],
    friction_mu: np.ndarray,
    restitution_e_n: np.ndarray,
    options: SteppingOptions,
    *,
    length: float | None = None,
    restitution_e_t: float = 0.0,
    share: bool = True,
) -> SweepResult:
    """Simulate every toss with every pair ``(friction_mu[k], restitution_e_n[k])`` and measure its errors.

    Parameters
    ----------
    body
        Geometry and inertia.
    tosses
        Start states and measured poses, sampled every ``options.time_step``.
    friction_mu, restitution_e_n
        (pair,) each; a grid is passed flattened.
    options
        Stepping; see :class:`SteppingOptions`.
    length
        l of eq. 18 in m; the body's extent along x_B by default.
    share
        Reuse steps that several parameter pairs have in common; ``False`` executes every step.
    """
    mus, e_ns = np.asarray(friction_mu, dtype=float).ravel(), np.asarray(restitution_e_n, dtype=float).ravel()
    if mus.shape != e_ns.shape or mus.size == 0:
        raise ContactIdError("friction and restitution values don't pair up", "Give two arrays of the same length")
    if not tosses:
        raise ContactIdError("no toss is left to simulate", "Look at the reasons in tosses.csv")
    ContactParameters(float(mus.min()), float(e_ns.min())), ContactParameters(float(mus.max()), float(e_ns.max()))
    order = np.lexsort((-mus, e_ns))
    starts = np.stack([pack_state(body, toss.start) for toss in tosses])
    sizes = np.array([len(toss.position) for toss in tosses])
    if not np.isfinite(starts).all():
        raise ContactIdError("the initial state of a simulation holds a NaN", "Check the measured start of the toss")
    out = np.empty((len(tosses), mus.size, 3))
    law = contact_law(ContactParameters(0.0, 0.0, restitution_e_t), options)
    _sweep(
        body_arrays(body),
        law,
        options.step,
        options.substeps,
        starts,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([toss.position for toss in tosses]),
        np.concatenate([toss.orientation for toss in tosses]),
        np.stack([np.asarray(toss.surface_velocity, dtype=float) for toss in tosses]),
        mus[order],
        e_ns[order],
        share,
        out,
    )
    unsorted = np.empty_like(out)
    unsorted[:, order] = out
    mean = unsorted / sizes[:, None, None]
    return SweepResult(
        position_error=mean[:, :, _POSITION] / (body.length if length is None else length),
        rotation_error=mean[:, :, _ROTATION],
        failed_steps=unsorted[:, :, _FAILED].astype(int),
    )
