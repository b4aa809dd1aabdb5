"""What comes of following ``contactid estimate``'s advice, on twins: ``python
tests/helpers/own_advice.py`` writes workflow/resources/own_advice.csv, with names of cases these alone.

Each twin is recorded and estimated, moves as advised, is recorded again with other noise, and
estimated from both; and, as the naive answer, from as long a recording of the same kind of motion.
Twins are the study's (:data:`CASES`), and of another make: a body of forty point masses, whose
forces are the sum of their own accelerations, taken by differences of their places; other sensors,
rate and noise. Seeds are from 12000 on, where nothing was chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.spatial.transform import Rotation

from contactid.core.inertia import InertialParameters, geodesic_distance
from contactid.inhand.identify.advice import NAMES, advise, limits_of
from contactid.inhand.identify.averaging import averaged_stretches
from contactid.inhand.identify.joint import JointFit, fit_jointly
from contactid.inhand.identify.likelihood import (
    INTERVAL,
    TENSOR,
    RecordingFit,
    fit_recording,
    told_parameters,
)
from contactid.inhand.own.drift import AtAnswer, with_drift
from contactid.inhand.readers.disturbances import DISTURBANCES
from contactid.inhand.readers.recordings import RecordedSignals, recorded_signals, true_parameters
from contactid.inhand.readers.sources import BOXES
from contactid.inhand.readers.twins import simulate_recording, twin_options
from contactid.inhand.simulate.swing import Swing
from twins_for_tests import OBJECTS_FILE, ROOT, STUDY

TABLE = ROOT / "workflow/resources/own_advice.csv"
SEEDS, ANOTHER = range(12000, 12020), 1000  # of the second recording's noise, from the first's
Recorded = tuple[list[RecordedSignals], RecordingFit, AtAnswer]
GROUPS = {"mass": slice(0, 1), "center": slice(1, 4), "tensor": slice(4, 10)}
CASES = {
    "in hand, nothing unsensed that varies": ("in_hand_kinematic", "load share 0"),
    "in hand, tracked by vision": ("in_hand_vision", "load share 0"),
    "wrist sensor": ("wrist_ft", "none"),
    "a cable": ("in_hand_kinematic", "a cable carries 0.7 of the weight"),
    "forces 50 ms late": ("in_hand_kinematic", "forces lag by 50 ms"),
    "a preload that relaxes": ("in_hand_kinematic", "preload relaxes in 1 s"),
}
OTHER_MAKE = "another make"
# of the other make: rows a second, N, m, rad, N m, kg, s
RATE, FORCE_SD, POSITION_SD, ORIENTATION_SD, POINT_SD = 60.0, 0.04, 1e-4, 4e-4, 1e-3
MASSES, WHOLE, SECONDS = 40, 0.4, 2.5
SIZE = np.array([0.2, 0.12, 0.08])
POINTS = SIZE / 2 * np.array([[-1, 0.1, 0.3], [1, -0.2, 0.0], [0.2, 1, -0.4], [0.0, -1, 0.2]])
DIFFERENCE = 1e-4  # s


@dataclass(frozen=True)
class Twin:
    """The truth, and what is recorded: of a motion, or None for one of the case's kind; with a seed,
    for so many seconds, or None for as long as the case's first recordings.
    """

    truth: InertialParameters
    record: Callable[[Any, int, float | None], RecordedSignals]


def study_twin(source: str, kind: str, seed: int) -> Twin:
    """A box of the study, its forces disturbed as ``kind`` says."""
    settings, change = STUDY["twin"]["sources"][source], DISTURBANCES[kind]
    if not callable(change):
        settings = settings | {"residual": settings["residual"] | change}
    sources = STUDY["twin"]["sources"] | {source: settings}
    options = twin_options(STUDY["twin"] | {"sources": sources}, OBJECTS_FILE)
    residual, name = change if callable(change) else None, BOXES[seed % len(BOXES)]

    def simulated(motion: Any, noise: int, seconds: float | None) -> tuple[xr.Dataset, xr.Dataset]:
        samples = int(seconds / options["time_step"]) + 1 if seconds else options["samples"]
        longer = options | {"samples": samples}
        return simulate_recording(source, name, noise, longer, motion, residual)

    truth = true_parameters(simulated(None, seed, None)[1])
    return Twin(truth, lambda *given: recorded_signals(simulated(*given)[0]))


class Wandering:
    """A motion of the other make: displacements and a rotation vector, sums of three sines each."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng([seed, 1])
        self._pace = 2.0 * np.pi * random.uniform(0.4, 1.3, (6, 3))
        self._phase = random.uniform(0.0, 2.0 * np.pi, (6, 3))
        self._size = np.repeat([0.04, 0.2], 3)[:, None]

    def poses(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (n, 3, 3) and places (n, 3) m of the body's origin."""
        waves = (self._size * np.sin(self._pace * time[:, None, None] + self._phase)).sum(axis=2)
        return Rotation.from_rotvec(waves[:, 3:]).as_matrix(), waves[:, :3]


def poses_of(motion: Any, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of an advised motion, which stays still before and after it."""
    if isinstance(motion, Wandering):
        return motion.poses(time)
    path = motion.evaluate(np.clip(time, 0.0, motion.seconds))
    return Rotation.from_quat(path.orientation, scalar_first=True).as_matrix(), path.position


def other_twin(seed: int) -> Twin:
    """A body of point masses, heavier towards a corner."""
    random = np.random.default_rng([seed, 0])
    places = SIZE * random.uniform(-0.5, 0.5, (MASSES, 3))
    weights = np.exp(1.5 * (places / SIZE) @ random.normal(size=3))
    masses = WHOLE * weights / weights.sum()
    first = masses @ places
    second = np.einsum("k,ki,kj->ij", masses, places, places)
    inertia = np.trace(second) * np.eye(3) - second
    truth = InertialParameters(WHOLE, first / WHOLE, inertia)

    def record(motion: Any, noise: int, seconds: float | None) -> RecordedSignals:
        motion = motion or Wandering(noise)
        time = np.arange(0.0, seconds or SECONDS, 1.0 / RATE)
        sensors = np.random.default_rng([seed, noise, 2])
        before, now, after = (poses_of(motion, time + h) for h in (-DIFFERENCE, 0.0, DIFFERENCE))
        paths = [turned @ places.T + place[:, :, None] for turned, place in (before, now, after)]
        change = (paths[0] - 2.0 * paths[1] + paths[2]) / DIFFERENCE**2
        change[:, 2] += 9.81
        pulls = np.einsum("nij,nik,k->nkj", now[0], change, masses)
        wrench = np.hstack([pulls.sum(axis=1), np.cross(places, pulls).sum(axis=1)])
        arms = [np.vstack([np.eye(3), np.cross(point, np.eye(3)).T]) for point in POINTS]
        forces = (wrench @ np.linalg.pinv(np.hstack(arms)).T).reshape(len(time), len(POINTS), 3)
        forces -= 4.0 * POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
        forces += sensors.normal(0.0, 0.1, (len(POINTS), 3))  # N, the sensors' zeros
        forces += sensors.normal(0.0, FORCE_SD, forces.shape)
        tilted = Rotation.from_rotvec(sensors.normal(0.0, ORIENTATION_SD, (len(time), 3)))
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return RecordedSignals(
            time=time,
            rotations=now[0] @ tilted.as_matrix(),
            positions=now[1] + sensors.normal(0.0, POSITION_SD, now[1].shape),
            forces=forces,
            force_sd=np.full(forces.shape, FORCE_SD),
            points=POINTS + sensors.normal(0.0, POINT_SD, forces.shape),
            torques=None,
            gravity=9.81,
            position_sd=POSITION_SD,
            orientation_sd=ORIENTATION_SD,
            point_sd=POINT_SD,
            torque_sd=1e-3,
            hull=SIZE / 2 * corners,
        )

    return Twin(truth, record)


def followed_by(twin: Twin, seed: int) -> dict[str, np.ndarray]:
    """Predicted and actual errors of a twin that does as it is told, and the answers' distances."""

    def recorded(motion: Swing | None, noise: int, seconds: float | None) -> Recorded:
        stretches, _ = averaged_stretches(twin.record(motion, noise, seconds))
        fit, there = with_drift(stretches, fit_recording(stretches))
        return stretches, fit, there

    first = recorded(None, seed, None)
    stretches, fit, there = first
    advice = advise(limits_of(stretches), fit, there.fitted, there.evidence)
    row = advice.table.set_index("motion").loc[advice.advised]

    def with_another(motion: Swing | None) -> JointFit:
        both = (first, recorded(motion, seed + ANOTHER, row["seconds"]))
        every, fits, answers = zip(*both, strict=True)
        return fit_jointly(every, fits, [one.drift for one in answers])

    naive = with_another(None)
    joint = naive if advice.best is None else with_another(advice.best)
    truth = told_parameters(twin.truth.vector)
    off = told_parameters(joint.body.vector) - truth
    return {
        "same_advised": np.array(advice.best is None),
        "off": off[: len(NAMES)],
        "expected": row[[f"expected_{name}" for name in NAMES]].to_numpy(float),
        "stated_before": row[[f"stated_{name}" for name in NAMES]].to_numpy(float),
        "stated": joint.fit_errors[: len(NAMES)],
        "held": (np.abs(off) <= INTERVAL * joint.errors)[: len(NAMES)],
        "entries": np.array([np.count_nonzero(one.by_data[TENSOR]) for one in (fit, joint, naive)]),
        "distances": np.array(
            [
                geodesic_distance(one, twin.truth)
                for one in (fit.body, joint.body, naive.body, fit.uniform)
            ]
        ),
        "expected_distance": row["expected_distance"],
    }


def twins_of(case: str, seeds: Iterable[int]) -> list[dict[str, np.ndarray]]:
    """Twins of a case that do as they are told."""
    made = (
        (other_twin(seed) if case == OTHER_MAKE else study_twin(*CASES[case], seed), seed)
        for seed in seeds
    )
    return [followed_by(twin, seed) for twin, seed in made]


def measured(case: str, twins: Sequence[dict[str, np.ndarray]]) -> dict[str, Any]:
    """A row of the table: of all twins, predicted errors over actual ones and over stated ones."""
    of = {name: np.array([one[name] for one in twins]) for name in twins[0]}
    row: dict[str, Any] = {"case": case, "twins": len(twins)}
    row["advised_same"] = int(of["same_advised"].sum())
    for group, places in GROUPS.items():
        relative = of["off"][:, places] / of["expected"][:, places]
        row[f"expected_over_error_{group}"] = 1.0 / np.sqrt(np.mean(relative**2))
        ratios = of["stated_before"][:, places] / of["stated"][:, places]
        row[f"predicted_over_stated_{group}"] = np.median(ratios)
        row[f"held_{group}"] = of["held"][:, places].mean()
    stages = ("before", "after", "same_motion")
    entries = of["entries"].mean(axis=0)
    distances = np.sqrt(np.mean(of["distances"] ** 2, axis=0))
    row |= {f"entries_{name}": one for name, one in zip(stages, entries, strict=True)}
    row |= {
        f"distance_{name}": one for name, one in zip((*stages, "uniform"), distances, strict=True)
    }
    return row | {"distance_expected": np.sqrt(np.mean(of["expected_distance"] ** 2))}


if __name__ == "__main__":
    every = [*CASES, OTHER_MAKE]
    chosen = sys.argv[1:] or every
    rows = pd.DataFrame([measured(case, twins_of(case, SEEDS)) for case in chosen]).set_index(
        "case"
    )
    if TABLE.exists():
        kept = pd.read_csv(TABLE, index_col="case").drop(index=chosen, errors="ignore")
        rows = pd.concat([kept, rows])
    rows = rows.loc[[case for case in every if case in rows.index]]
    rows.to_csv(TABLE, float_format="%.4g", lineterminator="\n")
