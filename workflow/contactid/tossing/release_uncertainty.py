"""How uncertain the start of every toss is: the flight fit's covariance, toss by toss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties, iterate_recordings
from contactid.tossing.flight import fit_flight
from contactid.tossing.tosses import PreparedToss


def release_covariances(prepared: xr.Dataset, body: BodyProperties, tosses: Sequence[PreparedToss]) -> np.ndarray:
    """Covariances (toss, 12, 12) of the tosses' starts, as :class:`contactid.tossing.flight.FlightFit` has them.

    Parameters
    ----------
    prepared
        The dataset that the tosses come from; calibrated where they are.
    body
        The body that the tosses were set up with.
    tosses
        Whose starts are asked for, in this order. They should start with the flight fit: a central difference is
        noisier than its covariance.

    Raises
    ------
    ContactIdError
        Where a toss isn't in the dataset.
    """
    time_step = 1.0 / prepared.attrs["sample_frequency"]
    wanted = {item.toss.name for item in tosses}
    found: dict[str, np.ndarray] = {}
    for name, samples in iterate_recordings(prepared):
        if name in wanted:
            flight = slice(max(int(samples["release"]), 1), int(samples["contact"]))
            position, orientation = samples["position"].values[flight], samples["orientation"].values[flight]
            found[name] = fit_flight(body, position, orientation, time_step, samples["gravity"].values).covariance
    missing = sorted(wanted - found.keys())
    if missing:
        raise ContactIdError(
            f"{prepared.attrs['source']} has no toss {missing[0]}", "Give the dataset that the tosses were read from"
        )
    return np.stack([found[item.toss.name] for item in tosses])
