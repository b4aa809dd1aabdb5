"""A soft fingertip on a held object, unloaded until it sticks and slips: the friction experiment and its ground truth.

The finger under impedance control is a mass on a virtual spring whose end is moved slowly so that the tangential force
returns to its set value; the pad between finger and skin is a spring. With y the finger, s the skin's slip on the
object and p its creep (all along the tangential force):

    m y'' = T - d y' - F,   T' = (T_0 - F) / tau - k_i y',   F = k_p (y - s - p)
    stick: |F| <= mu N, s' = 0;   slip: F = kappa mu N, s' >= 0           (Coulomb; the skin has no mass)
    p' = (c (1 - (1 - F / mu N)^(2/3)) - p) / tau_c                        (Mindlin's shape, reached with a lag)

N falls slowly and linearly. On a surface that warps, the normal turns by ``warp`` N towards the tangential force, which
is the same as the coefficient tan(atan mu + warp N) on the undeformed one (:func:`apparent_friction`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.errors import ContactIdError


@dataclass(frozen=True)
class SlipExperiment:
    """The experiment and the finger; all values are chosen, none is printed in the paper.

    Attributes
    ----------
    tangential_force : T_0, N
    normal_start, normal_end : N
    normal_rate : N/s, of the fall
    hold : s before the fall; the tangential force rises in its first half
    sample_rate : Hz, of the sensors
    substeps : simulated steps per sample
    mass : m, kg, of the finger at its tip
    impedance, damping : k_i and d, N/m and N s/m
    pad_stiffness : k_p, N/m
    force_recovery : tau, s
    kinetic_ratio : kappa, kinetic over static friction
    creep_length, creep_time : c and tau_c, m and s
    """

    tangential_force: float = 1.0
    normal_start: float = 4.0
    normal_end: float = 0.6
    normal_rate: float = 0.25
    hold: float = 1.0
    sample_rate: float = 100.0
    substeps: int = 10
    mass: float = 0.05
    impedance: float = 200.0
    damping: float = 1.5
    pad_stiffness: float = 1500.0
    force_recovery: float = 0.5
    kinetic_ratio: float = 0.85
    creep_length: float = 4e-4
    creep_time: float = 0.3


@dataclass(frozen=True)
class SlipNoise:
    """What the sensors and the controller add.

    Attributes
    ----------
    force_sd : N, white, per component
    direction_sd : rad, error of the force's direction, one per trial (the force model's own bias)
    contact_point_sd : m, white, per component
    wobble_sd, wobble_time : N and s, of the normal force (first-order noise)
    """

    force_sd: float = 0.03
    direction_sd: float = np.deg2rad(1.0)
    contact_point_sd: float = 2e-4
    wobble_sd: float = 0.02
    wobble_time: float = 0.2


NOISE_FREE = SlipNoise(0.0, 0.0, 0.0, 0.0, 0.2)


@dataclass(frozen=True)
class SlipTrials:
    """Simulated trials: t trials of n samples, in a frame whose z is the undeformed surface's normal into the object.

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
    friction_mu: np.ndarray,
    warp: np.ndarray,
    experiment: SlipExperiment,
    noise: SlipNoise,
    random: np.random.Generator,
) -> SlipTrials:
    """Simulate one trial per coefficient, all at once.

    Parameters
    ----------
    friction_mu : (t,), static coefficients
    warp : (t,), turn of the surface's normal per normal force, rad/N
    random : source of noise and of the tangential directions

    Raises
    ------
    ContactIdError
        Where a coefficient is not positive or the normal force would not fall.
    """
    friction_mu, warp = np.asarray(friction_mu, dtype=float), np.asarray(warp, dtype=float)
    _check(friction_mu, experiment)
    count = len(friction_mu)
    duration = experiment.hold + (experiment.normal_start - experiment.normal_end) / experiment.normal_rate
    time = np.arange(round(duration * experiment.sample_rate) + 1) / experiment.sample_rate
    normal_force = _normal_force(time, count, experiment, noise, random)
    tangential, slip, creep = _tangential_motion(friction_mu, warp, normal_force, experiment)
    heading = random.uniform(0.0, 2.0 * np.pi, count)
    direction = np.column_stack([np.cos(heading), np.sin(heading), np.zeros(count)])
    normal = np.array([0.0, 0.0, 1.0])
    true_force = tangential[..., None] * direction[:, None] + normal_force[..., None] * normal
    moved = (slip + creep)[..., None] * direction[:, None]
    force = _turned(true_force, noise.direction_sd, random) + noise.force_sd * random.normal(size=true_force.shape)
    contact_point = moved + noise.contact_point_sd * random.normal(size=moved.shape)
    return SlipTrials(time, force, contact_point, true_force, slip, normal)


