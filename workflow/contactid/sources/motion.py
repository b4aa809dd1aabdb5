"""The canonical form of motion data: one xarray dataset per source, whatever the source looked
like.

Recordings have different lengths, so samples are stored one after the other (the CF convention's
*contiguous ragged array*): ``row_size[recording]`` says how many samples each recording has.

===================== =========================== ======= ============================================================
variable              dimensions                  unit    meaning
===================== =========================== ======= ============================================================
time                  sample                      s       since the recording's first sample
position              sample, xyz                 m       origin of the body frame B in the reference frame M
orientation           sample, wxyz                1       unit quaternion of R_MB, real part first
row_size              recording                   1       samples per recording
note                  recording                           the experimenter's remark
surface_position      recording, xyz              m       origin of the surface frame C in M
surface_orientation   recording, wxyz             1       unit quaternion of R_MC; z_C is the surface's normal
surface_velocity      recording, xyz              m/s     velocity of the surface's material (a belt) in C
vertices              vertex, xyz                 m       contact points in B
mass                                              kg
center_of_mass        xyz                         m       in B
inertia               xyz, xyz_2                  kg m2   about the centre of mass, axes of B
===================== =========================== ======= ============================================================

Attributes: ``object``, ``sample_frequency`` (Hz), ``source``, ``licence``, ``synthetic`` (0 or 1).

A reader hands over a :class:`MotionStream`, which gives usable recordings one after the other.
:func:`write_motion` puts them into the canonical file as they come, so that the memory needed
doesn't grow with the archive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from contactid.core.atomic import replacing, require_space
from contactid.core.errors import ContactIdError
from contactid.core.references import arguments, resolve
from contactid.sources.left_out import joined
from contactid.sources.registry import Dataset

if TYPE_CHECKING:
    import h5netcdf

UNITS = {
    "time": "s", "position": "m", "orientation": "1", "row_size": "1", "surface_position": "m",
    "surface_orientation": "1", "surface_velocity": "m/s", "vertices": "m", "mass": "kg", "center_of_mass": "m",
    "inertia": "kg m2",
}  # fmt: skip
SAMPLE_VARIABLES = ("time", "position", "orientation")
COMPRESSION_LEVEL = 4
# readers make quaternions of unit length; single precision leaves less than this
_UNIT_NORM_TOLERANCE = 1e-6
# relative; measured moments of a flat body may exceed the bound by their own error
_TRIANGLE_TOLERANCE = 0.02
# m; a larger "box" means millimetres were taken for metres
_LARGEST_PLAUSIBLE_BODY = 10.0
# samples, half a megabyte of the widest variable: fits HDF5's chunk cache, so that appending is
# cheap
_CHUNK = 16384
_COMPONENTS = {"time": (), "position": ("xyz",), "orientation": ("wxyz",)}
# 8 doubles: time, position and orientation
_BYTES_PER_SAMPLE = 64
# HDF5 doesn't survive a full disk, so there must be room for all that it may still write when it
# closes a file
_LEAST_FREE = 1 << 20
_LENGTHS = {"xyz": 3, "wxyz": 4}


@dataclass(frozen=True)
class Recording:
    """One recording as a reader hands it over; shapes and units as in the module's table."""

    name: str
    position: np.ndarray
    orientation: np.ndarray
    surface_position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    surface_orientation: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    surface_velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    note: str = ""


@dataclass(frozen=True)
class BodyProperties:
    """Geometry and inertia of a rigid body in its frame B; SI units, shapes as in the module's
    table.
    """

    vertices: np.ndarray
    mass: float
    inertia: np.ndarray
    center_of_mass: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def length(self) -> float:
        """The length l of eq. 18 (tossing): the body's extent along x_B, in m."""
        return float(np.ptp(self.vertices[:, 0]))


@dataclass(frozen=True)
class MotionStream:
    """Recordings of one body that are still to be read.

    Attributes
    ----------
    body, object_name, sample_frequency, source, licence, synthetic
        As in :mod:`contactid.sources.motion`; the frequency is in Hz.
    recordings : usable recordings, each read when it is asked for. Raises :class:`ContactIdError`
        where there is none.
    attributes : further attributes of the dataset, complete only once ``recordings`` is exhausted:
        ``left_out`` is one
    """

    body: BodyProperties
    object_name: str
    sample_frequency: float
    source: str
    licence: str
    synthetic: bool
    recordings: Iterator[Recording]
    attributes: dict[str, str] = field(default_factory=dict)


def uniform_box(size: Sequence[float] | np.ndarray, mass: float) -> BodyProperties:
    """A homogeneous box with sides (3,) m along the axes of B, whose origin is its middle."""
    sides = np.asarray(size, dtype=float)
    # (8, 3), in half sides
    corners = np.array(list(product((-0.5, 0.5), repeat=3)))
    squares = sides**2
    moments = mass / 12.0 * (np.sum(squares) - squares)
    return BodyProperties(corners * sides, mass, np.diag(moments))


