"""Tables and figure data of identifiability and of exciting motions, from the twins' settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.inertia import InertialParameters, geodesic_distance
from contactid.inhand.excitation import Excitation, ExcitationOptions, optimise_motion
from contactid.inhand.identifiability_table import RECORDED, error_columns, identifiability_table, parameter_sizes
from contactid.inhand.information import recording_information, wrench_covariance
from contactid.inhand.ipopt_estimate import estimate_with_ipopt
from contactid.inhand.names import PARAMETER_COLUMNS
from contactid.inhand.readers.objects import object_of
from contactid.inhand.readers.twin_options import ResidualForces, TwinOptions, twin_options
from contactid.inhand.readers.twins import recording_motion, simulate_recording
from contactid.inhand.recording_arrays import recorded_signals
from contactid.output.tables import write_csv, write_tex

REFERENCE, OPTIMISED = "reference", "optimised"
_TWINS = "synthetic data: twins of the recordings, contactid inhand"
_CAPTIONS = {
    "ext_identifiability": "Condition numbers and standard errors of the twins' recordings, by source and object.",
    "ext_excitation": "What a D-optimal motion of equal range and peak accelerations buys.",
}
_BRIEF = ("condition_number", "se_mass_kg", "se_com_x_m", "se_com_z_m", "se_i_xx", "se_i_zz")


def write_identifiability(folder: str | Path, twin: Mapping[str, Any], seed: int) -> None:
    """Write ``ext_identifiability`` to tables and figures of the study's folder."""
    table = identifiability_table(twin_options(twin), seed)
    tables, figures = Path(folder) / "tables", Path(folder) / "figures"
    write_csv(table, tables / "ext_identifiability.csv")
    shown = table[["source", "object", "case", *_BRIEF]]
    write_tex(shown, tables / "ext_identifiability.tex", caption=_CAPTIONS["ext_identifiability"])
    write_csv(_identifiability_points(table), figures / "ext_identifiability.csv")


def _identifiability_points(table: pd.DataFrame) -> pd.DataFrame:
    """``setting, object, parameter, relative_error, condition_number, source`` of the recordings that suffice."""
    known = table[table["case"] == RECORDED].rename(columns={"source": "setting"}).assign(source=_TWINS)
    parts = [
        known[["setting", "object", "condition_number", "source"]].assign(
            parameter=name, relative_error=known[f"relative_{name}"]
        )
        for name in PARAMETER_COLUMNS
    ]
    return pd.concat(parts, ignore_index=True)


def write_excitation(folder: str | Path, twin: Mapping[str, Any], block: Mapping[str, Any]) -> None:
    """Write ``ext_excitation`` to tables and figures of the study's folder; ``block`` is ``inhand: excitation``."""
    options = _without_residual_forces(twin_options(twin))
    search = ExcitationOptions(block["samples"], block["iterations"], block["tolerance"])
    rows = [
        row
        for case in block["cases"]
        for seed in block["seeds"]
        for row in _compared(case["source"], case["object"], seed, options, search, block["method"])
    ]
    table = pd.DataFrame(rows)
    tables, figures = Path(folder) / "tables", Path(folder) / "figures"
    write_csv(table, tables / "ext_excitation.csv")
    shown = ["source", "object", "seed", "motion", *_BRIEF, "gain", "geodesic_error"]
    write_tex(table[shown], tables / "ext_excitation.tex", caption=_CAPTIONS["ext_excitation"])
    write_csv(excitation_points(table), figures / "ext_excitation.csv")


def excitation_points(table: pd.DataFrame) -> pd.DataFrame:
    """``setting, object, seed, panel, parameter, reference, optimised, source``.

    Panels: ``standard_error`` (relative to m, L and m L^2), and ``error`` of actual estimates in the same units, with
    the geodesic error as one more parameter.
    """
    keys = ["source", "object", "seed"]
    sides = table.set_index([*keys, "motion"]).unstack("motion")
    parts = []
    for panel, prefix, names in (
        ("standard_error", "relative_", PARAMETER_COLUMNS),
        ("error", "error_", PARAMETER_COLUMNS),
        ("error", "", ("geodesic_error",)),
    ):
        for name in names:
            part = sides[f"{prefix}{name}"].reset_index()
            parts.append(part[[*keys, REFERENCE, OPTIMISED]].assign(panel=panel, parameter=name))
    points = pd.concat(parts, ignore_index=True).rename(columns={"source": "setting"})
    return points.assign(source=_TWINS.replace(", contactid", " without residual forces, contactid"))


def _without_residual_forces(options: TwinOptions) -> TwinOptions:
    """Excitation is about noise: residual forces would hide what it buys."""
    sources = {name: replace(source, residual=ResidualForces()) for name, source in options.sources.items()}
    return replace(options, sources=MappingProxyType(sources))


def _compared(
    source: str, object_name: str, seed: int, options: TwinOptions, search: ExcitationOptions, method: str
) -> list[dict[str, Any]]:
    """A row for the source's own motion and one for the motion optimised from it."""
    start = recording_motion(source, seed, options)
    recording, truth = simulate_recording(source, object_name, seed, options, motion=start)
    stated, signals = recording.attrs, recorded_signals(recording)
    covariance = wrench_covariance(signals, stated["contact_position_sd"], stated["contact_torque_sd"]).mean(axis=0)
    found = optimise_motion(
        start, options.source(source).motion, float(signals.time[-1]), covariance, search, signals.gravity
    )
    better = simulate_recording(source, object_name, seed, options, motion=found.motion)
    keys = {"source": source, "object": object_name, "seed": seed}
    unmoved = Excitation(start, 0.0, 0, True, "")
    return [
        {**keys, "motion": REFERENCE, **_measures(recording, truth, unmoved, method)},
        {**keys, "motion": OPTIMISED, **_measures(*better, found, method)},
    ]


def _measures(recording: xr.Dataset, truth: xr.Dataset, found: Excitation, method: str) -> dict[str, Any]:
    name = str(recording.attrs["object"])
    estimate = estimate_with_ipopt(recording, method)
    true = object_of(name).parameters
    return {
        **error_columns(recording_information(recording, truth), name),
        "gain": found.gain,
        "evaluations": found.evaluations,
        "search_converged": found.converged,
        "method": method,
        "converged": estimate.converged,
        "geodesic_error": geodesic_distance(estimate.parameters, true),
        **_errors(estimate.parameters, true, name),
        "seconds": estimate.seconds,
    }


def _errors(estimated: InertialParameters, true: InertialParameters, name: str) -> dict[str, float]:
    """Absolute errors of mass, centre of mass and tensor, relative to m, L and m L^2."""

    def listed(body: InertialParameters) -> np.ndarray:
        return np.concatenate([[body.mass], body.center_of_mass, body.vector[4:]])

    errors = np.abs(listed(estimated) - listed(true)) / parameter_sizes(name)
    return {f"error_{name}": value for name, value in zip(PARAMETER_COLUMNS, errors, strict=True)}
