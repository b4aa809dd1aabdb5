"""From measured planar throws to what an identification takes: a shape, and short windows around first impacts.

A window is a few frames before and after the first impact of a single corner. It exists where two short flights meet in
one instant (:func:`contactid.planar.squares.flight.bridge`) that lies no higher than any frame: lost frames, slaps on a
side, and a second contact within a few frames don't leave a window.

Two things make it fit for a rigid body on a straight ground:

* *Corners.* Real ones are rounded, which moves the contact point of a tilted body inwards by far more than the noise.
  The radius is measured (:func:`contactid.planar.squares.flight.corner_radius`), and the shape returned is the polygon
  of the rounding circles' centres.
* *Height.* A real impact takes about a millisecond, in which a body falls on for a millimetre or two; as a rigid one it
  happened where the two flights meet, below the ground at rest. So every window has its own height of the ground,
  through the touching corner at that instant: an error of 0.1 mm there is one of several standard deviations of the
  measured height afterwards.

In many throws the camera lost frames at the first impact; they are mended.
A body that turns fast in an impact is lost by the camera for a frame or two, and the file goes on without a gap. Both
flights are as good as any other's: with m frames put back between them they meet in one instant, for one m alone, as
a frame is 14 mm of height at 3.5 m/s. The poses put back are those of the two flights, so they tell nothing new; the
same holds for single wild poses within the impact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.readers.throws import shape_of
from contactid.planar.simulate.geometry import Ground, Polygon, Shape, contacts
from contactid.planar.simulate.throws import MeasuredThrow
from contactid.planar.squares.events import Alignment, Contact, ThrowEvents, ThrowOptions, align, find_events
from contactid.planar.squares.flight import (
    Bridge,
    FlightOptions,
    FlightReport,
    bridge,
    corner_radius,
    corners_moved_in,
    flight_report,
    single_corner,
)

_MOST_LOST = 6  # frames
_WILD = (2e-3, 3e-3, 0.15)  # m, m, rad: poses within an impact that are farther from both flights are no poses


@dataclass(frozen=True)
class WindowOptions:
    """What to cut out.

    Attributes
    ----------
    frames_before, frames_after : at most, around the first contact
    radius : of a polygon's rounded corners, m; None: measured
    deepest : a frame of the window may lie below the ground, m
    """

    frames_before: int = 8
    frames_after: int = 8
    radius: float | None = None
    deepest: float = 5e-4


@dataclass(frozen=True)
class ThrowWindow:
    """A short piece of a throw around its first impact.

    Attributes
    ----------
    name : the throw's
    throw : time from 0 (s), position of the body's centre and axes (n, 3), sigma (3,), ground
    frames : (first, end) in the whole throw
    corner : that touches
    instant : of the impact, s in the window's time
    lowered : the window's ground below the one of the throws at rest, m
    """

    name: str
    throw: MeasuredThrow
    frames: tuple[int, int]
    corner: int
    instant: float
    lowered: float


@dataclass(frozen=True)
class PreparedThrows:
    """What a dataset of measured throws gives to an identification.

    Attributes
    ----------
    shape, ground : to identify with; of a polygon its corners' centres, and the ground for these
    radius : of the corners, m
    alignment, events, flight : what windows are cut from
    """

    shape: Shape
    ground: Ground
    radius: float
    alignment: Alignment
    events: tuple[ThrowEvents, ...]
    flight: FlightReport


def prepare_throws(
    data: xr.Dataset,
    options: ThrowOptions | None = None,
    flight: FlightOptions | None = None,
    window: WindowOptions | None = None,
) -> PreparedThrows:
    """Events, noise, ground and shape of a canonical dataset of throws.

    Raises
    ------
    ContactIdError
        Where no throw comes to rest (no ground), or where too little is in flight (no noise).
    """
    options, flight, window = options or ThrowOptions(), flight or FlightOptions(), window or WindowOptions()
    interval = 1.0 / data.attrs["sample_frequency"]
    alignment = align(data, options)
    events = find_events(data, alignment, options)
    report = flight_report(events, interval, options, flight)
    shape, ground, radius = _rounded(shape_of(data), alignment, events, window)
    return PreparedThrows(shape, ground, radius, alignment, tuple(events), report)


def _rounded(
    shape: Shape, alignment: Alignment, events: Sequence[ThrowEvents], window: WindowOptions
) -> tuple[Shape, Ground, float]:
    if not isinstance(shape, Polygon):
        return shape, alignment.ground, 0.0
    radius = corner_radius(events, shape, alignment)[0] if window.radius is None else window.radius
    radius = max(radius, 0.0)
    return *corners_moved_in(shape, alignment.ground, radius), radius


def identification_window(
    event: ThrowEvents,
    shape: Shape,
    ground: Ground,
    sigma: np.ndarray,
    interval: float,
    options: ThrowOptions | None = None,
    flight: FlightOptions | None = None,
    window: WindowOptions | None = None,
) -> ThrowWindow:
    """Cut the window around the first impact out of a throw.

    Parameters
    ----------
    event
        The throw, aligned.
    shape, ground
        To identify with; the ground's height is replaced by the throw's own.
    sigma
        (3,) noise, m, m, rad.
    interval
        Time between frames, s.
    options, flight, window
        How throws are looked at, how flights around an impact are fitted, what to cut out.

    Raises
    ------
    ContactIdError
        Where the throw has no such window; the reason is said.
    """
    options, flight, window = options or ThrowOptions(), flight or FlightOptions(), window or WindowOptions()
    if not event.contacts:
        raise _no_window(event, "no contact")
    last = event.contacts[0].before
    frames = _frames(event, options, window)
    if any(frames[0] <= jump < frames[1] for jump in event.jumps):
        raise _no_window(event, "a jump in the window")
    met = bridge(event, interval, options, flight)
    if met is None:
        raise _no_window(event, "the flights before and after the first contact don't meet")
    at = contacts(shape, ground, met.position)
    corner = single_corner(at.gap, flight)
    if corner is None:
        raise _no_window(event, "the first contact is not of a single corner")
    lowered = -float(at.gap[corner])
    own = replace(ground, y0=float(ground.y0 - lowered / np.cos(ground.slope)))
    time = np.arange(frames[1] - frames[0]) * interval
    deepest = -float(contacts(shape, own, event.position[slice(*frames)]).gap.min())
    if deepest > window.deepest:
        raise _no_window(event, "a frame below the ground that its impact tells")
    throw = MeasuredThrow(time, event.position[slice(*frames)], np.asarray(sigma, dtype=float), own)
    return ThrowWindow(event.name, throw, frames, corner, (last - frames[0]) * interval + met.instant, lowered)


def _no_window(event: ThrowEvents, reason: str) -> ContactIdError:
    return ContactIdError(f"{event.name}: {reason}", "Leave the throw out")


def _frames(event: ThrowEvents, options: ThrowOptions, window: WindowOptions) -> tuple[int, int]:
    """First and end, without the release and the second contact."""
    last = event.contacts[0].before
    until = event.contacts[1].before + 1 if len(event.contacts) > 1 else len(event.position)
    return max(last - window.frames_before + 1, options.skipped_frames), min(last + window.frames_after + 1, until)


@dataclass(frozen=True)
class MendedThrow:
    """A throw whose flights before and after the first impact meet.

    Attributes
    ----------
    event : with the lost frames put back; its contacts after the first are whatever breaks the flight next
    met : where the flights meet
    lost : frames put back
    wild : poses within the impact that were replaced
    """

    event: ThrowEvents
    met: Bridge
    lost: int
    wild: int


def breaks(event: ThrowEvents) -> list[tuple[int, int]]:
    """(last frame before, first frame after) whatever isn't flight: contacts and jumps, merged where they touch."""
    found = [(contact.before, contact.after) for contact in event.contacts]
    jumps = np.array(event.jumps, dtype=int)
    for group in np.split(jumps, np.flatnonzero(np.diff(jumps) > 1) + 1) if len(jumps) else []:
        first, last = int(group[0]), int(group[-1])
        found.append((first, last) if last > first else (first - 1, last + 1))
    merged: list[tuple[int, int]] = []
    for before, after in sorted(found):
        if merged and before <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], after))
        else:
            merged.append((before, after))
    return merged


