"""The authors' own release and rest rules, with thresholds kept by hand for each box; for comparison only.

Heights are of the box's origin over the surface, speeds from central differences (eqs. 12 to 15), indices count from 0
here (from 1 in the authors' scripts). First contact, which the authors don't need, comes from the data-driven rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import find_peaks

from contactid.tossing.events import EventOptions, Events, find_events
from contactid.tossing.velocities import central_differences

_REST_SAMPLES = 21


@dataclass(frozen=True)
class _BoxRule:
    """Release at the first or last peak of the height; rest searched from a sample on.

    Attributes
    ----------
    peak_height : m
    last : take the last peak instead of the first
    peak_width, peak_from : samples
    rest_from : sample from which rest is searched; the release where it is None
    rest_cap : rest is not later than this sample
    """

    peak_height: float
    last: bool
    peak_width: int | None = None
    peak_from: int = 0
    rest_from: int | None = None
    rest_cap: int | None = None


# trajectory identification, by the box's largest dimension in mm (192: Box004, 230: 005, 205: 006, 207: 007)
_RULES = {
    192: _BoxRule(0.095, last=True),
    230: _BoxRule(0.12, last=True, rest_from=3999),
    205: _BoxRule(0.105, last=False, peak_width=10, peak_from=199, rest_from=169, rest_cap=899),
    207: _BoxRule(0.095, last=True, rest_cap=699),
}


def find_author_events(
    position: np.ndarray,
    orientation: np.ndarray,
    vertices: np.ndarray,
    center_of_mass: np.ndarray,
    time_step: float,
    *,
    gravity: np.ndarray,
    surface_velocity: np.ndarray,
    options: EventOptions | None = None,
    fallback: Callable[..., Events] = find_events,
) -> Events:
    """Events by the authors' constants; arguments as for :func:`contactid.tossing.events.find_events`."""
    options = options or EventOptions()
    rule = _RULES.get(round(1e3 * float(np.ptp(vertices, axis=0).max())))
    if rule is None:
        return Events(reason="the authors' event rule knows Box004 to Box007 only")
    found = fallback(
        position, orientation, vertices, center_of_mass, time_step,
        gravity=gravity, surface_velocity=surface_velocity, options=options,
    )  # fmt: skip
    if found.reason:
        return found
    release = _release(position[:, 2], rule)
    if release < 0:
        return Events(reason=f"no peak of at least {rule.peak_height} m (the authors' release rule)")
    rest = _rest(position, orientation, time_step, surface_velocity, rule, release, options.rest_speed)
    if rest < 0:
        return Events(reason=f"no {_REST_SAMPLES} samples slower than {options.rest_speed} m/s after release")
    if not release < found.contact <= rest:
        return Events(reason="release, contact and rest out of order by the authors' rule")
    return replace(found, release=release, rest=rest)


def _release(height: np.ndarray, rule: _BoxRule) -> int:
    peaks, _ = find_peaks(height[rule.peak_from :], height=rule.peak_height, width=rule.peak_width)
    if not len(peaks):
        return -1
    return int(peaks[-1 if rule.last else 0]) + rule.peak_from


def _rest(
    position: np.ndarray,
    orientation: np.ndarray,
    time_step: float,
    surface_velocity: np.ndarray,
    rule: _BoxRule,
    release: int,
    limit: float,
) -> int:
    velocity = central_differences(position, orientation, time_step)[:, :3] - surface_velocity
    slow = np.linalg.norm(velocity, axis=1) < limit
    first = release if rule.rest_from is None else min(rule.rest_from, len(slow))
    runs = (
        np.lib.stride_tricks.sliding_window_view(slow[first:], _REST_SAMPLES).all(axis=1)
        if (len(slow) - first >= _REST_SAMPLES)
        else np.zeros(0, dtype=bool)
    )
    starts = np.flatnonzero(runs)
    if not len(starts):
        return -1
    rest = first + int(starts[0])
    return rest if rule.rest_cap is None else min(rest, rule.rest_cap)
