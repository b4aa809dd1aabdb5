"""On which of the tracked planes a box comes to rest, where that plane is, and how fast it moves.

A recording tracks the box and some other bodies: planes (a part of a conveyor, the ground), other
boxes, a tool. The surface is the plane on which the box *lies* after it flew: four vertices near z
= 0 of the plane, and still relative to it. Names that are given go before others, in their order; a
body of another name serves where the box lies on none of them; where it lies on no tracked body,
the surface is level in M, at the height at which the box lies; where it never lies and hits no
tracked body, at the height where its first impact turns it round.

A plane may travel, as its markers are on a belt. Then C is the plane's pose at the first contact,
the surface's velocity is the slope of its own track, and how fast the resting box slips relative to
it is a cross-check. Where the plane's track stands still although the belt runs, the box tells:
nothing but a belt keeps a lying box at a constant speed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.tossing.prepare.poses import local_velocity
from contactid.tossing.readers.iam_frames import Track, runs

REFERENCE_FRAME = "reference frame"
# a surface of its own: nothing rests on it that could correct it
AT_THE_IMPACT = "reference frame at the impact"
_WINDOW = 0.025  # s on either side of a local velocity
_LONG_WINDOW = 0.05  # s on either side, within which a carried box keeps its velocity
_NEAR = 0.03  # m between a plane's z = 0 and the box that lies on it: markers have a height
_FLAT = 0.05  # rad of tilt of a box that lies
_ALOFT = 0.02  # m of the lowest vertex above where it lies later: the box flew
_SLOW = 0.03  # m/s relative to the surface
_STEADY = 0.03  # m/s of change within the long window; sliding at mu = 0.05 loses 0.05 m/s
_CARRIED = 0.05  # m/s; slower, a belt isn't told from a settling box
_LEAST_REST, _LEAST_CARRY = 0.1, 0.15  # s
# s; a box that slides to rest on a belt passes through its speed in half of that
_LEAST_REST_TRAVELLING = 0.03
# m along the plane: its markers move with a belt; the drift of a standing one is a tenth
_TRAVEL = 0.01
_TURNS = 0.1  # rad about its mean; a body that turns more is no plane
# frames on either side of an impact, and m/s of change in a vertex's upward speed
_SIDE, _KINK = 4, 0.7
_COMPARABLE = 1.0  # between scores: a metre farther, or a centimetre off in height


@dataclass(frozen=True, eq=False)
class Surface:
    """The surface of one recording."""

    name: str  # of the tracked plane, or :data:`REFERENCE_FRAME`
    # position, orientation: (3,) m and (4,), pose of C in M
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray  # (3,) m/s of the surface's material in C
    height: float = 0.0  # m, of the lying box's lowest face above C; 0 where it isn't known
    # first and last frame of lying still on it; None where it doesn't
    rest: tuple[int, int] | None = None
    steady: int | None = None  # last frame to which the velocity holds
    remarks: tuple[str, ...] = ()  # how this came about, as sentences


@dataclass(frozen=True, eq=False)
class _Place:
    """A plane that the box may lie on: its path (n, 3) m in M, mean orientation, and whether it
    travels.
    """

    name: str
    path: np.ndarray
    orientation: np.ndarray
    travels: bool
    measured: np.ndarray


@dataclass(frozen=True, eq=False)
class _Lying:
    """How a box lies on a place: frames, height above it, score (less is better), velocity where it
    is carried.
    """

    place: _Place
    first: int
    last: int
    height: float
    score: float
    carried: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Box:
    """The box's track, its vertices (v, 3) m in B, and the time step in s."""

    track: Track
    vertices: np.ndarray
    time_step: float


def find_surface(
    box: Box,
    planes: Mapping[str, Track],
    wanted: Sequence[str],
    level: float | None,
    problems: list[str],
) -> Surface | None:
    """The surface of a recording; None, and a problem, where nothing tells it.

    ``planes`` are tracks of the other bodies, ``wanted`` their names to prefer, in order, and
    ``level`` the height (m) of a level surface where the box lies on no plane; None where none is
    known.
    """
    places = {name: place for name, track in planes.items() if (place := _place(name, track))}
    lying = [found for place in places.values() if (found := _lies(box, place))]
    chosen = _best(lying, wanted)
    belt = next((place for place in places.values() if _slides_on(box, place)), None)
    if belt is not None and (chosen is None or not chosen.place.travels):
        return _standing(box, belt)
    chosen = chosen or _level(box, level)
    if chosen is not None:
        return _of_lying(box, chosen, wanted, problems)
    landed = _landed(box, places, wanted)
    if landed is not None:
        return _standing(box, landed)
    if level is None:
        names = ", ".join(planes) or "no other body"
        problems.append(f"the box neither lies nor lands on a tracked plane (tracked: {names})")
        return None
    name, height = AT_THE_IMPACT, _turn(box, _seen_from(box, _reference(box))[1])
    if height is None:
        name, height = REFERENCE_FRAME, level
        remark = f"level at {level:g} m in M, as it is registered: the box lies on no tracked plane"
    else:
        remark = f"level at {height:.4f} m in M, where the box first turns round: it comes to rest on no tracked plane"
    return Surface(name, np.array([0.0, 0.0, height]), _UPRIGHT, np.zeros(3), remarks=(remark,))


