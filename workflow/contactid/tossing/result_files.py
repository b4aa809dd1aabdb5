"""Gather a run's files of the tossing study into its tables and figure data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from contactid.datasets.motion import read_dataset
from contactid.errors import ContactIdError
from contactid.fits import read_json, write_json
from contactid.tables import read_csv, write_csv, write_tex
from contactid.tossing import figure_data, results
from contactid.tossing.results import Prediction, data_label

_CAPTIONS = {
    "tab01_object_properties": "Properties of the objects, and the inertia of a homogeneous box of that size and mass",
    "tab02_identified_parameters": "Parameters identified on trajectories, beside the printed ones",
    "tab03_rest_pose_errors": "Errors of the predicted rest pose, beside the printed ones",
    "ext_identification": "Errors on the test tosses by scheme",
    "ext_solver": "Contact steps of the predicted tosses and how many of them the contact solver solved to 1e-9 m/s",
    "ext_calibration": "Calibrated body and length scale",
}


def write_tables(
    folder: str | Path,
    data_folder: str | Path,
    *,
    cases: Sequence[tuple[str, str]],
    variants: Sequence[dict[str, Any]],
    published: str | Path,
) -> None:
    """Write tables I to III, ``ext_identification``, ``ext_calibration`` (csv and tex) and ``tosses.csv``."""
    folder, data_folder = Path(folder), Path(data_folder)
    names = list(dict.fromkeys(name for case in cases for name in case))
    identified = list(dict.fromkeys(on for on, _ in cases))
    prepared = {name: read_dataset(data_folder / name / "tosses.nc") for name in names}
    predictions = [
        _load_prediction(folder, prepared, on, dataset, variant) for on, dataset in cases for variant in variants
    ]
    printed = read_csv(published)
    tables = {
        "tab01_object_properties": results.properties_table(list(prepared.values())),
        "tab02_identified_parameters": results.parameters_table(
            [
                (str(prepared[on].attrs["object"]), data_label(prepared[on]), _load_fit(folder, on, variant["name"]))
                for on in identified
                for variant in variants
            ],
            printed_table(printed, "tab02"),
        ),
        "tab03_rest_pose_errors": results.rest_pose_table(predictions, printed_table(printed, "tab03")),
        "ext_identification": results.identification_table(predictions),
        "ext_solver": results.solver_table(predictions),
        "ext_calibration": results.calibration_table(
            [
                (prepared[on], read_json(folder / "fits" / f"{on}.calibration.json"))
                for on in identified
                if any(variant["calibrated"] for variant in variants)
            ]
        ),
    }
    for name, table in tables.items():
        write_csv(table, folder / "tables" / f"{name}.csv")
        sources = ", ".join(dict.fromkeys(data_label(dataset) for dataset in prepared.values()))
        write_tex(table, folder / "tables" / f"{name}.tex", caption=f"{_CAPTIONS[name]}. Data: {sources}.")
    toss_tables = [read_csv(data_folder / name / "tosses.csv").astype({"toss": str}) for name in names]
    write_csv(results.toss_rows(toss_tables, predictions), folder / "tosses.csv")


def printed_table(published: pd.DataFrame, artefact: str) -> pd.DataFrame:
    """The printed values of a table, one row per condition, one column per quantity."""
    part = published[published["artefact"] == artefact]
    conditions = part["condition"].str.split(";").map(lambda items: dict(item.split("=", 1) for item in items))
    wide = part.assign(**pd.DataFrame(list(conditions), index=part.index))
    keys = ["object", "parameters", "simulator"]
    return wide.pivot(index=keys, columns="quantity", values="value").reset_index().rename_axis(columns=None)


def write_figure_data(
    folder: str | Path,
    data_folder: str | Path,
    *,
    cases: Sequence[tuple[str, str]],
    variant: str,
    example_object: str,
    n_tosses: int,
    seed: int,
) -> None:
    """Write the csv files behind figures 10 to 13 and ``sources.json``, the line each figure carries about its data."""
    folder, data_folder = Path(folder), Path(data_folder)
    identified = list(dict.fromkeys(on for on, _ in cases))
    predicted = list(dict.fromkeys(dataset for _, dataset in cases))
    prepared = {name: read_dataset(data_folder / name / "tosses.nc") for name in {*identified, *predicted}}
    objects = {name: str(dataset.attrs["object"]) for name, dataset in prepared.items()}
    example = _example(prepared, identified, example_object)
    tables = {
        "fig10_release_and_rest": (figure_data.height_of_example(example), [example]),
        "fig11_trajectory": (figure_data.trajectory_of_example(example), [example]),
        "fig12_trajectory_costs": (
            figure_data.costs(
                {on: read_dataset(folder / "sweeps" / f"{on}.{variant}.nc") for on in identified}, objects
            ),
            [prepared[on] for on in identified],
        ),
        "fig13_rest_poses": (
            figure_data.rest_poses(
                {dataset: read_csv(_prediction_file(folder, on, dataset, variant)) for on, dataset in cases},
                objects,
                {name: dataset["vertices"].values for name, dataset in prepared.items()},
                n_tosses,
                seed,
            ),
            [prepared[dataset] for dataset in predicted],
        ),
    }
    for name, (table, _) in tables.items():
        write_csv(table, folder / "figures" / f"{name}.csv")
    sources = {name: figure_data.describe(datasets) for name, (_, datasets) in tables.items()}
    write_json(folder / "figures" / "sources.json", sources)


def _example(prepared: dict[str, xr.Dataset], identified: Sequence[str], wanted: str) -> xr.Dataset:
    for name in identified:
        if prepared[name].attrs["object"] == wanted:
            return prepared[name]
    known = ", ".join(dict.fromkeys(str(prepared[name].attrs["object"]) for name in identified))
    raise ContactIdError(
        f"configuration: tossing.figures.object is {wanted}, which no identification dataset shows",
        f"Use one of {known}",
    )


def _load_fit(folder: Path, dataset: str, variant: str) -> dict[str, Any]:
    return read_json(folder / "fits" / f"{dataset}.{variant}.json")


def _prediction_file(folder: Path, identified_on: str, dataset: str, variant: str) -> Path:
    return folder / "predictions" / identified_on / f"{dataset}.{variant}.csv"


def _load_prediction(
    folder: Path, prepared: dict[str, xr.Dataset], identified_on: str, dataset: str, variant: dict[str, Any]
) -> Prediction:
    return Prediction(
        dataset=dataset,
        identified_on=identified_on,
        variant=variant["name"],
        object=str(prepared[dataset].attrs["object"]),
        data=data_label(prepared[dataset]),
        calibrated=bool(variant["calibrated"]),
        fit=_load_fit(folder, identified_on, variant["name"]),
        table=read_csv(_prediction_file(folder, identified_on, dataset, variant["name"])).astype({"toss": str}),
    )
