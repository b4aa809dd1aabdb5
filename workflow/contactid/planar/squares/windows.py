"""From measured throws of a polygon to what eq. 31 and eq. 27 take: a shape, and short windows
around impacts.

A window is a few frames before and after an impact of a single corner. It exists where two short
flights meet in one instant (:func:`contactid.planar.squares.flight.bridge`) that lies no higher
than any frame: slaps on a side, and a second contact within a few frames don't leave a window.

Two things make it fit for a rigid body on a straight ground:

* *Corners.* Real ones are rounded, which moves the contact point of a tilted body inwards by far
  more than the noise. The radius is measured
  (:func:`contactid.planar.squares.flight.corner_radius`) and is part of the shape returned.
* *Height.* A real impact takes about a millisecond, in which a body falls on for a millimetre or
  two; as a rigid one it happened where the two flights meet, below the ground at rest. So every
  window has its own height of the ground, through the touching corner at that instant: an error of
  0.1 mm there is one of several standard deviations of the measured height afterwards.

In many throws the camera lost frames at an impact; they are mended. A body that turns fast in an
impact is lost by the camera for a frame or two, and the file goes on without a gap. Both flights
are as good as any other's: with m frames put back between them they meet in one instant, for one m
alone, as a frame is 14 mm of height at 3.5 m/s. The poses put back are those of the two flights, so
they tell nothing new; the same holds for single wild poses within the impact.
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
from contactid.planar.squares.events import (
    SKIPPED_FRAMES,
    Alignment,
    Contact,
    ThrowEvents,
    align,
    contacts_of,
    find_events,
)
from contactid.planar.squares.flight import (
    Bridge,
    FlightReport,
    bridge,
    corner_radius,
    flight_report,
    single_corner,
)

IMPACT_FRAMES = (6, 4)  # of the flights around an impact, tried in this order
_MOST_LOST = 6  # frames
# of a window on either side: longer flights turn, and the tracked centre is off by a little
_MOST_FRAMES = 8
# m, m, rad: poses within an impact that are farther from both flights are no poses
_WILD = (2e-3, 3e-3, 0.15)
_DEEPEST = 5e-4  # m: a frame of a window may lie that far below the ground


@dataclass(frozen=True)
class PreparedThrows:
    """What a dataset of measured throws gives to an identification.

    Attributes
    ----------
    shape : to identify with, its corners rounded
    radius_error : standard error of their radius, m
    interval : time between frames, s
    alignment, events, flight : what windows are cut from
    """

    shape: Shape
    radius_error: float
    interval: float
    alignment: Alignment
    events: tuple[ThrowEvents, ...]
    flight: FlightReport

    @property
    def radius(self) -> float:
        """Of its corners, m; 0 of an ellipse."""
        return self.shape.radius if isinstance(self.shape, Polygon) else 0.0

    @property
    def ground(self) -> Ground:
        """Of the throws at rest."""
        return self.alignment.ground


@dataclass(frozen=True)
class SquareWindow:
    """A short piece of a throw around an impact, and what its two flights say of the impact.

    Attributes
    ----------
    name : the throw's
    throw : time from 0 (s), position of the body's centre and axes (n, 3), sigma (3,), ground
        through the impact
    before : the throw's last frame before the impact
    corner : that touches
    met : the flights' meeting
    lost : frames that were put back
    normal, tangent : (3,) rows of N and T of the touching corner at the impact
    """

    name: str
    throw: MeasuredThrow
    before: int
    corner: int
    met: Bridge
    lost: int
    normal: np.ndarray
    tangent: np.ndarray

    @property
    def impulse(self) -> tuple[float, float]:
        """Along n and t, per mass, m/s."""
        change = (self.met.after - self.met.before)[:2]
        return float(change @ self.normal[:2]), float(change @ self.tangent[:2])

    @property
    def moment(self) -> float:
        """Of the impulse about the centre, per mass: one side of eq. 31, m2/s."""
        along_n, along_t = self.impulse
        return along_n * float(self.normal[2]) + along_t * float(self.tangent[2])

    @property
    def spin(self) -> float:
        """Change of omega, the other side of eq. 31, rad/s."""
        return float(self.met.after[2] - self.met.before[2])

    @property
    def restitution(self) -> float:
        """Minus the ratio of the corner's normal velocities."""
        return -float(self.normal @ self.met.after) / float(self.normal @ self.met.before)


def prepare_throws(data: xr.Dataset) -> PreparedThrows:
    """Events, noise, ground and shape of a canonical dataset of throws.

    Raises
    ------
    ContactIdError
        Where the body isn't a polygon, no throw comes to rest (no ground), or too little is in
        flight (no noise).
    """
    outline, interval = shape_of(data), 1.0 / float(data.attrs["sample_frequency"])
    if not isinstance(outline, Polygon):
        raise ContactIdError(
            f"{data.attrs['source']}: the body has no corners", "Give throws of a polygon"
        )
    alignment = align(data, outline)
    events = find_events(data, outline, alignment)
    report = flight_report(events, interval)
    radius, error = corner_radius(events, outline, alignment)
    return PreparedThrows(
        replace(outline, radius=radius), error, interval, alignment, tuple(events), report
    )


