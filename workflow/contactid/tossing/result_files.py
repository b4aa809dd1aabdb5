"""Gather a run's files of the tossing study into its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.core.configuration import cases
from contactid.output.fits import read_json
from contactid.output.tables import read_csv, write_csv, write_tex
from contactid.sources.motion import read_dataset
from contactid.tossing import impact_tables, outlook_tables, results
from contactid.tossing.peers.catalogue import OWN, OWN_TANGENTIAL
from contactid.tossing.results import Prediction, data_label
from contactid.tossing.schemes import NO_RESTITUTION, Scheme, predictions_of, schemes_of, velocity_cases

_CAPTIONS = {
    "tab01_object_properties": "Properties of the objects, and the inertia of a homogeneous box of that size and mass",
    "tab02_identified_parameters": "Identified parameters, beside the printed ones",
    "tab03_rest_pose_errors": "Errors of the predicted rest pose, beside the printed ones",
    "tab04_rest_pose_errors_without_restitution": "Errors of the predicted rest pose with restitution set to zero",
    "ext_identification": "Errors on the test tosses by scheme",
    "ext_solver": "Contact steps of the predicted tosses and how many of them the contact solver solved to 1e-9 m/s",
    "ext_calibration": "Calibrated body and length scale",
    "ext_velocity_identification": "Velocity-based identification: impacts, losses and parameters",
    "ext_velocity_against_trajectory": "Parameters from impacts less those from trajectories",
    "ext_impact_mpec": "The impact MPEC in several forms",
    "ext_sensitivity": "Change of the rest pose where one parameter is varied",
    "ext_sobol": "Sobol indices of the rest pose",
    "ext_moving_surface": "Errors on a moving surface against those on one at rest",
    "ext_rest_pose_coverage": "Coverage of the predicted regions of the rest pose on held-out tosses",
    "ext_rest_pose_errors": "Predicted and actual errors of every toss's rest pose",
    "ext_simulators": "Simulators identified and tested on the same tosses with the same budget",
}


def write_tables(
    folder: str | Path,
    data_folder: str | Path,
    *,
    block: Mapping[str, Any],
    simulated: Sequence[tuple[str, str, str]],
    published: str | Path,
) -> None:
    """Write tables I to IV and those beyond the paper (csv and tex), ``tosses.csv`` and ``impacts.csv``.

    Parameters
    ----------
    folder, data_folder
        The study's results, and the prepared datasets.
    block
        The study's block of the configuration.
    simulated
        (identified on, predicted on, variant) of every comparison of simulators.
    published
        The printed values.
    """
    run = _Run(Path(folder), Path(data_folder), block, read_csv(published))
    tables = run.papers() | run.impacts() | run.outlook() | run.simulators(simulated)
    if simulated:
        rows = outlook_tables.as_identification_rows(tables["ext_simulators"])
        tables["ext_identification"] = pd.concat([tables["ext_identification"], rows], ignore_index=True)
    sources = ", ".join(dict.fromkeys(data_label(dataset) for dataset in run.prepared.values()))
    for name, table in tables.items():
        write_csv(table, run.folder / "tables" / f"{name}.csv")
        write_tex(table, run.folder / "tables" / f"{name}.tex", caption=f"{_CAPTIONS[name]}. Data: {sources}.")
    tosses = [read_csv(run.data_folder / name / "tosses.csv").astype({"toss": str}) for name in run.tossed]
    write_csv(results.toss_rows(tosses, run.predictions), run.folder / "tosses.csv")
    if run.impact_cases:
        first = block["velocity"]["variants"][0]["name"]
        found = [read_csv(run.folder / "impacts" / f"{on}.{first}.csv") for on in run.impact_datasets]
        write_csv(pd.concat(found, ignore_index=True), run.folder / "impacts.csv")


class _Run:
    """A run's files, and the tables made of them."""

    def __init__(self, folder: Path, data_folder: Path, block: Mapping[str, Any], published: pd.DataFrame) -> None:
        self.folder, self.data_folder, self.block, self.published = folder, data_folder, block, published
        self.cases, self.impact_cases = cases(block), velocity_cases(block)
        self.schemes = schemes_of(block)
        self.identified = list(dict.fromkeys(on for on, _ in self.cases))
        self.impact_datasets = list(dict.fromkeys(on for on, _ in self.impact_cases))
        self.tossed = list(dict.fromkeys(name for case in self.cases for name in case))
        names = dict.fromkeys([*self.tossed, *self.impact_datasets])
        self.prepared = {name: read_dataset(data_folder / name / "tosses.nc") for name in names}
        self.predictions = [
            self._prediction(on, dataset, self.schemes[name]) for on, dataset, name in predictions_of(block)
        ]

    def _prediction(self, identified_on: str, dataset: str, scheme: Scheme) -> Prediction:
        file = self.folder / "predictions" / identified_on / f"{dataset}.{scheme.name}.csv"
        fit = read_json(self.folder / "fits" / f"{identified_on}.{scheme.fit}.json")
        if scheme.kind == NO_RESTITUTION:
            fit = {**fit, "parameters": {**fit["parameters"], "restitution_e_n": 0.0}}
        return Prediction(
            dataset=dataset,
            identified_on=identified_on,
            scheme=scheme,
            object=str(self.prepared[dataset].attrs["object"]),
            data=data_label(self.prepared[dataset]),
            fit=fit,
            table=read_csv(file).astype({"toss": str}),
        )

    def papers(self) -> dict[str, pd.DataFrame]:
        """Tables I to IV, and what our schemes do on the same tosses."""
        identified = [item for item in self.predictions if item.scheme.kind != NO_RESTITUTION]
        without = [item for item in self.predictions if item.scheme.kind == NO_RESTITUTION]
        calibrated = any(variant["calibrated"] for variant in self.block["variants"])
        return {
            "tab01_object_properties": results.properties_table([self.prepared[name] for name in self.tossed]),
            "tab02_identified_parameters": results.parameters_table(identified, self._printed("tab02")),
            "tab03_rest_pose_errors": results.rest_pose_table(identified, self._printed("tab03"), "Table III"),
            "tab04_rest_pose_errors_without_restitution": results.rest_pose_table(
                without, self._printed("tab04"), "Table IV"
            ),
            "ext_identification": results.identification_table(self.predictions),
            "ext_solver": results.solver_table(self.predictions),
            "ext_moving_surface": outlook_tables.moving_table(self.predictions),
            "ext_calibration": results.calibration_table(
                [
                    (self.prepared[on], read_json(self.folder / "fits" / f"{on}.calibration.json"))
                    for on in (self.identified if calibrated else [])
                ]
            ),
        }

    def _printed(self, artefact: str) -> pd.DataFrame:
        return printed_table(self.published, artefact)

    def impacts(self) -> dict[str, pd.DataFrame]:
        """What the velocity-based part found."""
        if not self.impact_cases:
            return {}
        variants = self.block["velocity"]["variants"]
        rows, forms = [], []
        for on in self.impact_datasets:
            data, name = data_label(self.prepared[on]), str(self.prepared[on].attrs["object"])
            for variant in variants:
                stem = self.folder / "impacts" / f"{on}.{variant['name']}"
                fit = read_json(self.folder / "fits" / f"{on}.{variant['name']}.json")
                rows.append(
                    impact_tables.velocity_row(
                        fit, read_csv(f"{stem}.csv"), read_csv(f"{stem}.losses.csv"),
                        n_tosses=self.prepared[on].sizes["recording"],
                    )
                    | {"object": name, "dataset": on, "calibrated": variant["calibrated"], "data": data}
                )  # fmt: skip
                if variant["mpec"]:
                    table = read_csv(f"{stem}.mpec.csv").assign(data=data)
                    table.insert(0, "dataset", on)
                    table.insert(1, "scheme", f"{variant['name']}_mpec")
                    forms.append(table)
        tables = {
            "ext_velocity_identification": impact_tables.ordered(rows),
            "ext_velocity_against_trajectory": outlook_tables.disagreement_table(self.predictions),
        }
        return tables | ({"ext_impact_mpec": pd.concat(forms, ignore_index=True)} if forms else {})

    def outlook(self) -> dict[str, pd.DataFrame]:
        """Sensitivity and uncertainty."""
        first, last = self.block["variants"][0]["name"], self.block["variants"][-1]["name"]
        folder = self.folder / "sensitivity"
        stems = {dataset: folder / on / dataset for on, dataset in self.cases}
        objects = {dataset: str(self.prepared[dataset].attrs["object"]) for dataset in stems}
        data = {dataset: data_label(self.prepared[dataset]) for dataset in stems}
        tables = {
            "ext_sensitivity": pd.concat(
                [
                    read_csv(f"{stem}.{first}.summary.csv").assign(
                        dataset=dataset, object=objects[dataset], data=data[dataset],
                        restitution_insensitive_below=outlook_tables.insensitive_below(
                            read_csv(f"{stem}.{first}.profile.csv"), self.prepared[dataset]
                        ),
                    )
                    for dataset, stem in stems.items()
                ],
                ignore_index=True,
            ),
            "ext_sobol": pd.concat(
                [
                    read_csv(f"{stem}.{last}.sobol.csv").assign(
                        dataset=dataset, object=objects[dataset], scheme=last, data=data[dataset]
                    )
                    for dataset, stem in stems.items()
                ],
                ignore_index=True,
            ),
        }  # fmt: skip
        variants = self.block["rest_poses"]["variants"]
        if variants:
            places = [(self.folder / "rest_poses" / on / dataset, dataset) for on, dataset in self.cases]
            tables |= outlook_tables.rest_pose_tables(places, variants, data)
        return tables

    def simulators(self, simulated: Sequence[tuple[str, str, str]]) -> dict[str, pd.DataFrame]:
        """Other simulators beside ours."""
        if not simulated:
            return {}
        names = [OWN, OWN_TANGENTIAL, *self.block["simulators"]["names"]]
        rows = [
            outlook_tables.simulator_rows(
                self.folder / "simulators" / on / f"{dataset}.{variant}", names, (on, dataset, variant),
                self.schemes[variant].calibrated, self.block["bootstrap"],
            )
            for on, dataset, variant in simulated
        ]  # fmt: skip
        return {"ext_simulators": pd.concat(rows, ignore_index=True)}


def printed_table(published: pd.DataFrame, artefact: str) -> pd.DataFrame:
    """The printed values of a table, one row per condition, one column per quantity."""
    part = published[published["artefact"] == artefact]
    conditions = part["condition"].str.split(";").map(lambda items: dict(item.split("=", 1) for item in items))
    wide = part.assign(**pd.DataFrame(list(conditions), index=part.index))
    keys = ["object", "parameters", "simulator"]
    return wide.pivot(index=keys, columns="quantity", values="value").reset_index().rename_axis(columns=None)
