"""A simulated fluid-filled fingertip with 19 electrodes: impedances under a force at a place on its
skin.

The layout imitates a BioTac: the core is a half-ellipsoid with electrodes under a skin that holds a
conducting fluid in a gap. A force presses the skin towards the core (Hertz: depth grows with
f_n^(2/3)); the fluid it displaces widens the gap around the dent, and shear carries that bulge
along. An electrode's impedance grows as the gap over it closes:

    depth = d_0 (f_n / f_0)^(2/3),   bulge' = place + s_0 tanh(f_t / f_1) along f_t
    gap_i = g_0 exp(-(depth / g_0) (exp(-r_i^2 / 2 w^2) - b exp(-r'_i^2 / 2 (2 w)^2)))
    signal_i = gain_i ((g_0 / gap_i)^p - 1) + drift_i(t) + noise

with r_i and r'_i the distances from electrode i to place and bulge'. Every number is chosen for
signals of the kind such a sensor gives, none is measured. There is no hysteresis. Drift is a random
walk that starts at zero in each session, since signals are tared then.

Frame of the sensor: x along the finger to its tip, z out of the pad, origin at the ellipsoid's
centre. Forces are those of the object on the skin, so the pressing part is negative along the
outward normal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

N_ELECTRODES = 19
HALF_AXES = (0.011, 0.007, 0.007)  # m, of the ellipsoid along x, y, z
_GAP = 1.2e-3  # g_0, m
_DEPTH, _DEPTH_FORCE = 3e-4, 1.0  # d_0 and f_0, m and N
_SHEAR, _SHEAR_FORCE = 6e-3, 2.0  # s_0 and f_1, m and N
_WIDTH = 4e-3  # w, m
_BULGE = 0.5  # b, share of the widening around the dent
_POWER = 1.5  # p
_GAIN_SCATTER = 0.1  # relative, between electrodes


@dataclass(frozen=True)
class TactileSessions:
    """Recorded sessions: s sessions of n samples.

    Attributes
    ----------
    time : (n,), s
    signals : (s, n, 19), tared impedances, in units of a typical change
    force : (s, n, 3), N, of the object on the skin, in the sensor's frame
    place : (s, n, 3), m, of the contact on the skin
    """

    time: np.ndarray
    signals: np.ndarray
    force: np.ndarray
    place: np.ndarray


def electrode_layout() -> np.ndarray:
    """Electrodes (19, 3), m, on the pad's side of the ellipsoid: rows of 3, 5, 3, 5, 3 across the
    finger.
    """
    # degrees along the finger, and how many across
    rows = ((-60.0, 3), (-30.0, 5), (0.0, 3), (30.0, 5), (60.0, 3))
    angles = [
        (along, across) for along, count in rows for across in np.linspace(-70.0, 70.0, count)
    ]
    return surface_point(*np.deg2rad(np.array(angles).T))


def surface_point(along: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Points (..., 3), m, of the ellipsoid at angles (rad) along the finger and across it; the
    pad's middle is at 0.
    """
    a, b, c = HALF_AXES
    # height of the ellipse of this row
    level = np.cos(along)
    return np.stack(
        [a * np.sin(along), b * level * np.sin(across), c * level * np.cos(across)], axis=-1
    )


def outward_normal(point: np.ndarray) -> np.ndarray:
    """Unit normals (..., 3) of the ellipsoid at its points."""
    # of x^2/a^2 + y^2/b^2 + z^2/c^2
    gradient = point / np.square(HALF_AXES)
    return gradient / np.linalg.norm(gradient, axis=-1, keepdims=True)


