"""One entry for all readers of motion: a registry entry and its files in, the canonical dataset out."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from contactid.datasets.contactnets import read_contactnets
from contactid.datasets.iam_archive import read_iam_archive
from contactid.datasets.registry import Dataset
from contactid.errors import ContactIdError


def read_motion(dataset: Dataset, path: str | Path) -> xr.Dataset:
    """Read ``path`` with the dataset's reader; planar data have :mod:`contactid.datasets.planar_readers`.

    Raises
    ------
    ContactIdError
        For another reader, and for what the reader finds wrong.
    """
    if dataset.reader == "contactnets":
        motion = read_contactnets(path, licence=dataset.licence)
    elif dataset.reader == "iam":
        motion = read_iam_archive(
            path,
            dataset.object,
            surface_name=dataset.surface or None,
            surface_height=dataset.surface_height,
            licence=dataset.licence,
            synthetic=dataset.synthetic,
        )
    else:
        raise ContactIdError(
            f"configuration: {dataset.name} has the reader {dataset.reader}, which reads no tosses",
            "Known are contactnets and iam",
        )
    motion.attrs["dataset"] = dataset.name
    motion.attrs["citation"] = dataset.citation
    return motion
