"""What an estimate leaves unexplained, channel by channel, and how its parameters' errors go
together.

Both are of the estimator's own equations, made again at its answer: poses that follow it, noise as
the recording shows it (:mod:`contactid.inhand.identify.likelihood`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from contactid.inhand.identify.joint import summed
from contactid.inhand.identify.kinematics import POSE
from contactid.inhand.identify.latent_errors import COMING, SHORT, Equations
from contactid.inhand.identify.likelihood import RecordingFit, pulled, told_covariance
from contactid.inhand.identify.linearised import Linearised
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH, wrench_covariance
from contactid.inhand.own.drift import AtAnswer
from contactid.inhand.own.prepare import OwnRecording

_BY_WEIGHT = 4  # parameters that still poses tell: mass and centre

Channel = tuple[np.ndarray, np.ndarray, str]


def residuals_and_covariance(
    recording: OwnRecording, fit: RecordingFit, there: AtAnswer | None
) -> tuple[xr.Dataset, np.ndarray]:
    """Residuals of a recording, and the covariance of its parameters, with calibration, drift and
    what the prior moved; ``there``: its equations at the answer, None of still poses.

    Returns
    -------
    residuals
        ``force`` (N) and ``torque`` (N m) sensed less what the answer's motion asks for, in B about
        its origin; ``position`` (m, in the world) and ``orientation`` (rad, in B) measured less the
        poses that follow the answer; all (frame, xyz), with ``units`` and ``noise`` (the median
        over the frames, of one coordinate) as attributes. Coordinates: ``time`` (s), ``stretch``.
        Still poses have the wrench alone.
    covariance
        (d, d) of the first d of :func:`.likelihood.told_parameters`: all ten about the centre, or
        of still poses mass and centre.
    """
    if there is None:
        return _of_still_poses(recording, fit)
    present, evidence = there.fitted.recording, there.evidence
    # measured less present
    left = -present.pose_errors()[present.rows]
    # white and correlated variances add up
    shown = present.stated * np.sqrt(_pose_levels(fit.levels).sum(axis=0))
    pose_noise = np.broadcast_to(shown, left.shape)
    wrench_noise = _wrench_noise(evidence.present, fit.levels)
    channels = _wrench_channels(np.concatenate(fit.residuals), wrench_noise) | {
        "position": (left[:, 3:], pose_noise[:, 3:], "m"),
        "orientation": (left[:, :3], pose_noise[:, :3], "rad"),
    }
    vector = fit.body.vector
    total = summed([evidence])
    calibrated = total.calibrated(vector) + pulled(fit.body, total.answer)
    told = told_covariance(calibrated, vector)[:PARAMETERS, :PARAMETERS]
    return _dataset(channels, fit), told


def _of_still_poses(recording: OwnRecording, fit: RecordingFit) -> tuple[xr.Dataset, np.ndarray]:
    stated = np.diagonal(wrench_covariance(recording.stretches[0]), axis1=1, axis2=2)
    # never less than stated
    noise = np.sqrt(np.maximum(fit.misfit, 1.0) * stated)
    by_fit = np.zeros((PARAMETERS, PARAMETERS))
    told = slice(0, _BY_WEIGHT)
    # of mass and first moment; the tensor isn't told
    by_fit[told, told] = np.linalg.inv(fit.models[0].information)[told, told]
    vector = fit.body.vector
    # a common factor of all forces is one of all parameters
    calibrated = by_fit + recording.gain_sd**2 * np.outer(vector, vector)
    channels = _wrench_channels(np.concatenate(fit.residuals), noise)
    return _dataset(channels, fit), told_covariance(calibrated, vector)[told, told]


def _pose_levels(levels: np.ndarray) -> np.ndarray:
    """(2, 6): white and correlated noise of a pose's coordinates, orientation first, over stated."""
    return np.array([np.repeat(levels[[2, 1]], 3), np.repeat(levels[[4, 3]], 3)])


def _wrench_noise(present: Linearised, levels: np.ndarray) -> np.ndarray:
    """(m, 6) N and N m: deviations of the wrenches by sensors, poses and unsensed forces."""
    equations = present.equations
    # (m, 6, poses, 6)
    by_pose = equations.by_pose.reshape(len(equations.rows), WRENCH, -1, POSE)
    white, slow = _pose_levels(levels)
    of_white = np.einsum("mwpc,c,mvpc->mwv", by_pose, white, by_pose)
    # the slow errors of neighbouring poses go together
    of_slow = np.einsum(
        "mwpc,c,mpq,mvqc->mwv", by_pose, slow, _correlation(equations), by_pose, optimize=True
    )
    unsensed = (
        levels[list(COMING)].sum() * equations.by_force @ np.swapaxes(equations.by_force, 1, 2)
    )
    # covariance of the whitened wrenches; the roots bring back N and N m
    white_units = levels[0] * np.eye(WRENCH) + of_white + of_slow + unsensed
    covariance = present.roots @ white_units @ np.swapaxes(present.roots, 1, 2)
    return np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))


def _correlation(equations: Equations) -> np.ndarray:
    """(m, p, p) of the slow errors of the p poses that an equation reaches."""
    reach = equations.by_pose.shape[2] // POSE // 2
    times = equations.time[equations.rows[:, None] + np.arange(-reach, reach + 1)]
    return np.exp(-np.abs(times[:, :, None] - times[:, None]) / SHORT)


def _wrench_channels(wrench: np.ndarray, noise: np.ndarray) -> dict[str, Channel]:
    return {
        "force": (wrench[:, :3], noise[:, :3], "N"),
        "torque": (wrench[:, 3:], noise[:, 3:], "N m"),
    }


def _dataset(channels: Mapping[str, Channel], fit: RecordingFit) -> xr.Dataset:
    lengths = [len(times) for times in fit.times]
    return xr.Dataset(
        {
            name: (("frame", "xyz"), values, {"units": unit, "noise": float(np.median(noise))})
            for name, (values, noise, unit) in channels.items()
        },
        coords={
            "xyz": list("xyz"),
            "time": ("frame", np.concatenate(fit.times), {"units": "s"}),
            "stretch": ("frame", np.repeat(np.arange(len(lengths)), lengths)),
        },
    )
