"""A user's own slip trials, read and checked.

Rows of a trial that lack a number are left out, and rows faster than 100 a second are averaged,
since the slip detector counts samples of about that rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.inhand.friction.slip import unit_normal
from contactid.inhand.own.files import FORM, contacts_of
from contactid.sources.conventions import STATED, Convention
from contactid.sources.recorded_table import (
    SUFFIXES,
    RecordedTable,
    Source,
    name_of,
    several,
    table_parts,
)

TRIAL = "trial"
_STEP = 0.01  # s; faster rows are averaged over it
_FAST = 0.75  # of it, between rows that are
_ROUNDING = 1e-6  # of it, that times are rounded by
_SLOWEST = 0.0505  # s between rows: 20 a second, with times that are rounded
_FARTHEST = 0.5  # m that a contact point goes; beyond it millimetres were taken for metres
_PRESSING = 0.5  # least share of rows with a force into the object
# of the normal about its mean in one trial; beyond it the surface isn't flat there
_ROLLS = np.cos(np.deg2rad(10.0))


@dataclass(frozen=True, eq=False)
class OwnTrial:
    """A trial of n samples, ready to be estimated from: ``time`` (n,) s, ``force`` and ``point``
    (n, 3), ``normal``.
    """

    name: str
    time: np.ndarray
    force: np.ndarray
    point: np.ndarray
    normal: np.ndarray


def read_trials(
    trials: Source | Sequence[str | Path], convention: Convention = STATED
) -> list[OwnTrial]:
    """The trials of a folder by name, of files, or of a table; a folder's other files are passed
    over.

    Raises
    ------
    ContactIdError
        Where there is none, and for the first that can't be used.
    """
    return [_read_trial(name, source, convention) for name, source in _sources(trials)]


def _sources(trials: Source | Sequence[str | Path]) -> Iterator[tuple[str, Source]]:
    """Names of trials, and what holds each."""
    if isinstance(trials, pd.DataFrame | xr.Dataset):
        yield from table_parts(trials, TRIAL)
        return
    for path in map(Path, several(trials)):
        files = [path]
        if path.is_dir():
            files = sorted(one for one in path.iterdir() if one.suffix.lower() in SUFFIXES)
            if not files:
                raise ContactIdError(
                    f"{path}: no trial (.csv) is in it", "Name a folder with a file per trial"
                )
        yield from ((file.name, file) for file in files)


def _read_trial(name: str, source: Source, convention: Convention) -> OwnTrial:
    table = RecordedTable.read(source, convention)
    contacts = contacts_of(table) or ("",)
    if len(contacts) > 1:
        raise ContactIdError(
            f"{name_of(source)}: forces of {', '.join(contacts)}", "Give one finger's alone"
        )
    of_contact = [f"contact_{kind}_{contacts[0]}".rstrip("_") for kind in ("force", "position")]
    wanted = [
        "time",
        *(f"{kind}_{axis}" for kind in (*of_contact, "surface_normal") for axis in "xyz"),
    ]
    table.refuse_without(wanted, FORM)
    rows = table.values(wanted)
    rows = rows[np.isfinite(rows).all(axis=1)]
    try:
        return _averaged(name, *np.split(rows, [1, 4, 7], axis=1))
    except ContactIdError as error:
        raise ContactIdError(f"{name_of(source)}: {error.problem}", error.remedy) from None


def _averaged(
    name: str, clock: np.ndarray, force: np.ndarray, point: np.ndarray, normals: np.ndarray
) -> OwnTrial:
    """A trial from its rows, checked, at 100 samples a second at most."""
    clock, step = clock[:, 0], np.diff(clock[:, 0])
    if not len(step):
        raise ContactIdError(f"{len(clock)} rows with all numbers", "Correct the recording")
    if np.any(step <= 0.0):
        raise ContactIdError(
            f"time doesn't increase after {clock[np.argmax(step <= 0.0)]:g} s", "Sort or correct it"
        )
    if np.median(step) > _SLOWEST:
        raise ContactIdError(
            f"time has {np.median(step):g} s between rows", "Give it in s, 20 rows a second or more"
        )
    if np.ptp(point, axis=0).max() > _FARTHEST:
        raise ContactIdError(
            f"contact_position goes {np.ptp(point, axis=0).max():.3g} m far", "Give it in metres"
        )
    directions = unit_normal(normals)
    # one normal a trial: the mean direction
    normal = unit_normal(directions.mean(axis=0))
    if (directions @ normal).min() < _ROLLS:
        raise ContactIdError(
            "surface_normal turns by more than 10 degrees", "Slide on a flat part of the surface"
        )
    pressing = float(np.mean(force @ normal > 0.0))
    if pressing < _PRESSING:
        raise ContactIdError(
            f"the finger presses into the object in {100.0 * pressing:.0f} % of the rows only",
            "Give the finger's force on the object, and a normal into it",
        )
    # slower rows are taken as they are
    fast = np.median(step) < _FAST * _STEP
    # rounded up a little: a time on an edge isn't put a bin too early
    bins = np.floor((clock - clock[0]) / _STEP + _ROUNDING) if fast else np.arange(len(clock))
    # first row of each bin; empty bins have none
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    counts = np.diff(np.append(starts, len(bins)))[:, None]
    clock, force, point = (
        np.add.reduceat(one, starts, axis=0) / counts for one in (clock[:, None], force, point)
    )
    return OwnTrial(name, clock[:, 0], force, point, normal)