def mend(event: ThrowEvents, interval: float, options: ThrowOptions, flight: FlightOptions) -> MendedThrow:
    """The throw with as many frames put back as let its flights meet; none where they meet as they are.

    Parameters
    ----------
    event
        Aligned.
    interval
        Time between frames, s.
    options, flight
        As throws are looked at; ``flight.meeting`` is how near the flights must come.

    Raises
    ------
    ContactIdError
        Where no number of lost frames lets the flights meet; the reason is said.
    """
    found = breaks(event)
    if not event.contacts:
        raise _unmended(event, "no contact")
    (before, after), rest = found[0], found[1:]
    if before - flight.impact_frames + 1 < options.skipped_frames:
        raise _unmended(event, "too few frames before the first contact")
    if after - before > flight.settling:
        raise _unmended(event, "the first contact lasts too long")
    end = rest[0][0] + 1 if rest else len(event.position)
    if after + flight.impact_frames > end:
        raise _unmended(event, "too few frames until the next contact")
    tries = [_put_back(event, before, after, rest, lost, interval, options, flight) for lost in range(_MOST_LOST + 1)]
    met = [mended for mended in tries if mended is not None]
    if not met:
        raise _unmended(event, "the flights before and after the first contact don't meet, with or without lost frames")
    return met[0]


