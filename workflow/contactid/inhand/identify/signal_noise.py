"""How noisy tracked poses and contact points are, told by themselves: what is rougher than a motion
can be.

A pose's coordinate is a smooth motion (a random walk that is integrated twice, as of a quintic
smoothing spline), white noise, and noise that is correlated over a tenth of a second, as of a
tracker that follows its own last pose. A contact point stays where it is but for a random walk, and
is measured with white noise. The sizes of these parts are found by restricted maximum likelihood:
each is multiplied by what the signal shows over what it should show. The dynamics aren't asked: an
object that is thought too light would hide its poses' noise, and poses that are thought too good
make it lighter still.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from contactid.core.rotations import continuous, from_matrices
from contactid.inhand.identify.latent_errors import SHORT
from contactid.inhand.readers.recordings import RecordedSignals

STATED = 30.0  # values that a stated deviation counts for
_ROUNDS = 100
_SETTLED = 0.02  # relative change of what counts, from which on the search ends
_TURN = (
    np.sqrt(3.0) / 4.0
)  # a quaternion's component's deviation over the rotation's; there are four for three
_LEAST = 1e-12
_FEWEST = 5  # samples in a piece
_LONGEST, _MOST = 150, 4  # samples in a piece, and pieces that are asked for levels

Part = tuple[
    np.ndarray, np.ndarray, np.ndarray
]  # kernels (k, n, n), free columns (n, q) and values (n, d)


def pose_levels(stretches: Sequence[RecordedSignals]) -> np.ndarray:
    """(4,) variances over the stated ones: of positions and orientations, white; of the same,
    correlated.
    """
    found = []
    for sd, values in (
        (stretches[0].position_sd, [one.positions for one in stretches]),
        (
            _TURN * stretches[0].orientation_sd,
            [continuous(from_matrices(one.rotations)) for one in stretches],
        ),
    ):
        parts = []
        for one, rows in zip(stretches, values, strict=True):
            for piece in _pieces(np.arange(one.samples)):
                time = one.time[piece]
                lag = np.abs(time[:, None] - time)
                # white, a tracker's jitter, and the smooth motion itself
                kernels = np.array([np.eye(len(lag)), np.exp(-lag / SHORT), _integrated_walk(time)])
                parts.append(
                    # position, speed and acceleration at the start are free
                    (kernels, np.vander((time - time[0]) / np.ptp(time), 3), rows[piece] / sd)
                )
        found.append(_levels(_spread(parts)))
    # the motion's own level isn't handed on
    return np.array([found[0][0], found[1][0], found[0][1], found[1][1]])


def steady_points(signals: RecordedSignals) -> RecordedSignals:
    """The same with contact points where all samples of a contact together have them, and what
    error that leaves.
    """
    parts, places, touching = [], [], np.any(signals.forces != 0.0, axis=2)
    for contact in range(signals.contacts):
        for piece in _pieces(np.flatnonzero(touching[:, contact])):
            since = signals.time[piece] - signals.time[piece[0]]
            # white noise, and a walk from the first sample: min(t, t')
            kernels = np.array([np.eye(len(since)), np.minimum(since[:, None], since)])
            parts.append(
                (
                    kernels,
                    np.ones((len(since), 1)),
                    signals.points[piece, contact] / signals.point_sd,
                )
            )
            places.append((piece, contact))
    if not parts:
        return signals
    levels, points, variances = _levels(_spread(parts)), signals.points.copy(), []
    for place, part in zip(places, parts, strict=True):
        weights = _weights(part, levels)
        # best linear prediction: the white part is taken off
        points[place] -= signals.point_sd * levels[0] * (weights @ part[2])
        # posterior variance of that white part
        variances.append(np.mean(levels[0] - levels[0] ** 2 * np.diag(weights)))
    return replace(
        signals, points=points, point_sd=signals.point_sd * float(np.sqrt(np.mean(variances)))
    )


def _pieces(rows: np.ndarray) -> list[np.ndarray]:
    """Rows in pieces of equal length, which bound the work of a signal; none of too few rows."""
    return [
        piece
        for piece in np.array_split(rows, -(-len(rows) // _LONGEST) or 1)
        if len(piece) >= _FEWEST
    ]


def _spread(parts: list[Part]) -> list[Part]:
    """At most so many of them, evenly spread, that tell a recording's levels."""
    return parts[:: -(-len(parts) // _MOST)]


def _levels(parts: Sequence[Part]) -> np.ndarray:
    """(k,) factors of the kernels; the first one's is stated to be 1."""
    count = len(parts[0][0])
    stated = np.array([STATED] + [0.0] * (count - 1))
    levels = np.ones(count)
    for _ in range(_ROUNDS):
        shown, expected = np.zeros(count), np.zeros(count)
        for part in parts:
            weights = _weights(part, levels)
            left = weights @ part[2]
            for i, kernel in enumerate(part[0]):
                shown[i] += np.vdot(left, kernel @ left)
                expected[i] += part[2].shape[1] * np.vdot(weights, kernel)
        # as for the levels of the wrenches: stated counts like so many values; a factor of ten at
        # most
        change = np.clip((shown + stated / levels**2) / (expected + stated / levels), 0.1, 10.0)
        counts = levels * expected > 1.0
        levels = np.maximum(levels * change, _LEAST)
        if np.all(np.abs(change[counts] - 1.0) < _SETTLED):
            break
    return levels


def _weights(part: Part, levels: np.ndarray) -> np.ndarray:
    """(n, n) inverse covariance of what the free columns don't explain."""
    kernels, free, _ = part
    inverse = np.linalg.inv(np.tensordot(levels, kernels, 1))
    white = inverse @ free
    return inverse - white @ np.linalg.solve(free.T @ white, white.T)


def _integrated_walk(time: np.ndarray) -> np.ndarray:
    """(n, n) covariance of a random walk that is integrated twice, for steps of unit length; from
    rest.
    """
    since = (time - time[0]) * (len(time) - 1) / np.ptp(time)
    low, apart = np.minimum(since[:, None], since), np.abs(since[:, None] - since)
    # integral of (t - u)^2 (t' - u)^2 / 4 du up to the earlier time
    return low**5 / 20.0 + apart * low**4 / 8.0 + apart**2 * low**3 / 12.0
