"""A soft fingertip on a held object, unloaded until it sticks and slips: the friction experiment
and its ground truth.

The finger under impedance control is a mass on a virtual spring whose end is moved slowly so that
the tangential force returns to its set value; the pad between finger and skin is a spring. With y
the finger, s the skin's slip on the object and p its creep (all along the tangential force):

    m y'' = T - d y' - F,   T' = (T_0 - F) / tau - k_i y',   F = k_p (y - s - p) stick: |F| <= mu N,
    s' = 0;   slip: F = kappa mu N, s' >= 0           (Coulomb; the skin has no mass) p' = (c (1 -
    (1 - F / mu N)^(2/3)) - p) / tau_c                        (Mindlin's shape, reached with a lag)

N falls slowly and linearly. On a surface that warps, the normal turns by ``warp`` N towards the
tangential force, which is the same as the coefficient tan(atan mu + warp N) on the undeformed one
(:func:`apparent_friction`). All values are chosen, none is printed in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from contactid.core.errors import ContactIdError

HOLD = 1.0  # s before the fall; the tangential force rises in its first half
SAMPLE_RATE = 100.0  # Hz, of the sensors
_SUBSTEPS = 10  # simulated steps per sample
_MASS = 0.05  # m, kg, of the finger at its tip
_IMPEDANCE, _DAMPING = 200.0, 1.5  # k_i and d, N/m and N s/m
_PAD_STIFFNESS = 1500.0  # k_p, N/m
_FORCE_RECOVERY = 0.5  # tau, s
_CREEP_LENGTH, _CREEP_TIME = 4e-4, 0.3  # c and tau_c, m and s
_WOBBLE_TIME = 0.2  # s, of the normal force's first-order noise


@dataclass(frozen=True)
class SlipTrials:
    """Simulated trials: t trials of n samples, in a frame whose z is the undeformed surface's
    normal into the object.

    Attributes
    ----------
    time : (n,), s
    force, contact_point : (t, n, 3), as measured, N and m
    true_force : (t, n, 3), N
    slip : (t, n), m, of the skin on the object
    normal : (3,)
    """

    time: np.ndarray
    force: np.ndarray
    contact_point: np.ndarray
    true_force: np.ndarray
    slip: np.ndarray
    normal: np.ndarray


def simulate_trials(
    friction_mu: np.ndarray, warp: np.ndarray, block: Mapping[str, Any], random: np.random.Generator
) -> SlipTrials:
    """Simulate one trial per coefficient, all at once.

    Parameters
    ----------
    friction_mu : (t,), static coefficients
    warp : (t,), turn of the surface's normal per normal force, rad/N
    block : ``inhand: friction`` of the configuration; of its noise, the force's direction has one
        error per trial, the force model's own bias, and force and contact point are white per
        component
    random : source of noise and of the tangential directions

    Raises
    ------
    ContactIdError
        Where the normal force would not fall.
    """
    (start, end), noise, count = block["normal_force"], block["noise"], len(friction_mu)
    if not start > end:
        raise ContactIdError(
            f"the normal force goes from {start:g} to {end:g} N",
            "It has to fall to a positive value",
        )
    duration = HOLD + (start - end) / block["normal_rate"]
    time = np.arange(round(duration * SAMPLE_RATE) + 1) / SAMPLE_RATE
    normal_force = _normal_force(time, count, block, random)
    # along one direction of the surface, (t, n) each
    tangential, slip, creep = _tangential_motion(friction_mu, warp, normal_force, block)
    heading = random.uniform(0.0, 2.0 * np.pi, count)
    direction = np.column_stack([np.cos(heading), np.sin(heading), np.zeros(count)])
    normal = np.array([0.0, 0.0, 1.0])
    true_force = tangential[..., None] * direction[:, None] + normal_force[..., None] * normal
    moved = (slip + creep)[..., None] * direction[:, None]
    # the force model's bias: one rotation a trial, before white noise
    turned = _turned(true_force, float(np.deg2rad(noise["direction_sd_deg"])), random)
    force = turned + noise["force_sd"] * random.normal(size=true_force.shape)
    contact_point = moved + noise["contact_point_sd"] * random.normal(size=moved.shape)
    return SlipTrials(time, force, contact_point, true_force, slip, normal)


def apparent_friction(mu: np.ndarray, warp: np.ndarray) -> np.ndarray:
    """What eq. 5 gives with the undeformed surface's normal where the surface has turned by
    ``warp`` (rad).

    The surface yields under the finger and turns towards the tangential force, so the force at slip
    is at phi + warp from the undeformed normal: tan(phi + warp) = (mu + tan warp) / (1 - mu tan
    warp).
    """
    return np.tan(np.arctan(mu) + np.asarray(warp, dtype=float))


def slope_angles(
    friction_mu: np.ndarray, angle_sd: float, random: np.random.Generator
) -> np.ndarray:
    """Slope method: angles (...), rad, at which a tip at rest on a tilting platform slips, with its
    noise.
    """
    return np.arctan(friction_mu) + angle_sd * random.normal(size=friction_mu.shape)


def slope_truth(angles: np.ndarray) -> np.ndarray:
    """Mean coefficient over the last axis of slip angles (..., r), rad: the paper's ground truth.

    Eq. 5 with gravity's direction as the force.
    """
    return np.mean(np.tan(angles), axis=-1)


def _normal_force(
    time: np.ndarray, count: int, block: Mapping[str, Any], random: np.random.Generator
) -> np.ndarray:
    start, end = block["normal_force"]
    ramp = start - block["normal_rate"] * np.clip(time - HOLD, 0.0, None)
    # first-order process: what a sample keeps of the one before
    kept = np.exp(-1.0 / (SAMPLE_RATE * _WOBBLE_TIME))
    shocks = (
        # so that the process has the stated deviation
        block["noise"]["wobble_sd"]
        * np.sqrt(1.0 - kept**2)
        * random.normal(size=(count, len(time)))
    )
    wobble = np.zeros_like(shocks)
    for k in range(1, len(time)):
        wobble[:, k] = kept * wobble[:, k - 1] + shocks[:, k]
    # noise never lifts the finger off
    return np.maximum(ramp + wobble, 0.1 * end)


def _tangential_motion(
    friction_mu: np.ndarray, warp: np.ndarray, normal_force: np.ndarray, block: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tangential force, slip and creep, each (t, n), by semi-implicit Euler steps."""
    count, samples = normal_force.shape
    # the force rises over half of the hold, so that it is steady when the normal force falls
    step, rise = 1.0 / (SAMPLE_RATE * _SUBSTEPS), 0.5 * HOLD
    finger, speed, slip, creep, spring = (np.zeros(count) for _ in range(5))
    force, sliding = np.zeros(count), np.zeros(count, dtype=bool)
    kept = np.zeros((3, count, samples))
    kinetic_mu = block["kinetic_ratio"] * friction_mu
    for k in range(samples):
        kept[:, :, k] = force, slip, creep
        pressing = normal_force[:, k]
        # N, largest tangential forces; with this load's warp in them
        static = apparent_friction(friction_mu, warp * pressing) * pressing
        kinetic = apparent_friction(kinetic_mu, warp * pressing) * pressing
        target = block["tangential_force"] * min(1.0, k / (SAMPLE_RATE * rise))
        for _ in range(_SUBSTEPS):
            # virtual spring that brings the force back to its target, against the finger's speed
            spring += step * ((target - force) / _FORCE_RECOVERY - _IMPEDANCE * speed)
            # semi-implicit: the new speed moves the finger
            speed += step * (spring - _DAMPING * speed - force) / _MASS
            finger += step * speed
            # of the friction cone; creep ends at its edge
            share = np.minimum(force / static, 1.0)
            creep += (
                # Mindlin's 1 - (1 - F / mu N)^(2/3), reached with a lag
                step * (_CREEP_LENGTH * (1.0 - np.cbrt(1.0 - share) ** 2) - creep) / _CREEP_TIME
            )
            trial = _PAD_STIFFNESS * (finger - slip - creep)
            # once it slides, kinetic friction decides whether it still does
            sliding = trial > np.where(sliding, kinetic, static)
            force = np.where(sliding, kinetic, trial)
            # the skin has no mass: it slips until the pad's spring balances kinetic friction
            slip += (trial - force) / _PAD_STIFFNESS
    return kept[0], kept[1], kept[2]


def _turned(force: np.ndarray, sd: float, random: np.random.Generator) -> np.ndarray:
    """Forces (t, n, 3), each trial turned by one small random rotation (first order in it, length
    kept).
    """
    axis = sd * random.normal(size=(len(force), 1, 3))
    # f + a x f, first order; the length is restored below
    turned = force + np.cross(np.broadcast_to(axis, force.shape), force)
    length = np.linalg.norm(turned, axis=-1, keepdims=True)
    return (
        turned * np.linalg.norm(force, axis=-1, keepdims=True) / np.where(length > 0.0, length, 1.0)
    )
