"""Motion data one recording at a time: what a reader hands over, and a writer that never holds more than that.

A reader's :class:`MotionStream` gives usable recordings one after the other. :func:`write_motion` puts them into the
canonical file as they come, so that the memory needed doesn't grow with the archive; :func:`collect` makes the same
dataset in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import h5netcdf
import numpy as np
import xarray as xr

from contactid.core.atomic import replacing, require_space
from contactid.core.errors import ContactIdError
from contactid.sources.left_out import joined
from contactid.sources.motion import (
    COMPRESSION_LEVEL,
    SAMPLE_VARIABLES,
    UNITS,
    BodyProperties,
    Recording,
    body_problems,
    build_motion,
    pose_problems,
    without_samples,
)

_CHUNK = 16384  # samples, half a megabyte of the widest variable: fits HDF5's chunk cache, so that appending is cheap
_COMPONENTS = {"time": (), "position": ("xyz",), "orientation": ("wxyz",)}
_BYTES_PER_SAMPLE = 64
# HDF5 doesn't survive a full disk, so there must be room for all that it may still write when it closes a file
_LEAST_FREE = 1 << 20
_LENGTHS = {"xyz": 3, "wxyz": 4}


@dataclass(frozen=True)
class MotionStream:
    """Recordings of one body that are still to be read.

    Attributes
    ----------
    body, object_name, sample_frequency, source, licence, synthetic
        As in :mod:`contactid.sources.motion`; the frequency is in Hz.
    recordings
        Usable recordings, each read when it is asked for. Raises :class:`ContactIdError` where there is none.
    attributes
        Further attributes of the dataset, complete only once ``recordings`` is exhausted: ``left_out`` is one.
    """

    body: BodyProperties
    object_name: str
    sample_frequency: float
    source: str
    licence: str
    synthetic: bool
    recordings: Iterator[Recording]
    attributes: dict[str, str] = field(default_factory=dict)


def collect(stream: MotionStream) -> xr.Dataset:
    """The canonical dataset, wholly in memory.

    Raises
    ------
    ContactIdError
        For what the reader or the validation finds.
    """
    motion = build_motion(
        list(stream.recordings),
        stream.body,
        object_name=stream.object_name,
        sample_frequency=stream.sample_frequency,
        source=stream.source,
        licence=stream.licence,
        synthetic=stream.synthetic,
    )
    return motion.assign_attrs(stream.attributes)


def write_motion(stream: MotionStream, path: str | Path, **attributes: str) -> None:
    """Write the canonical dataset as netCDF, one recording at a time, and give it its name only once it is whole.

    Parameters
    ----------
    stream
        Read to its end.
    path
        Of the netCDF file.
    **attributes
        Further attributes of the dataset.

    Raises
    ------
    ContactIdError
        For what the reader or the validation finds, and where the file can't be written.
    """
    problems = body_problems(stream.body)
    if problems:
        raise ContactIdError(f"{stream.source}: {joined(problems)}", "Check the body's properties")
    with replacing(path) as partial:
        kept: list[Recording] = []
        sizes: list[int] = []
        with h5netcdf.File(partial, "w") as file:
            samples = _Samples(file, partial)
            for recording in stream.recordings:
                _check(recording, stream.source)
                samples.append(recording, stream.sample_frequency)
                kept.append(replace(recording, position=np.empty((0, 3)), orientation=np.empty((0, 4))))
                sizes.append(len(recording.position))
                del recording  # before the next one is read
            samples.flush()
        rest = without_samples(
            kept,
            sizes,
            stream.body,
            object_name=stream.object_name,
            sample_frequency=stream.sample_frequency,
            source=stream.source,
            licence=stream.licence,
            synthetic=stream.synthetic,
        )
        rest = rest.assign_attrs({**stream.attributes, **attributes})
        rest.to_netcdf(partial, mode="a", engine="h5netcdf")


def _check(recording: Recording, source: str) -> None:
    problems = pose_problems(recording.position, recording.orientation)
    if problems:
        raise ContactIdError(f"{source}: recording {recording.name}: {joined(problems)}", "Leave it out")


class _Samples:
    """The variables along ``sample`` of a file that is being written; short recordings go to the disk together."""

    def __init__(self, file: h5netcdf.File, path: Path) -> None:
        require_space(path.parent, _LEAST_FREE)
        self.file = file
        self.path = path
        self.waiting: dict[str, list[np.ndarray]] = {name: [] for name in SAMPLE_VARIABLES}
        self.n_waiting = 0
        self.n_written = 0
        file.dimensions = {"sample": None, **_LENGTHS}
        for name in SAMPLE_VARIABLES:
            components = _COMPONENTS[name]
            variable = file.create_variable(
                name,
                ("sample", *components),
                dtype="f8",
                chunks=(_CHUNK, *(_LENGTHS[component] for component in components)),
                compression="gzip",
                compression_opts=COMPRESSION_LEVEL,
                shuffle=True,
            )
            variable.attrs["units"] = UNITS[name]

    def append(self, recording: Recording, sample_frequency: float) -> None:
        n_samples = len(recording.position)
        self.waiting["time"].append(np.arange(n_samples) / sample_frequency)
        self.waiting["position"].append(recording.position)
        self.waiting["orientation"].append(recording.orientation)
        self.n_waiting += n_samples
        if self.n_waiting >= _CHUNK:
            self.flush()

    def flush(self) -> None:
        if not self.n_waiting:
            return
        require_space(self.path.parent, _BYTES_PER_SAMPLE * self.n_waiting + _LEAST_FREE)
        end = self.n_written + self.n_waiting
        self.file.resize_dimension("sample", end)
        for name, parts in self.waiting.items():
            self.file[name][self.n_written : end] = parts[0] if len(parts) == 1 else np.concatenate(parts)
            parts.clear()
        self.n_waiting, self.n_written = 0, end