def every_window(
    event: ThrowEvents, prepared: PreparedThrows, lengths: Sequence[int] = IMPACT_FRAMES
) -> list[SquareWindow]:
    """One window for each impact of a throw that is of a single corner, between two flights.

    ``lengths`` are those of the flights, frames, tried in this order.
    """
    found, all_breaks = [], breaks(event)
    for k in range(len(all_breaks)):
        # what a part skips at its begin are frames of the break before, not of this flight
        start = max(all_breaks[k - 1].after - SKIPPED_FRAMES, 0) if k else 0
        later = tuple(Contact(before - start, after - start) for before, after in all_breaks[k:])
        part = replace(
            event,
            position=event.position[start:],
            gap=event.gap[start:],
            contacts=later,
            # jumps are among the breaks already
            jumps=(),
            rest=None,
        )
        # the longest flights that meet
        mended = (mend(part, prepared, frames) for frames in lengths)
        windows = (cut_window(*one, prepared) for one in mended if one is not None)
        found += [window for window in windows if window is not None][:1]
    return found


def cut_window(
    event: ThrowEvents, met: Bridge, lost: int, prepared: PreparedThrows, most: int = _MOST_FRAMES
) -> SquareWindow | None:
    """Cut at most so many frames on either side of the first contact, without the release and the
    second contact.

    None where the impact isn't of a single corner, or doesn't lie below all frames.
    """
    at = contacts(prepared.shape, prepared.ground, met.position)
    corner = single_corner(at.gap)
    if corner is None:
        return None
    # frames up to the next contact, which itself is no flight any more
    last = event.contacts[0].before
    until = event.contacts[1].before + 1 if len(event.contacts) > 1 else len(event.position)
    first = max(last - most + 1, SKIPPED_FRAMES)
    position = event.position[first : min(last + most + 1, until)]
    # the impact's own ground goes through the touching corner where the flights meet
    lowered = -float(at.gap[corner])
    own = replace(
        prepared.ground, y0=float(prepared.ground.y0 - lowered / np.cos(prepared.ground.slope))
    )
    if -float(contacts(prepared.shape, own, position).gap.min()) > _DEEPEST:
        return None
    throw = MeasuredThrow(
        np.arange(len(position)) * prepared.interval, position, prepared.flight.sigma, own
    )
    return SquareWindow(
        event.name, throw, last - first, corner, met, lost, at.normal[corner], at.tangent[corner]
    )


def breaks(event: ThrowEvents) -> list[Contact]:
    """Whatever isn't flight: contacts and jumps, merged where they touch."""
    merged: list[Contact] = []
    for found in sorted([*event.contacts, *contacts_of(np.array(event.jumps, dtype=int))]):
        if merged and found.before <= merged[-1].after:
            merged[-1] = Contact(merged[-1].before, max(merged[-1].after, found.after))
        else:
            merged.append(found)
    return merged


def mend(
    event: ThrowEvents, prepared: PreparedThrows, frames: int
) -> tuple[ThrowEvents, Bridge, int] | None:
    """The throw with as many frames put back as let its flights meet, their meeting, and how many
    (mostly none).

    None where there is no contact, or the flights meet with no number of lost frames.

    Parameters
    ----------
    event
        Aligned; its contacts are whatever breaks the flight.
    prepared
        How it flies, and the time between its frames.
    frames
        Of the flights before and after the impact.
    """
    # the fewest lost frames first: flights meet for one number alone
    for lost in range(_MOST_LOST + 1 if event.contacts else 0):
        longer = _put_back(event, lost)
        met = bridge(longer, prepared.interval, frames, prepared.flight, lost)
        if met is not None:
            return replace(longer, position=_filled(event, lost, met, prepared)), met, lost
    return None


def _put_back(event: ThrowEvents, lost: int) -> ThrowEvents:
    """With so many frames, still without poses, before the first frame after the impact."""
    (before, after), *rest = event.contacts
    return replace(
        event,
        # at the end of the break: all that matters to the flights is their distance in time
        position=np.insert(event.position, after, np.zeros((lost, 3)), axis=0),
        gap=np.insert(event.gap, after, np.full((lost, event.gap.shape[1]), np.nan), axis=0),
        contacts=(Contact(before, after + lost), *(Contact(b + lost, a + lost) for b, a in rest)),
    )


def _filled(event: ThrowEvents, lost: int, met: Bridge, prepared: PreparedThrows) -> np.ndarray:
    """All poses, the measured ones between the flights where they fit best; wild ones are replaced."""
    before, after = event.contacts[0]
    inner = event.position[before + 1 : after]
    n = len(inner) + lost
    if n == 0:
        return event.position
    # (n, 1) s from the meeting to each frame of the break
    since = (prepared.interval * np.arange(1, n + 1) - met.instant)[:, None]
    velocity = np.where(since < 0.0, met.before, met.after)
    flown = (
        met.position + velocity * since + 0.5 * prepared.flight.acceleration(velocity) * since**2
    )
    # lost frames follow one another; the measured ones lie before and after them
    places = [np.r_[0:k, k + lost : n] for k in range(len(inner) + 1)]
    # distances in units of what makes a pose wild
    kept = min(places, key=lambda place: float((np.abs(inner - flown[place]) / _WILD).sum()))
    tame = (np.abs(inner - flown[kept]) < _WILD).all(axis=1)
    flown[kept[tame]] = inner[tame]
    return np.concatenate([event.position[: before + 1], flown, event.position[after:]])
