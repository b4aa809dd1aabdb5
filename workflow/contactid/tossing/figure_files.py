"""Gather a run's files of the tossing study into the data behind its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.configuration import cases
from contactid.core.errors import ContactIdError
from contactid.output.fits import read_json, write_json
from contactid.output.tables import read_csv, write_csv
from contactid.sources.motion import read_dataset
from contactid.tossing import figure_data, impact_figure_data, setup_figure_data
from contactid.tossing.impact_files import read_impacts
from contactid.tossing.preprocess import IDENTIFICATION
from contactid.tossing.rest_pose_distribution import coverage_table
from contactid.tossing.rest_pose_files import read_scores
from contactid.tossing.schemes import velocity_cases
from contactid.tossing.sensitivity import variation_outlines
from contactid.tossing.simulate.box import ContactParameters

Drawn = tuple[pd.DataFrame, list[xr.Dataset]]
_CURVE = tuple(np.round(np.arange(0.05, 1.0, 0.05), 2))
_IN_PLACE_OF = {"fig07_simulated_velocities_substeps": "; contactid at 16 steps in place of Algoryx Dynamics"}
_FINER = 16  # steps per sample of figure 7, which stands in for the simulator that can't be had


def write_figure_data(folder: str | Path, data_folder: str | Path, *, block: Mapping[str, Any]) -> None:
    """Write every figure's csv and ``sources.json``, the line each figure carries about its data.

    Parameters
    ----------
    folder, data_folder
        The study's results, and the prepared datasets.
    block
        The study's block of the configuration.
    """
    figures = _Figures(Path(folder), Path(data_folder), block)
    tables = figures.setup() | figures.impacts() | figures.tosses() | figures.outlook()
    for name, (table, _) in tables.items():
        write_csv(table, Path(folder) / "figures" / f"{name}.csv")
    sources = {
        name: figure_data.describe(datasets) + _IN_PLACE_OF.get(name, "") for name, (_, datasets) in tables.items()
    }
    write_json(Path(folder) / "figures" / "sources.json", sources)


class _Figures:
    """The files of a run, and what figures make of them."""

    def __init__(self, folder: Path, data_folder: Path, block: Mapping[str, Any]) -> None:
        self.folder, self.block = folder, block
        self.cases = cases(block)
        self.identified = list(dict.fromkeys(on for on, _ in self.cases))
        self.predicted = list(dict.fromkeys(dataset for _, dataset in self.cases))
        self.impact_cases = velocity_cases(block)
        names = [*self.identified, *self.predicted, *(on for on, _ in self.impact_cases)]
        self.prepared = {name: read_dataset(data_folder / name / "tosses.nc") for name in dict.fromkeys(names)}
        self.motions = {name: read_dataset(data_folder / name / "motion.nc") for name in self.identified}
        self.objects = {name: str(dataset.attrs["object"]) for name, dataset in self.prepared.items()}
        self.vertices = {name: dataset["vertices"].values for name, dataset in self.prepared.items()}
        self.variant = block["variants"][0]["name"]
        self.example = _example(self.prepared, self.identified, block["figures"]["object"])

    def setup(self) -> dict[str, Drawn]:
        """Figures 1 to 4."""
        example, motion = self.prepared[self.example], self.motions[self.example]
        all_of_them = [self.prepared[name] for name in self.identified]
        return {
            "fig01_example_toss": (setup_figure_data.example_toss_scene(example), [example]),
            "fig02_frames": (setup_figure_data.frames_scene(example, motion), [example]),
            "fig03_setup": (setup_figure_data.setup_scene(example, motion), [example]),
            "fig04_boxes": (setup_figure_data.boxes_scene(all_of_them), all_of_them),
        }

    def impacts(self) -> dict[str, Drawn]:
        """Figures 5 to 9, where the run looks at impacts."""
        if not self.impact_cases:
            return {}
        name = self.block["velocity"]["variants"][0]["name"]
        sources = list(dict.fromkeys(on for on, _ in self.impact_cases))
        dataset = next((on for on in sources if self.objects[on] == self.objects[self.example]), sources[0])
        prepared, reach = self.prepared[dataset], int(self.block["velocity"]["window"])
        _, windows, _ = read_impacts(self.folder / "impacts" / f"{dataset}.{name}.nc", split=IDENTIFICATION)
        window = impact_figure_data.example_window(windows)
        found = ContactParameters(**read_json(self.folder / "fits" / f"{dataset}.{name}.json")["parameters"])

        def velocities(simulated: dict[str, tuple[ContactParameters, int]] | None = None) -> Drawn:
            return impact_figure_data.window_velocities(prepared, window, reach, simulated), [prepared]

        sweeps = {on: read_dataset(self.folder / "sweeps" / f"{on}.{name}.nc") for on in sources}
        return {
            "fig05_vertex_heights": (impact_figure_data.vertex_heights(prepared, window), [prepared]),
            "fig06_impact_velocities": velocities(),
            "fig07_simulated_velocities_substeps": velocities({f"simulated, {_FINER} steps": (found, _FINER)}),
            "fig08_simulated_velocities": velocities({"simulated": (found, 1)}),
            "fig09_velocity_costs": (
                impact_figure_data.velocity_costs(sweeps, self.objects),
                [self.prepared[on] for on in sources],
            ),
        }

    def tosses(self) -> dict[str, Drawn]:
        """Figures 10 to 13."""
        example, figures = self.prepared[self.example], self.block["figures"]
        sweeps = {on: read_dataset(self.folder / "sweeps" / f"{on}.{self.variant}.nc") for on in self.identified}
        return {
            "fig10_release_and_rest": (figure_data.height_of_example(example), [example]),
            "fig11_trajectory": (figure_data.trajectory_of_example(example), [example]),
            "fig12_trajectory_costs": (
                figure_data.costs(sweeps, self.objects),
                [self.prepared[on] for on in self.identified],
            ),
            "fig13_rest_poses": (
                figure_data.rest_poses(
                    self._predictions(), self.objects, self.vertices, figures["tosses"], figures["seed"]
                ),
                [self.prepared[dataset] for dataset in self.predicted],
            ),
        }

    def _predictions(self) -> dict[tuple[str, str], pd.DataFrame]:
        """Predictions by (dataset, kind of parameters), with the paper's schemes."""
        folder = self.folder / "predictions"
        found = {
            (dataset, "trajectory"): read_csv(folder / on / f"{dataset}.{self.variant}.csv")
            for on, dataset in self.cases
        }
        if self.impact_cases:
            name = self.block["velocity"]["variants"][0]["name"]
            found |= {
                (dataset, "velocity"): read_csv(folder / on / f"{dataset}.{name}.csv")
                for on, dataset in self.impact_cases
            }
        return found

    def outlook(self) -> dict[str, Drawn]:
        """Figure 14 and what goes beyond the paper."""
        shown = self._two_objects()
        figures, folder = self.block["figures"], self.folder / "sensitivity"
        varied = {
            dataset: read_csv(folder / on / f"{dataset}.{self.variant}.csv").astype({"toss": str})
            for on, dataset in shown
        }
        last = self.block["variants"][-1]["name"]
        sobol = [
            read_csv(folder / on / f"{dataset}.{last}.sobol.csv").assign(object=self.objects[dataset])
            for on, dataset in self.cases
        ]
        everything = [self.prepared[dataset] for dataset in self.predicted]
        tables: dict[str, Drawn] = {
            "fig14_sensitivity": (
                variation_outlines(varied, self.objects, self.vertices, figures["tosses"], figures["seed"]),
                [self.prepared[dataset] for _, dataset in shown],
            ),
            "ext_sobol": (pd.concat(sobol, ignore_index=True), everything),
        }
        variants = self.block["rest_poses"]["variants"]
        if variants:
            place = self.folder / "rest_poses"
            scores = dict(read_scores(place / on / f"{dataset}.{variants[-1]}.json") for on, dataset in self.cases)
            outlines = [read_csv(place / on / f"{dataset}.{variants[-1]}.outlines.csv") for on, dataset in shown]
            tables["ext_calibration_curve"] = (coverage_table(scores, _CURVE), everything)
            tables["ext_rest_pose_distribution"] = (
                pd.concat(outlines, ignore_index=True),
                [self.prepared[dataset] for _, dataset in shown],
            )
        return tables

    def _two_objects(self) -> list[tuple[str, str]]:
        """The example's case and the one before it (the paper shows Box005 and Box006), or all there are."""
        place = self.identified.index(self.example)
        first = max(min(place - 1, len(self.cases) - 2), 0)
        return self.cases[first : first + 2]


def _example(prepared: Mapping[str, xr.Dataset], identified: Sequence[str], wanted: str) -> str:
    """The identification dataset that shows an object."""
    for name in identified:
        if prepared[name].attrs["object"] == wanted:
            return name
    known = ", ".join(dict.fromkeys(str(prepared[name].attrs["object"]) for name in identified))
    raise ContactIdError(
        f"configuration: tossing.figures.object is {wanted}, which no identification dataset shows",
        f"Use one of {known}",
    )
