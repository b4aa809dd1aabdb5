"""From a recording's file to the table of its estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.inertia import InertialParameters
from contactid.inhand.estimate_rows import estimate_rows
from contactid.inhand.readers.files import read_recording
from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset


def write_estimates(
    recordings: Sequence[str | Path],
    truths: Sequence[str | Path | None],
    table: str | Path,
    *,
    methods: Mapping[str, Sequence[str]],
    study: Mapping[str, Any],
) -> None:
    """Estimate recordings by every method and solver.

    Parameters
    ----------
    recordings, truths
        Canonical netCDF files, in the same order; without a truth there is no geodesic error, and the method with a
        prior fails.
    table
        csv with the columns :data:`contactid.inhand.estimate_rows.FIT_COLUMNS`.
    methods
        By solver, methods by name.
    study
        The block ``inhand`` of the configuration.
    """
    tables = []
    for recording, truth in zip(recordings, truths, strict=True):
        known = None if truth is None else InertialParameters.from_vector(np.array(read_dataset(truth).attrs["vector"]))
        tables.append(estimate_rows(read_recording(recording), known, methods, study))
    write_csv(pd.concat(tables, ignore_index=True), table)
