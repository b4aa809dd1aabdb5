"""Prepared tosses as a problem for the simulator: body, start states, measured poses, stepping, by
variant of the study.

A variant says how a toss starts, how it is stepped, and whether the body is calibrated first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.output.fits import read_json
from contactid.sources.motion import BodyProperties, body_of, iterate_recordings, read_dataset
from contactid.tossing.prepare.calibration import Calibration
from contactid.tossing.prepare.flight import central_difference_state, fit_flight
from contactid.tossing.simulate.batch import RestPoses, Runs, rest_poses
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, Trajectory, simulate
from contactid.tossing.simulate.sweep import MeasuredToss


@dataclass(frozen=True)
class PreparedToss:
    """A usable toss: what to compare with, and what is known of its rest."""

    toss: MeasuredToss  # start state and poses from release to rest
    # rest_position, rest_orientation: (3,) m and (4,), the measured rest pose in C
    rest_position: np.ndarray
    rest_orientation: np.ndarray
    tumbled: bool  # it changed its upper face
    gravity: np.ndarray  # (3,) m/s2 in C
    # (12, 12) of the start by :class:`contactid.tossing.prepare.flight.FlightFit`; a difference is
    # noisier
    covariance: np.ndarray


def usable_tosses(
    prepared: xr.Dataset,
    *,
    start: str,
    split: str | None = None,
    body: BodyProperties | None = None,
) -> list[PreparedToss]:
    """All usable tosses of a prepared dataset, or of one part of it.

    Parameters
    ----------
    prepared : from :func:`contactid.tossing.prepare.preprocess.preprocess`
    start : ``central_difference`` (the paper) or ``flight_fit``
    split : ``identification`` or ``test``; both by default
    body : for the flight fit; the dataset's own by default

    Raises :class:`ContactIdError` where no toss is left.
    """
    body, time_step = body or body_of(prepared), 1.0 / prepared.attrs["sample_frequency"]
    tosses = []
    for name, samples in iterate_recordings(prepared):
        if str(samples["reason"].values) or split not in (None, str(samples["split"].values)):
            continue
        first, rest = _first_sample(samples), int(samples["rest"])
        position, orientation = samples["position"].values, samples["orientation"].values
        # behind the contact it is no free flight
        flight = slice(first, int(samples["contact"]))
        fitted = fit_flight(
            body, position[flight], orientation[flight], time_step, samples["gravity"].values
        )
        toss = MeasuredToss(
            name=name,
            start=fitted.state
            if start == "flight_fit"
            else central_difference_state(position, orientation, first, time_step),
            position=position[first : rest + 1],
            orientation=orientation[first : rest + 1],
            surface_velocity=samples["surface_velocity"].values.astype(float),
        )
        resting = samples["rest_position"].values, samples["rest_orientation"].values
        tosses.append(
            PreparedToss(
                toss,
                *resting,
                bool(samples["tumbled"]),
                samples["gravity"].values,
                fitted.covariance,
            )
        )
    if not tosses:
        part = f"the {split} part of " if split else ""
        raise ContactIdError(
            f"{part}{prepared.attrs['source']} has no usable toss",
            "Look at the reasons in tosses.csv",
        )
    return tosses


def _first_sample(samples: xr.Dataset) -> int:
    return max(int(samples["release"]), 1)  # eq. 12 needs a sample before the release


@dataclass(frozen=True)
class Variant:
    """One row of the ``variants`` list of the configuration."""

    name: str  # used in file names and in the column ``scheme``
    start: str  # ``central_difference`` (the paper) or ``flight_fit``
    substeps: int  # simulation steps per sample; 1 in the paper
    # of impacts, ``newton`` (the paper's) or ``incremental``; see :class:`SteppingOptions`
    law: str
    # ``newton`` (converged) or ``prox`` (the paper's fixed point with the authors' r and tolerance)
    solver: str
    refine: bool  # refine the grid's optimum continuously
    calibrated: bool  # calibrate scale, centre of mass and inertia first

    @classmethod
    def from_config(cls, block: Mapping[str, Any]) -> Variant:
        """From a validated block of the configuration."""
        return cls(**{field: block[field] for field in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Problem:
    """What a simulation of a dataset needs under one variant."""

    body: BodyProperties  # nominal or calibrated
    length: float  # l of eq. 18, m
    tosses: list[PreparedToss]  # usable tosses of the chosen part
    options: SteppingOptions  # stepping

    @property
    def measured(self) -> list[MeasuredToss]:
        """Start states and measured poses alone."""
        return [item.toss for item in self.tosses]

    def start_covariances(self) -> np.ndarray:
        """(toss, 12, 12) of the starts."""
        return np.stack([item.covariance for item in self.tosses])

    def some(self, n_tosses: int, seed: int) -> Problem:
        """The same with at most so many tosses, drawn at random: the first ones may all be of one
        session.
        """
        # the drawn ones in their own order
        chosen = np.random.default_rng(seed).permutation(len(self.tosses))[:n_tosses]
        return replace(self, tosses=[self.tosses[k] for k in sorted(chosen.tolist())])


def simulated(problem: Problem, toss: MeasuredToss, parameters: ContactParameters) -> Trajectory:
    """A toss from its start, as long as it was measured."""
    length, belt = len(toss.position), toss.surface_velocity
    return simulate(problem.body, toss.start, parameters, problem.options, length, belt)


def simulated_rests(
    problem: Problem, toss: MeasuredToss, runs: Runs, pivot: np.ndarray | None = None
) -> RestPoses:
    """Rest poses of a toss's runs at the moment at which it was measured at rest; ``pivot`` as
    :func:`contactid.tossing.simulate.batch.rest_poses` takes it.
    """
    length, belt = len(toss.position), toss.surface_velocity
    return rest_poses(problem.body, toss.start, runs, problem.options, length, belt, pivot)


def load_problem(
    prepared: str | Path, calibration: str | Path | None, variant: Variant, split: str
) -> Problem:
    """Read a prepared dataset, apply a calibration where one is given, and set the problem up."""
    return set_up(load_dataset(prepared, calibration), variant, split)


def load_dataset(prepared: str | Path, calibration: str | Path | None) -> xr.Dataset:
    """Read a prepared dataset and apply a calibration where one is given."""
    dataset = read_dataset(prepared)
    return Calibration(**read_json(calibration)).apply(dataset) if calibration else dataset


def set_up(prepared: xr.Dataset, variant: Variant, split: str | None) -> Problem:
    """Choose tosses, start states and stepping; ``prepared`` is calibrated already where the
    variant asks for it.
    """
    body = body_of(prepared)
    tosses = usable_tosses(prepared, start=variant.start, split=split, body=body)
    # the simulator takes one gravity, in which the small leans of surfaces are averaged
    gravity = np.mean([item.gravity for item in tosses], axis=0)
    options = SteppingOptions(
        time_step=1.0 / float(prepared.attrs["sample_frequency"]),
        substeps=variant.substeps,
        law=variant.law,
        gravity=(float(gravity[0]), float(gravity[1]), float(gravity[2])),
    )
    if variant.solver == "prox":  # as the authors ran it
        options = replace(
            options, solver="prox", prox_step=1e-4, tolerance=1e-6, max_iterations=100_000
        )
    return Problem(body, body.length, tosses, options)
