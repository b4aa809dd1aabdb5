"""Kept impacts as a netCDF file: one entry per impact, everything an identification takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties, body_of, read_dataset, write_dataset
from contactid.tossing.impact import Impact, ImpactWindow
from contactid.tossing.simulate.box import State, SteppingOptions

_TWIST_UNITS = "m/s and rad/s"
_BODY = ("vertices", "mass", "center_of_mass", "inertia")
_SPLITS = ("identification", "test")


def write_impacts(windows: Sequence[ImpactWindow], prepared: xr.Dataset, path: str | Path) -> None:
    """Write kept impacts of a prepared dataset, with its body and attributes."""
    dataset = as_dataset(windows).assign_attrs(prepared.attrs)
    write_dataset(dataset.assign({name: prepared[name] for name in _BODY}), path)


def as_dataset(windows: Sequence[ImpactWindow]) -> xr.Dataset:
    """One entry per impact along ``impact``; shapes and units as in :mod:`contactid.tossing.impact`."""

    def stack(values: list[Any], *shape: int) -> np.ndarray:
        return np.array(values, dtype=float).reshape(len(windows), *shape)

    impacts = [window.impact for window in windows]
    columns: dict[str, tuple[tuple[str, ...], np.ndarray, str]] = {
        "position": (("xyz",), stack([impact.position for impact in impacts], 3), "m"),
        "orientation": (("wxyz",), stack([impact.orientation for impact in impacts], 4), "1"),
        "pre_twist": (("twist",), stack([impact.pre_twist for impact in impacts], 6), _TWIST_UNITS),
        "post_twist": (("twist",), stack([impact.post_twist for impact in impacts], 6), _TWIST_UNITS),
        "pre_covariance": (("twist", "twist_2"), stack([impact.pre_covariance for impact in impacts], 6, 6), "SI"),
        "post_covariance": (("twist", "twist_2"), stack([impact.post_covariance for impact in impacts], 6, 6), "SI"),
        "surface_velocity": (("xyz",), stack([impact.surface_velocity for impact in impacts], 3), "m/s"),
        "start_position": (("xyz",), stack([window.start.position for window in windows], 3), "m"),
        "start_orientation": (("wxyz",), stack([window.start.orientation for window in windows], 4), "1"),
        "start_linear_velocity": (("xyz",), stack([window.start.linear_velocity for window in windows], 3), "m/s"),
        "start_angular_velocity": (("xyz",), stack([window.start.angular_velocity for window in windows], 3), "rad/s"),
        "end_twist": (("twist",), stack([window.end_twist for window in windows], 6), _TWIST_UNITS),
        "gravity": (("xyz",), stack([window.gravity for window in windows], 3), "m/s2"),
    }
    dataset = xr.Dataset(
        {name: (("impact", *dims), values, {"units": unit}) for name, (dims, values, unit) in columns.items()}
    )
    dataset["toss"] = ("impact", np.array([impact.toss for impact in impacts], dtype=object))
    dataset["split"] = ("impact", np.array([window.split for window in windows], dtype=object))
    dataset["sample"] = ("impact", np.array([impact.sample for impact in impacts], dtype="int64"))
    dataset["impacting_vertex"] = ("impact", np.array([impact.vertex for impact in impacts], dtype="int64"))
    dataset["n_steps"] = ("impact", np.array([window.n_steps for window in windows], dtype="int64"))
    return dataset


def read_impacts(
    path: str | Path, *, split: str | None = None, substeps: int = 1
) -> tuple[BodyProperties, list[ImpactWindow], SteppingOptions]:
    """Body, impacts (all, or one part of them) and stepping from a file.

    Raises
    ------
    ContactIdError
        Where no impact is left.
    """
    if split not in (None, *_SPLITS):
        raise ContactIdError(f"unknown part {split!r}", f"Choose one of {', '.join(_SPLITS)}")
    table = read_dataset(path)
    values = {name: table[name].values for name in table.variables}
    windows = [
        ImpactWindow(
            impact=Impact(
                toss=str(values["toss"][k]),
                sample=int(values["sample"][k]),
                vertex=int(values["impacting_vertex"][k]),
                **{
                    name: values[name][k]
                    for name in (
                        "position", "orientation", "pre_twist", "post_twist", "pre_covariance", "post_covariance",
                        "surface_velocity",
                    )
                },
            ),
            split=str(values["split"][k]),
            start=State(
                values["start_position"][k],
                values["start_orientation"][k],
                values["start_linear_velocity"][k],
                values["start_angular_velocity"][k],
            ),
            n_steps=int(values["n_steps"][k]),
            end_twist=values["end_twist"][k],
            gravity=values["gravity"][k],
        )
        for k in range(table.sizes["impact"])
        if split in (None, str(values["split"][k]))
    ]  # fmt: skip
    if not windows:
        part = f"the {split} part of " if split else ""
        raise ContactIdError(f"{part}{path} has no usable impact", "Look at the reasons in impacts.csv")
    return body_of(table), windows, SteppingOptions(1.0 / float(table.attrs["sample_frequency"]), substeps=substeps)
