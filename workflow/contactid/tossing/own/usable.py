"""Which recordings a run would use as tosses, by the preparation that every run does, and what
print says of a box.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.output.tables import read_csv
from contactid.sources.card import white_noise
from contactid.sources.motion import (
    MotionStream,
    iterate_recordings,
    read_dataset,
    some_recordings,
    write_motion,
)
from contactid.tossing.prepare.events import FALL_TOLERANCE, REST_SPEED
from contactid.tossing.prepare.poses import vertex_positions
from contactid.tossing.prepare.preprocess import preprocess

EVENTS = {"rule": "data_driven", "rest_speed": REST_SPEED, "fall_tolerance": FALL_TOLERANCE}
# s on one side of the speed at a recording's end, which is the least sure one
_END = 0.025
# of a box's length: heights at rest are off by no more than that, of a box with bent sides, too
_SAME_HEIGHT = 0.05
_SIDE, _FEWEST_HEIGHTS = 3, 4  # frames of a straight line on either side of an impact; tosses
# of the box's size: noise lifts what counts as the lowest corner. Sharp boxes sink by .05 at most,
# the real cube by .12, whose corners are round
_LIFTED, _SUNK = 0.01, 0.13
_SURELY = 2.0  # standard errors
# of the height of the middle at rest: a corner that stands out less tells noise
_STANDS_OUT = 0.2
# standard deviations of a speed's component: the length of three of them is beyond in 1 of 150
_BEYOND = 3.5

_PUBLISHED = Path(__file__).parents[3] / "resources/published/tossing.csv"
_TABLE_I = ("length_mm", "width_mm", "height_mm", "mass_kg")


def events_of(motion: xr.Dataset) -> Mapping[str, Any]:
    """``EVENTS`` of tosses (a canonical dataset), whose rest is as fast as their camera's noise.

    At noise of 0.3 mm and 150 frames/s a body at rest seems to move with 2 cm/s and more.
    """
    rate, vertices = float(motion.attrs["sample_frequency"]), motion["vertices"].values
    noise = []
    for _, samples in iterate_recordings(motion):
        position = samples["position"].values
        corners = vertex_positions(position, samples["orientation"].values, vertices)
        # a body at rest is one whose corners move at most twice as fast as it may
        turning = [0.5 * white_noise(corners[:, k]) for k in range(len(vertices))]
        noise.append(max(white_noise(position), *turning))
    frames = max(3, round(_END * rate) + 1)
    # of a straight line's slope through so many frames
    speed = float(np.nanmedian(noise)) * rate * np.sqrt(12.0 / (frames * (frames**2 - 1)))
    return {**EVENTS, "rest_speed": float(np.nanmax([REST_SPEED, _BEYOND * speed]))}


def prepared_own(motion: xr.Dataset, *, share: float, require_usable: bool) -> xr.Dataset:
    """Tosses prepared with :func:`events_of`; parameters as of :func:`preprocess`."""
    settings: dict[str, Any] = {"share": share, "require_usable": require_usable}
    return preprocess(motion, seed=0, exclude_tumbling=False, events=events_of(motion), **settings)


def on_one_surface(prepared: xr.Dataset) -> xr.Dataset:
    """Prepared tosses, without those that rest at another height than most.

    They are of another box, on another face than a wrong size lets it be, or on another surface.
    """
    reason = prepared["reason"].values.astype(object)
    usable, vertices = np.flatnonzero(reason == ""), prepared["vertices"].values
    if not len(usable):
        return prepared
    rest = prepared.isel(recording=usable)
    corners = vertex_positions(
        rest["rest_position"].values, rest["rest_orientation"].values, vertices
    )
    # of the face that it lies on
    heights = np.sort(corners[..., 2], axis=1)[:, :4].mean(axis=1)
    for index, off in zip(usable, heights - np.median(heights), strict=True):
        if abs(off) > _SAME_HEIGHT * float(np.ptp(vertices, axis=0).max()):
            way = "above" if off > 0.0 else "below"
            reason[index] = (
                f"rests {1e3 * abs(off):.0f} mm {way} most others: another box, size or surface"
            )
    return prepared.assign(reason=prepared["reason"].copy(data=reason))


def shrinkage(prepared: xr.Dataset) -> tuple[float, float]:
    """Share of the stated size that a box is smaller by, as its corners turn round in tosses' first
    impacts, and its standard error; NaN of fewer than four.

    At rest the middle is where the stated size puts it. A corner that stands out of the face that
    the box rests on turns round under the surface where the box is smaller, in proportion. Corners
    rounded with a radius do so by about that radius over half of an edge, soft ones by a little. A
    corner can't turn round over the surface: a share below 0 is of a larger box.
    """
    vertices, shares = prepared["vertices"].values, []
    half = 0.5 * np.ptp(vertices, axis=0)
    used = prepared["reason"].values == ""
    resting = np.abs(rotations.matrices(prepared["rest_orientation"].values[used])[:, 2])
    # the surface is fitted to the middles of all tosses
    lies = float((resting @ half).mean()) if used.any() else np.nan
    for _, samples in iterate_recordings(some_recordings(prepared, used)):
        contact = int(samples["contact"])
        turned = samples["orientation"].values
        corners = vertex_positions(samples["position"].values, turned, vertices)[..., 2]
        if not _SIDE < contact < len(corners) - _SIDE:
            continue
        stands_out = float(np.abs(rotations.matrices(turned[contact])[2]) @ half) - lies
        corner = int(corners[contact - 1 : contact + 2].min(axis=0).argmin())
        # the contact's own frame and the one before may be on either side of the impact
        frames = np.arange(_SIDE)
        before = np.polyfit(frames, corners[contact - 1 - _SIDE : contact - 1, corner], 1)
        after = np.polyfit(frames, corners[contact + 1 : contact + 1 + _SIDE, corner], 1)
        bend = after[0] - before[0]
        # in frames from the first one before
        meeting = (before[1] - after[1] + (_SIDE + 2) * after[0]) / bend if bend > 0.0 else np.nan
        if _SIDE - 1 <= meeting <= _SIDE + 2 and stands_out > _STANDS_OUT * lies:
            shares.append(-float(np.polyval(before, meeting)) / stands_out)
    if len(shares) < _FEWEST_HEIGHTS:
        return np.nan, np.nan
    middle = float(np.median(shares))
    # a median's error is 1.25 times a mean's, and 1.48 takes a median deviation to a standard one
    spread = 1.4826 * float(np.median(np.abs(np.array(shares) - middle)))
    return middle, float(1.25 * spread / np.sqrt(len(shares)))


def size_warnings(prepared: xr.Dataset) -> list[str]:
    """Whether a box is of another size than stated (:func:`shrinkage`)."""
    share, error = shrinkage(prepared)
    said = f"{100.0 * abs(share):.0f} +- {100.0 * error:.0f} %"
    if share + _SURELY * error < -_LIFTED:
        return [
            f"Corners turn round over the surface: the box is larger than stated, by some {said}, "
            "and friction is off with it."
        ]
    if share - _SURELY * error > _SUNK:
        return [
            f"Corners turn round under the surface: the box is smaller than stated, by some {said}, "
            "and friction is off with it, or its corners are rounded by as much of half an edge."
        ]
    return []


def printed_box(name: str) -> list[float] | None:
    """Table I's length, width and height (mm) and mass (kg); None for another box, or without the
    repository.
    """
    if not _PUBLISHED.is_file():
        return None
    table = read_csv(_PUBLISHED).set_index(["artefact", "quantity", "condition"])["value"]
    keys = [("tab01", quantity, f"object={name}") for quantity in _TABLE_I]
    return [float(table[key]) for key in keys] if keys[0] in table else None


def prepare_all(stream: MotionStream) -> xr.Dataset:
    """Every recording that a reader gives, prepared as by a run: ``reason`` says why one can't be
    used as a toss.

    Those that tumble have none: the configuration chooses whether they are used.

    Raises :class:`ContactIdError` for what the reader finds wrong
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "motion.nc"
        write_motion(stream, file)
        motion = read_dataset(file)
    # all recordings tell where the surface is; the seed would choose some of them
    return preprocess(
        motion, share=1.0, seed=0, exclude_tumbling=False, require_usable=False, events=EVENTS
    )
