"""What estimates cost: tables of finite differences, of choices, and of time against the number of
samples.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from contactid.output.tables import read_csv


def differences(errors: str) -> pd.DataFrame:
    """``ext_differences``, as :func:`.cost.write_differences` kept it."""
    return read_csv(errors)


def choices_made(choices: str) -> pd.DataFrame:
    """``ext_choices``, as :func:`.cost.write_differences` kept it."""
    return read_csv(choices)


def time_by_samples(times: str) -> pd.DataFrame:
    """``ext_speed``: what :func:`.cost.write_speed` kept, with each solver's ``exponent``.

    It is the slope of an iteration's time over the samples in logarithms: 1 is linear. The number
    of iterations changes with the recording, so the time of a whole estimate is no line.
    """
    rows = read_csv(times)
    exponents: dict[str, float] = {}
    for solver, part in rows[rows["converged"]].groupby("solver"):
        if part["samples"].nunique() > 1:
            samples, time = np.log(part[["samples", "ms_per_iteration"]].to_numpy(dtype=float)).T
            exponents[str(solver)] = float(np.polyfit(samples, time, 1)[0])
    return rows.assign(exponent=rows["solver"].map(exponents).astype(float))
