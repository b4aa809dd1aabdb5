"""The mean loss of a swept grid; apart from the simulator, so that a figure doesn't depend on its code."""

from __future__ import annotations

import xarray as xr


def mean_loss(swept: xr.Dataset) -> xr.DataArray:
    """Eq. 16's mean of eq. 18 over tosses: (friction_mu, restitution_e_n)."""
    return (swept["position_error"] + swept["rotation_error"]).mean("toss")
