"""J/m without any impact: a body that tips over a corner that stays on the ground.

While one rounded corner carries the body, the moment about its contact point leaves (eq. 31 for lasting contact)

    J/m alpha = r_t (a_y + g) - r_n a_x - couple,

with a and alpha the measured accelerations (less the flight's braking), whether the corner sticks or slides. The lever
r_n reaches to the ground, rounding included. ``couple`` is what resists the turning besides: a body between plates
leans against them, so that it may even stand on a corner. Without it J/m comes out too large, so the estimate without
a couple is an upper bound. With one constant couple per pivot, J/m follows from how the moment varies along the pivot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.geometry import Ground, Polygon, contacts
from contactid.planar.squares.events import ThrowEvents, ThrowOptions
from contactid.planar.squares.flight import FlightReport

_LEAST_ROLLED, _SLOW_ROLL = 0.05, 4e-3  # rad, rad per frame
_SCALE = 2e-3  # m2/s2: moments per mass that leave the line by more count less


@dataclass(frozen=True)
class TippingOptions:
    """What counts as a pivot.

    Attributes
    ----------
    touching : largest distance of the corner from the ground, m
    steady : how far its gap may leave the pivot's mean, m
    clear : how much higher the next corner must be, m
    half_width, degree : of the local polynomials
    noise : a pose may leave them by so many standard deviations
    fewest : poses of a pivot
    least_turning : slowest, rad/s
    bootstraps : of the standard error over pivots
    """

    touching: float = 2.5e-3
    steady: float = 4e-4
    clear: float = 3e-3
    half_width: int = 5
    degree: int = 3
    noise: float = 3.5
    fewest: int = 6
    least_turning: float = 0.5
    bootstraps: int = 200


@dataclass(frozen=True)
class Pivot:
    """n instants of a body tipping about one corner.

    Attributes
    ----------
    name : of the throw
    position, velocity, acceleration : (n, 3) m and rad; acceleration without braking
    arm_t, arm_n : (n,) the contact point's place along t and n, from the centre, m
    """

    name: str
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    arm_t: np.ndarray
    arm_n: np.ndarray


@dataclass(frozen=True)
class TippingRatio:
    """J/m from several pivots.

    Attributes
    ----------
    ratio, error : J/m and its standard error by a bootstrap over pivots, m2
    couple : median or given one, per mass, m2/s2
    pivots : (n,) J/m of single pivots, m2
    """

    ratio: float
    error: float
    couple: float
    pivots: np.ndarray


def find_pivots(
    events: Sequence[ThrowEvents],
    shape: Polygon,
    ground: Ground,
    radius: float,
    flight: FlightReport,
    interval: float,
    options: TippingOptions | None = None,
) -> list[Pivot]:
    """All pivots of aligned throws.

    Parameters
    ----------
    events
        Aligned.
    shape, ground
        Centres of the rounded corners, and the ground raised by their ``radius`` (m); see
        :func:`contactid.planar.squares.flight.corners_moved_in`.
    flight
        For noise and braking.
    interval
        Time between frames, s.
    """
    options = options or TippingOptions()
    found = []
    for event in events:
        gap = contacts(shape, ground, event.position).gap
        for first, end, corner in steady_runs(gap, event.jumps, options):
            pivot = _pivot(event, first, end, corner, shape, ground, radius, flight, interval, options)
            if pivot is not None:
                found.append(pivot)
    return found


def steady_runs(gap: np.ndarray, jumps: Sequence[int], options: TippingOptions) -> list[tuple[int, int, int]]:
    """(first, end, corner) of runs in which one corner stays on the ground and the others are clear."""
    lowest, ordered = gap.argmin(axis=1), np.sort(gap, axis=1)
    fine = (np.abs(ordered[:, 0]) < options.touching) & (ordered[:, 1] - ordered[:, 0] > options.clear)
    for jump in jumps:
        fine[max(jump - 1, 0) : jump + 2] = False
    runs, k = [], 0
    while k < len(fine):
        end, corner = k, int(lowest[k])
        while (
            end < len(fine)
            and fine[end]
            and lowest[end] == corner
            and abs(gap[end, corner] - gap[k : end + 1, corner].mean()) < options.steady
        ):
            end += 1
        if end - k >= 2 * options.half_width + options.fewest:
            runs.append((k, end, corner))
        k = max(end, k + 1)
    return runs


def _pivot(
    event: ThrowEvents,
    first: int,
    end: int,
    corner: int,
    shape: Polygon,
    ground: Ground,
    radius: float,
    flight: FlightReport,
    interval: float,
    options: TippingOptions,
) -> Pivot | None:
    """Derivatives by local polynomials, where these fit and the body turns one way."""
    w = options.half_width
    time = interval * np.arange(-w, w + 1)
    powers = np.vander(time, options.degree + 1, increasing=True)
    windows = np.lib.stride_tricks.sliding_window_view(event.position[first:end], 2 * w + 1, axis=0)
    found = np.einsum("pk,nik->pni", np.linalg.pinv(powers), windows)
    left = windows - np.einsum("kp,pni->nik", powers, found)
    noise = np.sqrt((left**2).sum(axis=2) / (2 * w - options.degree))
    position, velocity, acceleration = found[0], found[1], 2.0 * found[2]
    fine = (noise < options.noise * flight.sigma).all(axis=1) & (np.abs(velocity[:, 2]) > options.least_turning)
    run = _longest(fine & (np.sign(velocity[:, 2]) == np.sign(np.median(velocity[:, 2]))))
    if run.stop - run.start < options.fewest:
        return None
    position, velocity, acceleration = position[run], velocity[run], acceleration[run]
    at = contacts(shape, ground, position)
    return Pivot(
        event.name,
        position,
        velocity,
        acceleration + flight.braking * velocity,
        at.normal[:, corner, 2],
        -at.tangent[:, corner, 2] - radius,
    )


def _longest(fine: np.ndarray) -> slice:
    """The longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], fine.astype(int), [0]]))).reshape(-1, 2)
    if not len(edges):
        return slice(0, 0)
    first, end = edges[np.argmax(edges[:, 1] - edges[:, 0])]
    return slice(int(first), int(end))


