"""A small archive in the I.AM. layout, and how the tests of its reader read, change and refuse it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from iam_writer import ArchiveRecording, TrackedBody, new_archive, write_recording
from motion_in_memory import read_iam_archive

FREQUENCY = 360.0
N_FRAMES = 150
NAMES = ("Rec_20220101T100000Z", "Rec_20220101T100100Z", "Rec_20220101T100200Z")
MOCAP = "SENSOR_MEASUREMENT/Mocap"
POSES = f"{MOCAP}/POSTPROCESSING/Box006/transforms"


def body() -> BodyProperties:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return BodyProperties(
        0.5 * signs * [0.205, 0.155, 0.1], 0.365, np.diag([1.04e-3, 1.59e-3, 2.02e-3])
    )


def poses(seed: int, n: int = N_FRAMES) -> tuple[np.ndarray, np.ndarray]:
    """A smooth motion (n, 3), (n, 4) in M."""
    rng = np.random.default_rng(seed)
    time = np.arange(n)[:, None] / FREQUENCY
    position = rng.normal(size=3) + rng.normal(size=3) * time
    return position, rotations.continuous(
        rotations.exp(rng.normal(size=3) + rng.normal(size=3) * time)
    )


def recording(index: int, *, note: str = "toss") -> ArchiveRecording:
    plane = (
        np.tile([0.1, -0.2, 0.01], (N_FRAMES + 3, 1)),
        np.tile(rotations.exp([0, 0.01, 0.3]), (N_FRAMES + 3, 1)),
    )
    tracked = {
        "Box006": TrackedBody(*poses(index)),
        "ConveyorPart001": TrackedBody(*plane),
    }
    return ArchiveRecording(NAMES[index], note, tracked)


def write(path: Path, *recordings: ArchiveRecording) -> Path:
    with new_archive(path) as archive:
        for each in recordings or [recording(index) for index in range(3)]:
            write_recording(archive, each, body(), object_name="Box006", sample_frequency=FREQUENCY)
    return path


def read(path: Path, **changes: object):
    options = {"licence": "CC0-1.0", "surface_name": "ConveyorPart001"} | changes
    return read_iam_archive(path, "Box006", **options)  # type: ignore[arg-type]


def left_out(path: Path, **changes: object) -> dict[str, str]:
    return json.loads(read(path, **changes).attrs["left_out"])


def replace(node: h5py.Group, name: str, values: object, attributes: dict | None = None) -> None:
    kept = dict(node[name].attrs) if attributes is None else attributes
    del node[name]
    node.create_dataset(name, data=values)
    for key, value in kept.items():
        node[name].attrs[key] = value


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(ContactIdError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)