def slope_friction(angle: np.ndarray) -> np.ndarray:
    """Slope method: eq. 5 with gravity's direction as the force, at the platform's angle (rad) of first slip."""
    return np.tan(angle)


def apparent_friction(mu: np.ndarray, warp: np.ndarray) -> np.ndarray:
    """What eq. 5 gives with the undeformed surface's normal where the surface has turned by ``warp`` (rad).

    The surface yields under the finger and turns towards the tangential force, so the force at slip is at phi + warp
    from the undeformed normal: tan(phi + warp) = (mu + tan warp) / (1 - mu tan warp).
    """
    return np.tan(np.arctan(mu) + np.asarray(warp, dtype=float))


def slope_angles(friction_mu: np.ndarray, angle_sd: float, random: np.random.Generator) -> np.ndarray:
    """Slope method: angles (...), rad, at which a tip at rest on a tilting platform slips, with its noise."""
    friction_mu = np.asarray(friction_mu, dtype=float)
    return np.arctan(friction_mu) + angle_sd * random.normal(size=friction_mu.shape)


def slope_truth(angles: np.ndarray) -> np.ndarray:
    """Mean coefficient over the last axis of slip angles (..., r), rad: the paper's ground truth."""
    return np.mean(slope_friction(angles), axis=-1)


def _normal_force(
    time: np.ndarray, count: int, experiment: SlipExperiment, noise: SlipNoise, random: np.random.Generator
) -> np.ndarray:
    fall = np.clip(time - experiment.hold, 0.0, None)
    ramp = experiment.normal_start - experiment.normal_rate * fall
    kept = np.exp(-1.0 / (experiment.sample_rate * noise.wobble_time))
    shocks = noise.wobble_sd * np.sqrt(1.0 - kept**2) * random.normal(size=(count, len(time)))
    wobble = np.zeros_like(shocks)
    for k in range(1, len(time)):
        wobble[:, k] = kept * wobble[:, k - 1] + shocks[:, k]
    return np.maximum(ramp + wobble, 0.1 * experiment.normal_end)


def _tangential_motion(
    friction_mu: np.ndarray, warp: np.ndarray, normal_force: np.ndarray, experiment: SlipExperiment
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tangential force, slip and creep, each (t, n), by semi-implicit Euler steps."""
    e, (count, samples) = experiment, normal_force.shape
    step = 1.0 / (e.sample_rate * e.substeps)
    rise = 0.5 * e.hold
    finger, speed, slip, creep, spring = (np.zeros(count) for _ in range(5))
    force, sliding = np.zeros(count), np.zeros(count, dtype=bool)
    kept = np.zeros((3, count, samples))
    for k in range(samples):
        kept[:, :, k] = force, slip, creep
        pressing = normal_force[:, k]
        static = apparent_friction(friction_mu, warp * pressing) * pressing
        kinetic = apparent_friction(e.kinetic_ratio * friction_mu, warp * pressing) * pressing
        target = e.tangential_force * min(1.0, k / (e.sample_rate * rise))
        for _ in range(e.substeps):
            spring += step * ((target - force) / e.force_recovery - e.impedance * speed)
            speed += step * (spring - e.damping * speed - force) / e.mass
            finger += step * speed
            share = np.clip(force / static, 0.0, 1.0)
            creep += step * (e.creep_length * (1.0 - (1.0 - share) ** (2.0 / 3.0)) - creep) / e.creep_time
            trial = e.pad_stiffness * (finger - slip - creep)
            sliding = trial > np.where(sliding, kinetic, static)
            force = np.where(sliding, kinetic, trial)
            slip += np.where(sliding, (trial - kinetic) / e.pad_stiffness, 0.0)
    return kept[0], kept[1], kept[2]


def _turned(force: np.ndarray, sd: float, random: np.random.Generator) -> np.ndarray:
    """Forces (t, n, 3), each trial turned by one small random rotation (first order in it, length kept)."""
    axis = sd * random.normal(size=(len(force), 1, 3))
    turned = force + np.cross(np.broadcast_to(axis, force.shape), force)
    length = np.linalg.norm(turned, axis=-1, keepdims=True)
    return turned * np.linalg.norm(force, axis=-1, keepdims=True) / np.where(length > 0.0, length, 1.0)


def _check(friction_mu: np.ndarray, experiment: SlipExperiment) -> None:
    if not (np.isfinite(friction_mu).all() and (friction_mu > 0.0).all()):
        raise ContactIdError("a coefficient of friction is not positive", "Check friction_mu of the friction objects")
    if not (experiment.normal_start > experiment.normal_end > 0.0 and experiment.normal_rate > 0.0):
        raise ContactIdError(
            f"the normal force goes from {experiment.normal_start:g} to {experiment.normal_end:g} N",
            "It has to fall to a positive value",
        )
