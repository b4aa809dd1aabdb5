"""What a finished run has identified of its tossed bodies, read from the run's folder.

The run's ``provenance.json`` has the configuration that it was made with, ``tossing/fits/`` the
parameters, and ``data/<dataset>/`` the tosses that these were identified on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.fits import read_json
from contactid.output.tables import read_csv
from contactid.sources.motion import BodyProperties, body_of, opened_dataset
from contactid.tossing.configuration import (
    Scheme,
    cases,
    predictions_of,
    schemes_of,
    velocity_cases,
)
from contactid.tossing.prepare.poses import PlaneCorrection

_RECORD = "provenance.json"  # the run writes it when every study is done
_COMMANDS = {
    "default": "make",
    "public": "make public",
    "fourtu": "make 4tu",
    "benchmark": "make benchmark",
}


@dataclass(frozen=True)
class IdentifiedBody:
    """A dataset that parameters were identified on."""

    dataset: str  # its name in the run
    object: str  # what was tossed
    body: BodyProperties  # nominal, as the data describe it
    sample_frequency: float  # Hz
    synthetic: bool  # whether the data are simulated
    # where its surface was found to be, relative to the data's own frame; None where the data name
    # surfaces, whose frames differ from recording to recording
    plane: PlaneCorrection | None
    schemes: Mapping[str, Scheme]  # by name, those whose parameters come from this dataset


@dataclass(frozen=True)
class FinishedRun:
    """A finished run's folder, the tossing study's block of its configuration, and what it
    identified on.
    """

    folder: Path
    block: Mapping[str, Any]
    bodies: tuple[IdentifiedBody, ...]
    commit: str | None

    @property
    def name(self) -> str:
        """The run's name."""
        return self.folder.resolve().name

    def fit(self, identified: IdentifiedBody, scheme: Scheme) -> dict[str, Any]:
        """The fit record of a scheme."""
        return read_json(self.folder / "tossing/fits" / f"{identified.dataset}.{scheme.fit}.json")

    def calibration(self, identified: IdentifiedBody) -> Path:
        """The file of the calibration of a dataset."""
        return self.folder / "tossing/fits" / f"{identified.dataset}.calibration.json"

    def data(self, identified: IdentifiedBody, form: str) -> Path:
        """A file of a dataset: ``motion`` as it was read, ``tosses`` as they were prepared."""
        return self.folder / "data" / identified.dataset / f"{form}.nc"

    def own_losses(self, identified: IdentifiedBody, scheme: str) -> np.ndarray:
        """Losses (eq. 18) of the run's own test tosses by a scheme, in the digits of its tables;
        empty if none.
        """
        tables = [
            read_csv(file)["loss"]
            for on, dataset, name in predictions_of(self.block)
            if (on, name) == (identified.dataset, scheme)
            and (
                file := self.folder / "tossing/predictions" / on / f"{dataset}.{name}.csv"
            ).is_file()
        ]
        return pd.concat(tables).to_numpy(dtype=float) if tables else np.zeros(0)

    def rest_pose_model(self, identified: IdentifiedBody, scheme: str) -> dict[str, Any] | None:
        """The record of scores that regions of rest poses by a scheme are made from; None where the
        run has none.

        A run that predicts several datasets has a file for each, which differ in the test tosses'
        scores alone; the first is taken.
        """
        for on, dataset in cases(self.block):
            file = self.folder / "tossing/rest_poses" / on / f"{dataset}.{scheme}.json"
            if on == identified.dataset and file.is_file():
                return read_json(file)
        return None


def size_of(body: BodyProperties) -> str:
    """Sides along x_B, y_B and z_B in words, ``205 x 155 x 100 mm``."""
    return " x ".join(f"{1e3 * side:.0f}" for side in np.ptp(body.vertices, axis=0)) + " mm"


def read_run(folder: str | Path) -> FinishedRun:
    """Read what a finished run has identified.

    Raises :class:`ContactIdError` where the folder isn't a finished run with the tossing study, or
    lacks a file that its configuration asks for.
    """
    folder = Path(folder)
    if not (folder / _RECORD).is_file():
        raise _unfinished(
            folder,
            "is no finished run and no report of toss"
            if folder.is_dir()
            else "there is no such run",
        )
    record = read_json(folder / _RECORD)
    try:
        configuration = record["configuration"]
        if "tossing" not in configuration["studies"]:
            raise ContactIdError(
                f"{folder}: this run has no tossing study",
                "Name another run, or run it with tossing",
            )
        block = configuration["tossing"]
        schemes = schemes_of(block)
        on = {
            "trajectory": dict.fromkeys(identified for identified, _ in cases(block)),
            "velocity": dict.fromkeys(identified for identified, _ in velocity_cases(block)),
        }
    except (KeyError, TypeError) as error:
        raise ContactIdError(
            f"{folder}: its {_RECORD} is that of another version of this program ({error} is missing)",
            f"Run it again: {_command(folder)}",
        ) from None
    by_dataset: dict[str, dict[str, Scheme]] = {}
    for scheme in schemes.values():
        for dataset in on[scheme.parameters]:
            by_dataset.setdefault(dataset, {})[scheme.name] = scheme
    _check_files(folder, by_dataset)
    bodies = tuple(_identified(folder, dataset, found) for dataset, found in by_dataset.items())
    return FinishedRun(folder, block, bodies, record.get("git_commit"))


def _check_files(folder: Path, by_dataset: Mapping[str, Mapping[str, Scheme]]) -> None:
    needed = [
        f"data/{dataset}/{form}.nc" for dataset in by_dataset for form in ("motion", "tosses")
    ]
    for dataset, found in by_dataset.items():
        needed += [f"tossing/fits/{dataset}.{scheme.fit}.json" for scheme in found.values()]
        if any(scheme.calibrated for scheme in found.values()):
            needed.append(f"tossing/fits/{dataset}.calibration.json")
    missing = [file for file in dict.fromkeys(needed) if not (folder / file).is_file()]
    if missing:
        more = f" and {len(missing) - 1} more files" if len(missing) > 1 else ""
        raise _unfinished(folder, f"lacks {missing[0]}{more}")


def _unfinished(folder: Path, problem: str) -> ContactIdError:
    there = sorted(file.parent.name for file in folder.absolute().parent.glob(f"*/{_RECORD}"))
    others = f", or name a run that is finished: {', '.join(there)}" if there else ""
    return ContactIdError(f"{folder}: {problem}", f"Finish it first ({_command(folder)}){others}")


def _command(folder: Path) -> str:
    return _COMMANDS.get(folder.absolute().name, "snakemake with its configuration")


def _identified(folder: Path, dataset: str, schemes: Mapping[str, Scheme]) -> IdentifiedBody:
    with opened_dataset(folder / "data" / dataset / "tosses.nc") as prepared:
        said = prepared.attrs
        slope = np.array([said["plane_slope_x"], said["plane_slope_y"]])
        plane = PlaneCorrection(
            said["plane_height"], slope, said["plane_scatter"], int(said["plane_tosses"])
        )
        return IdentifiedBody(
            dataset,
            str(said["object"]),
            body_of(prepared),
            float(said["sample_frequency"]),
            bool(said["synthetic"]),
            None if "surfaces" in said else plane,
            schemes,
        )
