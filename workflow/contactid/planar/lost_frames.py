"""Throws whose camera lost frames at the first impact, mended so that they can be identified.

A body that turns fast in an impact is lost by the camera for a frame or two, and the file goes on without a gap. Both
flights are as good as any other's: with m frames put back between them they meet in one instant, for one m alone, as
a frame is 14 mm of height at 3.5 m/s. The poses put back are those of the two flights, so they tell nothing new; the
same holds for single wild poses within the impact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.planar.throw_flight import Bridge, FlightOptions, bridge
from contactid.planar.throw_preprocess import Contact, ThrowEvents, ThrowOptions

_MOST_LOST = 6  # frames
_WILD = (2e-3, 3e-3, 0.15)  # m, m, rad: poses within an impact that are farther from both flights are no poses


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
    if not found:
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