def clean_signals(place: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Impedance changes (..., 19) of equal electrodes, without noise and drift.

    Parameters
    ----------
    place, force : (..., 3), m and N; a force that pulls leaves the skin undented
    """
    normal = outward_normal(place)
    # the object pushes against the outward normal; skin isn't pulled off
    pressing = np.maximum(-np.sum(force * normal, axis=-1), 0.0)
    tangential = force - np.sum(force * normal, axis=-1, keepdims=True) * normal
    size = np.linalg.norm(tangential, axis=-1, keepdims=True)
    # no direction without shear
    heading = tangential / np.where(size > 0.0, size, 1.0)
    # the bulge, carried along the shear, which saturates at s_0
    carried = place + _SHEAR * np.tanh(size / _SHEAR_FORCE) * heading
    depth = _DEPTH * (pressing / _DEPTH_FORCE) ** (2.0 / 3.0)
    layout, wide = electrode_layout(), 2.0 * _WIDTH
    to_place = np.sum((place[..., None, :] - layout) ** 2, axis=-1)
    to_bulge = np.sum((carried[..., None, :] - layout) ** 2, axis=-1)
    # the displaced fluid widens the gap around, over twice the width
    dent = np.exp(-to_place / (2.0 * _WIDTH**2)) - _BULGE * np.exp(-to_bulge / (2.0 * wide**2))
    # (g_0 / gap)^p - 1 with the gap of the module's formula put in
    return np.exp(_POWER * depth[..., None] / _GAP * dent) - 1.0


def simulate_sessions(sessions: int, block: Mapping[str, Any]) -> TactileSessions:
    """Sessions of smooth pressing at wandering places, as when a probe is pushed by hand over the
    pad.

    ``block`` is ``inhand: force_sensing``: samples of a session, their rate (Hz), noise and drift,
    and the seed. Normal forces reach a few N and return towards zero; shear stays within a friction
    cone of 0.7. The electrodes' gains depend on the seed alone, so equal seeds with other numbers
    of sessions are the same sensor.
    """
    samples, sample_rate, seed = block["samples"], block["sample_rate"], block["seed"]
    # a generator of their own, so that other numbers of sessions leave them
    gains = 1.0 + _GAIN_SCATTER * np.random.default_rng(seed).normal(size=N_ELECTRODES)
    random = np.random.default_rng([seed, 1])
    time = np.arange(samples) / sample_rate
    # rad; two deviations are 80 degrees off the pad's middle
    along, across = (reach * _smooth(time, sessions, random) for reach in (0.7, 0.7))
    place = surface_point(along, across)
    normal = outward_normal(place)
    # an exponential never pulls; N, 1.5 in the middle
    pressing = 1.5 * np.exp(0.6 * _smooth(time, sessions, random, slowest=0.2, fastest=1.0))
    pull = np.stack(
        [_smooth(time, sessions, random, slowest=0.2, fastest=1.0) for _ in range(3)], axis=-1
    )
    pull -= np.sum(pull * normal, axis=-1, keepdims=True) * normal
    size = np.linalg.norm(pull, axis=-1, keepdims=True)
    # within a cone of 0.7: tanh saturates
    shear = 0.7 * pressing[..., None] * np.tanh(size) * pull / np.where(size > 0.0, size, 1.0)
    force = shear - pressing[..., None] * normal
    # a random walk of the stated size after one second
    steps = (
        block["drift"]
        / np.sqrt(sample_rate)
        * random.normal(size=(sessions, samples, N_ELECTRODES))
    )
    steps[:, 0] = 0.0
    noise = block["noise"] * random.normal(size=steps.shape)
    signals = gains * clean_signals(place, force) + np.cumsum(steps, axis=1) + noise
    return TactileSessions(time, signals, force, place)


def _smooth(
    time: np.ndarray,
    count: int,
    random: np.random.Generator,
    slowest: float = 0.05,
    fastest: float = 0.4,
) -> np.ndarray:
    """Smooth random courses (count, n) of standard deviation 1: five sines of drawn frequency (Hz)
    and phase.
    """
    frequency = random.uniform(slowest, fastest, (count, 1, 5))
    phase = random.uniform(0.0, 2.0 * np.pi, (count, 1, 5))
    # five sines of variance 1/2 each
    return np.sqrt(2.0 / 5.0) * np.sum(
        np.sin(2.0 * np.pi * frequency * time[:, None] + phase), axis=-1
    )
