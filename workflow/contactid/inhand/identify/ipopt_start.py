"""What the constrained estimation is given: the measured motion and wrench, and where it starts.

Poses are smoothed by quintic splines whose misfit is what the recording says the noise is; their accelerations make
the dynamics linear in the ten parameters (eqs. 8 and 9). Weighted linear least squares on them is biased by what the
splines smooth away and by errors in the regressor, which is why it is a start and not the estimate. Projected onto the
consistent set, it is a point where every parametrisation of the model is defined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from scipy.interpolate import UnivariateSpline

from contactid.core.inertia import InertialParameters, PrincipalForm, hull_halfspaces
from contactid.core.rotations import as_rotation, continuous
from contactid.inhand.identify.kinematics import BodyMotion, quaternion_rate
from contactid.inhand.identify.wrench import bias_columns, regressor, wrench_covariance
from contactid.inhand.models.inertia import MeasuredMotion
from contactid.inhand.readers.recordings import recorded_signals

# Least standard deviations; a recording that states none would otherwise have infinite weights.
POSITION_FLOOR, ORIENTATION_FLOOR = 1e-6, 1e-6  # m and rad
FORCE_FLOOR, TORQUE_FLOOR = 1e-5, 1e-6  # N and N m, of the contacts' wrench
_LEAST_SHARE = 1e-2  # of the largest second moment, for the others of a start


def measured_motion(recording: xr.Dataset, residual: Mapping[str, Any]) -> MeasuredMotion:
    """What the program needs of a recording: the contacts' forces, torques and covariances are summed up.

    Sensors' errors are taken as independent. ``residual`` is the block of ``inhand: ipopt``.
    """
    signals = recorded_signals(recording)
    columns, deviations = bias_columns(signals, recording.attrs["source"], residual)
    return MeasuredMotion(
        time=signals.time,
        position=signals.positions,
        orientation=recording["object_orientation"].values,
        position_sd=max(signals.position_sd, POSITION_FLOOR),
        orientation_sd=max(signals.orientation_sd, ORIENTATION_FLOOR),
        wrench=signals.wrench,
        covariance=wrench_covariance(signals) + np.diag(np.repeat([FORCE_FLOOR, TORQUE_FLOOR], 3) ** 2),
        gravity=signals.gravity,
        bias_columns=columns,
        bias_sd=deviations,
    )


def smoothed_motion(motion: MeasuredMotion) -> tuple[np.ndarray, np.ndarray, BodyMotion]:
    """Position (n, 3) m, orientation (n, 4) and what the body sees, at all n samples.

    By quintic smoothing splines through positions and quaternion components.
    """
    position, _, acceleration = _smoothed(motion.time, motion.position, motion.position_sd)
    quaternion, first, second = _smoothed(motion.time, continuous(motion.orientation), 0.5 * motion.orientation_sd)
    size = np.linalg.norm(quaternion, axis=1, keepdims=True)
    unit = quaternion / size
    # the parts along q of its derivatives are the spline's failure to stay on the sphere
    rate, change = quaternion_rate(unit, first / size), quaternion_rate(unit, second / size)
    force = as_rotation(unit).inv().apply(acceleration - np.array([0.0, 0.0, -motion.gravity]))
    return position, unit, BodyMotion.alone(rate, change, force)


def _smoothed(time: np.ndarray, values: np.ndarray, sd: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spline and its first two derivatives, (n, d) each."""
    weights = np.full(len(time), 1.0 / sd)
    splines = [UnivariateSpline(time, column, w=weights, k=5, s=len(time)) for column in values.T]
    each = [np.column_stack([spline.derivative(order)(time) for spline in splines]) for order in (1, 2)]
    return np.column_stack([spline(time) for spline in splines]), each[0], each[1]


def linear_start(seen: BodyMotion, measured: MeasuredMotion) -> InertialParameters:
    """Weighted linear least squares of the measured wrenches on the smoothed motion; may be unphysical."""
    rows = np.concatenate([regressor(seen), measured.wrench[..., None]], axis=-1)
    whitened = np.linalg.solve(measured.factors, rows).reshape(-1, 11)
    scale = np.linalg.norm(whitened[:, :10], axis=0)
    scale[scale == 0.0] = 1.0
    answer = np.linalg.lstsq(whitened[:, :10] / scale, whitened[:, 10], rcond=None)[0]
    return InertialParameters.from_vector(answer / scale)


def projected(parameters: InertialParameters, size: float, hull_vertices: np.ndarray) -> InertialParameters:
    """A body near ``parameters`` that can exist, with its centre of mass strictly within the hull.

    Parameters
    ----------
    size
        Extent of the object, m; second moments are kept between 1e-4 and 1 times ``m size^2``.
    """
    mass = parameters.mass if np.isfinite(parameters.mass) and parameters.mass > 1e-3 else 1e-1
    center = parameters.center_of_mass
    if not np.all(np.isfinite(center)):
        center = np.zeros(3)
    center = _pulled_inside(center, hull_vertices)
    form = parameters.principal_form if np.all(np.isfinite(parameters.vector)) else None
    if form is None:
        moments, axes = np.full(3, 0.05 * mass * size**2), np.eye(3)
    else:
        unit = mass * size**2
        moments = np.clip(form.second_moments, 1e-4 * unit, unit)
        moments, axes = np.maximum(moments, _LEAST_SHARE * moments.max()), form.rotation
    return PrincipalForm(mass, center, moments, axes).parameters()


def _pulled_inside(point: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """The point moved towards the vertices' mean until it is inside by a twentieth of the way to each face."""
    normals, offsets = hull_halfspaces(vertices)
    middle = vertices.mean(axis=0)
    room = offsets - normals @ middle
    reach = np.max(normals @ (point - middle) / room, initial=0.0)
    return middle + (point - middle) * min(1.0, 0.95 / reach) if reach > 0.0 else point
