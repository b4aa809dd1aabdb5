"""Errors of the forces' calibration: of all forces alike, of each contact's, of a sensor's channels.

A factor that all forces have in common is another mass at every motion: no recording shows it. Of
several contacts each one's own factor is off by the stated deviation, too. A single sensor's
channels differ among themselves: each has a gain of its own and takes up some of the others
(crosstalk). Those contradict weight and accelerations, so the channels' spread is what the recording
shows of it (restricted maximum likelihood), at most what is stated, and the gains that it shows are
taken off. What is left counts, also where no motion shows it: factors of force and torque make
another centre of mass. A sensor whose channels agree widens nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from contactid.core.rotations import skew
from contactid.inhand.identify.disturbance_models import Model, inverse
from contactid.inhand.identify.drift import likeliest_variances
from contactid.inhand.identify.latent_errors import LatentErrors
from contactid.inhand.identify.linearised import LEVER, Linearised, PresentRecording, shifted

# of a channel by another of its kind, over its own gain's error: data sheets have 1 to 2 % beside
# gains that are right to 2 to 5 %
_CROSSTALK = 0.35
# of three channels by three that they take up, those of a channel by itself
_OWN_GAINS = [0, 4, 8]
_OWN_SHARE = 2.0 / 3.0  # of three independent gains' variance, without that of their mean
_SEEN = 1e-8  # relative information on a gain, below which it is rounding


@dataclass(frozen=True, eq=False)
class Gains:
    """Errors of calibration that count.

    Attributes
    ----------
    scores : (q, c) what an error of each gain, of one deviation, adds to the score of a model's q
        unknowns
    common_sd : relative deviation of a factor that all forces have in common
    """

    scores: np.ndarray
    common_sd: float

    def times(self, share: float) -> Gains:
        """Of a recording of the same motion that is longer by a factor."""
        return replace(self, scores=share * self.scores)


def calibration_covariance(by_gain: np.ndarray, common_sd: float, vector: np.ndarray) -> np.ndarray:
    """(d, d) of parameters (d,) that every gain moves by ``by_gain`` (d, c)."""
    # a factor of all forces is one of all parameters
    return by_gain @ by_gain.T + common_sd**2 * np.outer(vector, vector)


def without_gains(
    recording: PresentRecording,
    present: Linearised,
    errors: LatentErrors,
    model: Model,
    gain_sd: float,
) -> tuple[Model, Gains]:
    """A model whose answer has the gains taken off that the recording shows, and those that remain.

    Of equations and their errors. ``gain_sd`` is the stated deviation, of a contact or a channel.
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
        # the sensed forces' noise would feign gains below one, so none is taken off
        return model, Gains(gain_sd * scores, gain_sd)
    by_gain = inverse(model.information) @ scores
    # what the unknowns of the answer don't take up
    information = of_gains - scores.T @ by_gain
    score = products[size + 1 :, size]
    values, axes = np.linalg.eigh(information)
    # others are lost to rounding; one spread for all, so any axes will do
    seen = values > _SEEN * values[-1]
    shown = np.diag(values[seen]), axes[:, seen].T @ score
    (variance,) = likeliest_variances(*shown, np.zeros(len(values[seen]), dtype=int))
    # what goes on over seconds may look like it, so no more than is stated
    variance = min(variance, gain_sd**2)
    # normal gains of that spread, given the recording: their means, and what is left of each
    kept = variance / (1.0 + variance * np.maximum(values, 0.0))
    means = (axes * kept) @ (axes.T @ score)
    answer = model.answer.copy()
    answer[model.columns] -= by_gain @ means
    # a channel is off by what is stated in all: what differs among three isn't in common
    common_sd = np.sqrt(gain_sd**2 - _OWN_SHARE * variance)
    remaining = scores @ (axes * np.sqrt(kept))
    return replace(model, answer=answer), Gains(remaining, float(common_sd))


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
    # what the three gains have in common is the factor of all forces, which is counted beside
    by_force[:, :, _OWN_GAINS] -= by_force[:, :, _OWN_GAINS].mean(axis=2, keepdims=True)
    columns = [np.concatenate([by_force, point @ by_force], axis=1)]
    if signals.torques is not None:
        # about the contact
        torque = (expected[:, 3:] - point @ expected[:, :3])[..., 0]
        # a torque's channel takes up forces at a lever
        lever = LEVER * float(np.ptp(signals.hull, axis=0).max())
        of_torque = (errors(spread, torque), errors(np.full((3, 3), _CROSSTALK * lever), force))
        columns += [np.concatenate([np.zeros_like(one), one], axis=1) for one in of_torque]
    return np.concatenate(columns, axis=2)