def ratio_of_moments(
    pivots: Sequence[Pivot],
    options: ThrowOptions,
    *,
    couple: float | None = None,
    tipping: TippingOptions | None = None,
) -> TippingRatio:
    """J/m by the moment about the contact point; ``couple``: the same for all pivots, or None: fitted to each.

    Raises
    ------
    ContactIdError
        Without a pivot.
    """
    data = []
    for pivot in pivots:
        way = np.sign(np.median(pivot.velocity[:, 2]))
        moment = pivot.arm_t * (pivot.acceleration[:, 1] + options.gravity) - pivot.arm_n * pivot.acceleration[:, 0]
        data.append((way * moment, way * pivot.acceleration[:, 2]))
    return _common_slope(data, couple, tipping or TippingOptions())


def _common_slope(
    data: Sequence[tuple[np.ndarray, np.ndarray]], couple: float | None, tipping: TippingOptions
) -> TippingRatio:
    """Robust ``moment = J/m alpha + couple`` with a common J/m."""
    if not data:
        raise ContactIdError("no body tips over a corner long enough", "Record throws until they come to rest")
    reduced = [
        (moment - moment.mean(), alpha - alpha.mean()) if couple is None else (moment - couple, alpha)
        for moment, alpha in data
    ]
    single = np.array([float(alpha @ moment / (alpha @ alpha)) for moment, alpha in reduced])
    ratio, random = _robust(reduced), np.random.default_rng(1)
    drawn = [
        _robust([reduced[i] for i in random.integers(0, len(reduced), len(reduced))]) for _ in range(tipping.bootstraps)
    ]
    resisting = [float((moment - ratio * alpha).mean()) for moment, alpha in data]
    return TippingRatio(ratio, float(np.std(drawn)), float(np.median(resisting)) if couple is None else couple, single)


def _robust(data: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """The slope in units of the plain one, residuals beyond the scale counting less than their square."""
    moment, alpha = (np.concatenate(columns) for columns in zip(*data, strict=True))
    start = float(alpha @ moment / (alpha @ alpha))

    def residuals(z: np.ndarray) -> np.ndarray:
        return (moment - z[0] * start * alpha) / _SCALE

    return start * float(least_squares(residuals, np.ones(1), loss="soft_l1").x[0])


def rolling_levers(
    events: Sequence[ThrowEvents], shape: Polygon, ground: Ground, options: TippingOptions | None = None
) -> dict[str, tuple[float, float]]:
    """Bodies that roll over a corner too slowly to slide: throw to (-dx/dtheta along the ground, centre's height), m.

    A rounded corner that rolls moves the centre by its height over the ground, per angle; a sharp one that is lower
    by the rounding's radius has the same heights and moves it by less.
    """
    options, found = options or TippingOptions(), {}
    for event in events:
        gap = contacts(shape, ground, event.position).gap
        for first, end, _ in steady_runs(gap, event.jumps, options):
            pose = event.position[first:end]
            steps = np.abs(np.diff(pose[:, 2]))
            turned = abs(pose[-1, 2] - pose[0, 2])
            if turned < _LEAST_ROLLED or steps.mean() > _SLOW_ROLL or turned < 0.5 * steps.sum():
                continue
            along = (pose[:, :2] - [ground.x0, ground.y0]) @ ground.tangent
            height = (pose[:, :2] - [ground.x0, ground.y0]) @ ground.normal
            found[event.name] = -float(np.polyfit(pose[:, 2], along, 1)[0]), float(height.mean())
    return found


def standing_couples(
    events: Sequence[ThrowEvents], shape: Polygon, ground: Ground, options: ThrowOptions, clear: float = 3e-3
) -> dict[str, float]:
    """Throws that end at rest on a single corner, and the couple per mass (m2/s2) that must hold them there."""
    found = {}
    for event in events:
        last = event.position[-options.rest_frames :]
        if event.rest is None or not np.isfinite(last).all():
            continue
        at = contacts(shape, ground, last.mean(axis=0))
        order = at.gap.argsort()
        if at.gap[order[1]] - at.gap[order[0]] > clear:
            found[event.name] = float(options.gravity * abs(at.normal[order[0], 2]))
    return found
