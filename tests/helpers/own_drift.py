"""How often the errors of ``contactid estimate`` hold where a sensor's zero drifts: ``python
tests/helpers/own_drift.py`` writes workflow/resources/own_drift.csv.

Twins of another make than the study's: a body of forty point masses at a wrist's sensor, turned
slowly, the wrench by differences of the masses' own places. The force's zero drifts as
:data:`KINDS` says, and the torque's with it. Beside it the study's own twins, whose zero stays or
changes at once. Seeds are from 9000 on, where nothing was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from contactid.core.inertia import InertialParameters
from contactid.inhand.identify.averaging import averaged_stretches
from contactid.inhand.identify.likelihood import INTERVAL, fit_recording, told_parameters
from contactid.inhand.own.doubts import DRIFTS
from contactid.inhand.own.drift import with_drift
from contactid.inhand.own.poses import weight_and_zero
from contactid.inhand.readers.recordings import RecordedSignals
from own_advice import OTHER_MAKE, other_twin, study_twin
from twins_for_tests import ROOT

TABLE = ROOT / "workflow/resources/own_drift.csv"
SEEDS = range(9000, 9020)
RATE, MASSES, WHOLE = 100.0, 40, 1.2  # rows a second, point masses, kg
# N, N m, rad, m
FORCE_SD, TORQUE_SD, ORIENTATION_SD, POSITION_SD = 0.2, 0.015, 5e-4, 2e-4
LEVER = 0.05  # m, of the torque's drift over the force's
SIZE = np.array([0.12, 0.12, 0.3])
HULL = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.15, 0.25)])
DIFFERENCE = 1e-3  # s
GROUPS = {"mass": slice(0, 1), "center": slice(1, 4), "tensor": slice(4, 10)}

Drifting = Callable[[np.ndarray, np.random.Generator], np.ndarray]
Made = tuple[InertialParameters, RecordedSignals]


def steady(time: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A zero that stays."""
    return np.zeros((len(time), 3))


def walk(size: float) -> Drifting:
    """A walk at random, N from first to last."""

    def drift(time: np.ndarray, random: np.random.Generator) -> np.ndarray:
        return size / np.sqrt(len(time)) * random.normal(size=(len(time), 3)).cumsum(axis=0)

    return drift


def returning(size: float, span: float) -> Drifting:
    """A first-order process of some size (N) over a span (s)."""

    def drift(time: np.ndarray, random: np.random.Generator) -> np.ndarray:
        kept = np.exp(-(time[1] - time[0]) / span)
        fresh = np.sqrt(1.0 - kept**2) * random.normal(size=(len(time), 3))
        values = np.empty_like(fresh)
        values[0] = random.normal(size=3)
        for i in range(1, len(time)):
            values[i] = kept * values[i - 1] + fresh[i]
        return size * values

    return drift


def warming(size: float) -> Drifting:
    """A zero that settles with a third of the recording's length."""
    along = size * np.array([1.0, -0.5, 0.8])
    return lambda time, random: along * (1.0 - np.exp(-3.0 * time / time[-1]))[:, None]


SLOW, QUICKER = (0.03, 0.12), (0.1, 0.6)  # Hz
#: What drifts, s, and rad of either turn's size.
KINDS: dict[str, tuple[Drifting, float, float]] = {
    "none": (steady, 18.0, 0.4),
    "none, narrow turn": (steady, 18.0, 0.2),
    "walk of 0.1 N": (walk(0.1), 18.0, 0.4),
    "walk of 0.3 N": (walk(0.3), 18.0, 0.4),
    "walk of 0.3 N, narrow turn": (walk(0.3), 18.0, 0.2),
    "walk of 0.6 N in a minute": (walk(0.6), 60.0, 0.4),
    "0.2 N over 3 s": (returning(0.2, 3.0), 18.0, 0.4),
    "warms by 0.5 N": (warming(0.5), 18.0, 0.4),
    "warms by 0.5 N, quicker": (warming(0.5), 18.0, 0.4),
}
RELAXING = "in hand, a preload that relaxes"
#: Of the study, beside one of another make in hand.
TWINS = {
    "wrist, as in the study": ("wrist_ft", "load share 0.08, as in the twins"),
    "in hand, as in the study": ("in_hand_kinematic", "load share 0.08, as in the twins"),
    "in hand, tracked by vision": ("in_hand_vision", "load share 0.08, as in the twins"),
    "in hand, gains differ": ("in_hand_kinematic", "gains differ by 10 % per finger"),
    RELAXING: ("in_hand_kinematic", "preload relaxes in 1 s"),
}


