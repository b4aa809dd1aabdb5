"""One entry for all readers of tosses: a registry entry and its files in, a stream of canonical recordings out."""

from __future__ import annotations

from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.sources.motion import MotionStream, write_motion
from contactid.sources.registry import Dataset
from contactid.tossing.readers.contactnets import stream_contactnets
from contactid.tossing.readers.iam_archive import stream_iam_archive


def convert_motion(dataset: Dataset, path: str | Path, motion: str | Path) -> None:
    """Read ``path`` with the dataset's reader and write the canonical file ``motion``, one recording at a time.

    Planar data have :mod:`contactid.planar.readers.readers`.

    Raises
    ------
    ContactIdError
        For another reader, and for what the reader finds wrong; no file is left then.
    """
    write_motion(_stream(dataset, path), motion, dataset=dataset.name, citation=dataset.citation)


def _stream(dataset: Dataset, path: str | Path) -> MotionStream:
    if dataset.reader == "contactnets":
        return stream_contactnets(path, licence=dataset.licence)
    if dataset.reader == "iam":
        return stream_iam_archive(
            path,
            dataset.object,
            surface_name=dataset.surface or None,
            surface_height=dataset.surface_height,
            licence=dataset.licence,
            synthetic=dataset.synthetic or None,  # of what isn't our own twin, the file itself says it
        )
    raise ContactIdError(
        f"configuration: {dataset.name} has the reader {dataset.reader}, which reads no tosses",
        "Known are contactnets and iam",
    )
