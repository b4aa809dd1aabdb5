"""Table II: as printed, with our predictions beside it, as corrected, and with what the recordings at hand give.

The table has one block of 18 rows per ``posture_rule``; only ``v*_plus_map_ours`` differ between the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from contactid.arm.artefacts.left_out import arms, left_out_table
from contactid.arm.artefacts.postures import PER_ANGLE, PER_SET_AND_ANGLE, RULES, predictions, row_postures
from contactid.arm.rigid.postures import UprightPostures, upright_postures
from contactid.arm.rigid.printed_table import LABELS, corrected_table, printed_table
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.core.errors import ContactIdError
from contactid.output.computing import Shown
from contactid.output.tables import read_csv

OURS, OURS_Z = "vx_plus_map_ours", "vz_plus_map_ours"
# of the fits' table, in the order of the printed one
FITTED = ("vz_minus", "vz_plus_map", "vz_plus_fit", "eta_z", "vx_minus", "vx_plus_map", "vx_plus_fit",
          "vx_plus_fit_se", "eta_x")  # fmt: skip
_HEADINGS = (
    "set", "speed (m/s)", "angle", "corrected", "$v_z^-$", "$v_x^-$", "$v_x^+$ map", "ours, 3 postures",
    "ours, 6 postures", "$v_x^+$ fit", "$\\eta_x$", "recording: map", "recording: fit",
)  # fmt: skip
_DECIMALS = 12
_KEYS = {"dataset": "set", "velocity_m_s": "nominal_velocity_m_s", "angle_deg": "nominal_angle_deg"}


def table_ii(
    links: str, robot: Mapping[str, Any], published: str, fits: str, curves: str, table_method: str
) -> dict[str, Shown | pd.DataFrame]:
    """Table II with the described arm, and each of its rows predicted from others.

    ``fits`` are the recordings' by all methods, of which one counts; ``curves``, figure 6's, say what was recorded.
    """
    rows, printed = read_csv(fits), read_csv(published)
    described = load_robot(links, **robot)
    upright = upright_postures(described)
    table = impact_table(described, printed, rows[rows["method"] == table_method], upright)
    return {
        "tables/tab02_impact_map": Shown(
            table, tex_table(table), _HEADINGS, data=f"last two columns: {read_csv(curves)['source'].iloc[0]}"
        ),
        "tables/ext_left_out": left_out_table(arms(described, robot), printed_table(printed), upright),
    }


def impact_table(robot: Robot, published: pd.DataFrame, fits: pd.DataFrame, upright: UprightPostures) -> pd.DataFrame:
    """``tab02_impact_map``: velocities in m/s, angles in deg; ``fits`` are ``ext_fit``, one row per recording.

    The robot has the described inertias, as the paper's; ``upright`` are its postures.

    Columns: the printed ones, ``vx_plus_map_ours``, ``posture_rule``, ``vz_plus_map_ours``, ``direction_deg``,
    the corrected cells ``<column>_corrected``, ``correction_reason``, and ``twin_<column>`` of the recording with the
    same set, speed and corrected angle.
    """
    printed = printed_table(published)
    corrected = corrected_table(printed)
    labels = printed[list(LABELS)].assign(angle_deg=corrected["angle_deg_corrected"])
    twin = twin_columns(labels, fits)
    blocks = []
    for rule in RULES:
        ours = predictions(robot, printed, row_postures(robot, printed, rule, upright))
        # what is left of an inelastic impact is rounding, and differs between machines
        mine = pd.DataFrame({OURS: ours[:, 0], "posture_rule": rule, OURS_Z: ours[:, 2].round(_DECIMALS) + 0.0})
        blocks.append(pd.concat([printed, mine, corrected, twin], axis=1))
    return pd.concat(blocks, ignore_index=True)


def twin_columns(labels: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """``twin_*`` (rows,): the recording with the given set, speed and angle; NaN where there is none.

    Raises
    ------
    ContactIdError
        Where the fits lack a column, or hold two recordings with the same labels.
    """
    names = [f"twin_{name}" for name in FITTED]
    missing = [name for name in (*_KEYS.values(), *FITTED) if name not in fits]
    if missing:
        raise ContactIdError(f"the table of fits lacks {', '.join(missing)}", "Make it anew with rule arm_fit")
    keys = pd.DataFrame({ours: fits[theirs].round(6) for ours, theirs in _KEYS.items()})
    if keys.duplicated().any():
        twice = keys[keys.duplicated()].iloc[0].to_dict()
        raise ContactIdError(f"two recordings are labelled {twice}", "Give every recording its own labels")
    values = fits[list(FITTED)].set_axis(names, axis=1)
    joined = labels.round(6).merge(pd.concat([keys, values], axis=1), on=list(LABELS), how="left")
    return joined[names].set_index(labels.index)


def tex_table(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of :func:`impact_table` that are worth print: one row per experiment, both posture rules."""
    shown = table[table["posture_rule"] == PER_ANGLE].reset_index(drop=True)
    per_set = table[table["posture_rule"] == PER_SET_AND_ANGLE].reset_index(drop=True)
    kept = shown[[*LABELS, "angle_deg_corrected", "vz_minus", "vx_minus", "vx_plus_map", "vx_plus_fit", "eta_x"]].copy()
    kept["angle_deg_corrected"] = kept["angle_deg_corrected"].astype(int)
    kept.insert(7, f"{OURS}_{PER_ANGLE}", shown[OURS].round(4))
    kept.insert(8, f"{OURS}_{PER_SET_AND_ANGLE}", per_set[OURS].round(4))
    for name in ("twin_vx_plus_map", "twin_vx_plus_fit"):
        kept[name] = shown[name].round(4)
    return kept
