"""Turn prepared tosses into what the simulator compares with: start states and measured poses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties, body_of, iterate_recordings
from contactid.tossing.flight import central_difference_state, fit_flight_state
from contactid.tossing.simulate.sweep import MeasuredToss

CENTRAL_DIFFERENCE, FLIGHT_FIT = "central_difference", "flight_fit"


@dataclass(frozen=True)
class PreparedToss:
    """A usable toss: what to compare with, and what is known of its rest.

    Attributes
    ----------
    toss : start state and poses from release to rest
    rest_position, rest_orientation : (3,) m and (4,), the measured rest pose in C
    tumbled : it changed its upper face
    gravity : (3,) m/s2 in C
    """

    toss: MeasuredToss
    rest_position: np.ndarray
    rest_orientation: np.ndarray
    tumbled: bool
    gravity: np.ndarray


def usable_tosses(
    prepared: xr.Dataset, *, start: str, split: str | None = None, body: BodyProperties | None = None
) -> list[PreparedToss]:
    """All usable tosses of a prepared dataset, or of one part of it.

    Parameters
    ----------
    prepared
        From :func:`contactid.tossing.preprocess.preprocess`.
    start
        ``central_difference`` (the paper) or ``flight_fit``.
    split
        ``identification`` or ``test``; both by default.
    body
        For the flight fit; the dataset's own by default.

    Raises
    ------
    ContactIdError
        Where no toss is left, or ``start`` is unknown.
    """
    if start not in (CENTRAL_DIFFERENCE, FLIGHT_FIT):
        raise ContactIdError(f"unknown start {start!r}", f"Choose {CENTRAL_DIFFERENCE} or {FLIGHT_FIT}")
    tosses = list(_usable(prepared, start, split, body or body_of(prepared)))
    if not tosses:
        part = f"the {split} part of " if split else ""
        raise ContactIdError(
            f"{part}{prepared.attrs['source']} has no usable toss", "Look at the reasons in tosses.csv"
        )
    return tosses


def _usable(prepared: xr.Dataset, start: str, split: str | None, body: BodyProperties) -> Iterator[PreparedToss]:
    time_step = 1.0 / prepared.attrs["sample_frequency"]
    for name, samples in iterate_recordings(prepared):
        if str(samples["reason"].values) or split not in (None, str(samples["split"].values)):
            continue
        # eq. 12 needs a sample before the release
        first, contact, rest = max(int(samples["release"]), 1), int(samples["contact"]), int(samples["rest"])
        position, orientation = samples["position"].values, samples["orientation"].values
        gravity = samples["gravity"].values
        if start == FLIGHT_FIT:
            flight = slice(first, contact)
            state = fit_flight_state(body, position[flight], orientation[flight], time_step, gravity)
        else:
            state = central_difference_state(position, orientation, first, time_step)
        yield PreparedToss(
            toss=MeasuredToss(
                name=name,
                start=state,
                position=position[first : rest + 1],
                orientation=orientation[first : rest + 1],
                surface_velocity=samples["surface_velocity"].values.astype(float),
            ),
            rest_position=samples["rest_position"].values,
            rest_orientation=samples["rest_orientation"].values,
            tumbled=bool(samples["tumbled"]),
            gravity=gravity,
        )
