"""Stretches of a recording, averaged to about 50 samples per second: what the estimation by likelihood takes.

A held object moves slowly, and poses and forces are averaged alike. A gap ends a stretch, and a long recording is cut
into several, which bounds the work.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contactid.core.rotations import continuous, from_matrices, matrices
from contactid.inhand.readers.recordings import RecordedSignals

STEP = 0.02  # s, of the averages
FEWEST = 15  # averages in a stretch, fewer are left out
_LONGEST = 120  # averages in a stretch
_GAP = 4.0  # averages' steps; from there on a stretch ends


def averaged_stretches(signals: RecordedSignals) -> tuple[list[RecordedSignals], int]:
    """Averaged signals between gaps, and how many rows make an average; stated deviations are a row's."""
    time = signals.time
    step = float(np.median(np.diff(time))) if len(time) > 1 else STEP
    count = max(1, round(STEP / step))
    orientation = continuous(from_matrices(signals.rotations))
    found = []
    for run in np.split(np.arange(len(time)), np.flatnonzero(np.diff(time) > _GAP * count * step) + 1):
        bins = np.floor((time[run] - time[run[0]]) / (count * step) + 1e-6).astype(int) if count > 1 else run
        _, first, sizes = np.unique(bins, return_index=True, return_counts=True)
        parts = max(1, -(-len(first) // _LONGEST))
        for part in np.array_split(np.arange(len(first)), parts):
            if len(part) >= FEWEST:
                rows = run[first[part[0]] : first[part[-1]] + sizes[part[-1]]]
                found.append(_averaged(signals, orientation, rows, first[part] - first[part[0]], sizes[part], count))
    return found, count


def _averaged(
    signals: RecordedSignals, orientation: np.ndarray, rows: np.ndarray, first: np.ndarray, sizes: np.ndarray,
    count: int,
) -> RecordedSignals:  # fmt: skip
    def mean(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values[rows], first, axis=0) / sizes.reshape(-1, *[1] * (values.ndim - 1))

    turned = mean(orientation)
    share = count**-0.5
    return replace(
        signals,
        time=mean(signals.time - signals.time[0]),
        rotations=matrices(turned / np.linalg.norm(turned, axis=1, keepdims=True)),
        positions=mean(signals.positions),
        forces=mean(signals.forces),
        force_sd=np.sqrt(mean(signals.force_sd**2) / sizes[:, None, None]),
        points=mean(signals.points),
        torques=None if signals.torques is None else mean(signals.torques),
        position_sd=signals.position_sd * share,
        orientation_sd=signals.orientation_sd * share,
        point_sd=max(signals.point_sd, 1e-6) * share,
        torque_sd=signals.torque_sd * share,
    )
