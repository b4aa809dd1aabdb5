"""Write recordings in the layout of the I.AM. archives;
:mod:`contactid.tossing.readers.iam_archive` reads them back.

The same content gives the same bytes: no time stamps, a fixed file format version. Poses are
float32 with the low bits set to zero, which is what makes them compress: positions to 2^-17 m (an
error of at most 3.9 um), entries of the rotation matrix to 2^-16 (at most 7.7e-6 rad); motion
capture itself scatters more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from contactid.core import rotations
from contactid.core.atomic import replacing
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties

POSITION_STEP = 2.0**-17  # m
ROTATION_STEP = 2.0**-16
_TIME_STEP = 2.0**-16  # s, 15 us
_MARKER_ERROR = 2.0**-12  # m, mean over a body's markers
_FORMAT = (
    "v110",
    "v110",
)  # read by every HDF5 since 1.10 (2016), and far smaller per group than the oldest format


@dataclass(frozen=True)
class TrackedBody:
    """Poses of one tracked body in the motion capture frame M.

    Attributes
    ----------
    position : (n, 3) m
    orientation : (n, 4) quaternions of R_MB, real part first
    """

    position: np.ndarray
    orientation: np.ndarray


@dataclass(frozen=True)
class ArchiveRecording:
    """One recording: ``name`` is ``Rec_<YYYYMMDDTHHMMSSZ>``, ``tracked`` has one entry for each
    tracked body.
    """

    name: str
    note: str
    tracked: Mapping[str, TrackedBody]


@contextmanager
def new_archive(path: str | Path) -> Iterator[h5py.File]:
    """An empty archive to write into; it takes its final name only once it is complete."""
    with replacing(path) as partial, h5py.File(partial, "w", libver=_FORMAT) as archive:
        yield archive


@contextmanager
def existing_archive(path: str | Path) -> Iterator[h5py.File]:
    """An archive to add to."""
    with h5py.File(path, "r+", libver=_FORMAT) as archive:
        yield archive


def set_text(node: h5py.Group | h5py.Dataset, name: str, text: str) -> None:
    """Set an attribute to a text of fixed length.

    Texts of variable length lie in a heap apart, which takes more room, and a damaged heap can keep
    the HDF5 library busy for ever.
    """
    raw = text.encode("utf-8")
    node.attrs.create(name, np.bytes_(raw), dtype=h5py.string_dtype("utf-8", max(len(raw), 1)))


def write_recording(
    archive: h5py.File,
    recording: ArchiveRecording,
    body: BodyProperties,
    *,
    object_name: str,
    sample_frequency: float,
    timed: bool = True,
) -> None:
    """Add one recording of the body ``object_name`` to an archive that is being written.

    Without ``timed`` the datalog has no column ``Time(s)``, so its sample frequency alone tells the
    time.

    Raises
    ------
    ContactIdError
        Where the body isn't among the tracked ones, its origin isn't its centre of mass (the layout
        can't say otherwise), or a plane has fewer frames than the body.
    """
    if not recording.name.startswith("Rec_"):
        raise ContactIdError(f"{recording.name}: not the name of a recording", "Begin it with Rec_")
    if object_name not in recording.tracked:
        raise ContactIdError(f"{recording.name}: {object_name} is not tracked", "Give its poses")
    if np.any(body.center_of_mass):
        raise ContactIdError(
            f"{object_name}: the centre of mass is not the origin of the body frame",
            "Move the frame to it",
        )
    frames = {name: len(tracked.position) for name, tracked in recording.tracked.items()}
    if min(frames.values()) < frames[object_name]:
        raise ContactIdError(
            f"{recording.name}: a plane has fewer frames than {object_name}", "Give it as many"
        )
    group = archive.create_group(recording.name)
    set_text(group, "note", recording.note)
    set_text(group, "recording_timestamp", recording.name.removeprefix("Rec_"))
    _write_body(group.create_group(f"OBJECT/{object_name}"), body)
    mocap = group.create_group("SENSOR_MEASUREMENT/Mocap")
    columns = (
        ("Frame", "Time(s)", f"{object_name}_MME") if timed else ("Frame", f"{object_name}_MME")
    )
    log = np.zeros(max(frames.values()), dtype=[(column, "<f4") for column in columns])
    log["Frame"] = np.arange(len(log))
    if timed:
        log["Time(s)"] = _round(log["Frame"] / sample_frequency, _TIME_STEP)
    seen = np.asarray(recording.tracked[object_name].position.any(axis=1))
    log[f"{object_name}_MME"][: len(seen)] = np.where(seen, _MARKER_ERROR, 0.0)
    set_text(_compressed(mocap, "datalog", log), "sample_frequency", f"{sample_frequency:g}")
    for name, tracked in recording.tracked.items():
        node = mocap.create_group(f"POSTPROCESSING/{name}")
        _compressed(node, "transforms", _transforms(tracked))


def _write_body(group: h5py.Group, body: BodyProperties) -> None:
    generalised = np.zeros((6, 6))
    generalised[:3, :3] = body.mass * np.eye(3)
    generalised[3:, 3:] = body.inertia
    for name, value, unit in (
        ("vertices", body.vertices, "m"),
        ("inertia", generalised, "kg, kg m2"),
        ("mass", np.array(body.mass), "kg"),
        ("dimensions", np.ptp(body.vertices, axis=0), "m"),
    ):
        dataset = group.create_dataset(name, data=np.asarray(value, dtype="<f8"), track_times=False)
        set_text(dataset, "units", unit)


def _transforms(tracked: TrackedBody) -> np.ndarray:
    """The layout's (4, 4, N) float32 array, rounded."""
    matrices = np.zeros((4, 4, len(tracked.position)), dtype="<f4")
    matrices[:3, :3] = np.moveaxis(
        _round(rotations.matrices(tracked.orientation), ROTATION_STEP), 0, 2
    )
    matrices[:3, 3] = _round(tracked.position, POSITION_STEP).T
    matrices[3, 3] = 1.0
    return matrices


def _compressed(group: h5py.Group, name: str, values: np.ndarray) -> h5py.Dataset:
    """One chunk, so that each entry's time series lies together; bytes of like significance are
    stored together.
    """
    return group.create_dataset(
        name,
        data=values,
        chunks=values.shape,
        compression="gzip",
        compression_opts=9,
        shuffle=True,
        track_times=False,
    )


def _round(values: np.ndarray, step: float) -> np.ndarray:
    return np.round(np.asarray(values, dtype=float) / step) * step
