"""Which recordings a run would use as tosses, by the preparation that every run does, and what
print says of a box.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import xarray as xr

from contactid.output.tables import read_csv
from contactid.sources.motion import MotionStream, read_dataset, write_motion
from contactid.tossing.prepare.events import FALL_TOLERANCE, REST_SPEED
from contactid.tossing.prepare.preprocess import preprocess

EVENTS = {"rule": "data_driven", "rest_speed": REST_SPEED, "fall_tolerance": FALL_TOLERANCE}

_PUBLISHED = Path(__file__).parents[3] / "resources/published/tossing.csv"
_TABLE_I = ("length_mm", "width_mm", "height_mm", "mass_kg")


def printed_box(name: str) -> list[float] | None:
    """Table I's length, width and height (mm) and mass (kg); None for another box, or without the
    repository.
    """
    if not _PUBLISHED.is_file():
        return None
    table = read_csv(_PUBLISHED).set_index(["artefact", "quantity", "condition"])["value"]
    keys = [("tab01", quantity, f"object={name}") for quantity in _TABLE_I]
    return [float(table[key]) for key in keys] if keys[0] in table else None


def prepare_all(stream: MotionStream) -> xr.Dataset:
    """Every recording that a reader gives, prepared as by a run: ``reason`` says why one can't be
    used as a toss.

    Those that tumble have none: the configuration chooses whether they are used.

    Raises :class:`ContactIdError` for what the reader finds wrong
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "motion.nc"
        write_motion(stream, file)
        motion = read_dataset(file)
    # all recordings tell where the surface is; the seed would choose some of them
    return preprocess(
        motion, share=1.0, seed=0, exclude_tumbling=False, require_usable=False, events=EVENTS
    )
