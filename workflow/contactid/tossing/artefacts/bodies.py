"""The bodies of a run: Table I, and what their calibration says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.computing import Shown
from contactid.output.fits import read_json
from contactid.sources.motion import body_of
from contactid.tossing.artefacts.data import Case, by_name, data_label, identified, labels


def body_tables(
    prepared: Sequence[str], datasets: Sequence[str], cases: Sequence[Case], calibrations: Sequence[str]
) -> dict[str, Shown]:
    """Table I and ``ext_calibration``.

    Parameters
    ----------
    prepared, datasets
        Files of prepared tosses, and their names.
    cases
        (identified on, predicted on).
    calibrations
        Files of the datasets identified on, in their order; none where no variant is calibrated.
    """
    data, said = by_name(prepared, datasets), labels(prepared)
    tossed = dict.fromkeys(name for case in cases for name in case)
    calibrated = [
        (data[name], read_json(file)) for name, file in zip(identified(cases), calibrations, strict=bool(calibrations))
    ]
    return {
        "tables/tab01_object_properties": Shown(properties_table([data[name] for name in tossed]), data=said),
        "tables/ext_calibration": Shown(calibration_table(calibrated), data=said),
    }


def properties_table(prepared: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Table I: size (mm), mass (kg) and inertia (kg mm2) as used, and the inertia of a homogeneous box of that size."""
    rows: dict[str, dict[str, Any]] = {}
    for dataset in prepared:
        body = body_of(dataset)
        size = np.ptp(body.vertices, axis=0)
        homogeneous = body.mass * (np.sum(size**2) - size**2) / 12.0
        rows[str(dataset.attrs["object"])] = {
            "object": dataset.attrs["object"],
            **{name: 1e3 * value for name, value in zip(("length_mm", "width_mm", "height_mm"), size, strict=True)},
            "mass_kg": body.mass,
            **{f"inertia_{k}{k}_kg_mm2": 1e6 * body.inertia[i, i] for i, k in enumerate("xyz")},
            **{f"homogeneous_inertia_{k}{k}_kg_mm2": 1e6 * homogeneous[i] for i, k in enumerate("xyz")},
            "data": data_label(dataset),
        }
    return pd.DataFrame(rows.values())


def calibration_table(calibrations: Sequence[tuple[xr.Dataset, dict[str, Any]]]) -> pd.DataFrame:
    """``ext_calibration``: calibrated quantities with standard errors, beside the nominal values."""
    rows = []
    for dataset, calibration in calibrations:
        body = body_of(dataset)
        nominal_inertia = [1e6 * body.inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        entries = [
            ("scale_from_free_flight", "1", calibration["scale"], calibration["scale_se"], 1.0),
            ("scale_from_rest_height", "1", calibration["scale_from_rest"], calibration["scale_from_rest_se"], 1.0),
            *(
                (f"gravity_{k}", "m/s2", calibration["gravity"][i], calibration["gravity_se"][i], (0.0, 0.0, -9.81)[i])
                for i, k in enumerate("xyz")
            ),
            *(
                (
                    f"center_of_mass_{k}", "mm", 1e3 * calibration["center_of_mass"][i],
                    1e3 * calibration["center_of_mass_se"][i], 1e3 * float(body.center_of_mass[i]),
                )
                for i, k in enumerate("xyz")
            ),
            *(
                (
                    f"inertia_{k}", "kg mm2", 1e6 * calibration["inertia"][i], 1e6 * calibration["inertia_se"][i],
                    nominal_inertia[i],
                )
                for i, k in enumerate(("xx", "yy", "zz", "xy", "xz", "yz"))
            ),
        ]  # fmt: skip
        for quantity, unit, value, error, nominal in entries:
            rows.append(
                {
                    "dataset": dataset.attrs["dataset"],
                    "object": dataset.attrs["object"],
                    "quantity": quantity,
                    "unit": unit,
                    "calibrated": value,
                    "standard_error": error,
                    "nominal": nominal,
                    "difference_in_standard_errors": (value - nominal) / error if error > 0 else np.nan,
                    "n_tosses": calibration["n_tosses"],
                    "n_impacts": calibration["n_impacts"],
                    "data": data_label(dataset),
                }
            )
    columns = [
        "dataset", "object", "quantity", "unit", "calibrated", "standard_error", "nominal",
        "difference_in_standard_errors", "n_tosses", "n_impacts", "data",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)
