"""Random errors of tracked poses and forces, contacts that break, and forces that aren't sensed,
for the twins.

The paper gives none of these numbers, so all are chosen (``inhand: twin`` of the configuration; its
schema says what each is). *Poses*: white noise; a rough first-order jitter, as a tracker's that
follows its own last pose; and a smooth drift (squared-exponential correlation), as of an object
that shifts in hand. The three add up. *Forces*: a standard deviation of ``sqrt(floor^2 + (relative
|f|)^2)``, since learned tactile models err by some per cent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
from scipy.ndimage import gaussian_filter1d

# a finger neither pushes back nor loses all of its load
_SHARE_LIMITS = (0.0, 0.95)
QUIET: Mapping[str, Any] = {  # a source's noise where there is none
    "pose": {"white": (0.0, 0.0), "jitter": (0.0, 0.0), "jitter_time": 0.1, "drift": (0.0, 0.0), "drift_time": 1.0},
    "force": {"floor": 0.0, "relative": 0.0, "torque": 0.0, "contact": 0.0},
    "residual": {
        "preload_share": 0.0, "load_share": 0.0, "spread": 0.0, "transient_force": 0.0, "transient_rate": 0.0,
        "transient_time": 0.1,
    },
}  # fmt: skip


def pose_errors(
    noise: Mapping[str, Any], samples: int, time_step: float, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Errors (n, 3) of the position in m, in W, and of the orientation in rad, as a rotation vector
    in B.
    """
    parts = random.standard_normal((3, 2, samples, 3))
    # before the recording, as far as a smooth drift remembers
    padding = random.standard_normal((2, int(np.ceil(4.0 * noise["drift_time"] / time_step)), 3))
    errors = []
    for k in range(2):
        white = noise["white"][k] * parts[0, k]
        jitter = noise["jitter"][k] * first_order(parts[1, k], noise["jitter_time"] / time_step)
        wandering = smooth(np.vstack([padding[k], parts[2, k]]), noise["drift_time"] / time_step)
        errors.append(white + jitter + noise["drift"][k] * wandering[-samples:])
    return errors[0], errors[1]


def first_order(white: np.ndarray, length: float) -> np.ndarray:
    """Unit-variance process (n, d) whose correlation falls to 1/e in ``length`` samples, from white
    noise (n, d).
    """
    kept = np.exp(-1.0 / length)
    # keeps the variance at one
    driven = np.sqrt(1.0 - kept**2) * white
    driven[0] = white[0]  # starts in its stationary distribution
    return scipy.signal.lfilter([1.0], [1.0, -kept], driven, axis=0)


def smooth(white: np.ndarray, length: float) -> np.ndarray:
    """Unit-variance smooth process (n, d) with correlation ``exp(-(lag / length)^2)`` in samples,
    from white noise.
    """
    # white noise through a Gaussian of width s has correlation exp(-lag^2 / 4 s^2): s = length / 2
    width = length / 2.0
    kernel_energy = 1.0 / (
        2.0 * np.sqrt(np.pi) * width
    )  # of a normalised Gaussian kernel's squares
    return gaussian_filter1d(white, width, axis=0, mode="wrap") / np.sqrt(kernel_energy)


def stated_pose_deviation(noise: Mapping[str, Any], time_step: float) -> tuple[float, float]:
    """Standard deviations, m and rad, of independent noise whose changes from sample to sample are
    as large.

    What a recording states of its poses: estimators take the noise as independent, and live on its
    differences.
    """
    kept = np.exp(-time_step / noise["jitter_time"])
    smoothness = np.exp(-((time_step / noise["drift_time"]) ** 2))
    position, orientation = (
        # half the variance of a change: white noise has all of it, correlated noise what it doesn't
        # keep
        float(np.sqrt(white**2 + jitter**2 * (1 - kept) + drift**2 * (1 - smoothness)))
        for white, jitter, drift in zip(
            noise["white"], noise["jitter"], noise["drift"], strict=True
        )
    )
    return position, orientation


def engagement(time: np.ndarray, breaks: Mapping[str, Any]) -> np.ndarray:
    """(n,) share from 0 to 1 by which a contact that breaks several times carries: 0 within every
    break.
    """
    # evenly spread, away from both ends
    centers = time[0] + (np.arange(breaks["count"]) + 1.0) * (time[-1] - time[0]) / (
        breaks["count"] + 1.0
    )
    away = np.abs(time[:, None] - centers).min(axis=1) - 0.5 * breaks["length"]
    share = np.clip(away / breaks["blend"], 0.0, 1.0)
    return share**2 * (3.0 - 2.0 * share)


def residual_forces(
    load: np.ndarray, time: np.ndarray, strengths: Mapping[str, Any], random: np.random.Generator
) -> np.ndarray:
    """(n, k, 3) N in B: forces on the object at the fingertips that aren't sensed.

    When the grasp closes, the sensors' mounting frames take over a share of the load at the start
    and keep it, constant in B; they carry a share of the load at every moment; and transients
    appear at once and fade. Shares differ between fingers. ``load`` (n, k, 3) N is what each
    contact would carry without squeezing, at times (n,) s.
    """
    k = load.shape[1]
    scatter = 1.0 + strengths["spread"] * random.standard_normal((2, k))
    # the first sample's load, constant in B
    preload = np.clip(strengths["preload_share"] * scatter[0], *_SHARE_LIMITS)[:, None] * load[:1]
    carried = np.clip(strengths["load_share"] * scatter[1], *_SHARE_LIMITS)[:, None] * load
    return preload + carried + _transients(time, k, strengths, random)


def _transients(
    time: np.ndarray, k: int, strengths: Mapping[str, Any], random: np.random.Generator
) -> np.ndarray:
    total = np.zeros((len(time), k, 3))
    for contact in range(k):
        # a Poisson process: number first, then places
        for start in random.uniform(
            time[0], time[-1], random.poisson(strengths["transient_rate"] * np.ptp(time))
        ):
            direction = random.standard_normal(3)
            # exponential sizes in random directions
            size = strengths["transient_force"] * random.exponential() / np.linalg.norm(direction)
            since = np.maximum(time - start, 0.0)
            fading = np.where(time >= start, np.exp(-since / strengths["transient_time"]), 0.0)
            total[:, contact] += size * fading[:, None] * direction
    return total
