"""Simulate short windows around impacts for many parameter pairs, and give the twist at each window's end (eq. 17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numba
import numpy as np

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
    ContactLaw,
    advance,
    origin_of,
    rotation_of,
    turn,
    with_values,
)
from contactid.tossing.simulate.contact_kernel import COLUMNS, OPTIONS


@numba.njit(**OPTIONS)
def _end_twists(body, law, h, starts, n_steps, mus, e_ns, out):
    """Fill ``out`` (pair, 6) with the hybrid twist of B's origin after ``n_steps`` steps from ``starts`` (14,)."""
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
    *,
    restitution_e_t: float = 0.0,
) -> np.ndarray:
    """Hybrid twists (window, pair, 6) of B's origin in C at the end of each window.

    Parameters
    ----------
    starts, n_samples, gravities, surface_velocities
        Per window: state at its beginning, samples to simulate, gravity (3,) m/s2 and the surface's velocity (3,) m/s.
    friction_mu, restitution_e_n
        (pair,) each.
    options
        Stepping; its gravity is replaced by each window's own.
    """
    mus, e_ns = np.asarray(friction_mu, dtype=float).ravel(), np.asarray(restitution_e_n, dtype=float).ravel()
    arrays, packed = body_arrays(body), pack_states(body, starts)
    out = np.empty((len(starts), len(mus), 6))
    parameters = ContactParameters(0.0, 0.0, restitution_e_t)
    for k, (gravity, velocity) in enumerate(zip(gravities, surface_velocities, strict=True)):
        x, y, z = map(float, gravity)
        law: ContactLaw = contact_law(parameters, replace(options, gravity=(x, y, z)), velocity)
        _end_twists(arrays, law, options.step, packed[k], int(n_samples[k]) * options.substeps, mus, e_ns, out[k])
    return out