_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def _place(name: str, track: Track) -> _Place | None:
    """None where the body turns, so that it is no plane."""
    if not track.measured.any():
        return None
    try:
        orientation = rotations.karcher_mean(track.orientation[track.measured])
    except ContactIdError:
        return None
    turned = rotations.angle_between(track.orientation[track.measured], orientation)
    if np.median(turned) > _TURNS:
        return None
    along = track.position[track.measured] @ rotations.matrices(orientation)[:, :2]
    # means of five frames, so that noise isn't taken for travel
    smooth = (
        along[: len(along) // 5 * 5].reshape(-1, 5, 2).mean(axis=1) if len(along) >= 5 else along
    )
    return _Place(
        name,
        track.position,
        orientation,
        bool(np.ptp(smooth, axis=0).max() > _TRAVEL),
        track.measured,
    )


def _half(box: Box, seconds: float) -> int:
    return max(2, round(seconds / box.time_step))


def _seen_from(box: Box, place: _Place) -> tuple[np.ndarray, np.ndarray]:
    """Origin (n, 3) and heights (n, v) of the box's vertices in the frame that goes with the place,
    m.
    """
    turn = rotations.matrices(place.orientation)
    origin = (box.track.position - place.path) @ turn
    upward = np.einsum("i,nij->nj", turn[:, 2], rotations.matrices(box.track.orientation))
    return origin, origin[:, 2:] + upward @ box.vertices.T


def _lowest_face(box: Box, place: _Place) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of the box: origin (n, 3), lowest vertex and lowest face (n,), m over the place; whether that
    face is level.
    """
    origin, heights = _seen_from(box, place)
    face = np.sort(heights, axis=1)[:, :4]
    # the box's diagonal, over which a tilt lifts a vertex at most
    extent = float(np.linalg.norm(np.ptp(box.vertices, axis=0)))
    level = (face[:, -1] - face[:, 0] < _FLAT * extent) & ~box.track.lost
    return origin, face[:, 0], face.mean(axis=1), level


def _lies(box: Box, place: _Place, near: float = _NEAR) -> _Lying | None:
    """How the box lies on a place after it flew: still relative to it, or carried at a constant
    speed.
    """
    origin, lowest, height, lying = _lowest_face(box, place)
    velocity = local_velocity(origin, box.time_step, _half(box, _WINDOW))
    # a box that lies doesn't go up or down, whatever it does along the plane
    lying &= np.abs(velocity[:, 2]) < _SLOW
    speed = np.linalg.norm(velocity[:, :2], axis=1)
    least = round((_LEAST_REST_TRAVELLING if place.travels else _LEAST_REST) / box.time_step)
    still = _last_run(lying & (speed < _SLOW), lowest, height, near, least)
    carried = None
    if not place.travels:
        half = _half(box, _LONG_WINDOW)
        # cut at both ends of the recording
        later = np.minimum(np.arange(len(origin)) + half, len(origin) - 1)
        earlier = np.maximum(np.arange(len(origin)) - half, 0)
        change = np.linalg.norm((velocity[later] - velocity[earlier])[:, :2], axis=1)
        steady = lying & (change < _STEADY) & (speed > _CARRIED)
        carried = _last_run(steady, lowest, height, near, round(_LEAST_CARRY / box.time_step))
    # of both, what comes last
    run = still if carried is None or (still is not None and still[1] < carried[0]) else carried
    if run is None:
        return None
    frames = slice(run[0], run[1] + 1)
    above = float(np.median(height[frames]))
    distance = float(np.linalg.norm(np.median(origin[frames, :2], axis=0)))
    along = None
    if run is carried:
        times = np.arange(run[1] - run[0] + 1) * box.time_step
        along = np.array([*np.polyfit(times, origin[frames, :2], 1)[0], 0.0])
    # a centimetre of height counts as much as a metre of distance, see _COMPARABLE
    return _Lying(place, *run, above, abs(above) / 0.01 + distance, along)


def _slides_on(box: Box, place: _Place) -> bool:
    """Whether the place is a belt that runs under the lying box, which never keeps up with it."""
    if not place.travels:
        return False
    _, lowest, height, lying = _lowest_face(box, place)
    velocity = local_velocity(place.path, box.time_step, _half(box, _LONG_WINDOW))
    # the belt runs at its usual speed
    lying &= np.linalg.norm(velocity - np.median(velocity, axis=0), axis=1) < _STEADY
    lying &= np.linalg.norm(velocity, axis=1) > _CARRIED
    return _last_run(lying, lowest, height, _NEAR, round(_LEAST_REST / box.time_step)) is not None


def _last_run(
    mask: np.ndarray, lowest: np.ndarray, height: np.ndarray, near: float, least: int
) -> tuple[int, int] | None:
    """First and last frame of the last long run near the plane before which the box was aloft."""
    # the last one: before the toss a box may lie on something, too
    for begin, end in reversed(runs(mask)):
        above = float(np.median(height[begin : end + 1]))
        if (
            end - begin + 1 >= least
            and abs(above) <= near
            and (lowest[:begin] > above + _ALOFT).any()
        ):
            return begin, end
    return None


def _best(lying: Sequence[_Lying], wanted: Sequence[str]) -> _Lying | None:
    """Travelling planes first: nothing stays still relative to one by chance. Then wanted ones, in
    their order where they are about as near, then the nearest."""
    for group in (
        [one for one in lying if one.place.travels and one.place.name in wanted],
        [one for one in lying if one.place.travels],
        [one for one in lying if one.place.name in wanted],
        lying,
    ):
        if group:
            least = min(one.score for one in group)
            close = [one for one in group if one.score <= least + _COMPARABLE]
            order = {name: index for index, name in enumerate(wanted)}
            return min(close, key=lambda one: (order.get(one.place.name, len(order)), one.score))
    return None


def _reference(box: Box) -> _Place:
    """The plane z = 0 of the frame M."""
    n_frames = len(box.track.position)
    return _Place(
        REFERENCE_FRAME, np.zeros((n_frames, 3)), _UPRIGHT, False, np.ones(n_frames, dtype=bool)
    )


def _level(box: Box, level: float | None) -> _Lying | None:
    """The box on a level surface in M: at the height that is given, or at the one at which it lies."""
    found = _lies(box, _reference(box), near=np.inf)
    if found is None:
        return None
    # the registered height goes before the measured one, as long as they agree
    given = level is not None and abs(found.height - level) <= _NEAR
    height = level if given and level is not None else found.height
    raised = replace(found.place, path=found.place.path + np.array([0.0, 0.0, height]))
    return replace(found, place=raised, height=found.height - height)


def _landed(box: Box, places: Mapping[str, _Place], wanted: Sequence[str]) -> _Place | None:
    """A plane that the box hits where it never lies: wanted ones first, else the nearest to where
    it turns round.
    """
    heights = {name: _turn(box, _seen_from(box, place)[1]) for name, place in places.items()}
    apart = {
        name: abs(height)
        for name, height in heights.items()
        if height is not None and abs(height) < _NEAR
    }
    # without an impact on a wanted plane its name alone must do
    named = [name for name in wanted if name in places]
    hit = [name for name in named if name in apart] or named[:1] or [*apart]
    return places[min(hit, key=lambda name: apart.get(name, np.inf))] if hit else None


def _turn(box: Box, heights: np.ndarray) -> float | None:
    """Where the lowest vertex first turns round after a fall: its straight paths before and after
    meet.

    ``heights`` (n, v) m are those of the vertices over some plane, as is the answer; None where no
    frames tell it.
    """
    lowest = heights.min(axis=1)
    for frame in map(int, np.flatnonzero(lowest[1:-1] <= np.minimum(lowest[:-2], lowest[2:])) + 1):
        path = heights[:, np.argmin(heights[frame])]
        frames = np.arange(max(frame - _SIDE, 0), min(frame + 1 + _SIDE, len(lowest)))
        # bridged frames say nothing of their own
        frames = frames[box.track.measured[frames]]
        sides = frames[frames < frame], frames[frames > frame]
        if min(map(len, sides)) < 2:
            continue
        down, up = (np.polyfit(side - frame, path[side], 1) for side in sides)
        # only a kink in the path is an impact
        if up[0] - down[0] > _KINK * box.time_step and down[0] < 0.0:
            return float(np.polyval(down, (up[1] - down[1]) / (down[0] - up[0])))
    return None


def _standing(box: Box, place: _Place) -> Surface:
    """A plane on which the box doesn't come to rest."""
    position = place.path[place.measured].mean(axis=0)
    if not place.travels:
        return Surface(place.name, position, place.orientation, np.zeros(3))
    times = np.flatnonzero(place.measured) * box.time_step
    # about the middle of the recording, where both are known best
    (origin, slope) = np.polynomial.polynomial.polyfit(
        times - times.mean(), place.path[place.measured], 1
    )
    along = rotations.matrices(place.orientation).T @ slope
    speed = np.hypot(along[0], along[1])
    remark = f"{place.name} travels at {speed:.3g} m/s by its own track; the box doesn't rest on it"
    return Surface(
        place.name,
        origin,
        place.orientation,
        np.array([along[0], along[1], 0.0]),
        remarks=(remark,),
    )


def _of_lying(
    box: Box, found: _Lying, wanted: Sequence[str], problems: list[str]
) -> Surface | None:
    place = found.place
    remarks: list[str] = []
    if place.name == REFERENCE_FRAME:
        remarks.append(
            f"the box lies on no tracked plane: level at {place.path[0, 2]:.4f} m in M, by the resting box"
        )
    elif wanted and place.name not in wanted:
        remarks.append(f"the box lies on {place.name}, not on {' or '.join(wanted)}")
    elif not wanted:
        remarks.append(f"the box lies on {place.name}")
    if place.travels:
        return _travelling(box, found, remarks, problems)
    velocity = np.zeros(3)
    rest = (found.first, found.last)
    if found.carried is not None:
        velocity = found.carried
        remarks.append(
            f"the belt's speed is the lying box's, {np.hypot(velocity[0], velocity[1]):.3g} m/s"
        )
    position = (
        place.path[0] if place.name == REFERENCE_FRAME else place.path[place.measured].mean(axis=0)
    )
    return Surface(
        place.name, position, place.orientation, velocity, found.height, rest, None, tuple(remarks)
    )


def _travelling(box: Box, found: _Lying, remarks: list[str], problems: list[str]) -> Surface | None:
    """A plane whose markers are on the belt: its pose where the box first touches it, its own
    velocity.
    """
    place = found.place
    turn = rotations.matrices(place.orientation)
    origin, heights = _seen_from(box, place)
    contact = _first_contact(heights.min(axis=1) - found.height, found.first)
    half = _half(box, _WINDOW)
    velocity = local_velocity(place.path, box.time_step, half)
    least = min(contact + half, found.first)
    # from just after the first contact until it lies still: the belt must keep its speed then
    core = slice(least, min(found.first + half, found.last) + 1)
    usual = np.median(velocity[core], axis=0)
    # 5 % of a fast belt's speed
    allowed = max(_STEADY, 0.05 * float(np.linalg.norm(usual)))
    steady = np.linalg.norm(velocity - usual, axis=1) < allowed
    if not steady[core].all():
        speeds = np.linalg.norm(velocity[core], axis=1)
        problems.append(
            f"{place.name}: its speed changes from {speeds.min():.3g} to {speeds.max():.3g} m/s"
            " while the box slides on it"
        )
        return None
    begin, end = next(run for run in runs(steady) if run[0] <= core.start <= run[1])
    # near a change of speed a fitted velocity has some of both
    shrink = half if end - begin > 4 * half else 0
    frames = np.arange(
        begin + (shrink if begin else 0), end + 1 - (shrink if end + 1 < len(steady) else 0)
    )
    frames = frames[place.measured[frames]]
    at_contact, slope = np.polynomial.polynomial.polyfit(
        (frames - contact) * box.time_step, place.path[frames], 1
    )
    along = turn.T @ slope
    resting = slice(found.first, found.last + 1)
    # what the box still moves relative to the belt is the cross-check
    times = np.arange(found.last - found.first + 1) * box.time_step
    slip = float(np.linalg.norm(np.polyfit(times, origin[resting, :2], 1)[0]))
    remarks.append(
        f"{place.name} travels at {np.hypot(along[0], along[1]):.4g} m/s by its own track; the box lying on it slips"
        f" {1e3 * slip:.1f} mm/s"
    )
    last = end - shrink if end + 1 < len(steady) else None
    return Surface(
        place.name, at_contact, place.orientation, np.array([along[0], along[1], 0.0]), found.height,
        (found.first, found.last), last, tuple(remarks),
    )  # fmt: skip


def _first_contact(lowest: np.ndarray, rest: int) -> int:
    """First frame at which the box is down after the last time that it was held or flew high,
    before ``rest``.
    """
    peak = int(np.argmax(lowest[: rest + 1]))
    down = np.flatnonzero(lowest[peak : rest + 1] < 2e-3)
    return peak + int(down[0]) if len(down) else rest
