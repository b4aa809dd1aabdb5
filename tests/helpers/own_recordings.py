"""Files of a grasped object's recording in the form of ``contactid estimate``, made from a twin.

``python tests/helpers/own_recordings.py examples/estimate`` writes the example.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.inertia import InertialParameters
from contactid.inhand.readers.disturbances import DISTURBANCES
from contactid.inhand.readers.recordings import true_parameters
from contactid.inhand.readers.twins import simulate_recording, twin_options
from twins_for_tests import OBJECTS_FILE, STUDY

NOISE = ("position_sd", "orientation_sd", "contact_position_sd")


def moved(
    source: str, name: str, seed: int, kind: str, strength: float
) -> tuple[xr.Dataset, InertialParameters]:
    """A twin's recording and truth, its motion scaled by ``strength``, with unsensed forces of
    another kind.
    """
    block = STUDY["twin"]
    motion = {
        key: strength * block["sources"][source]["motion"][key] for key in ("displacement", "turn")
    }
    settings = block["sources"][source] | {"motion": block["sources"][source]["motion"] | motion}
    options = twin_options(block | {"sources": block["sources"] | {source: settings}}, OBJECTS_FILE)
    change = DISTURBANCES[kind]
    recording, truth = simulate_recording(
        source, name, seed, options, residual=change if callable(change) else None
    )
    return recording, true_parameters(truth)


def table_of(recording: xr.Dataset) -> pd.DataFrame:
    """The columns of :mod:`contactid.inhand.own.files`."""
    columns: dict[str, np.ndarray] = {"time": recording["time"].values}
    for name, axes in (("object_position", "xyz"), ("object_orientation", "wxyz")):
        columns |= {f"{name}_{axis}": recording[name].values[:, i] for i, axis in enumerate(axes)}
    contacts = (
        recording["contact"].values
        if "contact" in recording.coords
        else range(recording.sizes["contact"])
    )
    for kind in ("contact_force", "contact_position", "contact_force_sd", "contact_torque"):
        if kind in recording:
            for c, contact in enumerate(contacts):
                columns |= {
                    f"{kind}_{contact}_{a}": recording[kind].values[:, c, i]
                    for i, a in enumerate("xyz")
                }
    return pd.DataFrame(columns)


def write_own(recording: xr.Dataset, folder: Path) -> list[str]:
    """Write recording.csv, hull.csv and noise.yaml; gives the command's arguments for them."""
    folder.mkdir(parents=True, exist_ok=True)
    table = table_of(recording)
    table.columns.name = None
    digits = {
        name: 6 if name.startswith(("object", "contact_position", "contact_torque")) else 4
        for name in table
    }
    table.round(digits).to_csv(folder / "recording.csv", index=False, lineterminator="\n")
    pd.DataFrame(recording["hull"].values, columns=list("xyz")).to_csv(
        folder / "hull.csv", index=False, lineterminator="\n"
    )
    lines = [f"{name}: {recording.attrs[name]:.3g}" for name in NOISE]
    (folder / "noise.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [str(folder / name) for name in ("recording.csv", "hull.csv", "noise.yaml")]
    return [files[0], "--hull", files[1], "--noise", files[2]]


def write_example(folder: Path) -> None:
    """The example: a box in hand, moved twice as far as in the study, with a preload that relaxes."""
    write_own(_example()[0].isel(sample=slice(0, 150)), folder)


def example_truth() -> InertialParameters:
    """The example's box."""
    return _example()[1]


def _example() -> tuple[xr.Dataset, InertialParameters]:
    return moved("in_hand_kinematic", "box_1", 9, "preload relaxes in 1 s", 2.0)


if __name__ == "__main__":
    write_example(Path(sys.argv[1]))
