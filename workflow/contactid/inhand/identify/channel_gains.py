"""Errors of the forces' calibration beside a factor that all forces have in common.

Of several contacts each one's factor is off by the stated deviation. A single sensor's channels
differ among themselves, too: each has a gain of its own and takes up some of the others (crosstalk).
Factors of force and torque make another centre of mass, at every motion alike. Others are seen, for
they contradict weight and accelerations. So the channels' spread is what the recording shows of
those (restricted maximum likelihood), at most what is stated, and counts for the unseen ones as
well: a sensor whose channels agree widens nothing.
"""

from __future__ import annotations

import numpy as np

from contactid.core.rotations import skew
from contactid.inhand.identify.disturbance_models import Model
from contactid.inhand.identify.drift import likeliest_variances
from contactid.inhand.identify.latent_errors import LatentErrors
from contactid.inhand.identify.linearised import LEVER, Linearised, PresentRecording, shifted

# of a channel by another of its kind, over its own gain's error: data sheets have 1 to 2 % beside
# gains that are right to 2 to 5 %
_CROSSTALK = 0.35
_SEEN = 1e-8  # relative information on a gain, below which it is rounding


def gain_scores(
    recording: PresentRecording,
    present: Linearised,
    errors: LatentErrors,
    model: Model,
    gain_sd: float,
) -> np.ndarray:
    """(q, c): what an error of each gain, of one deviation, adds to the score of a model's q
    unknowns; of equations and their errors. ``gain_sd`` is a contact's.
    """
    slope = present.equations.slope[:, :, model.columns]
    expected = present.equations.slope @ model.answer
    residual = present.equations.value - expected
    alone = recording.signals.forces.shape[1] == 1
    each = (
        _channels(recording, present.roots @ expected[..., None]) if alone else _contacts(recording)
    )
    white = np.linalg.solve(present.roots, each)
    products = errors.inner(np.concatenate([slope, residual[..., None], white], axis=2))
    size = slope.shape[2]
    scores, of_gains = products[:size, size + 1 :], products[size + 1 :, size + 1 :]
    if not alone:
        return gain_sd * scores
    # what the unknowns of the answer don't take up
    scale = np.sqrt(np.diag(model.information))
    scaled = scores / scale[:, None]
    correlation = model.information / np.outer(scale, scale)
    values, axes = np.linalg.eigh(of_gains - scaled.T @ np.linalg.solve(correlation, scaled))
    # others are lost to rounding; one spread for all, so any axes will do
    seen = values > _SEEN * values[-1]
    information, score = np.diag(values[seen]), axes[:, seen].T @ products[size + 1 :, size]
    one_spread = np.zeros(len(information), dtype=int)
    (variance,) = likeliest_variances(information, score, one_spread)
    # what goes on over seconds may look like it, so no more than is stated
    return min(float(np.sqrt(variance)), gain_sd) * scores


def _contacts(recording: PresentRecording) -> np.ndarray:
    """(m, 6, c) sensed wrench of every contact: what its factor multiplies."""
    signals, _ = shifted(recording)
    rows = recording.rows
    forces = signals.forces[rows]
    each = np.concatenate([forces, np.cross(signals.points[rows], forces)], axis=2)
    if signals.torques is not None:
        each[..., 3:] += signals.torques[rows]
    return np.moveaxis(each, 1, 2)


def _channels(recording: PresentRecording, expected: np.ndarray) -> np.ndarray:
    """(m, 6, k) wrench by an error of every channel's gain and of every crosstalk, of the only
    contact; of the wrench (m, 6, 1) that the motion asks for. The sensed one has noise, which an
    error towards zero would seem to lessen.
    """
    signals, rows = recording.signals, recording.rows
    point = skew(signals.points[rows, 0])
    force = expected[:, :3, 0]
    # of a channel by each of its own kind: (3, 3)
    spread = np.where(np.eye(3, dtype=bool), 1.0, _CROSSTALK)

    def errors(sizes: np.ndarray, taken: np.ndarray) -> np.ndarray:
        # (m, 3, 9): channel i by what it takes of j
        return np.einsum("ij,mj,ki->mkij", sizes, taken, np.eye(3)).reshape(len(rows), 3, 9)

    by_force = errors(spread, force)
    columns = [np.concatenate([by_force, point @ by_force], axis=1)]
    if signals.torques is not None:
        # about the contact
        torque = (expected[:, 3:] - point @ expected[:, :3])[..., 0]
        # a torque's channel takes up forces at a lever
        lever = LEVER * float(np.ptp(signals.hull, axis=0).max())
        of_torque = (errors(spread, torque), errors(np.full((3, 3), _CROSSTALK * lever), force))
        columns += [np.concatenate([np.zeros_like(one), one], axis=1) for one in of_torque]
    return np.concatenate(columns, axis=2)
