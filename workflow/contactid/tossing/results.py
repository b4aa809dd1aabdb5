"""The tossing study's tables: I to IV in the paper's quantities, and what goes beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import t as student

from contactid.sources.motion import body_of
from contactid.tossing.schemes import Scheme

SIMULATOR = "contactid"
EQUAL_BUDGET = "_equal_budget"  # ends the scheme of a row that comes from the comparison of simulators


@dataclass(frozen=True)
class Prediction:
    """A prediction table with where it came from.

    Attributes
    ----------
    dataset, identified_on : names
    scheme : where its parameters come from and how it is stepped
    object, data : what was tossed, and which data it is
    fit : the fit record used
    table : from :func:`contactid.tossing.prediction.predict`
    """

    dataset: str
    identified_on: str
    scheme: Scheme
    object: str
    data: str
    fit: dict[str, Any]
    table: pd.DataFrame


def data_label(dataset: xr.Dataset) -> str:
    """``synthetic twin`` or the source's name."""
    return "synthetic twin" if dataset.attrs["synthetic"] else str(dataset.attrs["source"])


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


def parameters_table(predictions: Sequence[Prediction], published: pd.DataFrame) -> pd.DataFrame:
    """Table II: parameters identified by every scheme beside the printed ones."""
    rows = [
        {
            "object": item.object,
            "parameters": item.scheme.parameters,
            "simulator": SIMULATOR,
            "scheme": item.scheme.name,
            "friction_mu": item.fit["parameters"]["friction_mu"],
            "restitution_e_n": item.fit["parameters"]["restitution_e_n"],
            **{
                f"{name}_{side}": np.nan if item.fit["intervals"][name][k] is None else item.fit["intervals"][name][k]
                for name in ("friction_mu", "restitution_e_n")
                for k, side in enumerate(("low", "high"))
            },
            "restitution_flat_to": item.fit.get("restitution_flat_to", np.nan),
            "objective": item.fit["objective"],
            "n_tosses": item.fit["data"]["n_tosses"],
            "n_impacts": item.fit["data"].get("n_impacts", np.nan),
            "converged": item.fit["converged"],
            "identified_on": item.identified_on,
            "data": item.data,
        }
        for item in predictions
    ]
    return _beside_printed(pd.DataFrame(rows), published, "Table II")


def rest_pose_table(predictions: Sequence[Prediction], published: pd.DataFrame, where: str) -> pd.DataFrame:
    """Tables III and IV: rest-pose errors (eqs. 20, 21) on a stationary surface, mean and standard deviation.

    A toss that ends on another face than predicted has no angle about the normal in the sense of eq. 20; the rotation
    columns are over the others, and ``n_same_face`` counts them. The 95 % intervals are those of the means.
    """
    rows = []
    for prediction in predictions:
        still = prediction.table[~prediction.table["moving"]]
        for subset, part in _subsets(still):
            if part.empty:
                continue
            position = part["rest_position_error_cm"]
            angle = part.loc[part["same_face"], "e_rot_deg"].abs()
            rows.append(
                {
                    "parameters": prediction.scheme.parameters,
                    "simulator": SIMULATOR,
                    "scheme": prediction.scheme.name,
                    "object": prediction.object,
                    "position_error_mean_cm": position.mean(),
                    "position_error_std_cm": position.std(ddof=1),
                    "rotation_error_mean_deg": angle.mean(),
                    "rotation_error_std_deg": angle.std(ddof=1),
                    **_interval("position_error_mean_cm", position),
                    **_interval("rotation_error_mean_deg", angle),
                    "subset": subset,
                    "n_tosses": len(part),
                    "n_same_face": len(angle),
                    "data": prediction.data,
                }
            )
    return _beside_printed(pd.DataFrame(rows), published, where)


