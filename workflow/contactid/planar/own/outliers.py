"""Poses that no motion of a body has: false detections and swapped markers, found before anything
is fitted.

A law of bodies with contacts tells them, without a ground or a shape: a contact pushes, it doesn't
throw there and back. Between two frames a body goes as far as its speed before or after takes it. A
step that is far longer is a jump; frames between a jump and the jump back are no poses of it.

Frames that depart by less pass: the identified motion tells them
(:mod:`contactid.planar.own.identify`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.planar.readers.throws import PlanarThrow
from contactid.planar.squares.events import second_difference_noise

_AROUND = 5  # steps before and after one, whose median speeds tell how fast the body is there
# times that speed: contacts within one step may be faster in between
_FASTER, _FASTER_TURN = 2.0, 3.0
# rad, more than a spin that comes and goes within one step turns a body; a quarter turn is more
_TURN = 1.0
_SHARE = 0.05  # of the body's reach: smaller departures are left to the fit
_NOISE = 10.0  # standard deviations, beyond which a frame isn't noise
_TOGETHER = 3  # frames that may be off one after the other
_ALIKE = 0.35  # rad: how far a jump may be from a half or a quarter turn to look like one
_MOST = 0.15  # share of a throw's frames that may be off
_NAMED = 3  # jumps that a message names


class Departure(NamedTuple):
    """Consecutive frames that are off.

    Attributes
    ----------
    first, last : frames of the throw, from 0
    size : m, or rad where theta jumps
    turns : whether it is theta that jumps
    """

    first: int
    last: int
    size: float
    turns: bool


def without_outliers(
    throws: Sequence[PlanarThrow], sigma: np.ndarray | None, reach: float
) -> tuple[list[PlanarThrow], list[str]]:
    """Throws whose frames with poses that no body has count as lost, and a warning for each run of
    such frames.

    Parameters
    ----------
    sigma : (3,) noise of x, y, theta, m, m, rad; None: as second differences tell
    reach : the outline's largest radius, m

    Raises
    ------
    ContactIdError
        Where more than a few frames are off, or a jump doesn't come back, with the file, the frames
        and what they look like.
    """
    cleaned, warnings = [], []
    for throw in throws:
        off = departures(throw, sigma, reach)
        frames = sum(one.last - one.first + 1 for one in off)
        lasts = any(one.last == len(throw.time) - 1 for one in off)
        if lasts or frames > _MOST * len(throw.time):
            named = "; ".join(_described(throw, one) for one in off[:_NAMED])
            more = f"; and {len(off) - _NAMED} more" if len(off) > _NAMED else ""
            raise ContactIdError(
                f"{throw.name}: {named}{more}",
                "Correct these rows, or take them out: lost frames are bridged",
            )
        lost = ~throw.seen
        for one in off:
            lost[one.first : one.last + 1] = True
            warnings.append(f"{throw.name}: {_described(throw, one)}: left out.")
        cleaned.append(_bridged(throw, lost) if off else throw)
    return cleaned, warnings


def _bridged(throw: PlanarThrow, lost: np.ndarray) -> PlanarThrow:
    """The throw with poses between its other ones in the frames ``lost`` (n,)."""
    position = throw.position.copy()
    position[~lost, 2] = np.unwrap(
        position[~lost, 2]
    )  # a jump there and back may have come back by a whole turn off
    for i in range(3):
        position[lost, i] = np.interp(throw.time[lost], throw.time[~lost], position[~lost, i])
    return replace(throw, position=position, lost=lost)


def departures(throw: PlanarThrow, sigma: np.ndarray | None, reach: float) -> list[Departure]:
    """Frames that are off, in order of time; parameters are those of :func:`without_outliers`."""
    frames = np.flatnonzero(throw.seen)
    # frames without a pose are passed over: times tell how far apart the others are
    time, pose = throw.time[frames], throw.position[frames]
    noise = second_difference_noise([pose]) if sigma is None else sigma
    turned = list(_turned(frames, time, pose))
    # what theta does decides what else is read
    return turned or list(_moved(frames, time, pose, noise, reach))


def _described(throw: PlanarThrow, one: Departure) -> str:
    begin, end = throw.time[one.first], throw.time[one.last]
    single = one.first == one.last
    frames = f"frame {one.first}" if single else f"frames {one.first} to {one.last}"
    when = f"t = {begin:.4g} s" if single else f"t = {begin:.4g} to {end:.4g} s"
    if not one.turns:
        lies = "lies" if single else "lie"
        off = f"{1e3 * one.size:.3g} mm off the others"
        return f"{frames} ({when} after the first) {lies} {off}, as in a false detection"
    cause = "as in a false detection"
    if abs(one.size - np.pi) < _ALIKE:
        cause = "as where markers are swapped"
    elif abs(one.size - 0.5 * np.pi) < _ALIKE:
        cause = "as where one side is taken for the next"
    if one.last == len(throw.time) - 1:
        cause = f"and doesn't come back, {cause} or frames are lost without a gap in t"
    return f"theta jumps by {one.size:.3g} rad in {frames} ({when} after the first), {cause}"


def _usual(speed: np.ndarray, step: int) -> float:
    """The larger of the median speeds of some steps before and after one."""
    # without the step itself, which may be the jump
    sides = speed[max(step - _AROUND, 0) : step], speed[step + 1 : step + 1 + _AROUND]
    return max(float(np.median(side)) for side in sides if len(side))


def _turned(frames: np.ndarray, time: np.ndarray, pose: np.ndarray) -> Iterator[Departure]:
    """Where theta jumps; such a jump may last, since no contact turns a body so far at once."""
    elapsed, step = np.diff(time), np.diff(pose[:, 2])
    rate = np.abs(step) / elapsed
    # beside the usual spin a contact may turn the body within a step, by _TURN at most
    jumps = [
        k
        for k in range(len(step))
        if abs(step[k]) > _FASTER_TURN * _usual(rate, k) * elapsed[k] + _TURN
    ]
    # jumps come in pairs, away and back; the last one may have none
    for away, back in itertools.zip_longest(jumps[::2], jumps[1::2], fillvalue=len(step)):
        # whole turns are none
        size = abs(float(step[away])) % (2.0 * np.pi)
        yield Departure(
            int(frames[away + 1]), int(frames[back]), min(size, 2.0 * np.pi - size), True
        )


def _moved(
    frames: np.ndarray, time: np.ndarray, pose: np.ndarray, noise: np.ndarray, reach: float
) -> Iterator[Departure]:
    """Where the place jumps away and back; a jump that stays is time that passed without a gap in
    t.
    """
    speed = np.hypot(*np.diff(pose[:, :2], axis=0).T) / np.diff(time)
    margin = _SHARE * reach + _NOISE * float(np.hypot(*noise[:2]))

    def too_far(start: int, end: int) -> bool:
        """Whether the place differs by more between two frames than the speed around them takes it."""
        way = np.hypot(*(pose[end, :2] - pose[start, :2]))
        usual = max(_usual(speed, start), _usual(speed, end - 1))
        return bool(way > _FASTER * usual * (time[end] - time[start]) + margin)

    jumps = [k for k in range(len(speed)) if too_far(k, k + 1)]
    after = 0
    for away in jumps:
        near = [j for j in jumps if j > away and j - away <= _TOGETHER]
        # back where the usual speed may have taken it: the frames between are off
        back = [j for j in near if not too_far(away, j + 1)]
        # frames within a departure that was found aren't another one
        if away < after or not back:
            continue
        ends = [away, back[0] + 1]
        rows = np.arange(away + 1, back[0] + 1)
        after = ends[1]
        # (k, 2) m on the way between the frames before and after
        between = np.column_stack(
            [np.interp(time[rows], time[ends], pose[ends, i]) for i in range(2)]
        )
        size = float(np.hypot(*(pose[rows, :2] - between).T).max())
        yield Departure(int(frames[rows[0]]), int(frames[rows[-1]]), size, False)
