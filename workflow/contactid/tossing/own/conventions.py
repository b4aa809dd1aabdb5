"""Which convention explains tosses, unsimulated: bodies fall in flight, rest flat, stay above
ground.

Each of the three is a squared residual of every toss, in units of what a calibrated camera may be
off by. Quaternions in another order turn a body so that it lies on nothing; another axis upwards
makes it fall aside.

None of them tells positions that are mirrored or turned about the vertical, and orientations that
aren't. Friction does: it pushes a body against the way in which its lowest corner slides.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.card import white_noise
from contactid.sources.conventions import Convention
from contactid.sources.explaining import SURE, Judged, explained
from contactid.sources.frames import (
    changes,
    columns_matrix,
    frames_in_space,
    other_positions,
    position_matrix,
    quaternion_matrix,
)
from contactid.sources.motion import iterate_recordings
from contactid.tossing.own.usable import sloped
from contactid.tossing.prepare.poses import in_surface_frame, vertex_positions

_GRAVITY = 9.81
_FALL = 1.0  # m/s2: a tenth of gravity, twice what an uncalibrated camera is off by
_NEARLY = 3.0  # m/s2 off gravity, whatever the axis: friction up to .6 brakes by less than falls do
_WINDOW, _FEWEST = 0.06, 7  # s and frames of a parabola
_SIZE = 0.02  # of the body's length: heights are off by no more than that
_RESTING, _STILL = 5, 0.01  # last frames, and of the body's length that they move
_MOVES = 0.1  # of the body's length, and rad: less is no toss
_SHAKEN = 4.0  # of their noise, which five frames seldom span
_LENGTHS = ("m", "mm", "cm")
_ALIKE = 1.2  # times the least misfit
_TOUCHES = 0.05  # of the body's length: a corner this low may touch between two frames
# tosses, and standard errors of their mean: fewer, or less, name no other columns
_FEWEST_TOSSES, _CLEARLY = 4, 2.0
_PUSHED = 0.01  # s: friction turns a body's way by as much as a camera's noise within it
# what is pushed along sliding less, from -1 to 1: .1 to .2 in mirrored tosses, .02 in noise
_ALONG = 0.05


def explained_motion(
    motion: xr.Dataset, stated: Convention, *, placed: bool, length: float
) -> xr.Dataset:
    """Tosses (a canonical dataset) in the frame and units that are stated.

    ``placed``: the file places the surface, too, in the same frame; ``length`` (m): its unit, if
    none is stated.

    Raises
    ------
    ContactIdError
        Where another convention explains them, or none does.
    """

    def attempt(convention: Convention) -> Judged[xr.Dataset]:
        meant = sloped(in_frame(motion, convention, placed, length))
        residuals = _residuals(meant)
        # nothing is estimated yet, so that no two conventions differ in an answer
        no_answer, its_error = np.zeros(1), np.ones(1)
        return Judged(meant, float(np.sum(residuals**2)), len(residuals), no_answer, its_error)

    def likelier() -> Iterator[Convention]:
        frames = [stated.with_frame(**frame) for frame in frames_in_space(stated.frame)]
        # without the first one, the stated frame itself
        tried = [*frames[1:], *(stated.with_units(m=unit) for unit in _LENGTHS)]
        misfits = {one.options(): attempt(one).misfit for one in tried}
        # both at once where neither alone explains them
        if min(misfits.values()) > SURE:
            both = [one.with_units(m=unit) for unit in _LENGTHS for one in frames[1:]]
            misfits |= {one.options(): attempt(one).misfit for one in both}
            tried += both
        least = min(misfits.values())
        alike = [one for one in tried if misfits[one.options()] <= max(_ALIKE * least, SURE)]
        # of alike ones the least change from what is stated
        yield from sorted(alike, key=lambda one: changes(one.frame, stated.frame))

    name = str(motion.attrs["source"])
    if not any(
        _moves(samples, motion["vertices"].values) for _, samples in iterate_recordings(motion)
    ):
        raise ContactIdError(
            f"{name}: the body stays where it is in all recordings",
            "Record tosses from free flight to rest",
        )
    in_stated = sloped(in_frame(motion, stated, placed, length))
    if not any(_flies(samples, in_stated) for _, samples in iterate_recordings(in_stated)):
        raise ContactIdError(
            f"{name}: the body slides without flight or impact in all recordings",
            "Record tosses from free flight to rest: slides alone don't tell restitution or inertia",
        )
    meant = explained(name, stated, attempt, likelier)[0]
    # a surface that the file places would have to be moved with the positions
    if not placed:
        _refuse_other_positions(name, meant, stated)
    return meant


def _moves(samples: xr.Dataset, vertices: np.ndarray) -> bool:
    """Whether a body goes somewhere, or turns: of lengths in a wrong unit the latter is told."""
    turned = rotations.angle_between(
        samples["orientation"].values, samples["orientation"].values[:1]
    )
    way = float(np.ptp(samples["position"].values, axis=0).max())
    return way > _MOVES * float(np.ptp(vertices, axis=0).max()) or float(turned.max()) > _MOVES


def _flies(samples: xr.Dataset, motion: xr.Dataset) -> bool:
    """Whether a body leaves the surface that it ends on, or falls anywhere along whatever axis."""
    frame = samples["surface_position"].values, samples["surface_orientation"].values
    position, _ = in_surface_frame(
        samples["position"].values, samples["orientation"].values, *frame
    )
    bend = _accelerations(position, 1.0 / float(motion.attrs["sample_frequency"]))
    falls = np.abs(np.linalg.norm(bend, axis=1) - _GRAVITY).min(initial=np.inf) < _NEARLY
    size = float(np.ptp(motion["vertices"].values, axis=0).max())
    return bool(falls or np.ptp(position[:, 2]) > _MOVES * size)


def _refuse_other_positions(name: str, motion: xr.Dataset, stated: Convention) -> None:
    """Refuse positions in other horizontal axes than the orientations, naming the columns."""
    own = _along_sliding(motion)
    frame = position_matrix(stated.frame)
    upwards = np.array([0.0, 0.0, 1.0])
    best, most = stated, 0.0
    for other in other_positions(stated, stated):
        turn = frame @ columns_matrix(other, stated) @ frame.T
        # heights are told already
        if not np.allclose(turn[2], upwards):
            continue
        position = motion["position"].dims, motion["position"].values @ turn.T
        less = own - _along_sliding(motion.assign(position=position))
        less = less[np.isfinite(less)]
        if len(less) < _FEWEST_TOSSES:
            continue
        errors = float(less.mean() / (less.std(ddof=1) / np.sqrt(len(less))))
        if errors > _CLEARLY and less.mean() > max(most, _ALONG):
            best, most = other, float(less.mean())
    if best is not stated:
        raise ContactIdError(
            f"{name}: {best.words(stated)}: friction would push bodies the way they slide otherwise",
            f"Give {best.options()}, or write the positions so",
        )


def _along_sliding(motion: xr.Dataset) -> np.ndarray:
    """(tosses,) -1 to 1: how far bodies near the surface accelerate along the way in which their
    lowest corners slide; NaN of a toss that never does.
    """
    vertices = motion["vertices"].values
    near = _TOUCHES * float(np.ptp(vertices, axis=0).max())
    # frames, as a camera's noise is larger than what friction does within a short time
    reach = max(1, round(_PUSHED * float(motion.attrs["sample_frequency"])))
    found = []
    for _, samples in iterate_recordings(motion):
        position = samples["position"].values
        corners = vertex_positions(position, samples["orientation"].values, vertices)
        heights = corners[..., 2].min(axis=1)
        lowest = corners[..., 2].argmin(axis=1)
        # of a frame's own lowest corner, from frames before to frames behind
        frames = np.arange(reach, len(position) - reach)
        ways = corners[2 * reach :] - corners[: -2 * reach]
        sliding = ways[frames - reach, lowest[frames], :2]
        straight = position[2 * reach :] + position[: -2 * reach]
        pushed = (straight - 2.0 * position[reach:-reach])[:, :2]
        touches = heights[frames] - heights.min() < near
        along = (sliding * pushed).sum(axis=1)[touches].sum()
        size = (np.linalg.norm(sliding, axis=1) * np.linalg.norm(pushed, axis=1))[touches].sum()
        found.append(along / size if size > 0.0 else np.nan)
    return np.array(found)


def in_frame(motion: xr.Dataset, convention: Convention, placed: bool, length: float) -> xr.Dataset:
    """What a convention means by a canonical dataset; parameters are those of
    :func:`explained_motion`.
    """
    places = ["position", *(["surface_position"] if placed else [])]
    turns = ["orientation", *(["surface_orientation"] if placed else [])]
    frame, turning = position_matrix(convention.frame), quaternion_matrix(convention.frame)
    factor = convention.unit("position_x") / length if convention.states("m") else 1.0
    found = {
        name: (motion[name].dims, factor * motion[name].values @ frame.T, motion[name].attrs)
        for name in places
    }
    found |= {
        name: (motion[name].dims, motion[name].values @ turning.T, motion[name].attrs)
        for name in turns
    }
    return motion.assign(found)


def _residuals(motion: xr.Dataset) -> np.ndarray:
    """(k,) of all tosses: free fall, flatness at rest, and depth under the surface, each of about 1
    or less.
    """
    found: list[float] = []
    lowest: list[float] = []
    levels: list[float] = []
    vertices = motion["vertices"].values
    size = float(np.ptp(vertices, axis=0).max())
    step = 1.0 / float(motion.attrs["sample_frequency"])
    for _, samples in iterate_recordings(motion):
        surface = samples["surface_position"].values, samples["surface_orientation"].values
        position, orientation = in_surface_frame(
            samples["position"].values, samples["orientation"].values, *surface
        )
        gravity = rotations.as_rotation(surface[1]).inv().apply([0.0, 0.0, -_GRAVITY])
        heights = np.sort(vertex_positions(position, orientation, vertices)[..., 2], axis=1)
        level = np.nan
        noise = white_noise(position)
        # a recording that ends in motion says nothing of flatness
        if np.ptp(position[-_RESTING:], axis=0).max() < _STILL * size + _SHAKEN * noise:
            # a box that lies has four corners at one height
            lying = heights[-_RESTING:, :4].mean(axis=0)
            level = float(lying.mean())
            found.append(float(np.ptp(lying)) / (_SIZE * size))
        levels.append(level)
        # the lowest twentieth: single frames may be off
        lowest.append(float(np.quantile(heights[:, 0], 0.05)))
        found.append(_off_the_fall(position, step, gravity) / _FALL)
    # a body that doesn't come to rest says nothing of the surface's height, but others do
    of_others = np.nanmedian(levels) if np.isfinite(levels).any() else np.inf
    grounds = np.where(np.isfinite(levels), levels, of_others)
    depths = np.where(np.isfinite(grounds), np.minimum(np.array(lowest) - grounds, 0.0), 0.0)
    return np.array([*found, *depths / (_SIZE * size)])


def _off_the_fall(position: np.ndarray, step: float, gravity: np.ndarray) -> float:
    """M/s2 by which the stretch that is nearest to a free fall departs from it."""
    bend = _accelerations(position, step)
    return float(np.linalg.norm(bend - gravity, axis=1).min()) if len(bend) else 0.0


def _accelerations(position: np.ndarray, step: float) -> np.ndarray:
    """(k, 3) m/s2 of all stretches of a path (n, 3) m; none of a shorter one."""
    frames = max(_FEWEST, round(_WINDOW / step))
    if len(position) < frames:
        return np.zeros((0, 3))
    time = step * np.arange(frames)
    # (frames,) weights of a parabola's t^2 coefficient
    bend = np.linalg.pinv(np.vander(time - time.mean(), 3))[0]
    stretches = np.lib.stride_tricks.sliding_window_view(position, frames, axis=0)
    return 2.0 * stretches @ bend