def _interval(name: str, values: pd.Series) -> dict[str, float]:
    """95 % interval of a mean over tosses by Student's distribution; NaN for fewer than two."""
    n = len(values)
    reach = float(student.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return {f"{name}_low": float(values.mean()) - reach, f"{name}_high": float(values.mean()) + reach}


def identification_table(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """``ext_identification``: one row per dataset, model, parameters and subset."""
    rows = []
    for prediction in predictions:
        for subset, part in _subsets(prediction.table, always=True):
            rows.append(
                {
                    "dataset": prediction.dataset,
                    "identified_on": prediction.identified_on,
                    "simulator": SIMULATOR,
                    "scheme": prediction.scheme.name,
                    "parameters": prediction.scheme.parameters,
                    "calibrated": prediction.scheme.calibrated,
                    "subset": subset,
                    **_with_parameters(summarise(part), prediction.fit),
                }
            )
    columns = [
        "dataset", "identified_on", "simulator", "scheme", "parameters", "calibrated", "subset", "n_tosses",
        "friction_mu", "restitution_e_n", "mean_loss", "sem_loss", "position_error_pct", "rotation_error_deg",
        "rest_position_error_cm", "rest_rotation_error_deg",
    ]  # fmt: skip
    return pd.DataFrame(rows)[columns]


def solver_table(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """``ext_solver``: how well the contact law held in the predicted tosses, recomputed in every step."""
    rows = []
    for prediction in predictions:
        table = prediction.table
        steps = int(table["contact_steps"].sum())
        rows.append(
            {
                "dataset": prediction.dataset,
                "identified_on": prediction.identified_on,
                "scheme": prediction.scheme.name,
                "n_tosses": len(table),
                "contact_steps": steps,
                "hyperstatic_steps": int(table["hyperstatic_steps"].sum()),
                "unsolved_steps": int(table["unsolved_steps"].sum()),
                "solved_pct": 100.0 * (1.0 - table["unsolved_steps"].sum() / steps) if steps else np.nan,
                "largest_residual_m_s": table["largest_residual"].max(),
                "data": prediction.data,
            }
        )
    return pd.DataFrame(rows)


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


def toss_rows(tables: Sequence[pd.DataFrame], predictions: Sequence[Prediction]) -> pd.DataFrame:
    """``tosses.csv``: one row per toss, with the errors of every variant where it was predicted."""
    tosses = pd.concat(tables, ignore_index=True).drop_duplicates(["dataset", "toss"])
    errors = [
        "loss", "position_error_pct", "rotation_error_deg", "rest_position_error_cm", "rest_rotation_error_deg",
    ]  # fmt: skip
    for variant in dict.fromkeys(prediction.scheme.name for prediction in predictions):
        parts = [
            prediction.table[["toss", *errors]].assign(dataset=prediction.dataset)
            for prediction in predictions
            if prediction.scheme.name == variant
        ]
        table = pd.concat(parts, ignore_index=True).drop_duplicates(["dataset", "toss"])
        renamed = table.rename(columns={name: f"{variant}_{name}" for name in errors})
        tosses = tosses.merge(renamed.astype({"toss": str}), on=["dataset", "toss"], how="left")
    return tosses


def _subsets(table: pd.DataFrame, always: bool = False) -> list[tuple[str, pd.DataFrame]]:
    """All tosses, and those that don't tumble where some do (or ``always``)."""
    subsets = [("all", table)]
    if always or table["tumbled"].any():
        subsets.append(("non_tumbling", table[~table["tumbled"]]))
    return subsets


def _with_parameters(summary: dict[str, float], fit: dict[str, Any]) -> dict[str, Any]:
    return {**summary, **{key: fit["parameters"][key] for key in ("friction_mu", "restitution_e_n")}}


def _beside_printed(ours: pd.DataFrame, published: pd.DataFrame, where: str) -> pd.DataFrame:
    """Append the printed rows of the table for the objects at hand."""
    printed = published.copy()
    printed = printed[printed["object"].isin(set(ours["object"])) & printed["parameters"].isin(set(ours["parameters"]))]
    return pd.concat([ours, printed.assign(data=f"printed, {where}")], ignore_index=True)


def summarise(predictions: pd.DataFrame) -> dict[str, float]:
    """Mean errors over tosses, with the standard error of the mean loss."""
    n = len(predictions)
    return {
        "n_tosses": n,
        "mean_loss": float(predictions["loss"].mean()) if n else np.nan,
        "sem_loss": float(predictions["loss"].std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
        **{
            name: float(predictions[name].mean()) if n else np.nan
            for name in (
                "position_error_pct",
                "rotation_error_deg",
                "rest_position_error_cm",
                "rest_rotation_error_deg",
            )
        },
    }
