"""Table II: as printed, with our predictions beside it, as corrected, and with what the recordings
at hand give.

The table has one block of 18 rows per ``posture_rule``; only ``v*_plus_map_ours`` differ between
the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.artefacts.left_out import arms, left_out_table
from contactid.arm.artefacts.postures import RULES, predictions, row_postures
from contactid.arm.identify.methods import PAPER
from contactid.arm.rigid.postures import UprightPostures, upright_postures
from contactid.arm.rigid.printed_table import (
    copied_rows,
    corrected_table,
    original_rows,
    printed_table,
)
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.output.tables import read_csv

OURS, OURS_Z = "vx_plus_map_ours", "vz_plus_map_ours"
# of the fits' table, in the order of the printed one
FITTED = ("vz_minus", "vz_plus_map", "vz_plus_fit", "eta_z", "vx_minus", "vx_plus_map", "vx_plus_fit",
          "vx_plus_fit_se", "eta_x")  # fmt: skip
_DECIMALS = 12
# m/s that a recording's v- may be from a row's; within a set rows are 0.027 m/s apart and more
_SAME_MOTION = 0.01
# m/s that another set's row has to be further off where a recording's set isn't told
_CLEARLY = 0.002
COUNT, SPREAD = "twin_recordings", "twin_spread_"


def table_ii(
    links: str, robot: Mapping[str, Any], published: str, fits: str
) -> dict[str, pd.DataFrame]:
    """Table II with the described arm, and each of its rows predicted from others.

    ``fits`` are the recordings' by all methods, of which the paper's counts.
    """
    rows, printed = read_csv(fits), read_csv(published)
    described = load_robot(links, **robot)
    upright = upright_postures(described)
    return {
        "tables/tab02_impact_map": impact_table(
            described, printed, rows[rows["method"] == PAPER], upright
        ),
        "tables/ext_left_out": left_out_table(
            arms(described, robot), printed_table(printed), upright
        ),
    }


def impact_table(
    robot: Robot, published: pd.DataFrame, fits: pd.DataFrame, upright: UprightPostures
) -> pd.DataFrame:
    """``tab02_impact_map``: velocities in m/s, angles in deg; ``fits`` are ``ext_fit``, one row per
    recording.

    The robot has the described inertias, as the paper's; ``upright`` are its postures.

    Columns: the printed ones, ``vx_plus_map_ours``, ``posture_rule``, ``vz_plus_map_ours``,
    ``direction_deg``, the corrected cells ``<column>_corrected``, ``correction_reason``, and
    :func:`twin_columns`.
    """
    printed = printed_table(published)
    corrected = corrected_table(printed)
    twin = twin_columns(printed, fits)
    blocks = []
    for rule in RULES:
        ours = predictions(robot, printed, row_postures(robot, printed, rule, upright))
        # what is left of an inelastic impact is rounding, and differs between machines
        mine = pd.DataFrame(
            {OURS: ours[:, 0], "posture_rule": rule, OURS_Z: ours[:, 2].round(_DECIMALS) + 0.0}
        )
        blocks.append(pd.concat([printed, mine, corrected, twin], axis=1))
    return pd.concat(blocks, ignore_index=True)


def twin_columns(printed: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """What the recordings of each printed row give: those that hit the table as the row says,
    whatever their labels.

    Columns ``twin_recordings`` (how many), ``twin_<column>`` (their median) and
    ``twin_spread_<column>`` (half of the range of several), NaN where there is none. A recording
    belongs to the row of its set whose v- is nearest to its own, if they are within 10 mm/s. A row
    that is a copy of another has the other's.
    """
    of_row = fits[list(FITTED)].astype(float).groupby(matched_rows(printed, fits))
    count = of_row.size()
    half_range = (0.5 * (of_row.max() - of_row.min()))[count > 1]
    found = pd.concat(
        [count.rename(COUNT), of_row.median().add_prefix("twin_"), half_range.add_prefix(SPREAD)],
        axis=1,
    )
    found = found.reindex(original_rows(printed)).set_axis(printed.index)
    return found.fillna({COUNT: 0}).astype({COUNT: int})


def matched_rows(printed: pd.DataFrame, fits: pd.DataFrame) -> np.ndarray:
    """(recordings,) the printed row that each belongs to by its v-; -1 where none does, or two
    sets' do.
    """
    ours, theirs = (
        table[["vx_minus", "vz_minus"]].to_numpy(dtype=float) for table in (fits, printed)
    )
    owner = np.full(len(fits), -1)
    sets, copied = printed["dataset"].to_numpy(), copied_rows(printed)
    usable = np.isfinite(fits[["vx_minus", "vz_minus", "vx_plus_fit"]].to_numpy(dtype=float)).all(
        axis=1
    )
    for k in np.flatnonzero(usable):
        told = int(fits["set"].iloc[k])
        apart = np.hypot(*(theirs - ours[k]).T)
        apart[copied | ((sets != told) & (told > 0))] = np.inf
        best = int(np.argmin(apart))
        rival = apart[sets != sets[best]].min(initial=np.inf)
        if apart[best] <= _SAME_MOTION and (told or rival > apart[best] + _CLEARLY):
            owner[k] = best
    return owner
