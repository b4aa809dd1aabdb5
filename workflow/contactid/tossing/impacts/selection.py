"""Find the impacts of single corners in measured motion, without a human (section IV-A1 and 2,
tossing paper).

A *candidate* is a local minimum in the height of a vertex near the surface that the vertex
approached. It is kept where the paper's three conditions hold (window within the recording, one
corner only, fast enough), where the motion on both sides is as free as the same data's free flight
is, and where the change of spin is the one that an impulse at that vertex gives, ``I (w+ - w-) = r
x m (v+ - v-)``: this needs no contact law, and fails where a second corner hit.

The authors chose the pre- and post-impact indices by fitting a logistic curve and looking at it.
Here they follow from physics: free motions are fitted on both sides
(:mod:`contactid.tossing.impacts.free_motion`); the impact happened when the two meet; samples
before that instant belong to the pre-impact motion, samples after it to the post-impact motion; and
samples next to it that don't fit their side are left out one by one, which measures the impact's
duration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.sources.motion import body_of, iterate_recordings, some_recordings
from contactid.tossing.impacts.free_motion import PoseNoise, fit_free_motion
from contactid.tossing.impacts.impact import ImpactWindow, write_impacts
from contactid.tossing.impacts.sides import Candidate, Recording, Sides
from contactid.tossing.prepare.poses import central_differences, touching_corners, vertex_positions
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.prepare.tosses import load_dataset
from contactid.tossing.simulate.box import State

_SLOWEST_CANDIDATE = 0.1  # m/s: slower dips are noise of a body that slides or rests
# m, the authors' height; the way of half a sample is added, because the turning point isn't sampled
_NEAR = 0.005
_OFF_THE_SURFACE = 0.01  # m
_CROWDED = "another corner touches in the window"
_NORMAL = 1.4826  # median absolute deviation to standard deviation
_PLAINLY = 2.0  # times what heights of impacts scatter by
_FEWEST_HEIGHTS = 10  # kept candidates that tell at which height corners turn round
_LARGEST_BEND = 0.06  # of the corner's change of velocity


@dataclass(frozen=True)
class SelectionOptions:
    """Thresholds of the selection."""

    window: int = 5  # samples on either side of k_im that are looked at; 5 in the paper
    slowest: float = 0.3  # smallest normal speed of an impact, m/s; 0.3 in the paper
    # largest mean squared residual of a free motion, in units of the median free flight's
    largest_misfit: float = 2.5
    # largest |I dw - r x m dv| over |r x m dv|; as large as the body's inertia is uncertain
    largest_imbalance: float = 0.03


def pose_noise(prepared: xr.Dataset) -> PoseNoise:
    """Sample-to-sample noise of the poses, from third differences of the samples off the surface.

    Motion is smooth there on the scale of four samples, so the third differences are noise (their
    variance is 20 times a sample's). Samples on the surface don't count: trackers smooth what
    doesn't move.
    """
    position, rotation = [], []
    vertices = prepared["vertices"].values
    for _, samples in iterate_recordings(prepared):
        place, turned = samples["position"].values, samples["orientation"].values
        lowest = vertex_positions(place, turned, vertices)[:, :, 2].min(axis=1)
        # all four samples of a third difference must be off the surface
        free = np.lib.stride_tricks.sliding_window_view(lowest, 4).min(axis=1) > _OFF_THE_SURFACE
        measured = rotations.as_rotation(turned)
        steps = (measured[:-1].inv() * measured[1:]).as_rotvec()
        position.append(np.diff(place, n=3, axis=0)[free])
        # turns from sample to sample are first differences already
        rotation.append(np.diff(steps, n=2, axis=0)[free])
    if not sum(map(len, position)):
        raise ContactIdError(
            f"{prepared.attrs['source']}: no sample is off the surface", "Check the surface's pose"
        )
    return PoseNoise(
        _robust_deviation(np.concatenate(position)), _robust_deviation(np.concatenate(rotation))
    )


def _robust_deviation(third_differences: np.ndarray) -> float:
    return float(_NORMAL * np.median(np.abs(third_differences)) / np.sqrt(20.0))


def find_impacts(prepared: xr.Dataset, options: SelectionOptions | None = None) -> list[Candidate]:
    """All candidates of a prepared dataset, kept or dropped.

    Noise and clearance are taken from the identification part alone (where there is one), so that
    what is tested on doesn't shape the selection.

    Raises :class:`ContactIdError` where the recordings hold no candidate at all.
    """
    options = options or SelectionOptions()
    recordings = list(_recordings(prepared))
    places = [(recording, *place) for recording in recordings for place in _candidates(recording)]
    if not places:
        raise ContactIdError(
            f"{prepared.attrs['source']}: no impact found", "Check the surface's pose in the data"
        )
    # a dataset that is only tested on has none
    known = [item for item in recordings if item.split == IDENTIFICATION] or recordings
    names = {item.name for item in known}
    of_known = prepared["recording"].isin([*names]).values
    raw = pose_noise(some_recordings(prepared, of_known))
    noise = _flight_noise(known, raw, options.window)
    # first pass: the surface is where the bodies at rest put it
    level, tolerance = 0.0, max(recordings[0].plane_scatter, 3.0 * noise.position)
    found = [_judge(*place, noise, level, tolerance, options) for place in places]
    heights = np.array(
        [item.contact_height for item in found if item.impact is not None and item.toss in names]
    )
    # too few corners to say anything of the surface
    if len(heights) < _FEWEST_HEIGHTS:
        return found
    # where corners turn round says where the surface is, and how well that is known
    middle = float(np.median(heights))
    spread = _NORMAL * float(np.median(np.abs(heights - middle)))
    # a rounded corner or a wrong scale lets corners turn round below the surface, plainly so; a
    # lower level for less would hide a corner that rests
    level, tolerance = (
        min(middle, 0.0) if middle < -_PLAINLY * spread else 0.0,
        max(tolerance, spread),
    )
    return [
        _judge(*place, noise, level, tolerance, options)
        # second pass, of those alone whose answer to this one question may change
        if candidate.reason == _CROWDED or _crowded(*place[:3], level, tolerance, options.window)
        else candidate
        for place, candidate in zip(places, found, strict=True)
    ]


def _flight_noise(recordings: list[Recording], noise: PoseNoise, window: int) -> PoseNoise:
    """The noise scaled so that windows in free flight, off the surface, have a median misfit of 1.

    What third differences don't see (drag, a tracker's own filter) shows in the misfit of a longer
    window.
    """
    misfits = []
    for recording in recordings:
        free = recording.heights.min(axis=1) > _OFF_THE_SURFACE
        # windows as long as those of impacts, one after the other
        times = np.arange(window) * recording.time_step
        for first in range(0, len(free) - window, window):
            rows = slice(first, first + window)
            if free[rows].all():
                motion = fit_free_motion(
                    recording.body,
                    times,
                    recording.position[rows],
                    recording.orientation[rows],
                    recording.gravity,
                )
                misfits.append(motion.misfit(noise))
    # a hand that carries the body off the surface isn't flight
    lowest = np.sort(misfits)[: max(len(misfits) // 2, 1)]
    # never below third differences' own noise
    scale = np.sqrt(max(float(np.median(lowest)) if len(misfits) else 1.0, 1.0))
    return PoseNoise(noise.position * scale, noise.rotation * scale)


def _recordings(prepared: xr.Dataset) -> Iterator[Recording]:
    body = body_of(prepared)
    for name, samples in iterate_recordings(prepared):
        position, orientation = samples["position"].values, samples["orientation"].values
        yield Recording(
            name=name,
            split=str(samples["split"].values),
            position=position,
            orientation=orientation,
            heights=vertex_positions(position, orientation, body.vertices)[:, :, 2],
            gravity=samples["gravity"].values,
            surface_velocity=samples["surface_velocity"].values.astype(float),
            time_step=1.0 / float(prepared.attrs["sample_frequency"]),
            plane_scatter=float(prepared.attrs["plane_scatter"]),
            body=body,
        )


def _candidates(recording: Recording) -> list[tuple[int, int, float]]:
    """(sample, vertex, speed of approach in m/s) in order of time."""
    found = []
    for vertex, heights in enumerate(recording.heights.T):
        # local minima
        for sample in map(int, scipy.signal.find_peaks(-heights)[0]):
            first = max(sample - 4, 0)
            # no two samples before it tell a speed
            if sample - 1 <= first:
                continue
            speed = (heights[first] - heights[sample - 1]) / (
                (sample - 1 - first) * recording.time_step
            )
            if (
                speed >= _SLOWEST_CANDIDATE
                and heights[sample] <= _NEAR + 0.5 * speed * recording.time_step
            ):
                found.append((sample, vertex, float(speed)))
    return sorted(found)


def _judge(
    recording: Recording,
    sample: int,
    vertex: int,
    speed: float,
    noise: PoseNoise,
    level: float,
    tolerance: float,
    options: SelectionOptions,
) -> Candidate:
    """Apply the conditions in turn; ``level`` and ``tolerance`` as in :func:`_crowded`."""
    bare = Candidate(recording.name, sample, vertex, normal_speed=speed)
    window = options.window
    # a sample more on either side: a corner's path and a central difference need their neighbours
    if sample - window < 1 or sample + window > len(recording.position) - 2:
        return replace(bare, reason="too near an end of the recording")
    # before the fits, as it needs none
    if _crowded(recording, sample, vertex, level, tolerance, window):
        return replace(bare, reason=_CROWDED)
    if speed < 0.5 * options.slowest:  # too slow whatever a fit would say
        return replace(bare, reason=f"slower than {options.slowest:g} m/s")
    sides = Sides(recording, sample, vertex, noise, options.window)
    if not sides.found:
        return replace(bare, reason="no free motion on both sides")
    candidate = sides.candidate()
    if candidate.normal_speed < options.slowest:
        reason = f"slower than {options.slowest:g} m/s"
    elif (
        max(candidate.misfit_pre, candidate.misfit_post) > options.largest_misfit
        or candidate.bend > _LARGEST_BEND
    ):
        reason = "the motion around it is not free"
    elif candidate.imbalance > options.largest_imbalance:
        reason = "the impulse is not that of one corner"
    else:
        return candidate
    return replace(candidate, reason=reason, impact=None)


def _crowded(
    recording: Recording, sample: int, vertex: int, level: float, tolerance: float, window: int
) -> bool:
    """Whether another vertex touches within the window, be it between two samples: its path is
    extrapolated.

    It touches below ``level`` (m), which is known to a ``tolerance`` (m).
    """
    around = recording.heights[max(sample - window - 1, 0) : sample + window + 2]
    # both ends are dropped: a corner's path needs a sample on either side
    touching = touching_corners(around - level, tolerance)[1:-1]
    return bool(np.delete(touching, vertex, axis=1).any())


def _stands_out(orientation: np.ndarray) -> float:
    """How far a box's lowest corner stands out: sum of |n_i| less 1, with the surface's normal n in
    B.

    0 on a face, 0.41 on an edge, 0.73 on a corner: a corner rounded with radius r touches r times
    this further up.
    """
    # third row of R_CB: the surface's normal in B
    return float(np.abs(rotations.matrices(orientation)[2]).sum() - 1.0)


def candidate_table(candidates: list[Candidate], dataset: str) -> pd.DataFrame:
    """One row per candidate: where, how fast, kept or why not, and the quality of the fits."""
    rows = []
    for item in candidates:
        row: dict[str, Any] = {"dataset": dataset, "toss": item.toss, "sample": item.sample}
        row["vertex"] = item.vertex + 1  # p_1 to p_8, as the paper counts
        row |= {
            "normal_speed": item.normal_speed,
            "kept": item.impact is not None,
            "reason": item.reason,
        }
        row["instant_ms"] = 1e3 * item.instant
        fits = ("last_pre", "first_post", "misfit_pre", "misfit_post", "bend", "imbalance")
        row |= {name: getattr(item, name) for name in fits}
        row |= {"gap_mm": 1e3 * item.gap, "contact_height_mm": 1e3 * item.contact_height}
        row["stands_out"] = (
            np.nan if item.impact is None else _stands_out(item.impact.impact.orientation)
        )
        rows.append(row)
    return pd.DataFrame(rows)


def as_paper(
    recording: Recording, found: Candidate, window: ImpactWindow, reach: int
) -> ImpactWindow:
    """A kept candidate's window with the paper's start and end; ``reach`` samples on either side of
    k_im.

    The start is the measured pose at k_im - ``reach``. Lines are fitted to the central differences
    (eqs. 12 to 15) that know nothing of the impact, those whose neighbours are on the same side:
    k_im - b is the last one before it and k_im + c the first one after it. An impact that is over
    between two samples so takes three steps, or four where it falls on one.
    """
    rows = found.sample + np.arange(-reach - 1, reach + 2)
    twist = central_differences(
        recording.position[rows], recording.orientation[rows], recording.time_step
    )[1:-1]
    # a central difference spans its neighbours, so it is on one side a sample further away
    last, first = int(found.last_pre or 0) - 1, int(found.first_post or 0) + 1
    offsets = np.arange(-reach, reach + 1)

    def line_at(chosen: np.ndarray, offset: int) -> np.ndarray:
        slope, level = np.polyfit(offsets[chosen], twist[chosen], 1)
        return slope * offset + level

    # the line's value replaces the noisy difference at the window's first sample
    start = line_at(offsets <= last, -reach)
    # rows[0] is there for the first difference alone
    pose = recording.position[rows[1]], recording.orientation[rows[1]]
    return replace(
        window, start=State(*pose, start[:3], start[3:]), end_twist=line_at(offsets >= first, first)
    )


def select_impacts(
    prepared: str,
    calibration: str | None,
    dataset: str,
    window: int,
    slowest: float,
    largest_misfit: float,
    largest_imbalance: float,
    twists: Sequence[str],
    impacts: Sequence[str],
    tables: Sequence[str],
) -> None:
    """Select a dataset's impacts and write them, and the table of all candidates with the reasons.

    Parameters
    ----------
    window, slowest, largest_misfit, largest_imbalance : as in :class:`SelectionOptions`
    twists : how every variant that identifies on these impacts finds the windows' twists:
        ``free_motion`` or ``central_differences`` (:func:`as_paper`)
    impacts, tables : files of every variant that identifies on these impacts:
        :func:`contactid.tossing.impacts.impact.write_impacts` and :func:`candidate_table`
    """
    tosses = load_dataset(prepared, calibration)
    candidates = find_impacts(
        tosses, SelectionOptions(window, slowest, largest_misfit, largest_imbalance)
    )
    kept = [
        (candidate, candidate.impact) for candidate in candidates if candidate.impact is not None
    ]
    recordings = {item.name: item for item in _recordings(tosses)}
    windows = {
        "free_motion": [impact for _, impact in kept],
        "central_differences": [
            as_paper(recordings[one.toss], one, impact, window) for one, impact in kept
        ],
    }
    for kind, file, table in zip(twists, impacts, tables, strict=True):
        write_impacts(windows[kind], tosses, file)
        write_csv(candidate_table(candidates, dataset), table)