def without_samples(
    recordings: Sequence[Recording], sizes: Sequence[int], stream: MotionStream
) -> xr.Dataset:
    """The canonical dataset but for :data:`SAMPLE_VARIABLES`; ``sizes`` are numbers of samples."""
    if not recordings:
        raise ContactIdError(
            f"{stream.source}: no usable recording of {stream.object_name}",
            "Check the folder or archive",
        )

    def per_recording(name: str) -> np.ndarray:
        return np.stack(
            [np.asarray(getattr(recording, name), dtype=float) for recording in recordings]
        )

    part = xr.Dataset(
        {
            "row_size": ("recording", np.array(sizes, dtype="int64")),
            "note": (
                "recording",
                np.array([recording.note for recording in recordings], dtype=object),
            ),
            "surface_position": (("recording", "xyz"), per_recording("surface_position")),
            "surface_orientation": (("recording", "wxyz"), per_recording("surface_orientation")),
            "surface_velocity": (("recording", "xyz"), per_recording("surface_velocity")),
            "vertices": (("vertex", "xyz"), np.asarray(stream.body.vertices, dtype=float)),
            "mass": ((), float(stream.body.mass)),
            "center_of_mass": ("xyz", np.asarray(stream.body.center_of_mass, dtype=float)),
            "inertia": (("xyz", "xyz_2"), np.asarray(stream.body.inertia, dtype=float)),
        },
        coords={"recording": np.array([recording.name for recording in recordings], dtype=object)},
        attrs={
            "object": stream.object_name,
            "sample_frequency": float(stream.sample_frequency),
            "source": stream.source,
            "licence": stream.licence,
            "synthetic": int(stream.synthetic),
        },
    )
    for name in set(UNITS) - set(SAMPLE_VARIABLES):
        part[name].attrs["units"] = UNITS[name]
    return part


def motion_in_memory(stream: MotionStream) -> xr.Dataset:
    """The canonical dataset of a stream that is read to its end, unchecked."""
    recordings = list(stream.recordings)
    sizes = [len(recording.position) for recording in recordings]
    times = [np.arange(size) / stream.sample_frequency for size in sizes]
    samples = {
        "time": times,
        "position": [recording.position for recording in recordings],
        "orientation": [recording.orientation for recording in recordings],
    }
    motion = without_samples(recordings, sizes, stream)
    return motion.assign(
        {
            name: (("sample", *_COMPONENTS[name]), np.concatenate(parts), {"units": UNITS[name]})
            for name, parts in samples.items()
        }
    )


def body_problems(body: BodyProperties) -> list[str]:
    """Everything that no rigid body in SI units can have, one sentence each."""
    problems = []
    # damaged files hold any number; what comes of it is refused here, with no warning before
    with np.errstate(over="ignore", invalid="ignore"):
        extent = float(np.ptp(body.vertices, axis=0).max()) if len(body.vertices) else 0.0
    if not 0 < extent < _LARGEST_PLAUSIBLE_BODY:
        problems.append(f"the body measures {extent:g} m, and lengths must be in metres")
    if not 0 < body.mass < np.inf:
        problems.append(f"the mass is {body.mass:g} kg, not a positive number")
    if not np.isfinite(body.inertia).all():
        return [*problems, "the inertia is not finite"]
    with np.errstate(over="ignore"):
        moments = np.linalg.eigvalsh(body.inertia)
    if not moments[0] > 0:
        problems.append(
            f"the inertia is not positive definite (smallest moment {moments[0]:g} kg m2)"
        )
    elif moments[2] > (moments[0] + moments[1]) * (1.0 + _TRIANGLE_TOLERANCE):
        first, second, third = (f"{moment:.3g}" for moment in moments)
        problems.append(
            f"no body has the principal moments {first}, {second} and {third} kg m2, "
            "one of which exceeds the others' sum"
        )
    return problems


def pose_problems(position: np.ndarray, orientation: np.ndarray) -> list[str]:
    """What keeps poses (n, 3) and (n, 4) from being canonical, one sentence each."""
    problems = []
    for name, values in (("position", position), ("orientation", orientation)):
        missing = ~np.isfinite(values).all(axis=1)
        if missing.any():
            count = f"{np.count_nonzero(missing)} of {len(values)} frames"
            problems.append(f"NaN in {count} of the {name} (first: {np.argmax(missing)})")
    is_complete = np.isfinite(orientation).all(axis=1)
    norms = np.linalg.norm(orientation[is_complete], axis=1)
    if len(norms) and np.abs(norms - 1.0).max() > _UNIT_NORM_TOLERANCE:
        problems.append("quaternions that are not of unit length")
    return problems


def body_of(motion: xr.Dataset) -> BodyProperties:
    """The body of a canonical (or preprocessed) dataset."""
    return BodyProperties(
        vertices=motion["vertices"].values.astype(float),
        mass=float(motion["mass"]),
        inertia=motion["inertia"].values.astype(float),
        center_of_mass=motion["center_of_mass"].values.astype(float),
    )


