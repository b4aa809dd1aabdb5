"""Which recordings a run would use as tosses, by the preparation that every run does."""

from __future__ import annotations

import tempfile
from pathlib import Path

import xarray as xr

from contactid.sources.motion import MotionStream, read_dataset, write_motion
from contactid.tossing.prepare.preprocess import preprocess

#: As in config/default.yaml, which isn't there where the package alone is installed.
EVENTS = {"rule": "data_driven", "rest_speed": 0.02, "fall_tolerance": 2.0}  # m/s, m/s2


def prepare_all(stream: MotionStream) -> xr.Dataset:
    """Every recording that a reader gives, prepared as by a run: ``reason`` says why one can't be used as a toss.

    Those that tumble have none: the configuration chooses whether they are used.

    Raises
    ------
    ContactIdError : for what the reader finds wrong
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "motion.nc"
        write_motion(stream, file)
        motion = read_dataset(file)
    # all recordings tell where the surface is; the seed would choose some of them
    return preprocess(motion, share=1.0, seed=0, exclude_tumbling=False, require_usable=False, events=EVENTS)
