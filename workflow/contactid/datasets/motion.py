"""The canonical form of motion data: one xarray dataset per source, whatever the source looked like.

Recordings have different lengths, so samples are stored one after the other (the CF convention's *contiguous ragged
array*): ``row_size[recording]`` says how many samples each recording has.

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
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.atomic import replacing
from contactid.errors import ContactIdError

UNITS = {
    "time": "s",
    "position": "m",
    "orientation": "1",
    "row_size": "1",
    "surface_position": "m",
    "surface_orientation": "1",
    "surface_velocity": "m/s",
    "vertices": "m",
    "mass": "kg",
    "center_of_mass": "m",
    "inertia": "kg m2",
}
_UNIT_NORM_TOLERANCE = 1e-6
_LARGEST_PLAUSIBLE_BODY = 10.0  # m; a larger "box" means millimetres were taken for metres


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
    """Geometry and inertia of a rigid body in its frame B; SI units, shapes as in the module's table."""

    vertices: np.ndarray
    mass: float
    inertia: np.ndarray
    center_of_mass: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def length(self) -> float:
        """The length l of eq. 18 (tossing): the body's extent along x_B, in m."""
        return float(np.ptp(self.vertices[:, 0]))


def build_motion(
    recordings: Sequence[Recording],
    body: BodyProperties,
    *,
    object_name: str,
    sample_frequency: float,
    source: str,
    licence: str,
    synthetic: bool,
) -> xr.Dataset:
    """Assemble and validate the canonical dataset."""
    if not recordings:
        raise ContactIdError(f"{source}: no usable recording of {object_name}", "Check the folder or archive")
    sizes = [len(recording.position) for recording in recordings]

    def per_recording(name: str) -> np.ndarray:
        return np.stack([np.asarray(getattr(recording, name), dtype=float) for recording in recordings])

    motion = xr.Dataset(
        {
            "time": ("sample", np.concatenate([np.arange(size) / sample_frequency for size in sizes])),
            "position": (("sample", "xyz"), np.concatenate([recording.position for recording in recordings])),
            "orientation": (("sample", "wxyz"), np.concatenate([recording.orientation for recording in recordings])),
            "row_size": ("recording", np.array(sizes, dtype="int64")),
            "note": ("recording", np.array([recording.note for recording in recordings], dtype=object)),
            "surface_position": (("recording", "xyz"), per_recording("surface_position")),
            "surface_orientation": (("recording", "wxyz"), per_recording("surface_orientation")),
            "surface_velocity": (("recording", "xyz"), per_recording("surface_velocity")),
            "vertices": (("vertex", "xyz"), np.asarray(body.vertices, dtype=float)),
            "mass": ((), float(body.mass)),
            "center_of_mass": ("xyz", np.asarray(body.center_of_mass, dtype=float)),
            "inertia": (("xyz", "xyz_2"), np.asarray(body.inertia, dtype=float)),
        },
        coords={"recording": np.array([recording.name for recording in recordings], dtype=object)},
        attrs={
            "object": object_name,
            "sample_frequency": float(sample_frequency),
            "source": source,
            "licence": licence,
            "synthetic": int(synthetic),
        },
    )
    for name, unit in UNITS.items():
        motion[name].attrs["units"] = unit
    validate_motion(motion)
    return motion


def validate_motion(motion: xr.Dataset) -> None:
    """Raise :class:`ContactIdError` naming the first thing that is not as the canonical form says."""
    source = motion.attrs.get("source", "motion data")
    for name, unit in UNITS.items():
        if name not in motion:
            raise ContactIdError(f"{source}: variable {name} is missing", "Read the data again")
        if motion[name].attrs.get("units") != unit:
            raise ContactIdError(
                f"{source}: {name} is in {motion[name].attrs.get('units')!r} instead of {unit!r}", "Convert to SI units"
            )
    if not motion.attrs["sample_frequency"] > 0:
        raise ContactIdError(f"{source}: the sample frequency is not positive", "Check the source")
    for name, samples in iterate_recordings(motion):
        for variable in ("position", "orientation"):
            if not np.isfinite(samples[variable].values).all():
                raise ContactIdError(f"{source}: recording {name} has a NaN in {variable}", "Leave the recording out")
        norms = np.linalg.norm(samples["orientation"].values, axis=1)
        if np.abs(norms - 1.0).max() > _UNIT_NORM_TOLERANCE:
            raise ContactIdError(f"{source}: recording {name} has quaternions that are not of unit length", "Check it")
    if not float(motion["mass"]) > 0:
        raise ContactIdError(f"{source}: the mass is not positive", "Check the body's properties")
    if np.linalg.eigvalsh(motion["inertia"].values)[0] <= 0:
        raise ContactIdError(f"{source}: the inertia is not positive definite", "Check the body's properties")
    extent = float(np.ptp(motion["vertices"].values, axis=0).max())
    if not 0 < extent < _LARGEST_PLAUSIBLE_BODY:
        raise ContactIdError(f"{source}: the body measures {extent:g} m", "Lengths must be in metres")


def body_of(motion: xr.Dataset) -> BodyProperties:
    """The body of a canonical (or preprocessed) dataset."""
    return BodyProperties(
        vertices=motion["vertices"].values.astype(float),
        mass=float(motion["mass"]),
        inertia=motion["inertia"].values.astype(float),
        center_of_mass=motion["center_of_mass"].values.astype(float),
    )


def iterate_recordings(motion: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield each recording's name and its part of the dataset, samples cut out and ``recording`` selected."""
    ends = np.cumsum(motion["row_size"].values)
    for index, end in enumerate(ends):
        size = int(motion["row_size"].values[index])
        yield (
            str(motion["recording"].values[index]),
            motion.isel(sample=slice(int(end) - size, int(end)), recording=index),
        )


def write_dataset(dataset: xr.Dataset, path: str | Path) -> None:
    """Write a dataset as netCDF (h5netcdf, compressed) under its final name only once it is complete."""
    encoding = {
        str(name): {"zlib": True, "complevel": 4} for name in dataset.variables if dataset[name].dtype.kind in "fi"
    }
    encoding = {name: options for name, options in encoding.items() if dataset[name].ndim}
    with replacing(path) as partial:
        dataset.to_netcdf(partial, engine="h5netcdf", encoding=encoding)


def read_dataset(path: str | Path) -> xr.Dataset:
    """Load a dataset that :func:`write_dataset` wrote, wholly into memory."""
    try:
        with xr.open_dataset(path, engine="h5netcdf") as dataset:
            return dataset.load()
    except (OSError, ValueError) as error:
        raise ContactIdError(f"{path}: not a readable netCDF file ({error})", "Delete it and run again") from None
