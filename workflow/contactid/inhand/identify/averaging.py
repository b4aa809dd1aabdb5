"""Stretches of a recording, averaged over as long as its motion allows: what the estimation by
likelihood takes.

Poses and forces are averaged alike. The equations are linear in what is averaged but for turns: the
weight turns in the body within an average, so its mean there is less than the weight in the mean
pose, by a third of a percent for a turn of 16 degrees. That is taken along as the sample's blur.
Over which time that harms nothing is told by how fast the wrench changes: 0.02 s for a quick hand,
0.3 s for a slow robot. What is faster than the motion is vibration, filters' and clocks'
differences between sensors, which no rigid body explains; a fit that weighs it prefers it to the
slow weight. A gap ends a stretch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contactid.core.inertia import uniform_body
from contactid.core.rotations import continuous, from_matrices, matrices
from contactid.inhand.identify.smoothing import WIDER, smoothed_motion
from contactid.inhand.identify.wrench import regressor
from contactid.inhand.readers.recordings import RecordedSignals

STEP = 0.02  # s, of the averages at least
FEWEST = 15  # averages in a stretch, fewer are left out
_LONGEST = 0.3  # s
_CHANGE = 0.01  # of the wrench's variance, by which it changes over an average at most
_GAP = 4.0  # averages' steps; from there on a stretch ends


def averaged_stretches(signals: RecordedSignals) -> tuple[list[RecordedSignals], int]:
    """Averaged signals between gaps, and how many rows make an average; stated deviations are a
    row's.
    """
    # median: rows that are lost don't change it
    step = float(np.median(np.diff(signals.time))) if signals.samples > 1 else STEP
    count = max(1, round(STEP / step))
    short = _stretches(signals, count, step)
    if short:
        most = int(_LONGEST / (count * step) + 0.5)
        longer = count * _steps_of_motion(short, most)
        stretches = _stretches(signals, longer, step)
        # averages so long that a stretch has too few of them aren't worth it
        if len(stretches) == len(short):
            return stretches, longer
    return short, count


def _stretches(signals: RecordedSignals, count: int, step: float) -> list[RecordedSignals]:
    time = signals.time
    orientation = continuous(from_matrices(signals.rotations))
    stretches = []
    for run in np.split(
        np.arange(len(time)), np.flatnonzero(np.diff(time) > _GAP * max(STEP, step)) + 1
    ):
        # 1e-6: a time on a bin's edge isn't put a bin too early by rounding
        bins = (
            np.floor((time[run] - time[run[0]]) / (count * step) + 1e-6).astype(int)
            if count > 1
            else run
        )
        _, first, sizes = np.unique(bins, return_index=True, return_counts=True)
        if len(first) >= FEWEST:
            stretches.append(_averaged(signals, orientation, run, first, sizes, count))
    return stretches


def _steps_of_motion(stretches: list[RecordedSignals], most: int) -> int:
    """Over how many averages, at most so many, the wrench changes by little that moves the body.

    That wrench is what a uniform body in the hull takes on smoothed poses. Its changes count by
    their product with the sensed changes, so what only one of the two shows, as a tracker's noise
    or vibration, averages out.
    """
    hull = stretches[0].hull
    # torques over half the hull's length, so that both are forces
    scale = np.repeat([1.0, 2.0 / float(np.ptp(hull, axis=0).max())], 3)
    body = uniform_body(1.0, hull).vector
    taken = [scale * (regressor(smoothed_motion(one, WIDER)[2]) @ body) for one in stretches]
    sensed = [scale * one.wrench for one in stretches]

    def change(steps: int) -> float:
        pairs = zip(taken, sensed, strict=True)
        products = [
            (one[steps:] - one[:-steps]) * (other[steps:] - other[:-steps]) for one, other in pairs
        ]
        # half the mean squared difference: a variogram, of the two signals together
        return 0.5 * float(np.concatenate(products).mean(axis=0).sum())

    whole = np.concatenate(taken), np.concatenate(sensed)
    # covariance of both over the whole recording
    together = float(
        np.sum((whole[0] - whole[0].mean(axis=0)) * (whole[1] - whole[1].mean(axis=0)))
    ) / len(whole[0])
    return max(
        (steps for steps in range(2, most + 1) if change(steps) < _CHANGE * together), default=1
    )


def _averaged(
    signals: RecordedSignals, orientation: np.ndarray, rows: np.ndarray, first: np.ndarray, sizes: np.ndarray,
    count: int,
) -> RecordedSignals:  # fmt: skip
    def mean(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values[rows], first, axis=0) / sizes.reshape(
            -1, *[1] * (values.ndim - 1)
        )

    # mean quaternion on the sphere again; turns within an average are small
    turned = mean(orientation)
    rotations = matrices(turned / np.linalg.norm(turned, axis=1, keepdims=True))
    # white noise of the mean of count rows
    share = count**-0.5
    return replace(
        signals,
        time=mean(signals.time - signals.time[0]),
        rotations=rotations,
        # mean turn against the turn of the mean
        blur=np.swapaxes(mean(signals.rotations), 1, 2) @ rotations,
        positions=mean(signals.positions),
        forces=mean(signals.forces),
        force_sd=np.sqrt(mean(signals.force_sd**2) / sizes[:, None, None]),
        points=mean(signals.points),
        torques=None if signals.torques is None else mean(signals.torques),
        position_sd=signals.position_sd * share,
        orientation_sd=signals.orientation_sd * share,
        # 1 um: a stated zero would be divided by
        point_sd=max(signals.point_sd, 1e-6) * share,
        torque_sd=signals.torque_sd * share,
    )
