"""Losses of many tosses, and of short windows round impacts, over many contact parameters,
compiled.

Two exact savings make the grid of whole tosses (eq. 18, tossing paper) cheap without changing what
is computed:

* the flight before the first contact doesn't depend on the parameters, so each toss is flown once;
* a step in which every contact sticks comes out the same for every larger friction coefficient, so
  the parameters are visited in descending friction and each run starts from the first step that the
  previous one could not share.

By the paper's fixed point, many pairs go side by side
(:mod:`contactid.tossing.simulate.prox_lanes`).

Memory: one toss's states at a time, whatever the number of parameters. Of a window, the twist at
its end is what eq. 17 takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numba
import numpy as np

from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.simulate.box import (
    ContactParameters,
    State,
    SteppingOptions,
    body_arrays,
    contact_law,
    pack_states,
)
from contactid.tossing.simulate.box_kernel import (
    STATE_SIZE,
    TOUCHING,
    ContactLaw,
    advance,
    advance_together,
    at_rest,
    origin_of,
    rotation_of,
    turn,
    with_values,
)
from contactid.tossing.simulate.contact_kernel import COLUMNS, INLINE, MEMORY, OPTIONS

# columns of the compiled result
_POSITION, _ROTATION, _FAILED = 0, 1, 2


@dataclass(frozen=True)
class MeasuredToss:
    """One toss to compare with: the state at release and the measured poses from release to rest,
    all in C.
    """

    name: str  # the recording's name
    start: State  # state at release
    position: np.ndarray  # (n, 3) m, B's origin; row 0 is the release
    orientation: np.ndarray  # (n, 4) quaternions, real part first
    surface_velocity: np.ndarray  # (3,) m/s


@dataclass(frozen=True)
class SweepResult:
    """Errors of every toss at every parameter pair."""

    position_error: np.ndarray  # (toss, pair) mean over samples of |o - o~| / l
    rotation_error: np.ndarray  # (toss, pair) mean over samples of |log(R^-1 R~)|, rad
    failed_steps: np.ndarray  # (toss, pair) steps whose contact solver did not converge

    @property
    def loss(self) -> np.ndarray:
        """Eq. 18: (toss, pair)."""
        return self.position_error + self.rotation_error


@numba.njit(**INLINE)
def _add_errors(body, state, position, orientation, row, errors):
    """Add the position (m) and rotation (rad) error of the measured sample ``row`` to ``errors``."""
    x, y, z = origin_of(body, state)
    x, y, z = x - position[row, 0], y - position[row, 1], z - position[row, 2]
    errors[_POSITION] += np.sqrt(x * x + y * y + z * z)
    # |log(R^-1 R~)| = 4 asin(|q - q~| / 2), of q~ and -q~ the nearer one: exact for small angles,
    # where an arc cosine isn't
    near = far = 0.0
    for k in range(4):
        near += (state[3 + k] - orientation[row, k]) ** 2
        far += (state[3 + k] + orientation[row, k]) ** 2
    errors[_ROTATION] += 4.0 * np.arcsin(min(0.5 * np.sqrt(min(near, far)), 1.0))


class _History(NamedTuple):
    """What the previous run left behind at each sample, for the next one to begin from."""

    states: np.ndarray  # (n, 13)
    memories: np.ndarray  # (n, vertices, 3) N s
    sums: np.ndarray  # (n, 3) errors up to and including the sample
    needed: np.ndarray  # (n,) friction needed up to and including the sample


@numba.njit(**INLINE)
def _store(history, sample, state, contacts, errors, requirement):
    """Keep the present sample."""
    for k in range(STATE_SIZE):
        history.states[sample, k] = state[k]
    for k in range(3):
        history.sums[sample, k] = errors[k]
    history.needed[sample] = requirement
    if state[TOUCHING] > 0.0:
        for i in range(contacts.shape[0]):
            for k in range(3):
                history.memories[sample, i, k] = contacts[i, MEMORY + k]


@numba.njit(**INLINE)
def _restore(history, sample, state, contacts, errors):
    """Go back to a kept sample; returns the friction needed so far."""
    for k in range(STATE_SIZE):
        state[k] = history.states[sample, k]
    for k in range(3):
        errors[k] = history.sums[sample, k]
    for i in range(contacts.shape[0]):
        for k in range(3):
            contacts[i, MEMORY + k] = history.memories[sample, i, k]
    return history.needed[sample]


@numba.njit(**OPTIONS)
def _sweep_toss(
    body, law, h, substeps, start, position, orientation, first, end, mus, e_ns, share, out, toss
):
    """Fill ``out[toss]`` (pair, 3) with summed position and rotation errors and failed steps of one
    toss.

    The toss's measured samples are rows ``first`` to ``end``. ``mus`` and ``e_ns`` (pair,) are
    sorted by e_N, then by descending mu, so that runs with equal e_N can share steps.
    """
    n, n_vertices = end - first, body.vertices.shape[0]
    contacts = np.zeros((n_vertices, COLUMNS))
    state, errors = np.empty(STATE_SIZE), np.zeros(3)
    history = _History(
        np.empty((n, STATE_SIZE)), np.zeros((n, n_vertices, 3)), np.empty((n, 3)), np.empty(n)
    )
    for k in range(STATE_SIZE):
        state[k] = start[toss, k]
    _add_errors(body, state, position, orientation, first, errors)
    _store(history, 0, state, contacts, errors, 0.0)
    flown = 0  # samples 0..flown are the same for all pairs
    for pair in range(mus.shape[0]):
        mu, e_n = mus[pair], e_ns[pair]
        begin = flown
        # a sample that needs no more friction than this pair has comes out the same
        if share and pair > 0 and e_ns[pair - 1] == e_n and mus[pair - 1] >= mu:
            while begin < n - 1 and history.needed[begin + 1] <= mu:
                begin += 1
        requirement = _restore(history, begin, state, contacts, errors)
        parameters = with_values(law, mu, e_n, law.surface_velocity)
        # behind the flight that all pairs share
        touched = begin > flown
        asleep = rested = False
        closed = 0
        for sample in range(begin + 1, n):
            # a body that sleeps repeats its state, so only its errors are still added
            if not asleep:
                for _ in range(substeps):
                    closed, iterations, needed, _ = advance(
                        body, parameters, h, state, contacts, False
                    )
                    if closed > 0:
                        touched = True
                        requirement = max(requirement, needed)
                        if iterations > law.max_iterations:
                            errors[_FAILED] += 1.0
                rests = closed > 0 and at_rest(state)  # twice the same state: it repeats for ever
                asleep = rests and rested
                rested = rests
            _add_errors(body, state, position, orientation, first + sample, errors)
            # for the next pair, which may begin here
            if share:
                _store(history, sample, state, contacts, errors, requirement)
                if not touched:
                    flown = sample
        for k in range(3):
            out[toss, pair, k] = errors[k]


@numba.njit(**OPTIONS)
def _sweep(
    body,
    law,
    h,
    substeps,
    starts,
    rows,
    position,
    orientation,
    surface_velocity,
    mus,
    e_ns,
    share,
    out,
):
    for toss in range(starts.shape[0]):
        moving = with_values(
            law,
            law.friction_mu,
            law.restitution_e_n,
            (surface_velocity[toss, 0], surface_velocity[toss, 1], surface_velocity[toss, 2]),
        )
        _sweep_toss(
            body, moving, h, substeps, starts, position, orientation, rows[toss], rows[toss + 1], mus, e_ns, share, out,
            toss,
        )  # fmt: skip


@numba.njit(**OPTIONS)
def _sweep_together(
    body, law, h, substeps, starts, rows, position, orientation, surface_velocity, mus, e_ns, share,
    out,
):  # fmt: skip
    """As :func:`_sweep`, by the paper's fixed point, all pairs of a toss side by side."""
    n_pairs = len(mus)
    states = np.empty((n_pairs, STATE_SIZE))
    for toss in range(starts.shape[0]):
        belt = surface_velocity[toss]
        moving = with_values(law, 0.0, 0.0, (belt[0], belt[1], belt[2]))
        tables = np.zeros((n_pairs, body.vertices.shape[0], COLUMNS))
        failed = np.zeros(n_pairs)
        states[:] = starts[toss]
        out[toss] = 0.0
        for row in range(rows[toss], rows[toss + 1]):
            for _ in range(substeps if row > rows[toss] else 0):
                advance_together(body, moving, h, mus, e_ns, states, tables, failed)
            for pair in range(n_pairs):
                _add_errors(body, states[pair], position, orientation, row, out[toss, pair])
        out[toss, :, _FAILED] = failed


