"""When a toss is released, first touches the surface, and comes to rest: one data-driven rule for
all bodies.

* *rest* begins with the last run of samples that lasts to the end of the recording and in which the
  body moves slower, relative to the surface, than 2 cm/s (the authors' own threshold) and hardly
  spins;
* *first contact* is the first sample, before rest, at which the body is near the surface and
  doesn't fall freely;
* *release* is the beginning of the free fall that ends with the first contact: the longest run of
  samples before it at which a parabola fitted to the neighbouring samples has the acceleration of
  gravity.

For comparison, :func:`as_authors` has the authors' own rules for release and rest, with thresholds
kept by hand for each box in trajectory-based identification. Their heights are of the box's origin
over the surface, their speeds from central differences (eqs. 12 to 15), and indices count from 0
here (from 1 in the authors' scripts). First contact, which they don't need, comes from the
data-driven rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from contactid.tossing.prepare.poses import central_differences, local_velocity, vertex_positions

_WINDOW = 0.025  # s on either side: at 360 Hz and 0.2 mm noise the fitted speed is good to 3 mm/s
_FEWEST_FLIGHT_SAMPLES = 5
_FEWEST_REST_SAMPLES = 4
_TOUCH_HEIGHT = 1e-3  # m: twice the scatter of resting vertices
# m/s and m/s2, as in config/default.yaml, which isn't there where the package alone is installed or
# a file is read
REST_SPEED, FALL_TOLERANCE = 0.02, 2.0
IN_MOTION = "not at rest at the end of the recording"
_NO_IMPACT = "no impact between release and rest"
_MEDIAN_LENGTH = 1.5382  # of a vector of three normal deviates
_JUMP = 0.15  # m/s: a smaller jump in the velocity of the centre of mass is not told from noise


@dataclass(frozen=True)
class Events:
    """Sample indices within a recording; ``reason`` says why there are none."""

    release: int = -1
    contact: int = -1
    rest: int = -1
    reason: str = ""


def find_events(
    position: np.ndarray,
    orientation: np.ndarray,
    vertices: np.ndarray,
    center_of_mass: np.ndarray,
    time_step: float,
    *,
    gravity: np.ndarray,
    surface_velocity: np.ndarray,
    rest_speed: float,
    fall_tolerance: float,
    rest: int | None = None,
) -> Events:
    """Find release, first contact and rest of one toss.

    Parameters
    ----------
    position, orientation : (n, 3) m and (n, 4) in C, the surface at z = 0
    vertices, center_of_mass : (v, 3) and (3,) m in B
    gravity, surface_velocity : (3,) m/s2 and m/s in C
    rest_speed : m/s; slower than this is rest
    fall_tolerance : largest deviation from free fall, m/s2; raised to six standard deviations where
        the noise needs it
    rest : sample before which release and first contact lie, where the body needn't come to rest
    """
    half = _half_window(time_step)
    if len(position) < 2 * half + _FEWEST_REST_SAMPLES:
        return Events(reason=f"only {len(position)} frames")
    if rest is None:
        rest = find_rest(position, orientation, vertices, time_step, surface_velocity, rest_speed)
    if rest < 0:
        return Events(reason="not at rest at the end of the recording")
    if rest == 0:
        return Events(reason="at rest from the first sample on")
    heights = vertex_positions(position, orientation, vertices)[:, :, 2]
    # a toss flies; what only slides or is put down doesn't
    airborne = np.flatnonzero(heights.min(axis=1) > _near(vertices))
    if not len(airborne) or airborne[0] > rest:
        return Events(reason="never above the surface before it is at rest")
    mass_center = vertex_positions(position, orientation, center_of_mass[None, :])[:, 0]
    hits = np.flatnonzero(_touches(heights, mass_center, vertices, time_step, gravity))
    # before the flight nothing is an impact of the toss
    hits = hits[(hits > airborne[0]) & (hits <= rest)]
    if not len(hits):
        return Events(reason="no impact between release and rest")
    contact = int(hits[0])
    release = _release(mass_center, gravity, time_step, half, contact, fall_tolerance)
    if contact - release < _FEWEST_FLIGHT_SAMPLES:
        return Events(
            reason=f"only {max(contact - release, 0)} samples of free flight before the first contact"
        )
    return Events(release, contact, rest)


def find_flight(
    position: np.ndarray,
    orientation: np.ndarray,
    vertices: np.ndarray,
    center_of_mass: np.ndarray,
    time_step: float,
    *,
    gravity: np.ndarray,
    surface_velocity: np.ndarray,
    rest_speed: float,
    fall_tolerance: float,
) -> Events:
    """Release and first contact of a toss whose recording ends in motion; ``rest`` is its last
    sample.

    Where it ends in flight, the contact is behind the last sample. Parameters as of
    :func:`find_events`.
    """
    last = len(position) - 1
    events = find_events(
        position, orientation, vertices, center_of_mass, time_step,
        gravity=gravity, surface_velocity=surface_velocity,
        rest_speed=rest_speed, fall_tolerance=fall_tolerance, rest=last,
    )  # fmt: skip
    if events.reason != _NO_IMPACT:
        return events
    mass_center = vertex_positions(position, orientation, center_of_mass[None, :])[:, 0]
    half = _half_window(time_step)
    release = _release(mass_center, gravity, time_step, half, last + 1, fall_tolerance)
    in_flight = max(last + 1 - release, 0)
    if in_flight < _FEWEST_FLIGHT_SAMPLES:
        return Events(reason=f"only {in_flight} samples of free flight before the first contact")
    return Events(release, last + 1, last)


def _half_window(time_step: float) -> int:
    """Samples on either side of a local fit."""
    return max(2, round(_WINDOW / time_step))


def find_rest(
    position: np.ndarray,
    orientation: np.ndarray,
    vertices: np.ndarray,
    time_step: float,
    surface_velocity: np.ndarray,
    rest_speed: float,
) -> int:
    """First sample of the last slow run, which lasts to the end; -1 where the recording ends in
    motion.

    Slow means the origin, and every vertex at twice the limit, so that a body spinning on the spot
    is not at rest; twice, because orientation noise moves the vertices. The speed is that of
    straight lines fitted to neighbouring samples, which is less noisy than a central difference.
    """
    # (n, 1 + v, 3) the origin first, then the vertices
    points = vertex_positions(position, orientation, np.vstack([np.zeros(3), vertices]))
    velocity = local_velocity(points.reshape(len(points), -1), time_step, _half_window(time_step))
    speed = np.linalg.norm(velocity.reshape(points.shape) - surface_velocity, axis=2)
    # rest begins behind the last fast sample
    fast = np.flatnonzero(np.maximum(speed[:, 0], 0.5 * speed[:, 1:].max(axis=1)) >= rest_speed)
    start = int(fast[-1]) + 1 if len(fast) else 0
    return start if len(position) - start >= _FEWEST_REST_SAMPLES else -1


def _near(vertices: np.ndarray) -> float:
    """Below this height (m) a vertex may be touching between two samples."""
    return 0.1 * float(np.ptp(vertices, axis=0).min())


def _touches(
    heights: np.ndarray,
    mass_center: np.ndarray,
    vertices: np.ndarray,
    time_step: float,
    gravity: np.ndarray,
) -> np.ndarray:
    """Samples (n,) at which a low vertex reaches the surface or turns back, or the body near it
    doesn't fall.
    """
    near = _near(vertices)
    lowest = heights.min(axis=1)
    touching = lowest < _TOUCH_HEIGHT
    # (n - 2,) m: a second difference is a jump of the velocity, times the time step
    fall = np.linalg.norm(
        mass_center[2:] - 2.0 * mass_center[1:-1] + mass_center[:-2] - gravity * time_step**2,
        axis=1,
    )
    # (n - 2,) m: a vertex that turns round has its second difference upwards
    turn = np.where(
        heights[1:-1] < near, heights[2:] - 2.0 * heights[1:-1] + heights[:-2], 0.0
    ).max(axis=1)
    aloft = lowest[1:-1] > near
    # of the same differences where no vertex is near the surface, a component's normal deviation
    noise = float(np.median(fall[aloft])) / _MEDIAN_LENGTH if aloft.sum() > 8 else 0.0
    jump = max(_JUMP * time_step, 5.0 * noise)
    touching[1:-1] |= (lowest[1:-1] < near) & ((fall > jump) | (turn > 2.0 * jump))
    return touching


def _release(
    mass_center: np.ndarray,
    gravity: np.ndarray,
    time_step: float,
    half: int,
    contact: int,
    tolerance: float,
) -> int:
    """First sample of the free fall that ends just before sample ``contact``."""
    # the jump in velocity lies between samples contact - 1 and contact + 1
    flight = mass_center[:contact]
    if len(flight) < 2 * half + 1:
        return 0 if len(flight) >= _FEWEST_FLIGHT_SAMPLES else contact
    width = 2 * half + 1
    times = (np.arange(width) - half) * time_step
    # weights of a parabola's t^2 coefficient
    quadratic = np.linalg.pinv(np.vander(times, 3, increasing=True))[2]
    windows = np.lib.stride_tricks.sliding_window_view(flight, width, axis=0)  # (n, 3, width)
    deviation = np.linalg.norm(2.0 * windows @ quadratic - gravity, axis=1)
    # just before the contact it surely flies, whatever the hand did before
    near_contact = deviation[-max(3, width) :]
    limit = max(tolerance, 6.0 * float(np.median(near_contact)))
    held = np.flatnonzero(deviation > limit)
    # the first window that fits may still begin with a few held samples, so release is taken at its
    # middle
    return int(held[-1]) + 1 + half if len(held) else 0


@dataclass(frozen=True)
class _BoxRule:
    """Release at the first or last peak of the height; rest searched from a sample on."""

    peak_height: float  # m
    last: bool  # take the last peak instead of the first
    # peak_width, peak_from: samples
    peak_width: int | None = None
    peak_from: int = 0
    rest_from: int | None = None  # sample from which rest is searched; the release where it is None
    rest_cap: int | None = None  # rest is not later than this sample


_REST_SAMPLES = 21
_HELD = 0.03  # s before the release that the data give: that one is some samples late
# trajectory identification, by the box's largest dimension in mm (192: Box004, 230: 005, 205: 006,
# 207: 007)
_RULES = {
    192: _BoxRule(0.095, last=True),
    230: _BoxRule(0.12, last=True, rest_from=3999),
    205: _BoxRule(0.105, last=False, peak_width=10, peak_from=199, rest_from=169, rest_cap=899),
    207: _BoxRule(0.095, last=True, rest_cap=699),
}


def as_authors(
    found: Events,
    position: np.ndarray,
    orientation: np.ndarray,
    vertices: np.ndarray,
    time_step: float,
    surface_velocity: np.ndarray,
    rest_speed: float,
) -> Events:
    """What :func:`find_events` found, with release and rest by the authors' constants; arguments as
    there.
    """
    rule = _RULES.get(round(1e3 * float(np.ptp(vertices, axis=0).max())))
    if rule is None:
        return Events(reason="the authors' event rule knows Box004 to Box007 only")
    if found.reason:
        return found
    release = _author_release(position[:, 2], rule)
    if release < 0:
        return Events(
            reason=f"no peak of at least {rule.peak_height} m (the authors' release rule)"
        )
    rest = _author_rest(
        position, orientation, time_step, surface_velocity, rule, release, rest_speed
    )
    if rest < 0:
        return Events(
            reason=f"no {_REST_SAMPLES} samples slower than {rest_speed} m/s after release"
        )
    if not release + _FEWEST_FLIGHT_SAMPLES <= found.contact <= rest:
        return Events(reason="no flight, or a rest before the contact, by the authors' rule")
    # a peak of the height may come while the hand still moves the box
    if release < found.release - round(_HELD / time_step):
        return Events(reason="the authors' rule finds a peak at which the box was still held")
    return replace(found, release=release, rest=rest)


def _author_release(height: np.ndarray, rule: _BoxRule) -> int:

    peaks, _ = scipy.signal.find_peaks(
        height[rule.peak_from :], height=rule.peak_height, width=rule.peak_width
    )
    if not len(peaks):
        return -1
    return int(peaks[-1 if rule.last else 0]) + rule.peak_from


def _author_rest(
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
    if len(slow) - first < _REST_SAMPLES:
        return -1
    starts = np.flatnonzero(
        np.lib.stride_tricks.sliding_window_view(slow[first:], _REST_SAMPLES).all(axis=1)
    )
    if not len(starts):
        return -1
    # the first of so many slow samples in a row
    rest = first + int(starts[0])
    return rest if rule.rest_cap is None else min(rest, rule.rest_cap)
