"""Where the graph's iteration starts: a plain physical guess, from the recorded forces and contact points alone."""

from __future__ import annotations

import numpy as np

from contactid.core.inertia import InertialParameters, PrincipalForm
from contactid.inhand.recording_arrays import RecordedSignals

_LEAST_EXTENT = 0.1  # m, where the contact points don't say how large the object is


def plain_start(signals: RecordedSignals) -> InertialParameters:
    """A uniform box that carries the mean net force against gravity, spanning the contact points' range in B.

    The mean is taken in W: over a motion that comes and goes, accelerations average out and gravity stays.
    """
    net = np.einsum("kij,kj->ki", signals.rotations, signals.forces.sum(axis=1))
    mass = max(float(net[:, 2].mean()) / signals.gravity, 1e-3)
    touching = signals.points.reshape(-1, 3)
    extent = np.maximum(np.median(signals.points.max(axis=1) - signals.points.min(axis=1), axis=0), _LEAST_EXTENT)
    # different moments keep the principal axes defined where the contact points span equal ranges
    moments = mass * extent**2 / 12.0 * np.array([0.8, 1.0, 1.2])
    return PrincipalForm(mass, np.median(touching, axis=0), moments, np.eye(3)).parameters()