def slow_wrist(kind: str, seed: int) -> Made:
    """The truth, and what the sensor at the wrist shows."""
    drift, seconds, turn = KINDS[kind]
    random = np.random.default_rng([seed, 0])
    places = SIZE * random.uniform(-0.5, 0.5, (MASSES, 3)) + [0.0, 0.0, 0.08]
    weights = np.exp(1.5 * (places / SIZE) @ random.normal(size=3))
    masses = WHOLE * weights / weights.sum()
    second = np.einsum("k,ki,kj->ij", masses, places, places)
    inertia = np.trace(second) * np.eye(3) - second
    truth = InertialParameters(WHOLE, masses @ places / WHOLE, inertia)
    paces = QUICKER if kind.endswith("quicker") else SLOW
    pace = 2.0 * np.pi * random.uniform(*paces, (6, 2))
    phase = random.uniform(0.0, 2.0 * np.pi, (6, 2))
    reach = np.repeat([0.1, turn], 3)[:, None] / np.sqrt(2.0)

    def poses(time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        waves = (reach * np.sin(pace * time[:, None, None] + phase)).sum(axis=2)
        return Rotation.from_rotvec(waves[:, 3:]).as_matrix(), waves[:, :3]

    time = np.arange(0.0, seconds, 1.0 / RATE)
    steps = [poses(time + h) for h in (-DIFFERENCE, 0.0, DIFFERENCE)]
    paths = [turned @ places.T + place[:, :, None] for turned, place in steps]
    change = (paths[0] - 2.0 * paths[1] + paths[2]) / DIFFERENCE**2
    change[:, 2] += 9.81
    rotations, positions = steps[1]
    pulls = np.einsum("nij,nik,k->nkj", rotations, change, masses)
    sensors, shape = np.random.default_rng([seed, 1]), (len(time), 3)
    moved, twisted = drift(time, sensors), LEVER * drift(time, sensors)
    forces = pulls.sum(axis=1) + sensors.normal(0.0, 2.0, 3) + moved
    torques = np.cross(places, pulls).sum(axis=1) + sensors.normal(0.0, 0.1, 3) + twisted
    forces += sensors.normal(0.0, FORCE_SD, shape)
    torques += sensors.normal(0.0, TORQUE_SD, shape)
    tilted = Rotation.from_rotvec(sensors.normal(0.0, ORIENTATION_SD, shape)).as_matrix()
    return truth, RecordedSignals(
        time=time,
        rotations=rotations @ tilted,
        positions=positions + sensors.normal(0.0, POSITION_SD, shape),
        forces=forces[:, None],
        force_sd=np.full((len(time), 1, 3), FORCE_SD),
        points=np.zeros((len(time), 1, 3)),
        torques=torques[:, None],
        gravity=9.81,
        position_sd=POSITION_SD,
        orientation_sd=ORIENTATION_SD,
        point_sd=5e-4,
        torque_sd=TORQUE_SD,
        hull=HULL,
    )


def made(case: str, seed: int) -> Made:
    """Of any case."""
    if case in KINDS:
        return slow_wrist(case, seed)
    twin = other_twin(seed) if case == OTHER_MAKE else study_twin(*TWINS[case], seed)
    return twin.truth, twin.record(None, seed, None)


def estimated(case: str, seed: int) -> dict[str, Any]:
    """An estimate without and with the drift, and its errors, calibration apart."""
    truth, signals = made(case, seed)
    stretches, _ = averaged_stretches(signals)
    steady = fit_recording(stretches, gain_sd=0.0)
    fit, there = with_drift(stretches, steady)
    row: dict[str, Any] = {"drift": there.drift}
    for name, one in (("without", steady), ("with", fit)):
        off = told_parameters(one.body.vector) - told_parameters(truth.vector)
        row |= {name: one.errors[:10], f"off_{name}": np.abs(off[:10])}
        row[f"mass_error_{name}"] = one.body.mass / truth.mass - 1.0
    linear = float(weight_and_zero(stretches[0])[0][0])
    return row | {"linear_error": linear / truth.mass - 1.0}


def measured(case: str, seeds: Iterable[int]) -> dict[str, Any]:
    """A row of the table."""
    every = [estimated(case, seed) for seed in seeds]
    of = {name: np.array([one[name] for one in every]) for name in every[0] if name != "drift"}
    zero = "stays"
    if case in KINDS and KINDS[case][0] is not steady:
        zero = "drifts"
    elif case == RELAXING:
        zero = "relaxes"
    row: dict[str, Any] = {"case": case, "zero": zero, "twins": len(every)}
    for group, places in GROUPS.items():
        for errors in ("without", "with"):
            within = of[f"off_{errors}"][:, places] <= INTERVAL * of[errors][:, places]
            row[f"held_{errors}_{group}"] = within.mean()
        row[f"growth_{group}"] = np.median(of["with"][:, places] / of["without"][:, places])
    drifts = [one["drift"] for one in every]
    return row | {
        "warned": np.mean([one.gain >= DRIFTS for one in drifts]),
        "drift_n": np.median([one.force for one in drifts]),
        "drift_nm": np.median([one.torque for one in drifts]),
        **{
            f"{name}_pct": 100.0 * np.median(np.abs(of[name]))
            for name in ("mass_error_without", "mass_error_with", "linear_error")
        },
    }


if __name__ == "__main__":
    cases = [*KINDS, *TWINS, OTHER_MAKE]
    rows = pd.DataFrame([measured(case, SEEDS) for case in cases])
    rows.to_csv(TABLE, index=False, float_format="%.4g", lineterminator="\n")
