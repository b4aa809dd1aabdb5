"""The bodies of a run: Table I, and what their calibration says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.fits import read_json
from contactid.sources.motion import body_of, uniform_box
from contactid.tossing.artefacts.data import Case, by_name, data_label, identified, of_cases

#: Of a calibration: quantity, unit, calibrated, standard error, nominal.
_Row = tuple[str, str, float, float, float]
_MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
_CALIBRATION = [
    "dataset", "object", "quantity", "unit", "calibrated", "standard_error", "nominal",
    "difference_in_standard_errors", "n_tosses", "n_impacts", "data",
]  # fmt: skip


def body_tables(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    calibrations: Sequence[str],
) -> dict[str, pd.DataFrame]:
    """Table I and ``ext_calibration``; no ``calibrations`` where no variant is calibrated."""
    data = by_name(prepared, datasets)
    calibrated = [
        (data[name], read_json(file))
        for name, file in zip(identified(cases), calibrations, strict=bool(calibrations))
    ]
    return {
        "tables/tab01_object_properties": properties_table(
            [data[name] for name in of_cases(cases)]
        ),
        "tables/ext_calibration": calibration_table(calibrated),
    }


def properties_table(prepared: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Table I: size (mm), mass (kg) and inertia (kg mm2) as used, and the inertia of a homogeneous
    box of that size.
    """
    rows: dict[str, dict[str, Any]] = {}
    for dataset in prepared:
        body = body_of(dataset)
        size = np.ptp(body.vertices, axis=0)
        homogeneous = np.diag(uniform_box(size, body.mass).inertia)
        rows[str(dataset.attrs["object"])] = {
            "object": dataset.attrs["object"],
            **dict(zip(("length_mm", "width_mm", "height_mm"), 1e3 * size, strict=True)),
            "mass_kg": body.mass,
            **{f"inertia_{k}{k}_kg_mm2": 1e6 * body.inertia[i, i] for i, k in enumerate("xyz")},
            **{
                f"homogeneous_inertia_{k}{k}_kg_mm2": 1e6 * homogeneous[i]
                for i, k in enumerate("xyz")
            },
            "dataset": dataset.attrs["dataset"],
            "data": data_label(dataset),
        }
    return pd.DataFrame(rows.values())


def calibration_table(calibrations: Sequence[tuple[xr.Dataset, dict[str, Any]]]) -> pd.DataFrame:
    """``ext_calibration``: calibrated quantities with standard errors, beside the nominal values."""
    tables = [pd.DataFrame(columns=_CALIBRATION)]
    for dataset, calibration in calibrations:
        body = body_of(dataset)
        moments = [body.inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        rows = [
            *_scales(calibration),
            *_components(calibration, "gravity", "xyz", "m/s2", 1.0, (0.0, 0.0, -9.81)),
            *_components(calibration, "center_of_mass", "xyz", "mm", 1e3, body.center_of_mass),
            *_components(calibration, "inertia", _MOMENTS, "kg mm2", 1e6, moments),
        ]
        table = pd.DataFrame(
            rows, columns=["quantity", "unit", "calibrated", "standard_error", "nominal"]
        )
        # infinite or NaN without an error, so left out
        differences = (table["calibrated"] - table["nominal"]) / table["standard_error"]
        table = table.assign(
            difference_in_standard_errors=differences.where(table["standard_error"] > 0),
            dataset=dataset.attrs["dataset"],
            object=dataset.attrs["object"],
            data=data_label(dataset),
            n_tosses=calibration["n_tosses"],
            n_impacts=calibration["n_impacts"],
        )
        tables.append(table[_CALIBRATION])
    return pd.concat(tables[-len(calibrations) :], ignore_index=True)


def _scales(calibration: Mapping[str, Any]) -> list[_Row]:
    """The length scale by free flight and by the height at rest, and their difference."""
    by_flight, flight_error = calibration["scale"], calibration["scale_se"]
    by_rest, rest_error = calibration["scale_from_rest"], calibration["scale_from_rest_se"]
    joint_error = float(np.hypot(flight_error, rest_error))
    return [
        ("scale_from_free_flight", "1", by_flight, flight_error, 1.0),
        ("scale_from_rest_height", "1", by_rest, rest_error, 1.0),
        ("scale_by_flight_less_rest", "1", by_flight - by_rest, joint_error, 0.0),
    ]


def _components(
    calibration: Mapping[str, Any],
    name: str,
    axes: Iterable[str],
    unit: str,
    factor: float,
    nominal: Iterable[float],
) -> list[_Row]:
    """A vector or tensor of SI units, a row per component in units that are ``factor`` smaller."""
    values, errors = calibration[name], calibration[f"{name}_se"]
    return [
        (f"{name}_{axis}", unit, factor * value, factor * error, factor * float(expected))
        for axis, value, error, expected in zip(axes, values, errors, nominal, strict=True)
    ]
