"""Peak memory and time of reading a large I.AM. archive: ``python tools/bench_reading.py``.

The archive is written by the twins' writer: one recording, then copies of it under other names.
Each measurement reads in a process of its own, after a short archive, so that the growth of its
peak is due to the large one alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.output.tables import write_csv
from contactid.sources.motion import write_motion
from contactid.tossing.readers.iam_archive import stream_iam_archive
from iam_tosses import SAMPLE_FREQUENCY, box_model
from iam_writer import ArchiveRecording, TrackedBody, new_archive, write_recording

_BOX, _PLANE = "Box006", "ConveyorPart001"
_MEGABYTE = 1e6
# tracked, too, in such archives, and passed over
_OTHERS = tuple(f"Other{number:03d}" for number in range(6))
# of what is read, as stored: float32 matrices of box and plane, float32 time
_BYTES_PER_FRAME = 2 * 16 * 4 + 4
# frames
_SHORT = 100
# m and rad; larger than a camera's, so that poses compress little
_POSITION_NOISE, _ANGLE_NOISE = 1e-3, 5e-3


def _tracked(random: np.random.Generator, n_frames: int) -> TrackedBody:
    position = np.array([0.3, 0.1, 0.05]) + _POSITION_NOISE * random.normal(size=(n_frames, 3))
    turns = _ANGLE_NOISE * random.normal(size=(n_frames, 3))
    return TrackedBody(position, rotations.exp(turns))


def write_large(path: str, n_frames: int, archive_bytes: float) -> None:
    """Write recordings of ``n_frames`` until the archive has ``archive_bytes``."""
    random = np.random.default_rng(1)
    tracked = {name: _tracked(random, n_frames) for name in (_BOX, _PLANE, *_OTHERS)}
    first = "Rec_20220101T000000Z"
    with new_archive(path) as archive:
        write_recording(
            archive,
            ArchiveRecording(first, "toss", tracked),
            box_model(_BOX).body,
            object_name=_BOX,
            sample_frequency=SAMPLE_FREQUENCY,
        )
        archive.flush()
        each = archive.id.get_filesize()
        for number in range(1, max(1, round(archive_bytes / each))):
            archive.copy(first, f"Rec_20220101T{number:06d}Z")


def peak_bytes() -> float:
    """The most memory that this process has had."""
    # macOS counts bytes, Linux KiB
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _convert(archive: str, motion: str) -> None:
    write_motion(
        stream_iam_archive(archive, object=_BOX, surface=_PLANE, licence="CC0-1.0"), motion
    )


def measure_reading(short: str, large: str, folder: str) -> tuple[float, float, float]:
    """Peak memory after the short archive and after the large one (MB), and the large one's time
    (s).
    """
    _convert(short, f"{folder}/short.nc")
    before = peak_bytes() / _MEGABYTE
    begin = time.perf_counter()
    _convert(large, f"{folder}/large.nc")
    return before, peak_bytes() / _MEGABYTE, time.perf_counter() - begin


def _apart(function: Any, *arguments: Any) -> Any:
    """Call a function in a fresh process, whose memory it has alone."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def reading_row(n_frames: int, archive_bytes: float, parent: Path) -> dict[str, float]:
    """One measurement; the archive and what was read from it are deleted."""
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        short, large = f"{folder}/short.h5", f"{folder}/large.h5"
        _apart(write_large, short, _SHORT, 0.0)
        _apart(write_large, large, n_frames, archive_bytes)
        with h5py.File(large) as archive:
            n_recordings = len(archive)
        size = Path(large).stat().st_size
        before, peak, seconds = _apart(measure_reading, short, large, folder)
    recording = n_frames * _BYTES_PER_FRAME / _MEGABYTE
    return {
        "archive_MB": size / _MEGABYTE,
        "recordings": n_recordings,
        "frames_each": n_frames,
        "recording_MB": recording,
        "peak_before_MB": before,
        "peak_MB": peak,
        "growth_in_recordings": (peak - before) / recording,
        "seconds": seconds,
    }


def main(gigabytes: float, output: str) -> None:
    """Measure archives of short and of very long recordings, and write one table."""
    rows = []
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    for n_frames, archive_bytes in ((4_000, 1e9 * gigabytes), (500_000, 1e9 * gigabytes / 4.0)):
        rows.append(reading_row(n_frames, archive_bytes, Path(output).parent))
        print(", ".join(f"{name} {value:.4g}" for name, value in rows[-1].items()), flush=True)
        write_csv(pd.DataFrame(rows), output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0, help="size of the archive")
    parser.add_argument("--output", default="results/bench/reading.csv")
    main(**vars(parser.parse_args()))