def iterate_recordings(motion: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield each recording's name and its part of the dataset, samples cut out."""
    sizes, names = motion["row_size"].values, motion["recording"].values
    for index, end in enumerate(np.cumsum(sizes)):
        part = slice(int(end) - int(sizes[index]), int(end))
        yield str(names[index]), motion.isel(sample=part, recording=index)


def some_recordings(motion: xr.Dataset, chosen: np.ndarray) -> xr.Dataset:
    """The recordings of a canonical dataset for which ``chosen`` (recording,) is true."""
    samples = np.repeat(chosen, motion["row_size"].values)
    return motion.isel(recording=np.flatnonzero(chosen), sample=np.flatnonzero(samples))


def write_dataset(dataset: xr.Dataset, path: str | Path) -> None:
    """Write a dataset as netCDF (h5netcdf, compressed), under its name only once it is complete."""
    encoding = {
        str(name): {"zlib": True, "complevel": COMPRESSION_LEVEL}
        for name in dataset.variables
        if dataset[name].dtype.kind in "fi"
    }
    # netCDF compresses no scalar
    encoding = {name: options for name, options in encoding.items() if dataset[name].ndim}
    with replacing(path) as partial:
        # by way of memory: HDF5 can't be trusted to survive a full disk
        partial.write_bytes(dataset.to_netcdf(engine="h5netcdf", encoding=encoding))


@contextmanager
def opened_dataset(path: str | Path) -> Iterator[xr.Dataset]:
    """A dataset that :func:`write_dataset` wrote, its values read only where they are asked for.

    Raises :class:`ContactIdError` where the file can't be read.
    """
    try:
        dataset = xr.open_dataset(path, engine="h5netcdf")
    except (OSError, ValueError) as error:
        raise ContactIdError(
            f"{path}: not a readable netCDF file ({error})", "Delete it and run again"
        ) from None
    with dataset:
        yield dataset


def read_dataset(path: str | Path) -> xr.Dataset:
    """Load a dataset that :func:`write_dataset` wrote, wholly into memory."""
    with opened_dataset(path) as dataset:
        try:
            return dataset.load()
        except (OSError, ValueError) as error:
            raise ContactIdError(
                f"{path}: not a readable netCDF file ({error})", "Delete it and run again"
            ) from None


def write_motion(stream: MotionStream, path: str | Path, **attributes: str) -> None:
    """Write the canonical dataset as netCDF, one recording at a time, and give it its name only
    once it is whole.

    Parameters
    ----------
    stream : read to its end
    path : of the netCDF file
    **attributes : further attributes of the dataset

    Raises
    ------
    ContactIdError : for what the reader or the validation finds, and where the file can't be
        written
    """
    import h5netcdf

    problems = body_problems(stream.body)
    if problems:
        raise ContactIdError(f"{stream.source}: {joined(problems)}", "Check the body's properties")
    with replacing(path) as partial:
        recordings_kept: list[Recording] = []
        sizes: list[int] = []
        with h5netcdf.File(partial, "w") as file:
            samples = _Samples(file, partial)
            for recording in stream.recordings:
                if problems := pose_problems(recording.position, recording.orientation):
                    raise ContactIdError(
                        f"{stream.source}: recording {recording.name}: {joined(problems)}",
                        "Leave it out",
                    )
                samples.append(recording, stream.sample_frequency)
                # its name, note and surface alone: an archive's samples would fill the memory
                recordings_kept.append(
                    replace(recording, position=np.empty((0, 3)), orientation=np.empty((0, 4)))
                )
                sizes.append(len(recording.position))
                # before the next one is read
                del recording
            samples.flush()
        rest = without_samples(recordings_kept, sizes, stream)
        rest = rest.assign_attrs({**stream.attributes, **attributes})
        rest.to_netcdf(partial, mode="a", engine="h5netcdf")


class _Samples:
    """The variables along ``sample`` of a file that is being written; short recordings go to the
    disk together.
    """

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
            # a long recording comes alone, and its copy might not fit into the memory
            values = parts[0] if len(parts) == 1 else np.concatenate(parts)
            self.file[name][self.n_written : end] = values
            parts.clear()
        self.n_waiting = 0
        self.n_written = end


def read_data(reader: str, entry: Mapping[str, Any], raw: str, data: str) -> None:
    """Read a dataset's own files and write its canonical form.

    Parameters
    ----------
    reader : the function, as :class:`contactid.sources.registry.Reader` describes it
    entry : the registry's
    raw : the file or folder to read
    data : the netCDF file to write; with the attributes ``dataset`` and ``citation``

    Raises
    ------
    ContactIdError : for what the reader finds wrong, and where the file can't be written; none is
        left then
    """
    dataset = Dataset(**entry)
    function = resolve(reader)
    # a reader asks by name for those that it needs
    given = {**entry, "synthetic": dataset.synthetic, "path": raw}
    dataset_read = function(**arguments(function, given))
    attributes = {"dataset": dataset.name, "citation": dataset.citation}
    if isinstance(dataset_read, MotionStream):
        write_motion(dataset_read, data, **attributes)
    else:
        write_dataset(dataset_read.assign_attrs(attributes), data)
