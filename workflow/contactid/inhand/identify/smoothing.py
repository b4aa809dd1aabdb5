"""Motion of a recording by smoothing splines: where an estimate starts.

Poses are smoothed by quintic splines whose misfit is what the recording says the noise is; their
accelerations make the dynamics linear in the ten parameters (eqs. 8 and 9). Least squares on them
is biased by what the splines smooth away and by errors in the regressor, which is why it is a start
and not the estimate.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import UnivariateSpline

from contactid.core.rotations import as_rotation, continuous, from_matrices
from contactid.inhand.identify.kinematics import BodyMotion, quaternion_rate
from contactid.inhand.readers.recordings import RecordedSignals

WIDER = 2.5  # times the stated deviations of the poses, for the first smoothing


def smoothed_motion(
    signals: RecordedSignals, wider: float
) -> tuple[np.ndarray, np.ndarray, BodyMotion]:
    """Position (n, 3) m, orientation (n, 4) and what the body sees, at all n samples.

    By splines through positions and quaternion components, for ``wider`` times the stated
    deviations of the poses.
    """
    position, _, acceleration = _smoothed(
        signals.time, signals.positions, wider * signals.position_sd
    )
    quaternions = continuous(from_matrices(signals.rotations))
    # a quaternion's component moves by half the angle
    quaternion, first, second = _smoothed(
        signals.time, quaternions, 0.5 * wider * signals.orientation_sd
    )
    size = np.linalg.norm(quaternion, axis=1, keepdims=True)
    unit = quaternion / size
    # the parts along q of its derivatives are the spline's failure to stay on the sphere
    rate, change = quaternion_rate(unit, first / size), quaternion_rate(unit, second / size)
    force = as_rotation(unit).inv().apply(acceleration - np.array([0.0, 0.0, -signals.gravity]))
    return position, unit, BodyMotion.alone(rate, change, force)


def _smoothed(
    time: np.ndarray, values: np.ndarray, sd: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spline and its first two derivatives, (n, d) each."""
    weights = np.full(len(time), 1.0 / sd)
    # expected sum of squared whitened misfits: the number of samples
    splines = [UnivariateSpline(time, column, w=weights, k=5, s=len(time)) for column in values.T]
    each = [
        np.column_stack([spline.derivative(order)(time) for spline in splines]) for order in (1, 2)
    ]
    return np.column_stack([spline(time) for spline in splines]), each[0], each[1]
