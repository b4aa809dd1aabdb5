"""One entry for the planar readers: a registry entry and its files in, the canonical dataset out.

They stand apart from :mod:`contactid.tossing.readers.readers`, so that an edit here reads no other study's data again.
"""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.readers.csv_throws import read_own_throws, read_square_throws
from contactid.planar.readers.impacts import read_ellipse_impacts
from contactid.planar.simulate.geometry import Shape
from contactid.sources.registry import OWN, Dataset


def read_planar(dataset: Dataset, path: str | Path, *, shape: Shape | None = None) -> xr.Dataset:
    """Read ``path`` with the dataset's reader.

    Parameters
    ----------
    dataset
        The registry's entry. The canonical form is that of :mod:`contactid.planar.readers.throws` (``planar_throws``)
        or :mod:`contactid.planar.readers.impacts` (``planar_impacts``).
    path
        Folder; or file, for the user's own throws.
    shape
        The body of the user's own throws; public datasets have theirs.

    Raises
    ------
    ContactIdError
        For an unknown reader, own throws without a shape, and what the reader finds wrong.
    """
    data = _read(dataset, path, shape)
    data.attrs["dataset"] = dataset.name
    data.attrs["synthetic"] = int(dataset.synthetic)
    data.attrs["citation"] = dataset.citation
    return data


def _read(dataset: Dataset, path: str | Path, shape: Shape | None) -> xr.Dataset:
    if dataset.reader == "planar_impacts":
        return read_ellipse_impacts(path, licence=dataset.licence)
    if dataset.reader != "planar_throws":
        raise ContactIdError(
            f"configuration: {dataset.name} has the reader {dataset.reader}, which reads no planar data",
            "Known are planar_throws and planar_impacts",
        )
    if dataset.kind != OWN:
        return read_square_throws(path, licence=dataset.licence)
    if shape is None:
        raise ContactIdError(
            f"configuration: the body thrown in {dataset.name} is unknown", "Give its semi_axes or vertices"
        )
    return read_own_throws(path, shape, licence=dataset.licence, object_name=dataset.object or dataset.name)
