"""The bodies of a run: Table I, and what their calibration says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.fits import read_json
from contactid.sources.motion import body_of, uniform_box
from contactid.tossing.artefacts.data import Case, by_name, data_label, identified

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
    tossed = dict.fromkeys(name for case in cases for name in case)
    calibrated = [
        (data[name], read_json(file))
        for name, file in zip(identified(cases), calibrations, strict=bool(calibrations))
    ]
    return {
        "tables/tab01_object_properties": properties_table([data[name] for name in tossed]),
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
            **{
                name: 1e3 * value
                for name, value in zip(("length_mm", "width_mm", "height_mm"), size, strict=True)
            },
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
    for dataset, found in calibrations:
        body = body_of(dataset)
        scales, errors = (
            [found[f"{name}{end}"] for name in ("scale", "scale_from_rest")] for end in ("", "_se")
        )
        rows = [
            ("scale_from_free_flight", "1", scales[0], errors[0], 1.0),
            ("scale_from_rest_height", "1", scales[1], errors[1], 1.0),
            (
                "scale_by_flight_less_rest",
                "1",
                scales[0] - scales[1],
                float(np.hypot(*errors)),
                0.0,
            ),
        ]
        moments = [body.inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        for name, axes, unit, factor, nominal in (
            ("gravity", "xyz", "m/s2", 1.0, (0.0, 0.0, -9.81)),
            ("center_of_mass", "xyz", "mm", 1e3, body.center_of_mass),
            ("inertia", ("xx", "yy", "zz", "xy", "xz", "yz"), "kg mm2", 1e6, moments),
        ):
            rows += [
                (f"{name}_{axis}", unit, factor * value, factor * error, factor * float(expected))
                for axis, value, error, expected in zip(
                    axes, found[name], found[f"{name}_se"], nominal, strict=True
                )
            ]
        table = pd.DataFrame(
            rows, columns=["quantity", "unit", "calibrated", "standard_error", "nominal"]
        )
        # infinite or NaN without an error, so left out
        off = (table["calibrated"] - table["nominal"]) / table["standard_error"]
        table["difference_in_standard_errors"] = off.where(table["standard_error"] > 0)
        about = {name: dataset.attrs[name] for name in ("dataset", "object")} | {
            "data": data_label(dataset)
        }
        counts = {name: found[name] for name in ("n_tosses", "n_impacts")}
        tables.append(table.assign(**about, **counts)[_CALIBRATION])
    return pd.concat(tables[-len(calibrations) :], ignore_index=True)