def sweep(
    body: BodyProperties,
    tosses: Sequence[MeasuredToss],
    friction_mu: np.ndarray,
    restitution_e_n: np.ndarray,
    options: SteppingOptions,
    *,
    length: float | None = None,
    share: bool = True,
) -> SweepResult:
    """Simulate every toss with every pair ``(friction_mu[k], restitution_e_n[k])`` and measure its
    errors.

    Parameters
    ----------
    body : geometry and inertia
    tosses : start states and measured poses, sampled every ``options.time_step``
    friction_mu, restitution_e_n : (pair,) each; a grid is passed flattened
    options : stepping; see :class:`SteppingOptions`
    length : l of eq. 18 in m; the body's extent along x_B by default.
    share : reuse steps that several parameter pairs have in common; ``False`` executes every step
    """
    mus, e_ns = (
        np.asarray(friction_mu, dtype=float).ravel(),
        np.asarray(restitution_e_n, dtype=float).ravel(),
    )
    if mus.shape != e_ns.shape or mus.size == 0:
        raise ContactIdError(
            "friction and restitution values don't pair up", "Give two arrays of the same length"
        )
    if not tosses:
        raise ContactIdError("no toss is left to simulate", "Look at the reasons in tosses.csv")
    for extreme in (np.min, np.max):  # made for its checks alone
        ContactParameters(float(extreme(mus)), float(extreme(e_ns)))
    # by e_N, then by descending mu, as steps are shared
    order = np.lexsort((-mus, e_ns))
    starts = pack_states(body, [toss.start for toss in tosses])
    sizes = np.array([len(toss.position) for toss in tosses])
    if not np.isfinite(starts).all():
        raise ContactIdError(
            "the initial state of a simulation holds a NaN", "Check the measured start of the toss"
        )
    out = np.empty((len(tosses), mus.size, 3))
    # every pair has its own values, see with_values
    law = contact_law(ContactParameters(0.0, 0.0), options)
    run = _sweep_together if options.solver == "prox" else _sweep
    run(
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
    # back to the caller's order
    unsorted[:, order] = out
    # 1 / N_i of eq. 18
    mean = unsorted / sizes[:, None, None]
    return SweepResult(
        position_error=mean[:, :, _POSITION] / (body.length if length is None else length),
        rotation_error=mean[:, :, _ROTATION],
        failed_steps=unsorted[:, :, _FAILED].astype(int),
    )


@numba.njit(**OPTIONS)
def _end_twists(body, law, h, starts, n_steps, mus, e_ns, out):
    """Fill ``out`` (pair, 6) with the hybrid twist of B's origin after ``n_steps`` steps from
    ``starts`` (14,).
    """
    contacts = np.zeros((body.vertices.shape[0], COLUMNS))
    state = np.empty(STATE_SIZE)
    for pair in range(mus.shape[0]):
        for k in range(STATE_SIZE):
            state[k] = starts[k]
        parameters = with_values(law, mus[pair], e_ns[pair], law.surface_velocity)
        for _ in range(n_steps):
            advance(body, parameters, h, state, contacts, False)
        w0, w1, w2 = turn(rotation_of(state), state[10], state[11], state[12])
        x0, x1, x2 = origin_of(body, state)
        # the velocity of B's origin is v + omega x (origin - centre)
        a0, a1, a2 = x0 - state[0], x1 - state[1], x2 - state[2]
        out[pair, 0] = state[7] + w1 * a2 - w2 * a1
        out[pair, 1] = state[8] + w2 * a0 - w0 * a2
        out[pair, 2] = state[9] + w0 * a1 - w1 * a0
        out[pair, 3], out[pair, 4], out[pair, 5] = w0, w1, w2


def end_twists(
    body: BodyProperties,
    starts: Sequence[State],
    n_samples: Sequence[int],
    gravities: Sequence[np.ndarray],
    surface_velocities: Sequence[np.ndarray],
    friction_mu: np.ndarray,
    restitution_e_n: np.ndarray,
    options: SteppingOptions,
) -> np.ndarray:
    """Hybrid twists (window, pair, 6) of B's origin in C at the end of each window.

    Parameters
    ----------
    starts, n_samples, gravities, surface_velocities : per window: state at its beginning, samples
        to simulate, gravity (3,) m/s2 and the surface's velocity (3,) m/s
    friction_mu, restitution_e_n : (pair,) each
    options : stepping; its gravity is replaced by each window's own
    """
    mus, e_ns = (
        np.asarray(friction_mu, dtype=float).ravel(),
        np.asarray(restitution_e_n, dtype=float).ravel(),
    )
    arrays, packed = body_arrays(body), pack_states(body, starts)
    out = np.empty((len(starts), len(mus), 6))
    parameters = ContactParameters(0.0, 0.0)
    for k, (gravity, velocity) in enumerate(zip(gravities, surface_velocities, strict=True)):
        x, y, z = map(float, gravity)
        law: ContactLaw = contact_law(parameters, replace(options, gravity=(x, y, z)), velocity)
        _end_twists(
            arrays,
            law,
            options.step,
            packed[k],
            int(n_samples[k]) * options.substeps,
            mus,
            e_ns,
            out[k],
        )
    return out