def _unmended(event: ThrowEvents, reason: str) -> ContactIdError:
    return ContactIdError(f"{event.name}: {reason}", "Leave the throw out")


def _put_back(
    event: ThrowEvents,
    before: int,
    after: int,
    rest: Sequence[tuple[int, int]],
    lost: int,
    interval: float,
    options: ThrowOptions,
    flight: FlightOptions,
) -> MendedThrow | None:
    """With so many frames put back before the first frame after the impact; None where the flights don't meet then."""
    gap = np.full((lost, event.gap.shape[1]), np.nan)
    longer = replace(
        event,
        position=np.insert(event.position, after, np.zeros((lost, 3)), axis=0),
        gap=np.insert(event.gap, after, gap, axis=0),
        contacts=tuple(Contact(b + lost, a + lost, ()) for b, a in rest),
        jumps=(),
        rest=None if event.rest is None else event.rest + lost,
    )
    longer = replace(longer, contacts=(Contact(before, after + lost, event.contacts[0].corners), *longer.contacts))
    met = bridge(longer, interval, options, replace(flight, settling=flight.settling + lost))
    if met is None:
        return None
    position, wild = _filled(event, before, after, lost, met, interval, options.gravity)
    return MendedThrow(replace(longer, position=position), met, lost, wild)


def _filled(
    event: ThrowEvents, before: int, after: int, lost: int, met: Bridge, interval: float, gravity: float
) -> tuple[np.ndarray, int]:
    """All poses, those between the flights where they fit best, and how many of them were wild."""
    inner = event.position[before + 1 : after]
    n = len(inner) + lost
    flown = _flown(met, interval * np.arange(1, n + 1), gravity)
    if n == 0:
        return event.position, 0
    # lost frames follow one another; the measured ones lie before and after them
    costs = []
    for k in range(len(inner) + 1):
        kept = np.r_[0:k, k + lost : n]
        costs.append(float((np.abs(inner - flown[kept]) / _WILD).sum()))
    k = int(np.argmin(costs))
    kept = np.r_[0:k, k + lost : n]
    tame = (np.abs(inner - flown[kept]) < _WILD).all(axis=1)
    flown[kept[tame]] = inner[tame]
    return np.concatenate([event.position[: before + 1], flown, event.position[after:]]), int((~tame).sum())


def _flown(met: Bridge, time: np.ndarray, gravity: float) -> np.ndarray:
    """(n, 3) poses of the two flights at times (n,) after the last frame before the impact."""
    since = (time - met.instant)[:, None]
    velocity = np.where(since < 0.0, met.before, met.after)
    return met.position + velocity * since - 0.5 * np.array([0.0, gravity, 0.0]) * since**2
