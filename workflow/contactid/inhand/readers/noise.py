"""Random errors of tracked poses and forces, contacts that break, and forces that aren't sensed, for the twins.

The paper gives none of these numbers, so all are chosen (``inhand: twin`` of the configuration).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import lfilter

_SHARE_LIMITS = (0.0, 0.95)


@dataclass(frozen=True)
class PoseNoise:
    """Noise of tracked poses; the three kinds add up.

    Attributes
    ----------
    white : m and rad, independent from sample to sample
    jitter, jitter_time : m and rad, and s; a first-order process, rough, as a tracker's that follows its own last pose
    drift, drift_time : m and rad, and s; smooth (squared-exponential correlation), as of an object that shifts in hand
    """

    white: tuple[float, float] = (0.0, 0.0)
    jitter: tuple[float, float] = (0.0, 0.0)
    jitter_time: float = 0.1
    drift: tuple[float, float] = (0.0, 0.0)
    drift_time: float = 1.0


@dataclass(frozen=True)
class ForceNoise:
    """Noise of forces and contact points, independent from sample to sample.

    A force's standard deviation is ``sqrt(floor^2 + (relative |f|)^2)``; learned tactile models err by some per cent.

    Attributes
    ----------
    floor : N
    relative : 1
    torque : N m, of a force-torque sensor
    contact : m, of a contact point's coordinates
    """

    floor: float = 0.0
    relative: float = 0.0
    torque: float = 0.0
    contact: float = 0.0


@dataclass(frozen=True)
class ResidualForces:
    """Forces on the object at the fingertips that aren't sensed.

    Attributes
    ----------
    preload_share : share of the load at the start that the mounting frames keep carrying, constant in B
    load_share : share of the load at every moment that they carry
    spread : relative standard deviation of both shares between fingers
    transient_force : N, mean size of a transient at its start
    transient_rate : 1/s, transients per finger
    transient_time : s, in which a transient falls to 1/e
    """

    preload_share: float = 0.0
    load_share: float = 0.0
    spread: float = 0.0
    transient_force: float = 0.0
    transient_rate: float = 0.0
    transient_time: float = 0.1


@dataclass(frozen=True)
class Breaks:
    """A contact that an object's recordings in hand lose several times.

    Attributes
    ----------
    object, contact : names
    count : times, spread evenly over the recording
    length : s without contact
    blend : s in which its force fades and comes back
    """

    object: str
    contact: str
    count: int
    length: float
    blend: float


def pose_errors(
    noise: PoseNoise, samples: int, time_step: float, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Errors (n, 3) of the position in m, in W, and of the orientation in rad, as a rotation vector in B."""
    parts = random.standard_normal((3, 2, samples, 3))
    padding = random.standard_normal((2, _padding(noise, time_step), 3))
    errors = []
    for k in range(2):
        white = noise.white[k] * parts[0, k]
        jitter = noise.jitter[k] * first_order(parts[1, k], noise.jitter_time / time_step)
        drift = noise.drift[k] * smooth(np.vstack([padding[k], parts[2, k]]), noise.drift_time / time_step)[-samples:]
        errors.append(white + jitter + drift)
    return errors[0], errors[1]


def _padding(noise: PoseNoise, time_step: float) -> int:
    """Samples before the recording, beyond which a smooth drift has forgotten everything."""
    return int(np.ceil(4.0 * noise.drift_time / time_step))


def first_order(white: np.ndarray, length: float) -> np.ndarray:
    """Unit-variance process (n, d) whose correlation falls to 1/e in ``length`` samples, from white noise (n, d)."""
    kept = np.exp(-1.0 / length)
    driven = np.sqrt(1.0 - kept**2) * white
    driven[0] = white[0]  # starts in its stationary distribution
    return lfilter([1.0], [1.0, -kept], driven, axis=0)


def smooth(white: np.ndarray, length: float) -> np.ndarray:
    """Unit-variance smooth process (n, d) with correlation ``exp(-(lag / length)^2)`` in samples, from white noise."""
    width = length / 2.0
    kernel_energy = 1.0 / (2.0 * np.sqrt(np.pi) * width)  # of a normalised Gaussian kernel's squares
    return gaussian_filter1d(white, width, axis=0, mode="wrap") / np.sqrt(kernel_energy)


def stated_pose_deviation(noise: PoseNoise, time_step: float) -> tuple[float, float]:
    """Standard deviations, m and rad, of independent noise whose changes from sample to sample are as large.

    What a recording states of its poses: estimators take the noise as independent, and live on its differences.
    """
    kept = np.exp(-time_step / noise.jitter_time)
    smoothness = np.exp(-((time_step / noise.drift_time) ** 2))
    position, orientation = (
        float(np.sqrt(noise.white[k] ** 2 + noise.jitter[k] ** 2 * (1 - kept) + noise.drift[k] ** 2 * (1 - smoothness)))
        for k in range(2)
    )
    return position, orientation


def engagement(time: np.ndarray, breaks: Breaks) -> np.ndarray:
    """(n,) share from 0 to 1 by which a contact that breaks several times carries: 0 within every break."""
    centers = time[0] + (np.arange(breaks.count) + 1.0) * (time[-1] - time[0]) / (breaks.count + 1.0)
    away = np.abs(time[:, None] - centers).min(axis=1) - 0.5 * breaks.length
    share = np.clip(away / breaks.blend, 0.0, 1.0)
    return share**2 * (3.0 - 2.0 * share)


def residual_forces(
    load: np.ndarray, time: np.ndarray, strengths: ResidualForces, random: np.random.Generator
) -> np.ndarray:
    """(n, k, 3) N in B: forces on the object at the fingertips that aren't sensed.

    When the grasp closes, the sensors' mounting frames take over a share of the load at the start and keep it, constant
    in B; they carry a share of the load at every moment; and transients appear at once and fade. Shares differ between
    fingers. ``load`` (n, k, 3) N is what each contact would carry without squeezing, at times (n,) s.
    """
    k = load.shape[1]
    scatter = 1.0 + strengths.spread * random.standard_normal((2, k))
    preload = np.clip(strengths.preload_share * scatter[0], *_SHARE_LIMITS)[:, None] * load[:1]
    carried = np.clip(strengths.load_share * scatter[1], *_SHARE_LIMITS)[:, None] * load
    return preload + carried + _transients(time, k, strengths, random)


def _transients(time: np.ndarray, k: int, strengths: ResidualForces, random: np.random.Generator) -> np.ndarray:
    total = np.zeros((len(time), k, 3))
    for contact in range(k):
        for start in random.uniform(time[0], time[-1], random.poisson(strengths.transient_rate * np.ptp(time))):
            direction = random.standard_normal(3)
            size = strengths.transient_force * random.exponential() / np.linalg.norm(direction)
            since = np.maximum(time - start, 0.0)
            fading = np.where(time >= start, np.exp(-since / strengths.transient_time), 0.0)
            total[:, contact] += size * fading[:, None] * direction
    return total
