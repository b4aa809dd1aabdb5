"""The baseline: Atkeson's linear least squares on filtered forces and differenced poses (in-hand
paper, section IV-B).

Forces and torques of the contacts go through a Savitzky-Golay filter; velocities and accelerations
are finite differences of the poses as recorded. The wrench is then linear in the ten parameters
(eqs. 6 and 7), and they are the least-squares solution with forces and torques in units of one
standard deviation each. Nothing keeps the answer physical.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters
from contactid.inhand.identify.identifiability import unidentifiable
from contactid.inhand.identify.kinematics import REACH, body_motion
from contactid.inhand.identify.methods import BASELINE, LEAST_SQUARES, Estimate, failed_estimate
from contactid.inhand.identify.wrench import PARAMETERS, regressor
from contactid.inhand.readers.recordings import RecordedSignals, recorded_signals

_RANK = 1e-10  # singular values below this share of the largest, after scaling, are rounding


def estimate_baseline(recording: xr.Dataset, block: Mapping[str, Any]) -> Estimate:
    """Inertial parameters by linear least squares, with ``inhand: baseline`` of the configuration.

    The standard errors take the residuals as independent, which filtered ones aren't: they are too
    small.

    Raises
    ------
    ContactIdError
        Where the recording is shorter than the filter's window.
    """
    begin = time.process_time()
    # forces alone are filtered: the paper's baseline differences the poses as they are
    signals = filtered(recorded_signals(recording), block["window"], block["degree"])
    amiss = unidentifiable(recording)
    if amiss:
        return failed_estimate(
            BASELINE, LEAST_SQUARES, "; ".join(amiss), time.process_time() - begin
        )
    motion = body_motion(
        signals.time, signals.rotations, signals.positions, signals.gravity, block["scheme"]
    )
    reach = REACH[block["scheme"]]
    vector, errors, cost, rank = _least_squares(regressor(motion), signals.wrench[reach:-reach])
    determined = rank == PARAMETERS
    return Estimate(
        method=BASELINE,
        solver=LEAST_SQUARES,
        converged=determined,
        parameters=InertialParameters.from_vector(vector),
        iterations=0,
        seconds=time.process_time() - begin,
        objective=cost,
        standard_errors=errors,
        message="" if determined else f"the motion determines {rank} of {PARAMETERS} parameters",
    )


def filtered(signals: RecordedSignals, window: int, degree: int) -> RecordedSignals:
    """The signals with smooth forces and torques; a window of 0 samples leaves them as they are."""
    if not window:
        return signals
    if signals.samples < window:
        raise ContactIdError(
            f"a recording of {signals.samples} samples is shorter than the filter's window of {window}",
            "Shorten baseline: window, or record more",
        )
    forces = scipy.signal.savgol_filter(signals.forces, window, degree, axis=0)
    torques = signals.torques
    if torques is not None:
        torques = scipy.signal.savgol_filter(torques, window, degree, axis=0)
    return replace(signals, forces=forces, torques=torques)


def _least_squares(
    rows: np.ndarray, wrench: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Vector (10,), its standard errors (10,), the cost and the rank, of rows (m, 6, 10) and
    wrenches (m, 6).

    Force and torque rows are weighted by their own residuals' spread after a first solution with
    equal weights.
    """
    # equal weights first, then each by the residuals' spread
    weight = np.ones(6)
    for _ in range(2):
        matrix = (rows * weight[:, None]).reshape(-1, PARAMETERS)
        right = (wrench * weight).ravel()
        # columns of unit length: mass, first moments and tensor have other units
        scale = 1.0 / np.maximum(np.linalg.norm(matrix, axis=0), np.finfo(float).tiny)
        scaled, _, rank, _ = np.linalg.lstsq(matrix * scale, right, rcond=_RANK)
        vector = scaled * scale
        residual = wrench - rows @ vector
        # one for the three forces and one for the three torques
        spread = np.repeat(np.sqrt(np.mean(residual.reshape(-1, 2, 3) ** 2, axis=(0, 2))), 3)
        # without noise the spread is rounding, which is no weight
        floor = 1e-9 * max(float(np.abs(wrench).max()), 1.0)
        weight = 1.0 / np.maximum(spread, floor)
    cost = 0.5 * float(np.sum((right - matrix @ vector) ** 2))
    errors = np.full(PARAMETERS, np.nan)
    if rank == PARAMETERS:
        scaled_matrix = matrix * scale
        errors = scale * np.sqrt(np.diag(np.linalg.inv(scaled_matrix.T @ scaled_matrix)))
    return vector, errors, cost, int(rank)
