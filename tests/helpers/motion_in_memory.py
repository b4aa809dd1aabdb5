"""What a reader's stream makes, as one dataset in memory, checked against the canonical form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.sources.left_out import joined
from contactid.sources.motion import (
    SAMPLE_VARIABLES,
    UNITS,
    MotionStream,
    body_of,
    body_problems,
    iterate_recordings,
    pose_problems,
    without_samples,
)
from contactid.tossing.readers.contactnets import stream_contactnets
from contactid.tossing.readers.iam_archive import stream_iam_archive


def read_contactnets(folder: str | Path, *, licence: str) -> xr.Dataset:
    """The tosses of a folder."""
    return collect(stream_contactnets(folder, licence=licence))


def read_iam_archive(
    path: str | Path, object_name: str, *, surface_name: str = "", **options: Any
) -> xr.Dataset:
    """The recordings of one box."""
    return collect(stream_iam_archive(path, object=object_name, surface=surface_name, **options))


def collect(stream: MotionStream) -> xr.Dataset:
    """The canonical dataset, put together in another way than it is written to a file."""
    recordings = list(stream.recordings)
    sizes = [len(recording.position) for recording in recordings]
    motion = without_samples(recordings, sizes, stream)
    motion = motion.assign(
        time=(
            "sample",
            np.concatenate([np.arange(size) / stream.sample_frequency for size in sizes]),
        ),
        position=(
            ("sample", "xyz"),
            np.concatenate([recording.position for recording in recordings]),
        ),
        orientation=(
            ("sample", "wxyz"),
            np.concatenate([recording.orientation for recording in recordings]),
        ),
    )
    for name in SAMPLE_VARIABLES:
        motion[name].attrs["units"] = UNITS[name]
    validate_motion(motion)
    return motion.assign_attrs(stream.attributes)


def validate_motion(motion: xr.Dataset) -> None:
    """Raise :class:`ContactIdError` with everything that is not as the canonical form says."""
    source = motion.attrs.get("source", "motion data")
    missing = [name for name in UNITS if name not in motion]
    if missing:
        raise ContactIdError(
            f"{source}: without the variables {', '.join(missing)}", "Read the data again"
        )
    problems = [
        f"{name} is in {motion[name].attrs.get('units')!r} instead of {unit!r}"
        for name, unit in UNITS.items()
        if motion[name].attrs.get("units") != unit
    ]
    if not motion.attrs["sample_frequency"] > 0:
        problems.append("the sample frequency is not positive")
    if int(motion["row_size"].sum()) != motion.sizes["sample"]:
        problems.append("row_size doesn't add up to the samples")
    else:
        for name, samples in iterate_recordings(motion):
            found = pose_problems(samples["position"].values, samples["orientation"].values)
            problems += [f"recording {name}: {problem}" for problem in found]
    problems += body_problems(body_of(motion))
    if problems:
        raise ContactIdError(
            f"{source}: {joined(problems)}", "Leave such recordings out, and give SI units"
        )
