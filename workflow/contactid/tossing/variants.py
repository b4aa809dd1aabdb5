"""The ways to run the study: how a toss starts, how it is stepped, whether the body is calibrated first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.output.fits import read_json
from contactid.sources.motion import BodyProperties, body_of, read_dataset
from contactid.tossing.calibration import Calibration
from contactid.tossing.simulate.box import SteppingOptions
from contactid.tossing.simulate.sweep import MeasuredToss
from contactid.tossing.tosses import PreparedToss, usable_tosses


@dataclass(frozen=True)
class Variant:
    """One row of the ``variants`` list of the configuration.

    Attributes
    ----------
    name : used in file names and in the column ``scheme``
    start : ``central_difference`` (the paper) or ``flight_fit``
    substeps : simulation steps per sample; 1 in the paper
    solver : ``newton`` (converged) or ``prox`` (the paper's fixed point with the authors' r and tolerance)
    refine : refine the grid's optimum continuously
    calibrated : calibrate scale, centre of mass and inertia first
    """

    name: str
    start: str
    substeps: int
    solver: str
    refine: bool
    calibrated: bool

    @classmethod
    def from_config(cls, block: Mapping[str, Any]) -> Variant:
        """From a validated block of the configuration."""
        return cls(**{field: block[field] for field in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Problem:
    """What a simulation of a dataset needs under one variant.

    Attributes
    ----------
    body : nominal or calibrated
    length : l of eq. 18, m
    tosses : usable tosses of the chosen part
    options : stepping
    """

    body: BodyProperties
    length: float
    tosses: list[PreparedToss]
    options: SteppingOptions

    @property
    def measured(self) -> list[MeasuredToss]:
        """Start states and measured poses alone."""
        return [item.toss for item in self.tosses]

    def some(self, n_tosses: int, seed: int) -> Problem:
        """The same with at most so many tosses, drawn at random: the first ones may all be of one session."""
        chosen = np.random.default_rng(seed).permutation(len(self.tosses))[:n_tosses]
        return replace(self, tosses=[self.tosses[k] for k in sorted(chosen.tolist())])


def load_problem(prepared: str | Path, calibration: str | Path | None, variant: Variant, split: str) -> Problem:
    """Read a prepared dataset, apply a calibration where one is given, and set the problem up."""
    return set_up(load_dataset(prepared, calibration), variant, split)


def load_dataset(prepared: str | Path, calibration: str | Path | None) -> xr.Dataset:
    """Read a prepared dataset and apply a calibration where one is given."""
    dataset = read_dataset(prepared)
    return Calibration(**read_json(calibration)).apply(dataset) if calibration else dataset


def set_up(prepared: xr.Dataset, variant: Variant, split: str | None) -> Problem:
    """Choose tosses, start states and stepping; ``prepared`` is calibrated already where the variant asks for it."""
    body = body_of(prepared)
    tosses = usable_tosses(prepared, start=variant.start, split=split, body=body)
    gravity = np.mean([item.gravity for item in tosses], axis=0)
    options = SteppingOptions(
        time_step=1.0 / float(prepared.attrs["sample_frequency"]),
        substeps=variant.substeps,
        gravity=(float(gravity[0]), float(gravity[1]), float(gravity[2])),
    )
    if variant.solver == "prox":  # as the authors ran it
        options = replace(options, solver="prox", prox_step=1e-4, tolerance=1e-6, max_iterations=100_000)
    return Problem(body, body.length, tosses, options)
