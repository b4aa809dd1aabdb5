"""The wrench that the contacts exert on the object, as measured, with its covariance: forces and points eliminated.

In the estimation as the paper draws it (figure 3) the forces ``f_c`` and the contact points ``r_c`` of every sample are
unknown, each with its own measurement. They occur in that sample's Newton-Euler equations (eqs. 8 and 9) only, through
``[sum f_c; sum (r_c x f_c + tau_c)]``, so they can be minimised out sample by sample. To first order about the measured
values the minimum over them, given the wrench W that the motion asks for, is ``1/2 (W - W_m)^T S^-1 (W - W_m)`` with

``S = sum_c [Id; [r_c]x] S_f,c [Id; [r_c]x]^T + [0; [f_c]x] S_r,c [0; [f_c]x]^T + [0; Id] S_tau,c [0; Id]^T``.

Exact where the points or the forces are known exactly. Otherwise the torque's product of both errors, ``dr x df``, is
left out: smaller than what is kept by the ratio of a contact point's error to its lever arm. The optimum is that of the
full problem to second order in the errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.inhand.information import wrench_covariance
from contactid.inhand.recording_arrays import recorded_signals


@dataclass(frozen=True)
class NoiseFloors:
    """Least standard deviations; a recording that states none would otherwise have infinite weights.

    Attributes
    ----------
    position : m
    orientation : rad
    force, torque : N and N m, of the contacts' wrench
    """

    position: float = 1e-6
    orientation: float = 1e-6
    force: float = 1e-5
    torque: float = 1e-6


@dataclass(frozen=True)
class MeasuredWrench:
    """Sum of all contacts in B about B's origin.

    Attributes
    ----------
    value : (n, 6) force in N, then torque in N m
    covariance : (n, 6, 6)
    """

    value: np.ndarray
    covariance: np.ndarray

    @property
    def factors(self) -> np.ndarray:
        """(n, 6, 6) lower triangular L with ``L L^T`` the covariance."""
        return np.linalg.cholesky(self.covariance)


def measured_wrench(recording: xr.Dataset, floors: NoiseFloors | None = None) -> MeasuredWrench:
    """Sum the contacts' forces, torques and covariances; sensors' errors are taken as independent."""
    floors = floors or NoiseFloors()
    signals = recorded_signals(recording)
    stated = recording.attrs
    covariance = wrench_covariance(
        signals, float(stated.get("contact_position_sd", 0.0)), float(stated.get("contact_torque_sd", 0.0))
    )
    return MeasuredWrench(signals.wrench, covariance + np.diag(np.repeat([floors.force, floors.torque], 3) ** 2))
