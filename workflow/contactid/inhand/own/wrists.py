"""Real recordings of sensors at a robot's wrist: the mass from all rows and from few, beside a
linear fit, and how well one part of a recording predicts the wrench of the other.

No recording comes with a truth. What an estimate is held against is the linear fit of weight and
zero, which knows neither accelerations nor noise, and rows that it wasn't given.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.spatial.transform import Rotation

from contactid.inhand.identify.disturbance_models import inverse
from contactid.inhand.identify.drift import STEADY, Drift
from contactid.inhand.identify.likelihood import INTERVAL, RecordingFit
from contactid.inhand.identify.linearised import PLACES, UNKNOWNS, WORLD
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH
from contactid.inhand.own.estimate import estimate_own
from contactid.inhand.own.poses import still_wrench, weight_and_zero
from contactid.inhand.own.prepare import OwnRecording, read_own_recording, turning
from contactid.inhand.readers.recordings import RecordedSignals
from contactid.inhand.readers.wrist import recordings_of
from contactid.output.tables import write_exact
from contactid.sources.motion import read_dataset

#: Rows of a recording that count, one in so many.
THINNED = {"all rows": 1, "50/s": 20, "6.7/s": 150}
POSES = "poses"
# Neither laboratory states its payload's size: a box that holds either one's centre with room to
# spare. It counts where the data say little, which is the tensor alone.
_HULL = [[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.15, 0.25)]
# Nor their noise. The poses' are of a robot's joints; forces and torques are a sensor's of this
# size (residuals of linear fits: 0.2 to 0.3 N and 15 mN m); 1 % of calibration, as data sheets have
# it.
_NOISE = {
    "position_sd": 5e-4,
    "orientation_sd": 2e-3,
    "contact_position_sd": 5e-4,
    "force_sd": 0.2,
    "force_relative_sd": 0.0,
    "force_gain_sd": 0.01,
    "contact_torque_sd": 0.015,
}
_FOLDS = 10  # of poses; of the errors of a linear fit, blocks that are left out in turn
_TURNED_BY = 20  # rows, of which one tells how the sensor is turned against the hand


def write_wrists(data: Sequence[str], estimates: str, predictions: str) -> None:
    """Estimate every recording of datasets in the form of :mod:`contactid.inhand.readers.wrist`.

    ``estimates`` has a row per recording and rows that count: ``recording, rows, samples,
    turned_deg, mass_kg, mass_se_kg, linear_kg, linear_se_kg, center_mm`` (distance of the centre of
    mass from the sensor's origin) and ``seconds``. ``predictions`` has a row per recording and part
    that was left out, half of a motion or a tenth of the poses: ``recording, part, mass_kg,
    linear_kg``, and root mean squares over samples and axes of what is left of the part's wrench,
    ``force_n, torque_nm`` by the estimate from the rest, ``linear_force_n, linear_torque_nm`` by
    its linear fit. ``force_inside`` is the share of the part's force samples within the estimate's
    interval of 95 %, ``steady_force_inside`` the same as if nothing drifted.
    """
    rows: list[dict[str, Any]] = []
    predicted: list[dict[str, Any]] = []
    for file in data:
        wrist = read_dataset(file)
        for name, recorded in recordings_of(wrist).items():
            table = own_table(recorded, bool(wrist.attrs["aligned"]))
            labels = {"recording": name}
            still = "time" not in table
            thinned = {POSES: 1} if still else THINNED
            rows += [
                labels | {"rows": words} | _estimated(table[::every])
                for words, every in thinned.items()
            ]
            predicted += [
                labels | {"part": words} | _predicted(table[~left_out], table[left_out])
                for words, left_out in _parts(len(table), still)
            ]
    write_exact(pd.DataFrame(rows), estimates)
    write_exact(pd.DataFrame(predicted), predictions)


def own_table(recorded: xr.Dataset, aligned: bool) -> pd.DataFrame:
    """A recording as :mod:`contactid.inhand.own.files` has it, the body frame in the sensor's axes.

    A sensor that is turned against the hand is turned back first, as its force follows the
    vertical.
    """
    to_world = Rotation.from_quat(recorded["orientation"].values, scalar_first=True)
    wrench = recorded["wrench"].values
    if not aligned:
        vertical = to_world.as_matrix()[:, 2]
        turn = sensor_turn(vertical[::_TURNED_BY], wrench[::_TURNED_BY, :3])
        # sensor to hand, then hand to world
        to_world = to_world * Rotation.from_matrix(turn.T)
    parts = {
        "object_position_": ("xyz", recorded["position"].values),
        "object_orientation_": ("wxyz", to_world.as_quat(scalar_first=True)),
        "contact_force_wrist_": ("xyz", wrench[:, :3]),
        "contact_torque_wrist_": ("xyz", wrench[:, 3:]),
        # the wrench is about the sensor's origin, which is B's
        "contact_position_wrist_": ("xyz", np.zeros((len(wrench), 3))),
    }
    table = pd.DataFrame(
        {
            prefix + axis: values[:, k]
            for prefix, (axes, values) in parts.items()
            for k, axis in enumerate(axes)
        }
    )
    if np.isfinite(recorded["time"]).all():
        table.insert(0, "time", recorded["time"].values)
    return table


def sensor_turn(vertical: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Rotation (3, 3) from the hand's axes to the sensor's, of unit verticals (n, 3) in the former
    and forces (n, 3) in the latter.

    A force is the weight along the turned vertical, and a constant: the nearest rotation to the
    slope (Kabsch 1976).
    """
    # (n, 4): vertical and constant
    columns = np.column_stack([vertical, np.ones(len(vertical))])
    slope = np.linalg.lstsq(columns, force, rcond=None)[0][:3].T
    left, _, right = np.linalg.svd(slope)
    # determinant 1: a rotation and no mirror
    return np.asarray(left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right)


def _read(table: pd.DataFrame) -> OwnRecording:
    return read_own_recording(table.reset_index(drop=True), np.array(_HULL), _NOISE)


def _estimated(table: pd.DataFrame) -> dict[str, Any]:
    begin = time.process_time()
    recording = _read(table)
    fit = estimate_own(recording).fit
    seconds = time.process_time() - begin
    linear, error = linear_mass(recording.stretches)
    return {
        "samples": recording.rows,
        "turned_deg": np.degrees(turning(recording)),
        "mass_kg": fit.body.mass,
        "mass_se_kg": fit.errors[0],
        "linear_kg": linear,
        "linear_se_kg": error,
        "center_mm": 1e3 * np.linalg.norm(fit.body.center_of_mass),
        "seconds": seconds,
    }


def linear_mass(stretches: Sequence[RecordedSignals]) -> tuple[float, float]:
    """Mass (kg) of the linear fit of weight and zero to the longest stretch, and its standard error.

    Residuals go together over seconds, so errors are a jackknife's over blocks of neighbours.
    """
    signals = _longest(stretches)
    block = np.arange(signals.samples) * _FOLDS // signals.samples
    every = [
        weight_and_zero(_some(signals, block != left_out))[0][0] for left_out in np.unique(block)
    ]
    spread = np.sum((every - np.mean(every)) ** 2)
    error = float(np.sqrt((len(every) - 1) / len(every) * spread))
    return float(weight_and_zero(signals)[0][0]), error


def _longest(stretches: Sequence[RecordedSignals]) -> RecordedSignals:
    return max(stretches, key=lambda one: one.samples)


def _some(signals: RecordedSignals, kept: np.ndarray) -> RecordedSignals:
    """The samples that are kept (n,)."""
    series = ("time", "rotations", "positions", "forces", "force_sd", "points", "torques", "blur")
    some: dict[str, Any] = {
        name: values[kept] for name in series if (values := getattr(signals, name)) is not None
    }
    return replace(signals, **some)


def _parts(count: int, still: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Words and (n,) rows of what is left out."""
    row = np.arange(count)
    if not still:
        yield "first half", row < count // 2
        yield "second half", row >= count // 2
        return
    folds = min(_FOLDS, count)
    for fold in range(folds):
        yield f"{fold + 1} of {folds}", row % folds == fold


def _predicted(given: pd.DataFrame, left_out: pd.DataFrame) -> dict[str, Any]:
    recording = _read(given)
    own = estimate_own(recording)
    linear = weight_and_zero(_longest(recording.stretches))[0]
    signals = _longest(_read(left_out).stretches)
    by_answer, there = _still_columns(signals), own.at_answer
    drift, steady = (STEADY, own.fit) if there is None else (there.drift, there.steady)
    wrenches = {
        "": by_answer @ own.fit.answer,
        "linear_": still_wrench(signals, linear),
    }
    found: dict[str, Any] = {"mass_kg": own.fit.body.mass, "linear_kg": linear[0]}
    for prefix, wrench in wrenches.items():
        rest = signals.wrench - wrench
        found[f"{prefix}force_n"] = np.sqrt(np.mean(rest[:, :3] ** 2))
        found[f"{prefix}torque_nm"] = np.sqrt(np.mean(rest[:, 3:] ** 2))
    after = bool(left_out.index[0] > given.index[0])
    walked = _walked(drift, recording.stretches, signals, after) if drift.walks else 0.0
    for prefix, fit, walk in (("", own.fit, walked), ("steady_", steady, 0.0)):
        off = np.abs(signals.wrench - by_answer @ fit.answer)
        inside = off <= INTERVAL * np.sqrt(_variances(by_answer, fit) + walk)
        found[f"{prefix}force_inside"] = inside[:, :3].mean()
    return found


def _still_columns(signals: RecordedSignals) -> np.ndarray:
    """(n, 6, p) sensed wrench without accelerations, as for the linear fit beside, by all unknowns
    of an estimate.
    """
    columns = np.zeros((*signals.wrench.shape, UNKNOWNS))
    places = np.concatenate([np.arange(4), np.arange(PARAMETERS, PARAMETERS + WRENCH)])
    units = np.eye(len(places))
    columns[:, :, places] = np.stack([still_wrench(signals, one) for one in units], axis=2)
    # of the disturbances one acts on a still object, too: a force that is fixed in the world, whose
    # torque isn't counted
    columns[:, :3, PLACES[WORLD]] = -signals.to_body(signals.rotations)
    return columns


def _walked(
    drift: Drift, given: Sequence[RecordedSignals], signals: RecordedSignals, after: bool
) -> np.ndarray:
    """(n, 6) N2 and N2 m2, variances of a walk at samples after the given part, or before it, about
    its mean over that part; what is left of the given part itself has a sixth of it already.
    """
    time = signals.time - signals.time[0]
    begin, end = given[0].time[0], given[-1].time[-1]
    # from the nearer end of the given part, in its lengths
    away = (time if after else time[-1] - time) / (end - begin)
    # the end of a walk is a third of its variance off its mean, and a sample of it a sixth
    return np.outer(1.0 / 3.0 - 1.0 / 6.0 + away, np.repeat([drift.force, drift.torque], 3) ** 2)


def _variances(by_answer: np.ndarray, fit: RecordingFit) -> np.ndarray:
    """(n, 6) N2 and N2 m2, of predictions by columns (n, 6, p): the answer's own, calibration
    apart, which moves predictions and sensors alike; what the prior moved; and what is left.
    """
    model = fit.models[0]
    covariance = inverse(model.information)
    columns = by_answer[:, :, model.columns]
    of_answer = np.einsum("nwi,ij,nwj->nw", columns, covariance, columns)
    pulled = by_answer[:, :, :PARAMETERS] @ (fit.body.vector - model.answer[:PARAMETERS])
    left = np.mean(np.concatenate(fit.residuals) ** 2, axis=0)
    return np.asarray(of_answer + pulled**2 + left)
